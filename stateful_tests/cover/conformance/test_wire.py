"""Recorded traffic: what differs is noticed, whatever part of an answer it is in, and what is not compared is named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from impl.remoting.frame_decoder import FrameDecoder
from impl.remoting.remoting_command import RemotingCommand, decode, encode
from invariants.verdict import BadInputError, Outcome
from stateful_tests.conformance.judge import RECORDINGS, conform
from stateful_tests.conformance.wire.answers import ASIDE
from stateful_tests.conformance.wire.contents import CONTENTS
from stateful_tests.conformance.wire.hostile import compare_hostile
from stateful_tests.conformance.wire.judging import compare_scenario
from stateful_tests.conformance.wire.recorded import Scenario, scenarios
from stateful_tests.conformance.wire.times import ordered
from stateful_tests.conformance.wire.traffic import NOT_SERVED, PUSHES, Lived, Traffic
from stateful_tests.worlds.world import World

WIRE = RECORDINGS / "wire"
Change = Callable[[RemotingCommand], bool]


def rewritten(folder: Path, name: str, change: Change) -> Scenario:
    """A scenario of which the first frame that `change` takes is another one."""
    changed, lines = False, []
    for line in gzip.decompress((WIRE / f"{name}.jsonl.gz").read_bytes()).splitlines():
        row = json.loads(line)
        command = decode(bytes.fromhex(row["frame_hex"])[4:], lambda: 0)
        if not changed and change(command):
            changed, row["frame_hex"] = True, encode(command).hex()
        lines.append(json.dumps(row))
    assert changed
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return Scenario(folder / f"{name}.jsonl")


def field(name: str, value: str, code: int | None = None) -> Change:
    """Another value of an ext field of a response."""

    def change(command: RemotingCommand) -> bool:
        fields = command.ext_fields
        if not command.is_response or fields is None or fields.get(name) is None or fields.get(name) == value:
            return False
        fields.put(name, value)
        return code is None or command.code == code

    return change


def code(value: int) -> Change:
    def change(command: RemotingCommand) -> bool:
        if not command.is_response or command.code != 0:
            return False
        command.code = value
        return True

    return change


def remark(command: RemotingCommand) -> bool:
    if not command.is_response or command.remark is None:
        return False
    command.remark += "!"
    return True


def body(old: bytes, new: bytes) -> Change:
    def change(command: RemotingCommand) -> bool:
        if not command.is_response or old not in (command.body or b""):
            return False
        command.body = (command.body or b"").replace(old, new)
        return True

    return change


def record(place: int, new: bytes) -> Change:
    """Other bytes in the first record of a response that has some."""

    def change(command: RemotingCommand) -> bool:
        data = command.body or b""
        if not command.is_response or data[4:8] != b"\xda\xa3\x20\xa7":
            return False
        command.body = data[:place] + new + data[place + len(new):]
        return True

    return change


@pytest.mark.parametrize(("name", "change"), [
    ("lite_pull", record(56, (1_700_000_000_000).to_bytes(8, "big"))),
    ("lite_pull", record(68, (1).to_bytes(4, "big"))),
    ("lite_pull", record(76, (1).to_bytes(8, "big"))),
    ("send_batch", field("queueOffset", "9")),
    ("send_batch", field("msgId", "7F00000C000052130000000000002C36")),
    ("send_properties", field("TRACE_ON", "false")),
    ("send_refused", code(1)),
    ("send_refused", remark),
    ("pull_statuses", field("nextBeginOffset", "77")),
    ("pull_statuses", body(b"CLUSTER", b"CLASTER")),
    ("orderly", body(b"lockOKMQSet", b"lockNoMQSet")),
    ("query", body(b"UNIQ_KEY", b"UNIK_KEY")),
    ("broker_lifecycle", body(b"harbor_7", b"harbor_8")),
    ("transaction", field("queueId", "9")),
])
def test_a_changed_answer_is_noticed(tmp_path: Path, name: str, change: Change) -> None:
    assert compare_scenario(rewritten(tmp_path, name, change)).different


def test_a_push_that_does_not_come_is_noticed(tmp_path: Path) -> None:
    def other_group(command: RemotingCommand) -> bool:
        if command.is_response or command.code != 40 or command.ext_fields is None:
            return False
        command.add_ext_field("consumerGroup", "nobody")
        return True

    found = compare_scenario(rewritten(tmp_path, "orderly", other_group))
    assert "expected the push" in found.first[0].sentence


def test_a_push_that_the_recorded_broker_did_not_send_is_noticed(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in gzip.decompress((WIRE / "orderly.jsonl.gz").read_bytes()).splitlines()]
    pushes = [row for row in rows if row["header"]["code"] == 40 and not row["header"]["flag"] & 1]
    text = "".join(json.dumps(row) + "\n" for row in rows if row is not pushes[0])
    (tmp_path / "orderly.jsonl").write_text(text, "utf-8")
    found = compare_scenario(Scenario(tmp_path / "orderly.jsonl"))
    assert "expected no other push" in found.first[0].sentence


def test_a_frame_that_is_written_otherwise_is_noticed(tmp_path: Path) -> None:
    row = json.loads(gzip.decompress((WIRE / "send_batch.jsonl.gz").read_bytes()).splitlines()[0])
    text = bytes.fromhex(row["frame_hex"]).replace(b'"flag":0', b'"flag" :0')
    data = (len(text) - 4).to_bytes(4, "big") + (len(text) - 8).to_bytes(4, "big") + text[8:]
    (tmp_path / "spaces.jsonl").write_text(json.dumps(row | {"frame_hex": data.hex()}) + "\n", "utf-8")
    found = compare_scenario(Scenario(tmp_path / "spaces.jsonl"))
    assert found.first[0].sentence.startswith("frame: expected")


def test_what_is_not_asked_is_named() -> None:
    (row,) = conform(files=["wire/unknown_code"])
    assert row.outcome == Outcome.HOLDS
    assert row.cost["aside"] == 2
    assert "not compared: sent to the fast port" in row.note


def test_what_nobody_here_serves_is_what_is_listed() -> None:
    with World() as world:
        world.add_namesrv("ns")
        world.add_broker("broker", "broker")
        world.run(100)
        served = {int(code) for code in world.brokers["broker"].processors}
        handler, *_ = cast("Any", world.namesrvs["ns"].server).default_processor
        served |= {int(code) for code in handler.__self__.handlers}
    assert not served & set(NOT_SERVED)
    assert served | set(PUSHES) == set(CONTENTS)


def test_every_part_that_is_set_aside_has_its_reason() -> None:
    assert all(ASIDE.values())


def test_a_heartbeat_that_was_overtaken_comes_second() -> None:
    scenario = next(one for one in scenarios(RECORDINGS) if one.name == "filter_tag_sql92")
    requests = [frame for frame in scenario.frames if frame.is_request and frame.from_client]
    found = [frame.seq for frame in ordered(scenario, requests)]
    assert sorted(found) == [frame.seq for frame in requests]
    assert found.index(57) < found.index(56)


@pytest.mark.parametrize("line", ["{", "[]", '{"seq": 0}', '{"seq": 0, "conn": 1, "frame_hex": "zz"}'])
def test_a_line_that_is_no_frame_is_bad_input(tmp_path: Path, line: str) -> None:
    (tmp_path / "one.jsonl").write_text(line + "\n", "utf-8")
    with pytest.raises(BadInputError, match=r"one.jsonl:1: not a frame"):
        compare_scenario(Scenario(tmp_path / "one.jsonl"))


@pytest.mark.parametrize(("case", "outcome"), [
    ("good frame", {"closed": True}), ("bad JSON", {"closed": False}), ("opaque negative", {"answered_hex": None}),
])
def test_hostile_bytes_that_end_otherwise_are_noticed(tmp_path: Path, case: str, outcome: dict[str, Any]) -> None:
    rows = [json.loads(line) for line in gzip.decompress((WIRE / "hostile.jsonl.gz").read_bytes()).splitlines()]
    chosen = [row for row in rows if row["case"] in {case, "good frame"}]
    for row in chosen:
        if row["case"] == case:
            row["outcome"] |= outcome
    (tmp_path / "hostile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chosen), "utf-8")
    found = compare_hostile(Scenario(tmp_path / "hostile.jsonl"))
    assert found.different == sum(row["case"] == case for row in chosen)


def test_a_hostile_row_without_outcome_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "hostile.jsonl").write_text('{"target": "namesrv", "case": "x", "sent_hex": ""}\n', "utf-8")
    with pytest.raises(BadInputError, match=r"hostile.jsonl:1: not a case"):
        compare_hostile(Scenario(tmp_path / "hostile.jsonl"))


def test_frames_arrive_in_any_pieces() -> None:
    decoder = FrameDecoder(lambda: 0)
    data = encode(RemotingCommand(105)) + encode(RemotingCommand(38, body=b"x"))
    found = [command for place in range(len(data)) for command in decoder.feed(data[place : place + 1])]
    assert [command.code for command in found] == [105, 38]
    assert not decoder.closed
    assert decoder.feed(b"\xff\xff\xff\xff") == []
    assert decoder.closed


def test_a_scenario_that_cannot_be_lived_through_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbles(_: Traffic) -> Lived:
        raise KeyError("surprise")

    monkeypatch.setattr(Traffic, "live", stumbles)
    (row,) = conform(files=["wire/send_batch"])
    assert row.outcome == Outcome.UNKNOWN
    assert "not lived through (KeyError: 'surprise')" in row.note
