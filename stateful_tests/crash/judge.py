"""The judge `crash`: verdict rows of the crash atlas, their images as files, and their replay."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from impl.store.default_message_store import DefaultMessageStore
from invariants import evidence
from invariants.verdict import Outcome, Subject, Verdict, known
from stateful_tests.crash.drawn import DRAWN, group_of
from stateful_tests.crash.memory import Image
from stateful_tests.crash.pictures import page
from stateful_tests.crash.programs import Life, LifeError, Workload
from stateful_tests.crash.promises import KEYS, LIVES, PROPERTIES, broken
from stateful_tests.crash.recovery import Store, outcome
from stateful_tests.crash.survey import KINDS, Crashes, Effort, surveyed
from stateful_tests.crash.tally import Example, Tally
from stateful_tests.crash.workloads import WORKLOADS, Expected
from stateful_tests.worlds.subjects import Subject as Judged, subject_named

JUDGE = "crash"
SUBJECT = "workload"
SHIPPED = "shipped"
PAGE = "atlas.html"
"""The pictures of what was broken, in the folder of images and evidence."""
Tell = Callable[[str], object]


class About(NamedTuple):
    """What a verdict is about: crashes of one kind in a workload, or in a group of drawn ones, of one subject."""

    judged: Judged
    group: str
    kind: str

    def properties(self) -> list[str]:
        """What is judged."""
        has_index = self.group not in WORKLOADS or WORKLOADS[self.group].has_index
        return [name for name in PROPERTIES if name != KEYS or has_index]

    def hazards(self, name: str) -> tuple[str, ...]:
        """The hazards that are expected to break a property."""
        return tuple(hazard for hazard in self._table().get(name, ()) if self.judged.has(hazard))

    def expected(self, name: str) -> Outcome:
        """What breaks without a hazard was never promised, and no repair changes it."""
        table = self._table()
        broken_so = name in table and (not table[name] or self.hazards(name))
        return Outcome.VIOLATED if broken_so else Outcome.HOLDS

    def is_sure(self) -> bool:
        """Whether all images together must break a property that is expected to be broken; a repair may hide it."""
        return self.group in WORKLOADS and self.judged.name == SHIPPED

    def _table(self) -> Expected:
        if self.group not in WORKLOADS:
            return dict(DRAWN[self.group].get(self.kind, {}))
        workload = WORKLOADS[self.group]
        table = dict(workload.expected.get(self.kind, {}))
        for name, hazards in workload.hidden.get(self.kind, {}).items() if self.judged.name != SHIPPED else ():
            if table.get(name, hazards):  # what was never promised is broken without a hazard
                table[name] = (*table.get(name, ()), *hazards)
        return table

    def subject(self) -> Subject:
        """As rows name it."""
        shipped = self.judged.name == SHIPPED
        details: dict[str, Any] = {"workload": self.group, "crash": self.kind, "subject": self.judged.name}
        if self.group in WORKLOADS:
            details["operations"] = list(WORKLOADS[self.group].operations)
        return Subject(SUBJECT, ", ".join(
            [self.group, f"{self.kind} crash", *([] if shipped else [self.judged.title])]), details)


def judged(
    names: Sequence[str], effort: Effort, *, subject: str = SHIPPED, out: Path | None = None, tell: Tell = bool,
    store: Store = DefaultMessageStore,
) -> Iterator[Verdict]:
    """A verdict for each workload, kind of crash and property.

    names -- of the workloads; empty: all. subject -- whose store it is. out -- folder for the smallest image of each
    violation. tell -- is told what is done at the moment. store -- makes each process. Raises BadInputError for a name
    that is none.
    """
    of = subject_named(subject)
    broken_so: list[tuple[Verdict, Example]] = []
    for name in [known("workload", name, WORKLOADS) for name in names or WORKLOADS]:
        for kind in KINDS:
            tell(f"{name}: {kind} crashes")
            about = About(of, name, kind)
            with of.running():
                try:
                    life = Life(WORKLOADS[name], store)
                except LifeError as error:
                    yield _without_life(about, error)
                    continue
                crashes, began = Crashes(life, kind), time.process_time()
                exact, images = crashes.chosen(effort)
                tally = surveyed(life, images, store)
            spent_s = time.process_time() - began
            for property_name in about.properties():
                yield (row := _verdict(about, property_name, tally, _Extent(crashes, exact, effort, spent_s), out))
                if row.outcome is Outcome.VIOLATED:
                    broken_so.append((row, tally.smallest[property_name]))
    if out is not None:
        (out / PAGE).write_text(page(broken_so), encoding="utf-8")


def _without_life(about: About, error: LifeError) -> Verdict:
    """There is no crash of a store that does not even live through its workload."""
    of = "" if about.judged.name == SHIPPED else f" --subject {about.judged.name}"
    return Verdict(LIVES, JUDGE, about.subject(), about.expected(LIVES), Outcome.VIOLATED,
                   f"rocketproof crash --workload {about.group}{of}", note=str(error))


class _Extent(NamedTuple):
    """How much was recovered, in how much CPU time."""

    crashes: Crashes
    exact: bool
    effort: Effort
    spent_s: float

    def scope(self, tally: Tally) -> str:
        """For the note of a row."""
        steps = self.crashes.life.recorder.steps + 1
        images = f"{self.crashes.images:,} images after {steps} crash points"
        return f"all {images}" if self.exact else f"{tally.covered:,} drawn of {images}"


def _verdict(about: About, name: str, tally: Tally, extent: _Extent, out: Path | None) -> Verdict:
    effort = extent.effort
    of = "" if about.judged.name == SHIPPED else f" --subject {about.judged.name}"
    replay = f"rocketproof crash --workload {about.group}{of} --images {effort.images} --seed {effort.seed}"
    row = verdict(about, name, tally, extent.scope(tally), replay, exact=extent.exact)
    row = replace(row, seed=None if extent.exact else effort.seed,
                  cost={"images": extent.crashes.images, **cost_of(tally, extent.spent_s)})
    if out is None or row.outcome is not Outcome.VIOLATED:
        return row
    example, stem = tally.smallest[name], slug(about, name)
    write_image(out / "images" / stem, example.image)
    return evidence.saved(row, document(row, example, f"images/{stem}"), out, stem)


def verdict(about: About, name: str, tally: Tally, scope: str, replay: str, *, exact: bool) -> Verdict:
    """What images say of a property, without cost and evidence; exact -- there are no other images."""
    row = Verdict(name, JUDGE, about.subject(), about.expected(name), Outcome.HOLDS, replay, note=scope)
    if name in tally.smallest:
        example = tally.smallest[name]
        stale = f", stale: {', '.join(example.stale)}" if example.stale else ""
        of = f" of {', '.join(example.workload.operations)}" if about.group not in WORKLOADS else ""
        return replace(
            row, outcome=Outcome.VIOLATED, hazard=about.hazards(name),
            note=f"after step {example.step}{of}{stale}: {example.sentence}; "
            f"{tally.broken[name]:,} of {scope.removeprefix('all ')}")
    if row.expected is Outcome.VIOLATED and not (exact and about.is_sure()):
        return replace(row, outcome=Outcome.NOT_MET)
    return row


def cost_of(tally: Tally, spent_s: float) -> dict[str, float]:
    """Numbers of images and recoveries, and how many there were in a second of CPU time."""
    counts = {"judged": tally.covered, "distinct": tally.distinct, "recoveries": tally.recoveries}
    rates = {f"{name}_per_second": round(count / spent_s) for name, count in counts.items()} if spent_s else {}
    return {**counts, **rates, "cpu_seconds": round(spent_s, 2)}


def slug(about: About, name: str) -> str:
    """The stem of the files of a row."""
    words = ["crash", about.group, about.kind, name, *([] if about.judged.name == SHIPPED else [about.judged.title])]
    return "-".join("".join(letter if letter.isalnum() else "-" for letter in word) for word in words)


# Files ----------------------------------------------------------------------------------------------------------------


def write_image(folder: Path, image: Image) -> None:
    """Write the files of an image below a folder."""
    for path, data in image.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def document(row: Verdict, example: Example, files: str) -> dict[str, Any]:
    """Evidence of kind counterexample, with the example as plain values; files -- the folder of its image, if any."""
    paths = sorted({*example.image, *example.stale})
    rows = [[path, _left(example.image.get(path)), "stale" if path in example.stale else "as it was written last"]
            for path in paths]
    return evidence.document(
        row, "counterexample", f"{PROPERTIES[row.property]} Not so: {example.sentence}.",
        arguments={**row.subject.details, "operations": list(example.workload.operations), "files": files,
                   "example": example.to_json()},
        results={"broken": example.sentence}, table={"columns": ["file", "on the disk", "is"], "rows": rows})


def _left(data: bytes | None) -> str:
    if data is None:
        return "not there"
    return f"{len(data):,} bytes, zeros from {len(data.rstrip(bytes(1))):,} on"


def seen_again(example: Example, name: str, subject: str) -> str | None:
    """How the image of an example breaks a property when it is recovered once more; None: it does not."""
    with subject_named(subject).running():
        life = Life(example.workload)
        return broken(outcome(example.image, life), life.known(example.step)).get(name)


def replayed(found: Mapping[str, Any]) -> Verdict:
    """Recover the image of an evidence file again; its workload is lived through anew, whatever it is called today."""
    arguments, name = found["arguments"], found["property"]
    example = Example.from_json(arguments["example"])
    about = About(subject_named(arguments["subject"]), _group(example.workload), arguments["crash"])
    row = Verdict(name, JUDGE, about.subject(), about.expected(name), Outcome.HOLDS, found["replay"],
                  cost={"images": 1})
    sentence = seen_again(example, name, arguments["subject"])
    if sentence is None:
        return row
    return replace(row, outcome=Outcome.VIOLATED, note=sentence, hazard=about.hazards(name))


def _group(workload: Workload) -> str:
    return workload.name if workload.name in WORKLOADS else group_of(workload.flush)
