"""A broker's store that is sent delayed messages."""

from __future__ import annotations

from collections.abc import Mapping

from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.store.consume_queue import Unit
from impl.store.schedule_message_service import DeliverDelayedMessageTimerTask
from stateful_tests.cover.store.brokers import NONE, Broker


class DelayBroker(Broker):
    """A broker that is sent delayed messages."""

    def delayed(self, body: bytes, level: int = 1, queue_id: int = 2, properties: Mapping[str, str] = NONE) -> None:
        """Put and dispatch a message of a level."""
        self.put(body, queue_id=queue_id, properties={PROPERTY_DELAY_TIME_LEVEL: str(level), **properties})
        self.dispatch()

    def look(self, after_ms: int = 0) -> list[bytes | None]:
        """Let the service look once, so much later: what queue 2 of the topic has then."""
        self.now += after_ms
        self.store.schedule_message_service.run_once()
        self.dispatch()
        return self.bodies(queue_id=2)

    def offsets(self) -> dict[int, int]:
        """The table of offsets."""
        return dict(self.store.schedule_message_service.offset_table.entries())

    def task(self, level: int = 1) -> DeliverDelayedMessageTimerTask:
        """The task of a level."""
        return next(task for task in self.store.schedule_message_service.tasks if task.level == level)

    def unit(self, tags_code: int, offset: int = 0, size: int = 0, level: int = 1, index: int = 0) -> None:
        """Let a unit of a level say something else; 0 -- as it was."""
        queue = self.store.schedule_message_service.queue(level)
        old = queue.unit(index)
        assert old is not None
        path = f"store/consumequeue/{RMQ_SYS_SCHEDULE_TOPIC}/{level - 1}/{0:020d}"
        unit = Unit(offset or old.offset, size or old.size, tags_code)
        data = b"".join(part.to_bytes(length, "big", signed=True) for part, length in zip(unit, (8, 4, 8), strict=True))
        self.write(path, 20 * index, data)
