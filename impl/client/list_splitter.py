"""ListSplitter: how the documentation of RocketMQ tells users to cut a list into batches that a broker takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from impl.common.message_to_send import Message

SIZE_LIMIT = 1_000_000  # bytes
LOG_OVERHEAD = 20  # bytes, for each message


class ListSplitter:
    """`example.batch.ListSplitter`: parts whose messages are estimated to have no more than size_limit bytes together.

    The estimate counts characters of topic and properties, and is no bound for the encoded batch: properties have
    separators, each message a head of 22 bytes, and a character may be several bytes.
    """

    def __init__(self, messages: Sequence[Message], size_limit: int = SIZE_LIMIT) -> None:
        """Split these messages."""
        self.messages, self.size_limit = messages, size_limit

    def __iter__(self) -> Iterator[Sequence[Message]]:
        """The parts; a message that is too big is a part of its own."""
        start = 0
        while start < len(self.messages):
            end, total = start, 0
            while end < len(self.messages):
                total += estimated_bytes(self.messages[end])
                if total > self.size_limit:
                    break
                end += 1
            end = max(end, start + 1)
            yield self.messages[start:end]
            start = end


def estimated_bytes(message: Message) -> int:
    """What ListSplitter takes a message to need."""
    properties = sum(len(name) + len(value) for name, value in message.properties.entries())
    return len(message.topic) + len(message.body or b"") + properties + LOG_OVERHEAD
