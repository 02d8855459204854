"""A limit to the CPU time of a piece of work, for code of others that may loop for ever."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN_S = 1.0
"""It is raised again after so long, should a destructor have swallowed it."""


class OverTimeError(BaseException):
    """The time is over. No `except Exception` of the code that runs can catch it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """In the block raise OverTimeError once this process has used so many seconds of CPU time.

    Signals reach the main thread only: in another one there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_: object) -> None:
        raise OverTimeError(f"{seconds:g} s of CPU time are over: does it end?")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
