"""What a repair does where two threads meet in the function that it replaces, and what it remembers."""

from __future__ import annotations

from collections.abc import Generator
from types import coroutine
from typing import Any

import pytest

from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.common.headers import TopicRequestHeader
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaException
from impl.decisions.message_queue import MessageQueue
from impl.hash_map import ConcurrentHashMap
from impl.ports.remoting import Command
from impl.ports.threads import UNINTERRUPTED
from impl.variants.catalogue import REPAIRS
from impl.variants.stack import active
from stateful_tests.stories.scenes import BROKER, NS, NS_ADDR, stage
from stateful_tests.worlds.world import World

MQ = MessageQueue("orders", "broker-a", 0)


@coroutine
def _answer() -> Generator[None, int, int]:
    return (yield)


class _Rebalance:
    """RebalanceImpl of a consumer that reads in order; where to begin is what the test says, -1: an error."""

    def __init__(self) -> None:
        self.process_queue_table: ConcurrentHashMap[MessageQueue, ProcessQueue] = ConcurrentHashMap()
        self.consumer_group, self.now_ms, self.unlocked = "G", lambda: 0, [MQ] * 0

    async def lock(self, _: MessageQueue) -> bool:
        return True

    def remove_dirty_offset(self, _: MessageQueue) -> None:
        """Nothing is remembered."""

    async def compute_pull_from_where_with_exception(self, _: MessageQueue, __: object) -> int:
        offset = await _answer()
        if offset < 0:
            raise JavaException
        return offset

    async def unlock(self, mq: MessageQueue, *, oneway: bool) -> None:
        assert oneway
        self.unlocked.append(mq)

    def takes(self) -> Any:
        thread = RebalanceImpl._take(self, MQ, is_order=True, threads=UNINTERRUPTED)  # type: ignore[arg-type]
        thread.send(None)
        return thread


def _ends(thread: Any, offset: int) -> PullRequest | None:
    with pytest.raises(StopIteration) as end:
        thread.send(offset)
    result: PullRequest | None = end.value.value
    return result


@pytest.mark.parametrize(("answers", "unlocked"), [((-1, -1), [MQ]), ((-1, 7), []), ((7, -1), [])])
def test_a_lock_is_given_back_by_the_last_thread_that_tries_and_by_none_if_one_has_the_queue(
    answers: tuple[int, int], unlocked: list[MessageQueue],
) -> None:
    with active([REPAIRS["lock_goes_with_its_queue"]]):
        rebalance = _Rebalance()
        threads = [rebalance.takes(), rebalance.takes()]
        for thread, offset in zip(threads, answers, strict=True):
            assert (_ends(thread, offset) is None) == (offset < 0)
        assert rebalance.unlocked == unlocked


def test_without_the_repair_the_lock_stays() -> None:
    rebalance = _Rebalance()
    assert _ends(rebalance.takes(), -1) is None
    assert not rebalance.unlocked


@pytest.mark.parametrize("has_it", [True, False])
def test_what_a_name_server_has_deleted_stays_away_from_a_broker_that_had_it(*, has_it: bool) -> None:
    with active([REPAIRS["deleted_stays_deleted"]]), World() as world:
        stage(world)
        topics = world.brokers[BROKER].topic_config_manager
        if not has_it:
            topics.delete_topic_config("orders")
        world.run(61_000)
        world.ask(NS_ADDR, Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, header=TopicRequestHeader("orders")))
        topics.update_topic_config(TopicConfig("orders", 4, 4))
        world.run(61_000)
        assert world.views.routed(NS, "orders") == ([] if has_it else [BROKER])
