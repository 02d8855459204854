"""Who is who in a picture: below it each name of its sentences is explained once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from impl import events as e
from impl.decisions.names import REPLY_TOPIC_POSTFIX, RETRY_GROUP_TOPIC_PREFIX, is_system_topic
from invariants.pictures.log import Log, machine

_ROLES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("name server", (e.KVConfigLoaded,)), ("broker", (e.BrokerStarted, e.TopicConfigUpdated, e.StoreLoaded)),
    ("consumer", (e.ConsumerStarted,)), ("client", (e.NameServerChosen,)), ("producer", (e.SendAnswered,)),
)
"""What a machine is that has reported one of these events, the first that fits; several are told in the plural."""
_BY_HAND = "client driven by hand"
_ELSEWHERE = "broker that another machine registers"
_WORLD, _REPLIES = "world", f"_{REPLY_TOPIC_POSTFIX}"
_NAMED: Mapping[str, str] = {"group": "consumer group", "topic": "topic", "topics": "topic"}
_OF_PRODUCERS = (e.ProducerRegistered, e.ProducerForgotten)
_VERSIONS: tuple[tuple[str, str], ...] = (
    (r"[Vv]ersion \d+ of|in version \d+", "version of a subscription: its subVersion, 1 is the oldest"),
    (r"with version \d+|, version \d+", "version of a broker's topics: its DataVersion, 1 is the oldest"),
)


def explained(log: Log, texts: Iterable[str]) -> str:
    """The names of these sentences, and what each is: "c1, c2: consumers; G: consumer group"."""
    said = " ".join(texts)
    found, known = defaultdict[str, list[str]](list), set[str]()
    for name, role in _names(log):
        if name not in known and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", said):
            known.add(name)
            found[role].append(name)
    parts = [f"{', '.join(names)}: {role if len(names) == 1 else _plural(role)}" for role, names in found.items()]
    return "; ".join([*parts, *(what for how, what in _VERSIONS if re.search(how, said))])


def _names(log: Log) -> Iterator[tuple[str, str]]:
    """Each name of the run with what it is, machines first."""
    for at in log.machines:
        if at != _WORLD:
            roles = (role for role, kinds in _ROLES if any((at, kind) in log.places for kind in kinds))
            yield at, next(roles, _BY_HAND)
    for at, _ in ((machine(event.broker_addr), at) for _, at, event in log.records
                  if isinstance(event, e.BrokerRegistered)):
        if at not in log.machines:
            yield at, _ELSEWHERE
    for _, _, event in log.records:
        if isinstance(event, e.BrokerRegistered):
            yield event.broker_name, "broker name"
            clusters = [one for one in sorted(event.topics) if one.endswith(_REPLIES)]
            yield from ((one.removesuffix(_REPLIES), "cluster") for one in clusters)
    for _, _, event in log.records:
        for field in getattr(event, "_fields", ()):
            if field in _NAMED:
                role = _NAMED[field] if not isinstance(event, _OF_PRODUCERS) else "producer group"
                yield from ((one, role) for one in _values(getattr(event, field)))


def _values(value: Any) -> list[str]:
    """The groups or topics of a field, but those that RocketMQ makes for itself."""
    each = [value] if isinstance(value, str) else sorted(value or ())
    return [one for one in each if one and not is_system_topic(one) and not one.startswith(RETRY_GROUP_TOPIC_PREFIX)]


def _plural(role: str) -> str:
    """Of the noun, which may have words behind it."""
    noun, space, rest = role.partition(" that ") if " that " in role else role.partition(" driven ")
    return f"{noun}s{space}{rest}"
