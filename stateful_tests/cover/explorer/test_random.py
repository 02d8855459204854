"""The explorer finds what a slow search finds, on random machines, in every tuning; planted faults are noticed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.explorer import Exploration, Progress, Tuning, expand, explore, runs, seen, shards
from model.language import instantiate, walk
from model.language.batch import Batch, states
from model.language.defined import defined, obligations
from model.language.layout import Layout
from model.language.nodes import Node
from model.language.properties import ALWAYS, SOMETIMES, STEP, WELL_DEFINED, Property
from model.language.saturation import Kept
from model.language.scope import Scope
from model.language.state import Concept
from stateful_tests import random_concepts

Values = dict[walk.Cell, int]
FEWEST, MOST, MACHINES, FEW = 20, 200, 30, 8

# Shards of four states and batches of three: else small machines never reach a second shard or a second batch.
TUNINGS = {
    "as shipped": Tuning(),
    "small batches": Tuning(batch=3, table_bits=3),
    "shards": Tuning(batch=3, table_bits=0, dense_bits=0, shard=4),
    "one shard": Tuning(table_bits=3, dense_bits=0),
    "two words": Tuning(batch=5, table_bits=4, word_bits=7, shard=4),
    "many words": Tuning(batch=7, table_bits=13, word_bits=4, shard=6),
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


def _ends(slow: Slow, progress: Progress) -> None:
    if progress.depth > len(slow.levels):
        raise LookupError("a level that no state can be in")


def disagreements(tuning: Tuning, disk: Path | None = None, **options: Any) -> Iterator[str]:
    for number, (concept, scope, slow) in enumerate(machines()[:FEW if disk else None]):
        directory = disk and disk / str(number)
        fast = explore(scope, list(concept.properties.values()), tuning=tuning, disk=directory,
                       progress=partial(_ends, slow), **options)
        yield from (f"{concept.name}: {name}" for name in differences(fast, slow, scope))


@pytest.mark.parametrize("name", TUNINGS)
def test_search_finds_what_a_slow_search_finds(name: str) -> None:
    assert list(disagreements(TUNINGS[name])) == []


@pytest.mark.parametrize("name", ["as shipped", "shards", "two words"])
def test_two_cores_find_what_one_finds(name: str) -> None:
    assert list(disagreements(TUNINGS[name], cores=2)) == []


def test_a_disk_holds_what_memory_would_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[None] = []
    plain = shards.Shards.settle

    def settle(*args: Any) -> None:
        settled.append(None)
        plain(*args)

    monkeypatch.setattr(shards.Shards, "settle", settle)
    monkeypatch.setattr(shards, "_PORTION", 1)
    monkeypatch.setattr(shards, "_COLLECTED", 1)  # what was collected is settled as soon as it is more than the states
    for name in ("one shard", "many words"):
        assert list(disagreements(TUNINGS[name], tmp_path / name)) == []
    assert len(settled) > 100
    assert list(disagreements(TUNINGS["one shard"], tmp_path / "one shard")) == []  # all of them have ended


def test_machines_have_something_to_find() -> None:
    slow = [found for _, _, found in machines()]
    assert sum(bool(found.broken) for found in slow) > 10
    assert sum(len(found.levels) > 3 for found in slow) > 10
    assert any(found.deadlocks for found in slow)
    assert any(sum(found.cut.values()) for found in slow)
    assert any(WELL_DEFINED in found.broken for found in slow)
    assert any(found.reached for found in slow)


def _large_gaps_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = runs.encoded

    def cut(states: Any) -> Any:
        shape, data = plain(states)
        return dataclasses.replace(shape, escapes=0), data

    monkeypatch.setattr(runs, "_WIDTHS", (np.uint8,))
    monkeypatch.setattr(shards, "encoded", cut)


def _known_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = runs.fresh
    monkeypatch.setattr(shards, "fresh", lambda _, count, own, buffers: plain((), 0 * count, own, buffers))


def _marks_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = runs._by_ordering
    monkeypatch.setattr(runs, "_by_ordering", lambda known, own: plain(list(known)[1:], own))


def _marks_of_one_word_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_are_candidates(room: Any, known: Any, own: Any) -> Any:
        return plain(room, [], [*known, *own])

    plain = runs._by_sorting
    monkeypatch.setattr(runs, "_THINNEST", 0)
    monkeypatch.setattr(runs, "_by_sorting", all_are_candidates)


def _windows_stay_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    def marked(low: int, window: Any, known: Any, own: Any) -> Any:
        found = plain(low, window, known, own)
        window[(found - np.uint64(low)).view(np.int64)] = 1
        return found

    plain = runs._in_window
    monkeypatch.setattr(runs, "_in_window", marked)


def _last_run_only(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = shards.Shards.read
    monkeypatch.setattr(shards.Shards, "read", lambda self, shard, chosen: plain(self, shard, chosen[-1:]))


def _cut_shards_lose_their_first_part(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = shards.Shards._cut
    monkeypatch.setattr(shards.Shards, "_cut", lambda self, one: plain(self, one)[1:])


def _shards_end_early(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = shards.Shards._portions

    def early(self: shards.Shards, pieces: Any) -> Any:
        for shard, own in plain(self, pieces):
            yield shard, [[word[1:] for word in piece] for piece in own if len(piece[0]) > 1] or own

    monkeypatch.setattr(shards.Shards, "_portions", early)


def _bits_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "_SEVEN", np.uint8(3))


def _not_deduplicated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "distinct", lambda words: [np.sort(word) for word in words])


def _last_batch_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (seen, shards):
        plain = module.cut
        monkeypatch.setattr(module, "cut", lambda level, size, skip=0, plain=plain: list(plain(level, size, skip))[:-1]
                            or plain(level, size, skip))


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
    (_large_gaps_are_cut, "one shard"), (_known_is_forgotten, "shards"), (_marks_are_not_read, "two words"),
    (_marks_of_one_word_are_not_read, "shards"), (_windows_stay_marked, "shards"),
    (_last_run_only, "shards"), (_cut_shards_lose_their_first_part, "shards"), (_shards_end_early, "shards"),
    (_not_deduplicated, "small batches"), (_last_batch_dropped, "small batches"),
    (_frame_too_narrow, "shards"), (_frame_too_narrow, "as shipped"), (_stale_reads, "as shipped"),
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
