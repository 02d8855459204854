"""Z3's reading of a declaration, as one more reader, and faults that are planted in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language.defined import obligations
from model.language.nodes import Node, SortInfo
from proofs.engine import z3
from proofs.enumerated import Enumerated
from proofs.reading import Reading
from stateful_tests.language.agreement import CUT, Answers, Case
from stateful_tests.language.faults import Patch

Expr = Any


class _Bundle:
    """Z3 expressions over one state, evaluated together by substituting the state."""

    def __init__(self, reading: Enumerated, exprs: list[Expr]) -> None:
        self._reading = reading
        together = z3.Function(f"bundle_{len(exprs)}", *(expr.sort() for expr in exprs), z3.BoolSort())
        self._expr = together(*exprs)

    def values(self, *given: tuple[Expr, SortInfo, int]) -> list[int]:
        pairs = [(constant, self._reading.constant(sort, number)) for constant, sort, number in given]
        return [_number(expr) for expr in z3.simplify(z3.substitute(self._expr, *pairs)).children()]


def _number(expr: Expr) -> int:
    if z3.is_int_value(expr) or z3.is_bv_value(expr):
        return int(expr.as_long())
    assert z3.is_true(expr) or z3.is_false(expr), f"{expr} has a symbol left"
    return int(z3.is_true(expr))


def by_z3(given: Case) -> Answers:
    """Z3 over a few named elements: formulas once per declaration, states by substitution."""
    concept, scope = given.concept, given.scope
    reading = Enumerated(concept, scope.sizes, scope.rigid)
    cells = [(concept.variables[str(name)], tuple(map(int, keys))) for name, *keys in given.states[0]]

    def state(name: str, row: int) -> list[tuple[Expr, SortInfo, int]]:
        values = given.states[row % len(given.states)]
        return [(reading.cell(name, info, keys), info.value, values[info.name, *keys]) for info, keys in cells]

    now, then = reading.state("now"), reading.state("then")
    formulas = [(name, reading.formula(node, now, None, then)) for name, node, _ in given.formulas()]
    bundle = _Bundle(reading, [expr for _, expr in formulas])
    rows = [bundle.values(*state("now", row), *state("then", row + 1)) for row in range(len(given.states))]
    answers: Answers = {(name, ()): [row[i] for row in rows] for i, (name, _) in enumerate(formulas)}
    for name, choices in given.arguments.items():
        action = concept.actions[name]
        env = reading.arguments(action)
        after = reading.after(action, now, env)
        bundle = _Bundle(reading, [
            reading.formula(obligations(action), now, env), reading.formula(action.guard, now, env),
            reading.enabled(action, now, env), *(reading.formula(node, now, env, after) for _, node in given.steps()),
            *(after(info.name, [reading.constant(s, k) for s, k in zip(info.keys, keys, strict=True)])
              for info, keys in cells)])
        for arguments in choices:
            chosen = [(env[v], v.sort, number) for v, number in zip(action.parameters, arguments, strict=True)]
            found = [bundle.values(*state("now", row), *chosen) for row in range(len(given.states))]
            answers[f"{name} owes", arguments] = [owed for owed, *_ in found]
            answers[name, arguments] = [
                None if not guard else CUT if not inside
                else dict(zip(given.states[0], values[-len(cells):], strict=True))
                for _, guard, inside, *values in found]
            for place, (wanted, _) in enumerate(given.steps()):
                answers[f"{wanted} by {name}", arguments] = [
                    values[place] if guard and inside else None for _, guard, inside, *values in found]
    return answers


def z3_changed(change: Callable[[Node], Node], patch: Patch) -> None:
    """Have Z3 read changed nodes."""
    plain = vars(Reading)["_read"]
    patch.setattr(Reading, "_read", lambda self, node, *rest: plain(self, change(node), *rest))


def z3_step(change: Callable[[Any], Any], patch: Patch) -> None:
    """Have Z3 read what is after a changed action."""
    plain = Reading.after
    patch.setattr(Reading, "after", lambda self, action, *rest: plain(self, change(action), *rest))
