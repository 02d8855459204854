"""States that runs have visited refute what no solver need be asked; worlds are led towards states that it asks for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from impl.hosts.simulation.tape import RandomTape
from invariants.__main__ import app
from invariants.verdict import BadInputError, Outcome
from model.consumer_group import Rebalancing
from model.language import Property
from model.language.open.nearness import Nearness, Wanted, wanted
from model.language.open.reading import OpenReading
from model.language.open.trails import VISITED, Going, Trail, trail, written
from model.language.own import OwnFile, load
from proofs.counterexample import counterexample, wanted as wanted_of
from proofs.prove import Prover
from proofs.visited import Visited, visited
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.steering import Begun, Nearest, SteeredTape, Turns, led, watched

TURNS = '''"""Turns at a door."""

from __future__ import annotations

from model.language import (FALSE, TRUE, Bool, Maybe, Nat, Rigid, Sort, State, Table, action, always, every, forall,
                            initially, lemma, lemma_given, never, none, premise, require, some, step)
from model.language.scope import Scope


class Guest(Sort):
    """Somebody."""


class Count(Nat):
    """A number."""


class Door(State):
    """A door that one guest passes at a time."""

    inside: Table[Guest, Bool]
    at: Maybe[Guest]
    passed: Count
    invited: Rigid[Guest, Bool]


@initially
def empty_room(s: Door) -> Bool:
    return forall(~s.inside[g] for g in every(Guest)) & s.at.absent & (s.passed == 0)


@action("nothing")
def come(s: Door, g: Guest) -> None:
    require(s.at.absent, ~s.inside[g], s.invited[g])
    s.at = some(g)


@action("nothing")
def enter(s: Door, g: Guest) -> None:
    require(s.at.holds(g))
    s.at = none(Guest)
    s.inside[g] = TRUE
    s.passed = s.passed + 1


@action("nothing")
def leave(s: Door, g: Guest) -> None:
    require(s.inside[g])
    s.inside[g] = FALSE


nobody_leaves = never("leave", because="Guests stay.")


@premise
def everybody_is_invited(s: Door) -> Bool:
    """All are."""
    return forall(s.invited[g] for g in every(Guest))


@lemma
def only_the_invited(s: Door) -> Bool:
    return forall((s.inside[g] | s.at.holds(g)).implies(s.invited[g]) for g in every(Guest))


@always(shipped="holds")
def one_at_most(s: Door) -> Bool:
    return forall((s.inside[g] & s.inside[h]).implies(g == h) for g, h in every(Guest, Guest))


@step(shipped="holds")
def nobody_turns_back(before: Door, after: Door) -> Bool:
    return forall(before.inside[g].implies(after.inside[g]) for g in every(Guest))


@lemma_given(nobody_leaves)
def who_passed_stays(s: Door) -> Bool:
    return (s.passed > 0).implies(~forall(~s.inside[g] for g in every(Guest)))


@lemma_given(everybody_is_invited)
def nobody_enters(s: Door) -> Bool:
    return forall(~s.inside[g] for g in every(Guest))


scopes = [Scope(Door, {Guest: 2, Count: 3}, {"invited": lambda _: True}, name="door")]
'''
WAY = Trail("a run", {"Guest": 2}, {"invited": [True, False]}, [
    ("come", (0,)), ("enter", (0,)), ("leave", (0,)), ("come", (1,)), ("enter", (1,))])
BOTH = replace(WAY, rigid={"invited": [True, True]})
STAYS = replace(BOTH, steps=[step for step in BOTH.steps if step[0] != "leave"])


@pytest.fixture
def door(tmp_path: Path) -> OwnFile:
    file = tmp_path / "door.py"
    file.write_text(TURNS, "utf-8")
    return load(file)


def declared(door: OwnFile, name: str) -> Property:
    return door.concepts[0].properties[name]


def test_a_trail_is_gone_by_the_model_alone(door: OwnFile) -> None:
    lengths = [len(list(Going(door.concepts[0], one).states())) for one in (WAY, BOTH, STAYS)]
    assert lengths == [4, 6, 5]  # where the second guest is not invited, the way ends before him
    assert [len(list(Going(door.concepts[0], BOTH).states(never=["leave"])))] == [3]
    assert trail(BOTH.line()) == BOTH


def test_a_trail_fits_where_its_actions_are(door: OwnFile) -> None:
    assert BOTH.fits(door.concepts[0])
    assert not BOTH.fits(Rebalancing.concept)
    assert not replace(BOTH, rigid={}).fits(door.concepts[0])
    assert not replace(BOTH, steps=[("come", ())]).fits(door.concepts[0])


def test_a_trail_is_written_with_numbers_for_elements(door: OwnFile) -> None:
    reading = OpenReading(door.concepts[0], {"invited": lambda guest: guest != "eve"})
    steps = [("come", ("adam",)), ("enter", ("adam",)), ("come", ("eve",))]
    assert written(reading, steps, "a run") == Trail(
        "a run", {"Guest": 2}, {"invited": [True, False]}, [("come", (0,)), ("enter", (0,)), ("come", (1,))])
    many = [("come", (number,)) for number in range(9)]
    assert len(written(reading, many, "a run").steps) == 5
    assert written(reading, [], "a run").elements == {"Guest": 1}


@pytest.mark.parametrize(("name", "ways", "steps"), [
    ("one_at_most", [WAY], -1), ("one_at_most", [WAY, STAYS], 4), ("nobody_turns_back", [STAYS], -1),
    ("nobody_turns_back", [BOTH], 3), ("who_passed_stays", [BOTH], -1), ("nobody_enters", [WAY], -1),
    ("nobody_enters", [BOTH], 2), ("only_the_invited", [WAY, BOTH, STAYS], -1),
])
def test_visited_states_refute_what_is_false_under_its_premises(
    door: OwnFile, name: str, ways: list[Trail], steps: int,
) -> None:
    assert Visited(ways).ask(declared(door, name)).steps == steps


def test_a_forged_trail_refutes_nothing(door: OwnFile) -> None:
    forged = [replace(WAY, steps=[("enter", (0,)), ("come", (1,)), ("enter", (1,))]),
              replace(STAYS, elements={"Guest": 3}), replace(STAYS, rigid={"invited": [1]}),
              replace(STAYS, steps=[("come", (7,)), ("enter", (7,)), *STAYS.steps]),
              replace(STAYS, steps=[("come", (0,)), ("come", (1,)), ("enter", (1,)), ("enter", (0,))])]
    assert Visited(forged).ask(declared(door, "one_at_most")).steps == -1


def test_the_prover_asks_visited_states_first(door: OwnFile, tmp_path: Path) -> None:
    (tmp_path / VISITED).write_text(STAYS.line() + "\n", "utf-8")
    prover = Prover((0,), scopes=door.scopes, cti=tmp_path)
    false, true = (prover.verdict(declared(door, name)) for name in ("one_at_most", "only_the_invited"))
    assert false.outcome is Outcome.VIOLATED
    assert "reached in 4 steps: a run; no solver was asked" in false.note
    assert (false.cost["obligations"], true.outcome) == (0, Outcome.HOLDS)
    assert true.cost["states_asked"] == 5


def test_a_lemma_that_a_visited_state_breaks_is_named(door: OwnFile, tmp_path: Path) -> None:
    (tmp_path / VISITED).write_text(BOTH.line() + "\n", "utf-8")
    leaning = replace(declared(door, "one_at_most"), given=declared(door, "nobody_enters").given)
    row = Prover((0,), scopes=door.scopes, cti=tmp_path).verdict(replace(leaning, name="leaning"))
    assert row.outcome is Outcome.UNKNOWN
    assert "leans on the lemma nobody_enters" in row.note


def test_a_file_that_holds_no_trails_is_bad_input(tmp_path: Path) -> None:
    assert not visited(tmp_path).trails
    (tmp_path / VISITED).write_text("{}\n", "utf-8")
    with pytest.raises(BadInputError, match="no trail: KeyError"):
        visited(tmp_path)


def test_a_counterexample_says_which_cells_are_enough(door: OwnFile) -> None:
    found = counterexample(declared(door, "one_at_most"), door.scopes[0])
    assert found is not None
    state = wanted_of(found, door.scopes[0], "known")
    assert wanted(state.text()) == state
    assert (state.property, state.after, state.elements) == ("one_at_most", "enter", {"Guest": 2})
    assert sorted(cell[0] for cell, _ in state.cells) == ["at", "inside", "passed"]  # which must not leave the scope


GOAL = Wanted("p", "enter", "Door", {"Guest": 2}, [(("at",), 0), (("inside", 1), True), (("inside", 0), False)])


@pytest.mark.parametrize(("state", "differing"), [
    ({("at",): "b", ("inside", "c"): True}, 0),
    ({("at",): "b"}, 1),
    ({("inside", "b"): True, ("inside", "c"): True}, 1),
    ({}, 2),
    ({("at",): "b", ("inside", "b"): True}, 1),
])
def test_nearness_is_that_of_the_best_names(
    door: OwnFile, state: dict[tuple[str, ...], object], differing: int,
) -> None:
    concept = door.concepts[0]
    defaults = OpenReading(concept, {"invited": lambda _: True}).defaults
    near = Nearness(GOAL, concept).to(state, {"Guest": ["a", "b", "c"]}, defaults)
    assert near is not None
    assert near.distance == differing
    assert Nearness(GOAL, concept).to(state, {"Guest": ["a", "b", "c"]}, defaults, differing) is None


TWO_OWNERS = Wanted("one_owner", "take", "Rebalancing", {"Broker": 1, "Member": 2, "Queue": 1}, [
    (("up", 0), True), (("answer", 0), [0, 1]), (("fetched", 0), True), (("holds", 0, 0), False),
    (("holds", 1, 0), True)])
FAR = replace(TWO_OWNERS, cells=[*TWO_OWNERS.cells, (("up", 1), False)])
OF_NOBODY = replace(TWO_OWNERS, cells=[(("nothing",), True)])


SMALLEST = Plan("shipped", "smallest", "threads")


def test_worlds_reach_what_can_be_reached() -> None:
    led = watched([OF_NOBODY, TWO_OWNERS], SMALLEST, 0)
    assert {goal: one.confirmed for goal, one in led.nearest.items()} == {1: True}
    assert Visited([led.nearest[1].trail]).trails[0].steps[-1][0] == "take"
    assert len(led.trails) > 3
    assert Nearest.of(json.loads(json.dumps(led.nearest[1].to_json()))) == led.nearest[1]


def test_to_be_watched_changes_no_run_and_gives_the_same_each_time() -> None:
    first, second = (watched([FAR], SMALLEST, 1) for _ in range(2))
    assert first == second
    assert first.record.digest == run(SMALLEST, RandomTape(1)).digest
    assert first.nearest[0].distance == 1


def test_a_steered_tape_plays_the_beginning_of_another() -> None:
    first = SteeredTape((), 1)
    given = [first.pick(5) for _ in range(20)]
    second = SteeredTape(given, 2)
    assert [second.pick(5) for _ in range(20)] == given
    assert [second.pick(3) for _ in range(20)] != [first.pick(3) for _ in range(20)]


def test_who_goes_on_from_another_run_tells_of_what_comes_behind_it() -> None:
    first = watched([FAR], SMALLEST, 1)
    given = first.nearest[0].choices
    assert 0 < len(given) < len(first.record.choices)
    second = watched([FAR], SMALLEST, 2, given)
    assert bytes(second.record.choices).startswith(given)
    assert len(second.nearest[0].choices) >= len(given)
    assert Begun(SMALLEST, given).before(Random(3)).given in {given[:len(given) - back] for back in range(50)}  # noqa: S311 - repeatable


ARMS = [Plan("shipped", workload, profile) for workload in ("smallest", "orderly") for profile in (
    "calm", "threads", "network", "crashes", "storm")]


def near(distance: int, number: int, *, confirmed: bool = False) -> Nearest:
    return Nearest(("cell",) * distance, confirmed, WAY, bytes([number]))


def test_half_of_the_runs_go_on_from_the_nearest_and_half_begin_anew() -> None:
    turns = Turns(ARMS, 2)
    assert turns.turn(0) == [*map(Begun, ARMS)]
    assert turns.turn(1) == [*map(Begun, ARMS[2:4])]  # nobody could be near
    for number, arm in enumerate(ARMS):
        turns.take(arm, 0, 0, near(abs(number - 7), number))
    turns.take(ARMS[0], 0, 1, near(3, 99))
    now = [*map(Begun, ARMS[2:4]), Begun(ARMS[6], b"\6"), Begun(ARMS[0], b"\x63")]  # number 7 leads nowhere
    assert turns.turn(1) == now
    turns.take(ARMS[4], 1, 1, near(0, 4, confirmed=True))
    assert turns.turn(1) == now  # what a turn says does not change it
    assert turns.turn(2)[2:] == [Begun(ARMS[6], b"\6"), Begun(ARMS[8], b"\b")]
    assert {one.plan for turn in range(1, 9) for one in turns.turn(turn)[:2]} == {*ARMS}
    turns.take(ARMS[4], 2, 0, near(0, 5, confirmed=True))
    assert turns.turn(2)
    assert turns.turn(3) == []


def test_a_turn_depends_on_the_turns_up_to_the_lag_in_any_order() -> None:
    told = [(arm, turn, 0, near(1 + (5 * number + 3 * turn) % 7, number)) for number, arm in enumerate(ARMS)
            for turn in range(4)]
    said = []
    for heard in (told, told[::-1], [one for one in told if one[1] <= 1]):
        turns = Turns(ARMS, 1, lag=2)
        for one in heard:
            turns.take(*one)
        said.append(turns.turn(3))
    assert said[0] == said[1] == said[2]
    assert len(said[0]) == 4


def test_a_folder_is_told_what_came_of_each_state(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no counterexample to induction"):
        list(led(tmp_path, "shipped", 1, 0))
    for name, goal in (("a", TWO_OWNERS), ("b", FAR), ("c", OF_NOBODY)):
        (tmp_path / f"{name}.json").write_text(goal.text(), "utf-8")
    lines = list(led(tmp_path, "shipped", 1, 0))
    assert lines[0].startswith("a state after which take breaks one_owner: reached in ")
    assert any("not reached in 1 run; nearest, 1 cell away" in line for line in lines)
    assert any(line.startswith("    up[") and line.endswith("is not False") for line in lines)
    assert any("nobody can be there" in line for line in lines)
    assert len(visited(tmp_path).trails) > 3


CANDIDATES = '''"""A candidate for the group as followers follow it."""

from __future__ import annotations

from model.consumer_group import Broker, Member, Queue, Rebalancing
from model.language import Bool, every, forall, lemma
from model.language.scope import Scope
from model.scopes import averagely


class Candidates(Rebalancing):
    """The group."""


@lemma
def one_owner(s: Candidates) -> Bool:
    """False (D1)."""
    return forall((s.holds[a, q] & s.holds[b, q]).implies(a == b) for a, b, q in every(Member, Member, Queue))


share = averagely(2)
scopes = [Scope(Candidates, {Broker: 1, Member: 2, Queue: 2}, {
    "share": share, "subscribes": lambda _: True, "leader": lambda m: m,
    "gives": lambda m, view, q: share(view, m, q), "spares": lambda m, view, q: not share(view, m, q)}, name="two")]
'''


def test_a_candidate_is_refuted_by_the_runs_that_its_counterexample_has_led(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("candidates.py").write_text(CANDIDATES, "utf-8")
    said = [CliRunner().invoke(app, words.split()) for words in (
        "prove candidates.py --seeds 1 --cti cti", "steer cti --runs 3", "prove candidates.py --cti cti")]
    assert [one.exit_code for one in said] == [3, 0, 1], [one.output for one in said]
    assert "breaks one_owner: reached in" in said[1].stdout
    assert "no solver was asked" in " ".join(said[2].stdout.split())
