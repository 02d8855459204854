"""One queue, one group: pull, cache, consume, commit and hand-over; commits are one-way messages."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Ghost,
    Nat,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    ite,
    require,
    step,
)


class Member(Sort):
    """A consumer instance."""


class QueueOffset(Nat):
    """A place in the queue."""


class Delivery(State):
    """The queue at the broker, and at each member that has or had it."""

    stored: QueueOffset                              # max offset of the queue
    known: Bool                                      # the broker has an offset for the group
    committed: QueueOffset                           # ConsumerOffsetManager.offsetTable
    in_flight: Table[QueueOffset, Bool]              # one-way commits; may arrive late, twice, never
    table: Table[Member, Bool]                       # the queue is in processQueueTable, not dropped
    next: Table[Member, QueueOffset]                 # PullRequest.nextOffset
    cached: Table[tuple[Member, QueueOffset], Bool]  # msgTreeMap
    remembers: Table[Member, Bool]                   # offsetStore has an entry
    memory: Table[Member, QueueOffset]               # … with this offset
    settled: Ghost[Table[QueueOffset, Bool]]         # acknowledged, or a copy is stored in %RETRY% or %DLQ%


@initially
def fresh(s: Delivery) -> Bool:
    """The queue is empty and nobody has it."""
    return ((s.stored == 0) & ~s.known & (s.committed == 0)
            & forall(~s.table[m] & ~s.remembers[m] & (s.next[m] == 0) & (s.memory[m] == 0) for m in every(Member))
            & forall(~s.cached[m, o] for m, o in every(Member, QueueOffset))
            & forall(~s.in_flight[o] & ~s.settled[o] for o in every(QueueOffset)))


@action("DefaultMessageStore#putMessage")
def send(s: Delivery) -> None:
    """A message is stored."""
    s.stored = s.stored + 1


@action("RebalanceImpl#updateProcessQueueTableInRebalance, RebalancePushImpl#computePullFromWhereWithException")
def acquire(s: Delivery, m: Member) -> None:
    """FIRST_OFFSET, or a young queue: no stored offset means 0."""
    require(~s.table[m])
    s.table[m] = TRUE
    s.next[m] = ite(s.known, s.committed, QueueOffset.of(0))
    s.remembers[m] = s.known
    s.memory[m] = ite(s.known, s.committed, QueueOffset.of(0))


@action("DefaultMQPushConsumerImpl#pullMessage")
def pull(s: Delivery, m: Member) -> None:
    """The next message is cached."""
    require(s.table[m], s.next[m] < s.stored)
    s.cached[m, s.next[m]] = TRUE
    s.next[m] = s.next[m] + 1


@action("ConsumeMessageConcurrentlyService#processConsumeResult")
def settle(s: Delivery, m: Member, o: QueueOffset, low: QueueOffset) -> None:
    """Acknowledge or send back o; low is what ProcessQueue#removeMessage answers."""
    require(s.table[m], s.cached[m, o])
    require(forall((s.cached[m, x] & ~(x == o)).implies(low <= x) for x in every(QueueOffset)))
    require((s.cached[m, low] & ~(low == o))
            | ((low == s.next[m]) & forall(s.cached[m, x].implies(x == o) for x in every(QueueOffset))))
    s.cached[m, o] = FALSE
    s.settled[o] = TRUE
    s.memory[m] = ite(s.remembers[m] & (low <= s.memory[m]), s.memory[m], low)
    s.remembers[m] = TRUE


@action("RemoteBrokerOffsetStore#persistAll")
def persist(s: Delivery, m: Member) -> None:
    """The remembered offset is sent, one way."""
    require(s.remembers[m])
    s.in_flight[s.memory[m]] = TRUE


@action("ConsumerOffsetManager#commitOffset")
def arrive(s: Delivery, o: QueueOffset) -> None:
    """The broker takes whatever comes, in any order."""
    require(s.in_flight[o])
    s.known = TRUE
    s.committed = o


@action("the network", environment=True)
def lose(s: Delivery, o: QueueOffset) -> None:
    """A commit is lost."""
    require(s.in_flight[o])
    s.in_flight[o] = FALSE


@action("RebalanceImpl#updateProcessQueueTableInRebalance, RebalancePushImpl#removeUnnecessaryMessageQueue")
def drop(s: Delivery, m: Member) -> None:
    """The queue goes to somebody else; what is remembered is sent once more."""
    require(s.table[m])
    s.in_flight[s.memory[m]] = s.in_flight[s.memory[m]] | s.remembers[m]
    s.table[m] = FALSE
    s.remembers[m] = FALSE
    s.next.forget(m)
    s.memory.forget(m)
    for o in every(QueueOffset):
        s.cached[m, o] = FALSE


@action("kill -9", environment=True)
def crash(s: Delivery, m: Member) -> None:
    """A member ends."""
    require(s.table[m])
    s.table[m] = FALSE
    s.remembers[m] = FALSE
    s.next.forget(m)
    s.memory.forget(m)
    for o in every(QueueOffset):
        s.cached[m, o] = FALSE


@always(shipped="violated: L1, L2, L8")
def nothing_is_skipped(s: Delivery) -> Bool:
    """Everything below the committed offset was acknowledged or sent back."""
    return forall((s.known & (o < s.committed)).implies(s.settled[o]) for o in every(QueueOffset))


@always(shipped="holds")
def nothing_is_invented(s: Delivery) -> Bool:
    """Only stored messages are cached."""
    return forall(s.cached[m, o].implies(o < s.stored) for m, o in every(Member, QueueOffset))


@step(shipped="violated: X4")
def committed_offset_never_regresses(before: Delivery, after: Delivery) -> Bool:
    """The committed offset does not go down."""
    return before.known.implies(after.known & (before.committed <= after.committed))
