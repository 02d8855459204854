"""Chaos: faults that strike whole processes, connections and machines, chosen by the tape from time to time.

Once in each PERIOD_MS, at the rate `chaos` of the fault profile, one pick chooses among the kinds of fault whose weight
is not 0, each standing in the list as often as its weight says (choice 0: nothing); more picks choose whom, how long:

* `process_pause`: one process stands still for one of PAUSES_MS;
* `process_kill`: kill -9 of one process, which is started again after one of DOWN_MS;
* `power_loss`: the same, but nobody closes its connections, and files may be older than they were (`disk.py`);
* `disk_fills`: files of others fill the disk of a machine, so that it is as full as one of DISK_PERCENT, for one of
  DISK_FULL_MS; 100 leaves no page. They go in two steps: for as long again DISK_LEFT_PERCENT are taken;
* `connection_break`: one connection breaks, seen by its other end after one of HALF_OPEN_MS;
* `partition`: nothing passes from one machine to another for one of PARTITION_MS; one pick: also the other way;
* `clock_jump`: one clock is set by one of JUMPS_MS;
* `clock_drift`: one clock runs at one of DRIFTS_PPM from now on.

`Simulation.heal` ends all of it: faults of all kinds stop, partitions end, disks have space, dead processes are
started, paused ones go on, clocks run true (they keep what they jumped). Half-open connections stay: RocketMQ has to
notice them itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from impl.events.host import ClockDrifts
from impl.hosts.simulation.host import Simulation

PERIOD_MS = 1_000
PAUSES_MS = (100, 1_000, 5_000, 20_000, 40_000, 130_000)
DOWN_MS = (10, 1_000, 10_000, 60_000, 130_000)
HALF_OPEN_MS = (0, 1_000, 10_000, 60_000, None)
DISK_PERCENT, DISK_LEFT_PERCENT, DISK_FULL_MS = (80, 88, 95, 100), 88, (1_000, 15_000, 40_000)
PARTITION_MS = (1_000, 3_500, 10_000, 35_000, 130_000)
JUMPS_MS = (-1_000, 1_000, -60_000, 60_000, 3_600_000)
DRIFTS_PPM = (100, -100, 10_000, -10_000)

_T = TypeVar("_T")
_Strike = Callable[[Simulation], "tuple[str, str] | None"]


async def chaos(simulation: Simulation) -> None:
    """Strike until the world has healed; run it as a thread of `kernel.world`."""
    kernel = simulation.kernel
    kinds = [kind for kind in STRIKES for _ in range(getattr(kernel.profile, kind))]
    while kernel.profile.chaos and kinds:
        await kernel.world.sleep(PERIOD_MS)
        before = len(kernel.tape.choices)
        chosen = kernel.tape.pick(len(kinds) + 1, "", kernel.profile.chaos) if kernel.profile.chaos else 0
        if chosen:
            kind = kinds[chosen - 1]
            struck = STRIKES[kind](simulation) or ("world", f"{kind} finds nothing to strike")
            if kernel.tape.telling:
                kernel.tape.tell(kernel.now_ms, *struck, since=before)


def _one_of(simulation: Simulation, items: Sequence[_T], what: str) -> _T:
    return items[simulation.kernel.tape.pick(len(items), what)]


def _victim(simulation: Simulation) -> str | None:
    alive = [name for name in simulation.boots if simulation.nodes[name].alive]
    return _one_of(simulation, alive, "which process") if alive else None


def _pause(simulation: Simulation) -> tuple[str, str] | None:
    name = _victim(simulation)
    if name is None:
        return None
    ms = _one_of(simulation, PAUSES_MS, "how long")
    simulation.kernel.pause(simulation.nodes[name], ms)
    return name, f"stands still for {ms} ms"


def _kill(simulation: Simulation, *, power_loss: bool = False) -> tuple[str, str] | None:
    name = _victim(simulation)
    if name is None:
        return None
    ms = _one_of(simulation, DOWN_MS, "how long")
    simulation.kill(name, power_loss=power_loss)
    simulation.restart_after(name, ms)
    return name, f"{'lost power' if power_loss else 'killed'}, started again after {ms} ms"


def _lose_power(simulation: Simulation) -> tuple[str, str] | None:
    return _kill(simulation, power_loss=True)


def _fill(simulation: Simulation) -> tuple[str, str] | None:
    written = [name for name in simulation.boots if simulation.disks[name].used_bytes()]
    if not written:
        return None
    name = _one_of(simulation, written, "whose disk")
    percent = _one_of(simulation, DISK_PERCENT, "how full")
    ms = _one_of(simulation, DISK_FULL_MS, "how long")
    simulation.fill_disk(name, percent)
    if percent > DISK_LEFT_PERCENT:
        simulation.kernel.at(simulation.kernel.now_ms + ms, lambda _: _free(simulation, name, DISK_LEFT_PERCENT))
    simulation.kernel.at(simulation.kernel.now_ms + 2 * ms, lambda _: _free(simulation, name, 0))
    return name, f"files of others fill the disk to {percent} % for {ms} ms"


def _free(simulation: Simulation, name: str, percent: int) -> None:
    """Files of others go, unless faults have ended, and with them all of those files."""
    if simulation.kernel.profile.disk_fills:
        simulation.fill_disk(name, percent)


def _break(simulation: Simulation) -> tuple[str, str] | None:
    ends = [end for end in simulation.network.open_ends if end.active and not end.severed]
    if not ends:
        return None
    end = _one_of(simulation, ends[:256], "which connection")
    ms = _one_of(simulation, HALF_OPEN_MS, "when the other end sees it")
    simulation.network.sever(end, ms)
    seen = "never told" if ms is None else f"told after {ms} ms"
    return end.process.name, f"connection to {end.peer.process.name} broken, the other end is {seen}"


def _partition(simulation: Simulation) -> tuple[str, str] | None:
    source = _victim(simulation)
    others = [name for name in simulation.boots if name != source]
    if source is None or not others:
        return None
    target = _one_of(simulation, others, "from whom")
    ms = _one_of(simulation, PARTITION_MS, "how long")
    network, kernel = simulation.network, simulation.kernel
    both = simulation.kernel.tape.pick(2, "also the other way")
    for one, other in ((source, target), (target, source))[: 1 + both]:
        network.partition(one, other)
        kernel.at(kernel.now_ms + ms, network.heal_one, (one, other))
    return source, f"nothing passes to {target}{' or back' if both else ''} for {ms} ms"


def _jump(simulation: Simulation) -> tuple[str, str] | None:
    name = _one_of(simulation, list(simulation.boots), "whose clock")
    ms = _one_of(simulation, JUMPS_MS, "how far")
    simulation.set_clock(name, ms)
    return name, f"clock set by {ms:+} ms"


def _drift(simulation: Simulation) -> tuple[str, str] | None:
    name = _one_of(simulation, list(simulation.boots), "whose clock")
    ppm = _one_of(simulation, DRIFTS_PPM, "how fast")
    simulation.clocks[name].set_drift(ppm)
    simulation.kernel.record(name, ClockDrifts(ppm))
    return name, f"clock drifts by {ppm:+} ppm"


STRIKES: dict[str, _Strike] = {
    "process_pause": _pause,
    "process_kill": _kill,
    "power_loss": _lose_power,
    "disk_fills": _fill,
    "connection_break": _break,
    "partition": _partition,
    "clock_jump": _jump,
    "clock_drift": _drift,
}
