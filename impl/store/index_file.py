"""IndexFile: keys and where their messages lie, as a hash table in a file.

The file has a header of 40 bytes, slots of 4 and entries of 20. An entry holds the hash of a key, the offset of the
record in the commit log, the seconds since the first entry, and the number of the previous entry of its slot.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from impl.decisions.index_slots import (
    INDEX_SIZE,
    INVALID_INDEX,
    abs_index_pos,
    abs_slot_pos,
    index_file_size,
    is_chain_over,
    is_file_time_matched,
    is_time_matched,
    previous_entry,
    time_diff_seconds,
    time_read_ms,
)
from impl.decisions.java_arithmetic import wrap32
from impl.decisions.java_errors import JavaError
from impl.decisions.store_rules import index_key_hash
from impl.ports.disk import Disk
from impl.store.mapped_byte_buffer import MappedByteBuffer
from impl.store.mapped_file import MappedFile

_ENTRY = struct.Struct(">iqii")


class IndexHeader:
    """`store.index.IndexHeader`: six numbers in memory, each written to the file when it is set.

    begin_timestamp, end_timestamp -- store times of the first and the last entry, in ms. begin_phy_offset,
    end_phy_offset -- of their records. hash_slot_count -- slots in use. index_count -- the number of the next entry;
    there is no entry 0.
    """

    _POSITIONS: ClassVar[dict[str, int]] = {
        "begin_timestamp": 0, "end_timestamp": 8, "begin_phy_offset": 16, "end_phy_offset": 24,
        "hash_slot_count": 32, "index_count": 36,
    }
    _INTS = ("hash_slot_count", "index_count")

    def __init__(self, buffer: MappedByteBuffer) -> None:
        """Count no entry; what the file has is read by `load`."""
        self._buffer = buffer
        self.begin_timestamp = self.end_timestamp = self.begin_phy_offset = self.end_phy_offset = 0
        self.hash_slot_count, self.index_count = 0, 1

    def load(self) -> None:
        """IndexHeader#load: a count that is not positive is 1."""
        for name, position in self._POSITIONS.items():
            get = self._buffer.get_int if name in self._INTS else self._buffer.get_long
            setattr(self, name, get(position))
        if self.index_count <= 0:
            self.index_count = 1

    def set(self, name: str, number: int) -> None:
        """The setters and counters of IndexHeader."""
        setattr(self, name, number)
        put = self._buffer.put_int if name in self._INTS else self._buffer.put_long
        put(self._POSITIONS[name], number)

    def update_byte_buffer(self) -> None:
        """IndexHeader#updateByteBuffer: write all numbers once more."""
        for name in self._POSITIONS:
            self.set(name, getattr(self, name))


class IndexFile:
    """`store.index.IndexFile`. header -- see there; mapped_file -- the file."""

    def __init__(
        self, disk: Disk, path: str, hash_slot_num: int, index_num: int, now_ms: Callable[[], int],
        end_phy_offset: int = 0, end_timestamp: int = 0,
    ) -> None:
        """Make or open a file. end_phy_offset, end_timestamp -- of the previous file, if there is one.

        Raises NumberFormatError if its name is no number, DiskError, MappingFaultError.
        """
        self.hash_slot_num, self.index_num = hash_slot_num, index_num
        self.mapped_file = MappedFile(disk, path, index_file_size(hash_slot_num, index_num), now_ms)
        self._buffer = self.mapped_file.mapped_byte_buffer
        self.header = IndexHeader(self._buffer)
        if end_phy_offset > 0:
            self.header.set("begin_phy_offset", end_phy_offset)
            self.header.set("end_phy_offset", end_phy_offset)
        if end_timestamp > 0:
            self.header.set("begin_timestamp", end_timestamp)
            self.header.set("end_timestamp", end_timestamp)

    def load(self) -> None:
        """IndexFile#load: read the header."""
        self.header.load()

    def flush(self) -> None:
        """IndexFile#flush: force the file, unless it is shut down; raises DiskError, MappingFaultError."""
        if self.mapped_file.hold():
            self.header.update_byte_buffer()
            self._buffer.force()
            self.mapped_file.release()

    def is_write_full(self) -> bool:
        """IndexFile#isWriteFull."""
        return self.header.index_count >= self.index_num

    def destroy(self, interval_forcibly_ms: int) -> bool:
        """IndexFile#destroy: delete the file."""
        return self.mapped_file.destroy(interval_forcibly_ms)

    # Put --------------------------------------------------------------------------------------------------------------

    def put_key(self, key: str, phy_offset: int, store_timestamp: int) -> bool:
        """IndexFile#putKey: add an entry; False if the file is full.

        phy_offset -- of the record in the commit log; store_timestamp -- of the message, in ms. Java writes the four
        numbers of an entry one by one; nothing refers to the entry before all are there, and so they are one write.
        Raises MappingFaultError, which is no Exception of Java's, and is not caught there.
        """
        header = self.header
        if self.is_write_full():
            return False
        key_hash = index_key_hash(key)
        slot_position = abs_slot_pos(key_hash, self.hash_slot_num)
        previous = previous_entry(self._buffer.get_int(slot_position), header.index_count)
        seconds = time_diff_seconds(store_timestamp, header.begin_timestamp)
        self._buffer.put(
            abs_index_pos(self.hash_slot_num, header.index_count),
            _ENTRY.pack(key_hash, phy_offset, seconds, previous))
        self._buffer.put_int(slot_position, header.index_count)
        if header.index_count <= 1:
            header.set("begin_phy_offset", phy_offset)
            header.set("begin_timestamp", store_timestamp)
        if previous == INVALID_INDEX:
            header.set("hash_slot_count", wrap32(header.hash_slot_count + 1))
        header.set("index_count", wrap32(header.index_count + 1))
        header.set("end_phy_offset", phy_offset)
        header.set("end_timestamp", store_timestamp)
        return True

    # Select -----------------------------------------------------------------------------------------------------------

    def is_time_matched(self, begin: int, end: int) -> bool:
        """IndexFile#isTimeMatched: whether the span of the file and that of the query (ms) meet."""
        return is_file_time_matched(begin, end, self.header.begin_timestamp, self.header.end_timestamp)

    def select_phy_offset(self, phy_offsets: list[int], key: str, max_num: int, begin: int, end: int) -> None:
        """IndexFile#selectPhyOffset: append the offsets of a key's hash, the newest first, until there are max_num.

        begin, end -- of the store time, in ms; an entry knows whole seconds only. A broken chain ends the search.
        """
        if self.mapped_file.hold():
            with suppress(JavaError):  # Java logs "selectPhyOffset exception"
                self._follow_chain(phy_offsets, key, max_num, begin, end)
            self.mapped_file.release()

    def _follow_chain(self, phy_offsets: list[int], key: str, max_num: int, begin: int, end: int) -> None:
        key_hash, count = index_key_hash(key), self.header.index_count
        number = previous_entry(self._buffer.get_int(abs_slot_pos(key_hash, self.hash_slot_num)), count)
        if number == INVALID_INDEX or count <= 1:
            return
        while len(phy_offsets) < max_num:
            entry_hash, phy_offset, seconds, previous = _ENTRY.unpack(
                self._buffer.read(abs_index_pos(self.hash_slot_num, number), INDEX_SIZE))
            if seconds < 0:
                return
            time_ms = time_read_ms(self.header.begin_timestamp, seconds)
            if entry_hash == key_hash and is_time_matched(time_ms, begin, end):
                phy_offsets.append(phy_offset)
            if is_chain_over(previous, number, count, entry_ms=time_ms, begin_ms=begin):
                return
            number = previous
