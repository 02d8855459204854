"""Planted bugs of order locks (group OL of known bugs)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.heartbeat_data import CLUSTERING
from impl.decisions import retry_level
from impl.decisions.message_queue import MessageQueue
from impl.ports.threads import Threads
from impl.variants.variant import Variant, around, replace


@replace(RebalancePushImpl, "remove_unnecessary_message_queue")
async def _unlock_beside_the_listener(
    self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue, threads: Threads,
) -> bool:
    """The lock is given back at once, whether or not the listener is at work."""
    del pq
    self.report_dropped()
    await self.offset_store.persist(mq)
    await threads.interleave("removeUnnecessaryMessageQueue: between persist and removeOffset")
    self.offset_store.remove_offset(mq)
    if self.orderly and self.message_model == CLUSTERING:
        await self.unlock(mq, oneway=True)
    return True


@around(RebalanceImpl, "_take")
def _lock_always(
    original: Callable[..., Awaitable[PullRequest | None]],
) -> Callable[..., Awaitable[PullRequest | None]]:
    async def _take(
        self: RebalanceImpl, mq: MessageQueue, is_order: bool, threads: Threads,
    ) -> PullRequest | None:
        """Whatever the listener is."""
        if not is_order and not await self.lock(mq):
            return None
        return await original(self, mq, is_order, threads)

    return _take


@replace(RebalancePushImpl, "_unlock_delay")
async def _keep_the_lock(self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue) -> None:
    """Nothing is unlocked."""


@replace(ConsumeMessageOrderlyService, "shutdown")
async def _stop_without_unlocking(self: ConsumeMessageOrderlyService) -> None:
    """Nothing is unlocked."""
    await self._stop()


@replace(RebalancePushImpl, "_unlock_delay")
async def _unlock_other_topics(self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue) -> None:
    """With a queue those of all other topics are unlocked."""
    del pq
    for other in self.process_queue_table.key_set():
        if other == mq or other.topic != mq.topic:
            await self.unlock(other, oneway=True)


@replace(retry_level, "goes_to_dead_letters")
def _one_more_time(reconsume_times: int, delay_level: int, max_reconsume_times: int) -> bool:
    """Greater, where the client sends the number that it has reached."""
    return reconsume_times > max_reconsume_times or delay_level < 0


@replace(ConsumeMessageOrderlyService, "_may_consume")
def _ask_nobody(self: ConsumeMessageOrderlyService, pq: ProcessQueue) -> bool:
    """Whatever became of the lock since the queue was pulled."""
    del self, pq
    return True


BUGS = (
    Variant(
        "ol-consume-while-releasing", "bug", "A queue is unlocked while its listener is still at work.",
        "alibaba/rocketmq #367, commit 45dae1fa82", replacements=(_unlock_beside_the_listener,),
        over=("run_removes_its_own", "batch_ends_first"),
    ),
    Variant(
        "ol-locked-flag-not-set", "bug", "A queue that was locked when it was taken counts as not locked for 20 s.",
        "apache/rocketmq #2621, #5465: 4.9.3 as shipped", undoes=("believe_at_once",),
    ),
    Variant(
        "ol-lock-everyone", "bug", "Consumers that are not orderly need the broker's lock as well.",
        "alibaba/rocketmq #112, #106", replacements=(_lock_always,),
    ),
    Variant(
        "ol-fast-path-race", "bug", "A renewal and a take-over of an expired lock are both granted.",
        "4.9.3 as shipped", undoes=("renew_in_one_step", "locks_in_order"),
    ),
    Variant(
        "ol-infinite-retry", "bug", "A message is retried once more than allowed, by a client that does not count up.",
        "apache/rocketmq #6163, #6164, commit 7cfffe7f48", replacements=(_one_more_time,),
    ),
    Variant(
        "ol-unlock-missing-on-leave", "bug", "Who gives a queue up, or stops, keeps its lock for 60 s.",
        "client-go #1220, commits 6c64ae4, c38b9f2, 9bca88d", replacements=(_keep_the_lock, _stop_without_unlocking),
        over=("unlock_unless_wanted", "hand_over_before_unlock"),
    ),
    Variant(
        "seeded-any-lock", "bug", "A listener that works in order begins whether or not its client has the lock still.",
        "an idea: what a port of a consumer forgets", replacements=(_ask_nobody,),
    ),
    Variant(
        "ol-unlock-other-topics", "bug", "Who gives a queue up unlocks those of its other topics, too.",
        "client-go #1220, the first patch", replacements=(_unlock_other_topics,), over=("unlock_unless_wanted",),
    ),
)
