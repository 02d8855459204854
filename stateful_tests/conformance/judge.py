"""The judge `conform`: what the replay of recordings and the start on store images found, as verdict rows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace as with_changes
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from invariants import evidence
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.conformance.adapters import ADAPTERS
from stateful_tests.conformance.replay import FileResult, Row, recordings, replay, stem
from stateful_tests.conformance.store_answers import compare_image
from stateful_tests.conformance.store_images import Image, images
from stateful_tests.conformance.wire.ha import compare_ha
from stateful_tests.conformance.wire.ha_log import PREFIX
from stateful_tests.conformance.wire.hostile import compare_hostile
from stateful_tests.conformance.wire.judging import compare_scenario
from stateful_tests.conformance.wire.recorded import HOSTILE, Scenario, scenarios

RECORDINGS = Path(__file__).parent / "recordings"
PROPERTY = "conforms_to_recordings"
JUDGE = "conform"
IMAGE = "store image"  # the kind of such a subject
SCENARIO = "recorded traffic"  # likewise


def conform(
    vectors: Path = RECORDINGS, files: Sequence[str] = (), out: Path | None = None,
    progress: Callable[[Path, int], None] = lambda _path, _rows: None,
) -> Iterator[Verdict]:
    """One verdict for each recording of a directory, in the order of their names, then for each store image below it.

    files -- only these recordings, with or without suffix, images (CASE/IMAGE, or all of a CASE), or scenarios.
    out -- directory for evidence files, None writes none. progress -- called with the file and the rows compared so
    far.
    A recording that no adapter compares, or with rows that the adapter does not understand, is unknown.
    Raises BadInputError for a directory or name that is not there; for files that are no recordings after the others.
    """
    own = vectors.resolve() == RECORDINGS.resolve()
    bad: list[BadInputError] = []
    for result in _results(chosen(vectors, files), progress, bad):
        yield _with_evidence(verdict(result, own=own), result, out)
    if bad:
        raise bad[0]


class Chosen(NamedTuple):
    """What is compared of a directory."""

    recordings: list[Path]
    images: list[Image]
    scenarios: list[Scenario]


def chosen(vectors: Path, files: Sequence[str] = ()) -> Chosen:
    """The recordings, images and scenarios of a directory that are meant by these names; raises BadInputError."""
    found = list(images(vectors)) if vectors.is_dir() else []
    traffic = scenarios(vectors) if vectors.is_dir() else []
    wanted = [image for image in found if not files or set(files) & set(image.names)]
    lived = [one for one in traffic if not files or set(files) & set(one.names)]
    named = {name for image in found for name in image.names} | {name for one in traffic for name in one.names}
    others = [name for name in files if name not in named]
    plain = any(vectors.glob("*.jsonl*")) and not (vectors / "index.json").is_file()
    if (files or found or traffic) and not others and (files or not plain):
        return Chosen([], wanted, lived)
    return Chosen(recordings(vectors, others), wanted, lived)


def _results(
    one: Chosen, progress: Callable[[Path, int], None], bad: list[BadInputError],
) -> Iterator[FileResult]:
    """What was found; an error waits in `bad` until all else is done."""
    if one.recordings:
        try:
            yield from replay(one.recordings[0].parent, ADAPTERS, [path.name for path in one.recordings], progress)
        except BadInputError as error:
            bad.append(error)
    calls: list[Callable[[], FileResult]] = [partial(compare_image, image) for image in one.images]
    calls += [partial(_compare_traffic, scenario) for scenario in one.scenarios]
    for call in calls:
        try:
            result = call()
        except BadInputError as error:
            bad.append(error)
        else:
            progress(result.path, result.rows)
            yield result


def _compare_traffic(scenario: Scenario) -> FileResult:
    """What is in the file is told by its name."""
    if scenario.name == HOSTILE:
        return compare_hostile(scenario)
    return compare_ha(scenario) if scenario.name.startswith(PREFIX) else compare_scenario(scenario)


def replayed_image(document: Mapping[str, Any]) -> str | None:
    """What differs now in the row of an image that the evidence is about; None: nothing does.

    Raises LookupError if the image is gone.
    """
    words = shlex.split(document["replay"])
    folder = Path(words[words.index("--vectors") + 1]) if "--vectors" in words[:-1] else RECORDINGS
    name = document["subject"]["name"]
    image = next((one for one in images(folder) if one.name == name), None)
    scenario = next((one for one in scenarios(folder) if name in one.names), None)
    if image is not None:
        found = compare_image(image)
    elif scenario is not None:
        found = _compare_traffic(scenario)
    else:
        raise LookupError(f"no image and no scenario {name} in {folder}")
    line = document["arguments"]["line"]
    return next((one.sentence for one in found.first if one.line == line), None)


def verdict(result: FileResult, *, own: bool) -> Verdict:
    """The verdict on one file; own -- whether it is one of the project's, where each listed deviation must occur."""
    outcome, note = _outcome(result, own=own)
    cost: dict[str, float] = {
        "rows": result.rows, "different": result.different, "not_understood": result.not_understood,
        "deviating": sum(result.deviating.values()), "seconds": round(result.seconds, 3),
    }
    if result.aside:
        cost["aside"] = sum(result.aside.values())
    directory = "" if own else f" --vectors {shlex.quote(str(result.folder))}"
    kind = "recording" if not result.label else SCENARIO if result.label.startswith("wire/") else IMAGE
    subject = Subject(kind, result.name, {"java": result.header.get("java", "")})
    return Verdict(
        property=PROPERTY, judge=JUDGE, subject=subject,
        expected=Outcome.HOLDS, outcome=outcome, cost=cost, note=note,
        replay=f"rocketproof conform{directory} --file {shlex.quote(result.name)}",
    )


def _outcome(result: FileResult, *, own: bool) -> tuple[Outcome, str]:
    if not result.compared:
        return Outcome.UNKNOWN, f"not compared: {_why_not(result)}"
    if result.different:
        return Outcome.VIOLATED, f"line {result.first[0].line}: {result.first[0].sentence}"
    if result.not_understood:
        first = result.first[0]
        return Outcome.UNKNOWN, f"{result.not_understood} rows not compared; line {first.line}: {first.sentence}"
    if result.rows == 0:
        return Outcome.UNKNOWN, "not compared: no rows"
    if own and result.stale:
        return Outcome.VIOLATED, f"a listed deviation no longer occurs: {result.stale[0]}"
    notes = [f"{rows} rows deviate: {reason}" for reason, rows in result.deviating.items()]
    return Outcome.HOLDS, "; ".join([*notes, *_aside(result)])


def _why_not(result: FileResult) -> str:
    if result.aside:
        return next(iter(result.aside))
    return "no adapter" if result.header else "not a recording"


def _aside(result: FileResult) -> list[str]:
    return [f"{count} not compared: {reason}" for reason, count in result.aside.items()]


def _with_evidence(row: Verdict, result: FileResult, out: Path | None) -> Verdict:
    if out is None or not result.first:
        return row
    path = Path("evidence") / f"conform-{stem(result.name).replace('/', '-')}.json"
    evidence.write(out / path, evidence.document(row, "counterexample", _sentence(result), **_body(result)))
    return with_changes(row, evidence=str(path))


def _sentence(result: FileResult) -> str:
    what = result.header["java"]
    return f"{result.different + result.not_understood} of {result.rows} rows of {result.name} ({what}) do not agree."


def _body(result: FileResult) -> dict[str, Any]:
    """The first row in full, and all kept ones as a table."""
    first = result.first[0]
    row = _printable(first.row)
    recorded = {key: value for key, value in row.items() if key != "a"}
    rows = [[str(one.line), one.sentence] for one in result.first]
    return {
        "arguments": {"line": first.line, "a": row.get("a")},
        "results": {"recorded": recorded, "difference": first.sentence},
        "table": {"columns": ["line", "difference"], "rows": rows},
    }


def _printable(row: Row) -> dict[str, Any]:
    """The row with lone surrogates spelt out as in its file: no UTF-8 text can hold them."""
    text = json.dumps(row, ensure_ascii=False)
    spelt: dict[str, Any] = json.loads(re.sub("[\ud800-\udfff]", lambda unit: f"\\\\u{ord(unit[0]):04x}", text))
    return spelt
