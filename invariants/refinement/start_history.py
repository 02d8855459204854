"""Judges of histories (`invariants.history`): where queues are begun first, and what is kept until the next begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.broker.controller import BrokerController
from impl.client.rebalance_push import RebalancePushImpl
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.start_offset import NO_OFFSET, ConsumeFromWhere
from impl.events import (
    BrokerStarted,
    ConsumerStarted,
    ConsumerStopping,
    GroupOffsetsRemoved,
    ListenerStarted,
    LockReleased,
    MessagesSettled,
    OffsetAnswered,
    OffsetCommitted,
    OffsetCorrected,
    OffsetReset,
    OffsetsWritten,
    ProcessKilled,
    QueueDropped,
    QueueTaken,
    RenewalRefused,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import Broadcasters, Hearing, Holdings, Judge, Key, Names, machine_of, queue_text
from invariants.refinement.skip_history import Place, _Read

REMEMBERED_MS = 120_000
"""An answer that is older belongs to no question that anybody still waits for."""


class _FirstBeginningIsKept(Judge):
    """Of first_beginning_is_kept; from the first commit or answer on nothing is said, whatever becomes of it.

    Neither is it while somebody holds the queue who began it before: that one reads what lies between.

    read -- what was read of a queue since somebody took it. over -- where a broker has, or had, an offset.
    """

    name = "first_beginning_is_kept"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names, self.broadcasting, self.holdings = Names(), Broadcasters(), Holdings()
        self.read: dict[Place, _Read] = {}
        self.over: set[Place] = set()

    def hears(self) -> Hearing:
        return {BrokerStarted: self.names.started, ConsumerStarted: self.broadcasting.started,
                OffsetCommitted: self.known, OffsetAnswered: self.known, GroupOffsetsRemoved: self.removed,
                OffsetReset: self.moved, OffsetCorrected: self.moved, QueueTaken: self.taken,
                MessagesSettled: self.settled, **self.holdings.hears()}

    def known(self, _: int, machine: str, event: OffsetCommitted | OffsetAnswered) -> None:
        if event.offset != NO_OFFSET:
            self.over.add((event.group, self.names.queue(machine, event.topic, event.queue_id)))

    def moved(self, _: int, __: str, event: OffsetReset | OffsetCorrected) -> None:
        self.over.add((event.group, event.mq))

    def removed(self, _: int, __: str, event: GroupOffsetsRemoved) -> None:
        self.over.update(place for place in self.read if place[0] == event.group)

    def taken(self, ms: int, machine: str, event: QueueTaken) -> Iterator[str]:
        place = event.group, event.mq
        if place in self.over or (machine, event.group) in self.broadcasting:
            return
        read = self.read.setdefault(place, _Read(event.offset))
        is_read = any(key[2:] == place for key in self.holdings.queues)
        self.holdings.taken(ms, machine, event)
        if event.offset > read.below and not is_read:
            yield f"{machine} begins {queue_text(event.mq)} at {event.offset}, and {read.below} is not settled"

    def settled(self, _: int, machine: str, event: MessagesSettled) -> None:
        read = self.read.get((event.group, event.mq))
        if read is not None and (machine, event.group) not in self.broadcasting:
            read.settle(event.offsets)


class _NewGroupBeginsWhereItIsTo(Judge):
    """Of new_group_begins_where_it_is_to: what the queue had when there was said to be no offset, or what it has now.

    answers -- what a client was told of a queue: when, and where its group is to begin; None: where it is.
    """

    name = "new_group_begins_where_it_is_to"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names, self.broadcasting = Names(), Broadcasters()
        self.answers: dict[Key, list[tuple[int, int | None, str]]] = {}

    def hears(self) -> Hearing:
        return {BrokerStarted: self.names.started, ConsumerStarted: self.broadcasting.started,
                OffsetAnswered: self.answered, QueueTaken: self.taken}

    def answered(self, ms: int, machine: str, event: OffsetAnswered) -> None:
        key = machine_of(event.connection), event.group, self.names.queue(machine, event.topic, event.queue_id)
        if event.offset != NO_OFFSET and key not in self.answers:
            return
        begin = None if event.offset != NO_OFFSET else self._begin(machine, *key)
        recent = [one for one in self.answers.get(key, ()) if ms - one[0] <= REMEMBERED_MS]
        self.answers[key] = [*recent, (ms, begin, machine)]

    def taken(self, ms: int, machine: str, event: QueueTaken) -> Iterator[str]:
        key = machine, event.group, event.mq
        recent = [one for one in self.answers.get(key, ()) if ms - one[0] <= REMEMBERED_MS]
        if not recent or key[:2] in self.broadcasting or any(begin is None for _, begin, _ in recent):
            return
        begins = {begin for _, begin, _ in recent} | {self._begin(broker, *key) for _, _, broker in recent}
        known = sorted(begin for begin in begins if begin is not None)
        if not known[0] <= event.offset <= known[-1]:
            yield f"{machine} begins {queue_text(event.mq)} at {event.offset} and is to begin it at {known[-1]}"

    def _begin(self, broker_machine: str, machine: str, group: str, mq: MessageQueue) -> int | None:
        """Where a consumer is to begin what a broker has; None where one of them is not there."""
        broker = self.living.broker(broker_machine)
        mine = [one.rebalance_impl for one in self.living.consumers(machine) if one.group == group]
        return _configured(broker, mine[0], mq) if broker is not None and mine else None


def _configured(broker: BrokerController, consumer: RebalancePushImpl, mq: MessageQueue) -> int:
    """See ConsumeFromWhere: the three deprecated modes are CONSUME_FROM_LAST_OFFSET."""
    where, stored = consumer.consume_from_where, broker.message_store
    if where == ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET or mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
        return 0
    if where == ConsumeFromWhere.CONSUME_FROM_TIMESTAMP:
        return stored.get_offset_in_queue_by_time(mq.topic, mq.queue_id, consumer.consume_timestamp_ms)
    return stored.get_max_offset_in_queue(mq.topic, mq.queue_id)


class _LockOutlastsTheBatch(Judge):
    """Of lock_outlasts_the_batch: unless the consumer or its process ends, or its queue is reset or corrected.

    open -- client id, group and queue to the machine whose listener has begun a batch that is not settled yet.
    """

    name = "lock_outlasts_the_batch"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.open: dict[Key, str] = {}

    def hears(self) -> Hearing:
        return {ListenerStarted: self.starts, MessagesSettled: self.ends, QueueDropped: self.dropped,
                ConsumerStopping: self.stops, LockReleased: self.released, tuple: self.host}

    def starts(self, _: int, machine: str, event: ListenerStarted) -> None:
        self.open[event.client_id, event.group, event.mq] = machine

    def ends(self, _: int, __: str, event: MessagesSettled) -> None:
        self.open.pop((event.client_id, event.group, event.mq), None)

    def dropped(self, _: int, __: str, event: QueueDropped) -> None:
        if not event.by_rebalance:
            self.open.pop((event.client_id, event.group, event.mq), None)

    def stops(self, _: int, __: str, event: ConsumerStopping) -> None:
        for key in [key for key in self.open if key[:2] == (event.client_id, event.group)]:
            del self.open[key]

    def released(self, _: int, machine: str, event: LockReleased) -> Iterator[str] | None:
        reader = self.open.pop((event.client_id, event.group, event.mq), None)
        if reader is None:
            return None
        return iter((f"{machine} frees the lock of {queue_text(event.mq)}, whose batch {reader} has not settled",))

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            for key in [key for key, where in self.open.items() if where == machine]:
                del self.open[key]


class _RefusedLockIsNotBelieved(Judge):
    """Of refused_lock_is_not_believed, by the table of the client."""

    name = "refused_lock_is_not_believed"

    def hears(self) -> Hearing:
        return {RenewalRefused: self.refused}

    def refused(self, _: int, machine: str, event: RenewalRefused) -> Iterator[str]:
        for consumer in self.living.consumers(machine):
            if (consumer.instance.client_id, consumer.group) == event[:2]:
                for mq in sorted(event.mqs):
                    pq = consumer.rebalance_impl.process_queue_table.get(mq)
                    if pq is not None and pq.locked:
                        yield f"{machine} believes in the lock of {queue_text(mq)} and was refused it"


class _FileKeepsItsOffsets(Judge):
    """Of file_keeps_its_offsets; who loses power may lose the file.

    files -- machine, client id and group to offsets.
    """

    name = "file_keeps_its_offsets"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.files: dict[tuple[str, str, str], dict[MessageQueue, int]] = {}

    def hears(self) -> Hearing:
        return {OffsetsWritten: self.written, OffsetCorrected: self.moved, OffsetReset: self.moved, tuple: self.host}

    def written(self, _: int, machine: str, event: OffsetsWritten) -> Iterator[str]:
        key = machine, event.client_id, event.group
        before, self.files[key] = self.files.get(key, {}), dict(event.offsets)
        for mq, offset in before.items():
            now = self.files[key].get(mq, NO_OFFSET)
            if now < offset:
                has = "nothing" if now == NO_OFFSET else f"{now}"
                yield f"the file of {machine} has {has} of {queue_text(mq)} after {offset}"

    def moved(self, _: int, machine: str, event: OffsetCorrected | OffsetReset) -> None:
        self.files.get((machine, event.client_id, event.group), {}).pop(event.mq, None)

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled and event.power_loss:
            for key in [key for key in self.files if key[0] == machine]:
                del self.files[key]


JUDGES: tuple[type[Judge], ...] = (
    _FirstBeginningIsKept,
    _NewGroupBeginsWhereItIsTo,
    _LockOutlastsTheBatch,
    _RefusedLockIsNotBelieved,
    _FileKeepsItsOffsets,
)
