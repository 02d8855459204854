"""How long a world may hold things up, as the fault profile says; deadlines are functions of it."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
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
HARDLY_EVER = 1e-12
"""So rarely chance alone may look like a fault, each time that somebody judges."""


def draws_for_all(numbers: int) -> int:
    """How often one of so many numbers is drawn before chance hardly ever leaves one of them out.

    One that is meant is left out of n draws with the probability (1 - 1/numbers)^n, some one of them with no more than
    `numbers` times that.
    """
    return 1 if numbers == 1 else ceil(log(HARDLY_EVER / numbers) / log(1 - 1 / numbers))
