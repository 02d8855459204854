"""Who takes queues, gives them up, and pulls them."""

from __future__ import annotations

from typing import Any

import invariants.rules.ownership
import invariants.rules.progress  # noqa: F401  # both declare rules
from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ClockJumped,
    ConsumerIdsAnswered,
    ConsumerIdsChanged,
    ConsumerIdsFetched,
    ConsumerRegistered,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    LockGranted,
    NameServerChosen,
    ProcessKilled,
    ProcessPaused,
    ProcessStarted,
    PullAnswered,
    PullSuspended,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    SubscriptionAsked,
    WorldHealed,
)
from invariants.refinement.follower import Record
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import Consumer, HeldQueue
from stateful_tests.rules.written import Tables, Turns, Written

B, C, ID, G = "broker-a", "c1", "c1@1", "G"
MQ, MQ2 = (MessageQueue("orders", B, queue_id) for queue_id in range(2))
CALM = Bounds()
DEAD = f"{B}:10911"


def taken(ms: int = 1, mq: MessageQueue = MQ) -> Record:
    """The client takes a queue."""
    return ms, C, QueueTaken(ID, G, mq, 0)


def dropped(ms: int = 3, *, by_rebalance: bool = True) -> Record:
    """It gives it up."""
    return ms, C, QueueDropped(ID, G, MQ, by_rebalance)


def answered(*client_ids: str, ms: int = 1) -> Record:
    """A broker answers who is in the group."""
    return ms, B, ConsumerIdsAnswered(B, G, f"{C}:1", client_ids)


def fetched(*client_ids: str, topic: str = "orders", group: str = G) -> Record:
    """The client has this list."""
    return 2, C, ConsumerIdsFetched(ID, group, topic, f"{B}:10911", client_ids)


def asks(topic: str, expression: str | None) -> Record:
    """Its application changes its subscription."""
    return 4, C, SubscriptionAsked(G, topic, expression)


def pulled(ms: int) -> Record:
    """A broker holds a pull."""
    return ms, C, PullSuspended(ID, G, MQ, 0)


def consumer(state: str = "RUNNING", *, pause: bool = False, group: str = G) -> Consumer:
    """The client's consumer."""
    return Consumer(C, ID, group, "CLUSTERING", False, state, pause, AllocateMessageQueueAveragely(), 0)


def tables(one: Consumer, **others: Any) -> Tables:
    """What is seen of it."""
    return Tables(consumers=[one], **others)


def held(mq: MessageQueue = MQ, *, is_dropped: bool = False, group: str = G, pulled_ms: int = 0) -> HeldQueue:
    """A queue of its table."""
    return HeldQueue(C, ID, group, mq, is_dropped, True, False, 0, pulled_ms)


def readable(one: Consumer, queue: HeldQueue, *mqs: MessageQueue) -> Tables:
    """What is seen of a consumer that holds a queue and has a route."""
    return tables(one, process_queues=[queue], subscribe_info={"orders": frozenset(mqs)})


def told(group: str = G, *, delivered: bool = True) -> Record:
    """The member is told of a change."""
    return 5, B, ConsumerIdsChanged(B, group, f"{C}:1", delivered)


def heard(connection: str = f"{C}:1", ms: int = 1, client_id: str = ID) -> Record:
    """A broker has entered a heartbeat of the member."""
    return ms, B, ConsumerRegistered(B, G, client_id, connection, True, True, frozenset())


def looks(ms: int) -> Record:
    """It is time to look."""
    return ms, "world", WorldHealed()


def chosen(at: str) -> Record:
    """A client looks for a name server."""
    return 2_000, at, NameServerChosen("nameserver1:9876", frozenset())


def steps(by_ms: int, at: str = C) -> Record:
    """The clock of a machine is set by so much."""
    return 1, at, ClockJumped(by_ms)


ASSIGNED = (3, C, QueuesAssigned(ID, G, "orders", frozenset(), True))
STARTED = (0, C, ConsumerStarted(ID, G, "CLUSTERING", False))
BROADCASTS = (0, C, ConsumerStarted(ID, G, "BROADCASTING", False))
DIES = (2, C, ProcessKilled(1, False))
BROKER = (0, B, BrokerStarted(B, B, 0))
COMES_BACK = (2_000, B, ProcessStarted(2))
ANSWERED = (3, C, PullAnswered(ID, G, MQ, 19))
HEALED = (0, "world", WorldHealed())
RUNS = tables(consumer())
EARLIER_BROKER = (-200_000, B, BrokerStarted(B, B, 0))
PULLED_MS = deadlines.pulled(CALM)
DIES_LATER = (2 * PULLED_MS, C, ProcessKilled(1, False))
HOLDS = tables(consumer(), process_queues=[held()])
STOPPING, OTHER_STOPS = ((0, C, ConsumerStopping(ID, group)) for group in (G, "H"))
SHUT_DOWN, OTHER_SHUT_DOWN = ((2, C, ConsumerShutDown(client_id, G)) for client_id in (ID, "c1@2"))
REBALANCED_MS = deadlines.told_to_rebalance(CALM)
GOES_ON = tuple((ms, "world", WorldHealed()) for ms in (6_000, 60_000, 110_000))

LEASE_MS = deadlines.lease_is_over(CALM)
IN_ORDER = (0, C, ConsumerStarted(ID, G, "CLUSTERING", True))
DIES_AT_LAST = (4 * PULLED_MS, C, ProcessKilled(1, False))


SLAVE = (0, "slave", BrokerStarted("slave", B, 1))


def ends(machine: str = B) -> Record:
    """The process of a broker ends."""
    return 2, machine, ProcessKilled(1, power_loss=False)


def begun(ms: int, name: str = B) -> Record:
    """A broker starts."""
    return ms, name, BrokerStarted(name, name, 0)


HISTORIES = (
    Written("queue_is_taken_once", broken=(taken(), taken()), kept=(taken(), dropped(), taken())),
    Written("queue_is_taken_once", broken=(taken(), taken()), kept=(taken(), DIES, taken(), taken(mq=MQ2))),
    Written("only_the_listed_give_up", broken=(taken(), fetched("c2@1"), dropped()),
            kept=(taken(), fetched("c2@1", ID), dropped())),
    Written("only_the_listed_give_up", broken=(taken(), answered("c2@1"), fetched("c2@1"), dropped()),
            kept=(taken(), fetched("c2@1"), ASSIGNED, dropped())),
    Written("only_the_listed_give_up", broken=(taken(), answered("c2@1", ms=-200_000), fetched("c2@1"), dropped()),
            kept=(taken(), fetched("c2@1"), fetched(ID), dropped())),
    Written("only_the_listed_give_up", broken=(taken(), fetched("c2@1"), dropped()),
            kept=(taken(), fetched("c2@1", topic="invoices"), dropped(), fetched("c2@1"), dropped(by_rebalance=False))),
    Written("share_is_kept", broken=(taken(), dropped(), taken(3)), kept=(taken(), dropped(), ASSIGNED, taken(3))),
    Written("share_is_kept", broken=(taken(), fetched(ID), dropped(), taken(3)),
            kept=(taken(), fetched(ID), fetched(ID), dropped(), taken(3))),
    Written("share_is_kept",
            broken=(taken(), (2, C, ConsumerIdsFetched(ID, G, "orders", None, None)), fetched(ID), dropped(), taken(3)),
            kept=(taken(), fetched(ID), fetched(ID), dropped(), taken(3))),
    Written("share_is_kept", broken=(taken(), fetched(ID), ASSIGNED, fetched(ID), dropped(), taken(3)),
            kept=(taken(), fetched(ID), fetched(ID), dropped(), taken(3))),
    Written("share_is_kept", broken=(taken(), fetched(ID), dropped(), taken(3)),
            kept=(taken(), dropped(), fetched(ID), taken(3))),
    Written("share_is_kept", broken=(taken(), dropped(120_002), taken(120_003)),
            kept=(taken(), dropped(by_rebalance=False), taken(3))),
    Written("share_is_kept", broken=(taken(), pulled(100), dropped(120_002), taken(120_003)),
            kept=(taken(), dropped(), taken(3, mq=MQ2))),
    Written("told_members_rebalance", broken=(STARTED, fetched(ID), told()), kept=(BROADCASTS, told()), views=RUNS,
            kept_views=RUNS),
    Written("told_members_rebalance", broken=(STARTED, told()), kept=(BROADCASTS, told()), views=RUNS, kept_views=RUNS),
    Written("told_members_rebalance", broken=(STARTED, told()), kept=(STARTED, told(delivered=False), told("H")),
            views=RUNS, kept_views=RUNS),
    Written("told_members_rebalance", broken=(STARTED, told()), kept=(STARTED, told()), views=RUNS,
            kept_views=tables(consumer(pause=True))),
    Written("told_members_rebalance", broken=(STARTED, told()), kept=(STARTED, told()), views=RUNS,
            kept_views=tables(consumer("START_FAILED"))),
    Written("told_members_rebalance", broken=(STARTED, told()), kept=(STARTED, told()), views=RUNS,
            kept_views=tables(consumer(), dead_addresses={DEAD})),
    Written("told_members_rebalance", bounds=CALM, broken=(STARTED, told(), looks(1_000), looks(REBALANCED_MS + 1_001)),
            kept=(STARTED, told(), looks(1_000), looks(REBALANCED_MS + 1_000), DIES_LATER),
            views=tables(consumer(), dead_addresses=Turns({DEAD}, ())),
            kept_views=tables(consumer(), dead_addresses=Turns({DEAD}, ()))),
    Written("told_members_rebalance", broken=(heard(), STARTED, told()),
            kept=(heard(), DIES, STARTED, told()), views=RUNS, kept_views=RUNS),
    Written("told_members_rebalance", broken=(heard(f"{C}:0"), DIES, STARTED, heard(ms=4), told()), views=RUNS),
    Written("told_members_rebalance", broken=(heard(), (2, "c2", ProcessKilled(1, False)), STARTED, told()),
            kept=(heard(), DIES, STARTED, heard(ms=4), told()), views=RUNS, kept_views=RUNS),
    Written("told_members_rebalance", broken=(STARTED, heard(), told()),
            kept=(STARTED, heard(client_id="c1@0"), told()), views=RUNS, kept_views=RUNS),
    Written("told_members_rebalance", broken=(STARTED, (4, B, ProcessPaused(10)), told()),
            kept=(STARTED, BROKER, (4, B, ProcessPaused(10)), told()), views=RUNS, kept_views=RUNS),
    Written("told_members_rebalance", bounds=CALM,
            broken=(STARTED, told(), looks(1_000), looks(2_000), looks(REBALANCED_MS + 2_000)),
            kept=(STARTED, told(), looks(REBALANCED_MS), looks(2 * REBALANCED_MS), DIES_LATER),
            views=Tables(consumers=Turns([consumer(pause=True)], [consumer()], [consumer()], [consumer()])),
            kept_views=Tables(consumers=Turns([consumer(pause=True)], [consumer()]))),
    Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
            broken=(STARTED, told(), taken(2_000), looks(REBALANCED_MS + 2_001), DIES_LATER),
            kept=(STARTED, told(), taken(2_000), looks(REBALANCED_MS + 2_000), DIES_LATER)),
    Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
            broken=(STARTED, told(), (2_000, *ASSIGNED[1:]), looks(REBALANCED_MS + 2_001), DIES_LATER),
            kept=(STARTED, told(), (2_000, *ASSIGNED[1:]), looks(REBALANCED_MS + 2_000), DIES_LATER)),
    Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
            broken=(STARTED, told(), dropped(2_000, by_rebalance=False), looks(REBALANCED_MS + 2_000), DIES_LATER),
            kept=(STARTED, taken(), told(), dropped(2_000), looks(REBALANCED_MS + 2_000), DIES_LATER)),
    Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
            broken=(STARTED, told(), COMES_BACK, looks(REBALANCED_MS + 2_000), DIES_LATER),
            kept=(BROKER, STARTED, told(), COMES_BACK, looks(REBALANCED_MS + 2_000), DIES_LATER)),
    *(Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
              broken=(STARTED, told(), chosen(by), looks(late_ms), DIES_LATER),
              kept=(STARTED, told(), chosen(C), looks(REBALANCED_MS + 2_000), DIES_LATER))
      for by, late_ms in ((C, REBALANCED_MS + 2_001), ("c2", REBALANCED_MS + 2_000))),
    # Each topic that it shares out is owed, but none without a route.
    Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
            broken=(STARTED, fetched(ID), fetched(ID, topic="bills"), told(), fetched(ID)),
            kept=(STARTED, fetched(ID), (2, C, ConsumerIdsFetched(ID, G, "bills", None, None)), told(), fetched(ID))),
    *(Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
              broken=(STARTED, *before, told(), other), kept=(STARTED, *before, told(), *kept))
      for before, other, kept in (
        ((), fetched(ID, topic="bills", group="H"), (fetched(ID, topic="bills"),)),
        ((fetched(ID),), fetched(ID, topic="bills"), (fetched(ID),)),
        ((fetched(ID), fetched(ID, topic="bills")), fetched(ID), (fetched(ID), fetched(ID, topic="bills"))),
        ((fetched(ID),), asks("bills", None), (asks("orders", None),)))),
    *(Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
              broken=(STARTED, fetched(ID), wants, told()), kept=(STARTED, fetched(ID), no_more, told(), *kept))
      for wants, no_more, kept in ((asks("orders", "a"), asks("orders", None), (fetched(ID),)),
                                   (asks("orders", None), asks("orders", None), (fetched(ID, topic="bills"),)))),
    Written("told_members_rebalance", bounds=CALM, views=RUNS, kept_views=RUNS,
            broken=(STARTED, fetched(ID), told(), taken(2_000), looks(REBALANCED_MS + 2_001), DIES_LATER),
            kept=(STARTED, fetched(ID), told(), taken(2_000), looks(REBALANCED_MS + 2_000), DIES_LATER),
            says="has not shared out orders since"),
    Written("shutdown_drops_all_queues", broken=(taken(), SHUT_DOWN), kept=(taken(), SHUT_DOWN), views=HOLDS,
            kept_views=tables(consumer(), process_queues=[held(is_dropped=True)])),
    Written("shutdown_drops_all_queues", broken=(taken(), SHUT_DOWN), kept=(taken(), OTHER_SHUT_DOWN), views=HOLDS,
            kept_views=HOLDS),
    Written("only_the_readable_is_held", broken=(HEALED,), views=readable(consumer(), held(), MQ2),
            kept_views=readable(consumer(), held(), MQ)),
    Written("only_the_readable_is_held", broken=(HEALED,), views=readable(consumer(), held()),
            kept_views=readable(consumer(pause=True), held())),
    Written("only_the_readable_is_held", broken=(HEALED,), views=readable(consumer(), held()),
            kept_views=readable(consumer("SHUTDOWN_ALREADY"), held())),
    Written("only_the_readable_is_held", broken=(HEALED,), views=readable(consumer(), held()),
            kept_views=readable(consumer(), held(is_dropped=True))),
    Written("only_the_readable_is_held", broken=(HEALED,), views=readable(consumer(), held()),
            kept_views=readable(consumer(), held(group="H"))),
    Written("only_the_readable_is_held", broken=(HEALED,), views=readable(consumer(), held()),
            kept_views=readable(consumer(), held(MessageQueue("invoices", B, 0)))),
    Written("held_queue_is_worked_on", broken=(taken(), pulled(2)), kept=(pulled(2),)),
    Written("held_queue_is_worked_on", broken=(taken(), looks(PULLED_MS + 2), DIES_LATER),
            kept=(taken(), pulled(2), looks(PULLED_MS + 2), DIES_LATER), bounds=CALM),
    Written("held_queue_is_worked_on", broken=(taken(), pulled(2), ANSWERED), kept=(ANSWERED,)),
    Written("held_queue_is_worked_on", broken=(taken(), steps(PULLED_MS), looks(PULLED_MS + 2), DIES_LATER),
            kept=(taken(), steps(-PULLED_MS), looks(PULLED_MS + 2), DIES_LATER), bounds=CALM),
    Written("held_queue_is_worked_on", broken=(taken(), steps(-PULLED_MS, "c2"), looks(PULLED_MS + 2), DIES_LATER),
            kept=(taken(), steps(-PULLED_MS), looks(PULLED_MS + 2), DIES_LATER), bounds=CALM),
    Written("held_queue_is_worked_on", broken=(taken(), steps(-1_000), looks(PULLED_MS + 1_002), DIES_LATER),
            kept=(taken(), *2 * (steps(-PULLED_MS // 2),), looks(PULLED_MS + 1_002), DIES_LATER), bounds=CALM),
    Written("held_queue_is_worked_on", broken=(OTHER_STOPS, taken()), kept=(STOPPING, taken())),
    Written("held_queue_is_worked_on", broken=(STOPPING, STARTED, taken()), kept=(STOPPING, taken(), ANSWERED)),
    Written("held_queue_is_worked_on", broken=(taken(),), kept=(taken(), (2, B, LockGranted(
        B, G, MQ, "c2@1", "c2@1", fast=False)))),
    Written("held_queue_is_worked_on", broken=((1, B, LockGranted(B, G, MQ, ID, ID, fast=False)), taken())),
    Written("held_queue_is_worked_on", broken=((0, C, ConsumerStopping("c1@2", G)), taken()),
            kept=((0, C, ConsumerStopping(ID, G)), taken())),
    Written("held_queue_is_worked_on", broken=(taken(), (2_000, "world", HEALED)), views=tables(consumer(pause=True))),
    # Its time begins anew with its broker, and for who reads in order when the leases are over.
    *(Written("held_queue_is_worked_on", broken=(*told, looks(begins_ms + PULLED_MS + 1), DIES_AT_LAST),
              kept=(*told, looks(begins_ms + PULLED_MS), DIES_AT_LAST), bounds=CALM) for told, begins_ms in (
        ((taken(), begun(100)), 100), ((taken(), begun(100, "broker-b")), 1), ((begun(0), taken(10)), 10),
        ((IN_ORDER, taken(), begun(100)), 100 + LEASE_MS), ((IN_ORDER, begun(0), taken(10)), LEASE_MS))),
    # Who has heard that no broker of the name runs asks nobody.
    *(Written("held_queue_is_worked_on", broken=(begun(0), *asks, looks(PULLED_MS + 2), DIES_AT_LAST),
              kept=(begun(0), *nobody, looks(PULLED_MS + 2), DIES_AT_LAST), bounds=CALM) for asks, nobody in (
        ((taken(),), (begun(0, "broker-b"), taken(), ends())),
        ((taken(), ends("broker-b")), (taken(), (2, B, BrokerStopping(B)))),
        ((SLAVE, taken(), ends()), (SLAVE, taken(), ends(), ends("slave"))))),
    Written("held_queue_is_pulled", broken=(taken(), *GOES_ON), kept=(taken(), *GOES_ON),
            views=tables(consumer(), process_queues=[held()]),
            kept_views=tables(consumer(), process_queues=Turns([held(pulled_ms=1)], [held(pulled_ms=2)])), bounds=CALM),
    Written("held_queue_is_pulled", broken=(taken(), *GOES_ON), kept=(taken(), *GOES_ON),
            views=tables(consumer(), process_queues=[held()]),
            kept_views=tables(consumer("SHUTDOWN_ALREADY"), process_queues=[held()]), bounds=CALM),
    Written("held_queue_is_pulled", broken=(taken(), *GOES_ON), kept=(taken(), dropped(), *GOES_ON),
            views=tables(consumer(), process_queues=[held()]),
            kept_views=tables(consumer(), process_queues=[held(is_dropped=True)]), bounds=CALM),
    Written("only_the_listed_give_up", broken=(taken(), answered("c2@1", ms=-109_998), fetched("c2@1"), dropped()),
            causes=("U2",)),
    Written("only_the_listed_give_up", broken=(taken(), answered("c2@1", ms=-109_999), fetched("c2@1"), dropped()),
            causes=()),
    # The process stands still while the answer waits for it.
    *(Written("only_the_listed_give_up", causes=causes, broken=(
        taken(), answered("c2@1", ms=answered_ms), (-150_000, at, ProcessPaused(still_ms)), fetched("c2@1"), dropped()))
      for answered_ms, at, still_ms, causes in (
          (-199_998, C, 90_000, ("U2",)), (-199_999, C, 90_000, ()), (-199_998, B, 90_000, ()),
          (-149_998, C, 40_002, ("U2",)), (-149_998, C, 40_001, ()))),
    Written("share_is_kept", broken=(taken(), dropped(120_001), taken(120_001)), causes=()),
    Written("share_is_kept", broken=(taken(), dropped(120_002), taken(120_002)), causes=("X13",)),
    Written("told_members_rebalance", broken=(EARLIER_BROKER, STARTED, (-110_006, B, ProcessPaused(10)), told()),
            kept=(EARLIER_BROKER, STARTED, (-110_005, B, ProcessPaused(10)), told()), views=RUNS, kept_views=RUNS),
    Written("held_queue_is_worked_on", broken=(taken(), (2_000, "world", HEALED)), causes=("U5",),
            views=tables(consumer(pause=True))),
    Written("held_queue_is_worked_on", broken=(taken(), (2_000, "world", HEALED)), causes=(), views=RUNS),
    Written("held_queue_is_worked_on", broken=(taken(2_000), looks(PULLED_MS + 2_001), pulled(2 * PULLED_MS)),
            views=Tables(consumers=Turns([consumer(pause=True)], [consumer()])), causes=("U5",), bounds=CALM),
    Written("held_queue_is_pulled", broken=(taken(), looks(5_000), looks(6_000), looks(PULLED_MS + 5_001), DIES_LATER),
            kept=(taken(), looks(1_000), looks(6_000), looks(PULLED_MS + 6_000), DIES_LATER),
            views=HOLDS, kept_views=HOLDS, bounds=CALM),
)
