"""DefaultMessageStore: the store of a broker, from load to shutdown.

How a host uses it:

* `load()`, then `start()`. False of the first says that the broker does not come up; False of the second that records
  wait for their dispatch, and Java looks again each second, for ever: `go_on_starting()`.
* `async_put_message`, `async_put_messages`: a PutMessageFuture each.
* `get_message` and the other reads: see MessageReads.
* It steps the services while the store runs, as Java's threads do: `reput_message_service.run_once` every millisecond;
  of the commit log `group_commit_service.run_once` every 10 ms with SYNC_FLUSH, else the two steps of
  `flush_real_time_service` around 500 ms; `commit_real_time_service.run_once` every 200 ms with the transient pool;
  `flush_disk_watcher.run_once` every 10 ms; `flush_consume_queue_service.run_once` every second;
  `allocate_mapped_file_service.mmap_operation` after a put that made a file; `clean_commit_log_service.run` and
  `clean_consume_queue_service.run` every 10 s, first after 60 s; `clean_commit_log_service.is_space_full` every 10 s;
  `schedule_message_service.run_once` every 100 ms, first after a second, and its `persist` every 10 s.
* `shutdown()` in the end. A kill is the end of all calls.

Extension files of consume queues and multi-dispatch are not here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from impl.decisions.consume_queue_units import reput_from_offset
from impl.decisions.flags import TRANSACTION_COMMIT_TYPE, TRANSACTION_NOT_TYPE, get_transaction_value
from impl.decisions.java_errors import JavaException, JavaRuntimeError, VirtualMachineError
from impl.decisions.java_text import utf16_length
from impl.decisions.log_append import is_os_page_cache_busy
from impl.decisions.put_rules import is_batch_legal, is_message_legal, is_put_available
from impl.decisions.running_flags import is_writeable
from impl.decisions.store_recovery import recovery_timestamp
from impl.ports.byte_stream import Connect
from impl.ports.disk import Disk, File
from impl.store.clean_services import CleanCommitLogService, CleanConsumeQueueService
from impl.store.commit_log_recovery import Logics, recover_abnormally, recover_normally
from impl.store.dispatch_request import DispatchRequest
from impl.store.flush_consume_queue_service import FlushConsumeQueueService
from impl.store.ha.ha_service import HAService
from impl.store.mapped_file import SelectMappedBufferResult
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.message_reads import MessageReads
from impl.store.message_store_config import MessageStoreConfig
from impl.store.put_message_result import PutMessageFuture, refused
from impl.store.put_message_status import PutMessageStatus
from impl.store.reput_message_service import ReputMessageService
from impl.store.schedule_message_service import ScheduleMessageService
from impl.store.store_checkpoint import StoreCheckpoint

_DISPATCHED_TYPES = (TRANSACTION_NOT_TYPE, TRANSACTION_COMMIT_TYPE)


def _at_once(job: Callable[[], None]) -> None:
    job()


def nowhere(address: str) -> None:
    """Reach no master; see Connect in `impl.ports.byte_stream`."""
    del address


def _nobody(request: DispatchRequest) -> None:
    del request


class DefaultMessageStore(MessageReads):
    """`store.DefaultMessageStore`.

    message_arriving -- MessageArrivingListener: is told of each message that was dispatched. start_thread -- runs what
    Java runs in a short thread of its own. connect -- how a slave reaches its master. shut_down_normal -- the abort
    file was removed.
    """

    def __init__(
        self, disk: Disk, config: MessageStoreConfig, now_ms: Callable[[], int],
        message_arriving: Callable[[DispatchRequest], None] = _nobody,
        start_thread: Callable[[Callable[[], None]], None] = _at_once,
        connect: Connect = nowhere,
    ) -> None:
        """Open the lock file, and nothing else; raises DiskError."""
        super().__init__(disk, config, now_ms, start_thread)
        self.reput_message_service = ReputMessageService(self.commit_log, config, self.do_dispatch, message_arriving)
        self.flush_consume_queue_service = FlushConsumeQueueService(self.queues, self.checkpoint, config, now_ms)
        self.clean_commit_log_service = CleanCommitLogService(self)
        self.clean_consume_queue_service = CleanConsumeQueueService(self)
        self.commit_log.ha_service = self.ha_service = HAService(self, connect)
        self.schedule_message_service = ScheduleMessageService(self)
        self.shut_down_normal = False
        self._lock_file: File = disk.open(config.lock_file)

    # Load and start ---------------------------------------------------------------------------------------------------

    def load(self) -> bool:
        """DefaultMessageStore#load: open all files and recover what they hold; False: the broker does not come up.

        Raises what Java throws as an Error, and does not catch: HeapExhaustedError for a record that says it is longer
        than the heap, MappingFaultError where the index has no room on the disk.
        """
        try:
            result = self._load()
        except JavaException:
            result = False
        if not result:
            self.allocate_mapped_file_service.shutdown()
        return result

    def _load(self) -> bool:
        last_exit_ok = self.disk.length(self.config.abort_file) is None
        if not self.commit_log.load() or not self.load_consume_queue():
            return False
        self.store_checkpoint = StoreCheckpoint(self.disk, self.config.store_checkpoint_path)
        self.index_service.load(last_exit_ok)
        self._recover(last_exit_ok=last_exit_ok)
        return self.schedule_message_service.load()

    def _recover(self, *, last_exit_ok: bool) -> None:
        """DefaultMessageStore#recover. Delay levels are not known yet (V5)."""
        max_phy_offset = self.recover_consume_queue()
        logics = Logics(self.truncate_dirty_logic_files, self.destroy_logics)
        check_crc = self.config.check_crc_on_recover
        if last_exit_ok:
            recover_normally(self.commit_log, max_phy_offset, logics, check_crc=check_crc)
        else:
            recover_abnormally(
                self.commit_log, max_phy_offset, logics, self.do_dispatch, self._recovery_timestamp(),
                check_crc=check_crc)
        self.recover_topic_queue_table()

    def _recovery_timestamp(self) -> int:
        config, checkpoint = self.config, self.checkpoint()
        return recovery_timestamp(
            checkpoint.physic_msg_timestamp, checkpoint.logics_msg_timestamp, checkpoint.index_msg_timestamp,
            message_index_enable=config.message_index_enable, message_index_safe=config.message_index_safe)

    def start(self) -> bool:
        """DefaultMessageStore#start: take the lock and dispatch what no queue knows; see go_on_starting.

        Raises JavaRuntimeError if another process has the lock.
        """
        if not self._lock_file.try_lock():
            raise JavaRuntimeError("Lock failed,MQ already started")
        self._lock_file.write(0, b"lock")
        self._lock_file.force()
        known = max((queue.max_physic_offset for queue in self.queues()), default=0)
        self.reput_message_service.reput_from_offset = max(reput_from_offset(self.get_min_phy_offset(), known), 0)
        return self.go_on_starting()

    def go_on_starting(self) -> bool:
        """The rest of DefaultMessageStore#start, once nothing waits for its dispatch; False: something does.

        After an Error the thread that dispatches has ended, and Java waits for ever.
        """
        with suppress(VirtualMachineError):
            self.reput_message_service.run_once()
        if self.dispatch_behind_bytes() > 0:
            return False
        self.recover_topic_queue_table()
        if not self.config.slave:
            self.schedule_message_service.start()
        self.disk.open(self.config.abort_file).close()
        self.stopped = False
        return True

    def shutdown(self) -> None:
        """DefaultMessageStore#shutdown: stop the services in Java's order; what they have left is done first.

        The abort file stays if the store is not writeable, or something was not dispatched.
        """
        if not self.stopped:
            self.stopped = True
            self.schedule_message_service.shutdown()
            self.ha_service.shutdown()
            self.commit_log.shutdown()
            self.reput_message_service.shutdown()
            self.flush_consume_queue_service.shutdown()
            self.allocate_mapped_file_service.shutdown()
            self.checkpoint().flush()
            self.checkpoint().shutdown()
            if is_writeable(self.running_flags) and self.dispatch_behind_bytes() == 0:
                self.disk.delete(self.config.abort_file)
                self.shut_down_normal = True
        self._lock_file.close()

    # Put --------------------------------------------------------------------------------------------------------------

    def async_put_message(self, message: MessageExtBrokerInner) -> PutMessageFuture:
        """DefaultMessageStore#asyncPutMessage: append a message, if it may be; see CommitLog.async_put_message."""
        status = self._check_store_status()
        if status is PutMessageStatus.PUT_OK:
            status = _check_message(message)
        return self.commit_log.async_put_message(message) if status is PutMessageStatus.PUT_OK else refused(status)

    def async_put_messages(self, batch: MessageExtBatch) -> PutMessageFuture:
        """DefaultMessageStore#asyncPutMessages: append a batch, if it may be; see CommitLog.async_put_messages."""
        status = self._check_store_status()
        legal = is_batch_legal(utf16_length(batch.topic), len(batch.body or b""), self.config.max_message_size)
        if status is PutMessageStatus.PUT_OK and not legal:
            status = PutMessageStatus.MESSAGE_ILLEGAL
        return self.commit_log.async_put_messages(batch) if status is PutMessageStatus.PUT_OK else refused(status)

    def _check_store_status(self) -> PutMessageStatus:
        """DefaultMessageStore#checkStoreStatus."""
        writeable = is_writeable(self.running_flags)
        if not is_put_available(stopped=self.stopped, slave=self.config.slave, writeable=writeable):
            return PutMessageStatus.SERVICE_NOT_AVAILABLE
        return PutMessageStatus.OS_PAGECACHE_BUSY if self.is_os_page_cache_busy() else PutMessageStatus.PUT_OK

    def is_os_page_cache_busy(self) -> bool:
        """DefaultMessageStore#isOSPageCacheBusy: whether somebody has held the put lock for more than a second."""
        return is_os_page_cache_busy(
            self.now_ms(), self.commit_log.begin_time_in_lock, self.config.os_page_cache_busy_timeout_ms)

    def append_to_commit_log(self, start_offset: int, data: bytes) -> bool:
        """DefaultMessageStore#appendToCommitLog: raw bytes from a master; False if they are not taken."""
        return not self.stopped and self.commit_log.append_data(start_offset, data)

    def get_commit_log_data(self, offset: int) -> SelectMappedBufferResult | None:
        """DefaultMessageStore#getCommitLogData: the log from an offset to the end of its file; release it."""
        return None if self.stopped else self.commit_log.get_data(offset)

    # Dispatch ---------------------------------------------------------------------------------------------------------

    def do_dispatch(self, request: DispatchRequest) -> None:
        """DefaultMessageStore#doDispatch: to the consume queue, then to the index."""
        if get_transaction_value(request.sys_flag) in _DISPATCHED_TYPES:
            queue = self.find_consume_queue(request.topic, request.queue_id)
            self.put_position(
                queue, request.commit_log_offset, request.msg_size, request.tags_code, request.consume_queue_offset,
                request.store_timestamp)
        if self.config.message_index_enable:
            self.index_service.build_index(request)

    def dispatch_behind_bytes(self) -> int:
        """DefaultMessageStore#dispatchBehindBytes."""
        return self.reput_message_service.behind()


def _check_message(message: MessageExtBrokerInner) -> PutMessageStatus:
    """DefaultMessageStore#checkMessage: by characters; the encoder counts bytes."""
    legal = is_message_legal(utf16_length(message.topic), utf16_length(message.properties_string or ""))
    return PutMessageStatus.PUT_OK if legal else PutMessageStatus.MESSAGE_ILLEGAL
