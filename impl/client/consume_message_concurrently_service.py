"""ConsumeMessageConcurrentlyService: listeners work on messages of a queue beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from impl.client.consume_message_service import ConsumeMessageService, is_dropped
from impl.client.message_listener import ConsumeConcurrentlyContext, ConsumeConcurrentlyStatus
from impl.client.process_queue import CLEAN_EXPIRED_BATCH, ProcessQueue
from impl.common.heartbeat_data import CLUSTERING
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CONSUME_START_TIMESTAMP
from impl.decisions.java_errors import IndexOutOfBoundsError, JavaError
from impl.decisions.message_queue import MessageQueue
from impl.events import MessagesExpired
from impl.ports.pools import Job, RejectedExecutionError

if TYPE_CHECKING:  # a consumer has a service
    from impl.client.push_consumer import DefaultMQPushConsumerImpl

RECONSUME_LATER_MS = 5_000  # submitConsumeRequestLater
EXPIRED_DELAY_LEVEL = 3  # ProcessQueue#cleanExpiredMsg
MINUTE_MS = 60 * 1_000
NONE_BEFORE = -1
"""The ack index of a batch of which no message is settled."""

Messages = list[MessageExt]


class ConsumeMessageConcurrentlyService(ConsumeMessageService):
    """`client.impl.consumer.ConsumeMessageConcurrentlyService`.

    scheduler -- its one thread submits again what could not be sent back. cleaner -- its one thread sends back what a
    listener has had for too long.
    """

    def __init__(self, consumer: DefaultMQPushConsumerImpl) -> None:
        """Not started."""
        super().__init__(consumer)
        self.scheduler = self.node.scheduler("ConsumeMessageScheduledThread")
        self.cleaner = self.node.scheduler("CleanExpireMsgScheduledThread")

    def start(self) -> None:
        """#start: what has expired is looked for as often as it expires."""
        period_ms = self.consumer.config.consume_timeout_minutes * MINUTE_MS
        self.cleaner.schedule_at_fixed_rate(self.clean_expire_msg, period_ms, period_ms)

    async def shutdown(self) -> None:
        """#shutdown."""
        self.scheduler.shutdown()
        await self._shutdown_gracefully()
        self.cleaner.shutdown()

    # Tasks ------------------------------------------------------------------------------------------------------------

    def submit_consume_request(
        self, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *, dispatch_to_consume: bool,
    ) -> None:
        """#submitConsumeRequest: a task for each batch; one that is rejected takes all that is left with it."""
        del dispatch_to_consume
        size = self.consumer.config.consume_message_batch_max_size
        for first in range(0, len(msgs), size):
            try:
                self.consume_executor.execute(self._request(mq, pq, msgs[first : first + size]))
            except RejectedExecutionError:
                rest = self._request(mq, pq, msgs[first:])
                self.scheduler.schedule(partial(self.consume_executor.execute, rest), RECONSUME_LATER_MS)
                return

    def _request(self, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[MessageExt]) -> Job:
        return partial(self._run, mq, pq, list(msgs))

    def _submit_consume_request_later(self, mq: MessageQueue, pq: ProcessQueue, msgs: Messages) -> None:
        """#submitConsumeRequestLater, of messages that could not be sent back."""
        self.scheduler.schedule(
            lambda: self.submit_consume_request(msgs, pq, mq, dispatch_to_consume=True), RECONSUME_LATER_MS)

    async def _run(self, mq: MessageQueue, pq: ProcessQueue, msgs: Messages) -> None:
        """ConsumeRequest#run: what becomes of a queue that is dropped meanwhile is not looked at.

        What it throws is kept in a Future that nobody looks at.
        """
        if is_dropped(pq):
            return
        context = ConsumeConcurrentlyContext(mq)
        self.consumer.reset_retry_topic(msgs)
        status = await self._listen(msgs, context)
        await self.node.interleave("ConsumeRequest: the listener has ended")
        if not is_dropped(pq):
            with suppress(JavaError):
                await self.process_consume_result(status, context, pq, msgs)

    async def _listen(self, msgs: Messages, context: ConsumeConcurrentlyContext) -> ConsumeConcurrentlyStatus:
        """What the listener answers; an exception, and no answer, count as RECONSUME_LATER."""
        for msg in msgs:
            msg.put_property(PROPERTY_CONSUME_START_TIMESTAMP, str(self.node.now_ms()))
        try:
            status = await self.consumer.message_listener.consume_message(msgs, context)
        except JavaError:
            return ConsumeConcurrentlyStatus.RECONSUME_LATER  # logged
        return ConsumeConcurrentlyStatus(status or ConsumeConcurrentlyStatus.RECONSUME_LATER)

    # Results ----------------------------------------------------------------------------------------------------------

    async def process_consume_result(
        self, status: ConsumeConcurrentlyStatus, context: ConsumeConcurrentlyContext, pq: ProcessQueue, msgs: Messages,
    ) -> None:
        """#processConsumeResult, of a queue that was not dropped just before.

        What has not succeeded is sent back; what cannot be is consumed again here, and stays in the cache until then.
        Raises IndexOutOfBoundsError for an ack index below -1.
        """
        mq = context.message_queue
        failed = _behind(_ack_index(status, context.ack_index, len(msgs)), msgs)
        if self.consumer.config.message_model == CLUSTERING:
            msg_back_failed = await self._send_back(failed, context, pq)
            if msg_back_failed:
                for msg in msg_back_failed:
                    msgs.remove(msg)
                self._submit_consume_request_later(mq, pq, msg_back_failed)
        offset = pq.remove_message(msgs)
        self._settle(mq, msgs)
        if offset >= 0 and not pq.dropped:
            await self._update_offset(mq, pq, offset)

    async def _send_back(self, failed: Messages, context: ConsumeConcurrentlyContext, pq: ProcessQueue) -> Messages:
        """Those that could not be sent back; whether they are cached still is not looked at (X7)."""
        del pq
        return [msg for msg in failed if not await self.send_message_back(msg, context)]

    async def send_message_back(self, msg: MessageExt, context: ConsumeConcurrentlyContext) -> bool:
        """#sendMessageBack: whether it is stored again; else it counts as tried once more."""
        level, broker_name = context.delay_level_when_next_consume, context.message_queue.broker_name
        try:
            await self.consumer.send_message_back(msg, level, broker_name)
        except JavaError:
            msg.reconsume_times += 1
            return False  # logged
        return True

    async def _update_offset(self, mq: MessageQueue, pq: ProcessQueue, offset: int) -> None:
        """`dropped` was looked at before; what has become of the queue meanwhile is not looked at (X18)."""
        del pq
        await self.node.interleave("processConsumeResult: between removeMessage and updateOffset")
        self._put(mq, offset, increase_only=True)

    # Messages that a listener has had for too long --------------------------------------------------------------------

    async def clean_expire_msg(self) -> None:
        """#cleanExpireMsg: queue by queue."""
        for mq, pq in self.consumer.rebalance_impl.process_queue_table.traverse():
            await self.clean_expired_msg(mq, pq)

    async def clean_expired_msg(self, mq: MessageQueue, pq: ProcessQueue) -> None:
        """ProcessQueue#cleanExpiredMsg: the first messages, if a listener got them too long ago, are sent back.

        The listener may still be at work, and nobody asks whether the queue was dropped; the offset stays where it is.
        """
        for _ in range(min(CLEAN_EXPIRED_BATCH, len(pq.msg_tree_map))):
            msg = pq.first_expired_msg(self.consumer.config.consume_timeout_minutes)
            if msg is None:
                return
            try:
                await self.consumer.send_message_back(msg, EXPIRED_DELAY_LEVEL, None)
            except JavaError:
                continue  # logged
            if pq.remove_if_first(msg):
                self._expired(mq, pq, msg)

    def _expired(self, mq: MessageQueue, pq: ProcessQueue, msg: MessageExt) -> None:
        """What ProcessQueue#removeMessage answers is not used: the offset in memory stays behind the message (X25)."""
        del pq
        client_id, group = self.consumer.instance.client_id, self.consumer.group
        self.node.trace(MessagesExpired(client_id, group, mq, (msg.queue_offset,)))


def _ack_index(status: ConsumeConcurrentlyStatus, ack_index: int, size: int) -> int:
    """The index of the last message that is settled."""
    if status is ConsumeConcurrentlyStatus.RECONSUME_LATER:
        return NONE_BEFORE
    return min(ack_index, size - 1)


def _behind(ack_index: int, msgs: Messages) -> Messages:
    if ack_index < NONE_BEFORE:
        raise IndexOutOfBoundsError(f"Index {ack_index + 1} out of bounds for length {len(msgs)}")
    return msgs[ack_index + 1 :]
