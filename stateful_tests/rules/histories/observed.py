"""Written histories of what clients observe: judged by the checks, and what brokers and host say of it."""

from __future__ import annotations

from typing import Any

import invariants.rules.observed  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_TRANS_HALF_TOPIC
from impl.events import (
    BrokerStarted,
    ClockDrifts,
    ClockJumped,
    ConsumerRegistered,
    DiskFilled,
    EndTransactionTaken,
    ForceFailed,
    MessageAppended,
    MessageDispatched,
    MessagesAnswered,
    OffsetCorrected,
    OffsetSent,
    OffsetUpdated,
    OrderGiven,
    ProcessKilled,
    QueuesDeleted,
    StoreLoaded,
    SubscriptionUpdated,
    TopicConfigDeleted,
)
from invariants.histories.operations import COMMITTED_HALF, OF_OWNERS, ROLLED_BACK, Operation
from invariants.rules.bounds import Bounds
from invariants.views import StoredRecord
from stateful_tests.rules.written import Tables, Written

B, P, C = "broker-a", "producer1", "consumer1"
QUEUE, MQ = "orders/broker-a/0", MessageQueue("orders", B, 0)
CALM = Bounds()
Told = tuple[int, str, Any]

SENT = (Operation("send", P, 1, "k1", time_ms=10),
        Operation("acknowledged", P, 2, "k1", None, QUEUE, 0, 20))
OTHER = tuple(one._replace(message="k2") for one in SENT)
TAKEN = Operation("assigned", C, 1, None, "G", QUEUE, 0, 1)
DELIVERED = Operation("delivered", C, 3, "k1", "G", QUEUE, 0, 30)
CONSUMED = DELIVERED._replace(kind="consumed", seq=4, time_ms=31)
PASSED = Operation("committed", C, 9, None, "G", QUEUE, 5, 90)
LOST = (*SENT, TAKEN, PASSED)
LATER, EARLY = (SENT[0]._replace(delay_ms=1_000, clock="world"),), DELIVERED._replace(time_ms=1_009, clock="world")
RED = (SENT[0]._replace(tag="red"), SENT[1])
SET = ClockJumped(5_000)
WAITS = (11, B, MessageAppended(B, "SCHEDULE_TOPIC_XXXX", 2, 0, 100, 100, "k1"))
BACK = (TAKEN, PASSED, PASSED._replace(seq=10, offset=1, time_ms=100))


def appended(ms: int, offset: int = 100, key: str = "k1") -> Told:
    """The broker appends the message, or another one in the same place of the queue."""
    return ms, B, MessageAppended(B, "orders", 0, 0, offset, 100, key)


def dispatched(ms: int, offset: int = 100) -> Told:
    """The queue is given the unit of the record, at that place of the log."""
    return ms, B, MessageDispatched(B, "orders", 0, 0, offset)


def started(ms: int, name: str = B, at: str = B) -> Told:
    """The broker's process starts, under this name."""
    return ms, at, BrokerStarted(at, name, 0, ())


def killed(ms: int, *, power_loss: bool = True) -> Told:
    """The broker's process ends."""
    return ms, B, ProcessKilled(1, power_loss)


def loaded(ms: int, end: int, how: str = "SYNC_FLUSH") -> Told:
    """The store of the broker has recovered."""
    return ms, B, StoreLoaded(B, 0, end, how)


def deletes(ms: int, topic: str = "orders", queue_id: int = 0, at: str = B) -> Told:
    """A broker deletes a queue of a topic."""
    return ms, at, QueuesDeleted(at, topic, (queue_id,))


def ordered(
    ms: int, server: str = B, kind: str = "topic", name: str = "orders", wanted: tuple[int, ...] | None = None,
) -> Told:
    """An operator tells a broker how a topic is to be, or to delete it."""
    return ms, "operator", OrderGiven(server, kind, name, wanted)


def corrected(ms: int, mq: MessageQueue = MQ, offset: int = 1) -> Told:
    """The member goes on where its broker says."""
    return ms, C, OffsetCorrected("c1@1", "G", mq, offset)


def remembers(ms: int, offset: int = 5) -> Told:
    """A listener's success raises the offset in the member's memory."""
    return ms, C, OffsetUpdated("c1@1", "G", MQ, offset)


def has(*offsets: int, unit: int | None = 100) -> Tables:
    """What the log has in that place of the queue, and what the queue has there."""
    return Tables(log_records=tuple(StoredRecord(offset, "orders", 0, 0, 100, "k1") for offset in offsets),
                  queue_unit=unit)


def lost(*records: Told, kept: tuple[Told, ...] = (), views: Any = None, kept_views: Any = None,
         causes: tuple[str, ...] = (), kept_observed: tuple[Operation, ...] | None = None) -> Written:
    """A message is lost; where nothing is said of `kept`, it is delivered there. Its broker has started before."""
    records, kept = ((started(0), *each) if each else () for each in (records, kept))
    if not kept and kept_observed is None:
        kept, kept_observed = records, (*LOST, DELIVERED, CONSUMED)
    return Written("acknowledged_is_delivered", broken=records, kept=kept, views=views or has(100),
                   kept_views=kept_views, causes=causes, says="k1 was acknowledged at offset 0", observed=LOST,
                   kept_observed=kept_observed)


def answered(*offsets: int, said: tuple[str, ...] = ("LATER", "LATER")) -> MessagesAnswered:
    """What a listener makes of messages; the key of one at 0 is k1."""
    return MessagesAnswered("G", MQ, offsets, tuple(f"k{offset + 1}" for offset in offsets), said[:len(offsets)])


def settled(kinds: str, *, kept: str) -> Written:
    """A member and its message."""
    broken, kept_observed = ((TAKEN, *SENT, *(
        (TAKEN if kind in OF_OWNERS else DELIVERED)._replace(kind=kind, seq=seq, time_ms=seq)
        for seq, kind in enumerate(one.split(), 30))) for one in (kinds, kept))
    return Written("settled_is_over", broken=(), observed=broken, kept_observed=kept_observed, causes=(),
                   says="has consumed it and kept the queue")


def again(*records: Told, causes: tuple[str, ...]) -> Written:
    """A message that was given up comes again, and another time it does not."""
    once = (TAKEN, *SENT, DELIVERED, CONSUMED._replace(kind="given_up"))
    return Written("settled_is_over", broken=records, kept=records, causes=causes, says="has given it up",
                   observed=(*once, DELIVERED._replace(seq=5, time_ms=40)), kept_observed=once)


def half(ms: int, key: str = "k1") -> Told:
    """The broker appends a half message."""
    return ms, B, MessageAppended(B, RMQ_SYS_TRANS_HALF_TOPIC, 0, 0, 50, 100, key)


def ended(ms: int, key: str, *, offset: int = 50, state: str = "COMMIT_MESSAGE") -> Told:
    """The broker is told how a transaction has ended, and where its half message is."""
    return ms, B, EndTransactionTaken(B, "P", key, state, False, 0, offset)


def rolled_back(*records: Told, causes: tuple[str, ...]) -> Written:
    """A message is delivered whose transaction was rolled back, and another time it was committed."""
    broken, kept = ((TAKEN, *SENT, SENT[1]._replace(kind=how, seq=5, offset=None, time_ms=21), DELIVERED, CONSUMED)
                    for how in (ROLLED_BACK, COMMITTED_HALF))
    return Written("delivered_was_sent", broken=(started(0), *records), kept=(started(0), *records), causes=causes,
                   observed=broken, says="its transaction was rolled back", kept_observed=kept)


def heard(ms: int, client: str, text: str) -> Told:
    """The broker enters a heartbeat of a member."""
    return ms, B, ConsumerRegistered(B, "G", client, f"{client}:1", True, True, frozenset({("orders", text, 1)}))


def put(ms: int, text: str, at: str = B) -> Told:
    """A broker filters the topic by this expression from now on."""
    return ms, at, SubscriptionUpdated(at, "G", "orders", text, 1, attached=True)


def tagged(tag: str) -> Tables:
    """The message is there, and has a tag."""
    return Tables(log_records=(StoredRecord(100, "orders", 0, 0, 100, "k1"),), queue_unit=100, tag=tag)


TOLD = heard(2, C, "red"), heard(3, "c2", "green")
SHORT, LONG = loaded(40, 100), loaded(40, 200)
ASYNC = loaded(40, 100, "ASYNC_FLUSH")
SENDS = (95, C, OffsetSent("c1@1", "G", MQ, 1))
FULL, FREE = (35, B, DiskFilled(95)), (35, B, DiskFilled(0))
EARLY_FULL, EARLY_FREE = (12, B, DiskFilled(100)), (14, B, DiskFilled(0))
FORCE = (30, B, ForceFailed("store/commitlog/00000000000000000000", lost=True))
OTHER_B = "broker-b"
CUT_THERE = (started(0, OTHER_B, OTHER_B), *(
    (ms, OTHER_B, event._replace(**({"broker": OTHER_B} if "broker" in event._fields else {})))
    for ms, _, event in (appended(16), killed(39), ASYNC)))
"""What is cut off is at that place of another broker's queue."""

HISTORIES = (
    lost(appended(15)),
    lost(kept=(appended(15), killed(39), ASYNC)),
    lost(appended(15), killed(39, power_loss=False), ASYNC, kept=(appended(15), killed(39), ASYNC)),
    lost(appended(15), killed(39), SHORT, kept=(appended(15), killed(39), ASYNC)),
    lost(killed(14), appended(15), ASYNC, kept=(killed(14), appended(15), killed(39), ASYNC)),
    lost(appended(15), ASYNC, killed(50), kept=(appended(15), killed(39), ASYNC, killed(50))),
    lost(appended(15), killed(39), loaded(40, 101, "ASYNC_FLUSH"), kept=(appended(15), killed(39), ASYNC)),
    lost(appended(15), kept=(appended(15), FULL), kept_views=has(200)),
    lost(appended(15), FREE, views=has(200), kept=(appended(15), FULL), kept_views=has(101)),
    lost(appended(15), FULL, views=has(100), kept=(appended(15), FULL), kept_views=has(101)),
    lost(appended(15), FULL, views=has(), kept=(appended(15), FULL), kept_views=has(101)),
    lost(appended(15), FULL, corrected(36, offset=0), kept=(appended(15), FULL, corrected(36, offset=1))),
    lost(appended(15), FREE, corrected(36), kept=(appended(15), FULL, corrected(36))),
    lost(appended(15), FULL, corrected(36, MQ._replace(queue_id=1)), kept=(appended(15), FULL, corrected(36))),
    lost(appended(15), FORCE, killed(39), SHORT, causes=("V6",)),
    lost(appended(15), FORCE, killed(39), LONG, causes=()),
    lost(appended(15), FORCE, killed(39, power_loss=False), ASYNC, causes=()),
    lost(appended(15), killed(39), LONG, views=has(100, unit=200), causes=("V26", "V3")),
    lost(appended(15), killed(39), LONG, views=has(100, unit=None), causes=("V26", "V3")),
    lost(appended(15), killed(39), LONG, views=has(100, 100), causes=("V26", "V3")),
    lost(appended(15), killed(39, power_loss=False), LONG, views=has(100, unit=200), causes=("V3",)),
    lost(appended(15), LONG, views=has(100, unit=200), causes=()),
    lost(appended(15), killed(39), SHORT, views=has(100, unit=200), causes=()),
    lost(EARLY_FULL, appended(15), dispatched(16), causes=("V33",)),
    lost(EARLY_FULL, appended(15), dispatched(16), EARLY_FREE, dispatched(41), causes=("V33",)),
    lost(EARLY_FULL, EARLY_FREE, appended(15), dispatched(16), causes=()),
    lost(EARLY_FULL, appended(15), dispatched(16, 200), causes=()),
    lost(appended(15), dispatched(16), FULL, causes=()),
    lost(EARLY_FULL, appended(15), dispatched(16), killed(39), SHORT, causes=()),
    lost(appended(15), *CUT_THERE, kept=(appended(15), killed(39), ASYNC)),
    lost(appended(15), *CUT_THERE, kept=(started(0, at=OTHER_B), *CUT_THERE[1:])),
    # V41: its queue was deleted, and nobody has told its broker to delete the topic.
    lost(appended(15), deletes(16), views=has(100, unit=None), causes=("V41",)),
    lost(appended(15), killed(39), LONG, deletes(41), views=has(100, unit=None), causes=("V41",)),
    lost(appended(15), killed(39), SHORT, deletes(41), views=has(100, unit=None), causes=()),
    lost(deletes(14), appended(15), views=has(100, unit=None), causes=()),
    *(lost(appended(15), other, views=has(100, unit=None), causes=())
      for other in (deletes(16, "invoices"), deletes(16, queue_id=1), deletes(16, at=OTHER_B))),
    *(lost(appended(15), told, deletes(17), views=has(100, unit=None), causes=causes) for told, causes in (
        ((16, B, TopicConfigDeleted(B, "orders")), ()), ((16, B, TopicConfigDeleted(B, "invoices")), ("V41",)),
        (ordered(16), ()), (ordered(16, wanted=(2, 2, 6, 0)), ("V41",)), (ordered(16, kind="group"), ("V41",)),
        (ordered(16, server=OTHER_B), ("V41",)), (ordered(16, name="invoices"), ("V41",)))),
    # L3: its tag is red, and its broker filters by the tags of another member.
    lost(appended(15), *TOLD, put(16, "green"), views=tagged("red"), causes=("L3",)),
    lost(put(14, "green"), appended(15), *TOLD, views=tagged("red"), causes=("L3",)),
    lost(put(13, "green"), put(14, "red"), appended(15), *TOLD, views=tagged("red"), causes=()),
    lost(appended(15), *TOLD, put(16, "green || red"), views=tagged("red"), causes=()),
    lost(appended(15), *TOLD, put(16, "green"), views=tagged("green"), causes=()),
    lost(appended(15), heard(2, C, "red"), heard(3, "c2", "red"), put(16, "green"), views=tagged("red"), causes=()),
    lost(appended(15), heard(2, C, "red"), heard(3, C, "green"), put(16, "green"), views=tagged("red"), causes=()),
    lost(appended(15), *TOLD, put(16, "green", OTHER_B), views=tagged("red"), causes=()),
    Written("delivered_was_sent", broken=(), observed=(TAKEN, *OTHER, DELIVERED, CONSUMED),
            kept_observed=(TAKEN, *SENT, DELIVERED, CONSUMED), causes=(), says="nobody has sent it"),
    # T7: the end of k0, which a crash has taken, has committed k1, which was put in its place.
    rolled_back(half(14), ended(16, "k0"), appended(16), causes=("T7",)),
    rolled_back(half(14), ended(16, "k1"), appended(16), causes=()),
    rolled_back(half(14), ended(16, "k0", offset=200), appended(16), causes=()),
    rolled_back(half(14), ended(16, "k0", state="ROLLBACK_MESSAGE"), appended(16), causes=()),
    rolled_back(half(14), appended(16), ended(17, "k0"), causes=()),
    rolled_back(half(14, key="k0"), ended(16, "k0"), appended(16), causes=()),
    Written("settled_is_over", broken=(), observed=(TAKEN, *SENT, DELIVERED, CONSUMED, DELIVERED._replace(seq=5)),
            kept_observed=(TAKEN, *SENT, DELIVERED, CONSUMED), causes=(), says="delivered again"),
    # What a listener ends that it was given before its queue changed hands ends nothing of what it has now.
    settled("delivered consumed delivered", kept="delivered assigned consumed delivered"),
    settled("delivered assigned delivered consumed consumed delivered",
            kept="delivered assigned delivered consumed delivered"),
    settled("delivered sent_back assigned delivered consumed delivered", kept="delivered sent_back assigned delivered"),
    settled("delivered assigned given_up delivered consumed delivered",
            kept="delivered assigned given_up delivered sent_back"),
    settled("delivered restarted assigned delivered consumed delivered",
            kept="delivered revoked assigned delivered consumed delivered"),
    settled("delivered assigned consumed restarted assigned delivered consumed delivered",
            kept="delivered assigned consumed restarted assigned delivered assigned consumed delivered"),
    # X26: it was given up beside another message, and both came again.
    again((31, C, answered(0, 1)), causes=("X26",)),
    again((30, C, answered(0, 1)), (31, C, answered(1, 2)), causes=("X26",)),
    again((30, C, answered(0)), (31, C, answered(0, 1)), (32, C, answered(0)), causes=("X26",)),
    again((30, C, answered(0, 1)), (31, C, answered(0)), causes=()),
    again((31, C, answered(0, 1, said=("SUCCESS", "LATER"))), causes=()),
    again((31, C, answered(1, 2)), causes=()),
    again((32, C, answered(0, 1)), causes=()),
    again((31, C, answered(0, 1)._replace(group="H")), causes=()),
    Written("committed_offset_never_goes_back", broken=(corrected(89),), observed=BACK, kept=(corrected(90),),
            kept_observed=BACK, causes=(), says="commits 1 of orders/broker-a/0 for G after 5"),
    Written("committed_offset_never_goes_back", broken=(corrected(95, MQ._replace(queue_id=1)),), observed=BACK,
            kept=(corrected(95),), kept_observed=BACK, causes=()),
    *(Written("committed_offset_never_goes_back", broken=records, observed=BACK, kept=(corrected(95),),
              kept_observed=BACK, causes=causes) for records, causes in (
        ((remembers(94), SENDS), ("L14",)), ((remembers(94, 1), SENDS), ()), ((SENDS, remembers(96)), ()))),
    Written("delays_are_waited", broken=(), observed=(*LATER, TAKEN, EARLY), causes=(),
            kept_observed=(*LATER, TAKEN, EARLY._replace(time_ms=1_010)), says="its delay is 1000"),
    Written("delays_are_waited", broken=(appended(11), (12, C, SET)), observed=(*LATER, TAKEN, EARLY),
            kept=(appended(11), (12, B, SET)), kept_observed=(*LATER, TAKEN, EARLY)),
    Written("delays_are_waited", broken=(appended(11, key="k2"), (12, B, SET)), observed=(*LATER, TAKEN, EARLY),
            kept=((0, B, ClockDrifts(100)), appended(11)), kept_observed=(*LATER, TAKEN, EARLY)),
    Written("delays_are_waited", broken=((9, B, SET), appended(11)), observed=(*LATER, TAKEN, EARLY),
            kept=((10, B, SET), appended(11)), kept_observed=(*LATER, TAKEN, EARLY)),
    Written("delays_are_waited", broken=(WAITS, (12, B, StoreLoaded(B, 0, 200, "SYNC_FLUSH"))),
            observed=(*LATER, TAKEN, EARLY), causes=("V5",)),
    Written("delays_are_waited", observed=(*LATER, TAKEN, EARLY), causes=(), broken=(
        (5, B, StoreLoaded(B, 0, 0, "SYNC_FLUSH")), WAITS, (12, C, StoreLoaded(C, 0, 200, "SYNC_FLUSH")),
        (12, B, StoreLoaded(B, 0, 200, "SYNC_FLUSH", last_exit_ok=True)))),
    Written("only_subscribed_is_delivered", broken=(), observed=(*RED, TAKEN._replace(tags="green || blue"), DELIVERED),
            kept_observed=(*RED, TAKEN._replace(tags="green || red"), DELIVERED), causes=(), says="has the tag red"),
)
