"""AdminBrokerProcessor: queue locks, the ends of queues, topics, offsets; every code that no other processor has.

adminBrokerExecutor has 16 threads: lock and unlock of one client may be handled in any order (B-22b).
"""

from __future__ import annotations

from collections.abc import Collection

from impl.broker.broker2client import Broker2Client
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.rebalance_lock_manager import RebalanceLockManager
from impl.broker.registration import Registration
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.broker.topic_config_manager import TopicConfigManager
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
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.java_arithmetic import LONG_MAX
from impl.decisions.java_errors import JavaError, NullPointerError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import is_system_topic, validate_topic
from impl.events import (
    ConsumersOfTopicAnswered,
    GroupOffsetsRemoved,
    LocksAnswered,
    OffsetsLeftOut,
    SubscriptionGroupDeleted,
)
from impl.ports.message_store import MessageStore
from impl.ports.node import Node
from impl.ports.remoting import NOT_SET, Command, Connection
from impl.ports.threads import Lock
from impl.store.default_message_store import DefaultMessageStore

LANGUAGE_CODES = (  # LanguageCode; any other word is decoded to null
    "JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS",
)


class AdminBrokerProcessor:
    """`broker.processor.AdminBrokerProcessor`."""

    def __init__(  # noqa: PLR0913, PLR0917  # what an operator asks may concern any table
        self, node: Node, rebalance_lock_manager: RebalanceLockManager, topic_config_manager: TopicConfigManager,
        subscription_group_manager: SubscriptionGroupManager, consumer_manager: ConsumerManager,
        consumer_offset_manager: ConsumerOffsetManager, message_store: MessageStore, registration: Registration,
        broker2client: Broker2Client,
    ) -> None:
        """Work on these tables."""
        self.node, self.rebalance_lock_manager = node, rebalance_lock_manager
        self.topic_config_manager, self.subscription_group_manager = topic_config_manager, subscription_group_manager
        self.consumer_manager, self.consumer_offset_manager = consumer_manager, consumer_offset_manager
        self.message_store, self.registration, self.broker2client = message_store, registration, broker2client
        self.monitor = Lock("AdminBrokerProcessor: synchronized updateAndCreateTopic, deleteTopic")

    async def lock_batch_mq(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#lockBatchMQ: group, client and queues are believed."""
        body: LockBatchRequestBody = request.body
        await self.node.interleave("lockBatchMQ: before tryLockBatch")
        locked = await self.rebalance_lock_manager.try_lock_batch(
            body.consumer_group, body.mq_set, body.client_id, self.node,
        )
        return self.answer_locks(body, locked)

    def answer_locks(self, body: LockBatchRequestBody, locked: Collection[MessageQueue]) -> Command:
        """AdminBrokerProcessor#lockBatchMQ: what the client is told; locked -- the queues that it has now."""
        self.node.trace(LocksAnswered(
            self.node.name, body.consumer_group, body.client_id, frozenset(body.mq_set), frozenset(locked),
        ))
        return Command(ResponseCode.SUCCESS, body=tuple(locked))

    async def unlock_batch_mq(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#unlockBatchMQ."""
        body: LockBatchRequestBody = request.body
        await self.node.interleave("unlockBatchMQ: before unlockBatch")
        self.rebalance_lock_manager.unlock_batch(body.consumer_group, body.mq_set, body.client_id)
        return Command(ResponseCode.SUCCESS)

    def get_max_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getMaxOffset."""
        header: QueueOffsetRequestHeader = request.header
        offset = self.message_store.get_max_offset_in_queue(header.topic, header.queue_id)
        return Command(ResponseCode.SUCCESS, header=OffsetResponseHeader(offset))

    def get_min_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getMinOffset."""
        header: QueueOffsetRequestHeader = request.header
        offset = self.message_store.get_min_offset_in_queue(header.topic, header.queue_id)
        return Command(ResponseCode.SUCCESS, header=OffsetResponseHeader(offset))

    def search_offset_by_timestamp(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#searchOffsetByTimestamp."""
        header: QueueOffsetRequestHeader = request.header
        offset = self.message_store.get_offset_in_queue_by_time(
            header.topic, header.queue_id, not_null(header.timestamp),
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
        self.topic_config_manager.update_topic_config(topic_config)
        await self.node.interleave("updateAndCreateTopic: before registerIncrementBrokerData")
        try:
            await self.registration.register_increment_broker_data(topic_config)
        except JavaError:
            self.node.unlock(self.monitor)
            raise
        self.node.unlock(self.monitor)
        return Command(ResponseCode.SUCCESS, remark=NOT_SET)

    async def delete_topic(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#deleteTopic, synchronized; the queues go as well, and name servers are not told."""
        header: TopicRequestHeader = request.header
        legal, code, refusal = validate_topic(header.topic)
        if not legal:
            return Command(code, remark=refusal)
        if is_system_topic(header.topic):
            remark = f"The topic[{header.topic}] is conflict with system topic."
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        await self.node.lock(self.monitor)
        self.topic_config_manager.delete_topic_config(header.topic)
        self.message_store.clean_unused_topic(self.topic_config_manager.topic_config_table.key_set())
        self.node.unlock(self.monitor)
        return Command(ResponseCode.SUCCESS)

    async def delete_subscription_group(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # same
        """AdminBrokerProcessor#deleteSubscriptionGroup: members stay listed, and the next heartbeat makes it anew."""
        header: DeleteSubscriptionGroupRequestHeader = request.header
        self.subscription_group_manager.delete_subscription_group_config(header.group_name)
        self.node.trace(SubscriptionGroupDeleted(self.node.name, header.group_name))
        if header.remove_offset:
            await self.node.interleave("deleteSubscriptionGroup: before its offsets are removed")
            self.consumer_offset_manager.remove_offset(header.group_name)
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
        offsets = self.consumer_offset_manager
        groups = [one for one in (header.filter_groups or "").split(",") if offsets.which_topic_by_consumer(one)]
        correction = offsets.query_min_offset_in_all_group(header.topic, header.filter_groups)
        for group in groups:
            if not offsets.which_topic_by_consumer(group):
                self.node.trace(OffsetsLeftOut(self.node.name, group))
        compared = offsets.query_offsets(header.topic, header.compare_group)
        for queue_id, offset in () if compared is None else compared.entries():
            if not_null(correction.get(queue_id)) > offset:
                correction[queue_id] = LONG_MAX
        return Command(ResponseCode.SUCCESS, body=correction)

    def query_topic_consume_by_who(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#queryTopicConsumeByWho: who subscribes the topic, and who has offsets of it."""
        header: TopicRequestHeader = request.header
        groups = dict.fromkeys(self.consumer_manager.query_topic_consume_by_who(header.topic))
        groups.update(dict.fromkeys(self.consumer_offset_manager.which_group_by_topic(header.topic)))
        self.node.trace(ConsumersOfTopicAnswered(self.node.name, header.topic, frozenset(groups)))
        return Command(ResponseCode.SUCCESS, body=tuple(groups))

    # What slaves ask --------------------------------------------------------------------------------------------------

    async def get_all_topic_config(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getAllTopicConfig: first the version, then the table, without a lock."""
        manager = self.topic_config_manager
        version = manager.data_version.copy()
        await self.node.interleave("getAllTopicConfig: encoding, between the version and the table")
        table = dict(manager.topic_config_table.entries())
        return Command(ResponseCode.SUCCESS, body=TopicConfigSerializeWrapper(table, version))

    def get_all_consumer_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getAllConsumerOffset."""
        table = self.consumer_offset_manager.offset_table.entries()
        return Command(ResponseCode.SUCCESS, body={key: dict(offsets.entries()) for key, offsets in table})

    def get_all_delay_offset(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """AdminBrokerProcessor#getAllDelayOffset: the text of the file, as it would be written now."""
        if not isinstance(self.message_store, DefaultMessageStore):
            return Command(ResponseCode.SYSTEM_ERROR, remark="Delay offset not supported in this messagetore")
        return Command(ResponseCode.SUCCESS, body=self.message_store.schedule_message_service.encode())

    async def get_all_subscription_group(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # same
        """AdminBrokerProcessor#getAllSubscriptionGroup: as get_all_topic_config."""
        manager = self.subscription_group_manager
        version = manager.data_version.copy()
        await self.node.interleave("getAllSubscriptionGroup: encoding, between the version and the table")
        table = dict(manager.subscription_group_table.entries())
        return Command(ResponseCode.SUCCESS, body=SubscriptionGroupWrapper(table, version))
