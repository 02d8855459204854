"""`python -m model.tla`: concepts and scopes as TLA+ modules (`rocketproof export tla`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from invariants.front_desk.interrupt import start
from invariants.front_desk.options import desk_app, examples

OUT = Path("out") / "tla"
EXAMPLES = examples(
    "rocketproof export tla", "rocketproof export tla OrderLock",
    'rocketproof export tla "group 1,2,2" --out specs', "rocketproof export tla lease.py")


def export_tla(
    names: Annotated[list[str] | None, typer.Argument(
        metavar="[CONCEPT|SCOPE]", show_default=False,
        help="Concepts (OrderLock, order_lock), scopes or the beginning of their names; default: all.")] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the modules.")] = OUT,
) -> None:
    """Write concepts as TLA+ modules, and scopes as modules and configurations for TLC.

    FILE.py as the first name: the concepts and scopes of a file of your own (`rocketproof new concept`).
    """
    from invariants.exporting import export_file, export_named
    from invariants.front_desk.desk import guarded

    def written() -> None:
        chosen = names or []
        own = bool(chosen) and chosen[0].endswith(".py")
        for path in export_file(Path(chosen[0]), chosen[1:], out) if own else export_named(chosen, out):
            print(path)

    guarded(written)


app = desk_app()
app.command(epilog=EXAMPLES)(export_tla)


if __name__ == "__main__":
    start(app)
