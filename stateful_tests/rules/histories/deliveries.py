"""Written histories of what listeners are given, and what becomes of it."""

from __future__ import annotations

from typing import Any

import invariants.rules.deliveries  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.decisions.route_queues import QueueData
from impl.events import (
    ClockJumped,
    ConsumerStarted,
    DeadLetterTaken,
    DelayLevelEnded,
    ForceFailed,
    HeartbeatRefused,
    LogExpired,
    MessageAppended,
    MessageDispatched,
    MessagesAnswered,
    MessagesGiven,
    MessagesSettled,
    OffsetFoundIllegal,
    ProcessKilled,
    ProcessStarted,
    QueueTaken,
    SendAttempted,
    SendFailed,
    StoreLoaded,
    ThreadDied,
    TopicConfigDeleted,
    TopicConfigUpdated,
    WorldHealed,
)
from invariants.views import Broker, QueueRange, StoredRecord, Subscription
from stateful_tests.rules.histories.promises import MASTER, MEMBER
from stateful_tests.rules.written import Tables, Written

B, C, C2, G = "broker-a", "c1", "c2", "G"
MQ = MessageQueue("orders", B, 0)
ELSEWHERE, AGAIN = MQ._replace(queue_id=1), MessageQueue("%RETRY%G", B, 0)
SUCCESS, LATER = "SUCCESS", "LATER"
MINUTE_MS = 60_000
FAILS = Tables(calm=False)

Told = tuple[int, str, Any]


def given(  # what an application may say
    ms: int, *offsets: int, attempt: int = 0, mq: MessageQueue = MQ, at: str = C, orderly: bool = False, group: str = G,
) -> Told:
    """A listener is given messages; a group gives up after two attempts more."""
    keys = tuple(f"k{offset}" for offset in offsets)
    return ms, at, MessagesGiven(group, mq, offsets, keys, (attempt,) * len(offsets), 2, orderly)


def answered(ms: int, *offsets: int, answer: str = SUCCESS, mq: MessageQueue = MQ, at: str = C) -> Told:
    """A listener answers."""
    keys = tuple(f"k{offset}" for offset in offsets)
    return ms, at, MessagesAnswered(G, mq, offsets, keys, (answer,) * len(offsets))


def taken_as_dead(key: str) -> Told:
    """A broker has put a dead letter."""
    return 2, B, DeadLetterTaken(B, G, key, 0)


def set_by(ms: int, at: str = C) -> Told:
    """The clock of a machine is set."""
    return 3, at, ClockJumped(ms)


def sent_on(mq: MessageQueue = MQ, group: str = G) -> Told:
    """A broker does not have what a member wants, and says where to go on."""
    return 2, C2, OffsetFoundIllegal("c2@1", group, mq, 6)


def has_from(min_offset: int | None, broker_name: str = B) -> Tables:
    """The queue begins there; None: its broker has ended meanwhile."""
    stored = None if min_offset is None else QueueRange(min_offset, 9)
    return Tables(brokers=[Broker(B, broker_name, 0, f"{B}:10911", 0, None)], stored_at=stored)


BEGUN, GOES_ON = (given(1, 5, orderly=True),), given(3, 6, orderly=True, at=C2)


def sent(ms: int, offset: int, attempt: int = 1, group: str = "CLIENT_INNER_PRODUCER") -> Told:
    """A client sends a message."""
    return ms, C, SendAttempted(C, group, f"k{offset}", attempt, AGAIN)


def unsent(key: str = "k5", group: str = "CLIENT_INNER_PRODUCER", at: str = C) -> Told:
    """A producer is told that it could not send a message."""
    return 2, at, SendFailed(f"{at}@1", group, key, "%RETRY%G", 10_002, 3, 3, 6, 3_000)


def appended(ms: int, offset: int, topic: str = "orders") -> Told:
    """A broker stores a message, or a copy of it."""
    return ms, B, MessageAppended(B, topic, 0, offset, 100 * offset, 100, f"k{offset}")


def put_off(ms: int, offset: int) -> Told:
    """A broker puts a message off."""
    return appended(ms, offset, RMQ_SYS_SCHEDULE_TOPIC)


def copied(ms: int, topic: str = "%RETRY%G", place: int = 600, key: str = "k5", *, waits: bool = False) -> Told:
    """A broker puts a copy for another try at a place of its log."""
    return ms, B, MessageAppended(B, topic, 0, 0, place, 100, key, waits)


def expired(least: int, at: str = B) -> Told:
    """A broker has deleted the files of its log before this place."""
    return 4, at, LogExpired(at, least)


def loaded(end: int) -> Told:
    """A broker comes up with a log that ends there."""
    return 5, B, StoreLoaded(B, 0, end, "SYNC_FLUSH")


def ended(level: int, at: str = B) -> Told:
    """The task of a delay level has ended."""
    return 4, at, DelayLevelEnded(at, level)


def dispatched(ms: int, place: int) -> Told:
    """The record at a place of the log is in its queue."""
    return ms, B, MessageDispatched(B, "orders", 0, 0, place)


def has(*offsets: int, member: Any = MEMBER, text: str = "*", topic: str = "orders") -> Tables:
    """A broker has messages, and somebody reads its topic."""
    records = tuple(StoredRecord(100 * offset, topic, 0, offset, 100, f"k{offset}") for offset in offsets)
    return Tables(brokers=[MASTER], log_records=records, in_service=[member],
                  subscribed={topic: Subscription(text, 1, None)}, topics={topic: QueueData(B, 4, 4, 6, 0)})


def refused(client: str) -> Told:
    """A broker objects to the heartbeat of a member."""
    return 2, B, HeartbeatRefused(B, G, client, f"{client}:1")


def without(queues: int | None) -> Tables:
    """The same of a broker of which so many queues of the topic are read; None: it has not the topic."""
    tables = has(5)
    tables.answers["topics"] = {} if queues is None else {"orders": QueueData(B, queues, 4, 6, 0)}
    return tables


def unforced(path: str = "store/config/topics.json", at: str = B) -> Told:
    """A force of a file fails."""
    return 1, at, ForceFailed(path, lost=False)


def threads(count: int) -> Tables:
    """A broker has a message, and its reader so many threads."""
    return Tables(**has(5).answers, consume_threads=count)


def taken(at: str = C, mq: MessageQueue = MQ, group: str = G) -> Told:
    """A member takes a queue."""
    return 1, at, QueueTaken(f"{at}@1", group, mq, 0)


def never(ms: int, at: str = C) -> Told:
    """A listener does not return."""
    return answered(ms, 6, answer="NEVER", at=at)


def begun(ms: int) -> Told:
    """A consumer starts, in a process that has had one before."""
    return ms, C, ConsumerStarted("c1@1", G, "CLUSTERING", True)


OFF = 3, B, ProcessKilled(1, True)
DIED = 4, B, ThreadDied("ReputMessageService", "java.lang.InternalError", None)
HEALED, REFUSED = (9, "", WorldHealed()), refused(C2)
TO_ALL = tuple((0, one, ConsumerStarted(f"{one}@1", G, "BROADCASTING", True)) for one in (C, C2))
BROADCASTS = MEMBER._replace(message_model="BROADCASTING")

WITHOUT = Tables(**{
    **has(5).answers, "in_service": [MEMBER, MEMBER._replace(machine=C2, client_id=C2)],
    "subscribed": lambda machine, _: {"orders" if machine == C else "invoices": Subscription("*", 1, None)}})
"""Two members, of which one does not subscribe the topic."""

SETTLED = (2, C, MessagesSettled(C, G, MQ, (5,)))
FAILED = given(1, 5), answered(1, 5, answer=LATER)
UNWANTED = (1, C, answered(1, 5, answer=LATER)[2]._replace(level=-1))
NO_RETRY = (1, C, given(1, 5)[2]._replace(most=0))

HISTORIES = (
    Written("attempts_are_counted", broken=(given(1, 5, attempt=3),), kept=(given(1, 5, attempt=2),),
            says="sent back 3 times"),
    Written("attempts_are_counted", broken=(given(1, 5, attempt=3, mq=AGAIN),), views=FAILS,
            kept=(given(1, 5, attempt=2), given(2, 5, attempt=3)), kept_views=FAILS),
    Written("attempts_are_counted", broken=(given(1, 5, attempt=2), given(2, 5, attempt=3))),
    Written("attempts_are_counted", broken=(given(1, 5, attempt=2), given(2, 5, attempt=3, at=C2)), views=FAILS),
    Written("attempts_are_counted",
            broken=(given(1, 5, attempt=2), given(2, 5, attempt=3), given(3, 5, attempt=3)), views=FAILS,
            kept=(NO_RETRY, (2, C, NO_RETRY[2]._replace(attempts=(1,)))), kept_views=FAILS),
    Written("attempts_are_counted",
            broken=(given(1, 5, attempt=2), (2, C, ProcessKilled(1, power_loss=False)), given(3, 5, attempt=3)),
            views=FAILS),
    # What its client could not send back is given once more, where it is.
    Written("attempts_are_counted", broken=(
        given(1, 5, attempt=2), unsent(), given(3, 5, attempt=3), given(4, 5, attempt=4)),
            kept=(given(1, 5, attempt=2), unsent(), given(3, 5, attempt=3), unsent(), given(5, 5, attempt=4)),
            says="sent back 4 times", causes=()),
    *(Written("attempts_are_counted", broken=(given(1, 5, attempt=2), other, given(3, 5, attempt=3)),
              kept=(given(1, 5, attempt=2), unsent(), given(3, 5, attempt=3)))
      for other in (unsent(key="k6"), unsent(group="P"), unsent(at=C2))),
    Written("attempts_are_counted", broken=(unsent(), given(3, 5, attempt=3)),
            kept=(given(1, 5, attempt=2), unsent(), given(3, 5, attempt=3))),
    Written("attempts_are_counted", broken=(sent(0, 5, 2), given(1, 5, mq=AGAIN)), causes=("X20",),
            kept=(given(1, 5, mq=AGAIN, attempt=1),), says="as if it had never been tried"),
    Written("attempts_are_counted", broken=(sent(0, 5), sent(0, 5, 2, "P"), sent(0, 6, 2), given(1, 5, mq=AGAIN)),
            causes=()),

    Written("failure_is_retried_once", broken=(*FAILED, put_off(2, 5), put_off(3, 5)), causes=(),
            kept=(*FAILED, put_off(2, 5), given(3, 5), answered(3, 5, answer=LATER), put_off(4, 5)),
            says="off 2 times"),
    Written("failure_is_retried_once", broken=(given(1, 5), put_off(MINUTE_MS, 5)), causes=(),
            kept=(given(1, 5), put_off(MINUTE_MS + 1, 5))),
    Written("failure_is_retried_once", broken=(given(1, 5), put_off(2, 5)), kept=(put_off(1, 5), given(2, 5))),
    Written("failure_is_retried_once", causes=(), broken=(
        *FAILED, given(2, 5, at=C2), put_off(70_000, 5), answered(70_001, 5, at=C2), put_off(70_002, 5))),
    Written("failure_is_retried_once",
            broken=(*FAILED, put_off(2, 5), given(2, 5), answered(2, 5), put_off(3, 5)),
            kept=(put_off(1, 6), put_off(2, 6), *FAILED, appended(3, 5), appended(4, 5))),
    Written("failure_is_retried_once",
            broken=(given(1, 5), put_off(70_000, 5), given(70_001, 5, mq=AGAIN), answered(70_002, 5, mq=AGAIN),
                    answered(80_000, 5, answer=LATER), put_off(80_001, 5)),
            kept=(given(1, 5), given(2, 5, at=C2), put_off(70_000, 5), answered(80_000, 5, answer=LATER), put_off(
                80_001, 5)), causes=("X7",)),
    Written("failure_is_retried_once",
            broken=(given(1, 5), (2, C, ProcessKilled(1, power_loss=False)), put_off(70_000, 5)), causes=(),
            kept=(given(1, 5), answered(1, 5), given(2, 5), put_off(70_000, 5))),
    # The clock of its machine is set forward before it is settled.
    *(Written("failure_is_retried_once", broken=(given(1, 5), *broken, put_off(4, 5)),
              kept=(given(1, 5), *kept, put_off(4, 5))) for broken, kept in (
        ((answered(2, 5),), (answered(2, 5), set_by(3_600_000))),
        ((answered(2, 5), set_by(-1_000)), (set_by(1),)),
        ((answered(2, 5), SETTLED, set_by(1)), (answered(2, 5), set_by(1), SETTLED)),
        ((answered(2, 5), set_by(1, C2)), (answered(2, 5), (2, C2, SETTLED[2]), set_by(1))),
        ((set_by(1, C2),), (answered(2, 5), (2, C, MessagesSettled(C, G, ELSEWHERE, (5,))), set_by(1))),
        ((answered(2, 5), set_by(1), put_off(3, 5)),
         (answered(2, 5), (2, C, MessagesSettled(C, G, MQ, (6,))), set_by(1))),
        ((set_by(1), put_off(2, 5), answered(3, 5, answer=LATER)), (set_by(1), answered(3, 5))))),
    Written("failure_is_retried_once", broken=(*FAILED, put_off(2, 5), sent(3, 5), put_off(3, 5)), causes=("X5",),
            kept=(*FAILED, sent(3, 5), put_off(3, 5))),
    Written("failure_is_retried_once", broken=(sent(0, 5), *FAILED, put_off(2, 5), put_off(3, 5)), causes=()),
    Written("failure_is_retried_once", broken=(sent(0, 5, group="P"), given(1, 5), put_off(2, 5)),
            kept=(sent(0, 5, 2, group="P"), given(1, 5), put_off(2, 5))),
    Written("failure_is_retried_once", broken=(sent(0, 5, 2), given(1, 5), put_off(2, 5)), causes=()),

    # Members that broadcast are given a queue each for itself.
    Written("ordered_messages_stay_in_order",
            broken=(*TO_ALL, given(1, 5, orderly=True), given(2, 6, orderly=True)), says="c1 has not settled 5",
            kept=(*TO_ALL, given(1, 5, orderly=True), given(2, 6, orderly=True, at=C2), answered(3, 5),
                  given(4, 6, orderly=True), sent_on())),
    Written("ordered_messages_stay_in_order", broken=(given(1, 5, orderly=True), given(2, 6, orderly=True)),
            kept=(given(1, 5, orderly=True), answered(2, 5), given(3, 6, orderly=True)), says="c1 has not settled 5"),
    Written("ordered_messages_stay_in_order",
            broken=(given(1, 5, 6, orderly=True), answered(2, 6), given(3, 7, orderly=True, at=C2)),
            kept=(given(1, 5, 6, orderly=True), given(3, 5, 6, orderly=True, at=C2), answered(4, 5, 6, at=C2),
                  given(5, 7, orderly=True, at=C2)), says="c1 has not settled 5"),
    Written("failure_is_retried_once", broken=(given(1, 5), UNWANTED, put_off(2, 5)), kept=(*FAILED, put_off(2, 5))),
    # No broker has taken it as a dead letter, and its client sends it.
    Written("failure_is_retried_once", broken=(given(1, 5), UNWANTED, sent(2, 5, group="P"), put_off(3, 5)),
            kept=(given(1, 5), UNWANTED, sent(2, 5), put_off(3, 5))),
    Written("failure_is_retried_once", broken=(given(1, 5), UNWANTED, taken_as_dead("k5"), sent(2, 5), put_off(3, 5)),
            kept=(given(1, 5), UNWANTED, taken_as_dead("k6"), sent(2, 5), put_off(3, 5)), causes=("X5",)),
    Written("failure_is_retried_once",
            broken=(given(1, 5), UNWANTED, sent(2, 5), sent(2, 5, 2), put_off(3, 5), put_off(4, 5)),
            kept=(*FAILED, given(1, 5, mq=AGAIN), (1, C, UNWANTED[2]._replace(mq=AGAIN)), sent(2, 5), put_off(3, 5),
                  put_off(4, 5))),
    *(Written("failure_is_retried_once", broken=(given(1, 5), answered(1, 5, answer=unfailed), put_off(2, 5)),
              kept=(*FAILED, put_off(2, 5))) for unfailed in ("HELD", "ROLLBACK")),
    Written("ordered_messages_stay_in_order",
            broken=(given(1, 5, orderly=True), answered(2, 5, answer="ROLLBACK"), given(3, 6, orderly=True)),
            kept=(given(1, 5, orderly=True), answered(2, 5, answer="HELD"), given(3, 6, orderly=True))),
    Written("ordered_messages_stay_in_order",
            broken=(given(1, 5, orderly=True), answered(2, 5, answer=LATER), given(3, 6, orderly=True)),
            kept=(given(1, 5), given(2, 6))),
    Written("ordered_messages_stay_in_order",
            broken=(given(1, 5, orderly=True), answered(2, 5, at=C2), given(3, 6, orderly=True)),
            kept=(given(1, 5, orderly=True), given(2, 6, orderly=True, mq=ELSEWHERE),
                  given(3, 6, orderly=True, group="H"))),

    Written("ordered_messages_stay_in_order",
            broken=(given(1, 5, orderly=True, attempt=1), answered(2, 5, answer=LATER), given(3, 6, orderly=True)),
            kept=(given(1, 5, orderly=True, attempt=2), answered(2, 5, answer=LATER), given(3, 6, orderly=True))),

    # What its broker has deleted is not waited for, by those whom it sends on.
    Written("ordered_messages_stay_in_order", broken=(*BEGUN, sent_on(), GOES_ON), views=has_from(5),
            kept=(*BEGUN, sent_on(), GOES_ON), kept_views=has_from(6), says="c1 has not settled 5"),
    *(Written("ordered_messages_stay_in_order", broken=(*BEGUN, *told, GOES_ON), views=views,
              kept=(*BEGUN, sent_on(), GOES_ON), kept_views=has_from(6))
      for told, views in (
          ((), has_from(6)), ((sent_on(mq=ELSEWHERE),), has_from(6)), ((sent_on(group="H"),), has_from(6)),
          ((sent_on(),), has_from(6, broker_name="broker-b")), ((sent_on(),), has_from(None)))),

    Written("every_message_is_settled", broken=(appended(1, 5), HEALED), views=has(5),
            kept=(appended(1, 5), HEALED, answered(10, 5)), kept_views=has(5), says="has not consumed k5 at 5"),
    Written("every_message_is_settled", broken=(appended(1, 5), answered(2, 5, answer="HELD"), answered(
        3, 5, answer="ROLLBACK"), HEALED), views=has(5), kept=(appended(1, 5), answered(2, 5, answer="HELD"), HEALED),
            kept_views=has(5)),
    Written("every_message_is_settled", broken=(appended(1, 5), answered(2, 5, answer=LATER), HEALED), views=has(5),
            kept=(appended(1, 5), answered(2, 5, answer=LATER), appended(3, 5, "%DLQ%G"), HEALED), kept_views=has(5)),
    Written("every_message_is_settled", broken=(appended(1, 5), appended(2, 5, "%DLQ%H"), HEALED), views=has(5),
            kept=(HEALED, appended(10, 5)), kept_views=has(5)),
    Written("every_message_is_settled", broken=(appended(1, 5), HEALED), views=has(5),
            kept=(appended(1, 5), HEALED), kept_views=has(5, text="a")),
    # U4: another member does not subscribe the topic; whom a broker refuses is none.
    Written("every_message_is_settled", broken=(appended(1, 5), HEALED), views=has(5), causes=()),
    Written("every_message_is_settled", broken=(appended(1, 5), HEALED), views=WITHOUT, causes=("U4",)),
    Written("every_message_is_settled", broken=(appended(1, 5), REFUSED, HEALED), views=WITHOUT, causes=()),
    Written("every_message_is_settled", broken=(appended(1, 5), HEALED), views=has(5),
            kept=(appended(1, 5), refused(C), HEALED), kept_views=has(5)),
    # V23: the copy that comes next was not waited for, and is gone with the power.
    *(Written("every_message_is_settled", broken=(appended(1, 5), *came, HEALED), views=has(5), causes=("V23",))
      for came in ((copied(2), OFF, loaded(600)), (copied(1, RMQ_SYS_SCHEDULE_TOPIC, 500), copied(2), OFF, loaded(550)),
                   (copied(2, RMQ_SYS_SCHEDULE_TOPIC), OFF, loaded(600), loaded(700)))),
    *(Written("every_message_is_settled", broken=(appended(1, 5), *came, HEALED), views=has(5), causes=())
      for came in ((copied(2, waits=True), OFF, loaded(600)), (copied(2), OFF, loaded(601)), (copied(2), OFF),
                   (copied(2), (3, B, ProcessKilled(1, False)), loaded(600)), (OFF, copied(4), loaded(600)),
                   (copied(2), (3, C, OFF[2]), loaded(600)), (copied(2), OFF, (5, C, loaded(600)[2])),
                   (copied(2), loaded(600), OFF, loaded(600)), (copied(2, "%RETRY%H"), OFF, loaded(600)),
                   (copied(2, key="k6"), OFF, loaded(600)), (copied(2), OFF, loaded(600), copied(6)))),
    # V39: its copy waits in a level whose task has ended. V40: it, or its copy, was not dispatched.
    *(Written("every_message_is_settled", broken=(appended(1, 5), *came, HEALED), views=has(5), causes=causes)
      for came, causes in (
          ((copied(2, RMQ_SYS_SCHEDULE_TOPIC), ended(1)), ("V39",)), ((copied(2), ended(1)), ()),
          ((copied(2, RMQ_SYS_SCHEDULE_TOPIC), ended(2)), ()), ((copied(2, RMQ_SYS_SCHEDULE_TOPIC), ended(1, C)), ()),
          ((copied(2, RMQ_SYS_SCHEDULE_TOPIC), ended(1), copied(5)), ()),
          ((copied(2, RMQ_SYS_SCHEDULE_TOPIC), ended(1), (5, B, ProcessStarted(2))), ()),
          ((DIED,), ("V40",)), ((dispatched(2, 500), DIED), ()), ((dispatched(2, 500), copied(2), DIED), ("V40",)),
          ((copied(2), dispatched(2, 600), DIED), ()), ((DIED, (5, B, ProcessStarted(2))), ()),
          # V42: its copy was put in the first second after a start, where a lost message was.
          ((put_off(2, 0), loaded(500), copied(6, RMQ_SYS_SCHEDULE_TOPIC)), ("V42",)),
          ((put_off(2, 0), loaded(500), copied(6)), ()), ((loaded(500), copied(6, RMQ_SYS_SCHEDULE_TOPIC)), ()))),
    # V43: its queue is gone from the table of topics, and its broker has lost its power.
    *(Written("every_message_is_settled", broken=(appended(1, 5), *came, HEALED), views=without(queues), causes=causes)
      for came, queues, causes in (
          ((OFF,), 0, ("V43",)), ((OFF,), None, ("V43",)), ((OFF,), 1, ()), ((), 0, ()), ((copied(2), OFF), 0, ()),
          (((3, B, ProcessKilled(1, False)),), 0, ()), (((3, "broker-b", OFF[2]),), 0, ()),
          ((OFF, appended(4, 5)), 0, ()), ((unforced(at="broker-b"), OFF), 0, ("V43",)),
          ((unforced("store/commitlog/0"), OFF), 0, ("V43",)), ((OFF, unforced()), 0, ("V43",)),
          ((unforced(), (2, B, TopicConfigUpdated(B, "others")), OFF), 0, ("V43",)),
          ((unforced(), (2, B, TopicConfigDeleted(B, "others")), OFF), 0, ("V43",)))),
    *(Written("every_message_is_settled", broken=(appended(1, 5), OFF, HEALED), views=without(0), causes=("V43",),
              kept=(*before, appended(1, 5), *came, OFF, HEALED), kept_views=without(0))
      for before, came in (((), (unforced(),)), ((unforced(),), ()))),
    # Of two threads of who has its queue, or one of the retry topic, none is given back.
    *(Written("every_message_is_settled", broken=(appended(1, 5), *broken, HEALED), views=threads(2),
              kept=(appended(1, 5), taken(), never(2), never(3), HEALED), kept_views=threads(2)) for broken in (
        (taken(), never(2), answered(3, 6, answer=LATER)), (never(2), never(3)), (taken(), never(2), never(3, C2)),
        (taken(C2), never(2), never(3)), (taken(mq=ELSEWHERE), never(2), never(3)),
        (taken(), never(2), begun(3), never(4)), (taken(group="H"), never(2), never(3)))),
    *(Written("every_message_is_settled", broken=(appended(1, 5), *broken, HEALED), views=threads(2), kept=(
        appended(1, 5), taken(mq=AGAIN), begun(2), copied(2), never(3), never(4), HEALED), kept_views=threads(2))
      for broken in ((taken(mq=AGAIN), copied(2), never(2)), (taken(mq=AGAIN), never(2), never(3)),
                     (taken(), copied(2), never(2), never(3)))),
    # What a listener was given since its consumer has the queue is to be sent back when it has expired.
    *(Written("every_message_is_settled", broken=(appended(1, 5), taken(), given(2, 5), never(2), never(3), HEALED),
              views=threads(2), kept=(appended(1, 5), *kept, never(2), never(3), HEALED), kept_views=threads(2))
      for kept in ((given(1, 5), taken()), (taken(), given(1, 6)), (taken(), given(2, 5, at=C2)),
                   (taken(), given(1, 5, mq=ELSEWHERE)), (taken(), given(2, 5, group="H")),
                   (taken(), taken(C2), given(2, 5), never(2, C2), never(3, C2)))),
    # The copy that comes next was deleted with its file.
    *(Written("every_message_is_settled", broken=(appended(1, 5), *broken, HEALED), views=has(5),
              kept=(appended(1, 5), *kept, HEALED), kept_views=has(5)) for broken, kept in (
        ((copied(2), expired(600)), (copied(2), expired(601))),
        ((expired(601), copied(2)), (copied(2, RMQ_SYS_SCHEDULE_TOPIC), expired(601))),
        ((copied(2, place=500), expired(501), copied(2)), (copied(2, place=500), copied(2), expired(601))),
        ((copied(2), expired(601, C)), (copied(2), expired(601), expired(700))),
        ((copied(2, "%RETRY%H"), expired(601)), (copied(2), expired(601))),
        ((copied(2, key="k6"), expired(601)), (copied(2), expired(601))))),
    Written("every_message_is_settled", broken=(appended(1, 5), HEALED), views=has(5),
            kept=(appended(1, 5), HEALED), kept_views=has(5, member=BROADCASTS)),
    Written("every_message_is_settled", broken=(appended(1, 5), HEALED), views=has(5),
            kept=(appended(1, 5), HEALED), kept_views=has(5, topic="%RETRY%G")),

    Written("broadcast_reaches_everyone", broken=(appended(1, 5), given(2, 5, at=C2), HEALED),
            views=has(5, member=BROADCASTS), kept=(appended(1, 5), given(2, 5), HEALED),
            kept_views=has(5, member=BROADCASTS), says="has not been given k5 at 5"),
    Written("broadcast_reaches_everyone", broken=(appended(1, 5), given(2, 5, group="H"), HEALED),
            views=has(5, member=BROADCASTS), kept=(appended(1, 5), HEALED), kept_views=has(5)),
)
