"""OffsetStore, and RemoteBrokerOffsetStore: the offsets that a clustering consumer is about to commit."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import NamedTuple, Protocol

from impl.decisions.java_errors import JavaError, JavaException, MQClientError, NullPointerError
from impl.decisions.java_text import is_blank
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.decisions.start_offset import NO_OFFSET, READ_FAILED
from impl.hash_map import ConcurrentHashMap
from impl.ports.threads import Interleave

OFFSET_RPC_TIMEOUT_MS = 1000 * 5


class ReadOffsetType(Enum):
    """`client.consumer.store.ReadOffsetType`."""

    READ_FROM_MEMORY = "READ_FROM_MEMORY"
    READ_FROM_STORE = "READ_FROM_STORE"
    MEMORY_FIRST_THEN_STORE = "MEMORY_FIRST_THEN_STORE"


class MQBrokerError(JavaException):
    """MQBrokerException: a broker answered with a code that is not SUCCESS."""

    java_class = "org.apache.rocketmq.client.exception.MQBrokerException"

    def __init__(self, response_code: int, error_message: str | None) -> None:
        """Keep both; the text is what the Java constructor makes of them."""
        super().__init__(f"CODE: {response_code}  DESC: {error_message}")
        self.response_code = response_code


class FindBrokerResult(NamedTuple):
    """`client.impl.FindBrokerResult`: an address, whether it is a slave's, and the version it gave to heartbeats."""

    broker_addr: str
    slave: bool
    broker_version: int = 0


class OffsetStore(Protocol):
    """`client.consumer.store.OffsetStore`.

    offset_table -- which both implementations have: queue to the offset that will be committed, or written, next.
    """

    offset_table: ConcurrentHashMap[MessageQueue, int]

    def update_offset(self, mq: MessageQueue | None, offset: int, *, increase_only: bool) -> None:
        """OffsetStore#updateOffset."""
        ...

    async def read_offset(self, mq: MessageQueue | None, read_type: ReadOffsetType, threads: Interleave) -> int:
        """OffsetStore#readOffset."""
        ...

    async def persist_all(self, mqs: Collection[MessageQueue] | None, threads: Interleave) -> None:
        """OffsetStore#persistAll."""
        ...

    async def persist(self, mq: MessageQueue | None) -> None:
        """OffsetStore#persist."""
        ...

    def remove_offset(self, mq: MessageQueue | None) -> None:
        """OffsetStore#removeOffset."""
        ...

    def clone_offset_table(self, topic: str | None) -> dict[MessageQueue, int]:
        """OffsetStore#cloneOffsetTable."""
        ...


class OffsetRpc(Protocol):
    """What the offset store asks of MQClientInstance and MQClientAPIImpl."""

    def find_broker_address_in_subscribe(
        self, broker_name: str, broker_id: int, *, only_this_broker: bool,
    ) -> FindBrokerResult | None:
        """MQClientInstance#findBrokerAddressInSubscribe."""
        ...

    async def update_topic_route_info_from_name_server(self, topic: str) -> bool:
        """MQClientInstance#updateTopicRouteInfoFromNameServer."""
        ...

    async def query_consumer_offset(self, addr: str, group: str, mq: MessageQueue, timeout_ms: int) -> int:
        """MQClientAPIImpl#queryConsumerOffset; raises MQBrokerError for any other code than SUCCESS."""
        ...

    async def update_consumer_offset(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> None:
        """MQClientAPIImpl#updateConsumerOffset: waits for the answer."""
        ...

    async def update_consumer_offset_oneway(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> None:
        """MQClientAPIImpl#updateConsumerOffsetOneway: nobody learns whether it arrived."""
        ...


class RemoteBrokerOffsetStore:
    """`client.consumer.store.RemoteBrokerOffsetStore`: a ConcurrentHashMap of AtomicLongs, no lock.

    rpc -- the client instance. group_name -- the consumer group.

    offset_table -- queue to the offset that will be committed next.
    """

    def __init__(self, rpc: OffsetRpc, group_name: str) -> None:
        """Start empty: load() does nothing here."""
        self.rpc = rpc
        self.group_name = group_name
        self.offset_table: ConcurrentHashMap[MessageQueue, int] = ConcurrentHashMap()

    def update_offset(self, mq: MessageQueue | None, offset: int, *, increase_only: bool) -> None:
        """RemoteBrokerOffsetStore#updateOffset, MixAll#compareAndIncreaseOnly: raise, or set also downwards."""
        if mq is None:
            return
        old = self.offset_table.get(mq)
        if old is None or not increase_only or offset > old:
            self.offset_table.put(mq, offset)

    async def read_offset(self, mq: MessageQueue | None, read_type: ReadOffsetType, threads: Interleave) -> int:
        """RemoteBrokerOffsetStore#readOffset: NO_OFFSET for every error code of the broker, READ_FAILED for the rest.

        What the broker answers becomes the offset in memory, also if that goes down.
        """
        if mq is None:
            return NO_OFFSET
        if read_type is not ReadOffsetType.READ_FROM_STORE:
            offset = self.offset_table.get(mq)
            if offset is not None:
                return offset
            if read_type is ReadOffsetType.READ_FROM_MEMORY:
                return NO_OFFSET
        try:
            broker_offset = await self._fetch_consume_offset_from_broker(mq)
        except MQBrokerError:
            return NO_OFFSET
        except JavaError:
            return READ_FAILED
        await threads.interleave("readOffset: the broker has answered")
        self.update_offset(mq, broker_offset, increase_only=False)
        return broker_offset

    async def persist_all(self, mqs: Collection[MessageQueue] | None, threads: Interleave) -> None:
        """RemoteBrokerOffsetStore#persistAll: commit what is in mqs, FORGET the rest unsent; an empty mqs does nothing.

        An error at one queue is logged and the next one goes on.
        """
        if not mqs:
            return
        for mq in await self._commit_all(mqs):
            await threads.interleave("persistAll: before an offset is forgotten")
            self.offset_table.remove(mq)

    async def _commit_all(self, mqs: Collection[MessageQueue]) -> list[MessageQueue]:
        """Commit what is in mqs; the other queues, in the order of the table."""
        unused_mq = []
        for mq, offset in self.offset_table.traverse():
            if mq in mqs:
                await self._commit(mq, offset)
            else:
                unused_mq.append(mq)
        return unused_mq

    async def persist(self, mq: MessageQueue | None) -> None:
        """RemoteBrokerOffsetStore#persist: commit one queue, if memory knows it; raises NullPointerError for null."""
        if mq is None:
            raise NullPointerError
        offset = self.offset_table.get(mq)
        if offset is not None:
            await self._commit(mq, offset)

    def remove_offset(self, mq: MessageQueue | None) -> None:
        """RemoteBrokerOffsetStore#removeOffset: forget it, unsent."""
        if mq is not None:
            self.offset_table.remove(mq)

    def clone_offset_table(self, topic: str | None) -> dict[MessageQueue, int]:
        """RemoteBrokerOffsetStore#cloneOffsetTable: of one topic; a blank topic means all."""
        everything = is_blank(topic)
        return {mq: offset for mq, offset in self.offset_table.entries() if everything or mq.topic == topic}

    async def update_consume_offset_to_broker(self, mq: MessageQueue, offset: int, *, is_oneway: bool) -> None:
        """RemoteBrokerOffsetStore#updateConsumeOffsetToBroker; raises MQClientError without an address."""
        master = self.rpc.find_broker_address_in_subscribe(mq.broker_name, MASTER_ID, only_this_broker=True)
        addr = await self._broker_addr(mq) if master is None else master.broker_addr
        send = self.rpc.update_consumer_offset_oneway if is_oneway else self.rpc.update_consumer_offset
        await send(addr, self.group_name, mq, offset, OFFSET_RPC_TIMEOUT_MS)

    async def _commit(self, mq: MessageQueue, offset: int) -> None:
        try:
            await self.update_consume_offset_to_broker(mq, offset, is_oneway=True)
        except JavaError:
            return  # logged, and forgotten

    async def _fetch_consume_offset_from_broker(self, mq: MessageQueue) -> int:
        addr = await self._broker_addr(mq)
        return await self.rpc.query_consumer_offset(addr, self.group_name, mq, OFFSET_RPC_TIMEOUT_MS)

    async def _broker_addr(self, mq: MessageQueue) -> str:
        """The master, else after a refresh of the route any address of the broker name, that is a slave."""
        find = self.rpc.find_broker_address_in_subscribe
        found = find(mq.broker_name, MASTER_ID, only_this_broker=True)
        if found is None:
            await self.rpc.update_topic_route_info_from_name_server(mq.topic)
            found = find(mq.broker_name, MASTER_ID, only_this_broker=False)
        if found is None:
            raise MQClientError(f"The broker[{mq.broker_name}] not exist")
        return found.broker_addr
