"""Verdict rows about scopes: `agrees_with_tlc`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.exploring import scopes
from invariants.verdict import Outcome, Subject, Verdict
from model.scopes import NamedScope
from stateful_tests.conformance.tlc.compare import Comparison, compared
from stateful_tests.conformance.tlc.run import TIMEOUT_S

AGREES = "agrees_with_tlc"


def agreements(
    names: Sequence[str] = (), *, timeout_s: float = TIMEOUT_S, jobs: int = 1, out: Path | None = None,
    heavy: bool = False,
) -> Iterator[Verdict]:
    """A row for each scope of these names, all that take seconds without names; large ones first.

    timeout_s -- of each run of TLC. jobs -- so many scopes at once. out -- folder for evidence. Raises BadInputError
    for an unknown scope, and when there is no Java or no TLC.
    """
    chosen = sorted(scopes(names, heavy=heavy), key=lambda named: -named.states)
    pool = ThreadPoolExecutor(jobs)
    try:
        comparisons = pool.map(lambda one: compared(one, timeout_s=timeout_s), chosen)
        for named, comparison in zip(chosen, comparisons, strict=True):
            yield verdict(named, comparison, out)
    finally:
        pool.shutdown(cancel_futures=True)


def verdict(named: NamedScope, comparison: Comparison, out: Path | None = None) -> Verdict:
    """The row of one scope: violated where the two differ, unknown where TLC has not said everything."""
    different = comparison.differing
    outcome = Outcome.VIOLATED if different else Outcome.UNKNOWN if comparison.unknown else Outcome.HOLDS
    note = "; ".join(f"{one.name}: explore says {one.explored}, TLC {one.checked}" for one in different)
    details: dict[str, Any] = {"concept": named.scope.concept.name, "against": comparison.version or "TLC"}
    if comparison.skipped:
        details["not compared"] = comparison.skipped
    row = Verdict(AGREES, "conform", Subject("model", named.name, details), Outcome.HOLDS, outcome,
                  f"python -m stateful_tests.conformance.tlc {shlex.quote(named.name)}", cost=_cost(comparison),
                  note=note or comparison.unknown)
    return row if out is None else _saved(row, comparison, out)


def _cost(comparison: Comparison) -> dict[str, float]:
    cost: dict[str, float] = {"compared": sum(one.known for one in comparison.judged),
                              "different": len(comparison.differing), "runs": comparison.runs,
                              "seconds": round(comparison.seconds, 1)}
    found = comparison.found
    if found is not None:
        cost |= {"states": found.states, "transitions": found.transitions, "depth": found.depth}
    return cost


def _saved(row: Verdict, comparison: Comparison, out: Path) -> Verdict:
    """The row with a table of everything that was compared as its evidence."""
    rows = [[one.name, one.explored, one.checked] for one in comparison.judged]
    slug = "-".join("".join(c if c.isalnum() else " " for c in f"tlc {row.subject.name}").split())
    sentence = row.note or f"The explorer and TLC agree about {row.subject.name}."
    document = evidence.document(
        row, "counterexample", sentence, outcome=row.outcome, arguments={"scope": row.subject.name},
        results={name: theirs for name, _, theirs in rows}, table={"columns": ["", "explore", "TLC"], "rows": rows})
    return evidence.saved(row, document, out, slug)
