"""What the kernel steps: processes, their threads, and what threads wait for.

Fault injected here, chosen by the tape at the rate `thread_pause` of the fault profile: at an `interleave`, the thread
is descheduled for one of PAUSES_MS; choice 0: it goes on.
"""

from __future__ import annotations

import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, Final

from impl.decisions.java_errors import IllegalArgumentError
from impl.hosts.simulation.clock import WallClock

if TYPE_CHECKING:  # the kernel steps processes, a process asks its kernel
    from impl.hosts.simulation.kernel import Kernel
    from impl.hosts.simulation.trail import Wait

PAUSES_MS = (0, 1, 10, 100, 1_000, 3_000, 10_000, 40_000)  # 0: the others of this millisecond go first
_PAUSES = len(PAUSES_MS) + 1  # and none


class _TimedOut:
    """The type of TIMED_OUT."""


TIMED_OUT: Final = _TimedOut()  # the value of a future that nobody resolved in time


class ProcessDeadError(BaseException):
    """A port of a dead process was used: no `except Exception` of the simulated code may swallow it."""


class Future:
    """A value that is not there yet, for one waiting task: `value = await future`."""

    __slots__ = ("_ready", "done", "value", "waiter")

    def __init__(self, kernel: Kernel) -> None:
        """Unresolved; kernel -- whose tasks wait for it."""
        self._ready = kernel.ready
        self.done = False
        self.value: Any = None
        self.waiter: Task | None = None

    def resolve(self, value: Any = None) -> bool:
        """Give the value; False if there was one already, which stays."""
        if self.done:
            return False
        self.done, self.value = True, value
        if self.waiter is not None:
            self._ready.append((self.waiter, None))
        return True

    def __await__(self) -> Generator[Any, Any, Any]:
        """Wait for the value."""
        if not self.done:
            yield self
        return self.value


class Task:
    """One thread of a process.

    steps -- the coroutine as an iterator over what it waits for, which ends without an exception. done -- it has ended:
    returned, died of an exception, or was killed with its process; watchers -- called then.
    """

    __slots__ = ("coroutine", "done", "name", "process", "steps", "watchers")

    def __init__(
        self, process: Process, name: str, coroutine: Coroutine[Any, Any, Any], steps: Generator[Any, Any, Any],
        watchers: tuple[Callable[[], object], ...] = (),
    ) -> None:
        """Belong to the living threads of the process; who makes it lets the kernel step it."""
        self.process, self.name, self.coroutine, self.steps = process, name, coroutine, steps
        self.watchers = watchers
        self.done = False
        process.tasks[self] = None

    def end(self) -> None:
        """Leave the process and tell the watchers."""
        self.done = True
        self.process.tasks.pop(self, None)
        for watcher in self.watchers:
            watcher()

    def __str__(self) -> str:
        """Process and thread."""
        return f"{self.process.name} {self.name}"


def as_coroutine(awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    """A coroutine that awaits it."""

    async def wait() -> None:
        await awaitable

    return wait()


@types.coroutine
def suspend(true_ms: int) -> Generator[int, Any, None]:
    """Let this task go on after true_ms milliseconds of true time; 0: after the others of this millisecond."""
    yield true_ms


@types.coroutine
def _no_wait() -> Generator[Any, Any, None]:
    yield from ()


AT_ONCE: Final = _no_wait()
"""For who does not wait after all: `await AT_ONCE` goes on at once. A generator at its end can be awaited for ever."""
next(AT_ONCE, None)


class Process:
    """One life of one simulated process: what its threads may do without a network.

    name -- of the machine; incarnation -- counts its lives from 1. alive -- not killed. paused_until_ms -- true time
    before which none of its threads runs; standing -- what waits for that. tasks -- its living threads, in the order of
    their start. left -- how many segments end before one is due for the monitor.
    """

    def __init__(self, kernel: Kernel, name: str, clock: WallClock) -> None:
        """Come to life; the former life of the same name must be over. clock -- of the machine."""
        former = kernel.processes.get(name)
        if former is not None and former.alive:
            raise ValueError(f"{name} lives: kill it before it is started again")
        self.kernel, self.name, self.clock = kernel, name, clock
        self.incarnation: int = 1 if former is None else former.incarnation + 1
        self.alive: bool = True
        self.paused_until_ms = 0
        self.left = 0
        self.standing: list[tuple[Any, Any]] = []
        self.tasks: dict[Task, None] = {}
        kernel.processes[name] = self

    def __deepcopy__(self, memo: object) -> Process:
        """A process cannot be sent over a connection."""
        raise TypeError(f"the process {self.name} is part of a message: send values")

    def check_alive(self) -> None:
        """Begin every port with this: a dead process reaches nothing."""
        if not self.alive:
            raise ProcessDeadError(self.name)

    def spawn(self, name: str, coroutine: Coroutine[Any, Any, Any]) -> Task:
        """Start a thread; the kernel owns the coroutine from now on."""
        if not self.alive:
            coroutine.close()
            raise ProcessDeadError(self.name)
        task = Task(self, name, coroutine, coroutine.__await__())
        self.kernel.ready.append((task, None))
        return task

    def now_ms(self) -> int:
        """See `impl.ports.clock`."""
        clock = self.clock
        return clock.now_ms() if clock.drift_ppm else self.kernel.now_ms + clock.ahead_ms

    def uptime_ms(self) -> int:
        """System#nanoTime in milliseconds: time on this machine that no jump of the clock disturbs."""
        return self.clock.uptime_ms()

    def sleep(self, ms: int) -> Awaitable[None]:
        """Wait for so many milliseconds of this machine; raises IllegalArgumentError for a negative time, as Java."""
        self.check_alive()
        if ms < 0:
            raise IllegalArgumentError("timeout value is negative")
        return suspend(self.clock.true_ms(ms))

    def after(self, ms: int, callback: Callable[[], object]) -> None:
        """Call back after so many milliseconds of this machine (less than 0: now), unless the process is dead then."""
        if not self.alive:
            raise ProcessDeadError(self.name)
        kernel = self.kernel
        kernel.at(kernel.now_ms + (self.clock.true_ms(ms) if ms > 0 else 0), self._fire, callback)

    def _fire(self, callback: Callable[[], object]) -> None:
        if self.alive:
            callback()

    def until(self, future: Future, timeout_ms: int) -> Awaitable[Any]:
        """The value of the future, or TIMED_OUT, which it has from then on."""
        if not self.alive:
            raise ProcessDeadError(self.name)
        kernel = self.kernel
        true_ms = self.clock.true_ms(timeout_ms) if timeout_ms > 0 else 0
        kernel.at(kernel.now_ms + true_ms, future.resolve, TIMED_OUT)
        return future

    def interleave(self, where: str) -> Awaitable[None]:
        """See `impl.ports.threads`: end of a segment, and the place at which thread_pause strikes."""
        if not self.alive:
            raise ProcessDeadError(self.name)
        kernel = self.kernel
        rate = kernel.profile.thread_pause
        if rate and (chosen := kernel.tape.pick(_PAUSES, where, rate)):
            return self._pause(where, PAUSES_MS[chosen - 1])
        if kernel.segments >= kernel.max_segments:
            kernel.end_segment(self)
        elif kernel.monitor is None:
            kernel.segments += 1
        elif self.left and len(kernel.records) == kernel.shown:
            kernel.segments += 1
            self.left -= 1
        else:
            kernel.end_segment(self)
        return AT_ONCE

    def _pause(self, where: str, pause_ms: int) -> Awaitable[None]:
        """Deschedule a thread, as the tape has just chosen."""
        kernel = self.kernel
        if kernel.tape.telling:
            kernel.tape.tell(kernel.now_ms, self.name, f"paused {pause_ms} ms")
        if kernel.trail is not None:
            kernel.trail.halt(kernel.now_ms, self.name, where, pause_ms, len(kernel.records))
        return suspend(pause_ms)

    def begin_wait(self, *, to: str = "", what: str = "") -> Wait | None:
        """Note in the trail, if one is kept, that the thread that runs waits from now on; see Wait."""
        kernel = self.kernel
        return None if kernel.trail is None else kernel.trail.wait(
            kernel.now_ms, self.name, len(kernel.records), to=to, what=what)

    def trace(self, event: Any) -> None:
        """Report what this segment has just done."""
        if not self.alive:
            raise ProcessDeadError(self.name)
        kernel = self.kernel
        kernel.records.append((kernel.now_ms, self.name, event))
