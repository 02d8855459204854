"""What a variant has done: how often its places were called, and how many runs differ from those of its base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from impl.variants.fitting import is_counted
from invariants.verdict import Outcome
from spark_fuzz.work import Row
from stateful_tests.worlds.run import RunRecord
from stateful_tests.worlds.subjects import subject_named

CALLED = "called"
"""Kind of the rows that `called_rows` makes."""
COLUMNS = {"place": "string", "calls": "long", "reached": "long"}
"""What such a row has: a function that a variant replaces, or whose repair is left out; how often it was called, and in
how many runs."""

FINGERPRINT_BYTES = 8


def called_rows(runs: list[Mapping[str, int]]) -> Iterator[Row]:
    """A row for each place; runs -- of each the calls by place."""
    for place in dict.fromkeys(place for calls in runs for place in calls):
        each = [calls.get(place, 0) for calls in runs]
        yield {"kind": CALLED, "place": place, "calls": sum(each), "reached": sum(map(bool, each)), "runs": len(runs)}


def fingerprint(record: RunRecord) -> bytes:
    """Stands for all that was recorded of a run, the model states that its followers were in, and what judges saw.

    A bug may change a table long before anything is recorded that depends on it.
    """
    seen = [(*one.signature, one.property, one.time_ms) for one in record.seen]
    text = f"{record.digest} {sorted(record.states)} {seen}"
    return blake2b(text.encode(), digest_size=FINGERPRINT_BYTES).digest()


@dataclass
class Effect:
    """Of one subject.

    subject -- its name. calls, reached, lived -- by place: how often it was called, in how many runs, of how many.
    compared -- runs whose tapes were played with the base as well. different -- those of them that are other runs.
    """

    subject: str
    calls: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    lived: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    different: int = 0

    def __post_init__(self) -> None:
        """Each place is told, also one that is never called."""
        for variant in subject_named(self.subject).changes:
            self.calls.update({one.place: 0 for one in variant.replacements if is_counted(one)})

    def take(self, row: Row) -> None:
        """Count what a row of `called_rows` says."""
        self.lived[row["place"]] += row["runs"]
        self.calls[row["place"]] += row["calls"]
        self.reached[row["place"]] += row["reached"]

    def compare(self, runs: int, different: int) -> None:
        """So many runs were compared with the base, and so many of them differ."""
        self.compared += runs
        self.different += different

    @property
    def runs(self) -> int:
        """How many runs there were."""
        return max(self.lived.values(), default=0)

    @property
    def outcome(self) -> Outcome:
        """Of the property that the variant changes runs; whether a constant is read nobody counts."""
        if self.different:
            return Outcome.HOLDS
        if not self.compared:
            return Outcome.UNKNOWN
        executed = self.calls.total() or subject_named(self.subject).uncounted
        return Outcome.NO_DIFFERENCE if executed else Outcome.NEVER_EXECUTED

    @property
    def most_reached(self) -> int:
        """In how many runs the place was called that was called in most."""
        return max(self.reached.values(), default=0)

    def sentence(self) -> str:
        """As people read it."""
        known = subject_named(self.subject)
        what = "un-repaired" if known.top is None else "replaced"
        calls = [f"{place} ({_times(count)})" for place, count in self.calls.items()]
        calls += known.uncounted
        told = f"{what}: {', '.join(calls) or 'nothing'}, in {self.most_reached:,} of {self.runs:,} runs"
        return f"{told}; differs from {known.base} in {self.different:,} of {self.compared:,} runs on the same tapes"

    def cost(self) -> dict[str, float]:
        """Plain numbers for a verdict row."""
        calls = {f"calls of {place}": count for place, count in self.calls.items()}
        return {**calls, "compared": self.compared, "different": self.different}

    def to_json(self) -> dict[str, Any]:
        """Plain values; see `invariants.report.campaigns`."""
        return {"calls": dict(self.calls), "reached": self.most_reached, "runs": self.runs, "compared": self.compared,
                "different": self.different, "outcome": str(self.outcome)}


def _times(count: int) -> str:
    return f"{count:,} call{'s' * (count != 1)}" if count else "never called"
