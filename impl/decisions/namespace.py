"""Namespaces inside the names of topics and groups: `namespace%name`, behind the prefix of retry and dead letters."""

from __future__ import annotations

from impl.decisions.java_text import is_blank
from impl.decisions.names import (
    DLQ_GROUP_TOPIC_PREFIX,
    RETRY_GROUP_TOPIC_PREFIX,
    is_sys_consumer_group,
    is_system_topic,
)

NAMESPACE_SEPARATOR = "%"


def is_retry_topic(resource: str | None) -> bool:
    """NamespaceUtil#isRetryTopic."""
    return resource is not None and not is_blank(resource) and resource.startswith(RETRY_GROUP_TOPIC_PREFIX)


def is_dlq_topic(resource: str | None) -> bool:
    """NamespaceUtil#isDLQTopic."""
    return resource is not None and not is_blank(resource) and resource.startswith(DLQ_GROUP_TOPIC_PREFIX)


def _is_system_resource(resource: str) -> bool:
    return is_system_topic(resource) or is_sys_consumer_group(resource)


def _prefix(resource: str) -> str:
    if is_retry_topic(resource):
        return RETRY_GROUP_TOPIC_PREFIX
    return DLQ_GROUP_TOPIC_PREFIX if is_dlq_topic(resource) else ""


def _without_retry_and_dlq(resource: str) -> str:
    return resource[len(_prefix(resource)) :]


def without_any_namespace(resource: str | None) -> str | None:
    """NamespaceUtil#withoutNamespace(resource): cuts everything up to the first separator."""
    if not resource or _is_system_resource(resource):
        return resource
    before, separator, after = _without_retry_and_dlq(resource).partition(NAMESPACE_SEPARATOR)
    return _prefix(resource) + after if separator and before else resource


def without_namespace(resource: str | None, namespace: str | None) -> str | None:
    """NamespaceUtil#withoutNamespace(resource, namespace): cuts only if the name is inside that namespace."""
    if not resource or not namespace:
        return resource
    if _without_retry_and_dlq(resource).startswith(namespace + NAMESPACE_SEPARATOR):
        return without_any_namespace(resource)
    return resource


def is_already_with_namespace(resource: str | None, namespace: str | None) -> bool:
    """NamespaceUtil#isAlreadyWithNamespace."""
    if not namespace or not resource or _is_system_resource(resource):
        return False
    return _without_retry_and_dlq(resource).startswith(namespace + NAMESPACE_SEPARATOR)


def wrap_namespace(namespace: str | None, resource: str | None) -> str | None:
    """NamespaceUtil#wrapNamespace; names of the system and wrapped ones stay as they are."""
    if not namespace or not resource:
        return resource
    if _is_system_resource(resource) or is_already_with_namespace(resource, namespace):
        return resource
    return f"{_prefix(resource)}{namespace}{NAMESPACE_SEPARATOR}{_without_retry_and_dlq(resource)}"


def wrap_namespace_and_retry(namespace: str | None, consumer_group: str | None) -> str | None:
    """NamespaceUtil#wrapNamespaceAndRetry: the retry topic of a group."""
    if not consumer_group:
        return None
    return f"{RETRY_GROUP_TOPIC_PREFIX}{wrap_namespace(namespace, consumer_group)}"


def get_namespace_from_resource(resource: str | None) -> str:
    """NamespaceUtil#getNamespaceFromResource; empty if there is none."""
    if not resource or _is_system_resource(resource):
        return ""
    before, separator, _ = _without_retry_and_dlq(resource).partition(NAMESPACE_SEPARATOR)
    return before if separator else ""
