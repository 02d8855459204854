"""Threads: where they can be overtaken, what they wait for, and how one is run alone.

A composed operation is an `async def` that takes one of these ports as its last argument. `async def` is only syntax:
a simulation steps the coroutine and may run other tasks, or let time pass, at each `interleave`; `run_now` runs it to
its end at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

_T = TypeVar("_T")


class Interleave(Protocol):
    """The places at which another thread of the same process can run."""

    def interleave(self, where: str) -> Awaitable[None]:
        """Await it at once: it returns when this thread goes on.

        where -- the Java method and the place in it ("registerConsumer: before updateChannel"), for people to read. No
        lock is held there: everything that this thread has read may be stale when the call returns.
        """
        ...


@dataclass(slots=True, eq=False)
class Lock:
    """A ReentrantLock of one process, as state: who waits for it, and how long, is the business of the host.

    name -- the Java field ("TopicConfigManager.topicConfigTableLock").
    held -- whether a thread holds it. No thread of RocketMQ enters one of these locks twice.
    """

    name: str
    held: bool = False


class Threads(Interleave, Protocol):
    """A thread that can also wait for a lock."""

    async def try_lock(self, lock: Lock, timeout_ms: int) -> bool:
        """Lock#tryLock(timeout): take the lock, waiting at most `timeout_ms`; False when the time is over.

        0 is tryLock() without an argument: it never waits.
        """
        ...

    def unlock(self, lock: Lock) -> None:
        """Lock#unlock by the thread that holds it."""
        ...


class Uninterrupted:
    """The thread that no other thread disturbs: nothing here ever suspends."""

    async def interleave(self, where: str) -> None:
        """Go on."""

    async def try_lock(self, lock: Lock, timeout_ms: int) -> bool:  # noqa: ARG002  # nothing is waited for
        """Take a free lock; a held one stays held however long one thread alone would wait."""
        if lock.held:
            return False
        lock.held = True
        return True

    def unlock(self, lock: Lock) -> None:
        """Free the lock."""
        lock.held = False


UNINTERRUPTED = Uninterrupted()


def run_now(operation: Coroutine[Any, Any, _T]) -> _T:
    """Run a composed operation to its end and give its answer; what it raises is raised here.

    Raises RuntimeError if the operation suspends, that is when one of its ports does.
    """
    try:
        operation.send(None)
    except StopIteration as stop:
        answer: _T = stop.value
        return answer
    operation.close()
    raise RuntimeError(f"{operation!r} suspended, but run_now has nothing else to run: give it ports that never wait")


@dataclass(slots=True, eq=False)
class Signal:
    """A flag that one thread waits for: the `hasNotified` of a ServiceThread, a latch, a condition.

    notified -- wakings collapse into one; a wait that ends clears it.
    """

    name: str
    notified: bool = False


class Thread(Protocol):
    """A thread that was started."""

    async def join(self, timeout_ms: int) -> bool:
        """Wait for its end; False when the time is over."""
        ...
