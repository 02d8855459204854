"""The time that all models of routes count."""

from __future__ import annotations

from model.language import Nat


class Ms(Nat, saturates=True):
    """Milliseconds since something happened, or a period."""
