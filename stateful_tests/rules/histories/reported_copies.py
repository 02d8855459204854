"""Written histories of slaves that say what they have copied."""

from __future__ import annotations

from typing import Any

import invariants.rules.reported_copies  # noqa: F401  # declares the rule
from impl.events import BrokerStopping, LogCopied, ProcessKilled, ReplicaReported, SlaveDisconnected
from stateful_tests.rules.written import Tables, Written

RULE, M, S, S2 = "copied_is_reported_at_once", "broker-a", "broker-s", "broker-t"
Told = tuple[int, str, Any]


def copied(ms: int, offset: int, size: int = 100, at: str = S) -> Told:
    """A slave copies bytes."""
    return ms, at, LogCopied(at, offset, offset, size)


def reported(ms: int, offset: int, slave: str = S) -> Told:
    """It says where its log ends."""
    return ms, M, ReplicaReported(M, slave, offset, offset)


ONE, TWO = copied(1, 100), copied(2, 200)

HISTORIES = (
    Written(RULE, (ONE,), (ONE, reported(2, 200)), says="broker-s has copied the log of its master up to 200"),
    Written(RULE, (ONE,), (ONE,), kept_views=Tables(calm=False)),
    Written(RULE, (ONE, reported(2, 199)), (ONE, reported(2, 201))),
    Written(RULE, (ONE, reported(2, 200, S2)), (copied(1, 100, 0),)),
    Written(RULE, (reported(0, 200), ONE), (ONE, copied(2, 100, 100, S2), reported(3, 200), reported(3, 200, S2))),
    Written(RULE, (ONE, TWO), (ONE, TWO, reported(3, 300)), says="up to 200"),
    Written(RULE, (ONE, TWO, reported(3, 200)), (ONE, TWO, reported(3, 200), reported(4, 300)), says="up to 300"),
    Written(RULE, (ONE, TWO, reported(3, 299)), (ONE, TWO, reported(3, 250), reported(4, 300)), says="up to 300"),
    *(Written(RULE, (ONE, broken), (ONE, kept)) for broken, kept in (
        ((2, M, SlaveDisconnected(M, S2)), (2, M, SlaveDisconnected(M, S))),
        ((2, S, SlaveDisconnected(S, M)), (2, M, BrokerStopping(M))),
        ((2, M, SlaveDisconnected(M, S2)), (2, S, ProcessKilled(1, power_loss=False))))),
)
