"""Rules of the threads that listeners have, and of messages that they keep."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from invariants.rules import deadlines
from invariants.rules.answers import NEVER
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.rules.weather import a_broker_was_away


class listeners_have_their_threads(Rule):
    """No more listeners of a consumer are at work at once than its user gives threads to them.

    A thread whose listener does not return is lost, and none takes its place.
    """

    cite = "ConsumeMessageConcurrentlyService, ConsumeMessageOrderlyService: consumeExecutor, whose queue has no end"
    about = "at group"

    at_work = Kept("at group mq offsets", ends=(events.ConsumerStarted,))  # one of a queue that is worked on in order

    @on(events.MessagesGiven)
    def gives(self, ms: int, at: str, event: events.MessagesGiven) -> Iterator[Told]:
        self.at_work[at, event.group, event.mq, () if event.orderly else event.offsets] = ms
        busy = sum(key[:2] == (at, event.group) for key in self.at_work)
        most = self.views.consume_threads(at, event.group)
        if most is not None and busy > most:
            yield self.told(f"{busy} listeners of {event.group} are at work at {at}, which has {most} threads for them",
                            at, event.group)

    @on(events.MessagesAnswered)
    def answers(self, _: int, at: str, event: events.MessagesAnswered) -> None:
        for offsets in ((), event.offsets) if NEVER not in event.answers else ():
            self.at_work.pop((at, event.group, event.mq, offsets), None)


class message_expires_under_its_listener(Rule):
    """Where nothing fails a message is taken from a listener that has had it for longer than its user allows.

    Of each queue only the first message is looked at, once in that time.
    """

    cite = "ConsumeMessageConcurrentlyService#cleanExpireMsg, ProcessQueue#cleanExpiredMsg: consumeTimeout"
    about = "at group mq offset"
    calm = True
    excuses = (Excuse("a broker was away, and may take nothing back", when=a_broker_was_away),)

    had_ms = Kept("at group mq offset", ends=(events.ConsumerStarted, events.QueueDropped,
                                              Match(events.OffsetReset, of="at group mq")))

    @on(events.MessagesGiven)
    def gives(self, ms: int, at: str, event: events.MessagesGiven) -> None:
        if not event.orderly:
            self.had_ms.update({(at, event.group, event.mq, offset): ms for offset in event.offsets})

    @on(events.MessagesAnswered)
    def answers(self, _: int, at: str, event: events.MessagesAnswered) -> None:
        if NEVER not in event.answers:
            self._take(at, event)

    @on(events.MessagesExpired)
    def expires(self, _: int, at: str, event: events.MessagesExpired) -> None:
        self._take(at, event)

    def _take(self, at: str, event: events.MessagesAnswered | events.MessagesExpired) -> None:
        for offset in event.offsets:
            self.had_ms.pop((at, event.group, event.mq, offset), None)

    def look(self, now_ms: int) -> Iterator[Told]:
        """See who has kept the first message of a queue."""
        for (at, group, mq, offset), since_ms in self.had_ms.items():
            timeout_ms = self.views.consume_timeout_ms(at, group)
            if timeout_ms is None or now_ms - since_ms <= deadlines.taken_from_listener(timeout_ms)(self.bounds):
                continue
            cache = self.views.cache(at, group, mq)
            if cache is not None and offset == cache.first:
                yield self.told(f"a listener of {at} has had {offset} of {queue_text(mq)} for {now_ms - since_ms} ms, "
                                f"and may have it for {timeout_ms} ms", at, group, mq, offset, since_ms=since_ms)
