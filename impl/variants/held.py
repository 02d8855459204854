"""A thread that holds a lock which 4.9.3 does not have: between some of its interleave points nobody comes in between.

It stands for a lock around what lies between those points, for everybody who could come in between there.
"""

from __future__ import annotations

from typing import cast

from impl.ports.threads import Interleave, Lock, Threads


class Held:
    """The threads port of such a thread.

    threads -- the port of the thread that it really is. places -- texts of the interleave points at which it goes on.
    """

    __slots__ = ("places", "threads")

    def __init__(self, threads: Interleave, *places: str) -> None:
        """Hold the lock at these places."""
        self.threads, self.places = cast("Threads", threads), places

    async def interleave(self, where: str) -> None:
        """See `impl.ports.threads`."""
        if where not in self.places:
            await self.threads.interleave(where)

    async def try_lock(self, lock: Lock, timeout_ms: int) -> bool:
        """See `impl.ports.threads`."""
        return await self.threads.try_lock(lock, timeout_ms)

    def unlock(self, lock: Lock) -> None:
        """See `impl.ports.threads`."""
        self.threads.unlock(lock)
