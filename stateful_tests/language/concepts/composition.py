"""A product of two concepts is a subclass of both; a joint step calls an action of each."""

from __future__ import annotations

from model.language import TRUE, Bool, State, Table, action, always, every, forall, initially, require
from stateful_tests.language.concepts.consumer_group import Group, Member, Queue, apply


class Locks(State):
    """The locks of the queues at their broker."""

    owner_locked: Table[tuple[Member, Queue], Bool]


@initially
def unlocked(s: Locks) -> Bool:
    """Nobody has a lock."""
    return forall(~s.owner_locked[m, q] for m, q in every(Member, Queue))


@action("RebalanceLockManager#tryLockBatch")
def lock(s: Locks, m: Member, q: Queue) -> None:
    """A lock is taken that nobody else has."""
    require(forall(~s.owner_locked[x, q] | (x == m) for x in every(Member)))
    s.owner_locked[m, q] = TRUE


class Orderly(Group, Locks, without=("apply",)):
    """An orderly group: a queue is taken only together with its lock."""


@action("RebalanceImpl#updateProcessQueueTableInRebalance (isOrder)")
def take_locked(s: Orderly, m: Member, q: Queue) -> None:
    """Lock a queue and apply the list in one step."""
    lock(s, m, q)
    apply(s, m)


@always(shipped="violated: D9 taken without the lock")
def one_owner_even_in_motion(s: Orderly) -> Bool:
    """An orderly queue has one owner at every instant."""
    return forall((s.holds[a, q] & s.holds[b, q]).implies(a == b) for a, b, q in every(Member, Member, Queue))
