"""What judges of runs say of themselves, in this process and at once: the books of campaigns, with a run or two.

Nothing of Spark is needed for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from invariants import evidence
from invariants.runs import CHANGED, HARMLESS, MENDED, NOTICED, REACHED, SAME_RUN, SILENT, WITHIN, WORSE
from invariants.verdict import Verdict
from model.language.open.nearness import Wanted
from spark_fuzz import hunts, pairs, runs
from spark_fuzz.asked import Asked
from spark_fuzz.comparing import Comparing, aim_of
from spark_fuzz.differences import FEWEST
from spark_fuzz.matrix import Matrix, MatrixAim
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import CONTROL, Aim, search_unit
from spark_fuzz.work import Unit, Work, attempt
from stateful_tests.worlds.subjects import subject_on

HUNTED = 2
"""Worlds of the hunt for anything in the control."""
WANTED = Wanted(
    "one_owner_per_queue", "take", "Rebalancing", {"Broker": 1, "Member": 2, "Queue": 1},
    [(("answer", 0), [0, 1]), (("holds", 0, 0), False), (("holds", 1, 0), True)])
"""A member that was answered both has nothing, and the other one has a queue."""
AIMS: Mapping[str, Aim] = {
    SAME_RUN: Aim(("shipped",), ("smallest",), ("storm",), ("uniform",)),
    WITHIN: Aim(("shipped",), ("smallest",), ("calm",), ("uniform",)),
    NOTICED: Aim(("repaired+bc-subversion-not-bumped",), ("clustering",), ("calm",), ("uniform",)),
    REACHED: Aim(("shipped",), ("smallest",), ("threads",), ("uniform",), wanted=(WANTED.text(),)),
    CHANGED: Aim(("repaired-N-2",), ("broadcasting",), ("calm",), ("uniform",)),
}
"""Of each property the subject and the world that it is judged by."""
FILES: Mapping[str, str] = {
    HARMLESS: '''\
"""A client rebalances every 10 s."""
from impl.client import rebalance_service
from impl.variants.change import constant
from impl.variants.variant import Variant

VARIANT = Variant("every-10-s", "change", "rocketmq.client.rebalance.waitInterval is 10000.", replacements=(
    constant(rebalance_service, "WAIT_INTERVAL_MS", 10_000),))
''',
    MENDED: '''\
"""The repair of N-2, as a file of one's own."""
from dataclasses import replace
from impl.variants.catalogue import REPAIRS

VARIANT = replace(next(one for one in REPAIRS.values() if "N-2" in one.hazards), name="own-repair")
''',
}
"""Of a property of files the file that it is judged by."""
PROPERTIES = (*AIMS, *FILES, SILENT, WORSE)
"""What can be judged so."""


def verdicts(names: Collection[str], out: Path) -> Iterator[Verdict]:
    """A verdict for each of these properties that judges have of themselves; out -- folder for evidence."""
    for name in names:
        if name in AIMS or name in FILES:
            aim = (AIMS[name] if name in AIMS else _of_file(name, out)).checked()
            book = Sightings(aim, out, Asked((name,)))
            (arm,) = aim.arms()
            yield from _done(book, [search_unit(arm, aim.seed, 0, 0, wanted=aim.wanted)], runs.work, out)
        elif name == SILENT:
            hunted = MatrixAim((CONTROL,), seeds=1, worlds=HUNTED)
            yield from _done(Matrix(hunted, out), hunted.units(), hunts.work, out)
        elif name == WORSE:
            yield from (row for row in _compared(out) if row.property == WORSE)


def _compared(out: Path) -> Iterator[Verdict]:
    """Of a change of a file, beside its base, as few pairs of the smallest world as say anything."""
    aim = aim_of(str(_written(HARMLESS, out)), None, workloads=("smallest",), profiles=("calm",))
    body = {"subjects": (aim.base, aim.changed), "arm": ("smallest", "calm", "uniform"), "seeds": (0, FEWEST)}
    return _done(Comparing(aim, out), [Unit("pairs", body)], pairs.work, out)


def _of_file(name: str, out: Path) -> Aim:
    """A variant of a file, which is written for it, in a world that shows a difference."""
    return Aim((subject_on(None, str(_written(name, out))),), ("broadcasting",), ("calm",), ("uniform",))


def _written(name: str, out: Path) -> Path:
    file = out / f"{name}.py"
    out.mkdir(parents=True, exist_ok=True)
    file.write_text(FILES[name], encoding="utf-8")
    return file


def _done(book: Sightings | Matrix | Comparing, units: Iterable[Unit], work: Work, out: Path) -> Iterator[Verdict]:
    """Do the units, and what follows from them, as a campaign does; the verdicts, whose evidence is written."""
    for unit in units:
        book.add(attempt(work, unit))
        for question in list(book.questions()):
            book.add(attempt(work, question))
        while book.settle():
            pass
    for name, document in book.evidence().items():
        evidence.write(out / "evidence" / name, dict(document))
    yield from book.verdicts()
