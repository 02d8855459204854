"""The operations of delayed messages in the workloads of the crash atlas."""

from __future__ import annotations

from impl.common.config_manager import file_to_string
from impl.store.message_store_config import FlushDiskType
from stateful_tests.crash.programs import Life, Workload


def lived(*operations: str) -> Life:
    return Life(Workload("delayed", "Delayed messages.", FlushDiskType.SYNC_FLUSH, operations))


def test_a_delivery_is_a_message_that_nobody_waits_for() -> None:
    life = lived("delay A 1", "delay A 2", "flush", "dispatch", "deliver", "dispatch", "deliver", "offsets")
    assert [str(message) for message in life.messages] == [
        "message 0 of SCHEDULE_TOPIC_XXXX-0", "message 0 of SCHEDULE_TOPIC_XXXX-1", "message 0 of A-0"]
    assert list(life.acknowledged) == [0, 1]
    assert life.store.get_max_offset_in_queue("A", 0) == 1
    assert file_to_string(life.recorder, "store/config/delayOffset.json") == '{\n\t"offsetTable":{1:1\n\t}\n}'


def test_a_delivery_may_begin_the_next_file() -> None:
    life = lived("delay A 1", "flush", "dispatch", "roll B", "dispatch", "deliver", "dispatch")
    assert [str(message) for message in life.messages[1:]] == ["message 0 of B-0", "message 0 of A-0"]
    assert life.messages[-1].offset == 16_384
