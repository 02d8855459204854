"""What a store refuses before a message comes near its log."""

from __future__ import annotations

BYTE_MAX, SHORT_MAX = 127, 32_767


def is_put_available(*, stopped: bool, slave: bool, writeable: bool) -> bool:
    """DefaultMessageStore#checkStoreStatus: whether puts are taken at all; otherwise SERVICE_NOT_AVAILABLE."""
    return not stopped and not slave and writeable


def is_message_legal(topic_length: int, properties_length: int) -> bool:
    """DefaultMessageStore#checkMessage: lengths are characters, while the encoder counts bytes."""
    return topic_length <= BYTE_MAX and properties_length <= SHORT_MAX


def is_batch_legal(topic_length: int, body_bytes: int, max_message_size: int) -> bool:
    """DefaultMessageStore#checkMessages: the properties of a batch are not looked at, nor those of its messages."""
    return topic_length <= BYTE_MAX and body_bytes <= max_message_size
