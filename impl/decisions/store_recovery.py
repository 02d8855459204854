"""Where recovery begins to read, and what it accepts."""

from __future__ import annotations

from collections.abc import Sequence

from impl.decisions.store_rules import checkpoint_min_timestamp, checkpoint_min_timestamp_index

RECOVERED_FILES = 3  # CommitLog#recoverNormally, ConsumeQueue#recover


def first_file_of_normal_recovery(files: int) -> int:
    """CommitLog#recoverNormally, ConsumeQueue#recover: the third file from the end, or the first one."""
    if files < RECOVERED_FILES:
        return 0
    return files - RECOVERED_FILES


def recovery_timestamp(
    physic_ms: int, logics_ms: int, index_ms: int, *, message_index_enable: bool, message_index_safe: bool,
) -> int:
    """The checkpoint's minimum that CommitLog#isMappedFileMatchedRecover compares with, in ms since 1970."""
    if message_index_enable and message_index_safe:
        return checkpoint_min_timestamp_index(physic_ms, logics_ms, index_ms)
    return checkpoint_min_timestamp(physic_ms, logics_ms)


def is_mapped_file_matched_recover(store_timestamp_ms: int, minimum_ms: int, *, message_magic: bool) -> bool:
    """CommitLog#isMappedFileMatchedRecover: whether everything before a file counts as durable and dispatched.

    store_timestamp_ms -- of the file's first record. message_magic -- whether that has the magic code of a message.
    minimum_ms -- recovery_timestamp.
    """
    if not message_magic or store_timestamp_ms == 0:
        return False
    return store_timestamp_ms <= minimum_ms


def first_file_of_abnormal_recovery(store_timestamps_ms: Sequence[int], minimum_ms: int) -> int:
    """CommitLog#recoverAbnormally: the newest file that matches, or the first one.

    store_timestamps_ms -- of the first record of each file, 0 for a file whose first record has no magic code.
    """
    for index in range(len(store_timestamps_ms) - 1, 0, -1):
        if is_mapped_file_matched_recover(store_timestamps_ms[index], minimum_ms, message_magic=True):
            return index
    return 0
