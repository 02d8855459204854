"""PullAPIWrapper: whom a client pulls from, and what it makes of the records that it gets."""

from __future__ import annotations

from impl.client.mq_client_api import CODES, PullCallback
from impl.client.mq_client_instance import MQClientInstance
from impl.client.offset_store import FindBrokerResult
from impl.common.byte_buffer import ByteBuffer
from impl.common.headers import PullMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_MAX_OFFSET,
    PROPERTY_MIN_OFFSET,
    PROPERTY_TAGS,
    PROPERTY_TRANSACTION_PREPARED,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
)
from impl.common.message_decoder import decodes
from impl.common.pull_result import PullResult
from impl.decisions.flags import FLAG_CLASS_FILTER, FLAG_COMMIT_OFFSET, clear_flag, has_flag
from impl.decisions.java_errors import MQClientError
from impl.decisions.java_text import parse_boolean
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.decisions.pull_answer import PullStatus
from impl.decisions.subscription import SubscriptionData, is_tag_type
from impl.events import OffsetSent, PullAnswered, PullSuspended
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node

V4_1_0_SNAPSHOT = 232  # ordinal of MQVersion.Version: brokers from here on filter by more than tags


class PullAPIWrapper:
    """`client.impl.consumer.PullAPIWrapper`, without hooks.

    connect_broker_by_user, default_broker_id -- whether, and whom, its user says to pull from, whatever is suggested.

    pull_from_which_node_table -- queue to the id of the broker that was suggested last.
    """

    def __init__(self, node: Node, instance: MQClientInstance, group: str) -> None:
        """Ask masters until others are suggested."""
        self.node, self.instance, self.group = node, instance, group
        self.pull_from_which_node_table: ConcurrentHashMap[MessageQueue, int] = ConcurrentHashMap(32)
        self.connect_broker_by_user, self.default_broker_id = False, MASTER_ID

    def recalculate_pull_from_which_node(self, mq: MessageQueue) -> int:
        """PullAPIWrapper#recalculatePullFromWhichNode: the id of a broker."""
        if self.connect_broker_by_user:
            return self.default_broker_id
        return self.pull_from_which_node_table.get(mq, MASTER_ID)

    def update_pull_from_which_node(self, mq: MessageQueue, broker_id: int) -> None:
        """PullAPIWrapper#updatePullFromWhichNode."""
        self.pull_from_which_node_table.put(mq, broker_id)

    # Requests ---------------------------------------------------------------------------------------------------------

    async def pull_kernel_impl(
        self, mq: MessageQueue, header: PullMessageRequestHeader, timeout_ms: int, pull_callback: PullCallback,
    ) -> None:
        """PullAPIWrapper#pullKernelImpl, asynchronous; raises a JavaError if no broker is known, or none reached."""
        addr, request_header = await self._addressed(mq, header)
        await self.instance.api.pull_message_async(addr, request_header, timeout_ms, pull_callback)

    async def pull_kernel_impl_sync(
        self, mq: MessageQueue, header: PullMessageRequestHeader, timeout_ms: int,
    ) -> PullResult:
        """PullAPIWrapper#pullKernelImpl, synchronous; raises JavaErrors, MQBrokerError among them."""
        addr, request_header = await self._addressed(mq, header)
        return await self.instance.api.pull_message_sync(addr, request_header, timeout_ms)

    async def _addressed(
        self, mq: MessageQueue, header: PullMessageRequestHeader,
    ) -> tuple[str, PullMessageRequestHeader]:
        """Whom to ask, and how: a slave is not told of offsets."""
        found = self._find(mq)
        if found is None:
            await self.instance.update_topic_route_info_from_name_server(mq.topic)
            found = self._find(mq)
        if found is None:
            raise MQClientError(f"The broker[{mq.broker_name}] not exist")
        if not is_tag_type(header.expression_type) and found.broker_version < V4_1_0_SNAPSHOT:
            raise MQClientError(f"The broker[{mq.broker_name}, {found.broker_version}] does not upgrade to support "
                                f"for filter message by {header.expression_type}")
        if found.slave:
            header = header._replace(sys_flag=clear_flag(header.sys_flag, FLAG_COMMIT_OFFSET))
        if has_flag(header.sys_flag, FLAG_CLASS_FILTER):
            raise MQClientError(
                f"Find Filter Server Failed, Broker Addr: {found.broker_addr} topic: {mq.topic}")  # there are none
        self._report(mq, header, found.broker_addr)
        return found.broker_addr, header

    def _find(self, mq: MessageQueue) -> FindBrokerResult | None:
        return self.instance.find_broker_address_in_subscribe(
            mq.broker_name, self.recalculate_pull_from_which_node(mq), only_this_broker=False)

    # Answers ----------------------------------------------------------------------------------------------------------

    def process_pull_result(
        self, mq: MessageQueue, pull_result: PullResult, subscription_data: SubscriptionData,
    ) -> PullResult:
        """PullAPIWrapper#processPullResult: decode, and filter once more by the texts of tags.

        subscription_data -- as it was when the request was made.
        """
        is_found = pull_result.pull_status is PullStatus.FOUND
        records = decodes(ByteBuffer(pull_result.message_binary or b"")) if is_found else []
        self.node.trace(PullAnswered(
            self.instance.client_id, self.group, mq, CODES[pull_result.pull_status], pull_result.next_begin_offset,
            pull_result.suggest_which_broker_id, pull_result.min_offset, pull_result.max_offset, len(records)))
        self.update_pull_from_which_node(mq, pull_result.suggest_which_broker_id)
        found: tuple[MessageExt, ...] = ()
        if is_found:
            found = tuple(msg for msg in records if _is_subscribed(subscription_data, msg))
            for msg in found:
                if parse_boolean(msg.get_property(PROPERTY_TRANSACTION_PREPARED)):
                    msg.transaction_id = msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)
                msg.broker_name = mq.broker_name
                msg.put_property(PROPERTY_MIN_OFFSET, str(pull_result.min_offset))
                msg.put_property(PROPERTY_MAX_OFFSET, str(pull_result.max_offset))
        return pull_result._replace(msg_found_list=found, message_binary=None)

    def _report(self, mq: MessageQueue, header: PullMessageRequestHeader, broker_addr: str) -> None:
        client_id = self.instance.client_id
        commits = has_flag(header.sys_flag, FLAG_COMMIT_OFFSET)
        if commits:
            self.node.trace(OffsetSent(client_id, self.group, mq, header.commit_offset))
        self.node.trace(PullSuspended(client_id, self.group, mq, header.queue_offset, broker_addr, header.max_msg_nums,
                                      header.sub_version, commits))


def _is_subscribed(subscription_data: SubscriptionData, msg: MessageExt) -> bool:
    """Whether the message has one of the tags; what is not subscribed by tags has been filtered by the broker."""
    if not subscription_data.tags_set or subscription_data.class_filter_mode:
        return True
    return msg.get_property(PROPERTY_TAGS) in subscription_data.tags_set
