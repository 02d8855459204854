"""Who is told and asked of the members of groups: notifications, id lists, who consumes a topic."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, on


class list_has_no_repetition(Rule):
    """In the list of the members of a group no client stands twice."""

    shipped = "violated: B-5 a client with two connections, D6 equal ids"
    cite = "ConsumerGroupInfo#getAllClientId"
    about = "broker_addr group"

    @on(events.ConsumerIdsFetched)
    def fetched(self, _: int, at: str, event: events.ConsumerIdsFetched) -> Iterator[Told]:
        ids, addr = event.client_ids or (), event.broker_addr
        if len({*ids}) < len(ids):
            yield self.told(f"{addr} tells {at} of {', '.join(map(str, ids))} in {event.group}", addr, event.group)


class starter_rebalances_at_once(Duty):
    """Where nothing fails a consumer that starts, and learns of queues then, asks at once for the members of its group.

    It does not wait for a broker that tells it of changes, nor for its timer. Who broadcasts asks nobody.
    """

    cite = "DefaultMQPushConsumerImpl#start: rebalanceImmediately"
    about = "at client_id group"
    calm = True
    within_ms = deadlines.rebalanced_at_first
    paid_by = (Match(events.ConsumerIdsFetched, of="client_id group"),)
    excuses = (Excuse("it stops", by=events.ConsumerStopping),)
    late = "{at} has started {waited_ms} ms ago, and has not asked for the members of {group}"

    started_ms = Kept("at client_id group")

    @on(events.ConsumerStarted)
    def starts(self, ms: int, at: str, event: events.ConsumerStarted) -> None:
        if event.message_model == "CLUSTERING":
            self.started_ms[at, event.client_id, event.group] = ms

    @on(events.RouteUpdated)
    def learns(self, ms: int, at: str, event: events.RouteUpdated) -> None:
        key = at, event.client_id, event.group
        started_ms = self.started_ms.pop(key, -inf) if event.mqs else -inf
        if ms - started_ms <= deadlines.soon(self.bounds):
            self.owe(key, ms)


_GOODBYE = "unregistered"
"""Why a member is removed that says that it leaves."""
CHANGES = {
    events.ConsumerRegistered: "{0.client_id} has come", events.ConsumerRemoved: "{0.client_id} has gone",
    events.SubscriptionUpdated: "{0.topic} is subscribed",
    events.SubscriptionRemoved: "{0.topic} is not subscribed any more",
}
"""Who and what comes into groups and leaves them: ends of sentences."""


class ChangesOfGroups(Rule):
    """What is common: changes; what is put into a dropped group is new there."""

    @on(*CHANGES)
    def happens(self, ms: int, at: str, event: Any) -> None:
        kind = event.__class__
        is_there = event.attached and (
            (kind is events.ConsumerRegistered and (at, event.group, event.connection) in self.facts.listed)
            or (kind is events.SubscriptionUpdated and (at, event.group, event.topic) in self.facts.subscribed))
        if not is_there:
            self.changed(ms, at, event, CHANGES[kind].format(event))

    def changed(self, ms: int, at: str, event: Any, what: str) -> None:
        """Something has changed in the group of an event at a broker; what -- the end of a sentence."""
        raise NotImplementedError


class members_are_told_of_changes(ChangesOfGroups, Duty):
    """When a member or a topic of a group comes or goes, each member is sent a notification.

    Not so by a broker that is to send none, or none about the group.
    """

    shipped = "violated: B-12 the expired are not announced"
    cite = "ConsumerManager#registerConsumer, #unregisterConsumer, #doChannelCloseEvent: CHANGE"
    about = "at group connection"
    within_ms = deadlines.handled
    paid_by = (events.ConsumerIdsChanged,)
    excuses = (Excuse("the member is not listed any more", by=events.ConsumerRemoved),
               Excuse("the group is dropped", by=events.GroupRemoved))
    late = "{at} has not told {connection} for {waited_ms} ms that {what} in {group}"

    def changed(self, ms: int, at: str, event: Any, what: str) -> None:
        """See ChangesOfGroups; who comes is told, too."""
        new = [event.connection] if isinstance(event, events.ConsumerRegistered) else []
        tells = event.attached and all(self.views.tells_of_changes(at, event.group))
        for connection in dict.fromkeys((*self.facts.connections(at, event.group), *new)) if tells else ():
            self.owe((at, event.group, connection), ms, what)


class notifications_can_be_switched_off(Rule):
    """A broker that is to tell nobody of changes sends no notification, and one that is to tell no group sends it none.

    That a connection has closed, or has expired, may be told the other members of such a group all the same.
    """

    cite = ("DefaultConsumerIdsChangeListener#handle: CHANGE, ClientManageProcessor#heartBeat, #unregisterClient: "
            "isNotifyConsumerIdsChangedEnable")
    about = "at group"

    closed_ms = Kept("at group", begins=(Match(events.ConsumerRemoved, having=lambda one: one.why != _GOODBYE),))

    @on(events.ConsumerIdsChanged)
    def notified(self, ms: int, at: str, event: events.ConsumerIdsChanged) -> Iterator[Told]:
        key = at, event.group
        at_all, of_group = self.views.tells_of_changes(*key)
        since_ms = self.closed_ms.get(key, 0)
        has_closed = key in self.closed_ms and (
            ms - since_ms - self.facts.stood_still_ms(at, since_ms) <= deadlines.handled(self.bounds))
        if not at_all or not (of_group or has_closed):
            yield self.told(f"{at} tells {event.connection} that {event.group} has changed, and is not to", *key)


class notifications_have_a_reason(ChangesOfGroups):
    """Members are not told again and again of changes that there are not.

    Counts the notifications to a connection and what has happened in its group since it was listed, or so shortly
    before that others may be told of it only now; time in which the broker stood still does not count. A goodbye is
    announced even if nobody was removed.
    """

    cite = "ConsumerManager#registerConsumer: r1 || r2"
    about = "at group connection"

    # When something has changed; what was said to a connection, or had happened long before it was listed.
    changes, told_of = Kept("at group"), Kept("at group connection")

    @on(events.GoodbyeTaken)
    def says_goodbye(self, ms: int, at: str, event: events.GoodbyeTaken) -> None:
        self.changed(ms, at, event, "")

    def changed(self, ms: int, at: str, event: Any, what: str) -> None:
        """See ChangesOfGroups."""
        del what
        times_ms = self.changes.setdefault((at, event.group), [])
        if isinstance(event, events.ConsumerRegistered):
            limit_ms = deadlines.handled(self.bounds)
            self.told_of[at, event.group, event.connection] = sum(
                ms - one_ms - self.facts.stood_still_ms(at, one_ms) > limit_ms for one_ms in times_ms)
        times_ms.append(ms)

    @on(events.ConsumerIdsChanged)
    def notified(self, _: int, at: str, event: events.ConsumerIdsChanged) -> Iterator[Told]:
        key, changes = (at, event.group, event.connection), len(self.changes.get((at, event.group), ()))
        self.told_of[key] = count = self.told_of.get(key, 0) + 1
        if count > changes:
            yield self.told(f"{at} has told {event.connection} {count} times of {changes} changes", *key)


class who_consumes_is_answered(Rule):
    """The groups of a topic are those that subscribe it and those that have committed offsets of it."""

    cite = "AdminBrokerProcessor#queryTopicConsumeByWho"
    about = "at topic"

    @on(events.ConsumersOfTopicAnswered)
    def answered(self, _: int, at: str, event: events.ConsumersOfTopicAnswered) -> Iterator[Told]:
        right = {group for group, topic in self.views.groups_with_offsets(at) if topic == event.topic}
        right |= {group for group in self.views.groups(at) if event.topic in self.views.subscriptions(at, group)}
        if right != event.groups:
            answer, truth = ", ".join(sorted(event.groups)), ", ".join(sorted(right))
            yield self.told(f"{at} names ({answer}) when asked for {event.topic}, not ({truth})", at, event.topic)
