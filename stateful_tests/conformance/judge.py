"""The judge `conform`: what the replay of recordings and the start on store images found, as verdict rows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.conformance.adapters import ADAPTERS
from stateful_tests.conformance.replay import FileResult, Row, recordings, replay, stem
from stateful_tests.conformance.store_answers import compare_image
from stateful_tests.conformance.store_images import Image, images

RECORDINGS = Path(__file__).parent / "recordings"
PROPERTY = "conforms_to_recordings"
JUDGE = "conform"
IMAGE = "store image"  # the kind of such a subject


def conform(
    vectors: Path = RECORDINGS, files: Sequence[str] = (), out: Path | None = None,
    progress: Callable[[Path, int], None] = lambda _path, _rows: None,
) -> Iterator[Verdict]:
    """One verdict for each recording of a directory, in the order of their names, then for each store image below it.

    files -- only these recordings, with or without suffix, or images (CASE/IMAGE, or all of a CASE).
    out -- directory for evidence files, None writes none. progress -- called with the file and the rows compared so
    far.
    A recording that no adapter compares, or with rows that the adapter does not understand, is unknown.
    Raises BadInputError for a directory or name that is not there; for files that are no recordings after the others.
    """
    own = vectors.resolve() == RECORDINGS.resolve()
    bad: list[BadInputError] = []
    for result in _results(*chosen(vectors, files), progress, bad):
        yield _with_evidence(verdict(result, own=own), result, out)
    if bad:
        raise bad[0]


def chosen(vectors: Path, files: Sequence[str] = ()) -> tuple[list[Path], list[Image]]:
    """The recordings and the images of a directory that are meant by these names; raises BadInputError."""
    found = list(images(vectors)) if vectors.is_dir() else []
    wanted = [image for image in found if not files or set(files) & set(image.names)]
    others = [name for name in files if not any(name in image.names for image in found)]
    if (files or found) and not others and (files or not any(vectors.glob("*.jsonl*"))):
        return [], wanted
    return recordings(vectors, others), wanted


def _results(
    paths: Sequence[Path], wanted: Sequence[Image], progress: Callable[[Path, int], None], bad: list[BadInputError],
) -> Iterator[FileResult]:
    """What was found; an error waits in `bad` until all else is done."""
    if paths:
        try:
            yield from replay(paths[0].parent, ADAPTERS, [path.name for path in paths], progress)
        except BadInputError as error:
            bad.append(error)
    for image in wanted:
        try:
            result = compare_image(image)
        except BadInputError as error:
            bad.append(error)
        else:
            progress(image.path, result.rows)
            yield result


def replayed_image(document: Mapping[str, Any]) -> str | None:
    """What differs now in the row of an image that the evidence is about; None: nothing does.

    Raises LookupError if the image is gone.
    """
    words = shlex.split(document["replay"])
    folder = Path(words[words.index("--vectors") + 1]) if "--vectors" in words[:-1] else RECORDINGS
    image = next((one for one in images(folder) if one.name == document["subject"]["name"]), None)
    if image is None:
        raise LookupError(f"no image {document['subject']['name']} in {folder}")
    found = compare_image(image)
    line = document["arguments"]["line"]
    return next((one.sentence for one in found.first if one.line == line), None)


def verdict(result: FileResult, *, own: bool) -> Verdict:
    """The verdict on one file; own -- whether it is one of the project's, where each listed deviation must occur."""
    outcome, note = _outcome(result, own=own)
    cost: dict[str, float] = {
        "rows": result.rows, "different": result.different, "not_understood": result.not_understood,
        "deviating": sum(result.deviating.values()), "seconds": round(result.seconds, 3),
    }
    directory = "" if own else f" --vectors {shlex.quote(str(result.folder))}"
    kind = IMAGE if result.label else "recording"
    subject = Subject(kind, result.name, {"java": result.header.get("java", "")})
    return Verdict(
        property=PROPERTY, judge=JUDGE, subject=subject,
        expected=Outcome.HOLDS, outcome=outcome, cost=cost, note=note,
        replay=f"rocketproof conform{directory} --file {shlex.quote(result.name)}",
    )


def _outcome(result: FileResult, *, own: bool) -> tuple[Outcome, str]:
    if not result.compared:
        return Outcome.UNKNOWN, "not compared: no adapter" if result.header else "not compared: not a recording"
    if result.different:
        return Outcome.VIOLATED, f"line {result.first[0].line}: {result.first[0].sentence}"
    if result.not_understood:
        first = result.first[0]
        return Outcome.UNKNOWN, f"{result.not_understood} rows not compared; line {first.line}: {first.sentence}"
    if result.rows == 0:
        return Outcome.UNKNOWN, "not compared: no rows"
    if own and result.stale:
        return Outcome.VIOLATED, f"a listed deviation no longer occurs: {result.stale[0]}"
    return Outcome.HOLDS, "; ".join(f"{rows} rows deviate: {reason}" for reason, rows in result.deviating.items())


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
