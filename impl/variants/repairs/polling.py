"""Repairs of lite pull consumers whose applications leave a topic and come back to it, or seek."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.lite_pull_task import PullTask
from impl.common.message_selector import MessageSelector
from impl.common.pull_result import PullResult
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.variants.variant import Variant, around


@around(DefaultLitePullConsumerImpl, "unsubscribe")
def _drop_what_waits(original: Callable[[DefaultLitePullConsumerImpl, str], None]) -> Callable[..., None]:
    def unsubscribe(self: DefaultLitePullConsumerImpl, topic: str) -> None:
        """No poll gives what was pulled before.

        A queue whose beginning the rebalance did not learn has a process queue of its own, which its table has not.
        """
        for mq, state in self.assigned_message_queue.states.entries():
            if mq.topic == topic:
                state.process_queue.dropped = True
        original(self, topic)

    return unsubscribe


@around(DefaultLitePullConsumerImpl, "subscribe")
def _give_up_before(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def subscribe(
        self: DefaultLitePullConsumerImpl, topic: str, selector: str | MessageSelector = "*",
    ) -> None:
        """What is left of the topic's last time goes first, so that the next rebalance takes its queues anew."""
        await self.rebalance_impl.truncate_message_queue_not_my_topic(self.node)
        await original(self, topic, selector)

    return subscribe


@around(DefaultLitePullConsumerImpl, "message_queue_changed")
def _take_what_is_subscribed(original: Callable[..., None]) -> Callable[..., None]:
    def message_queue_changed(
        self: DefaultLitePullConsumerImpl, topic: str, mq_all: Collection[MessageQueue],
        mq_divided: Collection[MessageQueue],
    ) -> None:
        """A rebalance that has begun before the topic was left takes none of its queues."""
        if self.rebalance_impl.subscription_inner.contains_key(topic):
            original(self, topic, mq_all, mq_divided)

    return message_queue_changed


@around(DefaultLitePullConsumerImpl, "message_queue_changed")
def _take_what_has_begun(original: Callable[..., None]) -> Callable[..., None]:
    def message_queue_changed(
        self: DefaultLitePullConsumerImpl, topic: str, mq_all: Collection[MessageQueue],
        mq_divided: Collection[MessageQueue],
    ) -> None:
        """A queue whose beginning nobody has said is left to the next rebalance."""
        table = self.rebalance_impl.process_queue_table
        all_begun, divided_begun = ([mq for mq in mqs if table.contains_key(mq)] for mqs in (mq_all, mq_divided))
        original(self, topic, all_begun, divided_begun)

    return message_queue_changed


@around(PullTask, "_next_pull_offset")
def _know_what_was_sought(original: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
    async def _next_pull_offset(self: PullTask) -> int:
        vars(self)["sought"] = self.consumer.assigned_message_queue.seek_offset(self.message_queue)
        return await original(self)

    return _next_pull_offset


@around(PullTask, "_pull")
def _seek_again(original: Callable[..., Awaitable[PullResult]]) -> Callable[..., Awaitable[PullResult]]:
    async def _pull(self: PullTask, offset: int) -> PullResult:
        """A pull that fails leaves the seek to the next one; another seek has cancelled its task."""
        try:
            return await original(self, offset)
        except JavaError:
            if not self.cancelled:
                self.consumer.assigned_message_queue.set_seek_offset(self.message_queue, vars(self)["sought"])
            raise

    return _pull


REPAIRS = (
    Variant(
        "left_topic_is_not_polled", "repair", "Who unsubscribes a topic drops its process queues.",
        "the idea: setDropped in AssignedMessageQueue#removeAssignedMessageQueue", ("X27",), (_drop_what_waits,),
    ),
    Variant(
        "left_topic_is_given_up", "repair", "Who subscribes a topic again has given up its queues before, and who has "
        "left it takes none.",
        "the idea: RebalanceImpl#truncateMessageQueueNotMyTopic in DefaultLitePullConsumerImpl#subscribe", ("U18",),
        (_give_up_before, _take_what_is_subscribed),
    ),
    Variant(
        "queues_are_polled_that_have_begun", "repair",
        "Who polls takes the queues of which a rebalance knows where they begin.",
        "the idea: RebalanceImpl#processQueueTable in DefaultLitePullConsumerImpl.MessageQueueListenerImpl", ("X31",),
        (_take_what_has_begun,),
    ),
    Variant(
        "failed_seek_is_made_again", "repair", "The pull after one that has failed goes where its application sought.",
        "the idea: setSeekOffset where DefaultLitePullConsumerImpl.PullTaskImpl#run catches what a pull throws",
        ("X30",), (_know_what_was_sought, _seek_again),
    ),
)
