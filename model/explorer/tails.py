"""What the cells of a table hold beyond a scope, where that is known: a run of the scope does not change them.

A run that a search shows is one of some state without bounds, in which a table goes on. Any such state will do that is
initial and whose cells within the scope are those of the run. So it is taken that all cells beyond hold what the last
ones within do, and asked whether such a state surely is initial. Where it is not, nothing is known of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.language.actions import Action
from model.language.batch import Batch, Words, states
from model.language.beyond import Beyond, endless
from model.language.instantiate import Instantiation
from model.language.layout import Cell
from model.language.nodes import NAT
from model.language.tracing import Assignment

Tails = Mapping[str, int]


def at_first(ground: Instantiation, first: Words) -> Tails:
    """What the cells beyond hold in these initial states, by table; nothing where no value is sure to be initial."""
    held: dict[str, set[int]] = {}
    last = [cell for cell in ground.layout.cells if _is_last(ground, cell)]
    for state in states(first) if last else ():
        for cell in last:
            held.setdefault(cell.variable, set()).add(ground.layout.read(state, cell))
    tails = {name: min(values) for name, values in held.items() if len(values) == 1}
    initial = Beyond(ground.scope, tails).surely(ground.scope.concept.initial, True)
    return tails if tails and Batch(first).truth(ground.term(initial)).all() else {}


def lasting(ground: Instantiation, tails: Tails) -> Tails:
    """Those that no action changes."""
    for action in ground.scope.concept.actions.values():
        tails = {name: value for name, value in after_step(action, tails).items() if tails[name] == value}
    return tails


def after_step(action: Action, tails: Tails) -> Tails:
    """What the cells beyond hold after a step: an action may assign a cell for every number at once."""
    left = dict(tails)
    for one in action.assignments:
        if one.variable in left and any(map(endless, one.loops)):
            if one.value is not None and one.value.op == "const" and _all_keys(one):
                left[one.variable] = int(one.value.payload)
            else:
                del left[one.variable]
    return left


def _all_keys(assignment: Assignment) -> bool:
    """Whether each cell of the table is assigned: its keys are different variables of the loops."""
    keys = [key.payload for key in assignment.keys if key.op == "var" and key.payload in assignment.loops]
    return len({*keys}) == len(assignment.keys)


def _is_last(ground: Instantiation, cell: Cell) -> bool:
    """Whether a number without end is the greatest of the scope in a key."""
    sorts = ground.scope.concept.variables[cell.variable].keys
    return any(sort.kind == NAT and not sort.saturates and key == ground.scope.size(sort) - 1
               for sort, key in zip(sorts, cell.keys, strict=True))
