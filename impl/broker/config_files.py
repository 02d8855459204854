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


def topics_text(manager: TopicConfigManager) -> str:
    """TopicConfigManager#encode."""
    table = {topic: _flat(config) for topic, config in manager.topic_config_table.entries()}
    return json.dumps({"topicConfigTable": table, "dataVersion": _flat(manager.data_version)})


def load_topics(manager: TopicConfigManager, text: str) -> None:
    """TopicConfigManager#decode: the topics of the file beside the system topics, and the version of the file.

    Raises IllegalArgumentError for a text that is no such file; nothing is taken of it then.
    """
    document = parsed_json(text)
    with as_fastjson():
        table = {topic: TopicConfig(**config) for topic, config in document["topicConfigTable"].items()}
        version = DataVersion(**document["dataVersion"])
    for topic, topic_config in table.items():
        manager.topic_config_table.put(topic, topic_config)
    manager.data_version.assign_new_one(version)


def groups_text(manager: SubscriptionGroupManager) -> str:
    """SubscriptionGroupManager#encode."""
    table = {group: _flat(config) for group, config in manager.subscription_group_table.entries()}
    return json.dumps({"subscriptionGroupTable": table, "dataVersion": _flat(manager.data_version)})


def load_groups(manager: SubscriptionGroupManager, text: str) -> None:
    """SubscriptionGroupManager#decode: as load_topics."""
    document = parsed_json(text)
    with as_fastjson():
        table = {group: SubscriptionGroupConfig(**one) for group, one in document["subscriptionGroupTable"].items()}
        version = DataVersion(**document["dataVersion"])
    for group, group_config in table.items():
        manager.subscription_group_table.put(group, group_config)
    manager.data_version.assign_new_one(version)


def _flat(config: Any) -> dict[str, Any]:
    """The fields and what they hold, which is never a container."""
    return {name: getattr(config, name) for name in _names(config.__class__)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
