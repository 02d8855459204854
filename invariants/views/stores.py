"""What the stores of brokers hold: the records of their logs, and the units of their queues."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import takewhile

from impl.broker.controller import BrokerController
from impl.decisions.flags import COMPRESSED_FLAG
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE
from impl.store.consume_queue import ConsumeQueue
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DispatchRequest
from impl.store.mapped_file import MappedFile
from impl.store.record_reader import RecordReader
from invariants.views.living import Living
from invariants.views.values import Dispatched, QueueRange, Replicated, StoredRecord, Written

PROPERTY_TAGS, KEY_SEPARATOR = "TAGS", " "  # MessageConst
_HOUR_MS = 3_600_000
_STORE_TIME_POSITION = 56  # MessageDecoder: STORETIMESTAMP of a record, whose born host has an IPv4 address
_Known = tuple[DefaultMessageStore, int, int, tuple[StoredRecord, ...]]


class StoreViews:
    """Of the brokers that live; of others everything is empty."""

    living: Living

    def log_records(self, broker: str) -> tuple[StoredRecord, ...]:
        """The records of the log, from its least offset to its end, as far as they can be read one after another.

        As long as a broker lives its log is only written at its end: what was read of it is not read again.
        """
        store = self._store(broker)
        if store is None:
            return ()
        logs: dict[str, _Known] = vars(self).setdefault("_logs", {})
        least, end = store.get_min_phy_offset(), store.get_max_phy_offset()
        known = logs.get(broker)
        if known is None or known[:2] != (store, least) or end < known[2]:
            known = logs[broker] = store, least, end, tuple(_records(store))
        elif end > known[2]:
            read = known[3]
            behind = read[-1].commit_log_offset + read[-1].size if read else 0
            known = logs[broker] = store, least, end, (*read, *_records(store, behind))
        return known[3]

    def log_begin(self, broker: str) -> int:
        """The least offset of the log, which grows when a file is deleted; -1 without files."""
        store = self._store(broker)
        return -1 if store is None else store.get_min_phy_offset()

    def log_file_bytes(self, broker: str) -> int:
        """How long each file of the log is; 1 where no broker runs."""
        store = self._store(broker)
        return 1 if store is None else store.config.mapped_file_size_commit_log

    def log_is_old(self, broker: str) -> bool:
        """Whether the first file of the log has not changed for as long as the broker is to keep files."""
        store = self._store(broker)
        first = None if store is None else store.commit_log.mapped_file_queue.first_mapped_file()
        return store is not None and first is not None and (
            store.now_ms() - first.file.last_modified_ms() >= store.config.file_reserved_time_hours * _HOUR_MS)

    def deletes_at_this_hour(self, broker: str) -> bool:
        """Whether the broker deletes old files at the hour that its clock says, in UTC: deleteWhen."""
        store = self._store(broker)
        return store is not None and store.now_ms() // _HOUR_MS % 24 in map(int, store.config.delete_when.split(";"))

    def log_files(self, broker: str) -> tuple[tuple[int, int], ...]:
        """Where each file of the log begins, and when it has changed last (ms since 1970, by the broker's clock)."""
        store = self._store(broker)
        files = () if store is None else store.commit_log.mapped_file_queue.mapped_files
        return tuple((one.file_from_offset, one.file.last_modified_ms()) for one in files)

    def file_reserved_ms(self, broker: str) -> int:
        """How long a broker is to keep files that do not change (fileReservedTime); 0 where no broker runs."""
        store = self._store(broker)
        return 0 if store is None else store.config.file_reserved_time_hours * _HOUR_MS

    def buffers_log(self, broker: str) -> bool:
        """Whether what is put waits in a buffer of a pool before it is written (transientStorePoolEnable)."""
        store = self._store(broker)
        return store is not None and store.config.transient_store_pool_enable

    def log_records_from(self, broker: str, offset: int) -> tuple[StoredRecord, ...]:
        """The records of the log from an offset on, at which one begins or ends, as far as they are still there."""
        store = self._store(broker)
        return () if store is None else tuple(_records(store, offset))

    def dispatched(self, broker: str, offset: int = 0) -> Iterator[Dispatched]:
        """What the units are made of that the records have, from an offset of the log on at which one begins."""
        store = self._store(broker)
        for start, request in () if store is None else _requests(store, offset):
            tags = (request.properties_map or {}).get(PROPERTY_TAGS)
            yield Dispatched(start, request.topic, request.queue_id, request.consume_queue_offset, tags,
                             request.store_timestamp)

    def replicated(self, broker: str) -> Replicated | None:
        """What a broker has of its log, and who copies it; None: no broker runs there, or its store has stopped."""
        store = self._store(broker)
        if store is None or store.stopped:
            return None
        service = store.ha_service
        return Replicated(
            store.get_min_phy_offset(), store.get_max_phy_offset(), store.commit_log.mapped_file_queue.flushed_where,
            service.push2_slave_max_offset,
            tuple((str(getattr(one.connection, "remote_address", "")), one.slave_request_offset >= 0)
                  for one in service.connection_list),
            tuple(one.next_offset for one in service.group_transfer_service.requests))

    def log_bytes(self, broker: str, offset: int, size: int) -> bytes:
        """What the log has from an offset on, so much of it as is readable of the file in which that lies."""
        file = self._file(broker, offset)
        if file is None:
            return b""
        position = offset - file.file_from_offset
        return bytes(file.file.read(position, max(min(size, file.get_read_position() - position), 0)))

    def is_forced(self, broker: str, offset: int, size: int) -> bool:
        """Whether the disk has a record of the log for good; one that is gone it does not need to have."""
        file = self._file(broker, offset)
        return file is None or self.living.machines.is_forced(
            broker, file.path, offset - file.file_from_offset, size)

    def _file(self, broker: str, offset: int) -> MappedFile | None:
        """The file of the log in which an offset lies."""
        store = self._store(broker)
        files = [] if store is None else store.commit_log.mapped_file_queue.mapped_files
        return next((one for one in files if 0 <= offset - one.file_from_offset < one.file_size), None)

    def tag(self, broker: str, offset: int) -> str | None:
        """The tag of the record at an offset of the log; None: it has none, or there is no such record."""
        record = next(self.dispatched(broker, offset), None)
        return None if record is None else record.tags

    def written(self, broker: str, offset: int, size: int) -> Written | None:
        """What the record at an offset of the log says of its message; None: it cannot be read."""
        store, is_whole = self._store(broker), len(self.log_bytes(broker, offset, size)) == size
        message = store.look_message_by_offset(offset) if store is not None and is_whole else None
        if message is None:
            return None
        content = zlib.crc32(message.body or b"", zlib.crc32(
            repr((message.flag, message.sys_flag & COMPRESSED_FLAG)).encode()))
        host = message.born_host
        return Written(content, (message.born_timestamp, host.address.hex().upper(), host.port),
                       tuple(sorted((message.properties or {}).items())))

    def says(self, broker: str, offset: int, size: int, name: str, value: str) -> bool:
        """Whether the record at an offset of the log has a property of this value, or cannot be read."""
        said, data = f"\2{name}\1{value}".encode(), self.log_bytes(broker, offset, size)
        if data.endswith(said) or said + b"\2" in data:  # mostly so, and decoding takes much longer
            return True
        written = self.written(broker, offset, size)
        return written is None or dict(written.properties).get(name) == value

    def keyed(self, broker: str, topic: str, key: str) -> tuple[tuple[int, int], ...]:
        """Offset and store time (ms) of each record of a topic in the log that has a key: UNIQ_KEY, or one of KEYS."""
        store = self._store(broker)
        return () if store is None else tuple(
            (offset, request.store_timestamp) for offset, request in _requests(store, 0)
            if request.topic == topic and key in {request.uniq_key, *(request.keys or "").split(KEY_SEPARATOR)})

    def index_ends(self, broker: str) -> tuple[int, ...]:
        """Of each file of the index, the oldest first, where in the log the last record is that it has a key of."""
        store = self._store(broker)
        files = () if store is None else store.index_service.index_files
        return tuple(one.header.end_phy_offset for one in files)

    def queue_unit(self, broker: str, topic: str, queue_id: int, index: int) -> int | None:
        """The offset in the log that the unit of a queue names; None: there is none with this number."""
        store = self._store(broker)
        unit = None if store is None else store.find_consume_queue(topic, queue_id).unit(index)
        return None if unit is None else unit.offset

    def unit_code(self, broker: str, topic: str, queue_id: int, index: int) -> int | None:
        """What a unit of a queue says of its message: a hash of tags, or a time in ms; None: there is no such unit."""
        store = self._store(broker)
        queue = None if store is None else queue_of(store, topic, queue_id)
        unit = None if queue is None else queue.unit(index)
        return None if unit is None else unit.tags_code

    def stored_ms(self, broker: str, topic: str, queue_id: int, index: int) -> int | None:
        """The time (ms since 1970) at which the message was stored that a unit of a queue names; None: no such unit."""
        offset = self.queue_unit(broker, topic, queue_id, index)
        record = None if offset is None else next(self.dispatched(broker, offset), None)
        return None if record is None else record.stored_ms

    def is_far_back(self, broker: str, topic: str, queue_id: int, index: int) -> bool | None:
        """Whether a message lies behind the part of the log that memory holds; None: the queue has no such unit."""
        store = self._store(broker)
        queue = None if store is None else queue_of(store, topic, queue_id)
        if store is None or queue is None or queue.unit(index) is None:
            return None
        return _lies_far_back(store, queue, index)

    def readable(self, broker: str, topic: str, queue_id: int, index: int, most: int) -> tuple[tuple[int, int], ...]:
        """Where the messages of a queue lie in the log, and how long they are, from an offset of it on.

        So many at most, and those only whose units lie in the file in which that of the first one lies.
        """
        store = self._store(broker)
        queue = None if store is None else queue_of(store, topic, queue_id)
        if queue is None:
            return ()
        in_file = queue.mapped_file_size // CQ_STORE_UNIT_SIZE
        units = map(queue.unit, range(index, index + min(most, in_file - index % in_file)))
        return tuple((unit.offset, unit.size) for unit in takewhile(lambda one: one is not None, units) if unit)

    def memory_begin(self, broker: str) -> int:
        """The offset of the log from which on memory is taken to hold it; 0 where no broker runs."""
        store = self._store(broker)
        return 0 if store is None else _memory_begin(store)

    def queue_units(self, broker: str) -> dict[tuple[str, int], tuple[int, int]]:
        """Topic and queue id to the first number of a unit and the one behind the last, equal where there is none."""
        store = self._store(broker)
        found = () if store is None else tuple(store.queues())
        return {(one.topic, one.queue_id): (one.get_min_offset_in_queue(), one.get_max_offset_in_queue())
                for one in found}

    def queue_end(self, broker: str, topic: str, queue_id: int) -> int:
        """ConsumeQueue#getMaxOffsetInQueue: the offset behind the last message of a queue; 0 where there is none."""
        store = self._store(broker)
        queue = None if store is None else queue_of(store, topic, queue_id)
        return 0 if queue is None else _end(queue)

    def stored_at(self, broker: str, topic: str, queue_id: int) -> QueueRange | None:
        """What one broker has of a queue; None: no broker runs there."""
        store = self._store(broker)
        if store is None:
            return None
        queue = queue_of(store, topic, queue_id)
        if queue is None:
            return QueueRange()
        return QueueRange(queue.min_logic_offset // CQ_STORE_UNIT_SIZE, _end(queue), _lies_far_back(store, queue))

    def first_stored(self, broker: str, topic: str, queue_id: int, since_ms: int) -> int | None:
        """The first offset of a queue that was stored then (ms since 1970) or later, or else its end.

        None: no broker runs there, or the times of its messages are in no order, as its clock has gone back.
        """
        store = self._store(broker)
        queue = None if store is None else queue_of(store, topic, queue_id)
        if store is None or queue is None:
            return None if store is None else 0
        first = queue.min_logic_offset // CQ_STORE_UNIT_SIZE
        units = [unit for number in range(first, _end(queue)) if (unit := queue.unit(number)) is not None]
        times = [int.from_bytes(self.log_bytes(broker, unit.offset + _STORE_TIME_POSITION, 8)) for unit in units]
        if times != sorted(times):
            return None
        return next((first + number for number, ms in enumerate(times) if ms >= since_ms), _end(queue))

    def _store(self, broker: str) -> DefaultMessageStore | None:
        found: BrokerController | None = self.living.broker(broker)
        return None if found is None else found.data_plane.store


def queue_of(store: DefaultMessageStore, topic: str, queue_id: int) -> ConsumeQueue | None:
    """DefaultMessageStore.consumeQueueTable: a queue, if it has been made."""
    by_id = store.consume_queue_table.get(topic)
    return None if by_id is None else by_id.get(queue_id)


def _end(queue: ConsumeQueue) -> int:
    """The offset behind the last message of a queue."""
    return queue.mapped_file_queue.get_max_offset() // CQ_STORE_UNIT_SIZE


def _lies_far_back(store: DefaultMessageStore, queue: ConsumeQueue, index: int = 0) -> bool:
    """Whether this offset of a queue is behind the part of the log that memory holds."""
    unit = queue.unit(index)
    return unit is not None and unit.offset < _memory_begin(store)


def _memory_begin(store: DefaultMessageStore) -> int:
    """The offset of the log from which on memory is taken to hold it."""
    memory_bytes = store.config.total_physical_memory_bytes * store.config.access_message_in_memory_max_ratio // 100
    return store.commit_log.get_max_offset() - memory_bytes


def _records(store: DefaultMessageStore, offset: int = 0) -> list[StoredRecord]:
    return [StoredRecord(start, request.topic, request.queue_id, request.consume_queue_offset, request.msg_size,
                         request.uniq_key) for start, request in _requests(store, offset)]


def _requests(store: DefaultMessageStore, offset: int) -> Iterator[tuple[int, DispatchRequest]]:
    """Read each file up to where it is readable, behind an offset: where each record is, and what it says."""
    for mapped_file in store.commit_log.mapped_file_queue.mapped_files:
        skipped = max(offset - mapped_file.file_from_offset, 0)
        if skipped >= mapped_file.file_size:
            continue
        reader = RecordReader(
            mapped_file.mapped_byte_buffer, skipped, mapped_file.get_read_position(), check_crc=False, read_body=False,
            delay_levels=store.commit_log.delay_levels)
        start = mapped_file.file_from_offset + skipped
        while (request := reader.next()).success and request.msg_size > 0:
            yield start, request
            start += request.msg_size
