"""Written histories of what client processes do by themselves."""

from __future__ import annotations

from typing import Any

import invariants.rules.clients  # noqa: F401  # declares the rules
from impl.events import (
    ConsumerShutDown,
    NameServerChosen,
    PollerStopping,
    ProcessKilled,
    ProcessStarted,
    TimerJobBegan,
    TimerJobEnded,
)
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Tables, Written

C, ID, G = "c1", "c1@1", "G"
POLL, COMMIT = "updateTopicRouteInfoFromNameServer", "persistAllConsumerOffset"
Told = tuple[int, str, Any]


def begins(ms: int, job: str = POLL, period_ms: int = 30_000) -> Told:
    """A job begins."""
    return ms, C, TimerJobBegan(ID, job, period_ms)


def ends(ms: int, job: str = POLL) -> Told:
    """It ends."""
    return ms, C, TimerJobEnded(ID, job)


def chosen(*listed: str) -> Told:
    """A client chooses nameserver1."""
    return 1, C, NameServerChosen("nameserver1:9876", frozenset(listed))


NS, NS2 = "nameserver1", "nameserver2"
REACHED = "name_server_that_was_reached_is_asked"


def goes(ms: int, namesrv: str, client: int = 1) -> Told:
    """A client of the process chooses a name server."""
    return ms, C, NameServerChosen(f"{namesrv}:9876", frozenset({f"{NS}:9876", f"{NS2}:9876"}), client)


FIRST, SECOND, BACK, BACK_LATE = goes(0, NS), goes(3_000, NS2), goes(3_002, NS), goes(5_002, NS)
WAITED = FIRST, SECOND, BACK
BOTH, NOBODY = Tables(namesrvs=[NS, NS2]), Tables(namesrvs=[NS])

CALM = Bounds()
STOPS, COMES_UP = (0, C, PollerStopping(G)), (0, C, ProcessStarted(2))
DIES, SHUT_DOWN = (2, C, ProcessKilled(1, power_loss=False)), (2, C, ConsumerShutDown(ID, G))

HISTORIES = (
    Written("timers_do_not_wait_for_each_other", broken=(begins(0), ends(1), begins(32_001)),
            kept=(begins(0), ends(1), begins(32_000), begins(62_000)), bounds=CALM),
    Written("timers_do_not_wait_for_each_other", broken=(begins(0), ends(30_000), begins(32_001)),
            kept=(begins(0), ends(40_000), begins(42_000)), bounds=CALM),
    Written("timers_do_not_wait_for_each_other",
            broken=(begins(0), ends(1), ends(40_000, COMMIT), begins(40_000)),
            kept=(begins(0), ends(1), begins(30_000, COMMIT, 5_000)), bounds=CALM),
    Written("timers_do_not_wait_for_each_other",
            broken=(begins(1, period_ms=5_000), ends(2), begins(7_002, period_ms=5_000)),
            kept=(begins(1), DIES, begins(90_000)), bounds=CALM),
    Written("timers_do_not_wait_for_each_other", broken=(begins(1), ends(1), begins(97_002)), says="67001 ms late",
            kept=(begins(1), SHUT_DOWN, begins(97_002))),
    Written("name_server_is_chosen_from_the_list", broken=(chosen("nameserver2:9876"),),
            kept=(chosen("nameserver1:9876", "nameserver2:9876"),)),
    Written(REACHED, WAITED, WAITED, views=BOTH, kept_views=NOBODY,
            says="c1 has come to nameserver2 after it had waited for another one, and asks nameserver1 2 ms later"),
    # A client that shuts down connects no more.
    Written(REACHED, (STOPS, COMES_UP, *WAITED), (STOPS, *WAITED), views=BOTH),
    # It was there for as long as a call may last, or has chosen it once more; it is another client, or process.
    Written(REACHED, (FIRST, SECOND, goes(4_999, NS)), (FIRST, SECOND, goes(5_000, NS)), views=BOTH),
    Written(REACHED, WAITED, (FIRST, SECOND, goes(3_002, NS2)), views=BOTH),
    Written(REACHED, WAITED, (FIRST, SECOND, goes(3_002, NS, 2)), views=BOTH),
    Written(REACHED, WAITED, (FIRST, goes(3_000, NS2, 2), BACK), views=BOTH),
    Written(REACHED, WAITED, (FIRST, SECOND, (3_001, *DIES[1:]), BACK), views=BOTH),
    # It has not waited for another one as long as it takes to connect, or has done more than that since.
    Written(REACHED, WAITED, (FIRST, goes(2_999, NS2), BACK), views=BOTH),
    Written(REACHED, (FIRST, goes(5_000, NS2), BACK_LATE), (FIRST, goes(5_001, NS2), BACK_LATE), views=BOTH),
    Written(REACHED, WAITED, (FIRST, goes(3_000, NS), goes(3_002, NS2)), views=BOTH),
    Written(REACHED, WAITED, (SECOND, BACK), views=BOTH),
    *(Written("timers_have_their_periods", (begins(0, job, wrong_ms),), (begins(0, job, period_ms),),
              says=f"every {wrong_ms} ms, and is to do so every {period_ms} ms") for job, period_ms, wrong_ms in (
        (POLL, 30_000, 30_001), (COMMIT, 5_000, 4_999), ("sendHeartbeatToAllBroker", 30_000, 5_000))),
    Written("timers_have_their_periods", (begins(0, POLL, 5_000),), (begins(0, "another", 5_000),)),
)
