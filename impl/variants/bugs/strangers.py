"""Seeded bugs of what brokers answer to those who are no clients of RocketMQ, and to everybody while they are busy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impl.broker.abstract_send_message_processor import AbstractSendMessageProcessor
from impl.broker.admin_broker_processor import AdminBrokerProcessor
from impl.broker.broker_fast_failure import BrokerFastFailure
from impl.broker.put_message_answer import put_message_answer
from impl.broker.refusal import Refusal
from impl.broker.send_message_processor import SendMessageProcessor
from impl.common.headers import SendMessageRequestHeader
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.ports.pools import Pool
from impl.ports.remoting import Command, Connection, RequestTask
from impl.store.put_message_result import PutMessageFuture
from impl.variants.variant import Variant, around, replace


@replace(BrokerFastFailure, "_clean_expired_request")
def _let_all_wait(self: BrokerFastFailure) -> None:
    """Whoever waits for a thread waits for as long as it takes."""


@replace(BrokerFastFailure, "_return_response")
def _drop(self: BrokerFastFailure, task: RequestTask, why: str, pool: Pool) -> None:
    """What has waited for too long is thrown away."""


@around(AdminBrokerProcessor, "search_offset_by_timestamp")
def _one_behind(
    original: Callable[[AdminBrokerProcessor, Connection, Command], Command],
) -> Callable[[AdminBrokerProcessor, Connection, Command], Command]:
    def search_offset_by_timestamp(self: AdminBrokerProcessor, channel: Connection, request: Command) -> Command:
        """The message that was stored then is passed."""
        answer = original(self, channel, request)
        return answer._replace(header=answer.header._replace(offset=answer.header.offset + 1))

    return search_offset_by_timestamp


@replace(AbstractSendMessageProcessor, "_msg_check")
async def _take_any_name(
    self: AbstractSendMessageProcessor, channel: Connection, header: SendMessageRequestHeader,
) -> TopicConfig:
    """Clients look at names, so the broker does not."""
    del channel
    topic_config = self.tables.topic_config_manager.select_topic_config(header.topic) or await self._made_topic(header)
    if topic_config is None:
        raise Refusal(ResponseCode.TOPIC_NOT_EXIST, f"topic[{header.topic}] not exist")
    return topic_config


@around(BrokerFastFailure, "_return_response")
def _stay_busy(original: Callable[..., None]) -> Callable[..., None]:
    def _return_response(self: BrokerFastFailure, task: RequestTask, why: str, pool: Pool) -> None:
        """What says that a broker is busy is not taken back."""
        original(self, task, why, pool)
        if pool is self._send_pool:
            vars(self._store)["is_os_page_cache_busy"] = lambda: True

    return _return_response


@around(SendMessageProcessor, "_send_batch_message")
def _answer_batches_twice(original: Callable[..., Any]) -> Callable[..., Any]:
    async def _send_batch_message(
        self: SendMessageProcessor, channel: Connection, request: Command, topic_config: TopicConfig,
    ) -> tuple[PutMessageFuture, int]:
        """Who puts a batch answers, and so does who has called it."""
        future, queue_id = await original(self, channel, request, topic_config)
        future.when_complete(lambda result: self.remoting_server.respond(
            channel, request, put_message_answer(result, self.response_header(), queue_id, self.store)))
        return future, queue_id

    return _send_batch_message


BUGS = (
    Variant(
        "seeded-busy-broker-says-nothing", "bug", "A request waits for a thread of its broker for as long as it takes.",
        "seeded: a timer that is not started", replacements=(_let_all_wait,),
    ),
    Variant(
        "seeded-late-request-is-dropped", "bug", "A request that has waited for too long is not answered at all.",
        "seeded: a forgotten answer", replacements=(_drop,),
    ),
    Variant(
        "seeded-time-is-passed", "bug", "The offset of a time is one behind the message that was stored then.",
        "seeded: behind for at", replacements=(_one_behind,),
    ),
    Variant(
        "seeded-broker-takes-any-topic", "bug", "A broker takes messages for topics that have no legal name.",
        "seeded: a check that was dropped", replacements=(_take_any_name,),
    ),
    Variant(
        "seeded-batches-are-answered-twice", "bug", "A broker answers a batch of messages twice.",
        "ROCKETMQ-234", replacements=(_answer_batches_twice,),
    ),
    Variant(
        "seeded-busy-broker-stays-busy", "bug", "A broker that was too busy for a message takes none any more.",
        "apache/rocketmq #3459", replacements=(_stay_busy,),
    ),
)
