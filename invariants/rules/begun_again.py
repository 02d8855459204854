"""The rule that nothing is read again, and the hazards by which it is: where on its way a settled offset was lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, NamedTuple

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ConsumerStopping,
    MessagesSettled,
    OffsetCommitted,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueueTaken,
)
from invariants.rules import deadlines
from invariants.rules.beginnings_of_groups import LOST, MOVED, Beginnings, Read
from invariants.rules.bounds import Deadline
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.offset_facts import At, is_of_another, is_on_another
from invariants.rules.rule import Kept, Told, on
from invariants.rules.watch import Run


class Way(NamedTuple):
    """How far an offset that is begun again has come: whoever settles it sends it, a broker has it and answers it.

    settled -- by whom, and when; None: by nobody since it is known where the group is. counts -- that one held the
    queue then. remembered -- when that one had it in memory. sent, arrived -- the first commit of more that was sent,
    and that came to a broker, before the answer. last -- the last commit that came to the broker that answered.
    answered -- what was answered to whom begins it again.
    """

    place: tuple[str, MessageQueue]
    settled: At | None
    counts: bool
    remembered: At | None
    sent: At | None
    arrived: At | None
    last: At | None
    answered: At


def _case(predicate: Callable[[Any, Way], bool]) -> Callable[[Any, Told], bool]:
    """A predicate of the rule and of the way of the offset that it is about to tell."""
    return lambda rule, _: predicate(rule, rule.way)


def _unsent(predicate: Callable[[Any, Way, At], bool]) -> Callable[[Any, Told], bool]:
    """The same of an offset that was settled and not sent; the predicate is given who has settled it, too."""
    return _case(lambda rule, way: way.settled is not None and way.sent is None and predicate(rule, way, way.settled))


def _listener_was_late(rule: Any, way: Way, settled: At) -> bool:
    """Whether what a listener ended came too late to count: its queue was given up before it was in memory."""
    dropped_ms = rule.dropped_ms.get((settled.at, *way.place), -inf)
    return not way.counts or (way.remembered is None and 0 <= dropped_ms - settled.ms < rule.within(deadlines.updated))


def _client_was_killed(rule: Any, way: Way, settled: At) -> bool:
    """X1: whoever has settled it was killed soon after, and had not committed it."""
    return _may_wait_until(rule, way, settled, _killed_since(rule, settled))


def _killed_since(rule: Any, one: At) -> float:
    """When the process of the machine was killed first since something happened there; inf: it was not."""
    return next((ms for ms in rule.killed_ms.get((one.at,), ()) if ms >= one.ms), inf)


def _may_wait_until(rule: Any, way: Way, settled: At, ms: float) -> bool:
    """Whether the timer that commits need not have sent it by then."""
    since_ms = max((way.remembered or settled).ms, rule.awake_ms.get((settled.at,), -inf))
    return bool(ms - since_ms <= rule.within(deadlines.sent))


def _consumer_stopped(rule: Any, way: Way, settled: At) -> bool:
    """X15: it was not in memory when its consumer began to shut down."""
    stopping_ms = rule.stopping_ms.get((settled.at, way.place[0]), -inf)
    is_late = way.remembered is None or way.remembered.ms >= stopping_ms
    return bool(is_late and -inf < stopping_ms < settled.ms + rule.within(deadlines.updated))


def _joiner_was_early(rule: Any, way: Way, settled: At) -> bool:
    """D1: whoever has settled it held the queue when it was answered, or was about to send its last commit."""
    group, mq = way.place
    dropped_ms = rule.dropped_ms.get((settled.at, group, mq), -inf)
    still_held = any((key[0], *key[2:]) == (settled.at, group, mq) for key in rule.facts.holdings)
    is_early = still_held or dropped_ms + rule.within(deadlines.given_up) >= way.answered.ms
    return is_early and _may_wait_until(rule, way, settled, way.answered.ms)


def _broker_was_killed(rule: Any, way: Way) -> bool:
    """X1: the broker was killed when it had not written it yet."""
    if way.arrived is None or way.arrived.at != way.answered.at:
        return False
    if rule.power_ms.get((way.arrived.at,), -inf) >= way.arrived.ms:
        return True
    since_ms = max(way.arrived.ms, rule.awake_ms.get((way.arrived.at,), -inf))
    return bool(_killed_since(rule, way.arrived) <= since_ms + rule.within(deadlines.written))


def _commit_did_not_come(rule: Any, way: Way) -> bool:
    """X3: a commit was sent and had not come; only a network, or a broker that is away, loses commits."""
    if way.sent is None or way.arrived is not None:
        return False
    away_ms = rule.away_ms.get((way.place[1].broker_name,), -inf)
    on_its_way_ms = rule.within(deadlines.handled)
    is_away, is_on_its_way = away_ms >= way.sent.ms - on_its_way_ms, way.answered.ms - way.sent.ms <= on_its_way_ms
    return bool(rule.bounds.delay_ms or is_away or is_on_its_way or _took_no_commit(rule, way, way.sent))


def _took_no_commit(rule: Any, way: Way, sent: At) -> bool:
    """Whether the broker was too busy for any commit when this one came: it refuses them, and nobody is told."""
    came_ms = rule.came_ms.get((way.place[1].broker_name,), ())
    return not any(sent.ms <= ms <= sent.ms + deadlines.SOON_MS for ms in came_ms)


def _former_owner_was_late(_: Any, way: Way) -> bool:
    """X4: a commit of less, which another member had sent, came to the broker behind it."""
    return is_of_another(*_overwritten(way))


def _former_connection(_: Any, way: Way) -> bool:
    """B-32: a commit of less came behind it, on another connection of the same client."""
    return is_on_another(*_overwritten(way))


def _overwritten(way: Way) -> tuple[str, str]:
    """The connections of a commit of less and of the one that it overwrote; none, if there is no such commit."""
    if way.arrived is None or way.last is None or way.last.offset >= way.arrived.offset:
        return "", ""
    return way.last.connection, way.arrived.connection


def _slave_had_it(rule: Any, way: Way) -> bool:
    """X8: it went to a slave, whose offsets its master's replace."""
    return way.arrived is not None and not rule.facts.is_master(way.arrived.at)


def _slave_answered(rule: Any, way: Way) -> bool:
    """B-28: a broker answered that copies, or has copied, the offsets of the one that has it, and did not yet."""
    if way.arrived is None or way.arrived.at == way.answered.at:
        return False
    until_ms = min(way.answered.ms, _killed_since(rule, way.arrived))
    return bool(rule.bounds.delay_ms or until_ms - way.arrived.ms <= rule.within(deadlines.copied))


def _first(trail: list[At]) -> At | None:
    return next(iter(trail), None)


class settled_is_not_begun_again(Beginnings):
    """Once a group has committed an offset of a queue, no member begins it where the group has settled more.

    RocketMQ promises at least once, not exactly once: the causes follow the offset on its way from the listener that
    settled it to the answer, and say where it was lost.
    """

    shipped = ("violated: X1 a crash, X3 a lost commit, X4 a late one, X8 a slave's, B-28 a slave that is promoted, "
               "X12 a topic that is left, X15 a stop, D1 a joiner that is early, B-32 one of a former connection")
    cite = "MQClientInstance#persistAllConsumerOffset: at least once, not exactly once"
    about = "at group mq"
    excuses = (
        *MOVED, LOST,
        Excuse("a listener ended it when its queue was, or was about to be, given up: that does not count",
               when=_unsent(_listener_was_late)),
        cause("X1", "the process that settled it was killed before it committed", when=_unsent(_client_was_killed)),
        cause("X1", "the broker was killed before it had written the commit", when=_case(_broker_was_killed)),
        cause("X15", "a listener ended it while its consumer shut down", when=_unsent(_consumer_stopped)),
        cause("D1", "the member that settled it had not given the queue up", when=_unsent(_joiner_was_early)),
        cause("X3", "its commit did not come, or not in time", when=_case(_commit_did_not_come)),
        cause("X4", "a commit of another member came behind it", when=_case(_former_owner_was_late)),
        cause("B-32", "a commit on another connection of its client came behind it", when=_case(_former_connection)),
        cause("X8", "its commit went to a slave", when=_case(_slave_had_it)),
        cause("B-28", "a slave answered, or was promoted, that had not copied it", when=_case(_slave_answered)),
    )

    def __init__(self, run: Run) -> None:
        """Nothing has happened."""
        super().__init__(run)
        self.way: Way
        self.settled = Kept("group mq", survives="all")
        self.dropped_ms = Kept("at group mq")
        self.killed_ms, self.awake_ms = Kept("at", survives="all"), Kept("at", survives="all")
        self.power_ms = Kept("at", survives="all")
        self.stopping_ms = Kept("at group", survives="all")
        self.away_ms = Kept("broker_name", survives="all")
        self.came_ms = Kept("broker_name", survives="all")

    @on(OffsetCommitted)
    def takes_commits(self, ms: int, at: str, _: OffsetCommitted) -> None:
        """A broker is not too busy."""
        self.came_ms.setdefault((self.facts.broker_name(at),), []).append(ms)

    def within(self, deadline: Deadline) -> int:
        """So much time something may take in this world, in ms."""
        return deadline(self.bounds)

    @on(MessagesSettled)
    def ends(self, ms: int, at: str, event: MessagesSettled) -> None:
        """A member has read messages."""
        counts = self.facts.holds(event.client_id, event.group, event.mq)
        self.settled.setdefault((event.group, event.mq), {}).update(
            (offset, (At(ms, at, offset), counts)) for offset in event.offsets)

    @on(QueueTaken)
    def takes(self, ms: int, at: str, event: QueueTaken) -> Iterator[Told]:
        """A member begins nowhere before that; if one does, the group goes on from there."""
        below = self.begins(at, event)
        if event.offset >= below:
            return
        place = event.group, event.mq
        self.read[place] = Read(event.offset)
        if place in self.known_ms:
            self.way = self._way(ms, at, event)
            sentence = f"{at} begins {queue_text(event.mq)} at {event.offset}, and what is settled ends at {below}"
            yield self.told(sentence, at, *place, since_ms=ms)

    def _way(self, ms: int, at: str, event: QueueTaken) -> Way:
        place, offset = (event.group, event.mq), event.offset
        answers = self.facts.recent_answers(at, *place, 0) or [At(ms, at, offset, sys.maxsize)]
        answered = next((one for one in reversed(answers) if one.offset == offset), answers[-1])
        sent, arrived = ([one for one in trail.get(place, ()) if one.number < answered.number]
                         for trail in (self.facts.sent, self.facts.arrived))
        settled, counts = self.settled.get(place, {}).get(offset, (None, False))
        since_ms = -inf if settled is None else settled.ms
        by = None if settled is None else settled.at
        had = [one for one in self.facts.remembered.get(place, ())
               if one.at == by and one.offset > offset and one.ms >= since_ms and one.number < answered.number]
        more_sent = [one for one in sent if one.offset > offset and one.ms >= since_ms]
        more_came = [one for one in arrived if one.offset > offset and one.ms >= since_ms]
        came = [one for one in arrived if one.at == answered.at]
        more_here = [one for one in more_came if one.at == answered.at]
        return Way(place, settled, counts, _first(had), _first(more_sent), _first(more_here) or _first(more_came),
                   came[-1] if came else None, answered)

    @on(QueueDropped)
    def gives_up(self, ms: int, at: str, event: QueueDropped) -> None:
        """A member does not hold a queue any more."""
        self.dropped_ms[at, event.group, event.mq] = ms

    @on(ConsumerStopping)
    def stops(self, ms: int, at: str, event: ConsumerStopping) -> None:
        """A member leaves."""
        self.stopping_ms[at, event.group] = ms

    @on(ProcessKilled, BrokerStopping, BrokerStarted, ProcessPaused)
    def is_away(self, ms: int, at: str, event: Any) -> None:
        """Somebody does nothing, until now or from now on."""
        until_ms = ms + event.ms if isinstance(event, ProcessPaused) else ms
        self.away_ms[self.facts.broker_name(at),] = until_ms
        if isinstance(event, ProcessKilled):
            self.killed_ms.setdefault((at,), []).append(ms)
            if event.power_loss:
                self.power_ms[at,] = ms
        elif isinstance(event, ProcessPaused):
            self.awake_ms[at,] = until_ms
