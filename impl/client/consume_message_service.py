"""ConsumeMessageService: the threads that give messages to a listener, and what becomes of them when it has ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from impl.client.process_queue import ProcessQueue
from impl.common.message import MessageExt
from impl.decisions.message_queue import MessageQueue
from impl.events import MessagesSettled, OffsetUpdated

if TYPE_CHECKING:  # a consumer has a service
    from impl.client.push_consumer import DefaultMQPushConsumerImpl

CONSUME_THREAD_MIN = 20  # DefaultMQPushConsumer.consumeThreadMin: the pool never grows beyond it


class MessageListener(Protocol):
    """What users write: a MessageListenerConcurrently, or a MessageListenerOrderly."""

    async def consume_message(self, msgs: Sequence[MessageExt], mq: MessageQueue) -> None:
        """Work on some messages of a queue; when it returns it has succeeded, and it does nothing else."""
        ...


class SucceedingListener:
    """A MessageListener that has nothing to do."""

    async def consume_message(self, msgs: Sequence[MessageExt], mq: MessageQueue) -> None:
        """Succeed at once."""


class ConsumeMessageService(ABC):
    """`client.impl.consumer.ConsumeMessageService`: of one consumer.

    stopped -- no lock is asked for any more.
    """

    def __init__(self, consumer: DefaultMQPushConsumerImpl) -> None:
        """Not started."""
        self.consumer, self.node = consumer, consumer.node
        self.consume_executor = consumer.node.pool("ConsumeMessageThread", CONSUME_THREAD_MIN)
        self.stopped = False

    @abstractmethod
    def start(self) -> None:
        """ConsumeMessageService#start."""

    @abstractmethod
    async def shutdown(self) -> None:
        """ConsumeMessageService#shutdown(0): nobody waits for a listener that is at work."""

    @abstractmethod
    def submit_consume_request(
        self, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *, dispatch_to_consume: bool,
    ) -> None:
        """ConsumeMessageService#submitConsumeRequest; raises RejectedExecutionError after the shutdown.

        dispatch_to_consume -- no task for the queue is on its way.
        """

    def _settle(self, mq: MessageQueue, msgs: Sequence[MessageExt]) -> None:
        offsets = tuple(msg.queue_offset for msg in msgs)
        self.node.trace(MessagesSettled(self.consumer.instance.client_id, self.consumer.group, mq, offsets))

    def _put(self, mq: MessageQueue, offset: int, *, increase_only: bool) -> None:
        self.consumer.offset_store.update_offset(mq, offset, increase_only=increase_only)
        self.node.trace(OffsetUpdated(self.consumer.instance.client_id, self.consumer.group, mq, offset))


def is_dropped(pq: ProcessQueue) -> bool:
    """ProcessQueue#isDropped: a volatile field, which other threads set meanwhile."""
    return pq.dropped
