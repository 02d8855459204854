"""What judges of runs say of themselves, in this process and at once: the books of campaigns, with a run or two.

Nothing of Spark is needed for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from invariants import evidence
from invariants.runs import CHANGED, NOTICED, SAME_RUN, SILENT, WITHIN
from invariants.verdict import Verdict
from spark_fuzz import hunts, runs
from spark_fuzz.asked import Asked
from spark_fuzz.matrix import Matrix, MatrixAim
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import CONTROL, Aim, search_unit
from spark_fuzz.work import Unit, Work, attempt

HUNTED = 2
"""Worlds of the hunt for anything in the control."""
AIMS: Mapping[str, Aim] = {
    SAME_RUN: Aim(("shipped",), ("smallest",), ("storm",), ("uniform",)),
    WITHIN: Aim(("shipped",), ("smallest",), ("calm",), ("uniform",)),
    NOTICED: Aim(("repaired+bc-subversion-not-bumped",), ("clustering",), ("calm",), ("uniform",)),
    CHANGED: Aim(("repaired-N-2",), ("broadcasting",), ("calm",), ("uniform",)),
}
"""Of each property the subject and the world that it is judged by."""
PROPERTIES = (*AIMS, SILENT)
"""What can be judged so."""


def verdicts(names: Collection[str], out: Path) -> Iterator[Verdict]:
    """A verdict for each of these properties that judges have of themselves; out -- folder for evidence."""
    for name in names:
        if name in AIMS:
            aim = AIMS[name].checked()
            book = Sightings(aim, out, Asked((name,)))
            (arm,) = aim.arms()
            yield from _done(book, [search_unit(arm, aim.seed, 0, 0)], runs.work, out)
        elif name == SILENT:
            hunted = MatrixAim((CONTROL,), seeds=1, worlds=HUNTED)
            yield from _done(Matrix(hunted, out), hunted.units(), hunts.work, out)


def _done(book: Sightings | Matrix, units: Iterable[Unit], work: Work, out: Path) -> Iterator[Verdict]:
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
