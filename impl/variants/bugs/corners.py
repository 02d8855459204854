"""Seeded bugs that show where few worlds go: equal hash codes, queues that are not there, masters that stay away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.broker.abstract_send_message_processor import AbstractSendMessageProcessor
from impl.broker.admin_broker_processor import AdminBrokerProcessor
from impl.broker.pull_checks import PullChecks
from impl.client import message_queue_selectors, pull_api_wrapper, topic_publish_info
from impl.client.lite_pull_task import PullTask
from impl.client.process_queue import ProcessQueue
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.headers import PullMessageRequestHeader, SendMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_TAGS
from impl.common.pull_result import PullResult
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_arithmetic import string_hash
from impl.decisions.names import MASTER_ID, validate_topic
from impl.decisions.pull_answer import PullStatus
from impl.decisions.route_queues import BrokerData, PublishQueues, TopicRouteData
from impl.decisions.start_offset import Source
from impl.decisions.subscription import SUB_ALL, SubscriptionData, build_subscription_data
from impl.ports.remoting import Command, Connection
from impl.store import default_message_store, schedule_message_service
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.variants.variant import Variant, around, replace


@around(RebalancePushImpl, "_source")
def _like_any_topic(original: Callable[..., Source]) -> Callable[..., Source]:
    def _source(self: RebalancePushImpl, stored: int, *, retry_topic: bool) -> Source:
        """A retry topic is a topic."""
        del retry_topic
        return original(self, stored, retry_topic=False)

    return _source


@replace(pull_api_wrapper, "_is_subscribed")
def _by_its_hash(subscription_data: SubscriptionData, msg: MessageExt) -> bool:
    """Hash codes are compared once more, and no tags."""
    if not subscription_data.tags_set or subscription_data.class_filter_mode:
        return True
    return string_hash(msg.get_property(PROPERTY_TAGS) or "") in subscription_data.code_set


@replace(message_queue_selectors, "hash_position")
def _without_its_sign(hash_code: int, size: int) -> int:
    """The sign bit is masked before the remainder is taken."""
    return (hash_code & 0x7FFFFFFF) % size


@around(schedule_message_service, "message_timeup")
def _unflagged(original: Callable[[MessageExt], MessageExtBrokerInner]) -> Callable[..., MessageExtBrokerInner]:
    def message_timeup(message: MessageExt) -> MessageExtBrokerInner:
        """Nobody says any more that the body is compressed."""
        inner = original(message)
        inner.sys_flag = 0
        return inner

    return message_timeup


@replace(PullTask, "_subscription")
def _all_of_it(self: PullTask) -> SubscriptionData:
    """Whoever polls pulls all of a topic."""
    return build_subscription_data(self.message_queue.topic, SUB_ALL)


@around(PullTask, "_take")
def _ask_again(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _take(self: PullTask, pq: ProcessQueue, result: PullResult) -> None:
        """An offset that is illegal is asked for again."""
        if result.pull_status is not PullStatus.OFFSET_ILLEGAL:
            await original(self, pq, result)

    return _take


@around(AbstractSendMessageProcessor, "_msg_check")
def _one_queue_more(original: Callable[..., Awaitable[TopicConfig]]) -> Callable[..., Awaitable[TopicConfig]]:
    async def _msg_check(
        self: AbstractSendMessageProcessor, channel: Connection, header: SendMessageRequestHeader,
    ) -> TopicConfig:
        """Queues are counted from 1."""
        config = self.tables.topic_config_manager.select_topic_config(header.topic)
        if config is not None and header.queue_id == max(config.write_queue_nums, config.read_queue_nums) > 0:
            header = header._replace(queue_id=header.queue_id - 1)
        return await original(self, channel, header)

    return _msg_check


@around(PullChecks, "_check_topic")
def _one_queue_more_to_read(original: Callable[..., None]) -> Callable[..., None]:
    def _check_topic(self: PullChecks, channel: Connection, header: PullMessageRequestHeader) -> None:
        """Queues are counted from 1."""
        config = self.tables.topic_config_manager.select_topic_config(header.topic)
        if config is not None and header.queue_id == config.read_queue_nums > 0:
            header = header._replace(queue_id=header.queue_id - 1)
        original(self, channel, header)

    return _check_topic


@replace(AdminBrokerProcessor, "delete_topic")
async def _delete_any(self: AdminBrokerProcessor, channel: Connection, request: Command) -> Command:
    """No topic is RocketMQ's own."""
    del channel
    topic = request.header.topic
    legal, code, refusal = validate_topic(topic)
    if not legal:
        return Command(code, remark=refusal)
    await self.node.lock(self.monitor)
    self.topic_config_manager.delete_topic_config(topic)
    self.message_store.clean_unused_topic(self.topic_config_manager.topic_config_table.key_set())
    self.node.unlock(self.monitor)
    return Command(ResponseCode.SUCCESS)


@replace(default_message_store, "is_put_available")
def _take_it_anywhere(*, stopped: bool, slave: bool, writeable: bool) -> bool:
    """A slave is asked nothing of itself."""
    del slave
    return not stopped and writeable


@around(topic_publish_info, "topic_publish_queues")
def _with_or_without_master(original: Callable[..., PublishQueues]) -> Callable[..., PublishQueues]:
    def topic_publish_queues(topic: str, route: TopicRouteData) -> PublishQueues:
        """Where there is a slave there is a broker."""
        brokers = tuple(BrokerData(*one[:2], {MASTER_ID: "", **one.broker_addrs}) for one in route.broker_datas)
        return original(topic, route._replace(broker_datas=brokers))

    return topic_publish_queues


BUGS = (
    Variant("seeded-retries-begin-at-the-end", "bug", "A group that begins at the end skips its retries.",
            "the prefix forgotten in RebalancePushImpl#computePullFromWhereWithException",
            replacements=(_like_any_topic,)),
    Variant("seeded-equal-hashes-are-equal-tags", "bug", "A client compares the hash codes of tags, as brokers do.",
            "the filter of PullAPIWrapper#processPullResult by hash", replacements=(_by_its_hash,)),
    Variant("seeded-sign-is-masked", "bug", "A key whose hash code is below 0 has another queue than with Java.",
            "hashCode & Integer.MAX_VALUE for Math.abs in SelectMessageQueueByHash#select",
            replacements=(_without_its_sign,)),
    Variant("seeded-delay-unflags", "bug", "A delayed message loses its system flag, and its body stays compressed.",
            "setSysFlag forgotten in ScheduleMessageService#messageTimeup", replacements=(_unflagged,)),
    Variant("seeded-pollers-pull-all-tags", "bug", "Who polls is given messages of tags that he does not subscribe.",
            "SUB_ALL for all in DefaultLitePullConsumerImpl.PullTaskImpl#run", replacements=(_all_of_it,)),
    Variant("seeded-poller-asks-again", "bug", "Who polls asks for ever for what his broker has deleted.",
            "updatePullOffset forgotten for OFFSET_ILLEGAL in PullTaskImpl#run", replacements=(_ask_again,)),
    Variant("seeded-send-counts-queues-from-1", "bug", "A broker takes messages for the queue behind the last one.",
            "> for >= in AbstractSendMessageProcessor#msgCheck", replacements=(_one_queue_more,)),
    Variant("seeded-pull-counts-queues-from-1", "bug", "A broker answers pulls of the queue behind the last one.",
            "> for >= in PullMessageProcessor#processRequest", replacements=(_one_queue_more_to_read,)),
    Variant("seeded-system-topics-go", "bug", "A broker deletes a topic of the system when it is told to.",
            "isSystemTopic forgotten in AdminBrokerProcessor#deleteTopic", replacements=(_delete_any,)),
    Variant("seeded-slave-takes-messages", "bug", "A slave puts messages of producers into its log.",
            "the role forgotten in DefaultMessageStore#checkStoreStatus", replacements=(_take_it_anywhere,)),
    Variant("seeded-slaves-are-sent-to", "bug", "A producer chooses also from queues of brokers without a master.",
            "the address of the master forgotten in MQClientInstance#topicRouteData2TopicPublishInfo",
            replacements=(_with_or_without_master,)),
)
