"""How long a world may hold things up, as the fault profile says; deadlines are functions of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Bounds(NamedTuple):
    """The longest that a fault of the world may last, in ms; 0: there is no such fault.

    thread_pause_ms -- a thread is not scheduled. delay_ms -- a message is on its way, or waits to be written.
    listener_ms -- a listener works on a batch; its user decides that, and it is no fault. force_ms -- a disk takes it
    for a force.
    """

    thread_pause_ms: int = 0
    delay_ms: int = 0
    listener_ms: int = 0
    force_ms: int = 0


Deadline = Callable[[Bounds], int]
"""How long something may take in a world, in ms."""
