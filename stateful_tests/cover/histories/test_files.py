from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from invariants.histories.checks import CHECKS, Finding, Problem
from invariants.histories.judging import judged
from invariants.histories.operations import KINDS, TYPES, Operation, to_json
from invariants.histories.pictures import lines
from invariants.pictures.text import WIDEST
from invariants.verdict import BadInputError, ExitStatus, Verdict, exit_status
from spark_fuzz.histories.files import ARROW, LINES, PARQUET, read
from spark_fuzz.histories.generate import places_of, written
from spark_fuzz.histories.judge import judged as judged_file
from spark_fuzz.histories.made import FAULTS


def findings(path: Path) -> list[Finding]:
    operations = [row.operation for row in read(path) if row.operation is not None]
    return [one for one in judged(operations) if isinstance(one, Finding)]


def rows(path: Path, agree_ms: int | None = None) -> tuple[dict[str, Verdict], list[str]]:
    closing: list[str] = []
    return {one.property: one for one in judged_file(path, agree_ms, None, None, closing, lambda _: None)}, closing


def test_each_check_has_a_fault_that_is_planted() -> None:
    assert FAULTS.keys() == CHECKS.keys()


@pytest.mark.parametrize("suffix", [PARQUET[0], ARROW[0], LINES[0]])
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_planted_is_found_and_nothing_else(tmp_path: Path, suffix: str, seed: int) -> None:
    path = tmp_path / f"history{suffix}"
    _, planted = written(path, 3_000, tuple(FAULTS), seed)
    assert Counter(one[0] for one in planted).keys() == FAULTS.keys()
    assert Counter((one.check, *one.operations[-1].place) for one in findings(path)) == Counter(planted)
    assert len(places_of(path).read_text("utf-8").splitlines()) == len(planted)
    assert exit_status(rows(path)[0].values()) is ExitStatus.DIFFERENT


@pytest.mark.parametrize("seed", range(2, 6))
def test_faults_are_found_in_each_of_their_ways(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "history.parquet"
    _, planted = written(path, 16_000, tuple(FAULTS), seed)
    assert Counter((one.check, *one.operations[-1].place) for one in findings(path)) == Counter(planted)


def test_a_history_without_a_fault_is_silent_whatever_is_unusual_in_it(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    written(path, 65_000, (), 5)
    assert pq.read_table(path).num_rows >= 65_000
    kinds = {one.kind for row in read(path) if (one := row.operation) is not None}
    assert {"unknown", "failed", "revoked", "sent_back", "given_up", "half_rolled_back"} <= kinds
    assert exit_status(rows(path)[0].values()) is ExitStatus.AS_EXPECTED


def test_the_same_seed_makes_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "other"):
        written(tmp_path / f"{name}.jsonl", 3_000, ("lost", "early"), 3)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()


def test_findings_are_drawn_within_a_screen(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    written(path, 1_000, tuple(FAULTS), 1)
    drawn = [lines(one) for one in findings(path)]
    assert all(len(line) <= WIDEST for picture in drawn for line in picture)
    assert all(any("✗" in line for line in picture) for picture in drawn)


# Bad input ------------------------------------------------------------------------------------------------------------

SEND = Operation("send", "p", 1, "m")


def history_of(tmp_path: Path, *given: Operation | str) -> Path:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f"{one if isinstance(one, str) else to_json(one)}\n" for one in given), "utf-8")
    return path


@pytest.mark.parametrize(("row", "said"), [
    ("{", "row 2: not JSON"), ("3", "row 2: not a JSON object"), ('{"kind": "sent", "process": "p"}', "row 2: no kind"),
    ('{"kind": "send", "process": "p"}', "row 2: send has no message"),
    ('{"kind": "send", "process": "p", "mesage": "m"}', "row 2: no field is called 'mesage'"),
    ('{"kind": "send", "process": 3, "message": "m"}', "row 2: process is 3, which is no text"),
    ('{"kind": "send", "process": "p", "message": "m", "half": 1}', "row 2: half is 1, which is no boolean"),
    (f'{{"kind": "send", "process": "p", "message": "m", "time_ms": {2**63}}}', f"row 2: time_ms is {2**63}, which 64"),
    ('{"kind": "send", "process": "p", "message": "m", "time_ms": NaN}', "row 2: time_ms is NaN, which is no integer"),
    (f'{{"kind": "send", "process": "p", "offset": "{"x" * 999}"}}', f'row 2: offset is "{"x" * 59}…, which is no'),
    ('{"kind": "send", "process": "p", "message": "\\ud800"}', 'row 2: message is "\\ud800", which has half a char'),
    ("[" * 100_000, "row 2: no operation: its JSON is nested too deeply"),
    (to_json(Operation("acknowledged", "p", 2, "other")), "row 2: acknowledged of other without its send"),
    (to_json(Operation("consumed", "a", 2, "m", "g", "q", 0)), "row 2: consumed of m without its delivered"),
    (to_json(Operation("revoked", "a", 2, None, "g", "q")), "row 2: revoked of q from a without its assigned"),
    (to_json(Operation("acknowledged", "p", 1, "m")), "row 2: p has two operations with the number 1"),
    (to_json(Operation("send", "z", 1, "m")), "row 2: z sends m, the id of a message of p"),
    (to_json(Operation("acknowledged", "p", 2, "m", time_ms=4)), "row 2: the clock of p goes back"),
])
def test_a_bad_row_is_named_and_the_others_are_judged(tmp_path: Path, row: str, said: str) -> None:
    found, closing = rows(history_of(tmp_path, SEND._replace(time_ms=5), row))
    assert any(said in line for line in closing), closing
    assert found["history_is_well_formed"].outcome.is_unknown
    assert exit_status(found.values()) is ExitStatus.UNKNOWN


ASSIGNED = Operation("assigned", "a", 1, None, "g", "q", 0)
COMMITTED = Operation("committed", "a", 2, None, "g", "q", 1)
KEYED = Operation("send", "p", 1, "m", key="k")


@pytest.mark.parametrize(("given", "numbers"), [
    ((ASSIGNED, ASSIGNED._replace(queue="r")), [1]), ((ASSIGNED, Operation("restarted", "a", 1)), [1]),
    ((ASSIGNED, ASSIGNED._replace(process="b")), []), ((ASSIGNED, COMMITTED, COMMITTED._replace(offset=2)), [2]),
    ((ASSIGNED, COMMITTED, COMMITTED._replace(queue="r")), []), ((KEYED, KEYED._replace(message="n")), [1]),
    ((KEYED, KEYED._replace(message="n", seq=2)), []), ((KEYED, KEYED._replace(kind="unknown")), [1]),
])
def test_operations_that_have_no_order_are_named_once(given: tuple[Operation, ...], numbers: list[int]) -> None:
    told = [one for one in judged(given) if isinstance(one, Problem)]
    assert [one.operation.seq for one in told if "two operations with the number" in one.sentence] == numbers


def test_minus_one_is_how_rocketmq_says_that_a_group_has_the_usual_number_of_attempts(tmp_path: Path) -> None:
    again = [Operation(kind, "a", 2 + number, "m", "g", "q", 0, attempt=attempt)
             for number, (kind, attempt) in enumerate((("delivered", 16), ("given_up", 16), ("delivered", 17)))]
    sent = (SEND, Operation("unknown", "p", 2, "m"), ASSIGNED._replace(max_attempts=-1))
    assert rows(history_of(tmp_path, *sent, *again[:2]))[0]["given_up_after_its_attempts"].outcome == "holds"
    assert rows(history_of(tmp_path, *sent, *again))[0]["given_up_after_its_attempts"].outcome == "violated"


def test_rows_are_named_in_their_order_and_a_byte_order_mark_is_none_of_them(tmp_path: Path) -> None:
    path = history_of(tmp_path, SEND, Operation("failed", "p", 2, "m"), *["{}"] * 9)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    closing = rows(path)[1]
    assert [line.partition("row ")[2].partition(":")[0] for line in closing[:3]] == ["3", "4", "5"]


def test_what_is_no_file_is_bad_input_and_nothing_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    for name in ("pipe.jsonl", "."):
        with pytest.raises(BadInputError, match="no file that can be read more than once"):
            rows(tmp_path / name)


def test_a_line_that_is_whole_is_not_said_to_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text("[]", "utf-8")
    with pytest.raises(BadInputError, match=r"row 1: not a JSON object$"):
        rows(path)


def test_a_file_that_is_cut_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    written(path, 1_000, ("lost",), 1)
    path.write_bytes(path.read_bytes()[:-20])
    found, closing = rows(path)
    assert "the file ends in the middle of it" in closing[0]
    assert found["history_is_well_formed"].outcome.is_unknown


def test_an_arrow_stream_that_is_cut_is_judged_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "history.arrow"
    written(path, 20_000, (), 1)
    path.write_bytes(path.read_bytes()[:-path.stat().st_size // 3])
    found, closing = rows(path)
    assert "cannot be read from here on" in closing[0]
    assert found["history_is_well_formed"].cost["operations"] > 1_000


def test_a_parquet_file_that_is_cut_or_of_another_shape(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    pq.write_table(pa.table({"kind": ["send"], "process": ["p"], "seq": ["1"]}), path)
    with pytest.raises(BadInputError, match="the column seq is of type string, not int64"):
        rows(path)
    pq.write_table(pa.table({"kind": ["send"], "process": ["p"], "seq": [1], "colour": ["red"]}), path)
    with pytest.raises(BadInputError, match="the column colour is none of a history"):
        rows(path)
    pq.write_table(pa.table([["send"], ["p"], [1], [1]], ["kind", "process", "seq", "seq"]), path)
    with pytest.raises(BadInputError, match="has two columns seq"):
        rows(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadInputError, match="is it cut in the middle"):
        rows(path)


@pytest.mark.parametrize(("given", "said"), [
    ("", "/history.jsonl: has no operation$"), ('{"rocketproof_history": 2}\n', "history.jsonl"),
    ("[\n", "^[^:]*history.jsonl, row 1: not JSON"),
])
def test_a_history_without_operations_is_bad_input(tmp_path: Path, given: str, said: str) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text(given, "utf-8")
    with pytest.raises(BadInputError, match=said):
        rows(path)


def test_what_is_packed_and_what_is_no_utf_8_is_said_to_be_so(tmp_path: Path) -> None:
    packed = tmp_path / "history.jsonl.gz"
    packed.write_bytes(b"")
    with pytest.raises(BadInputError, match="not a history by its name; unpack it first"):
        rows(packed)
    path = history_of(tmp_path, SEND, Operation("failed", "p", 2, "m"))
    path.write_bytes(path.read_bytes() + b'{"kind": "send", "process": "p\xff"}\n')
    found, closing = rows(path)
    assert "row 3: not UTF-8 (invalid start byte at byte 31 of the line), which JSON lines must be" in closing[0]
    assert found["history_is_well_formed"].outcome.is_unknown


def test_clocks_of_two_machines_are_believed_only_if_somebody_vouches_for_them(tmp_path: Path) -> None:
    path = history_of(
        tmp_path, SEND._replace(delay_ms=100, time_ms=1_000), Operation("acknowledged", "p", 2, "m", time_ms=1_001),
        Operation("delivered", "a", 1, "m", "g", "q", 0, 1_050), Operation("consumed", "a", 2, "m", "g", "q", 0, 1_051))
    assert rows(path)[0]["delays_are_waited"].outcome.is_unknown
    assert rows(path, 10)[0]["delays_are_waited"].outcome == "violated"
    assert rows(path, 60)[0]["delays_are_waited"].outcome == "holds"


def test_what_a_history_has_nothing_of_is_not_met_and_no_success(tmp_path: Path) -> None:
    found, _ = rows(history_of(tmp_path, SEND, Operation("failed", "p", 2, "m")))
    half = found["half_messages_are_resolved"]
    assert (half.outcome, half.as_expected, half.note) == ("not met", True, "the history has no half")
    found, _ = rows(history_of(tmp_path, SEND._replace(half=True), Operation("failed", "p", 2, "m")))
    assert found["half_messages_are_resolved"].outcome == "holds"


def test_the_page_says_what_is_declared() -> None:
    page = Path("docs/histories.md").read_text("utf-8")
    for one in CHECKS.values():
        assert f"| {one.name} | {one.property} | {one.sentence} | {one.by.split()[0]} |" in page
    assert [name for name in (*TYPES, *KINDS) if f"`{name}`" not in page] == []
