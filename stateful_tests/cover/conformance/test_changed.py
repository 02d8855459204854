"""Recordings as a judge of variants: what differs by the variant is told, and nothing else is put down to it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from invariants.commands.conform import app
from invariants.runs import HARMLESS, NOTICED
from invariants.verdict import BadInputError, Outcome, Verdict
from stateful_tests.conformance.changed import judged
from stateful_tests.conformance.judge import RECORDINGS, conform

OTHER_PREFIX = """
from impl.decisions import names
from impl.variants.variant import Variant, replace


@replace(names, "get_retry_topic")
def other(consumer_group):
    return "%DLQ%" + consumer_group


VARIANT = Variant("other-prefix", "{kind}", "Retry topics have another prefix.", {more}replacements=(other,))
"""


def written(folder: Path, kind: str, more: str = "") -> str:
    path = folder / f"{kind}.py"
    path.write_text(OTHER_PREFIX.format(kind=kind, more=more), encoding="utf-8")
    return str(path)


def on(variant: str, *files: str, vectors: Path = RECORDINGS) -> Verdict:
    return judged(variant, None, vectors, files)


def test_a_bug_that_answers_otherwise_is_noticed(tmp_path: Path) -> None:
    row = on(written(tmp_path, "bug"), "names", "delay-levels")
    assert (row.property, row.outcome, row.as_expected) == (NOTICED, Outcome.HOLDS, True)
    assert row.note.startswith("names.jsonl.gz differs: line ")
    assert "names.get_retry_topic (" in row.note
    assert row.replay == f"rocketproof conform --variant {tmp_path}/bug.py --file names.jsonl.gz"


def test_a_change_that_answers_otherwise_breaks_something(tmp_path: Path) -> None:
    row = on(written(tmp_path, "change"), "names")
    assert (row.property, row.outcome) == (HARMLESS, Outcome.VIOLATED)
    assert row.cost["different"] > 0


def test_what_is_called_and_answers_alike_is_not_noticed() -> None:
    row = on("ha-garbage-ack", "wire/ha-replication")
    assert (row.property, row.outcome) == (NOTICED, Outcome.VIOLATED)
    assert row.note.startswith("no file of 1 differs; replaced: impl.decisions.replication.is_report_accepted (")


def test_what_no_recording_calls_is_never_executed(tmp_path: Path) -> None:
    assert on(written(tmp_path, "bug"), "delay-levels").outcome is Outcome.NEVER_EXECUTED


def test_the_implementation_is_as_before_afterwards(tmp_path: Path) -> None:
    on(written(tmp_path, "bug"), "names")
    assert [row.outcome for row in conform(files=["names"])] == [Outcome.HOLDS]


def test_a_repair_is_not_asked(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"it differs on purpose from 4\.9\.3 as shipped"):
        on(written(tmp_path, "repair", 'hazards=("B-7",), '), "names")


def test_what_differs_on_the_base_too_is_not_put_down_to_the_variant(tmp_path: Path) -> None:
    lines = gzip.decompress((RECORDINGS / "names.jsonl.gz").read_bytes()).decode().splitlines()[:6]
    wrong = lines[5].replace('"retry":"%RETRY%a"', '"retry":"%OTHER%a"')
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "names.jsonl").write_text(f"{lines[0]}\n{wrong}\n", encoding="utf-8")
    row = on(written(tmp_path, "bug"), vectors=tmp_path / "recorded")
    assert row.outcome is Outcome.VIOLATED
    assert row.note.startswith("no file of 1 differs")
    assert row.replay == f"rocketproof conform --variant {tmp_path}/bug.py --vectors {tmp_path}/recorded"


@pytest.mark.parametrize(("options", "told"), [
    (("--base", "shipped"), "--base shipped: say with --variant what lies on it"),
    (("--variant", "no-such-bug"), "no planted bug 'no-such-bug'"),
    (("--variant", "ha-garbage-ack", "--exec", "port"), "leave --vectors, --file and --variant out"),
])
def test_bad_input_is_refused(options: tuple[str, ...], told: str) -> None:
    result = CliRunner().invoke(app, [*options])
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())


def test_the_command_says_it(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["--variant", written(tmp_path, "bug"), "--file", "names", "--json", "-"])
    assert result.exit_code == 0
    assert json.loads(result.stdout.splitlines()[0])["property"] == NOTICED
