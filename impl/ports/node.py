"""Node: everything that the servers, clients and services of one process ask of the host that runs them.

A kill -9 runs no `finally`. Under simulation it does, so code written against these ports must have no effect in
`finally` or `async with`: a port of a dead process raises, and nothing may catch that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from impl.ports.byte_stream import SelectableStream
from impl.ports.clock import Clock
from impl.ports.disk import Disk
from impl.ports.pools import Pool, Scheduler
from impl.ports.remoting import ChannelEventListener, RemotingClient, RemotingServer
from impl.ports.threads import Lock, Signal, Thread, Threads


class Node(Clock, Threads, Protocol):
    """One process: what its servers, clients and services may ask for.

    Times in milliseconds go by the clock of its machine, which may drift.
    """

    @property
    def name(self) -> str:
        """Of the machine; part of its addresses ("broker-a:10911")."""
        ...

    @property
    def disk(self) -> Disk:
        """The files of its machine: they survive the process."""
        ...

    def sleep(self, ms: int) -> Awaitable[None]:
        """Thread#sleep."""
        ...

    def force_delay(self) -> Awaitable[None]:
        """Await it at once before File.force: it returns when the disk of the machine has time for that."""
        ...

    def lock(self, lock: Lock) -> Awaitable[None]:
        """Lock#lock, synchronized: wait for as long as it takes."""
        ...

    def wait(self, signal: Signal, timeout_ms: int) -> Awaitable[bool]:
        """ServiceThread#waitForRunning: return at once if it was notified, else wait; whether it was. Clears it."""
        ...

    def wake(self, signal: Signal) -> None:
        """ServiceThread#wakeup."""
        ...

    def start_thread(self, name: str, run: Coroutine[Any, Any, None]) -> Thread:
        """Start a thread; an exception that leaves `run` ends it."""
        ...

    def current_thread(self) -> str:
        """Thread#currentThread: the name of the thread that runs; threads of a pool, and of one name, count as one."""
        ...

    def pool(self, name: str, threads: int, queue_bound: int | None = None) -> Pool:
        """Make a pool; None: its queue has no bound."""
        ...

    def scheduler(self, name: str, threads: int = 1) -> Scheduler:
        """Make a scheduler."""
        ...

    def random(self, n: int, where: str) -> int:
        """Random#nextInt(n), 0 … n-1 with n at most 256; where -- the Java method that asks, for people."""
        ...

    def trace(self, event: Any) -> None:
        """Report what has just been done, in the segment that did it; event -- one of `impl.events`."""
        ...

    def open_stream(self, address: str) -> Awaitable[SelectableStream | None]:
        """RemotingUtil#connect: wait for a connection to "host:port"; None: nobody listens there, or nobody answers."""
        ...

    def accept_streams(self, port: int, accept: Callable[[SelectableStream], None]) -> None:
        """ServerSocketChannel: listen at "name:port" for connections that carry bytes; each is given to `accept`."""
        ...

    def refuse_streams(self, port: int) -> None:
        """Listen there no more; connections stay."""
        ...

    def remoting_client(
        self, name: str, callback_threads: int = 4, listener: ChannelEventListener | None = None,
    ) -> RemotingClient:
        """Make a client; name -- of its threads. callback_threads -- clientCallbackExecutorThreads."""
        ...

    def remoting_server(self, port: int, listener: ChannelEventListener | None = None) -> RemotingServer:
        """Make a server that will listen at "name:port" once it is started."""
        ...
