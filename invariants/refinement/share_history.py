"""The judge of members_share_at_once: how soon a group has shared out its queues where nothing fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.flags import PERM_READ
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.events import (
    BrokerStarted,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    HeartbeatRefused,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueueTaken,
    TopicConfigDeleted,
    TopicConfigUpdated,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import Hearing, Judge, queue_text

SHARED_MS = 4_000
"""Notified members rebalance within milliseconds; 20 s later they would in any case."""
ROUTED_MS = 65_000
"""A broker registers and clients look for routes every 30 s each."""
FORGOTTEN_MS = 200_000
"""A dead server leaves the routes, and those of clients; who is refused expires."""
RESET_MS = 30_000
"""Queues that are reset, or whose offset is corrected, are away for 10 s."""
LOOK_MS = 10_000
"""Where nobody takes a queue or gives one up, it is looked so often."""
AVERAGE = "AVG"


class _MembersShareAtOnce(Judge):
    """Of members_share_at_once: of running members that subscribe the same topics under ids of their own.

    A suspended member keeps what it has; one that reads in order may have to wait for a lock.

    from_ms -- nothing is expected before. said -- what is wrong, since the last change. moved -- whether somebody has
    taken a queue or given one up since it was looked; look_ms -- when it is looked in any case. topics -- of each
    group, when it was looked last.
    """

    name = "members_share_at_once"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.from_ms = 0
        self.said = False
        self.moved = True
        self.look_ms = 0
        self.topics: dict[str, frozenset[str]] = {}

    def hears(self) -> Hearing:
        member = (ConsumerStarted, ConsumerStopping, ConsumerShutDown, ConsumerRemoved)
        routes = (BrokerStarted, TopicConfigUpdated, TopicConfigDeleted)
        return {**dict.fromkeys(member, self.member), **dict.fromkeys(routes, self.route),
                ConsumerRegistered: self.registered, HeartbeatRefused: self.refused, QueueDropped: self.dropped,
                QueueTaken: self.taken, tuple: self.host}

    def _quiet(self, until_ms: int) -> None:
        self.from_ms, self.said, self.moved = max(self.from_ms, until_ms), False, True

    def member(self, ms: int, _: str, __: object) -> None:
        self._quiet(ms + SHARED_MS)

    def route(self, ms: int, _: str, __: object) -> None:
        self._quiet(ms + ROUTED_MS)

    def registered(self, ms: int, machine: str, event: ConsumerRegistered) -> None:
        if event.added:
            self.member(ms, machine, event)

    def refused(self, ms: int, _: str, __: object) -> None:
        self._quiet(ms + FORGOTTEN_MS)

    def taken(self, _: int, __: str, ___: QueueTaken) -> None:
        self.moved = True

    def dropped(self, ms: int, _: str, event: QueueDropped) -> None:
        self.moved = True
        if not event.by_rebalance:
            self._quiet(ms + RESET_MS)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ in (ProcessKilled, ProcessPaused):
            self._quiet(ms + (SHARED_MS if machine in self.living.machines.consumers else FORGOTTEN_MS))

    def due(self, now_ms: int) -> Iterator[str]:
        if not self.living.machines.calm:
            return
        look = self.moved or now_ms >= self.look_ms
        groups: dict[str, list[DefaultMQPushConsumerImpl]] = {}
        for machine in self.living.machines.consumers:
            for consumer in self.living.consumers(machine):
                groups.setdefault(consumer.group, []).append(consumer)
        for group, members in groups.items():
            if self._settled(now_ms, group, members) and look and not self.said and _share_at_once(members):
                for wrong in self._unshared(members):
                    self.said = True
                    yield wrong
        if look and now_ms >= self.from_ms:
            self.moved, self.look_ms = False, now_ms + LOOK_MS

    def _settled(self, now_ms: int, group: str, members: Sequence[DefaultMQPushConsumerImpl]) -> bool:
        """Whether nobody was suspended, and nobody subscribed anything else, when it was looked last."""
        topics = frozenset(topic for one in members for topic in one.rebalance_impl.subscription_inner.key_set())
        if topics != self.topics.get(group):
            known = group in self.topics
            self.topics[group] = topics
            self._quiet(now_ms + (ROUTED_MS if known else SHARED_MS))
        elif any(one.pause for one in members):
            self._quiet(now_ms + SHARED_MS)
        return now_ms >= self.from_ms

    def _unshared(self, members: Sequence[DefaultMQPushConsumerImpl]) -> Iterator[str]:
        holders = Counter(
            mq for one in members for mq, pq in one.rebalance_impl.process_queue_table.entries() if not pq.dropped
        )
        for mq in self._queues(members[0]):
            if holders[mq] != 1:
                yield f"{queue_text(mq)} is held by {holders[mq]} members of {members[0].group}"

    def _queues(self, member: DefaultMQPushConsumerImpl) -> Iterator[MessageQueue]:
        for machine in self.living.machines.brokers:
            broker = self.living.broker(machine)
            if broker is not None and broker.config.broker_id == MASTER_ID:
                for topic, config in broker.topic_config_manager.topic_config_table.entries():
                    if member.rebalance_impl.subscription_inner.contains_key(topic) and config.perm & PERM_READ:
                        for queue_id in range(config.read_queue_nums):
                            yield MessageQueue(topic, broker.config.broker_name, queue_id)


def _share_at_once(members: Sequence[DefaultMQPushConsumerImpl]) -> bool:
    topics = {frozenset(one.rebalance_impl.subscription_inner.key_set()) for one in members}
    ids = {one.instance.client_id for one in members}
    return len(topics) == 1 and len(ids) == len(members) and all(
        one.service_state == "RUNNING" and not one.pause and not one.config.orderly
        and one.config.message_model == "CLUSTERING" and one.config.strategy.name == AVERAGE
        for one in members
    )


JUDGES: tuple[type[Judge], ...] = (_MembersShareAtOnce,)
