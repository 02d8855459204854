"""A limit to the CPU time of a piece of work, for code of others that may loop for ever."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

LOOKS = 4
"""It is over when so many looks in a row see no progress. A pause of the collector, or of the machine, spoils only one
of them, for the time to the next one begins behind it."""
SOON_S = 0.01
"""Where an exception would be swallowed there is another look after so long."""


class OverTimeError(BaseException):
    """The time is over. No `except Exception` of the code that runs can catch it."""


@contextmanager
def limited(
    seconds: float, progress: Callable[[], object] = bool, timer: int = signal.ITIMER_VIRTUAL,
) -> Iterator[None]:
    """In the block raise OverTimeError once this process has used so many seconds of CPU time without progress.

    progress -- something that is another whenever there was some, which begins the time anew; by default nothing is.
    timer -- ITIMER_VIRTUAL, or ITIMER_PROF, around another limit. CPU time, not wall time: a machine that is busy with
    something else must not change an outcome. Signals reach the main thread only: in another one there is no limit.
    No destructor and no callback of the collector is interrupted, for Python only prints what they raise.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    number = {signal.ITIMER_VIRTUAL: signal.SIGVTALRM, signal.ITIMER_PROF: signal.SIGPROF}[timer]
    reached, idle, every_s = progress(), 0, seconds / LOOKS

    def look(_: int, frame: FrameType | None) -> None:
        nonlocal reached, idle
        before, reached = reached, progress()
        idle = idle + 1 if before == reached else 0
        swallowed = idle >= LOOKS and _swallows(frame)
        signal.setitimer(timer, SOON_S if swallowed else every_s, every_s)
        if idle >= LOOKS and not swallowed:
            raise OverTimeError(f"{seconds:g} s of CPU time are over")

    before = signal.signal(number, look)
    signal.setitimer(timer, every_s, every_s)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


def _swallows(frame: FrameType | None) -> bool:
    """Whether a destructor or a callback of the collector runs, from which no exception comes out."""
    callbacks = {getattr(one, "__code__", None) for one in gc.callbacks}
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False
