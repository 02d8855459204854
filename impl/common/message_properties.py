"""Properties of a message as text: `name 0x01 value`, entries joined by 0x02."""

from __future__ import annotations

from collections.abc import Iterable

from impl.decisions.java_text import concatenated
from impl.hash_map import HashMap

NAME_VALUE_SEPARATOR = "\x01"  # MessageDecoder
PROPERTY_SEPARATOR = "\x02"  # MessageDecoder


def message_properties2_string(properties: Iterable[tuple[str | None, str | None]] | None) -> str:
    """MessageDecoder#messageProperties2String.

    properties -- names and values in the order of the map; an entry without a value is left out.
    """
    entries = (f"{concatenated(name)}{NAME_VALUE_SEPARATOR}{value}"
               for name, value in properties or () if value is not None)
    return PROPERTY_SEPARATOR.join(entries)


def property_entries(text: str) -> dict[str, str]:
    """The entries that MessageDecoder#string2messageProperties puts into its map, in the order of the text.

    An entry with an empty name or value, or without a separator, is passed over; the last of a name wins.
    """
    found: dict[str, str] = {}
    for entry in text.split(PROPERTY_SEPARATOR):
        name, _, value = entry.partition(NAME_VALUE_SEPARATOR)
        if name and value:
            found[name] = value
    return found


def string2_message_properties(text: str | None) -> HashMap[str, str]:
    """MessageDecoder#string2messageProperties: a map that iterates as Java's does; empty for null."""
    properties: HashMap[str, str] = HashMap()
    for name, value in property_entries(text or "").items():
        properties.put(name, value)
    return properties
