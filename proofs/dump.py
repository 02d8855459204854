"""Obligations as SMT-LIB files, one each, for other solvers and for people: `rocketproof prove --dump DIR`.

A file stands by itself: declarations, named assertions, the goal negated, and the answer that the solver gave.
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
SAID = {Answer.PROVED: "There is no such state: the obligation is proved.",
        Answer.REFUTED: "There is such a state: the obligation is refuted.",
        Answer.UNKNOWN: "Whether there is such a state is not known."}


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

    def asker(self, concept: Concept, what: str, effort: int = 0) -> tuple[Written, Asker]:
        """A new reading, and who answers about it, and writes."""
        reading, asker = self._solver.asker(concept, what, effort)
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
    declared = dict.fromkeys(chain.from_iterable(writer.text(fact).declarations for _, fact in facts))
    names = _Names()
    lines = [f"; {reading.concept.name}: {obligation}", f"; {SAID[answer]}",
             "(set-info :smt-lib-version 2.6)", f"(set-info :status {STATUS[answer]})", "(set-logic ALL)", "",
             *(names.read(one) for one in sorted(declared, key=_is_function)), ""]
    for called, fact in facts:
        if called.text:
            lines.append(f"; {called.text}")
        name = names.new(".".join(word for word in (called.kind, *called.name.split()) if word))
        lines.append(f"(assert (! {names.read(writer.text(fact).formula)} :named {name}))")
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
        self._given[quoted] = self.new(_spoken(quoted[1:-1]))
        return self._given[quoted]


_QUOTED = re.compile(r"\|[^|]*\|")
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
    (re.compile(r"(?:now|rigid) (.*)"), "{}"),
)
"""What Z3's names say, and how people say it."""


def _spoken(name: str) -> str:
    for shape, said in _SHAPES:
        if found := shape.fullmatch(name):
            return said.format(*map(_spoken, found.groups()))
    return name
