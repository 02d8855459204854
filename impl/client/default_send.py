"""sendDefaultImpl: a send whose queue the producer chooses, with its retries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.client.client_errors import ClientErrorCode, SendError, response_code_of
from impl.client.offset_store import MQBrokerError
from impl.client.send_kernel import Way
from impl.client.send_result import CommunicationMode, SendResult, SendStatus
from impl.client.topic_publish_info import PickedQueue, TopicPublishInfo
from impl.client.validators import check_message
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.namespace import wrap_namespace
from impl.ports.remoting import RemotingError, RemotingTooMuchRequestError

if TYPE_CHECKING:  # a producer sends
    from impl.client.default_mq_producer_impl import DefaultMQProducerImpl


class DefaultSend:
    """One call of `DefaultMQProducerImpl#sendDefaultImpl`.

    result -- of the last attempt that was answered with a status other than SEND_OK, when another broker is tried
    then. error -- of the last attempt that failed. brokers_sent -- by name.
    """

    def __init__(self, producer: DefaultMQProducerImpl, msg: Message, way: Way, timeout_ms: int) -> None:
        """Nothing was tried; timeout_ms -- the budget of all attempts together."""
        self.producer, self.msg, self.way, self.timeout_ms = producer, msg, way, timeout_ms
        self.begin_ms = producer.node.now_ms()
        self.result: SendResult | None = None
        self.error: JavaError | None = None
        self.brokers_sent: list[str] = []

    async def run(self) -> SendResult | None:
        """Send; None: not SYNC. Raises MQClientError, RemotingError, MQBrokerError, IllegalStateError."""
        try:
            return await self._run()
        except JavaError as error:
            allowed, spent_ms = self._times_total(), self.producer.node.now_ms() - self.begin_ms
            self.producer.send_failed(
                self.msg, error, len(self.brokers_sent), allowed, spent_ms, self.timeout_ms)
            raise

    def _times_total(self) -> int:
        sync = self.way.mode is CommunicationMode.SYNC
        return 1 + self.producer.config.retry_times_when_send_failed if sync else 1

    async def _run(self) -> SendResult | None:
        producer = self.producer
        producer.make_sure_state_ok()
        check_message(self.msg, producer.config.max_message_size)
        info = await producer.try_to_find_topic_publish_info(self.msg.topic)
        if not info.ok():
            producer.validate_name_server_setting()
            raise SendError(f"No route info of this topic: {self.msg.topic}",
                            ClientErrorCode.NOT_FOUND_TOPIC_EXCEPTION)
        return await self._attempts(info)

    async def _attempts(self, info: TopicPublishInfo) -> SendResult | None:
        mq: PickedQueue | None = None
        for times in range(self._times_total()):
            mq = self.producer.select_one_message_queue(info, None if mq is None else mq.now.broker_name)
            self.brokers_sent.append(mq.now.broker_name)
            await self.producer.node.interleave("sendDefaultImpl: a queue is picked")
            begin_ms = self.producer.node.now_ms()
            if times:
                self.msg.topic = wrap_namespace(self.producer.namespace, self.msg.topic) or self.msg.topic
            if self.timeout_ms < begin_ms - self.begin_ms:
                return self._end(call_timeout=True)
            if await self._attempt(mq, info, begin_ms):
                return self.result
        return self._end(call_timeout=False)

    async def _attempt(self, mq: PickedQueue, info: TopicPublishInfo, begin_ms: int) -> bool:
        """Whether no other attempt follows; raises MQBrokerError for a code for which there is none."""
        way = Way(self.way.mode, self.way.callback, info, len(self.brokers_sent))
        try:
            result = await self.producer.kernel.send(self.msg, mq, way, self.timeout_ms - (begin_ms - self.begin_ms))
        except (RemotingError, MQClientError, MQBrokerError) as error:
            self._blame(mq, begin_ms, isolation=True)
            self.error = error
            if isinstance(error, MQBrokerError) and self._is_final(error):
                if self.result is None:
                    raise
                return True
            return False
        self._blame(mq, begin_ms, isolation=False)
        self.result = result
        return not self._retries_another_broker(result)

    def _is_final(self, error: MQBrokerError) -> bool:
        """Whether a broker's answer is no reason to try again."""
        return error.response_code not in self.producer.config.retry_response_codes

    def _retries_another_broker(self, result: SendResult | None) -> bool:
        """Whether the message is sent to another broker although this one has it."""
        not_ok = result is not None and result.send_status is not SendStatus.SEND_OK
        return not_ok and self.producer.config.retry_another_broker_when_not_store_ok

    def _blame(self, mq: PickedQueue, begin_ms: int, *, isolation: bool) -> None:
        self.producer.update_fault_item(
            mq.now.broker_name, self.producer.node.now_ms() - begin_ms, isolation=isolation)

    def _end(self, *, call_timeout: bool) -> SendResult:
        """All attempts have failed: an earlier result, if there is one; else raises what the last attempt says."""
        if self.result is not None:
            return self.result
        if call_timeout:
            raise RemotingTooMuchRequestError("sendDefaultImpl call timeout")
        cost_ms = self.producer.node.now_ms() - self.begin_ms
        sent = ", ".join(self.brokers_sent)
        raise SendError(
            f"Send [{len(self.brokers_sent)}] times, still failed, cost [{cost_ms}]ms, Topic: {self.msg.topic}, "
            f"BrokersSent: [{sent}]", response_code_of(self.error), self.error)
