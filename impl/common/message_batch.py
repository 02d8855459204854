"""MessageBatch, and its body as a client sends it: messages one after the other, without topic and queue."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.common.message_properties import message_properties2_string, string2_message_properties
from impl.common.message_to_send import Message
from impl.decisions.java_arithmetic import wrap32
from impl.decisions.java_errors import JavaRuntimeError, NullPointerError, not_null
from impl.decisions.java_text import utf8_bytes, utf8_text
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX

SHORT_MAX = 2**15 - 1
_FIXED_BYTES = 22  # of MessageDecoder#encodeMessage


class BatchedMessage(NamedTuple):
    """One message of a batch. properties -- in the order of the map; None is as good as none."""

    flag: int
    body: bytes | None
    properties: Mapping[str, str] | None


def encode_message(flag: int, body: bytes | None, properties: Iterable[tuple[str | None, str | None]] | None) -> bytes:
    """MessageDecoder#encodeMessage.

    Raises NullPointerError without a body, JavaRuntimeError for properties of more than 32767 bytes.
    """
    content = not_null(body)
    text = utf8_bytes(message_properties2_string(properties))
    if len(text) > SHORT_MAX:
        # Java formats this text with String.format, which knows no braces.
        raise JavaRuntimeError("Properties size of message exceeded, properties size: {}, maxSize: {}.")
    head = struct.pack(">iiiii", wrap32(_FIXED_BYTES + len(content) + len(text)), 0, 0, flag, len(content))
    return head + content + struct.pack(">h", len(text)) + text


def encode_messages(messages: Iterable[BatchedMessage]) -> bytes:
    """MessageDecoder#encodeMessages."""
    return b"".join(encode_message(flag, body, None if properties is None else properties.items())
                    for flag, body, properties in messages)


def decode_message(buffer: ByteBuffer) -> BatchedMessage:
    """MessageDecoder#decodeMessage; raises BufferUnderflowError, NegativeArraySizeError, HeapExhaustedError."""
    for _ in range(3):  # total size, magic code, checksum
        buffer.get_int()
    flag = buffer.get_int()
    body = buffer.get(buffer.get_int())
    properties = string2_message_properties(utf8_text(buffer.get(buffer.get_short())))
    return BatchedMessage(flag, body, dict(properties.entries()))


def decode_messages(buffer: ByteBuffer) -> list[BatchedMessage]:
    """MessageDecoder#decodeMessages, up to the limit; raises what decode_message raises."""
    messages = []
    while buffer.has_remaining():
        messages.append(decode_message(buffer))
    return messages


class UnsupportedOperationError(JavaRuntimeError):
    """Something that a batch cannot have."""

    java_class = "java.lang.UnsupportedOperationException"


class MessageBatch(Message):
    """`common.message.MessageBatch`: messages of one topic that are sent together."""

    def __init__(self, messages: list[Message]) -> None:
        """Of these messages; its body is still empty."""
        first = messages[0]
        super().__init__(first.topic, None, wait_store_msg_ok=first.wait_store_msg_ok)
        self.messages = messages

    def __iter__(self) -> Iterator[Message]:
        """The messages, in their order."""
        return iter(self.messages)

    def encode(self) -> bytes:
        """MessageBatch#encode."""
        return encode_messages(
            BatchedMessage(one.flag, one.body, dict(one.properties.entries())) for one in self.messages)


def generate_from_list(messages: Collection[Message]) -> MessageBatch:
    """MessageBatch#generateFromList; raises UnsupportedOperationError.

    Raises NullPointerError for none at all, as Java does where assertions are off.
    """
    first: Message | None = None
    for message in messages:
        if message.delay_time_level > 0:
            raise UnsupportedOperationError("TimeDelayLevel is not supported for batching")
        if message.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
            raise UnsupportedOperationError("Retry Group is not supported for batching")
        first = first or message
        if first.topic != message.topic:
            raise UnsupportedOperationError("The topic of the messages in one batch should be the same")
        if first.wait_store_msg_ok != message.wait_store_msg_ok:
            raise UnsupportedOperationError("The waitStoreMsgOK of the messages in one batch should the same")
    if first is None:
        raise NullPointerError
    return MessageBatch(list(messages))
