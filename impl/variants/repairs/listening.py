"""Repairs of what becomes of messages that listeners have failed with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from impl.client import send_kernel, send_message_back
from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService, Messages
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.message_listener import ConsumeConcurrentlyContext, ConsumeOrderlyContext, ConsumeOrderlyStatus
from impl.client.mq_client_api import MQClientAPI
from impl.client.mq_client_instance import MQClientInstance
from impl.client.offset_store import MQBrokerError
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_MAX_RECONSUME_TIMES, PROPERTY_RECONSUME_TIME
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.java_text import parse_integer
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.variants.variant import Variant, around, replace

_DEAD_LETTER = "DEAD_LETTER"  # a property of cached messages, which no broker is told


@around(ConsumeMessageConcurrentlyService, "_send_back")
def _what_is_cached_still(original: Callable[..., Awaitable[Messages]]) -> Callable[..., Awaitable[Messages]]:
    async def _send_back(
        self: ConsumeMessageConcurrentlyService, failed: Messages, context: ConsumeConcurrentlyContext,
        pq: ProcessQueue,
    ) -> Messages:
        """What has expired meanwhile was sent back then."""
        cached = {msg.queue_offset for msg in pq.msg_tree_map.values()}
        return await original(self, [msg for msg in failed if msg.queue_offset in cached], context, pq)

    return _send_back


class _UnansweredError(Exception):
    """Nobody knows whether the broker has stored the copy."""


@around(MQClientAPI, "consumer_send_message_back")
def _tell_refusals_from_silence(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def consumer_send_message_back(  # as MQClientAPIImpl has it
        self: MQClientAPI, addr: str | None, msg: MessageExt, group: str, delay_level: int, timeout_ms: int,
        max_consume_retry_times: int,
    ) -> None:
        """A refusal is an answer; whatever else goes wrong is none."""
        try:
            await original(self, addr, msg, group, delay_level, timeout_ms, max_consume_retry_times)
        except MQBrokerError:
            raise
        except JavaError as error:
            raise _UnansweredError from error

    return consumer_send_message_back


@around(DefaultMQPushConsumerImpl, "send_message_back")
def _anew_only_if_refused(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def send_message_back(
        self: DefaultMQPushConsumerImpl, msg: MessageExt, delay_level: int, broker_name: str | None,
    ) -> None:
        """What may be stored is not sent anew: it stays in the cache, and is consumed again in 5 s."""
        try:
            await original(self, msg, delay_level, broker_name)
        except _UnansweredError as error:
            raise MQClientError("the broker has not answered to a message that was sent back") from error

    return send_message_back


@around(send_message_back, "send_to_retry_topic")
def _counted_as_by_the_broker(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def send_to_retry_topic(  # as its module has it
        instance: MQClientInstance, group: str, msg: MessageExt, reconsume_times: int, max_reconsume_times: int,
    ) -> None:
        """The copy has the number of its next attempt, and a broker compares that of the last one with the limit."""
        ahead = reconsume_times - msg.reconsume_times
        await original(instance, group, msg, reconsume_times, max_reconsume_times + ahead)

    return send_to_retry_topic


@replace(send_kernel, "_reconsume_times")
def _keep_the_number(msg: Message) -> tuple[int, int | None]:
    """Both properties stay in the message, so that a second attempt says the same."""
    times, most = msg.get_property(PROPERTY_RECONSUME_TIME), msg.get_property(PROPERTY_MAX_RECONSUME_TIMES)
    if not msg.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
        return 0, None
    return 0 if times is None else parse_integer(times, 32), None if most is None else parse_integer(most, 32)


@around(ConsumeMessageConcurrentlyService, "_expired")
def _raise_the_offset(original: Callable[..., None]) -> Callable[..., None]:
    def _expired(
        self: ConsumeMessageConcurrentlyService, mq: MessageQueue, pq: ProcessQueue, msg: MessageExt,
    ) -> None:
        """As after a listener's result: memory has the least offset that is left."""
        original(self, mq, pq, msg)
        if not pq.dropped:
            least = pq.msg_tree_map.first_key() if len(pq.msg_tree_map) else pq.queue_offset_max + 1
            self._put(mq, least, increase_only=True)

    return _expired


def _is_over(msg: MessageExt) -> bool:
    return msg.get_property(_DEAD_LETTER) is not None


@around(ConsumeMessageOrderlyService, "_send_message_back")
def _only_once(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def _send_message_back(self: ConsumeMessageOrderlyService, msg: MessageExt) -> bool:
        """The cached message says that it is stored as a dead letter, as soon as a broker has answered so."""
        if not _is_over(msg) and await original(self, msg):
            msg.put_property(_DEAD_LETTER, "true")
        return _is_over(msg)

    return _send_message_back


@around(ConsumeMessageOrderlyService, "_listen")
def _what_is_not_over(original: Callable[..., Awaitable[ConsumeOrderlyStatus]]) -> Callable[..., Any]:
    async def _listen(
        self: ConsumeMessageOrderlyService, msgs: Messages, context: ConsumeOrderlyContext,
    ) -> ConsumeOrderlyStatus:
        """What suspends a batch is not over: the listener is given at least one message."""
        return await original(self, [msg for msg in msgs if not _is_over(msg)], context)

    return _listen


REPAIRS = (
    Variant(
        "sent_back_once", "repair", "A message whose send-back was not answered is not sent anew, and has no attempt "
        "less if it was refused.",
        "the idea: only an MQBrokerException leads to the second way in DefaultMQPushConsumerImpl#sendMessageBack",
        ("X5",), (_tell_refusals_from_silence, _anew_only_if_refused, _counted_as_by_the_broker),
    ),
    Variant(
        "expired_is_over", "repair", "A message that has expired is not sent back when its listener fails.",
        "apache/rocketmq #5481, #5483, commit c217d8bb80", ("X7",), (_what_is_cached_still,),
    ),
    Variant(
        "expired_is_committed", "repair", "The offset goes on behind a message that has expired.",
        "the idea: ProcessQueue#cleanExpiredMsg uses what removeMessage answers", ("X25",), (_raise_the_offset,),
    ),
    Variant(
        "dead_letter_is_over", "repair", "What has become a dead letter does not come again with its batch.",
        "the idea: ConsumeMessageOrderlyService#checkReconsumeTimes remembers what it has sent back",
        ("X26",), (_only_once, _what_is_not_over),
    ),
    Variant(
        "attempts_are_kept", "repair", "A second send of a retry says how often it was tried.",
        "the idea: DefaultMQProducerImpl#sendKernelImpl does not clear RECONSUME_TIME", ("X20",), (_keep_the_number,),
    ),
)
