"""Who is listed in a group."""

from __future__ import annotations

from typing import Any

import invariants.rules.membership  # noqa: F401  # declares the rules
from impl.events import (
    BrokerStarted,
    ClientChannelClosed,
    ConnectionMade,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    GoodbyeTaken,
    HeartbeatRefused,
    PollerShutDown,
    PollerStopping,
    ProcessPaused,
    SubscriptionsHandled,
    WorldHealed,
)
from invariants.refinement.follower import Record
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.views import Broker, Consumer
from stateful_tests.rules.written import END_MS, STORMY, Tables, Turns, Written

B, C, G, AT, TOO = "broker-a", "c1", "G", "c1:1", "c1:2"
BROKER_RUNS = (0, B, BrokerStarted(B, B, 0))
GOODBYE = (2, B, GoodbyeTaken(B, G, C, AT, attached=True))
STARTED = (0, C, ConsumerStarted(C, G, "CLUSTERING", orderly=False))
STOPPING = (1, C, ConsumerStopping(C, G))
SHUT_DOWN = (3, C, ConsumerShutDown(C, G))
STARTS_AGAIN = (4, *STARTED[1:])
MADE = (1, C, ConnectionMade(B, AT))
AGAIN = STARTED, MADE, SHUT_DOWN, STARTS_AGAIN, (4, *STOPPING[1:])
CLOSED = (1, B, ClientChannelClosed(B, AT))
REFUSED = (2, B, HeartbeatRefused(B, G, C, TOO))
HANDLED = (1, B, SubscriptionsHandled(B, G, AT, attached=True))
IDLE_MS = deadlines.close_to_idle(STORMY)
LATE_MS = END_MS // 2
EXPIRED_MS = deadlines.expired(STORMY)


def heartbeat(ms: int, connection: str = AT) -> Record:
    """A broker has put the connection of a member."""
    return ms, B, ConsumerRegistered(B, G, C, connection, True, True, frozenset({("orders", "*", 1)}))


def removed(ms: int, why: str, connection: str = AT) -> Record:
    """A broker has taken a connection of a member out."""
    return ms, B, ConsumerRemoved(B, G, C, connection, why, attached=True)


def consumer(**fields: Any) -> Consumer:
    """A consumer that runs, with other values of some fields."""
    known: dict[str, Any] = {"machine": C, "client_id": C, "group": G, "message_model": "CLUSTERING", "orderly": False,
                             "service_state": "RUNNING", "pause": False, "strategy": None, "now_ms": 0}
    return Consumer(**{**known, **fields})


def looks(ms: int) -> Record:
    """It is time to look."""
    return ms, "world", WorldHealed()


def unknown(
    *looked: Record, views: Tables | None = None, runs: tuple[Record, ...] = (BROKER_RUNS,), kept_ms: int = LATE_MS - 1,
) -> Written:
    """Of living_members_do_not_expire: at `kept_ms` the client was seen not to know the broker."""
    stranger = Tables(consumers=[consumer()], known_addresses={(B, 0): "broker-z:10911"})
    expired = removed(LATE_MS, "expired")
    return Written("living_members_do_not_expire", (*runs, *looked, expired), (BROKER_RUNS, looks(kept_ms), expired),
                   views or stranger, stranger)


def unheard(broken: tuple[Record, ...], kept: tuple[Record, ...], *, views: Tables, kept_views: Tables) -> Written:
    """Of brokers_hear_of_each_group."""
    return Written("brokers_hear_of_each_group", broken, kept, views, kept_views, bounds=Bounds())


BROKER = Broker(B, B, 0, "broker-a:10911", 0, None)
HEARD_MS = deadlines.heard_of(Bounds())
LOOKS = (looks(1_000), looks(10_000), looks(20_000))
STOPS_LATER = (HEARD_MS + 20_000, C, ConsumerStopping(C, G))
_KNOWN = {(B, 0): "broker-a:10911"}
_BROKER_IS_KNOWN: dict[str, Any] = {"brokers": [BROKER], "known_addresses": _KNOWN}
POLLER_LEAVES = BROKER_RUNS, (1, C, PollerStopping(G, C)), (3, C, PollerShutDown(G, C))
LEAVES, LISTED = (BROKER_RUNS, STOPPING, SHUT_DOWN), Tables(members={AT: C}, known_addresses=_KNOWN)
KNOWS = Tables(consumers=[consumer()], **_BROKER_IS_KNOWN)

HISTORIES = (
    Written("goodbye_is_final", broken=(GOODBYE, heartbeat(3)), kept=(GOODBYE, (2, C, STARTED[2]), heartbeat(3))),
    Written("goodbye_is_final", broken=(STARTED, STOPPING, GOODBYE, heartbeat(3)),
            kept=(STARTED, GOODBYE, heartbeat(3))),
    Written("goodbye_is_final", broken=(GOODBYE, heartbeat(3)),
            kept=(GOODBYE, (3, B, ConsumerRegistered(B, G, "c2", "c2:1", True, True, frozenset())))),
    Written("goodbye_is_final", broken=(GOODBYE, heartbeat(3)), kept=(GOODBYE, heartbeat(3, TOO))),
    Written("goodbye_is_final", broken=(removed(2, "unregistered"), heartbeat(3)),
            kept=(removed(2, "closed"), heartbeat(3))),
    Written("goodbye_waits_for_the_heartbeat", broken=(heartbeat(1), removed(2, "unregistered")),
            kept=(heartbeat(1), HANDLED, removed(2, "unregistered"))),
    Written("goodbye_waits_for_the_heartbeat", broken=(heartbeat(1), removed(2, "closed")),
            kept=(heartbeat(1), removed(2, "expired"), removed(2, "closed"))),
    Written("heartbeats_keep_a_member", broken=(heartbeat(0), removed(119_999, "expired")),
            kept=(heartbeat(0), removed(120_000, "expired"))),
    Written("heartbeats_keep_a_member", broken=(heartbeat(0), heartbeat(60_000), removed(121_000, "expired")),
            kept=(heartbeat(0), removed(1, "replaced"), removed(2, "expired"))),
    Written("closed_connection_is_delisted", broken=(heartbeat(0), CLOSED),
            kept=(heartbeat(0), CLOSED, removed(2, "closed"))),
    Written("closed_connection_is_delisted", broken=(heartbeat(0, TOO), heartbeat(0), CLOSED),
            kept=(heartbeat(0, TOO), CLOSED)),
    Written("living_members_do_not_expire", broken=(removed(LATE_MS, "expired"),),
            kept=(removed(LATE_MS, "replaced"),)),
    Written("living_members_do_not_expire", broken=(heartbeat(0), removed(LATE_MS, "expired")),
            kept=(heartbeat(0), heartbeat(1, TOO), removed(LATE_MS, "expired"))),
    Written("living_members_do_not_expire", broken=(REFUSED, heartbeat(3), removed(LATE_MS, "expired")),
            kept=(REFUSED, removed(LATE_MS, "expired"))),
    Written("living_members_do_not_expire", broken=(STOPPING, STARTED, removed(LATE_MS, "expired")),
            kept=(STOPPING, removed(LATE_MS, "expired"))),
    Written("goodbye_delists_a_member", broken=LEAVES, views=LISTED,
            kept=LEAVES, kept_views=Tables(members={AT: "c2", "c2:1": C}, known_addresses=_KNOWN)),
    Written("goodbye_delists_a_member", broken=POLLER_LEAVES, kept=POLLER_LEAVES,
            views=Tables(members={AT: C}, addresses_to_poll=_KNOWN),
            kept_views=Tables(members={}, addresses_to_poll=_KNOWN)),
    Written("goodbye_delists_a_member", broken=LEAVES, views=LISTED, kept=POLLER_LEAVES,
            kept_views=Tables(members={AT: C}, known_addresses=_KNOWN, addresses_to_poll={})),
    Written("goodbye_delists_a_member", broken=LEAVES, views=LISTED, kept=LEAVES[1:]),
    Written("goodbye_delists_a_member", broken=LEAVES, views=LISTED,
            kept=((0, B, ProcessPaused(2 * END_MS)), *LEAVES)),
    Written("goodbye_delists_a_member", broken=LEAVES, views=LISTED,
            kept=LEAVES, kept_views=Tables(members={AT: C}, known_addresses={(B, 0): "broker-z:10911"})),
    Written("goodbye_delists_a_member", broken=LEAVES, views=LISTED, kept=LEAVES,
            kept_views=Tables(members={AT: C}, known_addresses=lambda _, client_id: {} if client_id == C else _KNOWN)),
    *(Written("goodbye_removes_all_connections", broken=(*broken, heartbeat(4, TOO), said),
              kept=(*AGAIN, heartbeat(4, TOO), GOODBYE))
      for broken, said in ((AGAIN, (5, B, GOODBYE[2]._replace(connection="c1:3"))), (AGAIN[2:], GOODBYE),
                           ((*AGAIN[:2], *AGAIN[4:]), GOODBYE), ((*AGAIN[:3], *AGAIN[4:]), GOODBYE),
                           ((*AGAIN[:4], (4, *MADE[1:]), *AGAIN[4:]), GOODBYE))),
    Written("goodbye_removes_all_connections", broken=(heartbeat(0, TOO), GOODBYE),
            kept=(heartbeat(0), removed(1, "unregistered"), GOODBYE)),
    Written("goodbye_removes_all_connections", broken=(heartbeat(0, TOO), STARTED, STOPPING, GOODBYE),
            kept=(heartbeat(0, TOO), STARTED, GOODBYE)),
    Written("goodbye_removes_all_connections", broken=(heartbeat(0, "another:1"), GOODBYE),
            kept=((0, B, ConsumerRegistered(B, G, "c2", TOO, True, True, frozenset())), GOODBYE)),
    Written("connections_of_members_last", broken=(heartbeat(LATE_MS), removed(LATE_MS + IDLE_MS - 1, "closed")),
            kept=(heartbeat(LATE_MS), removed(LATE_MS + IDLE_MS, "closed"))),
    Written("connections_of_members_last", broken=(heartbeat(LATE_MS), removed(LATE_MS, "closed")),
            kept=(heartbeat(LATE_MS), removed(LATE_MS, "unregistered"), removed(LATE_MS, "closed"))),
    Written("connections_of_members_last", broken=(heartbeat(0), removed(60_000, "closed")), bounds=Bounds()),
    *(Written("connections_of_members_last", broken=(*former, heartbeat(4), removed(5, "closed")),
              kept=(MADE, SHUT_DOWN, STARTS_AGAIN, heartbeat(4), removed(5, "closed")))
      for former in (
          (SHUT_DOWN, MADE, STARTS_AGAIN), (SHUT_DOWN, STARTS_AGAIN), (MADE, STARTS_AGAIN), (MADE, SHUT_DOWN),
          (MADE, STARTS_AGAIN, (4, *SHUT_DOWN[1:])), (MADE, (3, "c2", SHUT_DOWN[2]), STARTS_AGAIN),
          (MADE, (3, C, ConsumerShutDown("c2", G)), STARTS_AGAIN),
          (MADE, (3, C, ConsumerShutDown(C, "H")), STARTS_AGAIN),
          (MADE, SHUT_DOWN, (4, "c2", STARTED[2])), (MADE, SHUT_DOWN, (4, C, STARTED[2]._replace(client_id="c2"))),
          (MADE, SHUT_DOWN, (4, C, STARTED[2]._replace(group="H"))), (MADE, SHUT_DOWN, STARTS_AGAIN, (4, *MADE[1:])),
          ((1, C, ConnectionMade(B, TOO)), SHUT_DOWN, STARTS_AGAIN), ((1, "c2", MADE[2]), SHUT_DOWN, STARTS_AGAIN))),
    unheard((STARTED, *LOOKS), (STARTED, *LOOKS), views=KNOWS,
            kept_views=Tables(consumers=[consumer()], brokers=[BROKER], known_addresses={(B, 0): "broker-z:10911"})),
    unheard((STARTED, *LOOKS), (STARTED, *LOOKS), views=KNOWS,
            kept_views=Tables(consumers=[consumer(service_state="START_FAILED")], **_BROKER_IS_KNOWN)),
    unheard((STARTED, *LOOKS), LOOKS, views=KNOWS, kept_views=KNOWS),
    unheard((STARTED, *LOOKS), (STARTED, LOOKS[0], heartbeat(HEARD_MS // 2), *LOOKS[1:], STOPS_LATER), views=KNOWS,
            kept_views=KNOWS),
    unheard((STARTED, LOOKS[0], heartbeat(9_000), *LOOKS[1:], looks(HEARD_MS + 20_001)),
            (STARTED, LOOKS[0], heartbeat(9_000), *LOOKS[1:], looks(HEARD_MS + 20_000), STOPS_LATER),
            views=KNOWS, kept_views=KNOWS),
    unheard((STARTED, *LOOKS), (STARTED, *LOOKS), views=Tables(consumers=[consumer(pause=True)], **_BROKER_IS_KNOWN),
            kept_views=Tables(consumers=Turns([consumer()], []), **_BROKER_IS_KNOWN)),
    Written("clients_forget_the_dead", broken=(), kept=(STARTED,),
            views=Tables(consumers=[consumer()], brokers=[BROKER], known_addresses={(B, 0): "broker-z:10911"}),
            kept_views=Tables(consumers=[consumer()], brokers=[BROKER], known_addresses={(B, 0): "broker-a:10911"})),
    unknown(), unknown(*LOOKS, views=KNOWS), unknown(LOOKS[0], runs=()),
    unknown(looks(LATE_MS - EXPIRED_MS - 1), kept_ms=LATE_MS - EXPIRED_MS),
    Written("living_members_do_not_expire",
            (BROKER_RUNS, looks(LATE_MS - 11_000), looks(LATE_MS - 1_001), removed(LATE_MS, "expired")),
            (BROKER_RUNS, looks(LATE_MS - 11_000), looks(LATE_MS - 1_000), removed(LATE_MS, "expired")),
            views=Tables(consumers=Turns([], [consumer()]), known_addresses={}),
            kept_views=Tables(consumers=Turns([], [consumer()]), known_addresses={})),
    Written("living_members_do_not_expire", broken=(heartbeat(0, "c9:1"), removed(LATE_MS, "expired")),
            kept=(removed(LATE_MS, "closed"),)),
)
