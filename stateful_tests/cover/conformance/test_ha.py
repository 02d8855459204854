"""The recorded connection of a master and its slave: a changed byte, offset or report is noticed, wherever it is."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

from impl.store.ha import ha_client, ha_connection
from invariants.commands.evidence import compared_again
from invariants.verdict import BadInputError, Outcome
from stateful_tests.conformance.judge import RECORDINGS, conform
from stateful_tests.conformance.replay import FileResult
from stateful_tests.conformance.wire import ha_compared
from stateful_tests.conformance.wire.ha import compare_ha
from stateful_tests.conformance.wire.recorded import Scenario

WIRE = RECORDINGS / "wire"
NAME = "ha-replication.jsonl"
FILE_BYTES = 65_536
BATCH_BYTES = 32_768
Rows = list[dict[str, Any]]
Sent = list[tuple[int, int]]  # offset and size of each frame


def recorded() -> Rows:
    return [json.loads(line) for line in gzip.decompress((WIRE / f"{NAME}.gz").read_bytes()).splitlines()]


def compared(folder: Path, rows: Rows) -> FileResult:
    """What is found in a file of these rows, beside the recorded sends."""
    shutil.copy(WIRE / "replication.jsonl.gz", folder)
    (folder / NAME).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return compare_ha(Scenario(folder / NAME))


def changed(rows: Rows, seq: int, place: int, new: bytes) -> Rows:
    """The rows with other bytes at a place of one chunk."""
    data = bytearray.fromhex(rows[seq]["hex"])
    assert bytes(data[place:place + len(new)]) != new
    data[place:place + len(new)] = new
    return [*rows[:seq], rows[seq] | {"hex": data.hex()}, *rows[seq + 1:]]


def log() -> bytes:
    """The recorded log."""
    found = b""
    for conn in (11, 16):
        stream = b"".join(bytes.fromhex(row["hex"]) for row in recorded() if (row["conn"], row["dir"]) == (conn, "m2s"))
        while stream:
            _, size = struct.unpack_from(">qi", stream)
            found, stream = found + stream[12:12 + size], stream[12 + size:]
    return found


def connection(conn: int, at_ms: int, first_report: int, sent: Sent) -> Rows:
    """A slave that reports the end of its log, and then each frame that comes."""
    data, rows = log(), []
    places = {"s2m": 0, "m2s": 0}

    def add(direction: str, part: bytes) -> None:
        rows.append({"conn": conn, "link": "ha", "dir": direction, "at_ms": at_ms, "stream_offset": places[direction],
                     "len": len(part), "hex": part.hex()})
        places[direction] += len(part)

    add("s2m", struct.pack(">q", first_report))
    for offset, size in sent:
        add("m2s", struct.pack(">qi", offset, size) + data[offset:offset + size])
        add("s2m", struct.pack(">q", offset + size))
    return rows


def test_what_was_recorded_is_what_ours_do() -> None:
    (row,) = conform(files=["wire/ha-replication"])
    assert row.outcome == Outcome.HOLDS
    assert row.cost["rows"] == 361
    assert row.cost["different"] == 0
    assert row.note == f"6 not compared: {ha_compared.HEARTBEAT}"


@pytest.mark.parametrize(("seq", "place", "new", "sentence"), [
    (2, 0, struct.pack(">q", 568), "report: expected 568, got 567"),
    (4, 0, struct.pack(">q", 567), "report: 567 is repeated after 6 ms"),
    (5, 0, struct.pack(">q", 0), "first frame"),
    (5, 0, struct.pack(">q", 747), "first frame"),
    (0, 0, struct.pack(">q", 1 << 60), "first frame"),
    (88, 0, struct.pack(">q", 68_859), "report: expected 68859"),
    (3, 0, struct.pack(">q", 568), "frame: expected the offset 567, got 568"),
    (89, 0, struct.pack(">q", 68_861), "frame: expected the offset 68860"),
    (3, 8, struct.pack(">i", 178), "report: expected 746, got 745"),
    (8, 12 + 2, b"\0", "can read"),
    (8, 12 + 27, b"\x08", "the record that our master puts at 1354"),
    (8, 12 + 35, b"\0", "the record that our master puts"),
    (8, 12 + 55, b"\0", "bornHost of the record at 1327"),
    (8, 12 + 61, b"\0", "storeTimestamp of the record at 1327"),
    (8, 12 + 83, b"\x09", "preparedTransactionOffset of the record at 1327"),
    (8, 12 + 90, b"!", "can read"),
    (8, 12 + 1_661, b"!", "CLUSTER of the record at 1327"),
    (8, 12 + 1_600, b"!", "can read"),
    (8, 12 + 1_640, b"!", "properties of the record at 1327"),
])
def test_a_change_is_noticed(tmp_path: Path, seq: int, place: int, new: bytes, sentence: str) -> None:
    found = compared(tmp_path, changed(recorded(), seq, place, new))
    assert found.different
    assert not found.not_understood
    assert any(sentence in one.sentence for one in found.first), [one.sentence for one in found.first]


def test_a_frame_that_is_sent_twice_with_other_bytes_is_noticed(tmp_path: Path) -> None:
    rows, again = recorded(), connection(20, 60_000, 67_198, [(67_198, 1_662)])
    found = compared(tmp_path, [*rows[:-1], *again, rows[-1]])
    assert not found.different
    assert found.aside[ha_compared.BEFORE] == 1, "a second slave"
    again = changed(again, 1, 12 + 1_000, b"!")
    found = compared(tmp_path, [*rows[:-1], *again, rows[-1]])
    assert "other bytes at 67198" in found.first[0].sentence


# Other courses than the recorded one ----------------------------------------------------------------------------------

FIRST = [(0, 567), (567, 179)]
BEHIND = [(746, BATCH_BYTES), (746 + BATCH_BYTES, FILE_BYTES - 746 - BATCH_BYTES), (FILE_BYTES, 3_324)]


def test_a_slave_that_was_behind_gets_frames_of_a_batch_and_of_one_file(tmp_path: Path) -> None:
    rows = [*connection(1, 100, 0, FIRST), *connection(2, 9_000, 746, BEHIND)]
    found = compared(tmp_path, rows)
    assert [one.sentence for one in found.first] == []
    assert found.rows > 100


@pytest.mark.parametrize("sent", [
    [(746, BATCH_BYTES + 1), (747 + BATCH_BYTES, FILE_BYTES - 747 - BATCH_BYTES)],
    [(746, BATCH_BYTES), (746 + BATCH_BYTES, 32_100)],
])
def test_a_frame_that_is_too_long_is_noticed(tmp_path: Path, sent: Sent) -> None:
    found = compared(tmp_path, [*connection(1, 100, 0, FIRST), *connection(2, 9_000, 746, sent)])
    assert any("expected at most 32768 bytes of one file" in one.sentence for one in found.first)


def test_a_new_slave_gets_the_newest_file_only(tmp_path: Path) -> None:
    new = connection(20, 60_000, 0, [(FILE_BYTES, 3_324)])
    assert not compared(tmp_path, [*recorded(), *new]).different
    old = connection(20, 60_000, 0, [(0, BATCH_BYTES)])
    found = compared(tmp_path, [*recorded(), *old])
    assert "our master begins at: expected 0, got 65536" in found.first[0].sentence


def test_what_a_slave_had_before_the_recording_is_named(tmp_path: Path) -> None:
    found = compared(tmp_path, connection(2, 9_000, 746, BEHIND))
    assert not found.different
    assert found.aside[ha_compared.BEFORE] == 1


def test_a_slave_that_ends_before_it_reports_is_named(tmp_path: Path) -> None:
    found = compared(tmp_path, connection(1, 100, 0, FIRST)[:-1])
    assert not found.different
    assert found.aside == {ha_compared.UNREPORTED: 1}


def test_a_recording_that_ends_within_a_record_is_named(tmp_path: Path) -> None:
    found = compared(tmp_path, connection(1, 100, 0, [(0, 567), (567, 100)]))
    assert not found.different
    assert found.aside == {ha_compared.TORN: 1}


@pytest.mark.parametrize(("module", "name", "wrong"), [
    (ha_client, "is_frame_accepted", lambda *_: False),
    (ha_connection, "first_transfer_offset", lambda request, *_: request + 1),
    (ha_connection, "is_report_accepted", lambda *_: False),
    (ha_client.HAClient, "_report_slave_max_offset_plus", lambda *_: True),
])
def test_a_fault_of_ours_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, wrong: Any,
) -> None:
    monkeypatch.setattr(module, name, wrong)
    assert compared(tmp_path, recorded()).different


def test_a_difference_is_replayed(tmp_path: Path) -> None:
    folder = tmp_path / "wire"
    folder.mkdir()
    (folder / "index.json").write_text("{}", "utf-8")
    compared(folder, changed(recorded(), 2, 0, struct.pack(">q", 568)))
    (row,) = conform(tmp_path, ["wire/ha-replication"], out=tmp_path)
    assert row.outcome == Outcome.VIOLATED
    document = json.loads((tmp_path / str(row.evidence)).read_text("utf-8"))
    assert compared_again(document).outcome == Outcome.VIOLATED
    compared(folder, recorded())
    assert compared_again(document).outcome == Outcome.HOLDS


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [
    {"dir": "c2s"}, {"hex": "zz"}, {"stream_offset": 4}, {"len": 9}, {"conn": None}, {"at_ms": "x"},
])
def test_a_line_that_is_no_chunk_is_bad_input(tmp_path: Path, change: dict[str, Any]) -> None:
    rows = recorded()
    with pytest.raises(BadInputError, match=r"ha-replication.jsonl:1: .*record the file again"):
        compared(tmp_path, [rows[0] | change, *rows[1:]])


def test_a_missing_key_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"not a chunk .*'conn' is missing"):
        compared(tmp_path, [{}])
