"""A campaign: rounds of units on Spark, stored in a ledger, turned into verdict rows after each round.

What the units are about is the campaign's own business: it names them in order, does them, and reads verdicts from
their rows. Nothing here knows RocketMQ.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    endless. None among them: what follows depends on the rows of all that came before, so a round ends there.
    work -- from a unit to its rows; imported by workers, so a plain function of a module.
    book -- from rows to verdicts.
    questions -- units without which the rows so far are not to be believed; done after each round, whatever the time.
    files -- what the folder holds for people: {path below the folder: text}; written after each round.
    noun -- what inputs are called. least -- how many units are done in any case, the stored ones too.
    """

    header: Mapping[str, Any]
    columns: Mapping[str, str]
    first: Sequence[Unit]
    units: Iterable[Unit | None]
    work: Work
    book: Book
    questions: Callable[[], Iterable[Unit]] = tuple
    files: Callable[[], Mapping[str, str]] = dict
    noun: str = "inputs"
    least: int = 0


@dataclass(frozen=True)
class Progress:
    """Where a campaign is after a round.

    rounds -- done in this run. units, inputs -- done, those of earlier runs too. inputs_now -- inputs of this run.
    seconds -- since the first round began.
    verdicts -- the rows so far. noun -- what inputs are called.
    """

    rounds: int
    units: int
    inputs: int
    inputs_now: int
    seconds: float
    verdicts: list[Verdict]
    noun: str = "inputs"


def run(
    campaign: Campaign, cluster: Cluster, ledger: Ledger, seconds: float, *, limit: int | None = None,
    watch: Watch | None = None,
) -> Iterator[Progress]:
    """Go on with the campaign that the ledger holds; after each round its folder holds all that was found.

    The first report, before any round, is about what was stored already.
    seconds -- wall time from now on. limit -- at most so many units in this run. watch -- told about units in a round.
    Raises what Cluster.run_units and Ledger.add raise.
    """
    book = campaign.book
    book.add(ledger.rows())
    before, began = book.inputs(), time.monotonic()
    first = [unit for unit in campaign.first if unit.id not in ledger.done]
    others = (unit for unit in campaign.units if unit is None or unit.id not in ledger.done)
    least = max(len(first), campaign.least - len(ledger.done))
    rounds = Rounds(_at_most(itertools.chain(first, others), limit), cluster.cores, seconds, least=least)
    asked: set[str] = set()
    for number, batch in enumerate(itertools.chain([[]], rounds)):
        _do(batch, campaign, cluster, ledger, watch)
        while questions := [one for one in campaign.questions() if one.id not in ledger.done | asked]:
            asked |= {one.id for one in questions}
            _do(questions, campaign, cluster, ledger, watch)
        verdicts = _stored(campaign, ledger)
        inputs, spent = book.inputs(), time.monotonic() - began
        yield Progress(number, len(ledger.done), inputs, inputs - before, spent, verdicts, campaign.noun)


def _at_most(units: Iterable[Unit | None], limit: int | None) -> Iterator[Unit | None]:
    """The units up to the limit."""
    left = math.inf if limit is None else limit
    for unit in units if left > 0 else ():
        yield unit
        left -= unit is not None
        if left <= 0:
            return


def _do(units: Sequence[Unit], campaign: Campaign, cluster: Cluster, ledger: Ledger, watch: Watch | None) -> None:
    if units:
        campaign.book.add(ledger.add(cluster.run_units(units, campaign.work, watch)))


def _stored(campaign: Campaign, ledger: Ledger) -> list[Verdict]:
    verdicts = campaign.book.verdicts()
    for name, document in campaign.book.evidence().items():
        ledger.write_evidence(name, document)
    for name, text in campaign.files().items():
        ledger.write_text(name, text)
    ledger.write_verdicts(verdicts)
    return verdicts
