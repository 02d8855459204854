"""Planted bugs of what brokers are to keep: the groups of a slave, their version, replies, and dead letters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import replace as copy_of

from impl.broker.abstract_send_message_processor import AbstractSendMessageProcessor
from impl.broker.reply_message_processor import ReplyMessageProcessor
from impl.broker.slave_synchronize import SlaveSynchronize
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.names import DLQ_GROUP_TOPIC_PREFIX
from impl.ports.remoting import Command, Connection
from impl.variants.variant import around, replace, seeded

Answer = Callable[[ReplyMessageProcessor, Connection, Command], Awaitable[Command]]
Find = Callable[[SubscriptionGroupManager, str], SubscriptionGroupConfig | None]


@replace(SlaveSynchronize, "sync_subscription_group_config")
async def _copy_groups_into_memory(self: SlaveSynchronize, master_addr: str) -> None:
    """The table is filled, and the file stays as it is."""
    wrapper = await self.broker_outer_api.get_all_subscription_group_config(master_addr)
    manager = self.tables.subscription_group_manager
    if manager.data_version == wrapper.data_version:
        return
    manager.data_version.assign_new_one(wrapper.data_version)
    for group in manager.subscription_group_table.key_set():
        manager.subscription_group_table.remove(group)
    for group, config in wrapper.subscription_group_table.items():
        manager.subscription_group_table.put(group, config)


@around(SubscriptionGroupManager, "find_subscription_group_config")
def _count_no_made_group(original: Find) -> Find:
    def find_subscription_group_config(self: SubscriptionGroupManager, group: str) -> SubscriptionGroupConfig | None:
        """The version stays when a group is made."""
        before = self.data_version.copy()
        config = original(self, group)
        self.data_version.assign_new_one(before)
        return config

    return find_subscription_group_config


@around(ReplyMessageProcessor, "process_request")
def _push_only(original: Answer) -> Answer:
    async def process_request(self: ReplyMessageProcessor, channel: Connection, request: Command) -> Command:
        """Nothing is stored, as if storeReplyMessageEnable were off."""
        other = copy(self)
        other.tables = copy(self.tables)
        other.tables.config = copy_of(self.tables.config, store_reply_message_enable=False)
        return await original(other, channel, request)

    return process_request


@replace(AbstractSendMessageProcessor, "topic_for_send_back")
async def _write_dead_letters_only(
    self: AbstractSendMessageProcessor, topic: str, queue_nums: int, topic_sys_flag: int = 0,
) -> TopicConfig | None:
    """Retry topics are made to be read, too."""
    perm = PERM_WRITE if topic.startswith(DLQ_GROUP_TOPIC_PREFIX) else PERM_WRITE | PERM_READ
    topic_config, is_new = await self.tables.topic_config_manager.create_topic_in_send_message_back(
        topic, queue_nums, perm, topic_sys_flag, self.node)
    if is_new:
        await self._announce()
    return topic_config


BUGS = (
    seeded("seeded: persist forgotten in SlaveSynchronize#syncSubscriptionGroupConfig", "slave-writes-no-groups",
           "A slave that starts again has no group that it has copied.", _copy_groups_into_memory),
    seeded("seeded: nextVersion forgotten in SubscriptionGroupManager#findSubscriptionGroupConfig",
           "made-groups-count-nothing", "A group that a heartbeat makes is copied by no slave.", _count_no_made_group),
    seeded("seeded: storeReplyMessageEnable is not read in ReplyMessageProcessor#processReplyMessageRequest",
           "replies-are-pushed-only", "A reply is given to who waits for it, and nobody finds it later.", _push_only),
    seeded("as apache/rocketmq before 4.9.2: SendMessageProcessor made the topic with PERM_WRITE",
           "dead-letters-are-written-only", "Nobody can read the dead letters of a group.", _write_dead_letters_only),
)
