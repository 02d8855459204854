"""Planted bugs of queue allocation and client rebalancing (group RB of known bugs)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.common.heartbeat_data import BROADCASTING
from impl.decisions import allocation, route_queues
from impl.decisions.allocation import AllocateMessageQueueByMachineRoom, Members, Queues, machine_room_range
from impl.decisions.flags import PERM_READ, has_flag
from impl.decisions.java_errors import JavaError, JavaException
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import TopicRouteData
from impl.ports.threads import Threads
from impl.variants.variant import Variant, around, replace


@replace(AllocateMessageQueueByMachineRoom, "allocate")
def _slice_all_queues(
    self: AllocateMessageQueueByMachineRoom, consumer_group: str, current_cid: str | None, mq_all: Queues | None,
    cid_all: Members | None,
) -> list[MessageQueue]:
    """The slice is cut out of all queues, and only the remainder out of those of the rooms."""
    del consumer_group
    if not current_cid or not mq_all or not cid_all or current_cid not in cid_all:
        return []
    eligible = self.eligible(mq_all)
    start_index, length, extra = machine_room_range(len(eligible), len(cid_all), cid_all.index(current_cid))
    result = list(mq_all[start_index : start_index + length])
    return result if extra < 0 else [*result, eligible[extra]]


@around(allocation, "averagely_range")
def _without_sign(original: Callable[[int, int, int], tuple[int, int]]) -> Callable[..., tuple[int, int]]:
    def averagely_range(n: int, m: int, i: int) -> tuple[int, int]:
        """What is below zero loses its sign; where there are no queues nobody gets one."""
        start_index, length = original(n, m, i)
        return start_index, abs(length) if n else 0

    return averagely_range


@replace(RebalanceImpl, "do_rebalance")
async def _one_try_for_all(self: RebalanceImpl, is_order: bool, threads: Threads) -> None:
    """The loop is tried, not its body."""
    try:
        for topic, _ in self.subscription_inner.traverse():
            await self.rebalance_by_topic(topic, is_order, threads)
    except JavaError:
        return
    await self.truncate_message_queue_not_my_topic(threads)


@around(RebalanceImpl, "rebalance_by_topic")
def _throw_without_queues(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def rebalance_by_topic(self: RebalanceImpl, topic: str, is_order: bool, threads: Threads) -> None:
        """A topic without queues is an error."""
        if self.message_model != BROADCASTING and not self.topic_subscribe_info_table.get(topic):
            raise JavaException(f"no queues of {topic}")
        await original(self, topic, is_order, threads)

    return rebalance_by_topic


@replace(RebalanceImpl, "_take")
async def _put_in_any_case(
    self: RebalanceImpl, mq: MessageQueue, is_order: bool, threads: Threads,
) -> PullRequest | None:
    """A plain put after the offset has been read."""
    if is_order and not await self.lock(mq):
        return None
    self.remove_dirty_offset(mq)
    pq = ProcessQueue(self.now_ms)
    try:
        next_offset = await self.compute_pull_from_where_with_exception(mq, threads)
    except JavaError:
        return None
    await threads.interleave("updateProcessQueueTableInRebalance: before putIfAbsent")
    if next_offset < 0:
        return None
    self.process_queue_table.put(mq, pq)
    return PullRequest(self.consumer_group, mq, pq, next_offset)


@replace(RebalanceImpl, "_give_up")
async def _stop_after_the_first(
    self: RebalanceImpl, topic: str, mq_set: Collection[MessageQueue], threads: Threads,
) -> bool:
    """The loop ends with its first removal."""
    for mq, pq in self.process_queue_table.traverse():
        if mq.topic == topic and (mq not in mq_set or pq.is_pull_expired()):
            pq.dropped = True
            await threads.interleave("updateProcessQueueTableInRebalance: the queue is dropped")
            if await self.remove_unnecessary_message_queue(mq, pq, threads):
                self.process_queue_table.remove(mq)
                return True
    return False


@replace(route_queues, "topic_subscribe_queues")
def _read_what_is_written_to(topic: str, route: TopicRouteData) -> list[MessageQueue]:
    """Of each broker as many queues as producers may write to."""
    return sorted({MessageQueue(topic, data.broker_name, queue_id) for data in route.queue_datas
                   if has_flag(data.perm, PERM_READ) for queue_id in range(data.write_queue_nums)})


BUGS = (
    Variant(
        "rb-machineroom-wrong-list", "bug", "The slice for a room is cut out of the queues of all rooms.",
        "apache/rocketmq #1322, #2478, commit 3cc7f095ce", replacements=(_slice_all_queues,),
    ),
    Variant(
        "rb-unsigned-underflow", "bug", "Members beyond the queues get some, as a difference lost its sign.",
        "rocketmq-rust #1101, #1102", replacements=(_without_sign,),
    ),
    Variant(
        "rb-one-topic-aborts-all", "bug", "An error with one topic ends the rebalance of all others.",
        "alibaba/rocketmq #172, commit 0e2d057457; client-cpp", replacements=(_one_try_for_all, _throw_without_queues),
    ),
    Variant(
        "rb-two-pull-loops", "bug", "Two rebalances at once start two pull loops for one queue.",
        "alibaba/rocketmq #78, commit 0797a2d051; client-go #313", replacements=(_put_in_any_case,),
        over=("take_nothing_once_stopped", "lock_goes_with_its_queue", "late_read_changes_nothing"),
    ),
    Variant(
        "rb-mutate-while-iterating", "bug", "After its first removal a rebalance gives nothing more up.",
        "alibaba/rocketmq #333, commit 7fb80a7e90", replacements=(_stop_after_the_first,),
        over=("give_back_what_is_stuck",),
    ),
    Variant(
        "seeded-written-queues-are-read", "bug", "Members read as many queues as can be written to.",
        "an idea: writeQueueNums for readQueueNums", replacements=(_read_what_is_written_to,),
    ),
)
