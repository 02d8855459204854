"""Recordings of names, namespaces, flags and small functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.decisions import flags, names, namespace
from impl.decisions.addresses import (
    broker_vip_channel,
    human_readable_byte_count,
    is_internal_ip,
    join_text,
    split_text,
)
from impl.decisions.java_calendar import time_millis_to_human_string3
from impl.decisions.java_text import is_blank
from stateful_tests.conformance.adapters.comparison import compare, difference
from stateful_tests.conformance.replay import Adapter, Row

_NAME_CALLS: Mapping[str, Callable[[Any], Any]] = {
    "validate": lambda name: list(names.validate_topic(name)),
    "checkTopic": names.check_topic,
    "checkGroup": names.check_group,
    "notAllowed": names.check_allowed_send_topic,
    "illegal": names.is_topic_or_group_illegal,
    "system": names.is_system_topic,
    "forbidden": names.is_not_allowed_send_topic,
    "sysGroup": names.is_sys_consumer_group,
}
_NAME_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "blank": is_blank,
    "retry": names.get_retry_topic,
    "dlq": names.get_dlq_topic,
    "reply": names.get_reply_topic,
    "lmq": names.is_lmq,
}


def name_checks(row: Row) -> str | None:
    """Thirteen functions of one name; some answers are recorded bare, some as {r} or {e, m}. One row lists tables."""
    name = row["a"]
    if "notAllowedSendTopicSet" in row:
        forbidden = sorted(topic for topic in names.SYSTEM_TOPICS if names.is_not_allowed_send_topic(topic))
        tables = [sorted(row["r"]), sorted(row["notAllowedSendTopicSet"])]
        return difference(tables, [sorted(names.SYSTEM_TOPICS), forbidden], name)
    for key in row:
        if key == "a":
            continue
        recorded = row[key] if isinstance(row[key], dict) else {"r": row[key]}
        function = _NAME_CALLS.get(key) or _NAME_VALUES[key]
        found = compare(recorded, lambda function=function: function(name), key)  # type: ignore[misc]
        if found is not None:
            return found
    return difference(sorted({*_NAME_CALLS, *_NAME_VALUES, "a"}), sorted(row), "answers")


def namespaces(row: Row) -> str | None:
    """Eight functions of a namespace and a resource."""
    space, resource = row["a"]["namespace"], row["a"]["resource"]
    calls: dict[str, Callable[[], Any]] = {
        "wrap": lambda: namespace.wrap_namespace(space, resource),
        "without": lambda: namespace.without_namespace(resource, space),
        "without1": lambda: namespace.without_any_namespace(resource),
        "already": lambda: namespace.is_already_with_namespace(resource, space),
        "wrapRetry": lambda: namespace.wrap_namespace_and_retry(space, resource),
        "of": lambda: namespace.get_namespace_from_resource(resource),
    }
    for key, call in calls.items():
        found = compare(row[key], call, key)
        if found is not None:
            return found
    prefixes = [namespace.is_retry_topic(resource), namespace.is_dlq_topic(resource)]
    return difference([row["isRetry"], row["isDlq"]], prefixes, "prefixes")


def _topic_flags(value: int) -> list[Any]:
    """Set, cleared, had: the unit flag, then the flag of subscriptions in units."""
    unit, sub = flags.FLAG_UNIT, flags.FLAG_UNIT_SUB
    return [
        function(value, flag) for flag in (unit, sub) for function in (flags.set_flag, flags.clear_flag, flags.has_flag)
    ]


_FLAG_CALLS: Mapping[str, Callable[..., Any]] = {
    "MessageSysFlag.getTransactionValue": flags.get_transaction_value,
    "MessageSysFlag.resetTransactionValue": flags.reset_transaction_value,
    "MessageSysFlag.clearCompressedFlag": lambda value: flags.clear_flag(value, flags.COMPRESSED_FLAG),
    "PullSysFlag.buildSysFlag/4": flags.build_pull_sys_flag,
    "PullSysFlag.buildSysFlag/5": flags.build_pull_sys_flag,
    "PullSysFlag.clearCommitOffsetFlag": lambda value: flags.clear_flag(value, flags.FLAG_COMMIT_OFFSET),
    "PullSysFlag.has": lambda value: [flags.has_flag(value, flag) for flag in flags.PULL_FLAGS],
    "TopicSysFlag.buildSysFlag": flags.build_topic_sys_flag,
    "TopicSysFlag.set": _topic_flags,
    "SubscriptionSysFlag.buildSysFlag": flags.build_subscription_sys_flag,
}


def sys_flags(row: Row) -> str | None:
    """A function by name, or a constant of MessageSysFlag."""
    name, *arguments = row["a"]
    if name in _FLAG_CALLS:
        return compare(row, lambda: _FLAG_CALLS[name](*arguments))
    owner, _, constant = name.partition(".")
    if owner != "MessageSysFlag" or arguments:
        raise ValueError(f"no function {name!r}")
    return compare(row, lambda: getattr(flags, constant))


_SMALL: Mapping[str, Callable[..., Any]] = {
    "brokerVIPChannel": broker_vip_channel,
    "PermName": lambda perm: [
        flags.perm_text(perm), flags.has_flag(perm, flags.PERM_READ), flags.has_flag(perm, flags.PERM_WRITE),
        flags.has_flag(perm, flags.PERM_INHERIT),
    ],
    "isInternalIP": lambda address: is_internal_ip(bytes.fromhex(address)),
    "humanReadableByteCount": human_readable_byte_count,
    "timeMillisToHumanString3": time_millis_to_human_string3,
    "split": split_text,
    "join": join_text,
}


def small_functions(row: Row) -> str | None:
    """A function by name."""
    name, *arguments = row["a"]
    function = _SMALL[name]
    return compare(row, lambda: function(*arguments))


ADAPTERS: dict[str, Adapter] = {
    "names": name_checks,
    "namespace": namespaces,
    "small-functions": small_functions,
    "sys-flags": sys_flags,
}
