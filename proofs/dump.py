"""Obligations as SMT-LIB files, one each, for other solvers and for people: `rocketproof prove --dump DIR`.

A file stands by itself: declarations, named assertions, the goal negated, and the answer that the solver gave. What is
owed by claims about decisions is written by `proofs.dump_claims`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError
from model.language import Concept
from proofs import terms
from proofs.obligations import FOLLOWS, Obligation
from proofs.reading import Called, Expr
from proofs.smtlib import Writer
from proofs.solve import Answer, Solved
from proofs.solvers import Asker, Solver
from proofs.unbounded import Unbounded
from proofs.written import SET, Written

STATUS = {Answer.PROVED: "unsat", Answer.REFUTED: "sat", Answer.UNKNOWN: "unknown"}
Fact = tuple[Called, Expr]
"""A formula with its name for people."""


def said(answer: Answer, of: str) -> str:
    """Say in a sentence what was answered about formulas of a state, or of an input."""
    return {Answer.PROVED: f"There is no such {of.rsplit(maxsplit=1)[-1]}.", Answer.REFUTED: f"There is such {of}.",
            Answer.UNKNOWN: f"Whether there is such {of} is not known."}[answer]


class Dumped:
    """A solver that writes down what it is asked."""

    def __init__(self, solver: Solver, folder: Path) -> None:
        """Write into the folder, a folder below for each concept."""
        self._solver, self._folder = solver, folder
        self.name = solver.name

    @property
    def details(self) -> Mapping[str, Any]:
        """What rows say of it."""
        return self._solver.details

    def asker(self, concept: Concept, what: str) -> tuple[Written, Asker]:
        """A new reading, and who answers about it, and writes."""
        reading, asker = self._solver.asker(concept, what)
        return reading, _Writing(asker, reading, self._folder / concept.name / what)

    def searched(self, concept: Concept) -> Iterator[Unbounded]:
        """Readings in which models are looked for."""
        return self._solver.searched(concept)

    def has_model(self, formulas: Sequence[Expr]) -> bool:
        """Whether a model was found."""
        return self._solver.has_model(formulas)


def dumped(solver: Solver, folder: Path | None) -> Solver:
    """The solver, which writes down what it is asked if there is a folder for that; raises BadInputError for a file."""
    if folder is None:
        return solver
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"{folder}: cannot be written ({error.strerror}); give another folder") from error
    return Dumped(solver, folder)


class _Writing:
    def __init__(self, asker: Asker, reading: Written, folder: Path) -> None:
        self._asker, self._reading, self._folder = asker, reading, folder
        self._writer, self._numbers = Writer(), count(1)

    def asked(self, obligation: Obligation) -> Solved:
        solved = self._asker.asked(obligation)
        if obligation.part == FOLLOWS and solved.answer is not Answer.PROVED:
            return solved  # a short cut that is none: nobody owes it
        words = (f"{next(self._numbers):03}", obligation.part, obligation.invariant, obligation.action)
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{'-'.join(word for word in words if word)}.smt2"
        path.write_text(script(obligation, self._reading, self._writer, solved.answer), encoding="utf-8")
        return solved


def script(obligation: Obligation, reading: Written, writer: Writer, answer: Answer) -> str:
    """The file of an obligation with the answer that was given."""
    facts = [(reading.name_of(fact) or Called("fact", ""), fact)
             for fact in (*obligation.assumed, *obligation.hypotheses) if terms.known(fact) is not True]
    facts.append((Called("goal", "negated"), terms.negation(obligation.goal)))
    meaning = writer.meaning(reading, [fact for _, fact in facts])
    facts = [*((Called("meaning", ""), one) for one in meaning), *facts]
    return Script(writer, facts).text((f"{reading.concept.name}: {obligation}", said(answer, "a state")), answer)


class Script:
    """A file that asks whether some formulas can be true together."""

    def __init__(self, writer: Writer, facts: Sequence[Fact]) -> None:
        """Name them in this order."""
        self._writer, self._facts, self._names = writer, facts, _Names()

    def text(self, comments: Sequence[str], answer: Answer) -> str:
        """The file, with the answer that was given."""
        written = [self._writer.text(fact) for _, fact in self._facts]
        declared = dict.fromkeys(chain.from_iterable(one.declarations for one in written))
        lines = [*(f"; {comment}" for comment in comments),
                 "(set-info :smt-lib-version 2.6)", f"(set-info :status {STATUS[answer]})", "(set-logic ALL)", "",
                 *(self._names.read(one) for one in sorted(declared, key=_is_function)), ""]
        for (called, _), one in zip(self._facts, written, strict=True):
            lines += [f"; {called.text}"] if called.text else []
            name = self._names.new(".".join(word for word in (called.kind, *called.name.split()) if word))
            lines.append(f"(assert (! {self._names.read(one.formula)} :named {name}))")
        return "\n".join([*lines, "", "(check-sat)", ""])


def _is_function(declaration: str) -> bool:
    """Sorts come first, in their order."""
    return declaration.startswith("(declare-fun")


class _Names:
    """Names for people in one file: `listed` for what Z3 calls |now listed|; names that would be equal are numbered."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken = set(_RESERVED)

    def read(self, text: str) -> str:
        """The text with these names."""
        return _QUOTED.sub(lambda found: self._given.get(found[0]) or self._give(found[0]), text)

    def new(self, name: str) -> str:
        """The name, or with a number behind it."""
        numbered = (f"{name}.{number}" for number in count(2))
        name = next(one for one in chain([name], numbered) if one not in self._taken)
        self._taken.add(name)
        return name if _SIMPLE.fullmatch(name) else f"|{name}|"

    def _give(self, quoted: str) -> str:
        self._given[quoted] = self.new(_spoken(quoted.strip("|")))
        return self._given[quoted]


_QUOTED = re.compile(r"\|[^|]*\||(?:quotient|remainder)!\d+")
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_RESERVED = re.findall(r"\S+", """
Array Bool Int List Map Real Seq Set String abs and as assert bag const default distinct div divisible emp exists exp
false forall head if iff implies insert int is ite let map match mod nil not or par pi pto real rel select sep seq set
sin store string tail to_int to_real true tuple update xor
""")
_SHAPES = (
    (re.compile(r"(?:free|nat) \('(\w+)',\)"), "{}"),
    (re.compile(r"choice \('(\w+)',[^)]*\) is (\w+)"), "{}.{}"),
    (re.compile(r"choice \('(\w+)',[^)]*\)"), "{}"),
    (re.compile(r"(maybe|nothing|just|held) of (.*)"), "{}.{}"),
    (re.compile(rf"{SET} \d+ (.*)"), "some.{}"),
    (re.compile(r"fresh \d+ (.*)"), "{}"),
    (re.compile(r"forgotten \d+ \d+ (.*)"), "forgotten.{}"),
    (re.compile(r"(?:now|rigid|argument) (.*)"), "{}"),
    (re.compile(r"(quotient|remainder)!(\d+)"), "{}.{}"),
)
"""What Z3's names say, and how people say it."""


def _spoken(name: str) -> str:
    for shape, said in _SHAPES:
        if found := shape.fullmatch(name):
            return said.format(*map(_spoken, found.groups()))
    return name
