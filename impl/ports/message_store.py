"""MessageStore: the port behind which messages are; whoever keeps them fills it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from impl.common.message import MessageExt
from impl.decisions.pull_answer import GetMessageStatus


class GetMessageResult(NamedTuple):
    """`store.GetMessageResult`. messages -- by ascending offset, some of them exactly if the status is FOUND."""

    status: GetMessageStatus
    next_begin_offset: int
    messages: tuple[MessageExt, ...] = ()


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


class PulledStore(Protocol):
    """What is asked by whoever answers pulls without a request."""

    def get_message(self, topic: str, queue_id: int, offset: int, max_msg_nums: int) -> GetMessageResult:
        """MessageStore#getMessage: at most so many messages from this offset on."""
        ...
