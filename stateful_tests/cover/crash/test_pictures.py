"""The pictures of crashes: what is drawn of the smallest images."""

from __future__ import annotations

from dataclasses import replace

import pytest

from invariants.report.strips import BREAK, LOST, SIGNS, WHOLE, WRONG, Cell, Sheet, strips_page
from invariants.verdict import Verdict
from stateful_tests.crash.judge import About, verdict
from stateful_tests.crash.pictures import page, sheet
from stateful_tests.crash.programs import Life
from stateful_tests.crash.promises import GONE, KEYS, PREFIX, STARTS, SURVIVES
from stateful_tests.crash.survey import JOURNALLED, MACHINE, PROCESS, Crashes, surveyed
from stateful_tests.crash.tally import Example
from stateful_tests.crash.workloads import WORKLOADS
from stateful_tests.worlds.subjects import subject_named


def found(workload: str, kind: str, name: str) -> tuple[Verdict, Example]:
    """A violation of the atlas."""
    life = Life(WORKLOADS[workload])
    tally = surveyed(life, Crashes(life, kind).all())
    about = About(subject_named("shipped"), workload, kind)
    return verdict(about, name, tally, "", "rocketproof replay FILE", exact=True), tally.smallest[name]


def boxes(shown: Sheet, panel: int, file: str) -> list[tuple[str, str, bool]]:
    """Text, kind and whether it was acknowledged, of each box of a file."""
    strip = next(one for one in shown.panels[panel].strips if one.name == file)
    return [(cell.text, cell.kind, cell.sure) for cell in strip.cells]


def test_a_message_that_no_queue_leads_to_is_seen_to_be_gone() -> None:
    shown = sheet(*found("sync_kill", MACHINE, SURVIVES))
    assert [panel.title for panel in shown.panels] == [
        "written before the crash", "left by the crash", "after the start"]
    assert boxes(shown, 0, "log") == [("A-0 0", WHOLE, True), ("B-0 0", WHOLE, False)]
    assert boxes(shown, 1, "abort") == [("the name is lost", LOST, False)]
    assert boxes(shown, 1, "queue A-0") == [("the name is lost", LOST, False)]
    assert boxes(shown, 2, "queue A-0") == [("not there", LOST, False)]
    assert shown.because[0][0] == "V26"
    assert shown.steps[:shown.done] == ("start", "put A", "flush", "put B", "dispatch")


def test_a_torn_record_and_its_unit_are_marked_after_the_start() -> None:
    shown = sheet(*found("sync_torn", PROCESS, PREFIX))
    assert [panel.title for panel in shown.panels] == ["left by the crash, which loses no byte", "after the start"]
    assert (("A-0 1", WRONG, False)) in boxes(shown, 1, "log")
    assert boxes(shown, 1, "queue A-0")[-1] == ("1 → A-0 1", WRONG, False)


def test_a_message_that_has_come_back_is_drawn_where_it_is() -> None:
    shown = sheet(*found("sync_power", PROCESS, GONE))
    assert boxes(shown, -1, "log") == [
        ("A-0 0", WHOLE, True), ("", BREAK, False), ("A-0 1", WHOLE, False), ("B-0 0", WRONG, False)]
    assert shown.because[0][0] == "V4"


def test_an_index_that_has_lost_its_entries_and_a_store_that_does_not_start() -> None:
    assert ("no entry", LOST, False) in boxes(sheet(*found("sync_index_stop", JOURNALLED, KEYS)), 1, "index")
    refused = sheet(*found("sync_stop", PROCESS, STARTS))
    assert boxes(refused, -1, "") == [("load fails", WRONG, False)]


def test_the_page_has_each_property_with_each_of_its_hazards_once() -> None:
    both = [found("sync_torn", PROCESS, PREFIX), found("sync_stop", PROCESS, STARTS)]
    row, example = both[0]
    shown = page([*both, *both, (replace(row, hazard=("V3", "V7")), example)])
    assert shown.count('<section class="sheet"') == len(both)
    assert all(meaning in shown for _, meaning in SIGNS.values())


@pytest.mark.parametrize("text", ["<script>", '"onclick="'])
def test_what_is_shown_is_escaped(text: str) -> None:
    one, example = found("sync_stop", PROCESS, STARTS)
    shown = sheet(one, example)
    assert text not in strips_page("", "", [shown._replace(
        sentence=text, panels=(shown.panels[0]._replace(strips=(shown.panels[0].strips[0]._replace(
            cells=(Cell(text, title=text),)),)),))])
