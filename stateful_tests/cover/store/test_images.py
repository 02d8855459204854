"""Store directories of the real broker: on real files too, with faults planted, and broken ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from impl.hosts.files.directory import Directory
from impl.ports.disk import Disk
from invariants.__main__ import app
from invariants.verdict import BadInputError, ExitStatus, Outcome
from stateful_tests.conformance.judge import RECORDINGS, conform
from stateful_tests.conformance.store_answers import compare_image
from stateful_tests.conformance.store_images import ROOT, Image, images

OWN = {image.name: image for image in images(RECORDINGS)}


def nothing(*_arguments: Any, **_named: Any) -> None:
    return None


def test_every_case_of_a_recovery_is_there() -> None:
    recovered = {image.name for image in OWN.values() if image.recovered() is not None}
    assert recovered == {
        "crash/killed", "crash/lost_queue", "crash/torn_body", "crash/torn_tail", "delay_midway/midway",
        "no_abort_dirty/flipped_bit", "plain_rolls/without_consumequeue",
    }
    assert len(OWN) == 22


@pytest.mark.parametrize("name", ["crash/torn_tail", "no_abort_dirty/flipped_bit", "expired/clean"])
def test_an_image_on_real_files_gives_the_same(name: str, tmp_path: Path) -> None:
    def on_files(image: Image, contents: Mapping[str, bytes]) -> Disk:
        for path, data in contents.items():
            place = tmp_path / ROOT / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            os.utime(place, ns=(0, image.modified_ms(path) * 1_000_000))
        return Directory(tmp_path)

    result = compare_image(OWN[name], on_files)
    assert (result.rows, result.different, result.first) == (compare_image(OWN[name]).rows, 0, [])


# An image, the name that is replaced inside impl, and what a careless port would put there.
FAULTS: list[tuple[str, str, Any]] = [
    ("crash/killed", "store.commit_log_recovery.first_file_of_abnormal_recovery", lambda times, _: len(times) - 1),
    ("crash/killed", "store.mapped_file.MappedFile.destroy", lambda *_: True),
    ("crash/lost_queue", "store.store_tables.StoreTables.put_position", nothing),
    ("crash/lost_queue", "store.index_service.IndexService.build_index", nothing),
    ("crash/torn_body", "store.mapped_file_queue.MappedFileQueue.truncate_dirty_files", nothing),
    ("crash/torn_tail", "store.store_tables.StoreTables.truncate_dirty_logic_files", nothing),
    ("delay_midway/midway", "store.commit_log.CommitLog._advance", lambda _log, _file, result: result),
    ("delay_midway/midway", "store.store_checkpoint.StoreCheckpoint.flush", nothing),
    ("delay_midway/midway", "store.schedule_message_service.offset_after_delivery", lambda offset: offset),
    ("delay_midway/midway", "store.schedule_message_service.correct_deliver_timestamp",
     lambda _level, now_ms, *_: now_ms),
    ("delay_midway/midway", "store.schedule_message_service.ScheduleMessageService.decode", nothing),
    ("expired/clean", "store.commit_log.CommitLog.get_min_offset", lambda _: 0),
    ("no_abort_dirty/flipped_bit", "store.commit_log_recovery.first_file_of_normal_recovery", lambda files: files),
    ("plain_rolls/without_consumequeue", "store.reput_message_service.ReputMessageService.do_reput", nothing),
    ("tags_keys_properties/clean", "store.index_file.IndexFile.is_time_matched", lambda *_: False),
    ("retry_dlq/clean", "store.schedule_message_service.offset_after_delivery", lambda offset: offset),
    ("transactions/clean", "broker.transaction.transactional_message_bridge.reset_transaction_value",
     lambda flag, _: flag),
    ("transactions/clean", "broker.transaction.transactional_message_service.calculate_op_offset", lambda _, old: old),
    ("transactions/clean", "broker.transaction.transactional_message_bridge.TransactionalMessageBridge.put_op_message",
     nothing),
]


@pytest.mark.parametrize(("name", "where", "fault"), FAULTS, ids=[f"{name}: {where}" for name, where, _ in FAULTS])
def test_a_planted_fault_is_noticed(name: str, where: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"impl.{where}", fault)
    result = compare_image(OWN[name])
    assert result.different > 0
    assert result.not_understood == 0


def copied(folder: Path, case: str) -> Path:
    """A folder of recordings with a copy of one case."""
    shutil.copytree(RECORDINGS / "store" / case, folder / case)
    return folder


def test_a_difference_has_evidence_that_is_replayed(tmp_path: Path) -> None:
    answers = copied(tmp_path, "no_abort_dirty") / "no_abort_dirty" / "clean.json"
    answers.write_text(answers.read_text().replace('"commitLogMaxOffset": "4394"', '"commitLogMaxOffset": "4395"'))
    (row,) = conform(tmp_path, ["no_abort_dirty/clean"], tmp_path)
    assert (row.outcome, row.cost["different"]) == (Outcome.VIOLATED, 1)
    assert row.note.endswith('log ends at: expected "4395", got "4394"')
    assert row.evidence == "evidence/conform-no_abort_dirty-clean.json"
    found = CliRunner().invoke(app, ["replay", str(tmp_path / row.evidence)])
    assert found.exit_code == ExitStatus.AS_EXPECTED, found.output


def test_what_is_no_image_is_bad_input_after_the_others(tmp_path: Path) -> None:
    folder = copied(tmp_path, "no_abort_dirty") / "no_abort_dirty"
    (folder / "clean.tar.xz").write_bytes(b"no archive")
    with pytest.raises(BadInputError, match=r"clean\.tar\.xz: cannot be read"):
        list(conform(tmp_path))
    assert [row.subject.name for row in conform(tmp_path, ["no_abort_dirty/flipped_bit"])] == [
        "no_abort_dirty/flipped_bit"]
    (folder / "flipped_bit.json").write_text("{")
    with pytest.raises(BadInputError, match=r"flipped_bit\.json: cannot be read"):
        list(conform(tmp_path, ["no_abort_dirty/flipped_bit"]))


def test_answers_that_are_not_understood_are_never_equal(tmp_path: Path) -> None:
    answers = copied(tmp_path, "no_abort_dirty") / "no_abort_dirty" / "clean.json"
    answers.write_text(answers.read_text().replace('"earliest_store_time"', '"earliest"'))
    (row,) = conform(tmp_path, ["no_abort_dirty/clean"])
    assert row.outcome is Outcome.UNKNOWN
