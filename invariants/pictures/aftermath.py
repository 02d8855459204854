"""What an event leaves behind, and does not say itself: it follows from the events before it, at the same machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from impl import events as e
from impl.decisions.names import REPLY_TOPIC_POSTFIX
from impl.events.sentences import Words
from impl.events.sentences.words import listed, spans
from invariants.pictures.log import Log, agree, machine, of_retries
from invariants.rules.deadlines import BROKER_LEASE_MS

_REPLIES = f"_{REPLY_TOPIC_POSTFIX}"


class Aftermath:
    """Of the events of a run."""

    def __init__(self, log: Log, words: Words) -> None:
        """Of this run, in these words."""
        self.log, self.words = log, words

    def of(self, place: int) -> str:
        """What is said behind the sentence of a record; empty: nothing."""
        event = self.log.records[place][2]
        said = _OF.get(event.__class__)
        return "" if said is None else said(self, place, event)

    def _before(self, place: int, *kinds: type) -> Iterator[Any]:
        """The events of these classes at the machine of a record, since its process began, before the record."""
        at = self.log.records[place][1]
        since = self.log.last((e.ProcessKilled,), place, lambda _: True, at) or 0
        yield from (self.log.records[one][2] for one in self._places(place, *kinds) if one > since)

    def _places(self, place: int, *kinds: type) -> list[int]:
        at = self.log.records[place][1]
        return sorted(one for kind in kinds for one in self.log.places.get((at, kind), ()) if one < place)

    def _table(self, place: int, event: e.SubscriptionRemoved) -> str:
        """The table of a group may be empty now."""
        topics = set[str]()
        for one in self._before(place, e.SubscriptionUpdated, e.SubscriptionRemoved, e.GroupRemoved):
            if one.group == event.group and isinstance(one, e.GroupRemoved):
                topics.clear()
            elif one.group == event.group and isinstance(one, e.SubscriptionUpdated):
                topics.add(one.topic)
            elif one.group == event.group:
                topics.discard(one.topic)
        left = {one for one in topics - {event.topic} if not of_retries((one,))}
        return "" if left else f"; no topic is left in the table of {event.group}"

    def _names(self, place: int, event: e.BrokerRegistered) -> str:
        """An address may stand under a name that it had before."""
        names = dict[str, None]()
        for one in self._before(place, e.BrokerRegistered, e.BrokerUnregistered, e.BrokerDropped):
            if machine(one.broker_addr) != machine(event.broker_addr):
                continue
            if isinstance(one, e.BrokerRegistered):
                names[one.broker_name] = None
            else:
                names.clear()
        others = [name for name in names if name != event.broker_name]
        return f"; it looks under this name only, and {machine(event.broker_addr)} stays under {others[0]}, too" \
            if others else self._unrouted(place, event)

    def _unrouted(self, place: int, event: e.BrokerRegistered) -> str:
        """Topics of a registration whose version was known may have no route; other ones have installed theirs."""
        versions, installed = dict[str, Any](), set[str]()
        for one in self._before(place, e.BrokerRegistered, e.BrokerUnregistered, e.BrokerDropped, e.BrokerLiveRemoved):
            if not isinstance(one, e.BrokerRegistered):
                return ""  # what is left of the routes then is another question
            if one.broker_name == event.broker_name:
                new = one.version != versions.get(one.broker_addr)
                installed |= one.topics if new and one.broker_id == 0 else frozenset()
                versions[one.broker_addr] = one.version
        clusters = {one.removesuffix(_REPLIES) for one in event.topics if one.endswith(_REPLIES)}
        missing = [self.words.topic(one) for one in sorted(event.topics - installed - clusters)
                   if of_retries((one,)) or self.words.topics((one,)) == one]
        known = event.broker_id == 0 and versions.get(event.broker_addr) == event.version
        return f"; it has no route of {listed(missing)}" if known and missing else ""

    def _unregistered(self, place: int, event: e.BrokerUnregistered) -> str:
        """An id may have been another one's by then."""
        own = [one for one in self._before(place, e.BrokerRegistered)
               if (one.broker_name, one.broker_id) == (event.broker_name, event.broker_id)]
        other = machine(own[-1].broker_addr) if own else ""
        return f"; by then the id was {other}'s" if other and other != machine(event.broker_addr) else ""

    def _died(self, _: int, event: e.ThreadDied) -> str:
        """A job that is repeated is not begun again."""
        return "; the job that it was at is never begun again" if "Scheduled" in event.thread else ""

    def _goodbye(self, place: int, event: e.GoodbyeTaken) -> str:
        """A goodbye may take nobody out."""
        own = self.log.of_thread.get(self.log.threads[place], ())
        taken = any(isinstance(self.log.records[one][2], e.ConsumerRemoved) for one in own if one < place)
        return "" if taken or not own else f"; it takes nobody out who came over {machine(event.connection)}"

    def _forgotten(self, place: int, event: e.LockGranted) -> str:
        """A lock of another client may have gone with the process that had it in memory."""
        things, at = self.log.things(place), self.log.records[place][1]
        killed = self.log.last((e.ProcessKilled,), place, lambda _: True, at)
        last = self.log.last((e.LockGranted, e.LockReleased), place,
                             lambda one: agree(things, self.log.things(one), ("group", "queue")), at)
        if killed is None or last is None or last > killed:
            return ""
        before, age_ms = self.log.records[last][2], self.log.records[place][0] - self.log.records[last][0]
        held = isinstance(before, e.LockGranted) and before.client_id != event.client_id and age_ms < BROKER_LEASE_MS
        who = self.words.client(before.client_id) if held else ""
        return f"; that {who} had it was in the memory of the killed process" if held else ""

    def _second(self, place: int, event: e.ConsumerStarted) -> str:
        """Two consumers of one machine may have one client id."""
        same = [one for one in self._before(place, e.ConsumerStarted, e.ConsumerShutDown)
                if (one.client_id, one.group) == (event.client_id, event.group)]
        return f"; another consumer of {event.group} runs there with the same client id" \
            if same and isinstance(same[-1], e.ConsumerStarted) else ""

    def _gap(self, place: int, event: e.MessageAppended) -> str:
        """A queue may have an entry for a message that the log does not have."""
        queue, end = (event.topic, event.queue_id), 0
        for one in self._before(place, e.MessageAppended):
            end = max(end, one.queue_offset + 1) if (one.topic, one.queue_id) == queue else end
        lost = {one.queue_offset for one in self._lost_before(place) if (one.topic, one.queue_id) == queue}
        entries = [offset for offset in sorted(lost) if end <= offset < event.queue_offset]
        return f"; for message {spans(entries)}, which is lost, the queue has an entry" if entries else ""

    def _lost_before(self, place: int) -> Iterator[e.MessageAppended]:
        """What starts of the store before have not found again."""
        for start in self._places(place, e.StoreLoaded):
            yield from self._lost(start, self.log.records[start][2])

    def _lost(self, start: int, event: e.StoreLoaded) -> list[e.MessageAppended]:
        """What was appended between two starts of a store, and the second one has not found."""
        since = max(self._places(start, e.StoreLoaded), default=-1)
        return [self.log.records[one][2] for one in self._places(start, e.MessageAppended)
                if one > since and self.log.records[one][2].commit_log_offset >= event.max_offset]

    def _recovered(self, place: int, event: e.StoreLoaded) -> str:
        """A log may be shorter than it was, or longer."""
        before = self._places(place, e.StoreLoaded)
        if not before:
            return ""
        since = self.log.records[before[-1]][2].max_offset
        put, copied = ([self.log.records[one][2] for one in self._places(place, kind) if one > before[-1]]
                       for kind in (e.MessageAppended, e.LogCopied))
        end = max([since, *(one.commit_log_offset + one.size for one in put),
                   *(one.offset + one.size for one in copied)])
        how = ": no file abort is there, as after an orderly stop" if event.last_exit_ok else ", as after a crash"
        if event.max_offset < end:
            lost = [f"message {one.queue_offset} of queue {one.queue_id} of {one.topic}"
                    for one in self._lost(place, event)]
            forced = " was not forced yet, and" if self._lost_power(place) else ""
            return f"{how}; before it had reached {end}: {', '.join(lost) or 'what is behind'}{forced} is lost"
        more = f"; before it had reached {end} only: what an earlier start had cut off is there again"
        return how + (more if event.max_offset > end else "")

    def _lost_power(self, place: int) -> bool:
        killed = self._places(place, e.ProcessKilled)
        return bool(killed) and self.log.records[killed[-1]][2].power_loss


_OF: Mapping[type, Callable[[Aftermath, int, Any], str]] = {
    e.SubscriptionRemoved: Aftermath._table, e.BrokerRegistered: Aftermath._names,  # noqa: SLF001 - a table of its own methods
    e.LockGranted: Aftermath._forgotten, e.ConsumerStarted: Aftermath._second,  # noqa: SLF001 - as above
    e.BrokerUnregistered: Aftermath._unregistered, e.ThreadDied: Aftermath._died,  # noqa: SLF001 - as above
    e.GoodbyeTaken: Aftermath._goodbye, e.MessageAppended: Aftermath._gap,  # noqa: SLF001 - as above
    e.StoreLoaded: Aftermath._recovered,  # noqa: SLF001 - as above
}
"""By the class of the event."""
