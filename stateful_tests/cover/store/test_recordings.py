"""The files of the store do as was recorded of the Java classes, and a fault planted in any of them is noticed."""

from __future__ import annotations

from typing import Any

import pytest

from stateful_tests.conformance.adapters.store_files import ADAPTERS
from stateful_tests.conformance.judge import RECORDINGS
from stateful_tests.conformance.replay import Row, recordings, replay_file


def never(*_arguments: Any, **_named: Any) -> bool:
    return False


def nothing(*_arguments: Any, **_named: Any) -> None:
    return None


# A recording, the name that is replaced inside the store, and what a careless port would put there.
FAULTS: list[tuple[str, str, Any]] = [
    ("mapped-file-queue-sequences", "mapped_file_queue.position_in_file", lambda offset, size: offset // size),
    ("mapped-file-queue-sequences", "mapped_file_queue.MappedFileQueue._remove", nothing),
    ("mapped-file-queue-sequences", "mapped_file.MappedFile.is_full", never),
    ("mapped-file-queue-sequences", "mapped_file.MappedFile.set_positions", nothing),
    ("consume-queue-sequences", "consume_queue.PRE_BLANK", (0, 1, 0)),
    ("consume-queue-sequences", "consume_queue.ConsumeQueue._begin_at", nothing),
    ("consume-queue-sequences", "consume_queue.ConsumeQueue.correct_min_offset", nothing),
    ("consume-queue-sequences", "consume_queue.Unit.is_valid", never),
    ("consume-queue-sequences", "mapped_file_queue.MappedFileQueue.get_mapped_file_by_time",
     lambda queue, _: queue.last_mapped_file()),
    ("index-file-sequences", "index_file.time_diff_seconds", lambda stored_ms, begin_ms: stored_ms - begin_ms),
    ("index-file-sequences", "index_file.IndexHeader.load", nothing),
    ("index-file-sequences", "index_file.is_chain_over", lambda *_, **__: True),
]


@pytest.mark.parametrize(("name", "where", "fault"), FAULTS, ids=[f"{name}: {where}" for name, where, _ in FAULTS])
def test_a_planted_fault_is_noticed(name: str, where: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = recordings(RECORDINGS, [name])
    monkeypatch.setattr(f"impl.store.{where}", fault)
    result = replay_file(path, ADAPTERS)
    assert result.different > 0
    assert result.not_understood == 0


def test_every_recording_of_the_store_has_a_planted_fault() -> None:
    assert {name for name, _, _ in FAULTS} == set(ADAPTERS)


def test_an_operation_that_the_adapter_does_not_know_is_never_equal() -> None:
    scripted: Row = {"slots": 2, "entries": 3, "endPhyOffset": 0, "endTimestamp": 0, "last": ""}
    for adapter in ADAPTERS.values():
        with pytest.raises(KeyError, match="compact"):
            adapter({**scripted, "steps": [{"op": "compact", "r": None, "s": {}}]})
