"""A simulated run on the page and in the terminal: its tape as sentences, and what led to the failure."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from invariants.report import runs
from invariants.report.page import render
from invariants.report.terminal import evidence_view
from invariants.verdict import BadInputError
from stateful_tests.cover.report import samples

ROW = samples.row("one_owner_per_queue", "campaign", "shipped", "violated", kind="variant",
                  evidence="evidence/run.json")
PAUSED = "paused 100 ms at registerConsumer: before updateChannel"
DOCUMENT: dict[str, Any] = {
    "format": "rocketproof-evidence/1", "kind": "run", "property": ROW.property, "judge": ROW.judge,
    "subject": {"kind": "variant", "name": "shipped", "details": {}}, "replay": "rocketproof replay run.json",
    "sentence": "queue 0 is held by two", "plan": {"subject": "shipped", "workload": "clustering", "profile": "storm"},
    "choices": [0, 3, 0], "digest": "0" * 32, "signature": ["one_owner_per_queue", "QueueTaken"], "time_ms": 130,
    "lifelines": ["nameserver1", "broker-a", "c1", "c2"],
    "told": [{"time_ms": 100, "who": "broker-a", "sentence": PAUSED}],
    "events": [{"time_ms": 120, "machine": "c2", "event": "QueueTaken", "fields": {"mq": "broker-a:0"}}],
    "messages": [
        {"from": "c1", "to": "broker-a", "sent_ms": 110, "received_ms": None, "text": "HEART_BEAT"},
        {"from": "broker-a", "to": "c2", "sent_ms": 111, "received_ms": 120, "text": "response SUCCESS"},
        {"from": "c2", "to": "broker-a", "sent_ms": 112, "received_ms": 113, "text": "UNTOLD"},
    ],
}


def test_the_diagram_has_faults_lost_messages_events_and_what_brought_them_about() -> None:
    drawn = runs.drawing(DOCUMENT)
    said = [(step.action, step.flow, step.environment) for step in drawn.trace.steps]
    assert said == [
        (PAUSED, None, True),
        ("HEART_BEAT: lost", ("c1", "broker-a"), True),
        ("response SUCCESS", ("broker-a", "c2"), False),
        ("QueueTaken", None, False),
    ]
    assert [line.name for line in drawn.diagram.lifelines] == ["broker-a", "c1", "c2"]
    assert drawn.left_out == 0


def test_of_a_long_run_the_commonest_is_left_out_and_faults_stay() -> None:
    often = [{"time_ms": 101 + at, "machine": "broker-a", "event": "OffsetCommitted", "fields": {}} for at in range(80)]
    drawn = runs.drawing({**DOCUMENT, "events": [*DOCUMENT["events"], *often]})
    assert [step.action for step in drawn.trace.steps].count("OffsetCommitted") == 0
    assert drawn.left_out == 80
    faults = [{"time_ms": at, "who": "c1", "sentence": "killed"} for at in range(100)]
    assert len(runs.drawing({**DOCUMENT, "told": faults}).trace.steps) == runs.LINES


def test_the_page_shows_sentences_and_picture() -> None:
    page = render([ROW], {"evidence/run.json": DOCUMENT})
    assert "Simulated runs" in page
    assert page.count(PAUSED) >= 2
    assert "3 choices, 1 not boring" in page
    assert "HEART_BEAT: lost" in page
    assert "rocketproof campaign --property one_owner_per_queue" in page


@pytest.mark.parametrize(("part", "value"), [
    ("told", None), ("plan", []), ("events", [{"time_ms": "soon"}]), ("choices", 3),
])
def test_a_run_that_lacks_a_part_says_so_on_the_page(part: str, value: Any) -> None:
    broken = {**DOCUMENT, part: value}
    with pytest.raises(BadInputError):
        runs.drawing(broken)
    assert "cannot be drawn" in render([ROW], {"evidence/run.json": broken})


def test_the_terminal_shows_the_sentences() -> None:
    screen = Console(width=120)
    with screen.capture() as captured:
        screen.print(evidence_view(DOCUMENT))
    said = " ".join(captured.get().split())
    assert "paused 100 ms at registerConsumer" in said
    assert "queue 0 is held by two" in said
