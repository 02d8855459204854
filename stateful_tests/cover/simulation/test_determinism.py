"""The same tape gives the same run, in every process; and what chaos and healing do to a whole world."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import pytest

from impl.hosts.simulation.digest import PART, digest, digests, plain
from impl.hosts.simulation.faults import STRIKES, chaos
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from stateful_tests.simulation_toys import STORMY, boot_registry, member, play

ROOT = Path(__file__).parents[3]
SEEDS = 8
RATES = (
    "thread_pause", "order", "delay", "one_way_loss", "one_way_duplicate", "write_stall", "connect_refused", "chaos",
)
DIGESTS = f"""
from impl.hosts.simulation.tape import RandomTape
from stateful_tests.simulation_toys import STORMY, play
print(*(play(RandomTape(seed), STORMY).digest for seed in range({SEEDS})))
"""
CARELESS = """
from impl.hosts.simulation.digest import digest
print(digest([(0, "registry", tuple({"broker-a", "broker-b", "broker-c", "broker-d", "broker-e"}))]))
"""


def under_hash_seed(program: str, seed: int) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", program]
    return subprocess.check_output(  # noqa: S603  # the interpreter that runs this test, and a program written above
        command, cwd=ROOT, env=environment, text=True, timeout=60,
    ).split()


def test_a_seed_gives_the_same_digest_under_every_hash_seed_and_here() -> None:
    here = [play(RandomTape(seed), STORMY).digest for seed in range(SEEDS)]
    assert len(set(here)) == SEEDS
    for hash_seed in range(3):
        assert under_hash_seed(DIGESTS, hash_seed) == here


def test_a_run_that_depends_on_the_order_of_a_set_is_seen() -> None:
    assert len({*under_hash_seed(CARELESS, 0), *under_hash_seed(CARELESS, 1), *under_hash_seed(CARELESS, 2)}) > 1


@pytest.mark.parametrize("seed", range(6))
def test_a_recorded_run_replays_to_the_same_digest_and_tape(seed: int) -> None:
    recorded = play(RandomTape(seed), STORMY)
    assert recorded.segments > 100
    assert play(ReplayTape(recorded.choices), STORMY) == recorded


def test_a_digest_tells_runs_apart() -> None:
    calm = play(ReplayTape([]), STORMY)
    assert calm.signature is None
    assert calm == play(RandomTape(7), replace(STORMY, **dict.fromkeys(RATES, 10**9)))
    assert calm.digest != play(ReplayTape([2]), STORMY).digest


@pytest.mark.parametrize("changed", [0, PART - 1, PART, 2 * PART, 2 * PART + 1])
def test_what_changes_a_line_changes_the_digests_from_its_part_on_and_those_before_not(changed: int) -> None:
    lines = [*range(2 * PART + 2)]
    other = [*lines[:changed], -1, *lines[changed + 1:]]
    found, differ = [*digests(lines, ("end",))], [*digests(other, ("end",))]
    assert len({*found}) == 3
    assert [a == b for a, b in zip(found, differ, strict=True)] == [place < changed // PART for place in range(3)]


@dataclass(frozen=True)
class Heartbeat:
    """An event as a dataclass."""

    member: str
    topics: frozenset[str]


class Lock(NamedTuple):
    """An event as a named tuple."""

    queue: int


class Code(Enum):
    """A constant."""

    HEART_BEAT = 34


def test_events_of_every_stable_kind_have_a_digest() -> None:
    heartbeat = Heartbeat("c", frozenset(f"t{i}" for i in range(8)))
    event = (1, "b", heartbeat, Lock(3), Code.HEART_BEAT, None, True, b"x", [1], {"a": 1})
    assert plain(event) == (
        1, "b", ("Heartbeat", "c", ("set", *(f"t{i}" for i in range(8)))), ("Lock", 3), "Code.HEART_BEAT", None, True,
        b"x", (1,), ("map", ("a", 1)),
    )
    assert digest([event]) == digest([plain(event)]) != digest([event, event])
    assert digest([("ab", "c")]) != digest([("a", "bc")])
    once, again = (str(b"broker", "ascii") for _ in range(2))
    assert once is not again
    assert digest([(once, once)]) == digest([(once, again)])  # marshal would write the first with a back reference


@pytest.mark.parametrize("value", [1.5, object(), lambda: None])
def test_values_without_a_stable_text_have_no_digest(value: object) -> None:
    with pytest.raises(TypeError, match="has no stable digest"):
        digest([(1, value)])


def struck(kind: str, *choices: int) -> tuple[Simulation, ReplayTape]:
    """A world in which chaos strikes once, with this kind, at 5 s."""
    tape = ReplayTape([0, 0, 0, 0, 1, *choices])
    simulation = Simulation(tape, replace(CALM, chaos=1, **{kind: 1}))
    simulation.add("registry", boot_registry)
    for i in range(2):
        simulation.add(f"member{i}", member)
    simulation.kernel.world.spawn("chaos", chaos(simulation))
    return simulation, tape


@pytest.mark.parametrize(
    ("kind", "choices", "sentence"),
    [
        ("process_pause", (2, 1), "5000 ms, member1: stands still for 1000 ms"),
        ("process_kill", (0, 2), "5000 ms, registry: killed, started again after 10000 ms"),
        ("power_loss", (1, 1), "5000 ms, member0: lost power, started again after 1000 ms"),
        ("connection_break", (1, 4), "5000 ms, member0: connection to registry broken, the other end is never told"),
        (
            "connection_break", (0, 1),
            "5000 ms, registry: connection to member0 broken, the other end is told after 1000 ms",
        ),
        ("partition", (0, 1, 2, 0), "5000 ms, registry: nothing passes to member1 for 10000 ms"),
        ("partition", (1, 0, 0, 1), "5000 ms, member0: nothing passes to registry or back for 1000 ms"),
        ("clock_jump", (1, 4), "5000 ms, member0: clock set by +3600000 ms"),
        ("clock_drift", (0, 3), "5000 ms, registry: clock drifts by -10000 ppm"),
    ],
)
def test_each_kind_of_chaos_strikes_as_its_sentence_says(kind: str, choices: tuple[int, ...], sentence: str) -> None:
    simulation, tape = struck(kind, *choices)
    with simulation:
        simulation.run(5_000)
        who = sentence.split()[2].rstrip(":")
        node, network = simulation.nodes[who], simulation.network
        assert {
            "process_pause": node.paused_until_ms > 5_000,
            "process_kill": not node.alive,
            "power_loss": not node.alive,
            "connection_break": any(end.severed for end in network.open_ends),
            "partition": bool(network.blocked),
            "clock_jump": simulation.clocks[who].now_ms() - simulation.clocks["member1"].now_ms() == 3_600_000,
            "clock_drift": simulation.clocks[who].drift_ppm == -10_000,
        }[kind]
        assert tape.sentences == [sentence]
        simulation.run(200_000)
        assert all(each.alive for each in simulation.nodes.values())
        assert not network.blocked


def test_chaos_without_a_victim_says_so() -> None:
    tape = ReplayTape([1])
    with Simulation(tape, FaultProfile(chaos=1, connection_break=1)) as simulation:
        simulation.kernel.world.spawn("chaos", chaos(simulation))
        simulation.run(1_000)
        assert tape.sentences == ["1000 ms, world: connection_break finds nothing to strike"]


@pytest.mark.parametrize("kind", STRIKES)
def test_healing_ends_every_fault_and_the_world_recovers(kind: str) -> None:
    simulation, _ = struck(kind, 0, 4, 4, 1)
    with simulation:
        simulation.run(6_000)
        simulation.heal()
        kernel = simulation.kernel
        assert kernel.profile == CALM
        assert not simulation.network.blocked
        assert all(node.alive for node in simulation.nodes.values())
        assert all(node.paused_until_ms <= 6_000 for node in simulation.nodes.values())
        assert all(clock.drift_ppm == 0 for clock in simulation.clocks.values())
        simulation.run(250_000)
        last = {who: event for _, who, event in kernel.records if event[:1] in (("saw",), ("failed",))}
        assert {who: event[0] for who, event in last.items()} == {"member0": "saw", "member1": "saw"}
        chosen = len(kernel.tape.choices)
        simulation.run(300_000)
        assert len(kernel.tape.choices) == chosen, "a healed world takes no choices"
