"""More stories of ownership: different routes, a second connection, lost locks, a storm that an order lock survives."""

from __future__ import annotations

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.message_queue import MessageQueue
from impl.events import MessagesGiven, OffsetCommitted, QueueTaken
from stateful_tests.stories.scenes import (
    BROKER,
    begin_batch,
    believes,
    commit_everywhere,
    end_batch,
    works,
)
from stateful_tests.worlds.past import Past
from stateful_tests.worlds.world import World

ORDERS = PushConsumerConfig("G", {"orders": "*"})
IN_ORDER = PushConsumerConfig("G", {"orders": "*"}, orderly=True)
TOPICS = (TopicConfig("orders", 4, 4),)
LAST = MessageQueue("orders", "broker-a", 3)


def join(world: World, machine: str, config: PushConsumerConfig = ORDERS) -> DefaultMQPushConsumerImpl:
    world.add_consumer(machine, config)
    world.run(5_000)
    return world.consumers[machine][0]


def test_d3_members_whose_routes_differ_divide_different_queues() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-b", "broker-b", topics=TOPICS)
        world.run(100)
        join(world, "c2")
        world.run(10_000)
        join(world, "c1")
        world.add_broker("broker-a", "broker-a", topics=TOPICS)  # sorts before the other one and shifts every place
        world.run_until(lambda: world.views.two_owners("G", "orders") != [], 60_000)

        routes = [
            len(consumers[0].rebalance_impl.topic_subscribe_info_table.get("orders") or ())
            for consumers in world.consumers.values()
        ]
        assert sorted(routes) == [4, 8]
        assert len(world.views.listed("broker-b", "G")) == 2
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 60_000)


def test_d8_a_restarted_broker_grants_a_lock_that_its_owner_still_believes_in() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=TOPICS)
        world.run(100)
        first = join(world, "c1", IN_ORDER)
        world.run_until(lambda: believes(first, LAST), 20_000)
        first.suspend()
        second = join(world, "c2", IN_ORDER)
        world.run(40_000)
        assert believes(first, LAST)
        assert not believes(second, LAST)

        world.run_until(lambda: world.now_ms % 20_000 == 6_000, 20_000)
        world.restart("broker-a")
        world.run_until(lambda: LAST in world.views.two_owners("G", "orders"), 40_000)
        locks = world.brokers["broker-a"].rebalance_lock_manager
        assert locks.holder("G", LAST) == second.instance.client_id
        assert believes(first, LAST)


def test_d8_what_an_owner_has_cached_is_worked_on_beside_the_next_owner() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=TOPICS, past=Past((("orders", 4, 1),), ((60_000, 80),)))
        world.run(100)
        commit_everywhere(world, 0)
        world.add_consumer("c1", IN_ORDER)
        first = world.consumers["c1"][0]
        works(first, 2_000)
        world.run(15_000)
        first.suspend()  # it pulls no more, and works on what it has
        works(join(world, "c2", IN_ORDER), 2_000)
        world.run(22_000)
        world.restart(BROKER)  # behind a renewal of the first, and before a heartbeat and a renewal of the second
        world.run(20_000)
        given = [(at, event.offsets[0]) for _, at, event in world.simulation.kernel.records
                 if isinstance(event, MessagesGiven) and event.mq == LAST]
        begun = next(place for place, (at, _) in enumerate(given) if at == "c2")
        assert ("c1", given[begun][1]) in given[:begun]
        assert any(at == "c1" and offset > given[begun][1] for at, offset in given[begun:])


def test_b5_a_client_with_two_connections_has_two_places_in_the_list() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=TOPICS)
        world.run(100)
        first = join(world, "c1")
        join(world, "c2")
        (connection,) = world.connections("c1", "broker-a")
        world.simulation.network.sever(connection, None)  # the broker does not see it

        world.run_until(lambda: len(world.views.listed("broker-a", "G")) == 3, 31_000)
        world.run_until(lambda: world.views.no_owner("G", "orders") != [], 21_000)

        assert world.views.listed("broker-a", "G").count(first.instance.client_id) == 2
        waited_ms = world.run_until(lambda: world.views.one_owner_each("G", "orders"), 160_000)
        assert waited_ms > 30_000


def test_u1_the_queues_of_a_machine_that_vanished_wait_for_its_expiry() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=TOPICS)
        world.run(100)
        join(world, "c1")
        join(world, "c2")
        world.simulation.kill("c1", power_loss=True)
        waited_ms = world.run_until(lambda: world.views.one_owner_each("G", "orders"), 150_000)
        assert waited_ms > 100_000


def test_u4_the_share_of_a_member_that_does_not_subscribe_the_topic_is_nobodys() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=[*TOPICS, TopicConfig("invoices", 4, 4)])
        world.run(100)
        join(world, "c1")
        join(world, "c2", PushConsumerConfig("G", {"invoices": "*"}))
        world.run(60_000)
        for _ in range(60):
            world.run(1_000)
            assert len(world.views.no_owner("G", "orders")) == 2
            assert len(world.views.no_owner("G", "invoices")) == 2


def test_u8_an_orderly_queue_that_was_just_taken_waits_for_the_next_renewal() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=TOPICS)
        world.run(100)
        join(world, "c1", IN_ORDER)
        second = join(world, "c2", IN_ORDER)
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 30_000)
        since_ms = world.now_ms
        world.simulation.kill("c1")
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 90_000)
        taken_ms, event = world.events(QueueTaken, since_ms)[-1]
        world.run_until(lambda: believes(second, event.mq), 20_001)
        assert taken_ms - since_ms > 40_000  # the dead owner's lock
        assert world.now_ms - taken_ms > 100  # its own, granted at once, and not believed in


def test_u7_an_orderly_queue_that_flaps_while_its_batch_runs_is_dead_for_two_minutes() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=TOPICS)
        world.run(100)
        first = join(world, "c1", IN_ORDER)
        world.run(20_000)
        pq = begin_batch(first)
        world.add_consumer("c2", IN_ORDER)
        world.run_until(lambda: pq.dropped and pq.try_unlock_times == 1, 5_000)
        world.simulation.kill("c2")
        end_batch(first, pq)
        since_ms = world.now_ms
        world.run(1_000)
        assert first.rebalance_impl.process_queue_table.get(LAST) is pq

        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 150_000)
        assert world.now_ms - since_ms > 90_000


def test_b19_a_late_commit_of_the_old_owner_overwrites_that_of_the_new_one() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=TOPICS)
        world.run(100)
        first = join(world, "c1")
        world.run(10_000)
        world.run_until(lambda: world.now_ms % 5_000 == 1_000, 5_000)
        for queue_id in (2, 3):  # what the joiner will get
            first.offset_store.update_offset(MessageQueue("orders", "broker-a", queue_id), 60, increase_only=True)
        paused = world.pause("updateConsumerOffset: before commitOffset", 10_000)
        world.add_consumer("c2", ORDERS)
        world.run_until(lambda: paused.hit, 2_000)
        world.run(1_000)
        on_time = {event.queue_id for _, event in world.events(OffsetCommitted) if event.offset == 60}
        (late,) = {2, 3} - on_time
        mq = MessageQueue("orders", "broker-a", late)
        assert world.views.holders("G", "orders")[mq] == ["c2"]
        world.consumers["c2"][0].offset_store.update_offset(mq, 80, increase_only=True)

        world.run(11_000)
        committed = [event.offset for _, event in world.events(OffsetCommitted) if event.queue_id == late]
        assert 60 in committed[committed.index(80):]
