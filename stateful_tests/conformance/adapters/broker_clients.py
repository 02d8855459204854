"""Recordings of a broker's tables: consumers, producers, filters, queue locks, offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl.broker.bloom_filter import BloomFilter
from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_filter_manager import ConsumerFilterData, ConsumerFilterManager
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.producer_manager import ProducerManager
from impl.broker.rebalance_lock_manager import RebalanceLockManager
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.java_errors import not_null
from impl.decisions.subscription import SubscriptionData, build_subscription_data, is_tag_type
from impl.ports.remoting import Channel
from impl.ports.threads import UNINTERRUPTED, Interleave, run_now
from stateful_tests.conformance.adapters.sequence import (
    T0,
    Channels,
    ControlledClock,
    NamedChannel,
    Operations,
    queue,
    queue_fields,
    replay_steps,
)
from stateful_tests.conformance.replay import Adapter, Row

BLOOM_ERROR_RATE, BLOOM_EXPECTED = 20, 32  # of the recordings, and of BrokerConfig
STORE_MIN_OFFSET = 3  # of every queue in the recordings of the offset table


class RecordingListener:
    """Writes the events down, and forwards them to the filters as DefaultConsumerIdsChangeListener does."""

    def __init__(self) -> None:
        """Nothing heard yet."""
        self.events: list[list[Any]] = []
        self.filters: ConsumerFilterManager | None = None

    async def change(self, group: str, channels: Sequence[Channel], threads: Interleave) -> None:
        """CHANGE."""
        del threads
        names = [channel.name for channel in channels if isinstance(channel, NamedChannel)]
        self.events.append(["CHANGE", group, sorted(names)])

    async def unregister(self, group: str, threads: Interleave) -> None:
        """UNREGISTER."""
        del threads
        self.events.append(["UNREGISTER", group])
        not_null(self.filters).un_register(group)

    async def register(self, group: str, sub_list: Sequence[SubscriptionData], threads: Interleave) -> None:
        """REGISTER."""
        self.events.append(["REGISTER", group])
        await not_null(self.filters).register(group, sub_list, threads)


class _Clients(ControlledClock):
    """Consumer, producer and filter tables of one broker."""

    def __init__(self) -> None:
        super().__init__()
        self.channels = Channels()
        self.listener = RecordingListener()
        self.filters = self._fresh_filters()
        self.consumers = ConsumerManager(self.listener, self.now_ms)
        self.producers = ProducerManager(self.now_ms)
        self.operations: Operations = {
            "heartbeat": self._heartbeat,
            "unregister": self._unregister,
            "close": self._close,
            "scan": self._scan,
            "tick": self.tick,
            "clean": lambda _: self.filters.clean(),
            "reload": self._reload,
            "findSub": self._find_sub,
            "subCount": lambda step: self.consumers.find_subscription_data_count(step["group"]),
            "who": lambda step: sorted(self.consumers.query_topic_consume_by_who(step["topic"])),
            "ids": self._ids,
            "producerChannel": self._producer_channel,
        }

    def _fresh_filters(self) -> ConsumerFilterManager:
        filters = ConsumerFilterManager(BloomFilter(BLOOM_ERROR_RATE, BLOOM_EXPECTED), self.now_ms)
        self.listener.filters = filters
        return filters

    def _info(self, step: Row) -> ClientChannelInfo:
        channel = self.channels.named(step["ch"])
        return ClientChannelInfo(channel, step["clientId"], step.get("lang", ""), step.get("version", 0), self.now_ms())

    def _heartbeat(self, step: Row) -> list[bool]:
        info = self._info(step)
        updated = [
            run_now(self.consumers.register_consumer(
                info, _consumer_data(consumer), notify=consumer["notify"], threads=UNINTERRUPTED,
            ))
            for consumer in step["consumers"]
        ]
        for group in step["producers"]:
            self.producers.register_producer(group, info)
        return updated

    def _unregister(self, step: Row) -> None:
        info = self._info(step)
        if step["producerGroup"] is not None:
            self.producers.unregister_producer(step["producerGroup"], info)
        if step["consumerGroup"] is not None:
            run_now(self.consumers.unregister_consumer(
                step["consumerGroup"], info, notify=step["notify"], threads=UNINTERRUPTED,
            ))

    def _close(self, step: Row) -> None:
        channel = self.channels.named(step["ch"])
        self.producers.do_channel_close_event(channel)
        run_now(self.consumers.do_channel_close_event(channel, UNINTERRUPTED))

    def _scan(self, step: Row) -> None:
        del step
        run_now(self.producers.scan_not_active_channel(UNINTERRUPTED))
        run_now(self.consumers.scan_not_active_channel(UNINTERRUPTED))

    def _reload(self, step: Row) -> None:
        del step
        text = self.filters.encode()
        self.filters = self._fresh_filters()
        self.filters.decode(text)

    def _find_sub(self, step: Row) -> list[Any] | None:
        found = self.consumers.find_subscription_data(step["group"], step["topic"])
        return None if found is None else _subscription_fields(found)

    def _ids(self, step: Row) -> list[str | None] | None:
        info = self.consumers.get_consumer_group_info(step["group"])
        return None if info is None else sorted(info.get_all_client_id(), key=str)

    def _producer_channel(self, step: Row) -> str | None:
        channel = self.producers.find_channel(step["clientId"])
        return channel.name if isinstance(channel, NamedChannel) else None

    def observed(self, step: Row) -> dict[str, Any]:
        seen: dict[str, Any] = {"ev": self.listener.events, "s": self._state()}
        self.listener.events = []
        if step["op"] == "scan":
            seen["closed"] = list(self.channels.closed)
        return seen

    def _state(self) -> dict[str, Any]:
        return {
            "CT": {group: _group_fields(info) for group, info in self.consumers.consumer_table.entries()},
            "FD": {
                topic: {group: _filter_fields(data) for group, data in by_topic.group_filter_data.entries()}
                for topic, by_topic in self.filters.filter_data_by_topic.entries()
            },
            "PT": {
                group: {_name(channel): _info_fields(info) for channel, info in table.entries()}
                for group, table in self.producers.group_channel_table.entries()
            },
            "PC": {client_id: _name(channel) for client_id, channel in self.producers.client_channel_table.entries()},
        }


def _consumer_data(consumer: Row) -> ConsumerData:
    return ConsumerData(
        consumer["group"],
        consumer["type"],
        consumer["model"],
        consumer["from"],
        [_subscription(*fields) for fields in consumer["subs"]],
    )


def _subscription(topic: str, text: str, expression_type: str | None, sub_version: int) -> SubscriptionData:
    """The recorder makes tags of a text only for the types that mean tags."""
    made = SubscriptionData(topic, text)
    if is_tag_type(expression_type):
        made = build_subscription_data(topic, text)
    return SubscriptionData(topic, text, made.tags_set, made.code_set, sub_version, expression_type)


def _subscription_fields(data: SubscriptionData) -> list[Any]:
    return [data.sub_string, data.expression_type, data.sub_version, sorted(data.tags_set), sorted(data.code_set)]


def _group_fields(info: ConsumerGroupInfo) -> dict[str, Any]:
    return {
        "type": info.consume_type,
        "model": info.message_model,
        "from": info.consume_from_where,
        "last": info.last_update_timestamp - T0,
        "channels": {_name(channel): _info_fields(one) for channel, one in info.channel_info_table.entries()},
        "subs": {topic: _subscription_fields(data) for topic, data in info.subscription_table.entries()},
    }


def _name(channel: Channel) -> str:
    if not isinstance(channel, NamedChannel):
        raise TypeError(f"{channel!r} is no connection of a recording")
    return channel.name


def _info_fields(info: ClientChannelInfo) -> list[Any]:
    return [info.client_id, info.language, info.version, info.last_update_timestamp - T0]


def _filter_fields(data: ConsumerFilterData) -> dict[str, Any]:
    return {
        "expr": data.expression,
        "type": data.expression_type,
        "version": data.client_version,
        "born": data.born_time - T0,
        "dead": data.dead_time and data.dead_time - T0,
        "deadZero": data.dead_time == 0,
        "isDead": data.is_dead(),
        "bits": list(not_null(data.bloom_filter_data).bit_pos),
    }


class _Locks(ControlledClock):
    """The queue locks of one broker."""

    def __init__(self) -> None:
        super().__init__()
        self.locks = RebalanceLockManager(self.now_ms)
        self.operations: Operations = {
            "tick": self.tick, "tryLock": self._try_lock, "lock": self._lock, "unlock": self._unlock,
        }

    def _try_lock(self, step: Row) -> bool:
        return run_now(self.locks.try_lock(step["group"], queue(step["mq"]), step["cid"], UNINTERRUPTED))

    def _lock(self, step: Row) -> list[list[Any]]:
        mqs = [queue(fields) for fields in step["mqs"]]
        granted = run_now(self.locks.try_lock_batch(step["group"], mqs, step["cid"], UNINTERRUPTED))
        return [queue_fields(mq) for mq in sorted(granted)]

    def _unlock(self, step: Row) -> None:
        self.locks.unlock_batch(step["group"], [queue(fields) for fields in step["mqs"]], step["cid"])

    def observed(self, step: Row) -> dict[str, Any]:
        del step
        return {
            "s": {
                group: [
                    [queue_fields(mq), one.client_id, one.last_update_timestamp - T0, one.is_expired(self.now_ms())]
                    for mq, one in sorted(table.entries())
                ]
                for group, table in self.locks.mq_lock_table.entries()
            },
        }


class _Offsets:
    """The consumer offsets of one broker."""

    def __init__(self) -> None:
        self.offsets = ConsumerOffsetManager(lambda _topic, _queue_id: STORE_MIN_OFFSET)
        self.operations: Operations = {
            "commit": self._commit,
            "query": lambda step: self.offsets.query_offset(step["group"], step["topic"], step["queue"]),
            "queryAll": self._query_all,
            "clone": lambda step: self.offsets.clone_offset(step["group"], step["dest"], step["topic"]),
            "remove": lambda step: self.offsets.remove_offset(step["group"]),
            "groups": lambda step: sorted(self.offsets.which_group_by_topic(step["topic"])),
            "topics": lambda step: sorted(self.offsets.which_topic_by_consumer(step["group"])),
            "minOffset": self._min_offset,
            "encode": self._encode,
        }

    def _commit(self, step: Row) -> None:
        run_now(self.offsets.commit_offset(
            step["group"], step["topic"], step["queue"], step["offset"], UNINTERRUPTED,
        ))

    def _query_all(self, step: Row) -> dict[str, int] | None:
        found = self.offsets.query_offsets(step["group"], step["topic"])
        return None if found is None else {str(queue_id): offset for queue_id, offset in found.entries()}

    def _min_offset(self, step: Row) -> dict[str, int]:
        least = self.offsets.query_min_offset_in_all_group(step["topic"], step["filterGroups"])
        return {str(queue_id): offset for queue_id, offset in least.items()}

    def _encode(self, step: Row) -> str | None:
        """The recorder gives the text of small tables only; every table must survive its own text."""
        del step
        text = self.offsets.encode()
        again = ConsumerOffsetManager(self.offsets.min_offset_in_queue)
        again.decode(text)
        if again.offset_table != self.offsets.offset_table:
            return f"not read back from {text}"
        return text if len(self.offsets.offset_table) <= 1 else None

    def observed(self, step: Row) -> dict[str, Any]:
        del step
        return {
            "s": {
                key: {str(queue_id): offset for queue_id, offset in table.entries()}
                for key, table in self.offsets.offset_table.entries()
            },
        }


ADAPTERS: dict[str, Adapter] = {
    "broker-client-sequences": lambda row: replay_steps(row, _Clients()),
    "lock-sequences": lambda row: replay_steps(row, _Locks()),
    "broker-offset-sequences": lambda row: replay_steps(row, _Offsets()),
}
