"""What a frame carries, by the code of its request: headers as Python classes, bodies as the objects of `impl`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from impl.common.data_version import DataVersion
from impl.common.fastjson.beans import BEANS, Bean
from impl.common.fastjson.deserializers import from_json
from impl.common.fastjson.types import JavaType
from impl.common.headers import (
    CheckClientRequestBody,
    GetConsumerStatusBody,
    LockBatchRequestBody,
    RegisterBrokerBody,
)
from impl.common.headers.shape import python_spelling
from impl.common.heartbeat_data import ConsumerData, HeartbeatData, ProducerData
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.common.util_all import crc32
from impl.decisions.java_errors import JavaError, JavaException, not_null
from impl.decisions.java_text import utf8_text
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import HashMap
from impl.remoting.custom_headers import (
    check_send_header_v2,
    put_typed_header,
    typed_header,
)
from impl.remoting.register_broker_body import decode_register_broker_body
from impl.remoting.remoting_command import ExtFields, RemotingCommand, RemotingCommandError

RECORDS = "records"
"""The kind of a body that is stored messages, one behind the other."""


class Content(NamedTuple):
    """Of one request code. header, answer_header -- of Java classes; answer_body -- a bean class, or RECORDS.

    body -- the request's.
    """

    header: str | None = None
    body: str | None = None
    answer_header: str | None = None
    answer_body: str | None = None


_SEND = "SendMessageRequestHeaderV2"
_ANSWER = "SendMessageResponseHeader"
CONTENTS: Mapping[int, Content] = {
    10: Content("SendMessageRequestHeader", None, _ANSWER),
    11: Content("PullMessageRequestHeader", None, "PullMessageResponseHeader", RECORDS),
    12: Content("QueryMessageRequestHeader", None, "QueryMessageResponseHeader", RECORDS),
    14: Content("QueryConsumerOffsetRequestHeader", None, "QueryConsumerOffsetResponseHeader"),
    15: Content("UpdateConsumerOffsetRequestHeader"),
    17: Content("CreateTopicRequestHeader"),
    21: Content(None, None, None, "TopicConfigSerializeWrapper"),
    29: Content("SearchOffsetRequestHeader", None, "SearchOffsetResponseHeader"),
    30: Content("GetMaxOffsetRequestHeader", None, "GetMaxOffsetResponseHeader"),
    31: Content("GetMinOffsetRequestHeader", None, "GetMinOffsetResponseHeader"),
    32: Content("GetEarliestMsgStoretimeRequestHeader", None, "GetEarliestMsgStoretimeResponseHeader"),
    33: Content("ViewMessageRequestHeader", None, None, RECORDS),
    34: Content(None, "HeartbeatData"),
    35: Content("UnregisterClientRequestHeader"),
    36: Content("ConsumerSendMsgBackRequestHeader"),
    37: Content("EndTransactionRequestHeader"),
    38: Content("GetConsumerListByGroupRequestHeader", None, None, "GetConsumerListByGroupResponseBody"),
    39: Content("CheckTransactionStateRequestHeader", RECORDS),
    40: Content("NotifyConsumerIdsChangedRequestHeader"),
    41: Content(None, "LockBatchRequestBody", None, "LockBatchResponseBody"),
    42: Content(None, "UnlockBatchRequestBody"),
    43: Content(None, None, None, "ConsumerOffsetSerializeWrapper"),
    45: Content(None, None, None, "DelayOffsetSerializeWrapper"),
    46: Content(None, "CheckClientRequestBody"),
    100: Content("namesrv.PutKVConfigRequestHeader"),
    101: Content("namesrv.GetKVConfigRequestHeader", None, "namesrv.GetKVConfigResponseHeader"),
    102: Content("namesrv.DeleteKVConfigRequestHeader"),
    103: Content("namesrv.RegisterBrokerRequestHeader", "RegisterBrokerBody", "namesrv.RegisterBrokerResponseHeader",
                 "KVTable"),
    104: Content("namesrv.UnRegisterBrokerRequestHeader"),
    105: Content("namesrv.GetRouteInfoRequestHeader", None, None, "TopicRouteData"),
    106: Content(None, None, None, "ClusterInfo"),
    200: Content(None, "SubscriptionGroupConfig"),
    201: Content(None, None, None, "SubscriptionGroupWrapper"),
    202: Content("GetTopicStatsInfoRequestHeader", None, None, "TopicStatsTable"),
    203: Content("GetConsumerConnectionListRequestHeader", None, None, "ConsumerConnection"),
    204: Content("GetProducerConnectionListRequestHeader", None, None, "ProducerConnection"),
    205: Content("namesrv.WipeWritePermOfBrokerRequestHeader", None, "namesrv.WipeWritePermOfBrokerResponseHeader"),
    206: Content(None, None, None, "TopicList"),
    207: Content("DeleteSubscriptionGroupRequestHeader"),
    208: Content("GetConsumeStatsRequestHeader", None, None, "ConsumeStats"),
    215: Content("DeleteTopicRequestHeader"),
    216: Content("namesrv.DeleteTopicFromNamesrvRequestHeader"),
    219: Content("namesrv.GetKVListByNamespaceRequestHeader", None, None, "KVTable"),
    220: Content("ResetOffsetRequestHeader", "ResetOffsetBody"),
    221: Content("GetConsumerStatusRequestHeader", None, None, "GetConsumerStatusBody"),
    222: Content("ResetOffsetRequestHeader", None, None, "ResetOffsetBody"),
    223: Content("GetConsumerStatusRequestHeader", None, None, "GetConsumerStatusBody"),
    224: Content("GetTopicsByClusterRequestHeader", None, None, "TopicList"),
    300: Content("QueryTopicConsumeByWhoRequestHeader", None, None, "GroupList"),
    304: Content(None, None, None, "TopicList"),
    308: Content("QueryCorrectionOffsetHeader", None, None, "QueryCorrectionOffsetBody"),
    310: Content(_SEND, None, _ANSWER),
    311: Content(None, None, None, "TopicList"),
    312: Content(None, None, None, "TopicList"),
    313: Content(None, None, None, "TopicList"),
    316: Content(),
    320: Content(_SEND, None, _ANSWER),
    321: Content("QueryConsumeQueueRequestHeader", None, None, "QueryConsumeQueueResponseBody"),
    322: Content("namesrv.QueryDataVersionRequestHeader", "DataVersion", "namesrv.QueryDataVersionResponseHeader",
                 "DataVersion"),
    324: Content("SendMessageRequestHeader", None, _ANSWER),
    325: Content(_SEND, None, _ANSWER),
    326: Content("ReplyMessageRequestHeader"),
    327: Content("namesrv.AddWritePermOfBrokerRequestHeader", None, "namesrv.AddWritePermOfBrokerResponseHeader"),
}
"""What our servers and clients serve, by code."""
_MAY_BE_NULL = {"SubscriptionGroupConfig", "CheckClientRequestBody"}  # what nobody looks into
_PARSED_BY_HAND = {310, 320}


def request_header(command: RemotingCommand) -> Any:
    """The typed header of a request; raises what the broker answers with SYSTEM_ERROR."""
    content = CONTENTS[command.code]
    if content.header is None:
        return None
    if command.code in _PARSED_BY_HAND:
        check_send_header_v2(command.ext_fields)
    return typed_header(content.header, command.ext_fields)


def request_body(command: RemotingCommand, now_ms: int) -> Any:
    """The body of a request as the handlers get it; raises JavaError."""
    kind = CONTENTS[command.code].body
    if kind is None or kind == RECORDS:
        return command.body
    if kind == "RegisterBrokerBody":
        compressed = command.ext_fields is not None and command.ext_fields.get("compressed") == "true"
        return _registered(command, compressed=compressed, now_ms=now_ms)
    bean = from_json(utf8_text(not_null(command.body)), kind, now_ms)
    if bean is None and kind in _MAY_BE_NULL:
        return None
    return _OBJECTS[kind](not_null(bean).values)


def client_body(code: int, answer: RemotingCommand) -> Any:
    """The body of what a recorded client has answered to its broker, as our broker gets it; raises JavaError."""
    kind = CONTENTS[code].answer_body
    if kind is None or answer.body is None:
        return None
    return _OBJECTS[kind](not_null(from_json(utf8_text(answer.body), kind, 0)).values)


V3_0_11 = 37  # MQVersion: older brokers send topics alone


def _registered(command: RemotingCommand, *, compressed: bool, now_ms: int) -> RegisterBrokerBody | None:
    """DefaultRequestProcessor#registerBroker, #registerBrokerWithFilterServer: checksum and body; raises JavaError."""
    fields = command.ext_fields
    checksum = int((fields.get("bodyCrc32") if fields is not None else None) or 0)
    if checksum not in {0, crc32(command.body)}:
        raise RefusedError("crc32 not match")
    if command.body is None:
        return None
    if command.version < V3_0_11:
        wrapper = from_json(utf8_text(command.body), "TopicConfigSerializeWrapper", now_ms)
        return RegisterBrokerBody(_wrapper(wrapper.values), [])
    try:
        return _registration(decode_register_broker_body(command.body, compressed=compressed, now_ms=now_ms))
    except JavaError as error:
        raise RemotingCommandError("Failed to decode RegisterBrokerBody") from error


class RefusedError(JavaException):
    """A request that is answered with SYSTEM_ERROR and this remark alone."""


def _wrapper(values: Mapping[str, Any]) -> TopicConfigSerializeWrapper:
    table = {topic: topic_config(config) for topic, config in values["topicConfigTable"].entries()}
    return TopicConfigSerializeWrapper(table, _version(values["dataVersion"].values))


def _registration(bean: Bean) -> RegisterBrokerBody:
    wrapper = _wrapper(bean.values["topicConfigSerializeWrapper"].values)
    return RegisterBrokerBody(wrapper, bean.values["filterServerList"])


def topic_config(bean: Bean) -> TopicConfig:
    """A topic at one broker."""
    values = bean.values
    return TopicConfig(values["topicName"], values["readQueueNums"], values["writeQueueNums"], values["perm"],
                       values["topicFilterType"], values["topicSysFlag"], values["order"])


def _version(values: Mapping[str, Any]) -> DataVersion:
    return DataVersion(values["timestamp"], values["counter"])


def _subscription(bean: Bean) -> SubscriptionData:
    values = bean.values
    return SubscriptionData(
        values["topic"], values["subString"], frozenset(values["tagsSet"]), frozenset(values["codeSet"]),
        values["subVersion"], values["expressionType"], values["classFilterMode"])


def _heartbeat(values: Mapping[str, Any]) -> HeartbeatData:
    consumers = [ConsumerData(
        one["groupName"], one["consumeType"], one["messageModel"], one["consumeFromWhere"],
        [_subscription(each) for each in one["subscriptionDataSet"]], one["unitMode"],
    ) for one in (bean.values for bean in values["consumerDataSet"])]
    producers = [ProducerData(bean.values["groupName"]) for bean in values["producerDataSet"]]
    return HeartbeatData(values["clientID"], producers, consumers)


def _queue(bean: Bean) -> MessageQueue:
    return MessageQueue(bean.values["topic"], bean.values["brokerName"], bean.values["queueId"])


def _locks(values: Mapping[str, Any]) -> LockBatchRequestBody:
    return LockBatchRequestBody(values["consumerGroup"], values["clientId"], tuple(map(_queue, values["mqSet"])))


def _status(values: Mapping[str, Any]) -> GetConsumerStatusBody:
    return GetConsumerStatusBody({_queue(queue): offset for queue, offset in values["messageQueueTable"].entries()}, {})


def subscription_group(values: Mapping[str, Any]) -> SubscriptionGroupConfig:
    """A group at one broker."""
    return SubscriptionGroupConfig(**{python_spelling(name): value for name, value in values.items()})


_OBJECTS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "HeartbeatData": _heartbeat,
    "LockBatchRequestBody": _locks,
    "UnlockBatchRequestBody": _locks,
    "DataVersion": _version,
    "GetConsumerStatusBody": _status,
    "SubscriptionGroupConfig": subscription_group,
    "CheckClientRequestBody": lambda values: CheckClientRequestBody(
        values["clientId"], values["group"],
        None if values["subscriptionData"] is None else _subscription(values["subscriptionData"])),
}


def shown_ext(name: str | None, header: Any) -> dict[str, str]:
    """The ext fields of an answer's header."""
    if name is None or header is None:
        return {}
    fields = ExtFields()
    put_typed_header(name, header, fields)
    return {str(key): str(value) for key, value in fields.entries()}


def shown(value: Any, kind: JavaType) -> Any:
    """A body as plain data, whether it is a bean or an object of `impl`: maps as sorted pairs, sets sorted."""
    if value is None:
        return None
    if kind.name in BEANS:
        return {field.name: shown(_attribute(value, field.name), field.type) for field in BEANS[kind.name].fields
                if field.written}
    if kind.is_map:
        pairs = value.entries() if isinstance(value, HashMap) else value.items()
        return sorted(([shown(key, kind.arguments[0]), shown(one, kind.arguments[1])] for key, one in pairs
                       if one is not None), key=repr)  # fastjson leaves null out
    if kind.is_collection:
        return sorted((shown(one, kind.arguments[0]) for one in value), key=repr)
    return value


def _attribute(value: Any, name: str) -> Any:
    if isinstance(value, Bean):
        return value.values[name]
    return getattr(value, python_spelling(name), _ABSENT.get(name))


_ABSENT: Mapping[str, Any] = {"filterServerTable": {}, "eval": False}


def answer_object(kind: str, body: Any) -> Any:
    """The body of an answer of ours with the fields of its Java class."""
    wrap = _WRAPPED.get(kind)
    if wrap is None or body is None:
        return body
    return Bean(BEANS[kind], {**BEANS[kind].new(0).values, **wrap(body)})


def _cluster(body: Any) -> dict[str, Any]:
    datas, names = body
    table = datas if isinstance(datas, Mapping | HashMap) else {data.broker_name: data for data in datas}
    return {"brokerAddrTable": table, "clusterAddrTable": names}


def _topic_list(body: Any) -> dict[str, Any]:
    """Topics alone, or with the address of a broker."""
    if isinstance(body, tuple):
        topics, address = body
        return {"topicList": list(topics), "brokerAddr": address}
    return {"topicList": list(body)}


def _delay_offsets(body: str) -> dict[str, Any]:
    """The text of the file is the body."""
    values: dict[str, Any] = from_json(body, "DelayOffsetSerializeWrapper", 0).values
    return values


_WRAPPED: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "GetConsumerListByGroupResponseBody": lambda body: {"consumerIdList": list(body)},
    "LockBatchResponseBody": lambda body: {"lockOKMQSet": list(body)},
    "TopicList": _topic_list,
    "GroupList": lambda body: {"groupList": list(body)},
    "ConsumerOffsetSerializeWrapper": lambda body: {"offsetTable": body},
    "DelayOffsetSerializeWrapper": _delay_offsets,
    "QueryCorrectionOffsetBody": lambda body: {"correctionOffsets": body},
    "KVTable": lambda body: {"table": body},
    "ClusterInfo": _cluster,
}
