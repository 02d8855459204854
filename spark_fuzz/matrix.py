"""The kill matrix: planted bugs against judges; in each cell who noticed it first, and how long that took.

Beside the bugs stands the control, whose row must be empty. Every subject is hunted with the same seeds (`hunts`).
Medians and quartiles are over all hunts of a subject: one in which a judge saw nothing counts as longer than any other.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from impl.variants.catalogue import BUGS
from invariants.evidence import replayed
from invariants.runs import NOTICED, SILENT
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from spark_fuzz import hunts
from spark_fuzz.asked import USUAL, Asked
from spark_fuzz.cells import MATRIX, QUARTERS, Cell, median, quartiles
from spark_fuzz.confirmed import documents, file_of, settle, tests
from spark_fuzz.effect import FINGERPRINT_BYTES, Effect
from spark_fuzz.failures import Failure, Recording
from spark_fuzz.sightings import named
from spark_fuzz.simulation import BETWEEN, CONTROL, check_subjects, subject_of
from spark_fuzz.work import Row, Unit, refuse_mistake
from stateful_tests.worlds.subjects import subject_named

SEEDS = 20


@dataclass(frozen=True)
class MatrixAim:
    """What is hunted.

    subjects -- their names, the control first. seeds -- hunts of each. seed -- which ones. worlds -- of each hunt.
    """

    subjects: tuple[str, ...]
    seeds: int = SEEDS
    seed: int = 0
    worlds: int = hunts.WORLDS

    @classmethod
    def of(cls, variants: Sequence[str], seeds: int = SEEDS, seed: int = 0) -> MatrixAim:
        """The aim that people name; without variants all planted bugs. Raises BadInputError for what is not there."""
        if seeds < 1:
            raise BadInputError(f"--seeds {seeds}: give a number from 1")
        subjects = tuple(dict.fromkeys([CONTROL, *map(subject_of, variants or BUGS)]))
        check_subjects(subjects)
        for name in subjects:
            _check_hunted(name)
        return cls(subjects, seeds, seed)

    def header(self) -> dict[str, Any]:
        """What makes two of them the same; more seeds go on where fewer ended."""
        return {"campaign": "kill-matrix", "subjects": list(self.subjects), "seed": self.seed, "worlds": self.worlds}

    def units(self) -> Iterator[Unit]:
        """The claims about decisions of each subject, then hunt by hunt through the subjects."""
        for subject in self.subjects:
            yield Unit(BETWEEN.join([subject, "decisions"]), {"subject": subject}, self.worlds)
        for number in range(self.seed * 1_000, self.seed * 1_000 + self.seeds):
            for subject in self.subjects:
                body = {"subject": subject, "hunt": number, "worlds": self.worlds}
                yield Unit(BETWEEN.join([subject, f"hunt {number}"]), body, self.worlds)


def _check_hunted(name: str) -> None:
    """Raise BadInputError for a subject that is neither a planted bug on all repairs nor lacks the repair of a hazard.

    The control is no base of any other.
    """
    known = subject_named(name)
    if known.kind not in {None, "bug"} or known.base not in {None, CONTROL}:
        raise BadInputError(f"{known.title}: a kill matrix hunts planted bugs that lie on repaired; say "
                            f"`rocketproof campaign --subject {shlex.quote(name)}`")


@dataclass
class _Hunted:
    """What is known of one subject.

    effect -- calls; runs are compared when all is known. kills -- by judge and hunt. lives -- by hunt: all that was
    lived through.
    """

    effect: Effect
    kills: dict[tuple[str, int], Row] = field(default_factory=dict)
    lives: dict[int, Row] = field(default_factory=dict)
    asked: Row | None = None
    doubts: list[str] = field(default_factory=list)
    failure: Failure | None = None
    cpu_us: int = 0


class Matrix:
    """The book of the kill matrix. folder -- of the ledger, for the commands that it names. asked -- what is told."""

    def __init__(self, aim: MatrixAim, folder: Path, asked: Asked = USUAL) -> None:
        """Nothing is known yet."""
        self._aim, self._folder, self._asked = aim, folder, asked
        self._of = {subject: _Hunted(Effect(subject)) for subject in aim.subjects}

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows of units, failed ones too; raises BadInputError for a mistake in a file of one's own."""
        counted: set[str] = set()
        for row in rows:
            refuse_mistake(row)
            hunted = self._of[_subject(row["unit"])]
            if row["unit"] not in counted:
                counted.add(row["unit"])
                hunted.cpu_us += row["cpu_us"]
            if row["error"] is not None:
                self._failed(hunted, row)
            else:
                _take(hunted, row)

    def _failed(self, hunted: _Hunted, row: Row) -> None:
        if hunted.failure is not None and " again " in row["unit"]:
            hunted.failure.unanswered(row["error"])
        else:
            hunted.doubts.append(f"{row['unit']}: {row['error']}")

    def inputs(self) -> int:
        """How many runs there were."""
        return sum(life["runs"] for hunted in self._of.values() for life in hunted.lives.values())

    def questions(self) -> Iterator[Unit]:
        """The first kill of each subject, to be played again, for its evidence."""
        return (one.question() for one in self._failures() if not one.answers and not one.doubt)

    def wishes(self) -> Iterator[Unit]:
        """The same, to be made simpler."""
        return (wished for one in self._failures() if (wished := one.wish()) is not None)

    def settle(self) -> bool:
        """Play a kill here that a worker has seen again; whether there was one."""
        return settle(self._failures())

    def effect(self, subject: str) -> Effect:
        """What the variant has done; its runs are compared with those of the control in the same worlds."""
        hunted = self._of[subject]
        found = replace(hunted.effect, compared=0, different=0)
        for number, life in hunted.lives.items():
            base = self._of[CONTROL].lives.get(number)
            if base is not None and subject != CONTROL:
                pairs = list(zip(_fingerprints(base), _fingerprints(life), strict=False))
                found.compare(len(pairs), sum(one != other for one, other in pairs))
        return found

    # Cells --------------------------------------------------------------------------------------------------------

    def cells(self, subject: str) -> dict[str, Cell]:
        """The row of a subject, by judge."""
        hunted = self._of[subject]
        cells = {judge: _cell(hunted, judge) for judge in hunts.JUDGES if judge != hunts.DECISIONS}
        cells[hunts.DECISIONS] = _asked_cell(hunted.asked)
        return cells

    def rows(self) -> dict[str, dict[str, Cell]]:
        """All rows, by subject."""
        return {subject: self.cells(subject) for subject in self._of}

    # Verdicts -----------------------------------------------------------------------------------------------------

    def verdicts(self) -> list[Verdict]:
        """A row for each subject."""
        return [self._verdict(subject, hunted) for subject, hunted in self._of.items()]

    def _verdict(self, subject: str, hunted: _Hunted) -> Verdict:
        control, effect = subject == CONTROL, self.effect(subject)
        cells = self.cells(subject)
        killers = {judge: cell for judge, cell in cells.items() if cell.killed}
        outcome = Outcome.HOLDS if bool(killers) is not control else Outcome.VIOLATED
        note = "; ".join(f"{judge}: {cell.property} in {cell.killed} of {cell.of}" for judge, cell in killers.items())
        why = self._unknown(hunted)
        if why and (hunted.doubts or not killers):
            outcome, note = Outcome.UNKNOWN, "; ".join(filter(None, (why, note)))
        elif not control:
            outcome, note = _together(killers, outcome, note, effect)
        shown = hunted.failure is not None and hunted.failure.believed
        file = Path("evidence") / file_of(hunted.failure) if hunted.failure and shown else None
        return Verdict(
            SILENT if control else NOTICED, "campaign", Subject("variant", subject) if control else named(subject),
            Outcome.HOLDS, outcome,
            replayed(self._folder / file) if file else self._command(subject),
            cost={**_cost(hunted, killers), **({} if control else effect.cost())},
            evidence=str(file) if file else None, seed=self._aim.seed,
            note="; ".join([note or f"nothing is seen in {len(hunted.lives)} hunts",
                            *([] if control else [effect.sentence()])]),
        )

    def _unknown(self, hunted: _Hunted) -> str:
        """Why nothing can be said of a subject that nobody has killed; of one whose hunts have failed in any case."""
        if hunted.doubts:
            return hunted.doubts[0]
        if unknown := sum(life["unknown"] for life in hunted.lives.values()):
            return f"{unknown} runs could not be judged"
        reached = len(hunted.lives) == self._aim.seeds and hunted.asked is not None
        return "" if reached else f"{len(hunted.lives)} of {self._aim.seeds} hunts are done; give it more time"

    def _command(self, subject: str) -> str:
        name = "" if subject == CONTROL else f" --variant {shlex.quote(subject.removeprefix(CONTROL + '+'))}"
        seeds = f"--seeds {self._aim.seeds} --seed {self._aim.seed}"
        return f"rocketproof kill-matrix{name} {seeds} {self._asked.options()}"

    # Files --------------------------------------------------------------------------------------------------------

    def evidence(self) -> Mapping[str, Mapping[str, Any]]:
        """The first kill of each subject."""
        return documents(self._failures(), self._folder)

    def _failures(self) -> list[Failure]:
        return [hunted.failure for hunted in self._of.values() if hunted.failure is not None]

    def files(self) -> Mapping[str, str]:
        """The matrix as JSON, and a test to keep beside each piece of evidence."""
        rows = [self._row(subject, cells) for subject, cells in self.rows().items()]
        text = json.dumps({"judges": hunts.JUDGES, "quantiles": QUARTERS, "rows": rows}, indent=1, ensure_ascii=False)
        return {MATRIX: f"{text}\n", **tests(self._failures())}


    def _row(self, subject: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        effect = None if subject == CONTROL else self.effect(subject).to_json()
        return {"subject": subject_named(subject).title, "sentence": _sentence(subject), "effect": effect,
                "cells": {judge: cell.to_json() for judge, cell in cells.items()}}


def _fingerprints(life: Row) -> list[bytes]:
    """Of the runs of a hunt, in their order."""
    packed = bytes(life["fingerprints"])
    return [packed[at:at + FINGERPRINT_BYTES] for at in range(0, len(packed), FINGERPRINT_BYTES)]


def _together(
    killers: Mapping[str, Cell], outcome: Outcome, note: str, effect: Effect,
) -> tuple[Outcome, str]:
    """What the judges have seen, and what the variant has done: without the second the first is none of its doing."""
    if not killers and effect.outcome is not Outcome.HOLDS:
        return effect.outcome, note
    if set(killers) - {hunts.DECISIONS} and effect.outcome is Outcome.NEVER_EXECUTED:
        return Outcome.UNKNOWN, f"{note}; that is none of the bug's doing, as no run has executed it"
    return outcome, note


def _subject(unit: str) -> str:
    """The subject of a unit, from its id."""
    parts = unit.split(BETWEEN)
    return BETWEEN.join(parts[:-4] if parts[-1].startswith("again ") else parts[:-1])


def _take(hunted: _Hunted, row: Row) -> None:
    match row["kind"]:
        case "kill" if row["unknown"]:
            hunted.doubts.append(f"{row['unit']}: {row['property']} is not seen when the tape is played again")
        case "kill":
            hunted.kills[row["judge"], row["number"]] = row
            if hunted.failure is None:
                key = (row["property"], *json.loads(row["signature"]))
                hunted.failure = Failure(key, expected=False, first=Recording.of(row))
        case "hunted":
            hunted.lives[row["number"]] = row
        case "called":
            hunted.effect.take(row)
        case "asked":
            hunted.asked = row
        case "again" if hunted.failure is not None:
            hunted.failure.answer(row)


def _cell(hunted: _Hunted, judge: str) -> Cell:
    kills = [kill for (one, _), kill in hunted.kills.items() if one == judge]
    names = Counter(kill["property"] for kill in kills)
    lives = list(hunted.lives.values())
    return Cell(
        min(names, key=lambda name: (-names[name], name), default=None), len(kills), len(lives),
        quartiles([kill["steps"] for kill in kills], len(lives)),
        quartiles([kill["time_ms"] for kill in kills], len(lives)),
        median(life["segments"] for life in lives), median(life["time_ms"] for life in lives),
    )


def _asked_cell(asked: Row | None) -> Cell:
    tried, name = (0, None) if asked is None else (asked["steps"], asked["property"])
    steps = (tried if name else None,) * len(QUARTERS)
    return Cell(name, int(bool(name)), int(asked is not None), steps, (None,) * len(QUARTERS), tried, 0)


def _sentence(subject: str) -> str:
    """What a subject is, in a sentence."""
    known = subject_named(subject)
    if known.top is not None:
        return known.top.sentence
    return f"All repairs but those of {', '.join(known.undone)}." if known.undone else "All repairs."


def _cost(hunted: _Hunted, killers: Mapping[str, Cell]) -> dict[str, float]:
    """Plain numbers of a subject; those of a judge begin with its name."""
    lives = hunted.lives.values()
    cost: dict[str, float] = {
        "runs": sum(life["runs"] for life in lives), "segments": sum(life["segments"] for life in lives),
        "hunts": len(hunted.lives), "cpu_seconds": round(hunted.cpu_us / 1e6, 3),
    }
    for judge, cell in killers.items():
        cost[f"{judge}_killed"] = cell.killed
        if cell.steps[1] is not None:
            cost[f"{judge}_median_steps"] = cell.steps[1]
    return cost
