"""Recordings of constants, enumerations and default settings: each that the implementation has is RocketMQ's.

A table holds what a Java class has. The implementation has a part of most tables, and of some nothing: those rows are a
listed deviation.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import ModuleType
from typing import Any

from impl.broker.broker_config import BrokerConfig
from impl.broker.send_message_processor import V3_4_9
from impl.client import process_queue, service_state
from impl.client.client_config import ClientConfig
from impl.client.client_errors import ClientErrorCode
from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.client.message_listener import ConsumeConcurrentlyStatus, ConsumeOrderlyStatus
from impl.client.offset_store import ReadOffsetType
from impl.client.producer_config import ProducerConfig
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.send_result import CommunicationMode, LocalTransactionState, SendStatus
from impl.common import heartbeat_data, message_const, message_properties, record_layout
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions import flags, flush_rules, index_slots, names, namespace, pull_answer, subscription
from impl.decisions.pull_answer import PullStatus
from impl.decisions.start_offset import ConsumeFromWhere
from impl.ports.remoting import CURRENT_VERSION
from impl.remoting.remoting_command import JSON, LANGUAGES, ROCKETMQ
from impl.store.message_store_config import BrokerRole, FlushDiskType, MessageStoreConfig
from impl.store.put_message_status import AppendMessageStatus, PutMessageStatus
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.replay import Adapter, Row

NOTHING = "nothing of it is implemented"
Table = Callable[[Iterable[str]], dict[str, Any]]
"""Answers what the implementation has of the names of a table."""

_UNIT, _JAVAS_UNIT = re.compile("_(ms|minutes|hours|mib|bytes)(?=_|$)"), re.compile("Milli?s")
_CHARS = frozenset({"NAME_VALUE_SEPARATOR", "PROPERTY_SEPARATOR", "NAMESPACE_SEPARATOR"})
_PLACES = frozenset({"storePathRootDir", "storePathCommitLog"})  # below the home directory of the recording machine


def _in(*modules: ModuleType) -> Table:
    """Constants of the same name in some modules; a char of Java's is recorded as its number."""

    def found(wanted: Iterable[str]) -> dict[str, Any]:
        values = {name: getattr(module, name) for name in wanted for module in modules if hasattr(module, name)}
        return {name: ord(value) if name in _CHARS else value for name, value in values.items()}

    return found


def _codes(*enumerations: type[Enum]) -> Table:
    """Members of enumerations that stand for Java's integer constants."""

    def found(wanted: Iterable[str]) -> dict[str, Any]:
        known = set(wanted)
        return {member.name: member.value for kind in enumerations for member in kind if member.name in known}

    return found


def _enumeration(kind: type[Enum]) -> Table:
    """A Java enumeration: each member's place."""
    return _ordered(*(member.name for member in kind))


def _ordered(*names: str) -> Table:
    """A Java enumeration whose members are names here."""
    return lambda _wanted: {name: [place] for place, name in enumerate(names)}


def _coded(*names: str) -> Table:
    """A Java enumeration whose members have their place as code, too."""
    return lambda _wanted: {name: [place, place] for place, name in enumerate(names)}


def _versions(_wanted: Iterable[str]) -> dict[str, Any]:
    return {"V3_4_9": [V3_4_9], "V4_9_3": [CURRENT_VERSION]}


def _defaults(kind: type[Any]) -> Table:
    """Defaults of a configuration class; names are compared without their units, and without humps."""

    def found(wanted: Iterable[str]) -> dict[str, Any]:
        known = {_JAVAS_UNIT.sub("", name).lower(): name for name in wanted if name not in _PLACES}
        own = {_UNIT.sub("", field.name).replace("_", ""): _plain(field.default)
               for field in dataclasses.fields(kind) if field.default is not dataclasses.MISSING}
        return {known[name]: value for name, value in own.items() if name in known}

    return found


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


_TABLES: Mapping[str, Table] = {
    "common.protocol.RequestCode": _codes(RequestCode),
    "common.protocol.ResponseCode": _codes(ResponseCode, pull_answer.PullCode),
    "remoting.protocol.RemotingSysResponseCode": _codes(ResponseCode),
    "common.sysflag.MessageSysFlag": _in(flags),
    "common.sysflag.PullSysFlag": _in(flags),
    "common.message.MessageConst": _in(message_const, process_queue),
    "common.constant.PermName": _in(flags),
    "common.MixAll": _in(names),
    "common.topic.TopicValidator": _in(names),
    "common.filter.ExpressionType": _in(subscription),
    "common.protocol.heartbeat.SubscriptionData": _in(subscription),
    "common.message.MessageDecoder": _in(record_layout, message_properties),
    "client.Validators": _in(names),
    "common.protocol.NamespaceUtil": _in(namespace),
    "store.index.IndexHeader": _in(index_slots),
    "store.ConsumeQueue": _in(pull_answer),
    "store.MappedFile": _in(flush_rules),
    "common.consumer.ConsumeFromWhere": _enumeration(ConsumeFromWhere),
    "common.protocol.heartbeat.ConsumeType": _ordered(
        heartbeat_data.CONSUME_ACTIVELY, heartbeat_data.CONSUME_PASSIVELY),
    "common.protocol.heartbeat.MessageModel": _ordered(heartbeat_data.BROADCASTING, heartbeat_data.CLUSTERING),
    "common.ServiceState": _ordered(
        service_state.CREATE_JUST, service_state.RUNNING, service_state.SHUTDOWN_ALREADY, service_state.START_FAILED),
    "common.MQVersion$Version": _versions,
    "remoting.protocol.LanguageCode": _coded(*LANGUAGES),
    "remoting.protocol.SerializeType": _coded(JSON, ROCKETMQ),
    "client.common.ClientErrorCode": _codes(ClientErrorCode),
    "client.impl.CommunicationMode": _enumeration(CommunicationMode),
    "client.producer.SendStatus": _enumeration(SendStatus),
    "client.producer.LocalTransactionState": _enumeration(LocalTransactionState),
    "client.consumer.listener.ConsumeConcurrentlyStatus": _enumeration(ConsumeConcurrentlyStatus),
    "client.consumer.listener.ConsumeOrderlyStatus": _enumeration(ConsumeOrderlyStatus),
    "store.PutMessageStatus": _enumeration(PutMessageStatus),
    "store.AppendMessageStatus": _enumeration(AppendMessageStatus),
    "store.GetMessageStatus": _enumeration(pull_answer.GetMessageStatus),
    "store.config.BrokerRole": _enumeration(BrokerRole),
    "store.config.FlushDiskType": _enumeration(FlushDiskType),
    "client.consumer.PullStatus": _enumeration(PullStatus),
    "client.consumer.store.ReadOffsetType": _enumeration(ReadOffsetType),
    "defaults:store.config.MessageStoreConfig": _defaults(MessageStoreConfig),
    "defaults:common.BrokerConfig": _defaults(BrokerConfig),
    "defaults:client.ClientConfig": _defaults(ClientConfig),
    "defaults:client.consumer.DefaultMQPushConsumer": _defaults(PushConsumerConfig),
    "defaults:client.consumer.DefaultLitePullConsumer": _defaults(LitePullConsumerConfig),
    "defaults:client.producer.DefaultMQProducer": _defaults(ProducerConfig),
    "defaults:common.subscription.SubscriptionGroupConfig": _defaults(SubscriptionGroupConfig),
    "defaults:common.TopicConfig": _defaults(TopicConfig),
}


def constants(row: Row) -> str | None:
    """One table, by its name."""
    name, recorded = row["a"], row["r"]
    table = _TABLES.get(name)
    if table is None:
        return f"{name}: {NOTHING}"
    own = table(recorded)
    if not own:
        return f"{name}: expected some constant of it, got none"
    return difference({key: recorded.get(key) for key in own}, own, name)


ADAPTERS: dict[str, Adapter] = {"constants": constants}
