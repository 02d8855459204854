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
from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, SET, SortInfo
from model.language.open.nearness import Wanted
from model.language.scope import Scope
from proofs import terms
from proofs.enumerated import Enumerated, values
from proofs.obligations import Induction, Obligation
from proofs.ranking import MEANING, owed
from proofs.solve import Answer, prove

Cell = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The obligation that fails and the values of the state before, by cell.

    needed -- cells whose values are enough for it.
    """

    obligation: Obligation
    values: dict[Cell, int]
    needed: frozenset[Cell] = frozenset()


def counterexample(declared: Property, scope: Scope, timeout_ms: int = 10_000) -> Counterexample | None:
    """Find a state of the scope that breaks an obligation of the property or of its lemmas; None if there is none."""
    reading = Enumerated(scope.concept, scope.sizes, scope.rigid)
    induction = Induction(reading, declared.given)
    for obligation in (*induction.of_lemmas(induction.lemmas), *owed(induction, declared)):
        solved = prove((*obligation.assumed, *obligation.hypotheses), obligation.goal, (0,), timeout_ms)
        if solved.answer is Answer.REFUTED and solved.model is not None:
            needed = frozenset(_needed(reading, obligation, solved.model))
            return Counterexample(obligation, dict(_values(reading, solved.model)), needed)
    return None


def _needed(reading: Enumerated, obligation: Obligation, model: z3.ModelRef) -> Iterator[Cell]:
    """Cells whose values are enough: whatever the others are, the step can be taken and the goal fails."""
    solver = z3.Solver(ctx=model.ctx)
    solver.add([one() == model[one] for one in model.decls() if one.arity() == 0 and one.name().startswith("fresh ")])
    formulas = [one.translate(model.ctx) for one in (*obligation.hypotheses, terms.negation(obligation.goal))]
    solver.add(z3.Not(z3.And(*formulas)))
    cells: dict[str, Cell] = {}
    for info in reading.concept.variables.values():
        for keys, _ in () if info.rigid else values(reading, "now", info, model):
            cell = reading.cell("now", info, keys).translate(model.ctx)
            told = z3.Bool(f"cell {len(cells)}", model.ctx)
            cells[str(told)] = (info.name, *keys)
            solver.add(z3.Implies(told, cell == model.eval(cell, model_completion=True)))
    enough = [z3.Bool(name, model.ctx) for name in cells]
    for one in list(enough):  # what can be left out is, one after another
        fewer = [other for other in enough if other is not one]
        if solver.check(*fewer) == z3.unsat:
            enough = fewer
    yield from (cells[str(one)] for one in enough)


def wanted(found: Counterexample, scope: Scope, known: str) -> Wanted:
    """The state as somebody may look for it: the cells that are needed; known -- what a search of the scope says."""
    concept = scope.concept
    cells = []
    for (name, *keys), number in found.values.items():
        if (name, *keys) in found.needed:
            info = concept.variables[str(name)]
            place = [plain(sort, int(key)) for sort, key in zip(info.keys, keys, strict=True)]
            cells.append(((str(name), *place), plain(info.value, number)))
    elements = {name: scope.sizes[name] for name, sort in concept.sorts.items() if sort.kind == FREE}
    where = f"{concept.module}.{concept.name}"
    return Wanted(found.obligation.invariant, found.obligation.action, where, elements, cells, known)


def plain(sort: SortInfo, number: int) -> Any:
    """A value by its number, as JSON has it: elements are numbers, sets lists of them."""
    if sort.kind == BOOL:
        return bool(number)
    if sort.kind == CHOICE:
        return sort.members[number]
    if sort.kind == SET and sort.element is not None:
        return [plain(sort.element, i) for i in range(number.bit_length()) if number >> i & 1]
    if sort.kind == MAYBE and sort.element is not None:
        return plain(sort.element, number - 1) if number else None
    return number


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
    return None if found is None else told(found, scope)


def told(found: Counterexample, scope: Scope) -> tuple[str, dict[str, Any]]:
    """The sentence and the trace of a counterexample in a scope."""
    of_rank = found.obligation.part in MEANING
    what = (f"{found.obligation} fails" if of_rank
            else f"{found.obligation.invariant} fails after {found.obligation.action or 'the beginning'}")
    initial = dict(line.split(" = ", 1) for line in shown(found, scope))
    state: dict[str, Any] = {"initial": initial, "steps": [], "lifelines": []}
    try:
        searched = explore(scope)
    except ValueError as error:
        return f"{what} from a state of {scope.name}, which cannot be searched: {error}", state
    reached = trace_to(searched, {cell: value for cell, value in found.values.items() if cell in found.needed})
    if reached is not None:
        cure = ": the ranking is wrong, the property need not be" if of_rank else ""
        return f"{what} from a state that is reachable in {len(reached['steps'])} steps of {scope.name}{cure}", reached
    return f"{what} from a state that is not reachable in {scope.name}: a lemma that excludes it is missing", state
