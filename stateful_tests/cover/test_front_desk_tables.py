"""The table at the end: counted where there are many rows, and every violation with its command."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from invariants.front_desk.tables import LONGEST, line, matrix, table, total, violations
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
    assert "subject" in shown(table([HOLDS, FOUND]))
    assert "subject" not in shown(table([HOLDS] * (LONGEST + 1)))
    assert f"✓ {LONGEST + 1}" in shown(table([HOLDS] * (LONGEST + 1)))


def test_the_matrix_counts_outcomes_by_property_and_judge_and_keeps_planted_bugs_apart() -> None:
    text = shown(matrix([HOLDS, HOLDS, FOUND, UNSURE, PLANTED]))
    header, row = (part.split() for part in text.splitlines() if part.strip().startswith(("property", "one_owner")))
    assert header == ["property", "prove", "explore", "planted", "hazards"]
    assert row == ["one_owner", "?", "1", "✓", "2", "✗", "1", "✗", "1", "D1"]


def test_a_headline_property_leads() -> None:
    text = shown(matrix([HOLDS, replace(HOLDS, property="ownership_converges")]))
    assert text.index("ownership_converges") < text.index("one_owner")


def test_each_hazard_has_one_replay_command_and_whatever_is_wrong_has_its_own() -> None:
    lines = [str(one) for one in violations([HOLDS, FOUND, FOUND, PLANTED, UNSURE, WRONG, WRONG])]
    assert sum(FOUND.replay in one for one in lines) == 1
    assert sum("wrong" in one for one in lines) == 2
    assert "expected holds" in lines[-1]
    assert "it does not" in lines[-1]
    assert not any("planted" in one or "guard 0" in one for one in lines)
    assert sum("a time-out" in one for one in lines) == 1


def test_a_replay_command_is_never_cut_nor_wrapped() -> None:
    assert f"    {FOUND.replay}" in shown(table([FOUND])).splitlines()


def test_the_subject_of_a_row_is_told_from_others_of_its_name() -> None:
    strategy = Subject("strategy", "AVG", {"inputs": "equal lists"})
    decision = Subject("decision", "allocation.averagely_owns", {"claim": "averagely_is_total"})
    assert "AVG, equal lists: holds" in str(line(replace(HOLDS, subject=strategy)))
    assert "averagely_is_total: holds" in str(line(replace(HOLDS, subject=decision)))


def test_the_total_says_how_many_are_as_expected() -> None:
    assert str(total([HOLDS, FOUND, WRONG, UNSURE])) == (
        "4 verdicts: 2 as expected (1 of them violated), 1 different, 1 unknown")
