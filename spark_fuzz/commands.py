"""Each campaign as one call, for the front desk."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any

from invariants.runs import CHANGED, NOTICED, OF_KIND, REACHED, SAME_RUN, WITHIN
from invariants.verdict import BadInputError, Outcome, Verdict
from spark_fuzz import crash_plan, decisions, hunts, pairing, pairs, runs, simulation
from spark_fuzz.asked import USUAL, Asked
from spark_fuzz.campaign import Campaign, run
from spark_fuzz.cluster import Cluster, open_cluster
from spark_fuzz.comparing import Comparing
from spark_fuzz.confirmed import plain
from spark_fuzz.crash_book import CrashBook
from spark_fuzz.findings import Findings
from spark_fuzz.ledger import open_ledger
from spark_fuzz.matrix import Matrix, MatrixAim
from spark_fuzz.progress import Screen
from spark_fuzz.sightings import Sightings
from spark_fuzz.work import MistakeError
from stateful_tests.worlds.subjects import subject_named, subject_on

SPARK_ENDS_S = 0.3
"""Until JVM and workers are gone."""


def campaign_decisions(  # noqa: PLR0913 - one parameter for each thing that a command can say
    minutes: float, master: str = "local[*]", out: Path | None = None, seed: int = 0, *,
    table: str = decisions.TABLE, limit: int | None = None, cluster: Cluster | None = None,
    screen: Screen | None = None, properties: Sequence[str] = (),
) -> Iterator[Verdict]:
    """A verdict for each strategy, family of inputs and property; from what was found so far when it ends early.

    minutes -- wall time of all of it, Spark's start and end too.
    master -- of Spark: local[*], local[n], or any other, unchanged.
    out -- folder of rows, evidence and verdicts.jsonl; the same folder goes on where it stopped. None: a folder below
    `out` that is named by version and seed.
    seed -- of the random inputs. table -- "module:NAME" of the strategies. limit -- at most so many units.
    cluster -- a Spark that runs already; it stays. screen -- shows progress. properties -- only rows about these.
    After the verdicts it raises what ended it early: BadInputError, ClusterLostError, KeyboardInterrupt (SIGTERM too),
    or whatever was raised by a part that is wrong.
    """
    decisions.subjects(table)  # refuses a table that is none
    folder = out or default_folder(seed, table)
    campaign = _of_decisions(table, seed, folder, Asked(tuple(properties), minutes, master))
    return performed(campaign, folder, minutes, master, limit=limit, cluster=cluster, screen=screen)


def default_folder(seed: int, table: str = decisions.TABLE) -> Path:
    """Where a campaign is stored unless it is told: other code and another seed never meet."""
    return Path("out") / f"campaign-decisions-{decisions.version(table)}-{seed}"


def _of_decisions(table: str, seed: int, folder: Path, asked: Asked) -> Campaign:
    header = {"campaign": f"decisions of {table}", "seed": seed, "version": decisions.version(table), **_python()}
    first = decisions.first(table)
    grid = (unit for unit in decisions.grid(table) if unit not in first)
    others = chain(grid, decisions.endless(seed, table))
    return Campaign(header, decisions.COLUMNS, first, others, decisions.work, Findings(table, seed, folder, asked))


def campaign_worlds(
    minutes: float, aim: simulation.Aim, master: str = "local[*]", out: Path | None = None, *,
    cluster: Cluster | None = None, screen: Screen | None = None, properties: Sequence[str] = (),
) -> Iterator[Verdict]:
    """A verdict for each subject and property of simulated worlds; parameters as of campaign_decisions.

    aim -- what is searched. Raises, besides, BadInputError at once for a name in it that is none, and for a property
    that its worlds are not judged by.
    """
    aim = aim.checked()
    _check_judged(aim, properties)
    folder = out or worlds_folder(aim)
    campaign = of_worlds(aim, folder, Asked(tuple(properties), minutes, master))
    return performed(campaign, folder, minutes, master, cluster=cluster, screen=screen)


def _check_judged(aim: simulation.Aim, properties: Sequence[str]) -> None:
    of_runs = (SAME_RUN, WITHIN, CHANGED, *OF_KIND.values(), *([REACHED] if aim.wanted else ()))
    judged = {*of_runs, *(name for one in aim.workloads for name in runs.judged(one))}
    for name in properties:
        if name not in judged:
            raise BadInputError(f"--property {name}: no workload of this campaign is judged by it; "
                                f"`rocketproof show {name}` says who judges it")


def subjects_of(subjects: Sequence[str], variants: Sequence[str], base: str | None = None) -> tuple[str, ...]:
    """The subjects that people name, and those of the variants on their base; without any the control."""
    if base is not None and not variants:
        raise BadInputError(f"--base {base}: say with --variant what lies on it")
    named = [subject_named(one).name for one in subjects]
    return (*named, *(subject_on(base, one) for one in variants)) or (simulation.CONTROL,)


def worlds_folder(aim: simulation.Aim) -> Path:
    """Where a campaign over worlds is stored unless it is told."""
    name = "-".join(plain(subject_named(subject).title)[-40:] for subject in aim.subjects)
    everything = replace(aim, workloads=(), profiles=(), strategies=()).checked().header() == aim.header()
    part = f"-towards-{aim.header()['wanted']}" if aim.wanted else "" if everything else "-part"
    return Path("out") / f"campaign-{name}{part}-{simulation.version(aim.subjects)}-{aim.seed}"


def of_worlds(aim: simulation.Aim, folder: Path, asked: Asked = USUAL) -> Campaign:
    """The campaign over worlds, which begins with few workloads that judge everything; aim -- checked."""
    first = runs.covering(aim.workloads)
    aim = replace(aim, workloads=tuple(dict.fromkeys((*first, *aim.workloads))))
    book = Sightings(aim, folder, asked)
    header = {**aim.header(), "version": simulation.version(aim.subjects), **_python()}
    units = simulation.units(aim, book.flat, book.found, book.near)
    least = len(first) * len(aim.subjects)  # what was never looked at is unknown
    return Campaign(header, runs.COLUMNS, (), units, runs.work, book, book.questions, book.wishes, book.settle,
                    book.files, "runs", least, given_up=book.given_up)


def kill_matrix(
    minutes: float, aim: MatrixAim, master: str = "local[*]", out: Path | None = None, *,
    cluster: Cluster | None = None, screen: Screen | None = None,
) -> Iterator[Verdict]:
    """A verdict for each planted bug and for the control; parameters as of campaign_decisions.

    aim -- of `MatrixAim.of`. The folder holds kill-matrix.json, which `matrix_of` reads.
    """
    folder = out or matrix_folder(aim)
    campaign = of_matrix(aim, folder, Asked((), minutes, master))
    return performed(campaign, folder, minutes, master, cluster=cluster, screen=screen)


def covered(verdicts: Sequence[Verdict]) -> list[str]:
    """How much of each enumerable scope was visited, in lines."""
    return [f"visited, {one.subject.name}, {one.subject.details['scope']}: {one.note}"
            for one in verdicts if one.property == WITHIN]


def summed_up(verdicts: Sequence[Verdict]) -> list[str]:
    """What a kill matrix comes to, in lines: how many bugs were noticed, and what is not as it should be."""
    bugs = [one for one in verdicts if one.property == NOTICED]
    told = [f"{sum(one.as_expected for one in bugs)} of {len(bugs)} planted bugs noticed"]
    return told + [f"{one.subject.name}: {one.outcome}, expected {one.expected}: {one.note}\n    {one.replay}"
                   for one in verdicts if not one.as_expected]


def of_matrix(aim: MatrixAim, folder: Path, asked: Asked = USUAL) -> Campaign:
    """The kill matrix as a campaign."""
    book = Matrix(aim, folder, asked)
    header = {**aim.header(), "version": simulation.version(aim.subjects), **_python()}
    return Campaign(header, hunts.COLUMNS, (), aim.units(), hunts.work, book, book.questions, book.wishes, book.settle,
                    book.files, "runs")


def compare(
    minutes: float, aim: pairing.Comparison, master: str = "local[*]", out: Path | None = None, *,
    cluster: Cluster | None = None, screen: Screen | None = None, spent_s: float = 0.0,
) -> Iterator[Verdict]:
    """A verdict for a change, and one for each property; parameters as of campaign_decisions.

    aim -- checked. spent_s -- so much of the time is over. The folder holds compare.json, which
    `invariants.report.compared` reads.
    """
    folder = out or compare_folder(aim)
    campaign = of_comparison(aim, folder, Asked((), minutes, master))
    return performed(campaign, folder, minutes, master, cluster=cluster, screen=screen, spent_s=spent_s)


def of_comparison(aim: pairing.Comparison, folder: Path, asked: Asked = USUAL) -> Campaign:
    """A comparison as a campaign; aim -- checked."""
    book = Comparing(aim, folder, asked)
    header = {**aim.header(), "version": simulation.version(aim.worlds.subjects), **_python()}
    units = pairing.units(aim, book.known, book.answered)
    return Campaign(header, pairs.COLUMNS, (), units, pairs.work, book, book.questions, book.wishes, book.settle,
                    book.files, "pairs", so_far=book.so_far, given_up=book.given_up)


def compare_folder(aim: pairing.Comparison) -> Path:
    """Where a comparison is stored unless it is told."""
    name = plain(subject_named(aim.changed).title)[-40:]
    return Path("out") / f"compare-{name}-{simulation.version(aim.worlds.subjects)}-{aim.seed}"


def matrix_folder(aim: MatrixAim) -> Path:
    """Where a kill matrix is stored unless it is told."""
    known = blake2b("\0".join(aim.subjects).encode(), digest_size=3).hexdigest()
    return Path("out") / f"kill-matrix-{known}-{simulation.version(aim.subjects)}-{aim.seed}"


def campaign_crashes(
    minutes: float, aim: crash_plan.Aim, master: str = "local[*]", out: Path | None = None, *,
    cluster: Cluster | None = None, screen: Screen | None = None,
) -> Iterator[Verdict]:
    """A verdict for each subject, workload, kind of crash and property; parameters as of campaign_decisions.

    Raises, besides, BadInputError at once for a name in the aim that is none.
    """
    aim = aim.checked()
    folder = out or crashes_folder(aim)
    campaign = of_crashes(aim, folder, Asked((), minutes, master))
    return performed(campaign, folder, minutes, master, cluster=cluster, screen=screen)


def of_crashes(aim: crash_plan.Aim, folder: Path, asked: Asked = USUAL) -> Campaign:
    """The crash atlas as a campaign; aim -- checked."""
    book = CrashBook(aim, folder, asked)
    header = {**aim.header(), "version": crash_plan.version(aim.subjects), **_python()}
    return Campaign(header, crash_plan.COLUMNS, aim.first(), aim.others(), crash_plan.work, book, files=book.files,
                    noun="images")


def crashes_folder(aim: crash_plan.Aim) -> Path:
    """Where an atlas is stored unless it is told."""
    names = [*(subject_named(subject).title for subject in aim.subjects), *aim.part()]
    return Path("out") / f"crash-{plain('-'.join(names))[-40:]}-{crash_plan.version(aim.subjects)}-{aim.seed}"


def _python() -> dict[str, Any]:
    return {"python": ".".join(map(str, sys.version_info[:2]))}


def performed(  # noqa: PLR0913 - as above
    campaign: Campaign, folder: Path, minutes: float, master: str, *, limit: int | None = None,
    cluster: Cluster | None = None, screen: Screen | None = None, spent_s: float = 0.0,
) -> Iterator[Verdict]:
    """The verdicts of a campaign, from what was found so far when it ends early; parameters as above.

    spent_s -- so much of the time is over.
    """
    if not (math.isfinite(minutes) and minutes > 0):
        raise BadInputError(f"--minutes {minutes}: give a number above 0, as 0.5")
    screen = screen or Screen(silent=True)
    left_s = 60 * minutes - spent_s
    if cluster is not None:
        return _performed(campaign, folder, left_s, limit, screen, nullcontext(cluster))
    started = open_cluster(master, left_s if limit is None else 0.0)
    return _performed(campaign, folder, left_s - SPARK_ENDS_S, limit, screen, started)


def _performed(
    campaign: Campaign, folder: Path, seconds: float, limit: int | None, screen: Screen,
    started: AbstractContextManager[Cluster],
) -> Iterator[Verdict]:
    verdicts: list[Verdict] = []
    ended: BaseException | None = None
    stop, began = _Stop(), time.monotonic()

    def watch(units: int) -> None:
        stop.check()
        screen.meanwhile(units)

    try:
        with (
            stop.listening(), open_ledger(folder, campaign.header, campaign.columns) as ledger, screen.shown(),
            runs.collecting_seldom(), started as spark,
        ):
            left_s = seconds - (time.monotonic() - began)
            for reached in run(campaign, spark, ledger, left_s, limit=limit, watch=watch):
                verdicts = reached.verdicts
                stop.check()
                screen.stored(reached, left_s)
    except (Exception, KeyboardInterrupt) as reason:  # noqa: BLE001 - whatever ends it, what was found is told first
        ended = KeyboardInterrupt() if stop.told else reason  # in the midst of a lock a signal leaves another error
    if isinstance(ended, MistakeError) and not any(one.outcome is Outcome.VIOLATED for one in verdicts):
        raise ended
    if not verdicts and not isinstance(ended, BadInputError):
        verdicts = campaign.book.verdicts()  # nothing is known yet, and each row says so
    yield from verdicts
    if ended is not None:
        raise ended


class _Stop:
    """Ctrl-C and SIGTERM, heard also where a library swallows the exception: who asks hears it later.

    told -- whether one of them came.
    """

    def __init__(self) -> None:
        self.told = False

    def check(self) -> None:
        """Raise KeyboardInterrupt if the campaign was told to stop."""
        if self.told:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """In the block both signals raise KeyboardInterrupt; SIGTERM once, so that it does not disturb the end.

        Of one that hits a destructor Python could only say that it is ignored, which is not so.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._heard)
        hook = sys.unraisablehook
        sys.unraisablehook = lambda lost: None if issubclass(lost.exc_type, KeyboardInterrupt) else hook(lost)
        try:
            yield
        finally:
            sys.unraisablehook = hook
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        self.told = True
        if number == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt
