"""Replays of evidence that need nothing but the evidence and the judge that is handed in."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from invariants import exploring
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from model.explorer.graph import graph
from model.explorer.search import explore

NOT_UNDERSTOOD = "not understood"  # begins the sentence of a recorded row that no adapter could interpret


def stored_outcome(document: Mapping[str, Any]) -> Outcome:
    """The outcome that an evidence file stands for: a graph for `holds`, everything else for a violation.

    A recorded row that was not understood stands for `unknown`. A file that names its outcome stands for that.
    """
    if "outcome" in document:
        return Outcome(document["outcome"])
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
