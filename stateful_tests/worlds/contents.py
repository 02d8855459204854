"""What a message is, as a number: whoever sends it and whoever is given it make the same of it."""

from __future__ import annotations

import zlib

from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_KEYS, PROPERTY_TAGS
from impl.common.message_to_send import Message


def content_of(message: Message | MessageExt) -> int:
    """Of its topic, flag, tags and keys, and of its body."""
    names = message.topic, message.flag, message.get_property(PROPERTY_TAGS), message.get_property(PROPERTY_KEYS)
    return zlib.crc32(message.body or b"", zlib.crc32(repr(names).encode()))
