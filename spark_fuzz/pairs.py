"""Work of a comparison: two subjects live through the same worlds, and what came of each is told as a row.

Both sides of a pair have the same seed, and draw each choice by what it is about and when
(`stateful_tests.worlds.aligned`), so that they part only where one of them does something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spark_fuzz import touched
from spark_fuzz.effect import fingerprint
from spark_fuzz.runs import Key, looked_again
from spark_fuzz.work import Row, Unit
from stateful_tests.worlds.aligned import aligned
from stateful_tests.worlds.healing import promised
from stateful_tests.worlds.run import Plan, RunRecord, run
from stateful_tests.worlds.workloads import WORKLOADS

COLUMNS = {
    "kind": "string", "subject": "string", "workload": "string", "profile": "string", "strategy": "string",
    "seed": "long", "sides": "string", "base": "binary", "changed": "binary",
    "property": "string", "runs": "long", "violated": "long", "unknown": "long", "signature": "string",
    "choices": "binary", "time_ms": "long", "sentence": "string", "digest": "binary", "rest": "string",
    "shown": "string",
}
"""Rows name workload, profile and strategy, and are

pair     the seed; what came of both sides as JSON (`Side`); the tapes of those that show what the other does not
touched  what another judge says (`spark_fuzz.touched`): which one as the property, of what as the sentence
again    of units that look again at a tape: see `spark_fuzz.runs`
"""


class Shown(NamedTuple):
    """A way to fail that a run has shown: when, and what people read."""

    time_ms: int
    sentence: str


@dataclass(frozen=True)
class Side:
    """What came of one run of a pair.

    digest -- of all that was recorded. states -- stands for that, all model states, and what judges saw. unknown -- why
    it could not be judged. shown -- what judges saw. broken_ms -- how long each promise was broken after the world had
    healed. calls -- of what is replaced, by place. messages, requests -- how many were sent. converged_ms -- how long
    after the healing the last promise came true; None: one never did. endless -- whether it was given up, as it did not
    end. talks -- or as it talks without end: shown is what was seen until then.
    """

    digest: str
    states: str
    unknown: str
    shown: Mapping[Key, Shown]
    broken_ms: Mapping[str, int]
    calls: Mapping[str, int]
    messages: int
    requests: int
    converged_ms: int | None
    endless: bool = False
    talks: bool = False

    @classmethod
    def of(cls, plan: Plan, record: RunRecord) -> Side:
        """What came of a run."""
        promises = sorted({rule.name for rule in promised(WORKLOADS[plan.workload].promises)})
        broken_ms = {name: record.kept_ms.get(name, record.healing_ms) for name in promises}
        converged_ms = max(broken_ms.values(), default=0) if set(promises) <= set(record.kept_ms) else None
        shown = {one.key: Shown(one.time_ms, one.sentence) for one in record.seen}
        return cls(record.digest, fingerprint(record).hex(), record.unknown, shown, broken_ms, record.calls,
                   record.messages, record.requests, converged_ms, record.endless, record.talks)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "shown": [[list(key), *shown] for key, shown in self.shown.items()]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Side:
        """What to_json gave."""
        shown = {tuple(key): Shown(*rest) for key, *rest in stored["shown"]}
        return cls(**{**stored, "shown": shown})

    def judged_as(self, other: Side) -> bool:
        """Whether judges say the same of both: what went wrong, and how long promises were broken."""
        return self.shown.keys() == other.shown.keys() and self.broken_ms == other.broken_ms


@dataclass(frozen=True)
class Pair:
    """Both sides of a world; base_tape, changed_tape -- of a side that shows what the other does not, else empty."""

    plan: Plan
    seed: int
    base: Side
    changed: Side
    base_tape: bytes = b""
    changed_tape: bytes = b""

    @classmethod
    def from_row(cls, row: Row) -> Pair:
        """The pair of a row; its plan is that of the changed side."""
        plan = Plan(*(row[name] for name in ("subject", "workload", "profile", "strategy")))
        base, changed = (Side.from_json(side) for side in json.loads(row["sides"]))
        return cls(plan, row["seed"], base, changed, row["base"], row["changed"])

    @property
    def met(self) -> bool:
        """Whether what is replaced was called, or the change made another run of it."""
        return any(self.changed.calls.values()) or self.base.digest != self.changed.digest

    @property
    def unknown(self) -> str:
        """Why nothing can be said of it; empty if both sides were judged."""
        return self.base.unknown or self.changed.unknown


def work(unit: Unit) -> Iterator[Row]:
    """The rows of a unit: pairs, what other judges say, or a look at a tape."""
    if "choices" in unit.body:
        yield from looked_again(Plan(**unit.body["plan"]), unit.body)
        return
    if "asked" in unit.body:
        yield from touched.work(unit)
        return
    base, changed = unit.body["subjects"]
    for seed in range(*unit.body["seeds"]):
        yield _pair(base, changed, unit.body["arm"], seed)


def _pair(base: str, changed: str, arm: Sequence[str], seed: int) -> Row:
    plans = Plan(base, *arm), Plan(changed, *arm)
    one, other = (run(plan, aligned(plan.strategy, seed)) for plan in plans)
    sides = Side.of(plans[0], one), Side.of(plans[1], other)
    workload, profile, strategy = arm
    return {
        "kind": "pair", "subject": changed, "workload": workload, "profile": profile, "strategy": strategy,
        "seed": seed, "sides": json.dumps([side.to_json() for side in sides]),
        "base": _kept(one, other), "changed": _kept(other, one),
    }


def _kept(record: RunRecord, other: RunRecord) -> bytes:
    """The tape of a run that shows what the other does not."""
    return bytes(record.choices) if set(record.signatures()) - set(other.signatures()) else b""
