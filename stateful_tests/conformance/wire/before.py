"""Which topics and brokers were there before a recording began: read from all of its frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from impl.common.fastjson.deserializers import from_json
from impl.common.message_const import PROPERTY_CLUSTER
from impl.common.message_id import decode_message_id
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_text import utf8_text
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX, RMQ_SYS_OFFSET_MOVED_EVENT
from stateful_tests.conformance.wire.contents import topic_config
from stateful_tests.conformance.wire.reading import consumers_of, messages_of, number, registered
from stateful_tests.conformance.wire.recorded import Frame, Scenario


def has_slaves(scenario: Scenario) -> bool:
    """Whether a broker of the recording is the slave of another one."""
    return any(fields.get("brokerId") != "0" for frame in scenario.frames
               if frame.link == "broker-namesrv" and frame.command.code == RequestCode.REGISTER_BROKER
               and frame.is_request and (fields := frame.command.ext_fields) is not None)


def broker_of(scenario: Scenario) -> tuple[str, str, str]:
    """Address, name and cluster of the broker that the clients ask."""
    seen = Counter(
        (str(fields.get("brokerAddr")), str(fields.get("brokerName")), str(fields.get("clusterName")))
        for frame in scenario.frames
        if frame.link == "broker-namesrv" and (fields := frame.command.ext_fields) is not None
        and fields.get("brokerAddr"))
    if seen:
        return seen.most_common(1)[0][0]
    return next(iter(brokers_of(scenario)), _shown_broker(scenario))


def _shown_broker(scenario: Scenario) -> tuple[str, str, str]:
    """Of a broker that nobody registers: the address in the ids that it gives, and the cluster in its messages."""
    ids = (str(ext.get("msgId")).split(",")[0] for frame in scenario.frames
           if frame.answers is not None and (ext := frame.command.ext_fields) is not None and ext.get("msgId"))
    host = next((decode_message_id(one)[0] for one in ids), None)
    messages = (message for frame in scenario.frames for message in messages_of(scenario, frame))
    clusters = (message.get_property(PROPERTY_CLUSTER) for message in messages)
    addr = "127.0.0.12:21011" if host is None else f"{'.'.join(map(str, host.address))}:{host.port}"
    return addr, "broker", next((one for one in clusters if one), "DefaultCluster")


def brokers_of(scenario: Scenario) -> dict[tuple[str, str, str], list[str]]:
    """Brokers of which answers of the name server speak before they register in the recording, with their topics."""
    registered = {str(fields.get("brokerAddr")) for frame in scenario.frames
                  if frame.is_request and frame.command.code == RequestCode.REGISTER_BROKER
                  and (fields := frame.command.ext_fields) is not None and frame.link == "client-namesrv"}
    found: dict[tuple[str, str, str], list[str]] = {}
    routes = ((topic, route["brokerDatas"] or ()) for topic, route in _route_answers(scenario))
    for topic, datas in (*routes, *_cluster_answers(scenario)):
        for data in datas:
            for address in data.values["brokerAddrs"].values():
                if address not in registered:
                    key = address, data.values["brokerName"], data.values["cluster"]
                    found.setdefault(key, []).append(topic)
    return found


def _cluster_answers(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    for frame in scenario.frames:
        answer = scenario.answer(frame)
        clusters = frame.command.code == RequestCode.GET_BROKER_CLUSTER_INFO and frame.is_request
        if clusters and answer is not None and answer.command.body is not None:
            yield "", from_json(utf8_text(answer.command.body), "ClusterInfo", 0).values["brokerAddrTable"].values()


def named_topics(scenario: Scenario) -> dict[str, TopicConfig]:
    """Topics that the name server lists, unless a client has registered or made them."""
    made = _made(scenario) | _missing(scenario)
    found: dict[str, TopicConfig] = {}
    for frame in scenario.frames:
        answer = scenario.answer(frame)
        if frame.link == "client-namesrv" and frame.is_request and frame.command.code == RequestCode.REGISTER_BROKER:
            made |= set(registered(frame))
        listed = frame.command.code == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER and frame.is_request
        if listed and answer is not None and answer.command.body is not None:
            topics = from_json(utf8_text(answer.command.body), "TopicList", 0).values["topicList"]
            found |= {topic: TopicConfig(topic) for topic in topics if topic not in made}
    return found


def has_order_namespace(scenario: Scenario) -> bool:
    """Whether the name server has the name space of ordered topics, without any."""
    return any(frame.command.code == RequestCode.REGISTER_BROKER and (answer := scenario.answer(frame)) is not None
               and answer.command.body == b'{"table":{}}' for frame in scenario.frames if frame.is_request)


def _route_answers(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    """Topic and route of each answer that has one, in order, but none after the topic was missing."""
    missing: set[str] = set()
    for frame in scenario.frames:
        fields = frame.command.ext_fields
        if frame.command.code != RequestCode.GET_ROUTEINFO_BY_TOPIC or not frame.is_request or fields is None:
            continue
        topic, answer = str(fields.get("topic")), scenario.answer(frame)
        if answer is None or answer.command.body is None:
            missing.add(topic)
        elif topic not in missing:
            yield topic, from_json(utf8_text(answer.command.body), "TopicRouteData", 0).values


def routes_of(scenario: Scenario) -> dict[str, TopicConfig]:
    """Topics that had a route before anybody could have made it in the recording."""
    made = _made(scenario)
    found: dict[str, TopicConfig] = {}
    for topic, route in _route_answers(scenario):
        for data in route["queueDatas"] or ():
            values = data.values
            if topic not in made and topic not in found:
                found[topic] = TopicConfig(
                    topic, values["readQueueNums"], values["writeQueueNums"], values["perm"], "SINGLE_TAG",
                    values["topicSysFlag"])
    return found


def _made(scenario: Scenario) -> set[str]:
    """Topics that a recorded request makes."""
    made = set()
    for frame in scenario.frames:
        fields, answer = frame.command.ext_fields, scenario.answer(frame)
        created = frame.command.code == RequestCode.UPDATE_AND_CREATE_TOPIC and frame.is_request
        if created and fields is not None and answer is not None and answer.command.code == 0:
            made.add(str(fields.get("topic")))
    return made


def topics_of(scenario: Scenario) -> dict[str, TopicConfig]:
    """Topics of the broker before the recording: from routes, a registration or a list, unless somebody made them."""
    found = routes_of(scenario)
    made = _made(scenario) | _missing(scenario)
    groups = _groups(scenario)
    for frame in scenario.frames:
        listed = _listed(scenario, frame)
        for topic, config in listed.items():
            if topic not in made and topic.removeprefix(RETRY_GROUP_TOPIC_PREFIX) not in groups:
                found.setdefault(topic, config)
        if len(listed) > 1:  # not the one that a new topic makes
            break
    return found


def _listed(scenario: Scenario, frame: Frame) -> dict[str, TopicConfig]:
    """The topics in a registration, or in an answer to GET_ALL_TOPIC_CONFIG."""
    if frame.link == "broker-namesrv" and frame.command.code == RequestCode.REGISTER_BROKER and frame.is_request:
        return registered(frame)
    answer = scenario.answer(frame)
    if frame.command.code != RequestCode.GET_ALL_TOPIC_CONFIG or answer is None or answer.command.body is None:
        return {}
    table = from_json(utf8_text(answer.command.body), "TopicConfigSerializeWrapper", 0).values["topicConfigTable"]
    return {topic: topic_config(config) for topic, config in table.entries()}


def _missing(scenario: Scenario) -> set[str]:
    """Topics of which an answer says that they are not there."""
    return {str(fields.get("topic") or fields.get("b")) for frame in scenario.frames
            if frame.is_request and (fields := frame.command.ext_fields) is not None
            and (answer := scenario.answer(frame)) is not None
            and answer.command.code == ResponseCode.TOPIC_NOT_EXIST}


def _groups(scenario: Scenario) -> set[str]:
    """Groups that consumers of the recording are in: their retry topics come with them."""
    return {one.group_name for frame in scenario.frames for one in consumers_of(frame)}


def begin_later(scenario: Scenario) -> set[str]:
    """Topics with a queue whose first messages were gone before the recording: no broker can be brought there."""
    found = set()
    for frame in scenario.frames:
        fields, answer = frame.command.ext_fields, scenario.answer(frame)
        ext = None if answer is None else answer.command.ext_fields
        if not frame.is_request or fields is None or ext is None:
            continue
        least = ext.get("minOffset") or (ext.get("offset") if frame.command.code == RequestCode.GET_MIN_OFFSET else "")
        if number(least) > 0:
            found |= {str(fields.get("topic")), RMQ_SYS_OFFSET_MOVED_EVENT}  # told of what is not asked
    return found


def to_others(scenario: Scenario, addr: str) -> set[int]:
    """Connections of clients to another broker, if there are several: ours has those that name a topic of its own."""
    brokers = brokers_of(scenario)
    mine = {topic for key, topics in brokers.items() if key[0] == addr for topic in topics}
    mine -= {topic for key, topics in brokers.items() if key[0] != addr for topic in topics}
    if len(brokers) < 2 or not mine:  # noqa: PLR2004  one broker
        return set()
    conns = {frame.conn for frame in scenario.frames if frame.link == "client-broker"}
    return conns - {frame.conn for frame in scenario.frames if frame.is_request and mine & _named(frame)}


def _named(frame: Frame) -> set[str]:
    """The topic that a request names: SEND_MESSAGE_V2 calls it b. Heartbeats go to all brokers and tell nothing."""
    fields = frame.command.ext_fields
    return set() if fields is None else {str(fields.get(name)) for name in ("topic", "b") if fields.get(name)}
