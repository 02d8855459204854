"""Evidence on the page: each file with the row that rests on it and its drawing, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from invariants.hazards import Hazard
from invariants.report import grouping, runs, sequence, shapes, words
from invariants.report.graph import LARGEST, draw
from invariants.verdict import BadInputError, Outcome, Verdict

_URGENCY = {"different": 0, "unknown": 1}


@dataclass(frozen=True, slots=True)
class Shown:
    """A row with what the page says about it.

    anchor -- id of its line in the table of all rows, or in that of planted bugs.
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
    def said(self) -> bool:
        """Whether these words are needed: that something holds as expected goes without saying."""
        return self.standing != "expected" or self.row.outcome is not Outcome.HOLDS

    @property
    def subject(self) -> str:
        """What was judged, as people tell it from others."""
        return words.subject(self.row)

    @property
    def kind(self) -> str:
        """What the property is, or what was judged."""
        return grouping.kind(self.row)

    @property
    def given(self) -> list[str]:
        """The premises of the verdict."""
        return grouping.given([self.row])

    @property
    def mutation(self) -> str:
        """The planted bug, if the row is about one."""
        return shapes.text(self.row.subject.details.get(grouping.MUTATION, ""))

    @property
    def cost(self) -> str:
        """The row's cost in one line."""
        return words.cost(self.row.cost)

    @property
    def urgency(self) -> int:
        """Order when sorted by outcome: different, unknown, violated as expected, holds."""
        return _URGENCY.get(self.standing, 2 + (self.row.outcome is Outcome.HOLDS))


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
        """What was judged."""
        return self.shown.subject if self.shown else shapes.text(self._subject.get("name", ""))

    @property
    def planted(self) -> bool:
        """Whether it shows that a planted bug was noticed."""
        details = self._subject.get("details")
        if self.shown:
            return grouping.planted(self.shown.row)
        return isinstance(details, Mapping) and grouping.MUTATION in details

    @property
    def mutation(self) -> str:
        """The planted bug that was noticed."""
        return self.shown.mutation if self.shown else ""

    @property
    def hazards(self) -> list[Hazard]:
        """The hazards that the row explains it by."""
        return grouping.hazards(self.shown.row.hazard) if self.shown else []

    @property
    def sentence(self) -> str:
        """What went wrong."""
        return shapes.text(self.evidence.get("sentence", ""))

    @property
    def replay(self) -> str:
        """The one command that shows it again."""
        return self.shown.row.replay if self.shown else shapes.text(self.evidence.get("replay", ""))

    @property
    def _subject(self) -> Mapping[str, Any]:
        subject = self.evidence.get("subject")
        return subject if isinstance(subject, Mapping) else {}


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


def anchors(evidence: Iterable[str]) -> dict[str, str]:
    """An id on the page for each file of evidence."""
    return {file: f"e{at}" for at, file in enumerate(sorted(evidence), 1)}


def exhibits(shown: Sequence[Shown], evidence: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Exhibit]]:
    """Evidence by section (traces, runs, counterexamples, graphs, others; planted for whatever shows a planted bug).

    What rows rest on comes first, by property (headlines lead), hazard and subject; then the files that no row names.
    """
    owners: dict[str, Shown] = {}
    for one in shown:
        if one.row.evidence is not None:
            owners.setdefault(one.row.evidence, one)
    named = sorted((file for file in owners if file in evidence), key=lambda file: (_place(owners[file]), file))
    place = anchors(evidence)
    sections: dict[str, list[Exhibit]] = {
        "traces": [], "runs": [], "counterexamples": [], "graphs": [], "others": [], "planted": []}
    for file in [*named, *sorted(set(evidence) - set(owners))]:
        kind, drawing, flaw = _drawing(file, evidence[file])
        made = Exhibit(place[file], file, "./" + quote(file), evidence[file], owners.get(file), drawing, flaw)
        sections["planted" if made.planted and kind == "traces" else kind].append(made)
    return sections


def _place(shown: Shown) -> tuple[int, str, list[str], str]:
    name = shown.row.property
    headline = words.HEADLINE.index(name) if name in words.HEADLINE else len(words.HEADLINE)
    return headline, name, grouping.hazard_order(shown.row.hazard), shown.subject


def _drawing(file: str, evidence: Mapping[str, Any]) -> tuple[str, object, str]:
    """Section, drawing and, if it cannot be drawn, the reason."""
    parse: Callable[[], object]
    match evidence.get("kind"):
        case "trace":
            section, parse = "traces", lambda: _trace(evidence)
        case "counterexample":
            section, parse = "counterexamples", lambda: shapes.counterexample(evidence)
        case "run":
            section, parse = "runs", lambda: runs.drawing(evidence)
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
