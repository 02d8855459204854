"""Z3 as a judge of one obligation: proved, refuted, or unknown; under several seeds, with a time limit each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import z3

from proofs.reading import Expr

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


def prove(
    hypotheses: Iterable[Expr], goal: Expr, seeds: Sequence[int] = SEEDS, timeout_ms: int = TIMEOUT_MS,
) -> Solved:
    """Ask whether the hypotheses imply the goal; timeout_ms bounds each seed."""
    return satisfiable([*hypotheses, z3.Not(goal)], seeds, timeout_ms)


def satisfiable(formulas: Sequence[Expr], seeds: Sequence[int] = SEEDS, timeout_ms: int = TIMEOUT_MS) -> Solved:
    """Ask for a model of the formulas: refuted carries one, proved says that there is none."""
    started = time.process_time()
    answers: dict[Answer, str] = {}
    model = None
    context = z3.Context()  # of its own: what was asked before must not change how this is answered
    asked = [formula.translate(context) for formula in formulas]
    for seed in seeds:
        solver = z3.SimpleSolver(ctx=context)
        solver.set("random_seed", seed)
        solver.set("timeout", timeout_ms)
        solver.add(*asked)
        result = solver.check()
        if result == z3.unsat:
            answers[Answer.PROVED] = ""
        elif result == z3.sat:
            answers[Answer.REFUTED], model = "", solver.model()
        else:
            answers[Answer.UNKNOWN] = solver.reason_unknown()
        if Answer.PROVED not in answers:
            break  # one refutation or one unknown decides
    seconds = time.process_time() - started
    if len(answers) != 1:
        return Solved(Answer.UNKNOWN, seconds, answers.get(Answer.UNKNOWN) or "the seeds disagree")
    (answer, reason), = answers.items()
    return Solved(answer, seconds, reason, model)
