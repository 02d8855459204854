"""SlaveSynchronize: what a slave copies from its master, apart from messages.

Left out: the fast port by which Java asks for the topics.
"""

from __future__ import annotations

from impl.broker.broker_outer_api import BrokerOuterAPI
from impl.broker.tables import BrokerTables
from impl.common.config_manager import persist
from impl.decisions.java_errors import JavaError
from impl.hash_map import ConcurrentHashMap

DELAY_OFFSET_PATH = "store/config/delayOffset.json"
INITIAL_DELAY_MS, PERIOD_MS = 3_000, 10_000  # BrokerController#handleSlaveSynchronize


class SlaveSynchronize:
    """`broker.slave.SlaveSynchronize`, in the one thread of the broker's timers.

    Whose slave it is, the name server that answered the last registration first has said; nobody, if that one did not
    know of a master (N-19).

    master_addr -- whom the broker copies from; None: nobody, and always so of a master.
    """

    def __init__(self, tables: BrokerTables, broker_outer_api: BrokerOuterAPI, broker_addr: str) -> None:
        """Write into these tables of the broker at broker_addr."""
        self.tables, self.broker_outer_api, self.broker_addr = tables, broker_outer_api, broker_addr
        self.node = tables.node
        self.master_addr: str | None = None

    async def sync_all(self) -> None:
        """SlaveSynchronize#syncAll: each part asks anew who the master is, and logs what goes wrong with it."""
        for sync in (self.sync_topic_config, self.sync_consumer_offset, self.sync_delay_offset,
                     self.sync_subscription_group_config):
            master_addr = self.master_addr
            if master_addr is None or master_addr == self.broker_addr:
                continue
            try:
                await sync(master_addr)
            except JavaError:
                continue

    async def sync_topic_config(self, master_addr: str) -> None:
        """SlaveSynchronize#syncTopicConfig: version first, then the table is cleared and filled again."""
        wrapper = await self.broker_outer_api.get_all_topic_config(master_addr)
        manager = self.tables.topic_config_manager
        if manager.data_version == wrapper.data_version:
            return
        manager.data_version.assign_new_one(wrapper.data_version)
        await self.node.interleave("syncTopicConfig: before the table is cleared")
        for topic in manager.topic_config_table.key_set():
            manager.topic_config_table.remove(topic)
        await self.node.interleave("syncTopicConfig: the table is empty")
        for topic, config in (wrapper.topic_config_table or {}).items():
            manager.topic_config_table.put(topic, config)
        self.tables.persist_topics()

    async def sync_consumer_offset(self, master_addr: str) -> None:
        """SlaveSynchronize#syncConsumerOffset: whole maps of a topic and group, whatever was committed here."""
        offset_table = await self.broker_outer_api.get_all_consumer_offset(master_addr)
        for key, offsets in offset_table.items():
            self.tables.consumer_offset_manager.offset_table.put(key, ConcurrentHashMap(entries=offsets.items()))
        self.tables.persist_consumer_offset()

    async def sync_delay_offset(self, master_addr: str) -> None:
        """SlaveSynchronize#syncDelayOffset: the text goes into the file; the table of this broker stays as it is."""
        text = await self.broker_outer_api.get_all_delay_offset(master_addr)
        persist(self.node.disk, DELAY_OFFSET_PATH, text)

    async def sync_subscription_group_config(self, master_addr: str) -> None:
        """SlaveSynchronize#syncSubscriptionGroupConfig: as the topics."""
        wrapper = await self.broker_outer_api.get_all_subscription_group_config(master_addr)
        manager = self.tables.subscription_group_manager
        if manager.data_version == wrapper.data_version:
            return
        manager.data_version.assign_new_one(wrapper.data_version)
        await self.node.interleave("syncSubscriptionGroupConfig: before the table is cleared")
        for group in manager.subscription_group_table.key_set():
            manager.subscription_group_table.remove(group)
        await self.node.interleave("syncSubscriptionGroupConfig: the table is empty")
        for group, config in wrapper.subscription_group_table.items():
            manager.subscription_group_table.put(group, config)
        self.tables.persist_groups()
