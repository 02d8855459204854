"""Progress where nothing can move: a line every few seconds while something works.

What it tells is for people alone, so that a clock may be read: no verdict has any of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

EVERY_S = 8.0


@contextmanager
def ticking(tell: Callable[[float], object], first_s: float = 0.0) -> Iterator[None]:
    """While the block runs call tell, with how many seconds it has run, every EVERY_S seconds; from another thread.

    first_s -- after so long for the first time.
    """
    ended, began = Event(), time.monotonic()

    def work() -> None:
        wait_s = first_s
        while not ended.wait(wait_s):
            tell(time.monotonic() - began)
            wait_s = EVERY_S

    teller = Thread(target=work, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
