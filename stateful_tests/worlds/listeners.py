"""Users' listeners, and the messages that they are given: what RocketMQ's consume services do around them.

Nobody sends messages here. Those that a deed lets arrive are put into the cache of a queue that is held, as a pull does
whose answer has some, and a thread of the consume service works on them.
"""

from __future__ import annotations

from dataclasses import dataclass

from impl.client.offset_store import RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.message_queue import MessageQueue
from impl.events import ListenerEnded, ListenerStarted

BATCH = 4


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message in the cache of a consumer."""

    queue_offset: int
    body: bytes | None = b"x"

    def get_property(self, name: str) -> str | None:
        """Message#getProperty: none."""
        del name
        return None


def arrive(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, pq: ProcessQueue) -> list[Arrived]:
    """Put a batch behind what is there into the cache; nothing where nobody knows yet where the queue begins."""
    store = consumer.offset_store
    known = store.offset_table.get(mq) if isinstance(store, RemoteBrokerOffsetStore) else None
    if known is None or pq.dropped:
        return []
    begin = max(known, pq.queue_offset_max + 1) if pq.msg_count else known
    batch = [Arrived(offset) for offset in range(begin, begin + BATCH)]
    pq.put_message(batch)
    return batch


async def work(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, work_ms: int) -> None:
    """Let a batch arrive and a listener work on it for so long."""
    pq = consumer.rebalance_impl.process_queue_table.get(mq)
    batch = [] if pq is None else arrive(consumer, mq, pq)
    if pq is None or not batch:
        return
    if consumer.config.orderly:
        await _in_order(consumer, mq, pq, work_ms)
    else:
        await _beside_others(consumer, mq, pq, batch, work_ms)


async def _beside_others(
    consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, pq: ProcessQueue, batch: list[Arrived], work_ms: int,
) -> None:
    """ConsumeMessageConcurrentlyService#processConsumeResult, behind a listener that says CONSUME_SUCCESS."""
    node = consumer.node
    await node.sleep(work_ms)
    offset = pq.remove_message(batch)
    node.trace(ListenerEnded(consumer.instance.client_id, consumer.group, mq, offset))
    await node.interleave("processConsumeResult: between removeMessage and updateOffset")
    if offset >= 0 and not pq.dropped:
        consumer.offset_store.update_offset(mq, offset, increase_only=True)


async def _in_order(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, pq: ProcessQueue, work_ms: int) -> None:
    """ConsumeMessageOrderlyService.ConsumeRequest#run, once, with a listener that says SUCCESS."""
    node, client_id = consumer.node, consumer.instance.client_id
    await node.lock(pq.consume_lock)
    if pq.dropped or not pq.locked or pq.is_lock_expired() or not pq.take_messages(BATCH):
        node.unlock(pq.consume_lock)
        return
    node.trace(ListenerStarted(client_id, consumer.group, mq))
    await node.sleep(work_ms)
    offset = -1 if pq.dropped else pq.commit()
    node.trace(ListenerEnded(client_id, consumer.group, mq, offset))
    node.unlock(pq.consume_lock)
    if offset >= 0:
        consumer.offset_store.update_offset(mq, offset, increase_only=False)
