"""What a campaign over worlds saw go wrong: grouped by signature, looked at again before it is believed, shortened.

Of each way to fail (a property and a signature) the first unit of the plan that shows it gives the tape that is played
again, so that the answer depends on no clock; the three simplest recordings of all are named for people.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from spark_fuzz.runs import Key, simplicity
from spark_fuzz.simulation import again_unit
from spark_fuzz.work import Row, Unit
from stateful_tests.worlds.run import Plan

KEPT = 3
@dataclass(frozen=True)
class Limits:
    """How much is looked at again; what is beyond is counted only.

    ways -- to fail, of one property that is not expected to. simpler -- of all that are not expected, so many are made
    simpler.
    """

    ways: int = 8
    simpler: int = 8


CHECK_RUNS, SHRINK_RUNS = 6, 100
"""How many runs may go into making a failure simpler when it is first looked at again, unless it is expected, and in
each later attempt."""
ATTEMPTS = 4
"""At most so many attempts to make an unexpected failure simpler; one for an expected one."""


@dataclass(frozen=True)
class Recording:
    """A failing run, or what became of it when it was looked at again.

    plan -- what was played. seed -- None when no seed draws these choices. sentence -- what was seen, at time_ms.
    digest -- of the run.
    """

    plan: Plan
    seed: int | None
    choices: bytes
    digest: bytes
    time_ms: int
    sentence: str

    @classmethod
    def of(cls, row: Row) -> Recording:
        """A recording from a row."""
        plan = Plan(*(row[name] for name in ("subject", "workload", "profile", "strategy")))
        return cls(plan, row["seed"], row["choices"], row["digest"], row["time_ms"], row["sentence"])

    @property
    def order(self) -> tuple[Any, ...]:
        """Sorts recordings, the simplest first."""
        return (*simplicity(self.choices), str(self.plan), -1 if self.seed is None else self.seed)

    def to_json(self) -> dict[str, Any]:
        """For people: how to find the run, and how long it is."""
        plan = {name: getattr(self.plan, name) for name in ("workload", "profile", "strategy")}
        nonzero, length, _ = simplicity(self.choices)
        return {**plan, "seed": self.seed, "choices": length, "not_boring": nonzero, "time_ms": self.time_ms,
                "digest": self.digest.hex()}


@dataclass
class Failure:
    """One way to fail.

    key -- property and signature. expected -- whether a hazard explains it. first -- of the first unit that showed it.
    kept -- the simplest recordings. units -- how many units showed it. answers -- what was seen again, shorter and
    shorter. doubt -- why it is not to be believed.
    """

    key: Key
    expected: bool
    first: Recording
    kept: list[Recording] = field(default_factory=list)
    units: int = 0
    answers: list[Recording] = field(default_factory=list)
    doubt: str = ""
    spent: bool = False

    @property
    def confirmed(self) -> bool:
        """Whether it was seen again."""
        return bool(self.answers) and not self.doubt

    @property
    def best(self) -> Recording:
        """The simplest one that was seen again, or the first one."""
        return min([*self.answers, *([] if self.answers else [self.first])], key=lambda one: one.order)

    def take(self, recording: Recording) -> None:
        """Another unit shows it."""
        self.units += 1
        self.kept = sorted([*self.kept, recording], key=lambda one: one.order)[:KEPT]

    def question(self, runs: int | None = None) -> Unit:
        """Play it again before it is believed, and make it simpler in so many runs; at first few, or none."""
        runs = (0 if self.expected else CHECK_RUNS) if runs is None else runs
        return again_unit(self.first.plan, self.key, self.first.choices, self.first.digest, runs)

    def wish(self) -> Unit | None:
        """Make it simpler; None when it is simple enough, or gets no simpler."""
        attempts = len(self.answers) - 1
        simpler = attempts < 1 or self.answers[-1].choices != self.answers[-2].choices
        if not self.confirmed or self.spent or not simpler or attempts >= (1 if self.expected else ATTEMPTS):
            return None
        best = self.answers[-1]
        return again_unit(best.plan, self.key, best.choices, best.digest, SHRINK_RUNS)

    def answer(self, row: Row) -> None:
        """What came of looking again."""
        if row["unknown"]:
            self.doubt = self.doubt or "the same tape gave another run"
        elif not row["violated"]:
            self.doubt = self.doubt or "not so when the same tape was played again"
        else:
            self.answers.append(Recording.of({**row, "seed": None}))

    def unanswered(self, error: str) -> None:
        """Looking again has failed; to fail at making it simpler is no reason to doubt it."""
        self.spent = True
        if not self.answers:
            self.doubt = f"it could not be played again ({error})"


class Failures:
    """All of one subject.

    explains -- whether a hazard explains a property and a signature; of each property one such way is looked at again.
    """

    def __init__(self, explains: Callable[[Key], bool], limits: Limits | None = None) -> None:
        """None yet."""
        self._explains, self._limits = explains, limits or Limits()
        self._ways: dict[Key, Failure] = {}
        self._asked: dict[str, Failure] = {}

    def take(self, row: Row) -> None:
        """A failure that a unit of the search shows."""
        recording = Recording.of(row)
        key = (row["property"], *json.loads(row["signature"]))
        if key not in self._ways:
            self._ways[key] = Failure(key, self._explains(key), recording)
        self._ways[key].take(recording)

    def answer(self, row: Row) -> None:
        """What came of a unit that looked again; failed ones too."""
        asked = self._asked_for(row["unit"])
        if asked is None:
            return
        if row["error"] is None:
            asked.answer(row)
        else:
            asked.unanswered(row["error"])

    def of(self, name: str) -> list[Failure]:
        """The ways in which a property fails that count, as they were seen one after another; unexpected ones first."""
        ways = [one for one in self._ways.values() if one.key[0] == name]
        unexpected = [one for one in ways if not one.expected]
        return [*unexpected[: self._limits.ways], *[one for one in ways if one.expected][:1]]

    def ways(self, name: str) -> int:
        """In how many ways a property fails."""
        return sum(key[0] == name for key in self._ways)

    def questions(self) -> Iterator[Unit]:
        """What must be looked at again."""
        return (self._ask(one, one.question()) for one in self._counted() if not one.answers and not one.doubt)

    def wishes(self, unexpected: bool) -> Iterator[Unit]:
        """What should be made simpler, each unit once; all of it, or only what is not expected."""
        counted = [one for one in self._counted() if one.confirmed]
        few = [one for one in counted if not one.expected][: self._limits.simpler]
        for one in few if unexpected else [*few, *(one for one in counted if one.expected)]:
            if (wished := one.wish()) is not None and wished.id not in self._asked:
                yield self._ask(one, wished)

    def _counted(self) -> list[Failure]:
        """All ways that count, in the order in which they were seen: later ones change nothing about earlier ones."""
        of = {key[0]: self.of(key[0]) for key in self._ways}
        return [one for one in self._ways.values() if one in of[one.key[0]]]

    def _ask(self, failure: Failure, unit: Unit) -> Unit:
        self._asked[unit.id] = failure
        return unit

    def _asked_for(self, unit: str) -> Failure | None:
        """The failure that a unit is about; one of an earlier run is found by asking as that run did."""
        if unit not in self._asked:
            list(self.questions()), list(self.wishes(unexpected=False))
        return self._asked.get(unit)

    def to_json(self) -> list[dict[str, Any]]:
        """All ways to fail, with the simplest recordings of each."""
        return [{
            "property": one.key[0], "signature": list(one.key[1:]), "expected": one.expected, "units": one.units,
            "recordings": [kept.to_json() for kept in one.kept],
            "shortest": one.best.to_json() if one.confirmed else None,
        } for one in self._ways.values()]
