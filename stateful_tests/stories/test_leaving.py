"""Stories of those who leave, and of what they leave behind."""

from __future__ import annotations

from itertools import pairwise

from impl.broker.given_message_store import QueueRange
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import UnregisterClientRequestHeader
from impl.common.heartbeat_data import BROADCASTING
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import QueueDropped, QueueTaken
from impl.ports.remoting import Command
from stateful_tests.stories.scenes import ADDR, BROKER, IN_ORDER, NS, acknowledge, heartbeat, start_asking, subscription
from stateful_tests.worlds.world import World

TOPICS = (TopicConfig("orders", 4, 4),)
ORDERS = PushConsumerConfig("G", {"orders": "*"})


def brokers(world: World, *machines: str) -> None:
    world.add_namesrv()
    for machine in machines or (BROKER,):
        world.add_broker(machine, machine, topics=TOPICS)
    world.run(100)


def join(world: World, machine: str, config: PushConsumerConfig) -> DefaultMQPushConsumerImpl:
    world.add_consumer(machine, config)
    world.run(5_000)
    return world.consumers[machine][0]


def test_b8_the_second_goodbye_removes_a_group_that_is_another_one_by_now() -> None:
    with World() as world:
        brokers(world)
        for tester in ("c1", "c2"):
            world.ask(ADDR, heartbeat(tester, subscription("orders")), tester=tester)

        def goodbye(tester: str) -> list[Command]:
            header = UnregisterClientRequestHeader(tester, None, "G")
            return start_asking(world, tester, Command(RequestCode.UNREGISTER_CLIENT, header=header))

        first = world.pause("unregisterConsumer: before isEmpty", 100)
        one = goodbye("c1")
        world.run_until(lambda: first.hit, 50)
        second = world.pause("unregisterConsumer: before the group is removed", 1_000)
        other = goodbye("c2")
        world.run_until(lambda: second.hit and bool(one), 200)
        assert world.ask(ADDR, heartbeat("c3", subscription("orders")), tester="c3").code == 0
        assert world.views.listed(BROKER, "G") == ["c3"]

        world.run_until(lambda: bool(other), 1_000)
        assert world.views.listed(BROKER, "G") == []


def test_d5_a_member_whose_call_times_out_loses_its_queues_to_others_and_keeps_them() -> None:
    with World() as world:
        brokers(world)
        first = join(world, "c1", ORDERS)
        world.run(10_000)
        join(world, "c2", ORDERS)
        world.run_until(lambda: world.now_ms % 20_000 == 10_000, 20_000)
        network = world.simulation.network
        network.partition(BROKER, "c1")  # the answers do not arrive
        world.run_until(lambda: world.views.two_owners("G", "orders") != [], 40_000)
        assert first.instance.client_id not in world.views.listed(BROKER, "G")
        assert world.simulation.nodes["c1"].alive
        network.heal()
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 80_000)


def test_d5_a_member_whose_heartbeat_times_out_is_evicted_by_its_own_client() -> None:
    with World() as world:
        brokers(world)
        first = join(world, "c1", ORDERS)
        world.run(10_000)
        join(world, "c2", ORDERS)
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 19_000)
        paused = world.pause("heartBeat: before registerConsumer", 10_000)  # c1 speaks first
        world.run_until(lambda: paused.hit, 30_000)
        world.run_until(lambda: world.views.two_owners("G", "orders") != [], 4_000)
        assert first.instance.client_id not in world.views.listed(BROKER, "G")
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 80_000)


def test_d12_a_consumer_that_stops_locks_queues_after_it_has_unlocked_all() -> None:
    with World() as world:
        brokers(world)
        first = join(world, "c1", IN_ORDER)
        second = join(world, "c2", IN_ORDER)
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 30_000)
        paused = world.pause("shutdown: between unlockAll and persistConsumerOffset", 100)
        world.call("c1", first.shutdown)
        world.run_until(lambda: paused.hit, 100)
        world.call("c2", second.shutdown)
        world.run(5_000)

        assert (first.service_state, second.service_state) == ("SHUTDOWN_ALREADY", "SHUTDOWN_ALREADY")
        locks = world.brokers[BROKER].rebalance_lock_manager
        held = [mq for mq in world.views.queues("orders") if locks.holder("G", mq) is not None]
        assert {locks.holder("G", mq) for mq in held} == {first.instance.client_id}
        third = join(world, "c3", IN_ORDER)
        assert held == world.views.no_owner("G", "orders")  # leaver_frees_its_locks
        assert third.rebalance_impl.process_queue_table.get(held[0]) is None


def test_l10_a_broadcasting_consumer_forgets_the_offsets_of_a_broker_that_was_away() -> None:
    with World() as world:
        brokers(world, BROKER, "broker-b")
        consumer = join(world, "c1", PushConsumerConfig("G", {"orders": "*"}, message_model=BROADCASTING))
        mq = MessageQueue("orders", BROKER, 0)
        acknowledge(consumer, 50, mq)
        world.run(11_000)

        world.call(BROKER, world.brokers[BROKER].shutdown)
        world.run(100)
        world.simulation.kill(BROKER)
        world.run_until(lambda: mq in [event.mq for _, event in world.events(QueueDropped)], 60_000)
        world.run(6_000)
        since_ms = world.now_ms
        world.simulation.start(BROKER)
        world.run(0)
        world.message_stores[BROKER].ranges.put(("orders", 0), QueueRange(0, 200))
        world.run_until(lambda: mq in [event.mq for _, event in world.events(QueueTaken, since_ms)], 60_000)

        (again,) = [event for _, event in world.events(QueueTaken, since_ms) if event.mq == mq]
        assert again.offset == 200  # 50 to 199 are skipped


def test_l10_a_broadcasting_consumer_that_ends_while_a_broker_is_away_begins_its_queues_anew() -> None:
    with World() as world:
        brokers(world, BROKER, "broker-b")
        first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
        config = PushConsumerConfig("G", {"orders": "*"}, message_model=BROADCASTING, consume_from_where=first)
        consumer = join(world, "c1", config)
        mq = MessageQueue("orders", BROKER, 0)
        acknowledge(consumer, 50, mq)
        world.run(50_000)
        world.simulation.kill(BROKER)
        world.run_until(lambda: mq in [event.mq for _, event in world.events(QueueDropped)], 200_000)
        world.leave("c1")
        world.run(1_000)
        since_ms = world.now_ms
        world.simulation.start(BROKER)
        world.run(1_000)
        world.join("c1")
        world.run(5_000)
        assert [event.offset for _, event in world.events(QueueTaken, since_ms) if event.mq == mq] == [0]


def test_n15_two_masters_of_one_name_take_turns() -> None:
    with World() as world:
        brokers(world)
        world.run(5_000)
        world.add_broker("machine2", BROKER, topics=TOPICS)
        seen = []
        for _ in range(120):
            world.run(1_000)
            seen.append(world.views.address_of(NS, BROKER))
        turns = [later for earlier, later in pairwise(seen) if later != earlier]
        assert len(turns) >= 6
        assert set(turns) == {ADDR, "machine2:10911"}
        assert world.namesrvs[NS].route_info.broker_live_table.contains_key("machine2:10911")
