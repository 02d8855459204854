"""Words by which pictures tell their rows apart."""

from __future__ import annotations

EARLIER, FINDING = "earlier", "finding"
"""Marks: the row that a finding contradicts, and that of the finding."""
EVENT, FAULT, FOLD = "event", "fault", "fold"
"""Kinds: an event, a fault of the world, several events in one line."""
