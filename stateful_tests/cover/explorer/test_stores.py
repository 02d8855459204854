"""Where a search keeps its states: maps, encoded levels, what is fresh; and the threads that share the work."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from model.explorer import seen
from model.explorer.buffers import Buffers
from model.explorer.runs import decoded, distinct, encoded, fresh, merged
from model.explorer.seen import Dense, FlatMap
from model.explorer.workers import Workers


def test_a_map_of_states_is_a_set() -> None:
    held, chance, known = FlatMap(20), np.random.default_rng(7), set[int]()
    for size in (1, 3, 200, 5, 1000, 40):
        states = chance.integers(0, 1 << 20, size, np.uint64)
        assert held.contains(states).tolist() == [state in known for state in states.tolist()]
        assert states[held.missing(states)].tolist() == [state for state in states.tolist() if state not in known]
        held.add(states)
        known |= set(states.tolist())
        assert held.contains(states).all()
    assert held.bytes == 1 << 17


def drawn(chance: np.random.Generator, size: int, *tops: int) -> list[np.ndarray[Any, np.dtype[np.uint64]]]:
    return distinct([chance.integers(0, top, size, np.uint64) for top in tops])


@pytest.mark.parametrize("tops", [
    (1 << 9,), (1 << 20,), (1 << 40,), (1 << 63,), (4, 1 << 63), (1 << 40, 3, 1 << 17)])
def test_encoded_states_are_the_same_states(tops: tuple[int, ...]) -> None:
    chance = np.random.default_rng(8)
    for size in (0, 1, 2, 300):
        states = drawn(chance, size, *tops)
        shape, data = encoded(states)
        assert [word.tolist() for word in decoded(shape, data)] == [word.tolist() for word in states]


def test_neighbouring_states_take_little_room() -> None:
    _, data = encoded(drawn(np.random.default_rng(9), 100_000, 1 << 24))
    assert len(data) < 200_000
    _, sparse = encoded(drawn(np.random.default_rng(9), 100_000, 1 << 63))
    assert len(sparse) < 820_000


@pytest.mark.parametrize("tops", [(600,), (1 << 50,), (20, 30)])
def test_what_is_fresh_was_not_known(tops: tuple[int, ...]) -> None:
    chance, buffers = np.random.default_rng(10), Buffers()
    pool = drawn(chance, 500, *tops)
    for sizes in ([5], [300, 1, 40], [], [7]):
        known, own = ([[word[np.sort(chance.choice(len(word), size, replace=False))] for word in pool]
                       for size in some] for some in (sizes, [200, 1, 30]))
        told = [row for part in known for row in zip(*(word.tolist() for word in part), strict=True)]
        wanted = {row for part in own for row in zip(*(word.tolist() for word in part), strict=True)} - set(told)
        new = fresh(known, len(told), own, buffers)
        assert [*zip(*(word.tolist() for word in new), strict=True)] == sorted(wanted)


def test_distinct_keeps_each_state_once() -> None:
    low, high = np.array([3, 1, 3, 1, 2], np.uint64), np.array([0, 5, 1, 5, 5], np.uint64)
    assert [word.tolist() for word in distinct([low])] == [[1, 2, 3]]
    assert [word.tolist() for word in distinct([low, high])] == [[1, 2, 3, 3], [5, 5, 0, 1]]


def test_parts_are_merged_in_memory_that_was_used_before() -> None:
    chance, buffers = np.random.default_rng(11), Buffers()
    for tops in ((1 << 20,), (30,), (20, 30)):
        for size in (300, 5, 0, 900):
            parts = [drawn(chance, size, *tops) for _ in range(3)]
            rows = {row for part in parts for row in zip(*(word.tolist() for word in part), strict=True)}
            assert [*zip(*(word.tolist() for word in merged(parts, buffers)), strict=True)] == sorted(rows)


def test_what_is_lent_to_one_is_lent_to_nobody_else() -> None:
    buffers = Buffers()
    with buffers.lent(5) as one, buffers.lent(9) as other, buffers.zeros(7) as clean:
        one[:], other[:] = 1, 2
        assert (one.tolist(), other.tolist(), clean.tolist()) == ([1] * 5, [2] * 9, [0] * 7)
    with buffers.lent(3) as again, buffers.zeros(1 << 10) as larger:
        assert len(again) == 3
        assert not larger.any()


def test_a_buffer_that_an_exception_left_dirty_is_not_lent_as_zeros() -> None:
    buffers = Buffers()
    with suppress(KeyboardInterrupt), buffers.zeros(4) as left:
        left[:] = 1
        raise KeyboardInterrupt
    with buffers.zeros(4) as clean:
        assert not clean.any()


@pytest.mark.parametrize("top", [1, 7, 1 << 20])
def test_cores_that_sort_a_level_together_sort_it_as_one_does(top: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "_SORTED_ALONE", 0)
    pieces = [words[0] for words in (drawn(np.random.default_rng(7 + i), 3_000, top) for i in range(4))]
    for cores in (1, 2, 3, 8):
        store = Dense(21)
        store.take([[piece] for piece in pieces])
        with Workers(cores) as workers:
            size = store.close(workers)
        store.begin()
        level = [*store.levels[0][0].tolist()]
        assert (level, size) == (sorted(set(np.concatenate(pieces).tolist())), len(level))


def test_what_cores_do_is_told_from_what_one_thread_does() -> None:
    began_s = time.process_time()
    with Workers(2) as workers:
        assert [*workers.map(lambda n: sum(range(n)), 8 * [200_000])] == 8 * [sum(range(200_000))]
    assert 0 < workers.busy_s <= time.process_time() - began_s
