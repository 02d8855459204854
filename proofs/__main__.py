"""`python -m proofs`: proofs without bounds in Z3, of protocols and of decisions (`rocketproof prove`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from invariants.front_desk.interrupt import start
from invariants.front_desk.options import Json, Names, Out, Property, Seed, desk_app, examples, judging

if TYPE_CHECKING:
    from invariants.front_desk.catalogue import Chosen
    from invariants.front_desk.desk import Desk
    from invariants.verdict import Verdict
    from model.language import Property as Declared

SEEDS, TIMEOUT_MS = 5, 5_000
EXAMPLES = examples(
    "rocketproof prove",
    "rocketproof prove one_live_believer membership_change_reaches_all",
    "rocketproof prove allocation_is_exclusive --seeds 20",
    "rocketproof prove --timeout-ms 60000 --json -",
    "rocketproof prove --solver cvc5",
    "rocketproof prove --explain one_live_believer",
    "rocketproof prove lease.py",
)


@judging
def prove(  # noqa: PLR0913, PLR0917 - one parameter for each option
    names: Names = None,
    property: Property = None,  # noqa: A002 - the name of the option
    seeds: Annotated[int, typer.Option(
        min=1, help="Solver seeds: every obligation is proved with each of them.")] = SEEDS,
    timeout_ms: Annotated[int, typer.Option(
        min=1, help="For each question about a protocol; what the solver has not answered by then is unknown.",
    )] = TIMEOUT_MS,
    solver: Annotated[Literal["z3", "cvc5"], typer.Option(
        help="Who proves; cvc5 is an independent second opinion (pip install 'rocketproof\\[cvc5]').")] = "z3",
    dump: Annotated[Path | None, typer.Option(
        metavar="DIR", help="Write each obligation as an SMT-LIB file with readable names.")] = None,
    explain: Annotated[bool, typer.Option(
        "--explain", help="Say what each proof of a protocol leans on: premises, lemmas, guards.")] = False,
    cti: Annotated[Path | None, typer.Option(
        file_okay=False, help="A folder for counterexamples to induction. States there that runs have visited "
                              "(`rocketproof steer`) are asked before the solver is.")] = None,
    seed: Seed = 0, json: Json = None, out: Out = None,
) -> None:
    """Prove properties for any size and any timing.

    Protocols by induction, decisions path by path. Every proof is checked against vacuity, and must fail for mutations
    of what it is about. FILE.py as the first name: the concepts of a file of your own (`rocketproof new concept`).

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, out=out) as desk:
        from invariants.concepts import PROPERTIES
        from invariants.front_desk import catalogue
        from invariants.verdict import BadInputError

        wanted = [*(names or []), *(property or [])]
        if wanted and wanted[0].endswith(".py"):
            from proofs import own

            path = Path(wanted.pop(0))
            file = own.opened(path)
            claims = own.chosen(file, path, wanted)
            seeds_used = range(seed, seed + seeds)
            rows = own.proved(file, path, claims, seeds_used, timeout_ms, out, solver, dump, cti)
            declared = {one.name: one for one in claims}
            desk.judge("prove", explained(desk, rows, declared, None) if explain else rows, len(claims))
            return
        chosen = catalogue.chosen(wanted)
        total = provable(chosen)
        if not total:
            raise BadInputError(f"no proof is claimed of {', '.join(wanted)}; "
                                f"`rocketproof show {wanted[0]}` says who judges it")
        rows = proved(chosen, range(seed, seed + seeds), timeout_ms, out, solver, dump, cti)
        desk.judge("prove", explained(desk, rows, PROPERTIES, out) if explain else rows, total)


def explained(
    desk: Desk, rows: Iterator[Verdict], declared: Mapping[str, Declared], out: Path | None,
) -> Iterator[Verdict]:
    """The rows; at the end the desk says what each proof leans on."""
    from proofs.explain import with_reasons

    return with_reasons(rows, declared, desk.closing.append, out)


def provable(chosen: Chosen) -> int:
    """How many of the chosen properties and claims have a proof."""
    from invariants.concepts import PROPERTIES
    from invariants.front_desk import catalogue

    return len(chosen.claims) + sum(catalogue.provable(PROPERTIES[name]) for name in chosen.protocol)


def proved(
    chosen: Chosen, seeds: Sequence[int] = range(SEEDS), timeout_ms: int = TIMEOUT_MS, out: Path | None = None,
    solver: str = "z3", dump: Path | None = None, cti: Path | None = None,
) -> Iterator[Verdict]:
    """Verdicts of both provers, protocols first; raises BadInputError for an unknown name."""
    import z3

    from invariants.concepts import PROPERTIES
    from proofs.decisions import prove_decisions
    from proofs.dump import dumped
    from proofs.prove import Prover
    from proofs.solvers import of_paths, prover_of, replayed_by

    z3.set_param("ctrl_c", False)  # Z3 would take Ctrl-C for itself, and go on with the next question
    prover = Prover(seeds, timeout_ms, out, solver=dumped(prover_of(solver, seeds, timeout_ms), dump),
                    replay=replayed_by(solver), cti=cti)
    yield from prover.judge(PROPERTIES[name] for name in chosen.protocol)
    if chosen.claims:
        found = prove_decisions(chosen.claims, seeds=seeds, out=out, solver=of_paths(solver), dump=dump)
        yield from (replace(row, replay=row.replay.replace(replayed_by("z3"), replayed_by(solver))) for row in found)


app = desk_app()
app.command(epilog=EXAMPLES)(prove)


def main() -> None:
    """Entry point."""
    start(app)


if __name__ == "__main__":
    main()
