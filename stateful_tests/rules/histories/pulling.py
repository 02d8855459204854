"""Written histories of pulls: whom they ask and for what, when they wait, and what is cached."""

from __future__ import annotations

from typing import Any

import invariants.rules.pulling  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ClockJumped,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    ConsumerSuspended,
    LockBelieved,
    LocksAnswered,
    LocksHeard,
    MessagesFound,
    OffsetCorrected,
    OffsetFoundIllegal,
    OffsetSent,
    OffsetUpdated,
    ProcessKilled,
    ProcessPaused,
    PullAnswered,
    PullSuspended,
    QueueDropped,
    QueueForgotten,
    QueuesAssigned,
    QueueTaken,
    RouteUpdated,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import Cache, HeldQueue, Limits, Subscription
from stateful_tests.rules.histories.membership import BROKER
from stateful_tests.rules.histories.promises import MEMBER
from stateful_tests.rules.written import Tables, Turns, Written

MQ, MQ2 = (MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2))
B, C, ID, G, MASTER, SLAVE = "broker-a", "c1", "c1@1", "G", "broker-a:1", "slave:1"
CALM = Bounds()
AGAIN_MS, BEGUN_MS = (limit(CALM) for limit in (deadlines.pulled_again, deadlines.begun))
MIB = 1024 * 1024

Told = tuple[int, str, Any]


def pulled(ms: int = 2, addr: str = MASTER, mq: MessageQueue = MQ, at: str = C, **asks: Any) -> Told:
    """A client pulls."""
    return ms, at, PullSuspended(ID, G, mq, 5, addr, **{"most": 8, "by_version": 3, **asks})


def answered(ms: int = 1, code: PullCode = PullCode.PULL_NOT_FOUND, suggested: int = 0) -> Told:
    """A pull is answered."""
    return ms, C, PullAnswered(ID, G, MQ, code, 5, suggested)


def taken(ms: int = 0, mq: MessageQueue = MQ) -> Told:
    """A client begins a queue."""
    return ms, C, QueueTaken(ID, G, mq, 5)


def sent(offset: int, ms: int = 2) -> Told:
    """A client commits."""
    return ms, C, OffsetSent(ID, G, MQ, offset)


def corrected(offset: int, ms: int = 3) -> Told:
    """A client goes to an offset that its broker has."""
    return ms, C, OffsetCorrected(ID, G, MQ, offset)


def moved(offset: int, code: PullCode = PullCode.PULL_OFFSET_MOVED) -> Told:
    """A broker says where a pull is to go on."""
    return 0, C, PullAnswered(ID, G, MQ, code, offset)


def knows(*mqs: MessageQueue) -> Told:
    """A client is told of a route."""
    return 0, C, RouteUpdated(ID, G, "orders", frozenset(mqs))


def looks(ms: int) -> Told:
    """It is time to look."""
    return ms, "world", WorldHealed()


DROPPED, SHUT_DOWN = (1, C, QueueDropped(ID, G, MQ)), (1, C, ConsumerShutDown(ID, G))
STOPPING = (1, C, ConsumerStopping(ID, G))
STARTED, IN_ORDER = ((0, C, ConsumerStarted(ID, G, "CLUSTERING", orderly=orderly)) for orderly in (False, True))
BROADCASTS = (0, C, ConsumerStarted(ID, G, "BROADCASTING", orderly=False))
REMEMBERED = (1, C, OffsetUpdated(ID, G, MQ, 7))
ILLEGAL = (1, C, OffsetFoundIllegal(ID, G, MQ, 9))
SUSPENDED, BROKER_STARTS = (0, C, ConsumerSuspended(ID, G)), (0, B, BrokerStarted(B, B, 0))
STILL = (1, C, ProcessPaused(1_000))
KILLED = (10**7, C, ProcessKilled(1, power_loss=False))
REFUSED = (1, B, LocksAnswered(B, G, ID, frozenset({MQ, MQ2}), frozenset({MQ2})))
GRANTED = (1, B, LocksAnswered(B, G, ID, frozenset({MQ, MQ2}), frozenset({MQ, MQ2})))
HEARD, HEARD_ONE = (1, C, LocksHeard(ID, G, frozenset({MQ, MQ2}))), (1, C, LocksHeard(ID, G, frozenset({MQ})))
BELIEVED, NOT_BELIEVED = ((1, C, LockBelieved(ID, G, MQ, locked)) for locked in (True, False))
ADDRESSES = Tables(known_addresses={("broker-a", 0): MASTER, ("broker-a", 1): SLAVE},
                   brokers=[BROKER._replace(broker_addr=MASTER, broker_id=0),
                            BROKER._replace(broker_addr=SLAVE, broker_id=1)])
STORMS = Tables(**{**ADDRESSES.answers, "calm": False})
LIMITS = Limits(8, 10, 1, 6)
ASKS = Tables(limits=LIMITS, subscribed={"orders": Subscription("*", 3, "TAG")})
ME = MEMBER._replace(machine=C, client_id=ID, group=G)


def caching(messages: int = 1, size_bytes: int = 1, span: int = 0, limits: Limits = LIMITS, **more: Any) -> Tables:
    """A client has so many messages, and limits."""
    held = HeldQueue(C, ID, G, MQ, dropped=False, locked=False, lock_expired=False, msg_count=1, last_pull_timestamp=0)
    answers = {"consumers": [ME], "subscribed": ASKS.answers["subscribed"], "process_queues": [held], **more}
    return Tables(cache=Cache(C, ID, G, MQ, messages, size_bytes, messages, size_bytes, span), limits=limits, **answers)


def over(ms: int) -> tuple[Told, ...]:
    """A pull is answered, and nothing follows."""
    return answered(ms), looks(ms + AGAIN_MS + 1), KILLED


def assigned(changed: bool = True) -> Told:
    """A run of the rebalance has ended."""
    return 1, C, QueuesAssigned(ID, G, "orders", frozenset({MQ}), changed)


DIVIDED, IN_MIB = LIMITS._replace(topic_messages=20), LIMITS._replace(topic_mib=4)
TWO = taken(), taken(mq=MQ2), assigned(), assigned()
FULL, RESTS = caching(11), caching(limits=LIMITS._replace(interval_ms=5))
FOUND = (1, C, MessagesFound(ID, G, MQ, (5,)))
OVER = answered(), looks(AGAIN_MS + 2), KILLED
PULLED_MS = deadlines.pulled(CALM)
LONG_MS = deadlines.handed_over(CALM) + 10
LONG_OVER = answered(LONG_MS), looks(LONG_MS + AGAIN_MS + 2), (LONG_MS + AGAIN_MS + 3, *KILLED[1:])
LOCKED = [HeldQueue(C, ID, G, MQ, dropped=False, locked=True, lock_expired=False, msg_count=1, last_pull_timestamp=0)]
GONE = [LOCKED[0]._replace(dropped=True)]
BEGUN_BEFORE = Tables(process_queues=LOCKED)
PULLS_ON = Tables(process_queues=Turns(LOCKED, [LOCKED[0]._replace(last_pull_timestamp=1)]))

HISTORIES = (
    Written("failed_pull_is_put_off", (taken(), pulled(2), pulled(1_001)), (taken(), pulled(2), pulled(1_002))),
    Written("failed_pull_is_put_off", (taken(), pulled(2), pulled(9)), (taken(), pulled(2), answered(3), pulled(9))),
    Written("failed_pull_is_put_off", (taken(), pulled(2), pulled(9)), (taken(), pulled(2), taken(3), pulled(9))),
    Written("failed_pull_is_put_off", (taken(), pulled(2), pulled(9)), (taken(), pulled(2), DROPPED, pulled(9))),
    Written("failed_pull_is_put_off", (taken(), pulled(2), pulled(9)), (pulled(2), pulled(9))),
    Written("failed_pull_is_put_off", (taken(), pulled(2), pulled(9)),
            ((0, C, ClockJumped(5)), taken(), pulled(2), pulled(9))),
    *(Written("found_pull_is_followed_after_its_interval", (taken(), FOUND, pulled(5)), kept, RESTS, kept_views=views,
              says="4 ms after it has found something")
      for kept, views in (
          ((taken(), FOUND, pulled(6)), RESTS), ((taken(), pulled(5)), RESTS), ((FOUND, pulled(7), pulled(8)), RESTS),
          ((FOUND, DROPPED, taken(2), pulled(5)), RESTS), ((FOUND, taken(2), pulled(5)), RESTS),
          ((FOUND, pulled(5)), caching()), ((FOUND, pulled(5)), Tables(limits=None)))),
    *(Written("found_pull_is_followed_after_its_interval", (FOUND, pulled(5)), (before, FOUND, pulled(5)), RESTS)
      for before in ((0, C, ClockJumped(5)), (0, C, QueueForgotten(ID, G, MQ)))),
    Written("pull_asks_as_configured", (pulled(most=1),), (pulled(),), ASKS, says="asks for 1 messages"),
    Written("pull_asks_as_configured", (pulled(by_version=0),), (pulled(),), ASKS, says="by version 0"),
    Written("pull_asks_as_configured", (pulled(by_version=0),), (pulled(by_version=0),), ASKS,
            kept_views=Tables(limits=LIMITS, subscribed={})),
    Written("pull_asks_as_configured", (pulled(most=1),), (pulled(most=1),), ASKS, kept_views=Tables(subscribed={})),
    Written("suggestion_is_followed", (answered(suggested=1), pulled()), (answered(suggested=1), pulled(addr=SLAVE)),
            ADDRESSES),
    Written("suggestion_is_followed", (answered(suggested=1), answered(), pulled(addr=SLAVE)),
            (answered(suggested=1), answered(), pulled()), ADDRESSES),
    Written("suggestion_is_followed", (pulled(addr=SLAVE),), (answered(suggested=2), pulled(addr=SLAVE)), ADDRESSES),
    Written("slave_is_told_no_offset", (pulled(addr=SLAVE, commits=True),),
            (pulled(addr=SLAVE), pulled(commits=True)), ADDRESSES),
    Written("pull_commits_what_is_remembered", (STARTED, REMEMBERED, pulled()),
            (STARTED, REMEMBERED, sent(7), pulled()), ADDRESSES),
    Written("pull_commits_what_is_remembered", (STARTED, REMEMBERED, sent(6), pulled()),
            (STARTED, REMEMBERED, pulled(addr=SLAVE)), ADDRESSES),
    Written("pull_commits_what_is_remembered", (STARTED, REMEMBERED, pulled()), (BROADCASTS, REMEMBERED, pulled()),
            ADDRESSES),
    Written("pull_commits_what_is_remembered", (STARTED, REMEMBERED, pulled()),
            (STARTED, REMEMBERED, DROPPED, pulled()),
            ADDRESSES),
    Written("pull_commits_what_is_remembered", (STARTED, REMEMBERED, pulled()),
            (BROKER_STARTS, STARTED, REMEMBERED, pulled()), ADDRESSES),
    Written("pull_commits_what_is_remembered", (STARTED, REMEMBERED, pulled()), (STARTED, REMEMBERED, pulled()),
            ADDRESSES, kept_views=STORMS),
    # The next holding forgets what a listener has noted late, and what was sent before it.
    Written("pull_commits_what_is_remembered", (STARTED, taken(), REMEMBERED, pulled()),
            (STARTED, DROPPED, REMEMBERED, taken(), pulled()), ADDRESSES),
    Written("pull_commits_what_is_remembered", (STARTED, sent(7), taken(), REMEMBERED, pulled()),
            (STARTED, taken(), sent(7), REMEMBERED, pulled()), ADDRESSES),
    *(Written("cache_is_bounded", (pulled(),), (pulled(),), caching(*more), kept_views=caching(*most), says=says)
      for more, most, says in (
          ((11,), (10,), "11 messages of it wait, and at most 10"),
          ((1, 2 * MIB), (1, 2 * MIB - 1), "at most 1 MiB"), ((1, 1, 7), (1, 1, 6), "that are 7 apart"))),
    Written("cache_is_bounded", (*TWO, pulled()), (*TWO, pulled()), caching(11, limits=DIVIDED),
            kept_views=caching(10, limits=DIVIDED), says="at most 10 are to"),
    Written("cache_is_bounded", (*TWO, pulled()), (*TWO, pulled()), FULL, kept_views=caching(10)),
    Written("cache_is_bounded", (pulled(),), (pulled(),), FULL, kept_views=Tables(limits=LIMITS)),
    Written("cache_is_bounded", (*TWO, pulled()),
            (taken(), assigned(), *TWO[1:3], pulled()), caching(11, limits=DIVIDED)),
    Written("cache_is_bounded", (*TWO, pulled()), (*TWO, pulled()), caching(1, 3 * MIB, limits=IN_MIB),
            kept_views=caching(1, 3 * MIB - 1, limits=IN_MIB)),
    Written("cache_is_bounded", (taken(), taken(mq=MQ2), assigned(), assigned(), pulled()),
            (taken(), assigned(), taken(mq=MQ2), assigned(changed=False), pulled()), caching(11, limits=DIVIDED)),
    Written("cache_is_bounded", (pulled(),), (pulled(),), caching(1, 1, 7),
            kept_views=caching(1, 1, 7, LIMITS._replace(span=None))),
    Written("room_is_filled", (taken(), answered()),
            (taken(), answered(), pulled(), *OVER[1:]), caching(), bounds=CALM),
    Written("room_is_filled", (taken(), *OVER), (taken(), answered(), looks(AGAIN_MS + 1), KILLED), caching(),
            bounds=CALM),
    Written("room_is_filled", (taken(), *OVER), (taken(), answered(), looks(9), looks(AGAIN_MS + 9), KILLED), caching(),
            kept_views=caching(consumers=Turns([], [ME])), bounds=CALM),
    # Nobody has looked since it was suspended and went on: its time begins with the next look.
    Written("room_is_filled", (taken(), answered(), (0, "c2", SUSPENDED[2]), looks(AGAIN_MS + 2), KILLED),
            (taken(), answered(), SUSPENDED, looks(AGAIN_MS + 2), KILLED), caching(), bounds=CALM),
    Written("room_is_filled", (taken(), answered(), SUSPENDED, looks(1_000), looks(AGAIN_MS + 1_001), KILLED),
            (taken(), answered(), SUSPENDED, looks(1_000), looks(AGAIN_MS + 1_000), KILLED), caching(), bounds=CALM),
    Written("room_is_filled", (taken(), answered(), SUSPENDED, looks(1_000), looks(AGAIN_MS + 1_001), KILLED),
            (taken(), answered(), SUSPENDED, looks(1_000), looks(AGAIN_MS + 1_001), KILLED), caching(), bounds=CALM,
            kept_views=caching(consumers=Turns(*[[ME._replace(pause=True)]] * 2, *[[ME]] * 9))),
    *(Written("room_is_filled", (taken(), *OVER), (taken(), *OVER), caching(), kept_views=kept, bounds=CALM)
      for kept in (FULL, caching(consumers=[]), caching(consumers=[ME._replace(pause=True)]), caching(subscribed={}),
                   caching(consumers=[ME._replace(service_state="START_FAILED")]),
                   caching(calm=False))),
    Written("room_is_filled", (taken(), answered(), looks(AGAIN_MS + 7), KILLED),
            (taken(), answered(), looks(AGAIN_MS + 6), KILLED), RESTS, kept_views=RESTS, bounds=CALM),
    Written("room_is_filled", (IN_ORDER, taken(), *OVER), (IN_ORDER, taken(), *OVER), caching(process_queues=LOCKED),
            kept_views=caching(), bounds=CALM),
    Written("room_is_filled", (taken(), *OVER),
            (taken(), answered(code=PullCode.PULL_OFFSET_MOVED), *OVER[1:]), caching(), bounds=CALM),
    Written("room_is_filled", (taken(), *OVER), (taken(), DROPPED, taken(1), *OVER), caching(), bounds=CALM),
    Written("room_is_filled", (taken(), DROPPED, taken(1), *over(PULLED_MS + 2)),
            (taken(), DROPPED, taken(1), *over(PULLED_MS + 1)), caching(), bounds=CALM),
    Written("room_is_filled", (taken(), *OVER), OVER, caching(), bounds=CALM),
    Written("room_is_filled", (taken(), *OVER), (BROKER_STARTS, taken(), *OVER), caching(), bounds=CALM),
    *(Written("room_is_filled", (BROKER_STARTS, ends, (1, B, BrokerStarted(B, B, 0)), taken(LONG_MS), *LONG_OVER),
              (BROKER_STARTS, ends, taken(LONG_MS), *LONG_OVER), caching(), bounds=CALM)
      for ends in ((1, B, ProcessKilled(1, power_loss=True)), (1, B, BrokerStopping(B)))),
    Written("room_is_filled", (knows(MQ), taken(), *OVER), (knows(MQ2), taken(), *OVER), caching(), bounds=CALM),
    Written("suspended_consumer_does_not_pull", (SUSPENDED, pulled(BEGUN_MS + 1)), (SUSPENDED, pulled(BEGUN_MS)),
            Tables(consumers=[ME._replace(pause=True)]), bounds=CALM),
    Written("suspended_consumer_does_not_pull", (SUSPENDED, pulled(BEGUN_MS + 1)), (SUSPENDED, pulled(BEGUN_MS + 1)),
            Tables(consumers=[ME._replace(pause=True)]), kept_views=Tables(consumers=[ME]), bounds=CALM),
    # Its process stands still when it has seen that it is not suspended.
    Written("suspended_consumer_does_not_pull", (SUSPENDED, STILL, pulled(BEGUN_MS + 1_001)),
            (SUSPENDED, STILL, pulled(BEGUN_MS + 1_000)), Tables(consumers=[ME._replace(pause=True)]), bounds=CALM),
    Written("suspended_consumer_does_not_pull", (SUSPENDED, (1, "c2", STILL[2]), pulled(BEGUN_MS + 1)), (),
            Tables(consumers=[ME._replace(pause=True)]), bounds=CALM),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, pulled()),
            (IN_ORDER, GRANTED, HEARD, pulled()), PULLS_ON),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, NOT_BELIEVED, pulled()),
            (IN_ORDER, REFUSED, HEARD, BELIEVED, pulled()), PULLS_ON),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, pulled()),
            (IN_ORDER, REFUSED, HEARD_ONE, pulled()), PULLS_ON),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, pulled()),
            (IN_ORDER, REFUSED, GRANTED, HEARD, pulled()), PULLS_ON),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, pulled()),
            (IN_ORDER, REFUSED, pulled()), PULLS_ON),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, pulled()),
            (IN_ORDER, REFUSED, HEARD, DROPPED, pulled()), PULLS_ON),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, pulled()),
            (IN_ORDER, REFUSED, HEARD, pulled(mq=MQ2), pulled(at="c2")), PULLS_ON),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, pulled()),
            (STARTED, REFUSED, HEARD, pulled()), PULLS_ON),
    Written("refused_queue_is_not_pulled", (IN_ORDER, REFUSED, HEARD, pulled()), (IN_ORDER, REFUSED, HEARD, pulled()),
            PULLS_ON, kept_views=BEGUN_BEFORE),
    Written("illegal_offset_is_corrected", (taken(), ILLEGAL, DROPPED), (taken(), ILLEGAL, DROPPED, corrected(9)),
            Tables(process_queues=GONE), says="has not gone to 9"),
    Written("illegal_offset_is_corrected",
            (taken(), ILLEGAL, DROPPED, corrected(8)), views=Tables(process_queues=GONE)),
    Written("illegal_offset_is_corrected", (taken(), ILLEGAL, DROPPED), (taken(), ILLEGAL, DROPPED),
            Tables(process_queues=GONE), kept_views=Tables(process_queues=LOCKED)),
    Written("illegal_offset_is_corrected", (taken(), ILLEGAL, corrected(9)), (ILLEGAL, corrected(9)),
            says="has gone on with"),
    Written("illegal_offset_is_corrected", (taken(), ILLEGAL, corrected(9)),
            (taken(), ILLEGAL, taken(2), corrected(9))),
    Written("illegal_offset_is_corrected", (taken(), ILLEGAL, DROPPED), (taken(), ILLEGAL, DROPPED, STOPPING),
            Tables(process_queues=GONE)),
    Written("illegal_offset_is_corrected", (moved(9), ILLEGAL, corrected(0)), (moved(9), ILLEGAL, corrected(9)),
            Tables(process_queues=LOCKED), says="goes to 0 of queue 0 of orders at broker-a, and was told to go to 9"),
    Written("illegal_offset_is_corrected", (moved(9), corrected(8)), (moved(8), moved(9), corrected(8)),
            Tables(process_queues=LOCKED)),
    Written("illegal_offset_is_corrected", (moved(9), moved(8, PullCode.PULL_NOT_FOUND), corrected(8)),
            (moved(9, PullCode.PULL_NOT_FOUND), corrected(8)), Tables(process_queues=LOCKED)),
    Written("illegal_offset_is_corrected", (taken(), ILLEGAL, DROPPED, taken(2), (3, *ILLEGAL[1:])),
            (taken(), ILLEGAL, DROPPED, taken(2)), Tables(process_queues=GONE)),
    Written("correction_waits", (moved(9), corrected(9, 9_999)), (moved(9), corrected(9, 10_000)),
            says="corrects its offset of queue 0 of orders at broker-a 9999 ms after the answer"),
    Written("correction_waits", (moved(9), (9, *moved(8)[1:]), corrected(9, 10_000), corrected(8, 10_008)),
            (moved(9), (9, *moved(8)[1:]), corrected(9, 10_000), corrected(8, 10_009))),
    Written("correction_waits", (moved(9), corrected(9)), (moved(9, PullCode.PULL_NOT_FOUND), corrected(9))),
    Written("correction_waits", (moved(9), corrected(9)), (corrected(9),)),
    Written("corrected_offset_is_sent", (STARTED, corrected(9)), (STARTED, corrected(9), sent(9, 4))),
    Written("corrected_offset_is_sent", (STARTED, corrected(9), sent(8, 4)), (BROADCASTS, corrected(9))),
    Written("corrected_offset_is_sent", (STARTED, corrected(9)), (BROKER_STARTS, STARTED, corrected(9))),
    Written("corrected_offset_is_sent", (STARTED, corrected(9)), (STARTED, corrected(9), (3, *SHUT_DOWN[1:]))),
)
