"""What becomes of half messages: the check of their broker comes to each, each ends at last, and how."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import ClassVar

from impl import events
from impl.decisions.names import (
    MASTER_ID,
    RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    RMQ_SYS_TRANS_HALF_TOPIC,
    RMQ_SYS_TRANS_OP_HALF_TOPIC,
)
from invariants.rules import deadlines
from invariants.rules.delays import comes_up_without, lost_power, still_kept
from invariants.rules.excuse import Excuse, cause
from invariants.rules.match import Match
from invariants.rules.past import Reported
from invariants.rules.rule import Kept, Promise, Rule, Told, on
from invariants.rules.sending import COMMITS, OWN_TOPICS
from invariants.rules.weather import clock_was_set

_CHECK = "CID_RMQ_SYS_TRANS"
"""MixAll.CID_SYS_RMQ_TRANS: the group whose offsets say how far the check has come."""
_ROLLED_BACK = "ROLLBACK_MESSAGE"


class rolled_back_stays_hidden(Rule):
    """A half message that its producer has rolled back is never put into its topic."""

    cite = "EndTransactionProcessor#processRequest"
    about = "at key"

    # Half messages that were rolled back, by their ids.
    rolled_back = Kept("id", survives="all")

    @on(events.HalfMessageEnded)
    def ended(self, _: int, at: str, event: events.HalfMessageEnded) -> None:
        del at
        if event.state == _ROLLED_BACK:
            self.rolled_back[event.key,] = True

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        if (event.key,) in self.rolled_back and not event.topic.startswith(OWN_TOPICS):
            yield self.told(f"{at} puts {event.key} into {event.topic}, which was rolled back", at, event.key)


class half_message_ends_at_last(Promise):
    """A half message that a broker has kept is in its topic, or its producer has said that it is rolled back.

    Only what was stored before the world healed is looked for, where its producers answer each check truly. A check
    puts a half message back, and goes on behind the record before: who loses power may lose the copy alone.
    """

    shipped = "violated: T3 a check gives up"
    cite = "TransactionalMessageServiceImpl#check, EndTransactionProcessor#processRequest"
    about = "at given_up"
    within_ms = deadlines.all_ended
    named = True
    excuses = (cause("T3", "a broker has given them up, and something has kept it from their producers",
                     when=lambda rule, told: told.about[1] and not rule.views.calm()), clock_was_set("at"))

    # Half messages by their ids: where they are before the healing, and which of them have ended, or were given up.
    half = Kept("id", survives="all")
    over = Kept("id", survives="all")
    given_up = Kept("id", survives="all")

    @on(events.HalfMessageEnded)
    def ends(self, ms: int, at: str, event: events.HalfMessageEnded) -> None:
        del at
        if event.state == _ROLLED_BACK:
            self.over[event.key,] = ms

    @on(events.MessageAppended)
    def appends(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC and not self.healed_ms:
            self.half[event.key,] = at
        elif event.topic == RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC:
            self.given_up[event.key,] = ms
        elif not event.topic.startswith(OWN_TOPICS):
            self.over[event.key,] = ms

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for machine, kept in still_kept(self, self.half, self.over):
            for given_up in (False, True):
                left = [key for key in kept if ((key,) in self.given_up) is given_up and not self._has_lost_copy(key)]
                if left:
                    yield self.told(f"{machine} has {len(left)} half messages that have not ended, {left[0]} first",
                                    machine, given_up)

    def _has_lost_copy(self, key: str) -> bool:
        last = self.past.last(events.MessageAppended, key=key, topic=RMQ_SYS_TRANS_HALF_TOPIC)
        return last is not None and lost_power(self, last, comes_up_without(self, last))


class Checked(Promise):
    """What is common: the check of each master comes to the end of a queue that it had when the world healed.

    topic -- of the queue. what -- what is in it.
    """

    about = "at"
    within_ms = deadlines.all_checked
    named = True
    excuses: ClassVar[tuple[Excuse, ...]] = (clock_was_set("at"),)
    topic: ClassVar[str]
    what: ClassVar[str]

    # The offset behind the last message that was stored in the queue before the healing.
    end = Kept("at", survives="all")

    @on(events.MessageAppended)
    def is_stored(self, _: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == self.topic and not self.healed_ms:
            self.end[at,] = event.queue_offset + 1

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        masters = {broker.machine for broker in self.views.brokers() if broker.broker_id == MASTER_ID}
        for at, in [place for place in self.end if place[0] in masters]:
            stored = self.views.stored_at(at, self.topic, 0)
            end = min(self.end[at,], 0 if stored is None else stored.max_offset)
            came = self.views.committed(at, _CHECK).get((self.topic, 0), 0)
            if came < end:
                yield self.told(f"the check of {at} is at {came} of its {self.what}, which end at {end}", at)


class check_passes_every_half_message(Checked):
    """The check of a master comes past each half message that it has: it has ended, was asked about, or is given up.

    Only those that were stored before the world healed are looked for: the rest may be too young.
    """

    shipped = "violated: T4 a round that ends with an exception is forgotten"
    cite = "TransactionalMessageServiceImpl#check"
    topic, what = RMQ_SYS_TRANS_HALF_TOPIC, "half messages"


class check_passes_every_op_message(Checked):
    """The check of a master comes past each op message of a half message that it is past, and reads it no more.

    Only those that were stored before the world healed are looked for: the rest may be of half messages that are ahead.
    """

    shipped = "violated: T4 a round that ends with an exception is forgotten"
    cite = "TransactionalMessageServiceImpl#calculateOpOffset, TransactionalMessageBridge#updateConsumeOffset"
    topic, what = RMQ_SYS_TRANS_OP_HALF_TOPIC, "op messages"


class half_message_is_asked_about_so_often(Rule):
    """Where nothing fails a broker asks about a half message as often as it is told to, no more, then gives it up."""

    cite = "TransactionalMessageServiceImpl#check, #needDiscard; BrokerConfig.transactionCheckMax"
    about = "key"
    calm = True

    # Where each half message was put first; how often it was put, and how often its producer was asked.
    broker = Kept("id", survives="all")
    put = Kept("id", survives="all")
    asked = Kept("id", survives="all")

    @on(events.HalfMessageEnded)
    def is_asked(self, _: int, at: str, event: events.HalfMessageEnded) -> Iterator[Told]:
        del at
        key = (event.key,)
        self.asked[key] = self.asked.get(key, 0) + event.from_check
        most = self.views.transaction_check_max(self.broker.get(key, ""))
        if most is not None and event.from_check and self.asked[key] == most + 1:
            yield self.told(f"{self.broker[key]} asks about {event.key} {most + 1} times, and is to ask {most} times",
                            event.key)

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        key = (event.key,)
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            self.put[key] = self.put.get(key, 0) + 1
            self.broker.setdefault(key, at)
        elif event.topic == RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC:
            most = self.views.transaction_check_max(at)
            if most is not None and self.put.get(key, 0) <= most:
                yield self.told(f"{at} gives {event.key} up, which it has put back {self.put.get(key, 1) - 1} times, "
                                f"and is to ask {most} times", event.key)


def _is_not_read(rule: ended_half_message_is_left_alone, key: str) -> bool:
    """Whether the check had not read yet what was noted of the end of a half message when it last put it back.

    A round takes CHECK_ROUND_MS at most, by the clock of its broker, and reads no more when it has found nothing: so
    does one that begins at an op message whose record is gone with the oldest files of the log.
    """
    asked, since_ms = _put_back(rule, key)
    if asked is None:
        return False
    noted = _noted(rule, asked, since_ms)
    if noted is None or rule.read_then.get((asked.at, key), 0) > noted.event.queue_offset:
        return False
    dispatched = _dispatched(rule, noted)
    lost_ms = -sum(min(one.event.ms, 0) for one in rule.past.of(events.ClockJumped, at=asked.at, since=noted.place))
    expired = rule.past.of(events.LogExpired, at=asked.at, since=noted.place)
    return (dispatched is None or asked.ms - dispatched.ms <= deadlines.round_ended(rule.bounds) + lost_ms
            or any(one.place < asked.place for one in expired))


def _noted(rule: ended_half_message_is_left_alone, asked: Reported, since_ms: float) -> Reported | None:
    """What a broker may have noted last of the end of a half message, which it had put into its topic then."""
    noted = [one for one in rule.past.of(events.MessageAppended, at=asked.at, topic=RMQ_SYS_TRANS_OP_HALF_TOPIC)
             if one.ms >= since_ms]
    in_time = [one for one in noted if one.ms <= since_ms + deadlines.end_noted(rule.bounds)]
    return in_time[-1] if in_time else next(iter(noted), None)


def _dispatched(rule: ended_half_message_is_left_alone, noted: Reported) -> Reported | None:
    """When the check of the broker could read it; None: it cannot yet."""
    return rule.past.last(events.MessageDispatched, at=noted.at, commit_log_offset=noted.event.commit_log_offset)


def _could_not_be_noted(rule: ended_half_message_is_left_alone, key: str) -> bool:
    """Whether a broker has noted no end when it had put a half message into its topic, and its disk was full then.

    Who forces each message may learn of a full disk between the message and the note of its end.
    """
    asked, since_ms = _put_back(rule, key)
    if asked is None:
        return False
    until_ms = since_ms + deadlines.end_noted(rule.bounds)
    known_ms = since_ms - deadlines.space_seen(rule.bounds)
    filled = [one for one in rule.past.of(events.DiskFilled, at=asked.at) if one.ms <= until_ms]
    before = [one for one in filled if one.ms < known_ms]
    is_full = any(one.event.percent > deadlines.FULL_PERCENT for one in (*before[-1:], *filled[len(before):]))
    return is_full and not any(since_ms <= one.ms <= until_ms for one in rule.past.of(
        events.MessageAppended, at=asked.at, topic=RMQ_SYS_TRANS_OP_HALF_TOPIC))


def _put_back(rule: ended_half_message_is_left_alone, key: str) -> tuple[Reported | None, float]:
    """How a broker has put a half message there last, if it has ended at that broker, and since when it has."""
    asked = rule.past.last(events.MessageAppended, key=key, topic=RMQ_SYS_TRANS_HALF_TOPIC)
    since_ms = inf if asked is None else rule.committed_ms.get((asked.at, key), inf)
    return (None if since_ms == inf else asked), since_ms


def _stood_to_register(rule: ended_half_message_is_left_alone, key: str) -> bool:
    """Whether the check that put a half message back made a topic before it could know its end, and had to register it.

    DefaultTransactionalMessageCheckListener#resolveDiscardMsg: it waits for the registration of another thread first.
    """
    asked, since_ms = _put_back(rule, key)
    if asked is None:
        return False
    noted = _noted(rule, asked, since_ms)
    dispatched = None if noted is None else _dispatched(rule, noted)
    known_ms = since_ms if dispatched is None else dispatched.ms
    made = rule.past.of(events.TopicConfigUpdated, at=asked.at, topic=RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC)
    return any(one.ms <= known_ms <= asked.ms <= one.ms + deadlines.registered(rule.bounds) for one in made)


def _is_there_twice(rule: ended_half_message_is_left_alone, key: str) -> bool:
    """Whether a broker has put a half message back, and ended before it had written how far its check had come.

    The next process begins its check before that, and finds it at both places. A file that was written may be gone with
    the power: nobody forces it.
    """
    for one in rule.past.of(events.MessageAppended, key=key, topic=RMQ_SYS_TRANS_HALF_TOPIC)[1:]:
        end = min(rule.past.of(events.BrokerShutDown, events.ProcessKilled, since=one.place, at=one.at), default=None)
        if (end is not None and isinstance(end.event, events.ProcessKilled)
                and (end.event.power_loss or end.ms - one.ms <= deadlines.written(rule.bounds))):
            return True
    return False


_IN_VAIN = (_is_not_read, _stood_to_register, _could_not_be_noted)
"""Why a check may ask about what has ended; what answers it names a place that is not the first."""


class ended_half_message_is_left_alone(Rule):
    """Once a half message is committed nobody is asked about it any more, but for a question that is on its way."""

    shipped = ("violated: T6 what was put back while it was immune is at another place, X1 a crash loses how far the "
               "check has come")
    cite = "TransactionalMessageServiceImpl#fillOpRemoveMap, TransactionalMessageBridge#putOpMessage"
    about = "key"
    excuses = (
        Excuse("it was tried more than once, and may be there more than once",
               when=lambda rule, told: told.about in rule.again),
        Excuse("it was put back for a question, which was on its way, when it was committed at the place before that",
               when=lambda rule, told: told.about in rule.elsewhere and rule.put.get(told.about, 0) <= 1),
        Excuse("the round of checks had not read yet what says that it has ended",
               when=lambda rule, told: _is_not_read(rule, told.about[0])),
        Excuse("its broker's check had looked before it ended, and has registered the topic of what it gives up since",
               when=lambda rule, told: _stood_to_register(rule, told.about[0])),
        Excuse("files of others filled the disk of its broker, which has noted no end then",
               when=lambda rule, told: _could_not_be_noted(rule, told.about[0])),
        cause("T6", "its broker has put it back without a question",
              when=lambda rule, told: rule.put.get(told.about, 0) > 1),
        cause("X1", "its broker has put it back, and was killed before it had written how far its check had come",
              when=lambda rule, told: _is_there_twice(rule, told.about[0])),
    )

    # How often each was put, less the questions about it.
    put = Kept("id", survives="all")
    again = Kept("id", survives="all", begins=(Match(events.SendAttempted, of="id=key", having=lambda one: (
        one.attempt > 1)),))
    # Where a broker has put it last as a half message, and when it was committed at another place than that, or put at
    # another place for a question that was on its way.
    place = Kept("at id", survives="all")
    elsewhere = Kept("id", survives="all")
    # When a process has put it into its topic; up to where its check has read what has ended, and had read when it put
    # a half message last.
    committed_ms = Kept("at id")
    read = Kept("at", begins=(events.OpMessagesRead,), value=lambda _, event: event.next_offset)
    read_then = Kept("at id")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        key = (event.key,)
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            self.put[key] = self.put.get(key, 0) + 1
            self.place[at, event.key] = event.commit_log_offset
            self.read_then[at, event.key] = self.read.get((at,), 0)
        elif key in self.put and not event.topic.startswith(OWN_TOPICS):
            self.committed_ms.setdefault((at, event.key), ms)

    @on(events.EndTransactionTaken)
    def is_ended(self, ms: int, at: str, event: events.EndTransactionTaken) -> None:
        place = event.commit_log_offset
        if event.state == COMMITS and self.place.get((at, event.key), place) != place:
            self.elsewhere[event.key,] = ms

    @on(events.HalfMessageEnded)
    def is_asked(self, ms: int, at: str, event: events.HalfMessageEnded) -> Iterator[Told]:
        if not event.from_check:
            return
        self.put[event.key,] = self.put.get((event.key,), 1) - 1
        since_ms = next((one for (_, key), one in self.committed_ms.items() if key == event.key), ms)
        is_late = ms - since_ms > deadlines.end_noted(self.bounds) + deadlines.asked(self.bounds)
        if ms > since_ms and (not is_late or any(excused(self, event.key) for excused in _IN_VAIN)):
            self.elsewhere[event.key,] = ms
        if is_late:
            yield self.told(f"{at} is asked about {event.key} {ms - since_ms} ms after it was committed", event.key)
