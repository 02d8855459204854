"""What an inspection finds fault with, and the properties that it judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stateful_tests.crash.promises import CONSECUTIVE, EARLY, KEYS, MISSED, NAMES, PREFIX, STARTS, SURVIVES

WHOLE = "store_is_whole"
"""What a problem speaks against that is no matter of one of the others."""
JUDGED = (STARTS, NAMES, MISSED, CONSECUTIVE, EARLY, KEYS, SURVIVES, PREFIX, WHOLE)
"""The properties of the crash atlas that can be seen to be broken in a directory; see PROPERTIES there."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a start stumbles over, or does not notice.

    file -- below the directory; position -- a byte in it, None: all of it. property -- which it speaks against.
    hazard -- that explains it, or "".
    """

    file: str
    position: int | None
    sentence: str
    property: str
    hazard: str


Tell = Callable[[str], object]
"""Is told how far an inspection is."""
