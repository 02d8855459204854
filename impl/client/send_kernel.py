"""sendKernelImpl: one attempt to send one message to one queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from impl.client.send_message_api import AsyncSend, request_of
from impl.client.send_result import CommunicationMode, SendCallback, SendResult
from impl.client.topic_publish_info import PickedQueue, TopicPublishInfo
from impl.common.headers import SendMessageRequestHeader
from impl.common.message_batch import MessageBatch
from impl.common.message_const import (
    PROPERTY_INSTANCE_ID,
    PROPERTY_MAX_RECONSUME_TIMES,
    PROPERTY_RECONSUME_TIME,
    PROPERTY_TRANSACTION_PREPARED,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
)
from impl.common.message_properties import message_properties2_string
from impl.common.message_to_send import Message
from impl.common.util_all import compress
from impl.decisions.addresses import broker_vip_channel
from impl.decisions.flags import COMPRESSED_FLAG, TRANSACTION_PREPARED_TYPE
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.java_text import parse_boolean, parse_integer
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.namespace import without_namespace
from impl.ports.remoting import RemotingTooMuchRequestError

if TYPE_CHECKING:  # a producer has a kernel
    from impl.client.default_mq_producer_impl import DefaultMQProducerImpl


@dataclass(frozen=True, slots=True)
class Way:
    """How a message goes.

    callback -- of an asynchronous send. info -- what the producer chooses from; None: the application has chosen.
    attempt -- counts from 1. hashed -- the argument by whose hash it has.
    """

    mode: CommunicationMode
    callback: SendCallback | None = None
    info: TopicPublishInfo | None = None
    attempt: int = 1
    hashed: str | None = None


SYNC, ONEWAY = Way(CommunicationMode.SYNC), Way(CommunicationMode.ONEWAY)


def time_left(timeout_ms: int, spent_ms: int, what: str) -> int:
    """What is left of a time-out; raises RemotingTooMuchRequestError, for which `what` has no time."""
    if timeout_ms < spent_ms:
        raise RemotingTooMuchRequestError(f"{what} call timeout")
    return timeout_ms - spent_ms


class SendKernel:
    """The part of `client.impl.producer.DefaultMQProducerImpl` that is one attempt."""

    def __init__(self, producer: DefaultMQProducerImpl) -> None:
        """Send for this producer."""
        self.producer, self.node, self.config = producer, producer.node, producer.config

    async def send(self, msg: Message, mq: PickedQueue, way: Way, timeout_ms: int) -> SendResult | None:
        """DefaultMQProducerImpl#sendKernelImpl; None: not SYNC.

        The message gets its unique id, and is otherwise as before when this ends. Raises MQBrokerError, RemotingError,
        and MQClientError for a broker without known master.
        """
        begin_ms = self.node.now_ms()
        addr = await self._broker_addr(mq)
        prev_body = msg.body
        try:
            result = await self._send(msg, mq, way, addr, timeout_ms, begin_ms)
        except JavaError:
            self._restore(msg, prev_body)
            raise
        self._restore(msg, prev_body)
        return result

    async def _broker_addr(self, mq: PickedQueue) -> str:
        """Of the master; a broker that is not known is looked for once."""
        routes = self.producer.instance.routes
        addr = routes.find_broker_address_in_publish(mq.now.broker_name)
        if addr is None:
            await self.producer.try_to_find_topic_publish_info(mq.now.topic)
            addr = routes.find_broker_address_in_publish(mq.now.broker_name)
        addr = broker_vip_channel(self.config.send_message_with_vip_channel, addr)
        if addr is None:
            raise MQClientError(f"The broker[{mq.now.broker_name}] not exist")
        await self.node.interleave("sendKernelImpl: the address is known")
        return addr

    async def _send(
        self, msg: Message, mq: PickedQueue, way: Way, addr: str, timeout_ms: int, begin_ms: int,
    ) -> SendResult | None:
        header = self._header(msg, mq)
        sent = msg
        if way.mode is CommunicationMode.ASYNC and (header.sys_flag & COMPRESSED_FLAG or self.producer.namespace):
            sent = msg.clone()  # the caller's is restored before the callback comes
        left_ms = time_left(timeout_ms, self.node.now_ms() - begin_ms, "sendKernelImpl")
        api, broker_name = self.producer.instance.send_message_api, mq.now.broker_name
        if way.mode is not CommunicationMode.ASYNC:
            self.producer.send_attempted(
                msg, MessageQueue(header.topic, broker_name, header.queue_id), way.attempt, way.info,
                way.hashed, oneway=way.mode is CommunicationMode.ONEWAY, timeout_ms=left_ms)
        if way.mode is CommunicationMode.SYNC:
            return await api.send_sync(addr, broker_name, sent, header, left_ms)
        if way.callback is None:
            await api.send_oneway(addr, sent, header, left_ms)
            return None
        await api.send_async(addr, broker_name, left_ms, AsyncSend(
            sent, request_of(sent, header), way.callback, way.info, self.config.retry_times_when_send_async_failed,
            self.producer, begin_ms, timeout_ms))
        return None

    def _header(self, msg: Message, mq: PickedQueue) -> SendMessageRequestHeader:
        """The header, for which the message is changed: id, namespace, compressed body."""
        batch, config = isinstance(msg, MessageBatch), self.config
        if not batch:
            self.set_uniq_id(msg)
        namespace = self.producer.instance.config.namespace
        if namespace is not None:
            msg.put_property(PROPERTY_INSTANCE_ID, namespace)
        sys_flag = COMPRESSED_FLAG if self._try_to_compress(msg, batch=batch) else 0
        if parse_boolean(msg.get_property(PROPERTY_TRANSACTION_PREPARED)):
            sys_flag |= TRANSACTION_PREPARED_TYPE
        properties = message_properties2_string(msg.properties.entries())
        reconsume_times, max_reconsume_times = _reconsume_times(msg)
        return SendMessageRequestHeader(
            config.producer_group, msg.topic, mq.now.queue_id, self.node.now_ms(), properties, sys_flag, msg.flag,
            config.create_topic_key, config.default_topic_queue_nums, reconsume_times, max_reconsume_times,
            config.unit_mode, batch)

    def set_uniq_id(self, msg: Message) -> None:
        """MessageClientIDSetter#setUniqID: a message that is sent again keeps its id."""
        if msg.uniq_id is None:
            msg.put_property(
                PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX, self.producer.instance.manager.create_uniq_id())

    def _try_to_compress(self, msg: Message, *, batch: bool) -> bool:
        """DefaultMQProducerImpl#tryToCompressMessage."""
        if batch or msg.body is None or len(msg.body) < self.config.compress_msg_body_over_howmuch:
            return False
        msg.body = compress(msg.body, self.config.compress_level)
        return True

    def _restore(self, msg: Message, body: bytes | None) -> None:
        """The end of sendKernelImpl."""
        msg.body = body
        msg.topic = without_namespace(msg.topic, self.producer.namespace) or msg.topic


def _reconsume_times(msg: Message) -> tuple[int, int | None]:
    """How often a message of a retry topic was consumed, and how often it may be.

    Both properties are taken away from the message (its text has them already), so that a second attempt says 0.
    """
    if not msg.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
        return 0, None
    times, max_times = msg.get_property(PROPERTY_RECONSUME_TIME), msg.get_property(PROPERTY_MAX_RECONSUME_TIMES)
    for name, value in ((PROPERTY_RECONSUME_TIME, times), (PROPERTY_MAX_RECONSUME_TIMES, max_times)):
        if value is not None:
            msg.clear_property(name)
    return (0 if times is None else parse_integer(times, 32),
            None if max_times is None else parse_integer(max_times, 32))
