"""Verdicts as people read them in a terminal: one line while they are found, one table at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from invariants.report.grouping import MUTATION, planted, split
from invariants.report.terminal import verdict_table
from invariants.report.words import GLYPHS, QUIET, cost, one_line, standing, standing_words
from invariants.verdict import Outcome, Verdict

_STYLES = {"expected": "", "different": "bold red", "unknown": "bold yellow"}
_ORDER = ("different", "unknown", "expected")


def line(row: Verdict) -> Text:
    """A row on one line, with its replay command below when it is not what holds as expected."""
    hazards = f" ({', '.join(row.hazard)})" if row.hazard else ""
    words = f"{row.outcome}{hazards}" + ("" if row.as_expected else f", {standing_words(row)}")
    shown = Text(f"{GLYPHS[row.outcome]} {row.judge:8} {row.property}", style=_STYLES[standing(row)])
    shown.append(f"  {one_line(_subject(row))}: {words}")
    shown.append(f"  {cost(row.cost)}", style="dim")
    if not row.as_expected and row.note:
        shown.append(f"\n    {one_line(row.note)}")
    if _needs_replay(row):
        shown.append(f"\n    {one_line(row.replay)}", style="cyan")
    shown.no_wrap, shown.overflow = True, "ignore"
    return shown


def _subject(row: Verdict) -> str:
    """The subject with what tells it from others of the same name."""
    details = row.subject.details
    match row.subject.kind:
        case "decision":
            return str(details.get("claim", row.subject.name))
        case "strategy":
            return ", ".join(map(str, (row.subject.name, *details.values())))
    return f"{row.subject.name}, {details[MUTATION]}" if planted(row) else row.subject.name


def table(rows: Sequence[Verdict]) -> RenderableType:
    """The table at the end of a command, the replay command of each violation, and how many rows are as expected."""
    return Group(verdict_table(rows), Text(""), total(rows))


def total(rows: Sequence[Verdict]) -> Text:
    """How many rows there are of each kind; planted bugs have a count of their own in the table."""
    rows, _ = split(rows)
    found = Counter(standing(row) for row in rows)
    violated, not_met = (sum(row.outcome is one and row.as_expected for row in rows)
                         for one in (Outcome.VIOLATED, Outcome.NOT_MET))
    of_them = f"{violated} of them violated" + (f", {not_met} not met" if not_met else "")
    parts = [f"{found['expected']} as expected ({of_them})", f"{found['different']} different",
             f"{found['unknown']} unknown"]
    worst = next((kind for kind in _ORDER if found[kind]), "expected")
    return Text(f"{len(rows)} verdict{'s' * (len(rows) != 1)}: {', '.join(parts)}", style=_STYLES[worst] or "bold")


def kind(row: Verdict) -> tuple[str, ...]:
    """What rows have in common of which people want to see one while they are found."""
    return row.property, "planted" if planted(row) else row.judge, row.outcome, row.expected


def _needs_replay(row: Verdict) -> bool:
    return row.outcome not in QUIET or not row.as_expected
