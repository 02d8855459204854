"""Obligations of claims about decisions as SMT-LIB files: `rocketproof prove CLAIM --dump DIR`.

One file for each path of the code, on which the claim must be true; for each side of a question that no input takes;
for the rule about multiples, which all of them may use; and for an input that the claim is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path as File

from proofs import terms
from proofs.dump import Fact, Script, said
from proofs.path_questions import falsehood, rule_of_multiples, spoken
from proofs.path_runs import Answers, Path
from proofs.paths import PathTable
from proofs.reading import Called
from proofs.smtlib import Writer
from proofs.solve import Answer


@dataclass(frozen=True, slots=True)
class _Owed:
    """What is asked about a table: a name for the file, what it says, the formulas, and what was answered."""

    name: str
    title: str
    facts: Sequence[Fact]
    answer: Answer


def write(folder: File, claim: str, table: PathTable, answers: Sequence[Answer], about: Path | None) -> None:
    """Write what a claim owes, in a folder of its own.

    answers -- for the paths of which it says something. about -- one of these that an input takes, if one is known.
    """
    writer, below = Writer(), folder / "decisions" / claim
    below.mkdir(parents=True, exist_ok=True)
    for number, owed in zip(count(1), _owed(table, answers, about), strict=False):
        comments = (f"{claim}: {owed.title}", said(owed.answer, "an input"))
        text = Script(writer, owed.facts).text(comments, owed.answer)
        (below / f"{number:03}-{owed.name}.smt2").write_text(text, encoding="utf-8")


def _owed(table: PathTable, answers: Sequence[Answer], about: Path | None) -> Iterator[_Owed]:
    known = _premises(table)
    paths = spoken(table)[:len(answers)]
    for number, (path, answer) in enumerate(zip(paths, answers, strict=True), 1):
        taken = [*known, *_along(path.answers)]
        if path.error is None:
            taken.append((Called("goal", "negated"), falsehood(path)[-1]))
        yield _Owed(f"true-path-{number}", f"the claim is true on path {number}", taken, answer)
    for number, side in enumerate(table.cut_off, 1):
        facts = [*known, *_along(side)]
        yield _Owed(f"impossible-side-{number}", f"no input takes side {number}", facts, Answer.PROVED)
    yield _Owed("rule-multiples", "a multiple of a positive number is 0, or at least that number",
                [(Called("goal", "negated"), terms.negation(rule_of_multiples(table.domain.ctx)))], Answer.PROVED)
    if about is not None:
        number = next(number for number, path in enumerate(paths, 1) if path is about)
        yield _Owed(f"possible-path-{number}", f"some input takes path {number}", [*known, *_along(about.answers)],
                    Answer.REFUTED)


def _premises(table: PathTable) -> list[Fact]:
    divisions = ((Called("division", ""), axiom) for axiom in table.divisions.axioms)
    return [(Called("domain", ""), table.domain), *divisions]


def _along(answers: Answers) -> list[Fact]:
    return [(Called("answer", str(number)), one.term()) for number, one in enumerate(answers.given, 1)]
