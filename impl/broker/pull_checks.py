"""PullMessageProcessor#processRequest, its first half: whether a pull may read, and what it is for."""

from __future__ import annotations

from typing import NamedTuple

from impl.broker.consumer_filter_manager import ConsumerFilterData, built_filter_data
from impl.broker.expression_message_filter import ExpressionForRetryMessageFilter, ExpressionMessageFilter
from impl.broker.refusal import Refusal
from impl.broker.tables import BrokerTables
from impl.common.faq_url import SUGGEST_TODO
from impl.common.headers import PullMessageRequestHeader
from impl.common.heartbeat_data import BROADCASTING
from impl.common.request_code import ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.flags import FLAG_SUBSCRIPTION, FLAG_SUSPEND, PERM_READ, has_flag
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.subscription import SubscriptionData, build, is_tag_type
from impl.ports.remoting import Connection

_Filter = tuple[SubscriptionData, ConsumerFilterData | None]


class LegalPull(NamedTuple):
    """A pull that has passed all checks."""

    group: SubscriptionGroupConfig
    message_filter: ExpressionMessageFilter


class PullChecks:
    """The checks of PullMessageProcessor#processRequest, in their order. The role of the broker is none of them."""

    def __init__(self, tables: BrokerTables) -> None:
        """Look into these tables."""
        self.tables = tables

    def check(self, channel: Connection, header: PullMessageRequestHeader) -> LegalPull:
        """What the group may do, and what it reads; raises Refusal."""
        tables, name = self.tables, header.consumer_group
        if not has_flag(tables.config.broker_permission, PERM_READ):
            raise Refusal(ResponseCode.NO_PERMISSION, f"the broker[{tables.node.name}] pulling message is forbidden")
        group = tables.subscription_group_manager.find_subscription_group_config(name)
        if group is None:
            remark = f"subscription group [{name}] does not exist, {SUGGEST_TODO}"
            raise Refusal(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
        if not group.consume_enable:
            raise Refusal(ResponseCode.NO_PERMISSION, f"subscription group no permission, {name}")
        sys_flag = not_null(header.sys_flag)
        if has_flag(sys_flag, FLAG_SUSPEND):
            not_null(header.suspend_timeout_ms)  # as Java does, before it looks at the topic
        self._check_topic(channel, header)
        sent = has_flag(sys_flag, FLAG_SUBSCRIPTION)
        subscription, filter_data = _sent_subscription(header) if sent else self._stored_subscription(header, group)
        by_tag = is_tag_type(subscription.expression_type)
        if not by_tag and not tables.config.enable_property_filter:
            kind = subscription.expression_type
            remark = f"The broker does not support consumer to filter message by {kind}"
            raise Refusal(ResponseCode.SYSTEM_ERROR, remark)
        retry_too = tables.config.filter_support_retry
        filter_class = ExpressionForRetryMessageFilter if retry_too else ExpressionMessageFilter
        return LegalPull(group, filter_class(subscription, filter_data, tables.consumer_filter_manager))

    def _check_topic(self, channel: Connection, header: PullMessageRequestHeader) -> None:
        topic_config = self.tables.topic_config_manager.select_topic_config(header.topic)
        if topic_config is None:
            remark = f"topic[{header.topic}] not exist, apply first please! {SUGGEST_TODO}"
            raise Refusal(ResponseCode.TOPIC_NOT_EXIST, remark)
        if not has_flag(topic_config.perm, PERM_READ):
            raise Refusal(ResponseCode.NO_PERMISSION, f"the topic[{header.topic}] pulling message is forbidden")
        if not 0 <= not_null(header.queue_id) < topic_config.read_queue_nums:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"queueId[{header.queue_id}] is illegal, topic:[{header.topic}] "
                          f"topicConfig.readQueueNums:[{topic_config.read_queue_nums}] "
                          f"consumer:[/{channel.remote_address}]")

    def _stored_subscription(self, header: PullMessageRequestHeader, group: SubscriptionGroupConfig) -> _Filter:
        """What the group's members have said in heartbeats; raises Refusal."""
        info = self.tables.consumer_manager.get_consumer_group_info(header.consumer_group)
        if info is None:
            remark = f"the consumer's group info not exist{SUGGEST_TODO}"
            raise Refusal(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark)
        if not group.consume_broadcast_enable and info.message_model == BROADCASTING:
            remark = f"the consumer group[{header.consumer_group}] can not consume by broadcast way"
            raise Refusal(ResponseCode.NO_PERMISSION, remark)
        subscription = info.find_subscription_data(header.topic)
        if subscription is None:
            remark = f"the consumer's subscription not exist{SUGGEST_TODO}"
            raise Refusal(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark)
        if subscription.sub_version < header.sub_version:
            raise Refusal(ResponseCode.SUBSCRIPTION_NOT_LATEST, "the consumer's subscription not latest")
        if is_tag_type(subscription.expression_type):
            return subscription, None
        return subscription, self._stored_filter_data(header)

    def _stored_filter_data(self, header: PullMessageRequestHeader) -> ConsumerFilterData:
        """What a heartbeat's expression was compiled to, also of a group without members; raises Refusal."""
        filter_data = self.tables.consumer_filter_manager.get(header.topic, header.consumer_group)
        if filter_data is None:
            remark = "The broker's consumer filter data is not exist!Your expression may be wrong!"
            raise Refusal(ResponseCode.FILTER_DATA_NOT_EXIST, remark)
        if filter_data.client_version < header.sub_version:
            raise Refusal(ResponseCode.FILTER_DATA_NOT_LATEST, "the consumer's consumer filter data not latest")
        return filter_data


def _sent_subscription(header: PullMessageRequestHeader) -> _Filter:
    """What the request says itself; raises Refusal.

    An expression that does not compile leaves no filter data, which only an assertion of Java forbids: it matches all.
    """
    try:
        subscription = build(header.topic, header.subscription, header.expression_type)
    except JavaError as error:
        remark = "parse the consumer's subscription failed"
        raise Refusal(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark) from error
    if is_tag_type(subscription.expression_type):
        return subscription, None
    return subscription, built_filter_data(header.consumer_group, subscription, header.sub_version)
