"""Repairs of what a broker keeps beside its lists of members: filters, topics, producers, offsets of groups."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from impl.broker.admin_broker_processor import AdminBrokerProcessor
from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.consumer_offset_manager import TOPIC_GROUP_SEPARATOR, ConsumerOffsetManager
from impl.broker.producer_manager import ProducerManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.headers import TopicRequestHeader
from impl.common.heartbeat_data import ConsumerData
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import not_null
from impl.decisions.java_text import split
from impl.decisions.names import is_system_topic, validate_topic
from impl.hash_map import HashMap
from impl.ports.remoting import Command, Connection
from impl.ports.threads import UNINTERRUPTED, Interleave, Threads
from impl.store.store_tables import StoreTables
from impl.variants.variant import Variant, around, replace

_Deletion = Callable[[AdminBrokerProcessor, Connection, Command], Awaitable[Command]]


@replace(ConsumerManager, "register_consumer")
async def _compile_before_change(
    self: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *, notify: bool,
    threads: Interleave,
) -> bool:
    """REGISTER comes before CHANGE, in one step with the topics.

    The thread may stand still as often as without the repair, so that a tape means the same.
    """
    group, sub_list = consumer_data.group_name, consumer_data.subscription_data_set
    info = self.get_or_create_group(consumer_data)
    await threads.interleave("registerConsumer: before updateChannel")
    r1 = info.update_channel(client_channel_info, consumer_data)
    await threads.interleave("registerConsumer: before updateSubscription")
    r2 = await info.update_subscription(sub_list, threads)
    await self.listener.register(group, sub_list, UNINTERRUPTED)
    await threads.interleave("registerConsumer: before CHANGE")
    if (r1 or r2) and notify:
        await self.listener.change(group, info.get_all_channel(), threads)
    await threads.interleave("registerConsumer: before REGISTER")
    for _ in sub_list:
        await threads.interleave("ConsumerFilterManager#register: after a topic")
    return r1 or r2


@around(TopicConfigManager, "create_topic_in_send_message_back")
def _wait_for_the_topic(
    original: Callable[..., Awaitable[tuple[TopicConfig | None, bool]]],
) -> Callable[..., Awaitable[tuple[TopicConfig | None, bool]]]:
    async def create_topic_in_send_message_back(
        self: TopicConfigManager, topic: str, queue_nums: int, perm: int, topic_sys_flag: int, threads: Threads,
    ) -> tuple[TopicConfig | None, bool]:
        """Who does not get the lock in 3 s tries again."""
        while True:
            topic_config, is_new = await original(self, topic, queue_nums, perm, topic_sys_flag, threads)
            if topic_config is not None:
                return topic_config, is_new

    return create_topic_in_send_message_back


@replace(ProducerManager, "_remove_reply_channel")
def _remove_own_connection(self: ProducerManager, client_channel_info: ClientChannelInfo) -> None:
    """Replies go on finding another connection of the client."""
    client_id = not_null(client_channel_info.client_id)
    if self.client_channel_table.get(client_id) is client_channel_info.channel:
        self.client_channel_table.remove(client_id)


@around(ProducerManager, "register_producer")
def _reply_to_who_speaks(original: Callable[[ProducerManager, str, ClientChannelInfo], None]) -> Callable[..., None]:
    def register_producer(self: ProducerManager, group: str, client_channel_info: ClientChannelInfo) -> None:
        """A heartbeat on a known connection makes it the one for replies where there is none."""
        original(self, group, client_channel_info)
        self.client_channel_table.put_if_absent(not_null(client_channel_info.client_id), client_channel_info.channel)

    return register_producer


@replace(ConsumerOffsetManager, "query_min_offset_in_all_group")
def _leave_groups_out(self: ConsumerOffsetManager, topic: str, filter_groups: str | None) -> dict[int, int]:
    """The offsets of the groups are passed over, and stay."""
    left_out = [] if filter_groups is None else split(filter_groups, ",")
    least: HashMap[int, int] = HashMap()
    for key, offsets in self.offset_table.entries():
        of_topic, _, group = key.partition(TOPIC_GROUP_SEPARATOR)
        for queue_id, offset in offsets.entries() if of_topic == topic and group not in left_out else ():
            if offset >= self.min_offset_in_queue(topic, queue_id):
                least.put(queue_id, min(offset, least.get(queue_id, offset)))
    return dict(least.entries())


@around(AdminBrokerProcessor, "delete_topic")
def _keep_other_queues(original: _Deletion) -> _Deletion:
    async def delete_topic(self: AdminBrokerProcessor, channel: Connection, request: Command) -> Command:
        """Of the queues only those of the topic go."""
        header: TopicRequestHeader = request.header
        if not validate_topic(header.topic)[0] or is_system_topic(header.topic):
            return await original(self, channel, request)
        await self.node.lock(self.monitor)
        self.topic_config_manager.delete_topic_config(header.topic)
        queues = cast("StoreTables", self.message_store).consume_queue_table
        self.message_store.clean_unused_topic({*queues.key_set()} - {header.topic})
        self.node.unlock(self.monitor)
        return Command(ResponseCode.SUCCESS)

    return delete_topic


REPAIRS = (
    Variant(
        "compile_before_change", "repair", "A filter is compiled before the members are told of its subscription.",
        "the idea: ConsumerManager#registerConsumer handles REGISTER before CHANGE", ("B-14",),
        (_compile_before_change,),
    ),
    Variant(
        "heartbeat_waits_for_its_topic", "repair", "A heartbeat waits for the lock of the topics as long as it takes.",
        "the idea: lock instead of tryLock in TopicConfigManager#createTopicInSendMessageBackMethod", ("B-25",),
        (_wait_for_the_topic,),
    ),
    Variant(
        "reply_to_the_living", "repair", "The end of a connection takes away no other one from replies.",
        "the idea: ConcurrentHashMap#remove(key, value) in ProducerManager#doChannelCloseEvent", ("B-23",),
        (_remove_own_connection, _reply_to_who_speaks),
    ),
    Variant(
        "query_deletes_nothing", "repair", "A query leaves groups out of its answer, and not out of the table.",
        "the idea: a look at each key in ConsumerOffsetManager#queryMinOffsetInAllGroup", ("B-20",),
        (_leave_groups_out,),
    ),
    Variant(
        "delete_own_queues", "repair", "The deletion of a topic takes its own queues only.",
        "apache/rocketmq #5823, #5824: MessageStore#deleteTopics", ("V41",), (_keep_other_queues,),
    ),
)
