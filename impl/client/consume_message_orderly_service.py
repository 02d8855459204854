"""ConsumeMessageOrderlyService: one listener at a time works on a queue, under the broker's lock."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from impl.client.consume_message_service import ConsumeMessageService, is_dropped
from impl.client.message_listener import ConsumeOrderlyContext, ConsumeOrderlyStatus
from impl.client.process_queue import REBALANCE_LOCK_INTERVAL_MS, ProcessQueue
from impl.common.heartbeat_data import CLUSTERING
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_RECONSUME_TIME
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.retry_level import max_reconsume_times
from impl.events import ListenerEnded, ListenerStarted, MessagesPutBack, MessagesTaken
from impl.ports.threads import Lock

if TYPE_CHECKING:  # a consumer has a service
    from impl.client.push_consumer import DefaultMQPushConsumerImpl

MAX_TIME_CONSUME_CONTINUOUSLY_MS = 60_000  # property rocketmq.client.maxTimeConsumeContinuously
AGAIN_MS, AGAIN_UNLOCKED_MS = 10, 3_000  # submitConsumeRequestLater in tryLockLaterAndReconsume
LOCK_LATER_MS, LOCK_LATER_AT_FIRST_MS = 10, 100
AS_CONFIGURED, LEAST_SUSPEND_MS, GREATEST_SUSPEND_MS = -1, 10, 30_000  # submitConsumeRequestLater


class ConsumeMessageOrderlyService(ConsumeMessageService):
    """`client.impl.consumer.ConsumeMessageOrderlyService`.

    scheduler -- its one thread renews the locks, and asks for those that are missing.
    """

    def __init__(self, consumer: DefaultMQPushConsumerImpl) -> None:
        """Not started."""
        super().__init__(consumer)
        self.in_clustering = consumer.config.message_model == CLUSTERING
        self.scheduler = consumer.node.scheduler("ConsumeMessageScheduledThread")
        self._message_queue_lock: dict[MessageQueue, Lock] = {}  # MessageQueueLock: of this process, by queue

    def start(self) -> None:
        """#start: lockAll after 1 s and every 20 s; who broadcasts locks nothing."""
        if self.in_clustering:
            self.scheduler.schedule_at_fixed_rate(self.lock_mq_periodically, 1_000, REBALANCE_LOCK_INTERVAL_MS)

    async def lock_mq_periodically(self) -> None:
        """#lockMQPeriodically."""
        if not self.stopped:
            await self.consumer.rebalance_impl.lock_all()

    async def shutdown(self) -> None:
        """#shutdown: by default nobody waits for a listener that is at work before the locks go."""
        await self._stop()
        if self.in_clustering:
            await self.consumer.rebalance_impl.unlock_all(oneway=False)

    async def _stop(self) -> None:
        self.stopped = True
        self.scheduler.shutdown()
        await self._shutdown_gracefully()

    # Tasks ------------------------------------------------------------------------------------------------------------

    def submit_consume_request(
        self, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *, dispatch_to_consume: bool,
    ) -> None:
        """#submitConsumeRequest: one task for a queue, which takes what is cached when it comes to it."""
        del msgs
        if dispatch_to_consume:
            self.consume_executor.execute(lambda: self._run(mq, pq))

    def _submit_consume_request_later(self, mq: MessageQueue, pq: ProcessQueue, suspend_time_ms: int) -> None:
        """#submitConsumeRequestLater: in 10 ms to 30 s; -1: as the consumer has it."""
        if suspend_time_ms == AS_CONFIGURED:
            suspend_time_ms = self.consumer.config.suspend_current_queue_time_ms
        self.scheduler.schedule(
            lambda: self.submit_consume_request((), pq, mq, dispatch_to_consume=True),
            min(max(suspend_time_ms, LEAST_SUSPEND_MS), GREATEST_SUSPEND_MS),
        )

    def _try_lock_later_and_reconsume(self, mq: MessageQueue, pq: ProcessQueue, delay_ms: int) -> None:
        """#tryLockLaterAndReconsume."""

        async def lock_and_reconsume() -> None:
            locked = await self._lock_one_mq(mq)
            self._submit_consume_request_later(mq, pq, AGAIN_MS if locked else AGAIN_UNLOCKED_MS)

        self.scheduler.schedule(lock_and_reconsume, delay_ms)

    async def _lock_one_mq(self, mq: MessageQueue) -> bool:
        """#lockOneMQ."""
        return not self.stopped and await self.consumer.rebalance_impl.lock(mq)

    async def _run(self, mq: MessageQueue, pq: ProcessQueue) -> None:
        """ConsumeRequest#run; what it throws is kept in a Future that nobody looks at."""
        if is_dropped(pq):
            return
        monitor = self._message_queue_lock.setdefault(mq, Lock(f"MessageQueueLock {mq.text}"))
        await self.node.lock(monitor)
        with suppress(JavaError):
            await self._consume_in_order(mq, pq)
        self.node.unlock(monitor)

    async def _consume_in_order(self, mq: MessageQueue, pq: ProcessQueue) -> None:
        """The synchronized part of ConsumeRequest#run: batch after batch, as long as the lock is believed in."""
        if not self._may_consume(pq):
            if not is_dropped(pq):
                self._try_lock_later_and_reconsume(mq, pq, LOCK_LATER_AT_FIRST_MS)
            return
        begin_ms = self.node.now_ms()
        while not is_dropped(pq):
            if not self._may_consume(pq):
                self._try_lock_later_and_reconsume(mq, pq, LOCK_LATER_MS)
                return
            if self.node.now_ms() - begin_ms > MAX_TIME_CONSUME_CONTINUOUSLY_MS:
                self._submit_consume_request_later(mq, pq, AGAIN_MS)
                return
            msgs = pq.take_messages(self.consumer.config.consume_message_batch_max_size)
            self._report(MessagesTaken, mq, pq, msgs)
            self.consumer.reset_retry_topic(msgs)
            if not msgs or not await self.consume(mq, pq, msgs):
                return

    def _may_consume(self, pq: ProcessQueue) -> bool:
        """Whether the broker's lock is believed in; it is looked at before each batch, never during one (D7)."""
        return not self.in_clustering or (pq.locked and not pq.is_lock_expired())

    async def consume(self, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[MessageExt]) -> bool:
        """One batch that was taken: the listener works under the lock of the process queue.

        Whether the next one may follow at once.
        """
        context = ConsumeOrderlyContext(mq)
        await self.node.lock(pq.consume_lock)
        if pq.dropped:
            self.node.unlock(pq.consume_lock)
            return False
        status = await self._listen(msgs, context)
        self.node.unlock(pq.consume_lock)
        return await self.process_consume_result(status, context, pq, msgs)

    async def _listen(self, msgs: Sequence[MessageExt], context: ConsumeOrderlyContext) -> ConsumeOrderlyStatus:
        """What the listener answers; an exception, and no answer, count as SUSPEND_CURRENT_QUEUE_A_MOMENT."""
        client_id, group = self.consumer.instance.client_id, self.consumer.group
        self.node.trace(ListenerStarted(client_id, group, context.message_queue))
        try:
            status = await self.consumer.message_listener.consume_message(msgs, context)
        except JavaError:
            status = None  # logged
        self.node.trace(ListenerEnded(client_id, group, context.message_queue))
        return ConsumeOrderlyStatus(status or ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT)

    # Results ----------------------------------------------------------------------------------------------------------

    async def process_consume_result(
        self, status: ConsumeOrderlyStatus, context: ConsumeOrderlyContext, pq: ProcessQueue,
        msgs: Sequence[MessageExt],
    ) -> bool:
        """#processConsumeResult: whether the next batch may follow at once.

        Where success commits, so do COMMIT and ROLLBACK (L7). Raises NoSuchElementError if nothing is taken any more.
        """
        mq = context.message_queue
        await self.node.interleave("processConsumeResult: before commit")
        if status is ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT:
            if await self._check_reconsume_times(msgs):
                pq.make_message_to_consume_again(msgs)
                self._report(MessagesPutBack, mq, pq, msgs)
                self._submit_consume_request_later(mq, pq, context.suspend_current_queue_time_ms)
                return False
            commits = context.auto_commit
        else:
            commits = context.auto_commit or status is ConsumeOrderlyStatus.COMMIT
        if commits:
            self._commit(mq, pq)
        elif status is ConsumeOrderlyStatus.ROLLBACK:
            taken = pq.consuming_msg_orderly_tree_map.values()
            pq.rollback()
            self._report(MessagesPutBack, mq, pq, taken)
            self._submit_consume_request_later(mq, pq, context.suspend_current_queue_time_ms)
            return False
        return True

    def _commit(self, mq: MessageQueue, pq: ProcessQueue) -> None:
        """Everything taken is settled, also if the offset goes down by it."""
        counts, taken = self._counts(mq, pq), pq.consuming_msg_orderly_tree_map.values()
        offset = pq.commit()
        if offset >= 0 and counts:
            self._settle(mq, taken)
            self._put(mq, offset, increase_only=False)

    def _report(
        self, kind: type[MessagesTaken | MessagesPutBack], mq: MessageQueue, pq: ProcessQueue,
        msgs: Sequence[MessageExt],
    ) -> None:
        """Report what has become of messages of a queue that has not been dropped."""
        offsets = tuple(msg.queue_offset for msg in msgs)
        if offsets and not pq.dropped:
            self.node.trace(kind(self.consumer.instance.client_id, self.consumer.group, mq, offsets))

    def _counts(self, mq: MessageQueue, pq: ProcessQueue) -> bool:
        """What is read of a queue that has been dropped meanwhile is not settled (X11)."""
        del mq
        return not pq.dropped

    async def _check_reconsume_times(self, msgs: Sequence[MessageExt]) -> bool:
        """#checkReconsumeTimes: whether any is to be consumed again; the number is that of the cached object.

        One that was tried too often goes to the retry topic with a number of which the broker makes a dead letter. It
        comes again all the same, and goes there again, if another one of the batch is to be consumed again (X26).
        """
        suspend = False
        for msg in msgs:
            too_often = msg.reconsume_times >= self._max_reconsume_times()
            if too_often:
                msg.put_property(PROPERTY_RECONSUME_TIME, str(msg.reconsume_times))
            if not too_often or not await self._send_message_back(msg):
                suspend = True
                msg.reconsume_times += 1
        return suspend

    def _max_reconsume_times(self) -> int:
        """#getMaxReconsumeTimes: by default there is no end."""
        return max_reconsume_times(self.consumer.config.max_reconsume_times, orderly=True)

    async def _send_message_back(self, msg: MessageExt) -> bool:
        """#sendMessageBack: whether it is stored as a message of the retry topic."""
        try:
            await self.consumer.send_to_retry_topic(msg, msg.reconsume_times, self._max_reconsume_times())
        except JavaError:
            return False  # logged
        return True
