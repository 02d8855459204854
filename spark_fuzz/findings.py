"""What follows from the rows of the campaign about decisions: a verdict for each subject and property.

A counterexample that a worker reports is put to the strategy again here before it is believed; one that does not come
out the same is no violation but an unknown: something in the code is not deterministic.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from invariants import evidence as evidence_files
from invariants.allocation.answers import Observed, observe, shown
from invariants.allocation.cases import Case
from invariants.allocation.claims import STRATEGY_CLAIMS
from invariants.verdict import Outcome, Subject, Verdict
from spark_fuzz import decisions
from spark_fuzz.asked import USUAL, Asked
from spark_fuzz.work import Row


@dataclass
class _Found:
    """What is known about one property of one subject.

    inputs, violated, silent -- how many cases were judged, how many of them violate it, how many could not be judged.
    grid, runs -- how many units of the grid, and how many random ones, are done; failures -- why others failed.
    smallest -- (rank, unit, case as JSON, sentence) of the smallest counterexample.
    """

    inputs: int = 0
    violated: int = 0
    silent: int = 0
    grid: int = 0
    runs: int = 0
    cpu_us: int = 0
    failures: list[str] = field(default_factory=list)
    smallest: tuple[int, str, str, str] | None = None

    def take(self, row: Row, *, in_grid: bool) -> None:
        """Count a row."""
        self.inputs += row["inputs"]
        self.violated += row["violated"]
        self.silent += row["silent"]
        self.cpu_us += row["cpu_us"]
        self.grid += in_grid
        self.runs += not in_grid
        if row["rank"] is not None:
            found = (row["rank"], row["unit"], row["case"], row["sentence"])
            self.smallest = found if self.smallest is None else min(self.smallest, found)


class Findings:
    """The book of the campaign about decisions.

    table, seed -- of the campaign. folder -- where evidence is written, for the commands that replay it.
    asked -- what is told.
    """

    def __init__(self, table: str, seed: int, folder: Path, asked: Asked = USUAL) -> None:
        """Nothing is found yet."""
        self._subjects = decisions.subjects(table)
        self._seed, self._folder, self._table, self._asked = seed, folder, table, asked
        self._grid = {unit.id: unit for unit in decisions.grid(table)}
        self._found = {(key, name): _Found() for key, row in self._subjects.items() for name in row.expected}
        self._replayed: dict[tuple[int, str, str, str], Observed | None] = {}

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows of work, and failed ones."""
        for row in rows:
            if row["error"] is not None:
                self._fail(row["unit"], row["error"])
            else:
                self._found[row["subject"], row["property"]].take(row, in_grid=row["unit"] in self._grid)

    def _fail(self, unit: str, error: str) -> None:
        """Everything that the unit would have judged is in doubt."""
        subject, joins = decisions.judged_by(unit)
        for name in decisions.judged(self._subjects[subject], joins=joins):
            self._found[subject, name].failures.append(f"{unit}: {error}")

    def inputs(self) -> int:
        """How many judgements were made: cases times properties."""
        return sum(found.inputs for found in self._found.values())

    def verdicts(self) -> list[Verdict]:
        """A row for each subject and property, in the order of the table."""
        return self._asked.told(self._verdict(key, name, found) for (key, name), found in self._found.items())

    def evidence(self) -> dict[str, dict[str, Any]]:
        """A counterexample for each violation."""
        documents = {}
        for (key, name), found in self._found.items():
            seen = self._again(key, name, found) if self._asked.about(name) else None
            if seen is not None:
                documents[_file(key, name)] = self._document(self._verdict(key, name, found), seen)
        return documents

    def _document(self, verdict: Verdict, seen: Observed) -> dict[str, Any]:
        answers = zip(seen.case.views, seen.answers, strict=True)
        results = {f"{place} {view.me}": _answered(answer) for place, (view, answer) in enumerate(answers)}
        return evidence_files.document(
            verdict, "counterexample", f"{verdict.note}.", arguments=seen.case.to_json(), results=results,
            table=seen.table(), strategies=self._table,
        )

    def _verdict(self, key: str, name: str, found: _Found) -> Verdict:
        row = self._subjects[key]
        expected = row.expected[name]
        outcome = self._outcome(key, name, found)
        violated = outcome is Outcome.VIOLATED
        file = Path("evidence") / _file(key, name)
        return Verdict(
            property=name, judge="campaign", subject=Subject("strategy", row.name, row.details()),
            expected=Outcome(expected.outcome), outcome=outcome,
            hazard=expected.hazards if violated else (),
            cost={"inputs": found.inputs, "violated": found.violated, "units": found.grid + found.runs,
                  "cpu_seconds": round(found.cpu_us / 1e6, 3)},
            evidence=str(file) if violated else None, seed=self._seed,
            replay=self._replay(file) if violated else self._command(),
            note=self._note(key, name, found, outcome),
        )

    def _replay(self, file: Path) -> str:
        """The evidence put to the strategy again; a strategy from elsewhere is known to the campaign only."""
        return evidence_files.replayed(self._folder / file) if self._table == decisions.TABLE else self._command()

    def _command(self) -> str:
        where = f"--seed {self._seed} --out {shlex.quote(str(self._folder))}"
        options = f"--decisions {self._asked.options()} {where}"
        if self._table == decisions.TABLE:
            return f"rocketproof campaign {options}"
        return f"python -m spark_fuzz {options} --strategies {self._table}"

    def _outcome(self, key: str, name: str, found: _Found) -> Outcome:
        if found.smallest is not None:
            return Outcome.VIOLATED if self._again(key, name, found) else Outcome.UNKNOWN
        return Outcome.UNKNOWN if found.failures or found.silent or not found.inputs else Outcome.HOLDS

    def _again(self, key: str, name: str, found: _Found) -> Observed | None:
        """The smallest counterexample, observed here; None if there is none or it does not come out the same."""
        smallest = found.smallest
        if smallest is None:
            return None
        if smallest not in self._replayed:
            case = Case.from_json(json.loads(smallest[2]))
            seen = observe(self._subjects[key].make(case), case)
            self._replayed[smallest] = seen if STRATEGY_CLAIMS[name].wrong(seen) == smallest[3] else None
        return self._replayed[smallest]

    def _note(self, key: str, name: str, found: _Found, outcome: Outcome) -> str:
        if found.smallest is not None:
            again = "" if outcome is Outcome.VIOLATED else "; not so when it was put to the strategy again"
            return f"{_size(found.smallest[2])}: {found.smallest[3]}{again}"
        if found.failures:
            return f"{len(found.failures)} units failed, the first: {min(found.failures)}"
        if found.silent:
            return f"{found.silent} of {found.silent + found.inputs} cases could not be judged: a call gave no list"
        return self._extent(key, name, found) if found.inputs else "not reached in the time given"

    def _extent(self, key: str, name: str, found: _Found) -> str:
        """How much of the sizes was covered, and how many random units."""
        joins = STRATEGY_CLAIMS[name].joins
        of = sum(unit.body["subject"] == key and unit.body["joins"] == joins for unit in self._grid.values())
        sizes = f"all sizes up to {decisions.QUEUES} queues x {decisions.MEMBERS} members"
        covered = sizes if found.grid == of else f"{found.grid} of {of} parts of {sizes}"
        return covered + (f", {found.runs} units of random ones" if found.runs else "")


def _answered(answer: Any) -> Any:
    """An answer as JSON values."""
    return [shown(queue) for queue in answer] if isinstance(answer, tuple) else answer.text


def _size(case: str) -> str:
    """The size of a case given as JSON."""
    views = json.loads(case)["views"]
    queues = {tuple(queue) for view in views for queue in view["queues"]}
    n, m = len(queues), len(views)
    return f"{n} queue{'s' * (n != 1)}, {m} member{'s' * (m != 1)}"


def _file(key: str, name: str) -> str:
    """Name of the evidence file of a subject's property."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in f"{name} {key}")
    known = blake2b(key.encode(), digest_size=3).hexdigest()  # long keys are cut, and may differ in signs only
    return "-".join([*filter(None, plain.split("-")), ""])[:120] + known + ".json"
