"""The life of a message as a picture: producer, broker, log, queue, pull, listener, offset.

It is drawn of what clients have noted and of what brokers, clients and the host have reported of the same message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.finding import Finding
from invariants.histories.operations import (
    ACKNOWLEDGED,
    COMMITTED_HALF,
    CONSUMED,
    DELIVERED,
    FAILED,
    GIVEN_UP,
    ROLLED_BACK,
    SEND,
    SENT_BACK,
    UNKNOWN,
    Operation,
)
from invariants.pictures.marks import EARLIER, FAULT, FINDING
from invariants.pictures.picture import Picture
from invariants.pictures.rows import Row
from invariants.rules.observed import Observation, queue_named

_LOG, _OFFSET, _LISTENER = "log of {}", "offset of {}", "listener of {}"
_SENDS = {
    SEND: "{0} sends it", ACKNOWLEDGED: "{0} is told that it is stored at offset {1}",
    FAILED: "{0} is told that it is not stored", UNKNOWN: "{0} does not know what has become of it",
    COMMITTED_HALF: "{0} commits it", ROLLED_BACK: "{0} rolls it back",
}
_SETTLES = {CONSUMED: "has consumed it", SENT_BACK: "sends it back", GIVEN_UP: "gives it up"}
_MOST_FAULTS, _AFTER = 4, 2
"""So many faults are shown at most, and so many rows behind the finding."""
_BEHIND = 0.5


class _Life:
    """What is known of one message of a run."""

    def __init__(self, records: Sequence[tuple[int, str, Any]], noted: Sequence[Observation], found: Finding) -> None:
        about = dict(found.about)
        self.records, self.found = records, found
        self.key, self.group = str(about["key"]), about.get("group")
        self.noted = [one for one in noted if one.operation.message == self.key]
        self.appended = [(place, at, event) for place, (_, at, event) in enumerate(records)
                         if isinstance(event, events.MessageAppended) and event.key == self.key]
        known = [one.operation for one in self.noted if one.operation.queue and one.operation.offset is not None]
        self.places = list(dict.fromkeys((queue_named(one.queue), one.offset) for one in known))
        self.others = {(queue_named(one.operation.queue), one.operation.offset): one.operation.message
                       for one in noted if one.operation.kind == DELIVERED and one.operation.message != self.key}
        self.broker = self.appended[0][1] if self.appended else self._broker()

    def _broker(self) -> str:
        return next((mq.broker_name for mq, _ in self.places if mq is not None), "broker")

    def rows(self) -> list[Row]:
        """All rows, in order of time."""
        rows = [*self._of_clients(), *self._of_brokers(), *self._of_pulls(), *self._of_commits()]
        rows.sort(key=lambda row: row.order)
        return sorted([*rows, *self._faults(rows)], key=lambda row: row.order)

    def _of_clients(self) -> Iterator[Row]:
        for position, one in self.noted:
            place, ms = position - _BEHIND, one.time_ms or 0
            if one.kind in _SENDS:
                text = _SENDS[one.kind].format(one.process, f"{one.offset} of {one.queue}")
                ends = (one.process, self.broker) if one.kind in (SEND, COMMITTED_HALF, ROLLED_BACK) else (
                    self.broker, one.process)
                yield Row(place, ms, one.process, text, source=ends[0], target=ends[1], mark=self._mark(one))
            else:
                yield self._of_listener(one, place, ms)

    def _of_listener(self, one: Operation, place: float, ms: int) -> Row:
        listener = _LISTENER.format(one.process)
        if one.kind == DELIVERED:
            again = f", attempt {one.attempt}" if one.attempt else ""
            text = f"the listener of {one.process} is given it{again}"
            return Row(place, ms, listener, text, source=one.process, target=listener, mark=self._mark(one))
        text = f"the listener of {one.process} {_SETTLES.get(one.kind, one.kind)}"
        return Row(place, ms, listener, text, source=listener, target=one.process, mark=self._mark(one))

    def _of_brokers(self) -> Iterator[Row]:
        offsets = {(at, event.commit_log_offset) for _, at, event in self.appended}
        for place, (ms, at, event) in enumerate(self.records):
            log = _LOG.format(at)
            if isinstance(event, events.MessageAppended) and event.key == self.key:
                text = (f"{at} appends it to its log at {event.commit_log_offset}: message {event.queue_offset} of "
                        f"{event.topic}/{event.queue_id}")
                yield Row(place, ms, at, text, source=at, target=log)
            elif isinstance(event, events.MessageDispatched) and (at, event.commit_log_offset) in offsets:
                yield Row(place, ms, log, f"its unit is for place {event.queue_offset} of the queue", source=log,
                          target=f"{event.topic}/{event.queue_id}")
            elif isinstance(event, events.StoreLoaded) and any(at == broker for broker, _ in offsets) \
                    and place > self.appended[0][0]:
                offset = self.appended[0][2].commit_log_offset
                here = "with it" if event.min_offset <= offset < event.max_offset else "without it"
                yield Row(place, ms, log, f"{at} has recovered its log from {event.min_offset} to {event.max_offset}, "
                                          f"{here}")

    def _of_pulls(self) -> Iterator[Row]:
        for place, (ms, at, event) in enumerate(self.records):
            if isinstance(event, events.MessagesFound):
                for offset in event.offsets:
                    if (event.mq, offset) in self.places:
                        yield self._pull(place, ms, at, event.mq, offset)

    def _pull(self, place: int, ms: int, at: str, mq: MessageQueue, offset: int) -> Row:
        other = None if self._delivered_at(at, mq, offset) else self.others.get((mq, offset))
        said = "it" if other is None else f"another message, {other}"
        return Row(place, ms, at, f"{at} pulls offset {offset}: {said}", source=f"{mq.topic}/{mq.queue_id}", target=at)

    def _delivered_at(self, at: str, mq: MessageQueue, offset: int) -> bool:
        return any(one.kind == DELIVERED and one.process == at and one.offset == offset
                   and queue_named(one.queue) == mq for _, one in self.noted)

    def _of_commits(self) -> Iterator[Row]:
        """The first commit of each group that passes it; where it is lost that is the moment at which it is."""
        seen: set[str] = set()
        since = min((place for place, *_ in self.appended), default=0)
        for place, (ms, at, event) in enumerate(self.records):
            passes = place > since and isinstance(event, events.OffsetSent) and event.group not in seen and any(
                event.mq == mq and event.offset > (offset or 0) for mq, offset in self.places)
            if passes:
                seen.add(event.group)
                lost = self._is_lost() and event.group == self.group
                text = f"{at} commits {event.offset} for {event.group}, which is past it"
                text += ", and it was never delivered" if lost else ""
                yield Row(place, ms, at, text, source=at, target=_OFFSET.format(event.group),
                          mark=FINDING if lost else "")

    def _is_lost(self) -> bool:
        return not any(one.kind == DELIVERED and one.group == self.group for _, one in self.noted)

    def _mark(self, one: Operation) -> str:
        """Whether an operation is that where the finding shows, or one like it before."""
        if self._is_lost() or one.time_ms != self.found.time_ms or one.process != self.found.machine:
            settled = one.kind in (CONSUMED, GIVEN_UP) and not self._is_lost()
            return EARLIER if settled and (one.time_ms or 0) < self.found.time_ms and self._is_repeated() else ""
        return FINDING if one.kind in (DELIVERED, ACKNOWLEDGED, COMMITTED_HALF, GIVEN_UP, SEND) else ""

    def _is_repeated(self) -> bool:
        return self.found.key[2:3] == ("duplicated",)

    def _faults(self, rows: Sequence[Row]) -> list[Row]:
        """What struck the machines of the picture meanwhile."""
        if not rows:
            return []
        machines, first, last = {row.at for row in rows} | {self.broker}, rows[0].place, rows[-1].place
        found = [Row(place, ms, at, said, FAULT) for place, (ms, at, event) in enumerate(self.records)
                 if first < place < last and at in machines and (said := _struck(at, event))]
        return found[:_MOST_FAULTS]


def _struck(at: str, event: Any) -> str:
    match event:
        case events.ProcessKilled():
            return f"{at} {'loses its power' if event.power_loss else 'ends'}"
        case events.DiskFilled() if event.percent:
            return f"files of others fill the disk of {at} to {event.percent} %"
        case events.ForceFailed():
            return f"{at} cannot force {event.path}"
    return ""


def life(records: Sequence[tuple[int, str, Any]], noted: Sequence[Observation], found: Finding) -> Picture:
    """The life of the message that a finding is about.

    records -- of the run. noted -- what its clients have observed.
    """
    one = _Life(records, noted, found)
    rows = one.rows()
    if rows and not any(row.mark == FINDING for row in rows):
        rows = [*rows[:-1], replace(rows[-1], mark=FINDING)]
    last = next((at for at, row in enumerate(rows) if row.mark == FINDING), len(rows))
    rows = [row for at, row in enumerate(rows) if at <= last or (row.kind != FAULT and at <= last + _AFTER)]
    promised, _, said = found.sentence.partition(" But ")
    return Picture(tuple(_lanes(rows, one.broker)), promised, tuple(rows), 0, f"it: message {one.key}. {said}")


def _lanes(rows: Iterable[Row], broker: str) -> list[str]:
    """Producers, the broker, its log, queues, members and their listeners, offsets: in the order of a message's way."""
    order: dict[str, int] = {}
    for row in rows:
        for name in row.machines:
            level = (2 if name.startswith("log of ") else 6 if name.startswith("offset of ") else
                     5 if name.startswith("listener of ") else 3 if "/" in name else 1 if name == broker else 4)
            order.setdefault(name, level)
    producers = {row.source for row in rows if row.target == broker} | {row.target for row in rows
                                                                         if row.source == broker}
    levels = {name: 0 if name in producers and level == 4 else level for name, level in order.items()}  # noqa: PLR2004 - above
    return sorted(levels, key=lambda name: (levels[name], name))
