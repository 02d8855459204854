"""The smallest image of each violation as a picture: what was written, what a crash leaves, what a start makes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from impl.decisions.index_slots import abs_index_pos
from impl.ports.disk import PAGE_BYTES
from impl.store.consume_queue import Unit, units_of
from invariants.hazards import HAZARDS
from invariants.report.strips import BREAK, EMPTY, LOST, WHOLE, WRONG, Cell, Panel, Sheet, Strip, strips_page
from invariants.verdict import Verdict
from stateful_tests.crash.images import process_crashes
from stateful_tests.crash.known import Message
from stateful_tests.crash.memory import Image
from stateful_tests.crash.programs import Life
from stateful_tests.crash.promises import PROPERTIES
from stateful_tests.crash.recovery import Recovered, started
from stateful_tests.crash.survey import KINDS
from stateful_tests.crash.tally import Example
from stateful_tests.worlds.subjects import subject_named

_UNIT_BYTES = 20
_LOG, _QUEUES, _INDEX, _CHECKPOINT, _ABORT, _LOCK = (
    "store/commitlog/", "store/consumequeue/", "store/index/", "store/checkpoint", "store/abort", "store/lock")
_ENTRY = struct.Struct(">iqii")
_TIMES = struct.Struct(">qqq")


class _Disk(NamedTuple):
    """A disk to draw.

    by_offset -- the messages that it may have, or has had. image -- its files. last -- how they were written last.
    sure -- offsets of what was acknowledged; back -- of what had gone, and has come back. recovered -- what the store
    has; None before its start.
    """

    life: Life
    by_offset: Mapping[int, Message]
    image: Image
    last: Image
    sure: frozenset[int]
    back: frozenset[int]
    recovered: Recovered | None = None


def page(found: Iterable[tuple[Verdict, Example]]) -> str:
    """The page of these violations: of each property and its hazards the smallest example."""
    smallest: dict[tuple[str, tuple[str, ...]], tuple[Verdict, Example]] = {}
    for row, example in found:
        key = row.property, row.hazard
        if key not in smallest or example.size() < smallest[key][1].size():
            smallest[key] = row, example
    for name, hazards in list(smallest):
        if any(other == name and less and set(less) < set(hazards) for other, less in smallest):
            del smallest[name, hazards]  # each of its hazards alone says more
    order = sorted(smallest, key=lambda key: (list(PROPERTIES).index(key[0]), key[1]))
    return strips_page(
        "Every way in which a crash breaks a promise of the store, each with the smallest disk that shows it",
        "A box is a record, a unit or a number, in the order of its file. Point at one for more.",
        [sheet(*smallest[key]) for key in order])


def sheet(row: Verdict, example: Example) -> Sheet:
    """The picture of one violation."""
    details = row.subject.details
    with subject_named(details["subject"]).running():
        life = Life(example.workload)
        recovered, after = started(example.image, life)
    last = [found.image for found in process_crashes(life.recorder)][example.step]
    known = life.known(example.step)
    sure = frozenset(message.offset for message in known.acknowledged)
    back = {one.offset: one for one in known.gone if (one.offset, one.record) in recovered.log}
    by_offset = {**{message.offset: message for message in known.gone}, **known.log, **back}
    disk = _Disk(life, by_offset, example.image, last, sure, frozenset(back))
    before = {"written before the crash": last, "left by the crash": example.image} if example.stale else {
        "left by the crash, which loses no byte": last}
    panels = [Panel(title, tuple(_strips(disk._replace(image=image)))) for title, image in before.items()]
    made = (Strip("", (Cell(recovered.refused, WRONG),)),) if recovered.refused else tuple(
        _strips(disk._replace(image=after, recovered=recovered)))
    because = [(name, HAZARDS[name].sentence) for name in row.hazard] or [
        ("no hazard:", f"{example.workload.flush.value} has never promised it.")]
    return Sheet(
        "-".join((row.property, *row.hazard)), PROPERTIES[row.property], ", ".join(row.hazard), example.sentence,
        KINDS[details["crash"]], ("start", *example.workload.operations), _done(life, example.step),
        (*panels, Panel("after the start", made)), tuple(because), row.replay)


def _done(life: Life, step: int) -> int:
    """How many operations were begun before a step; the first start is one."""
    return next((number for number, first in enumerate(life.began) if first >= step), len(life.began))


def _strips(disk: _Disk) -> Iterator[Strip]:
    for path in sorted({*disk.image, *disk.last} - {_LOCK}):
        name = _file(path)
        if path not in disk.image:
            yield Strip(name, (Cell("the name is lost" if disk.recovered is None else "not there", LOST),))
        else:
            yield Strip(name, tuple(_cells(disk, path)))


def _file(path: str) -> str:
    """The name of a file without its folders, and without zeros that say nothing."""
    short = path.removeprefix("store/")
    folder, _, name = short.rpartition("/")
    if path.startswith(_INDEX):
        return "index"
    if not path.startswith((_LOG, _QUEUES)):
        return short
    head = "log" if path.startswith(_LOG) else f"queue {'-'.join(folder.split('/')[1:])}"
    return f"{head} from {int(name):,}" if int(name) else head


def _cells(disk: _Disk, path: str) -> Iterator[Cell]:
    if not disk.image[path] and path != _ABORT:
        yield Cell("no byte", LOST if disk.last.get(path) else EMPTY)
        return
    for head, cells in _OF_KIND.items():
        if path.startswith(head):
            found = list(cells(disk, path))
            yield from found or [Cell("zeros", EMPTY)]
            return
    yield Cell("there")


def _kind(disk: _Disk, path: str, begin: int, end: int) -> str:
    """Whether bytes of a file are as they were written last; after a start that is not asked."""
    if disk.recovered is not None:
        return WHOLE
    return WHOLE if disk.image[path][begin:end] == disk.last.get(path, b"")[begin:end] else LOST


# Files ----------------------------------------------------------------------------------------------------------------


def _records(disk: _Disk, path: str) -> Iterator[Cell]:
    """Each message at its place; after a start those that the log has."""
    start, length = int(path.rpartition("/")[2]), disk.life.workload.config.mapped_file_size_commit_log
    after = None if disk.recovered is None else dict(disk.recovered.log)
    written = disk.last.get(path, b"")
    for message in sorted(disk.by_offset.values(), key=lambda one: one.offset):
        begin, end = message.offset - start, message.offset - start + len(message.record)
        if not 0 <= begin < length or (after is None and not any(written[begin:end])):
            continue
        if any(begin <= page < end for page in range(PAGE_BYTES, length, PAGE_BYTES)):
            yield Cell("", BREAK)
        kind = _kind(disk, path, begin, end) if after is None else _recovered_kind(message, after, disk)
        if after is None or message.offset in after or message.offset in disk.sure:
            yield Cell(_name(message), kind, f"{message} at {message.offset:,}, {len(message.record):,} bytes",
                       message.offset in disk.sure)


def _recovered_kind(message: Message, after: Mapping[int, bytes], disk: _Disk) -> str:
    if message.offset not in after:
        return WRONG if message.offset in disk.sure else LOST
    return WHOLE if after[message.offset] == message.record and message.offset not in disk.back else WRONG


def _name(message: Message) -> str:
    return f"{message.topic}-{message.queue_id} {message.queue_offset}"


def _units(disk: _Disk, path: str) -> Iterator[Cell]:
    """The units up to the last that is not zeros, or that the queue has."""
    topic, queue_id = path.removeprefix(_QUEUES).split("/")[:2]
    first = int(path.rpartition("/")[2]) // _UNIT_BYTES
    has = None if disk.recovered is None else disk.recovered.units.get((topic, int(queue_id)), {})
    data, written = disk.image[path], disk.last.get(path, b"")
    count = _used(written if has is None else data)
    if has:
        count = max(count, max(has) + 1 - first)
    for number, unit in enumerate(units_of(data[:count * _UNIT_BYTES].ljust(count * _UNIT_BYTES, b"\0"))):
        place = first + number
        if has is not None and place not in has:
            continue
        kind = _kind(disk, path, number * _UNIT_BYTES, (number + 1) * _UNIT_BYTES)
        if has is not None and not _is_right(disk.by_offset, unit, (topic, int(queue_id), place)):
            kind = WRONG
        title = f"unit {place}: offset {unit.offset:,}, size {unit.size:,}"
        yield Cell(_leads(disk.by_offset, unit, place), kind, title)


def _used(data: bytes) -> int:
    return -(-len(data.rstrip(b"\0")) // _UNIT_BYTES)


def _is_right(by_offset: Mapping[int, Message], unit: Unit, place: tuple[str, int, int]) -> bool:
    message = by_offset.get(unit.offset)
    return message is not None and unit.size == len(message.record) and unit.tags_code == message.tags_code and (
        (message.topic, message.queue_id, message.queue_offset) == place)


def _leads(by_offset: Mapping[int, Message], unit: Unit, place: int) -> str:
    message = by_offset.get(unit.offset)
    if message is None or unit.size != len(message.record):
        return f"{place}: offset {unit.offset}, size {unit.size}"
    return f"{place} → {_name(message)}"


def _entries(disk: _Disk, path: str) -> Iterator[Cell]:
    """The entries of an index file that are not zeros; the first is never used."""
    config = disk.life.workload.config
    data, written = disk.image[path], disk.last.get(path, b"")
    for number in range(1, config.max_index_num):
        begin = abs_index_pos(config.max_hash_slot_num, number)
        end = begin + _ENTRY.size
        if any(written[begin:end]) or any(data[begin:end]):
            _, offset, _, _ = _ENTRY.unpack(data[begin:end].ljust(_ENTRY.size, b"\0"))
            message = disk.by_offset.get(offset)
            text = _name(message) if message is not None and any(data[begin:end]) else "no entry"
            yield Cell(text, _kind(disk, path, begin, end), f"entry {number}: offset {offset:,}")


def _times(disk: _Disk, path: str) -> Iterator[Cell]:
    """Up to when log, queues and index are on the disk, by the store time of the messages."""
    data = disk.image[path][:_TIMES.size].ljust(_TIMES.size, b"\0")
    for number, (what, time) in enumerate(zip(("log", "queues", "index"), _TIMES.unpack(data), strict=True)):
        upto = [message for message in disk.life.messages if 0 < message.store_timestamp <= time]
        text = f"{what} to {_name(upto[-1])}" if upto else f"{what} none"
        yield Cell(text, _kind(disk, path, number * 8, number * 8 + 8), f"{time} ms")


_OF_KIND: Mapping[str, Callable[[_Disk, str], Iterator[Cell]]] = {
    _LOG: _records, _QUEUES: _units, _INDEX: _entries, _CHECKPOINT: _times}
