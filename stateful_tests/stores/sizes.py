"""The sizes with which the files of a store were made, which nothing in the store says."""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from impl.decisions.index_slots import INDEX_HEADER_SIZE, INDEX_SIZE, abs_index_pos, abs_slot_pos, index_file_size
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE
from impl.store.message_store_config import MessageStoreConfig
from invariants.verdict import BadInputError

DEFAULT = MessageStoreConfig()
_ENTRY = struct.Struct(">iqii")
_PROBED_ENTRIES = 50
_COUNT_POSITION = 36  # IndexHeader


@dataclass(frozen=True, slots=True)
class Sizes:
    """mappedFileSizeCommitLog, mappedFileSizeConsumeQueue (bytes), maxHashSlotNum and maxIndexNum."""

    commit_log_bytes: int = DEFAULT.mapped_file_size_commit_log
    consume_queue_bytes: int = DEFAULT.mapped_file_size_consume_queue
    hash_slots: int = DEFAULT.max_hash_slot_num
    index_entries: int = DEFAULT.max_index_num


def sizes_of(root: Path, given: Mapping[str, int] = MappingProxyType({})) -> Sizes:
    """Read the sizes off the files, the default where there are none; given -- those that are known, by their names.

    Raises BadInputError for index files that are none of any size, and for a folder that cannot be read. Slots and
    entries of an index file of another length than the default's are those with which its last entries are found from
    their slots.
    """
    try:
        log = _usual(list((root / "commitlog").glob("[0-9]*")), DEFAULT.mapped_file_size_commit_log)
        queues = _usual(list((root / "consumequeue").glob("*/[0-9]*/[0-9]*")), DEFAULT.mapped_file_size_consume_queue,
                        CQ_STORE_UNIT_SIZE)
        slots, entries = DEFAULT.max_hash_slot_num, DEFAULT.max_index_num
        if not {"hash_slots", "index_entries"} <= set(given):
            slots, entries = _index(sorted(path for path in (root / "index").glob("*") if path.name.isdigit()))
    except OSError as error:
        raise BadInputError(f"{root}: cannot be read ({error})") from error
    return replace(Sizes(log, queues, slots, entries), **given)


def _usual(files: Sequence[Path], default: int, unit: int = 1) -> int:
    """The most frequent length that is a number of units; of several the greatest, for files are cut and never grow."""
    lengths = Counter(length for path in files if (length := path.stat().st_size) and length % unit == 0)
    return max(lengths, key=lambda length: (lengths[length], length)) if lengths else default


def _index(files: Sequence[Path]) -> tuple[int, int]:
    if not files or files[0].stat().st_size == index_file_size(DEFAULT.max_hash_slot_num, DEFAULT.max_index_num):
        return DEFAULT.max_hash_slot_num, DEFAULT.max_index_num
    length = files[0].stat().st_size
    used = False
    for path in files:
        with path.open("rb") as file:
            count = int.from_bytes(os.pread(file.fileno(), 4, _COUNT_POSITION), "big")
            used = used or count > 1
            fitting = (sizes for sizes in _possible(length) if count > 1 and _fits(file.fileno(), *sizes, count))
            if (found := next(fitting, None)) is not None:
                return found
    if used:
        raise BadInputError(f"{files[0]}: {length} bytes are no index file of any size; "
                            "give --hash-slots and --index-entries as the broker has them")
    return next(_possible(length), (DEFAULT.max_hash_slot_num, DEFAULT.max_index_num))


def _possible(length: int) -> Iterator[tuple[int, int]]:
    """Slots and entries of the index files of a length: some millions for one of the default's size."""
    for slots in range(1, (length - INDEX_HEADER_SIZE) // 4):
        if (length - INDEX_HEADER_SIZE - 4 * slots) % INDEX_SIZE == 0:
            yield slots, (length - INDEX_HEADER_SIZE - 4 * slots) // INDEX_SIZE


def _fits(descriptor: int, slots: int, entries: int, count: int) -> bool:
    """Whether each of the last entries is the one its slot leads to, or lies behind a later one of the same slot."""
    if count > entries:
        return False
    latest: dict[int, int] = {}
    for number in range(count - 1, max(count - 1 - _PROBED_ENTRIES, 0), -1):
        entry = os.pread(descriptor, INDEX_SIZE, abs_index_pos(slots, number))
        if len(entry) < INDEX_SIZE:
            return False
        key_hash, _, _, previous = _ENTRY.unpack(entry)
        if key_hash < 0 or previous >= number:
            return False
        slot = abs_slot_pos(key_hash, slots)
        expected = latest.get(slot, int.from_bytes(os.pread(descriptor, 4, slot), "big", signed=True))
        if expected != number:
            return False
        latest[slot] = previous
    return True
