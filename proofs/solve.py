"""Z3 as a judge of obligations: proved, refuted, or unknown; under several seeds, with a time limit each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import z3

from proofs import terms
from proofs.reading import Expr
from proofs.terms import Context, fresh_context

SEEDS = (0, 1, 2, 3, 4)
TIMEOUT_MS = 20_000  # wall time; the proofs need milliseconds, a busy machine needs room


class Answer(StrEnum):
    """What the solver says of "the hypotheses imply the goal"."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Solved:
    """An answer that all seeds agree on (unknown if they do not), the seconds spent, and a model if refuted."""

    answer: Answer
    seconds: float
    reason: str = ""
    model: z3.ModelRef | None = None


class Questions:
    """Questions to Z3 in one context: an answer depends on them and their order, on nothing that was asked elsewhere.

    Each seed has a solver of its own: Z3 takes a seed when it makes a solver, and never again. What one question
    assumes like the one before, up to the first formula that differs, is asserted once.
    """

    def __init__(self, seeds: Sequence[int] = SEEDS, timeout_ms: int = TIMEOUT_MS, effort: int = 0) -> None:
        """Ask nothing yet.

        seeds -- of Z3; a question is asked with each until one answer is no proof.
        timeout_ms -- bounds each question under each seed. effort -- the same in Z3's resource units; 0: no bound.
        """
        self._seeds, self._timeout_ms, self._effort = seeds, timeout_ms, effort
        self._seeded: dict[int, _Seeded] = {}
        self._copies: dict[int, tuple[Expr, Expr]] = {}  # of what is assumed, by its identity, and itself

    @cached_property
    def _context(self) -> Context:
        """Made for the first question: a context is 16 megabytes, and many have none."""
        return fresh_context()

    def prove(self, assumed: Sequence[Expr], hypotheses: Sequence[Expr], goal: Expr) -> Solved:
        """Ask whether what is assumed and the hypotheses imply the goal; one that is among them is not asked."""
        if any(terms.same(goal, one) for one in (*assumed, *hypotheses)):
            return Solved(Answer.PROVED, 0.0)
        return self.satisfiable(assumed, [*hypotheses, terms.negation(goal)])

    def satisfiable(self, assumed: Sequence[Expr], formulas: Sequence[Expr]) -> Solved:
        """Ask for a model of what is assumed and the formulas: refuted carries one, proved says that there is none."""
        started = time.process_time()
        kept = [self._copy(formula) for formula in assumed]
        asked = [terms.copied(formula, self._context) for formula in formulas]
        answers: dict[Answer, str] = {}
        model = None
        for seed in self._seeds:
            answer, reason, model = self._solver(seed).ask(kept, asked)
            answers[answer] = reason
            if answer is not Answer.PROVED:
                break  # one refutation or one unknown decides
        seconds = time.process_time() - started
        if len(answers) != 1:
            return Solved(Answer.UNKNOWN, seconds, answers.get(Answer.UNKNOWN) or "the seeds disagree")
        (answer, reason), = answers.items()
        return Solved(answer, seconds, reason, model)

    def _copy(self, formula: Expr) -> Expr:
        """The formula in the context; of one that is held its identity is its own."""
        found = self._copies.get(formula.get_id())
        if found is None:
            found = self._copies[formula.get_id()] = terms.copied(formula, self._context), formula
        return found[0]

    def _solver(self, seed: int) -> _Seeded:
        if seed not in self._seeded:
            solver = z3.SimpleSolver(ctx=self._context)
            terms.configure(solver, random_seed=seed, timeout=self._timeout_ms, rlimit=self._effort,
                            propagate_values=False)  # the formulas hardly give any, and each is read for them
            self._seeded[seed] = _Seeded(solver)
        return self._seeded[seed]


class _Seeded:
    """A solver with one seed, which keeps what is assumed in scopes, one inside the other."""

    def __init__(self, solver: z3.Solver) -> None:
        """Assume nothing yet."""
        self._solver = solver
        self._scopes: list[Sequence[Expr]] = []

    def ask(self, assumed: Sequence[Expr], asked: Sequence[Expr]) -> tuple[Answer, str, z3.ModelRef | None]:
        """The answer, why it is unknown, and a model if it is refuted."""
        self._assume(assumed)
        solver = self._solver
        solver.push()
        terms.assume(solver, asked)
        result = solver.check()
        answer = (Answer.PROVED if result == z3.unsat else Answer.REFUTED if result == z3.sat else Answer.UNKNOWN)
        reason = solver.reason_unknown() if answer is Answer.UNKNOWN else ""
        model = solver.model() if answer is Answer.REFUTED else None
        solver.pop()
        return answer, reason, model

    def _assume(self, assumed: Sequence[Expr]) -> None:
        """Leave the scopes that hold something else, and open one for what is missing."""
        common = 0
        for number, scope in enumerate(self._scopes):
            after = common + len(scope)
            if len(assumed) < after or any(a is not b for a, b in zip(scope, assumed[common:after], strict=True)):
                self._solver.pop(len(self._scopes) - number)
                del self._scopes[number:]
                break
            common = after
        if common < len(assumed):
            self._solver.push()
            terms.assume(self._solver, assumed[common:])
            self._scopes.append(assumed[common:])


def prove(
    hypotheses: Iterable[Expr], goal: Expr, seeds: Sequence[int] = SEEDS, timeout_ms: int = TIMEOUT_MS,
) -> Solved:
    """Ask one question by itself: whether the hypotheses imply the goal; timeout_ms bounds each seed."""
    return Questions(seeds, timeout_ms).prove((), [*hypotheses], goal)


def satisfiable(formulas: Sequence[Expr], seeds: Sequence[int] = SEEDS, timeout_ms: int = TIMEOUT_MS) -> Solved:
    """Ask one question by itself: for a model of the formulas."""
    return Questions(seeds, timeout_ms).satisfiable((), formulas)
