"""Messages that leave the log: by clean-up, and by a loss of power with the recovery after it."""

from __future__ import annotations

import pytest

from impl.ports.disk import PAGE_BYTES
from impl.store.message_store_config import FlushDiskType
from stateful_tests.crash.images import MachineCrashes
from stateful_tests.crash.programs import Life, Workload
from stateful_tests.crash.recorder import Recorder
from stateful_tests.crash.workloads import WORKLOADS


def lived(*operations: str, flush: FlushDiskType = FlushDiskType.SYNC_FLUSH) -> Life:
    return Life(Workload("gone", "Messages leave.", flush, operations))


def gone(life: Life) -> list[str]:
    return [str(message) for message in life.known(life.recorder.steps).gone]


def test_clean_up_after_three_days_takes_ten_files_in_a_pass_and_never_the_last() -> None:
    life = lived("put A", "flush", "rolls A 12", "dispatch", "clean")
    assert gone(life) == [f"message {number} of A-0" for number in range(10)]
    assert life.store.get_min_phy_offset() == 10 * 8_192
    assert len(gone(lived("put A", "flush", "rolls A 12", "dispatch", "clean", "clean"))) == 12
    assert gone(lived("put A", "flush", "rolls A 12", "dispatch", "full 76")) == []


@pytest.mark.parametrize(("percent", "taken", "refused"), [(75, 0, 0), (84, 0, 0), (86, 1, 0), (91, 1, 1)])
def test_a_full_disk_is_cleaned_at_once_and_then_refuses_messages(percent: int, taken: int, refused: int) -> None:
    life = lived("put A", "flush", "roll A", "flush", "dispatch", f"full {percent}", "put B", "flush")
    assert len(gone(life)) == taken
    assert len(life.messages) == 3 - refused
    assert len(life.acknowledged) == 3 - refused


def test_what_goes_is_leaving_during_its_operation_and_gone_after_it() -> None:
    life = Life(WORKLOADS["sync_clean"])
    begin = life.began[8]  # of clean, behind the start and seven others
    before, during = life.known(begin - 1), life.known(begin)
    after = life.known(life.began[9])
    assert (len(before.leaving), len(during.leaving), len(after.leaving)) == (0, 2, 0)
    assert (len(before.gone), len(during.gone), len(after.gone)) == (0, 0, 2)
    assert (len(before.acknowledged), len(during.acknowledged), len(after.acknowledged)) == (3, 1, 1)
    assert (during.expired, during.expiring, after.expired) == ({}, {"A-0": 1, "B-0": 1}, {"A-0": 1, "B-0": 1})


def test_a_recovery_cuts_off_what_the_machine_has_lost() -> None:
    life = lived("put A", "flush", "put A", "power", "start", "put A", "flush")
    known = life.known(life.recorder.steps)
    assert gone(life) == ["message 1 of A-0"]
    assert [str(message) for message in known.log.values()] == ["message 0 of A-0", "message 1 of A-0"]
    assert known.log[known.gone[0].offset] != known.gone[0]
    assert known.expired == {}


def test_a_loss_of_power_leaves_what_was_forced_last() -> None:
    recorder = Recorder()
    file = recorder.open("f", 2 * PAGE_BYTES)
    file.write(0, b"ab")
    file.force()
    file.write(0, b"c")
    file.write(PAGE_BYTES, b"d")
    recorder.open("g")
    recorder.rename("f", "h")
    recorder.lose_power()
    assert {path: data.rstrip(b"\0") for path, data in recorder.image().items()} == {"f": b"ab"}
    assert [len(choice) for choice in MachineCrashes(recorder).at(recorder.steps)] == [1, 1, 1]


def test_a_loss_of_one_page_leaves_the_others_as_they_were_written() -> None:
    recorder = Recorder()
    file = recorder.open("f", 2 * PAGE_BYTES)
    file.write(0, b"c")
    file.write(PAGE_BYTES, b"d")
    recorder.lose_power({("f", 0): 0})
    assert recorder.image()["f"] == bytes(PAGE_BYTES) + b"d" + bytes(PAGE_BYTES - 1)
    assert recorder.newest[-1] == recorder.image()
