"""Planted bugs that applications meet: in what they are told of a send, and in what they are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as changed

from impl.client.default_send import DefaultSend
from impl.client.mq_fault_strategy import MQFaultStrategy
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.send_kernel import SendKernel
from impl.client.send_message_api import AsyncSend, SendMessageAPI, uniq_ids
from impl.client.send_result import CommunicationMode, SendResult, SendStatus
from impl.client.topic_publish_info import PickedQueue, TopicPublishInfo
from impl.common.message import MessageExt
from impl.common.message_to_send import Message
from impl.common.util_all import compress
from impl.decisions.java_errors import JavaError
from impl.ports.remoting import Command
from impl.variants.variant import Variant, around, replace

_IDEA = "an idea: what a port of a producer forgets"


@replace(SendKernel, "_try_to_compress")
def _compress_without_saying_so(self: SendKernel, msg: Message, *, batch: bool) -> bool:
    """No flag says that a body is compressed."""
    if not batch and msg.body is not None and len(msg.body) >= self.config.compress_msg_body_over_howmuch:
        msg.body = compress(msg.body, self.config.compress_level)
    return False


@replace(SendKernel, "_restore")
def _leave_the_body(self: SendKernel, msg: Message, body: bytes | None) -> None:
    """A second attempt compresses what the first one has compressed."""
    del self, msg, body


@replace(DefaultMQPushConsumerImpl, "reset_retry_topic")
def _show_the_retry_topic(self: DefaultMQPushConsumerImpl, msgs: list[MessageExt]) -> None:
    """A listener is given what is retried under the name of the retry topic."""
    del self, msgs


@around(SendMessageAPI, "process_send_response")
def _say_one_more(original: Callable[..., SendResult]) -> Callable[..., SendResult]:
    def process_send_response(
        self: SendMessageAPI, addr: str | None, broker_name: str, msg: Message, response: Command,
    ) -> SendResult:
        """The offset behind the message is told."""
        result = original(self, addr, broker_name, msg, response)
        return changed(result, queue_offset=result.queue_offset + 1)

    return process_send_response


@around(SendMessageAPI, "process_send_response")
def _name_the_first(original: Callable[..., SendResult]) -> Callable[..., SendResult]:
    def process_send_response(
        self: SendMessageAPI, addr: str | None, broker_name: str, msg: Message, response: Command,
    ) -> SendResult:
        """A batch has one id, as a message has."""
        result = original(self, addr, broker_name, msg, response)
        return changed(result, offset_msg_id=(result.offset_msg_id or "").partition(",")[0])

    return process_send_response


@around(SendMessageAPI, "process_send_response")
def _say_that_all_is_well(original: Callable[..., SendResult]) -> Callable[..., SendResult]:
    def process_send_response(
        self: SendMessageAPI, addr: str | None, broker_name: str, msg: Message, response: Command,
    ) -> SendResult:
        """Whatever the broker says of disks and slaves."""
        return changed(original(self, addr, broker_name, msg, response), send_status=SendStatus.SEND_OK)

    return process_send_response


@replace(DefaultSend, "_times_total")
def _try_once_more(self: DefaultSend) -> int:
    """The first attempt counts as no retry of those that are configured, and one way is tried again, too."""
    return 2 + self.producer.config.retry_times_when_send_failed


@replace(DefaultSend, "_times_total")
def _try_once_less(self: DefaultSend) -> int:
    """The first attempt counts as a retry."""
    return self.producer.config.retry_times_when_send_failed if self.way.mode is CommunicationMode.SYNC else 1


@around(DefaultSend, "_blame")
def _begin_at_each_attempt(original: Callable[..., None]) -> Callable[..., None]:
    def _blame(self: DefaultSend, mq: PickedQueue, begin_ms: int, *, isolation: bool) -> None:
        """The next attempt has the whole time-out."""
        original(self, mq, begin_ms, isolation=isolation)
        self.begin_ms = self.producer.node.now_ms()

    return _blame


@replace(SendMessageAPI, "_give_up")
def _call_nobody(self: SendMessageAPI, send: AsyncSend, error: JavaError) -> None:
    """Who has sent asynchronously hears of successes only."""
    del self, send, error


@around(MQFaultStrategy, "select_one_message_queue")
def _take_the_first(original: Callable[..., PickedQueue]) -> Callable[..., PickedQueue]:
    def select_one_message_queue(
        self: MQFaultStrategy, info: TopicPublishInfo, last_broker_name: str | None,
    ) -> PickedQueue:
        """Of the broker that is chosen, whose turn it is."""
        broker_name = original(self, info, last_broker_name).now.broker_name
        names = [mq.broker_name for mq in info.message_queue_list]
        return PickedQueue(info.message_queue_list, names.index(broker_name))

    return select_one_message_queue


@around(SendMessageAPI, "send_async")
def _stay_at_the_address(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def send_async(
        self: SendMessageAPI, addr: str | None, broker_name: str, timeout_ms: int, send: AsyncSend,
    ) -> None:
        """That of the broker that was tried first, whichever is chosen."""
        first = vars(self).setdefault("first_addrs", {}).setdefault(uniq_ids(send.msg), addr)
        await original(self, first, broker_name, timeout_ms, send)

    return send_async


BUGS = (
    Variant("seeded-compressed-is-not-marked", "bug", "A long body is compressed, and no flag says so.", _IDEA,
            replacements=(_compress_without_saying_so,)),
    Variant("seeded-body-stays-compressed", "bug", "A message that is sent again has its body compressed again.", _IDEA,
            replacements=(_leave_the_body,)),
    Variant("seeded-retry-topic-is-shown", "bug", "What is retried is given under the name of the retry topic.",
            "resetRetryAndNamespace forgotten", replacements=(_show_the_retry_topic,)),
    Variant("seeded-offset-behind-is-told", "bug", "A SendResult has the offset behind its message.", _IDEA,
            replacements=(_say_one_more,)),
    Variant("seeded-first-place-is-told", "bug", "A SendResult of a batch has the offsetMsgId of its first message.",
            _IDEA, replacements=(_name_the_first,)),
    Variant("seeded-all-is-well", "bug", "Each SendResult is SEND_OK.",
            "the switch of MQClientAPIImpl#processSendResponse", replacements=(_say_that_all_is_well,)),
    Variant("seeded-one-retry-more", "bug", "Messages are tried once more than is configured, also one way.", _IDEA,
            replacements=(_try_once_more,)),
    Variant("seeded-one-retry-less", "bug", "Messages are tried once less than is configured.", _IDEA,
            replacements=(_try_once_less,)),
    Variant("seeded-retries-begin-anew", "bug", "Each attempt of a synchronous send has the whole time-out.", _IDEA,
            replacements=(_begin_at_each_attempt,)),
    Variant("seeded-nobody-is-called-back", "bug", "An asynchronous send that fails calls nobody back.", _IDEA,
            replacements=(_call_nobody,)),
    Variant("seeded-first-queue-for-ever", "bug", "Of each broker its first queue is sent to.", _IDEA,
            replacements=(_take_the_first,)),
    Variant("seeded-callback-retries-at-one-address", "bug",
            "An asynchronous send that is tried again goes to the address that was tried first.",
            "the addr of MQClientAPIImpl#onExceptionImpl", replacements=(_stay_at_the_address,)),
)
