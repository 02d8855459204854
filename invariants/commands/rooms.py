"""The commands of other rooms, under the names that they have at the front desk."""

from __future__ import annotations

from invariants.front_desk.options import desk_app
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

export_app = desk_app(help="Write the models for other tools.")
export_app.callback()(lambda: None)
export_app.command("tla", epilog=exporter.EXAMPLES)(exporter.export_tla)
