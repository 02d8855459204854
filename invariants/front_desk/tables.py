"""Verdicts as people read them in a terminal: one line while they are found, one table at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from invariants.report.terminal import verdict_table
from invariants.report.words import GLYPHS, HEADLINE, cost, one_line, standing, standing_words
from invariants.verdict import Outcome, Verdict

PLANTED = "mutation"  # the detail of a subject in which a bug was planted: its row expects to be violated
LONGEST = 40  # rows that are still read one by one; more are counted by property and judge
JUDGES = ("prove", "explore", "planted", "exhaust", "machine", "campaign", "history", "conform", "check", "other")
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
    return f"{row.subject.name}, {details[PLANTED]}" if PLANTED in details else row.subject.name


def table(rows: Sequence[Verdict]) -> RenderableType:
    """The table at the end of a command, the replay command of each violation, and how many rows are as expected."""
    if len(rows) <= LONGEST:
        return Group(verdict_table(rows), total(rows))
    return Group(matrix(rows), Text(""), *violations(rows), Text(""), total(rows))


def total(rows: Sequence[Verdict]) -> Text:
    """How many rows there are of each kind."""
    found = Counter(standing(row) for row in rows)
    violated = sum(row.outcome is Outcome.VIOLATED and row.as_expected for row in rows)
    parts = [f"{found['expected']} as expected ({violated} of them violated)", f"{found['different']} different",
             f"{found['unknown']} unknown"]
    worst = next((kind for kind in _ORDER if found[kind]), "expected")
    return Text(f"{len(rows)} verdict{'s' * (len(rows) != 1)}: {', '.join(parts)}", style=_STYLES[worst] or "bold")


def matrix(rows: Sequence[Verdict]) -> Table:
    """Property × judge: how many rows hold (✓), are violated (✗) or unknown (?); colour marks what was not expected."""
    judges = [judge for judge in JUDGES if any(_judge(row) == judge for row in rows)]
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    shown.add_column("property", overflow="fold")
    for judge in judges:
        shown.add_column(judge)
    shown.add_column("hazards", overflow="fold", style="dim")
    for name in sorted(dict.fromkeys(row.property for row in rows), key=_place):
        own = [row for row in rows if row.property == name]
        cells = (_cell([row for row in own if _judge(row) == judge]) for judge in judges)
        hazards = dict.fromkeys(hazard for row in own for hazard in row.hazard)
        shown.add_row(Text(one_line(name)), *cells, Text(", ".join(hazards)))
    return shown


def violations(rows: Sequence[Verdict]) -> list[Text]:
    """One violation for each property and its hazards, by whoever found it first; last, all that is not as expected."""
    seen: dict[tuple[object, ...], Verdict] = {}
    for row in rows:
        if row.outcome is Outcome.VIOLATED and row.as_expected and PLANTED not in row.subject.details:
            seen.setdefault((row.property, row.hazard), row)
    urgent = [row for kind in ("unknown", "different") for row in rows if standing(row) == kind]
    return [line(row) for row in (*seen.values(), *urgent)]


def kind(row: Verdict) -> tuple[str, ...]:
    """What rows have in common of which people want to see one while they are found."""
    return row.property, _judge(row), row.outcome, row.expected


def _judge(row: Verdict) -> str:
    """The column of a row; planted bugs have one of their own."""
    if PLANTED in row.subject.details:
        return "planted"
    return row.judge if row.judge in JUDGES else "other"


def _place(name: str) -> int:
    """The headline properties first, the others in the order in which they were judged."""
    return HEADLINE.index(name) if name in HEADLINE else len(HEADLINE)


def _cell(rows: Sequence[Verdict]) -> Text:
    counts = Counter(row.outcome for row in rows)
    worst = next((kind for kind in _ORDER if any(standing(row) == kind for row in rows)), "expected")
    parts = (f"{GLYPHS[outcome]} {counts[outcome]}" for outcome in Outcome if counts[outcome])
    return Text("  ".join(parts), style=_STYLES[worst])


def _needs_replay(row: Verdict) -> bool:
    return row.outcome is not Outcome.HOLDS or not row.as_expected
