"""Initial states: all solutions of the initial condition.

A cell that the condition does not mention means nothing yet, as if it had been forgotten: it is 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.language.ground import Ground
from model.language.instantiate import Instantiation
from model.language.layout import Cell, Layout
from model.language.scalar import Code, compiled
from model.language.scope import Scope

_MANY = 1_000_000


def initial_states(scope: Scope, layout: Layout) -> list[int]:
    """All initial states, in ascending order; raises ValueError when there is none, or more than a million."""
    ground = Instantiation(scope, layout)
    condition = ground.term(ground.scope.concept.initial)
    conjuncts = condition.args if condition.op == "and" else (condition,)
    mentioned = [cell for cell in layout.cells if cell.number in ground.mentioned]
    domains = {cell: _domain(cell, conjuncts, ground) for cell in mentioned}
    order = sorted(mentioned, key=lambda cell: (len(domains[cell]), cell.number))
    found: list[int] = []
    checks = _checks(order, conjuncts)
    fixed = next((i for i, cell in enumerate(order) if len(domains[cell]) != 1), len(order))
    start = sum(domains[cell][0] << cell.position for cell in order[:fixed]) if all(domains.values()) else 0
    possible = all(domains.values()) and all(check(start) for decided in checks[:fixed] for check in decided)
    possible = possible and condition is not ground.terms.false
    for state in _solve(order, domains, checks, start, fixed) if possible else ():
        found.append(state)
        if len(found) > _MANY:
            raise ValueError(f"{scope.concept.name}: more than {_MANY} initial states; say more in @initially")
    if not found:
        raise ValueError(f"{scope.concept.name}: no state satisfies the initial condition "
                         f"in the scope {scope.name}")
    return sorted(found)


def _domain(cell: Cell, conjuncts: tuple[Ground, ...], ground: Instantiation) -> list[int]:
    """The values of a cell that pass all conjuncts about it alone."""
    own = [term for term in conjuncts if term.support and not term.support & ~cell.mask]
    fixed = next((term.args[1].data for term in own if term.op == "eq" and term.args[0] is ground.cells()[cell.number]
                  and term.args[1].op == "const"), None)
    checks = [compiled(term) for term in own]
    values = range(ground.scope.size(cell.sort)) if fixed is None else (fixed,)
    return [value for value in values if all(check(value << cell.position) for check in checks)]


def _checks(order: list[Cell], conjuncts: tuple[Ground, ...]) -> list[list[Code]]:
    """For each cell in order: the conjuncts that are decided once it has a value."""
    checks: list[list[Code]] = [[] for _ in order]
    for term in conjuncts:
        places = [i for i, cell in enumerate(order) if cell.mask & term.support]
        if len(places) > 1:
            checks[places[-1]].append(compiled(term))
    return checks


def _solve(
    order: list[Cell], domains: dict[Cell, list[int]], checks: list[list[Code]], state: int, place: int,
) -> Iterator[int]:
    if place == len(order):
        yield state
        return
    for value in domains[order[place]]:
        longer = state | value << order[place].position
        if all(check(longer) for check in checks[place]):
            yield from _solve(order, domains, checks, longer, place + 1)
