"""CommitLog: the one log of a store, in which all records of all queues stand in the order of their arrival.

A put appends under the put lock and then waits for disk and slave, if it is to: `async_put_message` gives a
PutMessageFuture. Here a put runs alone, which is what the lock is for. `flush_service` and the others are stepped by
the host (see flush_commit_log_service.py).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Protocol

from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_REAL_QUEUE_ID, PROPERTY_REAL_TOPIC
from impl.common.record_layout import BORN_HOST_POSITION, SYSFLAG_POSITION, host_bytes
from impl.common.util_all import crc32
from impl.decisions.flags import (
    BORNHOST_V6_FLAG,
    TRANSACTION_COMMIT_TYPE,
    TRANSACTION_NOT_TYPE,
    get_transaction_value,
)
from impl.decisions.flush_rules import position_in_file
from impl.decisions.java_arithmetic import remainder, wrap64
from impl.decisions.java_errors import JavaError
from impl.decisions.log_append import is_end_of_file
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.decisions.retry_level import delay_level_to_queue_id
from impl.ports.disk import Disk
from impl.store.dispatch_request import NOT_PARSED, DelayLevels
from impl.store.flush_commit_log_service import (
    Checkpoint,
    CommitRealTimeService,
    FlushDiskWatcher,
    FlushRealTimeService,
    GroupCommitService,
)
from impl.store.mapped_file import MappedFile, SelectMappedBufferResult
from impl.store.mapped_file_queue import Allocation, MappedFileQueue
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.message_ext_encoder import blank_record, encode, encode_batch, host_flags, place, place_batch
from impl.store.message_store_config import BrokerRole, FlushDiskType, MessageStoreConfig
from impl.store.put_message_result import AppendMessageResult, GroupCommitRequest, PutMessageFuture, refused
from impl.store.put_message_status import AppendMessageStatus, PutMessageStatus

_COUNTED_TYPES = (TRANSACTION_NOT_TYPE, TRANSACTION_COMMIT_TYPE)  # these take a queue offset

Append = Callable[[MappedFile], AppendMessageResult]


class ReplicaService(Protocol):
    """What the log asks of HAService."""

    def is_slave_ok(self, master_put_where: int) -> bool:
        """HAService#isSlaveOK: whether a slave is there and not too far behind this offset."""
        ...

    def put_request(self, request: GroupCommitRequest) -> None:
        """HAService#putRequest: answer when a slave has got so far, or the deadline is over."""
        ...


class CommitLog:
    """`store.CommitLog`.

    topic_queue_table -- "topic-queueId" to the next queue offset. begin_time_in_lock -- since when the put lock is
    held, in ms; 0: it is free. delay_levels -- what ScheduleMessageService knows of them. ha_service -- the slaves; the
    store sets it.
    """

    ha_service: ReplicaService

    def __init__(
        self, disk: Disk, config: MessageStoreConfig, now_ms: Callable[[], int], checkpoint: Checkpoint,
        allocation: Allocation | None,
    ) -> None:
        """Have no files; checkpoint -- gives that of the store."""
        self._config, self.now_ms = config, now_ms
        self.mapped_file_queue = MappedFileQueue(
            disk, config.store_path_commit_log, config.mapped_file_size_commit_log, now_ms, allocation)
        self.topic_queue_table: dict[str, int] = {}
        self.begin_time_in_lock = 0
        self.confirm_offset = -1
        self.delay_levels: DelayLevels = NOT_PARSED
        self.group_commit_service = GroupCommitService(self.mapped_file_queue, checkpoint)
        self.flush_real_time_service = FlushRealTimeService(self.mapped_file_queue, checkpoint, config, now_ms)
        self.commit_real_time_service = CommitRealTimeService(self.mapped_file_queue, config, now_ms)
        self.flush_disk_watcher = FlushDiskWatcher(now_ms)

    def load(self) -> bool:
        """CommitLog#load: see MappedFileQueue.load."""
        return self.mapped_file_queue.load()

    def shutdown(self) -> None:
        """CommitLog#shutdown: commit and flush what is left."""
        if self._config.transient_store_pool_enable:
            self.commit_real_time_service.shutdown()
        if self._config.flush_disk_type is FlushDiskType.SYNC_FLUSH:
            self.group_commit_service.shutdown()
        else:
            self.flush_real_time_service.shutdown()

    def flush(self) -> int:
        """CommitLog#flush: commit and flush one file; the offset up to which the log is flushed."""
        self.mapped_file_queue.commit(0)
        self.mapped_file_queue.flush(0)
        return self.mapped_file_queue.flushed_where

    # Put --------------------------------------------------------------------------------------------------------------

    def async_put_message(self, message: MessageExtBrokerInner) -> PutMessageFuture:
        """CommitLog#asyncPutMessage: append one message, delayed if it has a level; the message is changed.

        Raises NumberFormatError for a level that is no number, BufferOverflowError for hosts that contradict the flag,
        MappingFaultError.
        """
        message.store_timestamp = self.now_ms()
        message.body_crc = crc32(message.body)
        if get_transaction_value(message.sys_flag) in _COUNTED_TYPES and message.delay_time_level() > 0:
            self._delay(message)
        message.sys_flag = host_flags(message.sys_flag, message.born_host, message.store_host)
        record = encode(message, self._config.max_message_size)
        if isinstance(record, PutMessageStatus):
            return refused(record)
        return self._put(message, self.mapped_file_queue.last_mapped_file,
                         lambda mapped_file: self._append(mapped_file, message, record))

    def _delay(self, message: MessageExtBrokerInner) -> None:
        """Send it to the queue of its level; DELAY keeps the level that was asked for only if that is known."""
        greatest = self.delay_levels.max_delay_level
        if message.delay_time_level() > greatest:
            message.put_property(PROPERTY_DELAY_TIME_LEVEL, str(greatest))
        message.put_property(PROPERTY_REAL_TOPIC, message.topic)
        message.put_property(PROPERTY_REAL_QUEUE_ID, str(message.queue_id))
        message.write_properties()
        message.topic = RMQ_SYS_SCHEDULE_TOPIC
        message.queue_id = delay_level_to_queue_id(message.delay_time_level())

    def async_put_messages(self, batch: MessageExtBatch) -> PutMessageFuture:
        """CommitLog#asyncPutMessages: append all messages of a batch to one file; the batch is changed.

        Raises JavaRuntimeError for a batch that is too long, and what the encoder raises for a body that is none.
        """
        batch.store_timestamp = self.now_ms()
        if get_transaction_value(batch.sys_flag) != TRANSACTION_NOT_TYPE or batch.delay_time_level() > 0:
            return refused(PutMessageStatus.MESSAGE_ILLEGAL)
        batch.sys_flag = host_flags(batch.sys_flag, batch.born_host, batch.store_host)
        last = self.mapped_file_queue.last_mapped_file()
        records = encode_batch(batch, self._config.max_message_size).records
        return self._put(batch, lambda: last, lambda mapped_file: self._append_batch(mapped_file, batch, records))

    def _put(
        self, message: MessageExtBrokerInner, last_file: Callable[[], MappedFile | None], append: Append,
    ) -> PutMessageFuture:
        """Append under the put lock, in the next file if the last has no room, and ask disk and slave.

        The outcome of a second append is not looked at: a record that fits into no file is PUT_OK, behind two blanks.
        """
        try:
            answer = self._append_under_lock(message, last_file(), append)
        except JavaError:
            self.begin_time_in_lock = 0
            raise
        self.begin_time_in_lock = 0
        if isinstance(answer, PutMessageFuture):
            return answer
        wait = message.is_wait_store_msg_ok()
        return PutMessageFuture(answer, self._submit_flush_request(answer, wait=wait),
                                self._submit_replica_request(answer, wait=wait))

    def _append_under_lock(
        self, message: MessageExtBrokerInner, mapped_file: MappedFile | None, append: Append,
    ) -> AppendMessageResult | PutMessageFuture:
        self.begin_time_in_lock = message.store_timestamp = self.now_ms()
        if mapped_file is None or mapped_file.is_full():
            mapped_file = self.mapped_file_queue.get_last_mapped_file(0)
        if mapped_file is None:
            return refused(PutMessageStatus.CREATE_MAPEDFILE_FAILED)
        result = append(mapped_file)
        if result.status is AppendMessageStatus.END_OF_FILE:
            mapped_file = self.mapped_file_queue.get_last_mapped_file(0)
            if mapped_file is None:
                return refused(PutMessageStatus.CREATE_MAPEDFILE_FAILED, result)
            return append(mapped_file)
        if result.status is not AppendMessageStatus.PUT_OK:
            return refused(PutMessageStatus.UNKNOWN_ERROR, result)
        return result

    def _append(
        self, mapped_file: MappedFile, message: MessageExtBrokerInner, record: bytearray,
    ) -> AppendMessageResult:
        """MappedFile#appendMessagesInner, DefaultAppendMessageCallback#doAppend of one message."""
        position = mapped_file.wrote_position
        if position >= mapped_file.file_size:
            return AppendMessageResult(AppendMessageStatus.UNKNOWN_ERROR)
        key = f"{message.topic}-{message.queue_id}"
        queue_offset = self.topic_queue_table.setdefault(key, 0)
        counted = get_transaction_value(message.sys_flag) in _COUNTED_TYPES
        if not counted:
            queue_offset = 0
        length: int = struct.unpack_from(">i", record)[0]
        if is_end_of_file(length, mapped_file.file_size - position):
            return self._blank(mapped_file, message, queue_offset)
        offset = mapped_file.file_from_offset + position
        place(record, 0, message.sys_flag, queue_offset=queue_offset, physical_offset=offset,
              store_timestamp_ms=message.store_timestamp)
        mapped_file.put(position, bytes(record))
        if counted:
            self.topic_queue_table[key] = queue_offset + 1
        return self._advance(mapped_file, AppendMessageResult(
            AppendMessageStatus.PUT_OK, offset, length, message.store_timestamp, queue_offset, 1, (offset,),
            message.store_host))

    def _append_batch(self, mapped_file: MappedFile, batch: MessageExtBatch, records: bytearray) -> AppendMessageResult:
        """The same for all records of a batch."""
        position = mapped_file.wrote_position
        if position >= mapped_file.file_size:
            return AppendMessageResult(AppendMessageStatus.UNKNOWN_ERROR)
        key = f"{batch.topic}-{batch.queue_id}"
        queue_offset = self.topic_queue_table.setdefault(key, 0)
        offset = mapped_file.file_from_offset + position
        phy_offsets = place_batch(
            records, batch.sys_flag, max_blank=mapped_file.file_size - position, queue_offset=queue_offset,
            physical_offset=offset, store_timestamp_ms=batch.store_timestamp)
        if phy_offsets is None:
            return self._blank(mapped_file, batch, queue_offset)
        mapped_file.put(position, bytes(records))
        self.topic_queue_table[key] = queue_offset + len(phy_offsets)
        return self._advance(mapped_file, AppendMessageResult(
            AppendMessageStatus.PUT_OK, offset, len(records), batch.store_timestamp, queue_offset, len(phy_offsets),
            tuple(phy_offsets), batch.store_host))

    def _blank(self, mapped_file: MappedFile, message: MessageExtBrokerInner, queue_offset: int) -> AppendMessageResult:
        """End the file with a blank, of which only the head is written."""
        position = mapped_file.wrote_position
        max_blank = mapped_file.file_size - position
        mapped_file.put(position, blank_record(max_blank))
        return self._advance(mapped_file, AppendMessageResult(
            AppendMessageStatus.END_OF_FILE, mapped_file.file_from_offset + position, max_blank,
            message.store_timestamp, queue_offset))

    def _advance(self, mapped_file: MappedFile, result: AppendMessageResult) -> AppendMessageResult:
        mapped_file.wrote_position += result.wrote_bytes
        mapped_file.store_timestamp = result.store_timestamp
        return result

    def _submit_flush_request(
        self, result: AppendMessageResult, *, wait: bool,
    ) -> GroupCommitRequest | PutMessageStatus:
        """CommitLog#submitFlushRequest; the host wakes the service."""
        if self._config.flush_disk_type is not FlushDiskType.SYNC_FLUSH or not wait:
            return PutMessageStatus.PUT_OK
        request = self._request(result, self._config.sync_flush_timeout_ms)
        self.flush_disk_watcher.requests.append(request)
        self.group_commit_service.put_request(request)
        return request

    def _submit_replica_request(
        self, result: AppendMessageResult, *, wait: bool,
    ) -> GroupCommitRequest | PutMessageStatus:
        """CommitLog#submitReplicaRequest."""
        if self._config.broker_role is not BrokerRole.SYNC_MASTER or not wait:
            return PutMessageStatus.PUT_OK
        if not self.ha_service.is_slave_ok(result.wrote_offset + result.wrote_bytes):
            return PutMessageStatus.SLAVE_NOT_AVAILABLE
        request = self._request(result, self._config.slave_timeout_ms)
        self.ha_service.put_request(request)
        return request

    def _request(self, result: AppendMessageResult, timeout_ms: int) -> GroupCommitRequest:
        return GroupCommitRequest(result.wrote_offset + result.wrote_bytes, self.now_ms() + timeout_ms)

    def append_data(self, start_offset: int, data: bytes) -> bool:
        """CommitLog#appendData: raw bytes from a master, into the last file; False if they do not fit."""
        mapped_file = self.mapped_file_queue.get_last_mapped_file(start_offset)
        return mapped_file is not None and mapped_file.append_message(data)

    # Read -------------------------------------------------------------------------------------------------------------

    def get_max_offset(self) -> int:
        """CommitLog#getMaxOffset: the end of what is readable."""
        return self.mapped_file_queue.get_max_offset()

    def get_min_offset(self) -> int:
        """CommitLog#getMinOffset: the begin of the first file that is not being deleted; -1 without files."""
        first = self.mapped_file_queue.first_mapped_file()
        if first is None:
            return -1
        return first.file_from_offset if first.available else self.roll_next_file(first.file_from_offset)

    def roll_next_file(self, offset: int) -> int:
        """CommitLog#rollNextFile: the begin of the file behind that of the offset."""
        size = self._config.mapped_file_size_commit_log
        return wrap64(offset + size - remainder(offset, size))

    def get_data(self, offset: int, return_first_on_not_found: bool | None = None) -> SelectMappedBufferResult | None:
        """CommitLog#getData: all that is readable of the file from there on; release it.

        return_first_on_not_found -- take the first file if none has this offset; None: for offset 0 only.
        """
        first = offset == 0 if return_first_on_not_found is None else return_first_on_not_found
        mapped_file = self.mapped_file_queue.find_mapped_file_by_offset(offset, first)
        if mapped_file is None:
            return None
        return mapped_file.select_mapped_buffer(position_in_file(offset, self._config.mapped_file_size_commit_log))

    def get_message(self, offset: int, size: int) -> SelectMappedBufferResult | None:
        """CommitLog#getMessage: so many bytes; release them. Offset 0 is that of the first file if 0 is gone (V25)."""
        mapped_file = self.mapped_file_queue.find_mapped_file_by_offset(offset, offset == 0)
        if mapped_file is None:
            return None
        position = position_in_file(offset, self._config.mapped_file_size_commit_log)
        return mapped_file.select_mapped_buffer(position, size)

    def pickup_store_timestamp(self, offset: int, size: int) -> int:
        """CommitLog#pickupStoreTimestamp: in ms; -1: there is no such record.

        Raises BufferUnderflowError for a size that is too small for a record.
        """
        result = self.get_message(offset, size) if offset >= self.get_min_offset() else None
        if result is None:
            return -1
        try:
            sys_flag = result.get_int(SYSFLAG_POSITION)
            store_timestamp = result.get_long(BORN_HOST_POSITION + host_bytes(sys_flag, BORNHOST_V6_FLAG))
        except JavaError:
            result.release()
            raise
        result.release()
        return store_timestamp
