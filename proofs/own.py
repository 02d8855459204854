"""Proofs of concepts of a user's own: `rocketproof prove FILE.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from invariants.verdict import BadInputError, Verdict
from model.language import Misuse, Property
from model.language.own import OwnFile, load
from proofs.dump import dumped
from proofs.prove import Prover, provable
from proofs.solvers import prover_of, replayed_by


def opened(path: Path) -> OwnFile:
    """What a file declares; raises BadInputError with the place and the cure."""
    try:
        return load(path)
    except Misuse as error:
        raise BadInputError(str(error)) from error


def chosen(own: OwnFile, path: Path, names: Sequence[str]) -> list[Property]:
    """Its properties of these names that can be proved, all without names; raises BadInputError if there are none."""
    declared = [p for concept in own.concepts for p in concept.properties.values()]
    for name in names:
        if name not in {p.name for p in declared}:
            known = ", ".join(p.name for p in declared)
            raise BadInputError(f"{path} has no property {name}; it has {known or 'none'}")
    wanted = [p for p in declared if provable(p) and (not names or p.name in names)]
    if not wanted:
        raise BadInputError(f"{path}: nothing to prove; declare an @always, a @step or a @lemma that holds, or hold it "
                            "under premises (given=…)")
    return wanted


def proved(  # noqa: PLR0913, PLR0917 - the options of the command
    own: OwnFile, path: Path, wanted: Sequence[Property], seeds: Sequence[int], timeout_ms: int, out: Path | None,
    solver: str = "z3", dump: Path | None = None, cti: Path | None = None,
) -> Iterator[Verdict]:
    """Verdicts about these properties."""
    prover = Prover(seeds, timeout_ms, out, own.scopes, f"{replayed_by(solver)} {path}",
                    dumped(prover_of(solver, seeds, timeout_ms), dump), cti)
    yield from prover.judge(wanted)
