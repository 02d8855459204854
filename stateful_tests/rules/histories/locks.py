"""What becomes of the locks of queues."""

from __future__ import annotations

import invariants.rules.locks  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP
from impl.events import (
    BrokerStarted,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ListenerEnded,
    ListenerStarted,
    LockBelieved,
    LockGranted,
    LockReleased,
    LocksAnswered,
    LocksHeard,
    MessagesAnswered,
    MessagesGiven,
    MessagesSettled,
    OffsetReset,
    ProcessKilled,
    QueueDropped,
    QueueTaken,
    SendFailed,
)
from invariants.refinement.follower import Record
from invariants.rules.bounds import Bounds
from invariants.views import HeldQueue, QueueLock
from stateful_tests.rules.written import Tables, Written

B, C, ID, G = "broker-a", "c1", "c1@1", "G"
MQ, MQ2 = (MessageQueue("orders", B, queue_id) for queue_id in range(2))


def started(*, orderly: bool = True, model: str = "CLUSTERING") -> Record:
    """The consumer starts."""
    return 0, C, ConsumerStarted(ID, G, model, orderly)


def taken(ms: int = 1, mq: MessageQueue = MQ) -> Record:
    """It takes a queue."""
    return ms, C, QueueTaken(ID, G, mq, 0)


def dropped(ms: int = 3, *, by_rebalance: bool = True) -> Record:
    """It gives it up."""
    return ms, C, QueueDropped(ID, G, MQ, by_rebalance)


def reset(mq: MessageQueue = MQ) -> Record:
    """It was told by an operator where to go on."""
    return 3, C, OffsetReset(ID, G, mq, 0)


def granted(ms: int = 1, client_id: str = ID, group: str = G) -> Record:
    """The broker locks the queue for a client."""
    return ms, B, LockGranted(B, group, MQ, client_id, client_id, fast=False)


def released(ms: int = 5) -> Record:
    """The client has given the lock back."""
    return ms, B, LockReleased(B, G, MQ, ID)


def listens(ms: int = 2, mq: MessageQueue = MQ) -> Record:
    """A listener begins."""
    return ms, C, ListenerStarted(ID, G, mq)


def given(*attempts: int) -> Record:
    """An application is given messages of which some were tried before: at most three times."""
    numbers = range(len(attempts))
    return 2, C, MessagesGiven(G, MQ, tuple(numbers), tuple(map(str, numbers)), attempts, 3, orderly=True)


def says(*answers: str, mq: MessageQueue = MQ) -> Record:
    """What it makes of them."""
    numbers = range(len(answers))
    return 2, C, MessagesAnswered(G, mq, tuple(numbers), tuple(map(str, numbers)), answers)


def unsent(key: str = "1", group: str = CLIENT_INNER_PRODUCER_GROUP, at: str = C) -> Record:
    """The client, or an application, could not send a message."""
    return 3, at, SendFailed(ID, group, key, "%RETRY%G", 10002, 3, 3, 3_000, 3_000)


def answered(*granted_mqs: MessageQueue, asked: tuple[MessageQueue, ...] = (MQ,)) -> Record:
    """The broker answers a request for locks."""
    return 2, B, LocksAnswered(B, G, ID, frozenset(asked), frozenset(granted_mqs))


def heard(*mqs: MessageQueue, group: str = G, client_id: str = ID) -> Record:
    """The client has the answer."""
    return 3, C, LocksHeard(client_id, group, frozenset(mqs or (MQ,)))


def table(*, is_dropped: bool = False, locked: bool = True, expired: bool = False, mq: MessageQueue = MQ) -> Tables:
    """The client holds one queue."""
    return Tables(process_queues=[HeldQueue(C, ID, G, mq, is_dropped, locked, expired, 0, 0)])


def goodbye(ms: int = 10, why: str = "unregistered", client_id: str | None = ID) -> Record:
    """The broker removes the client."""
    return ms, B, ConsumerRemoved(B, G, client_id, f"{C}:1", why, attached=True)


def lists(connection: str = f"{C}:1") -> Record:
    """The broker lists a connection of the client."""
    return 0, B, ConsumerRegistered(B, G, ID, connection, attached=True, added=True, subscriptions=frozenset())


def has_lock(client_id: str, group: str = G, *, expired: bool = False) -> Tables:
    """The broker's table of locks."""
    lock = QueueLock(client_id, 0, expired)
    return Tables(locks={(group, MQ): lock}, lock=lock)


LOCKED = has_lock(ID)
ENDED, SETTLED = (3, C, ListenerEnded(ID, G, MQ)), (3, C, MessagesSettled(ID, G, MQ, (100,)))
STOPPING, SHUT_DOWN = (4, C, ConsumerStopping(ID, G)), (4, C, ConsumerShutDown(ID, G))
RESTARTED = (5, C, ConsumerStarted(ID, G, "CLUSTERING", True))
DIES, DIES_LATER, BROKER_DIES = (
    (ms, machine, ProcessKilled(1, False)) for ms, machine in ((2, C), (20, C), (4, B)))
CALM = Bounds()

def begun(broker_id: int) -> Record:
    """The broker starts."""
    return 0, B, BrokerStarted(B, "broker-a", broker_id)


LOST = "lock_is_lost_by_an_answer"


def believes(locked: bool = False, mq: MessageQueue = MQ) -> Record:  # as the event has it
    """The client believes to have the lock, or not."""
    return 5, C, LockBelieved(ID, G, mq, locked)


HISTORIES = (
    Written("only_ordered_groups_lock", broken=(started(orderly=False), granted()), kept=(started(), granted())),
    Written("only_ordered_groups_lock", broken=(started(model="BROADCASTING"), granted()), kept=(granted(),)),
    Written("only_ordered_groups_lock", broken=(started(orderly=False), granted()),
            kept=(started(orderly=False), granted(client_id="c2@1"), granted(group="H"))),
    Written("taken_queue_counts_as_locked", broken=(started(), taken()), kept=(started(), taken()),
            views=table(locked=False), kept_views=table()),
    Written("taken_queue_counts_as_locked", broken=(started(), taken()), kept=(started(orderly=False), taken()),
            views=table(locked=False), kept_views=table(locked=False)),
    Written("taken_queue_counts_as_locked", broken=(started(), taken()), kept=(started(), taken()),
            views=table(locked=False), kept_views=table(locked=False, is_dropped=True)),
    Written("taken_queue_counts_as_locked", broken=(started(), taken()), kept=(started(), taken(mq=MQ2)),
            views=table(locked=False), kept_views=table(locked=False)),
    Written("held_queue_stays_locked", broken=(taken(), released()), kept=(taken(), dropped(), released())),
    Written("held_queue_stays_locked", broken=(taken(), STOPPING, released()), kept=(taken(), SHUT_DOWN, released())),
    Written("held_queue_stays_locked", broken=(taken(), released()), kept=(taken(), DIES, released())),
    Written("listener_keeps_its_lock", broken=(listens(), released()), kept=(listens(), ENDED, released())),
    Written("listener_keeps_its_lock", broken=(listens(), released()), kept=(listens(mq=MQ2), released())),
    Written("lock_outlasts_the_batch", broken=(listens(), dropped(), released()),
            kept=(listens(), SETTLED, released())),
    Written("lock_outlasts_the_batch", broken=(listens(), released()),
            kept=(listens(), dropped(by_rebalance=False), released())),
    Written("lock_outlasts_the_batch", broken=(listens(), ENDED, released()), kept=(listens(), STOPPING, released())),
    Written("lock_outlasts_the_batch", broken=(listens(), dropped(), reset(MQ2), released()),
            kept=(listens(), dropped(), reset(), released())),
    Written("lock_outlasts_the_batch", broken=(listens(), released()), kept=(listens(mq=MQ2), DIES, released())),
    *(Written("lock_outlasts_the_batch", broken=(given(*most), listens(), says(*good), dropped(), released()),
              kept=(given(0, 2), listens(), says(*again), dropped(), released()))
      for most, good, again in (((0, 2), ("SUCCESS",) * 2, ("LATER",) * 2), ((0, 2), ("NEVER",) * 2, ("NULL",) * 2),
                                ((3, 3), ("LATER",) * 2, ("EXCEPTION",) * 2))),
    *(Written("lock_outlasts_the_batch", broken=(given(3, 3), listens(), says(*["LATER"] * 2), released()),
              kept=(given(3, 3), listens(), says(*[left] * 2), released())) for left in ("HELD", "ROLLBACK")),
    Written("lock_outlasts_the_batch", broken=(given(0, 2), listens(), says("LATER", mq=MQ2), released()),
            kept=(given(0, 2), listens(), says("LATER"), listens(mq=MQ2), released())),
    Written("lock_outlasts_the_batch", broken=(given(0, 2), listens(), says("LATER"), listens(), released()),
            kept=(given(0, 2), listens(), says("LATER"), released())),
    Written("lock_outlasts_the_batch", broken=(listens(), says("LATER"), released())),
    Written("lock_outlasts_the_batch", broken=(given(3, 3), listens(), says(*["LATER"] * 2), released()),
            kept=(given(3, 0), listens(), says(*["LATER"] * 2), released())),
    *(Written("lock_outlasts_the_batch", broken=(given(3, 3), listens(), says(*["LATER"] * 2), other, released()),
              kept=(given(3, 3), listens(), says(*["LATER"] * 2), unsent(), released()))
      for other in (unsent("7"), unsent(group="P"), unsent(at=B))),
    Written("lock_outlasts_the_batch", broken=(given(3, 3), listens(), unsent(), listens(), released()),
            kept=(given(3, 3), listens(), listens(mq=MQ2), unsent(), released())),
    Written("listener_begins_under_a_fresh_lock", broken=(granted(0), listens(33_001)),
            kept=(granted(0), listens(33_000)), bounds=CALM),
    Written("listener_begins_under_a_fresh_lock", broken=(granted(0), listens(98_001)),
            kept=(granted(0), granted(60_000), listens(98_001))),
    Written("listener_begins_under_a_fresh_lock", broken=(granted(0, client_id="c2@1"), listens())),
    Written("listener_begins_under_a_fresh_lock", broken=(started(), listens()),
            kept=(started(model="BROADCASTING"), listens())),
    Written("refused_lock_is_not_believed", broken=(answered(), heard()), kept=(answered(), heard()),
            views=table(), kept_views=table(locked=False)),
    *(Written("refused_lock_is_not_believed", broken=(*broken, answered(), heard()), views=table(),
              kept=(granted(), answered(), heard()), kept_views=table()) for broken in (
        (granted(client_id="c2@1"),), (granted(group="H"),), (granted(), released(2)),
        (granted(), (2, B, ProcessKilled(1, False))))),
    Written("refused_lock_is_not_believed", broken=(answered(MQ), answered(), heard()),
            kept=(answered(), answered(MQ), heard()), views=table(), kept_views=table()),
    Written("refused_lock_is_not_believed", broken=(answered(asked=(MQ, MQ2)), heard(MQ, MQ2)),
            kept=(answered(), heard()), views=table(expired=True), kept_views=table(expired=True)),
    Written("refused_lock_is_not_believed", broken=(answered(MQ2, asked=(MQ, MQ2)), heard(MQ, MQ2)),
            kept=(answered(MQ2, asked=(MQ, MQ2)), heard(MQ, MQ2)), views=table(), kept_views=table(mq=MQ2)),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), STOPPING, goodbye()),
            kept=(taken(), granted(), STOPPING, dropped(6), goodbye())),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), STOPPING, dropped(6, by_rebalance=False), goodbye()),
            kept=(taken(), granted(), STOPPING, goodbye(why="closed"))),
    Written("leaver_frees_its_locks", broken=(STOPPING, taken(5), granted(6), goodbye(1_003)),
            kept=(STOPPING, taken(5), granted(6), goodbye(1_004))),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), STOPPING, goodbye()),
            kept=(granted(), taken(), STOPPING, RESTARTED, goodbye())),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), STOPPING, goodbye(), granted(50, client_id="c2@1")),
            kept=(taken(), granted(client_id="c2@1"), STOPPING, goodbye())),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), STOPPING, goodbye()),
            kept=(taken(), granted(), STOPPING, goodbye(), granted(50))),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), STOPPING, goodbye()),
            kept=(taken(), granted(), listens(), STOPPING, goodbye())),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), listens(mq=MQ2), STOPPING, goodbye()),
            kept=(taken(), granted(), listens(), STOPPING, goodbye(), DIES_LATER, granted(50, client_id="c2@1"))),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), STOPPING, goodbye()),
            kept=(taken(), granted(), STOPPING, goodbye(client_id="c2@1"), (11, B, ConsumerRemoved(
                B, "H", ID, f"{C}:1", "unregistered", attached=True)))),
    Written("leaver_frees_its_locks", broken=(taken(), granted(), STOPPING, goodbye()),
            kept=(granted(), taken(5), goodbye())),
    Written("lock_goes_with_its_holder", broken=(goodbye(why="expired"),), views=LOCKED, causes=(), says="taken out",
            kept=(goodbye(why="closed"),), kept_views=has_lock(ID, expired=True)),
    Written("lock_goes_with_its_holder", broken=(goodbye(why="closed"),), views=LOCKED,
            kept=(goodbye(why="closed"),), kept_views=Tables(locks={(G, MQ): QueueLock(ID, 0, False)}, lock=None)),
    Written("lock_goes_with_its_holder", broken=(goodbye(why="closed"),), views=LOCKED,
            kept=(goodbye(why="closed"),), kept_views=has_lock("c2@1")),
    Written("lock_goes_with_its_holder", broken=(goodbye(why="closed"),), views=LOCKED,
            kept=(goodbye(why="closed"),), kept_views=has_lock(ID, group="H")),
    Written("lock_goes_with_its_holder", broken=(lists(), goodbye(why="closed")), views=LOCKED,
            kept=(lists(f"{C}:2"), goodbye(why="closed")), kept_views=LOCKED),
    Written("lock_goes_with_its_holder", broken=(granted(), goodbye(why="closed")), views=LOCKED, causes=("B-34",),
            kept=(granted(), goodbye()), kept_views=LOCKED),
    Written("given_up_lock_is_freed", broken=(granted(), dropped()), kept=(granted(), dropped(by_rebalance=False)),
            bounds=CALM),
    Written("given_up_lock_is_freed", broken=(granted(), dropped()), kept=(granted(), listens(), dropped()),
            bounds=CALM),
    Written("given_up_lock_is_freed", broken=(granted(), dropped()),
            kept=(granted(), dropped(), BROKER_DIES, granted(5)), bounds=CALM),
    Written("given_up_lock_is_freed", broken=(granted(), dropped()),
            kept=(dropped(), granted(4)), bounds=CALM),
    Written("given_up_lock_is_freed", broken=(granted(), dropped()),
            kept=(granted(client_id="c2@1"), dropped()), bounds=CALM),
    Written("given_up_lock_is_freed", broken=(granted(), dropped()), kept=(granted(group="H"), dropped()), bounds=CALM),
    Written("lock_answers_are_true", broken=(answered(MQ),), views=has_lock("c2@1"), kept=(answered(MQ),),
            kept_views=has_lock(ID), says="is granted"),
    Written("lock_answers_are_true", broken=(answered(MQ),), views=Tables(lock=None), kept=(answered(),),
            kept_views=Tables(lock=None)),
    Written("lock_answers_are_true", broken=(answered(),), views=has_lock(ID), kept=(answered(),),
            kept_views=has_lock("c2@1"), says="is refused"),
    *(Written("masters_are_asked_for_locks", (begun(1), granted()), kept, says="and that is no master")
      for kept in ((begun(0), granted()), (granted(),), (begun(0), begun(1), granted()))),
    Written(LOST, (believes(),), (heard(MQ), believes()), says="and no broker has answered so"),
    Written(LOST, (believes(),), (believes(locked=True),)),
    *(Written(LOST, (broken, believes()), (heard(MQ), believes())) for broken in (
        heard(MQ2), heard(MQ, group="H"), heard(MQ, client_id="c1@2"))),
    Written(LOST, (heard(MQ), believes(locked=True), believes()),
            (heard(MQ), heard(MQ), believes(locked=True), believes())),
    Written(LOST, (heard(MQ), believes(), believes()), (heard(MQ, MQ2), believes(), believes(mq=MQ2))),
    Written(LOST, (believes(locked=True), believes()), (heard(MQ), heard(MQ), believes(), believes())),
    Written(LOST, (heard(MQ), (5, C, ProcessKilled(1, power_loss=False)), believes()), (heard(MQ), believes())),
    *(Written(LOST, (*broken, believes()), (*kept, believes())) for broken, kept in (
        (((1, C, ConsumerStopping(ID, "H")),), ((1, C, ConsumerStopping(ID, G)),)),
        (((1, C, ConsumerStopping(ID, G)), (2, C, ConsumerStarted(ID, G, "CLUSTERING", True))),
         ((0, C, ConsumerStarted(ID, G, "CLUSTERING", True)), (1, C, ConsumerStopping(ID, G)))))),
)
