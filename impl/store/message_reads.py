"""MessageReads: what a store answers: messages of a queue, offsets, times, and messages by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from impl.common.byte_buffer import ByteBuffer
from impl.common.message import MessageExt
from impl.common.message_decoder import decode
from impl.decisions.consume_queue_units import is_ext_addr
from impl.decisions.java_arithmetic import LONG_MIN
from impl.decisions.java_errors import JavaError
from impl.decisions.pull_answer import (
    CQ_STORE_UNIT_SIZE,
    GetMessageStatus,
    bounds_decision,
    is_the_batch_full,
    max_filter_bytes,
    next_offset_after_scan,
    next_offset_correction,
)
from impl.decisions.running_flags import is_readable
from impl.decisions.suggestion import accessible_memory_bytes, behind_memory
from impl.store.consume_queue import ConsumeQueue, Unit, units_of
from impl.store.mapped_file import SelectMappedBufferResult
from impl.store.store_tables import StoreTables

_QUERY_ROUNDS = 3  # DefaultMessageStore#queryMessage


class CqExtUnit(NamedTuple):
    """`store.ConsumeQueueExt.CqExtUnit`: what the extension of a unit says.

    msg_store_time -- ms since 1970. filter_bit_map -- bits of a bloom filter, None: nobody has worked them out.
    """

    tags_code: int | None
    msg_store_time: int
    filter_bit_map: bytes | None


class MessageFilter(Protocol):
    """`store.MessageFilter`."""

    def is_matched_by_consume_queue(self, tags_code: int | None, cq_ext_unit: CqExtUnit | None = None) -> bool:
        """MessageFilter#isMatchedByConsumeQueue; tags_code -- None: the unit has no code that can be read.

        cq_ext_unit -- None: the unit has no extension; that is so of every unit that is read from a file here.
        """
        ...

    def is_matched_by_commit_log(self, record: bytes | None, properties: Mapping[str, str] | None = None) -> bool:
        """MessageFilter#isMatchedByCommitLog; properties -- None: they are in the record."""
        ...


class GetMessageResult(NamedTuple):
    """`store.GetMessageResult`. records -- the bytes of the messages, as they stand in the log.

    min_offset, max_offset -- of the queue.
    """

    status: GetMessageStatus
    next_begin_offset: int
    min_offset: int
    max_offset: int
    records: tuple[bytes, ...] = ()
    suggest_pulling_from_slave: bool = False


class QueryMessageResult(NamedTuple):
    """`store.QueryMessageResult`. The two others are time (ms) and offset of what the index has last."""

    records: tuple[bytes, ...]
    index_last_update_timestamp: int
    index_last_update_phyoffset: int


def _taken(result: SelectMappedBufferResult | None) -> bytes | None:
    """The bytes of a result, which is released."""
    if result is None:
        return None
    data = result.read()
    result.release()
    return data


class MessageReads(StoreTables):
    """The reading half of `store.DefaultMessageStore`."""

    # A queue ----------------------------------------------------------------------------------------------------------

    def get_message(  # Java's parameters; `group` is for its statistics only
        self, topic: str, queue_id: int, offset: int, max_msg_nums: int, message_filter: MessageFilter | None = None,
    ) -> GetMessageResult | None:
        """DefaultMessageStore#getMessage: messages from this queue offset on; None: the store must not be read.

        Raises IllegalArgumentError for a unit whose size is negative.
        """
        if self.stopped or not is_readable(self.running_flags):
            return None
        queue = self.find_consume_queue(topic, queue_id)
        min_offset, max_offset = queue.get_min_offset_in_queue(), queue.get_max_offset_in_queue()
        slave, check = self.config.slave, self.config.offset_check_in_slave
        bounds = bounds_decision(offset, min_offset, max_offset, slave=slave, offset_check_in_slave=check)
        if bounds.status is not None:
            return GetMessageResult(bounds.status, bounds.next_begin_offset, min_offset, max_offset)
        buffer = _taken(queue.get_index_buffer(offset))
        if buffer is None:
            next_offset = next_offset_correction(
                offset, queue.roll_next_file(offset), slave=slave, offset_check_in_slave=check)
            return GetMessageResult(GetMessageStatus.OFFSET_FOUND_NULL, next_offset, min_offset, max_offset)
        scan = _Scan(self, max_msg_nums, message_filter)
        units = scan.run(buffer[:-(-max_filter_bytes(max_msg_nums) // CQ_STORE_UNIT_SIZE) * CQ_STORE_UNIT_SIZE])
        return GetMessageResult(
            scan.status, next_offset_after_scan(offset, units), min_offset, max_offset, tuple(scan.records),
            scan.suggests_slave())

    def memory_bytes(self) -> int:
        """The part of the machine's memory that messages are taken to be in."""
        return accessible_memory_bytes(
            self.config.total_physical_memory_bytes, self.config.access_message_in_memory_max_ratio)

    def get_min_offset_in_queue(self, topic: str, queue_id: int) -> int:
        """DefaultMessageStore#getMinOffsetInQueue."""
        return self.find_consume_queue(topic, queue_id).get_min_offset_in_queue()

    def get_max_offset_in_queue(self, topic: str, queue_id: int) -> int:
        """DefaultMessageStore#getMaxOffsetInQueue."""
        return self.find_consume_queue(topic, queue_id).get_max_offset_in_queue()

    def get_offset_in_queue_by_time(self, topic: str, queue_id: int, timestamp: int) -> int:
        """DefaultMessageStore#getOffsetInQueueByTime; timestamp -- in ms."""
        return self.find_consume_queue(topic, queue_id).get_offset_in_queue_by_time(timestamp)

    def get_message_store_timestamp(self, topic: str, queue_id: int, consume_queue_offset: int) -> int:
        """DefaultMessageStore#getMessageStoreTimeStamp, in ms; -1 if it cannot be read."""
        return self._store_time(self.find_consume_queue(topic, queue_id), consume_queue_offset)

    def get_earliest_message_time(self, topic: str, queue_id: int) -> int:
        """DefaultMessageStore#getEarliestMessageTime of a queue, in ms; -1 if it cannot be read."""
        queue = self.find_consume_queue(topic, queue_id)
        return self._store_time(queue, queue.get_min_offset_in_queue())

    def _store_time(self, queue: ConsumeQueue, index: int) -> int:
        unit = queue.unit(index)
        try:
            return -1 if unit is None else self.commit_log.pickup_store_timestamp(unit.offset, unit.size)
        except JavaError:
            return -1

    def check_in_disk_by_consume_offset(self, topic: str, queue_id: int, consume_offset: int) -> bool:
        """DefaultMessageStore#checkInDiskByConsumeOffset: whether this message lies too far back to be in memory."""
        unit = self.find_consume_queue(topic, queue_id).unit(consume_offset)
        return unit is not None and behind_memory(self.get_max_phy_offset(), unit.offset, self.memory_bytes())

    # A record ---------------------------------------------------------------------------------------------------------

    def select_one_message_by_offset(self, commit_log_offset: int) -> bytes | None:
        """DefaultMessageStore#selectOneMessageByOffset: the record at this offset of the log (VIEW_MESSAGE_BY_ID).

        Raises IllegalArgumentError where there is no record, but bytes that are no length.
        """
        result = self.commit_log.get_message(commit_log_offset, 4)
        if result is None:
            return None
        size = result.get_int(0)
        result.release()
        return _taken(self.commit_log.get_message(commit_log_offset, size))

    def look_message_by_offset(self, commit_log_offset: int) -> MessageExt | None:
        """DefaultMessageStore#lookMessageByOffset: the message of the record; raises as select_one_message_by_offset.

        None if there is no record.
        """
        record = self.select_one_message_by_offset(commit_log_offset)
        return None if record is None else decode(ByteBuffer(record), read_body=True, decompress_body=False)

    # Keys -------------------------------------------------------------------------------------------------------------

    def query_message(self, topic: str, key: str, max_num: int, begin: int, end: int) -> QueryMessageResult:
        """DefaultMessageStore#queryMessage: records whose key has the same hash, in the order of the log.

        begin, end -- of the store time, in ms. Nobody compares the keys themselves.
        """
        last_ms, timestamp, phyoffset = end, 0, 0
        for _ in range(_QUERY_ROUNDS):
            found = self.index_service.query_offset(topic, key, max_num, begin, last_ms)
            if not found.phy_offsets:
                break
            timestamp, phyoffset = found.index_last_update_timestamp, found.index_last_update_phyoffset
            offsets = sorted(found.phy_offsets)
            first = self._looked_up(offsets[0])
            last_ms = last_ms if first is None else first.store_timestamp
            records = [record for offset in (offsets if first else offsets[1:])
                       if (record := self._record_at(offset)) is not None]
            if records:
                return QueryMessageResult(tuple(records), timestamp, phyoffset)
            if last_ms < begin:
                break
        return QueryMessageResult((), timestamp, phyoffset)

    def _looked_up(self, offset: int) -> MessageExt | None:
        """The message, None also where Java catches an exception."""
        try:
            return self.look_message_by_offset(offset)
        except JavaError:
            return None

    def _record_at(self, offset: int) -> bytes | None:
        """The record, as queryMessage cuts it out of its file; None where Java catches an exception."""
        try:
            self.look_message_by_offset(offset)
        except JavaError:
            return None
        result = self.commit_log.get_data(offset, return_first_on_not_found=False)
        if result is None:
            return None
        size = result.get_int(0) if result.size >= 4 else LONG_MIN  # noqa: PLR2004  # the bytes of an int
        record = result.read(0, size) if 0 <= size <= result.size else None
        result.release()
        return record


class _Scan:
    """The scan of DefaultMessageStore#getMessage. status, records -- as in the result."""

    def __init__(self, store: MessageReads, max_msg_nums: int, message_filter: MessageFilter | None) -> None:
        self._store, self._max_msg_nums, self._filter = store, max_msg_nums, message_filter
        self._max_offset_py, self._memory_bytes = store.get_max_phy_offset(), store.memory_bytes()
        self._max_phy_offset_pulling = 0
        self._next_phy_file_start_offset = LONG_MIN
        self.status = GetMessageStatus.NO_MATCHED_MESSAGE
        self.records: list[bytes] = []
        self._total_bytes = 0

    def run(self, buffer: bytes) -> int:
        """Look at each unit until the batch is full; how many were looked at."""
        for number, unit in enumerate(units_of(buffer)):
            self._max_phy_offset_pulling = unit.offset
            if unit.offset < self._next_phy_file_start_offset:
                continue
            if self._is_full(unit):
                return number
            self._take(unit)
        return len(buffer) // CQ_STORE_UNIT_SIZE

    def _is_full(self, unit: Unit) -> bool:
        in_disk = behind_memory(self._max_offset_py, unit.offset, self._memory_bytes)
        return is_the_batch_full(
            unit.size, self._max_msg_nums, self._total_bytes, len(self.records), is_in_disk=in_disk)

    def _take(self, unit: Unit) -> None:
        tags_code = None if is_ext_addr(unit.tags_code) else unit.tags_code
        if self._filter is not None and not self._filter.is_matched_by_consume_queue(tags_code):
            self._miss(GetMessageStatus.NO_MATCHED_MESSAGE)
            return
        record = _taken(self._store.commit_log.get_message(unit.offset, unit.size))
        if record is None:
            self._miss(GetMessageStatus.MESSAGE_WAS_REMOVING)
            self._next_phy_file_start_offset = self._store.commit_log.roll_next_file(unit.offset)
            return
        if self._filter is not None and not self._filter.is_matched_by_commit_log(record):
            self._miss(GetMessageStatus.NO_MATCHED_MESSAGE)
            return
        self.records.append(record)
        self._total_bytes += len(record)
        self.status = GetMessageStatus.FOUND
        self._next_phy_file_start_offset = LONG_MIN

    def _miss(self, status: GetMessageStatus) -> None:
        if self._total_bytes == 0:
            self.status = status

    def suggests_slave(self) -> bool:
        """Whether what was looked at last lies too far back to be in memory."""
        return behind_memory(self._max_offset_py, self._max_phy_offset_pulling, self._memory_bytes)
