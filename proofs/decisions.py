"""Claims about decisions, proved for all inputs by executing the very functions of impl.decisions, path by path.

For each claim the predicate is run on symbolic arguments (proofs/paths.py). The obligations are: the table of paths is
complete and disjoint; on every path the claim is true; some input is not discarded; and for a claim that holds, the
proof fails for some mutant of the code. A failed obligation is a counterexample only after the same predicate, run on
plain numbers, was seen to be false for it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any, TypeAlias

import z3

import invariants.decisions
from invariants.claim import CLAIMS, Claim, DiscardedError, Finding, chosen, counterexample, judged
from invariants.verdict import Outcome, Verdict
from proofs.domains import concrete_arguments, leaves, symbolic_arguments, within
from proofs.mutants import Mutant, mutants
from proofs.paths import Limits, Path, PathLimitError, PathTable, multiples, solver_for
from proofs.symbolic import SymbolicBool, SymbolicInteger, Term, UnsupportedError

__all__ = ["CLAIMS", "invariants", "kill", "prove_claim", "prove_decisions"]  # importing the catalogue declares it


def prove_decisions(names: Sequence[str] | None = None, *, seeds: Sequence[int] = (0,),
                    out: File | None = None) -> Iterator[Verdict]:
    """One verdict per claim, in the order of the catalogue.

    names -- claims or properties; None: all. Raises BadInputError for an unknown one.
    seeds -- of Z3; every obligation must be proved with each.
    out -- folder for the evidence of violations; None: none is written.
    """
    for claim in chosen(names):
        if "prove" in claim.judges:
            yield prove_claim(claim, seeds).saved(out)


def prove_claim(claim: Claim, seeds: Sequence[int] = (0,), limits: Limits | None = None) -> Finding:
    """Prove or refute one claim.

    Unknown when a limit is reached, when the code asks for something that has no symbolic meaning, or when what the
    solver calls a counterexample is none when the code runs on it.
    """
    start = time.process_time()
    attempt = _attempt(claim, seeds, limits)
    twin = None
    if attempt.outcome is Outcome.HOLDS:
        attempt.obligations += 1
        twin = _twin(claim)
        if twin is None:
            attempt.outcome, attempt.note = Outcome.UNKNOWN, "the proof succeeds for every mutant of the code: vacuous?"
    cost = {"obligations": float(attempt.obligations), "paths": float(len(attempt.table.paths)),
            "seconds": round(time.process_time() - start, 4)}
    if attempt.arguments is not None:
        return counterexample(claim, "prove", attempt.arguments, seed=seeds[0], cost=cost)
    note = attempt.note or f"for all inputs; fails for the twin with {twin.change if twin else ''}"
    return judged(claim, "prove", attempt.outcome, note, seed=seeds[0], cost=cost)


def kill(claim: Claim, mutant: Mutant, limits: Limits | None = None) -> bool:
    """Whether the proof of a claim fails for a mutant, with a counterexample that the mutant confirms."""
    with mutant.active():
        return _attempt(claim, (0,), limits or _FEW, brief=True).outcome is Outcome.VIOLATED


def _twin(claim: Claim) -> Mutant | None:
    """A mutant for which the proof fails; first those that a few small inputs expose, which are quick to refute."""
    few = list(itertools.islice(claim.small_inputs(), TRIED_ON_MUTANTS))
    exposed = (mutant for mutant in _mutants(claim) if _exposed(claim, mutant, few))
    tried = itertools.chain(exposed, _mutants(claim))
    return next((mutant for mutant in tried if kill(claim, mutant)), None)


def _mutants(claim: Claim) -> Iterator[Mutant]:
    for function in claim.subjects:
        yield from mutants(function)


_FEW = Limits(paths=100, depth=80, seconds=0.5)  # a mutant that is not refuted soon is left for the next one
TRIED_ON_MUTANTS = 500  # inputs, a few milliseconds


def _exposed(claim: Claim, mutant: Mutant, inputs: Sequence[dict[str, Any]]) -> bool:
    with mutant.active():
        return any(_false(claim, arguments) for arguments in inputs)


# One attempt ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Attempt:
    claim: Claim
    table: PathTable
    solvers: _Solvers
    outcome: Outcome = Outcome.UNKNOWN
    note: str = ""
    obligations: int = 0
    arguments: dict[str, Any] | None = field(default=None)

    def ended(self, outcome: Outcome, note: str = "", arguments: dict[str, Any] | None = None) -> _Attempt:
        """The attempt with its result."""
        self.outcome, self.note, self.arguments = outcome, note, arguments
        return self


def _attempt(claim: Claim, seeds: Sequence[int], limits: Limits | None, *, brief: bool = False) -> _Attempt:
    """Execute, prove, refute; brief: any counterexample will do, and a hard question is left open."""
    attempt = _Attempt(claim, PathTable(within(claim.domains)), _BRIEF if brief else _SOLVERS)
    open_paths: list[Path] = []
    try:
        for path in attempt.table.explore(lambda run: claim.predicate(**symbolic_arguments(claim.domains, run)),
                                          limits=limits, seed=seeds[0]):
            answer, model = _falsified(attempt, path, seeds[0])
            if answer != z3.unsat:
                open_paths.append(path)
            if model is not None and _refuted(attempt, concrete_arguments(claim.domains, model), smallest=not brief):
                return attempt
    except (PathLimitError, UnsupportedError) as error:
        if attempt.arguments is None:
            return attempt.ended(Outcome.UNKNOWN, f"not executed symbolically: {error}")
        return attempt.ended(Outcome.VIOLATED, f"perhaps not the smallest: {error}", attempt.arguments)
    if attempt.arguments is not None:
        return attempt.ended(Outcome.VIOLATED, "", _smallest(attempt, open_paths) or attempt.arguments)
    if open_paths:
        undecided = f"{len(open_paths)} of {len(attempt.table.paths)} paths neither proved nor refuted in time"
        return attempt.ended(Outcome.UNKNOWN, attempt.note or undecided)
    return _holding(attempt, seeds)


def _holding(attempt: _Attempt, seeds: Sequence[int]) -> _Attempt:
    """What a claim that no path falsified still owes: a sound table, and an input that it speaks about."""
    table = attempt.table
    for seed in seeds:
        facts = [_never(condition) for condition in table.impossible() if seed != seeds[0]]
        facts += [_never(*_falsehood(path)) for path in _spoken(table) if seed != seeds[0]]
        attempt.obligations += len(facts) + 1
        sound = _valid([], multiples(z3.Int("divisor"), z3.Int("factor")), seed)
        if not sound or not all(_valid(table.premises(), fact, seed) for fact in facts):
            return attempt.ended(Outcome.UNKNOWN, f"an obligation is not proved with solver seed {seed}")
    attempt.obligations += 2 + len(table.cut_off)  # each side was cut off by a proof with the first seed
    if not table.is_partition():
        return attempt.ended(Outcome.UNKNOWN, "the table of paths is not complete and disjoint")
    if not any(_witness(attempt, path) for path in _spoken(table)):
        return attempt.ended(Outcome.UNKNOWN, "no input was found that the claim speaks about: vacuous")
    return attempt.ended(Outcome.HOLDS)


def _spoken(table: PathTable) -> list[Path]:
    return [path for path in table.paths if not isinstance(path.error, DiscardedError)]


def _falsehood(path: Path) -> list[Term]:
    """What inputs satisfy that take the path and falsify the claim; a path on which the code raises falsifies it."""
    if path.error is not None:
        return [path.answers.condition]
    result = path.result
    if isinstance(result, SymbolicInteger):
        return [path.answers.condition, result.term == 0]
    return [path.answers.condition, z3.Not(result.term) if isinstance(result, SymbolicBool) else z3.BoolVal(not result)]


def _never(*conditions: Term) -> Term:
    return z3.Not(z3.And(conditions))


def _falsified(attempt: _Attempt, path: Path, seed: int) -> tuple[Any, Any]:
    """Z3's answer to "does an input take this path and falsify the claim?", and its model."""
    if isinstance(path.error, DiscardedError):
        return z3.unsat, None
    attempt.obligations += 1
    if path.error is None and path.result is True:
        return z3.unsat, None
    return _check([*attempt.table.premises(), *_falsehood(path)], seed, attempt.solvers)


def _valid(premises: Sequence[Term], fact: Term, seed: int) -> bool:
    return bool(_check([*premises, z3.Not(fact)], seed)[0] == z3.unsat)


def _check(formulas: Sequence[Term], seed: int, solvers: _Solvers | None = None) -> tuple[Any, Any]:
    """(answer, model or None) of the first solver that answers: the plain one, briefly; then others; then it again."""
    for make, effort in solvers or _SOLVERS:
        solver = make(seed, effort)
        solver.add(formulas)
        answer = solver.check()
        if answer != z3.unknown:
            return answer, solver.model() if answer == z3.sat else None
    return z3.unknown, None


def _with_groebner(seed: int, effort: int) -> z3.Solver:
    solver = solver_for(seed, effort)
    solver.set("smt.arith.nl.grobner", True)
    return solver


def _nonlinear(seed: int, effort: int) -> z3.Solver:
    solver = z3.SolverFor("QF_NIA")
    solver.set("random_seed", seed)
    solver.set("rlimit", effort)
    return solver


_Solvers: TypeAlias = Sequence[tuple[Callable[[int, int], z3.Solver], int]]
_SOLVERS: _Solvers = (
    (solver_for, 800_000), (_with_groebner, 800_000), (_nonlinear, 4_000_000), (solver_for, 8_000_000))
_BRIEF: _Solvers = ((solver_for, 150_000),)
"""What is tried for an obligation, with resource units each; nearly all are answered by the first within 100,000."""


def _witness(attempt: _Attempt, path: Path) -> bool:
    """Whether some input takes the path, and the claim, run on plain numbers, is true of it."""
    _, model = _check([*attempt.table.premises(), path.answers.condition], 0)
    return model is not None and attempt.claim.judge(concrete_arguments(attempt.claim.domains, model)) is True


# Counterexamples ------------------------------------------------------------------------------------------------------

TRIED_BY_SIZE = 8_000  # inputs, some 50 ms: a small counterexample is found, and shown to be the smallest


def _refuted(attempt: _Attempt, arguments: dict[str, Any], *, smallest: bool) -> bool:
    """Note a counterexample that running the claim confirms; whether nothing more is to be found."""
    if attempt.arguments is not None:
        return False
    if not _false(attempt.claim, arguments):
        attempt.note = f"the solver's counterexample {arguments} is none: the symbolic reading differs from the code"
        return False
    attempt.arguments = arguments
    if smallest:
        tried = itertools.islice(attempt.claim.inputs_by_size(), TRIED_BY_SIZE)
        found = next((inputs for inputs in tried if _false(attempt.claim, inputs)), None)
        attempt.arguments = found or arguments
        smallest = found is None
    if not smallest:
        attempt.ended(Outcome.VIOLATED, "", attempt.arguments)
    return not smallest


def _false(claim: Claim, arguments: dict[str, Any]) -> bool:
    try:
        return claim.judge(arguments) is False
    except Exception:  # noqa: BLE001  # a claim whose code raises is not true
        return True


def _smallest(attempt: _Attempt, paths: Sequence[Path]) -> dict[str, Any] | None:
    """The counterexample with the least sum of absolute values, then the least value of each argument in turn."""
    domains = attempt.claim.domains
    formulas = [*attempt.table.premises(), z3.Or([z3.And(_falsehood(path)) for path in paths])]
    absolute = [z3.If(term < 0, -term, term) for term in leaves(domains)]
    negative = [z3.If(term < 0, z3.IntVal(1), z3.IntVal(0)) for term in leaves(domains)]
    _, model = _check(formulas, 0)
    for goal in [z3.Sum(absolute), *absolute, *negative] if model is not None else []:
        model = _least(formulas, goal, model)
        formulas = [*formulas, goal == model.eval(goal, model_completion=True)]
    arguments = None if model is None else concrete_arguments(domains, model)
    return arguments if arguments is not None and _false(attempt.claim, arguments) else None


def _least(formulas: list[Term], goal: Term, model: Any) -> Any:
    """A model with the least value of a goal that is never negative: doubling up from 0, then halving."""
    low, high, step = 0, model.eval(goal, model_completion=True).as_long(), 1
    while low < high:
        bound = min(low + step - 1, high - 1)
        _, smaller = _check([*formulas, goal <= bound], 0)
        if smaller is None:
            low, step = bound + 1, step * 2
        else:
            model, high, step = smaller, smaller.eval(goal, model_completion=True).as_long(), 1
    return model
