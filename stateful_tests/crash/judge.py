"""The judge `crash`: verdict rows of the crash atlas, their images as files, and their replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from impl.store.default_message_store import DefaultMessageStore
from invariants import evidence
from invariants.verdict import BadInputError, Outcome, Subject, Verdict, known
from stateful_tests.crash.memory import Image
from stateful_tests.crash.programs import Life, Workload
from stateful_tests.crash.recovery import KEYS, PROPERTIES, Store, broken, outcome
from stateful_tests.crash.survey import KINDS, Effort, Example, Survey
from stateful_tests.crash.workloads import WORKLOADS

JUDGE = "crash"
SUBJECT = "workload"
Tell = Callable[[str], object]


def judged(
    names: Sequence[str], effort: Effort, *, out: Path | None = None, tell: Tell = bool,
    store: Store = DefaultMessageStore,
) -> Iterator[Verdict]:
    """A verdict for each workload, kind of crash and property.

    names -- of the workloads; empty: all. out -- folder for the smallest image of each violation. tell -- is told what
    is done at the moment. store -- makes each process. Raises BadInputError for a name that is none.
    """
    for name in [known("workload", name, WORKLOADS) for name in names or WORKLOADS]:
        life = Life(WORKLOADS[name], store)
        for kind in KINDS:
            tell(f"{name}: {kind} crashes")
            survey = Survey(life, kind, effort, store)
            for property_name in PROPERTIES:
                if property_name != KEYS or life.workload.has_index:
                    yield _verdict(survey, property_name, effort, out)


def _verdict(survey: Survey, name: str, effort: Effort, out: Path | None) -> Verdict:
    workload, expected = survey.life.workload, _expected(survey.life.workload, survey.kind, name)
    images = effort.images if survey.exact else survey.covered  # the same draws again, also if time has ended them
    row = Verdict(
        name, JUDGE, _subject(workload, survey.kind), expected, Outcome.HOLDS,
        f"rocketproof crash --workload {workload.name} --images {images} --seed {effort.seed}",
        cost={"images": survey.images, "distinct": survey.distinct, "recoveries": survey.recoveries,
              "cpu_seconds": round(survey.cpu_seconds, 2)},
        seed=None if survey.exact else effort.seed, note=_scope(survey))
    if name in survey.smallest:
        return _violated(row, survey, out)
    if expected is Outcome.VIOLATED and not survey.exact:
        return replace(row, outcome=Outcome.NOT_MET)
    return row


def _expected(workload: Workload, kind: str, name: str) -> Outcome:
    return Outcome.VIOLATED if name in workload.expected.get(kind, {}) else Outcome.HOLDS


def _subject(workload: Workload, kind: str) -> Subject:
    return Subject(SUBJECT, f"{workload.name}, {kind} crash", {
        "workload": workload.name, "crash": kind, "operations": list(workload.operations)})


def _scope(survey: Survey) -> str:
    images = f"{survey.images:,} images after {survey.life.recorder.steps + 1} crash points"
    return f"all {images}" if survey.exact else f"{survey.covered:,} drawn of {images}"


def _violated(row: Verdict, survey: Survey, out: Path | None) -> Verdict:
    example, workload = survey.smallest[row.property], survey.life.workload
    stale = f", stale: {', '.join(example.stale)}" if example.stale else ""
    row = replace(
        row, outcome=Outcome.VIOLATED, hazard=workload.expected.get(survey.kind, {}).get(row.property, ()),
        note=f"after step {example.step}{stale}: {example.sentence}; "
        f"{survey.broken[row.property]:,} of {row.note.removeprefix('all ')}")
    if out is None:
        return row
    slug = f"crash-{workload.name}-{survey.kind}-{row.property}".replace("_", "-")
    write_image(out / "images" / slug, example.image)
    return evidence.saved(row, _document(row, example, f"images/{slug}"), out, slug)


# Files ----------------------------------------------------------------------------------------------------------------


def write_image(folder: Path, image: Image) -> None:
    """Write the files of an image below a folder."""
    for path, data in image.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _document(row: Verdict, example: Example, files: str) -> dict[str, Any]:
    """Evidence of kind counterexample. image -- path to length and, in hex, content up to the zeros at the end."""
    image = {path: {"length": len(data), "hex": data.rstrip(b"\0").hex()} for path, data in example.image.items()}
    paths = sorted({*example.image, *example.stale})
    rows = [[path, _left(example.image.get(path)), "stale" if path in example.stale else "as it was written last"]
            for path in paths]
    return evidence.document(
        row, "counterexample", f"{PROPERTIES[row.property]} Not so: {example.sentence}.",
        arguments={**row.subject.details, "step": example.step, "files": files, "image": image},
        results={"broken": example.sentence}, table={"columns": ["file", "on the disk", "is"], "rows": rows})


def _left(data: bytes | None) -> str:
    if data is None:
        return "not there"
    return f"{len(data):,} bytes, zeros from {len(data.rstrip(bytes(1))):,} on"


def _read_image(table: Mapping[str, Any]) -> dict[str, bytes]:
    return {path: bytes.fromhex(file["hex"]).ljust(file["length"], b"\0") for path, file in table.items()}


def replayed(document: Mapping[str, Any]) -> Verdict:
    """Recover the image of an evidence file again; raises BadInputError if the workload has changed since."""
    arguments = document["arguments"]
    workload = WORKLOADS[known("workload", arguments["workload"], WORKLOADS)]
    if list(workload.operations) != arguments["operations"]:
        raise BadInputError(f"{workload.name} has other operations now; make the evidence anew: rocketproof crash")
    life, name, kind = Life(workload), document["property"], arguments["crash"]
    acknowledged = [message for message, _ in life.acknowledged_by(arguments["step"])]
    found = broken(life, outcome(_read_image(arguments["image"]), life), acknowledged)
    row = Verdict(name, JUDGE, _subject(workload, kind), _expected(workload, kind, name), Outcome.HOLDS,
                  document["replay"], cost={"images": 1})
    if name not in found:
        return row
    return replace(row, outcome=Outcome.VIOLATED, note=found[name],
                   hazard=workload.expected.get(kind, {}).get(name, ()))
