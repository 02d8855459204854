"""What a search counts, reports and refuses, on small models with known answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from bench import group
from model.explorer import Exploration, Progress, Tuning, explore, graph, trace_to
from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Constant,
    Maybe,
    Nat,
    Rigid,
    Set,
    Sort,
    State,
    Table,
    action,
    always,
    drop_assignment,
    drop_guard,
    every,
    exists,
    forall,
    initially,
    ite,
    never,
    none,
    premise,
    require,
    search_only,
    some,
    sometimes,
    step,
)
from model.language.layout import Layout
from model.language.scalar import LeavesScope, StepReading
from model.language.scope import Scope


class Runner(Sort):
    """Who runs."""


class Lap(Nat):
    """How far."""


class Tired(Nat, saturates=True):
    """How tired; beyond a bound it is all the same."""


class Phase(Choice):
    """Where the race stands."""

    WAITING: Phase
    RUNNING: Phase
    OVER: Phase


class Race(State):
    """Runners count laps; the first to reach the goal wins."""

    phase: Phase
    laps: Table[Runner, Lap]
    tired: Table[Runner, Tired]
    winner: Maybe[Runner]
    note: Table[Lap, Bool]
    goal: Constant[Lap]
    fast: Rigid[Runner, Bool]


@initially
def waiting(s: Race) -> Bool:
    """Nobody has run."""
    return ((s.phase == Phase.WAITING) & s.winner.absent & forall(~s.note[n] for n in every(Lap))
            & forall((s.laps[r] == 0) & (s.tired[r] == 0) for r in every(Runner)))


@action("Race#begin")
def begin(s: Race) -> None:
    """The race begins."""
    require(s.phase == Phase.WAITING)
    s.phase = Phase.RUNNING


@action("Race#run", flow="r -> r")
def run(s: Race, r: Runner) -> None:
    """One lap."""
    require(s.phase == Phase.RUNNING, s.winner.absent)
    s.note[s.laps[r]] = TRUE
    s.winner = ite(s.goal <= s.laps[r] + 1, some(r), none(Runner))
    s.laps[r] = s.laps[r] + 1
    s.tired[r] = s.tired[r] + 1


@action("Race#stumble", environment=True)
def stumble(s: Race, r: Runner) -> None:
    """A lap does not count."""
    require(s.phase == Phase.RUNNING, ~s.fast[r])
    search_only(s.winner.absent)
    s.laps[r] = s.laps[r] - 1


@action("Race#end")
def end(s: Race) -> None:
    """It is over."""
    require(~s.winner.absent, s.phase == Phase.RUNNING)
    s.phase = Phase.OVER
    s.winner = none(Runner)
    for n in every(Lap):
        s.note.forget(n)


@always(shipped="holds")
def one_starts_first(s: Race) -> Bool:
    """Nobody runs before the start."""
    return (s.phase == Phase.WAITING).implies(forall(s.laps[r] == 0 for r in every(Runner)))


@always(shipped="violated: R1")
def nobody_wins(s: Race) -> Bool:
    """No winner."""
    return s.winner.absent


@step(shipped="violated: R2")
def laps_grow(before: Race, after: Race) -> Bool:
    """No lap is lost."""
    return forall(before.laps[r] <= after.laps[r] for r in every(Runner))


@sometimes
def somebody_wins(s: Race) -> Bool:
    """A winner."""
    return exists(s.winner.holds(r) for r in every(Runner))


@sometimes
def all_at_the_goal(s: Race) -> Bool:
    """Impossible: the first ends it."""
    return forall(s.laps[r] == s.goal for r in every(Runner))


@premise
def somebody_is_slow(s: Race) -> Bool:
    """Not all are fast."""
    return exists(~s.fast[r] for r in every(Runner))


def race(laps: int = 3, goal: int = 2, fast: Mapping[int, bool] | None = None, **more: Any) -> Scope:
    return Scope(Race, {Runner: 2, Lap: laps, Tired: 2}, {"goal": goal, "fast": fast or {0: True, 1: False}}, **more)


def everything(scope: Scope, **options: Any) -> Exploration:
    return explore(scope, list(scope.concept.properties.values()), **options)


def replayed(found: Exploration, trace: dict[str, Any]) -> list[dict[str, str]]:
    """All states of a trace as text, each step repeated by the step reading."""
    scope = found.scope
    reading = StepReading(scope)
    by_text = {scope.text(info, number): number for info in scope.concept.sorts.values()
               for number in range(scope.size(info)) if info.kind != "nat"}
    state = next(s for s in _initial(found) if reading.layout.text(s) == trace["initial"])
    shown = [reading.layout.text(state)]
    for taken in trace["steps"]:
        arguments = tuple(by_text.get(text, int(text) if text.isdigit() else -1)
                          for text in taken["arguments"].values())
        after = reading.step(taken["action"], arguments, state)
        assert after is not None
        texts = reading.layout.text(after)
        assert taken["changes"] == [{"cell": cell, "before": shown[-1][cell], "after": texts[cell]}
                                    for cell in texts if texts[cell] != shown[-1][cell]]
        state = after
        shown.append(texts)
    return shown


def _initial(found: Exploration) -> list[int]:
    return [int(state) for state in found.levels[0][0]]


@pytest.mark.parametrize("name", ["2,2", "2,1 locked", "2,2 locked", "3,2", "3,2 locked", "3,3", "3,3 locked"])
def test_counts_are_those_of_other_explorers(name: str) -> None:
    found = everything(group.scope(name))
    assert (found.states, found.transitions, found.depth) == group.PINNED[name]
    assert sum(found.firings.values()) == found.transitions
    assert sorted(found.violations) == ([] if "locked" in name else ["one_owner"])
    assert (found.unknown, found.deadlocks) == ("", 0)
    assert found.bytes <= 64 * max(found.states, 10_000)
    consumers, queues = int(name[0]), int(name[2])
    if "locked" not in name:
        assert found.states == (2 + 2 * (1 + (2 ** consumers - 1) * 2 ** queues)) ** consumers


@pytest.mark.quality
def test_counts_of_a_large_scope() -> None:
    found = everything(group.scope("3,4"))
    assert (found.states, found.transitions, found.depth) == group.PINNED["3,4"]


def test_words_do_not_matter() -> None:
    tuning = Tuning(word_bits=5, table_bits=6)
    found = everything(group.scope("2,2 locked"), tuning=tuning)
    assert found.expander.words > 2
    assert (found.states, found.transitions, found.depth) == group.PINNED["2,2 locked"]


def test_a_violation_has_a_shortest_trace() -> None:
    found = everything(group.scope("3,2"))
    trace = found.violations["one_owner"]
    assert len(trace["steps"]) == 6
    last = replayed(found, trace)[-1]
    owners = [last[f"owned[consumer{c}]"] for c in range(3)]
    assert any("queue0" in a and "queue0" in b for i, a in enumerate(owners) for b in owners[:i])
    assert trace["lifelines"] == sorted({text for taken in trace["steps"] for text in taken["arguments"].values()
                                         if text.startswith("consumer")}) + sorted(
        {text for taken in trace["steps"] for text in taken["arguments"].values() if text.startswith("queue")})
    json.dumps(trace)


def test_everything_that_a_search_reports() -> None:
    found = everything(race())
    assert found.unknown == ""
    assert found.never_fired == []
    with pytest.raises(KeyError, match="everybody_wins was not searched for"):
        found.outcome("everybody_wins")
    assert {name: found.outcome(name) for name in [*found.scope.concept.properties, "well_defined"]} == {
        "one_starts_first": "holds", "nobody_wins": "violated", "laps_grow": "violated", "somebody_wins": "holds",
        "all_at_the_goal": "unknown", "well_defined": "violated"}
    assert [step["action"] for step in found.violations["nobody_wins"]["steps"]] == ["begin", "run", "run"]
    shrinks = found.violations["laps_grow"]["steps"]
    assert [step["action"] for step in shrinks] == ["begin", "run", "stumble"]
    assert shrinks[-1]["changes"] == [{"cell": "laps[runner1]", "before": "1", "after": "0"}]
    assert shrinks[-1]["environment"]
    assert shrinks[1]["flow"] == ["runner1", "runner1"]
    assert shrinks[1]["cite"] == "Race#run"
    broken = found.violations["well_defined"]
    assert [step["action"] for step in broken["steps"]] == ["begin"]
    assert (broken["broken_by"]["action"], broken["broken_by"]["arguments"]) == ("stumble", {"r": "runner1"})
    for name in ("nobody_wins", "laps_grow", "well_defined"):
        replayed(found, found.violations[name])


def test_deadlocks_are_reported_with_a_shortest_trace() -> None:
    found = everything(race())
    assert found.deadlocks == sum(text["phase"] == "OVER" for text in _texts(found))
    assert found.deadlock is not None
    assert [step["action"] for step in found.deadlock["steps"]] == ["begin", "run", "run", "end"]


def _texts(found: Exploration) -> list[dict[str, str]]:
    layout = found.expander.ground.layout
    return [layout.text(int(state)) for level in found.levels for state in level[0]]


def test_saturated_numbers_stay_and_others_are_cut() -> None:
    inside = everything(race(laps=4, goal=3))
    assert inside.cut == {"begin": 0, "run": 0, "stumble": 0, "end": 0}
    assert {text["tired[runner0]"] for text in _texts(inside)} == {"0", "1"}
    beyond = everything(race(laps=3, goal=3))
    assert beyond.cut["run"] > 0
    assert beyond.outcome("somebody_wins") == "unknown"  # it lies behind a cut
    assert {text["laps[runner0]"] for text in _texts(beyond)} == {"0", "1", "2"}


def test_forgotten_cells_return_to_one_value() -> None:
    found = everything(race())
    over = [text for text in _texts(found) if text["phase"] == "OVER"]
    assert over
    assert all(text[f"note[{n}]"] == "false" for text in over for n in range(3))


def test_premises_and_forbidden_actions() -> None:
    calm = never("stumble", because="Runners are careful.")
    found = everything(race(), given=(calm, somebody_is_slow))
    assert (found.outcome("laps_grow"), found.outcome("well_defined")) == ("holds", "holds")
    assert "stumble" not in found.firings
    assert everything(race(forbid=["stumble"])).transitions == found.transitions
    with pytest.raises(ValueError, match="violates the premise somebody_is_slow"):
        everything(race(fast={0: True, 1: True}), given=(somebody_is_slow,))


def test_mutations_change_one_action() -> None:
    found = everything(race(), mutation=drop_guard("run", 0))
    assert found.outcome("one_starts_first") == "violated"
    assert len(found.violations["one_starts_first"]["steps"]) == 1
    assert everything(race(), mutation=drop_assignment("run", "winner")).outcome("nobody_wins") == "holds"


def test_a_search_may_stop_when_everything_is_decided() -> None:
    scope = group.scope("3,2")
    one_owner = scope.concept.properties["one_owner"]
    found = explore(scope, [one_owner], until_decided=True)
    assert found.outcome("one_owner") == "violated"
    assert found.states < 10_000
    assert found.unknown == "stopped: every property is decided"
    whole = explore(group.scope("2,2"), [scope.concept.properties["settled_is_shared"]], until_decided=True)
    assert whole.unknown == ""


@pytest.mark.parametrize("scope", [group.scope("2,2"), race()], ids=["group", "race"])
def test_a_search_for_findings_says_nothing_else(scope: Scope) -> None:
    every = [*scope.concept.properties.values()]
    found, whole = explore(scope, every, findings_only=True), explore(scope, every)
    assert (found.states, found.transitions) == (whole.states, whole.transitions)
    for name in scope.concept.properties:
        is_found = name in whole.violations or whole.reached.get(name)
        assert found.outcome(name) == (whole.outcome(name) if is_found else "unknown"), name
    assert any(found.outcome(name) != "unknown" for name in scope.concept.properties)
    assert found.deadlock is None


def test_memory_is_bounded() -> None:
    found = everything(group.scope("3,2"), memory_bytes=900_000)
    assert "900000 bytes" in found.unknown
    assert 5_000 < found.states < 216_000
    assert (found.outcome("settled_is_shared"), found.outcome("one_owner")) == ("unknown", "violated")
    assert len(found.violations["one_owner"]["steps"]) == 6


def test_interruption_keeps_what_was_seen() -> None:
    levels: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        levels.append(progress)
        if progress.depth == 8:
            raise KeyboardInterrupt

    found = everything(group.scope("3,2"), progress=interrupt)
    assert found.unknown == "interrupted"
    assert [progress.depth for progress in levels] == list(range(9))
    assert (found.states, found.depth) == (levels[-1].states, 8)
    assert found.transitions > 0
    assert found.outcome("settled_is_shared") == "unknown"


def test_pictures_of_small_scopes() -> None:
    found = everything(race())
    drawn = graph(found)
    assert len(drawn["nodes"]) == found.states
    assert len(drawn["edges"]) == found.transitions
    assert drawn["nodes"][0]["depth"] == 0
    assert {"source": 0, "target": 1, "action": "begin", "arguments": {}} in drawn["edges"]
    with pytest.raises(ValueError, match="at most 5"):
        graph(found, most=5)


def test_reachable_states_are_told_from_others() -> None:
    found = everything(race())
    begun = trace_to(found, {("phase",): 1})
    assert begun is not None
    assert [step["action"] for step in begun["steps"]] == ["begin"]
    run = trace_to(found, {("laps", 0): 1})  # whatever the other cells are
    assert run is not None
    assert run["steps"][0]["action"] == "begin"
    assert trace_to(found, {("phase",): 0, ("laps", 0): 1}) is None


@pytest.mark.parametrize(("arguments", "says"), [
    ({"sizes": {Runner: 2, Lap: 3}}, "no size for Tired"),
    ({"sizes": {Runner: 0, Lap: 3, Tired: 2}}, "no size for Runner"),
    ({"sizes": {Runner: 2, Lap: 3, Tired: 2, "Horse": 1}}, "has no sort Horse"),
    ({"rigid": {"goal": 2}}, "does not say what fast is"),
    ({"rigid": {"goal": 2, "fast": {0: True}}}, r"fast\[runner1\]"),
    ({"rigid": {"goal": 2, "fast": {0: True, 1: 7}}}, "7 is no Bool"),
    ({"rigid": {"goal": -1, "fast": {0: True, 1: True}}}, "-1 is no Lap"),
    ({"rigid": {"goal": 2, "fast": {0: True, 1: True}, "slow": 1}}, "no constant or rigid function slow"),
    ({"forbid": ["fly"]}, "has no action fly"),
    ({"elements": {Runner: ["one"]}}, "1 names for Runner"),
])
def test_a_scope_says_what_it_lacks(arguments: dict[str, Any], says: str) -> None:
    given = {"sizes": {Runner: 2, Lap: 3, Tired: 2}, "rigid": {"goal": 2, "fast": {0: True, 1: False}}, **arguments}
    with pytest.raises(ValueError, match=says):
        Scope(Race, given.pop("sizes"), given.pop("rigid"), **given)


def test_a_property_of_another_concept_is_refused() -> None:
    with pytest.raises(ValueError, match="one_owner is about owned, which Race does not have"):
        explore(race(), [group.Free.concept.properties["one_owner"]])


def test_nothing_left_to_do_is_refused() -> None:
    with pytest.raises(ValueError, match="no action is left"):
        explore(race(forbid=["begin", "run", "stumble", "end"]))


class Box(Sort):
    """Something that holds things."""


class Boxes(State):
    """Sets and numbers."""

    inside: Table[Box, Set[Box]]
    count: Lap


def test_an_impossible_start_is_refused() -> None:
    class Nowhere(State):
        here: Bool

    @initially
    def contradiction(s: Nowhere) -> Bool:
        return s.here & ~s.here

    @action("Nobody#nothing")
    def leave(s: Nowhere) -> None:
        s.here = FALSE

    assert leave.traced.guards == ()
    assert contradiction.__name__ in "contradiction"
    with pytest.raises(ValueError, match="no state satisfies the initial condition"):
        explore(Scope(Nowhere, {}))


def test_several_initial_states() -> None:
    class Either(State):
        here: Table[Box, Bool]
        there: Table[Box, Bool]
        free: Lap

    @initially
    def one_of_two(s: Either) -> Bool:
        return forall(~s.here[b].iff(s.there[b]) for b in every(Box))

    @action("Nobody#nothing")
    def stay(s: Either) -> None:
        s.free = s.free

    assert (stay.__name__, one_of_two.__name__) == ("stay", "one_of_two")
    found = explore(Scope(Either, {Box: 3, Lap: 4}))
    assert (found.states, found.transitions, found.depth, found.deadlocks) == (8, 8, 0, 0)


def test_layouts_do_not_cross_words() -> None:
    scope = Scope(Boxes, {Box: 20, Lap: 1000})
    layout = Layout(scope)
    assert layout.words == 7
    assert all(cell.position // 64 == (cell.position + cell.width - 1) // 64 for cell in layout.cells)
    used = [bit for cell in layout.cells for bit in range(cell.position, cell.position + cell.width)]
    assert len(used) == len(set(used)) == layout.bits
    with pytest.raises(ValueError, match="at most 63 fit"):
        Layout(Scope(Boxes, {Box: 64, Lap: 2}))


def test_the_step_reading_says_why_not() -> None:
    reading = StepReading(race())
    state = reading.layout.pack({})
    assert not reading.enabled("run", (0,), state)
    assert reading.first_false_conjunct("run", (0,), state) is Race.concept.actions["run"].guards[0]
    begun = reading.apply("begin", (), state)
    assert reading.first_false_conjunct("run", (0,), begun) is None
    full = reading.layout.pack({("phase",): 1, ("laps", 0): 2})
    with pytest.raises(LeavesScope, match="run"):
        reading.apply("run", (0,), full)
    won = reading.layout.pack({("phase",): 1, ("winner",): 1, ("laps", 1): 1})
    assert not reading.enabled("stumble", (1,), won)
    assert StepReading(race(), pruned=False).enabled("stumble", (1,), won)
