"""Written histories of beginnings: where consumers begin queues, and why they begin again what was settled."""

from __future__ import annotations

from typing import Any

import invariants.rules.beginnings  # declares its rules
import invariants.rules.beginnings_of_groups  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    BrokerStarted,
    ConsumerRegistered,
    ConsumerStarted,
    ConsumerStopping,
    GroupOffsetsRemoved,
    LogExpired,
    MessageAppended,
    MessagesFound,
    MessagesSettled,
    OffsetAnswered,
    OffsetCommitted,
    OffsetCorrected,
    OffsetReset,
    OffsetSent,
    ProcessKilled,
    ProcessPaused,
    PullAnswered,
    PullSuspended,
    QueueDropped,
    QueueSought,
    QueueTaken,
    SubscriptionUpdated,
)
from invariants.rules.bounds import Bounds
from invariants.views import QueueRange
from stateful_tests.rules.histories.promises import MEMBER
from stateful_tests.rules.written import Tables, Turns, Written

MQ = MessageQueue("orders", "broker-a", 0)
RETRY = MessageQueue("%RETRY%G", "broker-a", 0)
B, B2, C, C2, G = "broker-a", "broker-a-s", "c1", "c2", "G"
START = (0, B, BrokerStarted(B, B, 0))
RENAMED = (0, B, BrokerStarted(B, "broker-c", 0))
SLAVE = (0, B2, BrokerStarted(B2, B, 1))
BROADCASTING = (0, C2, ConsumerStarted(C2, G, "BROADCASTING", orderly=False))
REMOVED = (100, B, GroupOffsetsRemoved(B, G))
LOST_POWER = (100, B, ProcessKilled(1, power_loss=True))

Told = tuple[int, str, Any]


def taken(ms: int, at: str, offset: int, mq: MessageQueue = MQ) -> Told:
    """A client begins a queue."""
    return ms, at, QueueTaken(at, G, mq, offset)


def subscribes(text: str) -> Told:
    """A broker is told what the group subscribes."""
    return 1, B, SubscriptionUpdated(B, G, "orders", text, 1, attached=True)


def heard(client: str, text: str) -> Told:
    """A broker enters a heartbeat of a member."""
    return 1, B, ConsumerRegistered(B, G, client, f"{client}:1", True, True, frozenset({("orders", text, 1)}))


DIFFER = heard(C, "red"), heard(C2, "*")


def pulled(ms: int, code: int, upto: int) -> Told:
    """A pull is answered: the next one is to begin there."""
    return ms, C, PullAnswered(C, G, MQ, code, upto)


PULLS_ON = (5, C, PullSuspended(C, G, MQ, 101))


def found(ms: int, *offsets: int) -> Told:
    """These messages enter the process queue."""
    return ms, C, MessagesFound(C, G, MQ, offsets)


def dropped(ms: int, at: str) -> Told:
    """A client gives the queue up."""
    return ms, at, QueueDropped(at, G, MQ, by_rebalance=True)


def killed(ms: int, at: str) -> Told:
    """A process dies."""
    return ms, at, ProcessKilled(1, power_loss=False)


def answered(ms: int, offset: int, at: str = C2, broker: str = B, topic: str = "orders") -> Told:
    """A client is told an offset."""
    return ms, broker, OffsetAnswered(broker, G, topic, 0, f"{at}:1", offset)


def committed(ms: int, offset: int, connection: str = "c1:1", broker: str = B) -> Told:
    """A commit comes."""
    return ms, broker, OffsetCommitted(broker, G, "orders", 0, offset, connection)


def sent(ms: int, offset: int) -> Told:
    """A client commits."""
    return ms, C, OffsetSent(C, G, MQ, offset)


def settled(ms: int, *offsets: int, at: str = C) -> Told:
    """A client has read messages."""
    return ms, at, MessagesSettled(at, G, MQ, offsets)


def two_owners(second_ms: int) -> tuple[Told, ...]:
    """One holds a queue from the first commit on, another one from then on; the offset is lost twice."""
    lost, begins = (600_000, *LOST_POWER[1:]), taken(second_ms, C2, 100)
    both = (begins, lost) if second_ms <= lost[0] else (lost, begins)
    return *TOLD_OF_NONE, committed(400_000, 98), *both, committed(700_000, 98)


def put(queue_offset: int, offset: int, broker: str = B) -> Told:
    """A broker appends a message of the queue to its log."""
    return 1, broker, MessageAppended(broker, "orders", 0, queue_offset, offset, 100, None)


def deleted(ms: int, begin: int) -> Told:
    """The log of the broker begins there from now on."""
    return ms, B, LogExpired(B, begin)


def configured(where: ConsumeFromWhere) -> Tables:
    """A queue and where its group is to begin."""
    return Tables(stored_at=QueueRange(0, 9), first_stored=5, consume_from=(where, "20220216074500"))


END, TIME, FIRST = (configured(one) for one in (
    ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, ConsumeFromWhere.CONSUME_FROM_TIMESTAMP,
    ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET))
KNOWN = (START, committed(0, 98), taken(0, C, 98))
TOLD_OF_NONE, THIRD = (*KNOWN, LOST_POWER, answered(300_000, -1)), taken(900_000, "c3", 100)
CALM = Bounds()
RESET = (START, taken(0, C, 98), (1, C, OffsetReset(C, G, MQ, 4)))
CORRECTED = (1, C, OffsetCorrected(C, G, MQ, 4))
MADE = (0, C2, ConsumerStarted(C2, G, "CLUSTERING", orderly=False))


def at_a_time(time: str, *, clock_ms: int = 0, since_ms: int = 0, group: str = G) -> Tables:
    """A queue whose group is to begin at a time; the message at 5 was stored then, the one at 7 at any other time.

    clock_ms -- of the consumer. since_ms -- the time in ms since 1970.
    """
    member = MEMBER._replace(machine=C2, client_id=C2, group=group, now_ms=clock_ms)
    return Tables(stored_at=QueueRange(0, 9), consume_from=(ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, time),
                  first_stored=lambda *asked: 5 if asked[-1] == since_ms else 7,
                  consumers=[MEMBER._replace(machine=C, group=G), member])


SET_TIME, *SET_TIMES = (at_a_time(text, since_ms=seconds * 1_000) for text, seconds in (
    ("20220216074500", 1_644_997_500), ("19991231235959", 946_684_799), ("20000229000000", 951_782_400),
    ("20000301000000", 951_868_800), ("21000301000000", 4_107_542_400)))
HALF_AN_HOUR_AGO = at_a_time("", clock_ms=1_645_000_001_999, since_ms=1_644_998_201_000)
UNCONFIGURED = Tables(stored_at=QueueRange(0, 9), consume_from=None)
GROWS = Tables(stored_at=Turns(QueueRange(0, 9), QueueRange(0, 12)),
               consume_from=(ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, ""))

YOUNG = Tables(stored_at=QueueRange(0, 9), consume_from=END.answers["consume_from"],
               queue_units={("orders", 0): (0, 9), ("orders", 1): (0, 0), ("invoices", 0): (0, 9)})
KNOWN_TOPIC = Tables(**YOUNG.answers, committed={("orders", 3): 4})
GREW_LATER = Tables(**{**YOUNG.answers, "queue_units": Turns(
    {("orders", 0): (0, 0), ("orders", 1): (0, 9), ("invoices", 0): (0, 9)}, {("orders", 0): (0, 9)})})
ON_DISK = Tables(stored_at=QueueRange(0, 9, on_disk=True), committed={("invoices", 0): 4})

HISTORIES = (
    Written("start_is_what_the_broker_answered", (START, answered(0, 70), taken(1, C2, 100)),
            (START, answered(0, 100), taken(1, C2, 100))),
    Written("start_is_what_the_broker_answered", (START, taken(1, C2, 100)),
            (START, answered(0, -1), taken(1, C2, 100))),
    Written("start_is_what_the_broker_answered", (START, taken(1, C2, 100)),
            (START, BROADCASTING, taken(1, C2, 100))),
    # A client asks for a queue at a name that the broker had before, or never had.
    Written("start_is_what_the_broker_answered", (RENAMED, answered(0, 100), taken(1, C2, 100)),
            (START, RENAMED, answered(0, 100), taken(1, C2, 100))),
    Written("new_group_begins_where_it_is_to", (START, RENAMED, answered(0, -1), taken(1, C2, 8)),
            (START, RENAMED, answered(0, -1), taken(1, C2, 9)), views=END),
    *(Written("new_group_begins_where_it_is_to", (START, answered(0, -1, topic=mq.topic), taken(1, C2, wrong, mq)),
              (START, answered(0, -1, topic=mq.topic), taken(1, C2, right, mq)), views=views, kept_views=views)
      for mq, views, right, wrong in (
          (MQ, END, 9, 8), (MQ, TIME, 5, 4), (MQ, FIRST, 0, 1), (RETRY, END, 0, 9), (RETRY, TIME, 0, 5))),
    Written("new_group_begins_where_it_is_to", (START, answered(0, -1), taken(1, C2, 8)),
            (START, answered(0, 3), taken(1, C2, 8)), views=END),
    Written("new_group_begins_where_it_is_to", (START, answered(0, -1), taken(1, C2, 8)),
            (START, BROADCASTING, answered(0, -1), taken(1, C2, 8)), views=END),
    # A queue that had messages when its group came is answered 0, and its group has no offset of the topic then.
    Written("new_group_begins_where_it_is_to", (START, answered(0, 0), taken(1, C2, 0)),
            (START, answered(0, 0), taken(1, C2, 9)), views=YOUNG, kept_views=YOUNG),
    Written("new_group_begins_where_it_is_to", (START, answered(0, 0), taken(1, C2, 0)),
            (START, answered(0, 0), taken(1, C2, 0)), views=YOUNG, kept_views=KNOWN_TOPIC),
    Written("new_group_begins_where_it_is_to", (START, answered(0, 0), taken(1, C2, 0)),
            (START, answered(0, 0), taken(1, C2, 0)), views=YOUNG, kept_views=GREW_LATER),
    Written("new_group_begins_where_it_is_to",
            (START, answered(0, 0, C), (1, B, GroupOffsetsRemoved(B, G)), answered(2, 0), taken(3, C2, 0)),
            (START, answered(0, 0, C), (1, B, GroupOffsetsRemoved(B, "H")), answered(2, 0), taken(3, C2, 0)),
            views=GREW_LATER, kept_views=GREW_LATER),
    Written("no_beginning_skips", (*KNOWN, settled(10, 98), taken(11, C2, 100)),
            (*KNOWN, settled(10, 98, 99), taken(11, C2, 100))),
    # What comes next is found when the log begins behind what is passed over.
    *(Written("no_beginning_skips", (START, *broken, committed(2, 98), taken(3, C, 98), *then, taken(11, C2, 100)),
              (START, put(98, 1_000), put(99, 2_000), committed(2, 98), taken(3, C, 98), deleted(4, 2_001),
               found(5, 100), settled(6, 100), taken(11, C2, 101)))
      for broken, then in (
          ((put(99, 2_000),), (deleted(4, 2_000), found(5, 100))),
          ((put(99, 2_000),), (found(5, 100), deleted(6, 2_001))), ((put(99, 2_000),), (deleted(4, 2_001),)),
          ((put(99, 2_000),), (deleted(4, 2_001), found(5, 99))),
          ((put(99, 2_000), deleted(1, 2_001), put(99, 3_000)), (found(5, 100),)),
          ((deleted(0, 2_001), put(99, 2_000)), (found(5, 100),)),
          ((put(99, 2_000, B2), SLAVE), (deleted(4, 2_001), found(5, 100))),
          ((put(98, 2_000),), (deleted(4, 2_001), found(5, 100))),
          ((put(99, 2_000),), (deleted(4, 2_001), (5, C, MessagesFound(C, "H", MQ, (100,))))))),
    Written("no_beginning_skips", (START, taken(0, C, 98), answered(1, 98), taken(2, C2, 100)),
            (taken(0, C, 98), answered(1, -1), taken(2, C2, 100))),
    Written("no_beginning_skips", (*KNOWN, killed(100_000, B), answered(100_001, 98), taken(100_002, C2, 100)),
            (*KNOWN, killed(1, B), answered(2, 98), taken(3, C2, 100))),
    Written("no_beginning_skips", (*KNOWN, killed(90_000, B), answered(90_001, 98), taken(90_002, C2, 100)),
            (*KNOWN, (1, B, ProcessPaused(60_000)), killed(90_000, B), answered(90_001, 98), taken(90_002, C2, 100))),
    # A short rest within a long one does not end it.
    Written("no_beginning_skips",
            (*KNOWN, (1, B, ProcessPaused(1)), killed(90_000, B), answered(90_001, 98), taken(90_002, C2, 100)),
            (*KNOWN, (1, B, ProcessPaused(60_000)), (2, B, ProcessPaused(1)), killed(90_000, B), answered(90_001, 98),
             taken(90_002, C2, 100))),
    Written("no_beginning_skips", (*KNOWN, (100, B, GroupOffsetsRemoved(B, "H")), taken(101, C2, 100)),
            (*KNOWN, REMOVED, answered(101, 98), taken(102, C2, 100))),
    Written("no_beginning_skips", (*KNOWN, taken(1, C2, 100)), (*KNOWN, BROADCASTING, taken(1, C2, 100))),
    # Another queue was reset; and something was left out before anybody knew of an offset.
    *(Written("no_beginning_skips", (START, *before, *KNOWN, taken(1, C2, 100)))
      for before in (((0, C, OffsetReset(C, G, RETRY, 4)),), (subscribes("red"), pulled(0, 20, 98)))),
    Written("no_beginning_skips", (*KNOWN, taken(1, C2, 100)), (*KNOWN, LOST_POWER, answered(101, 98),
                                                               taken(102, C2, 100))),
    Written("no_beginning_skips", (*KNOWN, LOST_POWER, committed(300_000, 99), taken(300_001, C2, 100)),
            (*KNOWN, LOST_POWER, committed(300_000, 100), taken(300_001, C2, 100))),
    Written("no_beginning_skips", (*KNOWN, LOST_POWER, committed(300_000, 99), taken(300_001, C2, 100)),
            (*KNOWN, LOST_POWER, committed(300_000, 99), settled(300_000, 99), taken(300_001, C2, 100))),
    Written("no_beginning_skips", (*KNOWN, LOST_POWER, answered(300_000, -1), answered(300_001, 99),
                                   committed(300_002, 100), taken(300_003, C2, 100)),
            (*KNOWN, LOST_POWER, answered(300_000, -1), answered(300_001, 100), taken(300_002, C2, 100))),
    Written("no_beginning_skips", (*KNOWN, committed(300_000, 100), taken(300_001, C2, 100))),
    # What a broker has filtered away is read: between messages, behind the last one, and where no message is found.
    *(Written("no_beginning_skips", (*start, subscribes("*"), *pulls, taken(11, C2, 101)),
              (*start, subscribes("red"), *pulls, taken(11, C2, 101)))
      for start in [KNOWN] for pulls in (
          (pulled(5, 0, 101), found(5, 98, 100), settled(10, 98, 100)),
          (pulled(5, 0, 101), found(5, 98), settled(10, 98)), (pulled(5, 20, 101),), (pulled(5, 0, 101), PULLS_ON))),
    # L3: the last expression is that of a member that subscribes all, and a pull was filtered by that of another one.
    *(Written("no_beginning_skips", (*start, subscribes("*"), *pulls, taken(11, C2, 101)), causes=causes)
      for start, pulls, causes in (
          ((*KNOWN, *DIFFER), (pulled(5, 20, 101),), ("L3",)), ((*KNOWN, *DIFFER), (found(5, 98, 100), ), ()),
          ((*KNOWN, *DIFFER), (found(5, 98, 100), settled(6, 98)), ("L3",)), (KNOWN, (pulled(5, 20, 101),), ()))),
    Written("no_beginning_skips", (*KNOWN, subscribes("red"), pulled(5, 19, 101), taken(11, C2, 101)),
            (*KNOWN, subscribes("red"), pulled(5, 20, 101), taken(11, C2, 101))),
    # Somebody is told that there is no offset, and then a former owner commits.
    Written("no_beginning_skips",
            (*KNOWN, answered(99, -1), LOST_POWER, committed(300_001, 98), taken(300_002, C2, 100)),
            (*KNOWN, answered(100, -1), LOST_POWER, committed(300_001, 98), taken(300_002, C2, 100))),
    Written("no_beginning_skips",
            (*KNOWN, LOST_POWER, committed(300_000, 98), answered(300_001, -1), taken(300_002, C2, 100)),
            (*KNOWN, LOST_POWER, committed(300_000, 98), answered(300_000, -1), taken(300_002, C2, 100))),
    Written("no_beginning_skips", (*TOLD_OF_NONE, taken(300_001, C2, 99), committed(300_002, 98), THIRD),
            (*TOLD_OF_NONE, taken(300_001, C2, 100), committed(300_002, 98), THIRD)),
    Written("no_beginning_skips",
            (*TOLD_OF_NONE, taken(300_001, C2, 100), committed(400_000, 98), (600_000, *LOST_POWER[1:]),
             committed(800_000, 98), THIRD),
            (*TOLD_OF_NONE, taken(300_001, C2, 100), committed(400_000, 98), committed(800_000, 98), THIRD)),
    # The offset is lost for a second time, and two hold the queue, who have begun it at different offsets.
    *(Written("no_beginning_skips", (*broken, THIRD),
              (*two_owners(600_000), committed(700_001, 100, "c2:1"), THIRD))
      for broken in (
          (*two_owners(600_000), committed(700_001, 100, "c9:1")), (*two_owners(600_000), answered(700_001, 100)),
          (*two_owners(600_001), committed(700_001, 100, "c2:1")))),
    Written("first_beginning_is_kept", (START, taken(0, C, 98), settled(1, 98), killed(2, C), taken(3, C2, 100)),
            (START, taken(0, C, 98), settled(1, 98, 99), killed(2, C), taken(3, C2, 100))),
    # X3: the commit of where it was begun was lost.
    *(Written("first_beginning_is_kept", (START, taken(0, C, 98), *then, dropped(2, C), taken(3, C2, 100)),
              causes=causes) for then, causes in (((sent(1, 98),), ("X3",)), ((), ()))),
    # Who takes a queue while it shuts down has perhaps committed for the last time.
    Written("first_beginning_is_kept", (START, taken(0, C, 98), killed(2, C), taken(3, C2, 100)),
            (START, (0, C, ConsumerStopping(C, G)), taken(0, C, 98), killed(2, C), taken(3, C2, 100))),
    Written("first_beginning_is_kept", (START, taken(0, C, 98), dropped(1, C), taken(3, C2, 100)),
            (START, taken(0, C, 98), taken(3, C2, 100))),
    Written("first_beginning_is_kept", (START, taken(0, C, 98), answered(1, -1), killed(2, C), taken(3, C2, 100)),
            (START, taken(0, C, 98), committed(1, 98), killed(2, C), taken(3, C2, 100))),
    Written("start_is_what_the_broker_answered", (START, answered(0, 100), taken(8_001, C2, 100)),
            (START, answered(0, 100), taken(8_000, C2, 100)), bounds=CALM),
    Written("start_is_what_the_broker_answered",
            (START, (0, C2, ProcessPaused(5_000)), answered(1, 100), taken(13_001, C2, 100)),
            (START, answered(0, 100), (1, C2, ProcessPaused(5_000)), taken(13_000, C2, 100)), bounds=CALM),
    # It stands still already when the broker answers.
    Written("start_is_what_the_broker_answered",
            (START, (-1_000, C2, ProcessPaused(1_000)), answered(0, 100), taken(8_001, C2, 100)),
            (START, (0, C2, ProcessPaused(5_000)), answered(1, 100), taken(13_000, C2, 100)), bounds=CALM),
    *(Written("new_group_begins_where_it_is_to", (START, MADE, answered(0, -1), taken(1, C2, 7)),
              (START, MADE, answered(0, -1), taken(1, C2, 5)), views=views, kept_views=views)
      for views in (SET_TIME, *SET_TIMES, HALF_AN_HOUR_AGO)),
    Written("new_group_begins_where_it_is_to", (START, answered(0, -1), taken(1, C2, 7)),
            (START, answered(0, -1), taken(1, C2, 7)), views=SET_TIME, kept_views=HALF_AN_HOUR_AGO),
    Written("new_group_begins_where_it_is_to", (START, MADE, answered(0, -1), taken(1, C2, 7)),
            (START, MADE, answered(0, -1), taken(1, C2, 7)), views=SET_TIME, kept_views=at_a_time("", group="H")),
    Written("new_group_begins_where_it_is_to", (START, answered(0, -1), taken(1, C2, 8)),
            (START, answered(0, -1), taken(1, C2, 8)), views=END, kept_views=UNCONFIGURED),
    Written("new_group_begins_where_it_is_to", (START, answered(0, -1), taken(1, C2, 8)),
            (START, answered(0, -1), taken(1, C2, 9)), views=END, kept_views=GROWS),
    Written("no_beginning_skips", (START, committed(0, 98), taken(1, C2, 100)),
            (START, taken(0, C, 98), dropped(1, C), taken(2, C2, 100), committed(3, 100), dropped(4, C2),
             taken(5, C, 100))),
    Written("no_beginning_skips",
            (*KNOWN, BROADCASTING, (10, C2, MessagesSettled(C2, G, MQ, (98, 99))), taken(11, "c3", 100))),
    Written("no_beginning_skips",
            (START, taken(0, C, 98), taken(2, C2, 100), committed(3, 98), taken(5, "c3", 100))),
    Written("no_beginning_skips", (*KNOWN, killed(77_000, B), taken(77_001, C2, 100)),
            (*KNOWN, killed(76_999, B), taken(77_001, C2, 100))),
    Written("no_beginning_skips",
            (*KNOWN, (77_000, B, ProcessPaused(1)), killed(80_000, B), taken(80_001, C2, 100))),
    Written("first_beginning_is_kept", (START, taken(0, C, 98), dropped(2, C), taken(5, "c3", 100)),
            (*RESET, dropped(2, C), taken(3, C2, 98), dropped(4, C2), taken(5, "c3", 100))),
    # A queue that was reset is judged again when its one owner commits, long after anybody else was heard of.
    *(Written("no_beginning_skips", (*KNOWN, reset, committed(42_002, 4), taken(42_003, C2, 6)),
              (*KNOWN, reset, committed(42_001, 4), taken(42_003, C2, 6)), bounds=CALM)
      for reset in (RESET[-1], CORRECTED, (1, C, QueueSought(G, MQ, 4)))),
    Written("no_beginning_skips", (*RESET, committed(42_002, 4), taken(42_003, C2, 6)),
            (*RESET, settled(2, 4, 5), committed(42_002, 4), taken(42_003, C2, 6)), bounds=CALM),
    Written("no_beginning_skips", (*RESET, committed(42_002, 4), taken(42_003, C2, 6)),
            (*RESET, committed(42_002, 4, "c2:1"), taken(42_003, C2, 6)), bounds=CALM),
    Written("no_beginning_skips", (*KNOWN, BROADCASTING, (1, C2, OffsetCorrected(C2, G, MQ, 4)), taken(2, "c3", 100)),
            (*KNOWN, (1, C2, OffsetCorrected(C2, G, MQ, 4)), taken(2, "c3", 100))),
    Written("no_beginning_skips", (*KNOWN, LOST_POWER, answered(101, 98), taken(153_100, C2, 100)),
            (*KNOWN, LOST_POWER, answered(101, 98), taken(153_099, C2, 100))),
    Written("no_offset_is_made_up", (START, answered(1, 0)), (START, answered(1, -1)), views=ON_DISK),
    Written("no_offset_is_made_up", (START, answered(1, 0)), (START, answered(1, 0)),
            views=Tables(stored_at=QueueRange(1, 9), committed={}),
            kept_views=Tables(stored_at=QueueRange(0, 9), committed={})),
    Written("no_offset_is_made_up", (START, answered(1, 4)), (START, answered(1, 4)), views=ON_DISK,
            kept_views=Tables(stored_at=QueueRange(0, 9, on_disk=True), committed={("orders", 0): 4})),
    Written("no_offset_is_made_up", (START, answered(1, 0)), (START, answered(1, 0)), views=ON_DISK,
            kept_views=Tables(stored_at=None, committed={})),
)
