"""Base64 as fastjson reads it: what is no Base64 gives other bytes, or an error of its own (IOUtils#decodeBase64)."""

from __future__ import annotations

from impl.decisions.java_arithmetic import wrap32
from impl.decisions.java_errors import ArrayIndexOutOfBoundsError, NegativeArraySizeError, StringIndexOutOfBoundsError

_VALUES = {one: value for value, one in enumerate(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")} | {"=": 0}
_TABLE_SIZE = 256
_LINE, _GROUPS_OF_A_LINE = 76, 19


def decode_base64(text: str, offset: int, length: int, *, own: bool) -> bytes:
    """The bytes that a part of a text stands for.

    own -- the part is all of the text, resolved from escapes; then characters beyond Latin-1 are no end of the table
    while the ends are trimmed. Raises NegativeArraySizeError, ArrayIndexOutOfBoundsError, StringIndexOutOfBoundsError.
    """
    if length == 0:
        return b""
    first, last = offset, offset + length - 1
    while first < last and _value(text, first, folded=own) < 0:
        first += 1
    while last > 0 and _value(text, last, folded=own) < 0:
        last -= 1
    padding = 0 if text[last] != "=" else 2 if char_at(text, last - 1) == "=" else 1
    count = last - first + 1
    breaks = 2 * (count // 78) if length > _LINE and text[_LINE] == "\r" else 0
    size = ((count - breaks) * 6 >> 3) - padding
    if size < 0:
        raise NegativeArraySizeError(str(size))
    return _decoded(text, first, last - padding, size, lines=breaks > 0)


def _decoded(text: str, place: int, last: int, size: int, *, lines: bool) -> bytes:
    found = bytearray()
    groups = 0
    while len(found) < size // 3 * 3:
        found += _bits([_value(text, place + one) for one in range(4)]).to_bytes(3, "big")
        place, groups = place + 4, groups + 1
        if lines and groups == _GROUPS_OF_A_LINE:
            place, groups = place + 2, 0
    if len(found) < size:
        rest = _bits([_value(text, one) for one in range(place, last + 1)])
        found += rest.to_bytes(3, "big")[: size - len(found)]
    return bytes(found)


def _bits(values: list[int]) -> int:
    """The lowest 24 bits of the values side by side; Java shifts by the lowest five bits of a number of places."""
    found = 0
    for number, value in enumerate(values):
        found |= wrap32(value << (18 - number * 6 & 31))
    return found & 0xFFFFFF


def _value(text: str, index: int, *, folded: bool = False) -> int:
    one = char_at(text, index)
    if folded:
        one = chr(ord(one) & 0xFF)
    if ord(one) >= _TABLE_SIZE:
        raise ArrayIndexOutOfBoundsError(f"Index {ord(one)} out of bounds for length {_TABLE_SIZE}")
    return _VALUES.get(one, -1)


def char_at(text: str, index: int) -> str:
    """String#charAt of Java 17, whose message depends on how the text is held."""
    if 0 <= index < len(text):
        return text[index]
    latin = max(text, default="") <= "\xff"
    raise StringIndexOutOfBoundsError(
        f"String index out of range: {index}" if latin else f"index {index}, length {len(text)}")
