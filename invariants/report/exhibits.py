"""Evidence on the page: each file with the row that rests on it and its drawing, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from invariants.relied_on import RELIED_ON
from invariants.report import grouping, runs, sequence, words
from invariants.report.graph import LARGEST, draw
from invariants.report.shapes import Counterexample, Graph, Proof, Trace, read, text
from invariants.verdict import BadInputError, Outcome, Subject, Verdict


@dataclass(frozen=True, slots=True)
class Shown:
    """A row on the page.

    anchor -- id of its line in the table of all rows, or in that of planted bugs. evidence_anchor -- id of its drawing;
    None when there is none. lacks_evidence -- the row names a file that is missing or unreadable.
    """

    row: Verdict
    anchor: str
    concept: str
    evidence_anchor: str | None = None
    lacks_evidence: bool = False


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A piece of evidence: its file, what it is about, what went wrong, its drawing or why there is none.

    row -- that rests on it; without one, what the evidence says of itself. shown -- None without a row.
    """

    anchor: str
    file: str
    href: str
    row: Verdict
    shown: Shown | None
    sentence: str
    drawing: Any
    flaw: str


def anchors(evidence: Iterable[str]) -> dict[str, str]:
    """An id on the page for each file of evidence."""
    return {file: f"e{at}" for at, file in enumerate(sorted(evidence), 1)}


def exhibits(shown: Sequence[Shown], evidence: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Exhibit]]:
    """Evidence by section; planted is for whatever shows a planted bug.

    What rows rest on comes first, by property (headlines lead), hazard and subject; then the files that no row names.
    """
    owners: dict[str, Shown] = {}
    for one in shown:
        if one.row.evidence is not None:
            owners.setdefault(one.row.evidence, one)
    named = sorted((file for file in owners if file in evidence), key=lambda file: (_place(owners[file].row), file))
    place = anchors(evidence)
    sections: dict[str, list[Exhibit]] = {
        "traces": [], "runs": [], "counterexamples": [], "proofs": [], "graphs": [], "others": [], "planted": []}
    for file in [*named, *sorted(set(evidence) - set(owners))]:
        body, owner = evidence[file], owners.get(file)
        section, drawing, flaw = _drawing(file, body)
        row = owner.row if owner else _unowned(file, body)
        made = Exhibit(place[file], file, "./" + quote(file), row, owner, text(body.get("sentence", "")), drawing, flaw)
        sections["planted" if grouping.planted(row) and section == "traces" else section].append(made)
    return sections


def _place(row: Verdict) -> tuple[int, str, list[str], str]:
    headline = grouping.index(RELIED_ON, row.property)
    return headline, row.property, grouping.hazard_order(row.hazard), words.subject(row)


def _unowned(file: str, evidence: Mapping[str, Any]) -> Verdict:
    """What evidence that no row names says of itself; its outcome is not known."""
    name, judge, replay = (text(evidence.get(key, "")) for key in ("property", "judge", "replay"))
    about = evidence.get("subject")
    about = about if isinstance(about, Mapping) else {}
    details = about.get("details")
    subject = Subject("file", text(about.get("name", "")), details if isinstance(details, Mapping) else {})
    return Verdict(name or file, judge, subject, Outcome.UNKNOWN, Outcome.UNKNOWN, replay)


def _drawing(file: str, evidence: Mapping[str, Any]) -> tuple[str, Any, str]:
    """Section, drawing and, if it cannot be drawn, the reason."""
    kind = text(evidence.get("kind"))
    if kind not in _DRAWN:
        return "others", None, f"evidence of kind {kind[:40]} has no picture; open the file"
    section, drawn = _DRAWN[kind]
    try:
        return section, drawn(evidence, file), ""
    except BadInputError as error:
        return section, None, f"cannot be drawn ({error})"


def _trace(evidence: Mapping[str, Any], _: str) -> dict[str, Any]:
    trace = read(Trace, evidence)
    return {"trace": trace, "diagram": sequence.diagram(trace)}


def _graph(evidence: Mapping[str, Any], file: str) -> dict[str, Any]:
    """A graph and its picture; no picture (None) when there are more states than one can look at."""
    graph = read(Graph, evidence)
    return {"graph": graph, "picture": draw(graph, file) if len(graph.nodes) <= LARGEST else None, "largest": LARGEST}


_DRAWN: dict[str, tuple[str, Callable[[Mapping[str, Any], str], Any]]] = {
    "trace": ("traces", _trace),
    "counterexample": ("counterexamples", lambda evidence, _: read(Counterexample, evidence)),
    "run": ("runs", lambda evidence, _: runs.drawing(evidence)),
    "proof": ("proofs", lambda evidence, _: read(Proof, evidence)),
    "graph": ("graphs", _graph),
}
"""Section and drawing by the kind of evidence."""
