"""Shares of enumerable scopes: forms, enumerations, and what runs visit of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice, permutations
from typing import Any

import pytest

from impl.hosts.simulation.tape import ReplayTape
from invariants.refinement import coverage, enumerated
from invariants.refinement.coverage import (
    ANOTHER_ROUTE,
    DIVERGED,
    GROUPS,
    LOCK,
    TOO_MANY,
    TWICE,
    Visited,
    Walk,
    group_form,
    lock_form,
)
from invariants.refinement.enumerated import sparse
from invariants.verdict import Outcome
from model.consumer_group import Rebalancing
from model.explorer import explore
from model.language.batch import states
from model.language.layout import Layout
from model.language.scope import Scope
from model.order_lock import Locking
from spark_fuzz.scopes import Share
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, run

ONE, TWO = sorted(GROUPS)
COUNTS = {ONE: (2_685, 22_739), TWO: (10_777, 122_559), LOCK: (489, 5_629)}
CELLS = {"up": ("m",), "listed": ("b", "m"), "answer": ("m",), "fetched": ("m",), "holds": ("m", "q"),
         "heard": ("m",), "rebalanced": ("m",)}


def larger_group() -> Layout:
    """Four members, three brokers and three queues; no rigid function matters to a form."""
    rigid: dict[str, Callable[..., object]] = {
        "share": lambda *_: False, "subscribes": lambda _: True, "leader": lambda m: m, "gives": lambda *_: False,
        "spares": lambda *_: False}
    return Layout(Scope(Rebalancing, {"Broker": 3, "Member": 4, "Queue": 3}, rigid))


def some_of(scope: Scope, step: int) -> tuple[Layout, list[int]]:
    """Every so many of the reachable states of a scope, in order of distance."""
    found = explore(scope)
    reached = [state for level in found.levels for state in states(level)]
    return found.expander.ground.layout, list(islice(reached, 0, None, step))


def renamed(
    small: Layout, state: int, large: Layout, members: tuple[int, ...], brokers: tuple[int, ...],
    queues: tuple[int, ...],
) -> int:
    """The state with other elements in a larger scope."""
    of = {"m": members, "b": brokers, "q": queues}
    moved: dict[tuple[str | int, ...], int] = {}
    for cell in small.cells:
        value = small.read(state, cell)
        if cell.variable == "answer":
            value = sum(1 << members[m] for m in range(2) if value >> m & 1)
        keys = (of[sort][key] for sort, key in zip(CELLS[cell.variable], cell.keys, strict=True))
        moved[cell.variable, *keys] = value
    return large.pack(moved)


def placed(members: tuple[int, ...], member: int) -> tuple[int, int]:
    """The place of a member among those of a client id each, and its first."""
    return members.index(member), 0


# Forms ----------------------------------------------------------------------------------------------------------------


def test_the_form_of_a_group_is_the_same_whatever_its_elements_are() -> None:
    large = larger_group()
    small, reached = some_of(enumerated.group_scope(2), 997)
    for state in reached:
        form = group_form(sparse(small, state), (0, 1), (0, 1))
        for members in permutations(range(4), 2):
            for brokers in permutations(range(3), 2):
                for queues in permutations(range(3), 2):
                    other = renamed(small, state, large, members, brokers, queues)
                    assert group_form(sparse(large, other), brokers, queues, partial(placed, members)) == form


def test_the_form_of_a_lock_is_the_same_whatever_its_elements_are() -> None:
    constants = {"client_live": 1, "broker_live": 2, "rpc_max": 4, "batch_max": 4}
    large = Layout(Scope(Locking, {"Client": 4, "Ms": 5}, constants))
    small, reached = some_of(enumerated.lock_scope(), 2_999)
    for state in reached:
        form = lock_form(sparse(small, state))
        for clients in permutations(range(4), 2):
            moved: dict[tuple[str | int, ...], int] = {}
            for cell in small.cells:
                value = small.read(state, cell)
                moved[cell.variable, *(clients[c] for c in cell.keys)] = (
                    clients[value] if cell.variable == "holder" else value)
            assert lock_form(sparse(large, large.pack(moved)), clients.index) == form


def test_states_that_differ_have_different_forms_but_for_who_is_alone() -> None:
    alone: list[dict[Any, Any]] = [{("up", m): True} for m in (0, 1)]
    both: dict[Any, Any] = {("up", 0): True, ("up", 1): True}
    held = [{**both, ("holds", m, q): True} for m in (0, 1) for q in (0, 1)]
    forms = [group_form(cells, (0,), (0, 1)) for cells in (*alone, both, *held)]
    assert forms[0] == forms[1]
    assert len(set(forms)) == len(forms) - 1


def test_a_list_counts_only_while_its_member_lives() -> None:
    without: dict[Any, Any] = {("listed", 0, 1): True}
    dead, alive = ({**without, ("answer", 0): frozenset({0, 1}), ("up", 0): up} for up in (False, True))
    assert group_form(dead, (0,), (0, 1)) == group_form(without, (0,), (0, 1))
    assert group_form(alive, (0,), (0, 1)) != group_form(without, (0,), (0, 1))


def test_what_does_not_fit_is_outside() -> None:
    three: dict[Any, Any] = {("up", 0): True, ("answer", 0): frozenset({1, 2})}
    assert group_form(three, (0,), ()) == TOO_MANY
    assert group_form(three, (0,), (), lambda m: (m, int(m == 1))) == TWICE
    assert lock_form({("locked", c): True for c in range(3)}) == TOO_MANY


# Enumerations ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_pinned(name: str) -> None:
    found = enumerated.enumerated(name)
    assert (len(found.states), len(found.steps)) == COUNTS[name]
    assert all(before in found.states and after in found.states for before, after in found.steps)


@pytest.mark.parametrize("name", COUNTS)
def test_a_search_that_reduces_nothing_reaches_the_same_forms(name: str) -> None:
    scope = enumerated.lock_scope() if name == LOCK else enumerated.group_scope(GROUPS[name])
    layout, reached = some_of(scope, 1)
    if name == LOCK:
        forms = {lock_form(sparse(layout, state)) for state in reached}
    else:
        forms = {group_form(sparse(layout, state), range(GROUPS[name]), (0, 1)) for state in reached}
    assert forms == enumerated.enumerated(name).states


def test_two_ages_of_a_lease_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = {"client_live": 1, "broker_live": 1, "rpc_max": 3, "batch_max": 3}
    finer = Scope(Locking, {"Client": 2, "Ms": 4}, constants, forbid=("work", "finish"))
    coarse = enumerated.enumerated(LOCK)
    monkeypatch.setattr(enumerated, "lock_scope", lambda: finer)
    assert enumerated.enumerated.__wrapped__(LOCK) == coarse


# Shares ---------------------------------------------------------------------------------------------------------------


def on_a_way(name: str, count: int) -> list[int]:
    """Forms on a way through a scope that begins with nobody; each is new."""
    steps = sorted(enumerated.enumerated(name).steps)
    way = [0]
    while len(way) < count:
        way.append(next(after for before, after in steps if before == way[-1] and after not in way))
    return way


def test_the_share_of_a_run_made_by_hand() -> None:
    walk = Walk(Visited(ONE))
    way = on_a_way(ONE, 6)
    forms: list[int | str] = [*way[:3], way[2], TOO_MANY, way[3], way[4], ANOTHER_ROUTE, ANOTHER_ROUTE, way[3], way[4]]
    for form in forms:
        walk.to(form)
    share = Share(walk.visited)
    assert share.states == (5, 2_685, 0)
    assert share.steps == (3, 22_739, 0)
    assert share.outside == {ANOTHER_ROUTE: 2, TOO_MANY: 1}
    assert share.outcome is Outcome.HOLDS
    assert share.sentence() == (
        "5 of 2,685 states (0.2 %), 3 of 22,739 steps (0.0 %); outside at 3 of 10 moments: "
        "a member has another route (2), more than two are named (1)")


def test_nothing_is_a_step_after_a_leap_and_nothing_inside_after_a_divergence() -> None:
    walk = Walk(Visited(ONE))
    first, second, third = on_a_way(ONE, 3)
    walk.to(first)
    walk.leap()
    walk.to(second)
    walk.diverged = True
    walk.to(third)
    assert (walk.visited.states, walk.visited.steps) == ({first, second}, set())
    assert walk.visited.outside == {DIVERGED: 1}


def test_what_is_not_reachable_is_a_violation() -> None:
    way = on_a_way(ONE, 3)
    beyond = Share(Visited(ONE, {*way, 1 << 40}, {(way[0], way[1]), (way[0], 1 << 40)}))
    assert (beyond.states, beyond.steps) == ((3, 2_685, 1), (1, 22_739, 1))
    assert beyond.outcome is Outcome.VIOLATED
    assert "1 states and 1 steps are not reachable" in beyond.sentence()
    assert Share(Visited(ONE)).outcome is Outcome.UNKNOWN


# Runs -----------------------------------------------------------------------------------------------------------------


def settled(brokers: int) -> int | str:
    """The form of a group whose two members hold a queue each, as everybody knows."""
    cells: dict[Any, Any] = {("holds", 0, 0): True, ("holds", 1, 1): True}
    for m in (0, 1):
        cells["up", m], cells["answer", m] = True, frozenset({0, 1})
        for b in range(brokers):
            cells["listed", b, m] = True
    return group_form(cells, range(brokers), (0, 1))


@pytest.mark.parametrize(("workload", "brokers"), [("smallest", 1), ("smallest_ordered", 2)])
def test_a_boring_run_ends_in_a_settled_group(workload: str, brokers: int) -> None:
    visited, *locks = run(Plan("repaired", workload, "calm"), ReplayTape([])).visited
    assert settled(brokers) in visited.states
    assert visited.outside == {}
    assert all(0 < len(Share(one).visited.steps) < 40 for one in (visited, *locks))
    assert [one.scope for one in locks] == [LOCK] * (brokers - 1)


@pytest.mark.parametrize("workload", ["smallest", "smallest_ordered"])
@pytest.mark.parametrize("subject", ["repaired", "shipped"])
def test_runs_visit_nothing_that_is_not_reachable(workload: str, subject: str) -> None:
    for seed in range(3):
        for visited in run(Plan(subject, workload, "storm"), STRATEGIES["uniform"](seed)).visited:
            share = Share(visited)
            assert share.outcome is Outcome.HOLDS, share.sentence()
            assert share.states[0] > 1


def test_the_same_tape_visits_the_same() -> None:
    plan = Plan("repaired", "smallest_ordered", "storm")
    first = run(plan, STRATEGIES["uniform"](4))
    assert run(plan, ReplayTape(first.choices)).visited == first.visited


def test_members_in_a_wrong_order_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "utf16_key", lambda text: bytes(255 - byte for byte in text.encode()))
    visited, = run(Plan("repaired", "smallest", "calm"), ReplayTape([])).visited
    assert Share(visited).outcome is Outcome.VIOLATED
    assert Share(visited).beyond > 0


def test_other_workloads_watch_nothing() -> None:
    assert run(Plan("repaired", "clustering", "calm"), ReplayTape([])).visited == ()


def test_a_step_by_the_list_of_another_run_is_not_noted_as_one_of_the_scope() -> None:
    record = run(Plan("repaired", "smallest", "threads", "swarm"), STRATEGIES["swarm"](4_000_024))
    (visited,) = record.visited
    assert visited.steps
    assert visited.steps <= enumerated.enumerated(visited.scope).steps
