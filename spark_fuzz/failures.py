"""What a campaign over worlds saw go wrong: grouped by signature, looked at again before it is believed, shortened.

What no hazard explains is looked at. Of what hazards explain each way counts once, whatever it is put down to, and
each hazard once, at its first finding; the rest is counted only. Where a story shows that a hazard whose cause was seen
breaks the property, the recording is enough. Of each way to fail (a property and a signature) the first unit of the
plan that shows it gives the tape, so that the answer depends on no clock; the three simplest recordings of all are
named for people.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from invariants.finding import causes_in
from spark_fuzz.runs import Key, simplicity
from spark_fuzz.simulation import again_unit, repeated_unit
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


SHRINK_RUNS = 20
"""How many runs of one unit go into making a failure simpler: a few seconds."""
ATTEMPTS = 20
"""At most so many units make a failure simpler."""


@dataclass(frozen=True)
class Recording:
    """A failing run, or what became of it when it was looked at again.

    plan -- what was played. seed -- None when no seed draws these choices. sentence -- what was seen, at time_ms.
    digest -- of the run. records, beginning -- of how many records it was seen in, and their digest; 0: in all of the
    run. shown -- what its evidence shows, as JSON; empty where it was not looked at again.
    """

    plan: Plan
    seed: int | None
    choices: bytes
    digest: bytes
    time_ms: int
    sentence: str
    shown: str = ""
    records: int = 0
    beginning: bytes = b""

    @classmethod
    def of(cls, row: Row) -> Recording:
        """A recording from a row."""
        plan = Plan(*(row[name] for name in ("subject", "workload", "profile", "strategy")))
        return cls(plan, row["seed"], row["choices"], row["digest"], row["time_ms"], row["sentence"],
                   row.get("shown") or "", row.get("records") or 0, row.get("beginning") or row["digest"])

    @cached_property
    def order(self) -> tuple[Any, ...]:
        """Sorts recordings, the simplest first."""
        return (*simplicity(self.choices), str(self.plan), -1 if self.seed is None else self.seed)

    def to_json(self) -> dict[str, Any]:
        """For people: how to find the run, and how long it is."""
        plan = {name: getattr(self.plan, name) for name in ("workload", "profile", "strategy")}
        nonzero, length, *_ = self.order
        return {**plan, "seed": self.seed, "choices": length, "not_boring": nonzero, "time_ms": self.time_ms,
                "digest": self.digest.hex()}


@dataclass
class Failure:
    """One way to fail.

    key -- property and signature. expected -- whether a hazard explains it. first -- of the first unit that showed it.
    told -- whether it is expected, and a story confirms it. kept -- the simplest recordings. units, runs -- how many
    showed it. answers -- what was seen again, shorter and shorter. doubt -- why it is not to be believed. played -- the
    answer that this process has played as well; None before. at -- where making it simpler goes on. spent -- whether
    that is over.
    """

    key: Key
    expected: bool
    first: Recording
    told: bool = False
    kept: list[Recording] = field(default_factory=list)
    units: int = 0
    runs: int = 0
    answers: list[Recording] = field(default_factory=list)
    doubt: str = ""
    played: Recording | None = None
    at: Sequence[int] | None = None
    spent: bool = False

    @cached_property
    def causes(self) -> frozenset[str]:
        """The hazards that it is put down to."""
        return frozenset(causes_in(self.key))

    @property
    def confirmed(self) -> bool:
        """Whether it was seen again."""
        return bool(self.answers) and not self.doubt

    @property
    def best(self) -> Recording:
        """The simplest one that was seen again, or the first one."""
        return min([*self.answers, *([] if self.answers else [self.first])], key=lambda one: one.order)

    @property
    def believed(self) -> Recording | None:
        """The recording that a violation is shown by; None before there is one.

        A worker has seen it again; what no hazard explains twice, and this process too. What a story confirms was seen
        often enough.
        """
        if not (self.confirmed or self.told) or self.doubt:
            return None
        return self.best if self.expected else self.played

    def take(self, recording: Recording, runs: int) -> None:
        """Another unit shows it, in so many runs."""
        self.units += 1
        self.runs += runs
        self.kept = sorted([*self.kept, recording], key=lambda one: one.order)[:KEPT]

    def question(self) -> Unit:
        """Play it again before it is believed."""
        return again_unit(self.first.plan, [self.key], self.first.choices, self.first.digest)

    def wish(self) -> Unit | None:
        """Make it simpler; None when it gets no simpler, or a hazard explains it, which has stories of its own."""
        if self.expected or self.spent or not self.confirmed or len(self.answers) > ATTEMPTS:
            return None
        best = self.answers[-1]
        return again_unit(best.plan, [self.key], best.choices, best.digest, SHRINK_RUNS, self.at)

    def answer(self, row: Row) -> None:
        """What came of looking again."""
        if row["unknown"]:
            self.doubt = self.doubt or "the same tape gave another run"
        elif not row["violated"]:
            self.doubt = self.doubt or "not so when the same tape was played again"
        else:
            self.spent = bool(self.answers) and row["rest"] == "null"
            self.at = json.loads(row["rest"])
            self.answers.append(Recording.of({**row, "seed": None}) if row.get("sentence") else self.first)

    def unanswered(self, error: str) -> None:
        """Looking again has failed; to fail at making it simpler is no reason to doubt it."""
        self.spent = True
        if not self.answers:
            self.doubt = f"it could not be played again ({error})"


class Failures:
    """All of one subject.

    explains -- whether a hazard explains a property and a signature. told -- whether a story confirms what a hazard
    explains.
    """

    def __init__(
        self, explains: Callable[[Key], bool], told: Callable[[Key], bool], limits: Limits | None = None,
    ) -> None:
        """None yet."""
        self._explains, self._limits, self._told = explains, limits or Limits(), told
        self._ways: dict[Key, Failure] = {}
        self._of: dict[str, list[Failure]] = {}
        self._asked: dict[str, list[Failure]] = {}

    def take(self, row: Row) -> None:
        """A failure that a unit of the search shows."""
        recording, key = Recording.of(row), key_of(row)
        if key not in self._ways:
            expected = self._explains(key)
            self._ways[key] = Failure(key, expected, recording, expected and self._told(key))
            if self._is_looked_at(self._ways[key]):
                self._of.setdefault(key[0], []).append(self._ways[key])
        self._ways[key].take(recording, row["violated"])

    def _is_looked_at(self, failure: Failure) -> bool:
        """Whether a way is looked at again, or counted only; later ways change nothing about earlier ones."""
        alike = [one for one in self._of.get(failure.key[0], ()) if one.expected == failure.expected]
        if not failure.expected:
            return len(alike) < self._limits.ways
        named = frozenset[str]().union(*(one.causes for one in self.looked_at() if one.expected))
        return not failure.causes <= named or all(_way(one) != _way(failure) for one in alike)

    def answer(self, row: Row) -> None:
        """What came of a unit that looked again; failed ones too."""
        if row["error"] is None:
            self._ways[key_of(row)].answer(row)
            return
        for failure in self._asked.get(row["unit"], ()):
            failure.unanswered(row["error"])

    def of(self, name: str) -> list[Failure]:
        """The ways in which a property fails that are looked at, as they were seen, but unexpected ones first."""
        return sorted(self._of.get(name, ()), key=lambda one: one.expected)

    def ways(self, name: str) -> list[Failure]:
        """All ways in which a property fails, also those that are counted only."""
        return [one for key, one in self._ways.items() if key[0] == name]

    def questions(self) -> Iterator[Unit]:
        """What must be looked at again, each tape once."""
        tapes: dict[tuple[Plan, bytes], list[Failure]] = {}
        for one in self.looked_at():
            if not one.told and not one.answers and not one.doubt:
                tapes.setdefault((one.first.plan, one.first.choices), []).append(one)
        for (plan, choices), failures in tapes.items():
            keys = [one.key for one in failures]
            if all(one.expected for one in failures):
                last = max((one.first for one in failures), key=lambda one: (not one.records, one.records))
                unit = repeated_unit(plan, keys, choices, last.beginning, last.records)
            else:
                unit = again_unit(plan, keys, choices, failures[0].first.digest)
            self._asked[unit.id] = failures
            yield unit

    def wishes(self) -> Iterator[Unit]:
        """What should be made simpler: some of what is not expected."""
        for one in [one for one in self.looked_at() if one.confirmed and not one.expected][: self._limits.simpler]:
            if (wished := one.wish()) is not None:
                self._asked[wished.id] = [one]
                yield wished

    def looked_at(self) -> Iterator[Failure]:
        """All ways that are looked at again."""
        return chain.from_iterable(self._of.values())

    def to_json(self) -> list[dict[str, Any]]:
        """All ways to fail, with the simplest recordings of each."""
        return [{
            "property": one.key[0], "signature": list(one.key[1:]), "expected": one.expected, "units": one.units,
            "runs": one.runs,
            "looked_at": one in self._of.get(one.key[0], ()),
            "recordings": [kept.to_json() for kept in one.kept],
            "shortest": one.best.to_json() if one.confirmed else None,
        } for one in self._ways.values()]


def _way(failure: Failure) -> Key:
    """Property and signature without the hazards that it is put down to."""
    return tuple(part for part in failure.key if not causes_in([part]))


def key_of(row: Row) -> Key:
    """Property and signature that a row names."""
    return (row["property"], *json.loads(row["signature"]))
