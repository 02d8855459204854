"""The picture of a finding: its two moments, and as much of their causal past as one screen holds."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    HOST_EVENTS,
    AllocationFailed,
    BrokerRegistered,
    BrokerStarted,
    ConsumerRegistered,
    ConsumerStarted,
    PartitionBegan,
    ProcessKilled,
    ResetReceived,
    SendAnswered,
    SendAttempted,
    TimerJobBegan,
)
from impl.events.sentences import SENTENCES, Words
from impl.events.sentences.words import roughly
from invariants.finding import Finding
from invariants.pictures import text
from invariants.pictures.claims import breach, claim, promise
from invariants.pictures.expiries import Expiries
from invariants.pictures.log import Log, Record, Things, Trail, agree
from invariants.pictures.marks import EARLIER, FINDING, FOLD, GAP
from invariants.pictures.moments import moments
from invariants.pictures.names import explained
from invariants.pictures.past import Past
from invariants.pictures.rows import FAULTS, Row, Telling
from invariants.pictures.symptoms import seen
from invariants.pictures.threads import Threads
from invariants.pictures.triggers import began, has_settings, is_unseen, is_willed
from invariants.pictures.waits import Waits

ROWS = 20
"""So many rows has a picture at most, besides those that say what else happened, and that time passes."""
FEWEST = 3
"""As many rows a picture has at least, if the past has them."""
_ALIKE = 3
"""So many rows in succession that are alike become one."""
_FAULTS = 4
"""So many faults between the two moments are shown besides those of the past."""
_EARLIER, _FAULT_AFTER = 1, 2
"""How far the earlier moment, and a fault, count to be from the finding, in steps."""
_NEAR, _NEAR_MS = 2, 1_000
"""So near to the finding, in steps, and so long before what began it, a step is shown all the same."""
_LONG_MS, _VERY_LONG_MS = 1_000, 10_000
"""As long as this time passes in a line of its own, if there is room; and as long as this there must be room."""
_BEFORE_MS = 30_000
"""So long before a finding of which no earlier moment is known, and before an earlier moment, faults are looked for."""
_OF_QUEUES = ("mq", "mqs")
_OF_PRODUCERS = {SendAttempted.__module__, TimerJobBegan.__module__}
"""Modules of what producers report of themselves, and of the client instance in which they live."""
_NUMBER = re.compile(r"\b\d+\b")
_JUST_BEHIND = 0.001
_FRAME = 6
"""Lines around a picture: its title and its claim."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What led to a finding.

    lifelines -- machines. claim -- what was broken. rows -- in order of time. left_out -- how many steps of the causal
    past are not shown. names -- what each name in it is.
    """

    lifelines: tuple[str, ...]
    claim: str
    rows: tuple[Row, ...]
    left_out: int
    names: str = ""

    def document(self) -> dict[str, Any]:
        """As JSON values; see `stateful_tests.worlds.evidence`."""
        return {"lifelines": list(self.lifelines), "claim": self.claim, "left_out": self.left_out,
                "names": self.names, "rows": [
            {"time_ms": row.time_ms, "at": row.at, "source": row.source, "target": row.target, "text": row.text,
             "kind": row.kind, "mark": row.mark, "began": row.began} for row in self.rows]}


class _Painter:
    """Draws the picture of one finding."""

    def __init__(self, records: Sequence[Record], trail: Trail, found: Finding, users: str) -> None:
        self.found, self.log, self.words = found, Log(records, trail), Words(records, SENTENCES)
        self.past, self.at = Past(self.log), moments(self.log, found)
        self.telling, self.threads = Telling(self.log, self.past, self.words), Threads(self.log)
        self.waits, self.expiries = Waits(self.log, self.past, self.telling), Expiries(self.log, self.words)
        self.end = found.position if found.position >= 0 else len(records)
        self.end = self.end if self.at.shown is None else self.at.shown
        self.claim = claim(found, self.words)
        since_ms = found.time_ms if self.at.earlier is None else records[self.at.earlier][0]
        self.begin = bisect_left(records, since_ms - _BEFORE_MS, key=lambda record: record[0])
        self.distance = self._past()
        self.expired = {*self._expired()}
        self.distance.update((place, _FAULT_AFTER) for place in self.expired if place not in self.distance)
        self.seen = seen(self.log, self.words, self.at, users, found)
        self.began = began(self.log, self.past, self._told({*self.distance}), self.at)

    def picture(self) -> Picture:
        """As many of the nearest steps of the past as fit a screen, from what began it on."""
        shown = sorted(self.distance, key=lambda place: (not self._counts(place), self.distance[place], -place))
        most = sum(map(self._counts, shown))
        while most < len(shown) and len(self._rows(shown[:most])) < FEWEST:
            most += 1
        least = 0 if self.at.shown is None else 1  # what shows the finding stays
        for number in range(max(most, least), least - 1, -1):
            rows = self._rows(shown[:number])
            lifelines = _lifelines(self.log, rows)
            left_out = len(self.distance) - number
            room = text.LONGEST - _FRAME - len(text.lines(lifelines, rows, left_out))
            long = [one for one, other in pairwise(rows) if other.time_ms - one.time_ms >= _VERY_LONG_MS]
            if len(rows) <= ROWS and room >= len(long):
                break
        rows = self._with_gaps(rows, room)
        promised = promise(self.claim)
        names = explained(self.log, [*lifelines, promised, *(row.text for row in rows)])
        return Picture(lifelines, promised, tuple(rows), left_out, names)

    def _past(self) -> dict[int, int]:
        """How far the records of the past are from the finding, with the faults that struck meanwhile."""
        at = self.at
        starts = {one: _EARLIER for one in (*at.last, at.earlier) if one is not None}
        also = () if at.shown is None else at.last
        distance = self.past.of({**starts, **({} if at.shown is None else {at.shown: 0})}, also)
        machines = {name for place in distance for name in self._ends(place)} & {*self.log.machines}
        for place in (*self._faults(machines), *self._deeds(machines), *self._settings(machines)):
            distance.setdefault(place, _FAULT_AFTER)
        return distance

    def _about(self) -> Things:
        """The things of the finding."""
        return self.log.of_fields(self.found.machine, self.found.about) if self.at.shown is None \
            else self.log.things(self.at.shown)

    def _settings(self, machines: set[str]) -> list[int]:
        """Where the machines were started with settings of their own."""
        return [place for at in machines for kind in (BrokerStarted, ConsumerStarted)
                for place in [one for one in self.log.places.get((at, kind), ()) if one < self.end][-1:]
                if has_settings(self.log.records[place][2])]

    def _deeds(self, machines: set[str]) -> list[int]:
        """What was done last about the same things between the moments, and strategies that have thrown."""
        about, counts = self._about(), is_willed if self.at.shown is None else is_unseen
        since = self.begin if self.at.earlier is None else self.at.earlier + 1
        found = [place for place in range(since, self.end) if self.log.records[place][1] in machines
                 and agree(about, self.log.things(place), ("group", "topic"))]
        thrown = [place for place in found if self.past.kind(place) is AllocationFailed]
        return [*[place for place in found if counts(self.log.records[place][2])][-_FAULTS:], *thrown[:1]]

    def _expired(self) -> Iterator[int]:
        """Where what expires in the past was heard of last."""
        for place in self.distance:
            if getattr(self.log.records[place][2], "why", "") == "expired":
                things = self.log.things(place)
                last = self.log.last((ConsumerRegistered, BrokerRegistered), place, lambda one, things=things: agree(  # type: ignore[misc]
                    things, self.log.things(one), ("group", "connection", "broker")), self.log.records[place][1])
                yield from () if last is None else (last,)

    def _counts(self, place: int) -> bool:
        """Whether a record says more than how things came to be as they were before it began."""
        if not self.began or place in {self.at.earlier, self.at.shown, *self.at.last, *self.expired} \
                or has_settings(self.log.records[place][2]):
            return True
        first = self.began[0]
        if place > (first.place if self.at.earlier is None else min(first.place, self.at.earlier)):
            return True
        before_ms = first.time_ms - self.log.records[place][0]
        return self.distance[place] <= _NEAR and before_ms <= _NEAR_MS

    def _told(self, kept: AbstractSet[int]) -> list[Row]:
        """The rows of these records, with what struck meanwhile, and the end."""
        marked = ((self.at.earlier, EARLIER), (self.at.shown, FINDING))
        rows = self.telling.rows(kept, {place: mark for place, mark in marked if place is not None})
        since = self.begin if self.at.earlier is None else self.at.earlier
        ordered = sorted(kept)
        rows += self.threads.rows(ordered, rows, since, self.end)
        rows += self.waits.rows(ordered, since, self.end)
        rows += self.expiries.rows(ordered, self._about(), since, self.end)
        rows = [replace(row, text=self._broken(row.text)) if row.mark == FINDING else row for row in rows]
        rows = sorted(rows, key=lambda row: row.order)
        return rows if self.at.shown is not None else [*rows, self._end()]

    def _broken(self, text: str) -> str:
        """The sentence of the event that shows the finding, with how that breaks the promise, if it does not say it."""
        said = breach(self.claim)
        compared = self.at.shown is not None and self.telling.before(self.at.shown) is not None
        is_said = compared and {*_NUMBER.findall(said)} <= {*_NUMBER.findall(text)} and bool(_NUMBER.search(said))
        return text if not said or is_said else f"{text}: {said}"

    def _rows(self, kept: Iterable[int]) -> list[Row]:
        """The same with what began it, and what is alike as one."""
        first = {row.place for row in self.began}
        told = self._told({*kept} | {int(place) for place in first if place in self.distance})
        told += [row for row in self.began if row.place not in {one.place for one in told}]
        told += [] if self.seen is None else [self.seen]
        told.sort(key=lambda row: row.order)
        return folded([replace(row, began=row.place in first) for row in told], self.words)

    def _faults(self, machines: set[str]) -> list[int]:
        """The last faults between the two moments at machines that take part, but for the ends of producers."""
        found = [place for place in range(self.begin, self.end)
                 if self.log.records[place][2].__class__ in (*FAULTS, ResetReceived)  # it holds a thread for 10 s
                 and self._ends(place) & machines and not (
                     self.past.kind(place) is ProcessKilled and self._sends_only(self.log.records[place][1]))]
        cut = [place for at in machines for place in self.log.places.get((at, PartitionBegan), ())
               if place < self.begin and self._ends(place) <= machines]  # until all faults end
        return [*sorted(cut)[-_FAULTS:], *found[-_FAULTS:]]

    def _sends_only(self, at: str) -> bool:
        """Whether a machine has done nothing but send messages; its end changes nothing for others."""
        return all(event.__class__ in (SendAnswered, *HOST_EVENTS) or event.__class__.__module__ in _OF_PRODUCERS
                   for _, where, event in self.log.records if where == at)

    def _ends(self, place: int) -> set[str]:
        """Whom a fault strikes."""
        return {self.log.records[place][1], *self.log.things(place).get("peer", ())}

    def _end(self) -> Row:
        """The moment at which something was seen that no event showed."""
        about = dict(self.found.about)
        behind = "" if self.at.earlier is None else self.log.records[self.at.earlier][1]
        at = about.get("at") or about.get("client") or self.found.machine or behind
        said = breach(self.claim) or self.claim.removesuffix(".")
        return Row(self.end, self.found.time_ms, at if at in self.log.machines else "", said, mark=FINDING)

    def _with_gaps(self, rows: list[Row], room: int) -> list[Row]:
        """Between rows, in one line each, how long it is to the next, and how often what they tell happens again."""
        made = [gap for before, after in pairwise(rows) if (gap := self._gap(before, after)) is not None]
        chosen = sorted(made, key=lambda one: -one[0])[:max(0, room)]
        return sorted([*rows, *(row for _, row in chosen)], key=lambda row: row.order)

    def _gap(self, before: Row, after: Row) -> tuple[int, Row] | None:
        """What is between two rows, and how much that is."""
        passed_ms, again = after.time_ms - before.time_ms, self._repeated(before, after)
        if passed_ms < _LONG_MS and not again:
            return None
        said = [roughly(passed_ms)] if passed_ms >= _LONG_MS else []
        behind, kind = before.place + _JUST_BEHIND, GAP if said else FOLD
        return max(passed_ms, _LONG_MS), Row(behind, before.time_ms, "", ", ".join([*said, *again]), kind)

    def _repeated(self, before: Row, after: Row) -> list[str]:
        """What is told by two rows, and happens again between them to the same queue or group."""
        kinds = {row.event.__class__ for row in (before, after) if row.event is not None}
        marked = next((one for one in (self.at.shown, self.at.earlier) if one is not None), None)
        things = {} if marked is None else self.log.things(marked)
        about = [name for name in ("queue", "group") if name in things][:1]
        between = [one for one in range(int(before.place) + 1, min(int(after.place), len(self.log.records)))
                   if self.log.records[one][2].__class__ in kinds and agree(things, self.log.things(one), about)]
        often = Counter(self.words.several(self.log.records[one][2]) for one in between)
        told = [f"{count} {several}" for several, count in often.most_common(2) if count >= _ALIKE]
        return [f"… {', '.join(told)}"] if told and before.kind != FOLD else []


def picture(records: Sequence[Record], trail: Trail, found: Finding, users: str = "") -> Picture:
    """Draw the cause of a finding of a run.

    trail -- of the same run. users -- what users see of such findings, which is said where the run does not show it.
    """
    return _Painter(records, trail, found, users).picture()


def folded(rows: Sequence[Row], words: Words) -> list[Row]:
    """Rows in succession that are alike become one; marked ones stay."""
    told: list[Row] = []
    for _, alike in groupby(rows, key=lambda row: (row.like, row.mark) if row.event is not None else row.place):
        own = [*alike]
        told += own if len(own) < _ALIKE or own[0].mark or own[0].began else [_together(own, words)]
    return told


def _together(rows: Sequence[Row], words: Words) -> Row:
    """One row for several."""
    first = rows[0]
    queues = {mq for row in rows for mq in _queues(row.event)}
    of = f": {words.queues(queues)}" if any(hasattr(row.event, name) for row in rows for name in _OF_QUEUES) else ""
    return replace(first, kind=FOLD, text=f"… {len(rows)} {first.several} at {first.at}{of}")


def _queues(event: Any) -> Iterator[MessageQueue]:
    """The queues that an event is about."""
    for name in _OF_QUEUES:
        value = getattr(event, name, ())
        yield from (value,) if isinstance(value, MessageQueue) else value


def _lifelines(log: Log, rows: Iterable[Row]) -> tuple[str, ...]:
    """The machines of the rows, in the order in which they started."""
    named = {name for row in rows for name in row.machines}
    return tuple(name for name in log.machines if name in named)
