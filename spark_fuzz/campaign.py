"""A campaign: rounds of units on Spark, stored in a ledger, turned into verdict rows after each round.

What the units are about is the campaign's own business: it names them in order, does them, and reads verdicts from
their rows. Nothing here knows RocketMQ.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from invariants.verdict import Verdict
from spark_fuzz.cluster import Cluster, Watch
from spark_fuzz.ledger import Ledger
from spark_fuzz.plan import Rounds
from spark_fuzz.work import Row, Unit, Work


class Book(Protocol):
    """What a campaign has seen so far, and what follows from it."""

    def add(self, rows: Iterable[Row]) -> None:
        """Take the rows of units that are done or have failed; in any order, each unit once."""

    def inputs(self) -> int:
        """How many inputs were checked."""

    def verdicts(self) -> list[Verdict]:
        """The verdict rows, in a fixed order; those of equal units are equal, CPU time apart."""

    def evidence(self) -> Mapping[str, Mapping[str, Any]]:
        """The evidence that the verdicts name: {name below evidence/: document}."""


@dataclass(frozen=True)
class Campaign:
    """What is done.

    header -- says which campaign, seed and version the rows belong to; plain JSON values.
    columns -- what the work's rows hold: {name: "string", "long" or "binary"}.
    first -- units that are done in any case, whatever the time; few and cheap. units -- the others, in order; may be
    endless.
    work -- from a unit to its rows; imported by workers, so a plain function of a module.
    book -- from rows to verdicts.
    """

    header: Mapping[str, Any]
    columns: Mapping[str, str]
    first: Sequence[Unit]
    units: Iterable[Unit]
    work: Work
    book: Book


@dataclass(frozen=True)
class Progress:
    """Where a campaign is after a round.

    rounds -- done in this run. units, inputs -- done, those of earlier runs too. inputs_now -- inputs of this run.
    seconds -- since the first round began.
    verdicts -- the rows so far.
    """

    rounds: int
    units: int
    inputs: int
    inputs_now: int
    seconds: float
    verdicts: list[Verdict]


def run(
    campaign: Campaign, cluster: Cluster, ledger: Ledger, seconds: float, *, limit: int | None = None,
    watch: Watch | None = None,
) -> Iterator[Progress]:
    """Go on with the campaign that the ledger holds; after each round its folder holds all that was found.

    The first report, before any round, is about what was stored already.
    seconds -- wall time from now on. limit -- at most so many units in this run. watch -- told about units in a round.
    Raises what Cluster.run_units and Ledger.add raise.
    """
    campaign.book.add(ledger.rows())
    before, began = campaign.book.inputs(), time.monotonic()
    first = [unit for unit in campaign.first if unit.id not in ledger.done]
    others = (unit for unit in campaign.units if unit.id not in ledger.done)
    rounds = Rounds(islice(itertools.chain(first, others), limit), cluster.cores, seconds, least=len(first))
    for number, batch in enumerate(itertools.chain([[]], rounds)):
        campaign.book.add(ledger.add(cluster.run_units(batch, campaign.work, watch)) if batch else [])
        verdicts = _stored(campaign.book, ledger)
        inputs, spent = campaign.book.inputs(), time.monotonic() - began
        yield Progress(number, len(ledger.done), inputs, inputs - before, spent, verdicts)


def _stored(book: Book, ledger: Ledger) -> list[Verdict]:
    verdicts = book.verdicts()
    for name, document in book.evidence().items():
        ledger.write_evidence(name, document)
    ledger.write_verdicts(verdicts)
    return verdicts
