"""What is promised of the arithmetic of allocation.

Claims speak of n queues, m members, member i or j (the first position in the list of members) and queue k (the
position in the list of queues), all counted from 0, under the premise that every member sees the same sorted lists of
distinct elements. `invariants.allocation` says the same of whole strategies, and what happens without the premise.
"""

from __future__ import annotations

from typing import Annotated

from impl.decisions import (
    allocation,
    message_queue,
)
from invariants.claim import assume, decision
from invariants.domains import INT_MAX, INT_MIN, Count, Int32, Integers, Positive

Queues = Annotated[int, Integers(0, None, tuple(range(10)))]
Positions = Annotated[int, Integers(0, None, tuple(range(10)))]
RingSize = Annotated[int, Integers(1, 3)]
Joiner = Annotated[int, Integers(0, None)]
RingPosition = Annotated[int, Integers(0, 2**32 - 1, (0, 1, 2, 2**32 - 1))]


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
