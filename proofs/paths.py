"""Symbolic execution by forking: a plain Python function becomes a table of (condition, result).

The function is run from the start once per path. At each question that the path has not answered yet, Z3 says which
answers are feasible; the run takes one and leaves the other for later. A side that Z3 refutes is cut off, and what was
refuted is kept; a side that Z3 cannot decide in time is followed, so the table may hold impossible rows but never lacks
a possible one. That the rows and the cut-off sides together are every case and that no two of them overlap is not
taken on trust: it is seen from the finished table (`is_partition`), whoever filled it.

The engine knows nothing of RocketMQ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import z3

from proofs.symbolic import Term, UnsupportedError


class PathLimitError(BaseException):
    """A limit was reached: the table is not complete, so nothing may be concluded from it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the enumeration gives up (which makes a verdict unknown).

    paths -- rows of the table.
    depth -- questions answered along one path: bounds loops.
    seconds -- CPU time of the whole enumeration.
    effort -- Z3's resource units for one feasibility question; a side that is undecided by then is followed.
    """

    paths: int = 4_000
    depth: int = 2_000
    seconds: float = 20.0
    effort: int = 500_000


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of a path and the side taken; value is set when the question was "is the number this one?"."""

    condition: Term
    taken: bool
    value: int | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers along one path, and the condition that they amount to."""

    given: tuple[Answer, ...]
    condition: Term

    def and_also(self, answer: Answer) -> Answers:
        """One answer more."""
        term = answer.condition if answer.taken else z3.Not(answer.condition)
        return Answers((*self.given, answer), z3.And(self.condition, term) if self.given else term)


@dataclass(frozen=True, slots=True)
class Path:
    """One row: under these answers the function returned this result, or raised this error (then result is None)."""

    answers: Answers
    result: Any
    error: Exception | None = None


@dataclass(slots=True)
class Divisions:
    """Named quotients and remainders; equal divisions share their names on all paths.

    by_operands -- (quotient, remainder) by the texts of dividend and divisor.
    axioms -- each defines a pair for all arguments, so assuming it restricts nothing; and what follows about products
        with quotients by the rule of `multiples`, spelled out, so that everything else about them is linear.
    """

    by_operands: dict[tuple[str, str], tuple[Term, Term]] = field(default_factory=dict)
    axioms: list[Term] = field(default_factory=list)

    def named(self, dividend: Term, divisor: Term) -> tuple[Term, Term]:
        """Quotient and remainder, floored, for every divisor but 0."""
        operands = z3.simplify(dividend).sexpr(), z3.simplify(divisor).sexpr()
        if operands not in self.by_operands:
            number = len(self.by_operands)
            quotient, remainder = z3.Int(f"quotient!{number}"), z3.Int(f"remainder!{number}")
            floor = z3.And(z3.Implies(divisor > 0, z3.And(remainder >= 0, remainder < divisor)),
                           z3.Implies(divisor < 0, z3.And(remainder <= 0, remainder > divisor)))
            self.axioms.append(z3.Implies(divisor != 0, z3.And(dividend == divisor * quotient + remainder, floor)))
            others = [pair[0] for known, pair in self.by_operands.items() if known[1] == operands[1]]
            self.axioms += _multiples(divisor, quotient, others)
            self.by_operands[operands] = quotient, remainder
        return self.by_operands[operands]


def multiples(divisor: Term, factor: Term) -> Term:
    """The rule behind all reasoning about quotients: a multiple of a positive number is 0, or at least that number.

    Proved once, for all integers, by whoever relies on a table; every instance is then sound. The negative multiples
    come as instances with the negated factor.
    """
    at_least = z3.Implies(z3.And(divisor > 0, factor >= 1), divisor * factor >= divisor)
    return z3.And(at_least, z3.Implies(factor == 0, divisor * factor == 0))


def _multiples(divisor: Term, quotient: Term, others: list[Term]) -> list[Term]:
    factors = [quotient, -quotient]
    for other in others:
        factors += [quotient - other, other - quotient, quotient + other, -quotient - other]
    return [multiples(divisor, factor) for factor in factors]


@dataclass(slots=True)
class PathTable:
    """Every path of one function over one domain, filled while `explore` runs.

    domain -- what is assumed of the arguments.
    paths -- the rows, in the order in which they were met.
    cut_off -- lists of answers that Z3 refuted, the last answer being the impossible one.
    """

    domain: Term
    divisions: Divisions = field(default_factory=Divisions)
    paths: list[Path] = field(default_factory=list)
    cut_off: list[Answers] = field(default_factory=list)

    def explore(self, program: Callable[[PathRun], object], *, limits: Limits | None = None,
                seed: int = 0) -> Iterator[Path]:
        """Run a program along each of its feasible paths; each row is yielded as soon as it is known.

        program -- called once per path with the run; makes its symbolic arguments from it and returns a result. It
            must be a pure function: the same answers must lead to the same questions.
        seed -- of Z3.

        Raises PathLimitError or UnsupportedError (both BaseException) when the table cannot be finished.
        """
        limits = limits or Limits()
        deadline = time.process_time() + limits.seconds
        solver = solver_for(seed, limits.effort)
        solver.add(self.domain)
        pending = [Answers((), z3.BoolVal(val=True))]
        while pending:
            if len(self.paths) >= limits.paths or time.process_time() > deadline:
                raise PathLimitError(f"more than {len(self.paths)} paths or {limits.seconds:g} CPU seconds")
            run = PathRun(solver, pending.pop(), self.divisions, limits.depth, deadline)
            self.paths.append(run.follow(program))
            self.cut_off += run.cut_off
            pending += run.left
            yield self.paths[-1]

    def premises(self) -> list[Term]:
        """What every obligation about this table may assume."""
        return [self.domain, *self.divisions.axioms]

    def impossible(self) -> list[Term]:
        """The conditions of the sides that were cut off: under the premises each must be false."""
        return [answers.condition for answers in self.cut_off]

    def is_partition(self) -> bool:
        """Whether rows and cut-off sides are exactly the leaves of one tree of questions.

        Then, under the premises and with every cut-off side impossible, each argument has one row and no more: at each
        question both sides are there, and two leaves give opposite answers to the question where they part.
        """
        leaves = [path.answers.given for path in self.paths] + [answers.given for answers in self.cut_off]
        return _is_tree(leaves, 0)


def _is_tree(leaves: list[tuple[Answer, ...]], depth: int) -> bool:
    while len(leaves) > 1:
        if any(len(leaf) <= depth for leaf in leaves):
            return False
        question = leaves[0][depth].condition
        if not all(leaf[depth].condition.eq(question) for leaf in leaves):
            return False
        yes = [leaf for leaf in leaves if leaf[depth].taken]
        no = [leaf for leaf in leaves if not leaf[depth].taken]
        depth += 1
        small, leaves = sorted((yes, no), key=len)
        if not _is_tree(small, depth):
            return False
    return len(leaves) == 1 and len(leaves[0]) == depth


def enumerate_paths(program: Callable[[PathRun], object], domain: Term, *, limits: Limits | None = None,
                    seed: int = 0) -> PathTable:
    """The finished table of a program; arguments and errors as PathTable.explore."""
    table = PathTable(domain)
    for _ in table.explore(program, limits=limits, seed=seed):
        pass
    return table


def solver_for(seed: int, effort: int) -> z3.Solver:
    """A solver with its seed set and a limit for each question, in Z3's resource units, some 2,000 a millisecond.

    Unlike seconds they do not depend on what else the machine does, so an answer is the same everywhere.
    The plain solver without Gröbner bases: on these formulas, linear but for a few products, it is ten times faster
    than Z3's default.
    """
    solver = z3.SimpleSolver()
    solver.set("random_seed", seed)
    solver.set("smt.arith.nl.grobner", False)
    solver.set("rlimit", effort)
    return solver


class PathRun:
    """One execution, along one list of answers.

    left -- lists of answers that this run could have given instead.
    cut_off -- those of them that Z3 refuted.
    """

    def __init__(self, solver: z3.Solver, prefix: Answers, divisions: Divisions, depth: int, deadline: float) -> None:
        """Follow the prefix, then decide."""
        self._solver, self._divisions, self._depth, self._deadline = solver, divisions, depth, deadline
        self._prefix, self._place = prefix.given, 0
        self._answers = prefix
        self._model: Any = None  # of the path so far, where one is at hand
        # By the identity of the question, which Z3 shares between equal ones; held, lest the identity be used again.
        self._settled: dict[int, tuple[Term, bool]] = {}
        self.left: list[Answers] = []
        self.cut_off: list[Answers] = []

    def follow(self, program: Callable[[PathRun], object]) -> Path:
        """Execute the program along this path."""
        self._solver.push()
        try:
            self._solver.add(*self._divisions.axioms, self._answers.condition)
            result, error = _outcome(program, self)
            return Path(self._answers, result, error)
        finally:
            self._solver.pop()

    def decide(self, condition: Term) -> bool:
        """Take one feasible side of a condition and leave the other, if it is feasible too."""
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return bool(z3.is_true(condition))
        if z3.is_not(condition):
            return not self._ask(condition.arg(0), None)
        return self._ask(condition, None)

    def concrete(self, term: Term) -> int:
        """Take one feasible value of an integer term; one path for each."""
        term = z3.simplify(term)
        if z3.is_int_value(term):
            return int(term.as_long())
        while True:
            value = self._candidate(term)
            if self._ask(term == value, value):
                return value

    def quotient(self, dividend: Term, divisor: Term) -> tuple[Term, Term]:
        """Names q and r with dividend = divisor * q + r and r between 0 and the divisor, for every divisor but 0."""
        known = len(self._divisions.axioms)
        named = self._divisions.named(dividend, divisor)
        if len(self._divisions.axioms) > known:
            self._solver.add(*self._divisions.axioms[known:])
            self._model = None  # it knows nothing of the new names
        return named

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
            if not answer.condition.eq(condition):
                raise UnsupportedError(_IMPURE)
            return answer.taken
        if self._place > self._depth or time.process_time() > self._deadline:
            raise PathLimitError(f"a path asks more than {self._place - 1} questions, or the time is over")
        yes = self._answers.and_also(Answer(condition, taken=True, value=value))
        no = self._answers.and_also(Answer(condition, taken=False, value=value))
        known = self._known(condition)
        possible, model = (True, self._model) if known is True else self._try(condition)
        if not possible:
            self.cut_off.append(yes)
            return self._take(no, self._model if known is False else None)
        other = self.left if known is False or self._try(z3.Not(condition))[0] else self.cut_off
        other.append(no)
        return self._take(yes, model)

    def _known(self, condition: Term) -> bool | None:
        """What the model of the path so far says: that side is possible without asking again; None: it says nothing."""
        if self._model is None:
            return None
        truth = self._model.eval(condition, model_completion=True)
        return True if z3.is_true(truth) else False if z3.is_false(truth) else None

    def _take(self, answers: Answers, model: Any) -> bool:
        """Go on; model -- a model of the longer path, or None if none is at hand."""
        self._answers, self._model = answers, model
        last = answers.given[-1]
        self._solver.add(last.condition if last.taken else z3.Not(last.condition))
        return last.taken

    def _try(self, condition: Term) -> tuple[bool, Any]:
        """Whether the path can go on this way (undecided counts as yes), and a model of it if there is one at hand."""
        self._solver.push()
        self._solver.add(condition)
        answer = self._solver.check()
        model = self._solver.model() if answer == z3.sat else None
        self._solver.pop()
        return bool(answer != z3.unsat), model

    def _candidate(self, term: Term) -> int:
        """The value that the prefix asks about here, else one that Z3 finds feasible."""
        if self._place < len(self._prefix):
            value = self._prefix[self._place].value
            if value is None:
                raise UnsupportedError(_IMPURE)
            return value
        if self._model is None:
            if self._solver.check() != z3.sat:
                raise PathLimitError("no value could be found for a number that must be concrete")
            self._model = self._solver.model()
        return int(self._model.eval(term, model_completion=True).as_long())


_IMPURE = "the function does not ask the same questions again: it is not pure"


def _outcome(program: Callable[[PathRun], object], run: PathRun) -> tuple[object, Exception | None]:
    try:
        return program(run), None
    except RecursionError as error:
        raise UnsupportedError("the recursion is too deep") from error
    except Exception as error:  # noqa: BLE001  # whatever the function raises is its result on this path
        return None, error
