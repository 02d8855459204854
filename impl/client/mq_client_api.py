"""MQClientAPIImpl: one method for each request of a client; every answer but SUCCESS is an MQBrokerError."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Sequence
from typing import Any, Protocol

from impl.client.client_remoting_processor import ClientRemotingProcessor
from impl.client.offset_store import MQBrokerError
from impl.common.headers import (
    CheckClientRequestBody,
    ConsumerGroupRequestHeader,
    ConsumerOffsetRequestHeader,
    ConsumerSendMsgBackRequestHeader,
    LockBatchRequestBody,
    PullMessageRequestHeader,
    QueueOffsetRequestHeader,
    TopicRequestHeader,
    UnregisterClientRequestHeader,
)
from impl.common.heartbeat_data import HeartbeatData
from impl.common.message import MessageExt
from impl.common.pull_result import PullResult
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode, PullStatus
from impl.decisions.route_queues import TopicRouteData
from impl.decisions.subscription import SubscriptionData
from impl.ports.remoting import Command, RemotingClient, ResponseFuture

STATUSES = {
    PullCode.SUCCESS: PullStatus.FOUND,
    PullCode.PULL_NOT_FOUND: PullStatus.NO_NEW_MSG,
    PullCode.PULL_RETRY_IMMEDIATELY: PullStatus.NO_MATCHED_MSG,
    PullCode.PULL_OFFSET_MOVED: PullStatus.OFFSET_ILLEGAL,
}
"""What clients make of what a broker says of messages."""
CODES = {status: code for code, status in STATUSES.items()}
"""The other way round."""


class PullCallback(Protocol):
    """`client.consumer.PullCallback`."""

    def on_success(self, pull_result: PullResult) -> None:
        """PullCallback#onSuccess; what it throws ends in on_exception."""
        ...

    def on_exception(self, error: JavaError | None) -> None:
        """PullCallback#onException."""
        ...


class MQClientAPI:
    """`client.impl.MQClientAPIImpl`, of the client with this id; every time-out is in milliseconds."""

    def __init__(self, remoting_client: RemotingClient, client_id: str, processor: ClientRemotingProcessor) -> None:
        """Call by this transport; processor -- handles what brokers ask."""
        self.remoting_client, self.client_id = remoting_client, client_id
        for code, handler in (
            (RequestCode.CHECK_TRANSACTION_STATE, processor.check_transaction_state),
            (RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, processor.notify_consumer_ids_changed),
            (RequestCode.RESET_CONSUMER_CLIENT_OFFSET, processor.reset_offset),
            (RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, processor.get_consume_status),
            (RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, processor.receive_reply_message),
        ):
            remoting_client.register_processor(code, handler)

    async def get_topic_route_info_from_name_server(self, topic: str, timeout_ms: int) -> TopicRouteData | None:
        """MQClientAPIImpl#getTopicRouteInfoFromNameServer: every other code is an MQClientError."""
        request = Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, TopicRequestHeader(topic))
        response = await self.remoting_client.invoke_sync(None, request, timeout_ms)
        if response.code != ResponseCode.SUCCESS:
            raise MQClientError(f"CODE: {int(response.code)}  DESC: {response.remark}")
        route: TopicRouteData | None = response.body
        return route

    async def send_heartbeat(self, addr: str, heartbeat_data: HeartbeatData, timeout_ms: int) -> int:
        """MQClientAPIImpl#sendHearbeat: the version of the broker."""
        request = Command(RequestCode.HEART_BEAT, body=heartbeat_data)
        return _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms)).version

    async def unregister_client(
        self, addr: str, producer_group: str | None, consumer_group: str | None, timeout_ms: int,
    ) -> None:
        """MQClientAPIImpl#unregisterClient."""
        header = UnregisterClientRequestHeader(self.client_id, producer_group, consumer_group)
        request = Command(RequestCode.UNREGISTER_CLIENT, header)
        _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))

    async def get_consumer_id_list_by_group(self, addr: str, group: str, timeout_ms: int) -> Sequence[str]:
        """MQClientAPIImpl#getConsumerIdListByGroup; a group without members is an error too."""
        request = Command(RequestCode.GET_CONSUMER_LIST_BY_GROUP, ConsumerGroupRequestHeader(group))
        response = _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))
        client_ids: Sequence[str] = response.body
        return client_ids

    async def check_client_in_broker(
        self, addr: str, group: str, subscription: SubscriptionData, timeout_ms: int,
    ) -> None:
        """MQClientAPIImpl#checkClientInBroker: a refusal is an MQClientError."""
        body = CheckClientRequestBody(self.client_id, group, subscription)
        request = Command(RequestCode.CHECK_CLIENT_CONFIG, body=body)
        response = await self.remoting_client.invoke_sync(addr, request, timeout_ms)
        if response.code != ResponseCode.SUCCESS:
            raise MQClientError(f"CODE: {int(response.code)}  DESC: {response.remark}")

    async def query_consumer_offset(self, addr: str, group: str, mq: MessageQueue, timeout_ms: int) -> int:
        """MQClientAPIImpl#queryConsumerOffset."""
        header = ConsumerOffsetRequestHeader(group, mq.topic, mq.queue_id)
        request = Command(RequestCode.QUERY_CONSUMER_OFFSET, header)
        response = _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))
        return int(response.header.offset)

    async def update_consumer_offset(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> None:
        """MQClientAPIImpl#updateConsumerOffset."""
        _success(await self.remoting_client.invoke_sync(addr, _commit(group, mq, offset), timeout_ms))

    def update_consumer_offset_oneway(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> Coroutine[Any, Any, None]:
        """MQClientAPIImpl#updateConsumerOffsetOneway."""
        return self.remoting_client.invoke_oneway(addr, _commit(group, mq, offset), timeout_ms)

    async def lock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int,
    ) -> Collection[MessageQueue]:
        """MQClientAPIImpl#lockBatchMQ: the queues that are locked now."""
        body = LockBatchRequestBody(group, self.client_id, tuple(mqs))
        request = Command(RequestCode.LOCK_BATCH_MQ, body=body)
        response = _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))
        locked: Collection[MessageQueue] = response.body
        return locked

    async def unlock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int, *, oneway: bool,
    ) -> None:
        """MQClientAPIImpl#unlockBatchMQ."""
        body = LockBatchRequestBody(group, self.client_id, tuple(mqs))
        request = Command(RequestCode.UNLOCK_BATCH_MQ, body=body)
        if oneway:
            await self.remoting_client.invoke_oneway(addr, request, timeout_ms)
        else:
            _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))

    async def pull_message_sync(self, addr: str, header: PullMessageRequestHeader, timeout_ms: int) -> PullResult:
        """MQClientAPIImpl#pullMessageSync; raises MQBrokerError for a code that says nothing of messages."""
        request = Command(RequestCode.PULL_MESSAGE, header)
        return process_pull_response(await self.remoting_client.invoke_sync(addr, request, timeout_ms))

    async def pull_message_async(
        self, addr: str, header: PullMessageRequestHeader, timeout_ms: int, pull_callback: PullCallback,
    ) -> None:
        """MQClientAPIImpl#pullMessageAsync: without an answer, or with another code, there is an exception."""

        def operation_complete(future: ResponseFuture) -> None:
            if future.response_command is None:
                pull_callback.on_exception(None)
                return
            try:
                pull_callback.on_success(process_pull_response(future.response_command))
            except JavaError as error:
                pull_callback.on_exception(error)

        request = Command(RequestCode.PULL_MESSAGE, header)
        await self.remoting_client.invoke_async(addr, request, timeout_ms, operation_complete)

    async def consumer_send_message_back(
        self, addr: str | None, msg: MessageExt, group: str, delay_level: int, timeout_ms: int,
        max_consume_retry_times: int,
    ) -> None:
        """MQClientAPIImpl#consumerSendMessageBack; without an address a name server is asked, which does not answer."""
        header = ConsumerSendMsgBackRequestHeader(
            msg.commit_log_offset, group, delay_level, msg.msg_id, msg.topic,
            max_reconsume_times=max_consume_retry_times)
        request = Command(RequestCode.CONSUMER_SEND_MSG_BACK, header)
        _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))

    async def get_max_offset(self, addr: str, mq: MessageQueue, timeout_ms: int) -> int:
        """MQClientAPIImpl#getMaxOffset."""
        header = QueueOffsetRequestHeader(mq.topic, mq.queue_id)
        request = Command(RequestCode.GET_MAX_OFFSET, header)
        response = _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))
        return int(response.header.offset)

    async def get_min_offset(self, addr: str, mq: MessageQueue, timeout_ms: int) -> int:
        """MQClientAPIImpl#getMinOffset."""
        request = Command(RequestCode.GET_MIN_OFFSET, QueueOffsetRequestHeader(mq.topic, mq.queue_id))
        response = _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))
        return int(response.header.offset)

    async def search_offset(self, addr: str, mq: MessageQueue, timestamp: int, timeout_ms: int) -> int:
        """MQClientAPIImpl#searchOffset; timestamp -- milliseconds since 1970."""
        header = QueueOffsetRequestHeader(mq.topic, mq.queue_id, timestamp)
        request = Command(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header)
        response = _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))
        return int(response.header.offset)


def process_pull_response(response: Command) -> PullResult:
    """MQClientAPIImpl#processPullResponse; raises MQBrokerError for a code that says nothing of messages."""
    if response.code not in STATUSES:
        raise MQBrokerError(response.code, response.remark)
    header = response.header
    return PullResult(
        STATUSES[PullCode(response.code)], header.next_begin_offset, (), header.min_offset, header.max_offset,
        header.suggest_which_broker_id, response.body)


def _success(response: Command) -> Command:
    """The answer, if it is SUCCESS; else raises MQBrokerError."""
    if response.code != ResponseCode.SUCCESS:
        raise MQBrokerError(response.code, response.remark)
    return response


def _commit(group: str, mq: MessageQueue, offset: int) -> Command:
    header = ConsumerOffsetRequestHeader(group, mq.topic, mq.queue_id, offset)
    return Command(RequestCode.UPDATE_CONSUMER_OFFSET, header)
