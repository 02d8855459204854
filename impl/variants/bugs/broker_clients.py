"""Planted bugs of a broker's client tables (group BC of known bugs)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.message_queue import MessageQueue
from impl.ports.remoting import Channel
from impl.ports.threads import Threads
from impl.variants.variant import Variant, around, replace


@replace(RebalancePushImpl, "message_queue_changed")
async def _keep_the_version(
    self: RebalancePushImpl, topic: str, mq_all: Collection[MessageQueue], mq_divided: Collection[MessageQueue],
    threads: Threads,
) -> None:
    """The subscription keeps the version of its making; the heartbeat is sent."""
    del topic, mq_all, mq_divided
    await threads.interleave("messageQueueChanged: before the heartbeat")
    await self.instance.send_heartbeat_to_all_broker_with_lock()


@replace(ConsumerManager, "query_topic_consume_by_who")
def _answer_the_topic(self: ConsumerManager, topic: str) -> list[str]:
    """The topic itself, once for each group."""
    return [topic for _, info in self.consumer_table.entries() if info.subscription_table.contains_key(topic)]


@around(ConsumerGroupInfo, "update_channel")
def _know_the_first_connection(
    original: Callable[[ConsumerGroupInfo, ClientChannelInfo, ConsumerData], bool],
) -> Callable[..., bool]:
    def update_channel(self: ConsumerGroupInfo, info_new: ClientChannelInfo, consumer_data: ConsumerData) -> bool:
        """Note the first connection of a client; with a later one it is taken for known."""
        first: dict[str | None, Channel] = vars(self).setdefault("first", {})
        first.setdefault(info_new.client_id, info_new.channel)
        return original(self, info_new, consumer_data)

    return update_channel


@around(ConsumerGroupInfo, "do_channel_close_event")
def _close_known_connections(original: Callable[[ConsumerGroupInfo, Channel], bool]) -> Callable[..., bool]:
    def do_channel_close_event(self: ConsumerGroupInfo, channel: Channel) -> bool:
        """Only what was noted is cleaned up."""
        return channel in vars(self).get("first", {}).values() and original(self, channel)

    return do_channel_close_event


BUGS = (
    Variant(
        "bc-sub-overwrite-flipflop", "bug", "Members with different topics overwrite each other's subscriptions.",
        "alibaba/rocketmq #46, apache/rocketmq #443, #2073: 4.x as shipped", undoes=("one_set_of_topics",),
    ),
    Variant(
        "bc-subversion-not-bumped", "bug", "A rebalance that changes queues leaves the subscription's version alone.",
        "ROCKETMQ-175, commit 8280388917", replacements=(_keep_the_version,),
    ),
    Variant(
        "bc-topic-group-index-value", "bug", "Who consumes a topic is answered with the topic.",
        "apache/rocketmq #9352, #9443", replacements=(_answer_the_topic,),
    ),
    Variant(
        "bc-fast-close-misses-short-heartbeat", "bug",
        "A member that has come back on another connection is not removed when that one closes.",
        "apache/rocketmq #11039", replacements=(_know_the_first_connection, _close_known_connections),
    ),
    Variant(
        "bc-same-client-id", "bug", "Processes with the same address and instance name have one client id.",
        "apache/rocketmq #667, #1547, #2760, #3480", undoes=("client_id_names_the_process",),
    ),
    Variant(
        "bc-reconnect-listed-twice", "bug", "A client that came back is listed twice until its old connection goes.",
        "4.9.3 as shipped", undoes=("newest_connection_counts",),
    ),
    Variant(
        "bc-unsubscribed-still-member", "bug", "A member that does not subscribe a topic is given queues of it.",
        "apache/rocketmq #2737: 4.x as shipped", undoes=("one_set_of_topics",),
    ),
)
