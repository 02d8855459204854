"""Queue lists that a client makes from a topic's route, and when a route counts as changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from impl.decisions.flags import PERM_READ, PERM_WRITE, has_flag
from impl.decisions.java_errors import ArrayIndexOutOfBoundsError
from impl.decisions.java_text import parse_integer, split, utf16_key
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID


class QueueData(NamedTuple):
    """`common.protocol.route.QueueData`: the queues of a topic at one broker."""

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_sys_flag: int


class BrokerData(NamedTuple):
    """`common.protocol.route.BrokerData`: a broker's addresses by id, 0 the master."""

    cluster: str
    broker_name: str
    broker_addrs: Mapping[int, str]


class TopicRouteData(NamedTuple):
    """`common.protocol.route.TopicRouteData`."""

    queue_datas: tuple[QueueData, ...] = ()
    broker_datas: tuple[BrokerData, ...] = ()
    order_topic_conf: str | None = None


@dataclass(frozen=True, slots=True)
class PublishQueues:
    """What a producer may send to, in order, and whether the order is configured."""

    queues: list[MessageQueue]
    order_topic: bool


def sorted_queue_datas(queue_datas: Sequence[QueueData]) -> list[QueueData]:
    """QueueData#compareTo's order: by broker name."""
    return sorted(queue_datas, key=lambda data: utf16_key(data.broker_name))


def _ordered_queues(topic: str, order_topic_conf: str) -> list[MessageQueue]:
    queues: list[MessageQueue] = []
    for broker in split(order_topic_conf, ";"):
        item = split(broker, ":")
        if len(item) < 2:  # noqa: PLR2004  name and count
            raise ArrayIndexOutOfBoundsError(f"Index 1 out of bounds for length {len(item)}")
        queues += [MessageQueue(topic, item[0], queue_id) for queue_id in range(parse_integer(item[1], 32))]
    return queues


def topic_publish_queues(topic: str, route: TopicRouteData) -> PublishQueues:
    """MQClientInstance#topicRouteData2TopicPublishInfo.

    A configured order is taken as it is; else the writeable queues of brokers that have a master, by broker name.
    Raises what Java throws for a broken orderTopicConf.
    """
    if route.order_topic_conf:
        return PublishQueues(_ordered_queues(topic, route.order_topic_conf), order_topic=True)
    queues: list[MessageQueue] = []
    for data in sorted_queue_datas(route.queue_datas):
        broker = next((one for one in route.broker_datas if one.broker_name == data.broker_name), None)
        if has_flag(data.perm, PERM_WRITE) and broker is not None and MASTER_ID in broker.broker_addrs:
            queues += [MessageQueue(topic, data.broker_name, queue_id) for queue_id in range(data.write_queue_nums)]
    return PublishQueues(queues, order_topic=False)


def topic_subscribe_queues(topic: str, route: TopicRouteData) -> list[MessageQueue]:
    """MQClientInstance#topicRouteData2TopicSubscribeInfo: the readable queues, each once, in their order."""
    queues = {
        MessageQueue(topic, data.broker_name, queue_id)
        for data in route.queue_datas if has_flag(data.perm, PERM_READ)
        for queue_id in range(data.read_queue_nums)
    }
    return sorted(queues)


def topic_route_data_is_change(old: TopicRouteData | None, new: TopicRouteData | None) -> bool:
    """MQClientInstance#topicRouteDataIsChange: order, queues and brokers, both lists sorted by broker name.

    The cluster of a broker does not count (BrokerData#equals).
    """
    if old is None or new is None:
        return True
    return (
        old.order_topic_conf != new.order_topic_conf
        or sorted_queue_datas(old.queue_datas) != sorted_queue_datas(new.queue_datas)
        or _comparable_brokers(old) != _comparable_brokers(new)
    )


def _comparable_brokers(route: TopicRouteData) -> list[tuple[str, Mapping[int, str]]]:
    brokers = sorted(route.broker_datas, key=lambda broker: utf16_key(broker.broker_name))
    return [(broker.broker_name, broker.broker_addrs) for broker in brokers]
