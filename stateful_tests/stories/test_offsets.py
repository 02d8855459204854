"""Stories of offsets: what is delivered twice, and what is skipped, once the next owner begins where it is told to."""

from __future__ import annotations

from dataclasses import replace

from impl.client.client_config import ClientConfig
from impl.client.local_file_offset_store import LocalFileOffsetStore
from impl.client.mq_client_manager import MQClientManager
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.heartbeat_data import BROADCASTING
from impl.common.message import MessageExt
from impl.common.request_code import RequestCode
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import ListenerEnded, MessagesExpired, MessagesSettled, OffsetCorrected
from impl.ports.threads import Signal
from stateful_tests.stories.scenes import (
    BROKER,
    FIRST,
    FORGETFUL,
    IN_ORDER,
    LAST,
    ORDERS,
    PERSIST_MS,
    SMALL,
    TOPICS,
    acknowledge,
    after_a_persist,
    commit_everywhere,
    commits,
    committed,
    expire,
    fill,
    held,
    in_memory,
    join,
    old_queues,
    stage,
    starts,
    works,
)
from stateful_tests.worlds.listeners import Listener
from stateful_tests.worlds.producers import Sending
from stateful_tests.worlds.script import PAUSING
from stateful_tests.worlds.world import World

RETRY = MessageQueue("%RETRY%G", BROKER, 0)
SOON_EXPIRED = PushConsumerConfig("G", {"orders": "*"}, consume_timeout_minutes=1)
ALONE = PushConsumerConfig("G", {"orders": "*"}, message_model=BROADCASTING)


def is_left_behind(world: World, consumer: DefaultMQPushConsumerImpl) -> int:
    """While a consumer is suspended, messages come to the first queue that it has not read when they are deleted.

    It is resumed when rebalances begin in nine seconds. The first offset that is left.
    """
    consumer.suspend()
    world.run(25_000)  # until its pulls have come back
    fill(world, FIRST, 200)
    least = expire(world, FIRST)
    assert least > 100
    world.run_until(lambda: world.now_ms % 20_000 == 11_000, 20_000)
    world.call("c1", consumer.resume)
    return least


def test_x1_what_was_acknowledged_since_the_last_commit_is_delivered_again_after_a_crash() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1")
        acknowledge(world, first, 50)
        world.run(6_000)
        after_a_persist(world)
        works(first, 500)  # the pulls that follow are made before it ends
        acknowledge(world, first, 80)
        world.run(2_500)
        world.simulation.kill("c1")
        join(world, "c2")
        assert starts(world) == [0, 50]


def test_x3_a_commit_that_is_lost_costs_what_it_committed() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1")
        acknowledge(world, first, 50)
        world.run(6_000)
        after_a_persist(world)
        works(first, 500)  # the pulls that follow are made before it ends
        acknowledge(world, first, 80)
        world.simulation.kernel.profile = replace(PAUSING, one_way_loss=1)
        world.script.draw("UPDATE_CONSUMER_OFFSET c1 -> broker-a", 1)
        world.run(4_500)
        world.simulation.kill("c1")
        world.simulation.kernel.profile = PAUSING
        join(world, "c2")
        assert starts(world) == [0, 50]


def test_x4_a_late_commit_of_the_old_owner_is_where_the_next_one_begins() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1")
        world.run(10_000)
        after_a_persist(world)
        for queue_id in (2, 3):  # what the joiner will get
            acknowledge(world, first, 60, MessageQueue("orders", BROKER, queue_id))
        paused = world.pause("updateConsumerOffset: before commitOffset", 10_000)
        world.add_consumer("c2", ORDERS)
        world.run_until(lambda: paused.hit, 2_000)
        world.run(1_000)
        (late,) = [mq for mq in (MessageQueue("orders", BROKER, 2), LAST) if committed(world, mq) != 60]
        acknowledge(world, world.consumers["c2"][0], 80, late)
        world.run_until(lambda: committed(world, late) == 60, 11_000)
        assert commits(world, late)[-2:] == [80, 60]  # committed_offset_never_regresses

        since_ms = world.now_ms
        world.simulation.kill("c2")
        world.run(5_000)
        assert world.views.holders("G", "orders")[late] == ["c1"]
        assert starts(world, late, since_ms) == [60]


def test_x11_an_ordered_queue_is_given_up_before_its_batch_has_ended() -> None:
    with World() as world:
        stage(world)
        old_queues(world, 5)
        commit_everywhere(world, 5)
        first = join(world, "c1", IN_ORDER)
        world.run(22_000)
        pq = held(first)
        since_ms = world.now_ms
        works(first, 2_000)
        world.send("producer", LAST, 2)
        world.add_consumer("c2", IN_ORDER)
        world.run_until(lambda: pq.dropped, 1_000)
        world.run(100)
        assert set(commits(world, LAST, since_ms)) == {5}
        assert first.offset_store.clone_offset_table("orders").get(LAST) is None
        world.run_until(lambda: world.events(ListenerEnded) != [], 2_000)
        world.run(2_000)
        assert world.events(MessagesSettled) == []  # it has ended, on a dropped queue: nobody is told
        world.send("producer", LAST, 1)  # its last pull comes back with it, and so does not move the offset
        world.run_until(lambda: starts(world, LAST, since_ms) != [], 90_000)
        assert starts(world, LAST, since_ms) == [5]


def test_x12_the_offsets_of_a_topic_that_is_no_longer_subscribed_are_forgotten_unsent() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1")
        world.run(16_000)
        after_a_persist(world)
        works(first, 500)  # the pulls that follow are made before it ends
        acknowledge(world, first, 70)
        first.unsubscribe("orders")
        world.call("c1", first.do_rebalance)
        world.run(6_000)
        assert world.views.no_owner("G", "orders") == world.views.queues("orders")
        assert first.offset_store.clone_offset_table("orders") == {}
        assert committed(world) == 0
        join(world, "c2")
        world.run_until(lambda: len(starts(world)) == 2, 30_000)
        assert starts(world) == [0, 0]


def test_x28_an_offset_that_was_settled_while_the_timer_committed_is_forgotten_unsent() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1")
        second, taken = join(world, "c2"), MessageQueue("orders", BROKER, 2)
        world.run_until(lambda: world.now_ms % PERSIST_MS == PERSIST_MS - 500, 2 * PERSIST_MS)
        entering = world.pause("updateProcessQueueTableInRebalance: before putIfAbsent", 1_000)
        committing = world.pause("persistAll: before an offset is forgotten", 3_000)
        world.call("c2", second.shutdown)
        world.run_until(lambda: entering.hit, 900)
        world.run_until(lambda: committing.hit, 1_500)  # the queue is not in the table yet, and its offset in memory
        works(first, 500)  # the pulls that follow are made before it ends
        world.run_until(lambda: first.rebalance_impl.process_queue_table.contains_key(taken), 2_000)
        acknowledge(world, first, 50, taken)
        world.run(3_000)
        assert in_memory(first, taken) == -1
        since_ms = world.now_ms
        world.call("c1", first.shutdown)
        world.run(5_000)
        assert committed(world, taken) == 0
        join(world, "c3")
        assert starts(world, taken, since_ms) == [0]


def test_x15_what_a_listener_ends_during_the_shutdown_is_delivered_again() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1")
        acknowledge(world, first, 50)
        works(first, 1_000)
        fill(world, LAST, 90)
        world.run(200)
        paused = world.pause("unregisterConsumer: before unregisterClient", 3_000)
        world.call("c1", first.shutdown)
        world.run_until(lambda: paused.hit, 100)
        assert not held(first).dropped
        world.run_until(lambda: in_memory(first) == 90, 2_000)
        world.run(4_000)
        assert first.service_state == "SHUTDOWN_ALREADY"
        join(world, "c2")
        assert starts(world) == [0, 50]


def test_x16_two_processes_with_one_client_id_share_a_file_of_offsets() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1", ALONE)
        node = world.simulation.nodes["c1"]
        config = ClientConfig(world.namesrv_addrs, "c1")
        second = DefaultMQPushConsumerImpl(node, MQClientManager(node), config, ALONE)  # as if in another process
        second.message_listener = Listener(node, world.notes, second.config)
        world.run(2_000)
        world.call("c1", second.start)
        world.run(20_000)
        assert first.instance.client_id == second.instance.client_id
        acknowledge(world, second, 60)
        works(second, 600_000)
        acknowledge(world, first, 100)
        assert in_memory(second) == 60

        def in_file() -> int:
            store = LocalFileOffsetStore(node, first.instance.client_id, "G")
            store.load()
            return store.clone_offset_table("orders")[LAST]

        seen = []
        for _ in range(11):
            world.run(1_000)
            seen.append(in_file())
        assert {60, 100} <= set(seen)
        assert sorted(seen) != seen  # it goes down, too
        world.run_until(lambda: in_file() == 60, 6_000)
        since_ms = world.now_ms
        world.restart("c1")
        world.run(5_000)
        assert starts(world, LAST, since_ms) == [60]


def test_x13_a_queue_whose_pull_thread_is_stuck_is_given_up_and_taken_again() -> None:
    with World() as world:
        stage(world)
        consumer = join(world, "c1")
        world.run(20_000)
        acknowledge(world, consumer, 50)
        pq = held(consumer)
        pq.put_message([MessageExt(50)])
        stuck = Signal("a call that does not come back")

        async def hang() -> None:
            await world.simulation.nodes["c1"].wait(stuck, 300_000)

        consumer.instance.pull_message_service.pool.execute(hang)
        since_ms = world.now_ms
        world.run_until(lambda: pq.dropped, 160_000)
        assert world.now_ms - since_ms > 100_000
        world.run(1_000)
        assert held(consumer) is not pq
        assert pq.msg_count == 1  # what comes of it is ignored
        assert starts(world, LAST, since_ms) == [50]


# An offset that cannot be read ----------------------------------------------------------------------------------------


def begun_below_zero(world: World) -> None:
    """The answer with the offset for an orderly consumer's first pull does not arrive, and it begins at -1."""
    stage(world)
    old_queues(world, 40)
    commit_everywhere(world, 40)
    world.add_consumer("c1", IN_ORDER)
    world.run(500)
    pq = held(world.consumers["c1"][0], FIRST)
    world.run_until(lambda: pq.locked, 1_000)
    world.simulation.network.partition(BROKER, "c1")
    world.run(6_000)
    world.simulation.network.heal()
    world.run_until(lambda: pq.dropped, 40_000)  # the answer to its first pull did not arrive either
    assert starts(world, FIRST) == [40]


def test_x10_an_ordered_queue_whose_offset_could_not_be_read_is_read_from_its_beginning() -> None:
    with World() as world:
        begun_below_zero(world)
        since_ms = world.now_ms
        world.run_until(lambda: committed(world, FIRST) == 0, 10_100)
        world.run_until(lambda: starts(world, FIRST, since_ms) != [], 20_000)
        assert starts(world, FIRST, since_ms) == [0]  # 0 to 39 are delivered again


def test_u10_a_queue_with_an_illegal_offset_has_no_owner_for_ten_seconds_and_a_rebalance() -> None:
    with World() as world:
        stage(world, store=SMALL)
        consumer = join(world, "c1")
        least = is_left_behind(world, consumer)
        world.run_until(lambda: world.views.no_owner("G", "orders") != [], 1_100)
        assert world.views.no_owner("G", "orders") == [FIRST]
        waited_ms = world.run_until(lambda: FIRST not in world.views.no_owner("G", "orders"), 31_000)
        assert waited_ms > 25_000
        assert starts(world, FIRST) == [0, least]


def test_x29_an_offset_of_a_queue_that_was_taken_anew_goes_with_the_correction_of_the_former_one() -> None:
    with World() as world:
        stage(world, store=SMALL)
        first = join(world, "c1")
        least = is_left_behind(world, first)
        paused = world.pause("removeUnnecessaryMessageQueue: between persist and removeOffset", 3_000)
        world.run_until(lambda: paused.hit, 12_000)  # the queue is in no table any more
        works(first, 500)  # the pulls that follow are made before it ends
        world.call("c1", first.do_rebalance)
        world.run_until(lambda: in_memory(first, FIRST) == 200, 2_000)
        world.run(2_500)
        assert in_memory(first, FIRST) == -1
        since_ms = world.now_ms
        world.call("c1", first.shutdown)
        world.run(5_000)
        assert committed(world, FIRST) == least
        join(world, "c2")
        assert starts(world, FIRST, since_ms) == [least]


def test_x17_the_correction_of_an_illegal_offset_overwrites_what_the_next_owner_has_committed() -> None:
    with World() as world:
        begun_below_zero(world)
        since_ms = world.now_ms
        world.call("c1", lambda: world.consumers["c1"][0].subscribe("orders", "*"))  # a heartbeat: it is listed again
        world.run(300)
        world.add_consumer("b2", IN_ORDER)  # before c1 in the list
        second = world.consumers["b2"][0]
        second.suspend()  # until c1 has given the locks back, and not until it renews its own for the first time
        world.run(900)
        world.call("b2", second.resume)
        world.run(1_000)
        assert world.views.holders("G", "orders")[FIRST] == ["b2"]
        assert starts(world, FIRST, since_ms) == [40]
        acknowledge(world, second, 50, FIRST)
        world.call("b2", second.persist_consumer_offset)
        world.run_until(lambda: committed(world, FIRST) == 0, 10_000)
        assert commits(world, FIRST, since_ms)[-2:] == [50, 0]  # committed_offset_never_regresses
        assert world.views.holders("G", "orders")[FIRST] == ["b2"]


def test_u16_a_broadcasting_consumer_begins_again_at_the_illegal_offset_that_was_corrected() -> None:
    with World() as world:
        stage(world, store=SMALL)
        consumer = join(world, "c1", ALONE)
        acknowledge(world, consumer, 100, FIRST)
        world.run(PERSIST_MS)
        least = is_left_behind(world, consumer)
        world.run_until(lambda: world.events(OffsetCorrected) != [], 12_000)
        assert world.events(OffsetCorrected)[0][1].offset == least
        since_ms = world.now_ms
        world.restart("c1")
        world.run(5_000)
        assert starts(world, FIRST, since_ms) == [100]


def test_u16_a_broadcasting_consumer_leaves_out_what_is_stored_below_the_offset_that_was_corrected() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=TOPICS)
        world.run(100)
        consumer = join(world, "c1", ALONE)
        world.add_producer("producer1", Sending("orders"))
        world.run(50_000)
        in_file, since_ms = in_memory(consumer, FIRST), world.now_ms
        world.retire(BROKER)
        world.add_broker("broker-new", BROKER, topics=TOPICS)  # the name comes back without its messages
        world.run_until(lambda: world.events(OffsetCorrected) != [], 60_000)
        world.run_until(lambda: len(starts(world, FIRST, since_ms)) > 1, 60_000)
        assert {event.offset for _, event in world.events(OffsetCorrected)} == {0}
        assert starts(world, FIRST, since_ms) == [in_file, in_file]


def test_u11_a_member_that_cannot_read_the_offset_keeps_the_lock_from_others() -> None:
    with World() as world:
        stage(world, store=FORGETFUL)
        old_queues(world, 100)
        broker = world.brokers[BROKER]
        (handler, pool), busy = broker.processors[RequestCode.GET_MAX_OFFSET], [True]
        broker.remoting_server.register_processor(
            RequestCode.GET_MAX_OFFSET, handler, broker.pools[pool], lambda: busy[0],
        )
        world.run(30_000)
        first = join(world, "c1", IN_ORDER)
        for _ in range(5):
            world.run(1_000)
            assert world.views.no_owner("G", "orders") == world.views.queues("orders")
            assert broker.rebalance_lock_manager.holder("G", LAST) == first.instance.client_id
        busy[0] = False
        join(world, "c2", IN_ORDER)
        assert world.views.no_owner("G", "orders") == [MessageQueue("orders", BROKER, 2), LAST]  # what c2 is to have
        waited_ms = world.run_until(lambda: world.views.one_owner_each("G", "orders"), 90_000)
        assert waited_ms > 45_000  # for the lease of a lock under which nobody has ever worked


# The first offset -----------------------------------------------------------------------------------------------------


def test_l1_what_came_before_the_first_commit_of_a_new_group_is_skipped() -> None:
    with World() as world:
        stage(world, store=FORGETFUL)
        old_queues(world, 100)
        first = join(world, "c1")
        assert starts(world) == [100]
        works(first, 1_000)
        old_queues(world, 132)  # 32 messages come, and are pulled
        world.simulation.kill("c1")
        join(world, "c2")
        assert commits(world) == []
        assert starts(world) == [100, 132]


def test_l1_does_not_happen_in_a_young_queue() -> None:
    with World() as world:
        stage(world)
        works(join(world, "c1"), 1_000)
        fill(world, LAST, 32)
        world.run(100)
        world.simulation.kill("c1")
        join(world, "c2")
        assert starts(world) == [0, 0]


def test_x24_a_new_group_that_is_told_to_begin_at_the_end_begins_a_young_queue_at_its_first_message() -> None:
    with World() as world:
        stage(world)
        fill(world, LAST, 9)
        join(world, "c1")
        assert starts(world) == [0]  # the default is CONSUME_FROM_LAST_OFFSET


def test_l2_a_busy_broker_is_taken_for_one_without_the_offset() -> None:
    with World() as world:
        stage(world, store=FORGETFUL)
        old_queues(world, 200)
        commit_everywhere(world, 50)
        broker = world.brokers[BROKER]
        handler, pool = broker.processors[RequestCode.QUERY_CONSUMER_OFFSET]
        busy = [True]
        broker.remoting_server.register_processor(
            RequestCode.QUERY_CONSUMER_OFFSET, handler, broker.pools[pool], lambda: busy[0],
        )
        join(world, "c1")
        busy[0] = False
        assert starts(world) == [200]  # 50 to 199 are skipped
        world.run(21_000)
        assert committed(world) == 200


def test_l11_the_retry_topic_of_a_group_that_begins_at_a_time_begins_at_its_end() -> None:
    with World() as world:
        stage(world, store=FORGETFUL)
        old_queues(world, 7, "%RETRY%G")
        config = PushConsumerConfig(
            "G", {"orders": "*"}, consume_from_where=ConsumeFromWhere.CONSUME_FROM_TIMESTAMP,
        )
        world.add_consumer("c1", config)
        world.run_until(lambda: starts(world, RETRY) != [], 70_000)
        assert starts(world, RETRY) == [7]
        assert starts(world, FIRST) == [0]


def test_x25_a_queue_is_begun_again_at_a_message_that_has_expired() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1", SOON_EXPIRED)
        acknowledge(world, first, 1)
        after_a_persist(world)
        works(first, 600_000)
        fill(world, LAST, 4)
        world.run(90_000)
        fill(world, LAST, 5)  # it is still at work when those before it have expired
        world.run_until(lambda: len(world.events(MessagesExpired)) == 3, 60_000)
        world.run(30_000)
        world.call("c1", first.shutdown)
        world.run(5_000)
        join(world, "c2")
        assert starts(world) == [0, 1]
