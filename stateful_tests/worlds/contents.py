"""What a message is, as a number: whoever sends it and whoever is given it make the same of it."""

from __future__ import annotations

import zlib

from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_KEYS, PROPERTY_TAGS
from impl.common.message_to_send import Message


def in_namespace(namespace: str, name: str) -> str:
    """A topic or a group as brokers have it; namespace -- of its client; empty: none."""
    return f"{namespace}%{name}" if namespace else name


def content_of(message: Message | MessageExt, namespace: str = "") -> int:
    """Of its topic as brokers have it, flag, tags and keys, of the properties of its application, and of its body.

    namespace -- of the client whose application has it.
    """
    entries = message.properties.entries() if isinstance(message, Message) else (message.properties or {}).items()
    own = sorted((name, value) for name, value in entries if name.islower() and name[0] != "_")
    tags, keys = message.get_property(PROPERTY_TAGS), message.get_property(PROPERTY_KEYS)
    names = in_namespace(namespace, message.topic or ""), message.flag, tags, keys, own
    return zlib.crc32(message.body or b"", zlib.crc32(repr(names).encode()))
