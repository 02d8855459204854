"""Recordings as a judge of variants: whether one answers otherwise than the real RocketMQ 4.9.3 did."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from impl.variants.subjects import SHIPPED
from invariants.runs import CONFORM, OF_KIND, outcome_of
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.conformance.judge import RECORDINGS, conform
from stateful_tests.worlds.subjects import Subject as Judged, subject_named, subject_on


def judged(
    variant: str, base: str | None, vectors: Path = RECORDINGS, files: Sequence[str] = (),
    progress: Callable[[Path, int], None] = lambda _path, _rows: None,
) -> Verdict:
    """The row of a variant as a whole.

    A file tells of the variant if it differs with the variant and holds on its base.
    variant -- a planted bug of the catalogue, or a file. base -- what it lies on; None: 4.9.3 as shipped, of which the
    recordings are. vectors, files, progress -- see `judge.conform`.
    Raises BadInputError for a repair: it is there to differ from what was recorded.
    """
    known = subject_named(subject_on(base or SHIPPED, variant))
    if known.kind == "repair":
        raise BadInputError(f"{known.title} is a repair: it differs on purpose from 4.9.3 as shipped, of which the "
                            "recordings are; ask `rocketproof campaign --variant` instead")
    with known.telling_mistakes(), known.running() as calls:
        rows = list(conform(vectors, files, progress=progress))
    differing = [row for row in rows if row.outcome is not Outcome.HOLDS]
    worse = _kept_by_base(known, vectors, differing)
    command = ["rocketproof", "conform", "--variant", variant, *(["--base", base] if base else []),
               *(["--vectors", str(vectors)] if vectors != RECORDINGS else [])]
    first = worse[:1] or [row for row in differing if row.outcome is Outcome.UNKNOWN][:1]
    named = [word for name in ([row.subject.name for row in first] or files) for word in ("--file", name)]
    outcome, note = _said(known, rows, worse, calls)
    return Verdict(
        OF_KIND[str(known.kind)], CONFORM, Subject("variant", known.title, {"file": known.file} if known.file else {}),
        Outcome.HOLDS, outcome, shlex.join([*command, *named]), note=note,
        cost={"files": len(rows), "rows": sum(int(row.cost["rows"]) for row in rows),
              "different": sum(int(row.cost["different"]) for row in worse)})


def _kept_by_base(known: Judged, vectors: Path, differing: Sequence[Verdict]) -> list[Verdict]:
    """The rows of those files that the base answers as they were recorded."""
    violated = [row for row in differing if row.outcome is Outcome.VIOLATED]
    if not violated:
        return []
    with subject_named(str(known.base)).running():
        base = {row.subject.name: row.outcome for row in conform(vectors, [row.subject.name for row in violated])}
    return [row for row in violated if base[row.subject.name] is Outcome.HOLDS]


def _said(
    known: Judged, rows: Sequence[Verdict], worse: Sequence[Verdict], calls: dict[str, int],
) -> tuple[Outcome, str]:
    """The outcome, and why."""
    replaced = ", ".join([*(f"{place} ({count:,} calls)" for place, count in calls.items()), *known.uncounted])
    outcome, note = outcome_of(str(known.kind), broken=bool(worse)), f"no file of {len(rows)} differs"
    if worse:
        note = f"{', '.join(row.subject.name for row in worse)} differ{'s' if len(worse) == 1 else ''}: {worse[0].note}"
    elif unknown := [row for row in rows if row.outcome is Outcome.UNKNOWN]:
        outcome, note = Outcome.UNKNOWN, f"{unknown[0].subject.name}: {unknown[0].note}"
    elif not (sum(calls.values()) or known.uncounted):
        outcome = Outcome.NEVER_EXECUTED
    return outcome, f"{note}; replaced: {replaced or 'nothing'}"
