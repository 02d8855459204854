"""Written histories of delayed messages."""

from __future__ import annotations

from typing import Any

import invariants.rules.delays  # noqa: F401  # declares the rule
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.events import LogExpired, MessageAppended, WorldHealed
from invariants.views import StoredRecord
from stateful_tests.rules.histories.promises import MASTER
from stateful_tests.rules.written import Tables, Written

B = "broker-a"
HEALED = (9, "", WorldHealed())
KEPT = Tables(brokers=[MASTER], log_records=(StoredRecord(0, RMQ_SYS_SCHEDULE_TOPIC, 0, 0, 100, "k"),))


def put_off(ms: int) -> tuple[int, str, Any]:
    """A broker keeps a message until its delay is over."""
    return come(ms, topic=RMQ_SYS_SCHEDULE_TOPIC)


def come(ms: int, key: str = "k", topic: str = "orders") -> tuple[int, str, Any]:
    """It puts the message into its topic."""
    return ms, B, MessageAppended(B, topic, 0, 0, 0, 100, key)


def expired(min_offset: int, at: str = B) -> tuple[int, str, Any]:
    """The log of a broker begins there now."""
    return 2, at, LogExpired(at, min_offset)


HISTORIES = (
    Written("delayed_message_comes_at_last", broken=(put_off(1), HEALED), kept=(put_off(1), come(2), HEALED),
            views=KEPT, says="k first"),
    Written("delayed_message_comes_at_last", broken=(put_off(1), come(2, "other"), HEALED),
            kept=(HEALED, put_off(10)), views=KEPT),
    Written("delayed_message_comes_at_last", broken=(put_off(1), HEALED), kept=(put_off(1), HEALED), views=KEPT,
            kept_views=Tables(brokers=[MASTER], log_records=())),
    Written("delayed_message_comes_at_last", broken=(put_off(1), expired(0), HEALED), views=KEPT,
            kept=(put_off(1), expired(1), HEALED)),
    Written("delayed_message_comes_at_last", broken=(put_off(1), expired(1, "broker-b"), HEALED), views=KEPT),
)
