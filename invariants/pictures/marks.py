"""Words by which pictures tell their rows apart."""

from __future__ import annotations

EARLIER, FINDING, SEEN = "earlier", "finding", "seen"
"""Marks: the row that a finding contradicts, that of the finding, and that of what users see of it."""
EVENT, FAULT, FOLD, GAP, VAIN = "event", "fault", "fold", "gap", "vain"
"""Kinds: an event, a fault of the world, several events in one line, time that passes, an attempt that is in vain."""
