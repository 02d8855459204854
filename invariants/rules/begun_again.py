"""The rule that nothing is read again, and the hazards by which it is: where on its way a settled offset was lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from impl import events
from impl.decisions.names import MASTER_ID, RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.start_offset import NO_OFFSET, ConsumeFromWhere
from invariants.rules import deadlines
from invariants.rules.beginnings_of_groups import LOST, Beginnings, Read
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.offset_facts import (
    FORGOTTEN,
    At,
    Place,
    Span,
    is_of_another,
    is_on_another,
    is_on_the_same,
    time_outside,
    was_forgotten,
)
from invariants.rules.rule import Kept, Told, after, on

"""From when until when, ms."""


class Way(NamedTuple):
    """How far an offset that is begun again has come: whoever settles it sends it, a broker has it and answers it.

    settled -- by whom, and when; None: by nobody since it is known where the group is. counts -- that one held the
    queue then. remembered -- when that one had it in memory. sent, arrived -- the first commit of more that was sent,
    and that came to a broker, before the answer. last -- the last commit that came to the broker that answered.
    answered -- what was answered to whom begins it again. made_up -- nobody has answered lately that it begins there,
    nor that there is no offset.
    """

    place: Place
    settled: At | None
    counts: bool
    remembered: At | None
    sent: At | None
    arrived: At | None
    last: At | None
    answered: At
    made_up: bool

    @property
    def overwritten(self) -> tuple[str, str]:
        """The connections of a commit of less and of the one that it overwrote; none, if there is no such commit."""
        if self.arrived is None or self.last is None or self.last.offset >= self.arrived.offset:
            return "", ""
        return self.last.connection, self.arrived.connection


def _unsent(predicate: Callable[[Any, Way, At], bool]) -> Callable[[Any, Told], bool]:
    """A predicate of an offset that was settled and not sent: of the rule, its way, and who has settled it."""
    return lambda rule, _: (rule.way.settled is not None and rule.way.sent is None
                            and predicate(rule, rule.way, rule.way.settled))


def _listener_was_late(rule: Any, way: Way, settled: At) -> bool:
    group, mq = way.place
    dropped_ms = next((one.ms for one in rule.past.of(events.QueueDropped, at=settled.at, group=group, mq=mq)
                       if one.ms >= settled.ms), inf)
    is_late = _awake_ms(rule, settled, settled.ms, dropped_ms) < deadlines.updated(rule.bounds)
    return not way.counts or (way.remembered is None and is_late)


def _client_was_killed(rule: Any, way: Way, settled: At) -> bool:
    return _may_wait_until(rule, way, settled, _killed_since(rule, settled))


def _killed_since(rule: Any, one: At) -> float:
    """When the process of the machine was killed first since something happened there; inf: it was not."""
    return next((ms for ms in rule.killed_ms.get((one.at,), ()) if ms >= one.ms), inf)


def _may_wait_until(rule: Any, way: Way, settled: At, ms: float) -> bool:
    """Whether the timer that commits need not have sent it by then: it waits for its process, and for an address."""
    held_up = (*rule.away.get((settled.at,), ()), *_without_address(rule, way, settled))
    return time_outside((way.remembered or settled).ms, ms, held_up) <= deadlines.sent(rule.bounds)


def _without_address(rule: Any, way: Way, settled: At) -> list[Span]:
    """When no route of the client that has settled it led to the broker."""
    routed = rule.routed.get((settled.at, way.place[0]), ())
    return [(ms, until_ms) for (ms, names), (until_ms, _) in pairwise((*routed, (inf, ())))
            if way.place[1].broker_name not in names]


def _awake_ms(rule: Any, settled: At, since_ms: float, until_ms: float) -> float:
    """So much of a time the process that has settled it did not stand still."""
    return time_outside(since_ms, until_ms, rule.away.get((settled.at,), ()))


def _had_no_address(rule: Any, way: Way, settled: At) -> bool:
    group, mq = way.place
    ends_ms = rule.dropped_ms.get((settled.at, group, mq), -inf), rule.stopping_ms.get((settled.at, group), -inf)
    return any(max(begin_ms, settled.ms) <= ms < end_ms and _may_wait_until(rule, way, settled, ms)
               for ms in ends_ms for begin_ms, end_ms in _without_address(rule, way, settled))


def _consumer_stopped(rule: Any, way: Way, settled: At) -> bool:
    stopping_ms = rule.stopping_ms.get((settled.at, way.place[0]), -inf)
    is_late = way.remembered is None or way.remembered.ms >= stopping_ms
    return bool(is_late and stopping_ms > -inf and _awake_ms(
        rule, settled, settled.ms, stopping_ms) < deadlines.updated(rule.bounds))


def _has_expired(rule: Any, way: Way, settled: At) -> bool:
    return way.remembered is None and (settled.at, *way.place, settled.offset) in rule.expired


def _joiner_was_early(rule: Any, way: Way, settled: At) -> bool:
    """Whoever has settled it held the queue when it was answered, or was about to send its last commit."""
    dropped_ms = rule.dropped_ms.get((settled.at, *way.place), -inf)
    still_held = any(key[0] == settled.at for key in rule.facts.holders(*way.place))
    is_early = still_held or _awake_ms(
        rule, settled, dropped_ms, way.answered.ms) <= deadlines.given_up(rule.bounds)
    return is_early and _may_wait_until(rule, way, settled, way.answered.ms)


def _broker_was_killed(rule: Any, _: Told) -> bool:
    arrived = rule.way.arrived
    if arrived is None or arrived.at != rule.way.answered.at:
        return False
    idle = (*rule.away.get((arrived.at,), ()), *rule.facts.full.get((arrived.at,), ()))
    written_ms = time_outside(arrived.ms, _killed_since(rule, arrived), idle)
    return bool(rule.power_ms.get((arrived.at,), -inf) >= arrived.ms or written_ms <= deadlines.written(rule.bounds))


def _commit_did_not_come(rule: Any, _: Told) -> bool:
    """Only a network, or a broker that is away, too busy, or elsewhere by now, loses commits; others are on their way.

    Who stood still when the broker was away sends its first commits on a connection that has ended.
    """
    sent, name, on_its_way_ms = rule.way.sent, rule.way.place[1].broker_name, deadlines.handled(rule.bounds)
    if sent is None or rule.way.arrived is not None:
        return False
    until_ms, since_ms = sent.ms + on_its_way_ms, sent.ms - on_its_way_ms
    heard_ms = min((begin_ms for begin_ms, end_ms in rule.away.get((sent.at,), ()) if since_ms <= end_ms <= sent.ms),
                   default=since_ms)
    is_away = any(_meet(spans, min(since_ms, heard_ms), until_ms) for (at,), spans in rule.away.items()
                  if rule.facts.broker_name(at) == name)
    # A broker that is too busy refuses all commits, and nobody is told.
    took_some = any(sent.ms <= ms <= sent.ms + deadlines.SOON_MS for ms in rule.came_ms.get((name,), ()))
    return rule.way.answered.ms <= until_ms or is_away or not took_some or _went_elsewhere(rule, sent) or _was_cut(
        rule, {sent.at, name}, sent.ms, until_ms)


def _went_elsewhere(rule: Any, sent: At) -> bool:
    """Whether the last route that its sender was told before had another address of the broker than it has now."""
    mq = rule.way.place[1]
    routes = [one.event.addrs for one in rule.past.of(events.RouteAnswered, topic=mq.topic)
              if one.ms <= sent.ms and machine_of(one.event.connection) == sent.at]
    now = {one.broker_addr for one in rule.views.brokers()
           if (one.broker_name, one.broker_id) == (mq.broker_name, MASTER_ID)}
    return bool(routes and now) and not now & routes[-1]


def _was_cut(rule: Any, names: set[str], since_ms: int, until_ms: float) -> bool:
    """Whether the network lost something between two machines, or a broken connection had not been found yet."""
    return _meet(rule.cut.get((frozenset(names),), ()), since_ms, until_ms)


def _meet(spans: Iterable[Span], since_ms: float, until_ms: float) -> bool:
    return any(begin_ms <= until_ms and since_ms <= end_ms for begin_ms, end_ms in spans)


def _was_overtaken(rule: Any, _: Told) -> bool:
    arrived, answered = rule.way.arrived, rule.way.answered
    return arrived is not None and arrived.at == answered.at and is_on_the_same(*rule.way.overwritten)


def _was_sent_later(rule: Any, _: Told) -> bool:
    """Whether the member itself has sent the commit of less after the one that it overwrote."""
    way, sent = rule.way, rule.facts.sent.get(rule.way.place, ())
    less, more = (max((one.number for one in sent if commit is not None and one.offset == commit.offset
                       and one.at == machine_of(commit.connection)), default=-1) for commit in (way.last, way.arrived))
    return less > more >= 0


def _slave_answered(rule: Any, _: Told) -> bool:
    """A broker answered that copies, or has copied, the offsets of the one that has it, and did not yet.

    A slave copies from whom its name servers say, and waits for a registration with one that knows its master.
    """
    arrived, answered = rule.way.arrived, rule.way.answered
    if arrived is None or arrived.at == answered.at:
        return False
    until_ms = min(answered.ms, _killed_since(rule, arrived))
    held_up = (*rule.away.get((arrived.at,), ()), *rule.away.get((answered.at,), ()),
               *_without_master(rule, answered.at))
    return (time_outside(arrived.ms, until_ms, held_up) <= deadlines.offsets_copied(rule.bounds)
            or _was_cut(rule, {rule.way.place[1].broker_name}, arrived.ms, until_ms))


def _without_master(rule: Any, at: str) -> list[Span]:
    """When a slave did not know whom to copy."""
    told = sorted(rule.past.of(events.MasterLearned, events.BrokerStarted, at=at))
    knows = [(one.ms, one.event.broker_id == MASTER_ID if isinstance(one.event, events.BrokerStarted)
              else one.event.master_addr is not None) for one in told]
    return [(ms, until_ms) for (ms, known), (until_ms, _) in pairwise((*knows, (inf, True))) if not known]


def _first(trail: list[At]) -> At | None:
    return next(iter(trail), None)


class settled_is_not_begun_again(Beginnings):
    """Once a group has committed an offset of a queue, no member begins it where the group has settled more.

    RocketMQ promises at least once, not exactly once: the causes follow the offset on its way from the listener that
    settled it to the answer, and say where it was lost.
    """

    shipped = ("violated: X1 a crash, X3 a lost commit, X4 a late one, X8 a slave's, B-28 a slave that is promoted, "
               "X12 a topic that is left, X15 a stop, X25 what has expired, X28 a timer that forgets, D1 a joiner that "
               "is early, B-32 one of a former connection, B-18 an older one of its connection, X23 one of less, L2 "
               "an error is taken for no offset")
    cite = "MQClientInstance#persistAllConsumerOffset: at least once, not exactly once"
    about = "at group mq"
    excuses = (
        LOST,
        Excuse("a listener ended it when its queue was, or was about to be, given up: that does not count",
               when=_unsent(_listener_was_late)),
        cause("X1", "the process that settled it was killed before it committed", when=_unsent(_client_was_killed)),
        cause("X1", "the broker was killed before it had written the commit", when=_broker_was_killed),
        cause("X15", "a listener ended it when its consumer shut down, and it was not in memory by then",
              when=_unsent(_consumer_stopped)),
        cause("D1", "the member that settled it had not given the queue up", when=_unsent(_joiner_was_early)),
        cause("X25", "it has expired, and nothing was settled behind it, which alone would have raised the offset",
              when=_unsent(_has_expired)),
        cause("X28", FORGOTTEN, when=_unsent(
            lambda rule, way, settled: was_forgotten(rule.past, settled.at, *way.place))),
        cause("X3", "its commit did not come, or not in time", when=_commit_did_not_come),
        cause("X3", "no route led to its broker when the queue was given up, or the consumer stopped",
              when=_unsent(_had_no_address)),
        cause("X4", "a commit of another member came behind it",
              when=lambda rule, _: is_of_another(*rule.way.overwritten)),
        cause("B-32", "a commit on another connection of its client came behind it",
              when=lambda rule, _: is_on_another(*rule.way.overwritten)),
        cause("B-18", "an older commit on its connection was handled behind it", when=lambda rule, told: (
            _was_overtaken(rule, told) and not _was_sent_later(rule, told))),
        cause("X23", "its member has sent less behind it on the same connection", when=lambda rule, told: (
            _was_overtaken(rule, told) and _was_sent_later(rule, told))),
        cause("L2", "its member took an error for the answer that there is no offset",
              when=lambda rule, _: rule.way.made_up),
        cause("X8", "its commit went to a slave, whose offsets its master's replace",
              when=lambda rule, _: rule.way.arrived is not None and not rule.facts.is_master(rule.way.arrived.at)),
        cause("B-28", "a slave answered, or was promoted, that had not copied it", when=_slave_answered),
    )

    filtered_counts = False
    way: Way
    settled = Kept("group mq", survives="all")
    expired = Kept("at group mq offset", survives="all")
    dropped_ms = Kept("at group mq", begins=(events.QueueDropped,))
    stopping_ms = Kept("at group", survives="all", begins=(events.ConsumerStopping,))
    routed = Kept("at group", survives="all")
    killed_ms = Kept("at", survives="all")
    power_ms = Kept("at", survives="all", begins=(Match(events.ProcessKilled, having=lambda event: event.power_loss),))
    away = Kept("at", survives="all")
    came_ms = Kept("broker_name", survives="all")
    cut = Kept("names", survives="all")  # from when until when the network may lose what goes between two

    @on(events.OffsetCommitted)
    def takes_commits(self, ms: int, at: str, _: events.OffsetCommitted) -> None:
        self.came_ms.setdefault((self.facts.broker_name(at),), []).append(ms)

    @on(events.MessagesSettled, events.MessagesExpired)
    def ends(self, ms: int, at: str, event: events.MessagesSettled | events.MessagesExpired) -> None:
        if isinstance(event, events.MessagesExpired):
            self.expired.update(dict.fromkeys(((at, event.group, event.mq, one) for one in event.offsets), ms))
        counts = self.facts.holds(event.client_id, event.group, event.mq)
        settled = self.settled.setdefault((event.group, event.mq), {})
        settled.update((offset, (At(ms, at, offset), counts)) for offset in event.offsets)

    @on(events.QueueTaken)
    def takes(self, ms: int, at: str, event: events.QueueTaken) -> Iterator[Told]:
        below = self.begins(at, event)
        if event.offset >= below:
            return
        place = event.group, event.mq
        self.read[place] = Read(event.offset)
        if place in self.known_ms:
            self.way = self._way(ms, at, event, below)
            sentence = f"{at} begins {queue_text(event.mq)} at {event.offset}, and what is settled ends at {below}"
            yield self.told(sentence, at, *place, since_ms=ms)

    def _way(self, ms: int, at: str, event: events.QueueTaken, below: int) -> Way:
        place = event.group, event.mq
        answers = self.facts.recent_answers(at, *place, 0) or [At(ms, at, event.offset, sys.maxsize)]
        answered = next((one for one in reversed(answers) if one.offset == event.offset), answers[-1])
        ended = self.settled.get(place, {})
        first = min((one for one in ended if event.offset <= one < below), default=-1)  # some were filtered away
        settled, counts = ended.get(first, (None, False))
        since_ms, by = (-inf, "") if settled is None else settled[:2]
        lately = self.facts.recent_answers(at, *place, ms - deadlines.begun(self.bounds))
        made_up = self._is_made_up(at, event, lately)

        def before(trail: Kept) -> list[At]:
            return [one for one in trail.get(place, ()) if one.number < answered.number]

        def more(trail: Kept) -> list[At]:
            return [one for one in before(trail) if one.offset > event.offset and one.ms >= since_ms]

        remembered = [one for one in more(self.facts.remembered) if one.at == by]
        came, arrived = before(self.facts.arrived), more(self.facts.arrived)
        here = [one for one in arrived if one.at == answered.at]
        return Way(place, settled, counts, _first(remembered), _first(more(self.facts.sent)), _first(here or arrived),
                   _first([one for one in reversed(came) if one.at == answered.at]), answered, made_up)

    def _is_made_up(self, at: str, event: events.QueueTaken, answers: list[At]) -> bool:
        """Whether no answer says so, and it is where a client begins that believes that there is no offset."""
        where = self.views.consume_from(at, event.group)
        at_zero = event.mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX) or (
            bool(where and where[0] == ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET))
        return not {event.offset, NO_OFFSET} & {one.offset for one in answers} and (event.offset == 0 or not at_zero)

    @after(events.RouteUpdated)
    def is_routed(self, ms: int, at: str, event: events.RouteUpdated) -> None:
        names = {mq.broker_name for key, mqs in self.facts.routes.items() if key[:2] == (at, event.group) for mq in mqs}
        self.routed.setdefault((at, event.group), []).append((ms, names))

    @on(events.ConnectionSevered, events.MessageLost, events.PartitionBegan, events.ConnectionRefused)
    def is_cut_off(self, ms: int, at: str, event: Any) -> None:
        is_over = isinstance(event, (events.MessageLost, events.ConnectionRefused))
        until_ms = ms if is_over else ms + deadlines.waited(self.bounds)
        names = frozenset(map(self.facts.broker_name, (at, event[0])))
        self.cut.setdefault((names,), []).append((ms, until_ms))

    @on(events.ProcessKilled)
    def is_killed(self, ms: int, at: str, _: events.ProcessKilled) -> None:
        self.killed_ms.setdefault((at,), []).append(ms)

    @on(events.ProcessKilled, events.BrokerStopping, events.ProcessPaused)
    def goes_away(self, ms: int, at: str, event: Any) -> None:
        self.away.setdefault((at,), []).append((ms, ms + event.ms if isinstance(event, events.ProcessPaused) else inf))

    @on(events.BrokerStarted, events.ConsumerStarted)
    def is_back(self, ms: int, at: str, _: events.BrokerStarted | events.ConsumerStarted) -> None:
        spans = self.away.get((at,), ())
        self.away[at,] = [(begin_ms, min(end_ms, ms)) for begin_ms, end_ms in spans]
