"""What client management asks of the message store: the ends of the queues."""

from __future__ import annotations

from typing import NamedTuple

from impl.hash_map import ConcurrentHashMap


class QueueRange(NamedTuple):
    """One queue: its first offset, the one behind its last, and whether offset 0 lies far back on the disk.

    stored -- ascending pairs of a time (ms since 1970) and the first offset that was stored then.
    """

    min_offset: int = 0
    max_offset: int = 0
    on_disk: bool = False
    stored: tuple[tuple[int, int], ...] = ()


class QueueOffsets:
    """The part of `store.DefaultMessageStore` that answers about offsets; whoever fills queues says so here.

    ranges -- (topic, queue id) to the queue. A queue that is not there is as good as empty, as in RocketMQ.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self.ranges: ConcurrentHashMap[tuple[str, int], QueueRange] = ConcurrentHashMap()

    def range_of(self, topic: str, queue_id: int) -> QueueRange:
        """DefaultMessageStore#findConsumeQueue: makes the queue if it has to."""
        return self.ranges.get((topic, queue_id)) or QueueRange()

    def get_min_offset_in_queue(self, topic: str, queue_id: int) -> int:
        """DefaultMessageStore#getMinOffsetInQueue."""
        return self.range_of(topic, queue_id).min_offset

    def get_max_offset_in_queue(self, topic: str, queue_id: int) -> int:
        """DefaultMessageStore#getMaxOffsetInQueue."""
        return self.range_of(topic, queue_id).max_offset

    def check_in_disk_by_consume_offset(self, topic: str, queue_id: int) -> bool:
        """DefaultMessageStore#checkInDiskByConsumeOffset for offset 0."""
        return self.range_of(topic, queue_id).on_disk

    def get_offset_in_queue_by_time(self, topic: str, queue_id: int, timestamp: int) -> int:
        """DefaultMessageStore#getOffsetInQueueByTime: the first that was stored then or later, else the end."""
        queue = self.range_of(topic, queue_id)
        return next((offset for stored_ms, offset in queue.stored if stored_ms >= timestamp), queue.max_offset)
