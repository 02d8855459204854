"""Sentences about subscriptions."""

from __future__ import annotations

from typing import Any

from impl.events import subscriptions as told
from impl.events.sentences.said import Said

_UNREAD = " – in an object that has left the table, which nobody reads"


def _updated(event: told.SubscriptionUpdated, before: Any) -> str:
    new = "version {sub_version} of {topic} ({sub_string})"
    if before is None or not isinstance(before, told.SubscriptionUpdated):
        said = f"{{at}} puts {new} into the table of {{group}}"
    else:
        said = "{at} replaces version {before.sub_version} of {topic} by version {sub_version}"
        if before.sub_version > event.sub_version:
            said += ": an older subscription wins"
        elif before.sub_string != event.sub_string:
            said += ": {before.sub_string} becomes {sub_string} for the whole group"
    return said if event.attached else said + _UNREAD


def _removed(event: told.SubscriptionRemoved, _: Any) -> str:
    said = "{at} removes {topic} from the subscriptions of {group}: the heartbeat does not name it"
    return said if event.attached else said + _UNREAD


def _handled(event: told.SubscriptionsHandled, _: Any) -> str:
    said = "{at} is through with the subscriptions in a heartbeat of {connection} in {group}"
    return said if event.attached else said + _UNREAD


def _filtered(event: told.FilterRegistered, _: Any) -> str:
    if event.taken:
        return "{at} has compiled version {sub_version} of {topic} ({sub_string}): it filters for {group} from now on"
    why = "does not take" if event.lives else "has no living filter of {topic} for {group} after it has looked at"
    return f"{{at}} {why} version {{sub_version}} ({{sub_string}})"


def _asked(event: told.SubscriptionAsked, _: Any) -> str:
    wants = "wants {topic} no more" if event.expression is None else "subscribes {topic} with {expression}"
    return f"the application of {{at}} {wants} in {{group}}"


SENTENCES: dict[type, Said] = {
    told.SubscriptionsHandled: Said(_handled, "subscriptions looked through"),
    told.SubscriptionUpdated: Said(_updated, "subscriptions put"),
    told.SubscriptionRemoved: Said(_removed, "subscriptions removed"),
    told.FilterRegistered: Said(_filtered, "filters compiled"),
    told.SubscriptionAsked: Said(_asked, "subscriptions asked for"),
    told.TopicUnsubscribed: Said("{at} unsubscribes {topic} in {group}; no broker is told yet", "topics unsubscribed"),
    told.FiltersDied: Said("{at} lets the filters of {group} die", "filters ended"),
    told.VersionRaised: Said("{at} has version {sub_version} of its subscription of {topic} from now on; no broker "
                             "knows it yet", "versions raised"),
}
