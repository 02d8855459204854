"""The table at the end: counted where there are many rows, and every violation with its command."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from invariants.report.terminal import LONGEST, kind, line, total, verdict_table
from invariants.verdict import Outcome, Subject, Verdict

SCOPE = Subject("model", "group 1")
HOLDS = Verdict("one_owner", "explore", SCOPE, Outcome.HOLDS, Outcome.HOLDS, "rocketproof explore")
FOUND = replace(HOLDS, expected=Outcome.VIOLATED, outcome=Outcome.VIOLATED, hazard=("D1",),
                replay="rocketproof replay " + "x" * 200)
WRONG = replace(FOUND, expected=Outcome.HOLDS, hazard=(), note="it does not", replay="rocketproof replay wrong")
UNSURE = replace(HOLDS, judge="prove", outcome=Outcome.UNKNOWN, note="a time-out", replay="rocketproof prove one_owner")
PLANTED = replace(FOUND, subject=Subject("model", "group 1", {"mutation": "join without guard 0"}), hazard=())


def shown(*parts: object) -> str:
    console = Console(width=100, record=True, file=None, quiet=True)
    with console.capture() as captured:
        console.quiet = False
        for part in parts:
            console.print(part, crop=False)
    return captured.get()


def test_few_rows_are_listed_and_many_are_counted() -> None:
    assert "subject" in shown(verdict_table([HOLDS, FOUND]))
    assert "subject" not in shown(verdict_table([HOLDS] * (LONGEST + 1)))
    assert f"✓ {LONGEST + 1} hold" in shown(verdict_table([HOLDS] * (LONGEST + 1)))


def test_among_many_rows_planted_bugs_are_counted_apart_and_each_hazard_has_one_command() -> None:
    lines = shown(verdict_table([*[HOLDS] * LONGEST, FOUND, FOUND, PLANTED, UNSURE, WRONG, WRONG])).splitlines()
    assert "1 of 1 planted mutation noticed" in lines
    assert lines.count(f"    {FOUND.replay}") == 1
    assert lines.count("    rocketproof replay wrong") == 2
    assert sum("a time-out" in one for one in lines) == 1
    assert not any("guard 0" in one for one in lines)


def test_while_they_are_found_one_row_of_each_kind_is_shown() -> None:
    assert kind(HOLDS) == kind(replace(HOLDS, note="another"))
    assert len({kind(row) for row in (HOLDS, FOUND, WRONG, UNSURE, PLANTED)}) == 5


def test_a_replay_command_is_never_cut_nor_wrapped() -> None:
    assert f"    {FOUND.replay}" in shown(verdict_table([FOUND])).splitlines()


def test_the_subject_of_a_row_is_told_from_others_of_its_name() -> None:
    strategy = Subject("strategy", "AVG", {"inputs": "equal lists"})
    decision = Subject("decision", "allocation.averagely_owns", {"claim": "averagely_is_total"})
    assert "AVG, equal lists: holds" in str(line(replace(HOLDS, subject=strategy)))
    assert "averagely_is_total: holds" in str(line(replace(HOLDS, subject=decision)))


def test_the_total_says_how_many_are_as_expected() -> None:
    assert str(total([HOLDS, FOUND, WRONG, UNSURE, PLANTED])) == (
        "4 verdicts: 2 as expected (1 of them violated), 1 different, 1 unknown")
