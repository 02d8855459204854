"""What the host reports of processes, machines, connections and clocks; the machine of a record says whose."""

from __future__ import annotations

from typing import NamedTuple


class ProcessStarted(NamedTuple):
    """A process of the machine runs; incarnation -- 1 for its first."""

    incarnation: int


class ProcessKilled(NamedTuple):
    """The process was killed (kill -9); power_loss -- its machine lost its power, perhaps with what was not forced."""

    incarnation: int
    power_loss: bool


class ProcessPaused(NamedTuple):
    """The process stands still for so long."""

    ms: int


SHUTDOWN_HOOK = "shutdown hook"
"""The thread in which a process shuts down in order."""


class ThreadDied(NamedTuple):
    """An exception has left a thread, a job or a handler; error -- the Java class."""

    thread: str
    error: str
    message: str | None


class ConnectionMade(NamedTuple):
    """The process that the machine has now is connected to a server; connection -- as the server calls it."""

    server: str
    connection: str


class ConnectionRefused(NamedTuple):
    """The machine could not connect to a server that lives."""

    server: str


class ConnectionSevered(NamedTuple):
    """A connection of the machine broke; seen_after_ms -- when the other end is told, None: never."""

    other: str
    seen_after_ms: int | None


class PartitionBegan(NamedTuple):
    """Nothing passes from the machine to another one."""

    target: str


class MessageLost(NamedTuple):
    """The network has lost a one-way message of the machine to another one."""

    other: str


class ClockJumped(NamedTuple):
    """The machine's clock was set by so much."""

    ms: int


class ClockDrifts(NamedTuple):
    """The machine's clock runs at another speed from now on; ppm -- parts in a million that it is too fast."""

    ppm: int


class ForceFailed(NamedTuple):
    """A force of a file has raised an error; lost -- what was to be forced counts as clean, and is not."""

    path: str
    lost: bool


class DiskFilled(NamedTuple):
    """All files together take this part of the disk from now on, because of those of others."""

    percent: int


class AnsweredAgain(NamedTuple):
    """The process answers a request that it has answered; connection -- as it calls it, opaque -- of the request."""

    connection: str
    opaque: int


class EventDropped(NamedTuple):
    """NettyEventExecutor#putNettyEvent: the queue was full, and an event of a connection is lost."""

    name: str


class NumberDrawn(NamedTuple):
    """The process has drawn a number of 0 … n-1 by chance (Random#nextInt), n > 1; where -- what for."""

    where: str
    n: int
    number: int


class WorldHealed(NamedTuple):
    """All faults have ended; what is promised within a deadline must come true from now on."""


HOST_EVENTS: tuple[type, ...] = (
    ProcessStarted, ProcessKilled, ProcessPaused, ThreadDied, ConnectionMade, ConnectionRefused, ConnectionSevered,
    PartitionBegan, MessageLost, ClockJumped, ClockDrifts, ForceFailed, DiskFilled, AnsweredAgain, EventDropped,
    NumberDrawn, WorldHealed,
)
"""All of them."""
