"""Steering: simulated worlds are led towards states that somebody wants to see, and tell how near they came.

A run tells for each wanted state where a follower was nearest to it. What leads there is the choice of worlds: those
whose runs come nearest get half of all runs, the others take turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice, product, zip_longest
from pathlib import Path
from typing import Any, Generic, TypeVar

from invariants.refinement.monitor import Monitor, Recorder, Step, recorded_by
from invariants.verdict import BadInputError
from model.language.open.nearness import Near, Nearness, Wanted, wanted
from model.language.open.trails import VISITED, Going, Trail, trail, written
from model.language.state import Concept
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, run

USUAL_WORKLOADS = ("smallest", "clustering", "subscriptions", "smallest_ordered")
USUAL_PROFILES = ("threads", "network", "storm")
"""The worlds of one process."""
STORED = 2_000
"""So many trails a folder keeps."""
SHARE = 8
"""One arm in so many is near, and as many others have their turn."""
Arm = TypeVar("Arm")


# Where runs are nearest -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Nearest:
    """Where a run came nearest to a wanted state.

    differing -- the cells that were different there, in words. confirmed -- none was, and the model alone comes there
    by the trail. trail -- the steps of the model up to there.
    """

    differing: tuple[str, ...]
    confirmed: bool
    trail: Trail

    @property
    def distance(self) -> int:
        """How many cells differed."""
        return len(self.differing)

    @property
    def order(self) -> tuple[int, bool]:
        """Sorts them, the nearest first."""
        return self.distance, not self.confirmed

    def to_json(self) -> dict[str, Any]:
        """Plain values; see `of`."""
        return {"differing": self.differing, "confirmed": self.confirmed, "trail": self.trail.line()}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Nearest:
        """What `to_json` gave."""
        return cls(tuple(stored["differing"]), stored["confirmed"], trail(stored["trail"]))


@dataclass
class _Watched(Recorder):
    """Notes the steps of all monitors, and where one that has the wanted variables is nearest, by number of the goal.

    best -- how near, which monitor, after how many steps.
    """

    goals: Sequence[Wanted]
    steps: dict[Monitor, list[Step]] = field(default_factory=dict)
    best: dict[int, tuple[Near, Monitor, int]] = field(default_factory=dict)
    _nearness: dict[str, dict[int, Nearness]] = field(default_factory=dict)

    def stepped(self, monitor: Monitor, steps: Sequence[Step]) -> None:
        """See Recorder."""
        taken = self.steps.setdefault(monitor, [])
        taken += steps
        if len(monitor.states) > 1:
            return
        for number, nearness in self._of(monitor.reading.concept).items():
            nearest = self.best[number][0].distance if number in self.best else 1 << 30
            if nearest:
                near = nearness.to(monitor.states.base, monitor.reading.given.named, monitor.states.defaults, nearest)
                if near is not None:
                    self.best[number] = near, monitor, len(taken)

    def _of(self, concept: Concept) -> dict[int, Nearness]:
        if concept.name not in self._nearness:
            self._nearness[concept.name] = {
                number: Nearness(goal, concept) for number, goal in enumerate(self.goals)
                if {cell[0] for cell, _ in goal.cells} <= set(concept.variables)}
        return self._nearness[concept.name]


@dataclass(frozen=True, slots=True)
class Led:
    """What came of a run that was watched.

    nearest -- by the number of a goal; none where nobody followed what is wanted. trails -- the steps of all models.
    """

    record: RunRecord
    nearest: Mapping[int, Nearest] = field(default_factory=dict)
    trails: tuple[Trail, ...] = ()


def watched(goals: Sequence[Wanted], plan: Plan, seed: int) -> Led:
    """Live through a run, and say where it was nearest to each of these states."""
    watching = _Watched(goals)
    with recorded_by(watching):
        record = run(plan, STRATEGIES[plan.strategy](seed))
    words = f"a run of {plan.subject}, {plan.workload}, {plan.profile}, {plan.strategy}, seed {seed}"
    nearest = {}
    for number, (near, monitor, steps) in watching.best.items():
        way = _trail(monitor, watching.steps[monitor][:steps], words)
        if way is not None:
            confirmed = not near.distance and _confirmed(goals[number], monitor.reading.concept, way)
            nearest[number] = Nearest(tuple(map(_cell, near.differing)), confirmed, way)
    trails = (_trail(monitor, taken, words) for monitor, taken in watching.steps.items())
    return Led(record, nearest, tuple(one for one in trails if one is not None))


def _confirmed(goal: Wanted, concept: Concept, way: Trail) -> bool:
    """Whether the model goes the whole trail, and ends in the state."""
    going = Going(concept, way)
    states = list(going.states())
    if len(states) <= len(way.steps):
        return False
    elements = {name: list(range(many)) for name, many in way.elements.items()}
    return Nearness(goal, concept).to(states[-1], elements, going.reading.defaults, 1) is not None


def _trail(monitor: Monitor, steps: Sequence[Step], words: str) -> Trail | None:
    try:
        return written(monitor.reading, steps, words)
    except ValueError:  # it has functions of all naturals
        return None


# Which worlds come next -----------------------------------------------------------------------------------------------


class Arms(Generic[Arm]):
    """Says which worlds to live through, by how near the runs of each came to what is still wanted.

    The worlds of a turn depend on the runs of the turns up to `lag` before it, in whatever order they were taken.
    arms -- all worlds, in an order that says nothing. goals -- how many states are wanted.
    """

    def __init__(self, arms: Sequence[Arm], goals: int, lag: int = 1) -> None:
        """Nothing is known yet."""
        self._arms, self._goals, self._lag = tuple(arms), range(goals), lag
        self._runs: dict[tuple[int, Arm], list[tuple[int, int]]] = {}
        self._reached: dict[int, int] = {}

    def take(self, arm: Arm, turn: int, goal: int, distance: int, *, reached: bool = False) -> None:
        """A run of an arm in a turn came so near to a goal; reached -- it need not be looked for any more."""
        self._runs.setdefault((goal, arm), []).append((turn, distance))
        if reached:
            self._reached[goal] = min(turn, self._reached.get(goal, turn))

    def wanted(self, turn: int) -> list[int]:
        """The goals that are still looked for in a turn."""
        return [goal for goal in self._goals if self._reached.get(goal, turn) > turn - self._lag]

    def turn(self, number: int) -> list[Arm]:
        """The worlds of a turn: all in the first; then as many near ones, of each goal by turns, as others by rotation.

        None when nothing is wanted any more.
        """
        wanted_now = self.wanted(number)
        if number == 0 or not wanted_now:
            return list(self._arms) if wanted_now else []
        many = -(-len(self._arms) // SHARE)
        mixed = dict.fromkeys(chain.from_iterable(zip_longest(*(self._nearest(goal, number) for goal in wanted_now))))
        near = [arm for arm in mixed if arm is not None][:many]
        others = [self._arms[(number * many + place) % len(self._arms)] for place in range(many)]
        return [*near, *others]

    def _nearest(self, goal: int, turn: int) -> list[Arm]:
        """The arms whose runs came near to a goal, the nearest on the average first."""
        means = {}
        for arm in self._arms:
            distances = [far for when, far in self._runs.get((goal, arm), ()) if when <= turn - self._lag]
            if distances:
                means[arm] = sum(distances) / len(distances)
        return sorted(means, key=lambda arm: means[arm])


# A folder of states that are wanted -----------------------------------------------------------------------------------


class Wishes:
    """What came of the states that `rocketproof prove --cti` has put into a folder.

    goals -- the states. best -- by the number of a goal: the nearest that a run came. runs -- that were watched.
    """

    def __init__(self, goals: Sequence[Wanted]) -> None:
        """No run was watched yet."""
        self.goals = tuple(goals)
        self.best: dict[int, Nearest] = {}
        self.runs = 0
        self._trails: dict[str, None] = {}
        self._after: dict[int, int] = {}

    def reached(self, number: int) -> bool:
        """Whether some run has reached a goal, and the model alone does so too."""
        return number in self.best and self.best[number].confirmed

    def take(self, runs: int, nearest: Mapping[int, Nearest], trails: Iterable[str]) -> None:
        """So many runs more, of which these were the nearest; trails -- as lines."""
        self.runs += runs
        for number, found in nearest.items():
            if number not in self.best or found.order < self.best[number].order:
                self.best[number] = found
                self._after[number] = self.runs
        self._trails.update(dict.fromkeys(trails))

    def lines(self) -> Iterator[str]:
        """What is said of each goal."""
        for number, goal in enumerate(self.goals):
            yield from _said(goal, self.best.get(number), self._after[number] if self.reached(number) else self.runs)

    @property
    def trails(self) -> str:
        """The trails, a line each."""
        return "".join(f"{line}\n" for line in self._trails)


def keep(folder: Path, trails: str) -> str:
    """Add trails to those of a folder, for the next proof; a line that says so."""
    file = folder / VISITED
    lines = [*(file.read_text("utf-8").splitlines() if file.exists() else ()), *trails.splitlines()]
    kept = list(dict.fromkeys(lines))[-STORED:]
    file.write_text("".join(f"{line}\n" for line in kept), "utf-8")
    return f"{len(kept)} ways are in {file}: `rocketproof prove FILE.py --cti {folder}` goes them first"


def led(folder: Path, subject: str, runs: int, seed: int) -> Iterator[str]:
    """Look for the states of a folder in so many runs of this process, and say what came of each.

    The states that were visited meanwhile are kept there, for the next proof. Raises BadInputError for a folder without
    such states.
    """
    found = Wishes(goals_of(folder))
    plans = [Plan(subject, *arm) for arm in product(USUAL_WORKLOADS, USUAL_PROFILES)]
    arms, seeds = Arms(plans, len(found.goals)), Counter[Plan]()
    for turn, plan in islice(_planned(arms), runs):
        one = watched(found.goals, plan, seed + seeds[plan])
        seeds[plan] += 1
        found.take(1, one.nearest, (way.line() for way in one.trails))
        for number, nearest in one.nearest.items():
            arms.take(plan, turn, number, nearest.distance, reached=nearest.confirmed)
    yield from found.lines()
    yield keep(folder, found.trails)


def _planned(arms: Arms[Plan]) -> Iterator[tuple[int, Plan]]:
    """Turn after turn until nothing is wanted any more, also in the midst of one."""
    for turn in count():
        plans = arms.turn(turn)
        for plan in plans:
            if arms.wanted(turn + 1):
                yield turn, plan
        if not plans:
            return


def goals_of(folder: Path) -> list[Wanted]:
    """The states that are wanted; raises BadInputError for a folder that has none."""
    goals = []
    for file in sorted(folder.glob("*.json")):
        try:
            goals.append(wanted(file.read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise BadInputError(f"{file}: {error}; remove it") from error
    if not goals:
        raise BadInputError(f"{folder}: no counterexample to induction; `rocketproof prove FILE.py --cti {folder}` "
                            "writes those that it meets")
    return goals


def _said(goal: Wanted, best: Nearest | None, runs: int) -> Iterator[str]:
    before = f"a state after which {goal.after} breaks {goal.property}"
    if best is None:
        yield f"{before}: nobody can be there, for no model that follows a world has what it speaks of"
    elif best.confirmed:
        yield f"{before}: reached in {len(best.trail.steps)} steps, {_runs(runs)}: {best.trail.of}"
        yield from (f"    {name}({', '.join(map(str, arguments))})" for name, arguments in best.trail.steps)
    elif not best.distance:
        yield (f"{before}: a follower was there after {_runs(runs)}, but the model does not go its way again, for what "
               f"is rigid in the model has changed meanwhile: {best.trail.of}")
    else:
        yield f"{before}: not reached in {_runs(runs)}; nearest, {best.distance} cells away: {best.trail.of}"
        yield from (f"    {one}" for one in best.differing)


def _runs(count: int) -> str:
    return f"{count} run" + "s" * (count != 1)


def _cell(differing: tuple[Any, ...]) -> str:
    name, *keys, value = differing
    place = ", ".join(map(str, keys))
    return f"{name}[{place}] is not {value}" if place else f"{name} is not {value}"
