"""Drawings of the report: the layout of sequence diagrams, charts, and numbers in words."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from invariants.report import sequence, shapes, words
from stateful_tests.cover.report import samples

TRACES = [samples.group_trace(), samples.subscription_trace(), samples.lock_trace()]


def lay_out(*steps: dict[str, Any], lifelines: tuple[str, ...] = ("a", "b", "c")) -> sequence.Diagram:
    body = samples.group_trace() | {"steps": list(steps), "lifelines": list(lifelines)}
    return sequence.diagram(shapes.read(shapes.Trace, body))


@pytest.mark.parametrize("body", TRACES)
def test_an_arrow_runs_between_the_lifelines_of_its_flow(body: dict[str, Any]) -> None:
    diagram = sequence.diagram(shapes.read(shapes.Trace, body))
    x = {line.name: line.x for line in diagram.lifelines}
    arrows = [strip for strip in diagram.strips if strip.step.flow and strip.step.flow[0] != strip.step.flow[1]]
    assert arrows
    for strip in arrows:
        assert (strip.x1, strip.x2) == tuple(x[end] for end in strip.step.flow or ())
    assert all(strip.shape == "arrow" for strip in arrows)


@pytest.mark.parametrize("body", TRACES)
def test_nothing_leaves_the_picture(body: dict[str, Any]) -> None:
    diagram = sequence.diagram(shapes.read(shapes.Trace, body))
    for strip in diagram.strips:
        widest = max(len(strip.step.action) * 7.6, *(len(line) * 6.8 for line in strip.lines or ("",)))
        assert min(strip.x1, strip.x2, strip.text_x - widest / 2) > 0
        assert max(strip.x1, strip.x2, strip.text_x + widest / 2) < diagram.width
        assert strip.y < strip.height


def test_lifelines_keep_their_order_and_their_distance() -> None:
    diagram = sequence.diagram(shapes.read(shapes.Trace, samples.subscription_trace()))
    assert [line.name for line in diagram.lifelines] == samples.subscription_trace()["lifelines"]
    xs = [line.x for line in diagram.lifelines]
    gaps = [right - left for left, right in pairwise(xs)]
    assert all(gap == pytest.approx(gaps[0], abs=0.2) for gap in gaps)
    assert gaps[0] >= 104


def test_a_step_without_a_flow_stands_on_the_lifeline_that_it_names_or_on_all() -> None:
    diagram = lay_out(samples.step("crash", {"m": "b"}, "", []), samples.step("tick", {"ms": "10"}, "", []))
    own, everywhere = diagram.strips
    x = [line.x for line in diagram.lifelines]
    assert (own.x1 + own.x2) / 2 == pytest.approx(x[1], abs=0.2)
    assert everywhere.x1 < x[0]
    assert everywhere.x2 > x[2]


def test_a_message_to_oneself_is_a_loop_and_an_unknown_element_gets_a_lifeline() -> None:
    diagram = lay_out(samples.step("say", {}, "", [], flow=["b", "b"]), samples.step("go", {}, "", [], flow=["a", "z"]))
    assert diagram.strips[0].shape == "loop"
    assert [line.name for line in diagram.lifelines] == ["a", "b", "c", "z"]


def test_each_step_has_words_for_those_who_cannot_see_it() -> None:
    strips = sequence.diagram(shapes.read(shapes.Trace, samples.group_trace())).strips
    assert strips[1].words == "heartbeat (b broker-1, m member-a), from member-a to broker-1"
    assert strips[6].words == "forget (b broker-2, m member-a), environment"


def test_a_very_long_name_is_shortened_in_its_head_only() -> None:
    name = "192.168.100.100@" + "7" * 40
    line = lay_out(samples.step("a", {"m": name}, "", []), lifelines=(name,)).lifelines[0]
    assert line.name == name
    assert len(line.shown) == 25


@pytest.mark.parametrize(("cost", "said"), [
    ({"cpu_seconds": 0.42131, "states": 19683, "depth": 9, "cut": 0}, "19,683 states · depth 9 · 0 cut · CPU 0.421 s"),
    ({"seconds": 125.2, "obligations": 3}, "3 obligations · 2 min 5 s"),
    ({"odd": "text"}, "text odd"), ({}, ""),
])
def test_costs_are_said_with_their_units(cost: dict[str, Any], said: str) -> None:
    assert words.cost(cost).replace("\N{NO-BREAK SPACE}", " ") == said


def test_a_name_breaks_after_its_joints_only() -> None:
    assert words.breakable("one_owner<b>#x_") == "one_<wbr>owner&lt;b&gt;#<wbr>x_"
