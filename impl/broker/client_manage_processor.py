"""ClientManageProcessor: heartbeats, goodbyes, and the check of a subscription."""

from __future__ import annotations

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_filter_manager import compile_expression
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.producer_manager import ProducerManager
from impl.broker.registration import Registration
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.headers import CheckClientRequestBody, UnregisterClientRequestHeader
from impl.common.heartbeat_data import ConsumerData, HeartbeatData
from impl.common.request_code import ResponseCode
from impl.decisions.flags import PERM_READ, PERM_WRITE, build_topic_sys_flag
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.names import get_retry_topic
from impl.decisions.subscription import is_tag_type
from impl.events import RetryTopicAnnounced
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection


class ClientManageProcessor:
    """`broker.processor.ClientManageProcessor`.

    Heartbeats run in heartbeatExecutor, everything else in clientManageExecutor, so nothing orders a heartbeat and the
    UNREGISTER_CLIENT that follows it on the same connection (B-9). No lock is held across the groups of a heartbeat.
    """

    def __init__(
        self, node: Node, consumer_manager: ConsumerManager, producer_manager: ProducerManager,
        subscription_group_manager: SubscriptionGroupManager, topic_config_manager: TopicConfigManager,
        registration: Registration, *, enable_property_filter: bool,
    ) -> None:
        """Work on these tables; enable_property_filter -- BrokerConfig.enablePropertyFilter."""
        self.node, self.consumer_manager, self.producer_manager = node, consumer_manager, producer_manager
        self.subscription_group_manager, self.topic_config_manager = subscription_group_manager, topic_config_manager
        self.registration, self.enable_property_filter = registration, enable_property_filter

    async def heart_beat(self, channel: Connection, request: Command) -> Command:
        """ClientManageProcessor#heartBeat: group by group; ONE ClientChannelInfo for all of them."""
        heartbeat_data: HeartbeatData = not_null(request.body)
        info = ClientChannelInfo(
            channel, heartbeat_data.client_id, request.language, request.version, self.node.now_ms(),
        )
        for data in heartbeat_data.consumer_data_set:
            notify = await self._prepare_group(data)
            await self.node.interleave("heartBeat: before registerConsumer")
            await self.consumer_manager.register_consumer(info, data, notify=notify, threads=self.node)
            await self.node.interleave("heartBeat: before the next group")
        for producer in heartbeat_data.producer_data_set:
            self.producer_manager.register_producer(producer.group_name, info)
        return Command(ResponseCode.SUCCESS)

    async def _prepare_group(self, data: ConsumerData) -> bool:
        """Configuration and retry topic of the group; whether members are to be notified."""
        config = self.subscription_group_manager.find_subscription_group_config(data.group_name)
        if config is None:
            return True
        topic_sys_flag = build_topic_sys_flag(unit=False, has_unit_sub=True) if data.unit_mode else 0
        _, is_new = await self.topic_config_manager.create_topic_in_send_message_back(
            get_retry_topic(data.group_name), config.retry_queue_nums, PERM_READ | PERM_WRITE, topic_sys_flag,
            self.node,
        )
        if is_new:
            await self.node.interleave("createTopicInSendMessageBackMethod: before registerBrokerAll")
            begin_ms = self.node.now_ms()
            await self._announce_topics()
            self.node.trace(RetryTopicAnnounced(self.node.name, data.group_name, self.node.now_ms() - begin_ms))
        return config.notify_consumer_ids_changed_enable

    async def _announce_topics(self) -> None:
        """One way; but the broker registers once at a time, and whoever does so now may wait for 6 s (N-22)."""
        await self.registration.register_broker_all(check_order_config=False, oneway=True, force_register=True)

    async def unregister_client(self, channel: Connection, request: Command) -> Command:
        """ClientManageProcessor#unregisterClient: it is the connection that leaves, whatever id the header has."""
        header: UnregisterClientRequestHeader = request.header
        info = ClientChannelInfo(channel, header.client_id, request.language, request.version, self.node.now_ms())
        if header.producer_group is not None:
            self.producer_manager.unregister_producer(header.producer_group, info)
        if header.consumer_group is not None:
            group = header.consumer_group
            config = self.subscription_group_manager.find_subscription_group_config(group)
            notify = config is None or config.notify_consumer_ids_changed_enable
            await self.node.interleave("unregisterClient: before unregisterConsumer")
            await self.consumer_manager.unregister_consumer(group, info, notify=notify, threads=self.node)
        return Command(ResponseCode.SUCCESS)

    def check_client_config(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """ClientManageProcessor#checkClientConfig: an expression that is not by tag must be allowed, and compile."""
        body: CheckClientRequestBody | None = request.body
        subscription = None if body is None else body.subscription_data
        if subscription is None or is_tag_type(subscription.expression_type):
            return Command(ResponseCode.SUCCESS)
        kind = subscription.expression_type
        if not self.enable_property_filter:
            remark = f"The broker does not support consumer to filter message by {kind}"
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        try:
            compile_expression(subscription.sub_string, kind)
        except JavaError as error:
            return Command(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark=error.message)
        return Command(ResponseCode.SUCCESS)
