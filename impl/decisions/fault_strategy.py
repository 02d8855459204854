"""The latency fault strategy of a producer: how long to shun a broker, and which queue to take instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key

from impl.decisions.java_arithmetic import remainder, wrap32, wrap64
from impl.decisions.java_errors import (
    ArrayIndexOutOfBoundsError,
    IndexOutOfBoundsError,
    JavaError,
    not_null,
)
from impl.decisions.message_queue import MessageQueue
from impl.decisions.queue_selection import ThreadLocalIndex, TopicPublishInfo, position, write_queue_id

LATENCY_MAX_MS = (50, 100, 550, 1000, 2000, 3000, 15000)  # MQFaultStrategy#latencyMax
NOT_AVAILABLE_DURATION_MS = (0, 0, 30000, 60000, 120000, 180000, 600000)  # MQFaultStrategy#notAvailableDuration
ISOLATION_LATENCY_MS = 30000  # MQFaultStrategy#updateFaultItem


def compute_not_available_duration(
    latency_ms: int, latency_max_ms: Sequence[int] = LATENCY_MAX_MS,
    not_available_duration_ms: Sequence[int] = NOT_AVAILABLE_DURATION_MS,
) -> int:
    """Milliseconds to shun a broker after a send that took latency_ms; MQFaultStrategy#computeNotAvailableDuration.

    Raises ArrayIndexOutOfBoundsError when the second table is too short: nobody compares their lengths.
    """
    for i in range(len(latency_max_ms) - 1, -1, -1):
        if latency_ms >= latency_max_ms[i]:
            if i >= len(not_available_duration_ms):
                raise ArrayIndexOutOfBoundsError(
                    f"Index {i} out of bounds for length {len(not_available_duration_ms)}",
                )
            return not_available_duration_ms[i]
    return 0


def update_duration(latency_ms: int, *, isolation: bool) -> int:
    """The duration for a fault item; a failed send counts as ISOLATION_LATENCY_MS. MQFaultStrategy#updateFaultItem."""
    return compute_not_available_duration(ISOLATION_LATENCY_MS if isolation else latency_ms)


def available_at(start_timestamp_ms: int, now_ms: int) -> bool:
    """LatencyFaultToleranceImpl.FaultItem#isAvailable."""
    return wrap64(now_ms - start_timestamp_ms) >= 0


@dataclass(frozen=True, slots=True)
class FaultItem:
    """`LatencyFaultToleranceImpl.FaultItem`: a broker, its last latency, and the time from which it is available."""

    name: str
    current_latency_ms: int
    start_timestamp_ms: int

    def compare_to(self, other: FaultItem, now_ms: int) -> int:
        """FaultItem#compareTo: available ones first, then lower latency, then earlier start."""
        available = available_at(self.start_timestamp_ms, now_ms)
        if available != available_at(other.start_timestamp_ms, now_ms):
            return -1 if available else 1
        if self.current_latency_ms != other.current_latency_ms:
            return -1 if self.current_latency_ms < other.current_latency_ms else 1
        if self.start_timestamp_ms != other.start_timestamp_ms:
            return -1 if self.start_timestamp_ms < other.start_timestamp_ms else 1
        return 0


def pick_one_at_least(items: Iterable[FaultItem], now_ms: int, which_item_worst: ThreadLocalIndex) -> str | None:
    """A broker out of the better half, in turn; None when there is no item; LatencyFaultToleranceImpl#pickOneAtLeast.

    items -- in the order that Java's shuffle left; it decides between items that compare equal.
    Raises IndexOutOfBoundsError when the counter answers the least int and half is no power of two.
    """

    def compare(item: FaultItem, other: FaultItem) -> int:
        return item.compare_to(other, now_ms)

    ranked = sorted(items, key=cmp_to_key(compare))
    if not ranked:
        return None
    half = len(ranked) // 2
    if half <= 0:
        return ranked[0].name
    place = remainder(which_item_worst.increment_and_get(), half)
    if place < 0:
        raise IndexOutOfBoundsError(f"Index: {place}, Size: {len(ranked)}")
    return ranked[place].name


@dataclass
class LatencyFaultTolerance:
    """`LatencyFaultToleranceImpl`: fault items by broker name, and the counter over the better half."""

    which_item_worst: ThreadLocalIndex
    fault_item_table: dict[str, FaultItem] = field(default_factory=dict)

    def update_fault_item(self, name: str | None, latency_ms: int, not_available_duration_ms: int, now_ms: int) -> None:
        """LatencyFaultToleranceImpl#updateFaultItem; raises NullPointerError for a null name."""
        name = not_null(name)
        self.fault_item_table[name] = FaultItem(name, latency_ms, wrap64(now_ms + not_available_duration_ms))

    def is_available(self, name: str | None, now_ms: int) -> bool:
        """LatencyFaultToleranceImpl#isAvailable: a broker without an item is available; raises for a null name."""
        item = self.fault_item_table.get(not_null(name))
        return item is None or available_at(item.start_timestamp_ms, now_ms)

    def remove(self, name: str | None) -> None:
        """LatencyFaultToleranceImpl#remove; raises NullPointerError for a null name."""
        self.fault_item_table.pop(not_null(name), None)

    def pick_one_at_least(self, now_ms: int) -> str | None:
        """LatencyFaultToleranceImpl#pickOneAtLeast, with the items in the order of their names."""
        items = [self.fault_item_table[name] for name in sorted(self.fault_item_table)]
        return pick_one_at_least(items, now_ms, self.which_item_worst)


@dataclass
class MQFaultStrategy:
    """`client.latency.MQFaultStrategy` with the default tables.

    send_latency_fault_enable -- off by default: then only the broker of the last attempt is avoided.
    """

    latency_fault_tolerance: LatencyFaultTolerance
    send_latency_fault_enable: bool = False

    def update_fault_item(self, broker_name: str | None, latency_ms: int, *, isolation: bool, now_ms: int) -> None:
        """MQFaultStrategy#updateFaultItem: the measured latency is stored also for a failed send."""
        if self.send_latency_fault_enable:
            duration_ms = update_duration(latency_ms, isolation=isolation)
            self.latency_fault_tolerance.update_fault_item(broker_name, latency_ms, duration_ms, now_ms)

    def select_one_position(self, info: TopicPublishInfo, last_broker_name: str | None, now_ms: int) -> int:
        """The position of the queue to send to, in info's list; MQFaultStrategy#selectOneMessageQueue.

        With the strategy on, last_broker_name is ignored and the element at the answered position may have been
        replaced by a queue of another broker. What that branch throws is swallowed.
        """
        if not self.send_latency_fault_enable:
            return info.select_one_position_avoiding(last_broker_name)
        try:
            place = self._available_or_least_bad(info, now_ms)
        except JavaError:
            place = None
        return info.select_one_position() if place is None else place

    def _available_or_least_bad(self, info: TopicPublishInfo, now_ms: int) -> int | None:
        queues, tolerance = info.message_queue_list, self.latency_fault_tolerance
        index = info.send_which_queue.increment_and_get()
        for step in range(len(queues)):
            place = position(wrap32(index + step), len(queues))
            if tolerance.is_available(queues[place].broker_name, now_ms):
                return place
        not_best_broker = tolerance.pick_one_at_least(now_ms)
        write_queue_nums = info.get_queue_id_by_broker(not_best_broker)
        if write_queue_nums <= 0:
            tolerance.remove(not_best_broker)
            return None
        place = info.select_one_position()
        if not_best_broker is not None:
            info.send_which_queue.increment_and_get()
            queue_id = write_queue_id(info.send_which_queue.index, write_queue_nums)
            queues[place] = MessageQueue(queues[place].topic, not_best_broker, queue_id)
        return place
