"""GivenMessageStore: a MessageStore without messages of its own, as long as nobody sends any."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.message import MessageExt
from impl.decisions.pull_answer import GetMessageStatus
from impl.hash_map import ConcurrentHashMap
from impl.ports.message_store import GetMessageResult


class QueueRange(NamedTuple):
    """One queue: its first offset, the one behind its last, and whether offset 0 lies far back on the disk.

    stored -- ascending pairs of a time (ms since 1970) and the first offset that was stored then.
    """

    min_offset: int = 0
    max_offset: int = 0
    on_disk: bool = False
    stored: tuple[tuple[int, int], ...] = ()


class GivenMessageStore:
    """Whoever fills queues says here what they have.

    ranges -- (topic, queue id) to the queue.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self.ranges: ConcurrentHashMap[tuple[str, int], QueueRange] = ConcurrentHashMap()

    def range_of(self, topic: str, queue_id: int) -> QueueRange:
        """DefaultMessageStore#findConsumeQueue: makes the queue if it has to."""
        return self.ranges.get((topic, queue_id)) or QueueRange()

    def get_min_offset_in_queue(self, topic: str, queue_id: int) -> int:
        """See MessageStore."""
        return self.range_of(topic, queue_id).min_offset

    def get_max_offset_in_queue(self, topic: str, queue_id: int) -> int:
        """See MessageStore."""
        return self.range_of(topic, queue_id).max_offset

    def get_offset_in_queue_by_time(self, topic: str, queue_id: int, timestamp: int) -> int:
        """See MessageStore; the end if nothing was stored then or later."""
        queue = self.range_of(topic, queue_id)
        return next((offset for stored_ms, offset in queue.stored if stored_ms >= timestamp), queue.max_offset)

    def check_in_disk_by_consume_offset(self, topic: str, queue_id: int, consume_offset: int) -> bool:
        """See MessageStore; known of offset 0 only."""
        return consume_offset == 0 and self.range_of(topic, queue_id).on_disk

    def get_message(self, topic: str, queue_id: int, offset: int, max_msg_nums: int) -> GetMessageResult:
        """At most so many messages from this offset on; who asks knows that some have come."""
        least = self.range_of(topic, queue_id).min_offset
        if offset < least:
            return GetMessageResult(GetMessageStatus.OFFSET_TOO_SMALL, least)
        behind = offset + max_msg_nums
        return GetMessageResult(GetMessageStatus.FOUND, behind, tuple(map(MessageExt, range(offset, behind))))
