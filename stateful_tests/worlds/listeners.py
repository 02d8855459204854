"""Users' listeners, and the messages that they are given: what RocketMQ's consume services do around them.

Nobody sends messages here. A deed lets some arrive: it answers pulls that are held, as a broker does, and threads of
the consume service work on what came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from impl.client.consume_message_service import ConsumeMessageConcurrentlyService, ConsumeMessageOrderlyService
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.decisions.message_queue import MessageQueue
from stateful_tests.worlds.world import World

LOOK_MS = 1_000
BATCH, TASK = 4, 2
"""How many messages a pull finds, and how many of them are one task for listeners that need no order."""
LOCK_LATER_MS, AGAIN_MS, AGAIN_UNLOCKED_MS = 10, 10, 3_000  # ConsumeMessageOrderlyService#tryLockLaterAndReconsume


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message in the cache of a consumer."""

    queue_offset: int
    body: bytes | None = b"x"

    def get_property(self, name: str) -> str | None:
        """Message#getProperty: none."""
        del name
        return None


async def work(consumer: DefaultMQPushConsumerImpl, pull_request: PullRequest, work_ms: int) -> None:
    """Answer a pull that is held with the next messages of its queue, and let listeners work on them.

    work_ms -- how long the first of them works; those beside it need less, so that later messages are settled earlier.
    """
    if pull_request not in consumer.held_pulls:
        return
    mq, pq, begin = pull_request.message_queue, pull_request.process_queue, pull_request.next_offset
    msgs = [Arrived(offset) for offset in range(begin, begin + BATCH)]
    dispatch_to_consume = consumer.on_found(pull_request, msgs)
    if not consumer.config.orderly:
        for first in range(0, BATCH, TASK):
            task = _beside_others(consumer, mq, pq, msgs[first : first + TASK], work_ms // (1 + first))
            consumer.node.start_thread("ConsumeMessageThread", task)
    elif dispatch_to_consume:
        await _in_order(consumer, mq, pq, work_ms)


async def refuse_what_is_gone(world: World) -> None:
    """Answer pulls that are held at offsets which brokers have no more; run it as a thread of `kernel.world`."""
    while True:
        await world.simulation.kernel.world.sleep(LOOK_MS)
        for machine, consumer in world.running():
            for pull_request in consumer.held_pulls:
                least = world.views.stored(pull_request.message_queue).min_offset
                if pull_request.next_offset < least:
                    world.call(machine, partial(_refuse, consumer, pull_request, least))


async def _refuse(consumer: DefaultMQPushConsumerImpl, pull_request: PullRequest, least: int) -> None:
    if pull_request in consumer.held_pulls:
        consumer.on_offset_moved(pull_request, least)


async def _beside_others(
    consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[Arrived], work_ms: int,
) -> None:
    """ConsumeMessageConcurrentlyService.ConsumeRequest#run: its listener says SUCCESS."""
    node = consumer.node
    if _is_over(pq):
        return
    await node.sleep(work_ms)
    await node.interleave("ConsumeRequest: the listener has ended")
    if _is_over(pq):
        return
    await ConsumeMessageConcurrentlyService(consumer).process_consume_result(mq, pq, msgs)


async def _in_order(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, pq: ProcessQueue, work_ms: int) -> None:
    """ConsumeMessageOrderlyService.ConsumeRequest#run, until nothing is cached: the listener says SUCCESS."""
    service = ConsumeMessageOrderlyService(consumer)
    while not _is_over(pq):
        if not pq.locked or pq.is_lock_expired():
            await _lock_later(consumer, mq)
            continue
        taken = pq.take_messages(TASK)
        if not taken:
            return
        await service.consume(mq, pq, taken, partial(consumer.node.sleep, work_ms))


def _is_over(pq: ProcessQueue) -> bool:
    """Whether the queue has been given up; other threads do that meanwhile."""
    return pq.dropped


async def _lock_later(consumer: DefaultMQPushConsumerImpl, mq: MessageQueue) -> None:
    """ConsumeMessageOrderlyService#tryLockLaterAndReconsume; a service that has stopped locks nothing."""
    await consumer.node.sleep(LOCK_LATER_MS)
    locked = not consumer.stopped and await consumer.rebalance_impl.lock(mq)
    await consumer.node.sleep(AGAIN_MS if locked else AGAIN_UNLOCKED_MS)
