"""The crash atlas on Spark: units of images, and what is done with them.

First every combination of each workload and kind of crash, in parts of a few thousand, so that the images of a part
are known to be all of them; beside them, without end, workloads that are drawn.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, count, zip_longest
from pathlib import Path
from typing import Any

from impl.store.message_store_config import FlushDiskType
from invariants.verdict import BadInputError, known
from spark_fuzz.simulation import check_subjects
from spark_fuzz.work import Row, Unit
from stateful_tests.crash.drawn import drawn, group_of
from stateful_tests.crash.judge import SHIPPED, About
from stateful_tests.crash.programs import Life
from stateful_tests.crash.survey import KINDS, Crashes, Effort, surveyed
from stateful_tests.crash.tally import Tally
from stateful_tests.crash.workloads import WORKLOADS
from stateful_tests.worlds.subjects import subject_named

COLUMNS = {"subject": "string", "workload": "string", "crash": "string", "judged": "long", "tally": "string"}
"""A row per unit. workload -- or the group of drawn ones. judged -- images, equal ones counted each. tally -- a Tally
as JSON, with the smallest example of each violation."""

PART = 4_000
"""Combinations of a part: one or two seconds of CPU time."""
PROGRAMS, COMBINATIONS = 40, 500
"""Drawn workloads of a unit; of one with more combinations than this so many are drawn."""


@dataclass(frozen=True)
class Aim:
    """What is crashed; names of subjects and workloads. seed -- of what is drawn."""

    subjects: tuple[str, ...] = (SHIPPED,)
    workloads: tuple[str, ...] = ()
    seed: int = 0

    def checked(self) -> Aim:
        """This with all names looked up and none left out; raises BadInputError for one that is none."""
        subjects = tuple(dict.fromkeys(subject_named(name).name for name in self.subjects))
        check_subjects(subjects)
        workloads = tuple(known("workload", name, WORKLOADS) for name in dict.fromkeys(self.workloads))
        return Aim(subjects, workloads or tuple(WORKLOADS), self.seed)

    def part(self) -> tuple[str, ...]:
        """The workloads, if they are not all; then nothing is drawn."""
        return self.workloads if set(self.workloads) != set(WORKLOADS) else ()

    def command(self) -> str:
        """The command line, but for the time and the folder."""
        words = [*(f"--subject {shlex.quote(one)}" for one in self.subjects if one != SHIPPED),
                 *(f"--workload {one}" for one in self.part())]
        return " ".join(["rocketproof crash", *words, f"--seed {self.seed}"])

    def header(self) -> dict[str, Any]:
        """What makes two campaigns the same."""
        return {"campaign": "crashes", "seed": self.seed, "subjects": list(self.subjects),
                "workloads": list(self.workloads)}

    def groups(self) -> list[About]:
        """What verdicts are about, in their order."""
        groups = [*self.workloads, *([] if self.part() else map(group_of, FlushDiskType))]
        return [About(subject_named(subject), group, kind)
                for subject in self.subjects for group in groups for kind in KINDS]

    def first(self) -> list[Unit]:
        """One unit of each."""
        return [next(self._of(about)) for about in self.groups()]

    def others(self) -> Iterator[Unit]:
        """The units behind the first ones: one of each in turn, without end where workloads are drawn."""
        rest = (self._behind_first(about) for about in self.groups())
        return (unit for turn in zip_longest(*rest) for unit in turn if unit is not None)

    def _behind_first(self, about: About) -> Iterator[Unit]:
        units = self._of(about)
        next(units)
        return units

    def _of(self, about: About) -> Iterator[Unit]:
        body = {"subject": about.judged.name, "workload": about.group, "crash": about.kind}
        if about.group in WORKLOADS:
            of = parts(about)
            return (_unit(body, part=part, of=of) for part in range(of))
        return (_unit(body, seed=self.seed, programs=[first, first + PROGRAMS]) for first in count(0, PROGRAMS))


def _unit(body: Mapping[str, Any], **more: Any) -> Unit:
    named = " ".join(str(number) for number in chain(*(
        value if isinstance(value, list) else [value] for value in more.values())))
    return Unit(" | ".join([*body.values(), named]), {**body, **more})


def crashes_of(about: About) -> Crashes:
    """The images of a workload that is not drawn."""
    with about.judged.running():
        return Crashes(Life(WORKLOADS[about.group]), about.kind)


def parts(about: About) -> int:
    """In how many parts the combinations of a workload are recovered."""
    crashes = crashes_of(about)
    return 1 if crashes.images == crashes.combinations else -(-crashes.combinations // PART)


# Work -----------------------------------------------------------------------------------------------------------------


def work(unit: Unit) -> list[Row]:
    """Recover the images of a unit."""
    body = unit.body
    with subject_named(body["subject"]).running():
        tally = _drawn(body) if "programs" in body else _part(body)
    return [{"subject": body["subject"], "workload": body["workload"], "crash": body["crash"],
             "judged": tally.covered, "tally": tally.to_json()}]


def _part(body: Mapping[str, Any]) -> Tally:
    life = Life(WORKLOADS[body["workload"]])
    return surveyed(life, Crashes(life, body["crash"]).all(body["part"], body["of"]))


def _drawn(body: Mapping[str, Any]) -> Tally:
    flush = next(one for one in FlushDiskType if group_of(one) == body["workload"])
    tally = Tally()
    for number in range(*body["programs"]):
        life = Life(drawn(flush, body["seed"], number))
        _, images = Crashes(life, body["crash"]).chosen(Effort(COMBINATIONS, body["seed"]))
        tally.join(surveyed(life, images))
    return tally


# Version --------------------------------------------------------------------------------------------------------------


def version(subjects: Sequence[str]) -> str:
    """Stands for the code that is judged and the code that judges: other code is another campaign."""
    here = Path(__file__).resolve()
    rooms = (here.parents[1] / "impl", here.parents[1] / "stateful_tests" / "crash")
    own = [Path(file) for name in subjects for file in subject_named(name).composed.files]
    content = blake2b(digest_size=6)
    for file in [*(file for room in rooms for file in sorted(room.rglob("*.py"))), here, here.parent / "work.py", *own]:
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()


def about_of(row: Row) -> tuple[str, str, str]:
    """What the row of a unit is about: subject, workload or group, kind of crash; from its id, also if it failed."""
    subject, group, kind, _ = row["unit"].rsplit(" | ", 3)
    if kind not in KINDS:
        raise BadInputError(f"{row['unit']}: no unit of a crash atlas")
    return subject, group, kind
