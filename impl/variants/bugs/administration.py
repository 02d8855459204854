"""Seeded bugs of what operators order, as a port of RocketMQ could have them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.broker.rebalance_lock_manager import LockEntry, RebalanceLockManager
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.flags import PERM_WRITE, clear_flag
from impl.decisions.message_queue import MessageQueue
from impl.hash_map import ConcurrentHashMap
from impl.namesrv.kv_config_manager import KVConfigManager
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.variants.variant import Variant, around, replace


@replace(SubscriptionGroupManager, "update_subscription_group_config")
def _put_only(self: SubscriptionGroupManager, config: SubscriptionGroupConfig) -> None:
    """Neither a new version nor a file."""
    self.subscription_group_table.put(config.group_name, config)


@replace(SubscriptionGroupManager, "update_subscription_group_config")
def _keep_the_version(self: SubscriptionGroupManager, config: SubscriptionGroupConfig) -> None:
    """Whoever compares versions hears of nothing."""
    self.subscription_group_table.put(config.group_name, config)
    self.persist()


@around(KVConfigManager, "delete_kv_config")
def _forget_the_namespace(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def delete_kv_config(self: KVConfigManager, namespace: str | None, key: str | None) -> None:
        if namespace is not None:
            self.config_table.remove(namespace)
        await original(self, namespace, key)

    return delete_kv_config


@replace(KVConfigManager, "_persist")
async def _write_nothing(self: KVConfigManager) -> None:
    """The table is kept in memory alone."""


@replace(RouteInfoManager, "wipe_write_perm_of_broker_by_lock")
def _wipe_everybody(self: RouteInfoManager, broker_name: str) -> int:
    """The name of the broker is not compared."""
    del broker_name
    for queue_datas in self.topic_queue_table.values():
        queue_datas[:] = [data._replace(perm=clear_flag(data.perm, PERM_WRITE)) for data in queue_datas]
    return len(self.topic_queue_table)


@replace(RebalanceLockManager, "_grant")
def _leave_the_owner(
    self: RebalanceLockManager, group_value: ConcurrentHashMap[MessageQueue, LockEntry], mq: MessageQueue,
    client_id: str,
) -> bool:
    """Who takes an expired lock over is not written down."""
    now_ms, lock_entry = self.now_ms(), group_value.get(mq)
    if lock_entry is None:
        lock_entry = LockEntry(client_id, now_ms)
        group_value.put(mq, lock_entry)
    if lock_entry.client_id != client_id and not lock_entry.is_expired(now_ms):
        return False
    lock_entry.last_update_timestamp = now_ms
    return True


BUGS = (
    Variant(
        "seeded-group-is-not-written", "bug", "How an operator has configured a group is forgotten by a restart.",
        "seeded: a forgotten call", replacements=(_put_only,),
    ),
    Variant(
        "seeded-group-keeps-its-version", "bug", "How an operator has configured a group is not copied by slaves.",
        "seeded: a forgotten call", replacements=(_keep_the_version,),
    ),
    Variant(
        "seeded-key-takes-its-namespace", "bug", "Who deletes a key at a name server deletes its namespace.",
        "seeded: one map for another", replacements=(_forget_the_namespace,),
    ),
    Variant(
        "seeded-keys-are-not-written", "bug", "A name server that starts again has no key values.",
        "seeded: a forgotten call", replacements=(_write_nothing,), over=("key_values_one_writer",),
    ),
    Variant(
        "seeded-nobody-may-be-written", "bug", "Who wipes the permission to write to one broker wipes that of all.",
        "seeded: a forgotten comparison", replacements=(_wipe_everybody,),
    ),
    Variant(
        "seeded-expired-lock-keeps-its-owner", "bug", "Who takes an expired lock over is not noted as its owner.",
        "seeded: a forgotten assignment", replacements=(_leave_the_owner,),
    ),
)
