"""A recorded connection between a master and its slave: chunks of two streams, their frames and reports, and the log.

`m2s` are frames: the offset of the first byte (8 bytes), the size (4 bytes), and that many bytes of the log; a frame
without bytes is a heartbeat. `s2m` are reports: the end of the slave's log (8 bytes).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.common.message import MessageExt
from impl.common.message_decoder import decode
from impl.common.record_layout import BLANK_MAGIC_CODE, MESSAGE_MAGIC_CODE, read_header
from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import utf8_text
from impl.store.dispatch_request import NOT_PARSED, check_message_and_return_size
from invariants.verdict import BadInputError
from stateful_tests.conformance.wire.recorded import Scenario

FILE_BYTES = 65_536  # mappedFileSizeCommitLog of the recorded master, and of its slave
FRAME = struct.Struct(">qi")
REPORT = struct.Struct(">q")
_RECORD = struct.Struct(">ii")
_KEYS = ("conn", "dir", "at_ms", "stream_offset", "len", "hex")


class Chunk(NamedTuple):
    """What the proxy read at once. from_slave -- its direction."""

    line: int
    conn: int
    from_slave: bool
    at_ms: int
    data: bytes


class Frame(NamedTuple):
    """A frame of a master; line, at_ms -- of the chunk in which it ends. data may be cut at the end of a stream."""

    line: int
    at_ms: int
    offset: int
    size: int
    data: bytes


class Report(NamedTuple):
    """A report of a slave."""

    line: int
    at_ms: int
    offset: int


class Record(NamedTuple):
    """A piece of the log: a message, or (None) a blank or what cannot be read. is_cut -- its end is not there."""

    offset: int
    data: bytes
    message: MessageExt | None
    is_readable: bool = False
    is_cut: bool = False

    @property
    def properties_string(self) -> str | None:
        """The properties of the message as they are written; raises JavaError."""
        buffer = ByteBuffer(self.data)
        buffer.get(max(read_header(buffer).body_length, 0))
        buffer.get(buffer.get_byte())
        length = buffer.get_short()
        return utf8_text(buffer.get(length)) if length > 0 else None


def chunks(scenario: Scenario) -> list[Chunk]:
    """The chunks of a file; raises BadInputError for what is none, and where a part of a stream is missing."""
    found: list[Chunk] = []
    ends: dict[tuple[int, bool], int] = {}
    for line, row in enumerate(scenario.rows(), start=1):
        place = f"{scenario.path}:{line}"
        try:
            chunk = _chunk(line, row)
        except (KeyError, TypeError, ValueError) as error:
            raise BadInputError(f"{place}: not a chunk ({error}); record the file again") from error
        end = ends.get(chunk[1:3], 0)
        if (row["stream_offset"], row["len"]) != (end, len(chunk.data)):
            raise BadInputError(f"{place}: a chunk of {len(chunk.data)} bytes from {end} on has to be here, not of "
                                f"{row['len']} from {row['stream_offset']} on; record the file again")
        ends[chunk[1:3]] = end + len(chunk.data)
        found.append(chunk)
    return found


def _chunk(line: int, row: Mapping[str, Any]) -> Chunk:
    missing = [key for key in _KEYS if key not in row]
    if missing:
        message = f"{missing[0]!r} is missing"
        raise ValueError(message)
    if row["dir"] not in {"s2m", "m2s"}:
        message = f"the direction {row['dir']!r} is neither s2m nor m2s"
        raise ValueError(message)
    return Chunk(line, int(row["conn"]), row["dir"] == "s2m", int(row["at_ms"]), bytes.fromhex(row["hex"]))


class Frames:
    """Cuts a master's stream into frames."""

    def __init__(self) -> None:
        """Have nothing."""
        self._rest = b""
        self._last = 0, 0

    def feed(self, data: bytes, line: int = 0, at_ms: int = 0) -> Iterator[Frame]:
        """The frames that end in these bytes."""
        self._rest += data
        self._last = line, at_ms
        while len(self._rest) >= FRAME.size:
            offset, size = FRAME.unpack_from(self._rest)
            end = FRAME.size + max(size, 0)
            if len(self._rest) < end:
                return
            frame = Frame(line, at_ms, offset, size, self._rest[FRAME.size:end])
            self._rest = self._rest[end:]
            yield frame

    def cut(self) -> Iterator[Frame]:
        """The frame in which the stream ended, if its header is there."""
        if len(self._rest) >= FRAME.size:
            offset, size = FRAME.unpack_from(self._rest)
            yield Frame(*self._last, offset, size, self._rest[FRAME.size:])


class Reports:
    """Cuts a slave's stream into reports. rest -- the bytes of one that is not whole."""

    def __init__(self) -> None:
        """Have nothing."""
        self.rest = b""

    def feed(self, data: bytes, line: int = 0, at_ms: int = 0) -> Iterator[Report]:
        """The reports that end in these bytes."""
        self.rest += data
        while len(self.rest) >= REPORT.size:
            yield Report(line, at_ms, REPORT.unpack_from(self.rest)[0])
            self.rest = self.rest[REPORT.size:]


def records(begin: int, data: bytes) -> Iterator[Record]:
    """The records of a part of the log that begins at an offset; what cannot be read is the last one."""
    while data:
        record = _first(begin, data)
        yield record
        begin, data = begin + len(record.data), data[len(record.data):]


def _first(begin: int, data: bytes) -> Record:
    if len(data) < _RECORD.size:
        return Record(begin, data, None, is_cut=True)
    size, magic_code = _RECORD.unpack_from(data)
    if magic_code == BLANK_MAGIC_CODE and size >= _RECORD.size:
        return Record(begin, data[:size], None, size <= len(data), size > len(data))
    try:
        request = check_message_and_return_size(
            ByteBuffer(data), check_crc=True, read_body=True, delay_levels=NOT_PARSED)
        if request.success and request.msg_size > 0:
            message = decode(ByteBuffer(data[:request.msg_size]), decompress_body=False)
            return Record(begin, data[:request.msg_size], message, message is not None)
    except JavaError:
        return Record(begin, data, None)
    is_cut = request.msg_size < 0 and magic_code == MESSAGE_MAGIC_CODE and size > len(data)
    return Record(begin, data, None, is_cut=is_cut)
