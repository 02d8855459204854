"""`rocketproof`: one command for the judges of all rooms. `invariants/commands` has its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from invariants.commands import catalogue, check, conform, evidence, histories, new, rooms, stores, verify
from invariants.front_desk.interrupt import start
from invariants.front_desk.options import desk_app, examples

app = desk_app(help="""Does what Apache RocketMQ 4.9.3 promises hold? Ask `verify`; the catalogue is `list`.

Exit status of every command: 0 every outcome is as expected, 1 some outcome differs, 2 bad input, 3 some is unknown.
""", epilog=examples("rocketproof verify", "rocketproof list", "rocketproof verify one_owner_per_queue"),
               add_completion=True)


def print_version(asked: bool) -> None:
    """Print the version, and end; if it is asked for."""
    if asked:
        from importlib import metadata

        print(f"rocketproof {metadata.version('rocketproof')}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[bool, typer.Option(
        "--version", help="Print the version, and end.", is_eager=True, callback=print_version)] = False,
) -> None:
    """Options of rocketproof itself."""
    del version


for commands in (catalogue, verify, rooms, conform, stores, histories, evidence):
    app.add_typer(commands.app)
app.add_typer(check.app, name="check")
app.add_typer(new.app, name="new")
app.add_typer(rooms.export_app, name="export")


def main() -> None:
    """Entry point."""
    start(app)


if __name__ == "__main__":
    main()
