"""MessageStore: what processors that have no messages themselves ask the store."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class MessageStore(Protocol):
    """`store.MessageStore` of a broker, what is asked of it here. A queue that is not known is as good as empty."""

    def get_min_offset_in_queue(self, topic: str, queue_id: int) -> int:
        """MessageStore#getMinOffsetInQueue: the first offset that is left."""
        ...

    def get_max_offset_in_queue(self, topic: str, queue_id: int) -> int:
        """MessageStore#getMaxOffsetInQueue: the offset behind the last message."""
        ...

    def get_offset_in_queue_by_time(self, topic: str, queue_id: int, timestamp: int) -> int:
        """MessageStore#getOffsetInQueueByTime: the first that was stored then or later; timestamp -- ms since 1970."""
        ...

    def check_in_disk_by_consume_offset(self, topic: str, queue_id: int, consume_offset: int) -> bool:
        """MessageStore#checkInDiskByConsumeOffset: whether this message lies too far back to be in memory."""
        ...

    def clean_unused_topic(self, topics: Collection[str]) -> None:
        """MessageStore#cleanUnusedTopic: delete the queues of all topics but these, and but the store's own."""
        ...
