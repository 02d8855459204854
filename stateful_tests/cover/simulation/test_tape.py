"""The tape: recording, replay, what counts as a run, and how it reads."""

from __future__ import annotations

import pytest

from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.shrink import shrink
from impl.hosts.simulation.tape import RandomTape, ReplayTape, Tape, trimmed
from stateful_tests.simulation_toys import STORMY, play, replay

SIZES = (2, 3, 10, 256, 1, 7) * 20


def picks(tape: Tape, one_in: int = 1) -> list[int]:
    return [tape.pick(n, "somewhere", one_in) for n in SIZES]


def test_what_was_drawn_is_what_a_replay_gives() -> None:
    drawn = RandomTape(5)
    values = picks(drawn)
    assert values == picks(ReplayTape(drawn.choices)) == picks(RandomTape(5))
    assert values != picks(RandomTape(6))
    assert all(0 <= value < n for value, n in zip(values, SIZES, strict=True))
    assert {value for value, n in zip(values, SIZES, strict=True) if n == 3} == {0, 1, 2}


def test_one_possibility_is_no_choice_and_takes_no_place_on_the_tape() -> None:
    tape = RandomTape(1)
    assert tape.pick(1) == tape.pick(0) == 0
    assert tape.choices == []


def test_rare_choices_are_rare_and_otherwise_uniform() -> None:
    tape = RandomTape(1)
    values = [tape.pick(4, "", 20) for _ in range(20_000)]
    assert 800 < sum(value > 0 for value in values) < 1200
    assert min(values.count(value) for value in (1, 2, 3)) > 250


@pytest.mark.parametrize("choices", [[], [0, 0, 0], [99] * 50, [-1, 1, 5, 300, 1], [1] * 5])
def test_any_list_is_a_run_and_what_is_out_of_range_is_zero(choices: list[int]) -> None:
    sizes = [n for n in SIZES if n > 1]
    padded = choices + [0] * len(sizes)
    values = [value for value, n in zip(picks(ReplayTape(choices)), SIZES, strict=True) if n > 1]
    assert values == [padded[i] if 0 <= padded[i] < n else 0 for i, n in enumerate(sizes)]
    assert play(ReplayTape(choices), STORMY).digest == play(ReplayTape(choices), STORMY).digest


def test_zeros_at_the_end_say_nothing() -> None:
    assert trimmed([0, 3, 0, 1, 0, 0]) == [0, 3, 0, 1]
    assert trimmed([0, 0]) == trimmed([]) == []
    recorded = play(RandomTape(3), STORMY)
    assert play(ReplayTape(trimmed(recorded.choices)), STORMY).digest == recorded.digest


def test_a_replay_reads_as_sentences() -> None:
    tape = ReplayTape([0, 2, 1, 1, 3])
    tape.pick(3, "nothing happens here")
    tape.pick(3, lambda: "registerConsumer: before updateChannel")
    tape.tell(1_500, "broker-a", "paused 100 ms")
    before = len(tape.choices)
    tape.pick(2, "which fault")
    tape.pick(2, "how long")
    tape.tell(2_000, "broker-b", "stands still for 40000 ms", since=before)
    tape.pick(4, "findBrokerAddrByTopic")
    assert tape.sentences == [
        "1500 ms, broker-a: paused 100 ms at registerConsumer: before updateChannel",
        "2000 ms, broker-b: stands still for 40000 ms at which fault",
        "choice 3 of 0 to 3 at findBrokerAddrByTopic",
    ]
    assert [told.position for told in tape.told] == [1, 2, 4]


def test_every_fault_of_a_stormy_run_has_its_sentence() -> None:
    told = []
    for seed in range(10):
        tape = ReplayTape(play(RandomTape(seed), STORMY).choices)
        play(tape, STORMY)
        assert all(one.meaning for one in tape.told)
        told += tape.sentences
    for words in ("paused", "came before", "delayed", "lost at 40", "doubled", "stalled", "refused", "stands still",
                  "killed", "lost power", "broken", "nothing passes", "clock set", "clock drifts"):
        assert any(words in sentence for sentence in told), words


def test_a_swarm_switches_faults_off_and_zero_means_off() -> None:
    assert STORMY.swarm(ReplayTape([])) == CALM
    assert STORMY.swarm(ReplayTape([1] * 20)) == STORMY
    some = STORMY.swarm(RandomTape(1))
    assert some not in (CALM, STORMY)
    assert some == STORMY.swarm(RandomTape(1))


def test_the_race_is_found_with_pauses_and_not_without() -> None:
    without = [play(RandomTape(seed), FaultProfile(order=2, delay=3)) for seed in range(100)]
    assert not any(outcome.signature for outcome in without)
    pausing = FaultProfile(thread_pause=10)
    found = next(outcome for seed in range(500) if (outcome := play(RandomTape(seed), pausing)).signature)

    shrunk = shrink(found.choices, lambda choices: replay(choices, pausing))
    assert len([choice for choice in shrunk if choice]) == 1
    tape = ReplayTape(shrunk)
    assert play(tape, pausing).signature == "member lost"
    assert len(tape.sentences) == 1
    assert tape.sentences[0].startswith("3 ms, registry: paused 1000 ms at Registry#register: before the list is")


def test_a_stormy_failure_shrinks_to_the_same_single_pause() -> None:
    storm = FaultProfile(thread_pause=5, order=10, delay=20)
    found = next(outcome for seed in range(500) if (outcome := play(RandomTape(seed), storm)).signature)
    shrunk = shrink(found.choices, lambda choices: replay(choices, storm))
    tape = ReplayTape(shrunk)
    play(tape, storm)
    assert len(tape.told) == 1
    assert "paused" in tape.sentences[0]


def test_the_shrinker_minimises_faults_then_length_then_sum() -> None:
    def run(choices: list[int] | tuple[int, ...]) -> tuple[str | None, list[int]]:
        """Fails when two choices above 2 stand at least four apart."""
        high = [position for position, value in enumerate(choices) if value > 2]
        return ("far" if high and high[-1] - high[0] >= 4 else None), list(choices)

    noise = [int(value) for value in "0190052730061128000450031900"]
    assert shrink(noise, run) == [3, 0, 0, 0, 3]  # type: ignore[arg-type]  # lists and tuples are sequences


def test_the_shrinker_keeps_the_signature() -> None:
    def run(choices: list[int] | tuple[int, ...]) -> tuple[str | None, list[int]]:
        """A small sum fails too, but differently."""
        return ("big" if sum(choices) >= 20 else "small" if sum(choices) else None), list(choices)

    assert sum(shrink([9, 0, 9, 9, 1], run)) == 20  # type: ignore[arg-type]  # lists and tuples are sequences


def test_the_shrinker_refuses_what_does_not_fail_and_what_fails_only_once() -> None:
    with pytest.raises(ValueError, match="does not fail"):
        shrink([1, 2], lambda choices: (None, choices))
    runs = iter(["failed", None])
    with pytest.raises(ValueError, match="not deterministic"):
        shrink([1, 2], lambda choices: (next(runs), choices))


def test_the_shrinker_stops_after_its_budget() -> None:
    runs = 0

    def run(choices: list[int] | tuple[int, ...]) -> tuple[str, list[int]]:
        nonlocal runs
        runs += 1
        return str(len(choices)), list(choices)

    shrink([1] * 500, run, max_runs=50)  # type: ignore[arg-type]  # lists and tuples are sequences
    assert runs <= 52
