"""`common.UtilAll`: checksums, hexadecimal digits, compression and file names of the store."""

from __future__ import annotations

import re
import zlib

from impl.decisions.java_errors import (
    ArrayIndexOutOfBoundsError,
    EndOfFileError,
    IllegalArgumentError,
    ZipError,
    not_null,
)
from impl.decisions.java_text import utf16_text

_DIGITS = "0123456789ABCDEF"
_NEEDS_DICTIONARY = re.compile("^Error 2 ")
_GREATEST_LEVEL = 9


def crc32(array: bytes | None) -> int:
    """UtilAll#crc32: 31 bits, 0 for null."""
    return 0 if array is None else zlib.crc32(array) & 0x7FFFFFFF


def crc32_of_part(array: bytes | None, offset: int, length: int) -> int:
    """UtilAll#crc32 of a part; raises NullPointerError, ArrayIndexOutOfBoundsError."""
    whole = not_null(array)
    if offset < 0 or length < 0 or offset > len(whole) - length:
        raise ArrayIndexOutOfBoundsError
    return crc32(whole[offset : offset + length])


def bytes2string(src: bytes | None) -> str:
    """UtilAll#bytes2string: upper-case digits; raises NullPointerError."""
    return not_null(src).hex().upper()


def string2bytes(hex_string: str | None) -> bytes | None:
    """UtilAll#string2bytes: None for null and the empty text; an odd digit at the end is left out.

    Another character than a digit counts as −1: both halves of its byte are then all ones, or the upper one.
    """
    if not hex_string:
        return None
    digits = [_DIGITS.find(character) for character in utf16_text(hex_string.upper())]
    pairs = zip(digits[::2], digits[1::2], strict=False)
    return bytes((high << 4 | low) & 0xFF for high, low in pairs)


def uncompress(src: bytes | None) -> bytes:
    """UtilAll#uncompress: zlib; what follows the compressed data is ignored.

    Raises EndOfFileError when the data ends too early, ZipError when it is none, NullPointerError for null.
    Data that asks for a preset dictionary gives nothing, without an error.
    """
    data = not_null(src)
    if not data:
        return b""
    inflater = zlib.decompressobj()
    try:
        result = inflater.decompress(data)
    except zlib.error as error:
        if _NEEDS_DICTIONARY.match(str(error)):
            return b""
        raise ZipError(str(error).partition(": ")[2] or "Invalid ZLIB data format") from None
    if not inflater.eof:
        raise EndOfFileError("Unexpected end of ZLIB input stream")
    return result


def compress(src: bytes | None, level: int) -> bytes:
    """UtilAll#compress: zlib; level -- 0 … 9, or -1 for the usual one.

    Raises NullPointerError, and IllegalArgumentError for another level.
    """
    data = not_null(src)
    if not -1 <= level <= _GREATEST_LEVEL:
        raise IllegalArgumentError
    return zlib.compress(data, level)


def offset2_file_name(offset: int) -> str:
    """UtilAll#offset2FileName: at least twenty digits."""
    return f"{'-' if offset < 0 else ''}{abs(offset):020d}"


def ip_to_text(ip: bytes) -> str:
    """UtilAll#ipToIPv4Str, and UtilAll#ipToIPv6Str for sixteen bytes."""
    if len(ip) == 16:  # noqa: PLR2004  an IPv6 address
        return ":".join(ip[index : index + 2].hex() for index in range(0, 16, 2))
    return ".".join(map(str, ip))
