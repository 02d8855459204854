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


MANY = [*[HOLDS] * LONGEST, FOUND, FOUND, PLANTED, UNSURE, WRONG, WRONG]


def test_few_rows_are_listed_and_many_are_counted() -> None:
    assert "subject" in shown(verdict_table([HOLDS, FOUND]))
    many = verdict_table([HOLDS] * (LONGEST + 1), everything=True)
    assert "subject" not in shown(many)
    assert f"✓ {LONGEST + 1} hold" in shown(many)


def test_few_rows_begin_with_what_differs_and_then_with_what_is_unknown() -> None:
    lines = shown(verdict_table([HOLDS, FOUND, UNSURE, WRONG])).splitlines()
    signs = [line.split()[-2:] for line in lines if line.startswith(" one_owner")]
    assert [words[0] for words in signs] == ["≠", "?", "✓", "✗"]
    commands = [line.partition("  #")[0].strip() for line in lines if line.startswith("    rocketproof")]
    assert commands == [WRONG.replay, UNSURE.replay, "rocketproof show D1", FOUND.replay]


def test_of_many_rows_what_is_as_expected_is_one_line() -> None:
    lines = shown(verdict_table([*MANY, *[replace(UNSURE, property="another")] * 3])).splitlines()
    assert [line for line in lines if line.startswith("    rocketproof")] == [
        "    rocketproof replay wrong", "    rocketproof prove one_owner"]
    assert any(line.endswith("a time-out; 3 more like it") for line in lines)
    assert lines[-1] == f"as expected: {LONGEST} holds, 2 violated; --all shows them"
    assert not any(FOUND.replay in line for line in lines)


def test_many_rows_that_are_all_as_expected_are_one_line() -> None:
    assert shown(verdict_table([HOLDS] * (LONGEST + 1))).splitlines() == [
        f"as expected: {LONGEST + 1} holds; --all shows them"]


def test_among_many_rows_planted_bugs_are_counted_apart_and_each_hazard_has_one_command() -> None:
    lines = shown(verdict_table(MANY, everything=True)).splitlines()
    assert "1 of 1 planted mutation noticed" in lines
    assert lines.count(f"    {FOUND.replay}") == 1
    assert lines.count("    rocketproof replay wrong") == 1
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


def test_rows_that_have_one_reason_are_one_line_with_their_number() -> None:
    names = ("is_total", "is_exclusive", "is_balanced")
    alike = [replace(UNSURE, property=name, note="it ended") for name in names]
    wrong = [replace(WRONG, property=name, note="it ended") for name in names]
    lines = shown(verdict_table([HOLDS, *alike, replace(UNSURE, note="a time-out"), *wrong])).splitlines()
    first = [line.split("  ")[0].strip() for line in lines if "? unknown" in line]
    assert first == ["is_total and 2 more", "one_owner"]
    assert sum("it ended" in line for line in lines) == 1 + len(wrong), "each violation is another one"
    assert any(line.endswith("it ended; 2 more like it") for line in lines)


def test_what_a_strategy_of_ones_own_gives_up_has_a_sign_of_its_own() -> None:
    given_up = replace(FOUND, judge="check", hazard=(), note="it moves much")
    lines = shown(verdict_table([given_up]), total([given_up, replace(WRONG, judge="check")])).splitlines()
    assert any("~ trade-off" in line for line in lines)
    assert any(line.startswith("~ one_owner, check: violated, as expected") for line in lines)
    assert not any("✗" in line for line in lines)
    assert lines[-1] == "2 verdicts: 1 as expected (0 of them violated, 1 traded off), 1 different, 0 unknown"
    assert "✗ violated" in shown(verdict_table([replace(WRONG, judge="check")]))
