"""Below the table of a command stand the pictures of its violations, if they are few."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from invariants import evidence
from invariants.front_desk.drawn import FEW, pictures
from invariants.verdict import Outcome, Verdict
from stateful_tests.cover.report.a_run import DOCUMENT, ROW

BROKEN = "✗ Broken promise: "


def said(rows: list[Verdict], documents: dict[str, Any]) -> str:
    """What is printed below the table of these rows."""
    screen = Console(width=140)
    with screen.capture() as captured:
        for one in pictures(rows, documents):
            screen.print(one)
    return captured.get()


def rows(number: int, expected: Outcome) -> tuple[list[Verdict], dict[str, Any]]:
    """So many violated rows, and the evidence of each by its command."""
    made = [replace(ROW, replay=f"rocketproof machine {at}", expected=expected) for at in range(number)]
    return made, {row.replay: DOCUMENT for row in made}


def test_a_few_pictures_are_drawn_of_what_is_as_expected() -> None:
    assert said(*rows(FEW, Outcome.VIOLATED)).count(BROKEN) == FEW
    assert said(*rows(FEW + 1, Outcome.VIOLATED)) == f"{FEW + 1} pictures: the replay commands above draw them\n"


def test_what_differs_is_drawn_first_and_the_rest_is_counted() -> None:
    shown = said(*rows(FEW + 2, Outcome.HOLDS))
    assert shown.count(BROKEN) == FEW
    assert shown.endswith("2 more pictures: the replay commands above draw them\n")
    as_expected, documents = rows(FEW, Outcome.VIOLATED)
    different = replace(ROW, replay="rocketproof machine else", expected=Outcome.HOLDS)
    shown = said([*as_expected, different], {**documents, different.replay: DOCUMENT})
    assert shown.count(BROKEN) == 1


def test_a_variant_as_a_whole_and_what_it_breaks_have_one_picture() -> None:
    (row, other), documents = rows(2, Outcome.HOLDS)
    assert said([row, other, replace(row, property="change_breaks_nothing")], documents).count(BROKEN) == 2


def test_evidence_is_read_from_the_file_that_a_row_replays(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    row = replace(ROW, replay=evidence.replayed(file))
    assert said([row], {}) == ""
    evidence.write(file, DOCUMENT)
    assert BROKEN in said([row], {})
    evidence.write(file, {**DOCUMENT, "picture": {}})
    assert f"the picture of {row.property} cannot be drawn" in said([row], {})
    assert said([replace(row, outcome=Outcome.HOLDS)], {}) == ""
