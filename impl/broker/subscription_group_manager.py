"""SubscriptionGroupManager: the consumer groups that a broker knows, and what they may do."""

from __future__ import annotations

from collections.abc import Callable

from impl.common.data_version import DataVersion
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.names import CID_RMQ_SYS_PREFIX
from impl.hash_map import ConcurrentHashMap

BUILT_IN_GROUPS = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
)


class SubscriptionGroupManager:
    """`broker.subscription.SubscriptionGroupManager`: a ConcurrentHashMap, no lock.

    now_ms -- the clock of the broker. persist -- ConfigManager#persist, a synchronous write of the whole table.
    auto_create_subscription_group -- BrokerConfig.autoCreateSubscriptionGroup.

    subscription_group_table -- group to configuration. data_version -- of the table; slaves compare it.
    """

    def __init__(
        self, now_ms: Callable[[], int], persist: Callable[[], None], *, auto_create_subscription_group: bool = True,
    ) -> None:
        """Start with the groups of RocketMQ's own tools."""
        self.now_ms = now_ms
        self.persist = persist
        self.auto_create_subscription_group = auto_create_subscription_group
        self.data_version = DataVersion(now_ms())
        self.subscription_group_table: ConcurrentHashMap[str, SubscriptionGroupConfig] = ConcurrentHashMap(
            1024, [(group, SubscriptionGroupConfig(group)) for group in BUILT_IN_GROUPS],
        )

    def find_subscription_group_config(self, group: str) -> SubscriptionGroupConfig | None:
        """SubscriptionGroupManager#findSubscriptionGroupConfig: makes and persists a default if that is allowed.

        It gives its OWN new object even when another thread's has won the place in the table.
        """
        config = self.subscription_group_table.get(group)
        if config is None and (self.auto_create_subscription_group or group.startswith(CID_RMQ_SYS_PREFIX)):
            config = SubscriptionGroupConfig(group)
            self.subscription_group_table.put_if_absent(group, config)
            self._next_version_and_persist()
        return config

    def update_subscription_group_config(self, config: SubscriptionGroupConfig) -> None:
        """SubscriptionGroupManager#updateSubscriptionGroupConfig."""
        self.subscription_group_table.put(config.group_name, config)
        self._next_version_and_persist()

    def disable_consume(self, group_name: str) -> None:
        """SubscriptionGroupManager#disableConsume, in place; the next persist will write it."""
        config = self.subscription_group_table.get(group_name)
        if config is not None:
            config.consume_enable = False
            self.data_version.next_version(self.now_ms())

    def delete_subscription_group_config(self, group_name: str) -> None:
        """SubscriptionGroupManager#deleteSubscriptionGroupConfig: the next heartbeat may make a default again."""
        if self.subscription_group_table.remove(group_name) is not None:
            self._next_version_and_persist()

    def _next_version_and_persist(self) -> None:
        self.data_version.next_version(self.now_ms())
        self.persist()
