"""Judges of histories (`invariants.history`): what servers and clients do for what they have, and what they clear away.

Some of them look only at runs in which nothing fails (`Machines.calm`): what is lost or late there has no excuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID, get_retry_topic
from impl.events import (
    ConsumerIdsChanged,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerStopping,
    GroupRemoved,
    LockGranted,
    LockReleased,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueueTaken,
    SubscriptionRemoved,
    SubscriptionUpdated,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import HANDLED_MS, KNOWN_MS, AfterHealing, Hearing, Judge, Listeners, queue_text

SPARE = 10
"""Notifications that nothing we are told of explains: the goodbye of somebody who is not listed makes one."""
FREED_MS = 30_000
"""A lock is freed 20 s after the queue was given up, if messages are cached."""
PULLED_MS = 60_000
"""A broker holds a pull for 15 s; after an error, or while too much is cached, the next one comes within 3 s."""
LOOK_MS = 10_000


class _NotificationsHaveAReason(Judge):
    """Of notifications_have_a_reason: no connection is told much more often than its group has changed."""

    name = "notifications_have_a_reason"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.changes: Counter[tuple[str, str]] = Counter()
        self.told: Counter[tuple[str, str, str]] = Counter()

    def hears(self) -> Hearing:
        return {ConsumerRegistered: self.registered, ConsumerRemoved: self.changed, GroupRemoved: self.changed,
                SubscriptionUpdated: self.changed, SubscriptionRemoved: self.changed, ConsumerIdsChanged: self.tell}

    def registered(self, ms: int, machine: str, event: ConsumerRegistered) -> None:
        if event.added:
            self.changed(ms, machine, event)

    def changed(self, _: int, machine: str, event: Any) -> None:
        self.changes[machine, event.group] += 1

    def tell(self, _: int, machine: str, event: ConsumerIdsChanged) -> Iterator[str] | None:
        key, changes = (machine, event.group, event.connection), self.changes[machine, event.group]
        self.told[key] += 1
        if self.told[key] <= changes + SPARE:
            return None
        return iter((f"{machine} has told {event.connection} {self.told[key]} times of {changes} changes",))


class _GroupHasItsRetryTopic(AfterHealing):
    """Of group_has_its_retry_topic, at masters."""

    name = "group_has_its_retry_topic"
    after_ms = KNOWN_MS

    def look(self) -> Iterator[str]:
        for machine in self.living.machines.brokers:
            broker = self.living.broker(machine)
            if broker is not None and broker.config.broker_id == MASTER_ID:
                for group in broker.consumer_manager.consumer_table.key_set():
                    if not broker.topic_config_manager.topic_config_table.contains_key(get_retry_topic(group)):
                        yield f"{machine} has members of {group} and no topic {get_retry_topic(group)}"


class _ClosedBrokerIsDropped(Judge):
    """Of closed_broker_is_dropped: of a registration whose connection has been seen open, and is not any more."""

    name = "closed_broker_is_dropped"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.open: dict[tuple[str, str], object] = {}
        self.since_ms: dict[tuple[str, str], int] = {}

    def hears(self) -> Hearing:
        return {tuple: self.host}

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self._forget({key for key in self.open if key[0] == machine})
        elif event.__class__ is ProcessPaused:
            self.since_ms.update({key: ms + event.ms for key in self.since_ms if key[0] == machine})

    def _forget(self, keys: set[tuple[str, str]]) -> None:
        for key in keys:
            self.open.pop(key, None)
            self.since_ms.pop(key, None)

    def due(self, now_ms: int) -> Iterator[str]:
        for machine in self.living.machines.namesrvs:
            namesrv = self.living.namesrv(machine)
            entries = {} if namesrv is None else dict(namesrv.route_info.broker_live_table.entries())
            self._forget({key for key in self.open if key[0] == machine and key[1] not in entries})
            for addr, info in entries.items():
                key = machine, addr
                if info.channel.is_active():
                    self.open[key] = info.channel
                    self.since_ms.pop(key, None)
                elif self.open.get(key) is info.channel and \
                        now_ms - self.since_ms.setdefault(key, now_ms) > HANDLED_MS:
                    self._forget({key})
                    yield f"{machine} keeps {addr} long after its connection has ended"


class _HeldQueueIsPulled(Judge):
    """Of held_queue_is_pulled, where nothing fails."""

    name = "held_queue_is_pulled"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.looked_ms = 0

    def hears(self) -> Hearing:
        return {}

    def due(self, now_ms: int) -> Iterator[str]:
        if now_ms - self.looked_ms < LOOK_MS or not self.living.machines.calm:
            return
        self.looked_ms = now_ms
        for machine in self.living.machines.consumers:
            for consumer in self.living.consumers(machine):
                queues = consumer.rebalance_impl.process_queue_table.entries()
                for mq, pq in queues if consumer.service_state == "RUNNING" else ():
                    idle_ms = consumer.node.now_ms() - pq.last_pull_timestamp
                    if not pq.dropped and idle_ms > PULLED_MS:
                        yield f"{machine} has not pulled {queue_text(mq)} for {idle_ms} ms"


class _GivenUpLockIsFreed(Judge):
    """Of given_up_lock_is_freed, where nothing fails; not of a queue whose listener is at work when it is given up.

    A client that stops meanwhile leaves what it was about to free to the lease.
    """

    name = "given_up_lock_is_freed"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.listeners = Listeners()
        self.locks: dict[tuple[str, MessageQueue], tuple[str, str]] = {}
        self.given_up: dict[tuple[str, str, MessageQueue], int] = {}

    def hears(self) -> Hearing:
        return {**self.listeners.hears(), LockGranted: self.granted, LockReleased: self.released,
                QueueTaken: self.taken, QueueDropped: self.dropped, ConsumerStopping: self.stopping, tuple: self.host}

    def granted(self, _: int, machine: str, event: LockGranted) -> None:
        self.locks[event.group, event.mq] = machine, event.holder

    def released(self, _: int, __: str, event: LockReleased) -> None:
        self.locks.pop((event.group, event.mq), None)

    def taken(self, _: int, __: str, event: QueueTaken) -> None:
        self.given_up.pop((event.client_id, event.group, event.mq), None)

    def dropped(self, ms: int, _: str, event: QueueDropped) -> None:
        key = event.client_id, event.group, event.mq
        if event.by_rebalance and key not in self.listeners.busy and self.living.machines.calm:
            self.given_up[key] = ms

    def stopping(self, _: int, __: str, event: ConsumerStopping) -> None:
        for key in [key for key in self.given_up if key[:2] == (event.client_id, event.group)]:
            del self.given_up[key]

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        self.listeners.host(ms, machine, event)
        if event.__class__ is ProcessKilled:
            for lock in [lock for lock, (where, _) in self.locks.items() if where == machine]:
                del self.locks[lock]
            self.given_up.clear()  # whose queues they were, and where, is not worth remembering: the next ones come

    def due(self, now_ms: int) -> Iterator[str]:
        for key, since_ms in [*self.given_up.items()]:
            if now_ms - since_ms > FREED_MS:
                del self.given_up[key]
                where, holder = self.locks.get(key[1:], ("", ""))
                if holder == key[0]:
                    yield f"{where} has {queue_text(key[2])} locked for {holder}, who gave it up"


JUDGES: tuple[type[Judge], ...] = (
    _NotificationsHaveAReason, _GroupHasItsRetryTopic, _ClosedBrokerIsDropped, _HeldQueueIsPulled,
    _GivenUpLockIsFreed,
)
