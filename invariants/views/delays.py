"""What brokers have of delayed messages: how far the tasks of their levels are, and what the units say."""

from __future__ import annotations

import re
from contextlib import closing

from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from invariants.views.stores import StoreViews, queue_of
from invariants.views.values import DelayLevel, DelayUnit

_ENTRY = re.compile(rb"(\d+):(\d+)")
"""A level and its offset, as fastjson writes them."""


class DelayViews(StoreViews):
    """Of the brokers that live; of others everything is empty."""

    def delay_level(self, broker: str, level: int) -> DelayLevel | None:
        """How far the task of a level is; None: there is none."""
        store = self._store(broker)
        tasks = () if store is None else store.schedule_message_service.tasks
        task = next((one for one in tasks if one.level == level), None)
        if store is None or task is None:
            return None
        queue = queue_of(store, RMQ_SYS_SCHEDULE_TOPIC, level - 1)
        least, end = (0, 0) if queue is None else (queue.get_min_offset_in_queue(), queue.get_max_offset_in_queue())
        noted = store.schedule_message_service.offset_table.get(level, 0)
        return DelayLevel(min(max(task.offset, least), end), noted)

    def noted_delay_offsets(self, broker: str) -> dict[int, int]:
        """ScheduleMessageService.offsetTable: how far each level is, as a slave that asks is told."""
        store = self._store(broker)
        return {} if store is None else dict(store.schedule_message_service.offset_table.entries())

    def saved_delay_offsets(self, broker: str) -> dict[int, int]:
        """What delayOffset.json, or else its backup, says of each level."""
        store = self._store(broker)
        if store is None:
            return {}
        disk, path = store.disk, store.config.delay_offset_store_path
        for name in (path, f"{path}.bak"):
            if length := disk.length(name):
                with closing(disk.open(name)) as file:
                    return {int(level): int(offset) for level, offset in _ENTRY.findall(file.read(0, length))}
        return {}

    def delay_unit(self, broker: str, level: int, number: int) -> DelayUnit | None:
        """What the unit of a level with this number says; None: there is none."""
        store = self._store(broker)
        queue = None if store is None else queue_of(store, RMQ_SYS_SCHEDULE_TOPIC, level - 1)
        unit = None if queue is None else queue.unit(number)
        return None if unit is None else DelayUnit(unit.offset, unit.tags_code)
