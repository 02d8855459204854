"""Pulls, their answers, and the threads that give messages to listeners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import pytest

from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.process_queue import ProcessQueue
from impl.client.pull_callback import PullCallback
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.common.headers import SendMessageRequestHeader
from impl.common.heartbeat_data import BROADCASTING
from impl.common.message import MessageExt
from impl.common.pull_result import PullResult
from impl.common.request_code import RequestCode
from impl.decisions.pull_answer import PullCode, PullStatus
from impl.decisions.subscription import build
from impl.events import (
    ListenerEnded,
    ListenerStarted,
    LockGranted,
    MessagesFound,
    MessagesSettled,
    OffsetCorrected,
    PullAnswered,
    PullSuspended,
    ThreadDied,
)
from impl.ports.pools import RejectedExecutionError
from impl.ports.remoting import Command
from stateful_tests.stories.scenes import (
    ADDR,
    BROKER,
    FIRST,
    IN_ORDER,
    ORDERS,
    SMALL,
    expire,
    fill,
    held,
    join,
    stage,
    works,
)
from stateful_tests.worlds.listeners import Listener
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

HOLD_MS, LOOK_MS = 15_000, 5_000  # how long a pull is held, and how often its broker looks
ONE_WAY_MS = 1
E = TypeVar("E", PullSuspended, PullAnswered, MessagesFound, MessagesSettled, OffsetCorrected, ListenerStarted,
            ListenerEnded, LockGranted)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        stage(world, store=SMALL)
        yield world


def reported(world: World, kind: type[E], since_ms: int = 0) -> list[tuple[int, E]]:
    """Of the first queue."""
    return [(ms - since_ms, event) for ms, event in world.events(kind, since_ms) if event.mq == FIRST]


def pull_of(consumer: DefaultMQPushConsumerImpl) -> PullRequest:
    """Another pull of the first queue, from its beginning on."""
    return PullRequest("G", FIRST, held(consumer, FIRST), 0)


def let_arrive(world: World, consumer: DefaultMQPushConsumerImpl, work_ms: int = 0) -> int:
    """Four messages of the first queue are sent; when the consumer has found them."""
    if isinstance(consumer.message_listener, Listener):
        works(consumer, work_ms)
    since_ms = world.now_ms
    world.send("producer", FIRST, 4)
    while not reported(world, PullAnswered, since_ms):
        world.run(1)
    return world.now_ms


def locked(world: World) -> DefaultMQPushConsumerImpl:
    """A consumer that believes in the lock of the first queue, and pulls it."""
    consumer = join(world, "c1", IN_ORDER)
    world.run_until(lambda: reported(world, PullSuspended) != [], 30_000)
    return consumer


# Pulls ----------------------------------------------------------------------------------------------------------------


def test_a_broker_holds_a_pull_for_15_s_and_says_when_it_looks_then_that_there_is_nothing(world: World) -> None:
    consumer = join(world, "c1")
    world.run(45_000)
    suspended, answered = reported(world, PullSuspended), reported(world, PullAnswered)
    assert [event.offset for _, event in suspended] == [0] * 3
    assert [event.code for _, event in answered] == [PullCode.PULL_NOT_FOUND] * 2
    assert [ms for ms, _ in suspended][1:] == [ms for ms, _ in answered]
    assert all(HOLD_MS <= ms - begun_ms <= HOLD_MS + LOOK_MS + 2 * ONE_WAY_MS
               for (begun_ms, _), (ms, _) in zip(suspended, answered, strict=False))
    assert {(event.client_id, event.group) for _, event in suspended} == {(consumer.instance.client_id, "G")}


def test_messages_that_arrive_are_the_answer_and_the_next_pull_is_behind_them(world: World) -> None:
    consumer = join(world, "c1")
    since_ms = world.now_ms
    let_arrive(world, consumer)
    assert [event.code for _, event in reported(world, PullAnswered, since_ms)] == [PullCode.SUCCESS]
    assert [event.offsets for _, event in reported(world, MessagesFound)] == [(0, 1, 2, 3)]
    assert [event.offset for _, event in reported(world, PullSuspended, since_ms)] == [4]
    world.run(HOLD_MS + LOOK_MS)
    assert [event.offset for _, event in reported(world, PullSuspended, since_ms)] == [4, 4]


def test_the_pull_of_deleted_messages_is_illegal_and_corrected_after_10_s(world: World) -> None:
    consumer = join(world, "c1")
    consumer.suspend()
    world.run(HOLD_MS + 2 * LOOK_MS)
    fill(world, FIRST, 200)
    least, since_ms = expire(world, FIRST), world.now_ms
    world.call("c1", consumer.resume)
    world.run_until(lambda: reported(world, PullAnswered, since_ms) != [], 1_100)
    ((moved_ms, event),) = reported(world, PullAnswered, since_ms)
    assert event.code == PullCode.PULL_OFFSET_MOVED
    assert FIRST in world.views.no_owner("G", "orders")
    world.run(11_000)
    assert [(ms, event.offset) for ms, event in reported(world, OffsetCorrected, since_ms)] == [
        (moved_ms + 10_000, least)]


def test_nothing_is_pulled_while_too_much_is_cached(world: World) -> None:
    consumer = join(world, "c1")
    consumer.message_listener = Stuck(world)
    pq = held(consumer, FIRST)
    fill(world, FIRST, 1_100)
    world.run(HOLD_MS)
    assert pq.msg_count == 1_004  # 1,000 are not too many
    since_ms = world.now_ms
    world.run(HOLD_MS)
    assert reported(world, PullSuspended, since_ms) == []
    pq.remove_message([MessageExt(offset) for offset in range(4)])
    world.run(60)
    assert [event.offset for _, event in reported(world, PullSuspended, since_ms)] == [1_004]


@pytest.mark.parametrize(("config", "messages", "full"), [
    (ORDERS, [MessageExt(0), MessageExt(2_000)], False), (ORDERS, [MessageExt(0), MessageExt(2_001)], True),
    (IN_ORDER, [MessageExt(0), MessageExt(2_001)], False),
    (IN_ORDER, [MessageExt(0, bytes(101 * 1024 * 1024 - 1))], False),
    (IN_ORDER, [MessageExt(0, bytes(101 * 1024 * 1024))], True),
])
def test_too_much_is_also_too_far_apart_and_too_big(
    world: World, config: object, messages: list[MessageExt], full: bool,
) -> None:
    consumer = join(world, "c1", config)  # type: ignore[arg-type]  # one of two
    pq = ProcessQueue(lambda: 0)
    pq.put_message(messages)
    assert consumer._is_full(pq) is full


def test_an_answer_that_cannot_be_taken_is_asked_for_again_a_second_later(world: World) -> None:
    join(world, "c1")
    since_ms = world.now_ms
    header = SendMessageRequestHeader("P", "orders", 0, since_ms, "")
    assert world.ask(ADDR, Command(RequestCode.SEND_MESSAGE_V2, header, b"")).code == 0
    world.run(2_500)
    answered = [ms for ms, _ in reported(world, PullAnswered, since_ms)]
    assert [ms for ms, _ in reported(world, PullSuspended, since_ms)] == [ms + 1_000 for ms in answered][:2]
    assert reported(world, MessagesFound) == []


def test_an_answer_without_messages_is_asked_for_again_at_once(world: World) -> None:
    consumer = join(world, "c1")
    pull_request = pull_of(consumer)
    since_ms = world.now_ms
    PullCallback(consumer, pull_request, build("orders", "*", "TAG")).on_success(PullResult(PullStatus.FOUND, 7))
    world.run(0)
    assert [(ms, event.offset) for ms, event in reported(world, PullSuspended, since_ms)] == [(0, 7)]
    assert reported(world, MessagesFound) == []


def test_a_client_that_has_ended_pulls_nothing_more(world: World) -> None:
    consumer = join(world, "c1")
    pull_request = pull_of(consumer)
    world.call("c1", consumer.shutdown)
    world.run(1_000)
    since_ms = world.now_ms
    service = consumer.instance.pull_message_service
    service.execute_pull_request_immediately(pull_request)
    service.execute_pull_request_later(pull_request, 10)
    PullCallback(consumer, pull_request, build("orders", "*", "TAG")).on_exception(None)
    world.run(2 * HOLD_MS)
    assert world.events(PullSuspended, since_ms) == []


def test_the_chain_ends_where_the_client_has_no_consumer_of_the_group_any_more(world: World) -> None:
    world.add_consumer("c1", ORDERS, replace(ORDERS, consumer_group="H"), instance_name="shop")
    world.run(5_000)
    consumer, _ = world.consumers["c1"]
    world.call("c1", consumer.shutdown)
    world.run(1_000)
    since_ms = world.now_ms
    world.run(2 * HOLD_MS)
    assert {event.group for _, event in reported(world, PullSuspended, since_ms)} == {"H"}
    assert world.events(ThreadDied) == []


def test_a_pull_of_the_repaired_client_goes_on_without_a_commit_when_its_consumer_has_shut_down() -> None:
    with subject_named("repaired").running(), World() as world:
        stage(world, store=SMALL)
        consumer = join(world, "c1")
        consumer.offset_store.update_offset(FIRST, 3, increase_only=False)
        pull_request = pull_of(consumer)
        world.call("c1", consumer.shutdown)
        world.run(1_000)
        assert consumer.instance.consumer_table.get("G") is None
        world.call("c1", lambda: consumer._pull(pull_request))
        world.run(1_000)
        assert world.events(ThreadDied) == []


# Concurrent listeners -------------------------------------------------------------------------------------------------


class Stuck:
    """A listener that never comes back. given -- the offsets that it was given."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.given: list[tuple[int, ...]] = []

    async def consume_message(self, msgs: object, context: object) -> None:
        del context
        self.given.append(tuple(msg.queue_offset for msg in msgs))  # type: ignore[attr-defined]
        await self.world.simulation.nodes["c1"].sleep(1_000_000)


def test_a_listener_is_given_so_many_messages_at_once_as_it_is_configured(world: World) -> None:
    consumer = join(world, "c1")
    consumer.message_listener = stuck = Stuck(world)
    consumer.config = replace(consumer.config, consume_message_batch_max_size=3)
    let_arrive(world, consumer)
    assert stuck.given == [(0, 1, 2), (3,)]


def test_a_queue_that_is_dropped_while_its_listener_works_settles_nothing(world: World) -> None:
    consumer = join(world, "c1")
    let_arrive(world, consumer, 3_000)
    world.run(1_500)
    assert [event.offsets for _, event in reported(world, MessagesSettled)] == [(2, 3)]
    held(consumer, FIRST).dropped = True
    world.run(3_000)
    assert len(reported(world, MessagesSettled)) == 1


def test_what_is_found_for_a_dropped_queue_is_given_to_nobody(world: World) -> None:
    consumer = join(world, "c1")
    consumer.message_listener = stuck = Stuck(world)
    held(consumer, FIRST).dropped = True
    let_arrive(world, consumer)
    assert stuck.given == []


def test_a_consumer_that_has_shut_down_gives_messages_to_nobody(world: World) -> None:
    consumer = join(world, "c1")
    consumer.message_listener = stuck = Stuck(world)
    world.call("c1", consumer.consume_message_service.shutdown)
    world.run(0)
    let_arrive(world, consumer)
    assert stuck.given == []


# Orderly listeners ----------------------------------------------------------------------------------------------------


def test_one_batch_comes_after_the_other_and_the_next_pull_dispatches_nothing_meanwhile(world: World) -> None:
    consumer = locked(world)
    let_arrive(world, consumer, 1_000)
    world.run(10)
    let_arrive(world, consumer, 1_000)
    world.run(5_000)
    started, ended = reported(world, ListenerStarted), reported(world, ListenerEnded)
    assert [ms - started[0][0] for ms, _ in started] == [0, 1_000, 2_000, 3_000]
    assert [ms for ms, _ in ended] == [ms + 1_000 for ms, _ in started]
    assert [event.offsets for _, event in reported(world, MessagesSettled)] == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_without_the_lock_it_is_asked_for_after_100_ms_and_the_listener_begins_10_ms_later(world: World) -> None:
    consumer = locked(world)
    held(consumer, FIRST).locked = False
    since_ms = let_arrive(world, consumer)
    world.run(200)
    assert [ms for ms, _ in reported(world, LockGranted, since_ms)] == [100 + ONE_WAY_MS]
    (begun_ms, _), *_ = reported(world, ListenerStarted, since_ms)
    assert begun_ms == 100 + 2 * ONE_WAY_MS + 10


def test_a_lock_that_is_lost_between_two_batches_is_asked_for_after_10_ms(world: World) -> None:
    consumer = locked(world)
    let_arrive(world, consumer, 1_000)
    world.run(500)
    held(consumer, FIRST).locked = False
    since_ms = world.now_ms
    world.run(1_000)
    assert [ms for ms, _ in reported(world, LockGranted, since_ms)] == [510 + ONE_WAY_MS]
    assert [ms for ms, _ in reported(world, ListenerStarted, since_ms)] == [510 + 2 * ONE_WAY_MS + 10]


def test_a_lock_that_is_refused_is_asked_for_again_after_3_s(world: World) -> None:
    consumer = locked(world)
    locks = world.brokers[BROKER].rebalance_lock_manager
    entry = locks.mq_lock_table.get("G").get(FIRST)  # type: ignore[union-attr]  # it is there
    assert entry is not None
    entry.client_id = "another"
    world.run_until(lambda: not held(consumer, FIRST).locked, 20_001)
    since_ms = let_arrive(world, consumer)
    world.run(200)
    entry.client_id = consumer.instance.client_id
    world.run(4_000)
    (begun_ms, _), *_ = reported(world, ListenerStarted, since_ms)
    assert begun_ms == 100 + 3_000 + 100 + 4 * ONE_WAY_MS + 10


def test_after_a_minute_another_task_goes_on(world: World) -> None:
    consumer = locked(world)
    let_arrive(world, consumer, 31_000)
    world.run(1_000)
    let_arrive(world, consumer, 31_000)
    world.run(130_000)
    started = [ms for ms, _ in reported(world, ListenerStarted)]
    assert [later - earlier for earlier, later in pairwise(started)] == [31_000, 31_010, 31_000]


def test_two_process_queues_of_one_queue_are_not_worked_on_at_once(world: World) -> None:
    consumer = locked(world)
    let_arrive(world, consumer, 1_000)
    another = ProcessQueue(consumer.node.now_ms)
    another.locked = True
    another.put_message([MessageExt(0)])
    consumer.consume_message_service.submit_consume_request((), another, FIRST, dispatch_to_consume=True)
    since_ms = world.now_ms
    world.run(5_000)
    assert [ms for ms, _ in reported(world, ListenerStarted, since_ms)] == [0, 1_000, 2_000]


def test_who_broadcasts_in_order_needs_no_lock_and_asks_for_none(world: World) -> None:
    consumer = join(world, "c1", replace(IN_ORDER, message_model=BROADCASTING))
    service, pq = consumer.consume_message_service, ProcessQueue(consumer.node.now_ms)
    assert isinstance(service, ConsumeMessageOrderlyService)
    pq.put_message([MessageExt(0)])
    since_ms = world.now_ms
    service.submit_consume_request((), pq, FIRST, dispatch_to_consume=True)
    world.run(25_000)
    assert [ms for ms, _ in reported(world, ListenerStarted, since_ms)] == [0]
    assert world.events(LockGranted, since_ms) == []


def test_a_service_that_has_stopped_asks_for_no_lock_any_more(world: World) -> None:
    consumer = locked(world)
    service = consumer.consume_message_service
    assert isinstance(service, ConsumeMessageOrderlyService)
    held(consumer, FIRST).locked = False
    let_arrive(world, consumer)
    world.run(50)  # in 50 ms the lock is to be asked for
    world.call("c1", service.shutdown)
    world.run(0)
    since_ms = world.now_ms
    world.run(60_000)
    assert world.events(LockGranted, since_ms) == []
    with pytest.raises(RejectedExecutionError):
        service.scheduler.schedule(lambda: None, 0)
