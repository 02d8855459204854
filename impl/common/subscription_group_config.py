"""SubscriptionGroupConfig: what an operator allows a consumer group at one broker."""

from __future__ import annotations

from dataclasses import dataclass

from impl.decisions.names import MASTER_ID


@dataclass(slots=True)
class SubscriptionGroupConfig:
    """`common.subscription.SubscriptionGroupConfig` with its defaults; consume_from_min_enable is read by no pull."""

    group_name: str
    consume_enable: bool = True
    consume_from_min_enable: bool = True
    consume_broadcast_enable: bool = True
    retry_queue_nums: int = 1
    retry_max_times: int = 16
    broker_id: int = MASTER_ID
    which_broker_when_consume_slowly: int = 1
    notify_consumer_ids_changed_enable: bool = True
