"""PullMessageProcessor: PULL_MESSAGE, in pullMessageExecutor.

Left out: filters by SQL, lite pulls, the message to OFFSET_MOVED_EVENT.
"""

from __future__ import annotations

from impl.broker.pull_request_hold_service import PullRequest, PullRequestHoldService
from impl.broker.refusal import Refusal
from impl.broker.reported_tables import connection_of
from impl.broker.tables import BrokerTables
from impl.common.headers import PullMessageRequestHeader, PullMessageResponseHeader
from impl.common.heartbeat_data import BROADCASTING
from impl.common.request_code import ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import FLAG_COMMIT_OFFSET, FLAG_SUBSCRIPTION, FLAG_SUSPEND, PERM_READ, has_flag
from impl.decisions.java_errors import JavaError
from impl.decisions.pull_answer import BrokerSide, GetMessageStatus, is_suspended, pull_answer
from impl.decisions.subscription import SubscriptionData, build, is_tag_type, matches_by_consume_queue
from impl.events import OffsetCommitted
from impl.ports.pools import Pool
from impl.ports.remoting import Command, Connection, RemotingServer
from impl.store.default_message_store import DefaultMessageStore


class TagFilter:
    """`broker.filter.ExpressionMessageFilter` for expressions by tag."""

    def __init__(self, subscription: SubscriptionData) -> None:
        """Match what is subscribed."""
        self._subscription = subscription

    def is_matched_by_consume_queue(self, tags_code: int | None) -> bool:
        """ExpressionMessageFilter#isMatchedByConsumeQueue."""
        return matches_by_consume_queue(self._subscription, tags_code)

    def is_matched_by_commit_log(self, record: bytes) -> bool:  # noqa: ARG002  # tags stand in the consume queue
        """ExpressionMessageFilter#isMatchedByCommitLog."""
        return True


class PullMessageProcessor:
    """`broker.processor.PullMessageProcessor`. hold_service -- holds pulls that have found nothing."""

    def __init__(
        self, tables: BrokerTables, store: DefaultMessageStore, remoting_server: RemotingServer, pool: Pool,
    ) -> None:
        """Read this store; pool -- in which pulls run again."""
        self.tables, self.store, self.remoting_server, self.pool = tables, store, remoting_server, pool
        self.hold_service = PullRequestHoldService(
            tables.node, store.get_max_offset_in_queue, self.execute_request_when_wakeup)

    async def process_request(self, channel: Connection, request: Command) -> Command | None:
        """PullMessageProcessor#processRequest; None: the pull is held."""
        return await self._process(channel, request, broker_allow_suspend=True)

    def execute_request_when_wakeup(self, pull_request: PullRequest) -> None:
        """PullMessageProcessor#executeRequestWhenWakeup: once more, in the pool; it is not held again."""

        async def run() -> None:
            response = await self._process(pull_request.channel, pull_request.request, broker_allow_suspend=False)
            if response is not None:
                self.remoting_server.respond(pull_request.channel, pull_request.request, response)

        self.pool.execute(run)

    async def _process(
        self, channel: Connection, request: Command, *, broker_allow_suspend: bool,
    ) -> Command | None:
        header: PullMessageRequestHeader = request.header
        try:
            group, subscription = self._checked(header)
        except Refusal as refusal:
            return refusal.response
        found = self.store.get_message(
            header.topic, header.queue_id, header.queue_offset, header.max_msg_nums, TagFilter(subscription))
        if broker_allow_suspend and has_flag(header.sys_flag, FLAG_COMMIT_OFFSET) and not self.store.config.slave:
            await self._commit(channel, header)
        if found is None:
            return Command(ResponseCode.SYSTEM_ERROR, remark="store getMessage return null")
        config = self.store.config
        side = BrokerSide(config.slave, False, config.offset_check_in_slave, group.broker_id,  # slaveReadEnable
                          group.which_broker_when_consume_slowly)
        answer = pull_answer(found.status, header.queue_offset, side,
                             suggest_pulling_from_slave=found.suggest_pulling_from_slave)
        suspends = has_flag(header.sys_flag, FLAG_SUSPEND)
        if is_suspended(answer.code, broker_allow_suspend=broker_allow_suspend, suspend_flag=suspends):
            self.hold_service.suspend_pull_request(header.topic, header.queue_id, PullRequest(
                channel, request, subscription, self.tables.node.now_ms(), header.suspend_timeout_ms))
            return None
        return Command(
            answer.code, remark=found.status, header=PullMessageResponseHeader(
                answer.suggest_which_broker_id, found.next_begin_offset, found.min_offset, found.max_offset),
            body=b"".join(found.records) if found.status is GetMessageStatus.FOUND else None)

    async def _commit(self, channel: Connection, header: PullMessageRequestHeader) -> None:
        """The offset that comes with a pull."""
        tables, mq = self.tables, (header.topic, header.queue_id)
        await tables.consumer_offset_manager.commit_offset(
            header.consumer_group, *mq, header.commit_offset, tables.node)
        tables.node.trace(OffsetCommitted(
            tables.node.name, header.consumer_group, *mq, header.commit_offset, connection_of(channel)))

    # Checks, in their order -------------------------------------------------------------------------------------------

    def _checked(self, header: PullMessageRequestHeader) -> tuple[SubscriptionGroupConfig, SubscriptionData]:
        """What the group may do, and what it reads; raises Refusal."""
        tables, name = self.tables, header.consumer_group
        if not has_flag(tables.config.broker_permission, PERM_READ):
            raise Refusal(ResponseCode.NO_PERMISSION, f"the broker[{tables.node.name}] pulling message is forbidden")
        group = tables.subscription_group_manager.find_subscription_group_config(name)
        if group is None:
            raise Refusal(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"subscription group [{name}] does not exist")
        if not group.consume_enable:
            raise Refusal(ResponseCode.NO_PERMISSION, f"subscription group no permission, {name}")
        self._check_topic(header, tables.topic_config_manager.select_topic_config(header.topic))
        if has_flag(header.sys_flag, FLAG_SUBSCRIPTION):
            return group, self._sent_subscription(header)
        return group, self._stored_subscription(header, group)

    def _check_topic(self, header: PullMessageRequestHeader, topic_config: TopicConfig | None) -> None:
        if topic_config is None:
            raise Refusal(ResponseCode.TOPIC_NOT_EXIST, f"topic[{header.topic}] not exist, apply first please!")
        if not has_flag(topic_config.perm, PERM_READ):
            raise Refusal(ResponseCode.NO_PERMISSION, f"the topic[{header.topic}] pulling message is forbidden")
        if not 0 <= header.queue_id < topic_config.read_queue_nums:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"queueId[{header.queue_id}] is illegal, topic:[{header.topic}] "
                           f"topicConfig.readQueueNums:[{topic_config.read_queue_nums}]")

    def _sent_subscription(self, header: PullMessageRequestHeader) -> SubscriptionData:
        try:
            subscription = build(header.topic, header.subscription, header.expression_type)
        except JavaError as error:
            remark = "parse the consumer's subscription failed"
            raise Refusal(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark) from error
        return self._by_tag(subscription)

    def _stored_subscription(
        self, header: PullMessageRequestHeader, group: SubscriptionGroupConfig,
    ) -> SubscriptionData:
        info = self.tables.consumer_manager.get_consumer_group_info(header.consumer_group)
        if info is None:
            raise Refusal(ResponseCode.SUBSCRIPTION_NOT_EXIST, "the consumer's group info not exist")
        if not group.consume_broadcast_enable and info.message_model == BROADCASTING:
            remark = f"the consumer group[{header.consumer_group}] can not consume by broadcast way"
            raise Refusal(ResponseCode.NO_PERMISSION, remark)
        subscription = info.subscription_table.get(header.topic)
        if subscription is None:
            raise Refusal(ResponseCode.SUBSCRIPTION_NOT_EXIST, "the consumer's subscription not exist")
        if subscription.sub_version < header.sub_version:
            raise Refusal(ResponseCode.SUBSCRIPTION_NOT_LATEST, "the consumer's subscription not latest")
        return self._by_tag(subscription)

    def _by_tag(self, subscription: SubscriptionData) -> SubscriptionData:
        if is_tag_type(subscription.expression_type) or self.tables.config.enable_property_filter:
            return subscription
        kind = subscription.expression_type
        raise Refusal(ResponseCode.SYSTEM_ERROR, f"The broker does not support consumer to filter message by {kind}")
