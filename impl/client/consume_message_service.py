"""ConsumeMessageService: the threads that give messages to a listener, and what becomes of them when it has ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from impl.client.process_queue import ProcessQueue
from impl.common.message import MessageExt
from impl.decisions.message_queue import MessageQueue
from impl.events import MessagesSettled, OffsetUpdated

if TYPE_CHECKING:  # a consumer has a service
    from impl.client.push_consumer import DefaultMQPushConsumerImpl


class ConsumeMessageService(ABC):
    """`client.impl.consumer.ConsumeMessageService`: of one consumer.

    stopped -- no lock is asked for any more.
    """

    def __init__(self, consumer: DefaultMQPushConsumerImpl) -> None:
        """Not started; its pool never grows beyond the least number of threads, as its queue has no end."""
        self.consumer, self.node = consumer, consumer.node
        self.consume_executor = consumer.node.pool("ConsumeMessageThread", consumer.config.consume_thread_min)
        self.stopped = False

    @abstractmethod
    def start(self) -> None:
        """ConsumeMessageService#start."""

    @abstractmethod
    async def shutdown(self) -> None:
        """ConsumeMessageService#shutdown: by default nobody waits for a listener that is at work."""

    @abstractmethod
    def submit_consume_request(
        self, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *, dispatch_to_consume: bool,
    ) -> None:
        """ConsumeMessageService#submitConsumeRequest; raises RejectedExecutionError after the shutdown.

        dispatch_to_consume -- no task for the queue is on its way.
        """

    async def _shutdown_gracefully(self) -> None:
        """ThreadUtils#shutdownGracefully: wait, take away what is queued, wait once more."""
        wait_ms = self.consumer.config.await_termination_ms_when_shutdown
        self.consume_executor.shutdown()
        if wait_ms > 0 and await self.consume_executor.await_termination(wait_ms):
            return
        self.consume_executor.shutdown_now()
        if wait_ms > 0:
            await self.consume_executor.await_termination(wait_ms)

    def _settle(self, mq: MessageQueue, msgs: Sequence[MessageExt]) -> None:
        offsets = tuple(msg.queue_offset for msg in msgs)
        if offsets:
            self.node.trace(MessagesSettled(self.consumer.instance.client_id, self.consumer.group, mq, offsets))

    def _put(self, mq: MessageQueue, offset: int, *, increase_only: bool) -> None:
        self.consumer.offset_store.update_offset(mq, offset, increase_only=increase_only)
        self.node.trace(OffsetUpdated(self.consumer.instance.client_id, self.consumer.group, mq, offset))


def is_dropped(pq: ProcessQueue) -> bool:
    """ProcessQueue#isDropped: a volatile field, which other threads set meanwhile."""
    return pq.dropped
