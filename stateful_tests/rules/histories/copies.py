"""Written histories of what brokers write down again."""

from __future__ import annotations

from typing import Any

import invariants.rules.copies  # noqa: F401  # declares the rule
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from impl.events import MessageAppended, SendAttempted, StoreLoaded
from invariants.views import Written as Record
from stateful_tests.rules.written import Tables, Written

A, P = "broker-a", "producer1"
FIRST = Record(7, (5, "0A000001", 1), (("KEYS", "red"), ("TAGS", "a")))
SENT_BACK = ("ORIGIN_MESSAGE_ID", "AC1"), ("RETRY_TOPIC", "orders")


def appended(offset: int, topic: str = "orders", key: str | None = "k") -> tuple[int, str, Any]:
    """A broker appends a record."""
    return offset, A, MessageAppended(A, topic, 0, 0, offset, 100, key)


def sent(attempt: int = 1, group: str = "P", *, oneway: bool = False, key: str = "j,k") -> tuple[int, str, Any]:
    """A client sends."""
    return 1, P, SendAttempted(f"{P}@1", group, key, attempt, MessageQueue("orders", A, 0), oneway=oneway)


def loaded(end: int, at: str = A) -> tuple[int, str, Any]:
    """A store has recovered its log up to there."""
    return 1, at, StoreLoaded(at, 0, end, "ASYNC_FLUSH")


def say(*records: Record | None) -> Tables:
    """What the records at 1, 2 and so on say."""
    return Tables(written=lambda _, offset, __: records[offset - 1])


def with_properties(*properties: tuple[str, str]) -> Record:
    """A copy with other properties."""
    return FIRST._replace(properties=tuple(sorted(properties)))


DELAYED = appended(1, RMQ_SYS_SCHEDULE_TOPIC), appended(2)
TRIED_AGAIN = appended(1), appended(2, RMQ_SYS_SCHEDULE_TOPIC)
HALF = appended(1, RMQ_SYS_TRANS_HALF_TOPIC), appended(2)
PUT_BACK = appended(1, RMQ_SYS_TRANS_HALF_TOPIC), appended(2, RMQ_SYS_TRANS_HALF_TOPIC)
REDELIVERED = (appended(1, RMQ_SYS_SCHEDULE_TOPIC), appended(2), appended(3, "%RETRY%G"), appended(4),
               appended(5, "%RETRY%G"))
TWICE = appended(1), appended(2, "%RETRY%G"), appended(3, "%RETRY%G")
FLAGLESS, BORN_LATER = FIRST._replace(content=8), FIRST._replace(born=(6, "0A000001", 1))
BACK = FIRST._replace(properties=(*FIRST.properties, *SENT_BACK))
NAMELESS = FIRST._replace(properties=(*FIRST.properties, SENT_BACK[1]))
ELSEWHERE = FIRST._replace(properties=(*FIRST.properties, ("ORIGIN_MESSAGE_ID", "AC2"), SENT_BACK[1]))

HISTORIES = (
    Written("copy_is_the_message", DELAYED, DELAYED, views=say(FIRST, FLAGLESS), kept_views=say(FIRST, FIRST),
            causes=(), says="into orders with another body or flag"),
    Written("copy_is_the_message", (DELAYED[0], loaded(2), DELAYED[1]), (DELAYED[0], loaded(1), DELAYED[1]),
            views=say(FIRST, FLAGLESS)),
    Written("copy_is_the_message", (DELAYED[0], loaded(1, "broker-b"), DELAYED[1]), views=say(FIRST, FLAGLESS)),
    Written("copy_is_the_message", HALF, HALF, views=say(FIRST, FLAGLESS), kept_views=say(FIRST, None), causes=()),
    Written("copy_is_the_message", PUT_BACK, DELAYED, views=say(FIRST, FLAGLESS), kept_views=say(None, FIRST),
            causes=("T5",)),
    Written("copy_is_the_message", PUT_BACK, views=say(FIRST, with_properties(("KEYS", "red"))), causes=(),
            says="with other properties"),
    Written("copy_is_the_message", DELAYED, (DELAYED[0], appended(2, key="j"), appended(2, key=None)),
            views=say(FIRST, with_properties(("DELAY", "1"), ("KEYS", "red"))), kept_views=say(FIRST, FLAGLESS)),
    Written("copy_is_the_message", DELAYED, DELAYED, views=say(FIRST, with_properties()),
            kept_views=say(FIRST, with_properties(*FIRST.properties, ("REAL_TOPIC", "orders"), ("WAIT", "false")))),
    Written("copy_is_the_message", DELAYED, (sent(2), *DELAYED), views=say(FIRST, BORN_LATER), says="another birth"),
    Written("copy_is_the_message", (sent(), *DELAYED), (sent(oneway=True), *DELAYED), views=say(FIRST, BORN_LATER)),
    Written("copy_is_the_message", (sent(2, key="j"), *DELAYED), (sent(1, "CLIENT_INNER_PRODUCER"), *DELAYED),
            views=say(FIRST, BORN_LATER)),
    Written("copy_is_the_message", (sent(2), *DELAYED), views=say(FIRST, FLAGLESS)),
    Written("copy_is_the_message", TWICE, TWICE, views=say(FIRST, BACK, ELSEWHERE), kept_views=say(FIRST, BACK, BACK),
            says="another origin"),
    Written("copy_is_the_message", TRIED_AGAIN, TRIED_AGAIN, views=say(FIRST, NAMELESS), kept_views=say(FIRST, BACK),
            says="no origin"),
    Written("copy_is_the_message", TRIED_AGAIN, DELAYED, views=say(FIRST, NAMELESS)),
    Written("copy_is_the_message", TRIED_AGAIN, (sent(1, "CLIENT_INNER_PRODUCER"), *TRIED_AGAIN),
            views=say(FIRST, NAMELESS), kept_views=say(FIRST, NAMELESS)),
    Written("copy_is_the_message", TWICE, (sent(2), *TWICE), views=say(FIRST, BACK, ELSEWHERE)),
    Written("copy_is_the_message", REDELIVERED[:3] + REDELIVERED[4:], REDELIVERED,
            views=say(FIRST, FIRST, BACK, FIRST, ELSEWHERE), says="another origin"),
    Written("copy_is_the_message", REDELIVERED, views=say(FIRST, FIRST, BACK, FIRST, FLAGLESS)),
    Written("copy_is_the_message", TWICE, TWICE, views=say(FIRST, BACK, ELSEWHERE), kept_views=say(FIRST, FIRST, BACK)),
)
