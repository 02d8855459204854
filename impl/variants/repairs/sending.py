"""Repairs of producers: what they choose from, when they try again, and what they say of a failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import replace as changed
from typing import Any

from impl.client import request_reply
from impl.client.client_errors import ClientErrorCode, SendError
from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.default_send import DefaultSend
from impl.client.mq_fault_strategy import MQFaultStrategy
from impl.client.offset_store import MQBrokerError
from impl.client.producer_config import RETRY_RESPONSE_CODES
from impl.client.request_response_future import RequestCallback
from impl.client.send_message_api import AsyncSend, SendMessageAPI
from impl.client.send_result import CommunicationMode, SendResult
from impl.client.topic_publish_info import PickedQueue, ThreadHost, TopicPublishInfo
from impl.common.message_const import PROPERTY_CORRELATION_ID
from impl.common.message_to_send import Message
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.queue_selection import TopicPublishInfo as Turns
from impl.variants.variant import Variant, around

_TRIED_ELSEWHERE = RETRY_RESPONSE_CODES | {ResponseCode.SYSTEM_BUSY}


def _with_queues(info: TopicPublishInfo, queues: list[MessageQueue]) -> TopicPublishInfo:
    """The same with another list, and the same turns."""
    other = copy(info)
    other.message_queue_list = queues
    return other


@around(MQFaultStrategy, "select_one_message_queue")
def _choose_from_a_copy(original: Callable[..., PickedQueue]) -> Callable[..., PickedQueue]:
    def select_one_message_queue(
        self: MQFaultStrategy, info: TopicPublishInfo, last_broker_name: str | None,
    ) -> PickedQueue:
        """What is written is nobody else's."""
        picked = original(self, _with_queues(info, [*info.message_queue_list]), last_broker_name)
        return PickedQueue([picked.now], 0)

    return select_one_message_queue


@around(MQFaultStrategy, "select_one_message_queue")
def _leave_the_last_broker(original: Callable[..., PickedQueue]) -> Callable[..., PickedQueue]:
    def select_one_message_queue(
        self: MQFaultStrategy, info: TopicPublishInfo, last_broker_name: str | None,
    ) -> PickedQueue:
        """With latency fault tolerance, too, a retry goes to another broker if there is one."""
        others = [mq for mq in info.message_queue_list if mq.broker_name != last_broker_name]
        if not (self.send_latency_fault_enable and last_broker_name is not None and others):
            return original(self, info, last_broker_name)
        tolerance, now_ms = self.latency_fault_tolerance, self.node.now_ms()
        queues = [mq for mq in others if tolerance.is_available(mq.broker_name, now_ms)] or others
        return PickedQueue(queues, _with_queues(info, queues).of_this_thread(self.node).select_one_position())

    return select_one_message_queue


@around(TopicPublishInfo, "of_this_thread")
def _without_who_has_no_queue(original: Callable[..., Turns]) -> Callable[..., Turns]:
    def of_this_thread(self: TopicPublishInfo, host: ThreadHost) -> Turns:
        """A broker of the route that is not in the list has no queue to write to."""
        turns, listed = original(self, host), {mq.broker_name for mq in self.message_queue_list}
        return turns if turns.route is None else changed(turns, route=[one for one in turns.route if one[0] in listed])

    return of_this_thread


@around(SendMessageAPI, "send_async")
def _name_a_queue_of_the_broker(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def send_async(
        self: SendMessageAPI, addr: str | None, broker_name: str, timeout_ms: int, send: AsyncSend,
    ) -> None:
        """The request of a later attempt names a queue that the broker has in the list."""
        header = send.request.header
        ids = [mq.queue_id for mq in (send.info.message_queue_list if send.info is not None else ())
               if mq.broker_name == broker_name]
        if ids and header.queue_id not in ids:
            send.request = send.request._replace(header=header._replace(queue_id=ids[header.queue_id % len(ids)]))
        await original(self, addr, broker_name, timeout_ms, send)

    return send_async


@around(DefaultSend, "_is_final")
def _busy_is_not_final(original: Callable[..., bool]) -> Callable[..., bool]:
    def _is_final(self: DefaultSend, error: MQBrokerError) -> bool:
        """Another broker may be less busy."""
        return error.response_code != ResponseCode.SYSTEM_BUSY and original(self, error)

    return _is_final


@around(SendMessageAPI, "_on_exception")
def _answers_are_tried_elsewhere(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _on_exception(
        self: SendMessageAPI, broker_name: str, timeout_ms: int, send: AsyncSend, error: JavaError, *,
        need_retry: bool,
    ) -> None:
        """As for synchronous sends."""
        again = isinstance(error, MQBrokerError) and error.response_code in _TRIED_ELSEWHERE
        await original(self, broker_name, timeout_ms, send, error, need_retry=need_retry or again)

    return _on_exception


def _nobody_knows(error: JavaError) -> SendError:
    return SendError(error.message or "", ClientErrorCode.ACCESS_BROKER_TIMEOUT, error)


@around(DefaultSend, "_run")
def _say_that_nobody_knows(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def _run(self: DefaultSend) -> SendResult | None:
        """What was tried more than once may be stored, whatever the last attempt says."""
        try:
            result: SendResult | None = await original(self)
        except (SendError, MQBrokerError) as error:
            if len(self.brokers_sent) > 1 and error.response_code != ResponseCode.MESSAGE_ILLEGAL:
                raise _nobody_knows(error) from error
            raise
        return result

    return _run


@around(SendMessageAPI, "_give_up")
def _say_that_nobody_knows_later(original: Callable[..., None]) -> Callable[..., None]:
    def _give_up(self: SendMessageAPI, send: AsyncSend, error: JavaError) -> None:
        """The same for asynchronous sends."""
        illegal = isinstance(error, MQBrokerError) and error.response_code == ResponseCode.MESSAGE_ILLEGAL
        original(self, send, _nobody_knows(error) if send.times > 1 and not illegal else error)

    return _give_up


@around(DefaultSend, "_blame")
def _asynchronous_calls_say_nothing(original: Callable[..., None]) -> Callable[..., None]:
    def _blame(self: DefaultSend, mq: PickedQueue, begin_ms: int, *, isolation: bool) -> None:
        """Its answer does, or that none comes."""
        if isolation or self.way.mode is not CommunicationMode.ASYNC:
            original(self, mq, begin_ms, isolation=isolation)

    return _blame


@around(request_reply, "request_async")
def _wait_for_what_was_sent(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def request_async(
        producer: DefaultMQProducer, msg: Message, callback: RequestCallback, timeout_ms: int,
    ) -> None:
        """Who is told by an exception is not called back."""
        try:
            await original(producer, msg, callback, timeout_ms)
        except JavaError:
            futures = producer.impl.instance.manager.request_futures.request_future_table
            if futures.remove(msg.get_property(PROPERTY_CORRELATION_ID) or "") is not None:
                raise

    return request_async


REPAIRS = (
    Variant("queues_of_its_own", "repair", "Latency fault tolerance writes into a copy of the list.",
            "apache/rocketmq #7779", ("P3",), (_choose_from_a_copy,)),
    Variant("another_broker_for_retries", "repair", "With latency fault tolerance a retry leaves the last broker.",
            "apache/rocketmq #6568", ("Q-3",), (_leave_the_last_broker,)),
    Variant("least_bad_of_the_list", "repair", "Latency fault tolerance picks a broker that has a queue in the list.",
            "apache/rocketmq #6568: TopicPublishInfo#selectOneMessageQueue goes through the list only", ("P16",),
            (_without_who_has_no_queue,)),
    Variant("queue_of_the_retried_broker", "repair", "An asynchronous retry names a queue of the broker it goes to.",
            "apache/rocketmq #1497", ("P4",), (_name_a_queue_of_the_broker,)),
    Variant("refusals_are_tried_elsewhere", "repair",
            "SYSTEM_BUSY, and answers to asynchronous sends, are reasons to try another broker.",
            "apache/rocketmq #5845", ("P5", "P7"), (_busy_is_not_final, _answers_are_tried_elsewhere)),
    Variant("honest_exceptions", "repair", "What was tried more than once is said to be unknown.",
            "an idea: any attempt without an answer may be stored", ("P1",),
            (_say_that_nobody_knows, _say_that_nobody_knows_later)),
    Variant("calls_are_no_answers", "repair", "That an asynchronous call has ended says nothing of its broker.",
            "an idea: MQClientAPIImpl#sendMessageAsync notes what becomes of it", ("P15",),
            (_asynchronous_calls_say_nothing,)),
    Variant("failed_requests_are_over", "repair", "A request whose call fails is not waited for.",
            "an idea: as DefaultMQProducerImpl#request(Message, long), which removes it", ("P14",),
            (_wait_for_what_was_sent,)),
)
