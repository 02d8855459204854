"""The campaign about decisions as one call, for the front desk."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path

from invariants.verdict import BadInputError, Verdict
from spark_fuzz import decisions
from spark_fuzz.campaign import Campaign, run
from spark_fuzz.cluster import Cluster, ClusterLostError, open_cluster
from spark_fuzz.findings import Findings
from spark_fuzz.ledger import open_ledger
from spark_fuzz.progress import Screen


def campaign_decisions(  # noqa: PLR0913 - one parameter for each thing that a command can say
    minutes: float, master: str = "local[*]", out: Path | None = None, seed: int = 0, *,
    table: str = decisions.TABLE, limit: int | None = None, cluster: Cluster | None = None,
    screen: Screen | None = None,
) -> Iterator[Verdict]:
    """A verdict for each strategy, family of inputs and property; from what was found so far when it ends early.

    minutes -- wall time of the work itself; Spark's start comes on top.
    master -- of Spark: local[*], local[n], or any other, unchanged.
    out -- folder of rows, evidence and verdicts.jsonl; the same folder goes on where it stopped. None: a folder below
    `out` that is named by version and seed.
    seed -- of the random inputs. table -- "module:NAME" of the strategies. limit -- at most so many units.
    cluster -- a Spark that runs already; it stays. screen -- shows progress.
    After the verdicts it raises what ended it early: BadInputError, ClusterLostError or KeyboardInterrupt.
    """
    if not (math.isfinite(minutes) and minutes > 0):
        raise BadInputError(f"--minutes {minutes}: give a number above 0, as 0.5")
    decisions.subjects(table)  # refuses a table that is none
    folder = out or default_folder(seed, table)
    campaign = _campaign(table, seed, folder)
    screen = screen or Screen(silent=True)
    started: AbstractContextManager[Cluster] = nullcontext(cluster) if cluster is not None else open_cluster(master)
    verdicts: list[Verdict] = []
    ended: BaseException | None = None
    try:
        with open_ledger(folder, campaign.header, campaign.columns) as ledger, screen.shown(), started as spark:
            for reached in run(campaign, spark, ledger, minutes * 60, limit=limit, watch=screen.within_round):
                verdicts = reached.verdicts
                screen.after_round(reached, minutes * 60)
    except (BadInputError, ClusterLostError, KeyboardInterrupt) as reason:
        ended = reason
    yield from verdicts
    if ended is not None:
        raise ended


def default_folder(seed: int, table: str = decisions.TABLE) -> Path:
    """Where a campaign is stored unless it is told: other code and another seed never meet."""
    return Path("out") / f"campaign-decisions-{decisions.version(table)}-{seed}"


def _campaign(table: str, seed: int, folder: Path) -> Campaign:
    header = {
        "campaign": f"decisions of {table}", "seed": seed, "version": decisions.version(table),
        "python": ".".join(map(str, sys.version_info[:2])),
    }
    first = decisions.first(table)
    grid = (unit for unit in decisions.grid(table) if unit not in first)
    others = chain(grid, decisions.endless(seed, table))
    return Campaign(header, decisions.COLUMNS, first, others, decisions.work, Findings(table, seed, folder))
