"""All states and steps of the enumerable scopes, in the forms of `coverage`: what the share of visited ones is of.

The search goes through states in which nothing is said of what no guard reads any more: the list of a dead member
(`Rebalancing` goes on without it), its ghosts, ages but that of the entry (`Locking` without listeners and with no
bound on answers reads no other one, and of that one only whether the lease has run out). So two values stand for all
milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
UNREAD_AGES = ("wait", "since", "worked", "lease_age", "belief_age", "batch_age")


@dataclass(frozen=True)
class Enumerated:
    """states -- forms of all that are reachable. steps -- pairs of different forms that a step leads from and to."""

    states: frozenset[int]
    steps: frozenset[tuple[int, int]]


@lru_cache
def enumerated(name: str) -> Enumerated:
    """A scope of `coverage` by its name; takes less than a second of CPU time, once in a process."""
    search = Search(lock_scope() if name == LOCK else group_scope(GROUPS[name]))
    layout, forms, steps = search.ground.layout, dict[int, int](), set[tuple[int, int]]()
    if name == LOCK:
        unread = [(0, cell.mask) for age in UNREAD_AGES for cell in layout.table(age)]
    else:
        unread = [(layout.cell("up", m).mask, layout.cell("answer", m).mask) for m in range(MEMBERS)]
        unread += [(0, cell.mask) for ghost in ("heard", "rebalanced") for cell in layout.table(ghost)]
    for before, after in _steps(search, unread):
        for state in (before, after):
            if state not in forms:
                forms[state] = _form(name, sparse(layout, state))
        if forms[before] != forms[after]:
            steps.add((forms[before], forms[after]))
    return Enumerated(frozenset(forms.values()), frozenset(steps))


def _form(name: str, cells: dict[Any, Any]) -> int:
    """Every state of a scope fits into it."""
    form = lock_form(cells) if name == LOCK else group_form(cells, range(GROUPS[name]), range(QUEUES))
    if isinstance(form, str):
        raise TypeError(form)
    return form


def _steps(search: Search, unread: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """All steps between reachable states; unread -- bits without which other bits of a state say nothing."""
    def reduced(state: int) -> int:
        for unless, bits in unread:
            state &= -1 if state & unless else ~bits
        return state

    count, known = search.ground.layout.words, dict[int, int]()
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


def group_scope(brokers: int) -> Scope:
    """A group whose members all subscribe and have the same route and strategy, and client ids of their own."""
    share = averagely(QUEUES)
    rigid: dict[str, Callable[..., object]] = {
        "share": share, "subscribes": lambda _: True, "leader": lambda m: m,
        "gives": lambda m, view, q: share(view, m, q), "spares": lambda m, view, q: not share(view, m, q),
    }
    return Scope(Rebalancing, {"Broker": brokers, "Member": MEMBERS, "Queue": QUEUES}, rigid)


def lock_scope() -> Scope:
    """The lock of a queue of two clients that have no listeners."""
    constants = {"client_live": FRESH, "broker_live": FRESH, "rpc_max": RUN_OUT, "batch_max": RUN_OUT}
    return Scope(Locking, {"Client": CLIENTS, "Ms": RUN_OUT + 1}, constants, forbid=("work", "finish"))
