"""What operators look at: they ask servers for their tables, and report what they are told."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import astuple
from functools import partial
from typing import Any, NamedTuple

from impl.common import headers
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP
from impl.events import InquiryAnswered, InquiryMade
from impl.ports.remoting import Command
from invariants.rules.inspections import refused
from stateful_tests.worlds.deeds import (
    GROUP,
    OPERATOR,
    OTHER_TOPIC,
    TOPIC,
    Done,
    living_brokers,
    one_of,
    uncaught,
)
from stateful_tests.worlds.orders import ORDERED_GROUPS, ORDERED_KEYS, ORDERED_TOPICS, SHRUNK_TOPIC
from stateful_tests.worlds.world import World

INQUIRIES_AT_A_TIME = 6
CLUSTERS = ("DefaultCluster", "another-cluster")
"""One that there is, and one that there is not."""
_TOPICS = (TOPIC, OTHER_TOPIC, SHRUNK_TOPIC, *ORDERED_TOPICS)
_GROUPS = (GROUP, *ORDERED_GROUPS)


class Question(NamedTuple):
    """One that is put to a server: what is asked for, of which name, the request, and what its answer says.

    said -- None of what it says: that is not reported.
    """

    what: str
    name: str
    request: Command
    said: Callable[[Command], tuple[Any, ...] | None]


class Inquiry(NamedTuple):
    """Something that can be asked: names to ask for, the request, and what its answer says, of its body or header."""

    names: tuple[str, ...]
    request: Callable[..., Command]
    said: Callable[[Any], tuple[Any, ...]]


def look_at_brokers(world: World) -> Done:
    """An operator looks at several tables of a broker."""
    broker = one_of(world, "which broker", living_brokers(world))
    return _inquire(world, broker, world.brokers[broker].broker_addr, OF_BROKERS)


def look_at_name_servers(world: World) -> Done:
    """An operator looks at several tables of a name server."""
    namesrv = one_of(world, "which name server", [*world.namesrvs])
    return _inquire(world, namesrv, f"{namesrv}:9876", OF_NAME_SERVERS)


def asking(
    world: World, inquiry: InquiryMade, address: str, request: Command,
    said: Callable[[Command], tuple[Any, ...] | None], timeout_ms: int = 5_000,
) -> Callable[[], Coroutine[Any, Any, None]]:
    """A job for the operator's machine, which ends nothing but itself: ask a server, and report it.

    said -- what an answer says; None: that is not reported.
    """
    node, client = world.simulation.nodes[OPERATOR], world.testers[OPERATOR]

    async def ask() -> None:
        node.trace(inquiry)
        told = said(await client.invoke_sync(address, request, timeout_ms))
        if told is not None:
            node.trace(InquiryAnswered(*inquiry, told))

    return uncaught(ask)


def coded(answer: Command) -> tuple[int]:
    """That an answer says its code."""
    return (int(answer.code),)


def ask_all(world: World, server: str, address: str, questions: Sequence[Question]) -> None:
    """Put these questions to a server, one after another."""
    async def ask() -> None:
        for number, (what, name, request, said) in enumerate(questions, world.now_ms):
            await asking(world, InquiryMade(server, what, name, number), address, request, said)()

    world.call(OPERATOR, ask)


def _said(inquiry: Inquiry, answer: Command) -> tuple[Any, ...]:
    return inquiry.said(answer) if answer.code == ResponseCode.SUCCESS else refused(int(answer.code))


def _inquire(world: World, server: str, address: str, inquiries: dict[str, Inquiry]) -> Done:
    asked = [one_of(world, "what an operator asks for", [*inquiries]) for _ in range(INQUIRIES_AT_A_TIME)]
    chosen = [(what, one_of(world, "of whom", inquiries[what].names)) for what in asked]
    ask_all(world, server, address, [
        Question(what, name, inquiries[what].request(*name.split()), partial(_said, inquiries[what]))
        for what, name in chosen])
    return server, "; ".join(f"is asked for the {what} of {name}" for what, name in chosen)


def _command(code: int, header: Callable[..., Any]) -> Callable[..., Command]:
    return lambda *words: Command(code, header(*words))


def _bare(code: int) -> Callable[[], Command]:
    return lambda: Command(code)


def _of_queue(code: int) -> Callable[[str, str], Command]:
    return lambda topic, queue_id: Command(code, headers.QueueOffsetRequestHeader(topic, int(queue_id)))


def _by_queue(answer: Command) -> tuple[Any, ...]:
    return tuple(sorted((mq.queue_id, *said) for mq, said in answer.body.offset_table.items()))


def _listed(answer: Command) -> tuple[Any, ...]:
    return tuple(sorted(answer.body))


def _offset(answer: Command) -> tuple[Any, ...]:
    return (answer.header.offset,)


def _connections(answer: Command) -> tuple[Any, ...]:
    pairs = ((one.client_addr, one.client_id) for one in answer.body.connection_set)
    return tuple(sorted(pairs, key=str))


def _consumers(answer: Command) -> tuple[Any, ...]:
    body = answer.body
    subscribed = ((topic, one.sub_string, one.sub_version) for topic, one in body.subscription_table.items())
    return (body.consume_type, body.message_model, body.consume_from_where, _connections(answer),
            tuple(sorted(subscribed)))


def _progress(answer: Command) -> tuple[Any, ...]:
    table = answer.body.consumer_table.items()
    return tuple(sorted((str(who), tuple(sorted(offsets.items()))) for who, offsets in table))


def _topics(answer: Command) -> tuple[Any, ...]:
    table = answer.body.topic_config_table.values()
    return tuple(sorted((one.topic_name, one.read_queue_nums, one.write_queue_nums, one.perm, one.topic_sys_flag)
                        for one in table))


def _groups(answer: Command) -> tuple[Any, ...]:
    return tuple(sorted(astuple(one) for one in answer.body.subscription_group_table.values()))


def _clusters(answer: Command) -> tuple[Any, ...]:
    brokers, clusters = answer.body
    by_cluster = ((cluster, tuple(sorted(names))) for cluster, names in clusters.items())
    addresses = ((name, broker_id, addr, data.cluster) for name, data in brokers.items()
                 for broker_id, addr in data.broker_addrs.items())
    return tuple(sorted(by_cluster, key=str)), tuple(sorted(addresses))


def _route(answer: Command) -> tuple[Any, ...]:
    route = answer.body
    addresses = ((data.broker_name, data.cluster, tuple(sorted(data.broker_addrs.items())))
                 for data in route.broker_datas)
    return tuple(sorted(map(tuple, route.queue_datas))), tuple(sorted(addresses)), route.order_topic_conf


_EVERYTHING = ("",)
_QUEUES = tuple(f"{topic} {queue_id}" for topic in (TOPIC, OTHER_TOPIC) for queue_id in (0, 1))
_OF_GROUPS = tuple(f"{group} {topic}" for group in _GROUPS for topic in _TOPICS)
OF_BROKERS = {
    "consume stats": Inquiry(
        _OF_GROUPS, _command(RequestCode.GET_CONSUME_STATS, headers.GetConsumeStatsRequestHeader), _by_queue),
    "topic stats": Inquiry(
        _TOPICS, _command(RequestCode.GET_TOPIC_STATS_INFO, headers.TopicRequestHeader), _by_queue),
    "consumers": Inquiry(_GROUPS, _command(
        RequestCode.GET_CONSUMER_CONNECTION_LIST, headers.ConsumerGroupRequestHeader), _consumers),
    "producers": Inquiry((CLIENT_INNER_PRODUCER_GROUP,), _command(
        RequestCode.GET_PRODUCER_CONNECTION_LIST, headers.ProducerGroupRequestHeader), _connections),
    "consuming groups": Inquiry(
        _TOPICS, _command(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, headers.TopicRequestHeader), _listed),
    "progress": Inquiry((f"{GROUP} {TOPIC}", f"{GROUP} {OTHER_TOPIC}"), lambda group, topic: Command(
        RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, headers.GetConsumerStatusRequestHeader(topic, group)),
        _progress),
    "members": Inquiry(
        _GROUPS, _command(RequestCode.GET_CONSUMER_LIST_BY_GROUP, headers.ConsumerGroupRequestHeader), _listed),
    "end": Inquiry(_QUEUES, _of_queue(RequestCode.GET_MAX_OFFSET), _offset),
    "begin": Inquiry(_QUEUES, _of_queue(RequestCode.GET_MIN_OFFSET), _offset),
    "broker's topics": Inquiry(_EVERYTHING, _bare(RequestCode.GET_ALL_TOPIC_CONFIG), _topics),
    "broker's groups": Inquiry(_EVERYTHING, _bare(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG), _groups),
}
"""By the names that `invariants.rules.inspections` has for them, as those of name servers."""
OF_NAME_SERVERS = {
    "routed topics": Inquiry(_EVERYTHING, _bare(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER), _listed),
    "cluster's topics": Inquiry(
        CLUSTERS, lambda cluster: Command(RequestCode.GET_TOPICS_BY_CLUSTER, cluster), _listed),
    "system topics": Inquiry(
        _EVERYTHING, _bare(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS), lambda answer: tuple(sorted(answer.body[0]))),
    "clusters": Inquiry(_EVERYTHING, _bare(RequestCode.GET_BROKER_CLUSTER_INFO), _clusters),
    "route": Inquiry(_TOPICS, _command(RequestCode.GET_ROUTEINFO_BY_TOPIC, headers.TopicRequestHeader), _route),
    "unit topics": Inquiry(_EVERYTHING, _bare(RequestCode.GET_UNIT_TOPIC_LIST), _listed),
    "unit subscribed topics": Inquiry(_EVERYTHING, _bare(RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST), _listed),
    "key values": Inquiry(
        ("notes", "limits"), lambda namespace: Command(
            RequestCode.GET_KVLIST_BY_NAMESPACE, headers.KVConfigRequestHeader(namespace, None, None)),
        lambda answer: tuple(sorted(answer.body.items()))),
    "key value": Inquiry(
        tuple(" ".join(key) for key in ORDERED_KEYS), lambda namespace, key: Command(
            RequestCode.GET_KV_CONFIG, headers.KVConfigRequestHeader(namespace, key, None)),
        lambda answer: (answer.body,)),
}
