"""The model that explorers are measured with: a consumer group, free or with locked queues.

It is small, scales by two numbers, and its counts are known from other explorers. It is not a model of the project.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Maybe,
    Rigid,
    Set,
    Sort,
    State,
    Table,
    action,
    always,
    empty,
    every,
    exists,
    forall,
    initially,
    ite,
    none,
    require,
    setof,
    some,
)
from model.language.scope import Scope


class Consumer(Sort):
    """A client id; ids are ordered by their numbers."""


class Queue(Sort):
    """A message queue of the one topic."""


class Group(State):
    """A consumer group: who lives, who is registered, what everybody saw last and owns."""

    alive: Table[Consumer, Bool]
    registered: Table[Consumer, Bool]
    view: Table[Consumer, Set[Consumer]]
    owned: Table[Consumer, Set[Queue]]
    share: Rigid[tuple[Consumer, Set[Consumer]], Set[Queue]]


@initially
def nothing(s: Group) -> Bool:
    """Nobody lives, knows or owns anything."""
    return forall(~s.alive[c] & ~s.registered[c] & (s.view[c] == empty(Consumer)) & (s.owned[c] == empty(Queue))
                  for c in every(Consumer))


@action("DefaultMQPushConsumerImpl#start")
def start(s: Group, c: Consumer) -> None:
    """A process starts and registers."""
    require(~s.alive[c])
    s.alive[c] = TRUE
    s.registered[c] = TRUE


@action("kill -9", environment=True)
def crash(s: Group, c: Consumer) -> None:
    """A process dies; the broker does not notice."""
    require(s.alive[c])
    s.alive[c] = FALSE
    s.view[c] = empty(Consumer)
    s.owned[c] = empty(Queue)


@action("DefaultMQPushConsumerImpl#shutdown")
def shutdown(s: Group, c: Consumer) -> None:
    """A process ends and unregisters."""
    require(s.alive[c])
    s.alive[c] = FALSE
    s.view[c] = empty(Consumer)
    s.owned[c] = empty(Queue)
    s.registered[c] = FALSE


@action("ConsumerManager#scanNotActiveChannel", environment=True)
def expire(s: Group, c: Consumer) -> None:
    """The broker forgets a consumer, dead or alive."""
    require(s.registered[c])
    s.registered[c] = FALSE


@action("ConsumerManager#registerConsumer")
def heartbeat(s: Group, c: Consumer) -> None:
    """A living consumer registers again."""
    require(s.alive[c], ~s.registered[c])
    s.registered[c] = TRUE


@action("MQClientInstance#findConsumerIdList")
def fetch(s: Group, c: Consumer) -> None:
    """A consumer fetches the list of the registered."""
    require(s.alive[c], exists(s.registered[x] for x in every(Consumer)))
    s.view[c] = setof(Consumer, lambda x: s.registered[x])


def share_of(s: Group, c: Consumer) -> Set[Queue]:
    """The queues that the strategy gives a consumer from its view."""
    return s.share[c, s.view[c]]


def wants_to_drop(s: Group, c: Consumer, q: Queue) -> Bool:
    """It owns the queue, and its view gives it to somebody else."""
    return s.alive[c] & (s.view[c] != empty(Consumer)) & s.owned[c].has(q) & ~share_of(s, c).has(q)


def wants_to_take(s: Group, c: Consumer, q: Queue) -> Bool:
    """It does not own the queue, and its view gives it."""
    return s.alive[c] & (s.view[c] != empty(Consumer)) & ~s.owned[c].has(q) & share_of(s, c).has(q)


def has_one_owner(s: Group) -> Bool:
    """No queue is owned twice."""
    return forall((s.owned[a].has(q) & s.owned[b].has(q)).implies(a == b)
                  for a, b, q in every(Consumer, Consumer, Queue))


def agrees(s: Group) -> Bool:
    """Everybody alive sees exactly the living and owns exactly its share; the dead own nothing."""
    living = setof(Consumer, lambda x: s.alive[x])
    return forall(s.alive[c].implies((s.view[c] == living) & (s.owned[c] == share_of(s, c))) for c in every(Consumer))


def each_has_an_owner(s: Group) -> Bool:
    """Every queue has exactly one owner, if anybody lives."""
    return has_one_owner(s) & forall(exists(s.owned[c].has(q) for c in every(Consumer)) for q in every(Queue))


class Free(Group):
    """Anybody takes what the strategy gives."""


@action("RebalanceImpl#updateProcessQueueTableInRebalance, drop")
def drop(s: Free, c: Consumer, q: Queue) -> None:
    """A consumer gives a queue up."""
    require(wants_to_drop(s, c, q))
    s.owned[c] = s.owned[c].minus(q)


@action("RebalanceImpl#updateProcessQueueTableInRebalance, take")
def take(s: Free, c: Consumer, q: Queue) -> None:
    """A consumer takes a queue."""
    require(wants_to_take(s, c, q))
    s.owned[c] = s.owned[c].plus(q)


@always(shipped="violated: D1")
def one_owner(s: Free) -> Bool:
    """No queue is owned twice."""
    return has_one_owner(s)


@always(shipped="holds")
def settled_is_shared(s: Free) -> Bool:
    """When all agree, every queue has exactly one owner."""
    return (agrees(s) & exists(s.alive[c] for c in every(Consumer))).implies(each_has_an_owner(s))


class Locked(Group):
    """A queue is taken together with its lock."""

    lock: Table[Queue, Maybe[Consumer]]


@initially
def unlocked(s: Locked) -> Bool:
    """Nothing is locked."""
    return forall(s.lock[q].absent for q in every(Queue))


@action("RebalanceImpl#updateProcessQueueTableInRebalance, drop")
def drop_locked(s: Locked, c: Consumer, q: Queue) -> None:
    """A consumer gives a queue up, and its lock if it has it."""
    require(wants_to_drop(s, c, q))
    s.owned[c] = s.owned[c].minus(q)
    s.lock[q] = ite(s.lock[q].holds(c), none(Consumer), s.lock[q])


@action("RebalanceImpl#updateProcessQueueTableInRebalance, take (isOrder)")
def take_locked(s: Locked, c: Consumer, q: Queue) -> None:
    """A consumer takes a queue whose lock it has or gets."""
    require(wants_to_take(s, c, q), s.lock[q].absent | s.lock[q].holds(c))
    s.owned[c] = s.owned[c].plus(q)
    s.lock[q] = some(c)


@action("RebalanceLockManager.LockEntry#isExpired", environment=True)
def lock_expires(s: Locked, q: Queue) -> None:
    """A lock ends whose holder does not own the queue."""
    require(~s.lock[q].absent, forall(s.lock[q].holds(c).implies(~s.owned[c].has(q)) for c in every(Consumer)))
    s.lock[q] = none(Consumer)


@always(shipped="holds")
def one_owner_locked(s: Locked) -> Bool:
    """No queue is owned twice."""
    return has_one_owner(s)


@always(shipped="holds")
def settled_is_shared_locked(s: Locked) -> Bool:
    """When all agree, every queue has exactly one owner."""
    return (agrees(s) & exists(s.alive[c] for c in every(Consumer))).implies(each_has_an_owner(s))


PINNED = {  # scope: states, transitions, depth
    "2,2": (784, 6_972, 14),
    "2,1 locked": (420, 3_206, 12),
    "2,2 locked": (1_812, 15_738, 16),
    "3,2": (216_000, 3_064_500, 22),
    "3,2 locked": (236_952, 3_069_975, 21),
    "3,3": (1_560_896, 24_735_492, 26),
    "3,3 locked": (1_537_320, 21_544_581, 25),
    "3,4": (11_852_352, 206_909_316, 29),
    "4,2": (236_421_376, 4_601_637_024, 32),
    "5,1 idle": (1_252_332_576, 24_382_535_760, 24),
}


def averagely(consumers: int, queues: int) -> dict[tuple[int, frozenset[int]], frozenset[int]]:
    """AllocateMessageQueueAveragely: the queues of each consumer for each view, tabulated."""
    table = {}
    for bits in range(1 << consumers):
        view = [c for c in range(consumers) if bits >> c & 1]
        for c in range(consumers):
            table[c, frozenset(view)] = frozenset(_range(view.index(c), len(view), queues) if c in view else ())
    return table


def _range(index: int, members: int, queues: int) -> range:
    rest = queues % members
    size = 1 if queues <= members else queues // members + (1 if rest and index < rest else 0)
    first = index * size if rest and index < rest else index * size + rest
    return range(first, min(first + size, queues))


def scope(name: str) -> Scope:
    """A scope by name: "3,2", "3,2 locked" or "3,2 idle" (consumers, queues); raises ValueError for any other text.

    In an idle one nobody takes a queue: consumers come and go and fetch lists.
    """
    sizes, _, variant = name.partition(" ")
    try:
        consumers, queues = (int(size) for size in sizes.split(","))
    except ValueError:
        consumers = queues = 0
    if consumers < 1 or queues < 1 or variant not in ("", "locked", "idle"):
        raise ValueError(f'{name!r} is no scope of the group; '
                         'write "3,2", "3,2 locked" or "3,2 idle" (consumers, queues)')
    return Scope(Locked if variant == "locked" else Free, {Consumer: consumers, Queue: queues},
                 {"share": averagely(consumers, queues)}, forbid=["take"] if variant == "idle" else (), name=name)
