"""BrokerConfig: what is set in the configuration file of a broker."""

from __future__ import annotations

from dataclasses import dataclass, fields

from impl.common.headers import DEFAULT_TRACE_REGION_ID
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.names import MASTER_ID, RMQ_SYS_TRACE_TOPIC
from impl.decisions.transaction_check import (
    TRANSACTION_CHECK_INTERVAL_MS,
    TRANSACTION_CHECK_MAX,
    TRANSACTION_TIMEOUT_MS,
)


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """`common.BrokerConfig`, what is read here, with its defaults; a name has its unit where Java's has none.

    namesrv_addrs -- "host:port" each. start_accept_send_request_timestamp -- ms since 1970.
    """

    broker_name: str
    namesrv_addrs: tuple[str, ...]
    broker_id: int = MASTER_ID
    cluster_name: str = "DefaultCluster"
    listen_port: int = 10911
    cores: int = 4
    broker_permission: int = PERM_READ | PERM_WRITE
    auto_create_topic_enable: bool = True
    default_topic_queue_nums: int = 8
    cluster_topic_enable: bool = True
    broker_topic_enable: bool = True
    trace_topic_enable: bool = False
    msg_trace_topic_name: str = RMQ_SYS_TRACE_TOPIC
    auto_create_subscription_group: bool = True
    notify_consumer_ids_changed_enable: bool = True
    enable_property_filter: bool = False
    force_register: bool = True
    compressed_register: bool = False
    register_name_server_period_ms: int = 30_000
    flush_consumer_offset_interval_ms: int = 5_000
    reject_transaction_message: bool = False
    transaction_timeout_ms: int = TRANSACTION_TIMEOUT_MS
    transaction_check_max: int = TRANSACTION_CHECK_MAX
    transaction_check_interval_ms: int = TRANSACTION_CHECK_INTERVAL_MS
    region_id: str = DEFAULT_TRACE_REGION_ID
    trace_on: bool = True
    start_accept_send_request_timestamp: int = 0
    store_reply_message_enable: bool = True
    slave_read_enable: bool = False
    short_polling_time_ms: int = 1_000
    transfer_msg_by_heap: bool = True
    filter_support_retry: bool = False
    enable_calc_filter_bit_map: bool = False
    broker_fast_failure_enable: bool = True
    wait_time_in_send_queue_ms: int = 200
    wait_time_in_pull_queue_ms: int = 5_000
    wait_time_in_heartbeat_queue_ms: int = 31_000
    wait_time_in_transaction_queue_ms: int = 3_000

    def switched(self) -> tuple[str, ...]:
        """The switches, the cluster and the permission that are not as they are shipped, as the file has them.

        One of them is "compressedRegister = true".
        """
        told = [one for one in fields(self) if isinstance(one.default, bool) or one.name in _IN_FILE]
        changed = [one.name for one in told if getattr(self, one.name) != one.default]
        return tuple(f"{_in_file(name)} = {_value(getattr(self, name))}" for name in changed)


_IN_FILE = {"cluster_name": "brokerClusterName", "broker_permission": "brokerPermission"}


def _in_file(name: str) -> str:
    """The name of a setting in RocketMQ's spelling."""
    first, *others = name.split("_")
    return _IN_FILE.get(name, first + "".join(other.capitalize() for other in others))


def _value(value: bool | int | str) -> str:
    """As the file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
