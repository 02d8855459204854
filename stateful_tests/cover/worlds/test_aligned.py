"""Tapes whose choices go by place and time."""

from __future__ import annotations

import pytest

from impl.hosts.simulation.tape import RandomTape
from stateful_tests.worlds.aligned import aligned
from stateful_tests.worlds.profiles import STRATEGIES


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_choice_more_moves_no_other(strategy: str) -> None:
    one, other = aligned(strategy, 7), aligned(strategy, 7)
    other.pick(2, "a change draws here", 20)
    assert [one.pick(5, "delay", 3) for _ in range(50)] == [other.pick(5, "delay", 3) for _ in range(50)]


def test_it_moves_those_of_another_tape() -> None:
    one, other = RandomTape(7), RandomTape(7)
    other.pick(2, "a change draws here", 20)
    assert [one.pick(5, "delay", 3) for _ in range(50)] != [other.pick(5, "delay", 3) for _ in range(50)]


def test_an_aligned_tape_is_as_random_as_another() -> None:
    tape = aligned("uniform", 3)
    drawn = [tape.pick(4, "where", 10) for _ in range(8_000)]
    assert 700 < sum(map(bool, drawn)) < 900
    assert all(200 < drawn.count(value) < 330 for value in (1, 2, 3))
    other = aligned("uniform", 4)
    assert drawn != [other.pick(4, "where", 10) for _ in range(8_000)]


def test_few_choices_of_a_priority_tape_are_not_boring() -> None:
    tape = aligned("priority", 1)
    drawn = [tape.pick(4, "where", 10) for _ in range(40_000)]
    assert 0 < sum(map(bool, drawn)) <= 3
