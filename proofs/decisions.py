"""Claims about decisions, proved for all inputs by executing the very functions of impl.decisions, path by path.

For each claim the predicate is run on symbolic arguments (proofs/paths.py). The obligations are: the table of paths is
complete and disjoint; on every path the claim is true; some input is not discarded; and for a claim that holds, the
proof fails for some mutant of the code. A failed obligation is a counterexample only after the same predicate, run on
plain numbers, was seen to be false for it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import z3

import invariants.decisions
from invariants.claim import CLAIMS, Claim, DiscardedError, Finding, chosen, counterexample, judged
from invariants.verdict import Outcome, Verdict
from proofs import dump_claims, terms
from proofs.apart import apart, ended
from proofs.domains import Values, concrete_arguments, equal_to, leaves, symbolic_arguments, within
from proofs.mutants import Mutant, mutants
from proofs.path_questions import Z3, Asked, ModelValues, Solver, checked, falsehood, spoken
from proofs.path_runs import Path, PathLimitError
from proofs.paths import Limits, PathTable
from proofs.solve import Answer
from proofs.symbolic import UnsupportedError
from proofs.terms import Context, Term, fresh_context

__all__ = ["CLAIMS", "invariants", "kill", "prove_claim", "prove_decisions"]  # importing the catalogue declares it


def prove_decisions(names: Sequence[str] | None = None, *, seeds: Sequence[int] = (0,), out: File | None = None,
                    solver: Solver = Z3, dump: File | None = None) -> Iterator[Verdict]:
    """One verdict per claim, in the order of the catalogue.

    names -- claims or properties; None: all. Raises BadInputError for an unknown one.
    seeds -- of Z3; every obligation must be proved with each.
    out -- folder for the evidence of violations; None: none is written.
    solver -- who is asked about the paths; that they are all paths is asked of it, too.
    dump -- folder for the obligations as SMT-LIB files; None: none is written.
    """
    def lost(claim: Claim, how: str) -> Verdict:
        return judged(claim, "prove", Outcome.UNKNOWN, ended(how), seed=seeds[0]).verdict

    def proved(claim: Claim) -> Verdict:
        return prove_claim(claim, seeds, solver=solver, dump=dump).saved(out)

    return apart(chosen(names), proved, lost)


def prove_claim(
    claim: Claim, seeds: Sequence[int] = (0,), limits: Limits | None = None, solver: Solver = Z3,
    dump: File | None = None,
) -> Finding:
    """Prove or refute one claim.

    Unknown when a limit is reached, when the code asks for something that has no symbolic meaning, or when what the
    solver calls a counterexample is none when the code runs on it. What was proved before changes nothing: a claim has
    a context of Z3 of its own.
    """
    start, context = time.process_time(), fresh_context()
    attempt = _attempt(claim, seeds, limits, context, solver)
    if dump is not None:
        dump_claims.write(dump, claim.name, attempt.table, attempt.answers, attempt.about)
    twin = None
    if attempt.outcome is Outcome.HOLDS:
        attempt.obligations += 1
        twin = _twin(claim, context)
        if twin is None:
            attempt.outcome, attempt.note = Outcome.UNKNOWN, "the proof succeeds for every mutant of the code: vacuous?"
    cost = {"obligations": float(attempt.obligations), "paths": float(len(attempt.table.paths)),
            "seconds": round(time.process_time() - start, 4), **solver.cost()}
    if attempt.arguments is not None:
        return counterexample(claim, "prove", attempt.arguments, seed=seeds[0], cost=cost)
    note = attempt.note or f"for all inputs; fails for the twin with {twin.change if twin else ''}"
    return judged(claim, "prove", attempt.outcome, note, seed=seeds[0], cost=cost)


def kill(claim: Claim, mutant: Mutant, limits: Limits | None = None, context: Context = None,
         begin: Mapping[str, Any] | None = None) -> bool:
    """Whether the proof of a claim fails for a mutant, with a counterexample that the mutant confirms.

    context -- of Z3, to work in; None: a new one.
    begin -- arguments whose path is tried first.
    """
    with mutant.active():
        found = _attempt(claim, (0,), limits or _FEW, context or fresh_context(), Z3, brief=True, begin=begin)
    return found.outcome is Outcome.VIOLATED


def _twin(claim: Claim, context: Context) -> Mutant | None:
    """A mutant for which the proof fails; first those that a few small inputs expose, which are quick to refute."""
    few = list(itertools.islice(claim.small_inputs(), TRIED_ON_MUTANTS))
    for mutant in _mutants(claim):
        exposing = _exposing(claim, mutant, few)
        if exposing is not None and kill(claim, mutant, context=context, begin=exposing):
            return mutant
    return next((mutant for mutant in _mutants(claim) if kill(claim, mutant, context=context)), None)


def _mutants(claim: Claim) -> Iterator[Mutant]:
    for function in claim.subjects:
        yield from mutants(function)


_FEW = Limits(paths=100, depth=80, seconds=0.5)  # a mutant that is not refuted soon is left for the next one
TRIED_ON_MUTANTS = 500  # inputs, a few milliseconds


def _exposing(claim: Claim, mutant: Mutant, inputs: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    with mutant.active():
        return next((arguments for arguments in inputs if _false(claim, arguments)), None)


# One attempt ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Attempt:
    claim: Claim
    table: PathTable
    outcome: Outcome = Outcome.UNKNOWN
    note: str = ""
    obligations: int = 0
    answers: list[Answer] = field(default_factory=list)  # for the paths of which the claim says something
    about: Path | None = None  # one of these that an input takes
    arguments: dict[str, Any] | None = field(default=None)

    def ended(self, outcome: Outcome, note: str = "", arguments: dict[str, Any] | None = None) -> _Attempt:
        """The attempt with its result."""
        self.outcome, self.note, self.arguments = outcome, note, arguments
        return self


def _attempt(
    claim: Claim, seeds: Sequence[int], limits: Limits | None, context: Context, solver: Solver, *, brief: bool = False,
    begin: Mapping[str, Any] | None = None,
) -> _Attempt:
    """Execute, prove, refute; brief: any counterexample will do, and a hard question is left open."""
    first = () if begin is None else equal_to(claim.domains, begin, context)
    attempt = _Attempt(claim, PathTable(within(claim.domains, context)))
    asked = solver.asked(attempt.table, seeds[0], brief=brief)
    open_paths: list[Path] = []
    try:
        for path in attempt.table.explore(lambda run: claim.predicate(**symbolic_arguments(claim.domains, run)),
                                          limits=limits, seed=seeds[0], first=first):
            answer, values = _falsified(attempt, path, asked)
            if answer is not Answer.PROVED:
                open_paths.append(path)
            if values is not None and _refuted(attempt, concrete_arguments(claim.domains, values), smallest=not brief):
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
    return _holding(attempt, seeds, solver)


def _holding(attempt: _Attempt, seeds: Sequence[int], solver: Solver) -> _Attempt:
    """What a claim that no path falsified still owes: a sound table, and an input that it speaks about."""
    table = attempt.table
    impossible = [[condition] for condition in table.impossible()] + [falsehood(path) for path in spoken(table)]
    cut_off = [] if solver.explores else [[condition] for condition in table.impossible()]
    for seed in seeds:
        owed = impossible if seed != seeds[0] else cut_off  # the rest was proved with the first seed
        attempt.obligations += len(owed) + 1
        if not solver.multiples_hold(seed) or (owed and not solver.asked(table, seed).none_possible(owed)):
            return attempt.ended(Outcome.UNKNOWN, f"an obligation is not proved with solver seed {seed}")
    attempt.obligations += 2 + len(table.cut_off)  # each side was cut off by a proof with the first seed
    if not table.is_partition():
        return attempt.ended(Outcome.UNKNOWN, "the table of paths is not complete and disjoint")
    attempt.about = next((path for path in spoken(table) if _witness(attempt, path)), None)
    if attempt.about is None:
        return attempt.ended(Outcome.UNKNOWN, "no input was found that the claim speaks about: vacuous")
    return attempt.ended(Outcome.HOLDS)


def _falsified(attempt: _Attempt, path: Path, asked: Asked) -> tuple[Answer, Values | None]:
    """Whether no input takes this path and falsifies the claim, and the values of one that does."""
    if isinstance(path.error, DiscardedError):
        return Answer.PROVED, None
    attempt.obligations += 1
    answer, values = asked.check(falsehood(path))
    attempt.answers.append(answer)
    return answer, values


def _witness(attempt: _Attempt, path: Path) -> bool:
    """Whether some input takes the path, and the claim, run on plain numbers, is true of it."""
    _, model = checked([*attempt.table.premises(), path.answers.condition], 0)
    return model is not None and attempt.claim.judge(_arguments(attempt, model)) is True


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


def _arguments(attempt: _Attempt, model: Any) -> dict[str, Any]:
    return concrete_arguments(attempt.claim.domains, ModelValues(model))


def _false(claim: Claim, arguments: dict[str, Any]) -> bool:
    try:
        return claim.judge(arguments) is False
    except Exception:  # noqa: BLE001  # a claim whose code raises is not true
        return True


def _smallest(attempt: _Attempt, paths: Sequence[Path]) -> dict[str, Any] | None:
    """The counterexample with the least sum of absolute values, then the least value of each argument in turn."""
    domains, context = attempt.claim.domains, attempt.table.domain.ctx
    sizes = leaves(domains, context)
    formulas = [*attempt.table.premises(), z3.Or([z3.And(falsehood(path)) for path in paths])]
    absolute = [z3.If(term < 0, -term, term) for term in sizes]
    negative = [z3.If(term < 0, terms.number(1, context), terms.number(0, context)) for term in sizes]
    _, model = checked(formulas, 0)
    for goal in [z3.Sum(absolute), *absolute, *negative] if model is not None else []:
        model = _least(formulas, goal, model)
        formulas = [*formulas, goal == model.eval(goal, model_completion=True)]
    arguments = None if model is None else _arguments(attempt, model)
    return arguments if arguments is not None and _false(attempt.claim, arguments) else None


def _least(formulas: list[Term], goal: Term, model: Any) -> Any:
    """A model with the least value of a goal that is never negative: doubling up from 0, then halving."""
    low, high, step = 0, model.eval(goal, model_completion=True).as_long(), 1
    while low < high:
        bound = min(low + step - 1, high - 1)
        _, smaller = checked([*formulas, goal <= bound], 0)
        if smaller is None:
            low, step = bound + 1, step * 2
        else:
            model, high, step = smaller, smaller.eval(goal, model_completion=True).as_long(), 1
    return model
