"""How fast the simulation host is: `python -m bench.kernel [--json FILE] [--events N]`, one JSON object a line.

Each line: what was measured, how many per second of CPU time (best of REPEATS), and for what runs whole segments their
number. The first line is a bare loop (one heap pop, one coroutine resumed, one random delay for each event) that knows
nothing of processes, monitors or faults: read the others as shares of it, on whatever machine this runs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Coroutine
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.process import suspend
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection

TASKS = 50
REPEATS = 5
FOREVER_MS = 10**12


def bare_loop(events: int) -> int:
    """The least that any such kernel must do."""
    tape = RandomTape(1)

    async def body() -> None:
        for _ in range(events // TASKS):
            await suspend(1 + tape.pick(16))

    heap: list[tuple[int, int, Coroutine[Any, Any, None]]] = [(0, i, body()) for i in range(TASKS)]
    sequence, count = TASKS, 0
    while heap:
        now_ms, _, coroutine = heappop(heap)
        try:
            delay_ms = coroutine.send(None)
        except StopIteration:
            continue
        count, sequence = count + 1, sequence + 1
        heappush(heap, (now_ms + delay_ms, sequence, coroutine))
    return count


def sleeping(events: int, profile: FaultProfile = CALM, *, monitored: bool = False) -> int:
    """Threads that sleep for a random time."""
    tape = RandomTape(1)
    with Kernel(tape, profile, (lambda process, records, due: None) if monitored else None) as kernel:  # noqa: ARG005

        async def body() -> None:
            for _ in range(events // TASKS):
                await suspend(1 + tape.pick(16))

        for i in range(TASKS):
            kernel.world.spawn(f"thread{i}", body())
        kernel.run(FOREVER_MS)
        return kernel.segments


def interleaving(events: int, profile: FaultProfile = CALM) -> int:
    """Segments with a small body: a table is read and written, and traced, between two interleave points."""
    with Kernel(RandomTape(1), profile) as kernel:
        table: dict[int, int] = {}

        async def body(me: int) -> None:
            for turn in range(events // TASKS):
                seen = table.get(turn & 7)
                await kernel.world.interleave("body: before the table is written")
                table[turn & 7] = me
                kernel.world.trace(("written", turn & 7, seen))

        for i in range(TASKS):
            kernel.world.spawn(f"thread{i}", body(i))
        kernel.run(FOREVER_MS)
        return kernel.segments


def calling(calls: int, profile: FaultProfile = CALM, *, replayed: bool = False) -> int:
    """Synchronous calls of 4 clients to a server whose handler has one interleave point; counts calls."""
    answered = 0

    async def serve(node: Node) -> None:
        async def handle(channel: Connection, request: Command) -> Command:  # noqa: ARG001  # a handler gets both
            await node.interleave("handle: before the answer")
            return Command(0, body=request.body)

        server = node.remoting_server(10911)
        server.register_default_processor(handle, node.pool("pool", 8))
        server.start()

    async def call(node: Node) -> None:
        nonlocal answered
        client = node.remoting_client("client")
        for i in range(calls // 4):
            await client.invoke_sync("server:10911", Command(34, body=i), 30_000)
            answered += 1

    with Simulation(ReplayTape([]) if replayed else RandomTape(1), profile) as simulation:
        simulation.add("server", serve)
        for i in range(4):
            simulation.add(f"client{i}", call)
        simulation.run(10**9)
    return answered


MEASURES: dict[str, Callable[[int], int]] = {
    "bare loop, events": bare_loop,
    "sleeping threads, segments": sleeping,
    "sleeping threads under a monitor, segments": lambda n: sleeping(n, monitored=True),
    "sleeping threads in any order, segments": lambda n: sleeping(n, FaultProfile(order=10)),
    "small bodies, segments": interleaving,
    "small bodies with pauses, segments": lambda n: interleaving(n, FaultProfile(thread_pause=20)),
    "calls": lambda n: calling(n // 4),
    "calls with pauses and delays": lambda n: calling(n // 4, FaultProfile(thread_pause=20, delay=20, order=10)),
}


def measure(name: str, events: int) -> dict[str, Any]:
    """One line: the best rate of REPEATS, as CPU time tells it."""
    best = 0.0
    for _ in range(REPEATS):
        start = time.process_time()
        count = MEASURES[name](events)
        best = max(best, count / (time.process_time() - start))
    return {"measure": name, "per_second": round(best)}


def main() -> None:
    """Measure everything and write the lines."""
    parser = argparse.ArgumentParser(description="Speed of the simulation host, by CPU time.")
    parser.add_argument("--json", default="-", metavar="FILE", help="where to write; - is standard output (default)")
    parser.add_argument("--events", type=int, default=40_000, help="size of each measurement (default 40000)")
    options = parser.parse_args()
    if options.events < TASKS * 4:
        parser.error(f"--events must be at least {TASKS * 4}")
    with contextlib.nullcontext(sys.stdout) if options.json == "-" else Path(options.json).open("w") as out:
        base = None
        for name in MEASURES:
            line = measure(name, options.events)
            base = base or line["per_second"]
            print(json.dumps({**line, "of_bare_loop": round(line["per_second"] / base, 2)}), file=out, flush=True)


if __name__ == "__main__":
    main()
