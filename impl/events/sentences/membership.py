"""Sentences about the members of groups, and about their notifications."""

from __future__ import annotations

from typing import Any

from impl.events import membership as told
from impl.events.sentences.said import Said

_WHY = {
    "unregistered": "{at} takes {client_id} out of {group}: it has said goodbye",
    "closed": "{at} takes {client_id} out of {group}: its connection is closed",
    "expired": "{at} takes {client_id} out of {group}: no heartbeat for 120 s",
    "replaced": "{at} takes an older connection of {client_id} out of {group}",
}


def _unread(event: Any) -> str:
    """What is said of a write to a group object that has left consumerTable."""
    return "" if event.attached else " – in an object that has left the table, which nobody reads"


def _registered(event: told.ConsumerRegistered, _: Any) -> str:
    what = "{at} enters {client_id} in {group}" if event.added else "{at} hears a heartbeat of {client_id} in {group}"
    return what + (": {subscriptions}" if event.subscriptions else "") + _unread(event)


def _removed(event: told.ConsumerRemoved, _: Any) -> str:
    return _WHY.get(event.why, "{at} takes {client_id} out of {group} ({why})") + _unread(event)


def _changed(event: told.ConsumerIdsChanged, _: Any) -> str:
    said = "{at} tells {connection} that {group} has changed"
    return said if event.delivered else said + ", and cannot send it"


def _answered(event: told.ConsumerIdsAnswered, _: Any) -> str:
    if not event.client_ids:
        return "{at} tells {connection} that {group} has no members: an error"
    return "{at} tells {connection} the members of {group}: {client_ids}"


def _goodbye(event: told.GoodbyeTaken, _: Any) -> str:
    return "{at} has handled the goodbye of {client_id} from {group}" + _unread(event)


def _group_removed(event: told.GroupRemoved, _: Any) -> str:
    return "{at} removes {group} from its table" + (", with {members} still in it" if event.members else "")


SENTENCES: dict[type, Said] = {
    told.GroupEntered: Said("{at} has {group} in its table from now on, without members yet", "new groups"),
    told.GroupRemoved: Said(_group_removed, "groups removed"),
    told.ConsumerRegistered: Said(_registered, "heartbeats of consumers"),
    told.HeartbeatHandled: Said("{at} has handled a heartbeat of {connection} in {group}", "heartbeats handled"),
    told.HeartbeatRefused: Said("{at} refuses a heartbeat of {client_id} in {group}", "heartbeats refused"),
    told.ConsumerRemoved: Said(_removed, "members taken out"),
    told.GoodbyeTaken: Said(_goodbye, "goodbyes handled"),
    told.ConsumerIdsChanged: Said(_changed, "notifications of members"),
    told.ProducerRegistered: Said("{at} hears a heartbeat of {client_id} as a producer of {group}",
                                  "heartbeats of producers"),
    told.ProducerForgotten: Said("{at} forgets {connection} of {client_id} as a producer of {group}, and with it where "
                                 "replies to {client_id} go", "producers forgotten"),
    told.ConsumerIdsAnswered: Said(_answered, "answers with the members"),
    told.ConsumersOfTopicAnswered: Said("{at} answers who consumes {topic}: {groups}", "answers who consumes"),
    told.SubscriptionGroupDeleted: Said("{at} deletes the subscription group {group}", "groups deleted"),
    told.ClientChannelClosed: Said("{at} learns that its connection to {connection} has ended", "ends of connections"),
}
