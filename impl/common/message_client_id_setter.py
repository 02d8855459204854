"""Unique message ids, which clients make: the property UNIQ_KEY."""

from __future__ import annotations

import struct

from impl.common.util_all import bytes2string, ip_to_text, string2bytes
from impl.decisions.java_arithmetic import wrap16, wrap32
from impl.decisions.java_calendar import DAY_MS, date_of, epoch_day
from impl.decisions.java_errors import ArrayIndexOutOfBoundsError, IndexOutOfBoundsError, not_null

_ID_BYTES_V6 = 28  # of an id whose maker has an IPv6 address
_BYTES_BEHIND_IP = 12  # pid, hash of the class loader, time, counter
_GREATEST_STEP_BACK_MS = 1_000_000


class MessageClientIDSetter:
    """`common.message.MessageClientIDSetter`: a client process that makes ids.

    ip -- 4 or 16 bytes. pid -- its low 16 bits count. loader_hash -- of the class loader, an int.
    counter -- of the ids made. start_time, next_start_time -- when the month of the last id began, and when it ends.
    Months are those of UTC. Ids are unique as long as no more than 65536 are made in a millisecond.
    """

    def __init__(self, ip: bytes, pid: int, loader_hash: int, now_ms: int) -> None:
        """Start counting; now_ms -- ms since 1970."""
        self._fix_string = bytes2string(ip + struct.pack(">hi", wrap16(pid), wrap32(loader_hash)))
        self.start_time, self.next_start_time = month_of(now_ms)
        self.counter = 0

    def create_uniq_id(self, now_ms: int) -> str:
        """MessageClientIDSetter#createUniqID: 32 digits, 56 with an IPv6 address."""
        if now_ms >= self.next_start_time:
            self.start_time, self.next_start_time = month_of(now_ms)
        counter, self.counter = self.counter, wrap32(self.counter + 1)
        return f"{self._fix_string}{uniq_id_end(now_ms, self.start_time, counter)}"


def month_of(now_ms: int) -> tuple[int, int]:
    """MessageClientIDSetter#setStartTime: when the month of this time begins, and when the next one does."""
    year, month, _ = date_of(now_ms // DAY_MS)
    return epoch_day(year, month, 1) * DAY_MS, epoch_day(year, month + 1, 1) * DAY_MS


def uniq_id_end(now_ms: int, start_time_ms: int, counter: int) -> str:
    """The last twelve digits: ms since the month began, then the counter.

    A clock that was set back before the month by less than 1,000 s counts as its beginning.
    """
    difference_ms = wrap32(now_ms - start_time_ms)
    if -_GREATEST_STEP_BACK_MS < difference_ms < 0:
        difference_ms = 0
    return bytes2string(struct.pack(">ih", difference_ms, wrap16(counter)))


def get_ip_from_id(msg_id: str | None) -> bytes:
    """MessageClientIDSetter#getIPFromID; raises NullPointerError, ArrayIndexOutOfBoundsError for a short id."""
    data = not_null(string2bytes(msg_id))
    length = 16 if len(data) == _ID_BYTES_V6 else 4
    if len(data) < length:
        raise ArrayIndexOutOfBoundsError(
            f"arraycopy: last source index {length} out of bounds for byte[{len(data)}]")
    return data[:length]


def get_ip_str_from_id(msg_id: str | None) -> str:
    """MessageClientIDSetter#getIPStrFromID; raises what get_ip_from_id raises."""
    return ip_to_text(get_ip_from_id(msg_id))


def get_pid_from_id(msg_id: str | None) -> int:
    """MessageClientIDSetter#getPidFromID: the low 16 bits; raises NullPointerError, IndexOutOfBoundsError."""
    data = not_null(string2bytes(msg_id))
    start = len(data) - _BYTES_BEHIND_IP
    if start < 0:
        raise IndexOutOfBoundsError
    return int.from_bytes(data[start : start + 2], "big")
