"""The verdict rows of a history: one for each check, and one for the file itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from invariants.histories.checks import CHECKS, Check, Finding, Problem, Told, Unjudged
from invariants.histories.operations import MARKS, Operation
from invariants.verdict import Outcome, Subject, Verdict

WELL_FORMED = "history_is_well_formed"
"""The property of the file: every row is an operation, and has its beginning."""
SHOWN = 3
"""So many findings of each check are shown."""


@dataclass
class Tally:
    """What was said of a history: counts of all, examples of each, in an order that no worker can change.

    operations -- how many there are. present -- the kinds of operations and the MARKS that it has. found, missing --
    how often each check has found something, or could not judge. bad -- rows that are no operations, and those that
    contradict others.
    """

    operations: int = 0
    present: set[str] = field(default_factory=set)
    found: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    bad: int = 0
    findings: list[Finding] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)

    def count(self, operations: Sequence[Operation]) -> None:
        """Note what a history has."""
        self.operations += len(operations)
        self.present |= {one.kind for one in operations}
        self.present |= {name for name in MARKS if any(getattr(one, name) for one in operations)}

    def take(self, told: Iterable[Told], row_of: Mapping[int, str], name: str) -> Iterator[Told]:
        """Count what is told, and pass it on.

        row_of -- of the id of an operation its file and row, where that is known. name -- of the history.
        """
        for one in told:
            match one:
                case Finding():
                    self.found[one.check] += 1
                    if self.found[one.check] <= SHOWN:
                        self.findings.append(one)
                case Unjudged():
                    self.missing[one.check] += 1
                    self.reasons.setdefault(one.check, one.missing)
                case Problem():
                    where = f"{name}, operation {one.operation.seq} of {one.operation.process}"
                    self.complain(f"{row_of.get(id(one.operation), where)}: {one.sentence}")
            yield one

    def complain(self, sentence: str) -> None:
        """Note what is wrong with a row."""
        self.bad += 1
        self.sentences.append(sentence)


def in_order(sentences: Iterable[str]) -> list[str]:
    """Sentences about rows by file and row: the tenth one comes behind the second."""
    return sorted(sentences, key=lambda one: [
        int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", one)])


def rows(tally: Tally, name: str, replay: str) -> Iterator[Verdict]:
    """The rows of a judged history."""
    subject, cost = Subject("file", name), {"operations": float(tally.operations)}
    outcome = Outcome.UNKNOWN if tally.bad else Outcome.HOLDS
    note = "" if not tally.bad else f"{tally.bad} row{'s' * (tally.bad != 1)}; first: {in_order(tally.sentences)[0]}"
    yield Verdict(WELL_FORMED, "judge", subject, Outcome.HOLDS, outcome, replay, cost=cost, note=note)
    for check in CHECKS.values():
        found, missing = tally.found[check.name], tally.missing[check.name]
        outcome = _outcome(check, tally)
        expected = Outcome.NOT_MET if outcome is Outcome.NOT_MET else Outcome.HOLDS
        yield Verdict(check.property, "judge", subject, expected, outcome, replay,
                      cost={**cost, "findings": float(found), "unjudged": float(missing)}, note=_note(check, tally))


def _outcome(check: Check, tally: Tally) -> Outcome:
    if tally.found[check.name]:
        return Outcome.VIOLATED
    if tally.missing[check.name]:
        return Outcome.UNKNOWN
    return Outcome.HOLDS if tally.present.intersection(check.about) else Outcome.NOT_MET


def _note(check: Check, tally: Tally) -> str:
    if _outcome(check, tally) is Outcome.NOT_MET:
        return f"the history has no {' and no '.join(check.about)}"
    found, missing = tally.found[check.name], tally.missing[check.name]
    said = [f"{check.name.replace('_', ' ')}: {found} time{'s' * (found != 1)}, first: {_first(check, tally)}"] \
        if found else []
    if missing:
        said.append(f"{missing} not judged, for want of {tally.reasons[check.name]}")
    return "; ".join(said)


def _first(check: Check, tally: Tally) -> str:
    """What the first finding of a check says."""
    return next(one.sentence for one in tally.findings if one.check == check.name).rstrip(".")


def document(finding: Finding) -> str:
    """A finding as one line of JSON."""
    check = CHECKS[finding.check]
    operations = [{name: value for name, value in one._asdict().items() if value is not None}
                  for one in finding.operations]
    return json.dumps({"check": check.name, "property": check.property, "by": check.by, "group": finding.group,
                       "sentence": finding.sentence, "operations": operations})
