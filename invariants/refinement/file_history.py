"""Judges of histories (`invariants.history`): what brokers keep in files, and find there when they start again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.decisions.names import MASTER_ID
from impl.events import (
    BrokerShutDown,
    BrokerStarted,
    GroupOffsetsRemoved,
    HeartbeatHandled,
    OffsetCommitted,
    ProcessKilled,
    ProcessPaused,
    SubscriptionGroupDeleted,
    TopicConfigDeleted,
    TopicConfigUpdated,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import Hearing, Judge

WRITTEN_MS = 60_000
"""An offset is in the file by then, five seconds being the rule: a thread may stand still."""
STORED_MS = 45_000
"""A topic is in the file by then: a thread stands still for 40 s at most."""


class _FilesSurviveAKill(Judge):
    """What judges share that look at what a broker finds in its files; who loses power may lose them."""

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.killed_ms: dict[str, int] = {}

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self.killed_ms.setdefault(machine, ms)
            if event.power_loss:
                self.forget(machine)

    def forget(self, machine: str) -> None:
        """Nothing is known of its files."""
        raise NotImplementedError


class _CommittedOffsetSurvives(_FilesSurviveAKill):
    """Of committed_offset_survives_its_broker: a minute after it was committed, or at the end of a shutdown."""

    name = "committed_offset_survives_its_broker"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.committed: dict[str, dict[tuple[str, str, int], list[tuple[int, int]]]] = {}

    def hears(self) -> Hearing:
        return {OffsetCommitted: self.put, GroupOffsetsRemoved: self.removed, BrokerShutDown: self.stops,
                BrokerStarted: self.started, tuple: self.host}

    def forget(self, machine: str) -> None:
        self.committed.pop(machine, None)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        """A process that stands still writes nothing meanwhile."""
        super().host(ms, machine, event)
        if event.__class__ is ProcessPaused:
            until_ms = ms + event.ms
            for commits in self.committed.get(machine, {}).values():
                commits[:] = [(at if at <= ms - WRITTEN_MS else max(at, until_ms), offset) for at, offset in commits]

    def put(self, ms: int, machine: str, event: OffsetCommitted) -> None:
        key = event.group, event.topic, event.queue_id
        commits = self.committed.setdefault(machine, {}).setdefault(key, [])
        if not commits or commits[-1][1] != event.offset:
            commits.append((ms, event.offset))

    def removed(self, _: int, machine: str, event: GroupOffsetsRemoved) -> None:
        known = self.committed.get(machine, {})
        for key in [key for key in known if key[0] == event.group]:
            del known[key]

    def stops(self, ms: int, machine: str, _: BrokerShutDown) -> None:
        self.killed_ms[machine] = ms + WRITTEN_MS

    def started(self, _: int, machine: str, event: BrokerStarted) -> Iterator[str]:
        broker, killed_ms = self.living.broker(machine), self.killed_ms.pop(machine, 0)
        if event.broker_id != 0:
            self.forget(machine)
        for (group, topic, queue_id), commits in self.committed.pop(machine, {}).items():
            old = [ms for ms, _ in commits if ms <= killed_ms - WRITTEN_MS]
            may = {offset for _, offset in commits[max(0, len(old) - 1):]}
            if old and broker is not None:
                found = broker.consumer_offset_manager.query_offset(group, topic, queue_id)
                if found not in may:
                    yield f"{machine} starts with {found} for queue {queue_id} of {topic}, where {max(may)} was kept"


class _TopicSurvives(_FilesSurviveAKill):
    """Of topic_survives_its_broker; a thread may stand still between the table and the file.

    topics -- machine to topic to its number of queues, and when that was entered.
    """

    name = "topic_survives_its_broker"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.topics: dict[str, dict[str, tuple[object, int]]] = {}

    def hears(self) -> Hearing:
        return {TopicConfigUpdated: self.updated, TopicConfigDeleted: self.deleted, BrokerStarted: self.started,
                tuple: self.host}

    def forget(self, machine: str) -> None:
        self.topics.pop(machine, None)

    def updated(self, ms: int, machine: str, event: TopicConfigUpdated) -> None:
        broker = self.living.broker(machine)
        if broker is not None:
            config = broker.topic_config_manager.select_topic_config(event.topic)
            queues = None if config is None else config.read_queue_nums
            self.topics.setdefault(machine, {})[event.topic] = queues, ms

    def deleted(self, _: int, machine: str, event: TopicConfigDeleted) -> None:
        self.topics.get(machine, {}).pop(event.topic, None)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        """A process that stands still writes nothing meanwhile."""
        super().host(ms, machine, event)
        if event.__class__ is ProcessPaused:
            known = self.topics.get(machine, {})
            for topic, (queues, since_ms) in known.items():
                if ms - since_ms < STORED_MS:
                    known[topic] = queues, max(since_ms, ms + event.ms)

    def started(self, _: int, machine: str, event: BrokerStarted) -> Iterator[str]:
        broker, known = self.living.broker(machine), self.topics.get(machine, {})
        killed_ms, grace_ms = self.killed_ms.pop(machine, 0), 0 if self.living.machines.calm else STORED_MS
        if event.broker_id != 0 or broker is None:
            self.forget(machine)
            return
        for topic, (queues, since_ms) in [*known.items()]:
            config = broker.topic_config_manager.select_topic_config(topic)
            found = None if config is None else config.read_queue_nums
            if found != queues and killed_ms - since_ms >= grace_ms:
                yield f"{machine} starts {'without' if found is None else 'with other queues of'} {topic}"
            if found is None:
                del known[topic]
            else:
                known[topic] = found, -STORED_MS  # it is in the file


class _GroupSurvives(_FilesSurviveAKill):
    """Of group_survives_its_broker: of groups that a master has when a heartbeat of theirs has been handled.

    groups -- machine to their names. The thread that makes one writes the file before it goes on.
    """

    name = "group_survives_its_broker"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.groups: dict[str, set[str]] = {}

    def hears(self) -> Hearing:
        return {HeartbeatHandled: self.handled, SubscriptionGroupDeleted: self.deleted, BrokerStarted: self.started,
                tuple: self.host}

    def forget(self, machine: str) -> None:
        self.groups.pop(machine, None)

    def handled(self, _: int, machine: str, event: HeartbeatHandled) -> None:
        known = self.groups.setdefault(machine, set())
        if event.group not in known:
            broker = self.living.broker(machine)
            if broker is not None and broker.config.broker_id == MASTER_ID and self._has(machine, event.group):
                known.add(event.group)

    def deleted(self, _: int, machine: str, event: SubscriptionGroupDeleted) -> None:
        self.groups.get(machine, set()).discard(event.group)

    def started(self, _: int, machine: str, event: BrokerStarted) -> Iterator[str]:
        for group in sorted(self.groups.pop(machine, ())):
            if event.broker_id == MASTER_ID and not self._has(machine, group):
                yield f"{machine} starts without the subscription group {group}"

    def _has(self, machine: str, group: str) -> bool:
        broker = self.living.broker(machine)
        return broker is not None and broker.subscription_group_manager.subscription_group_table.contains_key(group)


JUDGES: tuple[type[Judge], ...] = (_CommittedOffsetSurvives, _TopicSurvives, _GroupSurvives)
