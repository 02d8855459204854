"""`python -m stateful_tests.conformance.tlc`: the models in TLC, the model checker of TLA+ (part of `make interop`)."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from invariants.front_desk.desk import Desk
from invariants.front_desk.interrupt import start
from invariants.front_desk.options import Json, Out, desk_app, examples
from stateful_tests.conformance.tlc.run import TIMEOUT_S

CORES = os.cpu_count() or 1
app = desk_app()


@app.command(epilog=examples(
    "python -m stateful_tests.conformance.tlc", 'python -m stateful_tests.conformance.tlc "order lock" --json -'))
def compare(
    scope: Annotated[list[str] | None, typer.Argument(
        metavar="SCOPE", show_default=False,
        help="Named scopes, or the beginning of their names; default: all that take seconds.")] = None,
    timeout_s: Annotated[float, typer.Option("--timeout-s", min=1, help="Of each run of TLC.")] = TIMEOUT_S,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Scopes at once; default: one a core.")] = CORES,
    json: Json = None, out: Out = None,
) -> None:
    """Compare the explorer with TLC: counts and verdicts of scopes.

    Exit status: 0 they agree, 1 they differ, 2 bad input, 3 TLC did not say everything.
    """
    from stateful_tests.conformance.tlc.verdicts import agreements

    with Desk(json, stream=True) as desk:
        desk.judge("conform", agreements(scope or [], timeout_s=timeout_s, jobs=jobs, out=out))


if __name__ == "__main__":
    start(app)
