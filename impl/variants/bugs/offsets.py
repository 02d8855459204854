"""Planted bugs of offsets (group PO of known bugs)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from impl.broker.broker2client import Broker2Client
from impl.broker.consumer_offset_manager import TOPIC_GROUP_SEPARATOR, ConsumerOffsetManager
from impl.client.mq_client_instance import MQClientInstance
from impl.client.pull_callback import PullCallback
from impl.decisions import start_offset as decision
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere, Source
from impl.ports.remoting import Channel, Command
from impl.variants.variant import Variant, around, replace, seeded


@around(decision, "start_offset")
def _zero_for_failure(original: Callable[[Source, int, int, int], int]) -> Callable[..., int]:
    def start_offset(source: Source, stored: int, max_offset: int, searched_offset: int) -> int:
        """A number that stands for a failure becomes an offset."""
        return max(0, original(source, stored, max_offset, searched_offset))

    return start_offset


@around(decision, "start_offset_source")
def _nothing_for_retries(original: Callable[..., Source]) -> Callable[..., Source]:
    def start_offset_source(mode: ConsumeFromWhere, stored: int, *, retry_topic: bool) -> Source:
        """The 0 for a retry topic goes into another variable of the same name."""
        source = original(mode, stored, retry_topic=retry_topic)
        return Source.NONE if retry_topic and source is Source.ZERO else source

    return start_offset_source


@replace(ConsumerOffsetManager, "remove_offset")
def _remove_one_topic(self: ConsumerOffsetManager, group: str) -> None:
    """The first topic of the group goes, the others keep their offsets."""
    keys = self.offset_table.key_set()
    first = next((key for key in keys if key.partition(TOPIC_GROUP_SEPARATOR)[2] == group), None)
    if first is not None:
        self.offset_table.remove(first)


@replace(PullCallback, "_no_new_msg")
def _look_at_the_waiting(self: PullCallback) -> None:
    """Messages that a listener has taken do not count."""
    pull, pq = self.pull_request, self.pull_request.process_queue
    if not pq.dropped and not pq.msg_tree_map:
        self.consumer.offset_store.update_offset(pull.message_queue, pull.next_offset, increase_only=True)
    self.consumer.execute_pull_request_immediately(pull)


@around(Broker2Client, "_push")
def _tell_the_first(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _push(self: Broker2Client, channel: Channel, request: Command) -> None:
        """One member hears of a reset, as if it had all queues."""
        info = self.consumer_manager.get_consumer_group_info(request.header.group)
        if info is None or info.get_all_channel()[:1] == [channel]:
            await original(self, channel, request)

    return _push


@around(MQClientInstance, "reset_offset")
def _rest_for_ever(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def reset_offset(
        self: MQClientInstance, topic: str, group: str, offset_table: Mapping[MessageQueue, int],
    ) -> None:
        """Nobody lets the consumer go on."""
        await original(self, topic, group, offset_table)
        consumer = self.push_consumer(group)
        if consumer is not None:
            consumer.pause = True

    return reset_offset


BUGS = (
    Variant(
        "po-error-read-as-absent", "bug", "Any error of the offset query means a group without an offset.",
        "4.x as shipped, split in apache/rocketmq b6ff649291", undoes=("errors_are_errors",),
    ),
    Variant(
        "po-fetch-failure-commits-zero", "bug", "A queue whose offset cannot be read is consumed from 0.",
        "apache/rocketmq #2708, commits 6ab6afd006, d7c2d25c2a", replacements=(_zero_for_failure,),
    ),
    Variant(
        "po-commit-map-race", "bug", "Of the first commits of two queues one is lost.",
        "apache/rocketmq #1427, #10988; 4.9.3 as shipped", undoes=("commit_in_one_step", "commits_in_order"),
    ),
    Variant(
        "po-reset-vs-inflight", "bug", "The answer to a pull that was under way undoes a reset.",
        "apache/rocketmq #4742, #2298, #4206; 4.9.3 as shipped", undoes=("dropped_is_over",),
    ),
    Variant(
        "po-search-by-time", "bug", "A search by time answers the nearest message, not the first at or after it.",
        "apache/rocketmq #4890, #6429, commit 1818c2d507; 4.9.3 as shipped", undoes=("time_finds_the_first",),
    ),
    Variant(
        "po-broadcast-illegal-loop", "bug", "A corrected offset of a broadcasting consumer does not reach its file.",
        "apache/rocketmq #7740, #7745; 4.9.3 as shipped", undoes=("file_keeps_corrections",),
    ),
    Variant(
        "po-deleted-group-keeps-offset", "bug", "Of the offsets of a deleted group only those of one topic go.",
        "apache/rocketmq #2748, #9172, #9704", replacements=(_remove_one_topic,),
    ),
    Variant(
        "po-cpp-ordered-early-commit", "bug", "An empty pull commits past messages that a listener has.",
        "client-cpp commit ecfd7d3", replacements=(_look_at_the_waiting,), over=("dropped_is_over",),
    ),
    Variant(
        "po-shadowed-result", "bug", "Retry queues of a new group are not consumed.",
        "client-go #530, commit f904a3f", replacements=(_nothing_for_retries,),
    ),
    seeded("an idea: a loop that ends too soon", "first-member-is-reset",
           "Of a group that an operator resets one member is told.", _tell_the_first),
    seeded("an idea: a call forgotten in the end of MQClientInstance#resetOffset", "reset-consumers-stay-suspended",
           "A consumer that was reset consumes nothing any more.", _rest_for_ever),
)
