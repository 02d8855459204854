"""Stories of an operator who sends a group back, judged by what the group commits afterwards: reset_takes_effect."""

from __future__ import annotations

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import GetConsumerStatusRequestHeader, ResetOffsetRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerIdsChanged,
    ListenerEnded,
    ListenerStarted,
    OffsetReset,
    OffsetResetPushed,
    QueueDropped,
    QueueTaken,
)
from impl.hosts.simulation.clock import EPOCH_MS
from impl.ports.remoting import Command
from stateful_tests.stories.scenes import (
    ADDR,
    BROKER,
    FIRST,
    IN_ORDER,
    LAST,
    NS,
    ORDERS,
    TOPICS,
    acknowledge,
    commit_everywhere,
    commits,
    committed,
    fill,
    held,
    in_memory,
    join,
    stage,
    start_asking,
    starts,
    works,
)
from stateful_tests.worlds.past import Past
from stateful_tests.worlds.world import World

RESET_MS = 10_000  # between the drop of the queues and the commit of their new offsets


PAST = Past((("orders", 4, 1),), ((60_000, 16), (30_000, 24)))
"""Forty messages in each queue; the second half of a minute ago it was that the 17th came."""


def idle_at_40(world: World, config: PushConsumerConfig = ORDERS) -> DefaultMQPushConsumerImpl:
    """A consumer that has read everything, whose listener will not end what it gets now.

    Each pull of its queues is held: those that it makes when it starts come back after 20 s.
    """
    world.add_namesrv()
    world.add_broker(BROKER, BROKER, topics=TOPICS, past=PAST)
    world.run(100)
    commit_everywhere(world, 40)
    world.add_consumer("c1", config)
    consumer = world.consumers["c1"][0]
    works(consumer, 3_600_000)
    world.run_until(lambda: world.views.one_owner_each("G", "orders"), 1_000)
    return consumer


def reset(timestamp: int, *, language: str = "JAVA", force: bool = False) -> Command:
    header = ResetOffsetRequestHeader("orders", "G", timestamp, force)
    return Command(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, header=header, language=language)


def takes_effect(world: World, mq: MessageQueue = LAST) -> bool:
    """Nobody commits, or begins at, more than the offset that a reset has set; nothing is settled in these worlds."""
    since_ms, event = next((ms, event) for ms, event in world.events(OffsetReset) if event.mq == mq)
    return all(offset <= event.offset for offset in commits(world, mq, since_ms) + starts(world, mq, since_ms))


def test_a_reset_drops_the_queues_waits_ten_seconds_commits_and_takes_them_again() -> None:
    with World() as world:
        consumer = idle_at_40(world)
        world.run(14_000)  # the pulls that are held now come back in 6 s, before the offsets are set
        asked_ms = world.now_ms
        answer = world.ask(ADDR, reset(0))
        assert answer.code == ResponseCode.SUCCESS
        assert dict(answer.body.offset_table) == dict.fromkeys(world.views.queues("orders"), 0)
        assert [event.delivered for _, event in world.events(OffsetResetPushed)] == [True]

        world.run(100)
        assert world.views.no_owner("G", "orders") == world.views.queues("orders")
        suspended = [consumer.pause]
        world.run(RESET_MS)

        dropped_ms = {ms for ms, event in world.events(QueueDropped, asked_ms) if event.mq == LAST}
        reset_ms = {ms for ms, event in world.events(OffsetReset) if event.mq == LAST}
        assert [later - earlier for earlier, later in zip(dropped_ms, reset_ms, strict=True)] == [RESET_MS]
        assert [*suspended, consumer.pause] == [True, False]
        world.run(60_000)
        assert world.views.one_owner_each("G", "orders")
        assert [committed(world, mq) for mq in world.views.queues("orders")] == [0] * 4
        assert takes_effect(world)


def test_l14_a_commit_that_was_read_before_the_reset_and_waits_for_an_address_undoes_it() -> None:
    with World() as world:
        consumer = idle_at_40(world)
        world.run(14_000)  # the pulls that are held now come back in 6 s, before the offsets are set
        addresses = consumer.instance.routes.broker_addr_table
        world.ask(ADDR, reset(0))
        world.run(RESET_MS - 1_500)
        known = addresses.remove(BROKER)
        assert known is not None
        world.simulation.kernel.pause(world.simulation.nodes[NS], 2_500)
        world.call("c1", consumer.instance.persist_all_consumer_offset)  # it asks the name server
        world.run(500)
        addresses.put(BROKER, known)
        waiting = next(iter(consumer.offset_store.clone_offset_table(None)))
        world.run(3_000)
        assert committed(world, waiting) == 40
        assert not takes_effect(world, waiting)


def test_l14_a_pull_that_waits_for_an_address_commits_what_was_so_before() -> None:
    with World() as world:
        consumer = idle_at_40(world)
        works(consumer, 2_000)
        addresses, since_ms = consumer.instance.routes.broker_addr_table, world.now_ms
        known = addresses.remove(BROKER)
        assert known is not None
        world.simulation.kernel.pause(world.simulation.nodes[NS], 5_000)
        fill(world, LAST, 41)
        world.run(1_000)  # the message has come, and the next pull asks the name server
        addresses.put(BROKER, known)
        world.run(2_000)
        assert in_memory(consumer) == 41
        world.call("c1", consumer.instance.persist_all_consumer_offset)
        world.run(5_000)
        assert commits(world, LAST, since_ms)[-2:] == [41, 40]


def test_where_a_reset_goes_to() -> None:
    with World() as world:
        idle_at_40(world)
        commit_everywhere(world, 28)

        def goes_to(timestamp: int, *, force: bool = False) -> set[int]:
            return set(world.ask(ADDR, reset(timestamp, force=force)).body.offset_table.values())

        assert goes_to(EPOCH_MS - 30_000) == {16}
        assert goes_to(EPOCH_MS + 1) == {28}  # the end is further on than where the group is
        assert goes_to(EPOCH_MS + 1, force=True) == {39}  # the last message, and not the end
        assert goes_to(-1) == {28}
        assert goes_to(-1, force=True) == {40}


def test_what_a_broker_refuses_to_reset() -> None:
    with World() as world:
        stage(world)
        refused = world.ask(ADDR, reset(0))
        assert (refused.code, refused.remark) == (ResponseCode.SYSTEM_ERROR, "THe consumer group <G> not exist")
        commit_everywhere(world, 50)
        assert world.ask(ADDR, reset(0)).code == ResponseCode.CONSUMER_NOT_ONLINE
        header = ResetOffsetRequestHeader("nothing", "G", 0)
        unknown = world.ask(ADDR, Command(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, header=header))
        assert unknown.code == ResponseCode.SYSTEM_ERROR
        assert world.ask(ADDR, reset(0, language="COBOL")).code == ResponseCode.SYSTEM_ERROR


def test_l8_a_pull_that_was_held_undoes_the_reset() -> None:
    with World() as world:
        idle_at_40(world)
        world.run(3_000)  # the pulls that are held now come back in 17 s, after the offsets have been set
        world.ask(ADDR, reset(0))
        world.run_until(lambda: committed(world) == 0, RESET_MS + 100)
        world.run(10_000)
        assert committed(world) == 40
        assert not takes_effect(world)

        since_ms = world.now_ms
        world.restart("c1")
        world.run(5_000)
        assert starts(world, LAST, since_ms) == [40]  # what was to be read again is skipped


def test_x18_an_answer_that_comes_while_the_reset_waits_is_overwritten_and_one_that_comes_later_undoes_it() -> None:
    with World() as world:
        consumer = idle_at_40(world)
        world.run(7_000)
        settles_late(world, consumer, FIRST, 10_000)
        settles_late(world, consumer, LAST, 40_000)
        world.run(9_000)  # the pulls that are held now come back in 8 s, before the offsets are set
        world.ask(ADDR, reset(0))
        world.run(100)
        assert [consumer.offset_store.clone_offset_table("orders")[mq] for mq in (FIRST, LAST)] == [40] * 2
        world.run(5_000)
        assert consumer.offset_store.clone_offset_table("orders")[FIRST] == 44
        world.run(50_000)

        assert committed(world, FIRST) == 0
        assert takes_effect(world, FIRST)
        assert committed(world, LAST) == 44
        assert not takes_effect(world, LAST)


def settles_late(world: World, consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, late_ms: int) -> None:
    """Messages come, and the last listener's thread stands still when it has seen that the queue is not dropped."""
    works(consumer, 300)
    world.send("producer", mq, 4)
    world.run(200)  # the other listener has ended
    paused = world.pause("processConsumeResult: between removeMessage and updateOffset", late_ms)
    world.run_until(lambda: paused.hit, 1_000)
    works(consumer, 3_600_000)


def test_u15_a_reset_holds_a_thread_that_notifications_need() -> None:
    with World() as world:
        stage(world)
        commit_everywhere(world, 40)
        other = PushConsumerConfig("H", {"invoices": "*"})
        world.add_consumer("c1", ORDERS, other, instance_name="shop", client_callback_executor_threads=1)
        world.run_until(lambda: world.now_ms % 20_000 == 1_000, 20_000)
        world.ask(ADDR, reset(0))
        since_ms = world.now_ms
        world.add_consumer("c2", other)
        world.run_until(lambda: world.views.two_owners("H", "invoices") != [], 1_000)

        assert [event.delivered for _, event in world.events(ConsumerIdsChanged, since_ms) if event.group == "H"]
        waited_ms = world.run_until(lambda: world.views.one_owner_each("H", "invoices"), 20_000)
        assert RESET_MS - 1_000 < waited_ms < RESET_MS + 1_000


def test_an_operators_tool_in_cpp_resets_nothing_at_java_clients() -> None:
    with World() as world:
        idle_at_40(world)
        assert world.ask(ADDR, reset(0, language="CPP")).code == ResponseCode.SUCCESS
        world.run(30_000)
        assert [event.delivered for _, event in world.events(OffsetResetPushed)] == [True]
        assert world.events(OffsetReset) == []
        assert committed(world) == 40


def test_a_queue_that_nobody_holds_is_not_reset_although_the_operator_is_told_so() -> None:
    with World() as world:
        idle_at_40(world)
        join(world, "c2")
        assert world.views.holders("G", "orders")[LAST] == ["c2"]
        world.simulation.kill("c2", power_loss=True)  # the broker still lists it
        world.run(8_000)  # the pulls that are held now come back in 7 s, before the offsets are set
        answer = world.ask(ADDR, reset(0))
        assert (answer.code, answer.body.offset_table[LAST]) == (ResponseCode.SUCCESS, 0)
        world.run(20_000)
        assert committed(world, FIRST) == 0
        assert committed(world, LAST) == 40


def test_a_reset_of_an_ordered_queue_gives_its_lock_back_and_takes_it_again() -> None:
    with World() as world:
        consumer = idle_at_40(world, IN_ORDER)
        world.run_until(lambda: held(consumer).locked, 30_000)
        world.ask(ADDR, reset(0))
        since_ms = world.now_ms
        world.run(RESET_MS + 1_000)
        assert starts(world, LAST, since_ms) == [0]
        assert world.brokers[BROKER].rebalance_lock_manager.holder("G", LAST) == consumer.instance.client_id
        assert not held(consumer).locked  # until the next renewal
        world.run_until(lambda: held(consumer).locked, 20_001)


def test_d13_a_queue_that_was_reset_and_taken_anew_changes_hands_under_its_former_listener() -> None:
    with World() as world:
        consumer = idle_at_40(world, IN_ORDER)
        works(consumer, 0)
        acknowledge(world, consumer, 41)
        works(consumer, 29_000)
        fill(world, LAST, 42)
        world.run(100)
        world.ask(ADDR, reset(0))
        since_ms = world.now_ms
        world.run_until(lambda: starts(world, LAST, since_ms) == [0], RESET_MS + 2_000)  # 1 s for its listener
        second = join(world, "c2", IN_ORDER).instance.client_id
        assert world.brokers[BROKER].rebalance_lock_manager.holder("G", LAST) == second
        begun = {event.client_id: ms for ms, event in world.events(ListenerStarted) if event.mq == LAST}
        ended = {event.client_id: ms for ms, event in world.events(ListenerEnded) if event.mq == LAST}
        first = consumer.instance.client_id
        assert ended[first] < begun[first] < since_ms < begun[second]


def test_two_resets_of_one_process_come_one_after_the_other() -> None:
    with World() as world:
        idle_at_40(world)
        world.run(1)
        since_ms = world.now_ms
        first, second = start_asking(world, "t1", reset(0)), start_asking(world, "t2", reset(EPOCH_MS))
        world.run(3 * RESET_MS)
        assert [answers[0].code for answers in (first, second)] == [ResponseCode.SUCCESS] * 2
        times = [(ms - since_ms) // 1_000 for ms, event in world.events(OffsetReset) if event.mq == LAST]
        assert times == [10, 20]
        assert [event.mq for _, event in world.events(QueueTaken, since_ms)].count(LAST) == 2


def test_a_client_tells_its_offsets_in_memory() -> None:
    with World() as world:
        consumer = idle_at_40(world)
        works(consumer, 0)
        acknowledge(world, consumer, 45)
        client_id = consumer.instance.client_id

        def status(client: str | None) -> dict[str, int]:
            header = GetConsumerStatusRequestHeader("orders", "G", client)
            code = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
            table = world.ask(ADDR, Command(code, header=header)).body.consumer_table
            return {who: offsets[LAST] for who, offsets in table.items()}

        assert status(None) == status(client_id) == {client_id: 45}
        assert status("somebody else") == {}
