"""RunningFlags: why a store may refuse to read or write, as bits of one number. Each function answers the new bits."""

from __future__ import annotations

from impl.decisions.flags import clear_flag, has_flag

# store.RunningFlags
NOT_READABLE_BIT = 1
NOT_WRITEABLE_BIT = 1 << 1
WRITE_LOGICS_QUEUE_ERROR_BIT = 1 << 2
WRITE_INDEX_FILE_ERROR_BIT = 1 << 3
DISK_FULL_BIT = 1 << 4

_CQ_REFUSING = NOT_WRITEABLE_BIT | WRITE_LOGICS_QUEUE_ERROR_BIT | WRITE_INDEX_FILE_ERROR_BIT


def is_readable(bits: int) -> bool:
    """RunningFlags#isReadable."""
    return bits & NOT_READABLE_BIT == 0


def is_writeable(bits: int) -> bool:
    """RunningFlags#isWriteable."""
    return bits & (_CQ_REFUSING | DISK_FULL_BIT) == 0


def is_cq_writeable(bits: int) -> bool:
    """RunningFlags#isCQWriteable: a full disk does not stop the consume queues."""
    return bits & _CQ_REFUSING == 0


def is_logics_queue_error(bits: int) -> bool:
    """RunningFlags#isLogicsQueueError."""
    return has_flag(bits, WRITE_LOGICS_QUEUE_ERROR_BIT)


def is_index_file_error(bits: int) -> bool:
    """RunningFlags#isIndexFileError."""
    return has_flag(bits, WRITE_INDEX_FILE_ERROR_BIT)


def get_and_make_readable(bits: int) -> tuple[bool, int]:
    """RunningFlags#getAndMakeReadable: whether it was readable, and the bits afterwards."""
    return is_readable(bits), clear_flag(bits, NOT_READABLE_BIT)


def get_and_make_not_readable(bits: int) -> tuple[bool, int]:
    """RunningFlags#getAndMakeNotReadable."""
    return is_readable(bits), bits | NOT_READABLE_BIT


def get_and_make_writeable(bits: int) -> tuple[bool, int]:
    """RunningFlags#getAndMakeWriteable: clears its own bit only, so the store may stay unwriteable."""
    return is_writeable(bits), clear_flag(bits, NOT_WRITEABLE_BIT)


def get_and_make_not_writeable(bits: int) -> tuple[bool, int]:
    """RunningFlags#getAndMakeNotWriteable: does nothing while another bit already refuses writes."""
    writeable = is_writeable(bits)
    return writeable, bits | NOT_WRITEABLE_BIT if writeable else bits


def make_logics_queue_error(bits: int) -> int:
    """RunningFlags#makeLogicsQueueError."""
    return bits | WRITE_LOGICS_QUEUE_ERROR_BIT


def make_index_file_error(bits: int) -> int:
    """RunningFlags#makeIndexFileError."""
    return bits | WRITE_INDEX_FILE_ERROR_BIT


def get_and_make_disk_full(bits: int) -> tuple[bool, int]:
    """RunningFlags#getAndMakeDiskFull: whether the disk was not marked full before."""
    return not has_flag(bits, DISK_FULL_BIT), bits | DISK_FULL_BIT


def get_and_make_disk_ok(bits: int) -> tuple[bool, int]:
    """RunningFlags#getAndMakeDiskOK: whether the disk was not marked full before."""
    return not has_flag(bits, DISK_FULL_BIT), clear_flag(bits, DISK_FULL_BIT)
