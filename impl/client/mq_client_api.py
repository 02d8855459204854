"""MQClientAPIImpl: one method for each request of a client; every answer but SUCCESS is an MQBrokerError."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Sequence
from typing import Any

from impl.client.offset_store import MQBrokerError
from impl.common.headers import (
    CheckClientRequestBody,
    ConsumerGroupRequestHeader,
    ConsumerOffsetRequestHeader,
    LockBatchRequestBody,
    QueueOffsetRequestHeader,
    TopicRequestHeader,
    UnregisterClientRequestHeader,
)
from impl.common.heartbeat_data import HeartbeatData
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.java_errors import MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import TopicRouteData
from impl.decisions.subscription import SubscriptionData
from impl.ports.remoting import Command, RemotingClient


class MQClientAPI:
    """`client.impl.MQClientAPIImpl`, of the client with this id; every time-out is in milliseconds."""

    def __init__(self, remoting_client: RemotingClient, client_id: str) -> None:
        """Call by this transport."""
        self.remoting_client, self.client_id = remoting_client, client_id

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

    async def get_max_offset(self, addr: str, mq: MessageQueue, timeout_ms: int) -> int:
        """MQClientAPIImpl#getMaxOffset."""
        header = QueueOffsetRequestHeader(mq.topic, mq.queue_id)
        request = Command(RequestCode.GET_MAX_OFFSET, header)
        response = _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))
        return int(response.header.offset)

    async def search_offset(self, addr: str, mq: MessageQueue, timestamp: int, timeout_ms: int) -> int:
        """MQClientAPIImpl#searchOffset; timestamp -- milliseconds since 1970."""
        header = QueueOffsetRequestHeader(mq.topic, mq.queue_id, timestamp)
        request = Command(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header)
        response = _success(await self.remoting_client.invoke_sync(addr, request, timeout_ms))
        return int(response.header.offset)


def _success(response: Command) -> Command:
    """The answer, if it is SUCCESS; else raises MQBrokerError."""
    if response.code != ResponseCode.SUCCESS:
        raise MQBrokerError(response.code, response.remark)
    return response


def _commit(group: str, mq: MessageQueue, offset: int) -> Command:
    header = ConsumerOffsetRequestHeader(group, mq.topic, mq.queue_id, offset)
    return Command(RequestCode.UPDATE_CONSUMER_OFFSET, header)
