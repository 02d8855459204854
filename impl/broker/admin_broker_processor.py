"""AdminBrokerProcessor: queue locks, the ends of queues, topics, offsets; every code that no other processor has.

adminBrokerExecutor has 16 threads: lock and unlock of one client may be handled in any order (B-22b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.broker.broker2client import Broker2Client
from impl.common.headers import (
    CreateTopicRequestHeader,
    DeleteSubscriptionGroupRequestHeader,
    GetConsumerStatusRequestHeader,
    LockBatchRequestBody,
    OffsetResponseHeader,
    QueryCorrectionOffsetHeader,
    QueueOffsetRequestHeader,
    ResetOffsetRequestHeader,
    SubscriptionGroupWrapper,
    TopicRequestHeader,
)
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.java_arithmetic import LONG_MAX
from impl.decisions.java_errors import JavaError, NullPointerError, not_null
from impl.decisions.names import is_system_topic, validate_topic
from impl.events import ConsumersOfTopicAnswered, GroupOffsetsRemoved, SubscriptionGroupDeleted
from impl.node_ports import Command, Connection, Handler, Node
from impl.ports import Lock

if TYPE_CHECKING:  # the controller makes its processors
    from impl.broker.controller import BrokerController

LANGUAGE_CODES = (  # LanguageCode; any other word is decoded to null
    "JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS",
)


class AdminBrokerProcessor:
    """`broker.processor.AdminBrokerProcessor`."""

    def __init__(self, controller: BrokerController) -> None:
        """Work on the tables of this broker."""
        self.controller = controller
        self.node: Node = controller.node
        self.monitor = Lock("AdminBrokerProcessor: synchronized updateAndCreateTopic, deleteTopic")
        self.broker2client = Broker2Client(controller)
        self.handlers: dict[int, Handler] = {
            RequestCode.LOCK_BATCH_MQ: self.lock_batch_mq,
            RequestCode.UNLOCK_BATCH_MQ: self.unlock_batch_mq,
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: self.search_offset_by_timestamp,
            RequestCode.GET_MAX_OFFSET: self.get_max_offset,
            RequestCode.GET_MIN_OFFSET: self.get_min_offset,
            RequestCode.UPDATE_AND_CREATE_TOPIC: self.update_and_create_topic,
            RequestCode.DELETE_TOPIC_IN_BROKER: self.delete_topic,
            RequestCode.DELETE_SUBSCRIPTIONGROUP: self.delete_subscription_group,
            RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: self.reset_offset,
            RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: self.get_consumer_status,
            RequestCode.QUERY_CORRECTION_OFFSET: self.query_correction_offset,
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: self.query_topic_consume_by_who,
            RequestCode.GET_ALL_TOPIC_CONFIG: self.get_all_topic_config,
            RequestCode.GET_ALL_CONSUMER_OFFSET: self.get_all_consumer_offset,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: self.get_all_subscription_group,
        }

    async def process_request(self, channel: Connection, request: Command) -> Command | None:
        """AdminBrokerProcessor#processRequest, the default processor of the broker."""
        handler = self.handlers.get(request.code)
        if handler is None:
            remark = f" request type {int(request.code)} not supported"
            return Command(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
        response = handler(channel, request)
        return response if response is None or isinstance(response, Command) else await response

    async def lock_batch_mq(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#lockBatchMQ: group, client and queues are believed."""
        body: LockBatchRequestBody = request.body
        await self.node.interleave("lockBatchMQ: before tryLockBatch")
        locked = await self.controller.rebalance_lock_manager.try_lock_batch(
            body.consumer_group, body.mq_set, body.client_id, self.node,
        )
        return Command(ResponseCode.SUCCESS, body=tuple(locked))

    async def unlock_batch_mq(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#unlockBatchMQ."""
        body: LockBatchRequestBody = request.body
        await self.node.interleave("unlockBatchMQ: before unlockBatch")
        self.controller.rebalance_lock_manager.unlock_batch(body.consumer_group, body.mq_set, body.client_id)
        return Command(ResponseCode.SUCCESS)

    def get_max_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getMaxOffset."""
        header: QueueOffsetRequestHeader = request.header
        offset = self.controller.message_store.get_max_offset_in_queue(header.topic, header.queue_id)
        return Command(ResponseCode.SUCCESS, header=OffsetResponseHeader(offset))

    def get_min_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getMinOffset."""
        header: QueueOffsetRequestHeader = request.header
        offset = self.controller.message_store.get_min_offset_in_queue(header.topic, header.queue_id)
        return Command(ResponseCode.SUCCESS, header=OffsetResponseHeader(offset))

    def search_offset_by_timestamp(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#searchOffsetByTimestamp."""
        header: QueueOffsetRequestHeader = request.header
        offset = self.controller.message_store.get_offset_in_queue_by_time(
            header.topic, header.queue_id, header.timestamp or 0,
        )
        return Command(ResponseCode.SUCCESS, header=OffsetResponseHeader(offset))

    async def update_and_create_topic(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # Handler
        """AdminBrokerProcessor#updateAndCreateTopic, synchronized: table, version, then the INCREMENT (N-2, N-3)."""
        header: CreateTopicRequestHeader = request.header
        legal, code, remark = validate_topic(header.topic)
        if not legal:
            return Command(code, remark=remark)
        if is_system_topic(header.topic):
            remark = f"The topic[{header.topic}] is conflict with system topic."
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        await self.node.lock(self.monitor)
        topic_config = TopicConfig(
            header.topic, header.read_queue_nums, header.write_queue_nums, header.perm, header.topic_filter_type,
            header.topic_sys_flag,
        )
        self.controller.topic_config_manager.update_topic_config(topic_config)
        await self.node.interleave("updateAndCreateTopic: before registerIncrementBrokerData")
        try:
            await self.controller.register_increment_broker_data(topic_config)
        except JavaError:
            self.node.unlock(self.monitor)
            raise
        self.node.unlock(self.monitor)
        return Command(ResponseCode.SUCCESS)

    async def delete_topic(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#deleteTopic, synchronized; name servers are not told."""
        header: TopicRequestHeader = request.header
        if is_system_topic(header.topic):
            remark = f"The topic[{header.topic}] is conflict with system topic."
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        await self.node.lock(self.monitor)
        self.controller.topic_config_manager.delete_topic_config(header.topic)
        self.node.unlock(self.monitor)
        return Command(ResponseCode.SUCCESS)

    async def delete_subscription_group(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # same
        """AdminBrokerProcessor#deleteSubscriptionGroup: members stay listed, and the next heartbeat makes it anew."""
        header: DeleteSubscriptionGroupRequestHeader = request.header
        self.controller.subscription_group_manager.delete_subscription_group_config(header.group_name)
        self.node.trace(SubscriptionGroupDeleted(self.node.name, header.group_name))
        if header.remove_offset:
            await self.node.interleave("deleteSubscriptionGroup: before its offsets are removed")
            self.controller.consumer_offset_manager.remove_offset(header.group_name)
            self.node.trace(GroupOffsetsRemoved(self.node.name, header.group_name))
        return Command(ResponseCode.SUCCESS)

    # Offsets of groups ------------------------------------------------------------------------------------------------

    async def reset_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#resetOffset: the language of the OPERATOR's tool decides what the clients are sent.

        Raises NullPointerError for a language that Java does not know.
        """
        header: ResetOffsetRequestHeader = request.header
        if request.language not in LANGUAGE_CODES:
            raise NullPointerError
        return await self.broker2client.reset_offset(header, is_c=request.language == "CPP")

    async def get_consumer_status(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getConsumerStatus."""
        header: GetConsumerStatusRequestHeader = request.header
        return await self.broker2client.get_consume_status(header)

    def query_correction_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#queryCorrectionOffset: a query that deletes (B-20).

        The comparison takes the topic for the group and the group for the topic, so it normally finds nothing; raises
        NullPointerError if it does find a queue that the others lack.
        """
        header: QueryCorrectionOffsetHeader = request.header
        offsets = self.controller.consumer_offset_manager
        correction = offsets.query_min_offset_in_all_group(header.topic, header.filter_groups)
        compared = offsets.query_offsets(header.topic, header.compare_group)
        for queue_id, offset in () if compared is None else compared.entries():
            if not_null(correction.get(queue_id)) > offset:
                correction[queue_id] = LONG_MAX
        return Command(ResponseCode.SUCCESS, body=correction)

    def query_topic_consume_by_who(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#queryTopicConsumeByWho: who subscribes the topic, and who has offsets of it."""
        header: TopicRequestHeader = request.header
        groups = dict.fromkeys(self.controller.consumer_manager.query_topic_consume_by_who(header.topic))
        groups.update(dict.fromkeys(self.controller.consumer_offset_manager.which_group_by_topic(header.topic)))
        self.node.trace(ConsumersOfTopicAnswered(self.node.name, header.topic, frozenset(groups)))
        return Command(ResponseCode.SUCCESS, body=tuple(groups))

    # What slaves ask --------------------------------------------------------------------------------------------------

    async def get_all_topic_config(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getAllTopicConfig: first the version, then the table, without a lock."""
        manager = self.controller.topic_config_manager
        version = manager.data_version.copy()
        await self.node.interleave("getAllTopicConfig: encoding, between the version and the table")
        table = dict(manager.topic_config_table.entries())
        return Command(ResponseCode.SUCCESS, body=TopicConfigSerializeWrapper(table, version))

    def get_all_consumer_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getAllConsumerOffset."""
        table = self.controller.consumer_offset_manager.offset_table.entries()
        return Command(ResponseCode.SUCCESS, body={key: dict(offsets.entries()) for key, offsets in table})

    async def get_all_subscription_group(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # same
        """AdminBrokerProcessor#getAllSubscriptionGroup: as get_all_topic_config."""
        manager = self.controller.subscription_group_manager
        version = manager.data_version.copy()
        await self.node.interleave("getAllSubscriptionGroup: encoding, between the version and the table")
        table = dict(manager.subscription_group_table.entries())
        return Command(ResponseCode.SUCCESS, body=SubscriptionGroupWrapper(table, version))
