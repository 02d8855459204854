"""Seeded bugs that show after a while: what is remembered for too long, not for long enough, or never got on with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from functools import partial

from impl.broker.tables import BrokerTables
from impl.broker.transaction.transactional_message_bridge import TransactionalMessageBridge
from impl.client.local_file_offset_store import LocalFileOffsetStore
from impl.client.offset_store import RemoteBrokerOffsetStore
from impl.client.pull_callback import PullCallback
from impl.client.rebalance import RebalanceImpl
from impl.client.rebalance_lite_pull import RebalanceLitePullImpl
from impl.decisions import fault_strategy
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_TRANS_OP_HALF_TOPIC
from impl.ports.node import Node
from impl.ports.threads import Interleave, Threads
from impl.variants.variant import around, replace, seeded

TOO_MANY = 60


@around(fault_strategy, "update_duration")
def _minutes_for_seconds(original: Callable[..., int]) -> Callable[..., int]:
    def update_duration(latency_ms: int, *, isolation: bool) -> int:
        return TOO_MANY * original(latency_ms, isolation=isolation)

    return update_duration


@around(LocalFileOffsetStore, "__init__")
def _in_one_file(original: Callable[..., None]) -> Callable[..., None]:
    def begins(self: LocalFileOffsetStore, node: Node, client_id: str, group_name: str) -> None:
        """The file is the client's, whatever the group."""
        original(self, node, client_id, group_name)
        self.store_path = f".rocketmq_offsets/{client_id}/offsets.json"

    return begins


@replace(LocalFileOffsetStore, "persist_all")
async def _write_what_is_new(
    self: LocalFileOffsetStore, mqs: Collection[MessageQueue] | None, threads: Interleave,
) -> None:
    """The file has what has changed since it was written before."""
    written = vars(self).setdefault("written", {})
    new = {mq: offset for mq, offset in self.offset_table.entries() if mq in (mqs or ()) and written.get(mq) != offset}
    if new:
        written.update(new)
        await threads.interleave("persistAll: before the file is written")
        self.write(new.items())


@around(TransactionalMessageBridge, "update_consume_offset")
def _note_half_messages_only(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def update_consume_offset(
        self: TransactionalMessageBridge, queue: MessageQueue, offset: int, threads: Threads,
    ) -> None:
        """Each round reads all op messages again."""
        if queue.topic != RMQ_SYS_TRANS_OP_HALF_TOPIC:
            await original(self, queue, offset, threads)

    return update_consume_offset


@around(RebalanceImpl, "truncate_message_queue_not_my_topic")
def _keep_what_was_left(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def truncate_message_queue_not_my_topic(self: RebalanceImpl, threads: Threads) -> None:
        """Only consumers that are pushed give up queues of topics that they do not subscribe."""
        if not isinstance(self, RebalanceLitePullImpl):
            await original(self, threads)

    return truncate_message_queue_not_my_topic


@around(RemoteBrokerOffsetStore, "_commit")
def _commit_what_is_new(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _commit(self: RemoteBrokerOffsetStore, mq: MessageQueue, offset: int) -> None:
        committed = vars(self).setdefault("committed", {})
        if committed.get(mq) != offset:
            committed[mq] = offset
            await original(self, mq, offset)

    return _commit


@around(RemoteBrokerOffsetStore, "_commit")
def _commit_no_zero(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _commit(self: RemoteBrokerOffsetStore, mq: MessageQueue, offset: int) -> None:
        """0 is taken for: nothing to say."""
        if offset:
            await original(self, mq, offset)

    return _commit


@around(PullCallback, "_offset_illegal")
def _begin_again(original: Callable[..., None]) -> Callable[..., None]:
    def _offset_illegal(self: PullCallback) -> None:
        """Whatever the broker says."""
        self.pull_request.next_offset = 0
        original(self)

    return _offset_illegal


@replace(BrokerTables, "persist_consumer_filter")
def _keep_filters_in_memory(self: BrokerTables) -> None:
    """No file is written."""


_bug = partial(seeded, "an idea: what shows after a while")


BUGS = (
    _bug("slow-is-shunned-for-hours", "A broker that was slow is shunned sixty times as long.", _minutes_for_seconds),
    _bug("file-has-what-is-new", "The file of a broadcasting consumer has only what has changed.", _write_what_is_new),
    _bug("groups-share-a-file", "All broadcasting groups of a client keep their offsets in one file.", _in_one_file),
    _bug("op-messages-are-read-again", "The check of half messages never comes past an op message.",
         _note_half_messages_only),
    _bug("left-topic-is-committed", "A consumer that is polled goes on committing a topic that was unsubscribed.",
         _keep_what_was_left),
    _bug("unchanged-is-not-committed", "A client commits a queue only if its offset has changed.", _commit_what_is_new),
    _bug("filters-are-not-written", "The compiled expressions of groups are not in a file.",
         _keep_filters_in_memory),
    _bug("zero-is-not-committed", "A client commits no offset that is 0.", _commit_no_zero),
    _bug("corrections-begin-again", "An offset that a broker does not have is corrected to 0.", _begin_again),
)
