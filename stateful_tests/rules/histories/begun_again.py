"""Written histories of queues that are begun again: where on its way a settled offset was lost, or that it was not."""

from __future__ import annotations

import invariants.rules.begun_again  # noqa: F401  # declares its rules
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ConnectionRefused,
    ConnectionSevered,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    GroupOffsetsRemoved,
    MasterLearned,
    MessageLost,
    MessagesExpired,
    OffsetCommitted,
    OffsetReset,
    OffsetUpdated,
    PartitionBegan,
    ProcessKilled,
    ProcessPaused,
    RouteAnswered,
    RouteUpdated,
    TimerJobBegan,
    TimerJobEnded,
)
from invariants.rules.bounds import Bounds
from invariants.views import Broker
from stateful_tests.rules.histories.beginnings import (
    B2,
    C2,
    KNOWN,
    LOST_POWER,
    MQ,
    SLAVE,
    B,
    C,
    G,
    Told,
    answered,
    committed,
    dropped,
    killed,
    sent,
    settled,
    taken,
)
from stateful_tests.rules.histories.membership import BROKER
from stateful_tests.rules.written import Tables, Written

CALM, NETWORK = Bounds(), Bounds(delay_ms=1)


def remembered(ms: int, at: str = C, offset: int = 100) -> Told:
    """A client has an offset in memory."""
    return ms, at, OffsetUpdated(at, G, MQ, offset)


def at_it(ms: int, at: str = C, client_id: str = C) -> Told:
    """The timer of a client begins to commit."""
    return ms, at, TimerJobBegan(client_id, "persistAllConsumerOffset", 5_000)


def through(ms: int, client_id: str = C) -> Told:
    """It is through with that."""
    return ms, C, TimerJobEnded(client_id, "persistAllConsumerOffset")


def heard(ms: int) -> Told:
    """A commit of another group comes to the broker."""
    return ms, B, OffsetCommitted(B, "H", "orders", 0, 5, "c3:1")


def power_lost(ms: int) -> Told:
    """The broker loses its power."""
    return ms, B, ProcessKilled(1, power_loss=True)


def led(ms: int, master: str | None = f"{B}:10911", at: str = B2) -> Told:
    """Name servers tell a slave who its master is."""
    return ms, at, MasterLearned(at, master, (master,))


LED = led(1)


def begun(ms: int, broker: str = B) -> tuple[Told, ...]:
    """Another client is answered the offset of what is settled, and begins there."""
    return answered(ms, 98, broker=broker), taken(ms + 1, C2, 98)


READ = (*KNOWN, settled(10, 98, 99))
GIVEN_UP = (*READ, remembered(10), dropped(100_000, C))
SENT = (*GIVEN_UP, sent(100_001, 100))
CAME = (*SENT, committed(100_002, 100))
LATER = begun(300_000)
GOES_ON = (answered(300_000, 100), taken(300_001, C2, 100))
HEARD = heard(100_001)
START = KNOWN[0]
STARTED = (5, C, ConsumerStarted(C, G, "CLUSTERING", orderly=False))
PAUSED_TWICE = (20, C, ProcessPaused(80)), (120, C, ProcessPaused(10))
RESET = (*KNOWN, (1, C, OffsetReset(C, G, MQ, 98)))
THERE, ELSEWHERE = frozenset({MQ}), frozenset({MQ._replace(broker_name="broker-b")})
ROUTED = (*KNOWN, (1, C, RouteUpdated(C, G, "orders", THERE)))
OLD, NEW, MOVED = f"{B}:10909", BROKER.broker_addr, (BROKER,)
EXPIRED = (10, C, MessagesExpired(C, G, MQ, (98, 99)))
UNROUTED = (5, C, RouteUpdated(C, G, "orders", ELSEWHERE))
ROUTED_AGAIN = (11, *ROUTED[-1][1:])


def again(
    *records: Told, causes: tuple[str, ...] = (), bounds: Bounds = CALM, brokers: tuple[Broker, ...] = (),
) -> Written:
    """Two messages are settled, and the first of them is begun again because of this; brokers -- that run then."""
    return Written("settled_is_not_begun_again", records, bounds=bounds, causes=causes, views=Tables(brokers=brokers))


def route(ms: int, *addrs: str, at: str = C, topic: str = "orders") -> Told:
    """A client is told a route."""
    return ms, "nameserver1", RouteAnswered("nameserver1", topic, frozenset({B}), frozenset({B}), frozenset(addrs),
                                            f"{at}:1")


def silent(*records: Told) -> Written:
    """Two messages are settled, and something excuses that the first of them is begun again."""
    return Written("settled_is_not_begun_again", (*GIVEN_UP, *LATER), records, bounds=CALM)


HISTORIES = (
    Written("settled_is_not_begun_again", (*GIVEN_UP, *LATER), (*GIVEN_UP, *GOES_ON), bounds=CALM, causes=()),
    # What a listener has ended, and when it counts.
    silent(*GIVEN_UP, (200_000, B, GroupOffsetsRemoved(B, G)), *begun(200_001)),
    # A queue that was reset is judged again when its one owner commits, long after anybody else was heard of.
    silent(*GIVEN_UP, (200_000, C, OffsetReset(C, G, MQ, 98)), *LATER),
    silent(*RESET, committed(42_001, 98), *READ[3:], dropped(100_000, C), *LATER),
    again(*RESET, committed(42_002, 98), *READ[3:], dropped(100_000, C), *LATER),
    silent(*RESET, committed(42_002, 98, "c2:1"), *READ[3:], dropped(100_000, C), *LATER),
    silent(*RESET, taken(2, C2, 98), committed(42_003, 98), *READ[3:], dropped(100_000, C), *LATER),
    silent(*RESET, taken(2, C2, 98), dropped(3, C2), committed(42_003, 98), *READ[3:], dropped(100_000, C), *LATER),
    again(*RESET, taken(2, C2, 98), dropped(3, C2), committed(42_004, 98), *READ[3:], dropped(100_000, C), *LATER),
    silent(*KNOWN, dropped(5, C), settled(10, 98, 99), *LATER),
    silent(*READ, dropped(10, C), *LATER),
    silent(*READ, dropped(2_009, C), *LATER),
    silent(*READ, dropped(2_009, C), dropped(200_000, C), *LATER),
    again(*READ, dropped(2_010, C), *LATER),
    again(*READ, dropped(100_000, C), *LATER),
    again(*READ, remembered(10), dropped(11, C), *LATER),
    silent(*READ, remembered(10, C2), dropped(11, C), *LATER),
    silent(*READ, remembered(10, offset=98), dropped(11, C), *LATER),
    silent(*KNOWN, remembered(5), settled(10, 98, 99), dropped(11, C), *LATER),
    silent(*READ, dropped(11, C), answered(300_000, 98), remembered(300_001), taken(300_002, C2, 98)),
    again(*KNOWN, dropped(5, C), answered(6, 100), taken(7, C2, 100), dropped(8, C2), *LATER),
    # X1: the client was killed.
    again(*READ, killed(10, C), *LATER, causes=("X1",)),
    again(*READ, killed(31_010, C), *LATER, causes=("X1",)),
    again(*READ, killed(31_011, C), *LATER),
    again(*READ, *PAUSED_TWICE, killed(31_100, C), *LATER, causes=("X1",)),
    again(*READ, *PAUSED_TWICE, killed(31_101, C), *LATER),
    again(*READ, killed(31_101, C), *PAUSED_TWICE, *LATER),
    again(*KNOWN, killed(5, C), STARTED, taken(6, C, 98), settled(10, 98, 99), dropped(100_000, C), *LATER),
    again(*READ, killed(11, C), killed(200_000, C), *LATER, causes=("X1",)),
    # X15: its consumer stopped.
    again(*READ, (11, C, ConsumerStopping(C, G)), *LATER, causes=("X15",)),
    again(*READ, (2_009, C, ConsumerStopping(C, G)), *LATER, causes=("X15",)),
    again(*READ, (2_010, C, ConsumerStopping(C, G)), *LATER),
    again(*READ, (15, C, ConsumerStopping(C, G)), remembered(15), *LATER, causes=("X15",)),
    again(*READ, remembered(14), (15, C, ConsumerStopping(C, G)), *LATER),
    # D1: a joiner was early.
    again(*READ, *begun(11), causes=("D1",)),
    again(*READ, *begun(31_010), causes=("D1",)),
    # Nobody has settled what it begins at, which was filtered away, but what comes behind it.
    again(*READ, answered(11, 96), taken(12, C2, 96), causes=("D1",)),
    again(*KNOWN, answered(11, 96), taken(12, C2, 96)),
    # The first of two members that have settled what is begun again says why, and not the other one.
    again(*KNOWN, settled(10, 98), remembered(10, offset=99), dropped(100_000, C), answered(100_001, 99),
          taken(100_002, "c3", 99), settled(100_010, 99, at="c3"), killed(100_011, "c3"), *LATER),
    again(*KNOWN, settled(10, 98), killed(11, C), answered(100_001, 99), taken(100_002, "c3", 99),
          settled(100_010, 99, at="c3"), remembered(100_010, "c3"), dropped(200_000, "c3"), *LATER, causes=("X1",)),
    again(*KNOWN, settled(10, 99), answered(11, 96), taken(12, C2, 96)),
    again(*READ, *begun(31_011)),
    again(*READ, remembered(10), dropped(20, C), *begun(5_020), causes=("D1",)),
    again(*READ, remembered(10), dropped(20, C), *begun(5_021)),
    # The process that has settled it stands still meanwhile.
    silent(*READ, *PAUSED_TWICE, dropped(2_099, C), *LATER),
    again(*READ, *PAUSED_TWICE, dropped(2_100, C), *LATER),
    again(*READ, (20, C2, ProcessPaused(80)), dropped(2_099, C), *LATER),
    again(*READ, *PAUSED_TWICE, (2_099, C, ConsumerStopping(C, G)), *LATER, causes=("X15",)),
    again(*READ, *PAUSED_TWICE, (2_100, C, ConsumerStopping(C, G)), *LATER),
    again(*READ, remembered(10), dropped(20, C), *PAUSED_TWICE, *begun(5_110), causes=("D1",)),
    again(*READ, remembered(10), dropped(20, C), *PAUSED_TWICE, *begun(5_111)),
    # X3: the commit did not come.
    again(*SENT, *LATER, causes=("X3",)),
    again(*SENT, HEARD, *LATER),
    # X3: the broker has another address now than in the last route that its sender was told.
    *(again(*GIVEN_UP, *told, sent(100_001, 100), HEARD, *LATER, causes=causes, brokers=brokers)
      for told, brokers, causes in (
          ((route(100_000, OLD),), MOVED, ("X3",)), ((route(100_000, NEW),), MOVED, ()), ((), MOVED, ()),
          ((route(99_999, OLD), route(100_000, NEW)), MOVED, ()),
          ((route(99_999, NEW), route(100_000, OLD)), MOVED, ("X3",)),
          ((route(100_000, OLD, at=C2),), MOVED, ()), ((route(100_000, OLD, topic="invoices"),), MOVED, ()),
          ((route(100_000, OLD),), (), ()), ((route(100_000, OLD),), (BROKER._replace(broker_id=1),), ()),
          ((route(100_000, OLD),), (BROKER._replace(broker_name="broker-b"),), ()))),
    again(*GIVEN_UP, route(100_000, NEW), sent(100_001, 100), HEARD, route(100_002, OLD), *LATER, brokers=MOVED),
    again(*SENT, heard(102_001), *LATER),
    again(*SENT, heard(102_002), *LATER, causes=("X3",)),
    again(*GIVEN_UP, heard(100_000), sent(100_001, 100), *LATER, causes=("X3",)),
    again(*SENT, HEARD, *LATER, bounds=NETWORK),
    *(again(*GIVEN_UP, record, sent(100_001, 100), HEARD, *LATER, causes=causes) for causes, record in (
        (("X3",), (100_001, C, MessageLost(B))), ((), (100_000, C, MessageLost(B))),
        ((), (100_001, C, MessageLost(B2))), ((), (100_001, C2, MessageLost(B))),
        (("X3",), (100_001, B, ConnectionSevered(C, None))), (("X3",), (100_001, C, PartitionBegan(B))),
        (("X3",), (100_001, C, ConnectionRefused(B))), ((), (100_000, C, ConnectionRefused(B))),
        (("X3",), (-21_999, C, ConnectionSevered(B, None))), ((), (-22_000, C, ConnectionSevered(B, None))))),
    again(*SENT, HEARD, (105_001, C, ConnectionSevered(B, 0)), *LATER, causes=("X3",)),
    again(*SENT, HEARD, (105_002, C, ConnectionSevered(B, 0)), *LATER),
    again(*SENT, HEARD, (200_000, B, BrokerStopping(B)), *LATER),
    # X3: who stood still has not heard of the end of its connection.
    *(again(*GIVEN_UP, (ms, C, ProcessPaused(still_ms)), (at_ms, B, BrokerStopping(B)), (at_ms, *START[1:]),
            sent(100_001, 100), HEARD, *LATER, causes=causes) for causes, ms, still_ms, at_ms in (
        (("X3",), 70_000, 30_000, 80_000), ((), 70_000, 30_000, 69_999), (("X3",), 70_000, 30_000, 70_000),
        (("X3",), 70_000, 25_001, 80_000), ((), 70_000, 25_000, 80_000))),
    # X3: no route led to the broker when the queue was given up, or the consumer stopped.
    again(*ROUTED, UNROUTED, settled(10, 98, 99), dropped(100_000, C), *LATER, causes=("X3",)),
    again(*ROUTED, UNROUTED, settled(10, 98, 99), (100_000, C, ConsumerStopping(C, G)),
          (100_000, C, ConsumerShutDown(C, G)), *LATER, causes=("X3",)),
    again(*ROUTED, UNROUTED, settled(10, 98, 99), ROUTED_AGAIN, dropped(100_000, C), *LATER),
    again(*ROUTED, UNROUTED, settled(10, 98, 99), (100_000, *ROUTED[-1][1:]), dropped(100_000, C), *LATER),
    again(*ROUTED, settled(10, 98, 99), remembered(10), (20, *UNROUTED[1:]), dropped(20, C), *LATER, causes=("X3",)),
    again(*ROUTED, settled(10, 98, 99), (31_010, *UNROUTED[1:]), dropped(100_000, C), *LATER, causes=("X3",)),
    again(*ROUTED, settled(10, 98, 99), (31_011, *UNROUTED[1:]), dropped(100_000, C), *LATER),
    again(*ROUTED, (2, C, RouteUpdated(C, G, "invoices", THERE)), UNROUTED, settled(10, 98, 99), dropped(100_000, C),
          *LATER),
    again(*GIVEN_UP, (95_001, B, BrokerStopping(B)), sent(100_001, 100), HEARD, *LATER, causes=("X3",)),
    again(*GIVEN_UP, (95_000, B, BrokerStopping(B)), (95_000, *START[1:]), sent(100_001, 100), HEARD, *LATER),
    again(*SENT, HEARD, *begun(105_001), causes=("X3",)),
    again(*SENT, HEARD, *begun(105_002)),
    again(*SENT, answered(300_000, 98), committed(300_001, 100), answered(300_002, 100), taken(300_003, C2, 98),
          causes=("X3",)),
    again(*SENT, committed(149_000, 97), committed(150_000, 98), *LATER, causes=("X3",)),
    again(*READ, sent(10, 100), dropped(11, C), *LATER, causes=("X3",)),
    silent(*READ, sent(10, 98), dropped(11, C), *LATER),
    silent(*KNOWN, sent(5, 100), settled(10, 98, 99), dropped(11, C), *LATER),
    again(*READ, sent(10, 100), committed(10, 100), *LATER),
    # X1: the broker was killed.
    again(*CAME, *LATER),
    again(*SENT, committed(100_002, 100), killed(100_002, B), *LATER, causes=("X1",)),
    again(*CAME, killed(112_002, B), *LATER, causes=("X1",)),
    again(*CAME, killed(112_003, B), *LATER),
    again(*CAME, killed(100_003, B), killed(200_000, B), *LATER, causes=("X1",)),
    again(*GIVEN_UP, killed(50_000, B), (50_001, B, BrokerStarted(B, B, 0)), sent(100_001, 100),
          committed(100_002, 100), *LATER),
    again(*CAME, power_lost(200_000), *LATER, causes=("X1",)),
    again(*CAME, power_lost(100_002), killed(200_000, B), *LATER, causes=("X1",)),
    again(*READ, LOST_POWER, START, *SENT[len(READ):], committed(100_002, 100), *LATER),
    # X25: it has expired, and nothing has raised the offset.
    again(*KNOWN, EXPIRED, dropped(100_000, C), *LATER, causes=("X25",)),
    again(*KNOWN, EXPIRED, remembered(11), dropped(100_000, C), *LATER, causes=()),
    again(*READ, (10, C, MessagesExpired(C, G, MQ, (97,))), dropped(100_000, C), *LATER, causes=()),
    # X28: the timer was at committing from before the queue was taken until it was settled.
    *(again(*KNOWN[:-1], *before, KNOWN[-1], *READ[3:], *between, remembered(10), *after, dropped(100_000, C), *LATER,
            causes=causes)
      for before, between, after, causes in (
          ((at_it(0),), (), (), ("X28",)), ((at_it(0),), (), (through(10),), ("X28",)), ((), (at_it(10),), (), ()),
          ((at_it(0),), (through(10),), (), ()), ((at_it(0), through(0)), (), (), ()), ((at_it(0, C2),), (), (), ()),
          ((at_it(0), through(0), at_it(0)), (), (), ("X28",)), ((), (), (at_it(10),), ()),
          ((at_it(0),), (), (through(10), remembered(11)), ()), ((at_it(0, client_id=C2),), (), (), ()),
          ((at_it(0),), (through(10, C2),), (), ("X28",)))),
    again(*KNOWN[:-1], at_it(0), KNOWN[-1], *READ[3:], remembered(10), dropped(100_000, C),
          answered(300_000, 98, C), taken(300_001, C, 98), causes=("X28",)),
    again(*GIVEN_UP, at_it(200_000), answered(300_000, 98, C), taken(300_001, C, 98)),
    # L2: nobody has answered where it is begun, nor that there is no offset.
    again(*CAME, answered(300_000, 100), taken(300_001, C2, 98), causes=("L2",)),
    again(*CAME, taken(300_001, C2, 98), causes=("L2",)),
    again(*CAME, answered(300_000, -1), taken(300_001, C2, 98)),
    Written("settled_is_not_begun_again", (*CAME, taken(300_001, C2, 98)), bounds=CALM, causes=(),
            views=Tables(consume_from=(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, ""))),
    # X4, B-32 and B-18: a commit of less came behind it.
    again(*CAME, committed(100_003, 98, "c2:1"), *LATER, causes=("X4",)),
    again(*CAME, committed(100_003, 98, "c1:2"), *LATER, causes=("B-32",)),
    again(*CAME, committed(100_003, 98), *LATER, causes=("B-18",)),
    again(*GIVEN_UP, sent(100_000, 98), *CAME[len(GIVEN_UP):], committed(100_003, 98), *LATER, causes=("B-18",)),
    again(*CAME, sent(100_003, 98), committed(100_003, 98), *LATER, causes=("X23",)),
    again(*CAME, committed(100_003, 98), committed(100_004, 100), *LATER),
    again(*CAME, committed(100_003, 98, "c2:1"), committed(100_004, 100, "c3:1"), *LATER),
    # X8 and B-28: it came to another broker of that name.
    again(*SENT, SLAVE, committed(100_002, 100, broker=B2), *LATER, causes=("X8",)),
    again(*SENT, SLAVE, committed(100_002, 100, broker=B2), committed(100_003, 100), *LATER),
    again(SLAVE, LED, *SENT, committed(299_999, 100), *begun(300_000, B2), causes=("B-28",)),
    again(SLAVE, LED, *SENT, committed(279_000, 100), *begun(300_000, B2), causes=("B-28",)),
    again(SLAVE, LED, *SENT, committed(278_999, 100), *begun(300_000, B2)),
    again(SLAVE, LED, *CAME, *begun(300_000, B2), bounds=NETWORK),
    again(SLAVE, LED, *CAME, (299_999, B2, ConnectionSevered(B, None)), *begun(300_000, B2), causes=("B-28",)),
    again(SLAVE, LED, *CAME, (299_999, B2, ConnectionSevered(C, None)), *begun(300_000, B2)),
    again(SLAVE, LED, *CAME, (100_002, B2, ProcessPaused(179_998)), *begun(300_000, B2), causes=("B-28",)),
    again(SLAVE, LED, *CAME, killed(121_002, B), *begun(300_000, B2), causes=("B-28",)),
    again(SLAVE, LED, *CAME, killed(121_003, B), *begun(300_000, B2)),
    # A slave that does not know its master copies nothing.
    again(SLAVE, *SENT, committed(278_999, 100), *begun(300_000, B2), causes=("B-28",)),
    again(SLAVE, *CAME, led(279_001), *begun(300_000, B2), causes=("B-28",)),
    again(SLAVE, *CAME, led(278_999), *begun(300_000, B2)),
    again(SLAVE, LED, *CAME, led(110_000, None), *begun(300_000, B2), causes=("B-28",)),
    again(SLAVE, LED, *CAME, led(110_000, None), led(200_000), *begun(300_000, B2)),
    again(SLAVE, LED, *CAME, led(110_000, None, B), *begun(300_000, B2)),
    again((0, B2, BrokerStarted(B2, B, 0)), *SENT, committed(278_999, 100), *begun(300_000, B2)),
    again(SLAVE, LED, *READ, killed(50_000, B), START, remembered(60_000), dropped(100_000, C), sent(100_001, 100),
          committed(100_002, 100), *begun(300_000, B2)),
)
