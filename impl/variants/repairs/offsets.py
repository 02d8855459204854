"""Repairs of committed offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from typing import Any, cast

from impl.broker.consumer_manage_processor import ConsumerManageProcessor
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.pull_message_processor import PullMessageProcessor
from impl.broker.reported_tables import connection_of
from impl.client.local_file_offset_store import LocalFileOffsetStore, _text
from impl.client.mq_client_instance import MQClientInstance
from impl.client.offset_store import (
    OFFSET_RPC_TIMEOUT_MS,
    MQBrokerError,
    ReadOffsetType,
    RemoteBrokerOffsetStore,
)
from impl.client.pull_api_wrapper import PullAPIWrapper
from impl.client.pull_callback import PullCallback
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.config_manager import persist
from impl.common.headers import ConsumerOffsetRequestHeader, PullMessageRequestHeader
from impl.common.request_code import ResponseCode
from impl.decisions.flags import FLAG_COMMIT_OFFSET, clear_flag, has_flag
from impl.decisions.java_errors import JavaError, MQClientError, NullPointerError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.events import OffsetCommitted, OffsetReset, OffsetsWritten
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection
from impl.ports.threads import UNINTERRUPTED, Interleave, Threads
from impl.variants.held import Held
from impl.variants.variant import Variant, around, replace

_Store = RemoteBrokerOffsetStore | LocalFileOffsetStore


@around(RemoteBrokerOffsetStore, "_fetch_consume_offset_from_broker")
def _errors_are_errors(original: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
    async def _fetch_consume_offset_from_broker(self: RemoteBrokerOffsetStore, mq: MessageQueue) -> int:
        """Only QUERY_NOT_FOUND means that there is no offset."""
        try:
            return await original(self, mq)
        except MQBrokerError as error:
            if error.response_code == ResponseCode.QUERY_NOT_FOUND:
                raise
            raise MQClientError(error.message or "") from error

    return _fetch_consume_offset_from_broker


@around(ConsumerOffsetManager, "commit_offset")
def _commit_in_one_step(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def commit_offset(
        self: ConsumerOffsetManager, group: str, topic: str, queue_id: int, offset: int, threads: Interleave,
    ) -> None:
        """putIfAbsent, then put."""
        del threads
        await original(self, group, topic, queue_id, offset, UNINTERRUPTED)

    return commit_offset


@replace(ConsumerManageProcessor, "update_consumer_offset")
async def _commit_in_order(self: ConsumerManageProcessor, channel: Connection, request: Command) -> Command:
    """A commit that a later one of its connection has overtaken is not stored."""
    header: ConsumerOffsetRequestHeader = request.header
    offset = not_null(header.commit_offset)
    await self.node.interleave("updateConsumerOffset: before commitOffset")
    await _store_in_order(self.node, self.consumer_offset_manager, channel, request, offset)
    return Command(ResponseCode.SUCCESS)


@replace(PullMessageProcessor, "_commit")
async def _commit_of_pull_in_order(self: PullMessageProcessor, channel: Connection, request: Command) -> None:
    """As above, of the offset that comes with a pull."""
    header: PullMessageRequestHeader = request.header
    tables = self.tables
    await _store_in_order(tables.node, tables.consumer_offset_manager, channel, request, header.commit_offset)


async def _store_in_order(
    node: Node, manager: ConsumerOffsetManager, channel: Connection, request: Command, offset: int,
) -> None:
    header: ConsumerOffsetRequestHeader | PullMessageRequestHeader = request.header
    latest: dict[tuple[Connection, str, str, int], int] = vars(manager).setdefault("latest", {})
    key = (header.consumer_group, header.topic, header.queue_id)
    if latest.get((channel, *key), request.opaque) <= request.opaque:
        latest[channel, *key] = request.opaque
        await manager.commit_offset(*key, offset, UNINTERRUPTED)
        node.trace(OffsetCommitted(node.name, *key, offset, connection_of(channel)))


async def _send(self: RemoteBrokerOffsetStore, mq: MessageQueue, forgotten: int | None) -> None:
    """Commit what memory has once it is known whom it goes to; forgotten -- what is sent if memory has nothing then."""
    try:
        addr = await self._broker_addr(mq)
        offset = self.offset_table.get(mq)
        offset = forgotten if offset is None else offset
        if offset is not None:
            await self.rpc.update_consumer_offset_oneway(addr, self.group_name, mq, offset, OFFSET_RPC_TIMEOUT_MS)
    except JavaError:
        return


@replace(RemoteBrokerOffsetStore, "_commit")
async def _read_it_last(self: RemoteBrokerOffsetStore, mq: MessageQueue, offset: int) -> None:
    """The timer sends nothing of what has been forgotten by now: who made it forgotten has committed it."""
    del offset
    await _send(self, mq, None)


@replace(RemoteBrokerOffsetStore, "persist")
async def _persist_the_last(self: RemoteBrokerOffsetStore, mq: MessageQueue | None) -> None:
    """The last commit of a queue is sent in any case."""
    if mq is None:
        raise NullPointerError
    offset = self.offset_table.get(mq)
    if offset is not None:
        await _send(self, mq, offset)


_Addressed = tuple[str, PullMessageRequestHeader]


@around(PullAPIWrapper, "_addressed")
def _pull_with_the_last(original: Callable[..., Awaitable[_Addressed]]) -> Callable[..., Awaitable[_Addressed]]:
    async def _addressed(self: PullAPIWrapper, mq: MessageQueue, header: PullMessageRequestHeader) -> _Addressed:
        """A pull commits what memory has when it is known whom it goes to; nothing, if that has been forgotten."""
        if not has_flag(header.sys_flag, FLAG_COMMIT_OFFSET):
            return await original(self, mq, header)
        if self._find(mq) is None:
            await self.instance.update_topic_route_info_from_name_server(mq.topic)
        consumer = cast("DefaultMQPushConsumerImpl | None", self.instance.consumer_table.get(self.group))
        offset = 0
        if consumer is not None:  # one that has shut down meanwhile has sent its last commits
            offset = cast("RemoteBrokerOffsetStore", consumer.offset_store).offset_table.get(mq) or 0
        sys_flag = header.sys_flag if offset > 0 else clear_flag(header.sys_flag, FLAG_COMMIT_OFFSET)
        return await original(self, mq, header._replace(sys_flag=sys_flag, commit_offset=offset))

    return _addressed


@around(LocalFileOffsetStore, "persist_all")
def _keep_all(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def persist_all(
        self: LocalFileOffsetStore, mqs: Collection[MessageQueue] | None, threads: Interleave,
    ) -> None:
        """The file keeps what memory has, also of queues that are not there now, and nobody writes it meanwhile."""
        del threads
        if mqs:
            await original(self, frozenset(self.offset_table.key_set()), UNINTERRUPTED)

    return persist_all


@replace(LocalFileOffsetStore, "persist")
async def _persist_one(self: LocalFileOffsetStore, mq: MessageQueue | None) -> None:
    """Write the offset of one queue beside what is in the file."""
    offset = None if mq is None else self.offset_table.get(mq)
    if mq is not None and offset is not None:
        offsets = {**self._read_local_offset(), mq: offset}
        if persist(self.node.disk, self.store_path, _text(tuple(offsets.items()))):
            self.node.trace(OffsetsWritten(self.client_id, self.group_name, tuple(offsets.items())))


@around(PullCallback, "_no_new_msg")
def _dropped_is_over(original: Callable[[PullCallback], None]) -> Callable[..., None]:
    def _no_new_msg(self: PullCallback) -> None:
        """The answer to the pull of a dropped queue changes nothing."""
        if not self.pull_request.process_queue.dropped:
            original(self)

    return _no_new_msg


@around(DefaultMQPushConsumerImpl, "_has_order")
def _read_it_again(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def _has_order(self: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> bool:
        """A failed read is no offset: the chain goes on a second later, and reads again."""
        before = pull_request.next_offset
        may_pull = await original(self, pull_request)
        if may_pull and pull_request.next_offset < 0 <= before:
            pull_request.next_offset, pull_request.previously_locked = before, False
            return False
        return may_pull

    return _has_order


@replace(MQClientInstance, "_reset_queue")
async def _drop_what_goes(
    self: MQClientInstance, consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, offset: int,
) -> None:
    """The process queue is dropped in the step that sets the offset, and no other one leaves the table."""
    await self.node.interleave("resetOffset: before the queue is dropped")
    rebalance = consumer.rebalance_impl
    pq = rebalance.process_queue_table.get(mq)
    if pq is not None:
        pq.dropped = True
        pq.clear()
    rebalance.report_dropped()
    consumer.update_consume_offset(mq, offset)
    self.node.trace(OffsetReset(self.client_id, consumer.group, mq, offset))
    if pq is None:
        await consumer.offset_store.persist(mq)
        consumer.offset_store.remove_offset(mq)
        return
    await rebalance.remove_unnecessary_message_queue(mq, pq, self.node)
    if rebalance.process_queue_table.get(mq) is pq:
        rebalance.process_queue_table.remove(mq)


class _Watched(Held):
    """The thread of a read: meanwhile -- what is in memory when it goes on, if that was set or forgotten since."""

    __slots__ = ("began", "meanwhile", "mq", "store")

    def __init__(self, threads: Interleave, store: _Store, mq: MessageQueue) -> None:
        super().__init__(threads)
        self.store, self.mq, self.began = store, mq, _stamps(store)[mq]
        self.meanwhile: int | None = None

    async def interleave(self, where: str) -> None:
        await super().interleave(where)
        if _stamps(self.store)[self.mq] != self.began:
            self.meanwhile = self.store.offset_table.get(self.mq)
            if self.meanwhile is None:
                raise MQClientError("the queue was taken and given up, or reset, while its offset was read")


def _stamps(store: _Store) -> Counter[MessageQueue | None]:
    """How often each offset was set, also downwards, or forgotten."""
    return cast("Counter[MessageQueue | None]", vars(store).setdefault("stamps", Counter()))


def _stamp_what_goes(original: Callable[..., None]) -> Callable[..., None]:
    def remove_offset(self: _Store, mq: MessageQueue | None) -> None:
        """Whoever takes a queue or gives it up forgets its offset."""
        _stamps(self)[mq] += 1
        original(self, mq)

    return remove_offset


def _stamp_what_is_set(original: Callable[..., None]) -> Callable[..., None]:
    def update_offset(self: _Store, mq: MessageQueue | None, offset: int, *, increase_only: bool) -> None:
        """A read, a reset and a correction set the offset whatever it was."""
        _stamps(self)[mq] += not increase_only
        original(self, mq, offset, increase_only=increase_only)

    return update_offset


def _ask_memory_when_overtaken(original: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
    async def read_offset(
        self: _Store, mq: MessageQueue | None, read_type: ReadOffsetType, threads: Interleave,
    ) -> int:
        """What comes late is not put into memory; what is there by now is the answer, if there is any."""
        if mq is None:
            return await original(self, mq, read_type, threads)
        watched = _Watched(threads, self, mq)
        offset = await original(self, mq, read_type, watched)
        if watched.meanwhile is None:
            return offset
        self.offset_table.put(mq, watched.meanwhile)
        return watched.meanwhile

    return read_offset


class _OvertakenError(Exception):
    """The offset was set or forgotten after a rebalance had computed where to begin."""


class _Entering(Held):
    """The thread of a rebalance that enters a queue."""

    __slots__ = ("mq", "store")

    def __init__(self, threads: Interleave, store: _Store, mq: MessageQueue) -> None:
        super().__init__(threads)
        self.store, self.mq = store, mq

    async def interleave(self, where: str) -> None:
        began = _stamps(self.store)[self.mq]
        await super().interleave(where)
        if where == "updateProcessQueueTableInRebalance: before putIfAbsent" and _stamps(self.store)[self.mq] != began:
            raise _OvertakenError


@around(RebalanceImpl, "_take")
def _enter_what_is_true(original: Callable[..., Awaitable[PullRequest | None]]) -> Callable[..., Any]:
    async def _take(self: RebalancePushImpl, mq: MessageQueue, is_order: bool, threads: Threads) -> PullRequest | None:
        """A queue whose offset has changed meanwhile is left to the next rebalance; one that is locked is entered."""
        if is_order:
            return await original(self, mq, is_order, threads)
        try:
            return await original(self, mq, is_order, _Entering(threads, cast("_Store", self.offset_store), mq))
        except _OvertakenError:
            return None

    return _take


_WRAPS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "remove_offset": _stamp_what_goes, "update_offset": _stamp_what_is_set, "read_offset": _ask_memory_when_overtaken,
}
_LATE_READS = tuple(
    around(store, name)(wrap) for store in (RemoteBrokerOffsetStore, LocalFileOffsetStore)
    for name, wrap in _WRAPS.items()
)


def _settings(store: RemoteBrokerOffsetStore) -> Counter[MessageQueue | None]:
    """How often each offset was set."""
    return cast("Counter[MessageQueue | None]", vars(store).setdefault("settings", Counter()))


@around(RemoteBrokerOffsetStore, "update_offset")
def _count_what_is_set(original: Callable[..., None]) -> Callable[..., None]:
    def update_offset(
        self: RemoteBrokerOffsetStore, mq: MessageQueue | None, offset: int, *, increase_only: bool,
    ) -> None:
        """Whoever forgets an offset can tell whether it was set meanwhile."""
        _settings(self)[mq] += 1
        original(self, mq, offset, increase_only=increase_only)

    return update_offset


@replace(RemoteBrokerOffsetStore, "persist_all")
async def _forget_what_nobody_sets(
    self: RemoteBrokerOffsetStore, mqs: Collection[MessageQueue] | None, threads: Interleave,
) -> None:
    """Of the queues that were not held when it began it forgets what nobody has set since."""
    if not mqs:
        return
    began = _settings(self).copy()
    for mq in await self._commit_all(mqs):
        await threads.interleave("persistAll: before an offset is forgotten")
        if _settings(self)[mq] == began[mq]:
            self.offset_table.remove(mq)


REPAIRS = (
    Variant(
        "errors_are_errors", "repair", "Only an explicit “not found” means that a group has no offset.",
        "apache/rocketmq 5.0.0, commit b6ff649291: OffsetNotFoundException", ("L2",), (_errors_are_errors,),
    ),
    Variant(
        "commit_in_one_step", "repair", "The first commits of two queues do not replace each other's map.",
        "apache/rocketmq #1427, #10988: putIfAbsent", ("B-21",), (_commit_in_one_step,),
    ),
    Variant(
        "commits_in_order", "repair", "Of two commits on one connection for a queue the later one stays.",
        "the idea: RemotingCommand.opaque orders the requests of a connection", ("B-18",),
        (_commit_in_order, _commit_of_pull_in_order),
    ),
    Variant(
        "offset_is_read_last", "repair", "What is committed is read when it is known whom it goes to.",
        "the idea: AtomicLong#get in the step that sends", ("L14",),
        (_read_it_last, _persist_the_last, _pull_with_the_last),
    ),
    Variant(
        "file_keeps_all", "repair", "The file of a broadcasting consumer keeps offsets of queues that are away.",
        "the idea: write the whole table, synchronized", ("L10",), (_keep_all,),
    ),
    Variant(
        "file_keeps_corrections", "repair", "A corrected offset of a broadcasting consumer goes to its file.",
        "apache/rocketmq #7740, #7745, commit d38558800c", ("U16",), (_persist_one,),
    ),
    Variant(
        "dropped_is_over", "repair", "The answer to a pull that was under way when its queue was dropped is ignored.",
        "apache/rocketmq #4742, and a test of `dropped` in DefaultMQPushConsumerImpl#correctTagsOffset", ("L8",),
        (_dropped_is_over,),
    ),
    Variant(
        "first_pull_reads_again", "repair", "The first pull of an ordered queue waits until its offset can be read.",
        "the idea: READ_FAILED is no offset", ("X10",), (_read_it_again,),
    ),
    Variant(
        "reset_drops_what_it_removes", "repair", "A reset drops each queue that it takes out of the table.",
        "the idea: setDropped in both loops of MQClientInstance#resetOffset", ("X21",), (_drop_what_goes,),
    ),
    Variant(
        "late_read_changes_nothing", "repair", "A read does not set an offset that was set or forgotten meanwhile.",
        "the idea: a stamp on each entry of offsetTable, as in AtomicStampedReference", ("X23",),
        (*_LATE_READS, _enter_what_is_true),
    ),
    Variant(
        "timer_forgets_what_nobody_sets", "repair", "What was set since the timer began to commit is not forgotten.",
        "the idea: ConcurrentHashMap#remove(key, value) with the entry that was there when it began", ("X28",),
        (_count_what_is_set, _forget_what_nobody_sets),
    ),
)
