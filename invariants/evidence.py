"""Evidence files: what a verdict rests on, in one small JSON format that `replay` and the report read.

A file is one JSON object:

    format      "rocketproof-evidence/1"
    kind        "trace" (steps of a model), "counterexample" (arguments of a decision or strategy), "graph" (of states),
                "proof" (what it leans on) or "run" (a tape and what it did, as `stateful_tests.worlds.evidence` says)
    property, judge, subject, replay      as in the verdict row
    sentence    what went wrong, one English sentence

A trace adds

    initial     {variable cell: value} of the first state, as text
    steps       [{action, arguments: {name: element}, cite, flow: [from, to] | null, environment: bool,
                  changes: [{cell, before, after}]}]
    lifelines   [element, …] in drawing order

A graph adds

    nodes       [{id, depth: steps from an initial state, cells: {variable cell: value}}]
    edges       [{source: id, target: id, action, arguments: {name: element}}]

A proof adds

    outcome     "holds"
    claim       the formula
    seconds     CPU time of all its obligations
    tables      [{title, rows: [[what, for which obligation]]}]: premises, lemmas, guards, slowest obligations
    open        [obligation, …] that were not proved again in the time

A counterexample adds

    arguments   {name: value}, JSON values
    results     {label: value}, what the decision answered, JSON values
    table       optional {columns: [str], rows: [[str]]}, how people should see it (for example queue × owner)
    asked       optional [str], the lines that a program was asked, as they can be given to it
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError, Verdict

FORMAT = "rocketproof-evidence/1"


def replayed(file: Path) -> str:
    """The command that replays an evidence file, as it can be put into a shell wherever the file lies."""
    return shlex.join(["rocketproof", "replay", str(file)])


def document(verdict: Verdict, kind: str, sentence: str, **body: Any) -> dict[str, Any]:
    """The evidence object for a verdict; body as the module's docstring says for the kind."""
    return {
        "format": FORMAT, "kind": kind, "property": verdict.property, "judge": verdict.judge,
        "subject": asdict(verdict.subject), "replay": verdict.replay, "sentence": sentence, **body,
    }


def saved(verdict: Verdict, found: Mapping[str, Any], out: Path, slug: str) -> Verdict:
    """Write the evidence of a verdict below the output folder; the verdict that points at it, and replays it."""
    name = f"evidence/{slug}.json"
    row = replace(verdict, evidence=name, replay=replayed(out / name))
    write(out / name, {**found, "replay": row.replay})
    return row


def write(path: Path, evidence: dict[str, Any]) -> None:
    """Write one evidence object; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(evidence, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Read one evidence object; raises BadInputError when the file is not one."""
    try:
        evidence = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path}: cannot be read ({error}); give an evidence file that a verdict names") from error
    if not isinstance(evidence, dict) or evidence.get("format") != FORMAT:
        raise BadInputError(f"{path}: not an evidence file ({FORMAT}); give a file that a verdict names")
    return evidence
