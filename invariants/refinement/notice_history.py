"""Judges of histories (`invariants.history`): who is told and asked of the members of groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.events import (
    ConsumerIdsAnswered,
    ConsumerIdsChanged,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumersOfTopicAnswered,
    GroupRemoved,
    HeartbeatRefused,
    ProcessKilled,
    ProcessPaused,
    SubscriptionRemoved,
    SubscriptionUpdated,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import KNOWN_MS, AfterHealing, Hearing, Judge, queue_text

TOLD_MS = 100_000
"""A change is told by then, at once being the rule: threads may stand still, for 40 s each."""

FORGOTTEN_MS = 260_000
"""A dead broker leaves the routes after 120 s, then those of clients, and with them its address."""


class _ListHasNoRepetition(Judge):
    """Of list_has_no_repetition."""

    name = "list_has_no_repetition"

    def hears(self) -> Hearing:
        return {ConsumerIdsAnswered: self.answered}

    def answered(self, _: int, machine: str, event: ConsumerIdsAnswered) -> Iterator[str]:
        if len(set(event.client_ids)) < len(event.client_ids):
            twice = next(one for one in event.client_ids if event.client_ids.count(one) > 1)
            yield f"{machine} lists {twice} of {event.group} more than once"


class _MembersAreTold(Judge):
    """Of members_are_told_of_changes: a notification is written, or cannot be, to each connection that stays."""

    name = "members_are_told_of_changes"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.members: dict[tuple[str, str], set[str]] = {}
        self.topics: dict[tuple[str, str], set[str]] = {}
        self.untold: dict[tuple[str, str, str], tuple[int, str]] = {}

    def hears(self) -> Hearing:
        return {ConsumerRegistered: self.registered, ConsumerRemoved: self.removed, GroupRemoved: self.group_removed,
                SubscriptionUpdated: self.subscribed, SubscriptionRemoved: self.unsubscribed,
                ConsumerIdsChanged: self.told, tuple: self.host}

    def registered(self, ms: int, machine: str, event: ConsumerRegistered) -> None:
        if event.attached and event.added:
            self.members.setdefault((machine, event.group), set()).add(event.connection)
            self._changed(ms, machine, event.group, f"{event.client_id} has come")

    def removed(self, ms: int, machine: str, event: ConsumerRemoved) -> None:
        self.members.get((machine, event.group), set()).discard(event.connection)
        self.untold.pop((machine, event.group, event.connection), None)
        if event.attached:
            self._changed(ms, machine, event.group, f"{event.client_id} has gone")

    def group_removed(self, _: int, machine: str, event: GroupRemoved) -> None:
        self._forget(machine, event.group)

    def subscribed(self, ms: int, machine: str, event: SubscriptionUpdated) -> None:
        known = self.topics.setdefault((machine, event.group), set())
        if event.attached and event.topic not in known:
            known.add(event.topic)
            self._changed(ms, machine, event.group, f"{event.topic} is subscribed")

    def unsubscribed(self, ms: int, machine: str, event: SubscriptionRemoved) -> None:
        if event.attached:
            self.topics.get((machine, event.group), set()).discard(event.topic)
            self._changed(ms, machine, event.group, f"{event.topic} is not subscribed any more")

    def _changed(self, ms: int, machine: str, group: str, what: str) -> None:
        for connection in sorted(self.members.get((machine, group), ())):
            self.untold.setdefault((machine, group, connection), (ms, what))

    def told(self, _: int, machine: str, event: ConsumerIdsChanged) -> None:
        self.untold.pop((machine, event.group, event.connection), None)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            for group in sorted({group for where, group in (*self.members, *self.topics) if where == machine}):
                self._forget(machine, group)
        elif event.__class__ is ProcessPaused:
            for key, (since_ms, what) in self.untold.items():
                if key[0] == machine:
                    self.untold[key] = max(since_ms, ms + event.ms), what

    def _forget(self, machine: str, group: str) -> None:
        self.members.pop((machine, group), None)
        self.topics.pop((machine, group), None)
        for key in [key for key in self.untold if key[:2] == (machine, group)]:
            del self.untold[key]

    def due(self, now_ms: int) -> Iterator[str]:
        for key, (since_ms, what) in [*self.untold.items()]:
            if now_ms - since_ms > TOLD_MS:
                del self.untold[key]
                yield f"{key[0]} has not told {key[2]} that {what} in {key[1]}"


class _WhoConsumesATopic(Judge):
    """Of who_consumes_is_answered: groups that subscribe it now, and those that have committed offsets of it."""

    name = "who_consumes_is_answered"

    def hears(self) -> Hearing:
        return {ConsumersOfTopicAnswered: self.answered}

    def answered(self, _: int, machine: str, event: ConsumersOfTopicAnswered) -> Iterator[str]:
        broker = self.living.broker(machine)
        if broker is None:
            return
        groups = broker.consumer_manager.consumer_table.entries()
        right = {group for group, info in groups if info.subscription_table.contains_key(event.topic)}
        for key in broker.consumer_offset_manager.offset_table.key_set():
            topic, _at, group = key.partition("@")
            right |= {group} if topic == event.topic else set()
        for group in sorted(right ^ event.groups):
            yield f"{machine} {'leaves out' if group in right else 'names'} {group} when asked for {event.topic}"


class _ProducersAreKnown(AfterHealing):
    """Of producers_are_known: of the producer that each client has.

    A consumer whose heartbeats are refused expires, and its connection ends; its producer is back with the next one.

    refused -- broker's machine and client id, from an objection to a heartbeat until the next one that is entered.
    """

    name = "producers_are_known"
    after_ms = KNOWN_MS

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.refused: set[tuple[str, str | None]] = set()

    def hears(self) -> Hearing:
        return {**super().hears(), HeartbeatRefused: self.objected, ConsumerRegistered: self.entered}

    def objected(self, _: int, machine: str, event: HeartbeatRefused) -> None:
        self.refused.add((machine, event.client_id))

    def entered(self, _: int, machine: str, event: ConsumerRegistered) -> None:
        self.refused.discard((machine, event.client_id))

    def look(self) -> Iterator[str]:
        running = {one.instance.client_id: one.instance for machine in self.living.machines.consumers
                   for one in self.living.consumers(machine) if one.service_state == "RUNNING"}
        right = {(group, client_id) for client_id, instance in running.items()
                 for group in instance.producer_table.key_set()}
        for machine in self.living.machines.brokers:
            broker = self.living.broker(machine)
            tables = () if broker is None else broker.producer_manager.group_channel_table.entries()
            known = {(group, info.client_id) for group, table in tables for info in table.values()}
            for group, client_id in sorted(known ^ right, key=str) if broker is not None else ():
                missing = (group, client_id) in right
                if missing and (machine, client_id) in self.refused:
                    continue
                word = "does not know" if missing else "still knows"
                yield f"{machine} {word} the producer {group} of {client_id}"


class _OnlyTheSubscribedIsHeld(AfterHealing):
    """Of only_the_subscribed_is_held."""

    name = "only_the_subscribed_is_held"
    after_ms = KNOWN_MS

    def look(self) -> Iterator[str]:
        for machine in self.living.machines.consumers:
            for consumer in self.living.consumers(machine):
                rebalance = consumer.rebalance_impl
                for mq in rebalance.process_queue_table.key_set():
                    if not rebalance.subscription_inner.contains_key(mq.topic):
                        yield f"{machine} holds {queue_text(mq)}, which it does not subscribe"


class _ClientsForgetTheDead(AfterHealing):
    """Of clients_forget_the_dead."""

    name = "clients_forget_the_dead"
    after_ms = FORGOTTEN_MS

    def look(self) -> Iterator[str]:
        brokers = [broker for machine in self.living.machines.brokers if (broker := self.living.broker(machine))]
        living = {broker.broker_addr for broker in brokers}
        for machine in self.living.machines.consumers:
            for consumer in self.living.consumers(machine):
                for _, addrs in consumer.instance.routes.broker_addr_table.entries():
                    for address in sorted(set(addrs.values()) - living):
                        yield f"{machine} still knows {address}"


JUDGES: tuple[type[Judge], ...] = (
    _ListHasNoRepetition, _MembersAreTold, _WhoConsumesATopic, _ProducersAreKnown,
    _OnlyTheSubscribedIsHeld, _ClientsForgetTheDead,
)
