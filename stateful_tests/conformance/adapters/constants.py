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
from impl.client import process_queue
from impl.client.client_config import ClientConfig
from impl.client.offset_store import ReadOffsetType
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common import message_const, message_properties, record_layout
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions import flags, flush_rules, index_slots, names, namespace, pull_answer, subscription
from impl.decisions.pull_answer import PullStatus
from impl.decisions.start_offset import ConsumeFromWhere
from impl.store.message_store_config import BrokerRole, FlushDiskType, MessageStoreConfig
from impl.store.put_message_status import AppendMessageStatus, PutMessageStatus
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.replay import Adapter, Row

NOTHING = "nothing of it is implemented"
Table = Callable[[Iterable[str]], dict[str, Any]]
"""Answers what the implementation has of the names of a table."""

_UNIT = re.compile("_(ms|hours|mib|bytes)$")
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
    return lambda _wanted: {member.name: [place] for place, member in enumerate(kind)}


def _defaults(kind: type[Any]) -> Table:
    """Defaults of a configuration class; its names have units, and Java's have humps."""

    def found(wanted: Iterable[str]) -> dict[str, Any]:
        known = set(wanted) - _PLACES
        own = {_humps(_UNIT.sub("", field.name)): _plain(field.default) for field in dataclasses.fields(kind)
               if field.default is not dataclasses.MISSING}
        return {name: value for name, value in own.items() if name in known}

    return found


def _humps(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


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
