"""The project's own recordings are reproduced, and a fault planted in a decision is noticed by its recording."""

from __future__ import annotations

import gzip
import json
import operator
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from invariants import evidence
from invariants.verdict import ExitStatus, Outcome, Verdict, exit_status
from stateful_tests.conformance.adapters import (
    ADAPTERS,
    allocation,
    constants,
    consumer,
    message_bytes,
    names,
    queue_choice,
    store,
)
from stateful_tests.conformance.judge import IMAGE, RECORDINGS, SCENARIO, conform
from stateful_tests.conformance.replay import recordings, replay_file, stem

FAMILIES = (allocation, constants, consumer, message_bytes, names, queue_choice, store)
DECISION_RECORDINGS = {name for family in FAMILIES for name in family.ADAPTERS}
SAMPLE = 400  # rows of the large recording that a planted fault is looked for in
DECISIONS = "impl.decisions"


def shortened(path: Path, folder: Path) -> Path:
    """The header and the first SAMPLE rows of a recording."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        head = [line for line, _ in zip(file, range(SAMPLE + 1), strict=False)]
    copy = folder / f"{stem(path.name)}.jsonl"
    copy.write_bytes(b"".join(head))
    return copy


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    return {stem(row.subject.name): row for row in conform()}


def test_every_own_recording_is_reproduced_row_by_row(verdicts: dict[str, Verdict]) -> None:
    found = {name: (row.outcome, row.cost["different"]) for name, row in verdicts.items()}
    assert found == dict.fromkeys(verdicts, (Outcome.HOLDS, 0))
    assert exit_status(verdicts.values()) is ExitStatus.AS_EXPECTED
    assert verdicts["allocation-average-circle-hash"].cost["rows"] == 20_500
    assert verdicts["names"].replay == "rocketproof conform --file names.jsonl.gz"


def test_own_recordings_are_those_that_adapters_compare() -> None:
    assert {stem(path.name) for path in recordings(RECORDINGS)} == set(ADAPTERS)


def test_the_readme_lists_every_recording_with_its_rows(verdicts: dict[str, Verdict]) -> None:
    text = (RECORDINGS / "README.md").read_text(encoding="utf-8")
    for row in verdicts.values():
        assert f"| {row.subject.name} | {row.cost['rows']} |" in text


def test_the_front_page_says_how_much_is_compared(verdicts: dict[str, Verdict]) -> None:
    text = " ".join((Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8").split())
    rows = int(sum(row.cost["rows"] for row in verdicts.values()))
    images = sum(row.subject.kind == IMAGE for row in verdicts.values())
    traffic = sum(row.subject.kind == SCENARIO for row in verdicts.values())
    calls = len(verdicts) - images - traffic
    assert f"compared with {rows:,} rows" in text
    assert f"in {calls} files of calls, {traffic} scenarios of traffic and {images} store images" in text


def refuse_nothing(cid: Any, mq_all: Any, cid_all: Any) -> Any:
    return cid or "", mq_all or [], cid_all or []


def by_code_points(self: MessageQueue, other: MessageQueue) -> int:
    left, right = (self.topic, self.broker_name, self.queue_id), (other.topic, other.broker_name, other.queue_id)
    return (left > right) - (left < right)


def python_remainder(dividend: int, divisor: int) -> int:
    return dividend % divisor


def keep_text(text: str) -> str:
    return text


def split_keeping_empty_ends(text: str, separator: str) -> Sequence[str]:
    return text.split(separator)


def last_instead_of_first(positions: Sequence[int], point: int) -> int:
    return min(bisect_left(positions, point), len(positions) - 1)


def never(*_arguments: Any, **_named: Any) -> bool:
    return False


# A recording, the name that is looked up inside the decision, and what a careless port would put there.
FAULTS: list[tuple[str, str, Any]] = [
    ("allocation-average-circle-hash", "allocation.averagely_range", lambda n, m, i: (i * (n // m), n // m)),
    ("allocation-average-circle-hash", "allocation.circle_owns", lambda _n, m, i, k: k % m == (i + 1) % m),
    ("allocation-average-circle-hash", "allocation.ring_successor", lambda positions, point: point % len(positions)),
    ("allocation-average-circle-hash", "allocation._checked", refuse_nothing),
    ("allocation-config", "allocation.AllocateMessageQueueByConfig.allocate", lambda *_arguments: []),
    ("allocation-consistent-hash-params", "allocation.ring_successor", last_instead_of_first),
    ("allocation-machine-room", "allocation.split", split_keeping_empty_ends),
    ("allocation-machine-room", "allocation.machine_room_range", lambda n, m, i: (i * (n // m), n // m, -1)),
    ("allocation-machine-room", "allocation.is_blank", never),
    ("allocation-names", "allocation.AllocateMachineRoomNearby.name", "MACHINE_ROOM_NEARBY"),
    ("allocation-nearby", "allocation.AllocateMachineRoomNearby.members_by_room", lambda _self, _members: {}),
    ("compute-pull-from-where", "start_offset.NO_OFFSET", -2),
    ("compute-pull-from-where", "start_offset.RETRY_GROUP_TOPIC_PREFIX", "%DLQ%"),
    ("delay-levels", "retry_level.wrap64", abs),
    ("delay-levels", "retry_level.split", str.split),
    ("fault-duration", "fault_strategy.ArrayIndexOutOfBoundsError", JavaError),
    ("fault-strategy-sequences", "fault_strategy.available_at", operator.lt),
    ("fault-strategy-sequences", "queue_selection.absolute32", abs),
    ("index-key-hash", "index_slots.absolute32", abs),
    ("messagequeue-order", "message_queue.MessageQueue.compare_to", by_code_points),
    ("names", "names.is_blank", operator.not_),
    ("names", "names.TOPIC_MAX_LENGTH", 128),
    ("namespace", "namespace.is_dlq_topic", never),
    ("queue-selectors", "queue_selection.remainder", python_remainder),
    ("route-change", "route_queues.utf16_key", lambda _name: b""),
    ("route-to-queues", "route_queues.PERM_WRITE", 4),
    ("route-to-queues", "route_queues.split", split_keeping_empty_ends),
    ("running-flags", "running_flags.clear_flag", lambda _bits, _flag: 0),
    ("small-functions", "addresses.wrap32", abs),
    ("store-rules", "pull_answer.MAX_TRANSFER_COUNT_ON_MESSAGE_IN_DISK", 9),
    ("store-rules", "store_rules.CHECKPOINT_MARGIN_MS", 0),
    ("string-hash", "java_arithmetic.wrap32", abs),
    ("subscription-data", "subscription.trim", keep_text),
    ("sys-flags", "flags.TRANSACTION_ROLLBACK_TYPE", 4),
    ("tag-match", "subscription.wrap32", abs),
    ("thread-local-index", "queue_selection.wrap32", keep_text),
]


def without_surrogates(text: str) -> bytes:
    return text.encode(errors="ignore")


def entries_with_empty_values(text: str) -> dict[str, str]:
    return dict(pair for entry in text.split("\x02") if len(pair := entry.split("\x01", 1)) == 2)


def no_room_check(_header: object, _length: int) -> None:
    pass


# The same for what messages become as bytes: recording, name below `impl`, fault.
BYTE_FAULTS: list[tuple[str, str, Any]] = [
    ("appended-records", "store.message_ext_encoder.is_end_of_file", lambda length, room: length + 8 >= room),
    ("appended-records", "store.message_ext_encoder.written_properties_length", keep_text),
    ("appended-records", "store.message_ext_encoder._SEPARATOR", 1),
    ("appended-records", "store.message_ext_encoder.QUEUE_OFFSET_POSITION", 28),
    ("constants", "decisions.flags.PERM_READ", 8),
    ("constants", "common.message_const.PROPERTY_DELAY_TIME_LEVEL", "DELAY_LEVEL"),
    ("batch-codec", "common.message_batch.utf8_bytes", without_surrogates),
    ("batch-codec", "common.message_batch._FIXED_BYTES", 23),
    ("bloom", "broker.bloom_filter.wrap32", abs),
    ("bytes", "common.util_all.utf16_text", lambda text: text.strip()),
    ("bytes", "common.util_all.EndOfFileError", JavaError),
    ("message-codec", "common.message_decoder.wrap8", keep_text),
    ("message-codec", "common.message_decoder.utf8_text", lambda data: data.decode("latin-1")),
    ("message-codec", "common.message_decoder.create_message_id_of_length", lambda _bytes, _host, _offset: ""),
    ("message-codec", "common.byte_buffer.GREATEST_ARRAY_BYTES", 2**31 - 1),
    ("message-id", "common.message_id._IPV4_DIGITS", 56),
    ("message-id", "common.inet_socket_address._MAPPED", bytes(16)),
    ("properties-to-string", "common.message_properties.concatenated", lambda text: text or ""),
    ("record-encode-check", "store.message_ext_encoder.SHORT_MAX", 2**15),
    ("record-encode-check", "store.dispatch_request._check_room", no_room_check),
    ("record-encode-check", "store.dispatch_request.stored_delay_level", lambda level, _greatest: level),
    ("string-to-properties", "common.message_properties.property_entries", entries_with_empty_values),
    ("unique-id", "common.message_client_id_setter._GREATEST_STEP_BACK_MS", 1_000_001),
    ("unique-id", "common.message_client_id_setter.month_of", lambda now_ms: (now_ms, now_ms)),
]


EVERY_FAULT = [(name, f"{DECISIONS}.{where}", fault) for name, where, fault in FAULTS] + \
    [(name, f"impl.{where}", fault) for name, where, fault in BYTE_FAULTS]


@pytest.mark.parametrize(("name", "where", "fault"), EVERY_FAULT, ids=[f"{one[0]}: {one[1]}" for one in EVERY_FAULT])
def test_a_planted_fault_is_noticed(
    name: str, where: str, fault: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    (path,) = recordings(RECORDINGS, [name])
    if name == "allocation-average-circle-hash":
        path = shortened(path, tmp_path)
    monkeypatch.setattr(where, fault)
    result = replay_file(path, ADAPTERS)
    assert result.different > 0
    assert result.not_understood == 0
    assert "expected" in result.first[0].sentence


def test_every_recording_of_decisions_has_a_planted_fault() -> None:
    assert {name for name, _, _ in EVERY_FAULT} == DECISION_RECORDINGS


def test_a_difference_is_a_violation_with_evidence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(f"{DECISIONS}.queue_selection.remainder", python_remainder)
    (row,) = conform(RECORDINGS, ["queue-selectors"], tmp_path)
    assert row.outcome is Outcome.VIOLATED
    assert row.cost["different"] > 0
    assert row.evidence is not None
    found = evidence.read(tmp_path / row.evidence)
    assert found["kind"] == "counterexample"
    assert found["arguments"]["a"]["selector"] == "ByHash"
    assert found["table"]["columns"] == ["line", "difference"]
    json.dumps(found)
