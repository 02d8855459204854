"""Who is told and asked of the members of groups: notifications, id lists, who consumes a topic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.events import (
    ConsumerIdsChanged,
    ConsumerIdsFetched,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumersOfTopicAnswered,
    GoodbyeTaken,
    GroupRemoved,
    SubscriptionRemoved,
    SubscriptionUpdated,
)
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.rule import Duty, Kept, Rule, Told, on
from invariants.rules.watch import Run


class list_has_no_repetition(Rule):
    """In the list of the members of a group no client stands twice."""

    shipped = "violated: B-5 a client with two connections, D6 equal ids"
    cite = "ConsumerGroupInfo#getAllClientId"
    about = "broker_addr group"

    @on(ConsumerIdsFetched)
    def fetched(self, _: int, at: str, event: ConsumerIdsFetched) -> Iterator[Told]:
        """A client has been answered."""
        client_ids = event.client_ids or ()
        if len({*client_ids}) < len(client_ids):
            sentence = f"{event.broker_addr} tells {at} that {', '.join(map(str, client_ids))} are in {event.group}"
            yield self.told(sentence, event.broker_addr, event.group)


class members_are_told_of_changes(Duty):
    """When a member or a topic of a group comes or goes, each member is sent a notification."""

    shipped = "violated: B-12 the expired are not announced"
    cite = "ConsumerManager#registerConsumer, #unregisterConsumer, #doChannelCloseEvent: CHANGE"
    about = "at group connection"
    within_ms = deadlines.handled
    paid_by = (ConsumerIdsChanged,)
    excuses = (Excuse("the member is not listed any more", by=ConsumerRemoved),
               Excuse("the group is dropped", by=GroupRemoved))

    @on(ConsumerRegistered)
    def comes(self, ms: int, at: str, event: ConsumerRegistered) -> None:
        """A heartbeat has put its connection."""
        if event.attached and (at, event.group, event.connection) not in self.facts.listed:
            self._owe(ms, at, event.group, f"{event.client_id} has come", event.connection)

    @on(ConsumerRemoved)
    def goes(self, ms: int, at: str, event: ConsumerRemoved) -> None:
        """A connection has left the table."""
        if event.attached:
            self._owe(ms, at, event.group, f"{event.client_id} has gone")

    @on(SubscriptionUpdated)
    def subscribed(self, ms: int, at: str, event: SubscriptionUpdated) -> None:
        """A topic has been put."""
        if event.attached and (at, event.group, event.topic) not in self.facts.subscribed:
            self._owe(ms, at, event.group, f"{event.topic} is subscribed")

    @on(SubscriptionRemoved)
    def unsubscribed(self, ms: int, at: str, event: SubscriptionRemoved) -> None:
        """A topic has been removed."""
        if event.attached:
            self._owe(ms, at, event.group, f"{event.topic} is not subscribed any more")

    def _owe(self, ms: int, at: str, group: str, what: str, *also: str) -> None:
        for connection in dict.fromkeys((*self.facts.connections(at, group), *also)):
            self.owe((at, group, connection), ms, what)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str:
        """See Duty."""
        return f"{key[0]} has not told {key[2]} for {waited_ms} ms that {what} in {key[1]}"


class notifications_have_a_reason(Rule):
    """Members are not told again and again of changes that there are not.

    Counts the notifications to a connection and what has happened in its group. A goodbye is announced even if nobody
    was removed.
    """

    cite = "ConsumerManager#registerConsumer: r1 || r2"
    about = "at group connection"

    def __init__(self, run: Run) -> None:
        """Nothing has happened."""
        super().__init__(run)
        self.changes, self.told_of = Kept("at group"), Kept("at group connection")

    @on(ConsumerRemoved, GoodbyeTaken, SubscriptionRemoved)
    def changed(self, _: int, at: str, event: Any) -> None:
        """Somebody or something is not there any more."""
        self.changes[at, event.group] = self.changes.get((at, event.group), 0) + 1

    @on(ConsumerRegistered)
    def comes(self, ms: int, at: str, event: ConsumerRegistered) -> None:
        """A heartbeat has put its connection; one that is put into a dropped group is always new there."""
        if not event.attached or (at, event.group, event.connection) not in self.facts.listed:
            self.changed(ms, at, event)

    @on(SubscriptionUpdated)
    def subscribed(self, ms: int, at: str, event: SubscriptionUpdated) -> None:
        """A topic has been put; a newer version of it is no change."""
        if not event.attached or (at, event.group, event.topic) not in self.facts.subscribed:
            self.changed(ms, at, event)

    @on(ConsumerIdsChanged)
    def notified(self, _: int, at: str, event: ConsumerIdsChanged) -> Iterator[Told]:
        """A member is told."""
        key, changes = (at, event.group, event.connection), self.changes.get((at, event.group), 0)
        self.told_of[key] = count = self.told_of.get(key, 0) + 1
        if count > changes:
            yield self.told(f"{at} has told {event.connection} {count} times of {changes} changes", *key)


class who_consumes_is_answered(Rule):
    """The groups of a topic are those that subscribe it and those that have committed offsets of it."""

    cite = "AdminBrokerProcessor#queryTopicConsumeByWho"
    about = "at topic"

    @on(ConsumersOfTopicAnswered)
    def answered(self, _: int, at: str, event: ConsumersOfTopicAnswered) -> Iterator[Told]:
        """An operator has asked."""
        right = {group for group, topic in self.views.groups_with_offsets(at) if topic == event.topic}
        right |= {group for group in self.views.groups(at) if event.topic in self.views.subscriptions(at, group)}
        if right != event.groups:
            answer, truth = ", ".join(sorted(event.groups)), ", ".join(sorted(right))
            yield self.told(f"{at} names ({answer}) when asked for {event.topic}, not ({truth})", at, event.topic)
