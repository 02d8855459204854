"""Tests of matched pairs, beside slow ones that count all ways round."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from spark_fuzz import matched
from spark_fuzz.matched import ALPHA, Asked, corrected, how_much, whether


def counted(values: list[int]) -> float:
    """The share of all ways round whose sum is at least as far from the middle."""
    far = abs(sum(values))
    ways = [abs(sum(sign * value for sign, value in zip(signs, values, strict=True)))
            for signs in product((1, -1), repeat=len(values))]
    return sum(way >= far for way in ways) / len(ways)


@settings(deadline=None)  # a busy machine needs room
@given(first=st.integers(0, 6), second=st.integers(0, 6))
def test_mcnemars_test_counts_all_ways_round(first: int, second: int) -> None:
    asked = whether(first, second)
    assert asked.p == pytest.approx(counted([1] * second + [-1] * first))
    assert (asked.more, asked.fewer) == (second, first)


def ranked(values: list[int]) -> list[int]:
    """Twice the middle rank of each that is not 0, with its sign."""
    sizes = sorted(abs(one) for one in values if one)
    twice = {size: sizes.index(size) + 1 + len(sizes) - sizes[::-1].index(size) for size in sizes}
    return [twice[abs(one)] * (1 if one > 0 else -1) for one in values if one]


@settings(deadline=None)  # a busy machine needs room
@given(values=st.lists(st.integers(-5, 5), max_size=9))
def test_the_signed_rank_test_counts_all_ways_round(values: list[int]) -> None:
    asked = how_much(values)
    assert asked.p == pytest.approx(counted(ranked(values)))
    assert (asked.more, asked.fewer) == (sum(one > 0 for one in values), sum(one < 0 for one in values))


def test_of_many_pairs_p_is_hardly_larger_than_counting_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [(place * 7) % 41 - 14 for place in range(60)]
    near = how_much(values).p
    monkeypatch.setattr(matched, "MOST_EXACT", 60)
    assert 1.0 <= near / how_much(values).p <= 1.25


def test_the_correction_counts_what_can_be_answered_only() -> None:
    strong, weak, mute = whether(10, 0), whether(8, 1), whether(1, 0)
    p = corrected({"strong": strong, "weak": weak, **{f"mute {number}": mute for number in range(100)}})
    assert p["strong"] == pytest.approx(2 * strong.p)
    assert p["weak"] == pytest.approx(weak.p)
    assert p["mute 0"] == 1.0


def test_a_hundred_equal_questions_are_corrected_for_a_hundred() -> None:
    asked = whether(9, 0)
    assert asked.p < ALPHA
    p = corrected(dict.fromkeys(range(100), asked))
    assert set(p.values()) == {1.0}
    assert corrected({0: Asked(0.01, 0.001, 1, 9), 1: Asked(0.04, 0.001, 1, 9)}) == {0: 0.02, 1: 0.04}
