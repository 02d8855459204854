"""Sentences about routes, registrations and key values at name servers."""

from __future__ import annotations

from typing import Any

from impl.events import name_server as told
from impl.events.sentences.said import Said
from impl.events.sentences.words import machine

_WHY = {
    "unregistered": "{at} forgets {broker_addr}: it was unregistered",
    "destroyed": "{at} forgets {broker_addr}: its connection is closed",
    "expired": "{at} forgets {broker_addr}: no registration for 120 s",
}


def _registered(event: told.BrokerRegistered, before: Any) -> str:
    who = "{broker_addr}" if event.broker_addr.startswith(f"{event.broker_name}:") else "{broker_addr} as {broker_name}"
    who = who if event.broker_id == 0 else "{broker_addr}, a slave of {broker_name},"
    if machine(event.connection) != machine(event.broker_addr):
        who += " over its connection to {connection}"
    if event.version is None:
        return f"{{at}} registers {who} without any topic"
    if isinstance(before, told.BrokerRegistered) and before.version == event.version:
        return f"{{at}} registers {who} with version {{version}}, which it knows: it does not look at {{topics}}"
    return f"{{at}} registers {who} with version {{version}}: {{topics}}"


def _live_removed(event: told.BrokerLiveRemoved, _: Any) -> str:
    return _WHY.get(event.why, "{at} forgets {broker_addr} ({why})")


def _found(event: told.BrokerFound, _: Any) -> str:
    if event.broker_addr is None:
        return "{at} looks for the broker of a closed connection of {connection}, and finds none"
    return "{at} looks for the broker of a closed connection of {connection}: {broker_addr}"


def _queried(event: told.VersionQueried, _: Any) -> str:
    return "{at} tells {broker_addr} that it has " + ("another version" if event.changed else "the same version")


def _route(event: told.RouteAnswered, _: Any) -> str:
    if not event.addrs:
        return "{at} answers with a route of {topic} without any broker"
    return "{at} answers with the route of {topic}: {addrs}"


def _key_value(event: told.KVConfigPut, _: Any) -> str:
    return "{at} deletes the key {key}" if event.value is None else "{at} sets the key {key} to {value}"


SENTENCES: dict[type, Said] = {
    told.BrokerRegistered: Said(_registered, "registrations"),
    told.BrokerUnregistered: Said("{at} unregisters {broker_name}, id {broker_id}, at the word of {broker_addr}",
                                  "brokers unregistered"),
    told.BrokerLiveRemoved: Said(_live_removed, "brokers forgotten"),
    told.BrokerFound: Said(_found, "closed connections looked up"),
    told.BrokerDropped: Said("{at} takes {broker_addr} out of its routes", "brokers taken out of routes"),
    told.BrokerUpdateTimestamp: Said("{at} takes a question of {broker_addr} as a sign of life", "signs of life"),
    told.RegistrationCutShort: Said("the registration of {broker_addr} ends in the midst ({error}): {at} has the "
                                    "address, and does not watch whether it lives", "registrations cut short"),
    told.TopicDeleted: Said("{at} deletes the topic {topic}", "topics deleted"),
    told.WritePermWiped: Said("{at} takes the right to write from all queues of {broker_name}", "rights taken away"),
    told.WritePermAdded: Said("{at} gives all queues of {broker_name} the rights to read and write", "rights given"),
    told.VersionQueried: Said(_queried, "versions compared"),
    told.RegistrationAnswered: Said("{at} answers the registration of {broker_addr}: {code}",
                                    "registrations answered"),
    told.RouteAnswered: Said(_route, "routes answered"),
    told.RouteDenied: Said("{at} answers that it has no route of {topic}", "routes denied"),
    told.KVConfigPut: Said(_key_value, "key values set"),
    told.KVConfigLoaded: Said("{at} loads its key values from its file: {values}", "key values loaded"),
    told.ClusterInfoFetched: Said(
        "{at} is told by {namesrv} of the brokers {broker_names}; in clusters: {cluster_names}", "cluster questions"),
}
