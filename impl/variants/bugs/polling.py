"""Bugs of lite pull consumers: what is polled, committed, sought and rested."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.client.assigned_message_queue import UNSET, AssignedMessageQueue
from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.common.message import MessageExt
from impl.decisions.message_queue import MessageQueue
from impl.variants.variant import Variant, around, replace

Poll = Callable[..., Awaitable[list[MessageExt]]]


@replace(DefaultLitePullConsumerImpl, "_clear_message_queue_in_cache")
def _keep_what_waits(self: DefaultLitePullConsumerImpl, mq: MessageQueue) -> None:
    """What was pulled before a seek can still be polled."""
    del self, mq


@replace(DefaultLitePullConsumerImpl, "commit_all")
async def _commit_what_was_pulled(self: DefaultLitePullConsumerImpl) -> None:
    """What waits to be polled is committed with the rest."""
    for mq, state in self.assigned_message_queue.states.entries():
        if state.pull_offset != UNSET and not state.process_queue.dropped:
            self.offset_store.update_offset(mq, state.pull_offset, increase_only=False)


@replace(AssignedMessageQueue, "is_paused")
def _never_paused(self: AssignedMessageQueue, mq: MessageQueue) -> bool:
    """Pull tasks go on with a queue that its user has paused."""
    return self.states.get(mq) is None


@around(DefaultLitePullConsumerImpl, "poll")
def _commit_unasked(original: Poll) -> Poll:
    async def poll(self: DefaultLitePullConsumerImpl, timeout_ms: int = 5_000) -> list[MessageExt]:
        """Each poll commits, also where its user does so by hand."""
        await self.commit_all()
        return await original(self, timeout_ms)

    return poll


@around(DefaultLitePullConsumerImpl, "poll")
def _commit_what_is_returned(original: Poll) -> Poll:
    async def poll(self: DefaultLitePullConsumerImpl, timeout_ms: int = 5_000) -> list[MessageExt]:
        """A batch is committed when it is returned, and not with the next poll."""
        polled = await original(self, timeout_ms)
        if self.config.auto_commit:
            await self.commit_all()
        return polled

    return poll


@replace(DefaultLitePullConsumerImpl, "poll")
async def _poll_what_was_dropped(self: DefaultLitePullConsumerImpl, timeout_ms: int = 5_000) -> list[MessageExt]:
    """What waits is polled, whoever has its queue by now."""
    if self.config.auto_commit:
        await self._maybe_auto_commit()
    request = await self._next_request(self.node.now_ms() + timeout_ms)
    if request is None:
        return []
    offset = request.process_queue.remove_message(request.message_exts)
    self.assigned_message_queue.update_consume_offset(request.message_queue, offset)
    return list(request.message_exts)


BUGS = (
    Variant("seeded-seek-keeps-what-waits", "bug", "A seek leaves what waits of the queue.",
            "DefaultLitePullConsumerImpl#clearMessageQueueInCache forgotten", replacements=(_keep_what_waits,)),
    Variant("seeded-pulled-counts-as-polled", "bug", "What was pulled is committed, whether it was polled or not.",
            "pullOffset for consumeOffset in DefaultLitePullConsumerImpl#commitAll",
            replacements=(_commit_what_was_pulled,)),
    Variant("seeded-rest-is-ignored", "bug", "A queue that is paused is pulled on.",
            "AssignedMessageQueue#isPaused forgotten in PullTaskImpl#run", replacements=(_never_paused,)),
    Variant("seeded-polls-commit-by-themselves", "bug", "A poll commits although autoCommit is off.",
            "the test of autoCommit forgotten in DefaultLitePullConsumerImpl#poll", replacements=(_commit_unasked,)),
    Variant("seeded-returned-counts-as-consumed", "bug", "A batch is committed before its user has worked on it.",
            "maybeAutoCommit at the end of DefaultLitePullConsumerImpl#poll", replacements=(_commit_what_is_returned,)),
    Variant("seeded-dropped-is-polled", "bug", "Messages of a queue that is another member's by now can be polled.",
            "the loop over dropped queues forgotten in DefaultLitePullConsumerImpl#poll",
            replacements=(_poll_what_was_dropped,)),
)
