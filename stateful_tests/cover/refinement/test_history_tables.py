"""Histories that are judged of a broker's tables: what no random world has, built by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from impl.broker.bloom_filter import BloomFilter
from impl.broker.consumer_filter_manager import ConsumerFilterManager
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData
from impl.decisions.subscription import SQL92, SubscriptionData
from impl.events import HeartbeatHandled
from invariants.refinement.history import Histories

FILTERS = "filter_is_as_new_as_its_subscription"
TABLE, OLD = (SubscriptionData("orders", "a > 1", sub_version=version, expression_type=SQL92) for version in (300, 100))
BROKEN = SubscriptionData("orders", "a >", sub_version=400, expression_type=SQL92)
TAGS = SubscriptionData("orders", "a", sub_version=400)


class OneBroker:
    """A broker with one topic of one group in its tables, and the filters of these heartbeats."""

    def __init__(self, table: SubscriptionData, *registered: SubscriptionData, left: bool = False) -> None:
        data = ConsumerData("G", CONSUME_PASSIVELY, CLUSTERING, "CONSUME_FROM_LAST_OFFSET", [table])
        info = ConsumerGroupInfo(data, lambda: 1)
        info.subscription_table.put("orders", table)
        filters = ConsumerFilterManager(BloomFilter(20, 32), lambda: 1)
        for sub in registered:
            filters.register_topic("G", sub)
        if left:
            filters.un_register("G")
        manager = SimpleNamespace(get_consumer_group_info={"G": info}.get)
        self.brokers = {"broker-a": SimpleNamespace(
            node=self, config=SimpleNamespace(broker_id=1), consumer_manager=manager, consumer_filter_manager=filters,
        )}


@pytest.mark.parametrize(("broker", "broken"), [
    (OneBroker(TABLE, TABLE), False), (OneBroker(TABLE, OLD, TABLE), False), (OneBroker(TAGS), False),
    (OneBroker(TABLE), True), (OneBroker(TABLE, OLD), True), (OneBroker(BROKEN, TABLE, BROKEN), True),
    (OneBroker(TABLE, TABLE, left=True), True),
])
def test_a_subscription_without_a_filter_that_is_as_new_is_seen(broker: OneBroker, broken: bool) -> None:
    follower = Histories(broker)  # type: ignore[arg-type]  # no more is looked at
    found = follower.segment("broker-a", [(1, "broker-a", HeartbeatHandled("broker-a", "G", "c1:1"))])
    assert [finding.property for finding in found] == [FILTERS] * broken
