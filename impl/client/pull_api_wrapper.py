"""PullAPIWrapper: a pull goes to its broker as a request, and the broker holds it."""

from __future__ import annotations

from impl.client.mq_client_instance import MQClientInstance
from impl.client.pull_callback import PullCallback, process_pull_response
from impl.client.rebalance import PullRequest
from impl.common.byte_buffer import ByteBuffer
from impl.common.headers import PullMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_TAGS
from impl.common.message_decoder import decodes
from impl.common.request_code import RequestCode
from impl.decisions.flags import build_pull_sys_flag
from impl.decisions.java_errors import MQClientError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.decisions.pull_answer import PullCode
from impl.decisions.subscription import SubscriptionData
from impl.events import PullAnswered, PullSuspended
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node
from impl.ports.remoting import Command, ResponseFuture

BROKER_SUSPEND_MAX_TIME_MS = 15_000
CONSUMER_TIMEOUT_MS_WHEN_SUSPEND = 30_000
_ANSWERS = frozenset(PullCode)


class PullAPIWrapper:
    """`client.impl.consumer.PullAPIWrapper`.

    Left out: slaves that a broker suggests, and the offset that a pull commits.
    """

    def __init__(
        self, node: Node, instance: MQClientInstance, group: str,
        subscriptions: ConcurrentHashMap[str, SubscriptionData],
    ) -> None:
        """Start without pulls; subscriptions -- of the consumer, by topic."""
        self.node, self.instance, self.group = node, instance, group
        self.subscriptions = subscriptions

    async def pull_kernel_impl(
        self, pull_request: PullRequest, max_msg_nums: int, pull_callback: PullCallback,
    ) -> None:
        """PullAPIWrapper#pullKernelImpl, asynchronous; raises a JavaError if no broker is known, or none reached."""
        mq = pull_request.message_queue
        found = self.instance.find_broker_address_in_subscribe(mq.broker_name, MASTER_ID, only_this_broker=False)
        if found is None:
            await self.instance.update_topic_route_info_from_name_server(mq.topic)
            found = self.instance.find_broker_address_in_subscribe(mq.broker_name, MASTER_ID, only_this_broker=False)
        if found is None:
            raise MQClientError(f"The broker[{mq.broker_name}] not exist")
        header = PullMessageRequestHeader(
            self.group, mq.topic, mq.queue_id, pull_request.next_offset, max_msg_nums,
            build_pull_sys_flag(commit_offset=False, suspend=True, subscription=False, class_filter=False), 0,
            BROKER_SUSPEND_MAX_TIME_MS, not_null(self.subscriptions.get(mq.topic)).sub_version)
        self.node.trace(PullSuspended(self.instance.client_id, self.group, mq, pull_request.next_offset))
        await self.instance.remoting_client.invoke_async(
            found.broker_addr, Command(RequestCode.PULL_MESSAGE, header), CONSUMER_TIMEOUT_MS_WHEN_SUSPEND,
            lambda future: self._on_answer(future, mq, pull_callback))

    def _on_answer(self, future: ResponseFuture, mq: MessageQueue, pull_callback: PullCallback) -> None:
        """MQClientAPIImpl#pullMessageAsync: every other code is an exception."""
        response = future.response_command
        if response is None or response.code not in _ANSWERS:
            pull_callback.on_exception()
            return
        self.node.trace(PullAnswered(self.instance.client_id, self.group, mq, int(response.code)))
        messages = self._taken(mq, response.body) if response.code == PullCode.SUCCESS else ()
        pull_callback.on_success(
            process_pull_response(PullCode(response.code), response.header.next_begin_offset, messages))

    def _taken(self, mq: MessageQueue, records: bytes) -> tuple[MessageExt, ...]:
        """PullAPIWrapper#processPullResult: the messages whose tags are those that are subscribed, by their text."""
        messages = decodes(ByteBuffer(records))
        subscription = self.subscriptions.get(mq.topic)
        if subscription is None or not subscription.tags_set or subscription.class_filter_mode:
            return tuple(messages)
        return tuple(one for one in messages if one.get_property(PROPERTY_TAGS) in subscription.tags_set)
