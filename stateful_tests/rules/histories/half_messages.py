"""Written histories of half messages."""

from __future__ import annotations

from typing import Any

import invariants.rules.half_messages  # noqa: F401  # declares the rules
from impl.decisions.names import RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from impl.events import HalfMessageEnded, MessageAppended, WorldHealed
from invariants.views import StoredRecord
from stateful_tests.rules.histories.promises import MASTER
from stateful_tests.rules.written import Tables, Written

A, P = "broker-a", "producer1"
ROLLBACK, COMMIT = "ROLLBACK_MESSAGE", "COMMIT_MESSAGE"
HEALED = (9, "", WorldHealed())
KEPT = Tables(brokers=[MASTER], log_records=(
    StoredRecord(0, RMQ_SYS_TRANS_HALF_TOPIC, 0, 0, 100, "k"), StoredRecord(100, "orders", 0, 0, 100, "plain")))
FAILED = Tables(**KEPT.answers, calm=False)
CUT = Tables(brokers=[MASTER], log_records=())

Told = tuple[int, str, Any]


def appended(ms: int, topic: str = "orders", key: str = "k") -> Told:
    """A broker stores it."""
    return ms, A, MessageAppended(A, topic, 0, 0, 0, 100, key)


def ended(ms: int, state: str) -> Told:
    """The producer ends its half message."""
    return ms, P, HalfMessageEnded(f"{P}@shop", "P", "k", state)


HALF = appended(1, RMQ_SYS_TRANS_HALF_TOPIC)
GIVEN_UP = appended(3, RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC)

HISTORIES = (
    Written("rolled_back_stays_hidden", broken=(ended(1, ROLLBACK), appended(2)),
            kept=(ended(1, COMMIT), appended(2))),
    Written("rolled_back_stays_hidden", broken=(ended(1, ROLLBACK), appended(2)),
            kept=(ended(1, ROLLBACK), appended(2, RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC), appended(3, key="other"))),
    Written("half_message_ends_at_last", broken=(HALF, HEALED), kept=(HALF, appended(2), HEALED), views=KEPT,
            causes=()),
    Written("half_message_ends_at_last", broken=(HALF, ended(2, COMMIT), HEALED), kept=(HALF, HEALED, appended(10)),
            views=KEPT),
    Written("half_message_ends_at_last", broken=(HALF, appended(2, key="other"), HEALED),
            kept=(HALF, ended(2, ROLLBACK), HEALED), views=KEPT),
    Written("half_message_ends_at_last", broken=(HALF, ended(2, "UNKNOW"), HEALED),
            kept=(HEALED, (10, *HALF[1:])), views=KEPT),
    Written("half_message_ends_at_last", broken=(HALF, HEALED), kept=(HALF, HEALED), views=KEPT, kept_views=CUT),
    Written("half_message_ends_at_last", broken=(HALF, GIVEN_UP, HEALED), views=KEPT, causes=()),
    Written("half_message_ends_at_last", broken=(HALF, GIVEN_UP, HEALED), views=FAILED, causes=("T3",)),
    Written("half_message_ends_at_last", broken=(HALF, HEALED), views=FAILED, causes=()),
)
