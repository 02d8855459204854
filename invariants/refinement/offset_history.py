"""Judges of histories (`invariants.history`): offsets that are read, begun with, settled, committed and reset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from impl.broker.given_message_store import GivenMessageStore, QueueRange
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import NO_OFFSET
from impl.events import (
    BrokerStarted,
    ConsumerStarted,
    GroupOffsetsRemoved,
    MessagesSettled,
    OffsetAnswered,
    OffsetCommitted,
    OffsetReset,
    OffsetSent,
    OffsetsReset,
    QueueDropped,
    QueueTaken,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import Broadcasters, Hearing, Judge, Key, Names, machine_of, queue_text

REMEMBERED_MS = 120_000
"""An answer that is older belongs to no question that anybody still waits for."""


class _StartIsWhatTheBrokerAnswered(Judge):
    """Of start_is_what_the_broker_answered: one of the answers of the last minutes; after a -1 anything."""

    name = "start_is_what_the_broker_answered"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names = Names()
        self.answers: dict[Key, list[tuple[int, int]]] = {}
        self.broadcasting = Broadcasters()

    def hears(self) -> Hearing:
        return {BrokerStarted: self.names.started, ConsumerStarted: self.broadcasting.started,
                OffsetAnswered: self.answered, QueueTaken: self.taken}

    def answered(self, ms: int, machine: str, event: OffsetAnswered) -> None:
        key = machine_of(event.connection), event.group, self.names.queue(machine, event.topic, event.queue_id)
        recent = [one for one in self.answers.get(key, ()) if ms - one[0] <= REMEMBERED_MS]
        self.answers[key] = [*recent, (ms, event.offset)]

    def taken(self, ms: int, machine: str, event: QueueTaken) -> Iterator[str]:
        if (machine, event.group) in self.broadcasting:
            return
        recent = [o for at, o in self.answers.get((machine, event.group, event.mq), ()) if ms - at <= REMEMBERED_MS]
        if event.offset not in recent and -1 not in recent:
            told = f"was told {recent[-1]}" if recent else "was told nothing"
            yield f"{machine} begins {queue_text(event.mq)} at {event.offset} and {told}"


class _BrokerKeepsWhatWasCommitted(Judge):
    """Of broker_keeps_what_was_committed: looked at with each commit for the same group and topic, and each answer."""

    name = "broker_keeps_what_was_committed"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.committed: dict[str, dict[tuple[str, str], dict[int, int]]] = {}

    def hears(self) -> Hearing:
        return {BrokerStarted: self.started, OffsetCommitted: self.put, OffsetAnswered: self.answered,
                GroupOffsetsRemoved: self.removed}

    def removed(self, _: int, machine: str, event: GroupOffsetsRemoved) -> None:
        known = self.committed.get(machine, {})
        for key in [key for key in known if key[0] == event.group]:
            del known[key]

    def started(self, _: int, machine: str, event: BrokerStarted) -> None:
        self.committed.pop(machine, None)
        if event.broker_id == 0:
            self.committed[machine] = {}

    def put(self, _: int, machine: str, event: OffsetCommitted) -> Sequence[str]:
        broker = self.living.broker(machine)
        if machine not in self.committed:
            return ()
        table = None if broker is None else broker.consumer_offset_manager
        offsets = None if table is None else table.query_offsets(event.group, event.topic)
        known = self.committed[machine].get((event.group, event.topic))
        if known is None:
            known = self.committed[machine][event.group, event.topic] = dict(offsets.entries()) if offsets else {}
        known[event.queue_id] = event.offset
        if table is None or (offsets is not None and len(offsets) == len(known)):
            return ()
        lost = [queue_id for queue_id in known if offsets is None or offsets.get(queue_id) is None]
        return [f"{machine} has none for queue {queue_id} of {event.topic}, where {known.pop(queue_id)} was committed"
                for queue_id in lost]

    def answered(self, _: int, machine: str, event: OffsetAnswered) -> Iterator[str]:
        known = self.committed.get(machine, {}).get((event.group, event.topic), {}).get(event.queue_id)
        if known is not None and known != event.offset:
            yield f"{machine} answers {event.offset} for queue {event.queue_id} of {event.topic}, where {known} is"


class _CommitsOfAHoldingGoForward(Judge):
    """Of commits_of_a_holding_go_forward.

    An orderly consumer reads again what is committed when it has the lock; that may be less, if another one committed
    it since (B-19).
    """

    name = "commits_of_a_holding_go_forward"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names = Names()
        self.last: dict[Key, int] = {}
        self.told: dict[Key, set[int]] = {}

    def hears(self) -> Hearing:
        return {BrokerStarted: self.names.started, OffsetAnswered: self.answered, QueueTaken: self.taken,
                QueueDropped: self.dropped, OffsetReset: self.dropped, OffsetSent: self.sent}

    def answered(self, _: int, machine: str, event: OffsetAnswered) -> None:
        key = machine_of(event.connection), event.group, self.names.queue(machine, event.topic, event.queue_id)
        if event.offset < self.last.get(key, -1):
            self.told.setdefault(key, set()).add(event.offset)

    def taken(self, _: int, machine: str, event: QueueTaken) -> None:
        self.last[machine, event.group, event.mq] = event.offset
        self.told.pop((machine, event.group, event.mq), None)

    def dropped(self, _: int, machine: str, event: QueueDropped | OffsetReset) -> None:
        self.last.pop((machine, event.group, event.mq), None)

    def sent(self, _: int, machine: str, event: OffsetSent) -> Iterator[str] | None:
        key = machine, event.group, event.mq
        last = self.last.get(key)
        if last is None:
            return None
        self.last[key] = event.offset
        if event.offset >= last or event.offset in self.told.get(key, ()):
            return None
        return iter((f"{machine} commits {event.offset} of {queue_text(event.mq)} after {last}",))


class _CommittedOffsetNeverRegresses(Judge):
    """Of committed_offset_never_regresses: from a reset on all may happen that it causes, until it is above again."""

    name = "committed_offset_never_regresses"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names = Names()
        self.last: dict[Key, int] = {}

    def hears(self) -> Hearing:
        return {BrokerStarted: self.started, OffsetCommitted: self.put, OffsetReset: self.reset,
                GroupOffsetsRemoved: self.removed}

    def removed(self, _: int, machine: str, event: GroupOffsetsRemoved) -> None:
        for key in [key for key in self.last if key[:2] == (machine, event.group)]:
            del self.last[key]

    def started(self, ms: int, machine: str, event: BrokerStarted) -> None:
        self.names.started(ms, machine, event)
        for key in [key for key in self.last if key[0] == machine]:
            del self.last[key]

    def reset(self, _: int, __: str, event: OffsetReset) -> None:
        for key in [key for key in self.last if key[1:] == (event.group, event.mq)]:
            self.last[key] = min(self.last[key], event.offset)

    def put(self, _: int, machine: str, event: OffsetCommitted) -> Iterator[str] | None:
        key = machine, event.group, self.names.queue(machine, event.topic, event.queue_id)
        last, self.last[key] = self.last.get(key, event.offset), event.offset
        if event.offset >= last:
            return None
        return iter((f"{event.offset} is committed of {queue_text(key[2])} after {last}",))


class _ResetTakesEffect(Judge):
    """Of reset_takes_effect; where another client has committed more meanwhile, the reset is over.

    So it is where the broker answers that it has no offset: it has lost its files.
    """

    name = "reset_takes_effect"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names = Names()
        self.reset: dict[Key, int] = {}

    def hears(self) -> Hearing:
        return {BrokerStarted: self.names.started, OffsetReset: self.was_reset, MessagesSettled: self.settled,
                OffsetCommitted: self.committed, OffsetAnswered: self.answered, OffsetSent: self.sent}

    def was_reset(self, _: int, machine: str, event: OffsetReset) -> None:
        self.reset[machine, event.group, event.mq] = event.offset

    def settled(self, _: int, machine: str, event: MessagesSettled) -> None:
        self.reset.pop((machine, event.group, event.mq), None)

    def committed(self, _: int, machine: str, event: OffsetCommitted) -> None:
        if self.reset:
            self._over(event.group, self.names.queue(machine, event.topic, event.queue_id), event.offset)

    def answered(self, _: int, machine: str, event: OffsetAnswered) -> None:
        self._over(event.group, self.names.queue(machine, event.topic, event.queue_id), event.offset)

    def _over(self, group: str, mq: MessageQueue, offset: int) -> None:
        for key, to in [*self.reset.items()]:
            if key[1:] == (group, mq) and (offset > to or offset == NO_OFFSET):
                del self.reset[key]

    def sent(self, _: int, machine: str, event: OffsetSent) -> Iterator[str] | None:
        to = self.reset.get((machine, event.group, event.mq)) if self.reset else None
        if to is None or event.offset <= to:
            return None
        return iter((f"{machine} commits {event.offset} of {queue_text(event.mq)}, which was reset to {to}",))


class _ResetGoesToItsTime(Judge):
    """Of reset_goes_to_its_time, by what the broker has stored; what is committed may have moved since."""

    name = "reset_goes_to_its_time"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.committed: dict[tuple[str, str, str, int], set[int]] = {}

    def hears(self) -> Hearing:
        return {OffsetCommitted: self.put, OffsetsReset: self.answered}

    def put(self, _: int, machine: str, event: OffsetCommitted) -> None:
        self.committed.setdefault((machine, event.group, event.topic, event.queue_id), set()).add(event.offset)

    def answered(self, _: int, __: str, event: OffsetsReset) -> Iterator[str]:
        broker = self.living.broker(event.broker)
        if broker is None:
            return
        for queue_id, offset in event.offsets:
            store = broker.message_store
            stored = store.range_of(event.topic, queue_id) if isinstance(store, GivenMessageStore) else QueueRange()
            first = next((o for ms, o in stored.stored if ms >= event.timestamp), stored.max_offset)
            committed = self.committed.get((event.broker, event.group, event.topic, queue_id), ())
            if offset > first or (offset < first and offset not in committed):
                yield f"queue {queue_id} of {event.topic} at {event.broker} goes to {offset}, where {first} was stored"


class _GroupOffsetsGoWithTheGroup(Judge):
    """Of group_offsets_go_with_the_group."""

    name = "group_offsets_go_with_the_group"

    def hears(self) -> Hearing:
        return {GroupOffsetsRemoved: self.removed}

    def removed(self, _: int, machine: str, event: GroupOffsetsRemoved) -> Iterator[str]:
        broker = self.living.broker(machine)
        keys = () if broker is None else broker.consumer_offset_manager.offset_table.key_set()
        for key in keys:
            topic, _at, group = key.partition("@")
            if group == event.group:
                yield f"{machine} keeps the offsets of {topic}"


JUDGES: tuple[type[Judge], ...] = (
    _GroupOffsetsGoWithTheGroup,
    _StartIsWhatTheBrokerAnswered,
    _BrokerKeepsWhatWasCommitted,
    _CommitsOfAHoldingGoForward,
    _CommittedOffsetNeverRegresses,
    _ResetTakesEffect,
    _ResetGoesToItsTime,
)
