"""Addresses and sizes as RocketMQ writes them."""

from __future__ import annotations

import math

from impl.decisions.java_arithmetic import quotient, wrap32
from impl.decisions.java_errors import JavaRuntimeError, StringIndexOutOfBoundsError, not_null
from impl.decisions.java_text import concatenated, parse_integer, split, utf16_length

VIP_PORT_DISTANCE = 2
_IPV4_BYTES = 4


def broker_vip_channel(is_change: bool, broker_addr: str | None) -> str | None:
    """MixAll#brokerVIPChannel: the same host, the port two lower.

    Raises NullPointerError, StringIndexOutOfBoundsError for an address without a colon, NumberFormatError for a port.
    """
    if not is_change:
        return broker_addr
    host, colon, port = not_null(broker_addr).rpartition(":")
    if not colon:
        raise StringIndexOutOfBoundsError(f"begin 0, end -1, length {utf16_length(port)}")
    return f"{host}:{wrap32(parse_integer(port, 32) - VIP_PORT_DISTANCE)}"


def is_internal_ip(address: bytes) -> bool:
    """UtilAll#isInternalIP: 10/8, 172.16/12, 192.168/16; raises JavaRuntimeError unless it has four bytes.

    Java compares signed bytes; for the second byte of 172.x both bounds are small, so the order is the same.
    """
    if len(address) != _IPV4_BYTES:
        raise JavaRuntimeError("illegal ipv4 bytes")
    first, second = address[0], address[1]
    return first == 10 or (first == 172 and 16 <= second <= 31) or (first == 192 and second == 168)  # noqa: PLR2004


def human_readable_byte_count(count_bytes: int, si: bool) -> str:
    """MixAll#humanReadableByteCount: one digit behind the point, half rounded up as Java's Formatter does."""
    unit = 1000 if si else 1024
    if count_bytes < unit:
        return f"{count_bytes} B"
    exponent = int(math.log(count_bytes) / math.log(unit))
    prefix = ("kMGTPE" if si else "KMGTPE")[exponent - 1] + ("" if si else "i")
    return f"{_one_digit(count_bytes / math.pow(unit, exponent))} {prefix}B"


def _one_digit(number: float) -> str:
    """Formatter's %.1f: the shortest decimal text of the double, rounded half up."""
    whole, _, fraction = repr(number).partition(".")
    tenths = int(whole) * 10 + int(fraction[:1]) + (1 if fraction[1:2] >= "5" else 0)
    return f"{quotient(tenths, 10)}.{tenths % 10}"


def split_text(text: str | None, splitter: str) -> list[str] | None:
    """UtilAll#split for a splitter that is no regular expression."""
    return None if text is None else split(text, splitter)


def join_text(parts: list[str | None] | None, splitter: str) -> str | None:
    """UtilAll#join."""
    return None if parts is None else splitter.join(map(concatenated, parts))
