"""The command `new`: files that run as they are, to begin one's own with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from invariants.front_desk.options import desk_app, examples
from model import __main__ as explorer

app = desk_app(help="Write a file to begin with.")
app.command("concept", epilog=explorer.NEW)(explorer.new_concept)


@app.command("change", epilog=examples("rocketproof new change my_change.py"))
def new_change(file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, NAME.py.")]) -> None:
    """Write a small change of RocketMQ that runs, to begin your own with."""
    from invariants.front_desk.desk import guarded
    from invariants.front_desk.skeletons import write_change

    guarded(lambda: print(f"{file}: {write_change(file)}"))


@app.command("strategy", epilog=examples("rocketproof new strategy my_strategy.py"))
def new_strategy(file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, NAME.py.")]) -> None:
    """Write a small allocation strategy that runs, to begin your own with."""
    from invariants.front_desk.desk import guarded
    from invariants.front_desk.skeletons import write_strategy

    guarded(lambda: print(f"{file}: {write_strategy(file)}"))
