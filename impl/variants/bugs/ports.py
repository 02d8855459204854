"""Seeded bugs of the kinds that ports of RocketMQ in other languages have had, each a few lines that were forgotten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.producer_manager import ProducerManager
from impl.broker.rebalance_lock_manager import RebalanceLockManager
from impl.broker.slave_synchronize import SlaveSynchronize
from impl.broker.tables import BrokerTables
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.local_file_offset_store import LocalFileOffsetStore
from impl.client.mq_client_instance import MQClientInstance
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import RebalanceImpl
from impl.client.rebalance_push import RebalancePushImpl
from impl.client.route_tables import MQ_CLIENT_API_TIMEOUT_MS, RouteTables
from impl.common.heartbeat_data import ConsumerData
from impl.common.message import MessageExt
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.hash_map import ConcurrentHashMap
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.ports.remoting import Channel
from impl.ports.threads import Interleave, Threads
from impl.variants.bugs.pulling import pulls_commit_nothing
from impl.variants.variant import Variant, around, replace

EARLY_MS = 45_000
ONE_GROUP = "G"

# Offsets --------------------------------------------------------------------------------------------------------------


@around(ProcessQueue, "remove_message")
def _one_too_high(original: Callable[..., int]) -> Callable[..., int]:
    def remove_message(self: ProcessQueue, msgs: Iterable[MessageExt]) -> int:
        offset = original(self, msgs)
        return offset + 1 if offset >= 0 else offset

    return remove_message


@around(ProcessQueue, "remove_message")
def _greatest_settled(original: Callable[..., int]) -> Callable[..., int]:
    def remove_message(self: ProcessQueue, msgs: Iterable[MessageExt]) -> int:
        offset = original(self, msgs)
        return self.queue_offset_max + 1 if offset >= 0 else offset

    return remove_message


@replace(MQClientInstance, "persist_all_consumer_offset")
async def _no_timer(self: MQClientInstance) -> None:
    del self


@around(RebalancePushImpl, "remove_unnecessary_message_queue")
def _forget_unsent(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def remove_unnecessary_message_queue(
        self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue, threads: Threads,
    ) -> bool:
        """With nothing in memory, nothing is sent."""
        self.offset_store.remove_offset(mq)
        return await original(self, mq, pq, threads)

    return remove_unnecessary_message_queue


@around(DefaultMQPushConsumerImpl, "persist_consumer_offset")
def _write_nothing(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def persist_consumer_offset(self: DefaultMQPushConsumerImpl) -> None:
        """The timer is for those who commit to brokers."""
        if not isinstance(self.offset_store, LocalFileOffsetStore):
            await original(self)

    return persist_consumer_offset


@replace(LocalFileOffsetStore, "_read_local_offset")
def _read_nothing(self: LocalFileOffsetStore) -> dict[MessageQueue, int]:
    del self
    return {}


@replace(MQClientInstance, "reset_offset")
async def _reset_nothing(
    self: MQClientInstance, topic: str, group: str, offset_table: Mapping[MessageQueue, int],
) -> None:
    del self, topic, group, offset_table


@around(MQClientInstance, "_reset_queue")
def _reset_upwards(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _reset_queue(
        self: MQClientInstance, consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, offset: int,
    ) -> None:
        now = consumer.offset_store.clone_offset_table(mq.topic).get(mq, offset)
        await original(self, consumer, mq, max(now, offset))

    return _reset_queue


@around(MQClientInstance, "reset_offset")
def _reset_one_queue(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def reset_offset(
        self: MQClientInstance, topic: str, group: str, offset_table: Mapping[MessageQueue, int],
    ) -> None:
        consumer = self.consumer_table.get(group)
        held = () if consumer is None else consumer.rebalance_impl.process_queue_table.key_set()
        first = next((mq for mq in held if mq in offset_table), None)
        await original(self, topic, group, {} if first is None else {first: offset_table[first]})

    return reset_offset


@around(ConsumerOffsetManager, "commit_offset")
def _commit_for_one_group(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def commit_offset(
        self: ConsumerOffsetManager, group: str, topic: str, queue_id: int, offset: int, threads: Interleave,
    ) -> None:
        del group
        await original(self, ONE_GROUP, topic, queue_id, offset, threads)

    return commit_offset


@around(ConsumerOffsetManager, "query_offset")
def _query_for_one_group(original: Callable[..., int]) -> Callable[..., int]:
    def query_offset(self: ConsumerOffsetManager, group: str, topic: str, queue_id: int) -> int:
        del group
        return original(self, ONE_GROUP, topic, queue_id)

    return query_offset


@replace(SlaveSynchronize, "sync_consumer_offset")
async def _copy_no_offsets(self: SlaveSynchronize, master_addr: str) -> None:
    del self, master_addr


# Locks ----------------------------------------------------------------------------------------------------------------


@around(RebalanceLockManager, "try_lock_under_lock")
def _lock_for_one_group(original: Callable[..., list[MessageQueue]]) -> Callable[..., list[MessageQueue]]:
    def try_lock_under_lock(
        self: RebalanceLockManager, group: str, mqs: Sequence[MessageQueue], client_id: str,
    ) -> list[MessageQueue]:
        del group
        return original(self, ONE_GROUP, mqs, client_id)

    return try_lock_under_lock


@around(RebalanceLockManager, "is_locked")
def _is_locked_for_one_group(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def is_locked(
        self: RebalanceLockManager, group: str, mq: MessageQueue, client_id: str, threads: Interleave,
    ) -> bool:
        del group
        return await original(self, ONE_GROUP, mq, client_id, threads)

    return is_locked


@around(RebalanceLockManager, "unlock_batch")
def _unlock_for_one_group(original: Callable[..., None]) -> Callable[..., None]:
    def unlock_batch(self: RebalanceLockManager, group: str, mqs: Sequence[MessageQueue], client_id: str) -> None:
        del group
        original(self, ONE_GROUP, mqs, client_id)

    return unlock_batch


@replace(ConsumeMessageOrderlyService, "lock_mq_periodically")
async def _renew_nothing(self: ConsumeMessageOrderlyService) -> None:
    del self


# Members --------------------------------------------------------------------------------------------------------------


@replace(MQClientInstance, "unregister_client")
async def _say_nothing(self: MQClientInstance, producer_group: str | None, consumer_group: str | None) -> None:
    del self, producer_group, consumer_group


@around(ConsumerManager, "register_consumer")
def _announce_nobody(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def register_consumer(
        self: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *, notify: bool,
        threads: Interleave,
    ) -> bool:
        del notify
        return await original(self, client_channel_info, consumer_data, notify=False, threads=threads)

    return register_consumer


@replace(MQClientInstance, "_send_heartbeat_to_all_broker")
async def _end_at_an_error(self: MQClientInstance) -> None:
    """The brokers behind one that does not answer hear nothing."""
    heartbeat_data = self._prepare_heartbeat_data()
    for broker_name, addrs in self.routes.broker_addr_table.traverse():
        for _, addr in addrs.entries():
            await self.node.interleave("sendHeartbeatToAllBroker: before the next broker")
            try:
                version = await self.api.send_heartbeat(
                    addr, self._as_encoded_now(heartbeat_data), MQ_CLIENT_API_TIMEOUT_MS,
                )
            except JavaError:
                return
            self.routes.note_broker_version(broker_name, addr, version)


@around(ProducerManager, "register_producer")
def _stamp_once(original: Callable[..., None]) -> Callable[..., None]:
    def register_producer(self: ProducerManager, group: str, client_channel_info: ClientChannelInfo) -> None:
        """The heartbeat of a known connection does not renew its entry."""
        table: ConcurrentHashMap[Channel, ClientChannelInfo] | None = self.group_channel_table.get(group)
        known = None if table is None else table.get(client_channel_info.channel)
        stamp = None if known is None else known.last_update_timestamp
        original(self, group, client_channel_info)
        if known is not None and stamp is not None:
            known.last_update_timestamp = stamp

    return register_producer


@replace(ProducerManager, "do_channel_close_event")
def _keep_the_closed(self: ProducerManager, channel: Channel | None) -> None:
    del self, channel


# Topics and brokers ---------------------------------------------------------------------------------------------------


@replace(RebalanceImpl, "truncate_message_queue_not_my_topic")
async def _keep_the_unsubscribed(self: RebalanceImpl, threads: Threads) -> None:
    del self, threads


@replace(BrokerTables, "persist_topics")
def _write_no_topics(self: BrokerTables) -> None:
    del self


@replace(BrokerTables, "persist_groups")
def _write_no_groups(self: BrokerTables) -> None:
    del self


@replace(BrokerTables, "persist_consumer_offset")
def _write_no_offsets(self: BrokerTables) -> None:
    del self


@replace(RouteTables, "clean_offline_broker")
async def _forget_no_broker(self: RouteTables, threads: Threads) -> None:
    del self, threads


@around(RouteInfoManager, "scan_not_active_broker")
def _expire_early(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def scan_not_active_broker(self: RouteInfoManager, threads: Interleave) -> None:
        """What one registration did not reach is gone before the next one."""
        for addr, info in self.broker_live_table.entries():
            if info.last_update_timestamp + EARLY_MS < self.now_ms():
                self.broker_live_table.remove(addr)
                self.remove_broker_addr(addr)
        await original(self, threads)

    return scan_not_active_broker


BUGS = (
    Variant(
        "seeded-commit-one-too-high", "bug", "What is committed of a queue is one more than what is settled.",
        "seeded: off by one", replacements=(_one_too_high,),
    ),
    Variant(
        "seeded-greatest-settled", "bug", "The greatest settled offset is committed, also past what is worked on.",
        "seeded: a maximum for a minimum", replacements=(_greatest_settled,),
    ),
    Variant(
        "seeded-offsets-sent-at-the-end-only", "bug", "While a queue is held nothing of it is committed.",
        "seeded: a timer that was not started", replacements=(_no_timer, pulls_commit_nothing),
    ),
    Variant(
        "seeded-given-up-unsent", "bug", "Who gives a queue up does not commit what was settled last.",
        "seeded: two calls in the wrong order", replacements=(_forget_unsent,),
    ),
    Variant(
        "seeded-file-is-not-written", "bug", "A broadcasting consumer never writes its file.",
        "an idea: a timer that asks for the wrong kind of store", replacements=(_write_nothing,),
    ),
    Variant(
        "seeded-file-is-not-read", "bug", "A broadcasting consumer does not find its file.",
        "seeded: a wrong path", replacements=(_read_nothing,),
    ),
    Variant(
        "seeded-reset-is-ignored", "bug", "A client does not reset what it is told to reset.",
        "seeded: a request that nobody handles", replacements=(_reset_nothing,),
    ),
    Variant(
        "seeded-reset-goes-up-only", "bug", "A client resets no queue to less than it has in memory.",
        "seeded: the flag of a commit, set for a reset", replacements=(_reset_upwards,),
    ),
    Variant(
        "seeded-one-queue-is-reset", "bug", "Of the queues that it holds a client resets only the first one.",
        "seeded: a return in a loop", replacements=(_reset_one_queue,),
    ),
    Variant(
        "seeded-groups-share-offsets", "bug", "All groups of a broker commit to the same place.",
        "seeded: a key that lacks the group", replacements=(_commit_for_one_group, _query_for_one_group),
    ),
    Variant(
        "seeded-slave-copies-no-offsets", "bug", "A slave does not copy the offsets of its master.",
        "seeded: a call that was dropped", replacements=(_copy_no_offsets,),
    ),
    Variant(
        "seeded-groups-share-locks", "bug", "A lock counts for the queue whatever the group is.",
        "seeded: a key that lacks the group",
        replacements=(_lock_for_one_group, _is_locked_for_one_group, _unlock_for_one_group),
    ),
    Variant(
        "seeded-lease-is-not-renewed", "bug", "An orderly consumer locks a queue once.",
        "seeded: a timer that was not started", replacements=(_renew_nothing,),
    ),
    Variant(
        "seeded-no-goodbye", "bug", "Who leaves a group says nothing.",
        "seeded: a call that was dropped", replacements=(_say_nothing,), over=("goodbye_waits_for_heartbeats",),
    ),
    Variant(
        "seeded-join-is-not-announced", "bug", "The members are not told that one has come.",
        "seeded: a missing notification", replacements=(_announce_nobody,),
    ),
    Variant(
        "seeded-heartbeats-end-at-an-error", "bug", "A broker that does not answer keeps heartbeats from others.",
        "seeded: a return for a continue", replacements=(_end_at_an_error,),
    ),
    Variant(
        "seeded-producers-are-stamped-once", "bug", "The heartbeat of a known producer does not renew its entry.",
        "seeded: an assignment in the wrong branch", replacements=(_stamp_once,),
    ),
    Variant(
        "seeded-producers-outlive-connections", "bug", "A connection that ends stays in the producer groups.",
        "seeded: a listener that was not registered", replacements=(_keep_the_closed,),
    ),
    Variant(
        "seeded-unsubscribed-is-kept", "bug", "Who unsubscribes a topic keeps its queues.",
        "seeded: a call that was dropped", replacements=(_keep_the_unsubscribed,), over=("topic_is_left_in_order",),
    ),
    Variant(
        "seeded-topics-are-not-written", "bug", "A broker has the topics of its first start after each start.",
        "seeded: a file that is not written", replacements=(_write_no_topics,),
    ),
    Variant(
        "seeded-groups-are-not-written", "bug", "A broker has no subscription groups after each start.",
        "seeded: a file that is not written", replacements=(_write_no_groups,),
    ),
    Variant(
        "seeded-offsets-are-not-written", "bug", "A broker begins with no offsets after each start.",
        "seeded: a file that is not written", replacements=(_write_no_offsets,),
    ),
    Variant(
        "seeded-dead-brokers-stay-known", "bug", "A client does not forget a broker that no route has.",
        "seeded: a call that was dropped", replacements=(_forget_no_broker,),
    ),
    Variant(
        "seeded-brokers-expire-early", "bug", "A broker is dropped 45 s after its registration.",
        "seeded: a wrong unit", replacements=(_expire_early,),
    ),
)
