"""PullCallback: what a push consumer makes of the answer to a pull."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.client.offset_store import MQBrokerError
from impl.client.rebalance import PullRequest
from impl.common.message import MessageExt
from impl.common.pull_result import PullResult
from impl.decisions.java_errors import JavaError
from impl.decisions.pull_answer import PullStatus
from impl.decisions.subscription import SubscriptionData
from impl.events import MessagesFound, OffsetCorrected, OffsetFoundIllegal, PullFailed

if TYPE_CHECKING:  # a consumer makes callbacks
    from impl.client.push_consumer import DefaultMQPushConsumerImpl

BROKER_SUSPEND_MAX_TIME_MS = 15_000
CONSUMER_TIMEOUT_MS_WHEN_SUSPEND = 30_000
PULL_TIME_DELAY_MS_WHEN_EXCEPTION = 1_000
OFFSET_ILLEGAL_DELAY_MS = 10_000


class PullCallback:
    """The PullCallback of DefaultMQPushConsumerImpl#pullMessage, for one request."""

    def __init__(
        self, consumer: DefaultMQPushConsumerImpl, pull_request: PullRequest, subscription_data: SubscriptionData,
    ) -> None:
        """Wait for the answer; subscription_data -- as it is before the request is made."""
        self.consumer, self.pull_request, self.subscription_data = consumer, pull_request, subscription_data

    def on_success(self, pull_result: PullResult) -> None:
        """PullCallback#onSuccess; what it throws ends in onException."""
        try:
            self._take(self.consumer.pull_api_wrapper.process_pull_result(
                self.pull_request.message_queue, pull_result, self.subscription_data))
        except JavaError as error:
            self.on_exception(error)

    def on_exception(self, error: JavaError | None) -> None:
        """PullCallback#onException: the same pull, a second later; error -- None: there was no answer in time."""
        consumer, mq = self.consumer, self.pull_request.message_queue
        code = int(error.response_code) if isinstance(error, MQBrokerError) else -1
        consumer.node.trace(PullFailed(consumer.instance.client_id, consumer.group, mq, code))
        consumer.pull_message_service.execute_pull_request_later(
            self.pull_request, PULL_TIME_DELAY_MS_WHEN_EXCEPTION,
        )

    def _take(self, pull_result: PullResult) -> None:
        self.pull_request.next_offset = pull_result.next_begin_offset
        match pull_result.pull_status:
            case PullStatus.FOUND:
                self._found(pull_result.msg_found_list)
            case PullStatus.NO_NEW_MSG | PullStatus.NO_MATCHED_MSG:
                self._no_new_msg()
            case PullStatus.OFFSET_ILLEGAL:
                self._offset_illegal()

    def _found(self, msgs: tuple[MessageExt, ...]) -> None:
        """The messages are cached, and tasks for them submitted; `dropped` is not looked at.

        Where the tags of all of them were others, the next pull follows, and no offset moves.
        """
        consumer, mq, pq = self.consumer, self.pull_request.message_queue, self.pull_request.process_queue
        if not msgs:
            consumer.execute_pull_request_immediately(self.pull_request)
            return
        dispatch_to_consume = pq.put_message(msgs)
        offsets = tuple(msg.queue_offset for msg in msgs)
        if not pq.dropped:  # else they are in the cache of a holding that has ended
            consumer.node.trace(MessagesFound(consumer.instance.client_id, consumer.group, mq, offsets))
        consumer.consume_message_service.submit_consume_request(
            msgs, pq, mq, dispatch_to_consume=dispatch_to_consume,
        )
        if consumer.config.pull_interval_ms > 0:
            consumer.pull_message_service.execute_pull_request_later(
                self.pull_request, consumer.config.pull_interval_ms)
        else:
            consumer.execute_pull_request_immediately(self.pull_request)

    def _no_new_msg(self) -> None:
        """The offset moves if nothing is cached; `dropped` is not looked at (L8)."""
        self.consumer.correct_tags_offset(self.pull_request)
        self.consumer.execute_pull_request_immediately(self.pull_request)

    def _offset_illegal(self) -> None:
        """The chain ends, and in 10 s the offset will be corrected."""
        consumer, mq, nearest = self.consumer, self.pull_request.message_queue, self.pull_request.next_offset
        consumer.node.trace(OffsetFoundIllegal(consumer.instance.client_id, consumer.group, mq, nearest))
        self.pull_request.process_queue.dropped = True
        consumer.rebalance_impl.report_dropped()
        consumer.pull_message_service.execute_task_later(self._correct_offset, OFFSET_ILLEGAL_DELAY_MS)

    async def _correct_offset(self) -> None:
        """The task of OFFSET_ILLEGAL: set, commit, remove, whoever has the queue by now (X17)."""
        consumer, mq, offset = self.consumer, self.pull_request.message_queue, self.pull_request.next_offset
        consumer.update_consume_offset(mq, offset)
        consumer.node.trace(OffsetCorrected(consumer.instance.client_id, consumer.group, mq, offset))
        try:
            await consumer.offset_store.persist(mq)
            await consumer.rebalance_impl.remove_process_queue(mq, consumer.node)
        except JavaError:
            return  # logged
