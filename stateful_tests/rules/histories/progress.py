"""Written histories of progress: what clients commit of what they have settled, and what resets do to it."""

from __future__ import annotations

from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.decisions.route_queues import QueueData
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ConsumerSuspended,
    GroupRemoved,
    InquiryAnswered,
    InquiryMade,
    ListenerEnded,
    ListenerStarted,
    MessageAppended,
    MessagesFound,
    MessagesSettled,
    NameServerChosen,
    OffsetAnswered,
    OffsetCorrected,
    OffsetReset,
    OffsetResetPushed,
    OffsetSent,
    OffsetsReset,
    OffsetsWritten,
    OffsetUpdated,
    ProcessKilled,
    ProcessPaused,
    ProcessStarted,
    PullAnswered,
    PullBegun,
    PullSuspended,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    ResetReceived,
    RouteUpdated,
    SubscriptionUpdated,
    TimerJobBegan,
    TimerJobEnded,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.rules.resets import OFFSET_OF_TIME
from invariants.views import Broker, HeldQueue
from stateful_tests.rules.histories.promises import MEMBER
from stateful_tests.rules.written import STORMY, Tables, Turns, Written

MQ, MQ2 = (MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2))
B, C, G, AT = "broker-a", "c1", "G", "c1:32768"
START, START_THERE = ((0, at, BrokerStarted(at, at, 0)) for at in (B, "broker-b"))
CLUSTERING = (0, C, ConsumerStarted(C, G, "CLUSTERING", orderly=False))
ROUTED = (0, C, RouteUpdated(C, G, "orders", frozenset({MQ})))
UNROUTED = (3, C, RouteUpdated(C, G, "orders", frozenset()))
PUT, PUT2, PUT_AGAIN, PUT_THERE = (
    (0, at, MessageAppended(at, "orders", queue_id, 100, offset, 100, "k"))
    for at, queue_id, offset in ((B, 0, 500), (B, 1, 500), (B, 0, 900), ("broker-b", 0, 500)))
TAKEN = (1, C, QueueTaken(C, G, MQ, 100))
TAKEN2 = (1, C, QueueTaken(C, G, MQ2, 100))
DROPPED = (2, C, QueueDropped(C, G, MQ))
GIVEN_UP = (2, C, QueueDropped(C, G, MQ, by_rebalance=True))
RESET = (2, C, OffsetReset(C, G, MQ, 2))
UPDATED = (3, C, OffsetUpdated(C, G, MQ, 102))
UPDATED_AGAIN = (4, C, OffsetUpdated(C, G, MQ, 104))
AT_WORK, DONE = (1, C, ListenerStarted(C, G, MQ)), (3, C, ListenerEnded(C, G, MQ))
COMMITTING, COMMITTED = (1, C, TimerJobBegan(C, "persistAllConsumerOffset", 5_000)), (
    3, C, TimerJobEnded(C, "persistAllConsumerOffset"))
OTHER_JOB = (1, C, TimerJobBegan(C, "sendHeartbeatToAllBroker", 30_000))
CORRECTED = (1, C, OffsetCorrected(C, G, MQ, 2))
STOPPING = (4, C, ConsumerStopping(C, G))
SHUT_DOWN = (4, C, ConsumerShutDown(C, G))
STILL, STILL_AGAIN = ((ms, C, ProcessPaused(1_000)) for ms in (4, 504))
DIES = (2, C, ProcessKilled(1, power_loss=False))
RECEIVED = (2, C, ResetReceived(C, G, frozenset({(MQ, 2)})))
BOTH_RECEIVED = (2, C, ResetReceived(C, G, frozenset({(MQ, 2), (MQ2, 2)})))
ASSIGNED = (3, C, QueuesAssigned(C, G, "orders", frozenset(), changed=True))
AT_REST, AWAKE = (Tables(consumers=[MEMBER._replace(machine=C, client_id=C, group=G, pause=pause)])
                  for pause in (True, False))
IN_TABLE = Tables(process_queues=[HeldQueue(C, C, G, MQ, True, True, False, 0, 0)])
RED = (1, B, SubscriptionUpdated(B, G, "orders", "red", 1, attached=True))
FOUND_ONE, SETTLED_ONE = (2, C, MessagesFound(C, G, MQ, (102,))), (3, C, MessagesSettled(C, G, MQ, (102,)))
WENT_TO = (2, "operator", OffsetsReset(B, G, "orders", 70, ((0, 4),)))

RENEWED = ConsumerRegistered(B, "G", "c1", "c1:1", True, False, frozenset())
LISTED, PUSHED = (0, B, RENEWED), (3_000_000, B, OffsetResetPushed(B, "G", "orders", "c1:1", delivered=True))
RESET_LATE = (3_000_001, *WENT_TO[1:])
BY_FORCE = (2, "operator", WENT_TO[2]._replace(is_force=True))
TO_THE_END = (2, "operator", WENT_TO[2]._replace(timestamp=-1, is_force=True))
NOW_MS = 90_000

Told = tuple[int, str, Any]


def ends(before: int, now: int) -> Tables:
    """Where the queue ended five seconds ago, and where it does now."""
    return Tables(brokers=[Broker(B, B, 0, f"{B}:10911", NOW_MS, None)],
                  first_stored=lambda _, __, ___, ms: {NOW_MS - 5_000: before}[ms], queue_end=now)


def asks_for(what: str = OFFSET_OF_TIME) -> Told:
    """An operator asks a broker where the messages of a time begin."""
    return 1, "operator", InquiryMade(B, what, "orders 0 70", 1)


def is_told(offset: int, what: str = OFFSET_OF_TIME) -> Told:
    """He is answered."""
    return 2, "operator", InquiryAnswered(B, what, "orders 0 70", 1, (offset,))


def log_from(at: int, *units: tuple[str, int, int]) -> Tables:
    """The log of the broker begins there; units -- of first queues: at which broker, its number, and what it names."""
    named = {(broker, "orders", 0, number): offset for broker, number, offset in units}
    return Tables(log_begin=at, queue_unit=lambda *asked: named.get(asked))


def has_queues(many: int) -> Tables:
    """How many queues the topic has."""
    return Tables(topics={"orders": QueueData(B, 8, many, 6, 0)})


def heard(client: str, text: str) -> Told:
    """A broker enters a heartbeat of a member."""
    return 0, B, ConsumerRegistered(B, G, client, f"{client}:1", True, True, frozenset({("orders", text, 1)}))


DIFFER = START, heard(C, "red"), heard("c2", "*")
ALIKE = START, heard(C, "*"), heard("c2", "*")
OF_ONE = START, heard(C, "red"), heard(C, "*")


def passed(code: int) -> Told:
    """A pull is answered, and the next one is to begin at 105."""
    return 2, C, PullAnswered(C, G, MQ, code, 105)


def pulled(offset: int, ms: int = 1) -> Told:
    """A pull begins."""
    return ms, C, PullSuspended(C, G, MQ, offset)


PULLED, PULLS_ON = pulled(105), pulled(105, 2)
BEGUN = (2, C, PullBegun(C, G, MQ, 105))


def sent(offset: int, ms: int = 3) -> Told:
    """A client commits."""
    return ms, C, OffsetSent(C, G, MQ, offset)


def found(*offsets: int) -> Told:
    """A client has messages."""
    return 2, C, MessagesFound(C, G, MQ, offsets)


def settled(*offsets: int) -> Told:
    """A client has read messages."""
    return 3, C, MessagesSettled(C, G, MQ, offsets)


def remembered(offset: int) -> Told:
    """A client has an offset in memory."""
    return 3, C, OffsetUpdated(C, G, MQ, offset)


def answered(ms: int, offset: int) -> Told:
    """A client is told an offset."""
    return ms, B, OffsetAnswered(B, G, "orders", 0, AT, offset)


def begins(ms: int, group: str = G, at: str = C) -> Told:
    """A reset, or the application, suspends a consumer."""
    return ms, at, ConsumerSuspended(C, group)


SENT_MS, LATE_MS = deadlines.sent(STORMY), 1_000_000
RESET_MS, FORGETS_MS = deadlines.reset(STORMY), deadlines.given_up(STORMY)
LOOKED_AT = (RESET_MS + 3, "world", WorldHealed())
DIES_LATER = (2 * RESET_MS, C, ProcessKilled(1, power_loss=False))
TAKEN_OUT_MS = deadlines.handed_over(STORMY)
HELD = (CLUSTERING, ROUTED, TAKEN, found(100, 101))

ALL = (0, C, ConsumerStarted(C, G, "BROADCASTING", orderly=False))


def written(*offsets: tuple[MessageQueue, int], group: str = G, ms: int = 5) -> Told:
    """A broadcasting member has written its file."""
    return ms, C, OffsetsWritten(C, group, offsets)


def looks(ms: int) -> Told:
    """It is time to look."""
    return ms, "world", WorldHealed()


NS, NS2 = "nameserver1", "nameserver2"
KILLED = ProcessKilled(1, power_loss=False)
UP, SLAVE_UP, OTHER_UP = (0, "broker-a", BrokerStarted("broker-a", "broker-a", 0)), (
    0, "b2", BrokerStarted("b2", "broker-a", 1)), (0, "b2", BrokerStarted("b2", "broker-b", 0))
DOWN, VANISHED = (0, "broker-a", BrokerStopping("broker-a")), (0, "broker-a", ProcessKilled(1, power_loss=True))
NO_POWER, COMES_LATE = (0, NS, ProcessKilled(1, power_loss=True)), ((3, NS, ProcessStarted(2)),)
CHOSEN = 3, C, NameServerChosen(f"{NS2}:9876", frozenset({f"{NS}:9876", f"{NS2}:9876"}))
AGAIN, WAITING = "held_queue_is_committed_again", "waiting_queue_is_committed"
CALM = Bounds()
CALM_MS = deadlines.sent(CALM)
WAITS, ROUTED_LATER = passed(PullCode.PULL_NOT_FOUND), (3, *ROUTED[1:])
HISTORIES = (
    Written(AGAIN, (TAKEN, sent(100)), (TAKEN, sent(100), DROPPED), says="has not committed queue 0 of orders"),
    Written(AGAIN, (TAKEN, sent(100)), (sent(100),)),
    Written(AGAIN, (TAKEN, sent(100), looks(CALM_MS + 4), (CALM_MS + 5, *DROPPED[1:])), bounds=CALM,
            kept=(TAKEN, sent(100), sent(100, 4), looks(CALM_MS + 4), (CALM_MS + 5, *DROPPED[1:]))),
    Written(AGAIN, (TAKEN, sent(100), ROUTED_LATER), (TAKEN, sent(100), UNROUTED)),
    Written(AGAIN, (TAKEN, TAKEN2, sent(100), UNROUTED, (3, C, OffsetSent(C, G, MQ2, 100))),
            (TAKEN, sent(100), RED, STOPPING)),
    Written(AGAIN, (TAKEN, sent(100)), (TAKEN, sent(100)), kept_views=Tables(calm=False)),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS), (CLUSTERING, TAKEN, PULLED, WAITS, sent(105)),
            says="has not committed 105 of queue 0 of orders at broker-a, where it waits"),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS, sent(104)), (CLUSTERING, TAKEN, PULLED, found(101), WAITS)),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS), (CLUSTERING, TAKEN, PULLED, passed(PullCode.SUCCESS))),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS), (ALL, TAKEN, PULLED, WAITS)),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS), (CLUSTERING, WAITS)),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, sent(104, 1), WAITS),
            (CLUSTERING, TAKEN, PULLED, sent(105, 1), WAITS)),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, found(101), settled(101), WAITS),
            (CLUSTERING, TAKEN, PULLED, found(101), WAITS)),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS, (3, *WAITS[1:]), looks(CALM_MS + 3), sent(105, CALM_MS + 4)),
            kept=(CLUSTERING, TAKEN, PULLED, WAITS, looks(CALM_MS + 2), sent(105, CALM_MS + 3)), bounds=CALM),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS, ROUTED_LATER), (CLUSTERING, TAKEN, PULLED, WAITS, UNROUTED)),
    Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS), (CLUSTERING, TAKEN, PULLED, WAITS),
            kept_views=Tables(calm=False)),
    # A pull of a former holding is answered late, or another one.
    *(Written(WAITING, (CLUSTERING, TAKEN, PULLED, WAITS), (CLUSTERING, *kept, WAITS)) for kept in (
        (PULLED, TAKEN), (TAKEN, PULLED, TAKEN), (TAKEN, PULLED, DROPPED, TAKEN), (TAKEN, pulled(104)),
        (TAKEN, PULLED, pulled(106)))),
    Written("settled_is_written", (ALL, TAKEN, UPDATED), (ALL, TAKEN, UPDATED, written((MQ2, 1), (MQ, 102))),
            says="c1 has not written 102 of queue 0"),
    Written("settled_is_written", (ALL, TAKEN, UPDATED, written((MQ, 101))), (ALL, TAKEN, UPDATED, written((MQ, 103)))),
    Written("settled_is_written", (ALL, TAKEN, UPDATED, written((MQ2, 102))), (CLUSTERING, TAKEN, UPDATED)),
    Written("settled_is_written", (ALL, TAKEN, UPDATED, written((MQ, 102), group="H")), (ALL, UPDATED)),
    Written("settled_is_written", (ALL, TAKEN, UPDATED, UPDATED_AGAIN), (ALL, TAKEN, UPDATED, UPDATED_AGAIN,
                                                                         written((MQ, 102)))),
    # A broker has filtered away what lies before 105; a message before that is still open.
    Written("only_the_settled_is_committed", (TAKEN, RED, passed(20), sent(106)), (TAKEN, RED, passed(20), sent(105))),
    Written("only_the_settled_is_committed", (TAKEN, passed(20), sent(105)), (TAKEN, RED, passed(20), sent(105))),
    # An ordered queue is pulled first behind what was read when it was taken.
    *(Written("only_the_settled_is_committed", broken, (TAKEN, BEGUN, sent(105)), causes=()) for broken in (
        (TAKEN, sent(105)), (TAKEN, BEGUN, sent(106)), (BEGUN, TAKEN, sent(105)),
        (TAKEN, (2, "c2", BEGUN[2]), sent(105)), (TAKEN, (2, C, BEGUN[2]._replace(offset=104)), sent(105)))),
    Written("only_the_settled_is_committed", (TAKEN, (2, C, BEGUN[2]._replace(offset=99)), sent(101)),
            (TAKEN, (2, C, BEGUN[2]._replace(offset=99)), sent(100))),
    # A client has dropped all that it was given, as all had other tags, and pulls on.
    Written("only_the_settled_is_committed", (TAKEN, RED, passed(0), sent(105)), (
        TAKEN, RED, passed(0), PULLS_ON, sent(105)), causes=()),
    Written("only_the_settled_is_committed", (TAKEN, RED, passed(0), found(102), PULLS_ON, sent(105)), (
        TAKEN, RED, found(100), settled(100), passed(0), PULLS_ON, sent(105))),
    Written("only_the_settled_is_committed", (TAKEN, passed(0), PULLS_ON, sent(105)), (TAKEN, passed(0), PULLS_ON)),
    # L3: the last expression is that of a member that subscribes all, and a pull was filtered by that of another one.
    *(Written("only_the_settled_is_committed", (*told, TAKEN, *answers), causes=causes) for told, answers, causes in (
        (DIFFER, (passed(20), sent(105)), ("L3",)), (DIFFER, (passed(19), sent(105)), ("L3",)),
        (DIFFER, (passed(0), sent(105)), ()), (DIFFER, (found(100), sent(101)), ()),
        (ALIKE, (passed(20), sent(105)), ()), (OF_ONE, (passed(20), sent(105)), ()))),
    Written("only_the_settled_is_committed", (TAKEN, RED, passed(0), FOUND_ONE, sent(105, 4)),
            (TAKEN, RED, passed(0), FOUND_ONE, SETTLED_ONE, sent(105, 4))),
    Written("only_the_settled_is_committed", (TAKEN, found(100, 101), settled(101), sent(102)),
            (TAKEN, found(100, 101), settled(100), sent(101))),
    *(Written("only_the_settled_is_committed", told, (START, PUT, TAKEN, sent(101)), views=log_from(at),
              kept_views=log_from(501)) for told, at in (
        ((START, PUT, TAKEN, sent(101)), 500), ((START, TAKEN, sent(101)), 501),
        ((START, PUT, TAKEN, sent(102)), 501), ((START, PUT2, TAKEN, sent(101)), 501),
        ((START, PUT, PUT_AGAIN, TAKEN, sent(101)), 501), ((START, PUT_THERE, TAKEN, sent(101)), 501))),
    # Nobody saw that the message was put.
    *(Written("only_the_settled_is_committed", (START, TAKEN, sent(offset)), (START, TAKEN, sent(101)),
              views=log_from(at, *units), kept_views=log_from(501, (B, 100, 500))) for offset, at, units in (
        (101, 500, [(B, 100, 500)]), (102, 501, [(B, 100, 500)]), (101, 501, [("broker-b", 100, 500)]),
        (101, 501, [(B, 100, 501), (B, 101, 502)]), (101, 501, [(B, 102, 502)]))),
    Written("only_the_settled_is_committed", (START, START_THERE, TAKEN, sent(101)), (START, TAKEN, sent(101)),
            views=log_from(501, ("broker-b", 100, 500)), kept_views=log_from(501, (B, 100, 500))),
    Written("only_the_settled_is_committed", (START, TAKEN, sent(102)), (START, TAKEN, sent(101)),
            views=log_from(0, (B, 101, 500)), kept_views=log_from(0, (B, 101, 500))),
    Written("only_the_settled_is_committed", (START, PUT_AGAIN, TAKEN, sent(101)), (START, TAKEN, sent(101)),
            views=log_from(501, (B, 100, 500)), kept_views=log_from(501, (B, 100, 500))),
    Written("only_the_settled_is_committed", (START, answered(0, 101), TAKEN, sent(101)),
            (START, TAKEN, answered(2, 101), sent(101))),
    Written("given_up_is_not_committed", (TAKEN, DROPPED, sent(100, 3 + SENT_MS)),
            (TAKEN, DROPPED, sent(100, 2 + SENT_MS)), says="which it has given up"),
    *(Written("given_up_is_not_committed", (TAKEN, DROPPED, sent(100, LATE_MS)),
              (TAKEN, DROPPED, now, sent(100, LATE_MS)))
      for now in ((9, *TAKEN[1:]), RESET, (9, C, OffsetCorrected(C, G, MQ, 2)))),
    Written("given_up_is_not_committed", (TAKEN, DROPPED, sent(100, LATE_MS)),
            (TAKEN, TAKEN2, (2, C, QueueDropped(C, G, MQ2)), sent(100, LATE_MS))),
    Written("given_up_is_not_committed", (TAKEN, AT_WORK, DROPPED, DONE, sent(100, LATE_MS)),
            (TAKEN, AT_WORK, DROPPED, sent(100, LATE_MS))),
    Written("given_up_is_not_committed", (TAKEN, AT_WORK, DROPPED, DONE, sent(100, 4 + TAKEN_OUT_MS + SENT_MS)),
            (TAKEN, AT_WORK, DROPPED, DONE, sent(100, 3 + TAKEN_OUT_MS + SENT_MS))),
    # The process stands still before its timer sends it.
    Written("given_up_is_not_committed", (TAKEN, DROPPED, STILL, sent(100, 1_003 + SENT_MS)),
            (TAKEN, DROPPED, STILL, sent(100, 1_002 + SENT_MS))),
    Written("given_up_is_not_committed", (TAKEN, DROPPED, STILL, STILL_AGAIN, sent(100, 1_503 + SENT_MS)),
            (TAKEN, DROPPED, STILL, STILL_AGAIN, sent(100, 1_502 + SENT_MS))),
    Written("given_up_is_not_committed", (TAKEN, DROPPED, (4, "c2", STILL[2]), sent(100, 1_002 + SENT_MS))),
    Written("given_up_is_not_committed",
            (TAKEN, AT_WORK, DROPPED, DONE, STILL, sent(100, 1_004 + TAKEN_OUT_MS + SENT_MS)),
            (TAKEN, AT_WORK, DROPPED, DONE, STILL, sent(100, 1_003 + TAKEN_OUT_MS + SENT_MS))),
    Written("commits_of_a_holding_go_forward", (TAKEN, sent(2)), (TAKEN, RESET, sent(2))),
    Written("commits_of_a_holding_go_forward", (START, answered(0, 2), TAKEN, sent(2)),
            (START, TAKEN, answered(2, 2), sent(2))),
    Written("settled_is_committed", (*HELD, settled(100, 101), sent(101)), (*HELD, settled(100, 101), sent(102))),
    Written("settled_is_committed", (*HELD, settled(100, 101), UPDATED, DROPPED),
            (*HELD, settled(100, 101), UPDATED, DROPPED, sent(102))),
    # X28: the timer that commits was at it from before the queue was taken until it was settled.
    *(Written("settled_is_committed",
              (*HELD[:2], *before, *HELD[2:], *between, settled(100, 101), UPDATED, *after, STOPPING, SHUT_DOWN),
              causes=causes)
      for before, between, after, causes in (
          ((COMMITTING,), (), (), ("X28",)), ((COMMITTING,), (), (COMMITTED,), ("X28",)), ((), (COMMITTING,), (), ()),
          ((COMMITTING,), (COMMITTED,), (), ()), ((), (), (COMMITTING,), ()), ((OTHER_JOB,), (), (), ()))),
    # X29: the offset was corrected shortly before the queue was taken anew.
    *(Written("settled_is_committed",
              (*HELD[:2], *before, *HELD[2:], *between, *((ms, *one[1:]) for one in (
                  settled(100, 101), UPDATED, STOPPING, SHUT_DOWN))), causes=causes)
      for before, between, ms, causes in (
          ((CORRECTED,), (), 3, ("X29",)), ((CORRECTED,), (), 1 + FORGETS_MS, ("X29",)),
          ((CORRECTED,), (), 2 + FORGETS_MS, ()), (((1, "c2", CORRECTED[2]),), (), 3, ()),
          ((), (CORRECTED,), 3, ()))),
    Written("settled_is_committed", (*HELD, settled(100, 101), UPDATED, DROPPED, sent(2)),
            (*HELD, settled(100, 101), UPDATED, DROPPED, RESET, sent(2))),
    Written("settled_is_committed", (*HELD, GIVEN_UP, settled(100, 101), UPDATED),
            (CLUSTERING, TAKEN, found(100, 101), GIVEN_UP, settled(100, 101), UPDATED)),
    Written("settled_is_committed", (*HELD, settled(100, 101)), (*HELD, settled(100, 101), GIVEN_UP)),
    Written("settled_is_committed", (*HELD, settled(100, 101), UPDATED, STOPPING, SHUT_DOWN),
            (*HELD, settled(100, 101), STOPPING, SHUT_DOWN), says="stops and has not committed 102"),
    Written("settled_is_committed", (*HELD, settled(100, 101), UPDATED, STOPPING, SHUT_DOWN),
            (*HELD, settled(100, 101), STOPPING, (4, *UPDATED[1:]), SHUT_DOWN)),
    Written("settled_is_committed", (*HELD, settled(100, 101), UPDATED, UPDATED_AGAIN, sent(102)),
            (*HELD, settled(100, 101), UPDATED, STOPPING, UPDATED_AGAIN, sent(102), SHUT_DOWN)),
    Written("settled_is_committed", (*HELD, settled(100, 101)), (*HELD, STOPPING, settled(100, 101))),
    Written("settled_is_committed", (*HELD, settled(100, 101)), (*HELD, settled(100, 101), UNROUTED)),
    Written("settled_is_committed", (*HELD, settled(100, 101), UPDATED, UPDATED_AGAIN, sent(102)),
            (*HELD, settled(100, 101), UPDATED, UPDATED_AGAIN, sent(102), sent(104))),
    Written("settled_is_committed", (*HELD, settled(100), settled(101), sent(101)),
            (*HELD, settled(100), settled(101), sent(101), sent(102))),
    Written("settled_is_committed", (*HELD, settled(100), settled(101), sent(101)),
            (*HELD, settled(100), settled(101), STOPPING, sent(101))),
    Written("settled_is_committed", (*HELD, settled(100), settled(101), sent(101)),
            (*HELD, settled(100), (3, C, OffsetUpdated(C, G, MQ, 101)), settled(101), GIVEN_UP, sent(101))),
    # there is no master, and its client waits for a name server without power, and hangs up on the other.
    *(Written("settled_is_committed", (*before, *HELD, settled(100, 101), *more), causes=causes)
      for before, more, causes in (
          *((before, (CHOSEN,), ("R-3",)) for before in (
              (UP, DOWN, NO_POWER), (UP, VANISHED, NO_POWER), (UP, (3, *DOWN[1:]), NO_POWER),
              (UP, DOWN, OTHER_UP, NO_POWER), (UP, DOWN, NO_POWER, *COMES_LATE), (UP, DOWN, SLAVE_UP, NO_POWER))),
          *((before, (CHOSEN,), ()) for before in (
              (DOWN, UP, NO_POWER), (NO_POWER,), (UP, NO_POWER), (OTHER_UP, DOWN, NO_POWER),
              (UP, (0, "b2", DOWN[2]), NO_POWER), (SLAVE_UP, (0, "b2", DOWN[2]), NO_POWER), (UP, DOWN),
              (UP, DOWN, (0, NS, KILLED)), (UP, DOWN, (0, "ns3", NO_POWER[2])),
              (UP, DOWN, NO_POWER, (2, *COMES_LATE[0][1:])))),
          ((UP, DOWN, NO_POWER), (), ()), ((UP, NO_POWER), (CHOSEN, (4, *DOWN[1:])), ()),
          ((UP, DOWN, NO_POWER), ((2, *CHOSEN[1:]),), ()), ((UP, DOWN, NO_POWER), ((3, "c2", CHOSEN[2]),), ()))),
    # There is no master, and nobody who could tell its client of another one.
    *(Written("settled_is_committed", (*broken, *HELD, settled(100, 101), *more),
              (UP, DOWN, *kept, *HELD, settled(100, 101), CHOSEN))
      for broken, more, kept in (
          ((UP, DOWN), (CHOSEN,), ((0, NS, KILLED), (0, NS2, KILLED))),
          ((UP, DOWN, (0, NS, KILLED)), (CHOSEN,), (NO_POWER, (0, NS2, KILLED))),
          ((UP, DOWN, (0, NS, KILLED), (0, NS2, KILLED)), (), ((0, NS, KILLED), (0, NS2, KILLED), *COMES_LATE)),
          ((UP, (0, NS, KILLED), (0, NS2, KILLED)), (CHOSEN,), ((0, NS, KILLED), (0, NS2, KILLED), *COMES_LATE)),
          ((UP, DOWN, (0, NS, KILLED), (0, NS2, KILLED), (2, *COMES_LATE[0][1:])), (CHOSEN,),
           ((0, NS, KILLED), (0, NS2, KILLED))))),
    Written("settled_is_remembered", (TAKEN, found(100, 101), settled(100, 101), remembered(101)),
            (TAKEN, found(100, 101), settled(100, 101), remembered(102)), says="up to 102"),
    Written("settled_is_remembered", (TAKEN, found(100, 101), settled(101)),
            (TAKEN, found(100, 101), settled(101), remembered(100))),
    Written("settled_is_remembered", (TAKEN, found(100, 101), settled(100), settled(101), remembered(101)),
            (TAKEN, found(100, 101), settled(100), settled(101), remembered(102), remembered(101)), says="up to 102"),
    Written("settled_is_remembered", (TAKEN, found(100, 101), remembered(101), settled(100, 101)),
            (TAKEN, found(100, 101), remembered(102), remembered(101), settled(100, 101))),
    Written("settled_is_remembered", (TAKEN, found(100, 101), settled(100, 101)),
            (TAKEN, found(100, 101), GIVEN_UP, settled(100, 101))),
    Written("settled_is_remembered", (TAKEN, found(100, 101), remembered(102), RESET, found(2), settled(2)),
            (found(100, 101), settled(100, 101), remembered(102), remembered(101))),
    Written("reset_is_done", (TAKEN, RECEIVED), (TAKEN, RECEIVED, RESET)),
    Written("reset_is_done", (TAKEN, TAKEN2, BOTH_RECEIVED, RESET),
            (TAKEN, TAKEN2, BOTH_RECEIVED, RESET, (3, C, OffsetReset(C, G, MQ2, 2)))),
    Written("reset_member_goes_on", (RESET,), (RESET,), AT_REST, kept_views=AWAKE, says="and is still suspended"),
    Written("reset_member_goes_on", (RESET,), (RECEIVED,), AT_REST),
    Written("reset_member_goes_on", (begins(1), RESET), (RESET, begins(3)), AT_REST),
    Written("reset_member_goes_on", (RESET, begins(3, "H")), (RESET, DIES), AT_REST),
    Written("reset_member_goes_on", (RESET, (RESET_MS + 3, *LOOKED_AT[1:]), DIES_LATER),
            (RESET, (RESET_MS + 2, *LOOKED_AT[1:]), DIES_LATER), AT_REST),
    Written("reset_goes_where_it_is_told", (RECEIVED, (3, C, OffsetReset(C, G, MQ, 4))), (RECEIVED, RESET)),
    Written("reset_goes_where_it_is_told", (RECEIVED, (3, C, OffsetReset(C, G, MQ2, 2))), (BOTH_RECEIVED, RESET)),
    Written("reset_goes_where_it_is_told", (RECEIVED, DIES, RESET)),
    Written("reset_is_done", (TAKEN, RECEIVED, DROPPED), (TAKEN, RECEIVED, GIVEN_UP)),
    Written("reset_is_done", (TAKEN, RECEIVED), (TAKEN, RECEIVED, TAKEN)),
    Written("reset_is_done", (TAKEN, RECEIVED, ASSIGNED), (TAKEN, RECEIVED, ASSIGNED), views=IN_TABLE,
            kept_views=Tables(process_queues=[HeldQueue(C, C, "H", MQ, True, True, False, 0, 0)])),
    Written("reset_is_done", (TAKEN, RECEIVED, begins(RESET_MS // 2, "H"), LOOKED_AT, DIES_LATER),
            (TAKEN, RECEIVED, begins(RESET_MS // 2), LOOKED_AT, DIES_LATER)),
    Written("reset_is_done", (TAKEN, RECEIVED, begins(RESET_MS // 2, at="c2"), LOOKED_AT, DIES_LATER),
            (TAKEN, RECEIVED, begins(RESET_MS // 2), LOOKED_AT, DIES_LATER)),
    Written("reset_is_done", (TAKEN, RECEIVED, begins(RESET_MS // 2)), (TAKEN, RECEIVED, RESET)),
    Written("reset_takes_effect", (RESET, sent(9)), (RESET, sent(2))),
    Written("reset_takes_effect", (START, RESET, answered(3, 1), sent(9)), (START, RESET, answered(3, -1), sent(9))),
    Written("reset_takes_effect", (START, RESET, answered(3, 2), sent(9)), (START, RESET, answered(3, 3), sent(9))),
    Written("reset_takes_effect", (RESET, passed(20), sent(9)), (RESET, passed(21), sent(9))),
    Written("reset_goes_to_its_time", (START, WENT_TO), (START, WENT_TO),
            views=Tables(first_stored=5), kept_views=Tables(first_stored=4)),
    Written("reset_goes_to_its_time", (START, WENT_TO), (START, sent(4, 1), WENT_TO),
            views=Tables(first_stored=5)),
    Written("reset_goes_to_its_time", (START, sent(4, 1), WENT_TO), (START, WENT_TO),
            views=Tables(first_stored=3), kept_views=Tables(first_stored=None)),
    # By force it goes there whatever is committed. Its end is that of when the operator was answered, or just before.
    Written("reset_goes_to_its_time", (START, sent(4, 1), BY_FORCE), (START, BY_FORCE),
            views=Tables(first_stored=5), kept_views=Tables(first_stored=4)),
    Written("reset_goes_to_its_time", (START, TO_THE_END), (START, TO_THE_END),
            views=ends(5, 6), kept_views=ends(4, 6)),
    Written("reset_goes_to_its_time", (START, TO_THE_END), (START, TO_THE_END),
            views=ends(2, 3), kept_views=ends(2, 4)),
    Written("reset_goes_to_its_time", (START, answered(1, 3), WENT_TO), (START, answered(1, 4), WENT_TO),
            views=Tables(first_stored=4), says="goes on to 4, which nobody has committed"),
    Written("reset_goes_to_its_time", (START, answered(1, 3), WENT_TO), (START, answered(1, 3), BY_FORCE),
            views=Tables(first_stored=4)),
    Written("reset_goes_to_its_time", (START, answered(0, 2), answered(1, 3), WENT_TO),
            (START, answered(0, 4), answered(1, 3), WENT_TO), views=Tables(first_stored=4)),
    Written("time_leads_to_its_first_message", (asks_for(), is_told(4)), (asks_for(), is_told(5)),
            views=Tables(first_stored=5), says="is told 4 for 5"),
    # The queue has grown meanwhile.
    Written("time_leads_to_its_first_message", (asks_for(), is_told(8)), (asks_for(), is_told(7)),
            views=Tables(first_stored=Turns(5, 7))),
    Written("time_leads_to_its_first_message", (asks_for(), is_told(4)), (asks_for(), is_told(4)),
            views=Tables(first_stored=Turns(5, 7)), kept_views=Tables(first_stored=None)),
    Written("time_leads_to_its_first_message", (asks_for(), is_told(4)), (asks_for(), is_told(4)),
            views=Tables(first_stored=5), kept_views=Tables(first_stored=Turns(5, None))),
    Written("time_leads_to_its_first_message", (asks_for(), is_told(4)), (asks_for("end"), is_told(4, "end")),
            views=Tables(first_stored=5)),
    Written("time_leads_to_its_first_message", (asks_for(), is_told(4)),
            (asks_for(), (1, B, ProcessKilled(1, power_loss=False)), is_told(4)), views=Tables(first_stored=5)),
    Written("members_are_told_of_resets", (LISTED, RESET_LATE), (LISTED, PUSHED, RESET_LATE), says="not told c1:1"),
    *(Written("members_are_told_of_resets", (LISTED, RESET_LATE), (one, RESET_LATE)) for one in (
        (3_000_000, *LISTED[1:]), (0, B, LISTED[2]._replace(attached=False)), (0, B, LISTED[2]._replace(group="H")),
        (0, "broker-b", LISTED[2]._replace(broker="broker-b")))),
    *(Written("members_are_told_of_resets", (LISTED, one, RESET_LATE), (LISTED, PUSHED, RESET_LATE)) for one in (
        (100_000, *PUSHED[1:]), (3_000_000, B, PUSHED[2]._replace(topic="invoices")),
        (3_000_000, B, PUSHED[2]._replace(connection="c2:1")),
        (1, B, ConsumerRemoved(B, "G", "c1", "c1:1", "closed", attached=False)))),
    *(Written("members_are_told_of_resets", (LISTED, (1, B, RENEWED), RESET_LATE), (LISTED, one, RESET_LATE))
      for one in (
        (1, B, ConsumerRemoved(B, "G", "c1", "c1:1", "closed", attached=True)), (1, B, GroupRemoved(B, "G", ("c1",))),
        (1, B, ProcessKilled(1, power_loss=False)))),
    Written("reset_is_of_all_queues", (WENT_TO,), (WENT_TO,), views=has_queues(2), kept_views=has_queues(1),
            says="sets queues [0] of orders, and it has 2"),
    Written("reset_is_of_all_queues", (WENT_TO,), (WENT_TO,), views=has_queues(0), kept_views=Tables(topics={})),
    Written("commits_of_a_holding_go_forward", (START, TAKEN, answered(2, 100), sent(102), sent(100, 4)),
            (TAKEN, sent(100))),
    Written("settled_is_committed", (*HELD, settled(100, 101)),
            (*HELD, GIVEN_UP, settled(100, 101), (3, C, OffsetUpdated(C, G, MQ, 101)), sent(101))),
    Written("settled_is_committed",
            (*HELD, settled(100, 101), (3, C, RouteUpdated(C, G, "invoices", frozenset())))),
    Written("settled_is_committed",
            (*HELD, settled(100, 101), (3, "c2", RouteUpdated("c2", G, "orders", frozenset())))),
    Written("settled_is_committed", (*HELD, settled(100, 101), (3, *ROUTED[1:]))),
)
