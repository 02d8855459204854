"""Counterexamples to induction: a small state that has all invariants, and a step after which one fails.

Such a state need not be reachable: then the property may hold and the proof lacks a lemma. The explorer tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import z3

from model.explorer.induction import trace_to
from model.explorer.search import explore
from model.language import Property
from model.language.scope import Scope
from proofs.enumerated import Enumerated, values
from proofs.obligations import Induction, Obligation
from proofs.ranking import MEANING, owed
from proofs.solve import Answer, prove

Cell = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The obligation that fails and the values of the state before, by cell."""

    obligation: Obligation
    values: dict[Cell, int]


def counterexample(declared: Property, scope: Scope, timeout_ms: int = 10_000) -> Counterexample | None:
    """Find a state of the scope that breaks an obligation of the property or of its lemmas; None if there is none."""
    reading = Enumerated(scope.concept, scope.sizes, scope.rigid)
    induction = Induction(reading, declared.given)
    for obligation in (*induction.of_lemmas(induction.lemmas), *owed(induction, declared)):
        solved = prove((*obligation.assumed, *obligation.hypotheses), obligation.goal, (0,), timeout_ms)
        if solved.answer is Answer.REFUTED and solved.model is not None:
            return Counterexample(obligation, dict(_values(reading, solved.model)))
    return None


def _values(reading: Enumerated, model: z3.ModelRef) -> Iterator[tuple[Cell, int]]:
    for info in reading.concept.variables.values():
        if not info.rigid:
            for keys, number in values(reading, "now", info, model):
                yield (info.name, *keys), number


def shown(found: Counterexample, scope: Scope) -> list[str]:
    """Write the cells of the state that are not at their first value, one line each, as people say them."""
    lines = []
    for (name, *keys), number in found.values.items():
        info = scope.concept.variables[str(name)]
        if number:
            place = ", ".join(scope.text(sort, int(key)) for sort, key in zip(info.keys, keys, strict=True))
            lines.append(f"{name}{f'[{place}]' if place else ''} = {scope.text(info.value, number)}")
    return lines


def explained(declared: Property, scope: Scope) -> tuple[str, dict[str, Any]] | None:
    """Say in one sentence what fails and whether the state is reachable, and give the trace; None if nothing is found.

    The trace leads to the state if the explorer reaches it in the scope; otherwise it begins and ends there.
    """
    found = counterexample(declared, scope)
    if found is None:
        return None
    searched = explore(scope)
    reached = trace_to(searched, found.values)
    of_rank = found.obligation.part in MEANING
    what = (f"{found.obligation} fails" if of_rank
            else f"{found.obligation.invariant} fails after {found.obligation.action or 'the beginning'}")
    if reached is not None:
        cure = ": the ranking is wrong, the property need not be" if of_rank else ""
        return f"{what} from a state that is reachable in {len(reached['steps'])} steps of {scope.name}{cure}", reached
    initial = dict(line.split(" = ", 1) for line in shown(found, scope))
    return (f"{what} from a state that is not reachable in {scope.name}: a lemma that excludes it is missing",
            {"initial": initial, "steps": [], "lifelines": []})
