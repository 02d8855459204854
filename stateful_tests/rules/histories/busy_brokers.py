"""Written histories of requests to brokers that have no thread for them."""

from __future__ import annotations

from typing import Any

import invariants.rules.busy_brokers  # noqa: F401  # declares the rule
from impl.events import (
    BrokerStopping,
    ClockJumped,
    InquiryAnswered,
    InquiryMade,
    MessageLost,
    ProcessKilled,
    ProcessPaused,
    ThreadsHeld,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Written

B, OPERATOR = "broker-a", "operator"
CALM = Bounds()
BUSY_CODE, ILLEGAL_CODE = 2, 1
SOON_MS = deadlines.soon(CALM)
PULL_DUE_MS = 10 + deadlines.QUEUE_MS["pull"]
Told = tuple[int, str, Any]
RULE = "waiting_request_is_refused_in_its_time"


def held(ms: int, pool: str = "pull") -> Told:
    """All threads of a pool are busy."""
    return 0, B, ThreadsHeld(B, pool, ms)


def asked(pool: str = "pull", what: str = "busy") -> Told:
    """A stranger asks."""
    return 10, OPERATOR, InquiryMade(B, what, pool, 1)


def told(ms: int, code: int = BUSY_CODE, pool: str = "pull", what: str = "busy", number: int = 1) -> Told:
    """It is answered."""
    return ms, OPERATOR, InquiryAnswered(B, what, pool, number, (code,))


def dark(at: str) -> Told:
    """A machine loses its power."""
    return -1, at, ProcessKilled(1, power_loss=True)


def stood_still(ms: int, at: str = B) -> tuple[Told, ...]:
    """It is looked at what was asked of a machine that stood still, or was about to, and its broker ends later."""
    return asked(), (20, at, ProcessPaused(1_000)), (ms, "world", WorldHealed()), (ms + 1, B, ProcessKilled(1, False))


LONG = held(PULL_DUE_MS + SOON_MS + 1)
NEVER = LONG, asked()


def still_until(ms: int) -> tuple[Told, ...]:
    """The broker stands still until then, and it is looked at what was asked when that was to be refused."""
    late_ms = ms + deadlines.QUEUE_MS["pull"] + SOON_MS + 1
    return (*NEVER, (20, B, ProcessPaused(ms - 20)), (late_ms, "world", WorldHealed()),
            (late_ms + 1, B, ProcessKilled(1, False)))


HISTORIES = (
    # Threads that are free again in time may do it.
    Written(RULE, NEVER, (held(PULL_DUE_MS + SOON_MS), asked()), bounds=CALM, says="has not refused a request"),
    Written(RULE, NEVER, (held(PULL_DUE_MS + SOON_MS + 1, "send"), asked()), bounds=CALM),
    # A thread that is free when the broker goes on may take it.
    Written(RULE, still_until(LONG[2].ms - 1), still_until(LONG[2].ms), bounds=CALM),
    Written(RULE, NEVER, (LONG, asked(what="end")), bounds=CALM),
    Written(RULE, NEVER, (LONG, asked(), told(PULL_DUE_MS)), bounds=CALM),
    Written(RULE, (LONG, asked(), told(PULL_DUE_MS, number=2)), (LONG, asked(), told(PULL_DUE_MS)),
            bounds=CALM),
    Written(RULE, NEVER, (LONG, asked(), (20, B, BrokerStopping(B))), bounds=CALM),
    Written(RULE, NEVER, (LONG, asked(), (20, OPERATOR, MessageLost(B))), bounds=CALM),
    Written(RULE, NEVER, (LONG, asked(), (20, B, ProcessKilled(1, power_loss=False))), bounds=CALM),
    Written(RULE, NEVER, (LONG, (20, B, ProcessKilled(1, power_loss=False)), asked()), bounds=CALM),
    Written(RULE, (*NEVER, (20, "c1", ProcessKilled(1, power_loss=False))),
            (*NEVER, (20, OPERATOR, ProcessKilled(1, power_loss=False))), bounds=CALM),
    Written(RULE, NEVER, (LONG, (20, B, ClockJumped(1)), asked()), bounds=CALM),
    # What comes while the broker stands still waits from when it goes on.
    Written(RULE, (held(10**6), *stood_still(PULL_DUE_MS + SOON_MS + 1_011)),
            (held(10**6), *stood_still(PULL_DUE_MS + SOON_MS + 1_010)), bounds=CALM),
    Written(RULE, (held(10**6), *stood_still(PULL_DUE_MS + SOON_MS + 1_010, "broker-b")),
            (held(10**6), *stood_still(PULL_DUE_MS + SOON_MS + 1_010)), bounds=CALM),
    *(Written(RULE, (held(10**6), (ms, B, ProcessPaused(1_000)), *stood_still(late_ms + 1, "broker-b")),
              (held(10**6), (ms, B, ProcessPaused(1_000)), *stood_still(late_ms, "broker-b")), bounds=CALM)
      for ms, late_ms in ((0, PULL_DUE_MS + SOON_MS + 990), (-2_000, PULL_DUE_MS + SOON_MS))),
    # The first request to a broker that has lost its power goes to a connection that is dead.
    *(Written(RULE, (before, LONG, *others, asked()), (dark(B), LONG, asked()), bounds=CALM) for before, others in (
        ((-1, B, ProcessKilled(1, power_loss=False)), ()), (dark("broker-b"), ()),
        (dark(B), (asked("orders", "time"),)))),
    # Nobody is refused too early, but for a send, which a busy page cache refuses at once.
    Written(RULE, (asked(), told(PULL_DUE_MS - 1)), (asked(), told(PULL_DUE_MS)), bounds=CALM,
            says="refuses a request of its pool pull that has waited for 4999 ms"),
    Written(RULE, (asked(), told(PULL_DUE_MS - 1)), (asked(), told(PULL_DUE_MS - 1, ILLEGAL_CODE)), bounds=CALM),
    Written(RULE, (asked(), told(PULL_DUE_MS - 1)), (asked("send"), told(20, pool="send")), bounds=CALM),
    Written(RULE, (asked(), told(PULL_DUE_MS - 1)), (asked(what="end"), told(20, what="end")), bounds=CALM),
    Written(RULE, (asked(), told(PULL_DUE_MS - 1)), (asked(), (11, B, ProcessKilled(1, power_loss=False)), told(20)),
            bounds=CALM),
)
