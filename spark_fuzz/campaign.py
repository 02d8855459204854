"""A campaign: units on Spark, rows in a ledger, verdicts from the rows.

What the units are about is the campaign's own business: it names them in order, does them, and reads verdicts from
their rows. Nothing here knows RocketMQ.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from invariants.verdict import Verdict
from spark_fuzz.cluster import Cluster
from spark_fuzz.crew import POLL_S, ClusterLostError, Crew
from spark_fuzz.feed import Feed
from spark_fuzz.flow import PLANNED, Flow
from spark_fuzz.ledger import Ledger
from spark_fuzz.work import Row, Unit, Work

STORE_S, STORE_MOST_S, STORES = 5.0, 30.0, 60
"""Rows are stored after so many seconds; in long campaigns more seldom, about so many times, so that files stay few."""

Watch = Callable[[int], None]
"""Called several times a second while units are done, with the number of those that are, in all runs."""


class Book(Protocol):
    """What a campaign has seen so far, and what follows from it."""

    def add(self, rows: Iterable[Row]) -> None:
        """Take the rows of units that are done or have failed, in the order of the plan, each unit once."""

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
    endless. An int among them: what follows depends on the rows of so many of them (`feed`).
    work -- from a unit to its rows; imported by workers, so a plain function of a module.
    book -- from rows to verdicts.
    questions -- units without which the rows so far are not to be believed; they come before all others. wishes --
    units that only make what was found nicer; they get a share of the time. settle -- does a short piece of what this
    process must do before what was found is believed; False if there is none.
    files -- what the folder holds for people: {path below the folder: text}; written with the verdicts.
    noun -- what inputs are called. least -- how many units are done in any case, the stored ones too. so_far -- what
    was found up to now, in a few words; empty: it has none. given_up -- whether no unit more makes sense, also of those
    that are done in any case.
    """

    header: Mapping[str, Any]
    columns: Mapping[str, str]
    first: Sequence[Unit]
    units: Iterable[Unit | int]
    work: Work
    book: Book
    questions: Callable[[], Iterable[Unit]] = tuple
    wishes: Callable[[], Iterable[Unit]] = tuple
    settle: Callable[[], bool] = bool
    files: Callable[[], Mapping[str, str]] = dict
    noun: str = "inputs"
    least: int = 0
    so_far: Callable[[], str] = str
    given_up: Callable[[], bool] = bool


@dataclass(frozen=True)
class Progress:
    """Where a campaign is when its rows have been stored.

    units, inputs -- done, those of earlier runs too. inputs_now -- inputs of this run.
    seconds -- since the first unit was given.
    verdicts -- the rows so far. noun, so_far -- as of Campaign. worked_s -- wall time in units of this run, by kind.
    """

    units: int
    inputs: int
    inputs_now: int
    seconds: float
    verdicts: list[Verdict]
    noun: str = "inputs"
    worked_s: Mapping[str, float] = field(default_factory=dict)
    so_far: str = ""


def run(
    campaign: Campaign, cluster: Cluster, ledger: Ledger, seconds: float, *, limit: int | None = None,
    watch: Watch | None = None,
) -> Iterator[Progress]:
    """Go on with the campaign that the ledger holds; at each report its folder holds all that was found.

    The first report, before any work, is about what was stored already.
    seconds -- wall time from now on. limit -- at most so many units in this run. watch -- called while units are done.
    Raises what Crew.take and Ledger.add raise.
    """
    with cluster.crew(campaign.work) as crew:
        yield from _Running(campaign, cluster, crew, ledger, seconds, limit).reports(watch or (lambda _: None))


class _Running:
    """A run of a campaign."""

    def __init__(
        self, campaign: Campaign, cluster: Cluster, crew: Crew, ledger: Ledger, seconds: float, limit: int | None,
    ) -> None:
        self._campaign, self._crew, self._ledger = campaign, crew, ledger
        self._before: int | None = None
        self._kept: list[Row] = []
        self._former = ledger.rows()
        first = sum(unit.id not in ledger.done for unit in campaign.first)
        least = max(first, campaign.least - len(ledger.done), 1)
        units = itertools.chain(campaign.first, campaign.units)
        self._feed = Feed(units, self._take, stored=self._former, limit=limit, given_up=campaign.given_up)
        self._flow = Flow(
            self._feed, lambda: cluster.cores, seconds, least=least if limit is None else min(least, limit),
            questions=campaign.questions, wishes=campaign.wishes, stored=ledger.done)

    def reports(self, watch: Watch) -> Iterator[Progress]:
        """Work, store and tell, until nothing is left or time is over; what was stored before is told first."""
        try:
            yield from self._worked_and_told(watch)
        except (KeyboardInterrupt, ClusterLostError):
            yield self._stored()
            raise

    def _worked_and_told(self, watch: Watch) -> Iterator[Progress]:
        self._give()
        yield self._stored()
        stored_s = 0.0
        while self._worked():
            watch(len(self._ledger.done) + len({row["unit"] for row in self._kept}))
            if self._kept and self._flow.spent_s - stored_s >= _pause_s(stored_s):
                yield self._stored()
                stored_s = self._flow.spent_s
        self._feed.end()
        yield self._stored()

    def _worked(self) -> bool:
        """Whether there was something to do, or to wait for."""
        self._give()
        settled = not self._flow.over and self._campaign.settle()
        if self._flow.over or not (settled or self._crew.inside):
            return False
        for done in self._crew.take(0.0 if settled else POLL_S):
            self._flow.took(done)
            for one in done.attempted:
                self._kept += one.rows
                if done.task.kind == PLANNED:
                    self._feed.done(one.unit, one.rows)
                else:
                    self._take(one.rows)
        return True

    def _give(self) -> None:
        for task in self._flow.tasks():
            self._crew.give(task)

    def _take(self, rows: Sequence[Row]) -> None:
        """Rows of the plan, in its order, or answers; and what a former run has answered about them."""
        book = self._campaign.book
        book.add(rows)
        for source in (self._campaign.questions, self._campaign.wishes):
            while self._former and (known := next((unit for unit in source() if unit.id in self._former), None)):
                book.add(self._former.pop(known.id))

    def _stored(self) -> Progress:
        if self._kept:
            self._ledger.add(self._kept)
            self._kept = []
        book, verdicts = self._campaign.book, self._campaign.book.verdicts()
        for name, document in book.evidence().items():
            self._ledger.write_evidence(name, document)
        for name, text in self._campaign.files().items():
            self._ledger.write_text(name, text)
        self._ledger.write_verdicts(verdicts)
        inputs = book.inputs()
        self._before = inputs if self._before is None else self._before
        return Progress(len(self._ledger.done), inputs, inputs - self._before, self._flow.spent_s, verdicts,
                        self._campaign.noun, dict(self._flow.worked_s), self._campaign.so_far())


def _pause_s(spent_s: float) -> float:
    """How long rows may wait to be stored; the first ones do not."""
    return min(STORE_MOST_S, max(STORE_S, spent_s / STORES)) if spent_s else 0.0
