"""MessageStoreConfig: what can be set of a store."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from impl.decisions.disk_cleanup import DISK_MAX_USED_SPACE_RATIO, FILE_RESERVED_TIME_HOURS, disk_max_used_space_ratio
from impl.decisions.replication import HA_SLAVE_FALLBEHIND_MAX_BYTES
from impl.decisions.retry_level import MESSAGE_DELAY_LEVEL
from impl.decisions.store_rules import is_transient_store_pool_enable, mapped_file_size_consume_queue
from impl.decisions.suggestion import ACCESS_MESSAGE_IN_MEMORY_MAX_RATIO


class BrokerRole(StrEnum):
    """`store.config.BrokerRole`."""

    ASYNC_MASTER = "ASYNC_MASTER"
    SYNC_MASTER = "SYNC_MASTER"
    SLAVE = "SLAVE"


class FlushDiskType(StrEnum):
    """`store.config.FlushDiskType`."""

    SYNC_FLUSH = "SYNC_FLUSH"
    ASYNC_FLUSH = "ASYNC_FLUSH"


@dataclass(frozen=True, slots=True)
class MessageStoreConfig:
    """`store.config.MessageStoreConfig` with its defaults; a name has its unit where Java's has none.

    total_physical_memory_bytes -- of the machine (`StoreUtil.TOTAL_PHYSICAL_MEMORY_SIZE`). broker_id, and
    long_polling_enable -- of BrokerConfig.
    """

    store_path_root_dir: str = "store"
    store_path_commit_log: str = "store/commitlog"
    mapped_file_size_commit_log: int = 1 << 30
    configured_file_size_consume_queue: int = 300_000 * 20
    max_message_size: int = 4 << 20
    check_crc_on_recover: bool = True
    flush_disk_type: FlushDiskType = FlushDiskType.ASYNC_FLUSH
    broker_role: BrokerRole = BrokerRole.ASYNC_MASTER
    flush_interval_commit_log_ms: int = 500
    flush_commit_log_least_pages: int = 4
    flush_commit_log_thorough_interval_ms: int = 10_000
    commit_interval_commit_log_ms: int = 200
    commit_commit_log_least_pages: int = 4
    commit_commit_log_thorough_interval_ms: int = 200
    flush_interval_consume_queue_ms: int = 1_000
    flush_consume_queue_least_pages: int = 2
    flush_consume_queue_thorough_interval_ms: int = 60_000
    os_page_cache_busy_timeout_ms: int = 1_000
    transient_store_pool_configured: bool = False
    transient_store_pool_size: int = 5
    fast_fail_if_no_buffer_in_store_pool: bool = False
    sync_flush_timeout_ms: int = 5_000
    slave_timeout_ms: int = 3_000
    ha_send_heartbeat_interval_ms: int = 5_000
    ha_housekeeping_interval_ms: int = 20_000
    ha_transfer_batch_size_bytes: int = 32 * 1024
    ha_slave_fallbehind_max_bytes: int = HA_SLAVE_FALLBEHIND_MAX_BYTES
    message_index_enable: bool = True
    message_index_safe: bool = False
    max_hash_slot_num: int = 5_000_000
    max_index_num: int = 20_000_000
    max_msgs_num_batch: int = 64
    default_query_max_num: int = 32
    message_delay_level: str = MESSAGE_DELAY_LEVEL
    flush_delay_offset_interval_ms: int = 10_000
    file_reserved_time_hours: int = FILE_RESERVED_TIME_HOURS
    delete_when: str = "04"
    configured_disk_max_used_space_ratio: int = DISK_MAX_USED_SPACE_RATIO
    clean_resource_interval_ms: int = 10_000
    clean_file_forcibly_enable: bool = True
    destroy_mapped_file_interval_forcibly_ms: int = 120_000
    redelete_hanged_file_interval_ms: int = 120_000
    access_message_in_memory_max_ratio: int = ACCESS_MESSAGE_IN_MEMORY_MAX_RATIO
    offset_check_in_slave: bool = False
    duplication_enable: bool = False
    total_physical_memory_bytes: int = 16 << 30
    broker_id: int = 0
    long_polling_enable: bool = True

    @property
    def mapped_file_size_consume_queue(self) -> int:
        """MessageStoreConfig#getMappedFileSizeConsumeQueue, in bytes."""
        return mapped_file_size_consume_queue(self.configured_file_size_consume_queue)

    @property
    def disk_max_used_space_ratio(self) -> int:
        """MessageStoreConfig#getDiskMaxUsedSpaceRatio, in percent."""
        return disk_max_used_space_ratio(self.configured_disk_max_used_space_ratio)

    @property
    def slave(self) -> bool:
        """Whether the role is SLAVE."""
        return self.broker_role is BrokerRole.SLAVE

    @property
    def transient_store_pool_enable(self) -> bool:
        """MessageStoreConfig#isTransientStorePoolEnable."""
        async_flush = self.flush_disk_type is FlushDiskType.ASYNC_FLUSH
        return is_transient_store_pool_enable(self.transient_store_pool_configured, async_flush, self.slave)

    # StorePathConfigHelper --------------------------------------------------------------------------------------------

    @property
    def store_path_consume_queue(self) -> str:
        """StorePathConfigHelper#getStorePathConsumeQueue."""
        return f"{self.store_path_root_dir}/consumequeue"

    @property
    def store_path_index(self) -> str:
        """StorePathConfigHelper#getStorePathIndex."""
        return f"{self.store_path_root_dir}/index"

    @property
    def store_checkpoint_path(self) -> str:
        """StorePathConfigHelper#getStoreCheckpoint."""
        return f"{self.store_path_root_dir}/checkpoint"

    @property
    def delay_offset_store_path(self) -> str:
        """StorePathConfigHelper#getDelayOffsetStorePath."""
        return f"{self.store_path_root_dir}/config/delayOffset.json"

    @property
    def abort_file(self) -> str:
        """StorePathConfigHelper#getAbortFile."""
        return f"{self.store_path_root_dir}/abort"

    @property
    def lock_file(self) -> str:
        """StorePathConfigHelper#getLockFile."""
        return f"{self.store_path_root_dir}/lock"
