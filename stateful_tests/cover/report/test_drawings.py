"""Drawings of the report: the layout of sequence diagrams, state graphs, charts, and numbers in words."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from invariants import exploring
from invariants.report import graph, sequence, shapes, words
from invariants.report.page import write_report
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


def drawn(evidence: dict[str, Any], name: str = "g") -> ET.Element:
    return ET.fromstring(str(graph.draw(shapes.read(shapes.Graph, evidence), name)))  # noqa: S314 - our own drawing


def test_a_graph_has_a_mark_and_a_tooltip_for_each_state() -> None:
    titles = [at.text or "" for at in drawn(samples.small_graph()).iter("{http://www.w3.org/2000/svg}title")]
    states = [title for title in titles if re.match(r"\d+: up", title)]
    assert len(states) == 60
    assert "17: up = {a}, listed = 3, $answer = 17" in states
    assert titles.count("heartbeat(a)") == 30


def test_the_graph_that_the_explorer_writes_is_drawn(tmp_path: Path) -> None:
    rows = list(exploring.explore_scopes(["abandoned lock, U6"], out=tmp_path))
    (tmp_path / "rows.jsonl").write_text("".join(f"{row.to_json()}\n" for row in rows), encoding="utf-8")
    (named,) = exploring.scopes(["abandoned lock, U6"])
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert f"{named.states} states, " in page
    assert f"<title>{named.states - 1}: " in page
    assert "cannot be drawn" not in page


def test_a_graph_is_drawn_the_same_each_time_without_date_or_fixed_colours() -> None:
    once, again = (str(graph.draw(shapes.read(shapes.Graph, samples.small_graph(20)), "g")) for _ in range(2))
    assert once == again
    assert "date" not in once.lower()
    assert not re.findall(r"#[0-9a-f]{6}", once)


def test_two_graphs_on_a_page_share_no_id() -> None:
    ids = [{at.get("id") for at in drawn(samples.small_graph(9), name).iter() if at.get("id")} for name in ("g", "h")]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])


def test_references_within_a_graph_still_lead_to_its_ids() -> None:
    text = str(graph.draw(shapes.read(shapes.Graph, samples.small_graph(9)), "g"))
    ids = set(re.findall(r'id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) | set(re.findall(r"url\(#([^)]+)\)", text)) <= ids


def test_a_tree_is_drawn_without_crossings() -> None:
    body = samples.small_graph(31)
    body["edges"] = [edge for edge in body["edges"][::-1] if edge["action"] != "forget <all>"]
    body["nodes"].sort(key=lambda node: node["id"] * 7 % 31)
    places = graph._places(shapes.read(shapes.Graph, body))
    columns: dict[float, list[str]] = {}
    for name, (x, _) in places.items():
        columns.setdefault(x, []).append(name)
    for names in columns.values():
        top_down = sorted(names, key=lambda name: -places[name][1])
        parents = [places[str((int(name) - 1) // 2)][1] for name in top_down if name != "0"]
        assert parents == sorted(parents, reverse=True)


def test_a_graph_that_is_one_state_or_has_no_steps_is_drawn() -> None:
    lonely = samples.small_graph(1)
    assert len(list(drawn(lonely).iter("{http://www.w3.org/2000/svg}title"))) == 1
    apart = lonely | {"nodes": [{"id": at, "depth": at, "cells": {"x": "_{^$"}} for at in range(2)], "edges": []}
    assert len(list(drawn(apart).iter("{http://www.w3.org/2000/svg}title"))) == 2


@pytest.mark.parametrize(("cost", "said"), [
    ({"cpu_seconds": 0.42131, "states": 19683, "depth": 9, "cut": 0}, "19,683 states · depth 9 · 0 cut · CPU 0.421 s"),
    ({"seconds": 125.2, "obligations": 3}, "3 obligations · 2 min 5 s"),
    ({"odd": "text"}, "text odd"), ({}, ""),
])
def test_costs_are_said_with_their_units(cost: dict[str, Any], said: str) -> None:
    assert words.cost(cost).replace("\N{NO-BREAK SPACE}", " ") == said


def test_a_name_breaks_after_its_joints_only() -> None:
    assert words.breakable("one_owner<b>#x_") == "one_<wbr>owner&lt;b&gt;#<wbr>x_"
