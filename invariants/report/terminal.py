"""The same verdicts and traces for a terminal, as rich renderables; nothing in them is read as markup.

Print them with `show`: rich would cut a command at the edge of the terminal, and a command must be whole to be copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from invariants.report import grouping, shapes, words
from invariants.verdict import Verdict

LONGEST = 40  # rows that are still read one by one
_WIDEST_NAME = 32  # characters of a property's name before it is folded
_LONGEST_NAME = 39  # the same among many rows
_STYLES = {"expected": "", "different": "bold red", "unknown": "bold yellow"}


def verdict_table(rows: Sequence[Verdict]) -> RenderableType:
    """The table at the end of each command; below it, for each violation, difference or unknown, how to replay it.

    Up to 40 rows are read one by one. More are summed up by property and judge, and violations that are as expected
    are shown once for each property and its hazards. Planted bugs that were noticed are only counted.
    """
    real, planted = grouping.split(rows)
    table = _each(real) if len(real) <= LONGEST else _summed(real)
    missed = [row for row in planted if not row.as_expected]
    shown = [*(_first_of_each(real) if len(real) > LONGEST else zip(real, repeat(0))), *zip(missed, repeat(0))]
    below = [line for row, others in shown if _needs_replay(row) for line in _replay(row, others)]
    count = [_text(grouping.noticed(planted), "bold red" if missed else "")] if planted else []
    return Group(*([table] if real or not planted else []), *count, *below)


def _each(rows: Sequence[Verdict]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    longest = max((len(row.property) for row in rows), default=0)
    table.add_column("property", overflow="fold", min_width=min(longest, _WIDEST_NAME))
    table.add_column("judge", no_wrap=True)
    table.add_column("subject", overflow="fold")
    table.add_column("expected", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("cost", overflow="fold", style="dim")
    for row in rows:
        cells = (row.property, row.judge, words.subject(row), row.expected, _outcome(row), words.cost(row.cost))
        table.add_row(*(cell if isinstance(cell, Text) else _text(cell) for cell in cells))
    return table


def _summed(rows: Sequence[Verdict]) -> Table:
    """One line for each property and judge: how many scopes of each outcome, and the time."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    longest = max(len(row.property) for row in rows)
    table.add_column("property", overflow="fold", width=min(longest, _LONGEST_NAME))
    table.add_column("judge", no_wrap=True)
    table.add_column("outcome", overflow="fold")
    table.add_column("of", justify="right", no_wrap=True, style="dim")
    table.add_column("time", justify="right", no_wrap=True, style="dim")
    last = None
    for name, own in grouping.by_property(rows).items():
        group = grouping.group(own)
        if group is not last:
            table.add_section()
            table.add_row(_text(group, "bold"))
        last = group
        for at, judge in enumerate(dict.fromkeys(row.judge for row in own)):
            these = [row for row in own if row.judge == judge]
            table.add_row(_text("" if at else name), _text(judge), _parts(these), _count(these), _text(_time(these)))
    return table


def _parts(rows: Sequence[Verdict]) -> Text:
    shown = Text()
    for at, part in enumerate(grouping.parts(rows)):
        mark = " ≠ expected" if part.standing == "different" else ""
        shown.append(" · " if at else "")
        shown.append(f"{part.glyph} {part.count:,} {part.verb}{mark}", style=_STYLES[part.standing])
    return shown


def _count(rows: Sequence[Verdict]) -> Text:
    """How many scopes, claims, cases there are."""
    return Text(f"{len(rows):,} {grouping.noun(rows)}{'s' * (len(rows) != 1)}")


def _time(rows: Sequence[Verdict]) -> str:
    spent = grouping.seconds(grouping.total(rows))
    return "" if spent is None else words.seconds(round(spent, 3))


def _first_of_each(rows: Sequence[Verdict]) -> list[tuple[Verdict, int]]:
    """All that differs or is unknown; of the rest one for each property and hazards, with how many more there are."""
    urgent: list[tuple[Verdict, int]] = []
    alike: dict[tuple[str, tuple[str, ...]], list[Verdict]] = {}
    for row in (row for own in grouping.by_property(rows).values() for row in own):
        if row.as_expected:
            alike.setdefault((row.property, row.hazard if _needs_replay(row) else ("holds",)), []).append(row)
        else:
            urgent.append((row, 0))
    return [*((own[0], len(own) - 1) for own in alike.values()), *urgent]


def trace_table(evidence: Mapping[str, Any]) -> RenderableType:
    """A trace as numbered steps: action, arguments, changes; the sentence of the violation and its replay below.

    Raises BadInputError when the evidence is not a trace.
    """
    trace = shapes.trace(evidence)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", style="dim", no_wrap=True)
    for name in ("step", "arguments", "changes"):
        table.add_column(name, overflow="fold")
    for at, step in enumerate(trace.steps, 1):
        last = at == len(trace.steps)
        table.add_row(str(at), _action(step), _arguments(step), _changes(step), style="bold" if last else "")
    sentence = _text(f"✗ {shapes.text(evidence.get('sentence', ''))}", "bold red")
    return Group(table, sentence, _command(shapes.text(evidence.get("replay", ""))))


def show(console: Console, what: RenderableType) -> None:
    """Print a renderable of this module, commands in full length."""
    console.print(what, crop=False)


def _needs_replay(row: Verdict) -> bool:
    return row.outcome not in words.QUIET or not row.as_expected


def _outcome(row: Verdict) -> Text:
    standing = words.standing(row)
    mark = {"expected": "", "different": "  ≠ expected", "unknown": ""}[standing]
    return _text(f"{words.GLYPHS[row.outcome]} {row.outcome}{mark}", _STYLES[standing])


def _replay(row: Verdict, others: int = 0) -> tuple[Text, Text]:
    """What a row says, in one paragraph, and its command; others -- how many rows more say the same."""
    hazards = f" ({', '.join(row.hazard)})" if row.hazard else ""
    note = f": {row.note}" if row.note else ""
    note += f"; {others:,} more like it" if others else ""
    what = f"{row.property}, {row.judge}" + (f" {words.subject(row)}" if grouping.planted(row) else "")
    head = f"{words.GLYPHS[row.outcome]} {what}: {row.outcome}, {words.standing_words(row)}"
    return _text(f"{head}{hazards}{note}", _STYLES[words.standing(row)]), _command(row.replay)


def _command(command: str) -> Text:
    """A command on one line of its own, never wrapped, so that it can be copied whole."""
    return Text(f"    {words.one_line(command)}", style="cyan", no_wrap=True, overflow="ignore")


def _action(step: shapes.Step) -> Text:
    text = _text(step.action)
    text.append(" (environment)" if step.environment else "", style="yellow")
    if step.cite:
        text.append(f"\n{words.one_line(step.cite)}", style="dim not bold")
    return text


def _arguments(step: shapes.Step) -> Text:
    lines = [f"{name} = {value}" for name, value in step.arguments]
    if step.flow:
        lines.insert(0, f"{step.flow[0]} → {step.flow[1]}")
    return Text("\n".join(words.one_line(line) for line in lines))


def _changes(step: shapes.Step) -> Text:
    lines = [f"{change.cell}: {change.before} → {change.after}" for change in step.changes]
    return Text("\n".join(words.one_line(line) for line in lines) or "–")


def _text(value: str, style: str = "") -> Text:
    return Text(words.one_line(value), style=style)
