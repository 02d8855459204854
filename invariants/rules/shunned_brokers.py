"""Producers that are aware of latency: which brokers they shun, for how long, and whom they take otherwise.

How long an attempt took is known within bounds: it begins between the send, or the attempt before, and its request.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, ClassVar, NamedTuple

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.rules.applications import TURNS
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.rule import Kept, Rule, Told, after, on
from invariants.rules.sending import LATENCY_AWARE, STORED
from invariants.rules.weather import clock_was_set

"""What a broker answers that has the message."""
_DURATIONS_MS = ((15_000, 600_000), (3_000, 180_000), (2_000, 120_000), (1_000, 60_000), (550, 30_000))
"""MQFaultStrategy: who was as slow as the first number is shunned for as long as the second one says."""
_LATER, _AT_ONCE = "a failed asynchronous send", "another send"
_FAILED_MS = 600_000
"""MQFaultStrategy#updateFaultItem: who has failed counts as if it had been the slowest."""


class Attempt(NamedTuple):
    """A request: when it was sent, to which broker, the how manyth it is, and since when its queue may be chosen.

    over -- what has become of it is known.
    """

    ms: int
    broker_name: str
    number: int
    since_ms: int
    over: bool = False


class Asked(NamedTuple):
    """A send that an application has asked for: when, how, and until when it may last."""

    ms: int
    asynchronous: bool
    until_ms: int


class Item(NamedTuple):
    """What a producer remembers of a broker: since when, and how long the last attempt took, at least and at most.

    failed -- it did. asynchronous -- of such a send.
    """

    changed_ms: int
    least_ms: float
    most_ms: float
    failed: bool
    asynchronous: bool = False

    @property
    def shunned_until_ms(self) -> float:
        """The producer shuns the broker until then, at least."""
        return self.changed_ms + (_FAILED_MS if self.failed else _duration_ms(self.least_ms))

    @property
    def available_from_ms(self) -> float:
        """The producer does not shun the broker any more from then on."""
        return self.changed_ms + (_FAILED_MS if self.failed else _duration_ms(self.most_ms))


def _duration_ms(latency_ms: float) -> int:
    return next((duration_ms for least_ms, duration_ms in _DURATIONS_MS if latency_ms >= least_ms), 0)


class Shunning(Rule):
    """What is common: what each producer that is aware of latency remembers of its brokers.

    items -- of each broker. attempts -- the last one of each send. blind -- producers of which an attempt was not seen,
    because its broker had no address. sends -- who has sent a message, by its id or that of its batch.
    """

    about = "at client_id group"
    excuses: ClassVar[tuple[Excuse, ...]] = (clock_was_set("at"),)

    aware = Kept("at client_id group", begins=(LATENCY_AWARE,))
    asked = Kept("at key", begins=(events.SendAsked,),
                 value=lambda ms, event: Asked(ms, event.asynchronous, ms + event.timeout_ms))
    blind = Kept("at client_id group")
    items = Kept("at client_id group broker_name")
    attempts = Kept("at client_id group key")
    sends = Kept("at key")

    @on(events.SendAttempted)
    def attempted(self, ms: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        who, key = (at, event.client_id, event.group), event.key
        asked = self.asked.get((at, key))
        if who not in self.aware or asked is None or not event.listed:
            return
        last = self.attempts.get((*who, key))
        if event.attempt > 1:
            self._is_over(who, last, ms, event.attempt - 1, key)
        attempt = Attempt(ms, event.mq.broker_name, event.attempt, asked.ms if last is None else last.ms)
        if who not in self.blind:
            yield from self.chosen(who, attempt, event)
        self.attempts[(*who, key)] = attempt
        self.sends.update({(at, one): (*who, key) for one in key.split(",")})

    def chosen(self, who: tuple[str, ...], attempt: Attempt, event: events.SendAttempted) -> Iterator[Told]:
        """Judge a choice, of which all is known."""
        raise NotImplementedError

    @on(events.SendAnswered)
    def answered(self, ms: int, at: str, event: events.SendAnswered) -> None:
        key = self.sends.get((at, event.key), ())
        attempt = self.attempts.get(key)
        if attempt is not None and not attempt.over:
            measured_ms = ms - attempt.ms
            asynchronous = self.asked[at, key[-1]].asynchronous  # then it is counted from the request on
            least_ms, most_ms = (0, measured_ms) if asynchronous else (measured_ms, ms - attempt.since_ms)
            self._remember(key, attempt, Item(ms, least_ms, most_ms, event.code not in STORED, asynchronous))

    @on(events.SendFailed)
    def failed(self, ms: int, at: str, event: events.SendFailed) -> None:
        who = at, event.client_id, event.group
        if who in self.aware and event.attempts:
            self._is_over(who, self.attempts.get((*who, event.key)), ms, event.attempts, event.key)

    @on(events.SendTold)
    def is_told(self, ms: int, at: str, event: events.SendTold) -> None:
        """One way nobody answers."""
        key = self.sends.get((at, event.key.partition(",")[0]), ())
        attempt = self.attempts.get(key)
        if attempt is not None and not attempt.over:
            self._remember(key, attempt, Item(ms, 0, ms - attempt.since_ms, failed=False))

    def _is_over(
        self, who: tuple[str, ...], attempt: Attempt | None, ms: int, number: int, key: str,
    ) -> None:
        """The attempt of this number has failed, unless its answer is known."""
        if attempt is None or attempt.number != number:
            self.blind[who] = ms
        elif not attempt.over:
            known = self.items.get((*who, attempt.broker_name))
            least_ms = 0 if self.bounds.thread_pause_ms else ms - attempt.ms
            asynchronous = (who[0], key) in self.asked and self.asked[who[0], key].asynchronous
            item = Item(ms, least_ms, ms - attempt.since_ms, True, asynchronous)  # it has failed
            if known is not None and known.changed_ms >= attempt.ms:  # whose turn it was nobody knows
                item = Item(ms, 0, inf, failed=False)
            self._remember((*who, key), attempt, item)

    def _remember(self, key: tuple[Any, ...], attempt: Attempt, item: Item) -> None:
        self.items[(*key[:3], attempt.broker_name)] = item
        self.attempts[key] = attempt._replace(over=True)

    def available(self, who: tuple[str, ...], broker_name: str, since_ms: int) -> bool:
        """Whether a producer shuns a broker at no time since then."""
        item = self.items.get((*who, broker_name))
        return item is None or (item.changed_ms < since_ms and item.available_from_ms <= since_ms)


class slow_broker_is_shunned(Shunning):
    """A producer that is aware of latency does not send to a broker that has failed or was slow, for its time.

    It does if it knows no other one that is available, and takes one of the better half then.
    """

    shipped = "violated: P15 the end of an asynchronous call clears its failure"
    cite = "MQFaultStrategy#selectOneMessageQueue, #updateFaultItem, LatencyFaultToleranceImpl#pickOneAtLeast"
    about = "at client_id group why"
    excuses = (*Shunning.excuses,
               cause("P15", "an asynchronous send has failed there", when=lambda _, told: told.about[3] == _LATER))

    def chosen(self, who: tuple[str, ...], attempt: Attempt, event: events.SendAttempted) -> Iterator[Told]:
        """See Shunning."""
        name, since_ms = attempt.broker_name, attempt.since_ms
        listed = {mq.broker_name for mq in event.listed}
        if not any(self.available(who, one, since_ms) for one in listed):
            self._forget(who, listed)
        item = self.items.get((*who, name))
        failed_now = item is not None and attempt.number > 1 and item.changed_ms == attempt.ms
        if item is None or item.shunned_until_ms <= attempt.ms or not (item.changed_ms < since_ms or failed_now):
            return
        others = sorted({mq.broker_name for mq in event.listed} - {name})
        why = _LATER if item.failed and item.asynchronous else _AT_ONCE
        free = [one for one in others if self.available(who, one, since_ms)
                and not self.has_just_failed(who, one, attempt.ms)]
        if free:
            yield self.told(f"{who[0]} sends {event.key} to {name}, which is to be shunned for "
                            f"{item.shunned_until_ms - attempt.ms} ms more, and not to {free[0]}", *who, why)
        elif attempt.number == 1 and self._is_bad(who, item, [name, *others], attempt):
            yield self.told(f"{who[0]} sends {event.key} to {name}, which was slow, and others were less so", *who, why)

    def has_just_failed(self, who: tuple[str, ...], broker_name: str, ms: int) -> bool:
        """Whether the time of another send to a broker is over now, of which its producer may know already."""
        return any(key[:3] == who and one.broker_name == broker_name and not one.over
                   and self.asked[key[0], key[3]].until_ms <= ms for key, one in self.attempts.items())

    def _forget(self, who: tuple[str, ...], names: set[str]) -> None:
        """Where it shuns all that are listed it may pick one that was, and forget then how slow that was."""
        for key in [key for key in self.items if key[:3] == who and key[3] not in names]:
            del self.items[key]

    def _is_bad(self, who: tuple[str, ...], item: Item, names: list[str], attempt: Attempt) -> bool:
        """Whether a broker is none of the better half of those that are to be shunned; names -- all that are known."""
        items = {key[3]: one for key, one in self.items.items() if key[:3] == who}
        all_are_bad = all(one.shunned_until_ms > attempt.ms and one.changed_ms < attempt.since_ms
                          for one in items.values())
        better = [one for one in items.values() if one.most_ms < item.least_ms]
        return all_are_bad and {*items} == {*names} and len(better) >= max(len(items) // 2, 1)


class available_queues_take_turns(Shunning):
    """Where none of its brokers is to be shunned, a producer that is aware of latency sends to each of their queues."""

    cite = "MQFaultStrategy#selectOneMessageQueue: getSendWhichQueue"

    # How many messages a producer has sent to each queue of the list that it chooses from.
    turns = Kept("at client_id group topic")

    def chosen(self, who: tuple[str, ...], attempt: Attempt, event: events.SendAttempted) -> Iterator[Told]:
        """See Shunning."""
        names = {mq.broker_name for mq in event.listed}
        if attempt.number > 1 or not all(self.available(who, name, attempt.since_ms) for name in names):
            return
        key = (*who, event.mq.topic)
        counts: dict[MessageQueue, int] = self.turns.setdefault(key, {})
        if {*counts} != event.listed:
            counts = self.turns[key] = dict.fromkeys(sorted(event.listed), 0)
        counts[event.mq] = counts.get(event.mq, 0) + 1
        if sum(counts.values()) >= TURNS * len(event.listed):
            passed_over = [mq for mq, count in counts.items() if not count]
            del self.turns[key]
            for mq in passed_over[:1]:
                yield self.told(f"{who[0]} has sent {sum(counts.values())} messages, and none to {queue_text(mq)}, "
                                "whose broker is not to be shunned", *who)


class only_slow_brokers_are_shunned(Shunning):
    """A producer that is aware of latency leaves out no broker for longer than the table says.

    Who has failed comes back after ten minutes, who has taken 550 ms after 30 s: its queues are in turn again then.
    """

    cite = "MQFaultStrategy: notAvailableDuration, LatencyFaultToleranceImpl.FaultItem#isAvailable"
    about = "at client_id group broker_name"

    # How many messages a broker would have got if all queues were in turn, since it got one or was to be shunned.
    missed = Kept("at client_id group broker_name")

    def chosen(self, who: tuple[str, ...], attempt: Attempt, event: events.SendAttempted) -> Iterator[Told]:
        """See Shunning."""
        if attempt.number > 1:
            return
        names = [mq.broker_name for mq in event.listed]
        for name in sorted({*names}):
            key, since_ms = (*who, name), attempt.since_ms - self.bounds.thread_pause_ms  # who answers may stand still
            if name == attempt.broker_name or not self.available(who, name, since_ms):
                self.missed.pop(key, None)
                continue
            self.missed[key] = self.missed.get(key, 0) + names.count(name) / len(names)
            if self.missed[key] >= TURNS:
                del self.missed[key]
                yield self.told(f"{who[0]} has sent nothing to {name} while others got what {TURNS} turns of its "
                                "queues are worth, and it is not to be shunned", *key)


class shunning_ends(Rule):
    """A producer that is aware of latency shuns no broker for longer than ten minutes from now on."""

    cite = "MQFaultStrategy: notAvailableDuration, LatencyFaultToleranceImpl#updateFaultItem"
    about = "at broker_name"
    excuses = (clock_was_set("at"),)

    @after(events.SendAttempted, events.SendTold)
    def chooses(self, _: int, at: str, event: events.SendAttempted | events.SendTold) -> Iterator[Told]:
        del event
        for name, left_ms in self.views.shunned_ms(at).items():
            if left_ms > _FAILED_MS:
                yield self.told(f"{at} is to shun {name} for {left_ms} ms more", at, name)
