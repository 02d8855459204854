"""A simulated run on the page and in the terminal: the picture of what led to the failure."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.console import Console

from invariants.pictures.marks import FINDING
from invariants.pictures.text import LONGEST, WIDEST
from invariants.report import runs
from invariants.report.page import render
from invariants.report.scene import HEIGHT, WIDTH, scene
from invariants.report.shapes import Picture, read
from invariants.report.terminal import evidence_view
from invariants.verdict import BadInputError
from stateful_tests.cover.report.a_run import CLAIM, DOCUMENT, ROW, row

TERMINAL = """\
one_owner_per_queue: shipped, workload clustering, profile storm

         broker-a
         │  c1
         │  │  c2
         │  │  │   … 3 earlier steps, not shown
  0.101  │  ●  │   ① c1 takes queue 0 of orders
  0.105  ├─×│  │   ◆ the network loses a message of broker-a to c1
         ⋮  ⋮  ⋮   18 s
  0.110  │◀─┼──┤   broker-a enters c2 in <G>
         ┊  ┊  ┊   … 20 offset commits
  0.120  │  │  ✗   ✗ c2 takes queue 0 of orders
  0.121  │  │  ●   ⇒ c2 gets the messages 0-9 a second time
◆ what began it   ① the earlier moment that ✗ contradicts   ✗ the promise breaks
⇒ what users see of it   ● a machine acts   × fault
├─▶ message, as its receiver takes it   ⋮ time passes   ┊ repetition
✗ Broken promise: At every instant a queue is held by at most one member of the
group.
"""


def test_the_terminal_draws_the_picture() -> None:
    screen = Console(width=WIDEST)
    with screen.capture() as captured:
        screen.print(evidence_view(DOCUMENT))
    assert "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()) == TERMINAL


def test_the_page_draws_one_picture_with_the_same_sentences() -> None:
    page = render([ROW], {"evidence/run.json": DOCUMENT})
    assert "Simulated runs" in page
    (drawn,) = re.findall(r'<svg class="scene".*?</svg>', page, re.DOTALL)
    said = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    for sentence in ("① c1 takes queue 0 of orders", "… 20 offset commits", "✗ c2 takes queue 0 of orders",
                     "◆ the network loses a message of broker-a to c1", "⇒ c2 gets the messages 0-9 a second time",
                     "18 s", "… 3 earlier steps, not shown"):
        assert sentence in said
    assert "broker-a enters c2 in &lt;G&gt;" in said
    assert drawn.count('class="way"') == 2
    assert drawn.count('class="cross"') == 1
    assert 'class="mark earlier"' in drawn
    assert 'class="mark finding"' in drawn
    assert CLAIM in page
    assert "3 choices, 1 not boring" in page
    assert "holds[c2, queue 0]" not in drawn


@pytest.mark.parametrize("lifelines", [1, 4, 9])
def test_a_drawing_fits_the_screen_of_a_laptop(lifelines: int) -> None:
    names = [f"machine-with-a-name-{at}" for at in range(lifelines)]
    rows = [row(at, "a long sentence " * 9, at=names[at % lifelines], mark=FINDING if at == 15 else "")
            for at in range(16)]
    drawn = scene(read(Picture, {"lifelines": names, "rows": rows, "claim": CLAIM, "left_out": 2}))
    assert drawn.width <= WIDTH
    assert drawn.height * drawn.scale <= HEIGHT
    assert drawn.scale > 0.8
    assert all(line.x1 is None or 0 < line.x1 < drawn.text_x for line in drawn.lines)
    assert len({lane.x for lane in drawn.lanes}) == lifelines
    assert len(drawn.lines) <= LONGEST


@pytest.mark.parametrize(("part", "value"), [
    ("told", None), ("plan", []), ("picture", {"lifelines": [], "rows": []}), ("choices", 3), ("picture", None),
])
def test_a_run_that_lacks_a_part_says_so_on_the_page(part: str, value: Any) -> None:
    broken = {**DOCUMENT, part: value}
    with pytest.raises(BadInputError):
        runs.drawing(broken)
    assert "cannot be drawn" in render([ROW], {"evidence/run.json": broken})
