"""The threads of a store: each steps a service of `impl.store` as the thread of that name does in Java.

A thread that finds nothing to do in most of its rounds waits here for a put instead of looking each time: the rounds
that it leaves out would change nothing, and those that come then come when they would.
"""

from __future__ import annotations

from contextlib import suppress

from impl.broker.ha_threads import HAThreads
from impl.broker.reported_message_store import ReportedMessageStore
from impl.decisions.java_errors import JavaError
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.events import DelayLevelEnded, GroupCommitted, LogExpired
from impl.ports.node import Node
from impl.ports.threads import Signal
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_store_config import FlushDiskType
from impl.store.put_message_result import PutMessageResult
from impl.store.put_message_status import PutMessageStatus
from impl.store.schedule_message_service import DELAY_FOR_A_WHILE_MS, FIRST_DELAY_TIME_MS, FIRST_PERSIST_MS

REPUT_INTERVAL_MS, WATCH_INTERVAL_MS, START_LOOK_MS = 1, 10, 1_000
CLEAN_FIRST_MS, SPACE_FIRST_MS, SPACE_PERIOD_MS = 60_000, 1_000, 10_000
PUT_MESSAGE_MORE_MS = 5_000  # DefaultMessageStore#waitForPutResult
_NO_PUT_MS = 60_000


class StoreThreads:
    """ReputMessageService, CommitLog's flush services, FlushConsumeQueueService, and the cleaning of a store.

    ha -- the threads of replication.
    """

    def __init__(self, node: Node, store: ReportedMessageStore) -> None:
        """Run nothing yet."""
        self.node, self.store = node, store
        self._dispatch = Signal("ReputMessageService")
        self._commit = Signal("GroupCommitService")
        self._watch = Signal("FlushDiskWatcher")
        self._flush_log = Signal("FlushRealTimeService")
        self._flush_queues = Signal("FlushConsumeQueueService")
        self._signals = (self._dispatch, self._commit, self._watch, self._flush_log, self._flush_queues)
        self._delayed = Signal("DeliverDelayedMessageTimerThread")
        self.ha = HAThreads(node, store, self.log_has_grown)

    async def start(self, ha_port: int) -> None:
        """DefaultMessageStore#start: wait until all is dispatched, a second at a time and for ever, and run.

        ha_port -- MessageStoreConfig.haListenPort, where slaves connect.
        """
        if not self.store.start():
            await self.node.sleep(START_LOOK_MS)
            while not self.store.go_on_starting():
                await self.node.sleep(START_LOOK_MS)
        self.ha.start(ha_port)
        config, start_thread = self.store.config, self.node.start_thread
        start_thread("ReputMessageService", self._reput())
        start_thread("FlushConsumeQueueService", self._flush_consume_queues())
        if not config.slave:
            start_thread("DeliverDelayedMessageTimerThread", self._deliver())
        if config.flush_disk_type is FlushDiskType.SYNC_FLUSH:
            start_thread("GroupCommitService", self._group_commit())
            start_thread("FlushDiskWatcher", self._watch_disk())
        else:
            start_thread("FlushRealTimeService", self._flush_real_time())
        if config.transient_store_pool_enable:
            start_thread("CommitRealTimeService", self._commit_real_time())
        self.node.scheduler("StoreScheduledThread").schedule_at_fixed_rate(
            self._clean, CLEAN_FIRST_MS, config.clean_resource_interval_ms)
        self.node.scheduler("DiskCheckScheduledThread").schedule_at_fixed_rate(
            self._check_space, SPACE_FIRST_MS, SPACE_PERIOD_MS)

    def put_done(self, topic: str) -> None:
        """Tell the threads that something was appended to a topic; the allocator makes the file that comes next."""
        if topic == RMQ_SYS_SCHEDULE_TOPIC:
            self.node.wake(self._delayed)
        self.ha.put_done()
        self.log_has_grown()

    def log_has_grown(self) -> None:
        """Wake whoever waits for the log, and let the allocator work."""
        for signal in self._signals:
            if not signal.notified:
                self.node.wake(signal)
        self.store.allocate_mapped_file_service.mmap_operation()

    async def put_message(self, message: MessageExtBrokerInner) -> PutMessageResult:
        """DefaultMessageStore#putMessage: put, and wait until disk and slave have answered.

        UNKNOWN_ERROR if they take 5 s longer than they may.
        """
        future, answered = self.store.async_put_message(message), Signal("DefaultMessageStore#waitForPutResult")
        self.put_done(message.topic)
        future.when_complete(lambda _: self.node.wake(answered))
        config = self.store.config
        timeout_ms = max(config.sync_flush_timeout_ms, config.slave_timeout_ms) + PUT_MESSAGE_MORE_MS
        await self.node.wait(answered, timeout_ms)
        return future.result() or PutMessageResult(PutMessageStatus.UNKNOWN_ERROR)

    async def _reput(self) -> None:
        """ReputMessageService#run: an Error ends this thread. A slave with a part of a record waits for the rest."""
        store, service, is_stuck = self.store, self.store.reput_message_service, False
        while not store.stopped:
            if is_stuck or store.dispatch_behind_bytes() <= 0:
                await self.node.wait(self._dispatch, _NO_PUT_MS)
            await self.node.sleep(REPUT_INTERVAL_MS)
            begin = service.reput_from_offset
            is_stuck = service.run_once() and store.config.slave and service.reput_from_offset == begin

    async def _deliver(self) -> None:
        """ScheduleMessageService: nothing is due before the first message is delayed, and no offset is to be moved."""
        store, service = self.store, self.store.schedule_message_service
        ends = [one.get_max_offset_in_queue() for one in store.queues() if one.topic == RMQ_SYS_SCHEDULE_TOPIC]
        if not any(ends) and not any(task.offset for task in service.tasks):
            while not await self.node.wait(self._delayed, _NO_PUT_MS):
                pass
        self.node.scheduler("ScheduleMessageService").schedule_at_fixed_rate(
            service.persist, FIRST_PERSIST_MS, store.config.flush_delay_offset_interval_ms)
        await self.node.sleep(FIRST_DELAY_TIME_MS)
        while not store.stopped:
            for level in service.run_once():
                self.node.trace(DelayLevelEnded(self.node.name, level))
            self.put_done("")
            await self.node.sleep(DELAY_FOR_A_WHILE_MS)

    async def _group_commit(self) -> None:
        service = self.store.commit_log.group_commit_service
        while not self.store.stopped:
            await self.node.wait(self._commit, _NO_PUT_MS)
            service.swap_requests()
            await self.node.force_delay()
            service.do_commit()
            self._flushed()
            self.node.trace(GroupCommitted(self.node.name, self.store.commit_log.mapped_file_queue.flushed_where))

    def _flushed(self) -> None:
        """Say so, and wake the dispatcher if it has left something."""
        self.store.report_flushed()
        if self.store.dispatch_behind_bytes() > 0:
            self.node.wake(self._dispatch)

    async def _watch_disk(self) -> None:
        watcher = self.store.commit_log.flush_disk_watcher
        while not self.store.stopped:
            if watcher.requests:
                await self.node.sleep(WATCH_INTERVAL_MS)
            else:
                await self.node.wait(self._watch, _NO_PUT_MS)
            watcher.run_once()

    async def _flush_real_time(self) -> None:
        service, queue = self.store.commit_log.flush_real_time_service, self.store.commit_log.mapped_file_queue
        interval_ms = self.store.config.flush_interval_commit_log_ms
        while not self.store.stopped:
            least_pages = service.least_pages()
            await self.node.sleep(interval_ms)
            await self.node.force_delay()
            service.flush(least_pages)
            self._flushed()
            if least_pages == 0 and queue.remain_how_many_data_to_flush() == 0:
                await self._idle(self._flush_log, interval_ms)
                service.pass_over()

    async def _idle(self, signal: Signal, interval_ms: int) -> None:
        """Leave rounds of a service out until something is put, and then wait for the end of the one that runs."""
        idle_since_ms = self.node.now_ms()
        while not await self.node.wait(signal, _NO_PUT_MS):
            pass
        await self.node.sleep(interval_ms - (self.node.now_ms() - idle_since_ms) % interval_ms)

    async def _commit_real_time(self) -> None:
        service = self.store.commit_log.commit_real_time_service
        while not self.store.stopped:
            service.run_once()
            await self.node.sleep(self.store.config.commit_interval_commit_log_ms)

    async def _flush_consume_queues(self) -> None:
        service, interval_ms = self.store.flush_consume_queue_service, self.store.config.flush_interval_consume_queue_ms
        while not self.store.stopped:
            await self.node.sleep(interval_ms)
            await self.node.force_delay()
            nothing_left = not self.store.stopped and service.run_once() and self.store.dispatch_behind_bytes() <= 0
            if nothing_left:
                await self._idle(self._flush_queues, interval_ms)
                service.pass_over()

    def _clean(self) -> None:
        if not self.store.stopped:
            begin = self.store.get_min_phy_offset()
            with suppress(JavaError):  # logged; a repair forces the log first, and the disk may refuse what comes then
                self.store.clean_commit_log_service.run()
            self.store.report_flushed()
            if self.store.get_min_phy_offset() != begin:
                self.node.trace(LogExpired(self.node.name, self.store.get_min_phy_offset()))
                self.node.wake(self._dispatch)  # which may begin there now
            self.store.clean_consume_queue_service.run()

    def _check_space(self) -> None:
        if not self.store.stopped:
            self.store.clean_commit_log_service.is_space_full()
