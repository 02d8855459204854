"""The files of a broker's configuration tables: what is in topics.json and subscriptionGroup.json."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from typing import Any

from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.config_manager import as_fastjson, parsed_json
from impl.common.data_version import DataVersion
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.hash_map import ConcurrentHashMap


def topics_text(manager: TopicConfigManager) -> str:
    """TopicConfigManager#encode."""
    return _text("topicConfigTable", manager.topic_config_table, manager.data_version)


def load_topics(manager: TopicConfigManager, text: str) -> None:
    """TopicConfigManager#decode: the topics of the file beside the system topics, and the version of the file.

    Raises IllegalArgumentError for a text that is no such file; nothing is taken of it then.
    """
    _load(text, "topicConfigTable", TopicConfig, manager.topic_config_table, manager.data_version)


def groups_text(manager: SubscriptionGroupManager) -> str:
    """SubscriptionGroupManager#encode."""
    return _text("subscriptionGroupTable", manager.subscription_group_table, manager.data_version)


def load_groups(manager: SubscriptionGroupManager, text: str) -> None:
    """SubscriptionGroupManager#decode: as load_topics."""
    table = manager.subscription_group_table
    _load(text, "subscriptionGroupTable", SubscriptionGroupConfig, table, manager.data_version)


def _text(name: str, table: ConcurrentHashMap[str, Any], data_version: DataVersion) -> str:
    return json.dumps({
        name: {key: _flat(config) for key, config in table.entries()}, "dataVersion": _flat(data_version)})


def _load(
    text: str, name: str, kind: type[Any], table: ConcurrentHashMap[str, Any], data_version: DataVersion,
) -> None:
    document = parsed_json(text)
    with as_fastjson():
        read = {key: kind(**config) for key, config in document[name].items()}
        version = DataVersion(**document["dataVersion"])
    for key, config in read.items():
        table.put(key, config)
    data_version.assign_new_one(version)


def _flat(config: Any) -> dict[str, Any]:
    """The fields and what they hold, which is never a container."""
    return {name: getattr(config, name) for name in _names(config.__class__)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
