"""What the page shows, as plain values for its template: no markup here, no decisions there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from invariants.hazards import Hazard
from invariants.relied_on import RELIED_ON
from invariants.report import grouping, words
from invariants.report.campaigns import COVERAGE, MATRIX, Matrix, growths
from invariants.report.compared import COMPARED, Comparison
from invariants.report.exhibits import Shown, anchors, exhibits
from invariants.report.grouping import Group
from invariants.report.shapes import read
from invariants.rules.declared import BY_NAME
from invariants.verdict import BadInputError, Outcome, Verdict

T = TypeVar("T")

Files = Sequence[tuple[str, Any]]
"""Documents with the folders that have them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table property × judge: the rows of each judge, often none.

    planted -- what became of the bugs planted to test the property, if any were. silent -- where the rule that judges
    it does not speak; empty if it always speaks, or no rule judges it.
    """

    property: str
    concept: str
    headline: bool
    cells: Mapping[str, Sequence[Shown]]
    planted: str
    silent: Sequence[str]


class Table(NamedTuple):
    """One group of properties with the judges that speak about them; folded: nothing in it needs a look."""

    group: Group
    judges: Sequence[str]
    lines: Sequence[Line]
    folded: bool


def view(rows: Sequence[Verdict], evidence: Mapping[str, Mapping[str, Any]], coverage: Files = (), matrices: Files = (),
         comparisons: Files = ()) -> dict[str, Any]:
    """Arrange rows and evidence for the template; rows and all that counts them are without planted bugs.

    The same input gives the same view, in whatever folder or year it is made.
    """
    real, twins = grouping.split(rows)
    shown, planted = _shown(real, "v", evidence), _shown(twins, "p", evidence)
    judges = sorted({row.judge for row in real}, key=grouping.judge_order)
    drawn = exhibits([*shown, *planted], evidence)
    outcomes, missed = Counter(row.outcome for row in real), sum(not row.as_expected for row in twins)
    counts = Counter(map(words.standing, real))
    flaws: list[str] = []
    compared = _drawn(comparisons, COMPARED, lambda document: read(Comparison, document), flaws)
    title = f"{compared[0].change}: {compared[0].said}" if len(compared) == 1 else "; ".join(
        [*words.headlines(rows), _title(counts, missed, len(twins))])
    return {
        "title": title, "comparisons": compared, "counts": counts, "outcomes": outcomes, "signs": _signs(outcomes),
        "judges": judges, "concepts": sorted({one.concept for one in shown}), "kinds": grouping.kinds(real),
        "tables": _tables(shown, twins), "rows": shown,
        "attention": [one for one in [*shown, *planted] if not one.row.as_expected],
        "planted": planted, "missed": missed, "noticed": grouping.noticed(twins),
        "planted_exhibits": drawn.pop("planted"), **drawn,
        "hazards": _hazards(rows),
        "growths": [one for found in _drawn(coverage, COVERAGE, growths, flaws) for one in found],
        "matrices": _drawn(matrices, MATRIX, lambda document: read(Matrix, document), flaws), "flaws": flaws,
    }


def _hazards(rows: Sequence[Verdict]) -> list[Hazard]:
    """The hazards of the catalogue that violated rows name, as people count."""
    names = {name for row in rows if row.outcome is Outcome.VIOLATED for name in row.hazard}
    ordered = sorted(names, key=lambda name: (grouping.hazard_order([name]), name))
    return [one for one in grouping.hazards(ordered) if one.sentence]


def _signs(outcomes: Mapping[Outcome, int]) -> list[tuple[Outcome, str]]:
    """The outcomes that are counted, with their signs: the three of every judge, and others that occur."""
    always = {Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNKNOWN}
    return [(one, words.GLYPHS[one]) for one in Outcome if one in always or outcomes.get(one)]


def _title(counts: Mapping[str, int], missed: int, planted: int) -> str:
    """The worst that there is to say: what differs, then planted bugs that no judge saw, then what is unknown."""
    different, unknown, every = counts["different"], counts["unknown"], sum(counts.values())
    lost = f"{missed:,} of {planted:,} planted mutations not noticed" if missed else ""
    if different:
        said = f"{different:,} of {every:,} verdicts differ{'s' * (different == 1)} from what is expected"
        return f"{said}, {lost}" if missed else said
    if unknown:
        return f"{unknown:,} of {every:,} verdicts unknown, {lost or 'none wrong'}"
    return lost or ("The verdict is as expected" if every == 1 else f"All {every:,} verdicts are as expected")


def _drawn(files: Files, name: str, shape: Callable[[Any], T], flaws: list[str]) -> list[T]:
    """What can be drawn; for what cannot, a line in flaws."""
    drawn = []
    for folder, document in files:
        try:
            drawn.append(shape(document))
        except BadInputError as error:
            flaws.append(f"{folder}: {name} cannot be drawn ({error})")
    return drawn


def _shown(rows: Sequence[Verdict], prefix: str, evidence: Mapping[str, object]) -> list[Shown]:
    place = anchors(evidence)
    ordered = ((row, grouping.concept(row, own)) for own in grouping.by_property(rows).values() for row in own)
    return [Shown(row, f"{prefix}{at}", concept, place.get(row.evidence or ""),
                  row.evidence is not None and row.evidence not in evidence)
            for at, (row, concept) in enumerate(ordered, 1)]


def _tables(shown: Sequence[Shown], planted: Sequence[Verdict]) -> list[Table]:
    """One table for each group that occurs; the supporting facts are folded unless one of them needs a look."""
    properties = grouping.grouped(shown, lambda one: one.row.property)
    groups = grouping.grouped(properties.values(), lambda own: grouping.group(one.row for one in own))
    return [_table(group, groups[group], planted) for group in Group if group in groups]


def _table(group: Group, properties: Sequence[Sequence[Shown]], planted: Sequence[Verdict]) -> Table:
    every = [one.row for own in properties for one in own]
    judges = sorted({row.judge for row in every}, key=grouping.judge_order)
    lines = [_line(own, judges, [row for row in planted if row.property == own[0].row.property]) for own in properties]
    return Table(group, judges, lines, group is Group.SUPPORTING and all(row.as_expected for row in every))


def _line(own: Sequence[Shown], judges: Sequence[str], planted: Sequence[Verdict]) -> Line:
    name = own[0].row.property
    concepts = sorted({one.concept for one in own})
    excuses = BY_NAME[name].excuses if name in BY_NAME else ()
    return Line(name, concepts[0] if len(concepts) == 1 else f"{len(concepts)} concepts", name in RELIED_ON,
                {judge: [one for one in own if one.row.judge == judge] for judge in judges},
                grouping.noticed(planted) if planted else "", [one.sentence for one in excuses if not one.hazard])
