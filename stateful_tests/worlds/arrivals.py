"""Messages that arrive.

Nobody sends any here. A deed lets some arrive: the broker looks at a pull that it holds again, as it does when it has
stored something, and finds as many as one pull may.
"""

from __future__ import annotations

from functools import partial

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from stateful_tests.worlds.listeners import Listener
from stateful_tests.worlds.world import World

LOOK_MS = 1_000


async def arrive(world: World, consumer: DefaultMQPushConsumerImpl, pull_request: PullRequest, work_ms: int) -> None:
    """Let messages arrive for a pull, if a broker holds it; a broker that is switched off for good has none.

    work_ms -- how long the listener works from now on, on each batch.
    """
    if isinstance(consumer.message_listener, Listener):
        consumer.message_listener.work_ms = work_ms
    look_again(world, consumer, pull_request)


def look_again(world: World, consumer: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> None:
    """Let the broker look at a pull again."""
    store = world.message_store(pull_request.message_queue.broker_name)
    if store is not None:
        consumer.pull_api_wrapper.execute_request_when_wakeup(pull_request, store)


async def refuse_what_is_gone(world: World) -> None:
    """Let brokers look at pulls again that they hold at offsets which they have no more; a thread of `kernel.world`."""

    async def refuse(consumer: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> None:
        look_again(world, consumer, pull_request)

    while True:
        await world.simulation.kernel.world.sleep(LOOK_MS)
        for machine, consumer in world.running():
            for pull_request in consumer.pull_api_wrapper.held:
                if pull_request.next_offset < world.views.stored(pull_request.message_queue).min_offset:
                    world.call(machine, partial(refuse, consumer, pull_request))
