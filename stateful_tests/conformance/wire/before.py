"""What a recording says was there before it began, and who was served first: read from all of its frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from impl.common.byte_buffer import ByteBuffer
from impl.common.fastjson.deserializers import from_json
from impl.common.heartbeat_data import ConsumerData
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CLUSTER, PROPERTY_DELAY_TIME_LEVEL, PROPERTY_TRANSACTION_PREPARED
from impl.common.message_decoder import decodes
from impl.common.message_id import decode_message_id
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import utf8_text
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.subscription import SQL92
from impl.hosts.simulation.clock import EPOCH_MS
from impl.remoting.remoting_command import RemotingCommand
from stateful_tests.conformance.wire.contents import CONTENTS, RECORDS, request_body, subscription_group, topic_config
from stateful_tests.conformance.wire.recorded import Frame, Scenario

SENDS = (10, 310, 320)
"""SEND_MESSAGE, SEND_MESSAGE_V2, SEND_BATCH_MESSAGE."""
_AT_ONCE_MS = 10
"""Requests that come within so long were in the servers at the same time: their answers tell who was first."""


def ordered(scenario: Scenario, requests: list[Frame]) -> list[Frame]:
    """The requests as the servers took them, where the answers show that it was not as the proxy saw them."""
    found: list[Frame] = []
    for frame in requests:
        place = len(found)
        while place and _overtaken(scenario, found[place - 1], frame):
            place -= 1
        found.insert(place, frame)
    return found


def _overtaken(scenario: Scenario, before: Frame, frame: Frame) -> bool:
    """Whether a request was served before an earlier one: heartbeats and registrations have pools of their own."""
    if frame.at_ms - before.at_ms > _AT_ONCE_MS:
        return False
    mine, other = scenario.answer(frame), scenario.answer(before)
    if mine is None:
        return False
    if before.command.code == RequestCode.HEART_BEAT:
        return before.conn == frame.conn and other is not None and mine.seq < other.seq
    fields = frame.command.ext_fields
    return (before.command.code == RequestCode.REGISTER_BROKER and fields is not None
            and mine.command.code == ResponseCode.TOPIC_NOT_EXIST and fields.get("topic") in _registered(before))


def last_frames(scenario: Scenario) -> dict[int, int]:
    """The number of the last frame of each connection that ends: not of brokers, and not while a pull is held."""
    last: dict[int, Frame] = {}
    for frame in scenario.frames:
        last[frame.conn] = frame
    return {conn: frame.seq for conn, frame in last.items()
            if (_forgotten(scenario, frame) if frame.link.startswith("broker") else not _held(scenario, conn))}


def _forgotten(scenario: Scenario, last: Frame) -> bool:
    """Whether the name server has no route any more that came over this connection: then the connection has ended."""
    topics = {topic for frame in scenario.frames if frame.conn == last.conn and frame.is_request
              and frame.command.code == RequestCode.REGISTER_BROKER for topic in _registered(frame)}
    name = next((str(fields.get("brokerName")).encode() for frame in scenario.frames
                 if frame.conn == last.conn and (fields := frame.command.ext_fields) is not None), b"")
    if any(frame.seq > last.seq and name in (frame.command.body or b"") for frame in scenario.frames):
        return False
    return any(frame.seq > last.seq and frame.is_request and frame.command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC
               and (fields := frame.command.ext_fields) is not None and fields.get("topic") in topics
               and (answer := scenario.answer(frame)) is not None
               and answer.command.code == ResponseCode.TOPIC_NOT_EXIST for frame in scenario.frames)


def _held(scenario: Scenario, conn: int) -> bool:
    return any(frame.conn == conn and frame.is_request and frame.from_client and not frame.command.oneway
               and scenario.answer(frame) is None for frame in scenario.frames)


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
    messages = (message for frame in scenario.frames for message in _messages(scenario, frame))
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
            made |= set(_registered(frame))
        listed = frame.command.code == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER and frame.is_request
        if listed and answer is not None and answer.command.body is not None:
            topics = from_json(utf8_text(answer.command.body), "TopicList", 0).values["topicList"]
            found |= {topic: TopicConfig(topic) for topic in topics if topic not in made}
    return found


def has_order_namespace(scenario: Scenario) -> bool:
    """Whether the name server has the name space of ordered topics, without any."""
    return any(frame.command.code == RequestCode.REGISTER_BROKER and (answer := scenario.answer(frame)) is not None
               and answer.command.body == b'{"table":{}}' for frame in scenario.frames if frame.is_request)


def epoch_ms_of(scenario: Scenario) -> int:
    """Wall time of the beginning: as messages say that were sent and shown, or clients, or else after all messages."""
    messages = [message for frame in scenario.frames for message in _messages(scenario, frame)]
    answered = _answered_sends(scenario)
    shown = [one.store_timestamp - answered[place] for one in messages
             if (place := (one.topic, one.queue_id, one.queue_offset)) in answered
             and not _PUT_LATER & set(one.properties or {})]
    told = [ms - frame.at_ms for frame in scenario.frames for ms in _times(scenario, frame)]
    return max(shown or told or [one.store_timestamp + 1 for one in messages], default=EPOCH_MS)


_PUT_LATER = {PROPERTY_DELAY_TIME_LEVEL, PROPERTY_TRANSACTION_PREPARED}
"""Of messages that the broker itself puts where they are found, after the answer."""


def _answered_sends(scenario: Scenario) -> dict[tuple[str, int, int], int]:
    """When sends were answered, by the place of the message in its queue: it was stored before."""
    found = {}
    for frame in scenario.frames:
        fields, answer = frame.command.ext_fields, scenario.answer(frame)
        ext = None if answer is None else answer.command.ext_fields
        if frame.is_request and frame.command.code in SENDS and fields is not None and answer is not None and ext:
            topic = str(fields.get("topic") or fields.get("b"))
            found[topic, number(ext.get("queueId")), number(ext.get("queueOffset"))] = answer.at_ms
    return found


def number(text: str | None) -> int:
    """A number as it is written in a field; 0 for none, and for what is none."""
    return int(text) if text and text.removeprefix("-").isdecimal() else 0


def counts_of(request: RemotingCommand, answer: RemotingCommand) -> dict[tuple[str, int], int]:
    """How many messages queues have had, by topic and queue, as an answer says; of a search: so many at least."""
    fields, ext = request.ext_fields, answer.ext_fields
    if request.code in _TABLES and answer.body is not None:
        name, end = _TABLES[request.code]
        table = from_json(utf8_text(answer.body), name, 0).values["offsetTable"]
        return {(queue.values["topic"], queue.values["queueId"]): one.values[end] for queue, one in table.entries()}
    counting = request.code in {RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, RequestCode.GET_MAX_OFFSET}
    count = None if ext is None else ext.get("offset" if counting else "maxOffset")
    if fields is None or not count or not fields.get("topic"):
        return {}
    return {(str(fields.get("topic")), number(fields.get("queueId"))): number(count)}


_TABLES = {
    int(RequestCode.GET_TOPIC_STATS_INFO): ("TopicStatsTable", "maxOffset"),
    int(RequestCode.GET_CONSUME_STATS): ("ConsumeStats", "brokerOffset"),
}


def groups_of(scenario: Scenario) -> list[SubscriptionGroupConfig]:
    """Groups that the first list of groups shows, unless a request of the recording names them before."""
    named: set[str] = set()
    for frame in scenario.frames:
        answer = scenario.answer(frame) if frame.is_request else None
        if answer is not None and frame.command.code == RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG:
            table = from_json(utf8_text(answer.command.body or b""), "SubscriptionGroupWrapper", 0)
            return [] if table is None else [
                subscription_group(bean.values) for group, bean in table.values["subscriptionGroupTable"].entries()
                if group not in named]
        named |= {one.group_name for one in _consumers(frame)} | _group_names(frame)
    return []


def offsets_of(scenario: Scenario) -> dict[tuple[str, str, int], int]:
    """What groups had committed, by topic, group and queue: as answers say before a request can have changed it."""
    found: dict[tuple[str, str, int], int] = {}
    changed: set[tuple[str | None, str | None]] = set()
    for frame in scenario.frames:
        answer, fields = scenario.answer(frame), frame.command.ext_fields
        if not frame.is_request:
            continue
        for key, offset in _told_offsets(frame, answer).items():
            if key[:2] not in changed and offset > 0:
                found.setdefault(key, offset)
        if fields is not None and frame.command.code != RequestCode.QUERY_CONSUMER_OFFSET:
            changed.add((fields.get("topic"), fields.get("consumerGroup") or fields.get("group")))
    return found


def _told_offsets(frame: Frame, answer: Frame | None) -> dict[tuple[str, str, int], int]:
    fields, ext = frame.command.ext_fields, None if answer is None else answer.command.ext_fields
    if frame.command.code == RequestCode.QUERY_CONSUMER_OFFSET and fields is not None and ext is not None:
        key = str(fields.get("topic")), str(fields.get("consumerGroup")), number(fields.get("queueId"))
        return {key: number(ext.get("offset"))}
    if frame.command.code != RequestCode.GET_ALL_CONSUMER_OFFSET or answer is None or answer.command.body is None:
        return {}
    table = from_json(utf8_text(answer.command.body), "ConsumerOffsetSerializeWrapper", 0).values["offsetTable"]
    split = ((key.partition("@"), offsets) for key, offsets in table.entries())
    return {(topic, group, queue_id): offset for (topic, _, group), offsets in split
            for queue_id, offset in offsets.entries()}


def _group_names(frame: Frame) -> set[str]:
    fields = frame.command.ext_fields
    found = set() if fields is None else {
        str(fields.get(name)) for name in ("consumerGroup", "group", "groupName") if fields.get(name)}
    if frame.is_request and frame.command.code == RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP:
        config = _body(frame)
        found |= set() if config is None else {config.group_name}
    return found


def first_put_ms(scenario: Scenario) -> int:
    """When the first request comes that lets the broker store something, since the beginning."""
    puts = {*SENDS, RequestCode.CONSUMER_SEND_MSG_BACK, RequestCode.END_TRANSACTION, RequestCode.SEND_REPLY_MESSAGE_V2}
    return min((frame.at_ms for frame in scenario.frames if frame.is_request and frame.command.code in puts),
               default=1 << 40)


def _times(scenario: Scenario, frame: Frame) -> Iterator[int]:
    """Times in a request that was taken; they were past when it was sent."""
    answer = scenario.answer(frame)
    if answer is None or answer.command.code != 0:
        return
    fields = frame.command.ext_fields
    if not frame.is_request or not frame.from_client:
        return
    if frame.command.code in SENDS and fields is not None:
        born = fields.get("g") or fields.get("bornTimestamp") or ""
        if born.isdigit() and int(born) > EPOCH_MS:
            yield int(born)
    yield from (data.sub_version for one in _consumers(frame) for data in one.subscription_data_set)


def _messages(scenario: Scenario, frame: Frame) -> Iterator[MessageExt]:
    if frame.answers is None or frame.command.body is None:
        return
    request = next((one for one in scenario.frames if one.seq == frame.answers), None)
    content = None if request is None else CONTENTS.get(request.command.code)
    if content is not None and content.answer_body == RECORDS:
        yield from decodes(ByteBuffer(frame.command.body))


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
        return _registered(frame)
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
    return {one.group_name for frame in scenario.frames for one in _consumers(frame)}


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
            found |= {str(fields.get("topic")), OFFSET_MOVED_EVENT}
    return found


OFFSET_MOVED_EVENT = "OFFSET_MOVED_EVENT"  # TopicValidator.RMQ_SYS_OFFSET_MOVED_EVENT: told of what is not asked


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


def _consumers(frame: Frame) -> list[ConsumerData]:
    """The groups in a heartbeat, with what they subscribe."""
    if not frame.is_request or frame.command.code != RequestCode.HEART_BEAT:
        return []
    heartbeat = _body(frame)
    found: list[ConsumerData] = [] if heartbeat is None else heartbeat.consumer_data_set
    return found


def _body(frame: Frame) -> Any:
    """The body of a request; None for one that cannot be read."""
    try:
        return request_body(frame.command, 0)
    except JavaError:
        return None


def _registered(frame: Frame) -> dict[str, TopicConfig]:
    body = _body(frame)
    return {} if body is None else dict(body.topic_config_serialize_wrapper.topic_config_table)


def filters_by_sql(scenario: Scenario) -> bool:
    """Whether the broker filters by SQL92 from the beginning: the first answer that tells says so."""
    for frame in scenario.frames:
        fields, answer = frame.command.ext_fields, scenario.answer(frame)
        pulls = frame.command.code == RequestCode.PULL_MESSAGE and fields is not None
        sql = pulls and fields is not None and fields.get("expressionType") == SQL92
        checks = frame.command.code == RequestCode.CHECK_CLIENT_CONFIG and SQL92.encode() in (frame.command.body or b"")
        if not frame.is_request or answer is None or not (sql or checks):
            continue
        if (answer.command.remark or "").startswith("The broker does not support consumer to filter message by"):
            return False
        if answer.command.code in _FILTERED:
            return True
    return False


_FILTERED = {
    ResponseCode.SUCCESS, ResponseCode.PULL_NOT_FOUND, ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED, ResponseCode.SUBSCRIPTION_PARSE_FAILED, ResponseCode.FILTER_DATA_NOT_EXIST,
    ResponseCode.FILTER_DATA_NOT_LATEST,
}
"""What is answered when an expression has been looked at."""


