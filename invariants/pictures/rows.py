"""The rows of a picture: each record of a past as a sentence on its lifeline, or on an arrow between two."""

from __future__ import annotations

from collections.abc import Iterator, Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from impl import events
from impl.events.sentences import Words
from impl.events.sentences.words import duration
from invariants.pictures.aftermath import Aftermath
from invariants.pictures.causes import ANSWERS, ECHOES, HEARS, OVER, PUSHES
from invariants.pictures.log import Log, agree
from invariants.pictures.marks import EVENT, FAULT
from invariants.pictures.past import Past, other_end

_LATE_MS = 10
_LONG_MS = 1_000
_CALL_MS = 40_000  # no call waits longer, but for a process that stands still
_COMPARED = ("queue", "group", "topic", "broker", "name", "key")
FAULTS = frozenset(events.HOST_EVENTS) - {
    events.ProcessStarted, events.ConnectionMade, events.NumberDrawn, events.WorldHealed}
_COPY = "GET_ALL_CONSUMER_OFFSET"
_WHERE = "QUERY_CONSUMER_OFFSET"
_BAD = {1: "SYSTEM_ERROR", 2: "SYSTEM_BUSY"}
_JOBS = {
    "HEART_BEAT": "heartbeat", "UNREGISTER_CLIENT": "goodbye", "REGISTER_BROKER": "registration",
    "UNREGISTER_BROKER": "goodbye", "LOCK_BATCH_MQ": "request for locks", "UNLOCK_BATCH_MQ": "release of locks",
    "GET_CONSUMER_LIST_BY_GROUP": "question for the members", "UPDATE_CONSUMER_OFFSET": "offset commit",
    "QUERY_CONSUMER_OFFSET": "question for an offset",
    "GET_ROUTEINFO_BY_TOPIC": "question for a route", "GET_MAX_OFFSET": "question for the end of a queue",
    "QUERY_DATA_VERSION": "question for the version", "GET_BROKER_CLUSTER_INFO": "question for the clusters",
    "NOTIFY_CONSUMER_IDS_CHANGED": "notification", "RESET_CONSUMER_CLIENT_OFFSET": "reset",
}
"""What people call requests, by the name of their code."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a picture.

    place -- of its record, to order rows. at -- the machine. source, target -- of an arrow; both empty: it stands on
    the lifeline of its machine. text -- the sentence. several -- what many such events are called. kind, mark -- as
    `invariants.pictures.marks` says. event -- what it tells, None: a thread that stands still. began -- whether it is
    what began the finding.
    """

    place: float
    time_ms: int
    at: str
    text: str
    kind: str = EVENT
    mark: str = ""
    source: str = ""
    target: str = ""
    several: str = ""
    event: Any = None
    began: bool = False

    @property
    def like(self) -> tuple[Any, ...]:
        """What rows share that are told as one."""
        return self.at, self.event.__class__, self.source, self.target, self.kind

    @property
    def order(self) -> tuple[int, float]:
        """By this rows are sorted: what no record tells stands between records by its time."""
        return self.time_ms, self.place

    @property
    def machines(self) -> tuple[str, ...]:
        """Whose lifelines it needs."""
        return tuple(dict.fromkeys(name for name in (self.source, self.target, self.at) if name))


class Telling:
    """Makes the rows of a run."""

    def __init__(self, log: Log, past: Past, words: Words) -> None:
        """Of this run, in these words."""
        self.log, self.past, self.words = log, past, words
        self.aftermath = Aftermath(log, words)

    def rows(self, places: AbstractSet[int], marks: dict[int, str]) -> list[Row]:
        """The rows of these records, in order; marks -- of some of them."""
        ordered = sorted(places - self._echoed(places, marks))
        found = [self._row(place, ordered, marks.get(place, "")) for place in ordered]
        return sorted([*found, *self._unanswered(ordered)], key=lambda row: row.order)

    def _echoed(self, places: AbstractSet[int], marks: dict[int, str]) -> set[int]:
        """Records that others say once more at once, at the other end of a message."""
        gone = set()
        for place in places:
            kind, message = self.past.kind(place), self.past.message(place)
            if kind in ECHOES and message is not None:
                for one in self.log.places.get((message.source, ECHOES[kind]), ()):
                    soon = 0 <= self.log.records[place][0] - self.log.records[one][0] <= _LATE_MS
                    if soon and one < place and one not in marks and self.past.fits(one, place):
                        gone.add(one)
        return gone

    def _row(self, place: int, shown: list[int], mark: str) -> Row:
        time_ms, at, event = self.log.records[place]
        source, target, late = self._arrow(place, shown)
        said = self._lost(place) or self.words.sentence(at, event, self.before(place)) + self.aftermath.of(place) + late
        kind = FAULT if event.__class__ in FAULTS else EVENT
        return Row(place, time_ms, at, said, kind, mark, source, target, self.words.several(event), event)

    def _lost(self, place: int) -> str:
        """Which message it was that the network has lost."""
        _, at, event = self.log.records[place]
        flow = next((one for one in self.log.trail.flows if one.sent_at == place and one.source == at
                     and one.received_ms is None), None) if isinstance(event, events.MessageLost) else None
        return "" if flow is None else f"the network loses the {job_of(flow)} of {at} to {event.other}"

    def before(self, place: int) -> Any:
        """The event of the same class before, about the same things, unless it is over."""
        _, at, event = self.log.records[place]
        if event.__class__ not in OVER:
            return None
        things = self.log.things(place)
        same = tuple(name for name in _COMPARED if name in things)

        def agrees(one: int) -> bool:
            return agree(things, self.log.things(one), same) or not self.log.things(one)

        last = self.log.last((event.__class__, *OVER[event.__class__]), place, agrees, at)
        return None if last is None else self.log.records[last][2]

    def _arrow(self, place: int, shown: list[int]) -> tuple[str, str, str]:
        """From where, to where, and what to say of a message that came late."""
        _, at, event = self.log.records[place]
        kind, request = event.__class__, self.past.handles(place)
        if kind in PUSHES:
            return at, other_end(self.log, place) or "", ""
        if kind in (events.MessageLost, events.ConnectionSevered, events.PartitionBegan, events.ConnectionRefused):
            return at, event[0], ""
        if kind in ANSWERS:
            asker = other_end(self.log, place) or (request.source if request is not None else "")
            return (at, asker, "") if asker and asker != at else ("", "", "")
        message = self.past.message(place)
        if message is None or (message.answers is not None and kind not in HEARS) or self._drawn(message, place, shown):
            return "", "", ""
        late_ms = (message.received_ms or message.sent_ms) - message.sent_ms
        late = f" (sent {duration(late_ms)} before)" if late_ms >= _LATE_MS else ""
        return message.source, at, late

    def _drawn(self, message: Any, place: int, shown: list[int]) -> bool:
        """Whether another row has the arrow already: an earlier one of the same job, or that of the answer."""
        job = self.log.of_thread.get(message.thread, ()) if message.answers is not None else ()
        return any(one in shown and self.log.records[one][2].__class__ in ANSWERS for one in job) or any(
            one < place and one in shown and self.past.message(one) is message for one in shown)

    def _unanswered(self, shown: list[int]) -> Iterator[Row]:
        """Requests that the threads of rows have waited for in vain, or for long."""
        for place in shown:
            yield from self._beside(place)
            own = [one for one in self.log.of_thread.get(self.log.threads[place], ()) if one < place]
            for flow in self.log.sent.get(self.log.threads[place], ()):
                if max(own, default=-1) < flow.sent_at <= place and self._waited(flow):
                    yield self.sending(flow)

    def _beside(self, place: int) -> Iterator[Row]:
        """Calls in vain on which a record rests: for an offset, by who was given a lock or pulls where nothing is."""
        _, at, event = self.log.records[place]
        request = self.past.handles(place)
        if isinstance(event, events.LockGranted) and request is not None:
            own = [flow for flow in self.log.sent.get(request.thread, ()) if flow.sent_at > place]
            next_lock = next((one for one, flow in enumerate(own) if str(flow.message) == str(request.message)), None)
            yield from (self.sending(flow) for flow in own[:next_lock] if self._waited(flow))
        if isinstance(event, events.VersionQueried) and request is not None and self._waited(request):
            yield self.sending(request)
        if isinstance(event, events.OffsetAnswered):
            yield from self._copied(place, at)
        if isinstance(event, events.OffsetFoundIllegal):
            asked = [flow for flow in self.log.trail.flows if flow.source == at and flow.sent_at <= place
                     and str(flow.message) == _WHERE
                     and flow.message.header[1:3] == (event.mq.topic, event.mq.queue_id)]
            yield from (self.sending(flow) for flow in asked[-1:] if self._waited(flow))

    def _copied(self, place: int, at: str) -> Iterator[Row]:
        """Where a slave has copied the offsets of its master last; no event reports it."""
        copies = [flow for flow in self.log.trail.flows if flow.source == at and str(flow.message) == _COPY
                  and (answer := self.log.answers.get(id(flow))) is not None and answer.received_at <= place]
        for flow in copies[-1:]:
            answer = self.log.answers[id(flow)]
            yield Row(answer.received_at - 0.25, answer.received_ms, at, f"{at} copies the offsets of {flow.target}",
                      EVENT, "", flow.target, at)

    def sending(self, flow: Any) -> Row:
        """A request that was not answered as one wishes."""
        said = self._waited(flow)
        return Row(flow.sent_at - 0.25, flow.sent_ms, flow.source, said, FAULT, "", flow.source, flow.target)

    def _waited(self, flow: Any) -> str:
        """What to say of a request that was not answered as one wishes; empty: it was."""
        answer, asked = self.log.answers.get(id(flow)), f"{flow.source} sends {flow.target} its {job_of(flow)}"
        if answer is None:
            waits = flow.received_ms is not None and not self.log.trail.handled(flow)
            return f"{asked} and gets no answer{': it waits there for a thread' * waits}"
        if answer.message.code in _BAD:
            return f"{asked}; the answer is {_BAD[answer.message.code]}"
        waited_ms = answer.received_ms - flow.sent_ms
        return f"{asked}; the answer comes after {duration(waited_ms)}" if waited_ms >= _LONG_MS else ""


def job_of(flow: Any) -> str:
    """What people call the request of a message."""
    return _JOBS.get(str(flow.message), f"request {flow.message}")
