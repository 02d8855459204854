"""Files that are no recordings, rows that nobody understands, deviations, and the command around it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from invariants import evidence
from invariants.verdict import BadInputError, Outcome, Verdict
from stateful_tests.conformance import judge
from stateful_tests.conformance.__main__ import app
from stateful_tests.conformance.adapters.comparison import compare, difference
from stateful_tests.conformance.deviations import Deviation
from stateful_tests.conformance.judge import conform, verdict
from stateful_tests.conformance.replay import SHOWN, Row, replay, replay_file

HEADER = {"what": "numbers", "java": "Math#abs", "version": "4.9.3", "args": "a", "result": "r", "errors": ""}
GOOD = {"a": "AllocateMessageQueueAveragely", "r": "AVG"}
WRONG = {"a": "AllocateMessageQueueAveragely", "r": "CIRCLE"}


def absolute(row: Row) -> str | None:
    return compare(row, lambda: abs(row["a"]))


ABS = {"abs": absolute}


def write(folder: Path, name: str, *rows: Any, header: Any = None) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in [header or HEADER, *rows]).encode()
    path = folder / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


def names_file(folder: Path, *rows: Any) -> Path:
    return write(folder, "allocation-names.jsonl", *rows)


def test_plain_and_compressed_files_are_compared(tmp_path: Path) -> None:
    for name in ("abs.jsonl", "abs.jsonl.gz"):
        result = replay_file(write(tmp_path, name, {"a": -1, "r": 1}, {"a": 2, "r": 3}), ABS)
        assert (result.rows, result.different, result.not_understood) == (2, 1, 0)
        assert result.first[0].line == 3
        assert result.first[0].sentence == 'expected {"r": 3}, got {"r": 2}'


def test_only_the_first_differences_are_kept(tmp_path: Path) -> None:
    result = replay_file(write(tmp_path, "abs.jsonl", *[{"a": 1, "r": 2}] * 30), ABS)
    assert (result.different, len(result.first)) == (30, SHOWN)


def test_a_crash_of_the_implementation_differs_and_a_row_that_is_not_understood_is_never_equal(tmp_path: Path) -> None:
    result = replay_file(write(tmp_path, "abs.jsonl", {"a": "x", "r": 1}, {"b": 1}, {"a": 1}), ABS)
    assert (result.rows, result.different, result.not_understood) == (3, 1, 2)
    assert "TypeError" in result.first[0].sentence
    assert "not understood (KeyError" in result.first[1].sentence
    only = verdict(replay_file(write(tmp_path, "abs.jsonl", {"b": 1}), ABS), own=False)
    assert only.outcome is Outcome.UNKNOWN
    assert not only.as_expected


def test_values_are_compared_as_json_not_as_python_values() -> None:
    assert difference(True, 1) is not None
    assert difference(1, 1.0) is not None
    assert difference([1, {"b": 2, "a": 1}], [1, {"a": 1, "b": 2}]) is None


def test_files_without_an_adapter_are_reported_as_not_compared(tmp_path: Path) -> None:
    write(tmp_path, "strange.jsonl", {"a": 1, "r": 1})
    (tmp_path / "notes.txt").write_text("no recording", encoding="utf-8")
    (tmp_path / "README.md").write_text("about", encoding="utf-8")
    rows = list(conform(tmp_path))
    assert [(row.subject.name, row.outcome, row.note) for row in rows] == [
        ("notes.txt", Outcome.UNKNOWN, "not compared: not a recording"),
        ("strange.jsonl", Outcome.UNKNOWN, "not compared: no adapter"),
    ]
    assert rows[1].replay == f"rocketproof conform --vectors {tmp_path} --file strange.jsonl"


def test_a_recording_without_rows_is_not_a_success(tmp_path: Path) -> None:
    names_file(tmp_path)
    assert [(row.outcome, row.note) for row in conform(tmp_path)] == [(Outcome.UNKNOWN, "not compared: no rows")]


BROKEN: list[tuple[str, bytes, str]] = [
    ("line 2 is no JSON", json.dumps(HEADER).encode() + b"\n{nonsense\n", r"x\.jsonl:2: not a line of JSON"),
    ("row is no object", json.dumps(HEADER).encode() + b"\n[1]\n", r"x\.jsonl:2: a row must be a JSON object"),
    ("bytes are no UTF-8", json.dumps(HEADER).encode() + b'\n{"a": "\xff"}\n', r"x\.jsonl:2: not a line of JSON"),
    ("header is a row", b'{"a": 1, "r": 1}\n', r"x\.jsonl:1: no header of a recording, 'what' is missing"),
    ("other version", json.dumps({**HEADER, "version": "5"}).encode(), r"x\.jsonl:1: recorded from version 5,"),
    ("empty", b"", r"x\.jsonl:1: empty file"),
    ("too deep", json.dumps(HEADER).encode() + b"\n" + b"[" * 100_000 + b"\n", r"x\.jsonl:2: not a line of JSON"),
]


@pytest.mark.parametrize(("content", "message"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_broken_files_name_file_and_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    for adapters in ({}, {"x": absolute}):
        with pytest.raises(BadInputError, match=message):
            replay_file(path, adapters)


@pytest.mark.parametrize("keep", [0, 5, -20])
def test_a_truncated_or_foreign_gz_names_file_and_line(keep: int, tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl.gz", *[{"a": number, "r": number} for number in range(5000)])
    path.write_bytes(path.read_bytes()[:keep] or b"not gzip at all")
    with pytest.raises(BadInputError, match=r"x\.jsonl\.gz:\d+: cannot be read"):
        replay_file(path, {"x": absolute})


def test_directories_and_names_that_are_not_there_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no such directory"):
        list(conform(tmp_path / "nowhere"))
    with pytest.raises(BadInputError, match=r"no \*\.jsonl"):
        list(conform(tmp_path))
    names_file(tmp_path, GOOD)
    with pytest.raises(BadInputError, match="no recording 'other' in it; there are allocation-names"):
        list(conform(tmp_path, ["other"]))


def test_the_other_files_are_judged_before_a_broken_one_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("nonsense", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text("nonsense", encoding="utf-8")
    names_file(tmp_path, GOOD)
    found: list[Verdict] = []
    with pytest.raises(BadInputError, match=r"a\.jsonl:1.*and 1 more"):
        found.extend(conform(tmp_path))
    assert [row.outcome for row in found] == [Outcome.HOLDS]


def test_a_listed_deviation_explains_its_rows_and_a_stale_one_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = Deviation("abs", r"got \{\"r\": 2\}", "two is as good")
    stale = Deviation("abs", "never", "gone")
    path = write(tmp_path, "abs.jsonl", {"a": 2, "r": 3}, {"a": 1, "r": 1})
    result = replay_file(path, ABS, [known])
    assert (result.different, result.deviating, result.stale) == (0, {"two is as good": 1}, [])
    assert verdict(result, own=True).note == "1 rows deviate: two is as good"
    result = replay_file(path, ABS, [known, stale])
    assert verdict(result, own=False).outcome is Outcome.HOLDS
    assert verdict(result, own=True).outcome is Outcome.VIOLATED
    assert "no longer occurs: gone" in verdict(result, own=True).note
    monkeypatch.setattr(judge, "RECORDINGS", tmp_path)
    assert replay_file(path, ABS, [stale]).different == 1


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    write(tmp_path, "abs.jsonl", *[{"a": 1, "r": 1}] * 600)
    list(replay(tmp_path, ABS, progress=lambda path, rows: told.append((path.name, rows))))
    assert told == [("abs.jsonl", 256), ("abs.jsonl", 512)]


def test_evidence_spells_out_lone_surrogates(tmp_path: Path) -> None:
    write(tmp_path, "string-hash.jsonl", {"a": "x\ud800\u8ba2", "hash": 0, "single": 0, "multi": 0, "none": 0})
    (row,) = conform(tmp_path, out=tmp_path)
    assert evidence.read(tmp_path / str(row.evidence))["arguments"] == {"line": 2, "a": "x\\ud800\u8ba2"}


def test_an_interrupted_command_keeps_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names_file(tmp_path, GOOD)

    def interrupted(*arguments: Any) -> Iterator[Verdict]:
        yield from conform(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(judge, "conform", interrupted)
    result = CliRunner().invoke(app, ["--vectors", str(tmp_path)])
    assert result.exit_code == 3
    assert "interrupted" in result.stderr
    assert "allocation-names.jsonl" in result.stdout


def test_the_command_prints_a_table_and_exits_by_the_verdicts(tmp_path: Path) -> None:
    run = CliRunner().invoke
    names_file(tmp_path, GOOD)
    same = run(app, ["--vectors", str(tmp_path)])
    assert same.exit_code == 0
    assert "allocation-names.jsonl" in same.stdout
    assert "holds" in same.stdout
    names_file(tmp_path, GOOD, WRONG)
    rows = tmp_path / "verdicts.out"
    options = ["--file", "allocation-names", "--json", str(rows), "--out", str(tmp_path)]
    other = run(app, ["--vectors", str(tmp_path), *options])
    assert other.exit_code == 1
    assert 'expected {"r": "CIRCLE"}, got {"r": "AVG"}' in other.stdout
    (row,) = map(Verdict.from_json, rows.read_text(encoding="utf-8").splitlines())
    assert (row.outcome, row.cost["rows"], row.cost["different"]) == (Outcome.VIOLATED, 2, 1)
    assert (tmp_path / str(row.evidence)).is_file()


def test_the_command_says_what_is_wrong_with_its_input(tmp_path: Path) -> None:
    run = CliRunner().invoke
    names_file(tmp_path, GOOD)
    (tmp_path / "broken.jsonl").write_text("nonsense", encoding="utf-8")
    result = run(app, ["--vectors", str(tmp_path), "--json", "-"])
    assert result.exit_code == 2
    assert "broken.jsonl:1: not a line of JSON" in result.stderr
    assert Verdict.from_json(result.stdout.splitlines()[0]).outcome is Outcome.HOLDS
    (tmp_path / "broken.jsonl").unlink()
    write(tmp_path, "strange.jsonl", GOOD)
    assert run(app, ["--vectors", str(tmp_path)]).exit_code == 3
    assert run(app, ["--vectors", str(tmp_path / "nowhere")]).exit_code == 2
