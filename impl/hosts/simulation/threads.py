"""What the threads of one simulated Java process do with each other: locks, signals, joining.

No fault is injected here. A ReentrantLock is not fair, as in RocketMQ: whoever asks while it is free gets it, before
the thread that has just been woken for it; that one stays first in the queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine
from typing import Any

from impl.events.host import NumberDrawn
from impl.hosts.simulation.clock import WallClock
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.process import TIMED_OUT, Future, Process, Task
from impl.ports.threads import Lock, Signal


class Thread:
    """A thread that was started; see `impl.ports.threads`."""

    def __init__(self, process: Process, task: Task) -> None:
        """Of this process."""
        self.process, self.task = process, task

    async def join(self, timeout_ms: int) -> bool:
        """See Thread in `impl.ports.threads`."""
        self.process.check_alive()
        if self.task.done:
            return True
        ended = Future(self.process.kernel)
        self.task.watchers = (*self.task.watchers, lambda: ended.resolve(True))
        return await self.process.until(ended, timeout_ms) is True


class Threads(Process):
    """A process with the ports of `impl.ports.threads`, and what Node in `impl.ports.node` has for threads."""

    def __init__(self, kernel: Kernel, name: str, clock: WallClock) -> None:
        """No lock is held, nobody waits."""
        super().__init__(kernel, name, clock)
        self._queues: dict[Lock, deque[Future]] = {}
        self._sleepers: dict[Signal, Future] = {}

    def start_thread(self, name: str, run: Coroutine[Any, Any, None]) -> Thread:
        """See Node in `impl.ports.node`."""
        return Thread(self, self.spawn(name, run))

    def current_thread(self) -> str:
        """See Node in `impl.ports.node`."""
        name: str = self.kernel.running.name
        return name

    async def try_lock(self, lock: Lock, timeout_ms: int) -> bool:
        """See `impl.ports.threads`."""
        if self._take(lock):
            return True
        return await self._wait_for(lock, self.uptime_ms() + timeout_ms)

    async def lock(self, lock: Lock) -> None:
        """See Node in `impl.ports.node`."""
        if not self._take(lock):
            await self._wait_for(lock, None)

    def unlock(self, lock: Lock) -> None:
        """See `impl.ports.threads`; raises RuntimeError if nobody holds the lock."""
        self.check_alive()
        if not lock.held:
            raise RuntimeError(f"{lock.name} is not held: java.lang.IllegalMonitorStateException")
        lock.held = False
        queue = self._queues.get(lock)
        while queue:
            if queue.popleft().resolve(True):
                return

    def _take(self, lock: Lock) -> bool:
        """Take the lock if it is free."""
        self.check_alive()
        if lock.held:
            return False
        lock.held = True
        return True

    async def _wait_for(self, lock: Lock, deadline_ms: int | None) -> bool:
        first, wait = True, self.begin_wait(what=f"the lock {lock.name}")
        while lock.held:
            if deadline_ms is not None and self.uptime_ms() >= deadline_ms:
                if wait is not None:
                    wait.end(self.kernel.now_ms, in_vain=True)
                return False
            turn = Future(self.kernel)
            queue = self._queues.setdefault(lock, deque())
            if first:
                queue.append(turn)
            else:
                queue.appendleft(turn)
            first = False
            if deadline_ms is None:
                await turn
            elif await self.until(turn, deadline_ms - self.uptime_ms()) is TIMED_OUT and turn in queue:
                queue.remove(turn)  # not there: an unlock of the same millisecond has taken it out
        if wait is not None:
            wait.end(self.kernel.now_ms, in_vain=False)
        lock.held = True
        return True

    async def wait(self, signal: Signal, timeout_ms: int) -> bool:
        """See Node in `impl.ports.node`; raises RuntimeError if another thread waits for the signal."""
        self.check_alive()
        if not signal.notified:
            if signal in self._sleepers:
                raise RuntimeError(f"two threads wait for {signal.name}")
            self._sleepers[signal] = waiting = Future(self.kernel)
            wait = self.begin_wait(what=signal.name)
            await self.until(waiting, timeout_ms)
            if wait is not None:
                wait.end(self.kernel.now_ms, in_vain=not signal.notified)
            del self._sleepers[signal]
        notified, signal.notified = signal.notified, False
        return notified

    def wake(self, signal: Signal) -> None:
        """See Node in `impl.ports.node`."""
        self.check_alive()
        signal.notified = True
        waiting = self._sleepers.get(signal)
        if waiting is not None:
            waiting.resolve(True)

    def random(self, n: int, where: str) -> int:
        """See Node in `impl.ports.node`."""
        self.check_alive()
        tape = self.kernel.tape
        drawn = tape.pick(n, where)
        if drawn and tape.telling:
            tape.tell(self.kernel.now_ms, self.name, f"drew {drawn} of 0 to {n - 1}")
        if n > 1:
            self.trace(NumberDrawn(where, n, drawn))
        return drawn
