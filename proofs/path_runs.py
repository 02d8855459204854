"""One execution of a plain Python function on symbolic arguments, along one list of answers to its questions.

Z3 finds an input that takes the path so far; at each further question the run goes where this input goes, and leaves
the other side for later. A side that Z3 refutes when its turn comes is cut off; a side that Z3 cannot decide in time is
followed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from proofs import terms
from proofs.divisions import Division, Divisions
from proofs.symbolic import UnsupportedError
from proofs.terms import Term


class PathLimitError(BaseException):
    """A limit was reached: the table is not complete, so nothing may be concluded from it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of a path and the side taken; value is set when the question was "is the number this one?"."""

    condition: Term
    taken: bool
    value: int | None = None

    def term(self) -> Term:
        """What is true on the side taken."""
        return self.condition if self.taken else terms.negation(self.condition)


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers along one path, and the condition that they amount to."""

    given: tuple[Answer, ...]
    condition: Term

    def and_also(self, answer: Answer) -> Answers:
        """One answer more."""
        term = answer.term()
        joined = terms.conjunction((self.condition, term), term.ctx) if self.given else term
        return Answers((*self.given, answer), joined)


@dataclass(frozen=True, slots=True)
class Path:
    """One row: under these answers the function returned this result, or raised this error (then result is None)."""

    answers: Answers
    result: Any
    error: Exception | None = None


class PathRun:
    """One execution, along one list of answers.

    left -- lists of answers that this run could have given instead; nobody has asked whether an input gives them.
    cut_off -- lists of answers that Z3 refuted.
    """

    def __init__(self, solver: z3.Solver, prefix: Answers, divisions: Divisions, depth: int, deadline: float) -> None:
        """Follow the prefix, then decide. The solver assumes the domain and what is known of the divisions."""
        self.context = solver.ctx
        self._solver, self._divisions, self._depth, self._deadline = solver, divisions, depth, deadline
        self._prefix, self._place = prefix.given, 0
        self._answers = prefix
        self._model: Any = None  # of the path so far, where one is at hand
        # By the identity of the question, which Z3 shares between equal ones; held, lest the identity be used again.
        self._settled: dict[int, tuple[Term, bool]] = {}
        self.left: list[Answers] = []
        self.cut_off: list[Answers] = []

    def follow(self, program: Callable[[PathRun], object], first: Sequence[Term] = ()) -> Path | None:
        """Execute the program along this path, if one is possible; first -- as in PathTable.explore."""
        self._solver.push()
        try:
            terms.assume(self._solver, (self._answers.condition,))
            if first:
                _, self._model = self._try(first)
            if self._model is None and not self._possible():
                self.cut_off.append(self._answers)
                return None
            result, error = _outcome(program, self)
            return Path(self._answers, result, error)
        finally:
            self._solver.pop()

    def decide(self, condition: Term) -> bool:
        """Take a feasible side of a condition, leave the other for later."""
        condition = terms.simplified(condition)
        truth = terms.known(condition)
        if truth is not None:
            return truth
        opposite = terms.negated(condition)
        return self._ask(condition, None) if opposite is None else not self._ask(opposite, None)

    def concrete(self, term: Term) -> int:
        """Take one feasible value of an integer term; one path for each."""
        term = z3.simplify(term)
        if z3.is_int_value(term):
            return int(term.as_long())
        while True:
            value = self._candidate(term)
            if self._ask(terms.equality(term, terms.number(value, self.context)), value):
                return value

    def quotient(self, dividend: Term, divisor: Term) -> tuple[Term, Term]:
        """Names q and r with dividend = divisor * q + r and r between 0 and the divisor, for every divisor but 0."""
        known = len(self._divisions.axioms)
        named = self._divisions.named(dividend, divisor)
        if len(self._divisions.axioms) > known:
            terms.assume(self._solver, self._divisions.axioms[known:])
            self._complete(named)
        return named.quotient, named.remainder

    def _ask(self, condition: Term, value: int | None) -> bool:
        settled = self._settled.get(condition.get_id())
        if settled is not None:
            return settled[1]
        taken = self._answered(condition, value)
        self._settled[condition.get_id()] = condition, taken
        return taken

    def _answered(self, condition: Term, value: int | None) -> bool:
        self._place += 1
        if self._place <= len(self._prefix):
            answer = self._prefix[self._place - 1]
            if not terms.same(answer.condition, condition):
                raise UnsupportedError(_IMPURE)
            return answer.taken
        if self._place > self._depth:
            raise PathLimitError(f"a path asks more than {self._place - 1} questions")
        yes = self._answers.and_also(Answer(condition, taken=True, value=value))
        no = self._answers.and_also(Answer(condition, taken=False, value=value))
        taken = self._side(condition)
        (self.left if taken is not None else self.cut_off).append(no if taken else yes)
        return self._take(yes if taken else no)

    def _side(self, condition: Term) -> bool | None:
        """The side to take; a model of the longer path is at hand if one was found. None: Z3 refutes the condition."""
        if self._model is not None:
            known = terms.true_in(self._model, condition)
            if known is not None:
                return known
        possible, self._model = self._try((condition,))
        return True if possible else None

    def _take(self, answers: Answers) -> bool:
        self._answers = answers
        last = answers.given[-1]
        terms.assume(self._solver, (last.term(),))
        return last.taken

    def _possible(self) -> bool:
        """Whether an input takes the path so far (undecided counts as yes); a model of it is kept if there is one."""
        possible, self._model = self._try(())
        return possible

    def _try(self, conditions: Sequence[Term]) -> tuple[bool, Any]:
        """Whether the path can go on this way (undecided counts as yes), and a model of it if there is one at hand."""
        if time.process_time() > self._deadline:
            raise PathLimitError("the time is over")
        self._solver.push()
        terms.assume(self._solver, conditions)
        answer = self._solver.check()
        model = self._solver.model() if answer == z3.sat else None
        self._solver.pop()
        return bool(answer != z3.unsat), model

    def _complete(self, division: Division) -> None:
        """Give the new names of a division the values that they have in the model; without one, nothing."""
        if self._model is None:
            return
        dividend, divisor = (self._value(term) for term in (division.dividend, division.divisor))
        quotient, remainder = divmod(dividend, divisor) if divisor else (0, 0)
        self._model.update_value(division.quotient, terms.number(quotient, self.context))
        self._model.update_value(division.remainder, terms.number(remainder, self.context))

    def _value(self, term: Term) -> int:
        return int(self._model.eval(term, model_completion=True).as_long())

    def _candidate(self, term: Term) -> int:
        """The value that the prefix asks about here, else one that Z3 finds feasible."""
        if self._place < len(self._prefix):
            value = self._prefix[self._place].value
            if value is None:
                raise UnsupportedError(_IMPURE)
            return value
        if self._model is None and (not self._possible() or self._model is None):
            raise PathLimitError("no value could be found for a number that must be concrete")
        return self._value(term)


_IMPURE = "the function does not ask the same questions again: it is not pure"


def _outcome(program: Callable[[PathRun], object], run: PathRun) -> tuple[object, Exception | None]:
    try:
        return program(run), None
    except RecursionError as error:
        raise UnsupportedError("the recursion is too deep") from error
    except Exception as error:  # noqa: BLE001  # whatever the function raises is its result on this path
        return None, error.with_traceback(None)  # whose frames hold the table of paths, and the context of Z3 with it
