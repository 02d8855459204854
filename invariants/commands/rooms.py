"""The commands of other rooms, under the names that they have at the front desk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from invariants.front_desk.desk import guarded
from invariants.front_desk.options import desk_app, examples
from invariants.front_desk.skeletons import write_change, write_strategy
from model import __main__ as explorer
from model.tla import __main__ as exporter
from proofs import __main__ as prover
from spark_fuzz import front_desk as campaigning
from stateful_tests.machines import __main__ as machines

app = desk_app()


app.command("explore", epilog=explorer.EXAMPLES)(explorer.explore)
app.command("prove", epilog=prover.EXAMPLES)(prover.prove)
app.command("machine", epilog=machines.EXAMPLES)(machines.machine)
app.command("campaign", epilog=campaigning.CAMPAIGN)(campaigning.campaign)
app.command("compare", epilog=campaigning.COMPARE)(campaigning.compare)
app.command("kill-matrix", epilog=campaigning.KILL_MATRIX)(campaigning.kill_matrix)

new_app = desk_app(help="Write a file to begin with.")
new_app.callback()(lambda: None)
new_app.command("concept", epilog=explorer.NEW)(explorer.new_concept)


@new_app.command("change", epilog=examples("rocketproof new change my_change.py"))
def new_change(file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, NAME.py.")]) -> None:
    """Write a small change of RocketMQ that runs, to begin your own with."""
    guarded(lambda: print(f"{file}: {write_change(file)}"))


@new_app.command("strategy", epilog=examples("rocketproof new strategy my_strategy.py"))
def new_strategy(file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, NAME.py.")]) -> None:
    """Write a small allocation strategy that runs, to begin your own with."""
    guarded(lambda: print(f"{file}: {write_strategy(file)}"))


export_app = desk_app(help="Write the models for other tools.")
export_app.callback()(lambda: None)
export_app.command("tla", epilog=exporter.EXAMPLES)(exporter.export_tla)
