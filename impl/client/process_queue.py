"""ProcessQueue: a consumer's cache of one queue, and its mark of ownership."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CONSUME_START_TIMESTAMP, PROPERTY_MAX_OFFSET
from impl.decisions.java_arithmetic import quotient
from impl.decisions.java_errors import not_null
from impl.decisions.java_text import parse_integer
from impl.hash_map import NoSuchElementError
from impl.ports.threads import Lock

REBALANCE_LOCK_MAX_LIVE_TIME_MS = 30000  # property rocketmq.client.rebalance.lockMaxLiveTime
REBALANCE_LOCK_INTERVAL_MS = 20000  # property rocketmq.client.rebalance.lockInterval
PULL_MAX_IDLE_TIME_MS = 120000  # property rocketmq.client.pull.pullMaxIdleTime
CLEAN_EXPIRED_BATCH = 16  # ProcessQueue#cleanExpiredMsg looks at no more messages in one run
BYTES_PER_MIB = 1024 * 1024
LONG_BITS = 64


class TreeMap:
    """java.util.TreeMap from offset to message."""

    __slots__ = ("_messages", "_offsets")

    def __init__(self) -> None:
        """Start empty."""
        self._offsets: list[int] = []
        self._messages: dict[int, MessageExt] = {}

    def put(self, offset: int, message: MessageExt) -> MessageExt | None:
        """Map#put: the message that was there, or None."""
        previous = self._messages.get(offset)
        if previous is None:
            insort(self._offsets, offset)
        self._messages[offset] = message
        return previous

    def remove(self, offset: int) -> MessageExt | None:
        """Map#remove: the message that was there, or None."""
        message = self._messages.pop(offset, None)
        if message is not None:
            del self._offsets[bisect_left(self._offsets, offset)]
        return message

    def first_key(self) -> int:
        """TreeMap#firstKey; raises NoSuchElementError."""
        return self._key_at(0)

    def last_key(self) -> int:
        """TreeMap#lastKey; raises NoSuchElementError."""
        return self._key_at(-1)

    def _key_at(self, place: int) -> int:
        if not self._offsets:
            raise NoSuchElementError
        return self._offsets[place]

    def poll_first(self) -> MessageExt | None:
        """TreeMap#pollFirstEntry: its message."""
        return self.remove(self._offsets[0]) if self._offsets else None

    def first(self) -> MessageExt:
        """TreeMap#firstEntry: its message; raises NoSuchElementError."""
        return self._messages[self.first_key()]

    def values(self) -> list[MessageExt]:
        """The messages by ascending offset."""
        return [self._messages[offset] for offset in self._offsets]

    def clear(self) -> None:
        """Map#clear."""
        self._offsets.clear()
        self._messages.clear()

    def __len__(self) -> int:
        """Map#size."""
        return len(self._offsets)


@dataclass(slots=True)
class ProcessQueueInfo:
    """`common.protocol.body.ProcessQueueInfo`: what an operator is shown; offsets of an empty part are 0."""

    cached_msg_min_offset: int = 0
    cached_msg_max_offset: int = 0
    cached_msg_count: int = 0
    cached_msg_size_in_mib: int = 0
    transaction_msg_min_offset: int = 0
    transaction_msg_max_offset: int = 0
    transaction_msg_count: int = 0
    locked: bool = False
    try_unlock_times: int = 0
    last_lock_timestamp: int = 0
    dropped: bool = False
    last_pull_timestamp: int = 0
    last_consume_timestamp: int = 0


@dataclass(slots=True, eq=False)
class ProcessQueue:
    """`client.impl.consumer.ProcessQueue`. treeMapLock makes each method one step; the flags are volatile fields.

    now_ms -- the clock of the client.

    msg_tree_map -- cached and not yet acknowledged; for an orderly consumer, not yet taken.
    consuming_msg_orderly_tree_map -- taken by an orderly consumer, not yet committed.
    msg_count, msg_size_bytes -- of both. queue_offset_max -- the offset put last that was new, not a maximum.
    dropped -- the queue has been taken away; nothing sets it back. locked -- the broker's lock is held, as last heard.
    consuming -- a consume task is on its way; only orderly consumers look at it.
    msg_acc_cnt -- messages in the broker behind the last one of the last put.
    consume_lock -- held while an orderly listener runs. try_unlock_times -- vain attempts to take the queue from one.
    last_pull_timestamp, last_consume_timestamp, last_lock_timestamp -- milliseconds since 1970, first of construction.
    """

    now_ms: Callable[[], int]
    msg_tree_map: TreeMap = field(default_factory=TreeMap)
    consuming_msg_orderly_tree_map: TreeMap = field(default_factory=TreeMap)
    msg_count: int = 0
    msg_size_bytes: int = 0
    queue_offset_max: int = 0
    dropped: bool = False
    locked: bool = False
    consuming: bool = False
    msg_acc_cnt: int = 0
    consume_lock: Lock = field(default_factory=lambda: Lock("ProcessQueue.consumeLock"))
    try_unlock_times: int = 0
    last_pull_timestamp: int = field(init=False)
    last_consume_timestamp: int = field(init=False)
    last_lock_timestamp: int = field(init=False)

    def __post_init__(self) -> None:
        """All three times are now."""
        self.last_pull_timestamp = self.last_consume_timestamp = self.last_lock_timestamp = self.now_ms()

    def is_lock_expired(self) -> bool:
        """ProcessQueue#isLockExpired: not renewed for 30 s."""
        return self.now_ms() - self.last_lock_timestamp > REBALANCE_LOCK_MAX_LIVE_TIME_MS

    def is_pull_expired(self) -> bool:
        """ProcessQueue#isPullExpired: not pulled for 120 s."""
        return self.now_ms() - self.last_pull_timestamp > PULL_MAX_IDLE_TIME_MS

    def put_message(self, msgs: Sequence[MessageExt]) -> bool:
        """ProcessQueue#putMessage: whether a consume task is to be submitted.

        An offset that is pulled again replaces the message and is not counted. Raises NullPointerError at a message
        without a body and NumberFormatError at a MAX_OFFSET that is no number; what was done so far stays.
        """
        valid_msg_cnt = 0
        for msg in msgs:
            if self.msg_tree_map.put(msg.queue_offset, msg) is None:
                valid_msg_cnt += 1
                self.queue_offset_max = msg.queue_offset
                self.msg_size_bytes += len(not_null(msg.body))
        self.msg_count += valid_msg_cnt
        dispatch_to_consume = bool(self.msg_tree_map) and not self.consuming
        self.consuming |= dispatch_to_consume
        if msgs:
            self._note_accumulation(msgs[-1])
        return dispatch_to_consume

    def _note_accumulation(self, last: MessageExt) -> None:
        max_offset = last.get_property(PROPERTY_MAX_OFFSET)
        if max_offset is not None:
            acc_total = parse_integer(max_offset, LONG_BITS) - last.queue_offset
            if acc_total > 0:
                self.msg_acc_cnt = acc_total

    def get_max_span(self) -> int:
        """ProcessQueue#getMaxSpan: last cached offset less the first, 0 without messages."""
        return self.msg_tree_map.last_key() - self.msg_tree_map.first_key() if self.msg_tree_map else 0

    def remove_message(self, msgs: Iterable[MessageExt]) -> int:
        """ProcessQueue#removeMessage: the offset up to which everything is settled; -1 if nothing was cached.

        A removed message without a body ends it half way, before anything is counted off: Java swallows the exception.
        """
        self.last_consume_timestamp = self.now_ms()
        if not self.msg_tree_map:
            return -1
        removed_cnt = 0
        for msg in msgs:
            if self.msg_tree_map.remove(msg.queue_offset) is not None:
                removed_cnt += 1
                if msg.body is None:
                    return self.queue_offset_max + 1
                self.msg_size_bytes -= len(msg.body)
        self.msg_count -= removed_cnt
        return self.msg_tree_map.first_key() if self.msg_tree_map else self.queue_offset_max + 1

    def take_messages(self, batch_size: int) -> list[MessageExt]:
        """ProcessQueue#takeMessages: the first ones become taken; without any, no task is on its way any more."""
        self.last_consume_timestamp = self.now_ms()
        result: list[MessageExt] = []
        while len(result) < batch_size and (msg := self.msg_tree_map.poll_first()) is not None:
            result.append(msg)
            self.consuming_msg_orderly_tree_map.put(msg.queue_offset, msg)
        if not result:
            self.consuming = False
        return result

    def commit(self) -> int:
        """ProcessQueue#commit: everything taken is settled; the offset behind it.

        Raises NoSuchElementError if nothing was taken, as after a clear by another thread.
        """
        taken = self.consuming_msg_orderly_tree_map
        offset = taken.last_key()
        self.msg_count -= len(taken)
        for msg in taken.values():
            self.msg_size_bytes -= len(not_null(msg.body))
        taken.clear()
        return offset + 1

    def rollback(self) -> None:
        """ProcessQueue#rollback: everything taken is cached again."""
        self._untake(self.consuming_msg_orderly_tree_map.values())

    def make_message_to_consume_again(self, msgs: Iterable[MessageExt]) -> None:
        """ProcessQueue#makeMessageToConsumeAgain: these are cached again, whether or not they were taken."""
        self._untake(msgs)

    def _untake(self, msgs: Iterable[MessageExt]) -> None:
        for msg in msgs:
            self.consuming_msg_orderly_tree_map.remove(msg.queue_offset)
            self.msg_tree_map.put(msg.queue_offset, msg)

    def has_temp_message(self) -> bool:
        """ProcessQueue#hasTempMessage."""
        return bool(self.msg_tree_map)

    def clear(self) -> None:
        """ProcessQueue#clear."""
        self.msg_tree_map.clear()
        self.consuming_msg_orderly_tree_map.clear()
        self.msg_count = self.msg_size_bytes = self.queue_offset_max = 0

    def first_expired_msg(self, consume_timeout_minutes: int) -> MessageExt | None:
        """The look of ProcessQueue#cleanExpiredMsg: the first message, if a listener got it too long ago.

        The caller sends it back, without the lock, and then calls remove_if_first; all at most 16 times.
        """
        if not self.msg_tree_map:
            return None
        msg = self.msg_tree_map.first()
        start = msg.get_property(PROPERTY_CONSUME_START_TIMESTAMP)
        if start and self.now_ms() - parse_integer(start, LONG_BITS) > consume_timeout_minutes * 60 * 1000:
            return msg
        return None

    def remove_if_first(self, msg: MessageExt) -> bool:
        """The removal of ProcessQueue#cleanExpiredMsg, if it is one; the offset it would answer is used by nobody."""
        is_first = bool(self.msg_tree_map) and self.msg_tree_map.first_key() == msg.queue_offset
        if is_first:
            self.remove_message([msg])
        return is_first

    def fill_process_queue_info(self) -> ProcessQueueInfo:
        """ProcessQueue#fillProcessQueueInfo."""
        info = ProcessQueueInfo()
        cached, taken = self.msg_tree_map, self.consuming_msg_orderly_tree_map
        if cached:
            info.cached_msg_min_offset, info.cached_msg_max_offset = cached.first_key(), cached.last_key()
            info.cached_msg_count = len(cached)
            info.cached_msg_size_in_mib = quotient(self.msg_size_bytes, BYTES_PER_MIB)
        if taken:
            info.transaction_msg_min_offset, info.transaction_msg_max_offset = taken.first_key(), taken.last_key()
            info.transaction_msg_count = len(taken)
        info.locked, info.dropped = self.locked, self.dropped
        info.try_unlock_times = self.try_unlock_times
        info.last_lock_timestamp = self.last_lock_timestamp
        info.last_pull_timestamp = self.last_pull_timestamp
        info.last_consume_timestamp = self.last_consume_timestamp
        return info
