"""Replays of evidence that need nothing but the evidence and the judge that is handed in; and how people see them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from invariants import exploring
from invariants.report import shapes
from invariants.report.terminal import trace_table
from invariants.report.words import one_line
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from model.explorer.graph import graph
from model.explorer.search import explore

NOT_UNDERSTOOD = "not understood"  # begins the sentence of a recorded row that no adapter could interpret
_SHOWN = 2000  # characters of a value


def stored_outcome(document: Mapping[str, Any]) -> Outcome:
    """The outcome that an evidence file stands for: a graph for `holds`, everything else for a violation.

    A recorded row that was not understood stands for `unknown`.
    """
    if document["kind"] == "graph":
        return Outcome.HOLDS
    not_understood = str(document.get("results", {}).get("difference", "")).startswith(NOT_UNDERSTOOD)
    return Outcome.UNKNOWN if not_understood else Outcome.VIOLATED


def replay_graph(document: Mapping[str, Any]) -> Verdict:
    """Search the scope of a state graph again: it holds if every state and every step is the same."""
    name = document["subject"]["name"]
    named = next((one for one in exploring.scopes([name], heavy=True) if one.name == name), None)
    if named is None:
        raise BadInputError(f"no scope is called {name!r} any more; explore again")
    found = explore(named.scope)
    drawn = graph(found, exploring.DRAWN) if found.states <= exploring.DRAWN else {}
    same = all(drawn.get(part) == document[part] for part in ("nodes", "edges"))
    note = "" if same else f"the scope has {found.states} states now, and not the same graph"
    return _again(document, Outcome.HOLDS, Outcome.HOLDS if same else Outcome.VIOLATED, note)


def replay_row(document: Mapping[str, Any], row: Mapping[str, Any], compare: Callable[[Mapping[str, Any]], str | None],
               ) -> Verdict:
    """Compare one recorded row again.

    compare -- says what differs, or None; one that raises has not understood the row.
    """
    try:
        sentence = compare(row)
    except Exception as error:  # noqa: BLE001 - whatever an adapter trips over, the row was not understood
        return _again(document, Outcome.HOLDS, Outcome.UNKNOWN, f"{NOT_UNDERSTOOD} ({type(error).__name__}: {error})")
    return _again(document, Outcome.HOLDS, Outcome.HOLDS if sentence is None else Outcome.VIOLATED, sentence or "")


def recorded_row(document: Mapping[str, Any], own: Path,
                 lines: Callable[[Path], Iterable[tuple[int, Mapping[str, Any]]]]) -> Mapping[str, Any]:
    """The row that a difference is about: from its recording if that is still there, else from the evidence.

    own -- folder of the project's recordings. lines -- reads (line number, row) of a recording.
    """
    words = shlex.split(document["replay"])
    folder = Path(words[words.index("--vectors") + 1]) if "--vectors" in words[:-1] else own
    path = folder / str(document["subject"]["name"])
    if path.is_file():
        for number, row in lines(path):
            if number == document["arguments"]["line"]:
                return row
    return {"a": document["arguments"]["a"], **document["results"]["recorded"]}


def _again(document: Mapping[str, Any], expected: Outcome, outcome: Outcome, note: str) -> Verdict:
    return Verdict(document["property"], document["judge"], Subject(**document["subject"]), expected, outcome,
                   document["replay"], note=note)


# For people -----------------------------------------------------------------------------------------------------------


def evidence_view(document: Mapping[str, Any]) -> RenderableType:
    """What the evidence shows; raises BadInputError when it has not the shape of its kind."""
    if document["kind"] == "trace":
        return trace_table(document)
    if document["kind"] == "run":
        return run_table(document)
    if document["kind"] == "graph":
        return Text(f"{document['sentence']} {len(document['nodes'])} states, {len(document['edges'])} steps.")
    shape = shapes.counterexample(document)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in shape.columns:
        table.add_column(Text(one_line(name)))
    for row in shape.rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    arguments = [Text(f"  {one_line(name)} = {one_line(value)[:_SHOWN]}") for name, value in shape.arguments]
    sentence = Text(one_line(shapes.text(document.get("sentence", ""))), style="bold")
    return Group(sentence, *arguments, *([table] if shape.columns else []))


def run_table(document: Mapping[str, Any]) -> RenderableType:
    """The faults and deeds of a run as sentences, and what went wrong."""
    plan = document["plan"]
    about = f"{plan['subject']}, workload {plan['workload']}, profile {plan['profile']}"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("ms", "who", "what happened"):
        table.add_column(name, justify="right" if name == "ms" else "left")
    for told in document["told"]:
        table.add_row(f"{told['time_ms']:,}", Text(one_line(told["who"])), Text(one_line(told["sentence"])))
    table.add_row(f"{document['time_ms']:,}", "", Text(one_line(document["sentence"]), style="bold"))
    return Group(Text(f"{document['property']}: {about}", style="bold"), table)


def conclusion(stored: Outcome, found: Verdict) -> Text:
    """Whether the replay shows what was stored, in one line."""
    because = f": {one_line(found.note)}" if found.note else ""
    if found.outcome is stored:
        return Text(f"confirmed: {found.property} is {found.outcome} again{because}", style="bold")
    return Text(f"not confirmed: {found.property} was {stored}, and is {found.outcome} now{because}", style="bold red")
