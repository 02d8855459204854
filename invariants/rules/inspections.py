"""What operators are told when they look at a server: what its tables have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from impl import events
from impl.decisions.flags import FLAG_UNIT, FLAG_UNIT_SUB
from impl.decisions.route_queues import QueueData
from invariants.rules.match import machine_of
from invariants.rules.orders import ORDER_TOPIC_CONFIG
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.views import Views

Answer = tuple[Any, ...]
_NOBODY_KNOWS = object()
SYSTEM_ERROR, TOPIC_NOT_EXIST, QUERY_NOT_FOUND, CONSUMER_NOT_ONLINE = 1, 17, 22, 206  # ResponseCode


def refused(code: int) -> Answer:
    """What an operator is told who is not answered SUCCESS."""
    return "code", code


_NOTHING = {"key values": refused(QUERY_NOT_FOUND), "producers": refused(SYSTEM_ERROR)}
"""What a server says of nothing, if there never was anything; else it says that there is nothing now."""


class operators_are_told_what_is_so(Rule):
    """An operator who asks a server for its tables is told what it had, if that has not changed meanwhile.

    Of what is not there he is told by the code that says so.
    """

    cite = ("AdminBrokerProcessor#getConsumeStats, #getTopicStatsInfo, #getConsumerConnectionList, "
            "#getProducerConnectionList, #queryTopicConsumeByWho, Broker2Client#getConsumeStatus, "
            "#getEarliestMsgStoretime, #queryConsumeQueue, QueryMessageProcessor#viewMessageById, "
            "RouteInfoManager#getTopicsByCluster, #getSystemTopicList, #getUnitTopics, KVConfigManager#getKVConfig")
    about = "server what name"
    calm = True

    asked = Kept("server what name number", machine="server")

    @on(events.InquiryMade)
    def asks(self, _: int, __: str, event: events.InquiryMade) -> None:
        if event.what in ASKED_FOR:
            self.asked[tuple(event)] = as_it_is(self.views, *event[:3])

    @on(events.InquiryAnswered)
    def answers(self, _: int, at: str, event: events.InquiryAnswered) -> Iterator[Told]:
        before = self.asked.pop(tuple(event[:4]), _NOBODY_KNOWS)
        now = _NOBODY_KNOWS if before is _NOBODY_KNOWS else as_it_is(self.views, *event[:3])
        answer = () if event.answer == _NOTHING.get(event.what) else event.answer
        if before is not _NOBODY_KNOWS and before == now != answer:
            yield self.told(f"{at} asks {event.server} for the {event.what} of {event.name}, and is told "
                            f"{event.answer} for {now}", *event[:3])


def as_it_is(views: Views, server: str, what: str, name: str) -> Any:
    """What there is to be told; another object each time if a client that is to be asked is about to leave."""
    return ASKED_FOR[what](views, server, *name.split())


def _consume_stats(views: Views, server: str, group: str, topic: str) -> Answer:
    """Of each queue to read its end, what the group has committed, and when the message before that was stored."""
    subscribed, data = views.subscriptions(server, group), views.topics(server).get(topic)
    if data is None or (subscribed and topic not in subscribed):
        return ()
    offsets = views.committed_of(server, group, topic) or {}
    return tuple((queue_id, views.queue_end(server, topic, queue_id), max(offsets.get(queue_id, 0), 0),
                  views.stored_ms(server, topic, queue_id, offsets.get(queue_id, 0) - 1) or 0)
                 for queue_id in range(data.read_queue_nums))


def _topic_stats(views: Views, server: str, topic: str) -> Answer:
    """Of each queue to write its ends, and when its last message was stored."""
    data = views.topics(server).get(topic)
    if data is None:
        return refused(TOPIC_NOT_EXIST)
    ends = [views.stored_at(server, topic, one) for one in range(data.write_queue_nums)]
    return tuple((queue_id, found.min_offset, found.max_offset,
                  views.stored_ms(server, topic, queue_id, found.max_offset - 1) or 0)
                 for queue_id, found in enumerate(ends) if found is not None)


def _consumers(views: Views, server: str, group: str) -> Answer:
    """How the group consumes, who its members are, and what they subscribe."""
    consumed = views.consumed_as(server, group)
    subscribed = views.subscriptions(server, group).items()
    return refused(CONSUMER_NOT_ONLINE) if consumed is None else (
        *consumed, _pairs(views.members(server, group)),
        tuple(sorted((topic, one.sub_string, one.sub_version) for topic, one in subscribed)))


def _producers(views: Views, server: str, group: str) -> Answer:
    return _pairs({connection: who for (of, connection), who in views.producers(server).items() if of == group})


def _who_consumes(views: Views, server: str, topic: str) -> Answer:
    subscribing = {group for group in views.groups(server) if topic in views.subscriptions(server, group)}
    return tuple(sorted(subscribing | {group for group, of in views.groups_with_offsets(server) if of == topic}))


def _progress(views: Views, server: str, group: str, topic: str) -> Any:
    """Of each member the offsets that it has in memory."""
    members = {machine_of(connection): who for connection, who in views.members(server, group).items()}
    running = {one.machine for one in views.consumers() if one.group == group and one.service_state == "RUNNING"}
    if not running.issuperset(members):
        return object()
    return refused(SYSTEM_ERROR) if not members else tuple(sorted((str(who), tuple(sorted(
        (mq, offset) for mq, offset in views.offsets(machine, group).items() if mq.topic == topic)))
        for machine, who in members.items()))


def _end_of(views: Views, server: str, topic: str, queue_id: str) -> Answer:
    return (views.queue_end(server, topic, int(queue_id)),)


def _begin_of(views: Views, server: str, topic: str, queue_id: str) -> Answer:
    found = views.stored_at(server, topic, int(queue_id))
    return () if found is None else (found.min_offset,)


def _message(views: Views, server: str, offset: str) -> Answer:
    """Where in the log a message is, and its key."""
    return tuple((one.commit_log_offset, one.key) for one in views.log_records(server)
                 if one.commit_log_offset == int(offset))


def _earliest(views: Views, server: str, topic: str, queue_id: str) -> Answer:
    """When the first message of a queue was stored; -1: it has none."""
    found = views.stored_at(server, topic, int(queue_id))
    ms = None if found is None else views.stored_ms(server, topic, int(queue_id), found.min_offset)
    return (-1 if ms is None else ms,)


def _units(views: Views, server: str, topic: str, queue_id: str, first: str, most: str) -> Answer:
    """Both ends of a queue, and where in the log the messages are that its units name; they lie in one file."""
    ends = views.queue_units(server).get((topic, int(queue_id)))
    if ends is None:
        return refused(SYSTEM_ERROR)
    named = range(int(first), min(int(first) + int(most), ends[1]))
    found = tuple(views.queue_unit(server, topic, int(queue_id), one) for one in named)
    return (*ends, found) if found else ()


def _topics_of_broker(views: Views, server: str) -> Answer:
    return tuple(sorted((topic, *data[1:]) for topic, data in views.topics(server).items()))


def _groups_of_broker(views: Views, server: str) -> Answer:
    groups = views.subscription_groups(server)
    return tuple(sorted((group, *(views.group_config(server, group) or ())) for group in groups))


def _topics_of_cluster(views: Views, server: str, cluster: str) -> Answer:
    names = views.clusters(server).get(cluster, ())
    return tuple(sorted(topic for topic, datas in views.queue_datas(server).items()
                        if any(data.broker_name in names for data in datas)))


def _system_topics(views: Views, server: str) -> Answer:
    """The names of clusters and brokers are topics, too."""
    clusters = views.clusters(server)
    return tuple(sorted({*clusters, *(name for names in clusters.values() for name in names)}))


def _clusters(views: Views, server: str) -> Answer:
    clusters = views.clusters(server)
    return _pairs(clusters), tuple(sorted((name, broker_id, addr, _cluster_of(clusters, name))
                                          for (name, broker_id), addr in views.addresses(server).items()))


def _cluster_of(clusters: dict[str, tuple[str, ...]], name: str) -> str | None:
    return next((cluster for cluster, names in clusters.items() if name in names), None)


def _route(views: Views, server: str, topic: str) -> Answer:
    """Its queues, clusters and addresses of their brokers, and its order, if name servers are told to say it."""
    clusters, datas = views.clusters(server), views.queue_datas(server).get(topic, ())
    names = {data.broker_name for data in datas}
    addresses: dict[str, list[tuple[int, str]]] = {}
    for (name, broker_id), addr in sorted(views.addresses(server).items()):
        if name in names:
            addresses.setdefault(name, []).append((broker_id, addr))
    order = views.key_values(server).get(f"{ORDER_TOPIC_CONFIG} {topic}") if views.says_order(server) else None
    return refused(TOPIC_NOT_EXIST) if not addresses else (
        tuple(sorted(map(tuple, datas))), tuple(
            (name, _cluster_of(clusters, name), tuple(found)) for name, found in addresses.items()), order)


def _flagged(fits: Callable[[QueueData], bool]) -> Callable[[Views, str], Answer]:
    def topics(views: Views, server: str) -> Answer:
        return tuple(sorted(topic for topic, datas in views.queue_datas(server).items() if fits(datas[0])))

    return topics


def _key_values(views: Views, server: str, namespace: str) -> Answer:
    found = ((key.split(), value) for key, value in views.key_values(server).items())
    return tuple(sorted((key, value) for (of, key), value in found if of == namespace))


def _key_value(views: Views, server: str, namespace: str, key: str) -> Answer:
    values = views.key_values(server)
    return (values[f"{namespace} {key}"],) if f"{namespace} {key}" in values else refused(QUERY_NOT_FOUND)


def _pairs(table: dict[str, Any]) -> Answer:
    return tuple(sorted(table.items(), key=str))


ASKED_FOR: dict[str, Callable[..., Any]] = {
    "consume stats": _consume_stats, "topic stats": _topic_stats, "consumers": _consumers, "producers": _producers,
    "consuming groups": _who_consumes, "progress": _progress, "end": _end_of, "begin": _begin_of,
    "message": _message, "earliest message": _earliest, "units": _units,
    "broker's topics": _topics_of_broker, "broker's groups": _groups_of_broker,
    "members": lambda views, server, group: tuple(views.listed(server, group)) or refused(SYSTEM_ERROR),
    "routed topics": lambda views, server: tuple(sorted(views.queue_datas(server))),
    "cluster's topics": _topics_of_cluster, "system topics": _system_topics, "clusters": _clusters,
    "route": _route,
    "unit topics": _flagged(lambda data: bool(data.topic_sys_flag & FLAG_UNIT)),
    "unit subscribed topics": _flagged(lambda data: bool(data.topic_sys_flag & FLAG_UNIT_SUB)),
    "key values": _key_values, "key value": _key_value,
}
"""What operators ask servers for, and what that is. The rest of the arguments are the words of its name."""
