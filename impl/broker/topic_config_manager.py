"""TopicConfigManager: the topics of a broker."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from impl.broker.broker_config import BrokerConfig
from impl.common.data_version import DataVersion
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.flags import (
    FLAG_UNIT,
    FLAG_UNIT_SUB,
    PERM_INHERIT,
    PERM_READ,
    PERM_WRITE,
    clear_flag,
    has_flag,
    set_flag,
)
from impl.decisions.names import (
    AUTO_CREATE_TOPIC_KEY_TOPIC,
    REPLY_TOPIC_POSTFIX,
    RMQ_SYS_BENCHMARK_TOPIC,
    RMQ_SYS_OFFSET_MOVED_EVENT,
    RMQ_SYS_SCHEDULE_TOPIC,
    RMQ_SYS_SELF_TEST_TOPIC,
)
from impl.hash_map import ConcurrentHashMap
from impl.ports.threads import Lock, Threads

LOCK_TIMEOUT_MS = 3000
SCHEDULE_TOPIC_QUEUE_NUM = 18


def system_topics(config: BrokerConfig) -> list[TopicConfig]:
    """The topics that TopicConfigManager's constructor makes, in its order."""
    read_write = PERM_READ | PERM_WRITE
    queue_nums = config.default_topic_queue_nums
    configs = [TopicConfig(RMQ_SYS_SELF_TEST_TOPIC, 1, 1)]
    if config.auto_create_topic_enable:
        configs.append(TopicConfig(AUTO_CREATE_TOPIC_KEY_TOPIC, queue_nums, queue_nums, PERM_INHERIT | read_write))
    cluster_perm = PERM_INHERIT | read_write * config.cluster_topic_enable
    broker_perm = PERM_INHERIT | read_write * config.broker_topic_enable
    configs += [
        TopicConfig(RMQ_SYS_BENCHMARK_TOPIC, 1024, 1024),
        TopicConfig(config.cluster_name, perm=cluster_perm),
        TopicConfig(config.broker_name, 1, 1, broker_perm),
        TopicConfig(RMQ_SYS_OFFSET_MOVED_EVENT, 1, 1),
        TopicConfig(RMQ_SYS_SCHEDULE_TOPIC, SCHEDULE_TOPIC_QUEUE_NUM, SCHEDULE_TOPIC_QUEUE_NUM),
    ]
    if config.trace_topic_enable:
        configs.append(TopicConfig(config.msg_trace_topic_name, 1, 1))
    configs.append(TopicConfig(f"{config.cluster_name}_{REPLY_TOPIC_POSTFIX}", 1, 1))
    return configs


class TopicConfigManager:
    """`broker.topic.TopicConfigManager`: a ConcurrentHashMap; topicConfigTableLock guards creation only.

    In every path a topic enters the table BEFORE the version is raised, and whoever encodes a registration reads both
    without the lock. A creation answers also whether the topic is new: the caller then registers the broker, after the
    lock has been given back.

    config -- of the broker. now_ms -- its clock. persist -- ConfigManager#persist, a synchronous write of the table.

    topic_config_table -- topic to configuration. data_version -- the version it is given out as.
    """

    def __init__(self, config: BrokerConfig, now_ms: Callable[[], int], persist: Callable[[], None]) -> None:
        """Start with the system topics."""
        self.config = config
        self.now_ms = now_ms
        self.persist = persist
        self.topic_config_table_lock = Lock("TopicConfigManager.topicConfigTableLock")
        self.data_version = DataVersion(now_ms())
        self.topic_config_table: ConcurrentHashMap[str, TopicConfig] = ConcurrentHashMap(
            1024, [(config.topic_name, config) for config in system_topics(config)],
        )

    def select_topic_config(self, topic: str) -> TopicConfig | None:
        """TopicConfigManager#selectTopicConfig."""
        return self.topic_config_table.get(topic)

    async def create_topic_in_send_message(
        self, topic: str, default_topic: str, queue_nums: int, topic_sys_flag: int, threads: Threads,
    ) -> tuple[TopicConfig | None, bool]:
        """TopicConfigManager#createTopicInSendMessageMethod; (None, False) if it is not allowed, or 3 s were too short.

        default_topic -- whose permissions are inherited, as the CLIENT names it. queue_nums -- what the client wishes.
        """
        if not await threads.try_lock(self.topic_config_table_lock, LOCK_TIMEOUT_MS):
            return None, False
        topic_config, is_new = self.topic_config_table.get(topic), False
        if topic_config is None:
            topic_config = self._inherited(topic, default_topic, queue_nums, topic_sys_flag)
            if topic_config is not None:
                await self._enter(topic_config, threads)
                is_new = True
        threads.unlock(self.topic_config_table_lock)
        return topic_config, is_new

    def _inherited(self, topic: str, default_topic: str, queue_nums: int, topic_sys_flag: int) -> TopicConfig | None:
        base = self.topic_config_table.get(default_topic)
        if base is None:
            return None
        if default_topic == AUTO_CREATE_TOPIC_KEY_TOPIC and not self.config.auto_create_topic_enable:
            base.perm = PERM_READ | PERM_WRITE
        if not has_flag(base.perm, PERM_INHERIT):
            return None
        nums = max(0, min(queue_nums, base.write_queue_nums))
        perm = clear_flag(base.perm, PERM_INHERIT)
        return TopicConfig(topic, nums, nums, perm, base.topic_filter_type, topic_sys_flag)

    async def create_topic_in_send_message_back(
        self, topic: str, queue_nums: int, perm: int, topic_sys_flag: int, threads: Threads,
    ) -> tuple[TopicConfig | None, bool]:
        """TopicConfigManager#createTopicInSendMessageBackMethod: retry and dead letter topics, by heartbeats too.

        (None, False) if 3 s were too short to get the lock; a heartbeat then goes on without the topic.
        """
        topic_config = self.topic_config_table.get(topic)
        if topic_config is not None:
            return topic_config, False
        if not await threads.try_lock(self.topic_config_table_lock, LOCK_TIMEOUT_MS):
            return None, False
        topic_config, is_new = self.topic_config_table.get(topic), False
        if topic_config is None:
            topic_config = TopicConfig(topic, queue_nums, queue_nums, perm, topic_sys_flag=topic_sys_flag)
            await self._enter(topic_config, threads)
            is_new = True
        threads.unlock(self.topic_config_table_lock)
        return topic_config, is_new

    async def _enter(self, topic_config: TopicConfig, threads: Threads) -> None:
        """Under the lock: table, then version, then file."""
        self.topic_config_table.put(topic_config.topic_name, topic_config)
        await threads.interleave("createTopic: before nextVersion")
        self._next_version_and_persist()

    def update_topic_config(self, topic_config: TopicConfig) -> None:
        """TopicConfigManager#updateTopicConfig, without the lock."""
        self.topic_config_table.put(topic_config.topic_name, topic_config)
        self._next_version_and_persist()

    def delete_topic_config(self, topic: str) -> None:
        """TopicConfigManager#deleteTopicConfig, without the lock; name servers are not told."""
        if self.topic_config_table.remove(topic) is not None:
            self._next_version_and_persist()

    def update_topic_unit_flag(self, topic: str, *, unit: bool) -> bool:
        """TopicConfigManager#updateTopicUnitFlag: whether the topic exists; the caller then registers the broker."""
        return self._update_flag(topic, FLAG_UNIT, set_flag if unit else clear_flag)

    def update_topic_unit_sub_flag(self, topic: str, *, has_unit_sub: bool) -> bool:
        """TopicConfigManager#updateTopicUnitSubFlag: as update_topic_unit_flag."""
        return self._update_flag(topic, FLAG_UNIT_SUB, set_flag if has_unit_sub else clear_flag)

    def _update_flag(self, topic: str, flag: int, change: Callable[[int, int], int]) -> bool:
        topic_config = self.topic_config_table.get(topic)
        if topic_config is None:
            return False
        topic_config.topic_sys_flag = change(topic_config.topic_sys_flag, flag)
        self._next_version_and_persist()
        return True

    def update_order_topic_config(self, order_topics: Collection[str] | Mapping[str, str] | None) -> None:
        """TopicConfigManager#updateOrderTopicConfig: exactly the named topics are ordered; None changes nothing.

        order_topics -- the keys of the ORDER_TOPIC_CONFIG table of the name server that answered first.
        """
        if order_topics is None:
            return
        wrong = [
            config for topic, config in self.topic_config_table.entries() if config.order != (topic in order_topics)
        ]
        for topic_config in wrong:
            topic_config.order = not topic_config.order
        if wrong:
            self._next_version_and_persist()

    def is_order_topic(self, topic: str) -> bool:
        """TopicConfigManager#isOrderTopic."""
        topic_config = self.topic_config_table.get(topic)
        return topic_config is not None and topic_config.order

    def build_topic_config_serialize_wrapper(self) -> TopicConfigSerializeWrapper:
        """TopicConfigManager#buildTopicConfigSerializeWrapper: table and version as they will be when it is encoded."""
        return TopicConfigSerializeWrapper(_LiveTable(self.topic_config_table), self.data_version)

    def _next_version_and_persist(self) -> None:
        self.data_version.next_version(self.now_ms())
        self.persist()


class _LiveTable(Mapping[str, TopicConfig]):
    """A table as it is at each look."""

    def __init__(self, table: ConcurrentHashMap[str, TopicConfig]) -> None:
        """Look at this one."""
        self._table = table

    def __getitem__(self, topic: str) -> TopicConfig:
        """The configuration of a topic."""
        found = self._table.get(topic)
        if found is None:
            raise KeyError(topic)
        return found

    def __iter__(self) -> Iterator[str]:
        """The topics, in Java's order."""
        return iter(self._table.key_set())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._table)
