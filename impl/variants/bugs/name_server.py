"""Planted bugs of name servers: registration, expiry, versions (group NS of known bugs)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as with_fields

from impl.common.data_version import DataVersion
from impl.decisions.flags import PERM_WRITE, clear_flag
from impl.decisions.names import MASTER_ID
from impl.namesrv.route_info_manager import BrokerRegistration, RegisterBrokerResult, RouteInfoManager
from impl.variants.variant import Variant, around, replace


@replace(DataVersion, "__eq__")
def _same_object(self: DataVersion, other: object) -> bool:
    """Identity, as of a counter without an `equals`."""
    return self is other


@around(RouteInfoManager, "register_broker")
def _prime_slave_writes_nothing(
    original: Callable[[RouteInfoManager, BrokerRegistration], RegisterBrokerResult],
) -> Callable[..., RegisterBrokerResult]:
    def register_broker(self: RouteInfoManager, registration: BrokerRegistration) -> RegisterBrokerResult:
        """A slave that has the smallest id of its name brings its topics, without the right to write."""
        result = original(self, registration)
        data, wrapper = self.broker_addr_table.get(registration.broker_name), registration.topic_config_wrapper
        if registration.broker_id != MASTER_ID and data is not None and wrapper is not None \
                and registration.broker_id == min(broker_id for broker_id, _ in data.broker_addrs.entries()):
            for config in (wrapper.topic_config_table or {}).values():
                read_only = with_fields(config, perm=clear_flag(config.perm, PERM_WRITE))
                self._create_and_update_queue_data(registration.broker_name, read_only)
        return result

    return register_broker


@replace(RouteInfoManager, "is_broker_topic_config_changed")
def _is_greater(self: RouteInfoManager, broker_addr: str, data_version: DataVersion) -> bool:
    """A version that counts no more is taken for an old one."""
    previous = self.query_broker_topic_config(broker_addr)
    return previous is None or data_version.counter > previous.counter


@replace(DataVersion, "next_version")
def _stamp_only(self: DataVersion, now_ms: int) -> None:
    """The time is enough."""
    self.timestamp = now_ms


BUGS = (
    Variant(
        "ns-unregister-by-id", "bug", "A late goodbye of the old master deletes the new one.",
        "apache/rocketmq #5374: 4.x as shipped", undoes=("unregister_own_address",),
    ),
    Variant(
        "ns-stale-expiry-wipes-fresh", "bug", "A clean-up wipes what was registered since it was decided.",
        "apache/rocketmq #11043; 4.9.3 as shipped", undoes=("destroy_in_one_step", "expire_in_one_step"),
    ),
    Variant(
        "ns-first-register-partial", "bug", "An increment counts as the first registration, and the rest looks known.",
        "apache/rocketmq #4522: 4.x as shipped", undoes=("register_whole_table",),
    ),
    Variant(
        "ns-dataversion-never-equal", "bug", "Equal data versions are never equal, so every heartbeat is a change.",
        "ROCKETMQ-74, commit 767775838f", replacements=(_same_object,), undoes=("wiped_stays_wiped",),
    ),
    Variant(
        "ns-prime-slave-perm-wiped", "bug", "A slave without a master makes its topics read-only.",
        "apache/rocketmq #7626, #7661, commit 7e1786732c", replacements=(_prime_slave_writes_nothing,),
    ),
    Variant(
        "ns-clusterinfo-unlocked", "bug", "The cluster information mixes two states.",
        "commit 43b659e2af; 4.9.3 as shipped", undoes=("cluster_info_in_one_step",),
    ),
    Variant(
        "seeded-only-greater-versions-count", "bug", "A broker that has lost its last topics keeps them in all routes.",
        "seeded: an order where there is none", replacements=(_is_greater,), undoes=("topics_are_forced",),
    ),
    Variant(
        "seeded-versions-count-nothing", "bug", "Two versions of a broker's topics differ by their time alone.",
        "seeded: a line that was dropped", replacements=(_stamp_only,),
    ),
)
