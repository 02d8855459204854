from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from spark_fuzz.ledger import Ledger, open_ledger
from spark_fuzz.work import Row, Unit, attempt, feed
from stateful_tests.spark import toys
from stateful_tests.spark.processes import disk_of

COLUMNS = {"property": "string", "runs": "long", "total": "long", "digest": "binary"}
HEADER = {"campaign": "toy", "seed": 1, "version": "a"}
VERDICT = Verdict("sum", "campaign", Subject("decision", "squares"), Outcome.HOLDS, Outcome.HOLDS, "replay it")


def rows(*numbers: int) -> list[Row]:
    return [row for n in numbers for row in attempt(toys.squares, Unit(f"unit-{n}", {"n": n}))]


def failed(number: int) -> Row:
    return {"unit": f"unit-{number}", "error": "lost", "cpu_us": 1}


def stored(folder: Path) -> list[str]:
    with open_ledger(folder, HEADER, COLUMNS) as ledger:
        return list(ledger.rows())


def test_rows_come_back_as_they_went_in(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        assert ledger.rows() == {}
        ledger.add(rows(3, 1))
        ledger.add(rows(2))
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        found = [{**row, "cpu_us": 0} for kept in ledger.rows().values() for row in kept]
        assert found == [{**row, "cpu_us": 0} for row in rows(3, 1, 2)]
        assert ledger.done == {"unit-1", "unit-2", "unit-3"}


def test_a_unit_that_comes_twice_counts_once(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.add(rows(1, 2))
        assert [row["unit"] for row in ledger.add(rows(2, 3))] == ["unit-3"]
    assert stored(tmp_path) == ["unit-1", "unit-2", "unit-3"]


def test_a_file_that_was_stored_twice_counts_once(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.add(rows(1, 2))
    (tmp_path / "units-000007.parquet").write_bytes((tmp_path / "units-000000.parquet").read_bytes())
    assert stored(tmp_path) == ["unit-1", "unit-2"]
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.add(rows(3))
    assert (tmp_path / "units-000008.parquet").exists()


def test_a_failed_unit_is_not_done_and_its_later_success_counts(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        assert len(ledger.add([*rows(1), failed(2)])) == 2
        assert ledger.done == {"unit-1"}
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.add(rows(2))
    assert stored(tmp_path) == ["unit-1", "unit-2"]


def test_a_half_written_file_of_a_killed_run_is_not_seen(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.add(rows(1))
    (tmp_path / ".units-000001.parquet.tmp").write_bytes(b"PAR1 half")
    assert stored(tmp_path) == ["unit-1"]


@pytest.mark.parametrize(("header", "told"), [
    ({**HEADER, "seed": 2}, "seed 1, now 2"), ({**HEADER, "version": "b"}, "version a, now b"),
    ({**HEADER, "campaign": "other"}, "campaign toy, now other"),
])
def test_a_folder_of_another_campaign_is_refused_and_says_how_it_differs(
    tmp_path: Path, header: dict[str, object], told: str,
) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS):
        pass
    with pytest.raises(BadInputError, match=told), open_ledger(tmp_path, header, COLUMNS):
        pass


@pytest.mark.parametrize("text", ["", "[1]", "null", '{"format": "rocketproof-campaign/0"}'])
def test_a_header_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "campaign.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError, match=str(tmp_path)), open_ledger(tmp_path, HEADER, COLUMNS):
        pass


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.add(rows(1))
    (tmp_path / "units-000000.parquet").write_bytes(b"PAR1 damaged PAR1")
    with pytest.raises(BadInputError, match=r"units-000000\.parquet: damaged"), open_ledger(tmp_path, HEADER, COLUMNS):
        pass


def test_two_campaigns_never_write_to_one_folder(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS), pytest.raises(BadInputError, match="another campaign writes there"), \
            open_ledger(tmp_path, HEADER, COLUMNS):
        pass


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadInputError, match="cannot be written"), \
            open_ledger(tmp_path / "file" / "below", HEADER, COLUMNS):
        pass


def test_a_full_disk_keeps_what_was_written_readable(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.add(rows(1))
        ledger.write_verdicts([VERDICT])
        with disk_of(100):
            with pytest.raises(BadInputError, match="1 units and their verdicts are kept"):
                ledger.add(rows(2))
            with pytest.raises(BadInputError, match=r"verdicts\.jsonl: cannot be written"):
                ledger.write_verdicts([VERDICT] * 100)
        assert ledger.done == {"unit-1"}
    assert [Verdict.from_json(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()] == [VERDICT]
    assert stored(tmp_path) == ["unit-1"]
    assert not list(tmp_path.glob("*.tmp"))


def test_evidence_is_written_once_and_replaced_when_it_changes(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.write_evidence("a.json", {"n": 2})
        path = tmp_path / "evidence" / "a.json"
        first = path.stat().st_ino
        ledger.write_evidence("a.json", {"n": 2})
        assert path.stat().st_ino == first
        document = {"n": 1}
        ledger.write_evidence("a.json", document)
        assert json.loads(path.read_text()) == {"n": 1}
        path.unlink()
        ledger.write_evidence("a.json", document)  # the same object is not even turned into text again
        assert not path.exists()


def test_a_ledger_of_other_columns_is_refused(tmp_path: Path) -> None:
    with open_ledger(tmp_path, HEADER, COLUMNS) as ledger:
        ledger.add(rows(1))
    with pytest.raises(BadInputError, match="other columns"):
        Ledger(tmp_path, {"property": "string"})


def test_a_unit_that_hangs_ends_as_failed() -> None:
    def hangs(unit: Unit) -> Iterator[Row]:
        while unit.id:
            pass
        yield {}

    told = "OverTimeError: 0.1 s of CPU time are over"
    assert attempt(hangs, Unit("u"), cpu_limit_s=0.1)[0]["error"] == told
    assert attempt(toys.squares, Unit("u", {"n": 3}), cpu_limit_s=5)[0]["error"] is None


def test_equal_events_have_equal_digests_whatever_objects_they_are() -> None:
    text = str(b"c0", "ascii")
    assert digest([("c0", 1), ("c0", None)]) == digest([(text, 1), (text, None)])
    assert digest([("c0", 1)]) != digest([("c0", 2)])


def digest(events: object) -> bytes:
    fed = blake2b()
    feed(fed, events)
    return fed.digest()
