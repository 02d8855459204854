"""Written histories of what brokers allow whom, and for how long."""

from __future__ import annotations

from typing import Any

from impl.decisions.flags import PERM_READ
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_TRANS_HALF_TOPIC
from impl.events import (
    BrokerStarted,
    ClockJumped,
    ConsumerStarted,
    HalfMessageEnded,
    InquiryAnswered,
    InquiryMade,
    LockReleased,
    LocksAnswered,
    MessageAppended,
    OrderGiven,
    ProcessKilled,
    PullAnswered,
    PullFailed,
    PullSuspended,
    QueueDropped,
    TransactionAsked,
)
from invariants.rules.permissions import IN_A_ROW, MAY_READ, PULL_BEFORE, REFUSAL, SEND_BEHIND, SEND_TO_A_SLAVE
from invariants.views import Written as Said
from stateful_tests.rules.histories.membership import BROKER
from stateful_tests.rules.written import Tables, Turns, Written

B, OTHER, C, G, OPERATOR = "broker-a", "broker-b", "c1", "G", "operator"
MQ, MQ2 = (MessageQueue("orders", B, queue_id) for queue_id in range(2))
NAME, REFUSED = f"{G} orders", 16
READ, LOCK, TURN, TIME, SLAVE = ("closed_is_not_read", "locks_last_a_minute", "producers_are_asked_in_turn",
                                 "half_message_has_its_time", "who_lags_is_sent_to_a_slave")
DIES = (3, B, ProcessKilled(1, power_loss=False))
Told = tuple[int, str, Any]


STARTS, STARTS_AS_SLAVE = (0, B, BrokerStarted(B, B, 0)), (0, B, BrokerStarted(B, B, 1))


# Who may read ---------------------------------------------------------------------------------------------------------

def may(perm: int = 6, consumes: bool | None = True) -> Tables:
    """The permission of the topic, and whether the group may consume; None: it is not configured."""
    return Tables(may_be_read=bool(perm & PERM_READ), may_consume=consumes)


def tries(what: str = MAY_READ, number: int = 1) -> Told:
    """A stranger pulls."""
    return 1, OPERATOR, InquiryMade(B, what, NAME, number)


def is_told(code: int, what: str = MAY_READ, number: int = 1) -> Told:
    """He is answered."""
    return 2, OPERATOR, InquiryAnswered(B, what, NAME, number, (code,))


def is_refused(what: str, code: int, of: str = REFUSAL) -> Told:
    """A stranger has asked for what must be refused, and is answered."""
    return 2, OPERATOR, InquiryAnswered(B, of, what, 1, (code,))


OPEN, SHUT = True, False
BROADCASTS, CLUSTERS = ((0, C, ConsumerStarted(C, G, model, orderly=False)) for model in ("BROADCASTING", "CLUSTERING"))


def forbids(is_allowed: bool | None, name: str = B, broker_id: int = 0) -> Tables:
    """What the broker's configuration of the group says of broadcasting."""
    return Tables(may_broadcast=is_allowed, brokers=[BROKER._replace(broker_name=name, broker_id=broker_id)])


def ordered(of: str) -> Told:
    """An operator changes a group."""
    return 1, OPERATOR, OrderGiven(B, "group", of, None)


# Locks ----------------------------------------------------------------------------------------------------------------

def clock(*times_ms: int) -> Tables:
    """What the broker's clock says each time."""
    return Tables(clock=Turns(*((lambda one=one: one) for one in times_ms)))


def answered(*granted: MessageQueue, who: str = C, ms: int = 1, asked: Any = None, group: str = G) -> Told:
    """A client is granted locks."""
    return ms, B, LocksAnswered(B, group, who, frozenset({MQ} if asked is None else asked), frozenset(granted))


GIVEN_BACK = (2, B, LockReleased(B, G, MQ, C))


# Transactions ---------------------------------------------------------------------------------------------------------

def half(ms: int = 1, key: str = "k", at: str = B, topic: str = RMQ_SYS_TRANS_HALF_TOPIC) -> Told:
    """A broker puts a half message."""
    return ms, at, MessageAppended(at, topic, 0, 0, 0, 100, key)


def asked(at: str = "p1", key: str = "k", group: str = "P", *, from_check: bool = True) -> Told:
    """A producer tells what became of it, since it is asked."""
    return 2, at, HalfMessageEnded(f"{at}@1", group, key, "UNKNOW", from_check)


def listener(ms: int, *, checked: bool = True, key: str = "k") -> Told:
    """An application is asked."""
    return ms, "p1", TransactionAsked("P", key, checked)


def producers(*connections: str) -> Tables:
    """Who is connected: the groups and connections."""
    return Tables(producers={("P", one): one[:2] for one in connections})


ROW = tuple(asked() for _ in range(IN_A_ROW))
TWO = producers("p1:1", "p2:1")


def own(seconds: str) -> Tables:
    """A half message with a time of its own."""
    return Tables(written=Said(0, (0, "0A2E1501", 1), (("CHECK_IMMUNITY_TIME_IN_SECONDS", seconds),)))


def made(*born_ms: int) -> Tables:
    """Half messages that were made then, and the clock of the broker when they are put."""
    said = Turns(*(Said(0, (ms, "0A2E1501", 1), ()) for ms in born_ms))
    return Tables(written=said, clock=lambda _: lambda: 1_501)


NO_OWN = Tables(written=Said(0, (0, "0A2E1501", 1), (("KEYS", "red"),)))


# Slaves ---------------------------------------------------------------------------------------------------------------

def pulls(offset: int = 0, most: int = 4) -> Told:
    """A member pulls."""
    return 1, C, PullSuspended(C, G, MQ, offset, f"{B}:10911", most)


def sent_to(broker_id: int, code: int = 0, going_on: int = 4) -> Told:
    """It is told whom to ask next."""
    return 2, C, PullAnswered(C, G, MQ, code, going_on, broker_id)


def far(near_from: int, *, reads_slaves: bool = True, end: int = 20, group: Any = (0, 1)) -> Tables:
    """A queue whose messages before this one are not in memory, and which ids the group has."""
    return Tables(is_far_back=lambda *about: about[3] < near_from if 0 <= about[3] < end else None, queue_end=end,
                  reads_slaves=reads_slaves, reads_at=group)


FAILS, GIVES_UP = (1, C, PullFailed(C, G, MQ)), (1, C, QueueDropped(C, G, MQ, True))

HISTORIES = (
    Written("refusals_say_their_code", (is_refused(SEND_BEHIND, 0),), (is_refused(SEND_BEHIND, 1),), causes=(),
            says="is answered 0 instead of 1"),
    *(Written("broadcast_can_be_forbidden", (BROADCASTS, sent_to(0)), (BROADCASTS, sent_to(0)), forbids(SHUT), kept)
      for kept in (forbids(OPEN), forbids(None), forbids(SHUT, OTHER), forbids(SHUT, broker_id=1))),
    Written("broadcast_can_be_forbidden", (BROADCASTS, sent_to(0)), (CLUSTERS, sent_to(0)), forbids(SHUT)),
    Written("broadcast_can_be_forbidden", (BROADCASTS, ordered("H"), sent_to(0)), (BROADCASTS, ordered(G), sent_to(0)),
            forbids(SHUT)),
    Written("refusals_say_their_code", (is_refused(SEND_TO_A_SLAVE, 1),), (
        is_refused(SEND_TO_A_SLAVE, 14), is_refused(SEND_TO_A_SLAVE, 2)), says="instead of 14"),
    Written("refusals_say_their_code", (is_refused(PULL_BEFORE, 19),), (is_refused(f"{G} orders", 0, MAY_READ),)),
    Written(READ, (tries(), is_told(0)), (tries(), is_told(REFUSED)), views=may(consumes=False), says="may not be"),
    Written(READ, (tries(), is_told(0)), (tries(), is_told(REFUSED)), views=may(perm=2)),
    Written(READ, (tries(), is_told(REFUSED)), (tries(), is_told(19)), views=may(), says="may be, and is answered 16"),
    Written(READ, (tries(), is_told(REFUSED)), (tries(), is_told(0)), views=may(consumes=None)),
    Written(READ, (tries(), is_told(0)), (tries(), is_told(0)), views=may(perm=2),
            kept_views=Tables(may_be_read=Turns(SHUT, OPEN), may_consume=None)),
    Written(READ, (tries(), is_told(0)), (tries(), is_told(17)), views=may(perm=2),
            kept_views=Tables(may_be_read=None)),
    Written(READ, (tries(), is_told(0)), (tries("end"), is_told(0, "end")), views=may(perm=2)),
    Written(READ, (tries(), is_told(0)), (tries(), is_told(0, number=2)), views=may(perm=2)),
    Written(READ, (tries(), is_told(0)), (tries(), is_told(0)), views=may(perm=2), kept_views=Tables(
        may_be_read=SHUT, may_consume=None, calm=False)),
    Written(LOCK, (answered(MQ), answered(MQ, who="c2")), (answered(MQ), answered(who="c2")),
            views=clock(0, 59_000), says="is granted queue 0 of orders at broker-a, which c1 was granted last"),
    Written(LOCK, (answered(MQ), answered(who="c2")), (answered(MQ), answered(MQ, who="c2")), views=clock(0, 61_000),
            says="is refused"),
    Written(LOCK, (answered(MQ), answered(MQ, who="c2")), (answered(MQ), answered(MQ, who="c2")),
            views=clock(0, 59_000), kept_views=clock(0, 59_001)),
    Written(LOCK, (answered(MQ), answered(who="c2")), (answered(MQ), answered(who="c2")), views=clock(0, 61_000),
            kept_views=clock(0, 60_999)),
    Written(LOCK, (answered(),), (answered(MQ),), views=clock(0), says="is refused queue 0 of orders at broker-a, "
                                                                       "which is free"),
    Written(LOCK, (STARTS, answered(ms=60_001)), (STARTS, answered(ms=60_000)), views=clock(0)),
    Written(LOCK, (STARTS, answered(MQ), answered(MQ, who="c2")), (STARTS, answered(MQ), answered(who="c2")),
            views=clock(0, 1)),
    Written(LOCK, (answered(MQ), answered()), (answered(MQ), answered(MQ)), views=clock(0, 90_000)),
    Written(LOCK, (answered(MQ), answered(MQ, who="c2")), (answered(MQ), GIVEN_BACK, answered(MQ, who="c2")),
            views=clock(0, 1)),
    Written(LOCK, (answered(MQ), answered(MQ, who="c2")), (answered(MQ), DIES, answered(MQ, who="c2")),
            views=clock(0, 1)),
    Written(LOCK, (answered(MQ), answered(MQ, who="c2")), (answered(MQ), answered(MQ, who="c2", group="H")),
            views=clock(0, 1)),
    Written(LOCK, (answered(MQ), answered(MQ2, MQ, who="c2", asked={MQ, MQ2})),
            (answered(MQ), answered(MQ2, who="c2", asked={MQ, MQ2})), views=clock(0, 1)),
    Written(LOCK, (answered(MQ), answered(MQ), answered(MQ, who="c2")),
            (answered(MQ), answered(MQ), answered(who="c2")), views=clock(0, 40_000, 70_000)),
    Written(LOCK, (answered(MQ), answered(MQ, who="c2")), (answered(MQ), answered(MQ, who="c2")), views=clock(0, 1),
            kept_views=Tables(clock=None)),
    # The broker is gone when its second answer comes: nobody can say how old the lock is.
    Written(LOCK, (answered(MQ), answered(MQ, who="c2")), (answered(MQ), answered(MQ, who="c2")), views=clock(0, 1),
            kept_views=Tables(clock=Turns(lambda: 0, None))),
    Written(TURN, (half(), *ROW), (half(), *ROW[1:]), views=TWO, says="asks p1 8 times in a row, of 2 producers of P"),
    Written(TURN, (half(), *ROW), (half(), *ROW), views=TWO, kept_views=producers("p1:1", "p1:2")),
    Written(TURN, (half(), *ROW), (half(), *ROW), views=TWO, kept_views=Tables(producers={
        ("P", "p1:1"): "p1", ("Q", "p2:1"): "p2"})),
    Written(TURN, (half(), *ROW), (half(), *ROW[2:], asked("p2"), *ROW[2:]), views=TWO),
    Written(TURN, (half(), *ROW), (half(), *[asked(from_check=False) for _ in ROW]), views=TWO),
    Written(TURN, (half(), *ROW), ROW, views=TWO),
    Written(TURN, (half(), *ROW), (half(topic="orders"), *ROW), views=TWO),
    Written(TURN, (half(), *ROW), (half(), half(key="l"), asked("p3", "l", "Q"), *ROW), views=TWO),
    Written(TURN, (half(), half(key="l", at=OTHER), asked("p3", "l", "Q"), *ROW),
            (half(), half(key="l"), asked("p3", "l", "Q"), *ROW), views=TWO),
    Written(TURN, (half(), *ROW), (half(), *ROW[1:], DIES, *ROW[1:]), views=TWO),
    Written(TURN, (half(), *ROW), (half(), *ROW), views=TWO, kept_views=Tables(producers=Turns(
        {("P", "p1:1"): "p1", ("P", "p2:1"): "p2"}, {("P", "p1:1"): "p1", ("P", "p3:1"): "p3"}))),
    Written(TIME, (half(1), listener(3_999)), (half(1), listener(4_001)), views=NO_OWN,
            says="was made 3998 ms ago, and nobody is to be asked for 6000 ms"),
    Written(TIME, (half(1), listener(4_000)), (half(1), listener(4_001)), views=Tables(written=None)),
    Written(TIME, (half(1), listener(8_000)), (half(1), listener(8_001)), views=own("10")),
    Written(TIME, (half(1), listener(8_000)), (half(1), listener(8_000, checked=False)), views=own("10")),
    Written(TIME, (half(1), listener(8_000)), (half(1), listener(8_000, key="l")), views=own("10")),
    Written(TIME, (half(1), listener(8_000)), (half(1, topic="orders"), listener(8_000)), views=own("10")),
    Written(TIME, (half(1), half(7_000), listener(8_000)), (half(1), half(7_000), listener(8_001)), views=own("10")),
    # Put when it is 1001 ms old; and one that is older comes behind it.
    Written(TIME, (half(2_000), listener(4_998)), (half(2_000), listener(4_999)), views=made(500),
            says="which was made 3999 ms ago"),
    Written(TIME, (half(2_000), half(2_000), listener(4_498)), (half(2_000), half(2_000), listener(4_499)),
            views=made(500, 0)),
    Written(TIME, (half(2_000), listener(4_998)), (half(2_000), (2_001, "p1", ClockJumped(-1)), listener(4_998)),
            views=made(500)),
    Written(SLAVE, (STARTS, pulls(), sent_to(0)), (STARTS, pulls(), sent_to(1)), views=far(9),
            says="reads queue 0 of orders at broker-a from 0 to 4, to 0"),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS, pulls(), sent_to(0)), views=far(0)),
    Written(SLAVE, (STARTS, pulls(), sent_to(0)), (STARTS, pulls(), sent_to(0)), views=far(5), kept_views=far(4)),
    Written(SLAVE, (STARTS, pulls(14), sent_to(0, going_on=18)), (STARTS, pulls(14), sent_to(0, going_on=19)),
            views=far(20)),
    Written(SLAVE, (STARTS, pulls(15), sent_to(0, going_on=19)), (STARTS, pulls(16), sent_to(0, going_on=20)),
            views=far(20)),
    Written(SLAVE, (STARTS, pulls(), sent_to(2)), (STARTS, pulls(), sent_to(1)), views=far(2)),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS, pulls(), sent_to(0)), views=far(9, reads_slaves=False)),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS, pulls(), sent_to(3)), views=far(0),
            kept_views=far(0, group=(3, 1))),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS, pulls(), sent_to(1, 19)), views=far(0)),
    # It has given the queue up and asks again: the first answer may be to what it asked before.
    *(Written(SLAVE, (STARTS, pulls(), GIVES_UP, one, pulls(), sent_to(1)),
              (STARTS, pulls(), GIVES_UP, pulls(), sent_to(1)), views=far(0)) for one in (sent_to(0), FAILS)),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS, pulls(), sent_to(1)), views=far(0),
            kept_views=far(0, group=None)),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS_AS_SLAVE, pulls(), sent_to(1)), views=far(0)),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS, sent_to(1)), views=far(0)),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS, pulls(), FAILS, sent_to(1)), views=far(0)),
    Written(SLAVE, (STARTS, pulls(), sent_to(1)), (STARTS, pulls(), GIVES_UP, sent_to(1)), views=far(0)),
)
