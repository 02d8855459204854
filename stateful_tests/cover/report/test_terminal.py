"""The terminal's tables: complete, one replay command a line, and no control character from the input."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from invariants.hazards import HAZARDS
from invariants.report.terminal import trace_table, verdict_table
from invariants.verdict import BadInputError
from stateful_tests.cover.report import samples


def shown(what: RenderableType, width: int = 160) -> str:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=False).print(what, crop=False)
    return out.getvalue()


def test_each_row_has_property_judge_subject_expected_outcome_and_cost() -> None:
    said = shown(verdict_table([samples.row("a_holds", "prove", "model m", cost={"obligations": 3, "seconds": 0.5})]))
    for part in ("a_holds", "prove", "model m", "holds", "✓ holds", "3 obligations", "0.5 s"):
        assert part in said.replace("\N{NO-BREAK SPACE}", " ")
    assert "rocketproof" not in said


def test_what_one_search_has_cost_is_said_once() -> None:
    cost = {"images": 712}
    rows = [*(samples.row(name, "crash", "sync_torn", cost=cost) for name in "abc"),
            samples.row("d", "crash", "sync_torn, machine crash", cost=cost),
            *(samples.row(name, "check", "my strategy") for name in "ef")]
    said = shown(verdict_table(rows))
    assert (said.count("712"), said.count("as above")) == (2, 2)


def test_one_of_something_is_told_as_one() -> None:
    cost = {"cases": 1, "findings": 2, "different_where_it_throws": 1}
    said = shown(verdict_table([samples.row("a", "check", "m", cost=cost)])).replace("\N{NO-BREAK SPACE}", " ")
    assert "1 case · 1 different where it throws · 2 findings" in " ".join(said.split())


def test_violations_differences_and_unknowns_are_followed_by_their_replay() -> None:
    rows = [samples.row("a", "prove", "m", "holds", expected="violated", replay="replay a"),
            samples.row("b", "prove", "m", "violated", replay="replay b", hazard=("D1",)),
            samples.row("c", "prove", "m", "unknown", expected="holds", replay="replay c"),
            samples.row("d", "prove", "m", replay="replay d")]
    said = shown(verdict_table(rows))
    assert [line for line in said.splitlines() if "replay" in line] == ["    replay a", "    replay c", "    replay b"]
    assert "a, prove: holds, expected violated" in said
    assert "b, prove: violated, as expected (D1)" in said


def test_the_hazards_that_a_violated_row_names_are_shown_by_a_command_if_they_are_few() -> None:
    few = samples.row("a", "campaign", "m", "violated", hazard=("D1", "B-29"), replay="replay a")
    many = samples.row("b", "campaign", "m", "violated", hazard=("D1", "D2", "D4", "D5"), replay="replay b")
    not_met = samples.row("c", "campaign", "m", "not met", expected="violated", hazard=("D6",), replay="replay c")
    said = [line.strip() for line in shown(verdict_table([few, many, not_met])).splitlines() if "show" in line]
    assert said == [f"rocketproof show {name}  # {HAZARDS[name].sentence}" for name in ("D1", "B-29")]


def test_many_rows_are_one_line_for_each_property_and_judge() -> None:
    name = "registrations_beat_the_expiry_is_needed_and_more"
    wide = [samples.row(name, "campaign", f"m {at}", outcome, expected="violated", cost={"cpu_seconds": 5000})
            for outcome in ("holds", "violated", "unknown") for at in range(12)]
    said = shown(verdict_table([*samples.grouped_rows(), *wide], everything=True), width=100)
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert "promise_03 explore ✗ 2 violated · ✓ 1 holds 3 scopes 1.5 s" in lines
    assert "ownership_converges prove ✓ 1 holds 1 proof 1 s" in lines
    assert sum(line.startswith("promise_00 explore") for line in lines) == 1
    assert lines.index("Promised") < lines.index("Decisions and strategies") < lines.index("Supporting facts")
    assert "✗ promise_03, explore: violated, as expected (B-10)" in lines
    assert lines.count("2 of 2 planted mutations noticed") == 1
    assert "crash without" not in said
    assert max(len(line.rstrip()) for line in said.splitlines() if not line.startswith("    rocketproof")) <= 100


def test_among_many_rows_all_that_is_not_as_expected_is_told_with_its_replay() -> None:
    many = [samples.row(f"p{at}", "explore", "m") for at in range(50)]
    odd = [samples.row("q", "explore", f"m {at}", "violated", expected="holds", replay=f"replay {at}") for at in (1, 2)]
    alike = [samples.row("r", "explore", f"m {at}", "violated", hazard=("D1",), replay=f"known {at}") for at in (1, 2)]
    said = shown(verdict_table([*many, *odd, *alike], everything=True), width=100)
    commands = [line.strip() for line in said.splitlines() if line.startswith(("    known", "    replay"))]
    assert commands == ["replay 1", "replay 2", "known 1"]
    assert "r, explore: violated, as expected (D1); 1 more like it" in said
    assert "✗ 2 violated ≠ expected" in said


def test_a_planted_bug_that_was_not_noticed_is_told_with_its_replay() -> None:
    missed = samples.planted_row("a", "elapse without guard 0", "holds", replay="again")
    said = shown(verdict_table([samples.row("a", "explore", "m"), missed]))
    assert "0 of 1 planted mutation noticed" in said
    assert "a, explore group 1,2,2" in said
    assert "    again" in said.splitlines()


def test_a_command_stays_on_one_line_however_narrow_the_terminal() -> None:
    command = "rocketproof explore --property " + "x" * 200
    said = shown(verdict_table([samples.row("a", "explore", "m", "violated", replay=command)]), width=60)
    assert f"    {command}" in said.splitlines()


def test_on_a_narrow_terminal_what_all_rows_have_in_common_is_one_line_above_them() -> None:
    names = ("one_promise", "another")
    rows = [samples.row(name, "check", "./adapters/go/adapter", cost={"cases": 7}) for name in names]
    wide, narrow = (shown(verdict_table(rows), width=width).splitlines() for width in (160, 50))
    assert "subject" in wide[1]
    assert narrow[0] == "judge: check · subject: ./adapters/go/adapter"
    assert not any("subject" in line or "check" in line for line in narrow[1:])
    assert max(map(len, narrow)) <= 50
    others = shown(verdict_table([*rows, samples.row("one_promise", "prove", "m")]), width=50)
    assert "judge: " not in others
    assert {"check", "prove"} <= {*others.split()}
    alone = shown(verdict_table(rows[:1]), width=40).splitlines()
    assert any(line.split()[:2] == ["property", "expected"] for line in alone)


def test_rows_that_one_command_shows_again_have_it_below_the_last() -> None:
    rows = [samples.row(name, "explore", "m", "violated", replay=command)
            for name, command in (("a", "one"), ("b", "one"), ("c", "two"), ("d", "one"))]
    said = [line.split()[0] for line in shown(verdict_table(rows)).splitlines()[-7:]]
    assert said == ["✗", "✗", "one", "✗", "two", "✗", "one"]


def test_a_trace_is_numbered_with_arguments_changes_and_sentence() -> None:
    said = shown(trace_table(samples.group_trace()))
    for part in ("1   start", "9   apply", "member-a → broker-1", "b = broker-1", "up[member-a]: false → true",
                 "forget (environment)", "RebalanceImpl#updateProcessQueueTableInRebalance",
                 "✗ queue-0 and queue-1 are held by member-a and by member-b at the same time."):
        assert part in said
    assert said.splitlines()[-1].startswith("    rocketproof explore --property one_owner_per_queue")


def test_input_is_text_neither_markup_nor_escape_sequences() -> None:
    bad = "[red]x[/red]\x1b[2J\n\r\x07"
    body = samples.lock_trace() | {"sentence": bad, "replay": bad}
    body["steps"] = [samples.step(bad, {bad: bad}, bad, [(bad, bad, bad)], flow=[bad, bad])]
    rows = [samples.row(bad, bad, bad, "violated", replay=bad, note=bad, hazard=(bad,), cost={bad: 1})]
    for what in (verdict_table(rows), trace_table(body)):
        said = shown(what)
        assert "[red]x[/red]" in said
        assert {sign for sign in said if not sign.isprintable()} <= {"\n", "\N{NO-BREAK SPACE}"}


def test_what_is_no_trace_is_refused() -> None:
    with pytest.raises(BadInputError, match="steps: Field required"):
        trace_table(samples.allocation_counterexample())
