"""MessageQueue: one queue of a topic at a broker, with Java's order, hash and text."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.java_arithmetic import nullable_hash, wrap32
from impl.decisions.java_text import compare_text, concatenated


class MessageQueue(NamedTuple):
    """`common.message.MessageQueue`.

    topic, broker_name -- texts; Java allows null there (compare_to then raises), and so does this class at run time.
    queue_id -- an int, 0-based among the queues of the topic at that broker.

    Java's class is mutable; who changes a queue here replaces it.
    """

    topic: str
    broker_name: str
    queue_id: int

    def compare_to(self, other: MessageQueue) -> int:
        """MessageQueue#compareTo: topic, then broker, by UTF-16 units, then the 32-bit difference of the ids.

        That difference overflows for ids further apart than 2³¹-1, so the order is none for them. Raises
        NullPointerError for a null topic or broker name.
        """
        result = compare_text(self.topic, other.topic)
        if result != 0:
            return result
        result = compare_text(self.broker_name, other.broker_name)
        if result != 0:
            return result
        return wrap32(self.queue_id - other.queue_id)

    def __lt__(self, other: MessageQueue) -> bool:  # type: ignore[override]  # a queue is compared with queues only
        """Java's order, so that `sorted` is Collections#sort."""
        return self.compare_to(other) < 0

    def __le__(self, other: MessageQueue) -> bool:  # type: ignore[override]
        """Java's order."""
        return self.compare_to(other) <= 0

    def __gt__(self, other: MessageQueue) -> bool:  # type: ignore[override]
        """Java's order."""
        return self.compare_to(other) > 0

    def __ge__(self, other: MessageQueue) -> bool:  # type: ignore[override]
        """Java's order."""
        return self.compare_to(other) >= 0

    def java_hash(self) -> int:
        """MessageQueue#hashCode."""
        result = wrap32(31 + nullable_hash(self.broker_name))
        result = wrap32(31 * result + self.queue_id)
        return wrap32(31 * result + nullable_hash(self.topic))

    @property
    def text(self) -> str:
        """MessageQueue#toString; the consistent hash strategy hashes exactly this text."""
        topic, broker_name = concatenated(self.topic), concatenated(self.broker_name)
        return f"MessageQueue [topic={topic}, brokerName={broker_name}, queueId={self.queue_id}]"
