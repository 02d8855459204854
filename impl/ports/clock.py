"""The clock of a machine."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """The wall clock of one node."""

    def now_ms(self) -> int:
        """System#currentTimeMillis: milliseconds since 1970, by the clock of this node; it may jump, also backwards."""
        ...
