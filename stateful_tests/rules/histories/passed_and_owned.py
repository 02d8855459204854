"""Written histories of what clients observe: what is passed, in which order it comes, who owns a queue, how often."""

from __future__ import annotations

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerIdsFetched,
    ConsumerRegistered,
    ConsumerStarted,
    MessageAppended,
    MessagesGiven,
    PublishInfoUpdated,
    QueueDropped,
    RouteUpdated,
    SendAsked,
    SendAttempted,
    TopicConfigUpdated,
)
from invariants.histories.operations import Operation
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.histories.observed import (
    CONSUMED,
    DELIVERED,
    FULL,
    MQ,
    OTHER,
    PASSED,
    QUEUE,
    SENT,
    TAKEN,
    B,
    C,
    P,
    Told,
    appended,
    has,
    killed,
    loaded,
    started,
)
from stateful_tests.rules.written import Written

CALM = Bounds()
HALF = (SENT[0]._replace(half=True), SENT[1]._replace(queue=None, offset=None))
COMMITTED = SENT[1]._replace(kind="half_committed", seq=3, time_ms=50, clock="world")
SEEN = DELIVERED._replace(clock="world")
KEYED = tuple(one._replace(key="red", seq=one.seq + more, message=key, offset=None if one.offset is None else offset)
              for more, key, offset in ((0, "k1", 7), (2, "k2", 3)) for one in SENT)
"""Two messages of a key, of which the later one stands before the earlier one."""
IN_ORDER = (*KEYED[:3], KEYED[3]._replace(offset=9))
RED_QUEUES, MORE_QUEUES = (MQ,), (MQ, MQ._replace(queue_id=1))


def in_order(kinds: str) -> tuple[Operation, ...]:
    """What an orderly member does with two messages, of which k2 stands behind k1."""
    words = {"assigned": TAKEN._replace(orderly=True), "delivered1": DELIVERED, **{
        f"{one.kind}2": one._replace(message="k2", offset=1) for one in (DELIVERED, CONSUMED)}}
    return (*SENT, *OTHER, *(words[kind]._replace(seq=seq) for seq, kind in enumerate(kinds.split(), 10)))


def listed(ms: int, queues: tuple[MessageQueue, ...], topic: str = "orders", client_id: str = "p1@1") -> Told:
    """A producer has another list of queues."""
    return ms, P, PublishInfoUpdated(client_id, "P", topic, queues)


def attempted(ms: int, key: str, client_id: str = "p1@1") -> Told:
    """The producer sends a message."""
    return ms, P, SendAttempted(client_id, "P", key, 1, MQ)


def asked(ms: int, key: str) -> Told:
    """An application asks the producer to send it."""
    return ms, P, SendAsked("P", key, "orders", 1, 3_000, (7,))


def turned(*records: Told, kept: tuple[Told, ...] = (), causes: tuple[str, ...] | None = ()) -> Written:
    """Messages of a key do not stand in their order; where nothing is said of `kept`, they do."""
    records = tuple(sorted((*records, asked(8, "k1")), key=lambda one: one[0]))
    return Written("order_is_kept", broken=records, kept=kept or records, observed=KEYED,
                   kept_observed=KEYED if kept else IN_ORDER, causes=causes, bounds=CALM,
                   says="k2 was sent after k1, with the key red")


STORED, UNFINISHED = (started(0), appended(15), killed(25)), (TAKEN, *SENT, DELIVERED, PASSED)
BOTH = (attempted(10, "k1"), attempted(30, "k2"))
OTHERS = TAKEN._replace(process="consumer2", seq=11, time_ms=100_000, clock="world")
GIVES_UP = Operation("revoked", C, 12, None, "G", QUEUE, time_ms=100_200, clock="world")
OWNED_TWICE, HANDED_OVER = ((TAKEN._replace(clock="world"), OTHERS, GIVES_UP._replace(time_ms=ms))
                            for ms in (100_200, 99_999))


def taken(*records: Told, causes: tuple[str, ...], observed: tuple[Operation, ...] = OWNED_TWICE) -> Written:
    """A queue has two owners; it has one if the former has given it up before."""
    return Written("one_owner_at_once", broken=records, kept=records, observed=observed, kept_observed=HANDED_OVER,
                   causes=causes, bounds=CALM, says="orders/broker-a/0 of G")


def joined(ms: int, *, added: bool = True) -> Told:
    """A broker hears of a member."""
    return ms, B, ConsumerRegistered(B, "G", "c2@1", "c2:1", True, added, frozenset())


def drops(ms: int, at: str = C, group: str = "G", mq: MessageQueue = MQ) -> Told:
    """A member gives the queue up."""
    return ms, at, QueueDropped("c1@1", group, mq)


def divided(
    *records: Told, causes: tuple[str, ...], known: tuple[str, ...] | None = ("c2@1",), broker_addr: str = f"{B}:10911",
) -> Written:
    """The queue is taken later, by an answer of a broker in which only these are."""
    told = tuple(sorted((*records, answered(LATE_MS - 1, known, broker_addr=broker_addr)), key=lambda one: one[0]))
    later = tuple(one._replace(time_ms=(one.time_ms or 0) + LATE_MS - 100_000) if one.seq > TAKEN.seq else one
                  for one in OWNED_TWICE)
    return Written("one_owner_at_once", broken=told, kept=told, observed=later, kept_observed=HANDED_OVER,
                   causes=causes, bounds=CALM, says="orders/broker-a/0 of G")


def hears_of(ms: int, client_id: str = "c1@1", at: str = B, group: str = "G") -> Told:
    """A broker hears of a member."""
    return ms, at, ConsumerRegistered(at, group, client_id, "c1:1", True, True, frozenset())


def answered(
    ms: int, known: tuple[str, ...] | None, *, at: str = "consumer2", group: str = "G", topic: str = "orders",
    broker_addr: str = f"{B}:10911",
) -> Told:
    """A broker has told a member which ones there are."""
    return ms, at, ConsumerIdsFetched("c2@1", group, topic, broker_addr, known)


def starts(ms: int, client_id: str, at: str = C, group: str = "G") -> Told:
    """A member starts."""
    return ms, at, ConsumerStarted(client_id, group, "CLUSTERING", orderly=False)


def gets(ms: int) -> Told:
    """A broker has a topic."""
    return ms, B, TopicConfigUpdated(B, "orders")


LATE_MS = 500_000
LONG_AGO_MS = LATE_MS - deadlines.lists_are_whole(CALM)
MEMBER, ALL = starts(1, "c1@1"), ("c1@1", "c2@1")
BEGINS = (MEMBER, started(LONG_AGO_MS))
HEARD = (*BEGINS, hears_of(LONG_AGO_MS + 1))
JUST_IN_TIME_MS = 100_000 - deadlines.rebalanced(CALM)
HEARD_LATE_MS = 100_000 + deadlines.lists_are_whole(CALM)
TOO_OFTEN = (TAKEN._replace(max_attempts=2), *SENT, DELIVERED._replace(attempt=3))


def tried(*attempts: tuple[int, str, int], kept: tuple[tuple[int, str, int], ...] = ()) -> Written:
    """A message is delivered after three attempts where there are two; how often each member was given it before."""

    def said(these: tuple[tuple[int, str, int], ...]) -> tuple[Told, ...]:
        return tuple((20 + number, at, MessagesGiven("G", MQ, (0,), ("k1",), (attempt,), most, orderly=False))
                     for number, (attempt, at, most) in enumerate(these))

    return Written("given_up_after_its_attempts", broken=said(attempts), kept=said(kept) or said(attempts),
                   observed=TOO_OFTEN, kept_observed=TOO_OFTEN if kept else (*TOO_OFTEN[:-1], DELIVERED), causes=(),
                   says="after it was sent back 3 times; G gives up after 2")


HISTORIES = (
    # What a client has sent back, or given up, may be passed as well as what is consumed.
    *(Written("commits_pass_nothing_unfinished", broken=(), observed=(TAKEN, *SENT, DELIVERED, PASSED), causes=(),
              kept_observed=(TAKEN, *SENT, DELIVERED, CONSUMED._replace(kind=kind), PASSED), says="never settled")
      for kind in ("consumed", "sent_back", "given_up")),
    Written("commits_pass_nothing_unfinished", broken=(), observed=(TAKEN, *SENT, DELIVERED, PASSED), causes=(),
            kept_observed=(TAKEN, *SENT, DELIVERED, PASSED._replace(offset=0))),
    # What the broker has lost, or deleted, nobody can finish.
    Written("commits_pass_nothing_unfinished", broken=(*STORED, loaded(26, 100)), observed=UNFINISHED, causes=(),
            kept=(*STORED, loaded(26, 100, "ASYNC_FLUSH")), kept_observed=UNFINISHED, views=has(100)),
    Written("commits_pass_nothing_unfinished", broken=(*STORED, FULL), observed=UNFINISHED, causes=(), views=has(100),
            kept=(*STORED, FULL), kept_observed=UNFINISHED, kept_views=has(200)),
    turned(*BOTH),
    turned(listed(5, RED_QUEUES), *BOTH),
    # Of one of the two nobody has reported an attempt.
    *(turned(listed(5, RED_QUEUES), one, listed(20, MORE_QUEUES)) for one in BOTH),
    turned(listed(5, RED_QUEUES), BOTH[0], listed(20, MORE_QUEUES), BOTH[1], causes=("P10",)),
    turned(listed(5, RED_QUEUES), BOTH[0], listed(20, RED_QUEUES), BOTH[1]),
    turned(listed(5, RED_QUEUES), listed(7, MORE_QUEUES), *BOTH),
    turned(listed(5, RED_QUEUES), asked(6, "k2"), listed(7, MORE_QUEUES), *BOTH),
    # The producer waits for a route when it has looked at the list.
    *(turned(listed(5, RED_QUEUES), listed(ms, MORE_QUEUES), *BOTH, causes=("P10",)) for ms in (9, 10)),
    turned(listed(5, RED_QUEUES), *BOTH, listed(40, MORE_QUEUES)),
    turned(listed(5, RED_QUEUES), BOTH[0], listed(20, MORE_QUEUES, topic="invoices"), BOTH[1]),
    turned(listed(5, RED_QUEUES), BOTH[0], listed(20, MORE_QUEUES, client_id="p2@1"), BOTH[1], causes=()),
    *(turned(listed(5, RED_QUEUES), BOTH[0], listed(20, queues, client_id="p1@2"), attempted(30, "k2", "p1@2"),
             causes=causes) for queues, causes in ((MORE_QUEUES, ("P10",)), (RED_QUEUES, ()))),
    # The earlier one is cut off the log, and the later one is given a place that was another's.
    turned(started(0), BOTH[0], BOTH[1],
           kept=(started(0), BOTH[0], (15, B, MessageAppended(B, "orders", 0, 7, 100, 100, "k1")), killed(25),
                 loaded(26, 100, "ASYNC_FLUSH"), BOTH[1])),
    Written("order_is_kept", broken=(), causes=(), says="delivered k1 at offset 0",
            observed=(TAKEN._replace(orderly=True), *SENT, *OTHER, DELIVERED._replace(message="k2", offset=1, seq=2),
                      CONSUMED._replace(message="k2", offset=1, seq=3), DELIVERED._replace(seq=4)),
            kept_observed=(TAKEN._replace(orderly=True), *SENT, DELIVERED, CONSUMED)),
    # What it ends that it was delivered before its queue changed hands is not what it goes back behind.
    Written("order_is_kept", broken=(), causes=(), says="delivered k1 at offset 0",
            observed=in_order("assigned delivered2 assigned delivered2 consumed2 delivered1"),
            kept_observed=in_order("assigned delivered2 assigned consumed2 delivered1 consumed2 delivered1")),
    Written("transactions_keep_their_order", broken=(), observed=(*HALF, COMMITTED, TAKEN, SEEN), causes=(),
            kept_observed=(*HALF, COMMITTED, TAKEN, SEEN._replace(time_ms=50)),
            says="before producer1 has committed it"),
    Written("half_messages_are_resolved", broken=(), observed=HALF, kept_observed=(*HALF, COMMITTED), causes=(),
            says="neither committed nor rolled back"),
    taken(causes=()),
    taken(joined(99_000), causes=()),
    taken(drops(100_200), causes=()),
    taken(joined(99_000), drops(100_200), causes=("D1",)),
    taken(joined(99_000), drops(100_200, at="consumer2"), causes=("D1",)),
    taken(joined(JUST_IN_TIME_MS), drops(HEARD_LATE_MS), causes=("D1",)),
    taken(joined(JUST_IN_TIME_MS - 1), drops(HEARD_LATE_MS), causes=()),
    taken(joined(JUST_IN_TIME_MS), drops(HEARD_LATE_MS + 1), causes=()),
    taken(joined(100_001), drops(100_200), causes=()),
    taken(joined(99_000), drops(99_999), causes=()),
    taken(joined(99_000, added=False), drops(100_200), causes=()),
    taken(joined(99_000), drops(100_200, at="consumer3"), causes=()),
    taken(joined(99_000), drops(100_200, group="H"), causes=()),
    taken(joined(99_000), drops(100_200, mq=MQ._replace(queue_id=1)), causes=()),
    taken((100_000, C, RouteUpdated("c1@1", "G", "orders", frozenset((MQ,)))), drops(100_000), causes=("D1",)),
    taken(joined(99_000), observed=OWNED_TWICE[:2], causes=()),
    # Who takes the queue has asked a broker that began lately, and has not heard of the former owner since.
    divided(*BEGINS, causes=("D2",)),
    divided(started(LONG_AGO_MS), causes=()),
    *(divided(MEMBER, one, causes=()) for one in (
        started(LONG_AGO_MS - 1), started(LONG_AGO_MS, at="broker-b"), started(LATE_MS))),
    divided(*BEGINS, causes=(), broker_addr="broker-b:10911"),
    *(divided(*BEGINS, causes=(), known=known) for known in (ALL, None)),
    *(divided(*BEGINS, one, causes=("D2",)) for one in (
        answered(LATE_MS, None), answered(LATE_MS + 1, ALL), answered(LATE_MS, ALL, at="consumer3"),
        answered(LATE_MS, ALL, group="H"), answered(LATE_MS, ALL, topic="invoices"))),
    divided(*BEGINS, answered(LATE_MS, ALL), causes=()),
    divided(*HEARD, causes=()),
    *(divided(*HEARD, one, causes=()) for one in (
        starts(2, "c3@1", at="consumer3"), starts(2, "c1@2", group="H"), starts(LATE_MS + 1, "c1@3"))),
    divided(*HEARD, starts(LATE_MS, "c1@3"), causes=("D2",)),
    *(divided(*BEGINS, one, causes=("D2",)) for one in (
        hears_of(LONG_AGO_MS - 1), hears_of(LATE_MS), hears_of(LONG_AGO_MS + 1, client_id="c2@1"),
        hears_of(LONG_AGO_MS + 1, at="broker-b"), hears_of(LONG_AGO_MS + 1, group="H"))),
    divided(MEMBER, started(LONG_AGO_MS - 2), gets(LONG_AGO_MS), causes=("D2",)),
    divided(MEMBER, started(LONG_AGO_MS - 2), hears_of(LONG_AGO_MS - 1), gets(LONG_AGO_MS), causes=()),
    # Who could not send it back tries it again where it is, and counts on.
    tried((3, C, 2), kept=((2, C, 2), (3, C, 2))),
    tried((2, "consumer2", 2), (3, C, 2), kept=((1, C, 2), (2, C, 2), (3, C, 2))),
    tried((2, C, 2), (3, C, 2), (3, "consumer2", 2), kept=((2, C, 2), (3, C, 2), (2, "consumer2", 2))),
)
