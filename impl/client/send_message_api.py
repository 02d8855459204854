"""What MQClientAPIImpl does with a message: requests, retries of asynchronous sends, and what an answer says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from impl.client.offset_store import MQBrokerError
from impl.client.send_result import SendCallback, SendResult, SendStatus
from impl.client.topic_publish_info import PickedQueue, TopicPublishInfo
from impl.common.headers import SendMessageRequestHeader, SendMessageResponseHeader
from impl.common.message_batch import MessageBatch
from impl.common.message_const import PROPERTY_MESSAGE_TYPE, REPLY_MESSAGE_FLAG
from impl.common.message_id import decode_message_id
from impl.common.message_to_send import Message
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.java_errors import JavaError, MQClientError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.namespace import without_namespace
from impl.events import SendAnswered
from impl.ports.node import Node
from impl.ports.remoting import Command, RemotingClient, ResponseFuture

_STATUS: Mapping[int, SendStatus] = {
    ResponseCode.SUCCESS: SendStatus.SEND_OK,
    ResponseCode.FLUSH_DISK_TIMEOUT: SendStatus.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT: SendStatus.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE: SendStatus.SLAVE_NOT_AVAILABLE,
}
"""MQClientAPIImpl#processSendResponse; every other code is an MQBrokerError."""
_NOWHERE = -1


class SendingProducer(Protocol):
    """What an asynchronous send asks of the producer."""

    def select_one_message_queue(self, info: TopicPublishInfo, last_broker_name: str | None) -> PickedQueue:
        """DefaultMQProducerImpl#selectOneMessageQueue."""
        ...

    def update_fault_item(self, broker_name: str, latency_ms: int, *, isolation: bool) -> None:
        """DefaultMQProducerImpl#updateFaultItem."""
        ...

    def send_attempted(
        self, msg: Message, mq: MessageQueue, attempt: int, info: TopicPublishInfo | None, *,
        timeout_ms: int | None = None,
    ) -> None:
        """Reports it."""
        ...

    def send_failed(
        self, msg: Message, error: JavaError, attempts: int, allowed: int, spent_ms: int, timeout_ms: int,
    ) -> None:
        """Reports it."""
        ...


@dataclass(slots=True)
class AsyncSend:
    """An asynchronous send: the arguments of sendMessageAsync that stay the same; times -- how often it has failed.

    info -- None: retries go to the same broker. begin_ms, timeout_ms -- of the attempt that submitted it.
    """

    msg: Message
    request: Command
    callback: SendCallback
    info: TopicPublishInfo | None
    retry_times: int
    producer: SendingProducer
    begin_ms: int
    timeout_ms: int
    times: int = 0


class SendMessageAPI:
    """The part of `client.impl.MQClientAPIImpl` that sends messages."""

    def __init__(
        self, node: Node, remoting_client: RemotingClient, namespace: str | None,
        find_broker_address_in_publish: Callable[[str], str | None],
    ) -> None:
        """Call by this transport. find_broker_address_in_publish -- a broker's name to the address of its master."""
        self.node, self.remoting_client, self.namespace = node, remoting_client, namespace
        self._find_broker_address_in_publish = find_broker_address_in_publish

    async def send_sync(
        self, addr: str, broker_name: str, msg: Message, header: SendMessageRequestHeader, timeout_ms: int,
    ) -> SendResult:
        """MQClientAPIImpl#sendMessageSync; raises MQBrokerError, RemotingError."""
        response = await self.remoting_client.invoke_sync(addr, request_of(msg, header), timeout_ms)
        return self.process_send_response(addr, broker_name, msg, response)

    async def send_oneway(self, addr: str, msg: Message, header: SendMessageRequestHeader, timeout_ms: int) -> None:
        """MQClientAPIImpl#sendMessage, ONEWAY; timeout_ms -- for a permit."""
        await self.remoting_client.invoke_oneway(addr, request_of(msg, header), timeout_ms)

    async def send_async(self, addr: str | None, broker_name: str, timeout_ms: int, send: AsyncSend) -> None:
        """MQClientAPIImpl#sendMessageAsync: nothing is raised, the callback hears of everything.

        addr -- None for a broker without known master: the request goes to a name server, which never answers it.
        """
        begin_ms = self.node.now_ms()
        header: SendMessageRequestHeader = send.request.header
        send.producer.send_attempted(
            send.msg, MessageQueue(header.topic, broker_name, header.queue_id), send.times + 1, send.info,
            timeout_ms=timeout_ms)

        def complete(future: ResponseFuture) -> Awaitable[None] | None:
            left_ms = timeout_ms - (self.node.now_ms() - begin_ms)
            return self._operation_complete(addr, broker_name, left_ms, send, future)

        try:
            await self.remoting_client.invoke_async(addr, send.request, timeout_ms, complete)
        except JavaError as error:
            cost_ms = self.node.now_ms() - begin_ms
            send.producer.update_fault_item(broker_name, cost_ms, isolation=True)
            await self._on_exception(broker_name, timeout_ms - cost_ms, send, error, need_retry=True)

    def _operation_complete(
        self, addr: str | None, broker_name: str, left_ms: int, send: AsyncSend, future: ResponseFuture,
    ) -> Awaitable[None] | None:
        """The callback of sendMessageAsync; an answer that is an error is never followed by a retry."""
        need_retry = future.response_command is None
        try:
            result = self._answered(addr, broker_name, send.msg, future)
        except JavaError as error:
            send.producer.update_fault_item(
                broker_name, self.node.now_ms() - future.begin_timestamp, isolation=True)
            return self._on_exception(broker_name, left_ms, send, error, need_retry=need_retry)
        _called(send.callback.on_success, result)
        send.producer.update_fault_item(broker_name, self.node.now_ms() - future.begin_timestamp, isolation=False)
        return None

    def _answered(self, addr: str | None, broker_name: str, msg: Message, future: ResponseFuture) -> SendResult:
        if future.response_command is not None:
            return self.process_send_response(addr, broker_name, msg, future.response_command)
        if not future.send_request_ok:
            raise MQClientError("send request failed")
        if future.is_timeout(self.node.now_ms()):
            raise MQClientError(f"wait response timeout {future.timeout_ms}ms")
        raise MQClientError("unknow reseaon")

    async def _on_exception(
        self, broker_name: str, timeout_ms: int, send: AsyncSend, error: JavaError, *, need_retry: bool,
    ) -> None:
        """MQClientAPIImpl#onExceptionImpl: only the address changes; the queue id stays that of the first broker."""
        send.times += 1
        if not need_retry or send.times > send.retry_times:
            self._give_up(send, error)
            return
        retry_broker_name = broker_name
        if send.info is not None:
            retry_broker_name = send.producer.select_one_message_queue(send.info, broker_name).now.broker_name
        addr = self._find_broker_address_in_publish(retry_broker_name)
        await self.node.interleave("onExceptionImpl: before the retry")
        await self.send_async(addr, retry_broker_name, timeout_ms, send)

    def _give_up(self, send: AsyncSend, error: JavaError) -> None:
        """The end of MQClientAPIImpl#onExceptionImpl."""
        send.producer.send_failed(send.msg, error, send.times, 1 + send.retry_times,
                                  self.node.now_ms() - send.begin_ms, send.timeout_ms)
        _called(send.callback.on_exception, error)

    def process_send_response(
        self, addr: str | None, broker_name: str, msg: Message, response: Command,
    ) -> SendResult:
        """MQClientAPIImpl#processSendResponse; raises MQBrokerError for a code that says that nothing is stored."""
        for event in _answers(addr, msg, response):
            self.node.trace(event)
        status = _STATUS.get(response.code)
        if status is None:
            raise MQBrokerError(response.code, response.remark)
        header: SendMessageResponseHeader = response.header
        topic = without_namespace(msg.topic, self.namespace) or msg.topic
        return SendResult(
            status, uniq_ids(msg), header.msg_id, MessageQueue(topic, broker_name, not_null(header.queue_id)),
            not_null(header.queue_offset), header.transaction_id)


def request_of(msg: Message, header: SendMessageRequestHeader) -> Command:
    """MQClientAPIImpl#sendMessage: which request carries a message; sendSmartMsg is on, as by default."""
    code = RequestCode.SEND_MESSAGE_V2
    if msg.get_property(PROPERTY_MESSAGE_TYPE) == REPLY_MESSAGE_FLAG:
        code = RequestCode.SEND_REPLY_MESSAGE_V2
    elif isinstance(msg, MessageBatch):
        code = RequestCode.SEND_BATCH_MESSAGE
    return Command(code, header, msg.body)


def uniq_ids(msg: Message) -> str | None:
    """The unique id of a message; of a batch all, joined by commas. None: it has none yet."""
    if isinstance(msg, MessageBatch):
        return ",".join(one.uniq_id or "null" for one in msg)
    return msg.uniq_id


def _messages(msg: Message) -> list[Message]:
    return msg.messages if isinstance(msg, MessageBatch) else [msg]


def _answers(addr: str | None, msg: Message, response: Command) -> Iterator[SendAnswered]:
    """What the answer says of each message."""
    broker, stored = (addr or "").rpartition(":")[0], response.code in _STATUS
    header: SendMessageResponseHeader = response.header
    offset_ids = header.msg_id.split(",") if stored and header.msg_id is not None else ()
    for number, message in enumerate(_messages(msg)):
        queue_offset, log_offset, queue_id = _NOWHERE, _NOWHERE, _NOWHERE
        if number < len(offset_ids):
            queue_id, queue_offset = not_null(header.queue_id), not_null(header.queue_offset) + number
            with suppress(JavaError):  # ReplyMessageProcessor answers "0" where it has not stored the reply
                log_offset = decode_message_id(offset_ids[number])[1]
        yield SendAnswered(
            broker, msg.topic, queue_id, queue_offset, log_offset, message.uniq_id or "", int(response.code))


def _called(callback: Callable[..., None], value: object) -> None:
    """Call an application back; what it throws is swallowed."""
    try:
        callback(value)
    except JavaError:
        return
