"""MQAdminImpl: what a client asks the masters of queues, and a name server, for its user or itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import topic_subscribe_queues

if TYPE_CHECKING:  # an instance has one
    from impl.client.mq_client_instance import MQClientInstance

TIMEOUT_MS = 6_000  # MQAdminImpl.timeoutMillis


class MQAdminImpl:
    """`client.impl.MQAdminImpl`, of one instance."""

    def __init__(self, instance: MQClientInstance) -> None:
        """Ask through its connections."""
        self.instance = instance

    async def max_offset(self, mq: MessageQueue) -> int:
        """MQAdminImpl#maxOffset; raises MQClientError."""
        return await self._ask_master(mq, lambda addr: self.instance.api.get_max_offset(addr, mq, TIMEOUT_MS))

    async def min_offset(self, mq: MessageQueue) -> int:
        """MQAdminImpl#minOffset; raises MQClientError."""
        return await self._ask_master(mq, lambda addr: self.instance.api.get_min_offset(addr, mq, TIMEOUT_MS))

    async def fetch_subscribe_message_queues(self, topic: str) -> frozenset[MessageQueue]:
        """MQAdminImpl#fetchSubscribeMessageQueues: of the route that a name server has now; raises MQClientError."""
        try:
            route = await self.instance.api.get_topic_route_info_from_name_server(topic, TIMEOUT_MS)
        except JavaError as error:
            raise MQClientError(f"Can not find Message Queue for this topic, {topic}") from error
        if route is None:
            raise MQClientError(f"Unknow why, Can not find Message Queue for this topic, {topic}")
        mqs = frozenset(topic_subscribe_queues(topic, route))
        if not mqs:
            raise MQClientError(f"Can not find Message Queue for this topic, {topic}")
        return mqs

    async def search_offset(self, mq: MessageQueue, timestamp: int) -> int:
        """MQAdminImpl#searchOffset; raises MQClientError."""
        return await self._ask_master(
            mq, lambda addr: self.instance.api.search_offset(addr, mq, timestamp, TIMEOUT_MS))

    async def _ask_master(self, mq: MessageQueue, ask: Callable[[str], Awaitable[int]]) -> int:
        addr = self.instance.routes.find_broker_address_in_publish(mq.broker_name)
        if addr is None:
            await self.instance.update_topic_route_info_from_name_server(mq.topic)
            addr = self.instance.routes.find_broker_address_in_publish(mq.broker_name)
        if addr is None:
            raise MQClientError(f"The broker[{mq.broker_name}] not exist")
        try:
            return await ask(addr)
        except JavaError as error:
            raise MQClientError(f"Invoke Broker[{addr}] exception") from error
