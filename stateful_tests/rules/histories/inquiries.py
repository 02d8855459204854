"""Written histories of what operators ask for, and are told."""

from __future__ import annotations

from typing import Any

import invariants.rules.inquiries  # noqa: F401  # declares the rule
from impl.events import KeyAnswered, KeyAsked, MessageDispatched, ProcessKilled
from stateful_tests.rules.written import Tables, Written

B, OPERATOR = "broker-a", "operator"
BEGIN_MS, END_MS = 10_000, 20_000
Told = tuple[int, str, Any]


def dispatched(offset: int, at: str = B) -> Told:
    """A broker dispatches a record."""
    return 1, at, MessageDispatched(at, "orders", 0, 0, offset)


def asked(key: str = "red", ms: int = 2) -> Told:
    """An operator asks."""
    return ms, OPERATOR, KeyAsked(B, "orders", key, BEGIN_MS, END_MS)


def told(*offsets: int, most: int = 32, key: str = "red") -> Told:
    """It is answered."""
    return 3, OPERATOR, KeyAnswered(B, "orders", key, BEGIN_MS, END_MS, offsets, most)


def has(*records: tuple[int, int], begin: int = 0) -> Tables:
    """Records with the key: offset and time."""
    return Tables(keyed=records, log_begin=begin)


ONE, TWO = dispatched(100), dispatched(200)
BOTH = has((100, 11_000), (200, 19_000))
DIES = (1, B, ProcessKilled(1, power_loss=False))

HISTORIES = (
    Written("message_is_found_by_its_key", (ONE, TWO, asked(), told(100)), (ONE, TWO, asked(), told(200, 100)),
            views=BOTH, says="is not told of the message at 200"),
    Written("message_is_found_by_its_key", (ONE, TWO, asked(), told(100)), (ONE, asked(), TWO, told(100)), views=BOTH),
    Written("message_is_found_by_its_key", (ONE, TWO, asked(), told(200, 100, 200)),
            (ONE, TWO, asked(), told(100, 200)), views=BOTH, says="is told twice of the message at 200"),
    Written("message_is_found_by_its_key", (ONE, asked(), told()), (ONE, asked(), told()),
            views=has((100, 11_000)), kept_views=has((100, 10_999))),
    Written("message_is_found_by_its_key", (ONE, asked(), told()), (ONE, asked(), told()),
            views=has((100, 19_000)), kept_views=has((100, 19_001))),
    Written("message_is_found_by_its_key", (ONE, TWO, asked(), told(200)), (ONE, TWO, asked(), told(200, most=1)),
            views=BOTH),
    Written("message_is_found_by_its_key", (ONE, asked(), told()), (ONE, DIES, asked(), told()), views=BOTH),
    Written("message_is_found_by_its_key", (ONE, asked(), told()), (dispatched(100, "broker-b"), asked(), told()),
            views=BOTH),
    Written("message_is_found_by_its_key", (ONE, asked(), told()), (ONE, told()), views=BOTH),
    Written("message_is_found_by_its_key", (ONE, TWO, asked(), told(100, 150, 200)),
            (ONE, TWO, asked(), told(100, 200)), views=BOTH, says="at 150, which has another key"),
    Written("message_is_found_by_its_key", (ONE, TWO, asked(), told(50, 100, 200)),
            (ONE, TWO, asked(), told(50, 100, 200)), views=BOTH,
            kept_views=has((100, 11_000), (200, 19_000), begin=51)),
    Written("message_is_found_by_its_key", (ONE, TWO, asked(), told(50, 100, 200)),
            (ONE, TWO, asked(), told(100, 200)), views=has((100, 11_000), (200, 19_000), begin=50)),
    Written("message_is_found_by_its_key", (ONE, asked(), told()), (ONE, asked(), told(7)), views=BOTH,
            kept_views=has()),
    Written("message_is_found_by_its_key", (ONE, asked(), told(100)), (ONE, asked(), told(100)),
            views=has((100, 9_999)), kept_views=has((100, 10_000)), says="which was stored at 9999"),
    Written("message_is_found_by_its_key", (ONE, asked(), told(100)), (ONE, asked(), told(100)),
            views=has((100, 21_000)), kept_views=has((100, 20_999))),
    Written("message_is_found_by_its_key", (ONE, asked(), told(100)), (ONE, asked(), told()),
            views=has((100, 21_000))),
)
