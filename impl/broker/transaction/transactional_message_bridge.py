"""TransactionalMessageBridge: half and op messages in the store, and how far the check has come in their queues."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.byte_buffer import ByteBuffer
from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_REAL_QUEUE_ID,
    PROPERTY_REAL_TOPIC,
    PROPERTY_TAGS,
    PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET,
    PROPERTY_WAIT_STORE_MSG_OK,
)
from impl.common.message_decoder import decode
from impl.common.pull_result import PullResult
from impl.decisions.flags import PERM_READ, PERM_WRITE, TRANSACTION_NOT_TYPE, reset_transaction_value
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_TRANS_HALF_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC
from impl.decisions.transaction_check import pull_status
from impl.hash_map import HashMap
from impl.ports.threads import Threads
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageFuture, PutMessageResult
from impl.store.put_message_status import PutMessageStatus

CID_SYS_RMQ_TRANS = "CID_RMQ_SYS_TRANS"  # MixAll
REMOVE_TAG = "d"  # TransactionalMessageUtil


class Tables(NamedTuple):
    """What transactions need of a broker. broker_name -- of its queues. register -- tell name servers of new topics."""

    broker_name: str
    consumer_offset_manager: ConsumerOffsetManager
    topic_config_manager: TopicConfigManager
    register: Callable[[], Awaitable[None]]


class TransactionalMessageBridge:
    """`broker.transaction.queue.TransactionalMessageBridge`.

    tables -- of the broker. store -- keeps the messages. store_host -- the broker's address. now_ms -- its clock.
    """

    def __init__(
        self, tables: Tables, store: DefaultMessageStore, store_host: InetSocketAddress, now_ms: Callable[[], int],
    ) -> None:
        """Put nothing."""
        self._tables, self.store, self._store_host, self.now_ms = tables, store, store_host, now_ms

    # Queues -----------------------------------------------------------------------------------------------------------

    async def fetch_message_queues(self, topic: str, threads: Threads) -> tuple[MessageQueue, ...]:
        """TransactionalMessageBridge#fetchMessageQueues, in the order of a HashSet; makes the topic with one queue."""
        topics = self._tables.topic_config_manager
        config, new = await topics.create_topic_in_send_message_back(topic, 1, PERM_WRITE | PERM_READ, 0, threads)
        if new:
            await self._tables.register()
        queues: HashMap[MessageQueue, None] = HashMap()
        for queue_id in range(0 if config is None else config.read_queue_nums):
            queues.put(MessageQueue(topic, self._tables.broker_name, queue_id), None)
        return queues.key_set()

    def fetch_consume_offset(self, queue: MessageQueue) -> int:
        """TransactionalMessageBridge#fetchConsumeOffset: how far the check has come; at first the queue's beginning."""
        offsets = self._tables.consumer_offset_manager
        offset = offsets.query_offset(CID_SYS_RMQ_TRANS, queue.topic, queue.queue_id)
        return self.store.get_min_offset_in_queue(queue.topic, queue.queue_id) if offset == -1 else offset

    async def update_consume_offset(self, queue: MessageQueue, offset: int, threads: Threads) -> None:
        """TransactionalMessageBridge#updateConsumeOffset."""
        await self._tables.consumer_offset_manager.commit_offset(
            CID_SYS_RMQ_TRANS, queue.topic, queue.queue_id, offset, threads)

    def get_message(self, topic: str, queue_id: int, offset: int, nums: int) -> PullResult | None:
        """TransactionalMessageBridge#getHalfMessage, #getOpMessage; None: the store must not be read."""
        result = self.store.get_message(topic, queue_id, offset, nums)
        if result is None:
            return None
        messages = (decode(ByteBuffer(record), decompress_body=False) for record in result.records)
        return PullResult(pull_status(result.status), result.next_begin_offset,
                          tuple(message for message in messages if message is not None))

    def look_message_by_offset(self, commit_log_offset: int) -> MessageExt | None:
        """TransactionalMessageBridge#lookMessageByOffset; raises what the store raises."""
        return self.store.look_message_by_offset(commit_log_offset)

    # Puts -------------------------------------------------------------------------------------------------------------

    def async_put_half_message(self, message: MessageExtBrokerInner) -> PutMessageFuture:
        """TransactionalMessageBridge#asyncPutHalfMessage: a message that nobody receives yet; it is changed."""
        message.put_property(PROPERTY_REAL_TOPIC, message.topic)
        message.put_property(PROPERTY_REAL_QUEUE_ID, str(message.queue_id))
        message.sys_flag = reset_transaction_value(message.sys_flag, TRANSACTION_NOT_TYPE)
        message.topic, message.queue_id = RMQ_SYS_TRANS_HALF_TOPIC, 0
        message.write_properties()
        return self.store.async_put_message(message)

    def put_op_message(self, half: MessageExt) -> None:
        """TransactionalMessageBridge#putOpMessage with REMOVETAG: note that a half message has ended.

        Nobody looks whether the note was taken. Java also gives it a unique id, behind what is written.
        """
        op = MessageExtBrokerInner(
            RMQ_SYS_TRANS_OP_HALF_TOPIC, str(half.queue_offset).encode(), self._store_host, self._store_host,
            queue_id=half.queue_id, born_timestamp=self.now_ms())
        op.put_property(PROPERTY_TAGS, REMOVE_TAG)
        op.put_property(PROPERTY_WAIT_STORE_MSG_OK, "true")  # Message's constructor
        op.write_properties()
        self.put_without_wait(op)

    def put_without_wait(self, message: MessageExtBrokerInner) -> PutMessageResult | None:
        """MessageStore#putMessage of what waits neither for the disk nor for a slave, whatever its record says."""
        message.put_property(PROPERTY_WAIT_STORE_MSG_OK, "false")
        return self.store.async_put_message(message).result()

    def put_back(self, half: MessageExt) -> PutMessageResult | None:
        """TransactionalMessageBridge#renewHalfMessageInner, and the put of it: a copy at the end of the half queue."""
        return self.put_without_wait(renew_half_message_inner(half))

    def put_back_immune(self, half: MessageExt) -> bool:
        """TransactionalMessageBridge#renewImmunityHalfMessageInner, and the put of it; whether it was taken.

        The copy says at which queue offset the first of them was.
        """
        inner = renew_half_message_inner(half)
        first = half.get_property(PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET)
        inner.put_property(PROPERTY_WAIT_STORE_MSG_OK, "false")
        inner.put_property(
            PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET, str(half.queue_offset) if first is None else first)
        inner.write_properties()
        return is_put_ok(self.put_without_wait(inner))


def is_put_ok(result: PutMessageResult | None) -> bool:
    """Whether a put was answered PUT_OK."""
    return result is not None and result.status is PutMessageStatus.PUT_OK


def renew_half_message_inner(half: MessageExt) -> MessageExtBrokerInner:
    """TransactionalMessageBridge#renewHalfMessageInner: a copy, without flag and counter of retries."""
    return _inner(half, half.topic, half.queue_id)


def copied(message: MessageExt, topic: str, queue_id: int) -> MessageExtBrokerInner:
    """A copy for another queue, with flag and counter of retries."""
    inner = _inner(message, topic, queue_id)
    inner.flag, inner.reconsume_times = message.flag, message.reconsume_times
    return inner


def _inner(message: MessageExt, topic: str, queue_id: int) -> MessageExtBrokerInner:
    inner = MessageExtBrokerInner(
        topic, message.body, message.born_host, message.store_host, queue_id=queue_id, sys_flag=message.sys_flag,
        born_timestamp=message.born_timestamp)
    for name, value in (message.properties or {}).items():
        inner.put_property(name, value)
    inner.write_properties()
    return inner
