"""What a run that breaks a property without a premise must still show: that the premise is what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model.language import Concept, Run
from proofs import terms
from proofs.few import SIZES, Few
from proofs.obligations import Steps
from proofs.reading import Expr
from proofs.solve import Answer, satisfiable


def needless(concept: Concept, run: Run, timeout_ms: int) -> str:
    """Say why a run that breaks a property without a premise does not show that the premise is needed, or ""."""
    readings = [Steps(Few(concept, size), run) for size in SIZES]

    def some(asked: Callable[[Steps], Sequence[Expr]]) -> bool:
        return any(satisfiable((*one.start, *asked(one)), (0,), timeout_ms).answer is Answer.REFUTED
                   for one in readings)

    if not some(lambda one: (*one.where, one.negated, *one.others())):
        return f"nothing is known to satisfy what it assumes without {run.premise.name}"
    for place, premise in enumerate(run.where):
        def without(one: Steps, place: int = place) -> Sequence[Expr]:
            rest = [*one.where[:place], *one.where[place + 1:]]
            return *rest, one.negated, terms.negation(one.where[place])
        if not some(without):
            return f"{premise.name} follows from what else it assumes"
    if not some(lambda one: (*one.where, one.premise(), terms.negation(
            terms.conjunction([goal for *_, goal in one.goals()], one.reading.context)))):
        return f"it breaks the property also where {run.premise.name} is true"
    return ""
