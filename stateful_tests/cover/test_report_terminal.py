"""The terminal's tables: complete, one replay command a line, and no control character from the input."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from invariants.report.terminal import show, trace_table, verdict_table
from invariants.verdict import BadInputError
from stateful_tests.cover import report_samples as samples


def shown(what: RenderableType, width: int = 160) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, force_terminal=False), what)
    return out.getvalue()


def test_each_row_has_property_judge_subject_expected_outcome_and_cost() -> None:
    said = shown(verdict_table([samples.row("a_holds", "prove", "model m", cost={"obligations": 3, "seconds": 0.5})]))
    for part in ("a_holds", "prove", "model m", "holds", "✓ holds", "3 obligations", "0.5 s"):
        assert part in said.replace("\N{NO-BREAK SPACE}", " ")
    assert "rocketproof" not in said


def test_violations_differences_and_unknowns_are_followed_by_their_replay() -> None:
    rows = [samples.row("a", "prove", "m", "holds", expected="violated", replay="replay a"),
            samples.row("b", "prove", "m", "violated", replay="replay b", hazard=("D1",)),
            samples.row("c", "prove", "m", "unknown", expected="holds", replay="replay c"),
            samples.row("d", "prove", "m", replay="replay d")]
    said = shown(verdict_table(rows))
    assert [line for line in said.splitlines() if "replay" in line] == ["    replay a", "    replay b", "    replay c"]
    assert "a, prove: holds, expected violated" in said
    assert "b, prove: violated, as expected (D1)" in said


def test_a_command_stays_on_one_line_however_narrow_the_terminal() -> None:
    command = "rocketproof explore --property " + "x" * 200
    said = shown(verdict_table([samples.row("a", "explore", "m", "violated", replay=command)]), width=60)
    assert f"    {command}" in said.splitlines()


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
    with pytest.raises(BadInputError, match="steps is missing"):
        trace_table(samples.allocation_counterexample())
