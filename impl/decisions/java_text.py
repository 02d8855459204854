"""Java's String where it differs from Python's str: its length, order and trimming are those of UTF-16 code units."""

from __future__ import annotations

import re
import struct
import unicodedata

from impl.decisions.java_errors import NullPointerError, NumberFormatError, StringIndexOutOfBoundsError

# Character#isWhitespace (Unicode 6.3 and later): the separators without the three that do not break, and nine controls.
_WHITESPACE = frozenset(
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2008\u2009\u200a\u2028\u2029\u205f\u3000",
)
_TRIMMED = "".join(map(chr, range(0x21)))
_UTF8_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_UTF8_REPLACEMENT = "\ufffd".encode()


def utf16_key(text: str) -> bytes:
    """A sort key that orders texts as String#compareTo does."""
    return text.encode("utf-16-be", "surrogatepass")


def utf16_units(text: str) -> tuple[int, ...]:
    """The UTF-16 code units of a text, a pair for each character outside the basic plane."""
    encoded = utf16_key(text)
    return struct.unpack(f">{len(encoded) // 2}H", encoded)


def utf16_length(text: str) -> int:
    """String#length."""
    return len(text) if text.isascii() else len(utf16_key(text)) // 2


def utf16_text(text: str) -> str:
    """The same text with a character for each UTF-16 code unit, so that Python's indices are Java's."""
    return text if text.isascii() else "".join(map(chr, utf16_units(text)))


def joined_text(text: str) -> str:
    """The same text with one character for each pair of surrogates, as texts have that Python reads."""
    return text if text.isascii() else utf16_key(text).decode("utf-16-be", "surrogatepass")


def utf8_bytes(text: str) -> bytes:
    """String#getBytes(UTF_8): a question mark stands for a surrogate without its partner."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return joined_text(text).encode(errors="replace")


def utf8_text(data: bytes) -> str:
    """String(bytes, UTF_8): U+FFFD stands for each malformed part, one for a whole encoded surrogate."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _UTF8_SURROGATE.sub(_UTF8_REPLACEMENT, data).decode(errors="replace")


def substring(text: str, begin: int, end: int) -> str:
    """String#substring; text -- as utf16_text gives it. Raises StringIndexOutOfBoundsError."""
    if begin < 0 or begin > end or end > len(text):
        raise StringIndexOutOfBoundsError(f"begin {begin}, end {end}, length {len(text)}")
    return text[begin:end]


def compare_text(left: str | None, right: str | None) -> int:
    """String#compareTo: the difference of the first units that differ, else of the lengths.

    Raises NullPointerError when one is None.
    """
    if left is None or right is None:
        raise NullPointerError
    if left == right:
        return 0
    units, other_units = utf16_units(left), utf16_units(right)
    for unit, other in zip(units, other_units, strict=False):
        if unit != other:
            return unit - other
    return len(units) - len(other_units)


def is_blank(text: str | None) -> bool:
    """StringUtils#isBlank and UtilAll#isBlank: null, empty, or whitespace only."""
    return text is None or all(character in _WHITESPACE for character in text)


def trim(text: str) -> str:
    """String#trim: cuts the characters up to U+0020 at both ends, and no others."""
    return text.strip(_TRIMMED)


def split(text: str, separator: str) -> list[str]:
    """String#split for a literal separator: empty parts at the end are dropped, others are kept.

    A text without the separator is its own only part, also when it is empty.
    """
    if separator not in text:
        return [text]
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def concatenated(text: str | None) -> str:
    """What Java's + makes of a text: `null` for None."""
    return "null" if text is None else text


def parse_integer(text: str, bits: int) -> int:
    """Integer#parseInt (32 bits) and Long#parseLong (64): an optional sign and decimal digits of any script.

    Raises NumberFormatError for everything else: no digit, blanks, a number out of range.
    """
    digits = text[1:] if text[:1] in {"+", "-"} else text
    number = 0
    for character in digits:
        digit = unicodedata.decimal(character, None) if character <= "\uffff" else None
        if digit is None:
            raise NumberFormatError(f'For input string: "{text}"')
        number = 10 * number + digit
    number = -number if text[:1] == "-" else number
    if not digits or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise NumberFormatError(f'For input string: "{text}"')
    return number


def parse_boolean(text: str | None) -> bool:
    """Boolean#parseBoolean: true for `true` in any case, false for all else."""
    return text is not None and text.lower() == "true"
