"""What is promised of RocketMQ's decisions, for all inputs: claims over the functions of impl.decisions.

Allocation speaks of n queues, m members, member i or j (the first position in the list of members) and queue k (the
position in the list of queues), all counted from 0, under the premise that every member sees the same sorted lists of
distinct elements. invariants/allocation.py says the same of whole strategies, and what happens without the premise.

A claim that the shipped code violates names its hazards; beside it stands the claim with the premise under which the
same code is right, so that both sides of the border are judged.
"""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    allocation,
    disk_cleanup,
    fault_strategy,
    java_arithmetic,
    message_queue,
    pull_answer,
    queue_selection,
    retry_level,
    start_offset,
    suggestion,
)
from impl.decisions.java_errors import IndexOutOfBoundsError
from impl.decisions.pull_answer import GetMessageStatus, PullCode
from impl.decisions.start_offset import ConsumeFromWhere, Source
from invariants import delivery_decisions, store_decisions  # noqa: F401  their claims belong to these
from invariants.claim import assume, decision
from invariants.domains import INT_MAX, INT_MIN, LONG_MAX, Count, Int32, Integers, Long, NotNegativeLong, Positive

Queues = Annotated[int, Integers(0, None, tuple(range(10)))]
Positions = Annotated[int, Integers(0, None, tuple(range(10)))]
Size = Annotated[int, Integers(1, INT_MAX, (1, 2, 3, 4, 5, INT_MAX))]
Small = Annotated[int, Integers(1, 4)]
RingSize = Annotated[int, Integers(1, 3)]
Joiner = Annotated[int, Integers(0, None)]
RingPosition = Annotated[int, Integers(0, 2**32 - 1, (0, 1, 2, 2**32 - 1))]
DiskUsage = Annotated[int, Integers(-1, 100, (-1, 0, 75, 76, 85, 86, 90, 91, 100))]
Percent = Annotated[int, Integers(0, 100, (0, 1, 74, 75, 76, 84, 85, 86, 89, 90, 91, 100))]
MaxUsed = Annotated[int, Integers(10, 95, (10, 75, 91, 95))]
Level = Annotated[int, Integers(1, 18)]


# Java's arithmetic ----------------------------------------------------------------------------------------------------


@decision(of=(java_arithmetic.quotient, java_arithmetic.remainder), promises="java_arithmetic_follows_the_language")
def java_division_is_exact(dividend: Long, divisor: Long) -> bool:
    """Quotient times divisor plus remainder is the dividend; the remainder is smaller and has the dividend's sign."""
    assume(divisor != 0)
    quotient = java_arithmetic.quotient(dividend, divisor)
    remainder = java_arithmetic.remainder(dividend, divisor)
    small = abs(remainder) < abs(divisor)
    signed = remainder == 0 or (remainder > 0) == (dividend > 0)
    return small and signed and quotient * divisor + remainder == dividend


@decision(of=(java_arithmetic.wrap32, java_arithmetic.absolute32), promises="java_arithmetic_follows_the_language",
          few={"number": (0, 1, -1, INT_MAX, INT_MAX + 1, INT_MIN, INT_MIN - 1, 2**32, 3 * 2**31 + 5, LONG_MAX)})
def java_int_wraps(number: Long) -> bool:
    """A wrapped number is an int that differs by a multiple of 2³²; only the least int has no positive absolute."""
    wrapped = java_arithmetic.wrap32(number)
    absolute = java_arithmetic.absolute32(wrapped)
    return (INT_MIN <= wrapped <= INT_MAX and (number - wrapped) % 2**32 == 0
            and (absolute >= 0) == (wrapped != INT_MIN) and absolute in (wrapped, -wrapped))


# Averagely ------------------------------------------------------------------------------------------------------------


@decision(of=(allocation.averagely_owns, allocation.averagely_range), promises="allocation_is_exclusive")
def averagely_is_exclusive(n: Queues, m: Positive, i: Count, j: Count, k: Positions) -> bool:
    """AVG: two different members never own the same queue."""
    assume(i < j, j < m, k < n)
    return not (allocation.averagely_owns(n, m, i, k) and allocation.averagely_owns(n, m, j, k))


@decision(of=(allocation.averagely_owns, allocation.averagely_range), promises="allocation_is_total")
def averagely_is_total(n: Queues, m: Positive, k: Positions) -> bool:
    """AVG: every queue has an owner, namely k div (q+1) below r(q+1), and r + (k - r(q+1)) div q from there on."""
    assume(k < n)
    q, r = n // m, n % m
    owner = k // (q + 1) if k < r * (q + 1) else r + (k - r * (q + 1)) // q
    return 0 <= owner < m and allocation.averagely_owns(n, m, owner, k)


@decision(of=allocation.averagely_range, promises="allocation_is_total")
def averagely_blocks_join_up(n: Queues, m: Positive, i: Count) -> bool:
    """AVG: the first block starts at 0, each block starts where the one before ends, and the last one ends at n."""
    assume(i < m, i < n)
    start, length = allocation.averagely_range(n, m, i)
    if i == 0 and start != 0:
        return False
    if i == m - 1 or i == n - 1:
        return start + length == n
    return allocation.averagely_range(n, m, i + 1)[0] == start + length


@decision(of=allocation.averagely_range, promises="allocation_is_balanced")
def averagely_is_balanced(n: Queues, m: Positive, i: Count, j: Count) -> bool:
    """AVG: the shares of two members differ by at most one queue."""
    assume(i < j, j < m)
    mine, theirs = allocation.averagely_range(n, m, i)[1], allocation.averagely_range(n, m, j)[1]
    return -1 <= max(mine, 0) - max(theirs, 0) <= 1


@decision(of=allocation.averagely_range, promises="allocation_is_in_range")
def averagely_stays_in_range(n: Queues, m: Positive, i: Count) -> bool:
    """AVG: a block that is not empty lies within the list, so that the index modulo n never wraps."""
    assume(i < m)
    start, length = allocation.averagely_range(n, m, i)
    return length <= 0 or (start >= 0 and start + length <= n)


@decision(of=allocation.averagely_range, promises="allocation_does_not_overflow")
def averagely_fits_an_int(n: Queues, m: Positive, i: Count) -> bool:
    """AVG: while n + m is an int, so is every number that Java computes on the way (products are at most the start)."""
    assume(i < m, n + m <= INT_MAX)
    start, length = allocation.averagely_range(n, m, i)
    return 0 <= start <= INT_MAX and n - start >= INT_MIN and INT_MIN <= length <= INT_MAX


@decision(of=allocation.averagely_owns, promises="allocation_moves_minimally", shipped="violated: A-1")
def averagely_moves_minimally(n: Queues, m: Positive, p: Joiner, i: Count, k: Positions) -> bool:
    """AVG: when a member joins at position p, a queue keeps its owner or goes to the joiner."""
    assume(p <= m, i < m, k < n, allocation.averagely_owns(n, m + 1, i if i < p else i + 1, k))
    return allocation.averagely_owns(n, m, i, k)


# Averagely by circle --------------------------------------------------------------------------------------------------


@decision(of=allocation.circle_owns, promises="allocation_is_exclusive")
def circle_is_exclusive(n: Queues, m: Positive, i: Count, j: Count, k: Positions) -> bool:
    """AVG_BY_CIRCLE: two different members never own the same queue."""
    assume(i < j, j < m, k < n)
    return not (allocation.circle_owns(n, m, i, k) and allocation.circle_owns(n, m, j, k))


@decision(of=allocation.circle_owns, promises="allocation_is_total")
def circle_is_total(n: Queues, m: Positive, k: Positions) -> bool:
    """AVG_BY_CIRCLE: every queue k has an owner, namely k mod m."""
    assume(k < n)
    return allocation.circle_owns(n, m, k % m, k)


@decision(of=allocation.circle_owns, promises="allocation_is_balanced")
def circle_is_balanced(n: Queues, m: Positive, i: Count, j: Count, k: Positions) -> bool:
    """AVG_BY_CIRCLE: shares differ by at most one queue.

    Two injections say so: each queue of a later member lies j - i after one of the earlier member, and each queue of
    the earlier member but its first lies i - j + m after one of the later member.
    """
    assume(i < j, j < m, k < n)
    if allocation.circle_owns(n, m, j, k) and not allocation.circle_owns(n, m, i, k - (j - i)):
        return False
    if k >= m and allocation.circle_owns(n, m, i, k):
        return allocation.circle_owns(n, m, j, k - m + (j - i))
    return True


@decision(of=allocation.circle_owns, promises="allocation_is_in_range")
def circle_stays_in_range(n: Queues, m: Positive, i: Count, k: Annotated[int, Integers(None, None)]) -> bool:
    """AVG_BY_CIRCLE: a member owns positions of the list only."""
    assume(i < m)
    return not allocation.circle_owns(n, m, i, k) or 0 <= k < n


@decision(of=allocation.circle_owns, promises="allocation_moves_minimally", shipped="violated: A-1")
def circle_moves_minimally(n: Queues, m: Positive, p: Joiner, i: Count, k: Positions) -> bool:
    """AVG_BY_CIRCLE: when a member joins at position p, a queue keeps its owner or goes to the joiner."""
    assume(p <= m, i < m, k < n, allocation.circle_owns(n, m + 1, i if i < p else i + 1, k))
    return allocation.circle_owns(n, m, i, k)


# By machine room: n counts the queues whose room is configured --------------------------------------------------------


@decision(of=(allocation.machine_room_owns, allocation.machine_room_range), promises="allocation_is_exclusive")
def machine_room_is_exclusive(n: Queues, m: Positive, i: Count, j: Count, k: Positions) -> bool:
    """MACHINE_ROOM: two different members never own the same eligible queue."""
    assume(i < j, j < m, k < n)
    return not (allocation.machine_room_owns(n, m, i, k) and allocation.machine_room_owns(n, m, j, k))


@decision(of=(allocation.machine_room_owns, allocation.machine_room_range), promises="allocation_is_total")
def machine_room_is_total(n: Queues, m: Positive, k: Positions) -> bool:
    """MACHINE_ROOM: every eligible queue has an owner: k div d below d·m, else k - d·m, where d = n div m."""
    assume(k < n)
    d = n // m
    owner = k // d if k < d * m else k - d * m
    return 0 <= owner < m and allocation.machine_room_owns(n, m, owner, k)


@decision(of=allocation.machine_room_range, promises="allocation_is_balanced")
def machine_room_is_balanced(n: Queues, m: Positive, i: Count, j: Count) -> bool:
    """MACHINE_ROOM: the shares of two members in the eligible queues differ by at most one."""
    assume(i < j, j < m)
    _, mine, my_extra = allocation.machine_room_range(n, m, i)
    _, theirs, their_extra = allocation.machine_room_range(n, m, j)
    return -1 <= mine + (1 if my_extra >= 0 else 0) - theirs - (1 if their_extra >= 0 else 0) <= 1


@decision(of=allocation.machine_room_range, promises="allocation_is_in_range")
def machine_room_stays_in_range(n: Queues, m: Positive, i: Count) -> bool:
    """MACHINE_ROOM: block and extra position lie within the eligible queues, and the extra one is outside the block."""
    assume(i < m)
    start, length, extra = allocation.machine_room_range(n, m, i)
    return start >= 0 and length >= 0 and start + length <= n and (extra == -1 or start + length <= extra < n)


@decision(of=allocation.machine_room_owns, promises="allocation_moves_minimally", shipped="violated: A-1")
def machine_room_moves_minimally(n: Queues, m: Positive, p: Joiner, i: Count, k: Positions) -> bool:
    """MACHINE_ROOM: when a member joins at position p, an eligible queue keeps its owner or goes to the joiner."""
    assume(p <= m, i < m, k < n, allocation.machine_room_owns(n, m + 1, i if i < p else i + 1, k))
    return allocation.machine_room_owns(n, m, i, k)


# Consistent hash: a ring of up to four positions; the step from one ring to the next is what an induction needs -------


@decision(of=allocation.ring_successor, promises="allocation_is_total")
def ring_names_one_owner(a: RingPosition, b: RingPosition, c: RingPosition, count: RingSize,
                         point: RingPosition) -> bool:
    """CONSISTENT_HASH: every queue has exactly one place on the ring, the first position from its own one clockwise."""
    assume(a < b, b < c)
    positions = [a, b, c][:count]
    chosen = allocation.ring_successor(positions, point)
    distance = (positions[chosen] - point) % 2**32
    return all(distance <= (position - point) % 2**32 for position in positions)


@decision(of=allocation.ring_successor, promises="allocation_moves_minimally")
def ring_moves_minimally(a: RingPosition, b: RingPosition, c: RingPosition, joiner: RingPosition,
                         point: RingPosition) -> bool:
    """CONSISTENT_HASH: a new position on the ring takes queues, and no queue goes elsewhere."""
    assume(a < b, b < c, joiner not in (a, b, c))
    before = [a, b, c]
    after = [*(x for x in before if x < joiner), joiner, *(x for x in before if x > joiner)]
    owner = after[allocation.ring_successor(after, point)]
    return owner in (joiner, before[allocation.ring_successor(before, point)])


# The order of the lists -----------------------------------------------------------------------------------------------


@decision(of=message_queue.MessageQueue.compare_to, promises="queue_order_is_total")
def queues_are_ordered(first: Int32, second: Int32, same_broker: bool, same_topic: bool) -> bool:
    """Queues are ordered by topic, then broker, then id (from 0 on), so that all members sort alike."""
    assume(first >= 0, second >= 0)
    one = message_queue.MessageQueue("S", "a", first)
    other = message_queue.MessageQueue("S" if same_topic else "T", "a" if same_broker else "b", second)
    forth, back = one.compare_to(other), other.compare_to(one)
    if same_topic and same_broker:
        return (forth < 0) == (first < second) == (back > 0) and (forth == 0) == (first == second) == (back == 0)
    return forth < 0 < back


# Which queue a producer sends to --------------------------------------------------------------------------------------


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


# Where a consumer starts ----------------------------------------------------------------------------------------------

_FIRST, _TIMESTAMP = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, ConsumeFromWhere.CONSUME_FROM_TIMESTAMP
_LAST_MODES = tuple(mode for mode in ConsumeFromWhere if mode not in (_FIRST, _TIMESTAMP))
START_TABLE = (
    # modes, retry topic (None: either), without an offset the start comes from
    (_LAST_MODES, False, Source.MAX_OFFSET),
    (_LAST_MODES, True, Source.ZERO),
    ((_FIRST,), None, Source.ZERO),
    ((_TIMESTAMP,), False, Source.SEARCH_OFFSET),
    ((_TIMESTAMP,), True, Source.MAX_OFFSET),
)
"""Where a queue without a committed offset starts: the documented table."""


@decision(of=start_offset.start_offset_source, promises="start_offset_follows_the_table",
          few={"stored": (-3, -2, -1, 0, 1)})
def start_offset_follows_the_table(mode: ConsumeFromWhere, stored: Long, retry_topic: bool) -> bool:
    """A committed offset is the start; else exactly one row of the table names it; a failed read names none."""
    source = start_offset.start_offset_source(mode, stored, retry_topic=retry_topic)
    if stored >= 0:
        return source == Source.STORED
    if stored != start_offset.NO_OFFSET:
        return source == Source.NONE
    rows = [row for row in START_TABLE if mode in row[0] and row[1] in (None, retry_topic)]
    return len(rows) == 1 and source == rows[0][2]


@decision(of=start_offset.start_offset_source, promises="start_offset_follows_the_table", shipped="violated: L2")
def failed_question_moves_nobody(mode: ConsumeFromWhere, retry_topic: bool) -> bool:
    """A consumer whose broker failed to say where the group stands starts nowhere until it says so.

    RemoteBrokerOffsetStore#readOffset answers NO_OFFSET for every error of the broker, as if the group had none.
    """
    return start_offset.start_offset_source(mode, start_offset.NO_OFFSET, retry_topic=retry_topic) == Source.NONE


@decision(of=start_offset.start_offset, promises="start_offset_follows_the_table")
def start_offset_is_what_the_row_says(source: Source, stored: Long, end: Long, searched: Long) -> bool:
    """The start is the number that the row names; only a row without one answers -1 by itself."""
    answer = start_offset.start_offset(source, stored, end, searched)
    named = {Source.STORED: stored, Source.ZERO: 0, Source.MAX_OFFSET: end, Source.SEARCH_OFFSET: searched}
    return answer == named.get(source, -1)


# What a pull is answered ----------------------------------------------------------------------------------------------

_EMPTY = GetMessageStatus.NO_MESSAGE_IN_QUEUE, GetMessageStatus.NO_MATCHED_LOGIC_QUEUE
_OUTSIDE = GetMessageStatus.OFFSET_OVERFLOW_BADLY, GetMessageStatus.OFFSET_TOO_SMALL
_FILTERED = GetMessageStatus.NO_MATCHED_MESSAGE, GetMessageStatus.MESSAGE_WAS_REMOVING
_AT_THE_END = GetMessageStatus.OFFSET_FOUND_NULL, GetMessageStatus.OFFSET_OVERFLOW_ONE
ANSWER_TABLE = (
    # statuses, asked offset is 0 (None: either), the queue's bounds are corrected (None: either), code
    ((GetMessageStatus.FOUND,), None, None, PullCode.SUCCESS),
    (_FILTERED, None, None, PullCode.PULL_RETRY_IMMEDIATELY),
    (_AT_THE_END, None, None, PullCode.PULL_NOT_FOUND),
    (_EMPTY, True, None, PullCode.PULL_NOT_FOUND),
    (_EMPTY, False, True, PullCode.PULL_OFFSET_MOVED),
    (_EMPTY, False, False, PullCode.PULL_RETRY_IMMEDIATELY),
    (_OUTSIDE, None, True, PullCode.PULL_OFFSET_MOVED),
    (_OUTSIDE, None, False, PullCode.PULL_RETRY_IMMEDIATELY),
)
"""Status to response code; bounds are corrected by every broker but a slave without offsetCheckInSlave."""


@decision(of=pull_answer.pull_answer, promises="pull_answer_follows_the_table")
def pull_answer_follows_the_table(status: GetMessageStatus, asked: NotNegativeLong, slave: bool, check: bool,
                                  read: bool, slow: bool) -> bool:
    """Exactly one row of the table fits every pull, and its code is the answer."""
    side = pull_answer.BrokerSide(slave=slave, slave_read_enable=read, offset_check_in_slave=check)
    answer = pull_answer.pull_answer(status, asked, side, suggest_pulling_from_slave=slow)
    start, corrects = asked == 0, not slave or check
    rows = [code for statuses, at_zero, corrected, code in ANSWER_TABLE
            if status in statuses and at_zero in (None, start) and corrected in (None, corrects)]
    return rows == [answer.code]


@decision(of=pull_answer.bounds_decision, promises="pull_answer_follows_the_table")
def offset_is_judged_by_the_bounds(asked: Count, least: Count, end: Count, slave: bool, check: bool) -> bool:
    """A queue is scanned if and only if the asked offset lies within it; a slave without the check moves no offset."""
    assume(least <= end)
    answer = pull_answer.bounds_decision(asked, least, end, slave=slave, offset_check_in_slave=check)
    if (answer.status is None) != (least <= asked < end):
        return False
    return not slave or check or answer.next_begin_offset == asked


@decision(of=pull_answer.bounds_decision, promises="pull_answer_follows_the_table")
def bounds_follow_the_table(asked: Count, least: Count, end: Count) -> bool:
    """A master's status and next offset are those of the one row for where the asked offset lies."""
    assume(least <= end)
    answer = pull_answer.bounds_decision(asked, least, end, slave=False, offset_check_in_slave=False)
    rows = (
        (end == 0, GetMessageStatus.NO_MESSAGE_IN_QUEUE, 0),
        (end > 0 and asked < least, GetMessageStatus.OFFSET_TOO_SMALL, least),
        (end > 0 and least <= asked < end, None, asked),
        (end > 0 and asked == end, GetMessageStatus.OFFSET_OVERFLOW_ONE, end),
        (0 == least < end < asked, GetMessageStatus.OFFSET_OVERFLOW_BADLY, 0),
        (0 < least <= end < asked, GetMessageStatus.OFFSET_OVERFLOW_BADLY, end),
    )
    fitting = [(status, offset) for fits, status, offset in rows if fits]
    return len(fitting) == 1 and answer == pull_answer.Bounds(*fitting[0])


@decision(of=pull_answer.bounds_decision, promises="next_offset_progresses")
def corrected_offset_is_in_the_queue(asked: Count, least: Count, end: Count) -> bool:
    """A master's next offset lies between the queue's first offset and its end, once the queue has an entry."""
    assume(least <= end, end > 0)
    answer = pull_answer.bounds_decision(asked, least, end, slave=False, offset_check_in_slave=False)
    return least <= answer.next_begin_offset <= end


@decision(of=pull_answer.bounds_decision, promises="redelivery_is_bounded", shipped="violated: X9")
def overflowed_offset_goes_to_the_end(asked: Count, least: Count, end: Count) -> bool:
    """A consumer beyond the end of a queue is sent to its end, not back to its beginning."""
    assume(least <= end, asked > end)
    answer = pull_answer.bounds_decision(asked, least, end, slave=False, offset_check_in_slave=False)
    return answer.next_begin_offset == end


@decision(of=pull_answer.next_offset_after_scan, promises="next_offset_progresses")
def scan_progresses(asked: NotNegativeLong, units: Count) -> bool:
    """A scan that consumed a unit moves on by exactly the units that it consumed."""
    assume(units > 0, asked + units <= LONG_MAX)
    return pull_answer.next_offset_after_scan(asked, units) == asked + units


@decision(of=pull_answer.is_the_batch_full, promises="next_offset_progresses")
def first_message_is_always_taken(size: Int32, most: Int32, on_disk: bool) -> bool:
    """However large it is, the first message fits, so a scan always moves on."""
    return not pull_answer.is_the_batch_full(size, most, 0, 0, is_in_disk=on_disk)


BATCH_LIMITS = {True: (65_536, 8), False: (262_144, 32)}
"""Bytes and messages of one answer, for messages on disk and in memory."""


@decision(of=pull_answer.is_the_batch_full, promises="answer_is_bounded",
          few={"size": (1, 2, 65_535, 65_536, 262_143), "taken_bytes": (0, 1, 2, 262_143),
               "taken": (0, 1, 2, 7, 8, 31, 32), "most": (-1, 0, 1, 2, 8, 9, 32, 33)})
def answer_is_bounded(size: Positive, most: Int32, taken_bytes: Count, taken: Count, on_disk: bool) -> bool:
    """A further message is taken exactly if number and bytes stay within the asked ones and within the limits."""
    assume(taken_bytes + size <= INT_MAX)
    limit_bytes, limit = BATCH_LIMITS[bool(on_disk)]
    fits = taken < most and taken < limit and taken_bytes + size <= limit_bytes
    full = pull_answer.is_the_batch_full(size, most, taken_bytes, taken, is_in_disk=on_disk)
    return not full if taken == 0 or taken_bytes == 0 else full != fits


@decision(of=pull_answer.roll_next_file, promises="next_offset_progresses", few={"file_units": range(1, 5)})
def missing_file_leads_to_the_next(asked: Count, file_units: Positive) -> bool:
    """After a missing queue file a pull goes on at the first unit of the file behind it."""
    following = pull_answer.roll_next_file(asked, 20 * file_units)
    return following % file_units == 0 and asked < following <= asked + file_units


@decision(of=pull_answer.roll_next_file, promises="next_offset_progresses", shipped="violated: L12",
          few={"file_units": range(1, 5)})
def missing_file_passes_over_nothing(asked: Count, file_units: Positive) -> bool:
    """A pull that finds no queue file at its offset passes over no unit that it has not looked at."""
    return pull_answer.roll_next_file(asked, 20 * file_units) == asked


# Which broker to read from --------------------------------------------------------------------------------------------


@decision(of=(pull_answer.pull_answer, suggestion.suggest_which_broker_id, suggestion.moved_suggestion),
          promises="suggestion_follows_the_table", shipped="violated: S-1")
def slave_is_suggested_for_a_reason(status: GetMessageStatus, slave: bool, read: bool, check: bool, slow: bool,
                                    group_broker: Count) -> bool:
    """A slave is suggested only if slaveReadEnable is on and the distance to the log's end exceeds the memory."""
    side = pull_answer.BrokerSide(slave, read, check, group_broker)
    answer = pull_answer.pull_answer(status, 1, side, suggest_pulling_from_slave=slow)
    return answer.suggest_which_broker_id == 0 or (read and slow)


@decision(of=(pull_answer.pull_answer, suggestion.suggest_which_broker_id, suggestion.moved_suggestion),
          promises="suggestion_follows_the_table", few={"group_broker": (0, 2), "slow_broker": (1, 3)})
def suggestion_is_the_documented_one(status: GetMessageStatus, slave: bool, read: bool, check: bool, slow: bool,
                                     group_broker: Count, slow_broker: Count) -> bool:
    """With slaveReadEnable the group's broker for slow readers or its other one is suggested, without it the master.

    The one exception is the answer of a slave that does not correct an offset: it names the group's own broker.
    """
    side = pull_answer.BrokerSide(slave, read, check, group_broker, slow_broker)
    answer = pull_answer.pull_answer(status, 1, side, suggest_pulling_from_slave=slow)
    uncorrected = slave and not check and pull_answer.pull_code(status, 1) == PullCode.PULL_OFFSET_MOVED
    if answer.offset_moved_event != (answer.code == PullCode.PULL_OFFSET_MOVED):
        return False
    if uncorrected or (read and not slow):
        return answer.suggest_which_broker_id == group_broker
    return answer.suggest_which_broker_id == (slow_broker if read else 0)


@decision(of=suggestion.behind_memory, promises="suggestion_follows_the_table")
def distance_is_measured_to_the_end(end: NotNegativeLong, examined: NotNegativeLong, memory: NotNegativeLong) -> bool:
    """A position is behind the memory if and only if its distance to the log's end exceeds it; equal is not behind."""
    assume(examined <= end)
    return suggestion.behind_memory(end, examined, memory) == (end - examined > memory)


# When files go --------------------------------------------------------------------------------------------------------

MOST_USED, FORCIBLY, WARNING = 75, 85, 90  # percent; here and below the documented numbers, not the code's constants
RESERVED_MS = 72 * 3_600_000
Moment = Annotated[int, Integers(0, 2**60, (0, 1, RESERVED_MS - 1, RESERVED_MS, RESERVED_MS + 1))]


@decision(of=(disk_cleanup.is_space_to_delete, disk_cleanup.is_file_deleted, disk_cleanup.cleans_at_once),
          promises="young_files_survive")
def young_files_survive(log_disk: DiskUsage, queue_disk: DiskUsage, full: bool, forcibly: bool, now: Moment,
                        modified: Moment) -> bool:
    """While no disk is used by more than 85 percent, no file younger than 72 hours is deleted."""
    assume(log_disk <= FORCIBLY, queue_disk <= FORCIBLY, now - modified < RESERVED_MS)
    space = disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=full)
    at_once = disk_cleanup.cleans_at_once(
        clean_file_forcibly_enable=forcibly, clean_immediately=space.clean_immediately,
    )
    return not disk_cleanup.is_file_deleted(now, modified, RESERVED_MS, clean_at_once=at_once)


@decision(of=(disk_cleanup.is_file_deleted, disk_cleanup.cleans_at_once), promises="old_files_go")
def old_files_go(now: Moment, modified: Moment, forcibly: bool, at_once: bool) -> bool:
    """A pass deletes a file exactly if it is 72 hours old, or if it may be forced and the disk is that full."""
    forced = disk_cleanup.cleans_at_once(clean_file_forcibly_enable=forcibly, clean_immediately=at_once)
    deleted = disk_cleanup.is_file_deleted(now, modified, RESERVED_MS, clean_at_once=forced)
    return deleted == (now - modified >= RESERVED_MS or (forcibly and at_once))


@decision(of=disk_cleanup.is_space_to_delete, promises="full_disk_refuses_writes")
def space_decision_follows_the_table(log_disk: DiskUsage, queue_disk: DiskUsage, full: bool) -> bool:
    """With the default ratio: files go above 75 or at unknown usage, at once above 85, one disk after the other."""
    answer = disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=full)
    first = log_disk > MOST_USED or log_disk < 0
    used = log_disk if first else queue_disk
    marked = used > WARNING or (used > FORCIBLY and first and full)
    return (answer.delete == (first or queue_disk > MOST_USED or queue_disk < 0)
            and answer.clean_immediately == (used > FORCIBLY) and answer.disk_full == marked)


@decision(of=disk_cleanup.disk_full_flag, promises="full_disk_refuses_writes")
def disk_flag_has_hysteresis(used: Percent, full: bool) -> bool:
    """One look at one disk: full above 90, not full up to 85, unchanged between."""
    answer = disk_cleanup.disk_full_flag(used, disk_full=full)
    return answer == (used > WARNING or (used > FORCIBLY and full))


@decision(of=disk_cleanup.is_space_full, promises="full_disk_refuses_writes")
def space_is_full_above_the_warning(log_disk: Percent) -> bool:
    """The look of isSpaceFull marks the broker as full exactly if the log disk is used by more than 90 percent."""
    return disk_cleanup.is_space_full(log_disk) == (log_disk > WARNING)


@decision(of=disk_cleanup.is_space_to_delete, promises="full_disk_refuses_writes", shipped="violated: V24")
def full_disk_is_marked(log_disk: Percent, queue_disk: Percent, full: bool) -> bool:
    """When a disk is used by more than 90 percent, the broker counts as full after the look at the disks."""
    assume(log_disk > WARNING or queue_disk > WARNING)
    return disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=full).disk_full


@decision(of=disk_cleanup.is_space_to_delete, promises="full_disk_refuses_writes", shipped="violated: V24")
def full_log_disk_is_marked(most: MaxUsed, log_disk: Percent, queue_disk: Percent, full: bool) -> bool:
    """A log disk used by more than 90 percent marks the broker as full, whatever diskMaxUsedSpaceRatio is."""
    assume(log_disk > WARNING)
    return disk_cleanup.is_space_to_delete(log_disk, queue_disk, most, disk_full=full).disk_full


@decision(of=disk_cleanup.is_space_to_delete, promises="full_disk_refuses_writes")
def full_log_disk_is_marked_by_default(log_disk: Percent, queue_disk: Percent, full: bool) -> bool:
    """With the default ratio a log disk above 90 percent marks the broker as full."""
    assume(log_disk > WARNING)
    return disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=full).disk_full


@decision(of=(disk_cleanup.is_space_to_delete, disk_cleanup.is_space_full), promises="full_disk_refuses_writes",
          shipped="violated: V24")
def full_disk_stays_marked(log_disk: Percent, queue_disk: Percent) -> bool:
    """A full broker stays full, through the look of isSpaceFull too, until the log disk is down to 85 percent."""
    assume(log_disk > FORCIBLY)
    disk_cleanup.is_space_to_delete(log_disk, queue_disk, MOST_USED, disk_full=True)
    return disk_cleanup.is_space_full(log_disk)


# Retries and delays ---------------------------------------------------------------------------------------------------


FIRST_RETRY_LEVEL, LAST_LEVEL, RETRIES = 3, 18, 16


@decision(of=(retry_level.send_back_delay_level, retry_level.stored_delay_level), promises="delay_level_is_in_range")
def retry_is_always_delayed(times: Count, most: Count) -> bool:
    """A failed message that is not yet dead waits at least the third level (10 s) and at most the last one (2 h)."""
    assume(times < most, times <= INT_MAX - 3)
    level = retry_level.stored_delay_level(retry_level.send_back_delay_level(times, 0, most), LAST_LEVEL)
    return FIRST_RETRY_LEVEL <= level <= LAST_LEVEL


@decision(of=(retry_level.send_back_delay_level, retry_level.stored_delay_level), promises="delay_levels_are_monotone")
def later_retry_waits_longer(earlier: Count, later: Count, most: Count) -> bool:
    """A message that failed more often never waits at a lower level."""
    assume(earlier <= later, later < most, later <= INT_MAX - 3)
    first = retry_level.stored_delay_level(retry_level.send_back_delay_level(earlier, 0, most), LAST_LEVEL)
    return first <= retry_level.stored_delay_level(retry_level.send_back_delay_level(later, 0, most), LAST_LEVEL)


DELAYS_S = (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
"""The delay of each level, in seconds."""


@decision(of=retry_level.compute_deliver_timestamp, promises="delay_levels_are_monotone", few={"level": range(1, 19)})
def message_is_due_after_its_delay(level: Level, stored: Moment) -> bool:
    """A message is due when the delay of its level has passed since it was stored."""
    return retry_level.compute_deliver_timestamp(level, stored) == stored + DELAYS_S[level - 1] * 1000


@decision(of=retry_level.compute_deliver_timestamp, promises="delay_levels_are_monotone", few={"level": range(1, 19)})
def next_level_is_due_later(level: Level, stored: Moment) -> bool:
    """Of two messages stored at once, the one at the next level is due later."""
    assume(level < LAST_LEVEL)
    due = retry_level.compute_deliver_timestamp(level, stored)
    return due < retry_level.compute_deliver_timestamp(level + 1, stored)


@decision(of=retry_level.send_back_delay_level, promises="delay_level_is_in_range",
          few={"times": (0, 1, 15, 16), "most": (0, 1, 16)})
def asked_level_is_kept(times: Count, level: Int32, most: Count) -> bool:
    """A message sent back waits at the level that the consumer asked for, and in the dead letters at none."""
    assume(times <= INT_MAX - 3)
    answer = retry_level.send_back_delay_level(times, level, most)
    if times >= most or level < 0:
        return answer == 0
    return answer == (level if level > 0 else FIRST_RETRY_LEVEL + times)


@decision(of=retry_level.stored_delay_level, promises="delay_level_is_in_range",
          few={"level": (-1, 0, 1, 2, 17, 18, 19), "most": (2, 18)})
def stored_level_is_the_asked_one(level: Int32, most: Positive) -> bool:
    """A message is stored at the level that it asks for, as far as there is one, and at the last level beyond that."""
    return retry_level.stored_delay_level(level, most) == (0 if level <= 0 else min(level, most))


@decision(of=retry_level.stored_delay_level, promises="delay_level_is_in_range")
def stored_level_is_in_range(level: Int32) -> bool:
    """Whatever level a message asks for, it is stored at none (0) or at one of the eighteen."""
    return 0 <= retry_level.stored_delay_level(level, LAST_LEVEL) <= LAST_LEVEL


@decision(of=retry_level.goes_to_dead_letters, promises="attempts_are_bounded", few={"times": range(14, 19)})
def seventeenth_failure_is_the_last(times: Count, level: Int32) -> bool:
    """With the default of 16 retries, a message that failed again after 16 or more goes to the dead letters."""
    assume(times >= RETRIES)
    return retry_level.goes_to_dead_letters(times, level, retry_level.RETRY_MAX_TIMES)


@decision(of=retry_level.goes_to_dead_letters, promises="attempts_are_bounded",
          few={"times": (0, 1, 15, 16, 17), "most": (0, 1, 16)})
def earlier_failure_is_retried(times: Count, level: Int32, most: Count) -> bool:
    """A message goes to the dead letters exactly if it was retried often enough, or if its level is negative."""
    return retry_level.goes_to_dead_letters(times, level, most) == (times >= most or level < 0)


@decision(of=retry_level.corrected_timestamp, promises="delay_levels_are_monotone")
def early_delivery_is_not_changed(now: Moment, due: Moment, delay: Moment) -> bool:
    """A message that is due within its delay from now stays due then; a later one is due now."""
    return retry_level.corrected_timestamp(now, due, delay) == (now if due > now + delay else due)


@decision(of=retry_level.corrected_timestamp, promises="delay_levels_are_monotone")
def corrected_delivery_is_not_late(now: Moment, due: Moment, delay: Moment) -> bool:
    """However the clock moved, a delayed message is due no later than its delay from now."""
    return retry_level.corrected_timestamp(now, due, delay) <= now + delay
