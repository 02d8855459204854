"""Stories of a master and its slave: what is copied every 10 s, and what becomes of it when they change places."""

from __future__ import annotations

from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.events import OffsetCommitted, ThreadDied
from stateful_tests.stories.scenes import (
    ADDR,
    BROKER,
    LAST,
    NS,
    ORDERS,
    TOPICS,
    acknowledge,
    commit,
    commit_everywhere,
    committed,
    heartbeat,
    in_memory,
    join,
    starts,
    subscription,
)
from stateful_tests.worlds.past import Past
from stateful_tests.worlds.world import World

SLAVE, SLAVE_ADDR = "broker-s", "broker-s:10911"
SYNC_MS = 10_000


def past(messages: int) -> Past:
    """So many messages in each queue, which a master and its slave have had for an hour."""
    return Past((("orders", 4, 1),), ((3_600_000, messages),))


def master_and_slave(world: World, *, namesrvs: int = 1, messages: int = 50) -> None:
    """The slave registers 5 s after the master, and copies 3 s after that for the first time.

    messages -- that both have of each queue from the beginning on; later ones the slave does not get.
    """
    for number in range(1, namesrvs + 1):
        world.add_namesrv(f"nameserver{number}")
    world.add_broker(BROKER, BROKER, topics=TOPICS, past=past(messages))
    world.run(5_000)
    world.add_broker(SLAVE, BROKER, broker_id=1, past=past(messages))
    world.run(100)


def at_slave(world: World) -> int:
    return committed(world, LAST, broker=SLAVE)


def in_sync(world: World, offset: int) -> None:
    """The group has committed an offset, and the slave has just copied it."""
    commit_everywhere(world, offset)
    world.run_until(lambda: at_slave(world) == offset, SYNC_MS + 100)


def test_a_slave_copies_topics_offsets_and_groups() -> None:
    with World() as world:
        master_and_slave(world)
        assert world.brokers[SLAVE].topic_config_manager.select_topic_config("orders") is None
        world.ask(ADDR, heartbeat("c1", subscription("orders"), group="H"))
        in_sync(world, 50)

        master, slave = world.brokers[BROKER], world.brokers[SLAVE]
        assert slave.slave_synchronize.master_addr == ADDR
        assert slave.topic_config_manager.topic_config_table == master.topic_config_manager.topic_config_table
        assert slave.topic_config_manager.data_version == master.topic_config_manager.data_version
        groups = slave.subscription_group_manager.subscription_group_table
        assert groups == master.subscription_group_manager.subscription_group_table
        assert groups.contains_key("H")
        config = slave.topic_config_manager.select_topic_config("orders")
        assert config is not master.topic_config_manager.select_topic_config("orders")
        world.restart_broker_as(SLAVE)
        assert at_slave(world) == 50  # it is on its disk


def test_a_slave_loses_what_only_it_has() -> None:
    with World() as world:
        master_and_slave(world)
        in_sync(world, 50)
        slave = world.brokers[SLAVE]
        slave.topic_config_manager.update_topic_config(TopicConfig("parcels", 1, 1))
        slave.subscription_group_manager.find_subscription_group_config("only here")
        world.run(SYNC_MS + 100)
        assert slave.topic_config_manager.select_topic_config("parcels") is None
        assert not slave.subscription_group_manager.subscription_group_table.contains_key("only here")


def test_a_slave_without_a_master_copies_nothing_and_goes_on_trying() -> None:
    with World() as world:
        master_and_slave(world)
        world.simulation.kill(BROKER)
        world.run(60_000)
        assert world.brokers[SLAVE].slave_synchronize.master_addr is None
        world.simulation.start(BROKER)
        world.run(100)
        commit_everywhere(world, 60)
        world.run_until(lambda: at_slave(world) == 60, 30_000 + SYNC_MS)
        assert not [event for _, _, event in world.simulation.kernel.records if event.__class__ is ThreadDied]


def begun_after_promotion(world: World, copied_ms: int) -> list[int]:
    """A master dies so long after 80 was committed, and 5 s more after its slave has copied 50: where a member begins.

    The slave shuts down in order, and starts again as the master.
    """
    master_and_slave(world)
    in_sync(world, 50)
    consumer = join(world, "c1")
    world.run(6 * SYNC_MS)  # and five seconds since the slave has copied
    acknowledge(world, consumer, 80)
    world.call("c1", consumer.persist_consumer_offset)
    world.run(copied_ms)
    assert committed(world) == 80
    world.simulation.kill(BROKER)
    world.call(SLAVE, world.brokers[SLAVE].shutdown)
    world.run(1_000)
    world.restart_broker_as(SLAVE, power_loss=False, broker_id=0)
    world.run(1_000)
    assert world.views.address_of(NS, BROKER) == SLAVE_ADDR

    world.simulation.kill("c1")
    since_ms = world.now_ms
    join(world, "c2")
    return starts(world, LAST, since_ms)


def test_b28_a_promoted_slave_answers_offsets_of_ten_seconds_ago() -> None:
    with World() as world:
        assert begun_after_promotion(world, 200) == [50]  # 50 to 79 are delivered again


def test_b28_does_not_happen_once_the_slave_has_copied() -> None:
    with World() as world:
        assert begun_after_promotion(world, SYNC_MS) == [80]


def test_b28_a_slave_forgets_what_was_committed_to_it() -> None:
    with World() as world:
        master_and_slave(world)
        in_sync(world, 50)
        world.run(1_000)
        for queue_id in range(4):
            assert world.ask(SLAVE_ADDR, commit(queue_id, 90)).code == ResponseCode.SUCCESS
        assert at_slave(world) == 90
        world.run(SYNC_MS)
        assert at_slave(world) == 50


def test_x8_commits_that_went_to_the_slave_are_lost_when_the_master_returns() -> None:
    with World() as world:
        master_and_slave(world, messages=100)
        in_sync(world, 50)
        world.add_consumer("c1", ORDERS)
        (consumer,) = world.consumers["c1"]
        consumer.suspend()
        world.run(65_000)
        world.call(BROKER, world.brokers[BROKER].shutdown)
        world.run(10_000)
        world.simulation.kill(BROKER)
        world.run(31_000)
        world.call("c1", consumer.resume)  # it finds at the slave what it has not read
        world.run_until(lambda: in_memory(consumer) == 100, 2_000)
        world.run(6_000)
        assert at_slave(world) == 100

        world.simulation.start(BROKER)
        world.run(100)
        world.simulation.kill("c1")
        world.run_until(lambda: at_slave(world) == 50, 60_000)
        assert committed(world) == 50
        since_ms = world.now_ms
        join(world, "c2")
        assert starts(world, LAST, since_ms) == [50]
        written = [event.broker for _, event in world.events(OffsetCommitted) if event.offset == 100]
        assert set(written) == {SLAVE}


def test_n19_the_name_server_that_answers_first_tells_the_slave_that_there_is_no_master() -> None:
    with World() as world:
        master_and_slave(world, namesrvs=2)
        in_sync(world, 50)
        world.run_until(lambda: world.now_ms % 30_000 == 13_000, 30_000)  # the slave registers in 2 s
        world.restart("nameserver2")
        world.simulation.kernel.pause(world.simulation.nodes[NS], 3_000)
        world.run_until(lambda: world.brokers[SLAVE].slave_synchronize.master_addr is None, 4_000)
        assert world.views.address_of(NS, BROKER) == ADDR  # the other one knew better
        commit_everywhere(world, 80)
        world.run(25_000)
        assert at_slave(world) == 50
        world.run_until(lambda: at_slave(world) == 80, 30_000)
