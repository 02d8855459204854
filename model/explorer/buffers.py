"""Memory that is used again: the kernel clears new memory page by page, and threads wait there for each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


class Buffers:
    """Bytes to borrow: as many buffers as are borrowed at once, each as large as what it was needed for.

    A buffer does not come back from a block that an exception leaves.
    """

    def __init__(self) -> None:
        """Start without any."""
        self._dirty: list[Bytes] = []
        self._clean: list[Bytes] = []

    @contextmanager
    def lent(self, size: int) -> Iterator[Bytes]:
        """So many bytes, with anything in them."""
        yield from _lent(self._dirty, size, np.empty)

    @contextmanager
    def zeros(self, size: int) -> Iterator[Bytes]:
        """So many bytes that are 0; whoever borrows them leaves them so."""
        yield from _lent(self._clean, size, np.zeros)


def _lent(free: list[Bytes], size: int, new: Callable[[int, type[np.uint8]], Bytes]) -> Iterator[Bytes]:
    buffer = free.pop() if free else new(0, np.uint8)
    if len(buffer) < size:
        buffer = new(1 << (size - 1).bit_length(), np.uint8)  # what is never touched costs nothing
    yield buffer[:size]
    free.append(buffer)
