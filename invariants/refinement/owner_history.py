"""Judges of histories (`invariants.history`): whether each queue has an owner, and owners work on what they have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.client.mq_client_instance import RUNNING, SHUTDOWN_ALREADY
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.events import (
    BrokerStarted,
    ConsumerIdsChanged,
    ConsumerIdsFetched,
    ConsumerShutDown,
    ConsumerStarted,
    LockGranted,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import AfterHealing, Hearing, Holdings, Judge, Listeners, machine_of, queue_text

REBALANCE_MS = 20_000
"""RebalanceService.waitInterval."""
ALONE_MS = REBALANCE_MS + 5_000
"""Who misses a notification rebalances in any case."""
ALONE_IN_ORDER_MS = 20_000 + ALONE_MS
"""A lock is given back 20 s after the queue, if messages are cached."""
LEASE_MS = 60_000
"""RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME: the lock of a process that was killed."""
HEARTBEAT_MS = 30_000
"""Until then a broker that starts has heard of all members."""
TOLD_MS = 5_000
"""Who is told rebalances within milliseconds; 20 s later it would in any case."""
PULLED_MS = 60_000
"""A broker holds a pull for 15 s; a lock is asked for every 20 s."""
LOOK_MS = 10_000
SHARED_MS = 260_000
"""A dead broker leaves the routes after 120 s, then those of clients, and then it is rebalanced."""


class _QueueIsNotLeftAlone(Judge):
    """Of queue_is_not_left_alone: of queues in the route of a member that has rebalanced.

    Time counts while the queue's master has the topic, and all members run, subscribe it and know the queue; behind
    the start of a broker from when members have spoken to it. Who reads in order waits for the lease of a process that
    was killed, until the master has granted any lock, and for a listener that is still at work: its queue is given
    back by a later rebalance.

    known -- group and queue. since_ms -- those that nobody holds, and since when. orderly -- groups that read in order.
    last -- machines that held them last. from_ms -- no time counts before. granting -- machines of brokers that have
    granted locks since they started.
    """

    name = "queue_is_not_left_alone"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.holdings, self.listeners = Holdings(), Listeners()
        self.known: dict[tuple[str, MessageQueue], None] = {}
        self.since_ms: dict[tuple[str, MessageQueue], int] = {}
        self.orderly: set[str] = set()
        self.last: dict[tuple[str, MessageQueue], str] = {}
        self.from_ms = 0
        self.granting: set[str] = set()

    def hears(self) -> Hearing:
        return {**self.listeners.hears(), ConsumerStarted: self.started, QueueTaken: self.taken,
                QueueDropped: self.dropped, ConsumerShutDown: self.ended, QueuesAssigned: self.assigned,
                BrokerStarted: self.broker_started, LockGranted: self.granted, tuple: self.host}

    def broker_started(self, ms: int, machine: str, _: BrokerStarted) -> None:
        self.from_ms = ms + HEARTBEAT_MS
        self.granting.discard(machine)

    def granted(self, _: int, machine: str, __: LockGranted) -> None:
        self.granting.add(machine)

    def started(self, _: int, __: str, event: ConsumerStarted) -> None:
        if event.orderly:
            self.orderly.add(event.group)

    def assigned(self, ms: int, machine: str, event: QueuesAssigned) -> None:
        for consumer in self.living.consumers(machine):
            if consumer.group == event.group and consumer.config.message_model == "CLUSTERING":
                mqs = consumer.rebalance_impl.topic_subscribe_info_table.get(event.topic) or ()
                self.known.update({(event.group, mq): None for mq in sorted(mqs)})
        self._look(ms)

    def taken(self, ms: int, machine: str, event: QueueTaken) -> None:
        self.holdings.taken(ms, machine, event)
        self.since_ms.pop((event.group, event.mq), None)
        self.last[event.group, event.mq] = machine

    def dropped(self, ms: int, machine: str, event: QueueDropped) -> None:
        self.holdings.dropped(ms, machine, event)
        self._look(ms)

    def ended(self, ms: int, machine: str, event: ConsumerShutDown) -> None:
        self.holdings.ended(ms, machine, event)
        self._look(ms)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        self.holdings.host(ms, machine, event)
        self.listeners.host(ms, machine, event)
        if event.__class__ is ProcessKilled:
            self._look(ms)
            for key, since_ms in self.since_ms.items():
                if key[0] in self.orderly and self.last.get(key) == machine:
                    self.since_ms[key] = max(since_ms, ms + LEASE_MS)

    def _look(self, ms: int) -> None:
        """Which queues are held by nobody now."""
        held = {(key[2], key[3]) for key in self.holdings.queues}
        for key in self.known:
            if key not in held:
                self.since_ms.setdefault(key, ms)

    def due(self, now_ms: int) -> Iterator[str]:
        if not self.since_ms:
            return
        groups: dict[str, list[DefaultMQPushConsumerImpl]] = {}
        for machine in self.living.machines.consumers:
            for consumer in self.living.consumers(machine):
                if consumer.service_state != SHUTDOWN_ALREADY:
                    groups.setdefault(consumer.group, []).append(consumer)
        for (group, mq), since_ms in [*self.since_ms.items()]:
            waited_ms = now_ms - max(since_ms, self.from_ms)
            if not self._wanted(group, mq, groups.get(group, [])):
                self.since_ms[group, mq] = max(since_ms, now_ms)
            elif self._works(group, mq):
                self.since_ms[group, mq] = max(since_ms, now_ms + REBALANCE_MS)
            elif waited_ms > (ALONE_IN_ORDER_MS if group in self.orderly else ALONE_MS):
                self.since_ms[group, mq] = now_ms
                yield f"{queue_text(mq)} has no owner in {group}, for {waited_ms} ms"

    def _wanted(self, group: str, mq: MessageQueue, members: list[DefaultMQPushConsumerImpl]) -> bool:
        return bool(members) and self._served(group, mq) and all(
            one.service_state == RUNNING and not one.pause
            and one.rebalance_impl.subscription_inner.contains_key(mq.topic)
            and mq in (one.rebalance_impl.topic_subscribe_info_table.get(mq.topic) or ())
            for one in members
        )

    def _works(self, group: str, mq: MessageQueue) -> bool:
        return any(key[1:] == (group, mq) for key in self.listeners.busy)

    def _served(self, group: str, mq: MessageQueue) -> bool:
        for machine in self.living.machines.brokers:
            broker = self.living.broker(machine)
            if broker is not None and (broker.config.broker_name, broker.config.broker_id) == (
                mq.broker_name, MASTER_ID,
            ):
                serves = machine in self.granting or group not in self.orderly
                return serves and broker.topic_config_manager.topic_config_table.contains_key(mq.topic)
        return False


class _OnlyTheListedGiveUp(Judge):
    """Of only_the_listed_give_up: unlisted -- runs that have fetched a list without their client."""

    name = "only_the_listed_give_up"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.unlisted: set[tuple[str, str, str]] = set()

    def hears(self) -> Hearing:
        return {ConsumerIdsFetched: self.fetched, QueueDropped: self.dropped, QueuesAssigned: self.assigned,
                tuple: self.host}

    def fetched(self, _: int, machine: str, event: ConsumerIdsFetched) -> None:
        unlisted = event.client_ids is not None and event.client_id not in event.client_ids
        (self.unlisted.add if unlisted else self.unlisted.discard)((machine, event.group, event.topic))

    def assigned(self, _: int, machine: str, event: QueuesAssigned) -> None:
        self.unlisted.discard((machine, event.group, event.topic))

    def dropped(self, _: int, machine: str, event: QueueDropped) -> Iterator[str] | None:
        if event.by_rebalance and (machine, event.group, event.mq.topic) in self.unlisted:
            return iter((f"{machine} gives {queue_text(event.mq)} up by a list that it is not in",))
        return None

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self.unlisted = {key for key in self.unlisted if key[0] != machine}


class _ShareIsKept(Judge):
    """Of share_is_kept: dropped -- machine, group and queue, of the run that goes on."""

    name = "share_is_kept"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.given_up: set[tuple[str, str, MessageQueue]] = set()

    def hears(self) -> Hearing:
        return {QueueDropped: self.dropped, QueueTaken: self.taken, QueuesAssigned: self.assigned, tuple: self.host}

    def dropped(self, _: int, machine: str, event: QueueDropped) -> None:
        if event.by_rebalance:
            self.given_up.add((machine, event.group, event.mq))

    def taken(self, _: int, machine: str, event: QueueTaken) -> Iterator[str] | None:
        if (machine, event.group, event.mq) in self.given_up:
            return iter((f"{machine} has given {queue_text(event.mq)} up and takes it again",))
        return None

    def assigned(self, _: int, machine: str, event: QueuesAssigned) -> None:
        if self.given_up:
            run = machine, event.group, event.topic
            self.given_up = {key for key in self.given_up if (*key[:2], key[2].topic) != run}

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self.given_up = {key for key in self.given_up if key[0] != machine}


class _HeldQueueIsWorkedOn(Judge):
    """Of held_queue_is_worked_on: idle_ms -- process queues without a pull at a broker, and since when."""

    name = "held_queue_is_worked_on"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.looked_ms = 0
        self.idle_ms: dict[ProcessQueue, int] = {}

    def hears(self) -> Hearing:
        return {}

    def due(self, now_ms: int) -> Iterator[str]:
        if now_ms - self.looked_ms < LOOK_MS:
            return
        self.looked_ms, before, self.idle_ms = now_ms, self.idle_ms, {}
        for machine in self.living.machines.consumers:
            for consumer in self.living.consumers(machine):
                pulled = {pull_request.process_queue for pull_request in consumer.held_pulls}
                queues = consumer.rebalance_impl.process_queue_table.entries()
                for mq, pq in queues if consumer.service_state == RUNNING else ():
                    if not pq.dropped and pq not in pulled:
                        since_ms = self.idle_ms[pq] = before.get(pq, now_ms)
                        if now_ms - since_ms > PULLED_MS:
                            yield f"{machine} holds {queue_text(mq)} and has no pull of it at a broker"


class _ToldMembersRebalance(Judge):
    """Of told_members_rebalance: told_ms -- machine and group to when, of members that have not asked since."""

    name = "told_members_rebalance"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.told_ms: dict[tuple[str, str], int] = {}

    def hears(self) -> Hearing:
        return {ConsumerIdsChanged: self.told, ConsumerIdsFetched: self.fetched, tuple: self.host}

    def told(self, ms: int, _: str, event: ConsumerIdsChanged) -> None:
        if event.delivered:
            self.told_ms.setdefault((machine_of(event.connection), event.group), ms)

    def fetched(self, _: int, machine: str, event: ConsumerIdsFetched) -> None:
        self.told_ms.pop((machine, event.group), None)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        for key in [key for key in self.told_ms if key[0] == machine]:
            if event.__class__ is ProcessKilled:
                del self.told_ms[key]
            elif event.__class__ is ProcessPaused:
                self.told_ms[key] = ms + event.ms

    def due(self, now_ms: int) -> Iterator[str]:
        for (machine, group), since_ms in [*self.told_ms.items()]:
            if now_ms - since_ms > TOLD_MS:
                del self.told_ms[machine, group]
                for one in self.living.consumers(machine):
                    if one.group == group and one.service_state == RUNNING and not one.pause \
                            and one.config.message_model == "CLUSTERING":
                        yield f"{machine} was told that {group} has changed and has not rebalanced"


class _OnlyTheReadableIsHeld(AfterHealing):
    """Of only_the_readable_is_held: of topics that the consumer has a route of."""

    name = "only_the_readable_is_held"
    after_ms = SHARED_MS

    def look(self) -> Iterator[str]:
        for machine in self.living.machines.consumers:
            for consumer in self.living.consumers(machine):
                rebalance = consumer.rebalance_impl
                queues = rebalance.process_queue_table.entries()
                for mq, pq in queues if consumer.service_state == RUNNING and not consumer.pause else ():
                    route = rebalance.topic_subscribe_info_table.get(mq.topic)
                    if not pq.dropped and route is not None and mq not in route:
                        yield f"{machine} holds {queue_text(mq)}, which its route does not have"


JUDGES: tuple[type[Judge], ...] = (
    _QueueIsNotLeftAlone, _OnlyTheListedGiveUp, _ShareIsKept, _HeldQueueIsWorkedOn, _ToldMembersRebalance,
    _OnlyTheReadableIsHeld,
)
