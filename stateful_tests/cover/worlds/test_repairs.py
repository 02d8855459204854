"""What a repair does where two threads meet in the function that it replaces."""

from __future__ import annotations

from collections.abc import Generator
from types import coroutine
from typing import Any

import pytest

from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.hash_map import ConcurrentHashMap
from impl.ports.threads import UNINTERRUPTED
from impl.variants.catalogue import REPAIRS
from impl.variants.stack import active

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
            raise JavaError
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
