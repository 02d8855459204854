"""Planted bugs of consumers that poll several topics, or go to where they are, or whose pulls fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from impl.client.assigned_message_queue import AssignedMessageQueue
from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.lite_pull_task import PullTask
from impl.common.pull_result import PullResult
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.variants.variant import around, replace, seeded

_IDEA = "an idea: what a port of a consumer forgets"


@around(DefaultLitePullConsumerImpl, "seek")
def _end_is_behind(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def seek(self: DefaultLitePullConsumerImpl, mq: MessageQueue, offset: int) -> None:
        """The end of a queue counts as behind it."""
        if offset == await self.max_offset(mq):
            raise MQClientError("Seek offset illegal")
        await original(self, mq, offset)

    return seek


@replace(DefaultLitePullConsumerImpl, "_update_pull_tasks")
def _cancel_whatever_is_left(
    self: DefaultLitePullConsumerImpl, mqs: Collection[MessageQueue], topic: str | None = None,
) -> None:
    """Which topic the queues are of is not looked at."""
    del topic
    self._cancel(lambda mq: mq not in mqs)
    for mq in mqs:
        self._start_pull_task(mq)


@around(AssignedMessageQueue, "update_assigned_message_queue")
def _drop_whatever_is_left(original: Callable[..., None]) -> Callable[..., None]:
    def update_assigned_message_queue(
        self: AssignedMessageQueue, assigned: Collection[MessageQueue], topic: str | None = None,
    ) -> None:
        """Which topic the queues are of is not looked at."""
        del topic
        original(self, assigned)

    return update_assigned_message_queue


@around(PullTask, "_pull")
def _go_on_behind(original: Callable[..., Awaitable[PullResult]]) -> Callable[..., Awaitable[PullResult]]:
    async def pull(self: PullTask, offset: int) -> PullResult:
        """Where the next pull begins is noted before this one is answered."""
        state = self.consumer.assigned_message_queue.states.get(self.message_queue)
        try:
            return await original(self, offset)
        except JavaError:
            if state is not None and state.seek_offset == -1:
                state.pull_offset = offset + self.consumer.config.pull_batch_size
            raise

    return pull


BUGS = (
    seeded(f"{_IDEA} (< for <= in DefaultLitePullConsumerImpl#seek)", "end-cannot-be-sought",
           "Nobody who polls can go to the end of a queue.", _end_is_behind),
    seeded(f"{_IDEA} (the topic forgotten in DefaultLitePullConsumerImpl#updatePullTask)", "tasks-of-other-topics-end",
           "Where the queues of one topic change, those of the others that are polled are pulled no longer.",
           _cancel_whatever_is_left),
    seeded(f"{_IDEA} (the topic forgotten in AssignedMessageQueue#updateAssignedMessageQueue)",
           "queues-of-other-topics-go",
           "Where the queues of one topic change, those of the others that are polled are given up.",
           _drop_whatever_is_left),
    seeded(f"{_IDEA} (updatePullOffset outside of the test of the status in PullTaskImpl#run)",
           "failed-pull-is-passed-over", "Who polls goes on behind what a pull that failed has asked for.",
           _go_on_behind),
)
