"""Who proves the obligations of protocols: Z3, or cvc5, which reads them as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from model.language import Concept
from proofs import path_questions
from proofs.few import Few
from proofs.obligations import Obligation
from proofs.reading import Expr
from proofs.smtlib import Writer
from proofs.solve import Answer, Questions, Solved
from proofs.unbounded import Unbounded
from proofs.written import Written

FEW = (1, 2, 3, 4)  # elements of a free sort in a state that is searched where a solver cannot search without bounds


class Asker(Protocol):
    """Answers questions about one reading; what was asked about others changes no answer."""

    def asked(self, obligation: Obligation) -> Solved:
        """Say whether the obligation is proved under every seed."""
        ...


class Solver(Protocol):
    """A solver with its seeds and its bound for a question."""

    name: str

    @property
    def details(self) -> Mapping[str, Any]:
        """What rows say of it."""
        ...

    def asker(self, concept: Concept, what: str) -> tuple[Written, Asker]:
        """A new reading, and who answers about it; what -- is proved there, the name of a property or of a group."""
        ...

    def searched(self, concept: Concept) -> Iterator[Unbounded]:
        """Readings in which models are looked for, one after the other."""
        ...

    def has_model(self, formulas: Sequence[Expr]) -> bool:
        """Whether a model was found."""
        ...


class Z3:
    """Z3, which has made the formulas."""

    name = "z3"
    details: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, seeds: Sequence[int], timeout_ms: int) -> None:
        """Use these seeds; timeout_ms bounds each question under each seed."""
        self._seeds, self._timeout_ms = seeds, timeout_ms

    def asker(self, concept: Concept, what: str) -> tuple[Written, Asker]:
        """A new reading, and questions in a context of their own."""
        del what
        reading = Written(concept)
        return reading, ByZ3(reading, Questions(self._seeds, self._timeout_ms))

    def searched(self, concept: Concept) -> Iterator[Unbounded]:
        """The reading without bounds alone."""
        yield Unbounded(concept)

    def has_model(self, formulas: Sequence[Expr]) -> bool:
        """Whether Z3 finds a model under every seed."""
        return Questions(self._seeds, self._timeout_ms).satisfiable((), formulas).answer is Answer.REFUTED


class ByZ3:
    """Asks Z3 about a reading."""

    def __init__(self, reading: Written, questions: Questions) -> None:
        """Ask nothing yet."""
        self._reading, self._questions, self._writer = reading, questions, Writer()

    def asked(self, obligation: Obligation) -> Solved:
        """Say whether the obligation is proved under every seed of the questions."""
        meaning = self._writer.meaning(self._reading, [*obligation.assumed, *obligation.hypotheses, obligation.goal])
        return self._questions.prove(obligation.assumed, [*meaning, *obligation.hypotheses], obligation.goal)


class Cvc5:
    """cvc5, an independent reader of the same formulas."""

    name = "cvc5"
    details: ClassVar[Mapping[str, Any]] = {"solver": "cvc5"}

    def __init__(self, seeds: Sequence[int], timeout_ms: int) -> None:
        """Use these seeds; timeout_ms bounds each attempt under each seed."""
        self._seeds, self._timeout_ms = seeds, timeout_ms

    def asker(self, concept: Concept, what: str) -> tuple[Written, Asker]:
        """A new reading, and questions about it."""
        from proofs.cvc5_solver import Obligations  # noqa: PLC0415 - cvc5 is an extra

        del what
        reading = Written(concept)
        return reading, Obligations(reading, self._seeds, self._timeout_ms)

    def searched(self, concept: Concept) -> Iterator[Unbounded]:
        """Readings with few elements: cvc5 finds models of what does not range over everything."""
        return (Few(concept, size) for size in FEW)

    def has_model(self, formulas: Sequence[Expr]) -> bool:
        """Whether cvc5 finds a model."""
        from proofs.cvc5_solver import has_model  # noqa: PLC0415 - cvc5 is an extra

        return has_model(formulas, self._timeout_ms)


def prover_of(name: str, seeds: Sequence[int], timeout_ms: int) -> Solver:
    """Who proves the obligations of protocols: z3 or cvc5."""
    return Z3(seeds, timeout_ms) if name == Z3.name else Cvc5(seeds, timeout_ms)


def of_paths(name: str) -> path_questions.Solver:
    """Who answers questions about tables of paths: z3 or cvc5."""
    if name == Z3.name:
        return path_questions.Z3
    from proofs.cvc5_paths import PathsByCvc5  # noqa: PLC0415 - cvc5 is an extra

    return PathsByCvc5()


def replayed_by(name: str) -> str:
    """The command that proves with this solver."""
    return "rocketproof prove" if name == Z3.name else f"rocketproof prove --solver {name}"
