"""All states and steps of the enumerable scopes, in the forms of `coverage`: what the share of visited ones is of.

The search goes through states in which nothing is said of what no guard reads any more: the list of a dead member
(`Rebalancing` goes on without it), ages but that of the entry (`Locking` without listeners and with no bound on answers
reads no other one, and of that one only whether the lease has run out). So two values stand for all milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from invariants.refinement.coverage import CLIENTS, GROUPS, LOCK, MEMBERS, QUEUES, group_form, lock_form
from model.consumer_group import Rebalancing
from model.explorer import Search
from model.language.batch import Batch, states, words
from model.language.layout import Layout
from model.language.nodes import SET
from model.language.scope import Scope
from model.order_lock import Locking
from model.scopes import averagely

FRESH, RUN_OUT = 0, 1
"""Ages of a lease."""


@dataclass(frozen=True)
class Enumerated:
    """states -- forms of all that are reachable. steps -- pairs of different forms that a step leads from and to."""

    states: frozenset[int]
    steps: frozenset[tuple[int, int]]


@lru_cache
def enumerated(name: str) -> Enumerated:
    """A scope of `coverage` by its name; takes less than a second of CPU time, once in a process."""
    scope = lock_scope() if name == LOCK else group_scope(GROUPS[name])
    form, reduced = (_lock, _without_ages) if name == LOCK else (_group, _without_old_lists)
    forms, steps = dict[int, int](), set[tuple[int, int]]()
    layout = Search(scope).ground.layout
    for before, after in _steps(scope, lambda state: reduced(layout, state)):
        for state in (before, after):
            if state not in forms:
                forms[state] = form(layout, state)
        if forms[before] != forms[after]:
            steps.add((forms[before], forms[after]))
    return Enumerated(frozenset(forms.values()), frozenset(steps))


def _steps(scope: Scope, reduced: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """All steps between reachable states, each reduced."""
    search = Search(scope)
    count = search.ground.layout.words
    known: dict[int, int] = {}
    level = sorted({reduced(state) for state in states(search.first)})
    seen = set(level)
    while level:
        new: set[int] = set()
        for edges in search.expander.edges(Batch(words(level, count))):
            for row, raw in zip(edges.rows.tolist(), states(edges.after), strict=True):
                after = known.get(raw)
                if after is None:
                    after = known[raw] = reduced(raw)
                yield level[row], after
                if after not in seen:
                    new.add(after)
        seen |= new
        level = sorted(new)


def sparse(layout: Layout, state: int) -> dict[Any, Any]:
    """The cells of a packed state that are not 0, as the open reading has them; elements are their numbers."""
    found = {}
    for cell in layout.cells:
        value = (state & cell.mask) >> cell.position
        if value or cell.variable == "holder":
            view = frozenset(i for i in range(value.bit_length()) if value >> i & 1)
            found[cell.variable, *cell.keys] = view if cell.sort.kind == SET else value
    return found


# Groups ---------------------------------------------------------------------------------------------------------------


def group_scope(brokers: int) -> Scope:
    """A group whose members all subscribe and have the same route and strategy, and client ids of their own."""
    share = averagely(QUEUES)
    rigid: dict[str, Callable[..., object]] = {
        "share": share, "subscribes": lambda _: True, "leader": lambda m: m,
        "gives": lambda m, view, q: share(view, q) == m, "spares": lambda m, view, q: share(view, q) != m,
    }
    return Scope(Rebalancing, {"Broker": brokers, "Member": MEMBERS, "Queue": QUEUES}, rigid)


def _without_old_lists(layout: Layout, state: int) -> int:
    for m in range(MEMBERS):
        if not state & layout.cell("up", m).mask:
            state &= ~layout.cell("answer", m).mask
    return state


def _group(layout: Layout, state: int) -> int:
    return _inside(group_form(sparse(layout, state), range(layout.scope.sizes["Broker"]), range(QUEUES)))


def _inside(form: int | str) -> int:
    """Every state of a scope fits into it."""
    if isinstance(form, str):
        raise TypeError(form)
    return form


# Locks ----------------------------------------------------------------------------------------------------------------


def lock_scope() -> Scope:
    """The lock of a queue of two clients that have no listeners."""
    constants = {"client_live": FRESH, "broker_live": FRESH, "rpc_max": RUN_OUT, "batch_max": RUN_OUT}
    return Scope(Locking, {"Client": CLIENTS, "Ms": RUN_OUT + 1}, constants, forbid=("work", "finish"))


def _without_ages(layout: Layout, state: int) -> int:
    for name in ("wait", "since", "worked", "lease_age", "belief_age", "batch_age"):
        for cell in layout.table(name):
            state &= ~cell.mask
    return state


def _lock(layout: Layout, state: int) -> int:
    return _inside(lock_form(sparse(layout, state)))
