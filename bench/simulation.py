"""How fast worlds live, and how fast the same worlds live when Hypothesis makes each choice.

    python -m bench.simulation --json -
    python -m bench.simulation --profile storm --rounds 10
    python -m bench.simulation --workload stored --profile disks

The worlds are those of the workloads `clustering` (two name servers, two brokers, three consumers of one group) and
`sending` (producers beside consumers) unless others are named, for RUN_MS of their time. Under the profile `calm` it is
left alone; under any other, things fail and people start, stop and change what they have. (Repairs take away points at
which threads interleave, so that `repaired` has fewer, longer segments.)
It is driven in turn, round by round, by

    random tape              a seed, as campaigns do
    random tape, followed    the same with all followers and rules beside it
    tape from Hypothesis     @given one text of bytes a run, played as a tape
    draws from Hypothesis    @given data, and one draw(integers(0, n-1)) for each choice: how it is usually done

One JSON object a line: subject, workload, profile, driver, runs, segments (what a task does between two awaits),
choices, messages (what applications send), cpu_seconds, segments_per_second and messages_per_second (of CPU time, all
rounds), best_round, of_draws (times as fast as the last driver).
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from impl.hosts.simulation.tape import RandomTape, ReplayTape, Tape, Where
from invariants.histories.operations import SEND
from invariants.refinement.follower import ROUND, Following
from invariants.verdict import BadInputError, known
from stateful_tests.worlds.healing import watching
from stateful_tests.worlds.profiles import PROFILES
from stateful_tests.worlds.run import Judges
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workload import traffic
from stateful_tests.worlds.workloads import WORKLOADS
from stateful_tests.worlds.world import World

RUN_MS = 300_000
TAPE_BYTES = 4_000  # Hypothesis gives a run of at most 8 KiB


@dataclass
class Measured:
    """What one driver did; rounds -- segments for each second of CPU time, round by round."""

    workload: str
    runs: int = 0
    segments: int = 0
    choices: int = 0
    messages: int = 0
    cpu_s: float = 0.0
    rounds: list[float] = field(default_factory=list)

    def take(self, drive: Callable[[Measured, str, int], None], profile: str, first: int) -> None:
        """Do a round."""
        gc.collect()
        before, began = self.segments, time.process_time()
        drive(self, profile, first)
        cpu_s = time.process_time() - began
        self.cpu_s += cpu_s
        self.rounds.append((self.segments - before) / cpu_s)

    def live(self, tape: Tape, profile: str, *, followed: bool = False) -> None:
        """Let a world live, and count what it lived, also if the tape cuts it short."""
        judges, workload = Judges(), WORKLOADS[self.workload]
        with World(tape, PROFILES[profile], judges if followed else None, show_every=ROUND) as world:
            try:
                if followed:
                    judges.following = Following([watching(world, workload.promises), *workload.followers(world)])
                workload.build(world)
                if profile != "calm":
                    world.strike()
                    world.simulation.kernel.world.spawn("traffic", traffic(world, workload.deeds))
                world.run(RUN_MS)
            finally:
                self.runs += 1
                self.segments += world.simulation.kernel.segments
                self.choices += len(tape.choices)
                self.messages += sum(one.operation.kind == SEND for one in world.notes.history())


class DrawnTape:
    """A Tape of which each choice is a draw."""

    telling = False

    def __init__(self, data: st.DataObject) -> None:
        """Draw from the data of a run."""
        self.choices: list[int] = []
        self._data = data

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:  # noqa: ARG002  # Hypothesis decides, not chance
        """See Tape."""
        if n < 2:  # noqa: PLR2004  # one possibility is no choice
            return 0
        self.choices.append(self._data.draw(st.integers(0, n - 1)))
        return self.choices[-1]

    def tell(self, time_ms: int, who: str, meaning: str, since: int | None = None) -> None:
        """See Tape: nobody listens."""


RUNS = 4  # of a driver in a round
_ONCE = settings(
    max_examples=RUNS, phases=[Phase.generate], database=None, derandomize=True, deadline=None,
    suppress_health_check=list(HealthCheck),
)


def by_random_tapes(measured: Measured, profile: str, first: int) -> None:
    """Seeds from `first` on."""
    for seed in range(first, first + RUNS):
        measured.live(RandomTape(seed), profile)


def by_random_tapes_followed(measured: Measured, profile: str, first: int) -> None:
    """The same seeds, with followers."""
    for seed in range(first, first + RUNS):
        measured.live(RandomTape(seed), profile, followed=True)


def by_tapes_from_hypothesis(measured: Measured, profile: str, _first: int) -> None:
    """One draw for a run."""

    @_ONCE
    @given(st.binary(min_size=TAPE_BYTES, max_size=TAPE_BYTES))
    def live(choices: bytes) -> None:
        measured.live(ReplayTape(choices), profile)

    live()


def by_draws_from_hypothesis(measured: Measured, profile: str, _first: int) -> None:
    """One draw for a choice."""

    @_ONCE
    @given(st.data())
    def live(data: st.DataObject) -> None:
        measured.live(DrawnTape(data), profile)

    live()


DRIVERS: dict[str, Callable[[Measured, str, int], None]] = {
    "random tape": by_random_tapes,
    "random tape, followed": by_random_tapes_followed,
    "tape from Hypothesis": by_tapes_from_hypothesis,
    "draws from Hypothesis": by_draws_from_hypothesis,
}
USUAL = "draws from Hypothesis"


def compare(subject: str, workload: str, profile: str, rounds: int) -> list[dict[str, Any]]:
    """A line for each driver, all under one fault profile; each round is done by all of them, one after another."""
    all_measured = {name: Measured(workload) for name in DRIVERS}
    with subject_named(subject).running():
        Measured(workload).live(RandomTape(0), profile, followed=True)  # caches are filled for all
        for turn in range(rounds):
            for name, drive in DRIVERS.items():
                all_measured[name].take(drive, profile, turn * RUNS)
    usual = all_measured[USUAL].segments / all_measured[USUAL].cpu_s
    return [
        {
            "subject": subject, "workload": workload, "profile": profile, "driver": name,
            "runs": one.runs, "segments": one.segments, "choices": one.choices, "messages": one.messages,
            "cpu_seconds": round(one.cpu_s, 3), "segments_per_second": round(one.segments / one.cpu_s),
            "messages_per_second": round(one.messages / one.cpu_s, 1),
            "best_round": round(max(one.rounds)), "of_draws": round(one.segments / one.cpu_s / usual, 1),
        }
        for name, one in all_measured.items()
    ]


def main(
    profile: Annotated[list[str], typer.Option(help=f"Fault profile, of {', '.join(PROFILES)}; may be repeated.")]
    = ["calm", "storm"],  # noqa: B006  # typer copies it
    subject: Annotated[str, typer.Option(help="What is simulated.")] = "shipped",
    workload: Annotated[list[str], typer.Option(help=f"Of {', '.join(WORKLOADS)}; may be repeated.")]
    = ["clustering", "sending"],  # noqa: B006  # typer copies it
    rounds: Annotated[int, typer.Option(min=1, help=f"Rounds of {RUNS} runs of each driver.")] = 5,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the lines to a file; - for stdout.")] = None,
) -> None:
    """Segments for each second of CPU time, one JSON object a line for each driver."""
    try:
        for name in workload:
            known("workload", name, WORKLOADS)
        lines = [json.dumps(line) for name in workload for one in profile
                 for line in compare(subject, name, one, rounds)]
    except BadInputError as error:
        raise typer.BadParameter(str(error)) from None
    print("\n".join(lines))
    if json_file not in {None, "-"}:
        Path(str(json_file)).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
