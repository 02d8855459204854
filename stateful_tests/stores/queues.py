"""Consume queues beside the log: units that are not those of their records, and records that no unit names.

The log is read once, from its begin to its end, and each record is looked for in its queue. Of each queue a few units
are in memory at a time, whatever the lengths of log and queues are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from impl.common.message_const import PROPERTY_TAGS
from impl.decisions.flags import TRANSACTION_PREPARED_TYPE, TRANSACTION_ROLLBACK_TYPE, get_transaction_value
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE
from impl.decisions.subscription import tags_string_to_tags_code
from impl.store.consume_queue import PRE_BLANK, ConsumeQueue, Unit, units_of
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DispatchRequest
from impl.store.record_reader import RecordReader
from stateful_tests.crash.promises import CONSECUTIVE, EARLY, MISSED, NAMES, STARTS
from stateful_tests.stores.problem import WHOLE, Problem, Tell

_SHOWN = 3  # problems of one kind in one queue
_UNITS = 64  # of a queue, in memory
_RECORDS_TOLD = 1_000
_IN_NO_QUEUE = (TRANSACTION_PREPARED_TYPE, TRANSACTION_ROLLBACK_TYPE)
_Queue = tuple[str, int]
_Wrong = tuple[str, str, str]  # sentence, property, hazard


@dataclass(slots=True)
class Read:
    """What the log has after a start. records -- how many that are for a queue. problems -- found in log and queues.

    missing -- queues that have records and are not there, each with the number of its records and the offset of the
    first one.
    """

    records: int = 0
    problems: list[Problem] = field(default_factory=list)
    missing: dict[_Queue, tuple[int, int]] = field(default_factory=dict)


def compared(store: DefaultMessageStore, left_out: str, tell: Tell) -> Read:
    """Read the log of a store that has started, and look for each record in its queue.

    left_out -- the hazard that explains a record in no queue.
    """
    found = Read()
    known = {(queue.topic, queue.queue_id): _Units(store, queue, left_out) for queue in store.queues()
             if queue.mapped_file_queue.mapped_files}
    for offset, record in _records(store, found.problems):
        units = known.get((record.topic, record.queue_id))
        if units is not None:
            units.see(offset, record)
        else:
            count, first = found.missing.get((record.topic, record.queue_id), (0, offset))
            found.missing[record.topic, record.queue_id] = count + 1, first
        found.records += 1
        if found.records % _RECORDS_TOLD == 0:
            tell(f"{found.records:,} records, offset {offset:,} of {store.get_max_phy_offset():,}")
    for name in sorted(known):
        tell(f"queue {name[0]}-{name[1]}")
        found.problems += known[name].ended()
    return found


def _records(store: DefaultMessageStore, problems: list[Problem]) -> Iterator[tuple[int, DispatchRequest]]:
    """The records that are for a queue, each with its offset; what cannot be read becomes a problem.

    Behind it the next file is read, as a start does.
    """
    for file in store.commit_log.mapped_file_queue.mapped_files:
        end = file.get_read_position()
        reader = RecordReader(file.mapped_byte_buffer, 0, end, check_crc=False, read_body=False,
                              delay_levels=store.commit_log.delay_levels)
        while (position := reader.position) < end:
            record = reader.next()
            if not record.success:
                problems.append(Problem(
                    f"commitlog/{file.file_from_offset:020d}", position,
                    f"no record can be read here: {end - position} bytes to the end of the file are passed over",
                    WHOLE, "V1" if record.msg_size > 0 else "V2"))
            if not record.success or record.msg_size == 0:
                break
            if get_transaction_value(record.sys_flag) not in _IN_NO_QUEUE:
                yield file.file_from_offset + position, record


class _Units:
    """The units of one queue, while the log goes by.

    What lies before `next` has been compared. Where a unit was found at another place than its own, that of the next
    record is probably the one behind it: `hint`.
    """

    def __init__(self, store: DefaultMessageStore, queue: ConsumeQueue, left_out: str) -> None:
        self.store, self.queue, self._left_out = store, queue, left_out
        self.next = self.first = queue.get_min_offset_in_queue()
        self.end = queue.get_max_offset_in_queue()
        self._hint = self.first
        self._last: int | None = None  # queue offset of the latest record
        self._begin, self._units = 0, [*units_of(b"")]
        self._said: Counter[tuple[str, str]] = Counter()
        self._problems: list[Problem] = []

    def unit(self, index: int) -> Unit | None:
        """The unit of a queue offset; None: it is not there."""
        if not self._begin <= index < self._begin + len(self._units):
            result = self.queue.get_index_buffer(index)
            if result is None:
                return None
            self._begin = index
            self._units = [*units_of(result.read(0, min(result.size, _UNITS * CQ_STORE_UNIT_SIZE)))]
            result.release()
        return self._units[index - self._begin]

    def see(self, offset: int, record: DispatchRequest) -> None:
        """Compare with the next record of the queue in the log."""
        index = record.consume_queue_offset
        if self._last is not None and index != self._last + 1:
            self._say(None, f"the record at {offset} of the log has queue offset {index}, the one before it "
                      f"{self._last}", CONSECUTIVE, self._left_out)
        self._last = index
        unit = self.unit(index)
        if unit is not None and unit == (offset, record.msg_size, record.tags_code):
            self._compare_up_to(index)
            self.next = max(self.next, index + 1)
        elif self._said[MISSED, self._left_out] < _SHOWN and not self._finds(offset, index):
            self._say(None, f"the record at {offset} of the log, of queue offset {index}, is in no unit", MISSED,
                      self._left_out)

    def _finds(self, offset: int, index: int) -> bool:
        """Whether any unit names the offset: where it should be, behind the one found last, or elsewhere."""
        for place in (index, self._hint, *range(self.first, self.end)):
            unit = self.unit(place)
            if unit is not None and unit.offset == offset:
                self._hint = place + 1
                return True
        return False

    def ended(self) -> list[Problem]:
        """Compare what is left, once the log is over: all problems of the queue."""
        self._compare_up_to(self.end)
        if self._last is not None and self._last + 1 != self.end:
            wrong = self._wrong(self.end - 1, self.unit(self.end - 1))
            self._say(None, f"the next message gets queue offset {self.end}, and the last record has {self._last}",
                      CONSECUTIVE, self._left_out if wrong is None else wrong[2])
        return self._problems

    def _compare_up_to(self, end: int) -> None:
        """Look at units that no record of the log led to."""
        for index in range(self.next, end):
            wrong = self._wrong(index, self.unit(index))
            if wrong is not None:
                self._say(index, f"unit {index}: {wrong[0]}", *wrong[1:])

    def _wrong(self, index: int, unit: Unit | None) -> _Wrong | None:
        """What is wrong with a unit; None: it is that of its record."""
        if unit is None:
            return "its file is missing", STARTS, "V22"
        if unit == PRE_BLANK:
            return "a blank that only fills the queue up", NAMES, "V9"
        if not unit.is_valid():
            return f"no record has {unit.size} bytes", NAMES, "V3"
        if unit.offset < self.store.get_min_phy_offset():
            early = index == self.first
            return ("the minimum of the queue points before the log", NAMES, "V18") if early else None
        return _misfit(self.queue, index, unit, _record(self.store, unit.offset))

    def _say(self, index: int | None, sentence: str, judged: str, hazard: str) -> None:
        """Note a problem, at a unit or of the queue; of one kind the first."""
        self._said[judged, hazard] += 1
        if self._said[judged, hazard] <= _SHOWN:
            folder = f"consumequeue/{self.queue.topic}/{self.queue.queue_id}"
            if index is None:
                self._problems.append(Problem(folder, None, sentence, judged, hazard))
                return
            start, position = divmod(index * CQ_STORE_UNIT_SIZE, self.queue.mapped_file_size)
            file = f"{folder}/{start * self.queue.mapped_file_size:020d}"
            self._problems.append(Problem(file, position, sentence, judged, hazard))


def _record(store: DefaultMessageStore, offset: int) -> DispatchRequest | None:
    """The record at an offset of the log, None: there is none."""
    result = store.commit_log.get_data(offset, return_first_on_not_found=False)
    if result is None:
        return None
    reader = RecordReader(
        result.mapped_file.mapped_byte_buffer, result.position, result.position + result.size, check_crc=False,
        read_body=False, delay_levels=store.commit_log.delay_levels)
    request = reader.next()
    result.release()
    return request if request.success and request.msg_size > 0 else None


def _misfit(queue: ConsumeQueue, index: int, unit: Unit, record: DispatchRequest | None) -> _Wrong | None:
    """What is wrong with a unit; None: it is the unit of its record."""
    if record is None:
        return f"no record at offset {unit.offset} of the log", NAMES, "V4"
    if unit.size != record.msg_size:
        return f"{unit.size} bytes, but the record at {unit.offset} has {record.msg_size}", NAMES, "V4"
    if (record.topic, record.queue_id) != (queue.topic, queue.queue_id):
        return f"the record at {unit.offset} is one of {record.topic}-{record.queue_id}", NAMES, "V7"
    if record.consume_queue_offset != index:
        return f"the record at {unit.offset} has queue offset {record.consume_queue_offset}", NAMES, "V3"
    if unit.tags_code != record.tags_code:
        delayed = queue.topic == RMQ_SYS_SCHEDULE_TOPIC
        tags = (record.properties_map or {}).get(PROPERTY_TAGS)
        by_recovery = delayed and unit.tags_code == tags_string_to_tags_code(tags)
        said = f"code {unit.tags_code}, but that of the record is {record.tags_code}"
        return said, EARLY if delayed else NAMES, "V5" if by_recovery else "V8"
    return None
