"""The order of Java's hash maps, their fail-fast iterators, and their refusal of null."""

from __future__ import annotations

from typing import Any

import pytest

from impl.decisions.java_errors import NullPointerError
from impl.hash_map import (
    ConcurrentHashMap,
    ConcurrentModificationError,
    HashMap,
    IllegalStateError,
    NoSuchElementError,
    spread,
)


def filled(*keys: Any, capacity: int = 16) -> HashMap[Any, int]:
    table: HashMap[Any, int] = HashMap(capacity)
    for place, key in enumerate(keys):
        table.put(key, place)
    return table


def test_entries_lie_in_the_bins_of_their_hashes() -> None:
    assert filled("b", "a", "Q", "P2", "P").key_set() == ("P", "a", "Q", "b", "P2")


def test_equal_hashes_stay_in_the_order_of_their_arrival() -> None:
    assert spread("Aa") == spread("BB") == 2112
    assert filled("BB", "Aa").key_set() == ("BB", "Aa")
    table = filled("BB", "Aa")
    table.remove("BB")
    table.put("BB", 1)
    assert table.key_set() == ("Aa", "BB")


def test_a_replaced_value_keeps_its_place_and_is_no_structural_change() -> None:
    table = filled("BB", "Aa")
    before = table.mod_count
    assert table.put("BB", 9) == 0
    assert table.entries() == (("BB", 9), ("Aa", 1))
    assert table.mod_count == before


def test_a_map_that_grows_is_rearranged_and_never_shrinks() -> None:
    table = filled(*range(17), capacity=1)
    assert table.key_set() == tuple(range(17))
    small = filled(16, 1)
    assert small.key_set() == (16, 1)
    for key in range(100, 111):
        small.put(key, 0)
    for key in range(100, 111):
        small.remove(key)
    assert small.key_set() == (1, 16)


def test_a_clone_has_no_more_bins_than_it_needs() -> None:
    assert filled(1, 4).key_set() == (1, 4)
    assert filled(1, 4).clone().key_set() == (4, 1)


def test_a_long_folds_its_upper_half_and_minus_one_hashes_to_zero() -> None:
    assert spread(-1) == 0
    assert spread(2**32 + 5) == 4


def test_a_connection_without_a_hash_is_iterated_as_it_came() -> None:
    first, second = object(), object()
    assert filled(second, first, capacity=64).key_set() == (second, first)


def test_a_change_behind_an_iterator_is_noticed_only_by_next() -> None:
    table = filled("a", "b", "c")
    iterator = table.iterator()
    assert iterator.next().key == "a"
    table.remove("c")
    assert iterator.has_next()
    with pytest.raises(ConcurrentModificationError):
        iterator.next()


def test_a_change_after_the_last_entry_goes_unnoticed() -> None:
    table = filled("a")
    iterator = table.iterator()
    iterator.next()
    table.put("b", 1)
    assert not iterator.has_next()


def test_an_iterator_may_remove_its_current_entry_once() -> None:
    table = filled("a", "b")
    iterator = table.iterator()
    with pytest.raises(IllegalStateError):
        iterator.remove()
    iterator.next()
    iterator.remove()
    with pytest.raises(IllegalStateError):
        iterator.remove()
    assert iterator.next().key == "b"
    assert table.key_set() == ("b",)
    with pytest.raises(NoSuchElementError):
        iterator.next()


def test_an_entry_shows_the_value_that_was_put_after_it_was_reached() -> None:
    table = filled("a")
    entry = table.iterator().next()
    table.put("a", 7)
    assert entry.value == 7
    table.remove("a")
    table.put("a", 8)
    assert entry.value == 7


def test_a_concurrent_map_has_bins_for_half_as_many_again() -> None:
    table: ConcurrentHashMap[int, str] = ConcurrentHashMap(16, [(33, "x"), (2, "y")])
    assert table.key_set() == (33, 2)
    narrow: ConcurrentHashMap[int, str] = ConcurrentHashMap(None, [(33, "x"), (2, "y"), (17, "z")])
    assert narrow.key_set() == (33, 17, 2)


def test_a_concurrent_map_refuses_null_keys() -> None:
    table: ConcurrentHashMap[Any, int] = ConcurrentHashMap()
    for call in (table.get, table.remove, table.contains_key, lambda key: table.put(key, 1)):
        with pytest.raises(NullPointerError):
            call(None)


def test_put_if_absent_keeps_the_first_value() -> None:
    table: ConcurrentHashMap[str, int] = ConcurrentHashMap()
    assert table.put_if_absent("a", 1) is None
    assert table.put_if_absent("a", 2) == 1
    assert table.get("a") == 1


def test_a_traversal_shows_current_values_and_skips_what_has_gone() -> None:
    table: ConcurrentHashMap[str, int] = ConcurrentHashMap(None, [("a", 1), ("b", 2), ("c", 3)])
    seen = []
    for key, value in table.traverse():
        seen.append((key, value))
        table.remove("b")
        table.put("c", 9)
        table.put("d", 4)
    assert seen == [("a", 1), ("c", 9)]


def test_maps_are_equal_by_their_entries() -> None:
    assert filled("a", "b") == filled("a", "b", capacity=1024)
    assert filled("a", "b") != filled("b", "a")
    table = filled("a")
    table.clear()
    assert table.is_empty()
    assert table == HashMap()
