"""Steering: simulated worlds are led towards a state that somebody wants to see, and tell how near they came.

A run is its tape. Of the runs that lacked the same cells the nearest and shortest is remembered; the next run plays a
part of what one of them did until it was nearest, and goes on by chance. One run in FRESH begins anew, in another arm.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from impl.hosts.simulation.tape import RandomTape, Where
from invariants.refinement.monitor import Monitor, Recorder, Step, recorded_by
from invariants.verdict import BadInputError
from model.language.open.nearness import Near, Nearness, Wanted, wanted
from model.language.open.trails import VISITED, Going, Trail, written
from model.language.state import Concept
from stateful_tests.worlds.run import Plan, run

WORKLOADS, PROFILES = ("smallest", "clustering", "subscriptions", "smallest_ordered"), ("threads", "network", "storm")
FRESH, KEPT, STORED = 2, 8, 2_000
"""One run in so many begins anew; so many runs have children; so many trails a folder keeps."""


class SteeredTape(RandomTape):
    """The beginning of another tape, and chance from there on; the same for the same seed."""

    __slots__ = ("given",)

    def __init__(self, given: Sequence[int], seed: int) -> None:
        """Play these choices first."""
        super().__init__(seed)
        self.given = given

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:
        """See Tape."""
        if n < 2 or len(self.choices) >= len(self.given):  # noqa: PLR2004 - one possibility is no choice
            return super().pick(n, where, one_in)
        value = self.given[len(self.choices)]
        self.choices.append(value if 0 < value < n else 0)
        return self.choices[-1]


@dataclass(frozen=True, slots=True)
class Nearest:
    """Where a run came nearest.

    plan, seed, given -- which run: `given` is the beginning of its tape. near -- what was different there.
    confirmed -- nothing was, and the model alone comes there by the trail. choices -- those made up to there.
    trail -- the steps of the model up to there. others -- all steps of all models in the run.
    """

    plan: Plan
    seed: int
    given: tuple[int, ...]
    near: Near
    confirmed: bool
    choices: tuple[int, ...]
    trail: Trail
    others: tuple[Trail, ...]

    @property
    def reached(self) -> bool:
        """Whether the follower was in the state that is wanted."""
        return not self.near.distance


@dataclass
class _Watched(Recorder):
    """Notes the steps of all monitors, and where one that has the wanted variables is nearest."""

    goal: Wanted
    tape: SteeredTape
    steps: dict[Monitor, list[Step]] = field(default_factory=dict)
    best: tuple[Near, Monitor, int, int] | None = None  # …, number of steps, and of choices
    _nearness: dict[str, Nearness | None] = field(default_factory=dict)

    def stepped(self, monitor: Monitor, steps: Sequence[Step]) -> None:
        """See Recorder."""
        taken = self.steps.setdefault(monitor, [])
        taken += steps
        nearness = self._of(monitor)
        of_another = len(self.tape.choices) < len(self.tape.given)
        if nearness is None or of_another or len(monitor.states) > 1 or (self.best and not self.best[0].distance):
            return
        nearest = self.best[0].distance if self.best else 1 << 30
        near = nearness.to(monitor.states.base, monitor.reading.given.named, monitor.states.defaults, nearest)
        if near is not None:
            self.best = near, monitor, len(taken), len(self.tape.choices)

    def _of(self, monitor: Monitor) -> Nearness | None:
        concept = monitor.reading.concept
        if concept.name not in self._nearness:
            names = {cell[0] for cell, _ in self.goal.cells}
            self._nearness[concept.name] = Nearness(self.goal, concept) if names <= set(concept.variables) else None
        return self._nearness[concept.name]


def steered(goal: Wanted, subject: str, seed: int, runs: int) -> Iterator[Nearest]:
    """Live through runs, and give where each was nearest to a state; those in which nobody could be are left out.

    goal -- the state. subject -- of the worlds. seed -- the same one gives the same runs.
    """
    chance = random.Random(seed)  # noqa: S311 - anybody can replay it
    arms = [Plan(subject, workload, profile) for workload, profile in product(WORKLOADS, PROFILES)]
    kept: dict[tuple[str, ...], Nearest] = {}
    for number in range(seed, seed + runs):
        plan = arms[number % len(arms)]
        given: tuple[int, ...] = ()
        if kept and chance.randrange(FRESH):
            parents = sorted(kept.values(), key=_worth)[:KEPT]
            parent = parents[min(chance.randrange(len(parents)), chance.randrange(len(parents)))]
            plan, given = parent.plan, parent.choices[:chance.randrange(len(parent.choices) + 1)]
        found = lived(goal, plan, given, number)
        if found is not None:
            what = tuple(sorted(cell[0] for cell in found.near.differing))
            kept[what] = min(kept.get(what, found), found, key=_worth)
            yield found


def _worth(one: Nearest) -> tuple[bool, int, int]:
    """The nearer, and the sooner, the better; where the model does not follow, nothing leads on."""
    return one.reached and not one.confirmed, one.near.distance, len(one.choices)


def lived(goal: Wanted, plan: Plan, given: tuple[int, ...], seed: int) -> Nearest | None:
    """Live through a run, and say where it was nearest; None where nobody followed what is wanted."""
    tape = SteeredTape(given, seed)
    watched = _Watched(goal, tape)
    with recorded_by(watched):
        run(plan, tape)
    if watched.best is None:
        return None
    near, monitor, steps, choices = watched.best
    words = f"a run of {plan.subject}, {plan.workload}, {plan.profile}, seed {seed}"
    words += f" after {len(given)} choices of others" if given else ""
    others = [one for other, taken in watched.steps.items() if (one := _trail(other, taken, words)) is not None]
    trail = _trail(monitor, watched.steps[monitor][:steps], words)
    if trail is None:
        return None
    confirmed = not near.distance and _confirmed(goal, monitor.reading.concept, trail)
    return Nearest(plan, seed, given, near, confirmed, tuple(tape.choices[:choices]), trail, tuple(others))


def _confirmed(goal: Wanted, concept: Concept, trail: Trail) -> bool:
    """Whether the model goes the whole trail, and ends in the state."""
    going = Going(concept, trail)
    states = list(going.states())
    if len(states) <= len(trail.steps):
        return False
    elements = {name: list(range(count)) for name, count in trail.elements.items()}
    return Nearness(goal, concept).to(states[-1], elements, going.reading.defaults, 1) is not None


def _trail(monitor: Monitor, steps: Sequence[Step], words: str) -> Trail | None:
    try:
        return written(monitor.reading, steps, words)
    except ValueError:  # it has functions of all naturals
        return None


# A folder of states that are wanted -----------------------------------------------------------------------------------


def led(folder: Path, subject: str, runs: int, seed: int) -> Iterator[str]:
    """Look for each state that `rocketproof prove --cti` has put into a folder, and say what came of it.

    The states that were visited meanwhile are kept there, for the next proof. runs -- how many for each state.
    Raises BadInputError for a folder without such states.
    """
    goals = list(_goals(folder))
    if not goals:
        raise BadInputError(f"{folder}: no counterexample to induction; `rocketproof prove FILE.py --cti {folder}` "
                            "writes those that it meets")
    trails = _stored(folder)
    for goal in goals:
        best: Nearest | None = None
        count = 0
        for found in steered(goal, subject, seed, runs):
            count += 1
            trails.update(dict.fromkeys(one.line() for one in found.others))
            best = found if best is None else min(best, found, key=lambda one: (one.near.distance, not one.confirmed))
            if best.confirmed:
                break
        yield from _said(goal, best, count)
    kept = list(trails)[-STORED:]
    (folder / VISITED).write_text("".join(f"{line}\n" for line in kept), "utf-8")
    yield f"{len(kept)} ways are in {folder / VISITED}: `rocketproof prove FILE.py --cti {folder}` goes them first"


def _goals(folder: Path) -> Iterator[Wanted]:
    for file in sorted(folder.glob("*.json")):
        try:
            yield wanted(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BadInputError(f"{file}: {error}; remove it") from error


def _stored(folder: Path) -> dict[str, None]:
    file = folder / VISITED
    return dict.fromkeys(file.read_text("utf-8").splitlines()) if file.exists() else {}


def _said(goal: Wanted, best: Nearest | None, runs: int) -> Iterator[str]:
    before = f"a state after which {goal.after} breaks {goal.property}"
    if best is None:
        yield f"{before}: nobody can be there, for no model that follows a world has what it speaks of"
    elif best.confirmed:
        yield f"{before}: reached in {len(best.trail.steps)} steps, {_runs(runs)}: {best.trail.of}"
        yield from (f"    {name}({', '.join(map(str, arguments))})" for name, arguments in best.trail.steps)
    elif best.reached:
        yield (f"{before}: a follower was there after {_runs(runs)}, but the model does not go its way again, for what "
               f"is rigid in the model has changed meanwhile: {best.trail.of}")
    else:
        yield f"{before}: not reached in {_runs(runs)}; nearest, {best.near.distance} cells away: {best.trail.of}"
        yield from (f"    {_cell(one)}" for one in best.near.differing)


def _runs(count: int) -> str:
    return f"{count} run" + "s" * (count != 1)


def _cell(differing: tuple[Any, ...]) -> str:
    name, *keys, value = differing
    place = ", ".join(map(str, keys))
    return f"{name}[{place}] is not {value}" if place else f"{name} is not {value}"
