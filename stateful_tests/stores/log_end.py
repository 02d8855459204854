"""What stands behind the end of a commit log, in its files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.common.record_layout import BLANK_MAGIC_CODE, MESSAGE_MAGIC_CODE, PHY_POS_POSITION
from impl.store.dispatch_request import check_message_and_return_size

_CHUNK_BYTES = 1 << 20
_OVERLAP_BYTES = PHY_POS_POSITION + 8  # a record is known by its head
_MAGIC = MESSAGE_MAGIC_CODE.to_bytes(4, "big", signed=True)
_BLANK_MAGIC = BLANK_MAGIC_CODE.to_bytes(4, "big", signed=True)
_BLANK_BYTES = 8  # CommitLog.DefaultAppendMessageCallback#END_FILE_MIN_BLANK_LENGTH
_GREATEST_RECORD_BYTES = 8 << 20


class Behind(NamedTuple):
    """What stands there.

    bytes -- how many are not zero. records -- heads that stand where they say, that at the end aside. reason -- why the
    log ends there.
    """

    bytes: int
    records: int
    reason: str


def behind_the_end(folder: Path, file_bytes: int, end: int) -> Behind:
    """Look at all files from an offset of the log on; holes are passed over, and so is a blank that fills a file up."""
    count = records = 0
    last = folder / f"{end // file_bytes * file_bytes:020d}"
    blank_bytes = _blank_bytes(last, end % file_bytes)
    for path in sorted(path for path in folder.glob("*") if path.name.isdigit()):
        start = int(path.name)
        if start + file_bytes > end:
            for offset, chunk in _data(path, max(end + blank_bytes - start, 0)):
                part = chunk[:_CHUNK_BYTES]
                count += len(part) - part.count(0)
                records += _heads(chunk, start + offset, end)
    return Behind(count, records, _reason(last, end % file_bytes))


def _blank_bytes(path: Path, position: int) -> int:
    """The length of the blank there, 0 for none."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        head = os.pread(file.fileno(), _BLANK_BYTES, position)
    return _BLANK_BYTES if head[4:] == _BLANK_MAGIC else 0


def _data(path: Path, position: int) -> Iterator[tuple[int, bytes]]:
    """The parts of a file that are no holes, in chunks that overlap a little, each with its position."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while True:
            try:
                position = os.lseek(descriptor, position, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # only a hole is left
                    return
                raise
            chunk = os.pread(descriptor, _CHUNK_BYTES + _OVERLAP_BYTES, position)
            if not chunk:
                return
            yield position, chunk
            position += _CHUNK_BYTES
    finally:
        os.close(descriptor)


def _heads(chunk: bytes, offset: int, end: int) -> int:
    """How many heads of records begin in the chunk, behind `end`, and name the offset at which they stand."""
    found = 0
    at = chunk.find(_MAGIC, 4)
    while 0 <= at < _CHUNK_BYTES + 4:
        said = chunk[at - 4 + PHY_POS_POSITION:at + 4 + PHY_POS_POSITION]
        found += int.from_bytes(said, "big") == offset + at - 4 != end
        at = chunk.find(_MAGIC, at + 1)
    return found


def _reason(path: Path, position: int) -> str:
    """Why the bytes there are no record."""
    if not path.is_file():
        return "there is no further file"
    with path.open("rb") as file:
        file.seek(position)
        data = file.read(_GREATEST_RECORD_BYTES)
    if len(data) < 8 or data[4:8] != _MAGIC:  # noqa: PLR2004  # length and magic code
        return "no record begins there"
    if check_message_and_return_size(ByteBuffer(data), check_crc=False).success:
        return "the checksum of its body is wrong"
    return "its lengths do not add up"
