"""When data of a mapped file is forced, and which file of a sequence holds an offset."""

from __future__ import annotations

from impl.decisions.java_arithmetic import quotient, remainder, wrap32, wrap64

OS_PAGE_SIZE = 4096  # MappedFile
FLUSH_COMMIT_LOG_LEAST_PAGES = 4  # MessageStoreConfig
FLUSH_COMMIT_LOG_THOROUGH_INTERVAL_MS = 10_000  # MessageStoreConfig
FLUSH_CONSUME_QUEUE_LEAST_PAGES = 2  # MessageStoreConfig
FLUSH_CONSUME_QUEUE_THOROUGH_INTERVAL_MS = 60_000  # MessageStoreConfig


def is_able_to_flush(least_pages: int, flushed_position: int, read_position: int, *, full: bool) -> bool:
    """MappedFile#isAbleToFlush: the file is full, or so many pages were written; 0 pages: anything was.

    read_position -- up to which the file can be read: written, or committed with a transient pool. full -- written to
    the end. MappedFile#isAbleToCommit is the same rule of committed and written position.
    """
    if full:
        return True
    if least_pages > 0:
        pages = quotient(read_position, OS_PAGE_SIZE) - quotient(flushed_position, OS_PAGE_SIZE)
        return wrap32(pages) >= least_pages
    return read_position > flushed_position


def is_thorough_flush(now_ms: int, last_thorough_ms: int, thorough_interval_ms: int) -> bool:
    """FlushRealTimeService#run, FlushConsumeQueueService#doFlush: whether this round flushes whatever there is.

    last_thorough_ms -- when the last such round was; 0 before the first.
    """
    return now_ms >= wrap64(last_thorough_ms + thorough_interval_ms)


def flush_least_pages(configured_pages: int, *, thorough: bool) -> int:
    """FlushRealTimeService#run: the pages that a round waits for."""
    return 0 if thorough else configured_pages


def mapped_file_index(offset: int, first_file_offset: int, mapped_file_size: int) -> int:
    """MappedFileQueue#findMappedFileByOffset: the place of the file that holds an offset, counted from the first."""
    return wrap32(quotient(offset, mapped_file_size) - quotient(first_file_offset, mapped_file_size))


def position_in_file(offset: int, mapped_file_size: int) -> int:
    """Where in its file an offset lies; CommitLog#getMessage, MappedFileQueue#truncateDirtyFiles."""
    return wrap32(remainder(offset, mapped_file_size))


def first_file_offset(start_offset: int, mapped_file_size: int) -> int:
    """MappedFileQueue#getLastMappedFile: where the first file of an empty queue begins that is to hold an offset."""
    return start_offset - remainder(start_offset, mapped_file_size)
