"""Questions about a table of paths, and who answers them: Z3 here, cvc5 in `proofs.cvc5_paths`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias

import z3

from invariants.claim import DiscardedError
from proofs import terms
from proofs.divisions import multiples
from proofs.domains import Values, number_called, truth_called
from proofs.path_runs import Path
from proofs.paths import PathTable, solver_for
from proofs.solve import Answer
from proofs.symbolic import SymbolicBool, SymbolicInteger
from proofs.terms import Context, Term, fresh_context

AT_ONCE = 16  # cases in one question: fewer are asked too often, more are too hard


class Asked(Protocol):
    """A solver of one seed for questions about one table, which may still grow."""

    def check(self, formulas: Sequence[Term]) -> tuple[Answer, Values | None]:
        """Whether no input satisfies all formulas (proved), and one that does (refuted)."""
        ...

    def none_possible(self, cases: Sequence[Sequence[Term]]) -> bool:
        """Whether it is proved that no case has such an input."""
        ...


class Solver(Protocol):
    """Who is asked. explores -- whether the sides that exploring cut off were refuted by it, with the first seed."""

    explores: bool

    def asked(self, table: PathTable, seed: int, *, brief: bool = False) -> Asked:
        """Questions about a table; brief: a hard one is left open."""
        ...

    def multiples_hold(self, seed: int) -> bool:
        """Whether the rule that every table relies on is proved with this seed."""
        ...

    def cost(self) -> dict[str, float]:
        """What rows say of the work since the last call."""
        ...


class ModelValues:
    """The values of a model of Z3."""

    def __init__(self, model: z3.ModelRef) -> None:
        """Complete the model where it says nothing."""
        self._model = model

    def truth(self, name: str) -> bool:
        """The value of a formula of this name."""
        return bool(z3.is_true(self._model.eval(truth_called(name, self._model.ctx), model_completion=True)))

    def number(self, name: str) -> int:
        """The value of an integer of this name."""
        return int(self._model.eval(number_called(name, self._model.ctx), model_completion=True).as_long())


class _AskedZ3:
    """The first solver keeps the premises from question to question; it answers nearly all of them.

    For the rest the others are made anew each time.
    """

    def __init__(self, table: PathTable, seed: int, solvers: _Solvers) -> None:
        """Ask nothing yet."""
        (make, effort), *self._others = solvers
        self._table, self._seed, self._assumed = table, seed, 0
        self._first = make(seed, effort, table.domain.ctx)

    def check(self, formulas: Sequence[Term]) -> tuple[Answer, Values | None]:
        """Ask the first; where it gives up, the others."""
        if terms.known(formulas[-1]) is False:
            return Answer.PROVED, None
        answer, model = self._plainly(formulas)
        if answer is Answer.UNKNOWN:
            answer, model = checked([*self._table.premises(), *formulas], self._seed, self._others)
        return answer, None if model is None else ModelValues(model)

    def none_possible(self, cases: Sequence[Sequence[Term]]) -> bool:
        """Ask of some cases at once, and one by one if that is too hard."""
        asked = [case for case in cases if terms.known(case[-1]) is not False]
        parts = (asked[start:start + AT_ONCE] for start in range(0, len(asked), AT_ONCE))
        return all(self._none_of(part) for part in parts)

    def _none_of(self, cases: Sequence[Sequence[Term]]) -> bool:
        context = self._table.domain.ctx
        answer, _ = self._plainly([terms.disjunction([terms.conjunction(case, context) for case in cases], context)])
        if answer is not Answer.UNKNOWN:
            return answer is Answer.PROVED
        return all(self.check(case)[0] is Answer.PROVED for case in cases)

    def _plainly(self, formulas: Sequence[Term]) -> tuple[Answer, Any]:
        premises = self._table.premises()
        terms.assume(self._first, premises[self._assumed:])
        self._assumed = len(premises)
        self._first.push()
        terms.assume(self._first, formulas)
        found = _answer(self._first)
        self._first.pop()
        return found


class _OfZ3:
    explores = True

    def asked(self, table: PathTable, seed: int, *, brief: bool = False) -> Asked:
        return _AskedZ3(table, seed, _BRIEF if brief else _SOLVERS)

    def multiples_hold(self, seed: int) -> bool:
        return _multiples_hold(seed)

    def cost(self) -> dict[str, float]:
        return {}


def checked(formulas: Sequence[Term], seed: int, solvers: _Solvers | None = None) -> tuple[Answer, Any]:
    """The answer of the first solver that has one, and a model: the plain one, briefly; then others; then it again."""
    for make, effort in _SOLVERS if solvers is None else solvers:
        solver = make(seed, effort, formulas[0].ctx)
        terms.assume(solver, formulas)
        answer, model = _answer(solver)
        if answer is not Answer.UNKNOWN:
            return answer, model
    return Answer.UNKNOWN, None


def _answer(solver: z3.Solver) -> tuple[Answer, Any]:
    result = solver.check()
    if result == z3.sat:
        return Answer.REFUTED, solver.model()
    return Answer.PROVED if result == z3.unsat else Answer.UNKNOWN, None


def spoken(table: PathTable) -> list[Path]:
    """The paths on which the claim says something."""
    return [path for path in table.paths if not isinstance(path.error, DiscardedError)]


def falsehood(path: Path) -> list[Term]:
    """What inputs satisfy that take the path and falsify the claim; a path on which the code raises falsifies it."""
    condition = path.answers.condition
    if path.error is not None:
        return [condition]
    result = path.result
    if isinstance(result, SymbolicInteger):
        return [condition, result.term == 0]
    if isinstance(result, SymbolicBool):
        return [condition, terms.negation(result.term)]
    return [condition, terms.truth(not result, condition.ctx)]


def rule_of_multiples(context: Context) -> Term:
    """The rule that every table relies on, about two integers."""
    return multiples(z3.Int("divisor", context), z3.Int("factor", context))


@cache
def _multiples_hold(seed: int) -> bool:
    """The same for all tables."""
    return checked([terms.negation(rule_of_multiples(fresh_context()))], seed)[0] is Answer.PROVED


def _with_groebner(seed: int, effort: int, context: Context) -> z3.Solver:
    solver = solver_for(seed, effort, context)
    solver.set("arith.nl.grobner", True)
    return solver


def _nonlinear(seed: int, effort: int, context: Context) -> z3.Solver:
    solver = z3.SolverFor("QF_NIA", ctx=context)
    solver.set("random_seed", seed)
    solver.set("rlimit", effort)
    return solver


_Solvers: TypeAlias = Sequence[tuple[Callable[[int, int, Context], z3.Solver], int]]
_SOLVERS: _Solvers = (
    (solver_for, 800_000), (_with_groebner, 800_000), (_nonlinear, 4_000_000), (solver_for, 8_000_000))
_BRIEF: _Solvers = ((solver_for, 150_000),)
"""What is tried for an obligation, with resource units each; nearly all are answered by the first within 100,000."""

Z3: Solver = _OfZ3()
