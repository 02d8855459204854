"""What the page shows, as plain values for its template: no markup here, no decisions there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from invariants.report import charts, grouping, words
from invariants.report.campaigns import Growth, Matrix, growth, matrix
from invariants.report.exhibits import Exhibit, Shown, anchors, exhibits
from invariants.report.grouping import Group, Part
from invariants.rules.declared import BY_NAME
from invariants.verdict import BadInputError, Outcome, Verdict

T = TypeVar("T")
_BARS = 20  # the longest proofs are looked at; the others are folded below


@dataclass(frozen=True, slots=True)
class Cell:
    """What one judge says about one property: its rows, often none, and their summary."""

    shown: Sequence[Shown]

    @property
    def parts(self) -> list[Part]:
        """The summary: how many rows of each outcome."""
        return grouping.parts(self._rows)

    @property
    def cost(self) -> str:
        """The cost of all rows in one line."""
        return words.cost(grouping.total(self._rows))

    @property
    def given(self) -> list[str]:
        """The premises that its rows state."""
        return grouping.given(self._rows)

    @property
    def urgency(self) -> int:
        """Order when sorted by this judge; a cell without rows comes last."""
        return min((shown.urgency for shown in self.shown), default=9)

    @property
    def _rows(self) -> list[Verdict]:
        return [one.row for one in self.shown]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table property × judge; planted says what became of the bugs planted to test it, if any were."""

    property: str
    concept: str
    headline: bool
    cells: Mapping[str, Cell]
    planted: str = ""

    def silent(self) -> list[str]:
        """Where the rule that judges the property does not speak; empty if it always speaks, or no rule judges it."""
        rule = BY_NAME.get(self.property)
        return [] if rule is None else [one.sentence for one in rule.excuses if not one.hazard]


@dataclass(frozen=True, slots=True)
class Table:
    """One group of properties with the judges that speak about them; folded: nothing in it needs a look."""

    group: Group
    judges: Sequence[str]
    lines: Sequence[Line]
    folded: bool

    @property
    def headline(self) -> bool:
        """Whether properties that users rely on most lead it."""
        return any(line.headline for line in self.lines)


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a scope, and what its properties came to."""

    subject: str
    cost: Mapping[str, float]
    properties: int
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class View:
    """Everything on the page, in its order; rows and all that counts them are without planted bugs."""

    counts: Mapping[str, int]
    outcomes: Mapping[str, int]
    versions: Sequence[tuple[str, str]]
    dates: Sequence[str]
    judges: Sequence[str]
    concepts: Sequence[str]
    kinds: Sequence[str]
    tables: Sequence[Table]
    rows: Sequence[Shown]
    attention: Sequence[Shown]
    planted: Sequence[Shown]
    missed: int
    noticed: str
    traces: Sequence[Exhibit] = ()
    runs: Sequence[Exhibit] = ()
    counterexamples: Sequence[Exhibit] = ()
    graphs: Sequence[Exhibit] = ()
    others: Sequence[Exhibit] = ()
    planted_exhibits: Sequence[Exhibit] = ()
    proofs: Sequence[Sequence[charts.Bar]] = ()
    searches: Sequence[Search] = ()
    conformance: Sequence[Shown] = ()
    campaigns: Sequence[Shown] = ()
    curves: Sequence[charts.Curve] = field(default_factory=tuple)
    growths: Sequence[Growth] = ()
    matrices: Sequence[Matrix] = ()
    flaws: Sequence[str] = ()

    @property
    def signs(self) -> list[tuple[str, str]]:
        """The outcomes that are counted, with their signs: the three of every judge, and others that occur."""
        always = {Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNKNOWN}
        return [(str(one), words.GLYPHS[one]) for one in Outcome if one in always or self.outcomes.get(one)]

    @property
    def title(self) -> str:
        """The worst that there is to say: what differs, then planted bugs that no judge saw, then what is unknown."""
        different, unknown, every = self.counts["different"], self.counts["unknown"], len(self.rows)
        missed = f"{self.missed:,} of {len(self.planted):,} planted mutations not noticed" if self.missed else ""
        if different:
            said = f"{different:,} of {every:,} verdicts differ{'s' * (different == 1)} from what is expected"
            return f"{said}, {missed}" if missed else said
        if unknown:
            return f"{unknown:,} of {every:,} verdicts unknown, {missed or 'none wrong'}"
        if missed:
            return f"{missed[0].upper()}{missed[1:]}"
        return "The verdict is as expected" if every == 1 else f"All {every:,} verdicts are as expected"


def view(
    rows: Sequence[Verdict], evidence: Mapping[str, Mapping[str, Any]], coverage: Sequence[tuple[str, Any]] = (),
    matrices: Sequence[tuple[str, Any]] = (),
) -> View:
    """Arrange rows and evidence; the same input gives the same view, in whatever folder or year it is made."""
    real, twins = grouping.split(rows)
    shown, planted = _shown(real, "v", evidence), _shown(twins, "p", evidence)
    judges = sorted({row.judge for row in real}, key=grouping.judge_order)
    by_judge = {judge: [one for one in shown if one.row.judge == judge] for judge in judges}
    drawn = exhibits([*shown, *planted], evidence)
    bars = charts.bars([one.row for one in by_judge.get("prove", [])], "seconds")
    flaws: list[str] = []
    return View(
        growths=[one for found in _drawn(coverage, growth, flaws) for one in found],
        matrices=_drawn(matrices, matrix, flaws), flaws=flaws,
        counts=Counter(one.standing for one in shown), outcomes=Counter(str(row.outcome) for row in real),
        versions=_versions(rows), dates=_dates(rows), judges=judges,
        concepts=sorted({one.concept for one in shown}), kinds=grouping.kinds(real), tables=_tables(shown, planted),
        rows=shown, attention=[one for one in [*shown, *planted] if one.standing != "expected"],
        planted=planted, missed=sum(not row.as_expected for row in twins), noticed=grouping.noticed(twins),
        planted_exhibits=drawn.pop("planted"), **drawn,
        proofs=[part for part in (bars[:_BARS], bars[_BARS:]) if part], searches=_searches(by_judge.get("explore", [])),
        conformance=by_judge.get("conform", []), campaigns=by_judge.get("campaign", []),
        curves=charts.curves([one.row for one in shown]),
    )


def _drawn(files: Sequence[tuple[str, Any]], read: Callable[[Any], T], flaws: list[str]) -> list[T]:
    """What can be drawn; for what cannot, a line in flaws."""
    drawn = []
    for folder, document in files:
        try:
            drawn.append(read(document))
        except BadInputError as error:
            flaws.append(f"{folder}: {error}")
    return drawn


def _shown(rows: Sequence[Verdict], prefix: str, evidence: Mapping[str, object]) -> list[Shown]:
    place = anchors(evidence)
    ordered = ((row, grouping.concept(row, own)) for own in grouping.by_property(rows).values() for row in own)
    return [Shown(row, f"{prefix}{at}", words.standing(row), concept, place.get(row.evidence or ""),
                  row.evidence is not None and row.evidence not in evidence)
            for at, (row, concept) in enumerate(ordered, 1)]


def _versions(rows: Sequence[Verdict]) -> list[tuple[str, str]]:
    found = {(str(name), str(version)) for row in rows if isinstance(row.subject.details.get("versions"), Mapping)
             for name, version in row.subject.details["versions"].items()}
    return sorted(found)


def _dates(rows: Sequence[Verdict]) -> list[str]:
    found = sorted({str(row.subject.details["date"]) for row in rows if row.subject.details.get("date")})
    return found if len(found) < 3 else [found[0], found[-1]]  # noqa: PLR2004 - the first and the last


def _tables(shown: Sequence[Shown], planted: Sequence[Shown]) -> list[Table]:
    """One table for each group that occurs; the supporting facts are folded unless one of them needs a look."""
    properties: dict[str, list[Shown]] = {}
    for one in shown:
        properties.setdefault(one.row.property, []).append(one)
    groups: dict[Group, list[list[Shown]]] = {}
    for own in properties.values():
        groups.setdefault(grouping.group(one.row for one in own), []).append(own)
    return [_table(group, groups[group], planted) for group in Group if group in groups]


def _table(group: Group, properties: Sequence[Sequence[Shown]], planted: Sequence[Shown]) -> Table:
    every = [one for own in properties for one in own]
    judges = sorted({one.row.judge for one in every}, key=grouping.judge_order)
    lines = [_line(own, judges, [one.row for one in planted if one.row.property == own[0].row.property])
             for own in properties]
    calm = all(one.standing == "expected" for one in every)
    return Table(group, judges, lines, group is Group.SUPPORTING and calm)


def _line(own: Sequence[Shown], judges: Sequence[str], planted: Sequence[Verdict]) -> Line:
    name = own[0].row.property
    concepts = sorted({one.concept for one in own})
    cells = {judge: Cell([one for one in own if one.row.judge == judge]) for judge in judges}
    return Line(name, concepts[0] if len(concepts) == 1 else f"{len(concepts)} concepts", name in words.HEADLINE,
                cells, grouping.noticed(planted) if planted else "")


def _searches(shown: Sequence[Shown]) -> list[Search]:
    """Each search once, although every property that it judged has a row: same scope, same counts."""
    found: dict[tuple[str, ...], list[Verdict]] = {}
    for one in shown:
        counts = (str(one.row.cost.get(key)) for key in ("states", "transitions", "depth", "cut"))
        found.setdefault((one.subject, *counts), []).append(one.row)
    return [Search(key[0], max((row.cost for row in own), key=lambda cost: grouping.seconds(cost) or 0),
                   len({row.property for row in own}), grouping.parts(own)) for key, own in sorted(found.items())]
