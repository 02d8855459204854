"""What belongs together: planted bugs apart from verdicts, properties by what they are, rows summed up in a few words.

A planted row is about a twin of a model to which a mutation was applied, to see that the judge notices; it says
nothing about RocketMQ, so no count, table or list of violations may mix it with the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from invariants.hazards import HAZARDS, Hazard
from invariants.relied_on import RELIED_ON
from invariants.report import words
from invariants.verdict import Outcome, Verdict

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
JUDGES = ("prove", "explore", "exhaust", "machine", "story", "campaign", "compare", "conform", "check")
MUTATION = "mutation"  # the detail of a planted row's subject
_PROMISED, _SUPPORTING = ("always", "step", "leads_to"), ("lemma", "sometimes", "scope", "run")
_KINDS = (*_PROMISED, "decision", "strategy", "class", "recording", *_SUPPORTING)
_NOUNS = {"model": "scope", "decision": "claim", "recording": "file", "file": "file"}
STANDINGS = ("different", "unknown", "expected")
_DIGITS = 9  # a number within a hazard's name, padded so that B-2 comes before B-10
# Costs that are told of several rows together: how much was looked at, what was left out, and the time.
_SUMMED = ("rows", "different", "not_understood", "deviating", "states", "cut", "obligations", "inputs", "cases",
           "examples", "runs", "seconds", "cpu_seconds")


class Group(StrEnum):
    """Parts of the verdict table, in their order; the value is the title."""

    PROMISED = "Promised"
    CLAIMS = "Decisions and strategies"
    COMPARED = "Compared with RocketMQ"
    SUPPORTING = "Supporting facts"


@dataclass(frozen=True, slots=True)
class Part:
    """Rows with one outcome and one standing (expected, different, unknown): how many, of what, by which hazards."""

    outcome: Outcome
    standing: str
    count: int
    of: str  # what is counted; empty where it was said before
    hazards: tuple[str, ...]

    @property
    def verb(self) -> str:
        """The outcome behind its count: 1 holds, 2 hold."""
        return "hold" if self.outcome is Outcome.HOLDS and self.count > 1 else str(self.outcome)

    @property
    def words(self) -> str:
        """What stands behind the outcome: "as expected in 3 scopes"."""
        said = "as expected " if self.outcome is Outcome.VIOLATED and self.standing == "expected" else ""
        said += "against expectation " if self.standing == "different" else ""
        return f"{said}in {self.count:,}" + (f" {self.of}{'s' * (self.count != 1)}" if self.of else "")


def planted(row: Verdict) -> bool:
    """Whether the row is about a planted bug."""
    return MUTATION in row.subject.details


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by key, in their order."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def split(rows: Iterable[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Rows about RocketMQ, and rows about planted bugs."""
    rows = list(rows)
    return [row for row in rows if not planted(row)], [row for row in rows if planted(row)]


def noticed(rows: Sequence[Verdict]) -> str:
    """What became of planted bugs: "2 of 4 planted mutations noticed, 1 never executed, 1 unknown"."""
    seen = sum(row.as_expected for row in rows)
    doubtful = Counter(str(row.outcome) for row in rows if row.outcome.is_unknown)
    told = [f"{seen:,} of {len(rows):,} planted mutation{'s' * (len(rows) != 1)} noticed"]
    return ", ".join([*told, *(f"{count:,} {outcome}" for outcome, count in sorted(doubtful.items()))])


def kind(row: Verdict) -> str:
    """What the property is (always, step, leads_to, lemma, …) if the row says so, else the kind of its subject."""
    return str(row.subject.details.get("kind") or row.subject.kind)


def kinds(rows: Iterable[Verdict]) -> list[str]:
    """Kinds that occur, promises first."""
    return sorted({kind(row) for row in rows}, key=lambda one: (index(_KINDS, one), one))


def group(rows: Iterable[Verdict]) -> Group:
    """Where a property stands: where its most prominent row belongs. What is not known is never folded away."""
    order = list(Group)
    return order[min(order.index(_group(row)) for row in rows)]


def _group(row: Verdict) -> Group:
    if row.property in RELIED_ON or kind(row) in _PROMISED:
        return Group.PROMISED
    if kind(row) in _SUPPORTING:
        return Group.SUPPORTING
    if row.subject.kind in {"decision", "strategy", "class"}:
        return Group.CLAIMS
    return Group.COMPARED if row.judge == "conform" else Group.PROMISED


def by_property(rows: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Rows by property: group after group, headlines in their order, then concept by concept, then by name.

    Within a property: by judge, then by subject.
    """
    found = grouped(rows, lambda row: row.property)
    of = {name: concepts(own) for name, own in found.items()}

    def key(name: str) -> tuple[int, int, list[str], str]:
        return list(Group).index(group(found[name])), index(RELIED_ON, name), of[name], name
    return {name: sorted(found[name], key=_within) for name in sorted(found, key=key)}


def _within(row: Verdict) -> tuple[tuple[int, str], str, str]:
    return judge_order(row.judge), row.subject.name, row.to_json()


def judge_order(judge: str) -> tuple[int, str]:
    """Sorts judges: proofs first, unknown ones last, by name."""
    return index(JUDGES, judge), judge


def hazard_order(names: Sequence[str]) -> list[str]:
    """Sorts hazards as people count: B-2 before B-10."""
    return [re.sub(r"\d+", lambda number: number[0].zfill(_DIGITS), name) for name in names]


def hazards(names: Iterable[str]) -> list[Hazard]:
    """Hazards by name; one that is not in the list has no sentence."""
    return [HAZARDS.get(name, Hazard(name, "", "")) for name in names]


def concepts(rows: Sequence[Verdict]) -> list[str]:
    """The concepts that a property's rows are about, sorted."""
    stated = {str(row.subject.details["concept"]) for row in rows if "concept" in row.subject.details}
    return sorted(stated) if stated else [min(map(_guessed, rows), default=(0, ""))[1]]


def concept(row: Verdict, rows: Sequence[Verdict]) -> str:
    """A row's concept: the one it states, else the first of its property's."""
    return str(row.subject.details.get("concept") or concepts(rows)[0])


def _guessed(row: Verdict) -> tuple[int, str]:
    """The first word of a model's or decision's name; what users' and shipped strategies are about; else the kind."""
    word = re.match(r"[a-z][a-z_]*", row.subject.name)
    if word and row.subject.kind in {"model", "decision"}:
        return int(row.subject.kind != "model"), word[0]
    return 2, "allocation" if row.subject.kind in {"strategy", "class"} else row.subject.kind


def parts(rows: Sequence[Verdict]) -> list[Part]:
    """Rows summed up: what needs a look first, then violated as expected, then what holds."""
    found = grouped(rows, lambda row: (STANDINGS.index(words.standing(row)), row.outcome))
    first = (Outcome.VIOLATED, Outcome.HOLDS)
    ordered = sorted(found.items(), key=lambda item: (item[0][0], index(first, item[0][1]), item[0][1]))
    return [Part(outcome, STANDINGS[standing], len(own), "" if at else noun(rows), _hazards(own))
            for at, ((standing, outcome), own) in enumerate(ordered)]


def _hazards(rows: Sequence[Verdict]) -> tuple[str, ...]:
    names = {name for row in rows if row.outcome is Outcome.VIOLATED for name in row.hazard}
    return tuple(sorted(names, key=lambda name: (hazard_order([name]), name)))


def noun(rows: Sequence[Verdict]) -> str:
    """What rows are counted as: scopes of a model, claims about decisions, cases of strategies, files, proofs."""
    nouns = {"proof" if row.judge == "prove" and row.subject.kind == "model" else _NOUNS.get(row.subject.kind, "case")
             for row in rows}
    return nouns.pop() if len(nouns) == 1 else "case"


def counted(rows: Sequence[Verdict]) -> str:
    """How many scopes, claims, cases there are: "3 scopes"."""
    return f"{len(rows):,} {noun(rows)}{'s' * (len(rows) != 1)}"


def total(rows: Sequence[Verdict]) -> dict[str, object]:
    """Costs of several rows together: sums of what is told of many, nothing that is 0; of one row its own."""
    if len(rows) == 1:
        return dict(rows[0].cost)
    sums = {key: sum(value for row in rows if words.is_number(value := row.cost.get(key))) for key in _SUMMED}
    return {key: value for key, value in sums.items() if value}


def seconds(cost: Mapping[str, object]) -> float | None:
    """Seconds of a cost, of the processor if they are known; None without any."""
    for key in ("cpu_seconds", "seconds"):
        if words.is_number(value := cost.get(key)):
            return value
    return None


def urgency(row: Verdict) -> int:
    """Order when sorted by outcome: different, unknown, violated as expected, holds."""
    standing = STANDINGS.index(words.standing(row))
    return standing + (standing == len(STANDINGS) - 1 and row.outcome is Outcome.HOLDS)


def given(rows: Iterable[Verdict]) -> list[str]:
    """The premises that rows state, each once, in their order."""
    stated = [row.subject.details.get("given") for row in rows]
    return list(dict.fromkeys(str(name) for names in stated if isinstance(names, list | tuple) for name in names))


def index(names: Collection[str], name: str) -> int:
    """The place of a name; behind all others if it is not among them."""
    return [*names, name].index(name)
