"""Each flaw that a picture can have is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from invariants.pictures.marks import EARLIER, FINDING, SEEN
from invariants.pictures.picture import Picture
from invariants.pictures.rows import Row
from stateful_tests.cover.pictures.legible import flaws

ROWS = (Row(0, 1, "c1", "c1 takes queue 0", mark=EARLIER), Row(1, 2, "c2", "c2 starts", began=True),
        Row(2, 3, "c2", "c2 takes queue 0", mark=FINDING))
GOOD = Picture(("c1", "c2"), "One at a time.", ROWS, 0)


def test_a_picture_without_flaws_is_not_blamed() -> None:
    assert [*flaws(GOOD)] == []


@pytest.mark.parametrize(("rows", "flaw"), [
    (ROWS[1:], "2 rows"), (ROWS[:2] * 2, "no row shows the finding"),
    ((ROWS[0], replace(ROWS[1], began=False), ROWS[2]), "nothing began it"),
    ((*[replace(ROWS[1], began=False)] * 5, *ROWS[1:]), "5 rows before what began it"),
    ((*ROWS[:2] * 20, ROWS[2]), "46 lines"),
])
def test_rows_can_be_wrong(rows: tuple[Row, ...], flaw: str) -> None:
    assert flaw in flaws(replace(GOOD, rows=rows))


@pytest.mark.parametrize(("text", "flaws_of"), [
    ("it is gone for 2 s", []), ("it is gone for two seconds", []),
    ("it is gone for 3 s", ["no 3 s in the picture: ⇒"]),
    ("it is gone for up to half a minute", ["no half a minute in the picture: ⇒"]), ("it is gone for a while", []),
])
def test_what_users_see_names_no_duration_that_the_picture_does_not_have(text: str, flaws_of: list[str]) -> None:
    later = replace(ROWS[2], time_ms=2_002)
    drawn = replace(GOOD, rows=(*ROWS[:2], later, Row(3, 2_002, "c2", text, mark=SEEN)))
    assert [*flaws(drawn)] == flaws_of


@pytest.mark.parametrize("text", [
    "holds[c1] is true", "QueueTaken of c1", "it waits 30000 ms", "routed as (4, 4, 6, 0)", "broker-a:10911 goes",
    "None is there", "MessageQueue", "queue 0 of %RETRY%G", "version 1645000000000",
])
def test_what_only_programs_say_is_noticed_in_rows_and_in_the_claim(text: str) -> None:
    for drawn in (replace(GOOD, rows=(ROWS[0], replace(ROWS[1], text=text), ROWS[2])), replace(GOOD, claim=text)):
        assert [*flaws(drawn)] == [f"raw: {text}"]
