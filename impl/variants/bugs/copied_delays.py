"""Planted bugs of delayed messages at slaves, and at slaves that take their masters' places."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from impl.broker.slave_synchronize import DELAY_OFFSET_PATH, SlaveSynchronize
from impl.store.schedule_message_service import ScheduleMessageService
from impl.variants.variant import around, replace, seeded

_bug = partial(seeded, "an idea: a port that copies the log, and forgets what is beside it")


@replace(SlaveSynchronize, "sync_delay_offset")
async def _copy_no_delay_offsets(self: SlaveSynchronize, master_addr: str) -> None:
    """How far the levels are stays at the master."""
    del self, master_addr


@around(SlaveSynchronize, "sync_delay_offset")
def _copy_them_once(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def sync_delay_offset(self: SlaveSynchronize, master_addr: str) -> None:
        """What is there already stays."""
        if not self.node.disk.length(DELAY_OFFSET_PATH):
            await original(self, master_addr)

    return sync_delay_offset


@around(ScheduleMessageService, "start")
def _begin_at_the_ends(original: Callable[[ScheduleMessageService], None]) -> Callable[[ScheduleMessageService], None]:
    def start(self: ScheduleMessageService) -> None:
        """What waited before the start waits for ever."""
        original(self)
        for task in self.tasks:
            task.offset = self.queue(task.level).get_max_offset_in_queue()

    return start


BUGS = (
    _bug("slave-copies-no-delays", "A slave does not copy how far delay levels are.", _copy_no_delay_offsets),
    _bug("slave-copies-delays-once", "A slave copies how far delay levels are when it has no file of it.",
         _copy_them_once),
    _bug("delays-begin-at-the-end", "A start begins each delay level at the end of its queue.", _begin_at_the_ends),
)
