"""A consume queue by itself."""

from __future__ import annotations

import pytest

from impl.decisions.java_errors import IllegalArgumentError
from impl.store.consume_queue import ConsumeQueue
from stateful_tests.conformance.adapters.store_files import fresh_disk, set_last_modified

STORED_MS = 1_700_000_000_000


class _Log:
    """A commit log that knows every message."""

    def get_min_phy_offset(self) -> int:
        return 0

    def pickup_store_timestamp(self, offset: int, size: int) -> int:
        return STORED_MS + offset + size


@pytest.mark.parametrize(("behind", "says"), [
    (20, None), (1 << 31, "newPosition < 0: (-1073741800 < 0)"), ((1 << 32) + 20, None),
])
def test_search_by_time_where_the_queue_begins_behind_its_file(behind: int, says: str | None) -> None:
    disk, machine = fresh_disk()
    queue = ConsumeQueue("T", 0, disk, "store/T", 100, _Log(), lambda: STORED_MS)
    for index in range(2):
        queue.put_message_position_info(index * 100, 100, 0, index)
    set_last_modified(machine, queue.mapped_file_queue.mapped_files[0].path, STORED_MS + 500)
    queue.min_logic_offset = behind
    if says is None:
        assert queue.get_offset_in_queue_by_time(STORED_MS) == 1
    else:
        with pytest.raises(IllegalArgumentError) as raised:
            queue.get_offset_in_queue_by_time(STORED_MS)
        assert raised.value.message == says
