"""Symbolic execution by forking: a plain Python function becomes a table of (condition, result).

The function is run from the start once per path (`proofs.path_runs`). What was refuted is kept; what cannot be decided
in time is followed, so the table may hold impossible rows but never lacks a possible one. That the rows and the cut-off
sides together are every case and that no two of them overlap is not taken on trust: it is seen from the finished table
(`is_partition`), whoever filled it.

The engine knows nothing of RocketMQ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import z3

from proofs import terms
from proofs.divisions import Divisions
from proofs.path_runs import Answer, Answers, Path, PathLimitError, PathRun
from proofs.terms import Context, Term


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
                seed: int = 0, first: Sequence[Term] = ()) -> Iterator[Path]:
        """Run a program along each of its feasible paths; each row is yielded as soon as it is known.

        program -- called once per path with the run; makes its symbolic arguments from it and returns a result. It
            must be a pure function: the same answers must lead to the same questions.
        seed -- of Z3.
        first -- formulas that are true of the input whose path comes first, if there is such an input.

        Raises PathLimitError or UnsupportedError (both BaseException) when the table cannot be finished.
        """
        limits, context = limits or Limits(), self.domain.ctx
        deadline = time.process_time() + limits.seconds
        solver, assumed = solver_for(seed, limits.effort, context), 0
        pending = [Answers((), terms.truth(True, context))]
        while pending:
            if len(self.paths) >= limits.paths or time.process_time() > deadline:
                raise PathLimitError(f"more than {len(self.paths)} paths or {limits.seconds:g} CPU seconds")
            premises = self.premises()
            terms.assume(solver, premises[assumed:])
            assumed = len(premises)
            run = PathRun(solver, pending.pop(), self.divisions, limits.depth, deadline)
            path = run.follow(program, () if self.paths else first)
            self.cut_off += run.cut_off
            pending += run.left
            if path is not None:
                self.paths.append(path)
                yield path

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
        if not all(terms.same(leaf[depth].condition, question) for leaf in leaves):
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


def solver_for(seed: int, effort: int, context: Context) -> z3.Solver:
    """A solver with its seed set and a limit for each question, in Z3's resource units, some 2,000 a millisecond.

    Unlike seconds they do not depend on what else the machine does, so an answer is the same everywhere.
    The plain solver without Gröbner bases: on these formulas, linear but for a few products, it is ten times faster
    than Z3's default.
    """
    solver = z3.SimpleSolver(ctx=context)
    terms.configure(solver, random_seed=seed, rlimit=effort, **{"arith.nl.grobner": False})
    return solver
