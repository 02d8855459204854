"""What the page shows, as plain values for its template: no markup here, no decisions there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from invariants.report import charts, sequence, shapes, words
from invariants.report.graph import LARGEST, draw
from invariants.verdict import BadInputError, Outcome, Verdict

JUDGES = ("prove", "explore", "exhaust", "machine", "campaign", "history", "conform", "check")
_URGENCY = {"different": 0, "unknown": 1}


@dataclass(frozen=True, slots=True)
class Shown:
    """A row with what the page says about it.

    anchor -- id of its line in the table of all rows.
    standing -- expected, different or unknown.
    evidence_anchor -- id of its drawing; None when there is none.
    lacks_evidence -- the row names a file that is missing or unreadable.
    """

    row: Verdict
    anchor: str
    standing: str
    concept: str
    evidence_anchor: str | None = None
    lacks_evidence: bool = False

    @property
    def glyph(self) -> str:
        """The outcome's sign."""
        return words.GLYPHS[self.row.outcome]

    @property
    def words(self) -> str:
        """"as expected", or what was expected instead."""
        return words.standing_words(self.row)

    @property
    def cost(self) -> str:
        """The row's cost in one line."""
        return words.cost(self.row.cost)

    @property
    def urgency(self) -> int:
        """Order when sorted by outcome: different, unknown, violated as expected, holds."""
        return _URGENCY.get(self.standing, 2 + (self.row.outcome is Outcome.HOLDS))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table property × judge: for each judge of the page its rows, often none."""

    property: str
    concept: str
    headline: bool
    cells: Mapping[str, Sequence[Shown]]

    def urgency(self, judge: str) -> int:
        """Order when sorted by a judge's column; a cell without rows comes last."""
        return min((shown.urgency for shown in self.cells[judge]), default=9)


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A piece of evidence: where its file is, which row rests on it (if any), and its drawing or why there is none."""

    anchor: str
    file: str
    href: str
    evidence: Mapping[str, Any]
    shown: Shown | None
    drawing: Any = None
    flaw: str = ""

    @property
    def name(self) -> str:
        """Name of the property that the evidence is about."""
        return self.shown.row.property if self.shown else shapes.text(self.evidence.get("property", self.file))

    @property
    def judge(self) -> str:
        """The judge that found it."""
        return self.shown.row.judge if self.shown else shapes.text(self.evidence.get("judge", ""))

    @property
    def subject(self) -> str:
        """Name of what was judged."""
        if self.shown:
            return self.shown.row.subject.name
        subject = self.evidence.get("subject")
        return shapes.text(subject.get("name", "")) if isinstance(subject, Mapping) else ""

    @property
    def sentence(self) -> str:
        """What went wrong."""
        return shapes.text(self.evidence.get("sentence", ""))

    @property
    def replay(self) -> str:
        """The one command that shows it again."""
        return self.shown.row.replay if self.shown else shapes.text(self.evidence.get("replay", ""))


@dataclass(frozen=True, slots=True)
class TraceDrawing:
    """A trace and its layout."""

    trace: shapes.Trace
    diagram: sequence.Diagram


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """A graph and its picture; no picture (None) when there are more states than one can look at."""

    graph: shapes.Graph
    picture: Markup | None
    largest: int = LARGEST


@dataclass(frozen=True, slots=True)
class View:
    """Everything on the page, in its order."""

    counts: Mapping[str, int]
    outcomes: Mapping[str, int]
    versions: Sequence[tuple[str, str]]
    dates: Sequence[str]
    judges: Sequence[str]
    concepts: Sequence[str]
    lines: Sequence[Line]
    rows: Sequence[Shown]
    attention: Sequence[Shown]
    traces: Sequence[Exhibit] = ()
    counterexamples: Sequence[Exhibit] = ()
    graphs: Sequence[Exhibit] = ()
    others: Sequence[Exhibit] = ()
    proofs: Sequence[charts.Bar] = ()
    searches: Sequence[Shown] = ()
    conformance: Sequence[Shown] = ()
    campaigns: Sequence[Shown] = ()
    curves: Sequence[charts.Curve] = field(default_factory=tuple)


def view(rows: Sequence[Verdict], evidence: Mapping[str, Mapping[str, Any]]) -> View:
    """Arrange rows and evidence; the same input gives the same view, in whatever folder or year it is made."""
    concepts = _concepts(rows)
    shown = [_shown(at, row, concepts[row.property], evidence) for at, row in enumerate(_ordered(rows), 1)]
    exhibits = _exhibits(shown, evidence)
    judges = sorted({row.judge for row in rows}, key=_judge_order)
    by_judge = {judge: [one for one in shown if one.row.judge == judge] for judge in judges}
    return View(
        counts=Counter(one.standing for one in shown), outcomes=Counter(str(row.outcome) for row in rows),
        versions=_versions(rows), dates=_dates(rows), judges=judges, concepts=sorted(set(concepts.values())),
        lines=_lines(shown, judges), rows=shown, attention=[one for one in shown if one.standing != "expected"],
        **exhibits, proofs=charts.bars([one.row for one in by_judge.get("prove", [])], "seconds"),
        searches=by_judge.get("explore", []), conformance=by_judge.get("conform", []),
        campaigns=by_judge.get("campaign", []), curves=charts.curves([one.row for one in shown]),
    )


def _ordered(rows: Sequence[Verdict]) -> list[Verdict]:
    """Headline properties in their order, the others by name; within one by judge, then subject."""
    def key(row: Verdict) -> tuple[int, str, tuple[int, str], str, str]:
        return _headline_order(row.property), row.property, _judge_order(row.judge), row.subject.name, row.to_json()
    return sorted(rows, key=key)


def _headline_order(name: str) -> int:
    return words.HEADLINE.index(name) if name in words.HEADLINE else len(words.HEADLINE)


def _judge_order(judge: str) -> tuple[int, str]:
    return (JUDGES.index(judge) if judge in JUDGES else len(JUDGES)), judge


def _shown(at: int, row: Verdict, concept: str, evidence: Mapping[str, object]) -> Shown:
    anchor = None if row.evidence is None or row.evidence not in evidence else _anchor(row.evidence, evidence)
    return Shown(row, f"v{at}", words.standing(row), concept, anchor, row.evidence is not None and anchor is None)


def _anchor(file: str, evidence: Mapping[str, object]) -> str:
    return f"e{sorted(evidence).index(file) + 1}"


def _concepts(rows: Sequence[Verdict]) -> dict[str, str]:
    """Each property's concept: the one a row states in its subject's details, else the first word of its model."""
    stated = {row.property: str(row.subject.details["concept"]) for row in rows if "concept" in row.subject.details}
    guessed: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (row.subject.kind != "model", row.subject.kind, row.subject.name)):
        word = re.match(r"[a-z][a-z_]*", row.subject.name)
        own = row.subject.kind in {"model", "decision", "strategy"} and word
        guessed.setdefault(row.property, word[0] if own and word else row.subject.kind)
    return guessed | stated


def _versions(rows: Sequence[Verdict]) -> list[tuple[str, str]]:
    found = {(str(name), str(version)) for row in rows if isinstance(row.subject.details.get("versions"), Mapping)
             for name, version in row.subject.details["versions"].items()}
    return sorted(found)


def _dates(rows: Sequence[Verdict]) -> list[str]:
    found = sorted({str(row.subject.details["date"]) for row in rows if row.subject.details.get("date")})
    return found if len(found) < 3 else [found[0], found[-1]]  # noqa: PLR2004 - the first and the last


def _lines(shown: Iterable[Shown], judges: Sequence[str]) -> list[Line]:
    lines: dict[str, dict[str, list[Shown]]] = {}
    for one in shown:
        lines.setdefault(one.row.property, {judge: [] for judge in judges})[one.row.judge].append(one)
    concepts = {one.row.property: one.concept for one in shown}
    return [Line(name, concepts[name], name in words.HEADLINE, cells) for name, cells in lines.items()]


def _exhibits(shown: Sequence[Shown], evidence: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Exhibit]]:
    """Evidence by kind: what rows rest on in their order, then the files that no row names."""
    owners: dict[str, Shown] = {}
    for one in shown:
        if one.row.evidence is not None:
            owners.setdefault(one.row.evidence, one)
    files = [file for file in owners if file in evidence] + sorted(set(evidence) - set(owners))
    sections: dict[str, list[Exhibit]] = {"traces": [], "counterexamples": [], "graphs": [], "others": []}
    for file in files:
        kind, drawing, flaw = _drawing(file, evidence[file])
        sections[kind].append(Exhibit(
            _anchor(file, evidence), file, "./" + quote(file), evidence[file], owners.get(file), drawing, flaw))
    return sections


def _drawing(file: str, evidence: Mapping[str, Any]) -> tuple[str, object, str]:
    """Section, drawing and, if it cannot be drawn, the reason."""
    parse: Callable[[], object]
    match evidence.get("kind"):
        case "trace":
            section, parse = "traces", lambda: _trace(evidence)
        case "counterexample":
            section, parse = "counterexamples", lambda: shapes.counterexample(evidence)
        case "graph":
            section, parse = "graphs", lambda: _graph(evidence, file)
        case kind:
            return "others", None, f"evidence of kind {shapes.text(kind)[:40]} has no picture; open the file"
    try:
        return section, parse(), ""
    except BadInputError as error:
        return section, None, f"cannot be drawn ({error})"


def _trace(evidence: Mapping[str, Any]) -> TraceDrawing:
    trace = shapes.trace(evidence)
    return TraceDrawing(trace, sequence.diagram(trace))


def _graph(evidence: Mapping[str, Any], file: str) -> GraphDrawing:
    states = shapes.graph(evidence)
    return GraphDrawing(states, draw(states, file) if len(states.nodes) <= LARGEST else None)
