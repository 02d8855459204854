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


async def arrive(
    world: World, consumer: DefaultMQPushConsumerImpl, pull_request: PullRequest, work_ms: int | None = None,
) -> None:
    """Let the broker that holds a pull look at it again; a broker that is switched off for good holds none.

    work_ms -- how long the listener works from now on, on each batch; None: as before.
    """
    if work_ms is not None and isinstance(consumer.message_listener, Listener):
        consumer.message_listener.work_ms = work_ms
    store = world.message_store(pull_request.message_queue.broker_name)
    if store is not None:
        consumer.pull_api_wrapper.execute_request_when_wakeup(pull_request, store)


async def refuse_what_is_gone(world: World) -> None:
    """Let brokers look at pulls again that they hold at offsets which they have no more; a thread of `kernel.world`."""
    while True:
        await world.simulation.kernel.world.sleep(LOOK_MS)
        for machine, consumer in world.running():
            for pull_request in consumer.pull_api_wrapper.held:
                if pull_request.next_offset < world.views.stored(pull_request.message_queue).min_offset:
                    world.call(machine, partial(arrive, world, consumer, pull_request))
