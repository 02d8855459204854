"""What the consume services make of a listener's success: from then on its messages count, unless it came too late."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from impl.client.process_queue import Message, ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.message_queue import MessageQueue
from impl.events import ListenerEnded, ListenerStarted, MessagesSettled, OffsetUpdated


class _ConsumeMessageService:
    """`client.impl.consumer.ConsumeMessageService`: of one consumer."""

    def __init__(self, consumer: DefaultMQPushConsumerImpl) -> None:
        """Settle what its listener has read."""
        self.consumer, self.node = consumer, consumer.node

    def _settle(self, mq: MessageQueue, msgs: Sequence[Message]) -> None:
        offsets = tuple(msg.queue_offset for msg in msgs)
        self.node.trace(MessagesSettled(self.consumer.instance.client_id, self.consumer.group, mq, offsets))

    def _put(self, mq: MessageQueue, offset: int, *, increase_only: bool) -> None:
        self.consumer.offset_store.update_offset(mq, offset, increase_only=increase_only)
        self.node.trace(OffsetUpdated(self.consumer.instance.client_id, self.consumer.group, mq, offset))


class ConsumeMessageConcurrentlyService(_ConsumeMessageService):
    """`client.impl.consumer.ConsumeMessageConcurrentlyService`."""

    async def process_consume_result(self, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[Message]) -> None:
        """#processConsumeResult with CONSUME_SUCCESS, of a queue that was not dropped just before."""
        offset = pq.remove_message(msgs)
        self._settle(mq, msgs)
        if offset >= 0 and not pq.dropped:
            await self._update_offset(mq, pq, offset)

    async def _update_offset(self, mq: MessageQueue, pq: ProcessQueue, offset: int) -> None:
        """`dropped` was looked at before; what has become of the queue meanwhile is not looked at (X18)."""
        del pq
        await self.node.interleave("processConsumeResult: between removeMessage and updateOffset")
        self._put(mq, offset, increase_only=True)


class ConsumeMessageOrderlyService(_ConsumeMessageService):
    """`client.impl.consumer.ConsumeMessageOrderlyService`."""

    async def consume(
        self, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[Message], listener: Callable[[], Awaitable[None]],
    ) -> None:
        """ConsumeRequest#run for one batch that was taken: the listener works under the lock of the queue."""
        await self.node.lock(pq.consume_lock)
        if pq.dropped:
            self.node.unlock(pq.consume_lock)
            return
        await self._listen(mq, listener)
        self.node.unlock(pq.consume_lock)
        await self.process_consume_result(mq, pq, msgs)

    async def _listen(self, mq: MessageQueue, listener: Callable[[], Awaitable[None]]) -> None:
        client_id, group = self.consumer.instance.client_id, self.consumer.group
        self.node.trace(ListenerStarted(client_id, group, mq))
        await listener()
        self.node.trace(ListenerEnded(client_id, group, mq))

    async def process_consume_result(self, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[Message]) -> None:
        """#processConsumeResult with SUCCESS: everything taken is settled."""
        await self.node.interleave("processConsumeResult: before commit")
        if self._counts(mq, pq):
            offset = pq.commit()
            self._settle(mq, msgs)
            self._put(mq, offset, increase_only=False)

    def _counts(self, mq: MessageQueue, pq: ProcessQueue) -> bool:
        """What is read of a queue that has been dropped meanwhile is not settled (X11)."""
        del mq
        return not pq.dropped
