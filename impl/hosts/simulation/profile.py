"""Fault profiles: how often which fault strikes, as data.

A rate is a small integer: 0 never, 1 whenever it can, n once in n. What a fault does and how the tape chooses it is
told by the module that injects it. A world has two phases: under its profile anything may fail; then it *heals*, that
is its profile becomes CALM, and what is promised within a deadline must come true.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from impl.hosts.simulation.tape import Tape


@dataclass(frozen=True, slots=True)
class FaultProfile:
    """Rates of the faults.

    thread_pause -- process.py, at each interleave. order -- kernel.py, whenever several tasks are ready.
    delay, one_way_loss, one_way_duplicate, write_stall -- network.py, at each message; connect_refused -- at each
    connection. slow_force, force_fails -- disk.py, at each force. disk_bytes -- disk.py, no rate: the space of the disk
    of each machine; 0: without limit. chaos -- faults.py, once in each of its periods; what stands below it are not
    rates but weights of its faults against each other, 0: not this one.
    """

    thread_pause: int = 0
    order: int = 0
    delay: int = 0
    one_way_loss: int = 0
    one_way_duplicate: int = 0
    write_stall: int = 0
    connect_refused: int = 0
    slow_force: int = 0
    force_fails: int = 0
    disk_bytes: int = 0
    chaos: int = 0
    process_pause: int = 0
    process_kill: int = 0
    power_loss: int = 0
    disk_fills: int = 0
    connection_break: int = 0
    partition: int = 0
    clock_jump: int = 0
    clock_drift: int = 0

    def swarm(self, tape: Tape) -> FaultProfile:
        """This profile with some of its faults off, as the tape says (choice 0: off)."""
        rates = {field.name: getattr(self, field.name) for field in fields(self)}
        on = {name: rate if rate and tape.pick(2, f"fault {name}") else 0 for name, rate in rates.items()}
        return replace(self, **on)


CALM = FaultProfile()
