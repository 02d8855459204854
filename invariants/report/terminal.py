"""The same verdicts and traces for a terminal, as rich renderables; nothing in them is read as markup.

Print them with `show`: rich would cut a command at the edge of the terminal, and a command must be whole to be copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from invariants.report import shapes, words
from invariants.verdict import Outcome, Verdict

_WIDEST_NAME = 32  # characters of a property's name before it is folded
_STYLES = {"expected": "", "different": "bold red", "unknown": "bold yellow"}


def verdict_table(rows: Sequence[Verdict]) -> RenderableType:
    """The table at the end of each command; below it, for each violation, difference or unknown, how to replay it."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    longest = max((len(row.property) for row in rows), default=0)
    table.add_column("property", overflow="fold", min_width=min(longest, _WIDEST_NAME))
    table.add_column("judge", no_wrap=True)
    table.add_column("subject", overflow="fold")
    table.add_column("expected", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("cost", overflow="fold", style="dim")
    for row in rows:
        cells = (row.property, row.judge, row.subject.name, row.expected, _outcome(row), words.cost(row.cost))
        table.add_row(*(cell if isinstance(cell, Text) else _text(cell) for cell in cells))
    return Group(table, *(line for row in rows if _needs_replay(row) for line in _replay(row)))


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
    return row.outcome is not Outcome.HOLDS or not row.as_expected


def _outcome(row: Verdict) -> Text:
    standing = words.standing(row)
    mark = {"expected": "", "different": "  ≠ expected", "unknown": ""}[standing]
    return _text(f"{words.GLYPHS[row.outcome]} {row.outcome}{mark}", _STYLES[standing])


def _replay(row: Verdict) -> tuple[Text, Text]:
    hazards = f" ({', '.join(row.hazard)})" if row.hazard else ""
    note = f": {row.note}" if row.note else ""
    head = f"{words.GLYPHS[row.outcome]} {row.property}, {row.judge}: {row.outcome}, {words.standing_words(row)}"
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
