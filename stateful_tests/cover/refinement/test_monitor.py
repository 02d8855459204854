"""The refinement monitor, on the group's own model as an implementation that can be made to go wrong."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

import pytest

from invariants.exploring import scopes
from invariants.refinement.monitor import Alternatives, Monitor, TooManyStatesError
from model.language.initial import initial_states
from model.language.scalar import StepReading

SCOPE = scopes(["group 1,2,2"])[0].scope
VISIBLE = ("up", "listed", "holds")


class Happened(NamedTuple):
    """An event that names the step that it stands for."""

    action: str
    arguments: tuple[int, ...]


def plainly(event: Happened) -> Alternatives:
    return [[(event.action, event.arguments)]]


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


def monitor(world: World, refinement: Callable[[Happened], Alternatives] = plainly) -> Monitor:
    return Monitor(SCOPE, refinement, VISIBLE, world.state, SCOPE.concept.properties.values())


@pytest.mark.parametrize("seed", range(5))
def test_a_faithful_implementation_never_diverges(seed: int) -> None:
    world = World(seed)
    follow = monitor(world)
    found = [finding for _ in range(300) for finding in follow.segment([world.step()], world.state)]
    assert {finding.property for finding in found} <= {"one_owner_per_queue"}


def test_a_property_that_becomes_false_is_reported_once() -> None:
    world, names = World(0), []
    follow = monitor(world)
    for action, *arguments in (("start", 0), ("start", 1), ("heartbeat", 0, 0), ("fetch", 0, 0), ("heartbeat", 0, 1),
                               ("fetch", 0, 1), ("apply", 0), ("apply", 1), ("heartbeat", 0, 0)):
        world.state = world.reading.apply(action, tuple(arguments), world.state)
        names += [f.property for f in follow.segment([Happened(action, tuple(arguments))], world.state)]
    assert names == ["one_owner_per_queue"]


def test_a_step_that_is_not_possible_names_the_false_conjunct() -> None:
    world = World(0)
    finding, = monitor(world).segment([Happened("apply", (0,))], world.state)
    assert finding.property == "refines_consumer_group"
    assert finding.sentence == "apply is not possible: fetched[m]"
    assert finding.signature == ("refines_consumer_group", "apply", "fetched[m]")


def test_a_write_without_an_event_is_a_difference_and_the_monitor_goes_on() -> None:
    world = World(0)
    follow = monitor(world)
    world.state = world.reading.apply("start", (1,), world.state)
    finding, = follow.segment([], world.state)
    assert finding.sentence == "up[member1] is true, the model has false"
    assert follow.segment([], world.state) == []
    world.state = world.reading.apply("heartbeat", (0, 1), world.state)
    assert follow.segment([Happened("heartbeat", (0, 1))], world.state) == []


def test_an_event_without_its_write_is_a_difference() -> None:
    world = World(0)
    finding, = monitor(world).segment([Happened("start", (0,))], world.state)
    assert finding.sentence == "up[member0] is false, the model has true"


def test_an_argument_that_the_event_does_not_know_is_found_out_later() -> None:
    world = World(0)
    follow = monitor(world, lambda event: [[(event.action, (*event.arguments[:-1], m))] for m in (0, 1)])
    before = world.state
    world.state = world.reading.apply("start", (1,), world.state)
    assert follow.segment([Happened("start", (0,))], world.state) == []
    assert follow.states == (world.state,)
    assert before not in follow.states


def test_a_hidden_choice_keeps_several_states() -> None:
    world = World(0)
    for action, arguments in (("start", (0,)), ("start", (1,)), ("heartbeat", (0, 0))):
        world.state = world.reading.apply(action, arguments, world.state)
    follow = monitor(world, lambda _: [[("fetch", (0, 0))], [("fetch", (0, 1))]])
    assert follow.segment([Happened("fetch", ())], world.state) == []
    assert len(follow.states) == 2


def test_too_much_that_is_open_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("invariants.refinement.monitor.MOST", 1)
    world = World(0)
    for action, arguments in (("start", (0,)), ("start", (1,)), ("heartbeat", (0, 0))):
        world.state = world.reading.apply(action, arguments, world.state)
    follow = monitor(world, lambda _: [[("fetch", (0, 0))], [("fetch", (0, 1))]])
    with pytest.raises(TooManyStatesError, match="2 states of Group"):
        follow.segment([Happened("fetch", ())], world.state)


def test_an_event_that_the_model_does_not_have_changes_nothing() -> None:
    world = World(0)
    follow = monitor(world, lambda _: [])
    assert follow.segment([Happened("notified", ())], world.state) == []
