"""The refinement monitor, on the group's own model as an implementation that can be made to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

import pytest

from invariants.exploring import scopes
from invariants.finding import Finding
from invariants.refinement.monitor import Alternatives, Monitor, Step, TooManyStatesError
from model import language
from model.language import FALSE, TRUE, Bool, Sort, State, Table, require
from model.language.initial import initial_states
from model.language.open.reading import OpenReading, ScopedReading
from model.language.open.states import Writes
from model.language.scalar import StepReading
from stateful_tests.language.agreement import sparse

SCOPE = scopes(["group 1,2,2"])[0].scope
VISIBLE = ("up", "listed", "holds")


class Thing(Sort):
    """Something of which there is no end."""


class Abandonable(State):
    """Things come and go."""

    taken: Table[Thing, Bool]


@language.action("nothing")
def take(s: Abandonable, t: Thing) -> None:
    """A thing comes."""
    require(~s.taken[t])
    s.taken[t] = TRUE


@language.action("nothing")
def leave(s: Abandonable, t: Thing) -> None:
    """It goes."""
    require(s.taken[t])
    s.taken[t] = FALSE


@language.action("nothing")
def stay(s: Abandonable, t: Thing) -> None:
    """What has come is there, which changes nothing."""
    require(s.taken[t])
    s.taken[t] = TRUE


class Happened(NamedTuple):
    """An event that names the step that it stands for."""

    action: str
    arguments: tuple[int, ...]


READING = ScopedReading(SCOPE, pruned=False)
CELLS = [cell for cell in StepReading(SCOPE).layout.cells if cell.variable in VISIBLE]


def element(action: str, number: int, place: int) -> Any:
    """An argument of an action, by its number."""
    return READING.decoded(SCOPE.concept.actions[action].parameters[place].sort, number)


def step(action: str, *arguments: int) -> Step:
    return action, tuple(element(action, number, place) for place, number in enumerate(arguments))


def plainly(event: Happened) -> Alternatives:
    return [[step(event.action, *event.arguments)]]


class World:
    """The model as the implementation: takes random steps; a fault changes what it does or says."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - a walk, not a secret
        self.reading = StepReading(SCOPE)
        self.state = initial_states(SCOPE, self.reading.layout)[0]

    def step(self) -> Happened:
        steps = list(self.reading.successors(self.state))
        instance, self.state = steps[self.random.randrange(len(steps))]
        return Happened(instance.action.name, instance.arguments)

    def cells(self) -> Writes:
        return sparse(READING, self.reading.layout.unpack(self.state))


class Follower:
    """A monitor with a map from events to steps, which shows it what is visible after each segment."""

    def __init__(self, world: World, refinement: Callable[[Happened], Alternatives] = plainly) -> None:
        reading = ScopedReading(SCOPE, pruned=False)
        self.refinement = refinement
        self.monitor = Monitor(reading, SCOPE.concept.properties.values(), "refines_consumer_group",
                               visible=VISIBLE)
        self.monitor.write(world.cells())
        self.world = world
        self.looked = [(cell.variable, *(reading.decoded(sort, key) for sort, key in zip(
            SCOPE.concept.variables[cell.variable].keys, cell.keys, strict=True))) for cell in CELLS]

    def segment(self, events: Sequence[Happened]) -> list[Finding]:
        found = []
        for event in events:
            alternatives = self.refinement(event)
            if alternatives:
                found += self.monitor.follow(event, alternatives)
        return found + self.monitor.compare(self.world.cells(), self.looked)


def monitor(world: World, refinement: Callable[[Happened], Alternatives] = plainly) -> Follower:
    return Follower(world, refinement)


@pytest.mark.parametrize("seed", range(5))
def test_a_faithful_implementation_never_diverges(seed: int) -> None:
    world = World(seed)
    follow = monitor(world)
    found = [finding for _ in range(300) for finding in follow.segment([world.step()])]
    assert {finding.property for finding in found} <= {"one_owner_per_queue"}


def test_a_property_that_becomes_false_is_reported_once() -> None:
    world, names = World(0), []
    follow = monitor(world)
    for action, *arguments in (("start", 0), ("start", 1), ("heartbeat", 0, 0), ("fetch", 0, 0), ("heartbeat", 0, 1),
                               ("fetch", 0, 1), ("apply", 0), ("apply", 1), ("heartbeat", 0, 0)):
        world.state = world.reading.apply(action, tuple(arguments), world.state)
        names += [f.property for f in follow.segment([Happened(action, tuple(arguments))])]
    assert names == ["one_owner_per_queue"]


def test_a_step_that_is_not_possible_names_the_false_conjunct() -> None:
    world = World(0)
    finding, = monitor(world).segment([Happened("apply", (0,))])
    assert finding.property == "refines_consumer_group"
    assert finding.sentence == "apply is not possible: fetched[m]"
    assert finding.signature == ("refines_consumer_group", "apply", "fetched[m]")


def test_a_write_without_an_event_is_a_difference_and_the_monitor_goes_on() -> None:
    world = World(0)
    follow = monitor(world)
    world.state = world.reading.apply("start", (1,), world.state)
    finding, = follow.segment([])
    assert finding.sentence == "up[member1] is true, the model has false"
    assert follow.segment([]) == []
    world.state = world.reading.apply("heartbeat", (0, 1), world.state)
    assert follow.segment([Happened("heartbeat", (0, 1))]) == []


def test_an_event_without_its_write_is_a_difference() -> None:
    world = World(0)
    finding, = monitor(world).segment([Happened("start", (0,))])
    assert finding.sentence == "up[member0] is false, the model has true"


def test_an_argument_that_the_event_does_not_know_is_found_out_later() -> None:
    world = World(0)
    follow = monitor(world, lambda event: [[step(event.action, *event.arguments[:-1], m)] for m in (0, 1)])
    world.state = world.reading.apply("start", (1,), world.state)
    assert follow.segment([Happened("start", (0,))]) == []
    assert len(follow.monitor.states) == 1
    assert follow.monitor.value("up", "member1")
    assert not follow.monitor.value("up", "member0")


def test_a_hidden_choice_keeps_several_states() -> None:
    world = World(0)
    for action, arguments in (("start", (0,)), ("start", (1,)), ("heartbeat", (0, 0))):
        world.state = world.reading.apply(action, arguments, world.state)
    follow = monitor(world, lambda _: [[step("fetch", 0, 0)], [step("fetch", 0, 1)]])
    assert follow.segment([Happened("fetch", ())]) == []
    assert len(follow.monitor.states) == 2


def test_too_much_that_is_open_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("invariants.refinement.monitor.MOST", 1)
    world = World(0)
    for action, arguments in (("start", (0,)), ("start", (1,)), ("heartbeat", (0, 0))):
        world.state = world.reading.apply(action, arguments, world.state)
    follow = monitor(world, lambda _: [[step("fetch", 0, 0)], [step("fetch", 0, 1)]])
    with pytest.raises(TooManyStatesError, match="2 states of Group"):
        follow.segment([Happened("fetch", ())])


def test_an_event_that_the_model_does_not_have_changes_nothing() -> None:
    world = World(0)
    follow = monitor(world, lambda _: [])
    assert follow.segment([Happened("notified", ())]) == []


def test_states_share_a_base_and_differ_in_what_is_open() -> None:
    world = World(0)
    for action, arguments in (("start", (0,)), ("start", (1,)), ("heartbeat", (0, 0))):
        world.state = world.reading.apply(action, arguments, world.state)
    follow = monitor(world, lambda _: [[step("fetch", 0, 0)], [step("fetch", 0, 1)]])
    follow.segment([Happened("fetch", ())])
    states = follow.monitor.states
    assert [sorted(own) for own in states.overlays] == [[(name, m) for name in ("answer", "fetched", "heard") for m in (
        "member0", "member1")]] * 2
    follow.monitor.take("both", step("heartbeat", 0, 1))
    assert states.base["listed", "broker0", "member1"]
    follow.monitor.take("one", step("crash", 0))
    follow.monitor.keep(lambda state: state.get(("fetched", "member1"), False))
    assert len(states) == 1
    assert follow.monitor.value("answer", "member1") == {"member0"}


def test_a_step_is_entered_late_as_it_was_when_it_was_taken_aside() -> None:
    world = World(0)
    for action, arguments in (("start", (0,)), ("heartbeat", (0, 0))):
        world.state = world.reading.apply(action, arguments, world.state)
    follow = monitor(world).monitor
    aside = follow.foresee(step("fetch", 0, 0))
    follow.take("one more", step("heartbeat", 0, 1))
    heard, = follow.late("fetched", aside)  # a ghost that was assigned in between is the caller's to correct
    assert heard.property == "what_was_heard_is_still_listed"
    assert follow.value("answer", "member0") == {"member0"}
    never = follow.foresee(step("fetch", 0, 1))
    finding, = follow.late("fetched", never)
    assert finding.sentence == "fetch was not possible: up[m]"


def test_a_fingerprint_tells_states_apart_whatever_way_leads_there() -> None:
    ways = ((("start", 0), ("start", 1), ("heartbeat", 0, 1)), (("heartbeat", 0, 1), ("start", 1), ("start", 0)))
    marks = []
    for way in (*ways, ways[0][:2]):
        follow = monitor(World(0)).monitor
        marks.append(follow.fingerprints())
        for action, *arguments in way:
            follow.take("event", step(action, *arguments))
        marks.append(follow.fingerprints())
    assert marks[0] == marks[2] == marks[4] == [0]
    assert marks[1] == marks[3]
    assert marks[1] not in (marks[0], marks[5])


def test_what_means_nothing_any_more_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("invariants.refinement.monitor.SWEEP", 10)
    follow = Monitor(OpenReading(Abandonable.concept), (), "refines_nothing", visible=())
    for number in range(100):
        assert follow.take("event", ("take", (number,))) == []
        assert follow.take("event", ("leave", (number,))) == []
    follow.take("event", ("take", (7,)))
    assert len(follow.states.base) <= 11
    assert len(follow.reading.given.named["Thing"]) <= 11
    assert follow.value("taken", 7)


def test_a_step_that_changed_nothing_is_evaluated_anew_behind_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    follow = Monitor(OpenReading(Abandonable.concept), (), "refines_nothing", visible=())
    evaluated, step = list[str](), follow.reading.step

    def noted(action: str, *of: Any) -> Writes | None:
        evaluated.append(action)
        return step(action, *of)

    monkeypatch.setattr(follow.reading, "step", noted)
    stays = "stay", (1,)
    follow.take("event", ("take", (1,)))
    assert [follow.take("event", stays) for _ in range(3)] == [[], [], []]
    assert evaluated == ["take", "stay"]
    follow.reconsider()
    assert follow.take("event", stays) == []
    assert evaluated == ["take", "stay", "stay"]
    follow.write({("taken", 1): False})
    assert follow.take("event", stays)[0].sentence.startswith("stay is not possible")
