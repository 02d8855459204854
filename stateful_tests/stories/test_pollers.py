"""The hazards of lite pull consumers, on shipped: an application leaves a topic and comes back to it, or seeks."""

from __future__ import annotations

from functools import partial
from typing import cast

from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.common.request_code import RequestCode
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    ConsumerIdsFetched,
    MessagesPolled,
    PollerShutDown,
    PullSuspended,
    QueuesHeld,
    QueueSought,
    TopicLeft,
    TopicTakenAgain,
)
from impl.hosts.simulation.executor import Pool
from stateful_tests.stories.scenes import BROKER, stage
from stateful_tests.worlds.producers import Sending
from stateful_tests.worlds.pullers import REST_MS, Pulling
from stateful_tests.worlds.world import World

POLLS = Pulling(
    LitePullConsumerConfig("G", consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET), "orders", work_ms=2_000)
ACTS = "whether an application does more than poll"
SEEKS = {ACTS: 1, "what an application does besides": 2}
LEAVES = {ACTS: 1, "what an application does besides": 4, "whether it leaves the topic": 1}


def leaves_the_topic(world: World) -> int:
    """An application polls, works long on each batch, and unsubscribes; since when, ms."""
    stage(world)
    world.add_puller("c1", POLLS)
    world.add_producer("producer1", Sending("orders"))
    world.run(44_000)  # behind a rebalance
    for what, drawn in LEAVES.items():
        world.script.draw(what, drawn)
    world.run_until(lambda: bool(world.events(TopicLeft)), 10_000)
    world.script.draw(ACTS, 0)
    return world.now_ms


def test_u18_a_topic_that_is_subscribed_again_before_a_rebalance_is_not_pulled() -> None:
    with World() as world:
        left_ms = leaves_the_topic(world)
        world.run(REST_MS + 90_000)
        assert len(world.events(TopicTakenAgain)) == 1
        assert world.events(PullSuspended, since_ms=left_ms + 1) == []


def test_u18_a_topic_that_is_left_while_a_rebalance_shares_it_out_is_not_pulled() -> None:
    with World() as world:
        stage(world)
        world.run(60_000)
        world.script.pause("before dispatchPullRequest", 3_000)
        for what, drawn in LEAVES.items():
            world.script.draw(what, drawn)
        world.add_puller("c1", POLLS)
        world.add_producer("producer1", Sending("orders"))
        world.run_until(lambda: bool(world.events(TopicLeft)), 10_000)
        world.script.draw(ACTS, 0)
        world.run(100_000)
        assert len(world.events(TopicTakenAgain)) == 1
        assert world.events(QueuesHeld)[-1][1].mqs != frozenset()
        assert world.events(PullSuspended) == []


def test_x27_what_waits_of_a_topic_that_was_unsubscribed_is_polled() -> None:
    with World() as world:
        left_ms = leaves_the_topic(world)
        world.run(REST_MS - 2_000)
        assert world.events(MessagesPolled, since_ms=left_ms + 1) != []


def test_x31_what_is_polled_and_committed_of_a_queue_whose_beginning_nobody_has_said_is_not_sent() -> None:
    with World() as world:
        stage(world)
        world.run(120_000)  # a broker that has just started excuses much
        world.add_puller("c1", POLLS)
        world.add_producer("producer1", Sending("orders"))
        world.run_until(lambda: bool(world.events(ConsumerIdsFetched)), 30_000)
        _, pool = world.brokers[BROKER].processors[RequestCode.QUERY_CONSUMER_OFFSET]
        threads = cast("Pool", world.brokers[BROKER].pools[pool])
        for _ in range(threads.threads):
            threads.execute(partial(world.simulation.nodes[BROKER].sleep, 5_500))  # a client waits for 5 s
        world.run(20_000)
        world.leave("c1")
        world.run_until(lambda: bool(world.events(PollerShutDown)), 10_000)
        begun = world.pullers["c1"].consumer.impl.rebalance_impl.process_queue_table.key_set()
        polled = {event.mq for _, event in world.events(MessagesPolled)}
        offsets = world.brokers[BROKER].consumer_offset_manager
        assert [offsets.query_offset("G", "orders", mq.queue_id) for mq in polled.difference(begun)] == [-1]
        assert all(offsets.query_offset("G", "orders", mq.queue_id) > 0 for mq in begun)


def test_x30_a_seek_whose_first_pull_is_not_answered_is_forgotten() -> None:
    with World() as world:
        stage(world)
        world.add_puller("c1", POLLS)
        world.add_producer("producer1", Sending("orders"))
        world.run(44_000)
        for what, drawn in SEEKS.items():
            world.script.draw(what, drawn)
        while not world.events(QueueSought):
            world.run(1)
        world.script.draw(ACTS, 0)
        ((since_ms, sought),) = world.events(QueueSought)
        world.simulation.network.partition("c1", sought.mq.broker_name)
        world.run(60_000)  # CONSUMER_TIMEOUT_MILLIS_WHEN_SUSPEND
        world.simulation.network.heal()
        world.run(60_000)
        polled = [event for _, event in world.events(MessagesPolled, since_ms=since_ms) if event.mq == sought.mq]
        assert polled[0].offsets[0] > sought.offset
