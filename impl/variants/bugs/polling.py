"""Bugs of lite pull consumers: what is polled, committed, sought and rested."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from impl.client.assigned_message_queue import UNSET, AssignedMessageQueue
from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.lite_pull_task import ConsumeRequest, PullTask
from impl.client.offset_store import ReadOffsetType
from impl.client.process_queue import ProcessQueue
from impl.client.rebalance_lite_pull import RebalanceLitePullImpl
from impl.client.service_state import RUNNING, SHUTDOWN_ALREADY
from impl.common.message import MessageExt
from impl.decisions.message_queue import MessageQueue
from impl.ports.threads import Threads
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


@replace(DefaultLitePullConsumerImpl, "_next_request")
async def _do_not_wait(self: DefaultLitePullConsumerImpl, end_ms: int) -> ConsumeRequest | None:
    """Whoever polls is given what waits, or nothing."""
    del end_ms
    return self.consume_request_cache.popleft() if self.consume_request_cache else None


@replace(DefaultLitePullConsumerImpl, "submit_consume_request")
def _wake_nobody(self: DefaultLitePullConsumerImpl, request: ConsumeRequest) -> None:
    """A poll that waits waits to its end."""
    self.consume_request_cache.append(request)


@replace(DefaultLitePullConsumerImpl, "resume_queues")
def _rest_on(self: DefaultLitePullConsumerImpl, mqs: Collection[MessageQueue]) -> None:
    """What rests is never gone on with."""
    del self, mqs


@replace(DefaultLitePullConsumerImpl, "_maybe_auto_commit")
async def _never_commit(self: DefaultLitePullConsumerImpl) -> None:
    """No poll commits."""
    del self


@around(DefaultLitePullConsumerImpl, "seek")
def _seek_anywhere(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def seek(self: DefaultLitePullConsumerImpl, mq: MessageQueue, offset: int) -> None:
        """Where the queue ends is not asked."""
        await original(self, mq, await self.max_offset(mq))
        self.assigned_message_queue.set_seek_offset(mq, offset)

    return seek


@replace(DefaultLitePullConsumerImpl, "_set_subscription_type")
def _mix_ways(self: DefaultLitePullConsumerImpl, subscription_type: str) -> None:
    """The last one that was chosen counts."""
    self.subscription_type = subscription_type


@replace(PullTask, "_next_pull_offset")
async def _go_and_forget(self: PullTask) -> int:
    """What was polled before a seek is still what the next commit says."""
    assigned, mq = self.consumer.assigned_message_queue, self.message_queue
    seek_offset = assigned.seek_offset(mq)
    if seek_offset != UNSET:
        assigned.set_seek_offset(mq, UNSET)
        return seek_offset
    state = assigned.states.get(mq)
    if state is not None and state.pull_offset != UNSET:
        return state.pull_offset
    return await self.consumer.fetch_consume_offset(mq)


@replace(RebalanceLitePullImpl, "compute_pull_from_where_with_exception")
async def _begin_at_the_end(self: RebalanceLitePullImpl, mq: MessageQueue, threads: Threads) -> int:
    """What a heartbeat says is where it begins."""
    stored = await self.offset_store.read_offset(mq, ReadOffsetType.MEMORY_FIRST_THEN_STORE, threads)
    return stored if stored >= 0 else await self.instance.admin.max_offset(mq)


@replace(RebalanceLitePullImpl, "remove_unnecessary_message_queue")
async def _give_up_uncommitted(
    self: RebalanceLitePullImpl, mq: MessageQueue, pq: ProcessQueue, threads: Threads,
) -> bool:
    """What was committed of a queue that goes is forgotten, if the timer has not sent it yet."""
    del pq, threads
    self.offset_store.remove_offset(mq)
    return True


@replace(DefaultLitePullConsumerImpl, "shutdown")
async def _leave_without_a_goodbye(self: DefaultLitePullConsumerImpl) -> None:
    """Brokers are left to find out."""
    if self.service_state != RUNNING:
        return
    await self.persist_consumer_offset()
    self.instance.consumer_table.remove(self.group)
    self.pull_executor.shutdown()
    self.monitor_executor.shutdown()
    await self.instance.shutdown()
    self.service_state = SHUTDOWN_ALREADY


@replace(AssignedMessageQueue, "update_pull_offset")
def _move_whoever_has_it(
    self: AssignedMessageQueue, mq: MessageQueue, offset: int, process_queue: ProcessQueue,
) -> None:
    """Nobody asks whether the queue has been taken anew since the pull."""
    del process_queue
    state = self.states.get(mq)
    if state is not None:
        state.pull_offset = offset


@replace(PullTask, "_is_over")
def _until_it_is_sought(self: PullTask, pq: ProcessQueue) -> bool:
    """A pull goes on when its queue has gone."""
    return self.cancelled and not pq.dropped


BUGS = (
    Variant("seeded-pollers-say-no-goodbye", "bug", "Who polls leaves its group, and says nothing.",
            "unregisterConsumer forgotten in DefaultLitePullConsumerImpl#shutdown",
            replacements=(_leave_without_a_goodbye,)),
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
    Variant("seeded-poll-does-not-wait", "bug", "A poll returns at once, with or without messages.",
            "poll() for poll(timeout) of the queue in DefaultLitePullConsumerImpl#poll", replacements=(_do_not_wait,)),
    Variant("seeded-arrival-wakes-no-poll", "bug", "A poll that waits returns when its time is over, whatever comes.",
            "a forgotten signal", replacements=(_wake_nobody,)),
    Variant("seeded-rest-lasts", "bug", "A queue that was paused is never pulled again.",
            "DefaultLitePullConsumerImpl#resume forgotten", replacements=(_rest_on,)),
    Variant("seeded-nothing-commits-itself", "bug", "autoCommit commits nothing.",
            "DefaultLitePullConsumerImpl#maybeAutoCommit forgotten", replacements=(_never_commit,)),
    Variant("seeded-seek-goes-anywhere", "bug", "A seek leads to where a queue has nothing.",
            "minOffset and maxOffset forgotten in DefaultLitePullConsumerImpl#seek", replacements=(_seek_anywhere,)),
    Variant("seeded-ways-are-mixed", "bug", "Who has subscribed can assign queues, and the other way round.",
            "the test forgotten in DefaultLitePullConsumerImpl#setSubscriptionType", replacements=(_mix_ways,)),
    Variant("seeded-seek-is-not-committed", "bug", "Where a seek leads does not count as consumed up to.",
            "updateConsumeOffset forgotten in DefaultLitePullConsumerImpl#nextPullOffset",
            replacements=(_go_and_forget,)),
    Variant("seeded-poller-begins-at-the-end", "bug", "Who polls begins at the end, however it is configured.",
            "the value of DefaultLitePullConsumerImpl#consumeFromWhere for that of its consumer",
            replacements=(_begin_at_the_end,)),
    Variant("seeded-poller-gives-up-uncommitted", "bug", "Of a queue that is given up what was committed is not sent.",
            "persist forgotten in RebalanceLitePullImpl#removeUnnecessaryMessageQueue",
            replacements=(_give_up_uncommitted,)),
    Variant("seeded-stale-pull-moves-its-queue", "bug", "Where a pull of a former holding ends is where the next one "
            "begins.", "apache/rocketmq #2732", replacements=(_move_whoever_has_it, _until_it_is_sought)),
)
