"""Two virtual nodes at one place of the hash ring: the order of the id list decides, so unequal ones disagree (A-8)."""

from __future__ import annotations

from impl.decisions.allocation import AllocateMessageQueueConsistentHash
from impl.decisions.message_queue import MessageQueue

QUEUE = MessageQueue("T", "b", 54)  # between the meeting place and the node before it
FIRST, SECOND = "c601", "c1081"


def owners(order_of_first: list[str], order_of_second: list[str]) -> set[str]:
    strategy = AllocateMessageQueueConsistentHash()
    return {me for me, ids in ((FIRST, order_of_first), (SECOND, order_of_second))
            if strategy.allocate("g", me, [QUEUE], ids)}


def test_equal_orders_agree_on_one_owner() -> None:
    for order in ([FIRST, SECOND], [SECOND, FIRST]):
        assert len(owners(order, order)) == 1


def test_unequal_orders_leave_the_queue_to_nobody_or_to_both() -> None:
    assert owners([FIRST, SECOND], [SECOND, FIRST]) == set()
    assert owners([SECOND, FIRST], [FIRST, SECOND]) == {FIRST, SECOND}
