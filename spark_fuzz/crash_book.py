"""What follows from the rows of the crash atlas on Spark: a verdict for each workload, kind of crash and property.

An image that a worker reports is recovered again here before it is believed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from invariants import evidence as evidence_files
from invariants.verdict import Outcome, Verdict
from spark_fuzz.asked import USUAL, Asked
from spark_fuzz.crash_plan import PROGRAMS, Aim, about_of, crashes_of, parts
from spark_fuzz.work import Row
from stateful_tests.crash.judge import PAGE, About, cost_of, document, seen_again, slug, verdict
from stateful_tests.crash.pictures import page
from stateful_tests.crash.survey import Crashes
from stateful_tests.crash.tally import Example, Tally
from stateful_tests.crash.workloads import WORKLOADS


@dataclass
class _Known:
    """What is known of the crashes of one kind in one workload; units -- that are done; failures -- why others are not.

    again -- property to its smallest example, and what its image breaks when it is recovered here.
    """

    about: About
    tally: Tally = field(default_factory=Tally)
    units: int = 0
    cpu_us: int = 0
    failures: list[str] = field(default_factory=list)
    again: dict[str, tuple[Example, str | None]] = field(default_factory=dict)

    @cached_property
    def crashes(self) -> Crashes | None:
        """Of a workload that is not drawn."""
        return crashes_of(self.about) if self.about.group in WORKLOADS else None

    @cached_property
    def parts(self) -> int:
        """How many units are all; 0 where there is no end."""
        return parts(self.about) if self.crashes else 0

    @property
    def images(self) -> int:
        """How many there are, over all crash points; of drawn workloads those that were judged."""
        return self.crashes.images if self.crashes else self.tally.covered

    @property
    def exact(self) -> bool:
        """Whether all images were judged."""
        return self.units == self.parts

    def scope(self) -> str:
        """For the note of a row."""
        judged = f"{self.tally.covered:,} images"
        if self.crashes is None:
            return f"{judged} of {self.units * PROGRAMS:,} drawn workloads"
        whole = f"{self.images:,} images after {self.crashes.life.recorder.steps + 1} crash points"
        return f"all {whole}" if self.exact else f"{judged}, {self.units} of {self.parts} parts of {whole}"

    def believed(self, name: str) -> Example | None:
        """The smallest example of a property if its image breaks it here too."""
        example = self.tally.smallest.get(name)
        if example is None:
            return None
        if name not in self.again or self.again[name][0] is not example:
            self.again[name] = example, seen_again(example, name, self.about.judged.name)
        return example if self.again[name][1] == example.sentence else None


class CrashBook:
    """The book of the crash atlas. folder -- where evidence is written, for the commands that replay it."""

    def __init__(self, aim: Aim, folder: Path, asked: Asked = USUAL) -> None:
        """Nothing is known yet."""
        self._aim, self._folder, self._asked = aim, folder, asked
        self._known = {(one.judged.name, one.group, one.kind): _Known(one) for one in aim.groups()}

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows of work, and failed ones."""
        for row in rows:
            known = self._known[about_of(row)]
            if row["error"] is not None:
                known.failures.append(f"{row['unit']}: {row['error']}")
                continue
            known.tally.join(Tally.from_json(row["tally"]))
            known.units += 1
            known.cpu_us += row["cpu_us"]

    def inputs(self) -> int:
        """How many images were judged, equal ones counted each."""
        return sum(known.tally.covered for known in self._known.values())

    def verdicts(self) -> list[Verdict]:
        """A row for each workload, kind of crash and property."""
        return [self._verdict(known, name) for known in self._known.values() for name in known.about.properties()]

    def evidence(self) -> Mapping[str, Mapping[str, Any]]:
        """The smallest image of each violation."""
        return {f"{slug(known.about, name)}.json": document(self._verdict(known, name), example, "")
                for known in self._known.values() for name in known.about.properties()
                if (example := known.believed(name)) is not None}

    def files(self) -> Mapping[str, str]:
        """Numbers of each workload and kind of crash for other programs, and the pictures of what is broken."""
        rows = [{"subject": subject, "workload": group, "crash": kind, "images": known.images,
                 **cost_of(known.tally, known.cpu_us / 1e6)} for (subject, group, kind), known in self._known.items()]
        found = [(self._verdict(known, name), example) for known in self._known.values()
                 for name in known.about.properties() if (example := known.believed(name)) is not None]
        return {"atlas.json": json.dumps(rows, indent=1) + "\n", PAGE: page(found)}

    def _verdict(self, known: _Known, name: str) -> Verdict:
        replay = f"{self._aim.command()} {self._asked.options()}"
        row = verdict(known.about, name, known.tally, known.scope(), replay, exact=known.exact)
        cost = {"images": known.images, **cost_of(known.tally, known.cpu_us / 1e6)}
        row = replace(row, cost=cost, seed=None if known.exact else self._aim.seed)
        if row.outcome is Outcome.VIOLATED:
            if known.believed(name) is None:
                return replace(row, outcome=Outcome.UNKNOWN, note=f"{row.note}; not so when it was recovered again")
            file = f"evidence/{slug(known.about, name)}.json"
            return replace(row, evidence=file, replay=evidence_files.replayed(self._folder / file))
        if known.failures:
            return replace(row, outcome=Outcome.UNKNOWN, note=f"{len(known.failures)} units failed, the first: "
                           f"{min(known.failures)}")
        return row if known.units else replace(row, outcome=Outcome.UNKNOWN, note="not reached in the time given")


def headline(rows: Sequence[Verdict]) -> list[str]:
    """What an atlas comes to, in a line: images, different ones, recoveries, and how many in a second of CPU time."""
    cost = {one.subject.name: one.cost for one in rows}.values()
    seconds = sum(one.get("cpu_seconds", 0) for one in cost)
    if not seconds:
        return []
    said = {"judged": "images", "distinct": "different ones", "recoveries": "recoveries"}
    counts = {words: sum(one[name] for one in cost) for name, words in said.items()}
    rates = [f"{count:,.0f} {words} ({count / seconds:,.0f} a second)" for words, count in counts.items()]
    return [f"{', '.join(rates)} in {seconds:,.0f} s of CPU time"]
