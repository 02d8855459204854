"""Seeded bugs that lose nothing at once: what is not cleared away, not renewed, or done far too often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.slave_synchronize import SlaveSynchronize
from impl.broker.topic_config_manager import TopicConfigManager
from impl.client.client_remoting_processor import ClientRemotingProcessor
from impl.client.mq_client_instance import MQClientInstance
from impl.client.process_queue import ProcessQueue
from impl.client.pull_callback import PullCallback
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.heartbeat_data import HeartbeatData
from impl.common.topic_config import TopicConfig
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.subscription import SubscriptionData
from impl.namesrv.server import BrokerHousekeepingService
from impl.ports.remoting import Command, Connection
from impl.ports.threads import Interleave, Threads
from impl.variants.variant import Variant, around, replace


@around(ConsumerGroupInfo, "update_subscription")
def _always_changed(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def update_subscription(
        self: ConsumerGroupInfo, sub_list: Sequence[SubscriptionData], threads: Interleave,
    ) -> bool:
        await original(self, sub_list, threads)
        return True

    return update_subscription


@replace(TopicConfigManager, "create_topic_in_send_message_back")
async def _make_none(
    self: TopicConfigManager, topic: str, queue_nums: int, perm: int, topic_sys_flag: int, threads: Threads,
) -> tuple[TopicConfig | None, bool]:
    del self, topic, queue_nums, perm, topic_sys_flag, threads
    return None, False


@around(TopicConfigManager, "create_topic_in_send_message_back")
def _make_as_others(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def create_topic_in_send_message_back(
        self: TopicConfigManager, topic: str, queue_nums: int, perm: int, topic_sys_flag: int, threads: Threads,
    ) -> Any:
        """A retry topic has as many queues as any other topic that is made."""
        nums = self.config.default_topic_queue_nums if topic.startswith(RETRY_GROUP_TOPIC_PREFIX) else queue_nums
        return await original(self, topic, nums, perm, topic_sys_flag, threads)

    return create_topic_in_send_message_back


@replace(BrokerHousekeepingService, "on_channel_close")
async def _do_not_care(self: BrokerHousekeepingService, remote_addr: str, channel: Connection) -> None:
    del self, remote_addr, channel


@replace(PullCallback, "_offset_illegal")
def _end_the_chain(self: PullCallback) -> None:
    del self


@replace(RebalancePushImpl, "_unlock_delay")
async def _unlock_nothing(self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue) -> None:
    del self, mq, pq


@replace(ClientRemotingProcessor, "notify_consumer_ids_changed")
def _wait_for_the_timer(self: ClientRemotingProcessor, channel: Connection, request: Command) -> None:
    del self, channel, request


@replace(DefaultMQPushConsumerImpl, "resume")
async def _go_on_later(self: DefaultMQPushConsumerImpl) -> None:
    self.pause = False


@around(MQClientInstance, "_prepare_heartbeat_data")
def _leave_the_suspended_out(
    original: Callable[[MQClientInstance], HeartbeatData],
) -> Callable[[MQClientInstance], HeartbeatData]:
    def prepare_heartbeat_data(self: MQClientInstance) -> HeartbeatData:
        data, pushed = original(self), map(self.push_consumer, self.consumer_table.key_set())
        at_rest = {one.group for one in pushed if one is not None and one.pause}
        consumers = [one for one in data.consumer_data_set if one.group_name not in at_rest]
        return HeartbeatData(data.client_id, data.producer_data_set, consumers)

    return prepare_heartbeat_data


@replace(RebalancePushImpl, "destroy")
def _drop_nothing(self: RebalancePushImpl) -> None:
    del self


@replace(SlaveSynchronize, "sync_topic_config")
async def _copy_topics_into_memory(self: SlaveSynchronize, master_addr: str) -> None:
    wrapper = await self.broker_outer_api.get_all_topic_config(master_addr)
    manager, copied = self.tables.topic_config_manager, wrapper.topic_config_table or {}
    if manager.data_version == wrapper.data_version:
        return
    manager.data_version.assign_new_one(wrapper.data_version)
    for topic in manager.topic_config_table.key_set():
        manager.topic_config_table.remove(topic)
    for topic, config in copied.items():
        manager.topic_config_table.put(topic, config)


@replace(SlaveSynchronize, "sync_subscription_group_config")
async def _copy_no_groups(self: SlaveSynchronize, master_addr: str) -> None:
    del self, master_addr


BUGS = (
    Variant(
        "seeded-every-heartbeat-notifies", "bug", "All members are told to rebalance at each heartbeat of one.",
        "seeded: a result that is always true", replacements=(_always_changed,),
        over=("update_in_one_step", "put_in_one_step"),
    ),
    Variant(
        "seeded-retry-topic-is-not-made", "bug", "A heartbeat does not create the retry topic of its group.",
        "seeded: a call that was dropped", replacements=(_make_none,), over=("heartbeat_waits_for_its_topic",),
    ),
    Variant(
        "seeded-retry-topics-are-like-others", "bug", "A retry topic has 8 queues, whatever its group is to have.",
        "seeded: a default for a configured value", replacements=(_make_as_others,),
    ),
    Variant(
        "seeded-slave-writes-no-topics", "bug", "A slave that starts again has no topic that it has copied.",
        "seeded: a call that was dropped", replacements=(_copy_topics_into_memory,),
    ),
    Variant(
        "seeded-closed-brokers-stay", "bug", "A broker whose connection has ended stays until it expires.",
        "seeded: a listener that was not registered", replacements=(_do_not_care,),
    ),
    Variant(
        "seeded-moved-pull-is-the-last", "bug", "A queue whose offset is illegal is not pulled any more.",
        "seeded: a status that nobody handles", replacements=(_end_the_chain,),
    ),
    Variant(
        "seeded-given-up-stays-locked", "bug", "Who gives a queue up in a rebalance keeps its lock.",
        "seeded: a call that was dropped", replacements=(_unlock_nothing,), over=("unlock_unless_wanted",),
    ),
    Variant(
        "seeded-notification-is-ignored", "bug", "A client that is told of a change waits for its next rebalance.",
        "seeded: a request that nobody handles", replacements=(_wait_for_the_timer,),
    ),
    Variant(
        "seeded-resume-waits", "bug", "A consumer that is resumed waits for its next rebalance.",
        "seeded: a call that was dropped", replacements=(_go_on_later,),
    ),
    Variant(
        "seeded-suspended-are-not-in-heartbeats", "bug", "A client leaves its suspended consumers out of heartbeats.",
        "seeded: a condition too many", replacements=(_leave_the_suspended_out,),
    ),
    Variant(
        "seeded-shutdown-drops-nothing", "bug", "A consumer that shuts down keeps its queues.",
        "seeded: a call that was dropped", replacements=(_drop_nothing,),
    ),
    Variant(
        "seeded-slave-copies-no-groups", "bug", "A slave does not copy the subscription groups of its master.",
        "seeded: a call that was dropped", replacements=(_copy_no_groups,),
    ),
)
