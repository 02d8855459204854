"""What the campaign over worlds has counted of a subject: runs by property, failures, states, and what was in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from invariants.finding import causes_in
from invariants.refinement.coverage import Visited
from invariants.runs import NOTICED, OF_KIND, SAME_RUN
from spark_fuzz.coverage import Coverage
from spark_fuzz.effect import CALLED, Effect
from spark_fuzz.failures import Failures, Limits
from spark_fuzz.runs import Key, judged, visited_of
from spark_fuzz.scopes import shares
from spark_fuzz.work import Row
from stateful_tests.stories.telling import hazards_told
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workloads import WORKLOADS

MOST_ENDLESS = 2
"""After so many units in which a run does not end, each time because of the same function, no other is tried."""


@dataclass
class Tally:
    """What is known of one property of one subject; numbers of runs, and of segments."""

    runs: int = 0
    violated: int = 0
    unknown: int = 0
    segments: int = 0
    units: int = 0
    cpu_us: int = 0

    def take(self, row: Row) -> None:
        """Count the row of a unit."""
        self.units += 1
        for name in ("runs", "violated", "unknown", "segments", "cpu_us"):
            setattr(self, name, getattr(self, name) + row[name])


@dataclass
class About:
    """What is known of one subject.

    failed -- units that failed, by error. why -- of runs that nothing is known of. endless -- by what does
    not end, in how many units. scopes -- what was visited of the enumerable ones, by name. effect -- what the variant
    has done; None for a subject that has no base.
    """

    failures: Failures
    seen: dict[str, Tally]
    coverage: Coverage = field(default_factory=Coverage)
    failed: list[tuple[Plan, str]] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    endless: Counter[str] = field(default_factory=Counter)
    arms: Counter[Plan] = field(default_factory=Counter)
    scopes: dict[str, Visited] = field(default_factory=dict)
    effect: Effect | None = None

    def take(self, row: Row) -> None:
        """Count a property's row of a unit."""
        self.seen.setdefault(row["property"], Tally()).take(row)

    def take_effect(self, row: Row) -> None:
        """Count a row that tells what the variant has done."""
        if self.effect is None:
            return
        if row["kind"] == CALLED:
            self.effect.take(row)
        else:
            self.effect.compare(row["runs"], row["violated"])

    def take_scope(self, row: Row) -> None:
        """Add what a unit has visited of an enumerable scope."""
        self.scopes[row["scope"]].join(visited_of(row))


def begun(subject: str, workloads: Sequence[str]) -> About:
    """Nothing yet; names what these workloads are judged by."""
    names = tuple(dict.fromkeys(chain.from_iterable(map(judged, workloads))))
    limits = Limits(1, 1) if as_a_whole(subject) == NOTICED else Limits()
    scopes = {name: Visited(name) for workload in workloads for name in WORKLOADS[workload].scopes}
    failures = Failures(subject_named(subject).explains, lambda key: is_told(subject, key), limits)
    return About(failures, {name: Tally() for name in (*names, SAME_RUN)}, scopes=scopes,
                 effect=Effect(subject) if subject_named(subject).base else None)


def is_told(subject: str, key: Key) -> bool:
    """Whether a story breaks the property by a hazard of the subject whose cause was seen in the run."""
    hazards = hazards_told(key[0]).intersection(causes_in(key))
    return not hazards.isdisjoint(subject_named(subject).hazards(key[0]))


def as_a_whole(subject: str) -> str | None:
    """The property of a variant as a whole that lies on top of a subject; None if there is none."""
    kind = subject_named(subject).kind
    return None if kind is None else OF_KIND[kind]


def is_given_up(endless: Counter[str]) -> bool:
    """Whether no run more makes sense. endless -- by what did not end, in how many units."""
    return max(endless.values(), default=0) >= MOST_ENDLESS


def what_ends_it(known: About) -> str:
    """The first run that has not ended because of what does not end, once no run more makes sense; else empty."""
    if not is_given_up(known.endless):
        return ""
    what, _ = known.endless.most_common(1)[0]
    return next(told for told in known.why if what in told)


def doubt(known: About, name: str) -> str:
    """Why nothing can be said of a property; empty when something can."""
    seen = known.seen[name]
    ways = known.failures.of(name)
    if ways and not any(one.believed for one in ways):
        return f"{ways[0].first.sentence}; {ways[0].doubt or 'not played again yet'}"
    if failed := [told for plan, told in known.failed if name in judged(plan.workload)]:
        return f"{len(failed)} units failed, the first: {min(failed)}"
    if seen.unknown:
        return f"{seen.unknown} of {seen.runs} runs could not be judged: {min(known.why)}"
    return "" if seen.runs else "not reached in the time given"


def cost_of(seen: Tally) -> dict[str, float]:
    """Plain numbers for a verdict row."""
    cost = {"runs": seen.runs, "violated": seen.violated, "unknown": seen.unknown, "segments": seen.segments,
            "units": seen.units, "cpu_seconds": round(seen.cpu_us / 1e6, 3)}
    return {name: number for name, number in cost.items() if number or name not in {"violated", "unknown"}}


def visited(known: About) -> dict[str, Any]:
    """The curve of states; for each arm its runs and the states that it was the first to visit; shares of scopes."""
    arms = [{"workload": arm.workload, "profile": arm.profile, "strategy": arm.strategy, "runs": runs,
             "new_states": known.coverage.new(arm)} for arm, runs in sorted(known.arms.items(), key=str)]
    return {"runs": known.coverage.runs, "states": known.coverage.states,
            "curve": [list(point) for point in known.coverage.points()], "arms": arms,
            "scopes": [share.to_json() for share in shares(known.scopes)]}
