"""PullAPIWrapper: pulls that are not sent, and the broker that answers them.

No message goes over the network yet. A pull is taken into the hold of its broker where it is made, and answered there:
when messages have arrived, when the broker has deleted what is asked for, or after 15 s. Only an offset below 0, which
is illegal everywhere, is asked of the broker itself: it says where its queue begins.
"""

from __future__ import annotations

from typing import NamedTuple

from impl.client.mq_client_api import STATUSES
from impl.client.mq_client_instance import MQClientInstance
from impl.client.pull_callback import (
    BROKER_SUSPEND_MAX_TIME_MS,
    CONSUMER_TIMEOUT_MS_WHEN_SUSPEND,
    PullCallback,
)
from impl.client.rebalance import PullRequest
from impl.common.headers import PullMessageRequestHeader, QueueOffsetRequestHeader
from impl.common.message import MessageExt
from impl.common.pull_result import PullResult
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.java_errors import not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.decisions.pull_answer import PullCode, PullStatus, pull_code
from impl.decisions.subscription import SubscriptionData
from impl.events import PullAnswered, PullSuspended
from impl.ports.message_store import PulledStore
from impl.ports.node import Node
from impl.ports.remoting import Command, ResponseFuture


class HeldPull(NamedTuple):
    """A pull in the hold of a broker. number -- of all that this wrapper has made."""

    number: int
    max_msg_nums: int
    pull_callback: PullCallback


class PullAPIWrapper:
    """`client.impl.consumer.PullAPIWrapper`, and what stands for PullMessageProcessor and PullRequestHoldService.

    held -- the pulls that brokers hold now.
    """

    def __init__(self, node: Node, instance: MQClientInstance, group: str) -> None:
        """Start without pulls."""
        self.node, self.instance, self.group = node, instance, group
        self.held: dict[PullRequest, HeldPull] = {}
        self._number = 0

    def process_pull_result(
        self, mq: MessageQueue, pull_result: PullResult, subscription_data: SubscriptionData,
    ) -> PullResult:
        """PullAPIWrapper#processPullResult: nothing is encoded here."""
        del mq, subscription_data
        return pull_result

    async def pull_kernel_impl(
        self, mq: MessageQueue, header: PullMessageRequestHeader, timeout_ms: int, pull_callback: PullCallback,
    ) -> None:
        """PullAPIWrapper#pullKernelImpl, asynchronous; raises a JavaError if no broker is known, or none reached."""
        del mq, timeout_ms
        pull_request, max_msg_nums = pull_callback.pull_request, header.max_msg_nums
        if pull_request.next_offset < 0:
            await self._pull_below_zero(pull_request, pull_callback)
        elif not self.instance.pull_message_service.stopped:
            self._suspend_pull_request(pull_request, max_msg_nums, pull_callback)

    def _suspend_pull_request(
        self, pull_request: PullRequest, max_msg_nums: int, pull_callback: PullCallback,
    ) -> None:
        """PullRequestHoldService#suspendPullRequest."""
        self._number = number = self._number + 1
        self.held[pull_request] = HeldPull(number, max_msg_nums, pull_callback)
        self.node.trace(PullSuspended(
            self.instance.client_id, self.group, pull_request.message_queue, pull_request.next_offset,
        ))
        self.instance.pull_message_service.execute_task_later(
            lambda: self._wake_up_in_time(pull_request, number), BROKER_SUSPEND_MAX_TIME_MS,
        )

    def _wake_up_in_time(self, pull_request: PullRequest, number: int) -> None:
        held = self.held.get(pull_request)
        if held is not None and held.number == number:
            self._answer(pull_request, PullCode.PULL_NOT_FOUND, pull_request.next_offset)

    def execute_request_when_wakeup(self, pull_request: PullRequest, store: PulledStore) -> None:
        """PullMessageProcessor#executeRequestWhenWakeup: the store is asked again; one that is not held is left alone.

        store -- of the broker that holds the pull.
        """
        if pull_request not in self.held:
            return
        mq, offset = pull_request.message_queue, pull_request.next_offset
        found = store.get_message(mq.topic, mq.queue_id, offset, self.held[pull_request].max_msg_nums)
        self._answer(pull_request, pull_code(found.status, offset), found.next_begin_offset, found.messages)

    def _answer(
        self, pull_request: PullRequest, code: PullCode, next_begin_offset: int, messages: tuple[MessageExt, ...] = (),
    ) -> None:
        held = self.held.pop(pull_request)
        self.node.trace(PullAnswered(
            self.instance.client_id, self.group, pull_request.message_queue, code, next_begin_offset))
        held.pull_callback.on_success(PullResult(STATUSES[code], next_begin_offset, messages))

    async def _pull_below_zero(self, pull_request: PullRequest, pull_callback: PullCallback) -> None:
        """PULL_OFFSET_MOVED, to the first offset that the broker says it has."""
        mq = pull_request.message_queue
        found = self.instance.find_broker_address_in_subscribe(mq.broker_name, MASTER_ID, only_this_broker=False)
        request = Command(RequestCode.GET_MIN_OFFSET, header=QueueOffsetRequestHeader(mq.topic, mq.queue_id))
        await self.instance.remoting_client.invoke_async(
            not_null(found).broker_addr, request, CONSUMER_TIMEOUT_MS_WHEN_SUSPEND,
            lambda future: _on_answer_below_zero(future, pull_callback),
        )


def _on_answer_below_zero(future: ResponseFuture, pull_callback: PullCallback) -> None:
    response = future.response_command
    if response is None or response.code != ResponseCode.SUCCESS:
        pull_callback.on_exception()
    else:
        pull_callback.on_success(PullResult(
            PullStatus.OFFSET_ILLEGAL, int(response.header.offset)))
