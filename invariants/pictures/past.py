"""The causal past of records: what each depends on, backwards, nearest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from impl import events
from invariants.pictures.causes import BEGINS, CARRIERS, DEEDS, FAMILIES, HEARS, PASSING, READS, STEPS, Reads
from invariants.pictures.log import Log, Things, agree, machine, of_retries

FARTHEST = 6
"""So far from the finding a picture goes."""
_MEANT = ("group", "topic", "queue")
MOST = 200
"""So many records of a past are looked at; nearer ones come first."""


class Past:
    """What the records of a run depend on."""

    def __init__(self, log: Log) -> None:
        """Of this run."""
        self.log = log
        self._messages: dict[int, Sequence[Any]] = {}

    def of(self, starts: Mapping[int, int], also: Iterable[int] = ()) -> dict[int, int]:
        """The causal past of some records with its distance from them.

        What leads away from what the records are about is left out; what says nothing by itself is passed through.

        starts -- the records with their own distance. also -- those of them that are told beside the others: what they
        have replaced does not count.
        """
        nearest = min(starts.values(), default=0)
        focus = Focus(self.log, starts, [place for place, distance in starts.items() if distance == nearest])
        found: dict[int, int] = {}
        heap = [(distance, -place) for place, distance in starts.items()]
        while heap and len(found) < MOST:
            distance, negative = heappop(heap)
            if -negative not in found:
                found[-negative] = distance
                for parent in self.parents(-negative):
                    farther = distance + (self.kind(parent) not in PASSING)
                    if self.kind(parent) is self.kind(-negative) and (-negative not in starts or -negative in also):
                        continue  # the last write counts, not those before it
                    beyond = self.kind(-negative) is events.ClientChannelClosed  # a connection is of many groups
                    if farther <= FARTHEST and (beyond or not focus.leaves(parent)):
                        heappush(heap, (farther, -parent))
        return {place: distance for place, distance in found.items()
                if place in starts or self.kind(place) not in PASSING}

    def kind(self, place: int) -> type:
        """The class of a record's event."""
        kind: type = self.log.records[place][2].__class__
        return kind

    def parents(self, place: int) -> Iterator[int]:
        """What a record depends on directly."""
        yield from self._before_in_job(place)
        for message in self.messages(place):
            yield from self._sent_for(message, place)
        read = [*self._read(place)]
        yield from read
        yield from self._lost_since(place, min(read, default=place))

    def message(self, place: int) -> Any:
        """The message that brought a record about: the request that its job handles, or the answer it waited for."""
        return next(iter(self.messages(place)), None)

    def messages(self, place: int) -> Sequence[Any]:
        """The same, with the answers that it had waited for before, the last one first; found once for each record.

        What says what is made of an answer shares it with those that say so, too; all others follow from a record that
        is nearer.
        """
        if place not in self._messages:
            self._messages[place] = self._messages_of(place)
        return self._messages[place]

    def _messages_of(self, place: int) -> Sequence[Any]:
        thread = self.log.threads[place]
        request = self.log.trail.request_of(thread)
        if request is not None:
            return (request,)
        heard = [flow for flow in self.log.received.get(thread, ()) if flow.received_at <= place]
        until = heard[-1].received_at if heard and self.kind(place) in HEARS else place
        own = self.log.of_thread.get(thread, ())
        before = max((one for one in own if one < until and self.kind(one) not in PASSING), default=-1)
        return [flow for flow in reversed(heard) if before < flow.received_at]

    def handles(self, place: int) -> Any:
        """The request whose handling made the record, or None."""
        return self.log.trail.request_of(self.log.threads[place])

    def _before_in_job(self, place: int) -> Iterator[int]:
        """What the same job has reported before, if it handles a request, but for what only says how far it is."""
        thread = self.log.threads[place]
        if self.log.trail.request_of(thread) is not None:
            yield from [one for one in self.log.of_thread[thread] if one < place and self.kind(one) not in STEPS
                        and self.fits(one, place)][-1:]

    def fits(self, one: int, other: int) -> bool:
        """Whether two records are about the same, as far as both say it."""
        mine, theirs = self.log.things(one), self.log.things(other)
        return all(mine[name] & theirs[name] for name in _MEANT if name in mine and name in theirs)

    def _sent_for(self, message: Any, place: int) -> Iterator[int]:
        """What the sender of a message had reported that it was sent for."""
        own = [one for one in self.log.of_thread.get(message.thread, ())
               if one < message.sent_at and self.fits(one, place)]
        if own and self.log.trail.request_of(message.thread) is not None:
            yield own[-1]
            return
        kinds = BEGINS.get(str(message.message), ())
        last = self.log.last(kinds, message.sent_at, lambda one: self.fits(one, place), message.source)
        if last is not None:
            yield last

    def _read(self, place: int) -> Iterator[int]:
        _, at, event = self.log.records[place]
        things = self.log.things(place)
        for reads in READS[event.__class__]:
            for where in self._where(reads, at, things):
                yield from self._last_of(reads, place, where, things, at)

    def _where(self, reads: Reads, at: str, things: Things) -> Iterable[str]:
        if reads.anywhere or reads.against:
            return self.log.machines
        return sorted(things.get("peer", ())) if reads.elsewhere else (at,)

    def _last_of(self, reads: Reads, before: int, where: str, things: Things, at: str) -> Iterator[int]:
        """The last record that was read; with `each` the last one for each value, as long as there are new ones."""
        same = self._agreeing(things, reads.same) if not reads.which else self._sharing(things, reads.which)

        def agrees(place: int) -> bool:
            struck = not reads.against or at in self.log.things(place).get("peer", ())
            return struck and same(place) and reads.having(self.log.records[place][2])

        seen: set[Any] = set()
        while (last := self.log.last(reads.kinds, before, agrees, where)) is not None:
            values = self.log.things(last).get(reads.each, frozenset()) if reads.each else frozenset()
            if not values <= seen or not reads.each:
                yield last
            if not reads.each or len(seen) > len(self.log.machines):
                return
            seen |= values
            before = last

    def _agreeing(self, things: Things, same: Iterable[str]) -> Callable[[int], bool]:
        names = tuple(same)
        if not names:
            return lambda _: True
        return lambda place: agree(things, self.log.things(place), names)

    def _sharing(self, things: Things, which: str) -> Callable[[int], bool]:
        mine = things.get(which, frozenset())
        return lambda place: bool(mine & self.log.things(place).get(which, frozenset()))

    def _lost_since(self, place: int, since: int) -> Iterator[int]:
        """The end of the process since what is read was written, or the last one if nothing is: tables were lost."""
        at, first = self.log.records[place][1], since if since < place else 0
        killed = self.log.last((events.ProcessKilled,), place, lambda one: one > first, at)
        if killed is not None:
            yield killed
            started = self.log.last((events.ProcessStarted,), place, lambda one: one > killed, at)
            yield from () if started is None else (started,)


class Focus:
    """What the events of a picture are about."""

    def __init__(self, log: Log, starts: Iterable[int], nearest: Iterable[int]) -> None:
        """Begin with these records; what none of the nearest ones says is left open."""
        self.log = log
        begin = [*starts]
        self._families: set[str] = {FAMILIES[self._kind(place).__module__] for place in begin}
        self._versions = any(self._kind(place) is events.VersionRaised for place in begin)
        said = {name for place in nearest for name in log.things(place)}
        self._things = {name: frozenset[Any]().union(*(log.things(place).get(name, ()) for place in begin))
                        for name in _MEANT if name in said}
        self._keys = frozenset[Any]().union(*(log.things(place).get("key", ()) for place in begin))
        self._retries = of_retries(self._things.get("topic", ()))
        if self._routes_differ():
            self._families.add("routes")

    def _routes_differ(self) -> bool:
        """Whether members have divided different queues of the topic."""
        routes = {event.mqs for _, _, event in self.log.records if event.__class__ is events.RouteUpdated
                  and event.topic in self._things.get("topic", ()) and event.group in self._things.get("group", ())}
        return len(routes) > 1

    def leaves(self, place: int) -> bool:
        """Whether a record leads away: to other queues, topics or groups, retries, what most events rest on.

        What is about the same message does not: copies of it are in several queues.
        """
        things, family = self.log.things(place), FAMILIES[self._kind(place).__module__]
        if self._keys & things.get("key", frozenset()):
            return False
        others = any(mine and name in things and not mine & things[name] for name, mine in self._things.items())
        retries = not self._retries and of_retries(things.get("topic", ()))
        carries = family in CARRIERS and family not in self._families and self._kind(place) not in DEEDS
        return others or retries or carries or (self._kind(place) is events.VersionRaised and not self._versions)

    def _kind(self, place: int) -> type:
        kind: type = self.log.records[place][2].__class__
        return kind


def other_end(log: Log, place: int) -> str | None:
    """The machine at the other end of the connection that a record names."""
    connection = getattr(log.records[place][2], "connection", None)
    return machine(connection) if connection else None
