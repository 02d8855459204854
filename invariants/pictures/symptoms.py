"""What users see of a finding: the next event that shows it, what its numbers leave no doubt of, or what is known."""

from __future__ import annotations

from collections.abc import Mapping

from impl import events as e
from impl.events.sentences import Words
from impl.events.sentences.words import spans
from invariants.finding import Finding
from invariants.pictures.log import Log, agree
from invariants.pictures.marks import SEEN
from invariants.pictures.moments import Moments
from invariants.pictures.rows import Row

FOLLOWS: Mapping[type, tuple[type, ...]] = {
    e.QueueTaken: (e.MessagesFound, e.ListenerStarted), e.LockBelieved: (e.ListenerStarted, e.MessagesFound),
    e.LockGranted: (e.ListenerStarted, e.MessagesFound), e.SubscriptionRemoved: (e.PullAnswered,),
    e.BrokerUnregistered: (e.RouteDenied,), e.BrokerDropped: (e.RouteDenied,), e.BrokerLiveRemoved: (e.RouteDenied,),
    e.BrokerRegistered: (e.RouteDenied,), e.RegistrationAnswered: (e.RouteDenied,),
    e.GoodbyeTaken: (e.ConsumerRemoved,), e.RetryTopicAnnounced: (e.ConsumerRegistered,),
    e.ConsumerRemoved: (e.QueueTaken,), e.GroupRemoved: (e.QueueDropped,),
}
"""By the class of the event that showed a finding: the events in which people meet it, about the same things."""
_SOON_MS = 150_000
_THINGS = ("queue", "group", "topic")
_REFUSED = 23  # PullResult: this code and those above are refusals of the subscription


def seen(log: Log, words: Words, at: Moments, users: str, found: Finding) -> Row | None:
    """The row of what users see, if the run says so, or anybody knows.

    at -- the moments of the finding. users -- what they see of it in general; empty: nobody knows.
    """
    in_run = None if at.shown is None else _in_run(log, words, at, at.shown)
    if in_run is not None or not users:
        return in_run
    end = len(log.records) if found.position < 0 else found.position
    return Row(end + 0.5, found.time_ms, "", f"what users see of such a run: {users}", mark=SEEN)


def _in_run(log: Log, words: Words, at: Moments, shown: int) -> Row | None:
    """The row of what the run itself shows of it."""
    text = _by_numbers(log, words, shown, at.earlier)
    if text:
        ms, where, _ = log.records[shown]
        return Row(shown + 0.25, ms, where, text, mark=SEEN)
    place = _next(log, shown)
    if place is None:
        return None
    ms, where, event = log.records[place]
    return Row(place, ms, where, words.sentence(where, event), mark=SEEN, several=words.several(event), event=event)


def _by_numbers(log: Log, words: Words, shown: int, earlier: int | None) -> str:
    """What offsets leave no doubt of: messages that come again."""
    _, where, event = log.records[shown]
    before = None if earlier is None else log.records[earlier][2]
    if before is None or not agree(log.things(shown), log.things(earlier or 0), ("queue",)):
        return ""
    if isinstance(event, e.OffsetCommitted) and isinstance(before, e.OffsetCommitted) and before.offset > event.offset:
        return f"whoever takes the queue next begins at {event.offset}, and gets {_again(event.offset, before.offset)}"
    if isinstance(event, e.QueueTaken) and isinstance(before, e.MessagesSettled):
        again = [one for one in before.offsets if one >= event.offset]
        return f"{where} gets the messages {spans(again)} a second time" if again else ""
    if isinstance(event, e.QueueTaken) and isinstance(before, e.QueueTaken) and before.client_id != event.client_id:
        return _of_two(log, words, shown, earlier or 0)
    return ""


def _of_two(log: Log, words: Words, shown: int, earlier: int) -> str:
    """Two have taken a queue: they both pull it, or the second one leaves out what is between their offsets."""
    (_, first, before), (_, second, event) = log.records[earlier], log.records[shown]
    things = log.things(earlier)
    over = log.last((e.QueueDropped, e.ProcessKilled, e.ConsumerShutDown), shown, lambda place: place > earlier and (
        agree(things, log.things(place), ("queue",)) or "queue" not in log.things(place)), first)
    if over is None:
        return f"{second} and {words.client(before.client_id)} both pull the queue: each message goes to both"
    left_out = range(before.offset, event.offset)
    return f"{second} is not given the messages {spans(left_out)}" if left_out else ""


def _again(begin: int, end: int) -> str:
    return f"the message{'s' * (end - begin > 1)} {spans(range(begin, end))} a second time"


def _next(log: Log, shown: int) -> int | None:
    """The first event after the finding in which people meet it."""
    ms, at, event = log.records[shown]
    kinds, things = FOLLOWS.get(event.__class__, ()), log.things(shown)
    same = [name for name in _THINGS if name in things][:1]
    for place in range(shown + 1, len(log.records)):
        later_ms, where, later = log.records[place]
        if later_ms - ms > _SOON_MS:
            return None
        if later.__class__ in kinds and agree(things, log.things(place), same) and _shows(at, where, later):
            return place
    return None


def _shows(at: str, where: str, later: object) -> bool:
    if isinstance(later, e.PullAnswered):
        return later.code >= _REFUSED
    return at == where if isinstance(later, e.MessagesFound | e.ListenerStarted) else True
