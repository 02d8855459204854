"""What is promised of producers: which queue they send to."""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    fault_strategy,
    message_queue,
    queue_selection,
)
from impl.decisions.java_errors import IndexOutOfBoundsError
from invariants.claim import assume, decision
from invariants.domains import INT_MAX, INT_MIN, Count, Int32, Integers, Long, NotNegativeLong

Size = Annotated[int, Integers(1, INT_MAX, (1, 2, 3, 4, 5, INT_MAX))]
Small = Annotated[int, Integers(1, 4)]


@decision(of=queue_selection.position, promises="queue_index_is_in_range")
def position_is_in_range(size: Size, index: Int32) -> bool:
    """Every counter value picks an existing position, that of its turn; a negative remainder is taken for the first."""
    place = queue_selection.position(index, size)
    turn = (abs(index) - place) % size == 0
    return 0 <= place < size and (turn or (index == INT_MIN and place == 0))


@decision(of=queue_selection.plain_position, promises="queue_index_is_in_range")
def plain_pick_is_in_range(size: Size, index: Int32) -> bool:
    """A plain pick steps the counter, which wraps, and picks an existing position, that of the new count."""
    counter, place = queue_selection.plain_position(index, size)
    stepped = counter == (index + 1 if index < INT_MAX else INT_MIN)
    return stepped and 0 <= place < size and place == queue_selection.position(counter, size)


@decision(of=queue_selection.hash_position, promises="queue_index_is_in_range")
def hash_pick_is_in_range(size: Size, hash_code: Int32) -> bool:
    """SelectMessageQueueByHash picks an existing position for every hash code: its remainder without the sign."""
    place = queue_selection.hash_position(hash_code, size)
    return 0 <= place < size and (abs(hash_code) - place) % size == 0


@decision(of=queue_selection.write_queue_id, promises="queue_index_is_in_range")
def written_queue_id_is_in_range_before_the_wrap(write_queue_nums: Size, index: Int32) -> bool:
    """Before the counter reaches the least int, the queue id that the latency strategy writes is that of its turn."""
    assume(index > INT_MIN)
    queue_id = queue_selection.write_queue_id(index, write_queue_nums)
    return 0 <= queue_id < write_queue_nums and (abs(index) - queue_id) % write_queue_nums == 0


@decision(of=queue_selection.write_queue_id, promises="queue_index_is_in_range", shipped="violated: Q-1")
def written_queue_id_is_in_range(write_queue_nums: Size, index: Int32) -> bool:
    """The queue id that the latency fault strategy writes into the shared list exists at the broker."""
    return 0 <= queue_selection.write_queue_id(index, write_queue_nums) < write_queue_nums


@decision(of=fault_strategy.pick_one_at_least, promises="queue_index_is_in_range", shipped="violated: Q-1",
          few={"items": range(9)})
def least_bad_broker_is_found(items: Annotated[int, Integers(0, 8)], index: Int32) -> bool:
    """With any fault item at all, pickOneAtLeast names a broker; it never runs out of its list."""
    known = [fault_strategy.FaultItem(f"broker-{number}", number, number) for number in range(items)]
    counter = queue_selection.ThreadLocalIndex(index)
    try:
        return (fault_strategy.pick_one_at_least(known, 0, counter) is None) == (not known)
    except IndexOutOfBoundsError:
        return False


@decision(of=fault_strategy.pick_one_at_least, promises="queue_index_is_in_range", few={"items": range(1, 9)})
def least_bad_broker_is_of_the_better_half(items: Annotated[int, Integers(1, 8)], index: Int32) -> bool:
    """Before the counter wraps, pickOneAtLeast names a broker of the better half, or the better one of two."""
    assume(index >= 0, index < INT_MAX)
    known = [fault_strategy.FaultItem(str(number), 9 - number, 0) for number in range(items)]
    picked = fault_strategy.pick_one_at_least(known, 0, queue_selection.ThreadLocalIndex(index))
    better = max(items // 2, 1)
    return picked == str(items - 1 - (index + 1) % better)


@decision(of=queue_selection.position, promises="retry_avoids_failed_broker")
def picks_visit_every_position(size: Size, healthy: Count, index: Int32) -> bool:
    """While the counter neither wraps nor changes its sign, n picks in a row visit each of n positions."""
    assume(healthy < size, index >= 0, index + size <= INT_MAX)
    more = (healthy - index - 1) % size
    counter = queue_selection.next_index(index + more)
    return queue_selection.position(queue_selection.answered_index(counter), size) == healthy


@decision(of=queue_selection.avoiding_position, promises="retry_avoids_failed_broker")
def retry_finds_the_other_broker_before_the_wrap(size: Small, healthy: Count, index: Int32) -> bool:
    """If one of up to four queues is at another broker, a retry picks it while the counter does not wrap."""
    assume(healthy < size, index >= 0, index + size < INT_MAX)
    counter, place = queue_selection.avoiding_position(index, size, lambda position: position != healthy)
    return place == healthy and index < counter <= index + size


@decision(of=queue_selection.avoiding_position, promises="retry_avoids_failed_broker")
def retry_goes_on_when_all_failed(size: Small, index: Int32) -> bool:
    """If every queue is at the failed broker, a retry picks one in turn, after as many picks as there are queues."""
    assume(index >= 0, index + size < INT_MAX)
    counter, place = queue_selection.avoiding_position(index, size, lambda _: True)
    return counter == index + size + 1 and place == counter % size


@decision(of=queue_selection.avoiding_position, promises="retry_avoids_failed_broker", shipped="violated: Q-2")
def retry_finds_the_other_broker(size: Small, healthy: Count, index: Int32) -> bool:
    """If one of up to four queues is at another broker, a retry picks it, whatever the counter says."""
    assume(healthy < size)
    _, place = queue_selection.avoiding_position(index, size, lambda position: position != healthy)
    return place == healthy


def _producer(index: int, *, enabled: bool) -> tuple[fault_strategy.MQFaultStrategy, queue_selection.TopicPublishInfo]:
    """A producer that knows one queue at each of the brokers a and b."""
    tolerance = fault_strategy.LatencyFaultTolerance(queue_selection.ThreadLocalIndex(0))
    queues = [message_queue.MessageQueue("T", broker, 0) for broker in ("a", "b")]
    info = queue_selection.TopicPublishInfo(queues, queue_selection.ThreadLocalIndex(index), (("a", 1), ("b", 1)))
    return fault_strategy.MQFaultStrategy(tolerance, send_latency_fault_enable=enabled), info


@decision(of=fault_strategy.MQFaultStrategy.select_one_position, promises="retry_avoids_failed_broker")
def retry_leaves_the_last_broker_by_default(index: Int32, failed_first: bool) -> bool:
    """With the latency fault strategy off, of two brokers a retry picks the other one, whatever the counter says."""
    strategy, info = _producer(index, enabled=False)
    last, other = ("a", "b") if failed_first else ("b", "a")
    return info.message_queue_list[strategy.select_one_position(info, last, 0)].broker_name == other


@decision(of=fault_strategy.MQFaultStrategy.select_one_position, promises="retry_avoids_failed_broker")
def shunned_broker_is_left_alone(index: Int32, failed_first: bool, now: Annotated[int, Integers(0, 700_000)]) -> bool:
    """With the latency fault strategy on, no broker is picked within ten minutes of its failure if there is another."""
    strategy, info = _producer(index, enabled=True)
    failed, other = ("a", "b") if failed_first else ("b", "a")
    strategy.update_fault_item(failed, 3, isolation=True, now_ms=0)
    picked = info.message_queue_list[strategy.select_one_position(info, None, now)].broker_name
    return picked == other or now >= LONGEST_MS


@decision(of=fault_strategy.MQFaultStrategy.select_one_position, promises="retry_avoids_failed_broker")
def least_bad_broker_is_taken(index: Int32, slower_first: bool, asked: bool) -> bool:
    """With the latency fault strategy on and all brokers shunned, the one that was quicker is picked."""
    strategy, info = _producer(index, enabled=True)
    slower, quicker = ("a", "b") if slower_first else ("b", "a")
    strategy.update_fault_item(slower, 9, isolation=True, now_ms=0)
    strategy.update_fault_item(quicker, 3, isolation=True, now_ms=0)
    picked = strategy.select_one_position(info, slower if asked else None, 1)
    return info.message_queue_list[picked].broker_name == quicker


@decision(of=fault_strategy.MQFaultStrategy.select_one_position, promises="retry_avoids_failed_broker",
          shipped="violated: Q-3")
def retry_leaves_a_quick_broker(index: Int32) -> bool:
    """With the latency fault strategy on, a retry avoids the broker of the last attempt, also one that was quick."""
    strategy, info = _producer(index, enabled=True)
    strategy.update_fault_item("a", 1, isolation=False, now_ms=0)
    return info.message_queue_list[strategy.select_one_position(info, "a", 0)].broker_name == "b"


LONGEST_MS = 600_000


@decision(of=fault_strategy.compute_not_available_duration, promises="backoff_is_monotone")
def backoff_is_monotone(quicker: Long, slower: Long) -> bool:
    """A slower send never shuns its broker for a shorter time, and never for more than ten minutes."""
    assume(quicker <= slower)
    short = fault_strategy.compute_not_available_duration(quicker)
    return 0 <= short <= fault_strategy.compute_not_available_duration(slower) <= LONGEST_MS


BACKOFF_MS = ((50, 0), (100, 0), (550, 30_000), (1000, 60_000), (2000, 120_000), (3000, 180_000), (15_000, 600_000))
"""A latency from which on a broker is shunned, and for how long."""


@decision(of=fault_strategy.compute_not_available_duration, promises="backoff_is_monotone",
          few={"latency": (-1, 0, 49, 50, 99, 100, 549, 550, 999, 1000, 1999, 2000, 2999, 3000, 14_999, 15_000)})
def backoff_follows_the_table(latency: Long) -> bool:
    """A broker is shunned for the time that belongs to the largest latency of the table that was reached."""
    reached = [shunned for least, shunned in BACKOFF_MS if latency >= least]
    return fault_strategy.compute_not_available_duration(latency) == (reached[-1] if reached else 0)


@decision(of=fault_strategy.update_duration, promises="backoff_is_monotone")
def failed_send_is_shunned_longest(latency: Long, other: Long) -> bool:
    """A send that failed shuns its broker for ten minutes, as long as the slowest, whatever was measured."""
    slow = fault_strategy.update_duration(other, isolation=False)
    return (slow == fault_strategy.compute_not_available_duration(other)
            and fault_strategy.update_duration(latency, isolation=True) == LONGEST_MS >= slow)


@decision(of=fault_strategy.FaultItem.compare_to, promises="fault_items_are_ordered")
def fault_items_are_ordered(latency: Count, start: NotNegativeLong, other_latency: Count, other_start: NotNegativeLong,
                            now: NotNegativeLong) -> bool:
    """At one instant the comparison of two fault items changes its sign with the order of the two."""
    one = fault_strategy.FaultItem("a", latency, start)
    other = fault_strategy.FaultItem("b", other_latency, other_start)
    return one.compare_to(other, now) == -other.compare_to(one, now)


@decision(of=fault_strategy.FaultItem.compare_to, promises="fault_items_are_ordered")
def better_broker_comes_first(latency: Count, start: NotNegativeLong, other_latency: Count,
                              other_start: NotNegativeLong, now: NotNegativeLong) -> bool:
    """Available brokers come first, then those that were quicker, then those that are available earlier."""
    one = fault_strategy.FaultItem("a", latency, start)
    answer = one.compare_to(fault_strategy.FaultItem("b", other_latency, other_start), now)
    if (start <= now) != (other_start <= now):
        return (answer < 0) == (start <= now)
    if latency != other_latency:
        return (answer < 0) == (latency < other_latency)
    return (answer < 0) == (start < other_start) and (answer == 0) == (start == other_start)
