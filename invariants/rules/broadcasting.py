"""Rules of broadcasting consumers, whose offsets are in files of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from impl.decisions.start_offset import NO_OFFSET
from impl.events import ConsumerStarted, ConsumerStopping, OffsetCorrected, OffsetReset, OffsetsWritten, QueueTaken
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Rule, Told, on


class Ended(NamedTuple):
    """How far a consumer was in a queue: below `least` all is settled; of that, `late` only just before its end.

    forgotten -- `least` is a legal offset that it was told, and has not come into the file.
    """

    least: int
    late: frozenset[int] = frozenset()
    forgotten: bool = False


class broadcaster_goes_on_where_it_ended(Rule):
    """A broadcasting consumer that ended in order, or was told a legal offset, does not begin before it.

    Who loses power may lose the file.
    """

    shipped = ("violated: L10 offsets of queues that were away, U16 a correction that is not written, "
               "X23 a read that came late, X15 a stop")
    cite = "LocalFileOffsetStore#persistAll, #persist"
    about = "at client_id group mq offset"
    excuses = (
        cause("L10", "its file was written when the queue was away",
              when=lambda rule, told: not rule.ended[told.about[:4]].forgotten
              and told.about[3] not in rule.files.get(told.about[:3], (told.about[3],))),
        cause("U16", "a corrected offset has not come into its file",
              when=lambda rule, told: rule.ended[told.about[:4]].forgotten),
        cause("X15", "a listener ended it when the consumer was about to shut down",
              when=lambda rule, told: told.about[4] in rule.ended[told.about[:4]].late),
    )

    ended = Kept("at client_id group mq", survives="kill")
    files = Kept("at client_id group", survives="kill", begins=(OffsetsWritten,),
                 value=lambda _, event: dict(event.offsets))

    @on(OffsetsWritten)
    def writes(self, _: int, at: str, event: OffsetsWritten) -> None:
        for mq, offset in event.offsets:
            key = at, event.client_id, event.group, mq
            if key in self.ended and offset >= self.ended[key].least:
                self.ended[key] = self.ended[key]._replace(forgotten=False)

    @on(ConsumerStopping)
    def stops(self, ms: int, at: str, event: ConsumerStopping) -> None:
        since_ms = ms - deadlines.updated(self.bounds)
        for key, progress in self.facts.progress.items() if self.facts.broadcasts(at, event.group) else ():
            if key[:2] == (at, event.group):
                late = frozenset(one for one, settled_ms in progress.settled_ms.items() if settled_ms > since_ms)
                self.ended[at, event.client_id, *key[1:]] = Ended(progress.all_below, late)

    @on(QueueTaken, OffsetReset, OffsetCorrected)
    def begins(self, _: int, at: str, event: QueueTaken | OffsetReset | OffsetCorrected) -> Iterator[Told]:
        key = at, event.client_id, event.group, event.mq
        if isinstance(event, OffsetCorrected) and self.facts.broadcasts(at, event.group):
            self.ended[key] = Ended(event.offset, forgotten=True)
        ended = self.ended.get(key)
        if ended is not None and event.offset < ended.least:
            yield self.told(f"{at} begins {queue_text(event.mq)} at {event.offset}, where it was at {ended.least}",
                            *key, event.offset)


class file_keeps_its_offsets(Rule):
    """What is in the file of a broadcasting consumer stays there, and goes down only when it is corrected.

    Who loses power may lose the file.
    """

    shipped = ("violated: L10 offsets of queues that were away, X16 a second process with the id, "
               "X23 a read that came late")
    cite = "LocalFileOffsetStore#persistAll"
    about = "at client_id group mq offset"
    excuses = (
        Excuse("the offset was corrected since, or reset",
               by=Match(OffsetCorrected, OffsetReset, of="at client_id group mq")),
        cause("L10", "the queue was away when the file was written", when=lambda _, told: told.about[4] == NO_OFFSET),
        cause("X16", "two consumers with one client id write it",
              when=lambda rule, told: told.about[:3] in rule.shared),
    )

    files = Kept("at client_id group", survives="kill")
    shared = Kept("at client_id group")

    @on(ConsumerStarted)
    def starts(self, _: int, at: str, event: ConsumerStarted) -> None:
        # A second consumer of the client id and group before the first one has ended: both have the file.
        running = self.facts.consumers.get((at, event.group))
        if running is not None and running.client_id == event.client_id and not self.facts.stops_now(*running[:2]):
            self.shared[at, event.client_id, event.group] = True

    @on(OffsetsWritten)
    def writes(self, ms: int, at: str, event: OffsetsWritten) -> Iterator[Told]:
        key = at, event.client_id, event.group
        before_ms, before = self.files.get(key, (ms, {}))
        self.files[key] = ms, dict(event.offsets)
        for mq, offset in before.items():
            now = self.files[key][1].get(mq, NO_OFFSET)
            if now < offset:
                has = "nothing" if now == NO_OFFSET else f"{now}"
                yield self.told(f"the file of {at} has {has} of {queue_text(mq)} after {offset}", *key, mq, now,
                                since_ms=before_ms)
