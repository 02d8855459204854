"""Steering: simulated worlds are led towards states that somebody wants to see, and tell how near they came.

A run is its tape, and tells for each wanted state where a follower was nearest to it. Half of all runs begin anew, in
one world after another. The others play what one of the nearest runs did until shortly before it was nearest, and go on
by chance.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice, product
from pathlib import Path
from typing import Any, NamedTuple

from impl.hosts.simulation.tape import RandomTape, Tape, Where
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
"""In a turn one arm in so many begins anew, and as many units go on from what was near."""
KEPT, BACK = 5, 50
"""For each state so many runs are gone on from; up to so many choices before they were nearest."""


class SteeredTape(RandomTape):
    """The beginning of another tape, and chance from there on; the same for the same seed."""

    __slots__ = ("given",)

    def __init__(self, given: Sequence[int], seed: int) -> None:
        """Play these choices first."""
        super().__init__(seed)
        self.given = given

    @property
    def is_own(self) -> bool:
        """Whether chance decides by now."""
        return len(self.choices) >= len(self.given)

    def pick(self, n: int, where: Where = "", one_in: int = 1) -> int:
        """See Tape."""
        if n < 2 or self.is_own:  # noqa: PLR2004 - one possibility is no choice
            return super().pick(n, where, one_in)
        value = self.given[len(self.choices)]
        self.choices.append(value if 0 < value < n else 0)
        return self.choices[-1]


# Where runs are nearest -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Nearest:
    """Where a run came nearest to a wanted state.

    differing -- the cells that were different there, in words. confirmed -- none was, and the model alone comes there
    by the trail. trail -- the steps of the model up to there. choices -- of the tape up to there.
    """

    differing: tuple[str, ...]
    confirmed: bool
    trail: Trail
    choices: bytes

    @property
    def distance(self) -> int:
        """How many cells differed."""
        return len(self.differing)

    @property
    def order(self) -> tuple[int, bool, int, bytes]:
        """Sorts them, the nearest first, and of these the soonest."""
        return self.distance, not self.confirmed, len(self.choices), self.choices

    def to_json(self) -> dict[str, Any]:
        """Plain values; see `of`."""
        return {"differing": self.differing, "confirmed": self.confirmed, "trail": self.trail.line(),
                "choices": self.choices.hex()}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Nearest:
        """What `to_json` gave."""
        way, choices = trail(stored["trail"]), bytes.fromhex(stored["choices"])
        return cls(tuple(stored["differing"]), stored["confirmed"], way, choices)


@dataclass
class _Watched(Recorder):
    """Notes the steps of all monitors, and where one that has the wanted variables is nearest, by number of the goal.

    tape -- of the run; what another tape has given tells nothing new. best -- how near, which monitor, after how many
    steps and choices.
    """

    goals: Sequence[Wanted]
    tape: Tape
    steps: dict[Monitor, list[Step]] = field(default_factory=dict)
    best: dict[int, tuple[Near, Monitor, int, int]] = field(default_factory=dict)
    _nearness: dict[str, dict[int, Nearness]] = field(default_factory=dict)

    def stepped(self, monitor: Monitor, steps: Sequence[Step]) -> None:
        """See Recorder."""
        taken = self.steps.setdefault(monitor, [])
        taken += steps
        if len(monitor.states) > 1 or (isinstance(self.tape, SteeredTape) and not self.tape.is_own):
            return
        for number, nearness in self._of(monitor.reading.concept).items():
            nearest = self.best[number][0].distance if number in self.best else 1 << 30
            if nearest:
                near = nearness.to(monitor.states.base, monitor.reading.given.named, monitor.states.defaults, nearest)
                if near is not None:
                    self.best[number] = near, monitor, len(taken), len(self.tape.choices)

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


def watched(goals: Sequence[Wanted], plan: Plan, seed: int, given: bytes = b"") -> Led:
    """Live through a run, and say where it was nearest to each of these states; given -- how its tape begins."""
    words = f"a run of {plan.subject}, {plan.workload}, {plan.profile}, {plan.strategy}, seed {seed}"
    words += f" after {len(given)} choices of another" if given else ""
    return played(goals, plan, SteeredTape(given, seed) if given else STRATEGIES[plan.strategy](seed), words)


def played(goals: Sequence[Wanted], plan: Plan, tape: Tape, words: str) -> Led:
    """The same of a run that plays a tape; words -- what it is called."""
    watching = _Watched(goals, tape)
    with recorded_by(watching):
        record = run(plan, tape)
    nearest = {}
    for number, (near, monitor, steps, choices) in watching.best.items():
        way = _trail(monitor, watching.steps[monitor][:steps], words)
        if way is not None:
            confirmed = not near.distance and _confirmed(goals[number], monitor.reading.concept, way)
            nearest[number] = Nearest(tuple(map(_cell, near.differing)), confirmed, way,
                                      bytes(tape.choices[:choices]))
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


# Which runs come next -------------------------------------------------------------------------------------------------


class Begun(NamedTuple):
    """How a run begins: in which world, and with which choices of another run; none: it begins anew."""

    plan: Plan
    given: bytes = b""

    def before(self, draw: random.Random) -> Begun:
        """The same without some of the last choices."""
        return self._replace(given=self.given[:max(0, len(self.given) - draw.randrange(BACK))])


class Turns:
    """Says which runs come next, by how near former ones came to what is still wanted.

    What a turn holds depends on the turns up to `lag` before it, in whatever order their runs were taken.
    arms -- all worlds. goals -- how many states are wanted.
    """

    def __init__(self, arms: Sequence[Plan], goals: int, lag: int = 1) -> None:
        """Nothing is known yet."""
        self._arms, self._goals, self._lag = tuple(arms), range(goals), lag
        self._near: dict[int, list[tuple[int, Plan, Nearest]]] = {goal: [] for goal in self._goals}

    def take(self, plan: Plan, turn: int, goal: int, nearest: Nearest) -> None:
        """A run of a turn came so near to a goal."""
        self._near[goal].append((turn, plan, nearest))

    def wanted(self, turn: int) -> list[int]:
        """The goals that are still looked for in a turn."""
        return [goal for goal in self._goals if not any(one.confirmed for _, one in self._known(goal, turn))]

    def turn(self, number: int) -> list[Begun]:
        """How the runs of a turn begin: each world in the first; then some worlds, and as many near runs.

        None when nothing is wanted any more.
        """
        goals = self.wanted(number)
        if not goals:
            return []
        if number == 0:
            return [*map(Begun, self._arms)]
        many = -(-len(self._arms) // SHARE)
        anew = [Begun(self._arms[(number * many + place) % len(self._arms)]) for place in range(many)]
        ranks = [near for goal in goals if (near := self.nearest(goal, number))]
        return [*anew, *([(rank := ranks[place % len(ranks)])[place // len(ranks) % len(rank)]
                          for place in range(many)] if ranks else [])]

    def nearest(self, goal: int, turn: int) -> list[Begun]:
        """The runs to go on from, the nearest first; what a follower reached and the model does not leads nowhere."""
        known = sorted((one for one in self._known(goal, turn) if one[1].distance),
                       key=lambda one: (*one[1].order, str(one[0])))
        return [Begun(plan, one.choices) for plan, one in known[:KEPT]]

    def _known(self, goal: int, turn: int) -> list[tuple[Plan, Nearest]]:
        return [(plan, one) for when, plan, one in self._near[goal] if when <= turn - self._lag]


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
            best = self.best.get(number)
            yield f"a state after which {goal.after} breaks {goal.property}: {self.said(number)}"
            if best is not None:
                yield from (f"    {name}({', '.join(map(str, arguments))})" for name, arguments in best.trail.steps
                            if best.confirmed)
                yield from (f"    {one}" for one in best.differing)

    def said(self, number: int) -> str:
        """What came of a goal, in one sentence."""
        best, runs = self.best.get(number), _many(self.runs, "run")
        if best is None:
            return "nobody can be there, for no model that follows a world has what it speaks of"
        if best.confirmed:
            return f"reached in {len(best.trail.steps)} steps, {_many(self._after[number], 'run')}: {best.trail.of}"
        if not best.distance:
            return (f"a follower was there after {runs}, but the model does not go its way again, for what "
                    f"is rigid in the model has changed meanwhile: {best.trail.of}")
        return f"not reached in {runs}; nearest, {_many(best.distance, 'cell')} away: {best.trail.of}"

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
    turns, seeds, draw = Turns(plans, len(found.goals)), Counter[Plan](), random.Random(seed)  # noqa: S311 - repeatable
    for turn, begun in islice(_planned(turns), runs):
        plan, given = begun.before(draw)
        one = watched(found.goals, plan, seed + seeds[plan], given)
        seeds[plan] += 1
        found.take(1, one.nearest, (way.line() for way in one.trails))
        for number, nearest in one.nearest.items():
            turns.take(plan, turn, number, nearest)
    yield from found.lines()
    yield keep(folder, found.trails)


def _planned(turns: Turns) -> Iterator[tuple[int, Begun]]:
    """Turn after turn until nothing is wanted any more, also in the midst of one."""
    for turn in count():
        begun = turns.turn(turn)
        for one in begun:
            if turns.wanted(turn + 1):
                yield turn, one
        if not begun:
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


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + "s" * (count != 1)


def _cell(differing: tuple[Any, ...]) -> str:
    name, *keys, value = differing
    place = ", ".join(map(str, keys))
    return f"{name}[{place}] is not {value}" if place else f"{name} is not {value}"
