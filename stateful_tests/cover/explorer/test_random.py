"""The explorer finds what a slow search finds, on random machines, in every tuning; planted faults are noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from model.explorer import Exploration, Tuning, expand, explore, search, seen
from model.explorer.checks import WELL_DEFINED
from model.explorer.seen import HashSet, PagedMap
from model.language import instantiate, walk
from model.language.batch import Batch, states
from model.language.defined import defined, obligations
from model.language.layout import Layout
from model.language.nodes import Node
from model.language.properties import ALWAYS, SOMETIMES, STEP, Property
from model.language.saturation import Kept
from model.language.scope import Scope
from model.language.state import Concept
from stateful_tests import random_concepts

Values = dict[walk.Cell, int]
FEWEST, MOST, MACHINES = 20, 200, 30

# Pages of four states, tables of eight slots and batches of three: else small machines never reach a second page, a
# chain of collisions or a growth.
TUNINGS = {
    "as shipped": Tuning(),
    "small pages": Tuning(batch=3, table_bits=3, seen=lambda bits, _: PagedMap(bits, 2)),
    "hashed": Tuning(batch=3, table_bits=0, seen=lambda _, count: HashSet(count, 8)),
    "two words": Tuning(batch=5, table_bits=4, word_bits=7, seen=lambda _, count: HashSet(count, 8)),
    "many words": Tuning(batch=7, table_bits=13, word_bits=4, seen=lambda _, count: HashSet(count, 8)),
}


@dataclass
class Slow:
    """What a search that walks terms finds: levels of packed states, counts, the depth of each violation.

    undefined -- the depth at which a property first means nothing.
    """

    levels: list[set[int]] = field(default_factory=list)
    firings: dict[str, int] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    deadlocks: int = 0
    broken: dict[str, int] = field(default_factory=dict)
    undefined: dict[str, int] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)


def _initial(concept: Concept, scope: Scope) -> Iterator[Values]:
    """Each conjunct of a random initial condition is about one cell; a cell without any is 0."""
    parts = concept.initial.args if concept.initial.op == "and" else (concept.initial,)
    choices = []
    for cell, sort in walk.cells(concept, scope):
        own = [part for part in parts if cell in _cells(part)]
        choices.append([value for value in range(scope.size(sort))
                        if all(walk.value(part, scope, {cell: value}, {}) for part in own)] if own else [0])
    names = [cell for cell, _ in walk.cells(concept, scope)]
    for values in product(*choices):
        yield dict(zip(names, values, strict=True))


def _cells(node: Node) -> set[walk.Cell]:
    own = {(node.payload[1], *(key.payload for key in node.args))} if node.op == "read" else set()
    return own.union(*map(_cells, node.args))


def slow_search(concept: Concept, scope: Scope) -> Slow | None:
    """Search one state at a time by the reference reading; None when there are too many states."""
    pack = Layout(scope).pack
    found = Slow(firings=dict.fromkeys(concept.actions, 0), cut=dict.fromkeys(concept.actions, 0))
    level = {pack(values): values for values in _initial(concept, scope)}
    known = set(level)
    while level and len(known) <= MOST:
        found.levels.append(set(level))
        new: dict[int, Values] = {}
        for values in level.values():
            _judge(concept, scope, values, found)
            after = {pack(step): step for step in _steps(concept, scope, values, found)}
            new |= {state: step for state, step in after.items() if state not in known}
        known |= set(new)
        level = new
    if found.undefined:
        found.broken.setdefault(WELL_DEFINED, min(found.undefined.values()))
    return found if len(known) <= MOST else None


def _judge(concept: Concept, scope: Scope, values: Values, found: Slow) -> None:
    for wanted in concept.properties.values():
        if wanted.kind == ALWAYS and _says(wanted, scope, values) == 0:
            found.broken.setdefault(wanted.name, len(found.levels) - 1)
        if wanted.kind == SOMETIMES and _says(wanted, scope, values) == 1:
            found.reached.add(wanted.name)
        if wanted.kind != STEP and not walk.value(defined(wanted.condition), scope, values, {}):
            found.undefined.setdefault(wanted.name, len(found.levels) - 1)


def _says(wanted: Property, scope: Scope, values: Values, after: Values | None = None) -> int | None:
    """The truth of a condition; None where it means nothing or saturation blurs it."""
    sound = defined(wanted.condition)
    kept = [Kept(scope).decided(node) for node in (wanted.condition, sound)]
    if not all(walk.value(node, scope, values, {}, after) for node in (sound, *kept)):
        return None
    return walk.value(wanted.condition, scope, values, {}, after)


def _steps(concept: Concept, scope: Scope, values: Values, found: Slow) -> Iterator[Values]:
    enabled = False
    for action in concept.actions.values():
        owed = obligations(action)
        for arguments in product(*(range(scope.size(p.sort)) for p in action.parameters)):
            if not walk.value(owed, scope, values, dict(zip(action.parameters, arguments, strict=True))):
                found.broken.setdefault(WELL_DEFINED, len(found.levels) - 1)
            step = walk.apply(action, arguments, scope, values)
            if step is None:
                continue
            enabled = True
            if step.cut:
                found.cut[action.name] += 1
                continue
            found.firings[action.name] += 1
            for wanted in concept.properties.values():
                if wanted.kind == STEP and _says(wanted, scope, values, step.values) == 0:
                    found.broken.setdefault(wanted.name, len(found.levels))
                if wanted.kind == STEP and not walk.value(defined(wanted.condition), scope, values, {}, step.values):
                    found.undefined.setdefault(wanted.name, len(found.levels))
            yield step.values
    found.deadlocks += not enabled


@cache
def machines() -> list[tuple[Concept, Scope, Slow]]:
    """Random machines with enough states to be interesting."""
    found: list[tuple[Concept, Scope, Slow]] = []
    seed = 0
    while len(found) < MACHINES:
        concept = random_concepts.concept(seed, 16)
        scope = random_concepts.scope(concept, seed)
        slow = slow_search(concept, scope)
        if slow is not None and sum(map(len, slow.levels)) >= (FEWEST // 3 if slow.deadlocks else FEWEST):
            found.append((concept, scope, slow))
        seed += 1
    return found


def differences(fast: Exploration, slow: Slow, scope: Scope) -> list[str]:
    """What the explorer counts otherwise than the slow search."""
    layout, plain = fast.expander.ground.layout, Layout(scope)
    levels = [[plain.pack(layout.unpack(state)) for state in states(level)] for level in fast.levels]
    compared: dict[str, tuple[Any, Any]] = {
        "levels": ([sorted(level) for level in levels], [sorted(level) for level in slow.levels]),
        "states": (fast.states, sum(map(len, slow.levels))),
        "transitions": (fast.transitions, sum(slow.firings.values())),
        "depth": (fast.depth, len(slow.levels) - 1),
        "firings": (fast.firings, slow.firings),
        "cut": (fast.cut, slow.cut),
        "deadlocks": (fast.deadlocks, slow.deadlocks),
        "violations": ({name: len(trace["steps"]) for name, trace in fast.violations.items()}, slow.broken),
        "reached": ({name for name, reached in fast.reached.items() if reached}, slow.reached),
        "unknown": (fast.unknown, ""),
    }
    return [name for name, (fast_one, slow_one) in compared.items() if fast_one != slow_one]


def disagreements(tuning: Tuning) -> Iterator[str]:
    for concept, scope, slow in machines():
        fast = explore(scope, list(concept.properties.values()), tuning=tuning)
        yield from (f"{concept.name}: {name}" for name in differences(fast, slow, scope))


@pytest.mark.parametrize("name", TUNINGS)
def test_search_finds_what_a_slow_search_finds(name: str) -> None:
    assert list(disagreements(TUNINGS[name])) == []


def test_machines_have_something_to_find() -> None:
    slow = [found for _, _, found in machines()]
    assert sum(bool(found.broken) for found in slow) > 10
    assert sum(len(found.levels) > 3 for found in slow) > 10
    assert any(found.deadlocks for found in slow)
    assert any(sum(found.cut.values()) for found in slow)
    assert any(WELL_DEFINED in found.broken for found in slow)
    assert any(found.reached for found in slow)


def test_a_map_that_is_too_sparse_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_SPARSE", 0)
    monkeypatch.setattr(search, "_BYTES_PER_STATE", 0)
    assert list(disagreements(TUNINGS["small pages"])) == []


def _claim_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HashSet, "_claim", lambda _, slots, __: np.ones(len(slots), np.bool_))


def _growth_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    def reserve(self: HashSet, count: int) -> None:
        if count > len(self._claims) * 0.6:
            self.__init__(len(self._columns), 4 * count.bit_length() << count.bit_length())  # type: ignore[misc]

    def fitting(self: HashSet, words: int, slots: int = 8) -> None:
        plain(self, words, 1 << (slots - 1).bit_length())

    plain = HashSet.__init__
    monkeypatch.setattr(HashSet, "__init__", fitting)
    monkeypatch.setattr(HashSet, "_reserve", reserve)


def _bits_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "_SEVEN", np.uint8(3))


def _page_boundary(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = PagedMap.__init__

    def narrow(self: PagedMap, bits: int, page_bits: int = 12) -> None:
        plain(self, bits, page_bits)
        self._low >>= np.uint64(1)

    monkeypatch.setattr(PagedMap, "__init__", narrow)


def _new_pages_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PagedMap, "_make_pages", lambda *_: None)


def _not_deduplicated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "distinct", lambda words: [np.sort(word) for word in words])


def _last_batch_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = search.batches
    monkeypatch.setattr(search, "batches", lambda level, size: list(plain(level, size))[:-1] or plain(level, size))


def _frame_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = expand.Expander._single

    def narrow(self: expand.Expander, *args: Any, **options: Any) -> expand.Single:
        single = plain(self, *args, **options)
        kept = int(single.keep[0])
        single.keep[0] = np.uint64(kept & kept - 1)
        return single

    monkeypatch.setattr(expand.Expander, "_single", narrow)


def _stale_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = instantiate.Instantiation._assign

    def stale(self: instantiate.Instantiation, assignment: Any, env: Any, effect: Any, cut: Any) -> None:
        cells, memo = self._cells[0], self._memo
        self._cells[0], self._memo = [effect.get(i, cell) for i, cell in enumerate(cells)], {}
        plain(self, assignment, env, effect, cut)
        self._cells[0], self._memo = cells, memo

    monkeypatch.setattr(instantiate.Instantiation, "_assign", stale)


def _frozen_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Batch.__init__
    memo: dict[Any, Any] = {}

    def remembering(self: Batch, *args: Any) -> None:
        plain(self, *args)
        self._memo = memo.setdefault(len(self), {})

    monkeypatch.setattr(Batch, "__init__", remembering)


@pytest.mark.parametrize(("plant", "tuning"), [
    (_claim_ignored, "hashed"), (_growth_forgets, "hashed"), (_page_boundary, "small pages"),
    (_new_pages_are_shared, "small pages"), (_not_deduplicated, "small pages"), (_last_batch_dropped, "hashed"),
    (_frame_too_narrow, "hashed"), (_frame_too_narrow, "as shipped"), (_stale_reads, "as shipped"),
    (_frozen_batch, "two words"), (_bits_are_shared, "as shipped"),
])
def test_a_fault_in_the_explorer_is_noticed(
    plant: Callable[[pytest.MonkeyPatch], None], tuning: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    machines()  # before the fault: the slow search shares the language with the explorer
    plant(monkeypatch)
    try:
        found = next(disagreements(TUNINGS[tuning]), None)
    except (LookupError, ValueError, OverflowError):
        return  # a fault that crashes is noticed as well
    assert found
