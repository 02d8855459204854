"""Where a record goes in the log: behind the last one, or, if the file has no room left, into the next file."""

from __future__ import annotations

from impl.decisions.java_arithmetic import wrap32

END_FILE_MIN_BLANK_LENGTH = 8  # CommitLog.DefaultAppendMessageCallback


def is_end_of_file(message_length: int, max_blank: int) -> bool:
    """DefaultAppendMessageCallback#doAppend: whether a record must not go into a file with so many bytes left.

    A full file ends with a blank of at least eight bytes. The sum is one of ints: a length above 2³¹ − 9 fits always.
    """
    return wrap32(message_length + END_FILE_MIN_BLANK_LENGTH) > max_blank
