"""Written histories of applications that poll, and of time: polls, pulls, commits and seeks."""

from __future__ import annotations

from typing import Any

import invariants.rules.polling_in_time
import invariants.rules.seeking  # noqa: F401  # both declare their rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    BrokerStarted,
    ClockJumped,
    CommitAsked,
    ConnectionSevered,
    ConsumerIdsFetched,
    ConsumerRegistered,
    DiskFilled,
    MessagesPolled,
    OffsetAnswered,
    OffsetSent,
    PollBegan,
    PollEnded,
    PollerShutDown,
    PollerStopping,
    ProcessKilled,
    PullAnswered,
    PullSuspended,
    QueueRested,
    QueuesHeld,
    QueueSought,
    SeekRefused,
    TopicLeft,
    TopicTakenAgain,
    TopicWantedAgain,
    WaysMixed,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import QueueRange
from stateful_tests.rules.histories.membership import BROKER
from stateful_tests.rules.written import Tables, Turns, Written

MQ, MQ2 = (MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2))
B, C, G = "broker-a", "c1", "G"
CALM = Bounds()
POLLED_MS, PULLED_MS, SENT_MS, HEARD_MS, LEFT_MS, HANDLED_MS = (limit(CALM) for limit in (
    deadlines.polled, deadlines.pulled, deadlines.polled_is_sent, deadlines.heard_of, deadlines.left,
    deadlines.handled))

Told = tuple[int, str, Any]


def polls(ms: int = 1, timeout_ms: int = 1_000, *, auto_commit: bool = True) -> Told:
    """An application asks for more."""
    return ms, C, PollBegan(G, auto_commit, timeout_ms)


def ended(ms: int, messages: int = 0) -> Told:
    """Its poll has returned."""
    return ms, C, PollEnded(G, messages)


def has(*mqs: MessageQueue, ms: int = 0) -> Told:
    """Its consumer has these queues."""
    return ms, C, QueuesHeld(C, G, frozenset(mqs))


def polled(*offsets: int, ms: int = 1, mq: MessageQueue = MQ) -> Told:
    """It is given messages."""
    return ms, C, MessagesPolled(G, mq, offsets)


def sent(offset: int, ms: int = 4, mq: MessageQueue = MQ) -> Told:
    """Its consumer commits."""
    return ms, C, OffsetSent(C, G, mq, offset)


def pulled(ms: int = 2, offset: int = 5, mq: MessageQueue = MQ) -> Told:
    """Its consumer pulls."""
    return ms, C, PullSuspended(C, G, mq, offset)


def found(ms: int = 3, code: PullCode = PullCode.SUCCESS, mq: MessageQueue = MQ) -> Told:
    """A pull of it is answered."""
    return ms, C, PullAnswered(C, G, mq, code, 9)


def rests(ms: int, *, rested: bool) -> Told:
    """It wants nothing of a queue, or goes on with it."""
    return ms, C, QueueRested(G, MQ, rested=rested)


def sought(offset: int = 2, ms: int = 3) -> Told:
    """It goes elsewhere."""
    return ms, C, QueueSought(G, MQ, offset)


def refused(offset: int = 5, mq: MessageQueue = MQ) -> Told:
    """It may not go elsewhere."""
    return 4, C, SeekRefused(G, mq, offset)


def told(offset: int, ms: int = 1, queue_id: int = 0) -> Told:
    """A broker answers its client with what is committed."""
    return ms, B, OffsetAnswered(B, G, "orders", queue_id, f"{C}:1", offset)


def leaves(ms: int = 5, topic: str = "orders", group: str = G) -> Told:
    """It unsubscribes a topic."""
    return ms, C, TopicLeft(group, topic)


def looks(ms: int) -> Told:
    """It is time to look."""
    return ms, "world", WorldHealed()


def wants(ms: int, topic: str = "orders") -> Told:
    """Its application is about to subscribe a topic again."""
    return ms, C, TopicWantedAgain(G, topic)


def ends(ms: int) -> Told:
    """Its consumer has shut down."""
    return ms, C, PollerShutDown(G)


def registers(ms: int, connection: str = f"{C}:1", group: str = G) -> Told:
    """A broker lists a client."""
    return ms, B, ConsumerRegistered(B, group, C, connection, True, True, frozenset())


def listed(ms: int, topic: str = "orders", group: str = G, client_ids: tuple[str, ...] | None = (C,)) -> Told:
    """A run of the rebalance has the members of its group, or none."""
    return ms, C, ConsumerIdsFetched(C, group, topic, "broker-a:10911", client_ids)


AGAIN = 1, C, TopicTakenAgain(G, "orders")
GONE_ON = has(MQ), pulled(), found()
RETAKEN = has(MQ), pulled(), has(MQ2, ms=3), has(MQ, ms=3)
STOPPING = 2, C, PollerStopping(G)
ASKED, STOPPED = (3, C, CommitAsked(G)), (6, C, PollerShutDown(G))
COMMITS, SENT = (2, C, CommitAsked(G)), sent(6, 6)
NOT_BEGUN = listed(1), has(MQ, ms=2), polled(5, ms=3)
DIVIDED = polled(5), COMMITS, listed(3)
GIVEN_UP = *DIVIDED, has(ms=4)
KILLED, MIXED = (10**7, C, ProcessKilled(1, power_loss=False)), (1, C, WaysMixed(G))
STARTED_BEFORE = (0, B, BrokerStarted(B, B, 0))
BROKER_STARTS, BROKER_DIES = (3, B, BrokerStarted(B, B, 0)), (2, B, ProcessKilled(1, power_loss=False))
TAKEN = Tables(taken_to_poll=[MQ])
FIRST, LAST = (Tables(polls_from=where) for where in (
    ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET))


def ending(max_offset: int | None) -> Tables:
    """The queue ends there; None: its broker does not run."""
    return Tables(brokers=[BROKER], stored_at=None if max_offset is None else QueueRange(0, max_offset))


HISTORIES = (
    Written("poll_waits_as_asked", (polls(),), (polls(), ended(1_001), ended(9**9))),
    Written("poll_waits_as_asked", (polls(), ended(1_000)), (polls(), ended(1_001)), says="nothing after 999 ms"),
    Written("poll_waits_as_asked", (polls(), ended(1_000)), (polls(), ended(1_000, messages=1), ended(1_000))),
    Written("poll_waits_as_asked", (polls(), ended(500)), ((0, C, ClockJumped(5)), polls(), ended(500))),
    Written("poll_waits_as_asked", (polls(), looks(POLLED_MS + 1_002), ended(POLLED_MS + 1_003)),
            (polls(), looks(POLLED_MS + 1_001), ended(POLLED_MS + 1_003)), bounds=CALM),
    Written("poll_waits_as_asked", (polls(), looks(POLLED_MS + 1_002)), (polls(), STOPPED, looks(10**6)), bounds=CALM),
    Written("poll_waits_as_asked", (polls(), ended(9, 1), polls(10), ended(1_000)),
            (polls(), ended(9, 1), polls(10), ended(1_010))),
    Written("found_is_polled_at_once", (has(MQ), polls(), pulled(), found()),
            (has(MQ), polls(), pulled(), found(), ended(4, 1))),
    Written("found_is_polled_at_once", (has(MQ), polls(), pulled(), found()),
            (has(MQ), polls(), pulled(), found(code=PullCode.PULL_NOT_FOUND))),
    Written("found_is_polled_at_once", (has(MQ), polls(), pulled(), found()),
            (has(MQ2), polls(), pulled(), found())),
    Written("found_is_polled_at_once", (has(MQ), polls(), pulled(), found()),
            (has(MQ), pulled(), found(), polls(4))),
    Written("found_is_polled_at_once", (has(MQ), pulled(1), polls(), found()),
            (has(MQ), pulled(1), sought(ms=1), polls(), found())),
    Written("found_is_polled_at_once", (has(MQ), polls(), pulled(), found()),
            (has(MQ), polls(), found())),
    Written("found_is_polled_at_once", (has(MQ), polls(), pulled(), found(), looks(POLLED_MS + 4), ended(10**6)),
            (has(MQ), polls(), pulled(), found(), looks(POLLED_MS + 3), ended(10**6)), bounds=CALM),
    Written("polled_queue_is_pulled", (has(MQ),), (has(MQ), has(ms=5))),
    Written("polled_queue_is_pulled", (has(MQ), pulled(), looks(PULLED_MS + 3), KILLED),
            (has(MQ), pulled(), looks(PULLED_MS + 2), KILLED), bounds=CALM),
    Written("polled_queue_is_pulled", (has(MQ), looks(PULLED_MS + 1), KILLED), (has(MQ), looks(PULLED_MS), KILLED),
            bounds=CALM),
    Written("polled_queue_is_pulled", (has(MQ), rests(5, rested=True), rests(6, rested=False)),
            (has(MQ), rests(5, rested=True))),
    Written("polled_queue_is_pulled", (has(MQ), rests(5, rested=True), has(ms=6), has(MQ, ms=7)),
            (has(MQ), rests(5, rested=True), has(MQ, ms=7))),
    Written("polled_queue_is_pulled", (has(MQ), pulled()), (has(MQ), pulled(), STOPPED)),
    Written("polled_queue_is_pulled", (has(MQ),), (pulled(), rests(5, rested=False))),
    Written("polled_queue_is_pulled", (has(MQ),), (has(MQ), BROKER_STARTS)),
    Written("polled_queue_is_pulled", (STARTED_BEFORE, BROKER_DIES, BROKER_STARTS, has(MQ, ms=500_000)),
            (STARTED_BEFORE, BROKER_DIES, has(MQ, ms=500_000))),
    Written("polled_queue_is_pulled", ((0, "x", ConnectionSevered("y", 1)), has(MQ)),
            ((0, "x", ConnectionSevered(B, 1)), has(MQ))),
    Written("topic_taken_again_is_pulled", (AGAIN,), (AGAIN, pulled(), rests(5, rested=False)), views=TAKEN,
            says="since its topic was subscribed again"),
    Written("topic_taken_again_is_pulled", (AGAIN, pulled(mq=MQ2)), (leaves(),), views=TAKEN),
    Written("topic_taken_again_is_pulled", (AGAIN,), (AGAIN,), views=TAKEN, kept_views=Tables()),
    Written("topic_taken_again_is_pulled", (AGAIN,), (AGAIN,), views=TAKEN,
            kept_views=Tables(taken_to_poll=Turns([MQ], []))),
    Written("topic_taken_again_is_pulled", (AGAIN, leaves(group="H")),
            (AGAIN, leaves()), views=TAKEN),
    Written("topic_taken_again_is_pulled", (AGAIN, leaves(topic="invoices")),
            (AGAIN, rests(5, rested=True)), views=TAKEN),
    Written("topic_taken_again_is_pulled", (AGAIN, rests(5, rested=False)), (AGAIN, STOPPED), views=TAKEN),
    Written("topic_taken_again_is_pulled", (AGAIN, looks(PULLED_MS + 2), KILLED),
            (AGAIN, looks(PULLED_MS + 1), KILLED), bounds=CALM, views=TAKEN),
    Written("topic_taken_again_is_pulled", (AGAIN,), (AGAIN, BROKER_STARTS), views=TAKEN),
    Written("polled_queue_is_pulled", (leaves(ms=1), has(MQ)), causes=("U18",)),
    Written("polled_queue_is_pulled", (leaves(ms=1, group="H"), has(MQ)), causes=()),
    Written("left_topic_is_not_pulled", (leaves(), pulled(6), wants(7, "invoices"), pulled(8)),
            (leaves(), pulled(6), wants(7), pulled(8))),
    # Who subscribes again has the topic before the call returns.
    Written("left_topic_is_not_pulled", (leaves(), pulled(6), (7, *AGAIN[1:]), pulled(8)),
            (leaves(), pulled(6), wants(7), pulled(8), (9, *AGAIN[1:]))),
    Written("polled_is_committed", (polled(5), polls(3), sent(5)), (polled(5), polls(3), sent(6))),
    Written("polled_is_committed", (polled(5), ASKED), (polled(5), polls(3, auto_commit=False))),
    Written("polled_is_committed", (polled(5), polls(3)), (polled(5), sent(6), polls(5))),
    Written("polled_is_committed", (polled(5), polls(3)), (polled(5), polls(3), sought(ms=4))),
    Written("polled_is_committed", (leaves(0), polled(5), polls(3)), causes=("X27",)),
    Written("polled_is_committed", (leaves(0, group="H"), polled(5), polls(3)), causes=()),
    Written("polled_is_committed", (polled(5), polls(3)), (polled(5), polls(3), has(MQ2, ms=4))),
    Written("polled_is_committed", (has(MQ, ms=4), polled(5), ASKED, has(MQ, ms=4)), (polled(5), sought(ms=2), ASKED)),
    Written("polled_is_committed", (polled(5), polls(3), looks(SENT_MS + 4), KILLED),
            (polled(5), polls(3), looks(SENT_MS + 3), KILLED), bounds=CALM),
    Written("polled_is_committed", (polled(5), ASKED, STOPPED), (polled(5), ASKED, sent(6), STOPPED),
            says="has shut down and not sent 6"),
    Written("polled_is_committed", (polled(5), ASKED, looks(SENT_MS + 4), (SENT_MS + 5, *STOPPED[1:])),
            (polled(5), ASKED, sent(6), looks(SENT_MS + 4), (SENT_MS + 5, *STOPPED[1:])), bounds=CALM),
    Written("polled_is_committed", (polled(5), ASKED, sent(5), STOPPED), (polled(5), polls(3), STOPPED)),
    Written("polled_is_committed", (polled(5), polls(3), polls(5_003), ends(5_004)),
            (polled(5), polls(3), polls(5_002), ends(5_004)), says="has shut down and not sent 6"),
    Written("polled_is_committed", (polled(5), polls(3), polled(6, ms=4), polls(5_003), sent(5, 5_004), ends(5_005)),
            (polled(5), polls(3), polled(6, ms=4), polls(5_003), sent(6, 5_004), ends(5_005))),
    Written("polled_is_committed", (polled(5), polls(3), polls(5_003), ends(5_004)),
            (polled(5), polls(3), sent(6, 5), polled(6, ms=6), polls(5_003), ends(5_004))),
    Written("polled_is_committed", (polled(5), polls(3), polls(5_003), ends(5_004)),
            (polled(5), polls(3, auto_commit=False), polls(5_003, auto_commit=False), ends(5_004))),
    Written("polled_is_committed", (polled(5), polls(3), polls(5_003), ends(5_004)),
            (polled(5), polls(3), (4, C, PollerStopping(G)), polls(5_003), ends(5_004))),
    Written("polled_is_committed", (polled(5), polls(3), polls(5_003), ends(5_004)),
            ((0, C, ClockJumped(-9_000)), polled(5), polls(3), polls(5_003), ends(5_004))),
    Written("polled_is_committed", (polled(5), sent(6), polled(6), ASKED, STOPPED),
            (polled(5), sent(6), ASKED, STOPPED)),
    Written("polled_is_committed", (polled(5), ASKED, STOPPED), (polled(5), ASKED, BROKER_STARTS, STOPPED)),
    Written("polled_is_committed", (polled(5), ASKED, STOPPING, STOPPED), (polled(5), STOPPING, ASKED, STOPPED)),
    Written("polled_is_committed", (polled(5), (2, C, PollerStopping("H")), ASKED), (polled(5), STOPPING, ASKED)),
    Written("polled_is_committed", (polled(5), (2, "c2", PollerStopping(G)), polls(3)),
            (polled(5), STOPPING, polls(3))),
    # A queue that a rebalance has shared out, and for which no process queue stands: until a later one.
    *(Written("polled_is_committed", (*history, ASKED, STOPPED), views=Tables(taken_to_poll=taken), causes=causes)
      for history, taken, causes in (
          (NOT_BEGUN, [], ("X31",)), (NOT_BEGUN, [MQ2], ("X31",)), (NOT_BEGUN, [MQ], ()), (NOT_BEGUN[1:], [], ()),
          ((listed(1, group="H"), *NOT_BEGUN[1:]), [], ()), ((listed(1, "invoices"), *NOT_BEGUN[1:]), [], ()))),
    *(Written("polled_is_committed", (*NOT_BEGUN, (asked_ms, *ASKED[1:]), has(MQ, ms=5), (6, *ASKED[1:]), STOPPED),
              views=Tables(taken_to_poll=taken), causes=causes)
      for asked_ms, taken, causes in (
          (4, Turns([], [MQ]), ("X31",)), (5, Turns([], [MQ]), ()), (4, Turns([MQ], []), ("X31",)),
          (4, Turns([MQ], [MQ]), ()))),
    *(Written("polled_is_committed",
              (*NOT_BEGUN, has(other, ms=4), has(MQ, ms=6), polled(5, ms=7), (8, *ASKED[1:]), (9, *STOPPED[1:])),
              views=Tables(taken_to_poll=taken), causes=causes)
      for other, taken, causes in ((MQ2, Turns([], [MQ2], [MQ]), ()), (MQ2, Turns([], [MQ2], []), ("X31",)),
                                   (MQ2, Turns([MQ], [MQ2], []), ("X31",)))),
    # What was committed before a run of the rebalance is sent when the run has given the queue up.
    Written("polled_is_committed", (*GIVEN_UP, polls(5)), (*DIVIDED, sent(6, 3), has(ms=4), polls(5)),
            says="has given up queue 0 of orders at broker-a and not sent 6"),
    Written("polled_is_committed", (*NOT_BEGUN, (4, *COMMITS[1:]), listed(5), has(ms=6), polls(7)),
            views=Tables(taken_to_poll=[]), causes=("X31",)),
    Written("polled_is_committed", (*DIVIDED, sent(5, 3), has(ms=4), polls(5)),
            (*DIVIDED, has(MQ, ms=4), polls(5), SENT)),
    *(Written("polled_is_committed", (*GIVEN_UP, polls(5)), (polled(5), COMMITS, *kept, has(ms=4), polls(5)))
      for kept in ((), (listed(2),), (listed(3, client_ids=None),), (listed(3, "invoices"),), (listed(3, group="H"),))),
    Written("polled_is_committed", (*GIVEN_UP, (5, *STOPPING[1:])), (*GIVEN_UP, leaves(5), (6, *STOPPING[1:]))),
    *(Written("polled_is_committed", (*GIVEN_UP, leaves(5, topic, group), polls(6)), (*GIVEN_UP, leaves(5), polls(6)))
      for topic, group in (("invoices", G), ("orders", "H"))),
    *(Written("polled_is_committed", (*GIVEN_UP, polls(5)), (*GIVEN_UP, (5, at, PollBegan(group, True, 0))))
      for at, group in ((C, "H"), ("c2", G))),
    Written("polled_is_committed", (*GIVEN_UP, polls(5)),
            (*DIVIDED, (4, C, QueuesHeld(C, "H", frozenset())), polls(5), SENT)),
    Written("seek_stays_in_the_queue", (has(MQ), sought(6)), (has(MQ), sought(5)), ending(5), says="which has 0 to 5"),
    Written("seek_stays_in_the_queue", (has(MQ), sought(-1)), (has(MQ), sought(0)), ending(5), says="goes to -1"),
    Written("seek_stays_in_the_queue", (sought(5),), (has(MQ), has(MQ2), sought(5)), ending(5), says="it never had"),
    Written("seek_stays_in_the_queue", (has(MQ2), sought(5)), (has(MQ), sought(5)), ending(5)),
    Written("seek_stays_in_the_queue", (has(MQ), sought(6)), (has(MQ), (1, B, DiskFilled(9)), sought(6)), ending(5),
            kept_views=None),
    Written("seek_stays_in_the_queue", (has(MQ), sought(6)), (has(MQ), sought(6)), ending(5), kept_views=ending(None)),
    Written("seek_stays_in_the_queue", (has(MQ), sought(6)), (has(MQ), sought(6)), ending(5),
            kept_views=Tables(brokers=[BROKER._replace(broker_name="broker-b")], stored_at=QueueRange(0, 5))),
    Written("legal_seek_is_taken", (has(MQ), refused(5)), (has(MQ), refused(6)), ending(5),
            says="may not go to 5 of queue 0 of orders at broker-a, which has 0 to 5"),
    Written("legal_seek_is_taken", (has(MQ), refused(0)), (has(MQ), refused(-1)), ending(5)),
    Written("legal_seek_is_taken", (has(MQ), refused()), (refused(),), ending(5)),
    Written("legal_seek_is_taken", (has(MQ), refused()), (has(MQ2), refused()), ending(5)),
    Written("legal_seek_is_taken", (has(MQ), refused()), (has(MQ), BROKER_STARTS, refused()), ending(5)),
    Written("legal_seek_is_taken", (has(MQ), refused()), (has(MQ), refused()), ending(5), kept_views=ending(None)),
    Written("legal_seek_is_taken", (has(MQ), refused()), (has(MQ), refused()), ending(5),
            kept_views=Tables(brokers=[BROKER._replace(broker_name="broker-b")], stored_at=QueueRange(0, 5))),
    Written("legal_seek_is_taken", (has(MQ), refused()), (has(MQ), refused()), ending(5),
            kept_views=Tables(brokers=[BROKER], stored_at=QueueRange(0, 5), calm=False)),
    Written("poller_pulls_where_it_was_told", (*GONE_ON, pulled(4, 8)), (*GONE_ON, pulled(4, 9)),
            says="pulls queue 0 of orders at broker-a from 8, which nobody has named"),
    Written("poller_pulls_where_it_was_told", (*GONE_ON, pulled(4, 2)), (*GONE_ON, sought(2), pulled(4, 2))),
    Written("poller_pulls_where_it_was_told", (*GONE_ON, pulled(4, 6)),
            (*GONE_ON, polled(4, 5, ms=3), pulled(4, 6), pulled(5, 9))),
    Written("poller_pulls_where_it_was_told", (*GONE_ON, told(7, queue_id=1), pulled(4, 7)),
            (*GONE_ON, told(7), pulled(4, 7))),
    # Until its first pull is answered it may begin again; so it may when the queue comes again.
    Written("poller_pulls_where_it_was_told", (has(MQ), sought(2), pulled(4, 7)),
            (has(MQ), pulled(3, 2), pulled(4, 7))),
    *(Written("poller_pulls_where_it_was_told", (*GONE_ON, pulled(4, 8)), (*kept, pulled(4, 8))) for kept in (
        (*GONE_ON, has(MQ2, ms=3), has(MQ, ms=3)), (has(MQ2), pulled(), found(), has(MQ, ms=3)),
        (has(MQ), found()), (*GONE_ON, has(MQ2, ms=3), has(MQ, ms=3), found()),
        (has(MQ, MQ2), pulled(mq=MQ2), found(mq=MQ2)), (pulled(), found()))),
    *(Written("taken_queue_begins_where_it_was_left", (*before, pulled(4, 9)), (*kept, pulled(4, 9)),
              says="begins queue 0 of orders at broker-a at 9, which nobody has told it") for before, kept in (
        # What answers a pull of a former holding counts for nothing; what has answered one of this holding does.
        ((told(5), *RETAKEN, found()), (told(5), has(MQ), pulled(), found(), has(MQ2, ms=3), has(MQ, ms=3))),
        ((has(MQ), told(8), found()), (has(MQ), told(9), found())),
        ((has(MQ), told(9, queue_id=1)), (has(MQ), told(8), told(9))),
        ((told(5, queue_id=1), has(MQ, MQ2), pulled(mq=MQ2), found(mq=MQ2)), (pulled(3, 9),)),
        ((has(MQ), sought(8)), (has(MQ), sought(9))), ((has(MQ), polled(7)), (has(MQ), polled(7, 8))),
        ((told(5), told(-1), *RETAKEN), (told(5), *RETAKEN, told(-1))),
        ((has(MQ), told(-1, queue_id=1)), (has(MQ), told(-1))),
        ((told(5), has(MQ), pulled(), *RETAKEN[2:]), (told(5), has(MQ), pulled())),
        ((told(5), has(MQ), pulled(), *RETAKEN[2:]), (told(5), has(MQ), pulled(), pulled(3, 9), *RETAKEN[2:])))),
    Written("ways_exclude_each_other", (MIXED,)),
    Written("left_topic_is_not_pulled", (leaves(), pulled(6), pulled(7)), (leaves(), pulled(6)),
            says="whose topic its application has unsubscribed"),
    Written("left_topic_is_not_pulled", (leaves(), pulled(6), pulled(7)), (leaves(), pulled(6), pulled(7, mq=MQ2))),
    Written("left_topic_is_not_pulled", (leaves(), pulled(6), pulled(7)),
            (leaves(topic="invoices"), pulled(6), pulled(7))),
    Written("left_topic_is_not_pulled", (pulled(4), leaves(), pulled(6), pulled(7)), (pulled(3), pulled(4), leaves(),
            pulled(6), wants(7), pulled(8), leaves(9), pulled(10))),
    Written("left_topic_is_not_committed", (leaves(), sent(6, LEFT_MS + 6)),
            kept=(leaves(), sent(6, LEFT_MS + 5)), bounds=CALM, says=f"has unsubscribed {LEFT_MS + 1} ms before"),
    Written("left_topic_is_not_committed", (leaves(), sent(6, LEFT_MS + 6)), bounds=CALM,
            kept=(leaves(topic="invoices"), leaves(group="H"), sent(6, LEFT_MS + 6))),
    Written("left_topic_is_not_committed", (leaves(), wants(6, "invoices"), sent(6, LEFT_MS + 6)), bounds=CALM,
            kept=(leaves(), wants(6), sent(6, LEFT_MS + 6))),
    Written("poller_is_listed", (polls(),), (polls(), registers(2)), says="no broker has heard of G from c1"),
    Written("poller_is_listed", (polls(), looks(HEARD_MS + 2)), (polls(), looks(HEARD_MS + 1), registers(HEARD_MS + 1)),
            bounds=CALM),
    Written("poller_is_listed", (polls(), registers(2, group="H")), (polls(), STOPPED)),
    Written("poller_is_listed", (polls(), registers(2, "c2:1")), (registers(0), polls())),
    Written("poller_is_listed", (registers(0), (1, C, ProcessKilled(1, power_loss=False)), polls(2)),
            (polls(), STOPPED)),
    Written("poller_is_listed", (polls(),), (polls(),), kept_views=Tables(calm=False)),
    Written("seek_is_committed", (sought(), pulled(3, 2), ASKED, sent(5)), (sought(), pulled(3, 2), ASKED, sent(2))),
    Written("seek_is_committed", (sought(), pulled(3, 2), polled(2, ms=3), ASKED, sent(5)),
            (sought(), pulled(3, 2), polled(2, ms=3), ASKED, sent(3), polled(3, 4, ms=4), sent(5))),
    Written("seek_is_committed", (sought(), pulled(3, 2), ASKED, sent(5)), (sought(), pulled(3, 2), sent(5))),
    Written("seek_is_committed", (sought(), pulled(3, 2), ASKED, found(4, PullCode.PULL_NOT_FOUND), sent(5)),
            (sought(), pulled(3, 2), ASKED, found(4, PullCode.PULL_OFFSET_MOVED), sent(5))),
    Written("seek_is_committed", (sought(), pulled(3, 2), ASKED, sent(5)), (sought(), pulled(3, 4), ASKED, sent(5))),
    Written("seek_is_committed", (sought(), pulled(3, 2), ASKED, sent(5)),
            (sought(), pulled(3, 2), ASKED, sought(6), sent(5), has(ms=4))),
    Written("seek_is_committed", (sought(), pulled(3, 2), ASKED, sent(5)),
            (BROKER_STARTS, sought(), pulled(3, 2), ASKED, sent(5))),
    Written("seek_is_committed", (sought(), pulled(3, 2), ASKED, sent(5)),
            (sought(), polled(4, ms=3), pulled(3, 2), ASKED, sent(5))),
    Written("poller_begins_where_it_is_to", (told(-1), pulled()), (told(-1), pulled(offset=0), pulled()), FIRST),
    Written("poller_begins_where_it_is_to", (told(-1), pulled()), (told(4), pulled()), FIRST),
    Written("poller_begins_where_it_is_to", (told(-1), pulled()), (told(-1), sent(3, 1), pulled()), FIRST),
    Written("poller_begins_where_it_is_to", (told(-1), pulled()), (told(-1), pulled()), FIRST, kept_views=LAST),
    Written("poller_begins_where_it_is_to", (told(-1), pulled(offset=0), has(ms=3), told(-1, 3), pulled(4)),
            (told(-1), pulled(offset=0), has(MQ, ms=3), told(-1, 3), pulled(4)), FIRST),
    Written("poller_begins_where_it_is_to", (told(-1), pulled()), (told(-1, queue_id=1), pulled()), FIRST),
    Written("poller_begins_where_it_is_to", (told(-1), pulled()), (BROKER_STARTS, told(-1), pulled()), FIRST),
)
