"""ConsumerFilterManager: the compiled SQL92 subscriptions of a broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from impl.broker.bloom_filter import BloomFilter, BloomFilterData
from impl.broker.sql_filter import compile_sql92
from impl.common.config_manager import as_fastjson, parsed_json
from impl.decisions.java_errors import JavaError, NullPointerError, not_null
from impl.decisions.subscription import SQL92, SubscriptionData, is_tag_type
from impl.hash_map import ConcurrentHashMap
from impl.ports.threads import Interleave

FILTER_DATA_CLEAN_TIME_SPAN_MS = 24 * 3600 * 1000  # BrokerConfig.filterDataCleanTimeSpan
_DEAD_BEFORE_LOAD_MS = 30 * 1000


class Expression(Protocol):
    """`filter.expression.Expression`: an expression over the properties of a message."""

    def evaluate(self, properties: Mapping[str, str] | None) -> object:
        """Expression#evaluate: a truth value, or something else; raises a JavaError."""
        ...


def compile_expression(expression: str, expression_type: str | None) -> Expression:
    """FilterFactory#get(type).compile: raises a JavaError for a text or a type that is none."""
    if expression_type != SQL92:
        raise NullPointerError  # FilterFactory#get knows no other type
    return compile_sql92(expression)


@dataclass(slots=True, eq=False)
class ConsumerFilterData:
    """`broker.filter.ConsumerFilterData`: one group's filter of one topic.

    born_time, dead_time -- milliseconds since 1970 by the broker's clock; 0 for never.
    client_version -- the subVersion that it came with. bloom_filter_data -- None: of one that came with a pull.
    compiled_expression -- None: the text of a file that does not compile any more.
    """

    consumer_group: str
    topic: str
    expression: str
    expression_type: str
    born_time: int
    client_version: int
    bloom_filter_data: BloomFilterData | None
    compiled_expression: Expression | None = None
    dead_time: int = 0

    def is_dead(self) -> bool:
        """ConsumerFilterData#isDead: also of what was born and died in the same millisecond."""
        return self.dead_time >= self.born_time

    def is_msg_in_live(self, msg_store_time_ms: int) -> bool:
        """ConsumerFilterData#isMsgInLive: whether a message is younger than the filter."""
        return msg_store_time_ms > self.born_time

    def how_long_after_death(self, now_ms: int) -> int:
        """ConsumerFilterData#howLongAfterDeath, -1 for the living."""
        return now_ms - self.dead_time if self.is_dead() else -1


class FilterDataMapByTopic:
    """`broker.filter.ConsumerFilterManager.FilterDataMapByTopic`: one topic's filters by group; no lock."""

    def __init__(self, topic: str, now_ms: Callable[[], int]) -> None:
        """Start empty."""
        self.topic = topic
        self.now_ms = now_ms
        self.group_filter_data: ConcurrentHashMap[str, ConsumerFilterData] = ConcurrentHashMap()

    def un_register(self, consumer_group: str) -> None:
        """FilterDataMapByTopic#unRegister: the living die now."""
        data = self.group_filter_data.get(consumer_group)
        if data is not None and not data.is_dead():
            data.dead_time = self.now_ms()

    def register(self, subscription: SubscriptionData, consumer_group: str, bloom: BloomFilterData) -> bool:
        """FilterDataMapByTopic#register: whether the subscription counts from now on.

        A version that is not newer than the stored one is ignored, but the same version revives the dead. A newer text
        that does not compile removes the data.
        """
        old = self.group_filter_data.get(consumer_group)
        if old is None:
            data = self.build(subscription, consumer_group, bloom)
            if data is not None:
                self.group_filter_data.put_if_absent(consumer_group, data)
            return data is not None
        if subscription.sub_version <= old.client_version:
            revived = subscription.sub_version == old.client_version and old.is_dead()
            old.dead_time = 0 if revived else old.dead_time
            return revived
        same = (old.expression, old.expression_type) == (subscription.sub_string, subscription.expression_type)
        if same and old.bloom_filter_data == bloom:
            old.client_version = subscription.sub_version
            old.dead_time = 0 if old.is_dead() else old.dead_time
            return True
        data = self.build(subscription, consumer_group, bloom)
        if data is None:
            self.group_filter_data.remove(consumer_group)
            return False
        self.group_filter_data.put(consumer_group, data)
        return True

    def build(
        self, subscription: SubscriptionData, consumer_group: str, bloom: BloomFilterData,
    ) -> ConsumerFilterData | None:
        """ConsumerFilterManager#build: None for a text that does not compile, whatever is wrong with it."""
        return built_filter_data(consumer_group, subscription, subscription.sub_version, self.now_ms(), bloom)


def built_filter_data(
    consumer_group: str, subscription: SubscriptionData, client_version: int, born_ms: int = 0,
    bloom: BloomFilterData | None = None,
) -> ConsumerFilterData | None:
    """ConsumerFilterManager#build: None for a text that does not compile, whatever is wrong with it."""
    expression, expression_type = subscription.sub_string, subscription.expression_type or ""
    try:
        compiled = compile_expression(expression, expression_type)
    except JavaError:
        return None
    return ConsumerFilterData(
        consumer_group, subscription.topic or "", expression, expression_type, born_ms, client_version, bloom, compiled)


_TEXT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_NO_FILTERS = _TEXT.encode({"filterDataByTopic": {}})


class ConsumerFilterManager:
    """`broker.filter.ConsumerFilterManager`: ConcurrentHashMaps, no lock.

    bloom_filter -- its geometry is that of the consume queues' filter maps. now_ms -- the clock of the broker.

    filter_data_by_topic -- topic to its filters, the dead ones included.
    """

    def __init__(self, bloom_filter: BloomFilter, now_ms: Callable[[], int]) -> None:
        """Start empty."""
        self.bloom_filter = bloom_filter
        self.now_ms = now_ms
        self.filter_data_by_topic: ConcurrentHashMap[str, FilterDataMapByTopic] = ConcurrentHashMap(256)

    async def register(self, consumer_group: str, sub_list: Sequence[SubscriptionData], threads: Interleave) -> None:
        """ConsumerFilterManager#register(group, subs): then the group's filters of other topics die.

        A topic that was SQL92 and is TAG now is still named, so its old filter lives on.
        """
        for subscription in sub_list:
            self.register_topic(consumer_group, subscription)
            await threads.interleave("ConsumerFilterManager#register: after a topic")
        topics = {subscription.topic for subscription in sub_list}
        for filter_data in self.get_by_group(consumer_group):
            if filter_data.topic not in topics and not filter_data.is_dead():
                filter_data.dead_time = self.now_ms()

    def register_topic(self, consumer_group: str, subscription: SubscriptionData) -> bool:
        """ConsumerFilterManager#register of one topic; tag subscriptions and empty texts are ignored."""
        if is_tag_type(subscription.expression_type) or not subscription.sub_string:
            return False
        topic = not_null(subscription.topic)
        by_topic = self.filter_data_by_topic.get(topic)
        if by_topic is None:
            temp = FilterDataMapByTopic(topic, self.now_ms)
            by_topic = self.filter_data_by_topic.put_if_absent(topic, temp) or temp
        return by_topic.register(subscription, consumer_group, self.bloom_filter.generate(f"{consumer_group}#{topic}"))

    def un_register(self, consumer_group: str) -> None:
        """ConsumerFilterManager#unRegister: all living filters of the group die."""
        for by_topic in self.filter_data_by_topic.values():
            by_topic.un_register(consumer_group)

    def get(self, topic: str, consumer_group: str) -> ConsumerFilterData | None:
        """ConsumerFilterManager#get(topic, group)."""
        by_topic = self.filter_data_by_topic.get(topic)
        return None if by_topic is None else by_topic.group_filter_data.get(consumer_group)

    def get_by_group(self, consumer_group: str) -> list[ConsumerFilterData]:
        """ConsumerFilterManager#getByGroup."""
        found = (by_topic.group_filter_data.get(consumer_group) for by_topic in self.filter_data_by_topic.values())
        return [filter_data for filter_data in found if filter_data is not None]

    def clean(self) -> None:
        """ConsumerFilterManager#clean: drop what has been dead for 24 h, and topics without a filter."""
        for topic, by_topic in self.filter_data_by_topic.entries():
            for group, filter_data in by_topic.group_filter_data.entries():
                if filter_data.how_long_after_death(self.now_ms()) >= FILTER_DATA_CLEAN_TIME_SPAN_MS:
                    by_topic.group_filter_data.remove(group)
            if by_topic.group_filter_data.is_empty():
                self.filter_data_by_topic.remove(topic)

    def encode(self) -> str:
        """ConsumerFilterManager#encode: clean, then JSON text, for consumerFilter.json."""
        self.clean()
        if self.filter_data_by_topic.is_empty():
            return _NO_FILTERS
        document = {
            topic: {
                "groupFilterData": {group: _to_json(data) for group, data in by_topic.group_filter_data.entries()},
                "topic": topic,
            }
            for topic, by_topic in self.filter_data_by_topic.entries()
        }
        return _TEXT.encode({"filterDataByTopic": document})

    def decode(self, json_string: str) -> None:
        """ConsumerFilterManager#decode: everybody is taken for dead; another filter geometry discards it all.

        Raises IllegalArgumentError for a text that is no such file.
        """
        with as_fastjson():
            self._decode(parsed_json(json_string)["filterDataByTopic"])

    def _decode(self, by_topics: Mapping[str, Any]) -> None:
        loaded: ConcurrentHashMap[str, FilterDataMapByTopic] = ConcurrentHashMap()
        for topic, by_topic in by_topics.items():
            filters = FilterDataMapByTopic(topic, self.now_ms)
            loaded.put(topic, filters)
            for group, document in by_topic["groupFilterData"].items():
                filter_data = _from_json(document)
                filters.group_filter_data.put(group, filter_data)
                if not self.bloom_filter.is_valid(filter_data.bloom_filter_data):
                    return
                if filter_data.dead_time == 0:
                    filter_data.dead_time = max(filter_data.born_time, self.now_ms() - _DEAD_BEFORE_LOAD_MS)
        self.filter_data_by_topic = loaded


def filter_data_text(data: ConsumerFilterData | None) -> str:
    """JSON#toJSONString of a filter, without the indentation that Java asks for."""
    return "null" if data is None else _TEXT.encode(_to_json(data))


def _to_json(data: ConsumerFilterData) -> dict[str, Any]:
    bloom = not_null(data.bloom_filter_data)
    return {
        "bloomFilterData": {"bitNum": bloom.bit_num, "bitPos": bloom.bit_pos},
        "bornTime": data.born_time,
        "clientVersion": data.client_version,
        "consumerGroup": data.consumer_group,
        "dead": data.is_dead(),
        "deadTime": data.dead_time,
        "expression": data.expression,
        "expressionType": data.expression_type,
        "topic": data.topic,
    }


def _from_json(document: Mapping[str, Any]) -> ConsumerFilterData:
    bloom = document["bloomFilterData"]
    return ConsumerFilterData(
        consumer_group=document["consumerGroup"],
        topic=document["topic"],
        expression=document["expression"],
        expression_type=document["expressionType"],
        born_time=document["bornTime"],
        client_version=document["clientVersion"],
        bloom_filter_data=BloomFilterData(tuple(bloom["bitPos"]), bloom["bitNum"]),
        compiled_expression=_compiled(document["expression"], document["expressionType"]),
        dead_time=document["deadTime"],
    )


def _compiled(expression: str, expression_type: str) -> Expression | None:
    """What a text in the file means; None for one that does not compile, which is only logged."""
    try:
        return compile_expression(expression, expression_type)
    except JavaError:
        return None
