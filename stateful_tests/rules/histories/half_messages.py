"""Written histories of half messages, and of the check that comes past them."""

from __future__ import annotations

from typing import Any

import invariants.rules.half_messages  # noqa: F401  # declares the rule
from impl.events import MessageAppended, WorldHealed
from invariants.views import QueueRange
from stateful_tests.rules.histories.promises import MASTER
from stateful_tests.rules.written import Tables, Written

B, HALF = "broker-a", "RMQ_SYS_TRANS_HALF_TOPIC"
HEALED = (9, "", WorldHealed())


def half(ms: int, offset: int, topic: str = HALF) -> tuple[int, str, Any]:
    """A broker stores a half message."""
    return ms, B, MessageAppended(B, topic, 0, offset, 100 * offset, 100, f"k{offset}")


def checked(*, upto: int, stored: int = 9, role: int = 0) -> Tables:
    """How far the check of the broker has come, and how many half messages it has now; role -- its id."""
    return Tables(brokers=[MASTER._replace(broker_id=role)], committed={(HALF, 0): upto},
                  stored_at=QueueRange(0, stored))


HISTORIES = (
    Written("check_passes_every_half_message", broken=(half(1, 4), half(2, 5), HEALED), views=checked(upto=5),
            kept=(half(1, 4), half(2, 5), HEALED, half(10, 6)), kept_views=checked(upto=6),
            says="is at 5 of its half messages, which end at 6"),
    Written("check_passes_every_half_message", broken=(half(1, 4), half(2, 5), HEALED), views=checked(upto=4, stored=5),
            kept=(half(1, 4), half(2, 5), HEALED), kept_views=checked(upto=5, stored=5), says="end at 5"),
    Written("check_passes_every_half_message", broken=(half(1, 0), HEALED), views=checked(upto=0),
            kept=(half(1, 0), HEALED), kept_views=checked(upto=0, role=1)),
    Written("check_passes_every_half_message", broken=(half(1, 0), HEALED), views=checked(upto=0),
            kept=(half(1, 0, "orders"), HEALED), kept_views=checked(upto=0)),
    Written("check_passes_every_half_message", broken=(half(1, 0), HEALED), views=Tables(
        brokers=[MASTER], committed={}, stored_at=QueueRange(0, 1)),
            kept=(half(1, 0), HEALED), kept_views=Tables(brokers=[MASTER], committed={}, stored_at=None)),
)
