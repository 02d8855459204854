"""Rules of where one consumer begins: where the broker says, as it is configured, or where its own file ends."""

from __future__ import annotations

from calendar import timegm
from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.start_offset import NO_OFFSET, ConsumeFromWhere
from impl.events import (
    ConsumerStarted,
    ConsumerStopping,
    GroupOffsetsRemoved,
    OffsetAnswered,
    OffsetCorrected,
    OffsetReset,
    OffsetsWritten,
    QueueTaken,
)
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.offset_facts import At
from invariants.rules.rule import Kept, Rule, Told, on

BROADCASTS = Excuse("the consumer broadcasts: its offsets are in a file of its own",
                    when=lambda rule, told: rule.facts.broadcasts(*told.about[:2]))


_HALF_AN_HOUR_MS = 1_800_000
"""DefaultMQPushConsumer.consumeTimestamp: its default, so long before the consumer is made."""

def time_of_text_ms(text: str) -> int:
    """A time yyyyMMddHHmmss in UTC, as users write it, in ms since 1970."""
    return 1_000 * timegm((int(text[:4]), *(int(text[at:at + 2]) for at in range(4, 14, 2))))


class start_is_what_the_broker_answered(Rule):
    """A clustering consumer begins a queue at the offset that the broker has answered, if it has answered one.

    Any answer counts that somebody may still have waited for. After a -1 it begins as configured.
    """

    shipped = "violated: L2 an error is read as absence"
    cite = "RebalancePushImpl#computePullFromWhereWithException"
    about = "at group mq"
    excuses = (BROADCASTS,)

    @on(QueueTaken)
    def takes(self, ms: int, at: str, event: QueueTaken) -> Iterator[Told]:
        answers = _recent(self, at, event, ms)
        if not {event.offset, NO_OFFSET} & {one.offset for one in answers}:
            was_told = f"was told {answers[-1].offset}" if answers else "was told nothing"
            sentence = f"{at} begins {queue_text(event.mq)} at {event.offset} and {was_told}"
            yield self.told(sentence, at, event.group, event.mq)


def _recent(rule: Rule, at: str, event: QueueTaken, ms: int) -> Sequence[At]:
    return rule.facts.recent_answers(at, event.group, event.mq, ms - deadlines.begun(rule.bounds))


class no_offset_is_made_up(Rule):
    """A broker answers no offset of a queue where none is committed, unless all that the queue ever had is in memory.

    An answer of -1 says that there is none. Whoever is answered 0 begins at 0, whatever it is configured to do.
    """

    cite = "ConsumerManageProcessor#queryConsumerOffset"
    about = "at group topic queue_id"

    @on(OffsetAnswered)
    def answers(self, _: int, at: str, event: OffsetAnswered) -> Iterator[Told]:
        committed = (event.topic, event.queue_id) in self.views.committed(at, event.group)
        stored = self.views.stored_at(at, event.topic, event.queue_id)
        is_old = stored is not None and (stored.min_offset > 0 or stored.on_disk)
        if event.offset != NO_OFFSET and is_old and not committed:
            sentence = f"{at} answers {event.offset} for queue {event.queue_id} of {event.topic}"
            yield self.told(f"{sentence}, where {event.group} has none", at, event.group, event.topic, event.queue_id)


class new_group_begins_where_it_is_to(Rule):
    """A group without an offset begins a queue as configured, at its end, its begin or a time; a retry topic at 0.

    A time is what the user of the consumer has set, to the second, or else half an hour before the consumer started.
    The end is what the queue had when its broker said that there is no offset, or what it has now. It is computed from
    what is stored. A broker that says 0 where nothing is committed says that there is no offset, too, if the queue had
    messages already when it was asked for the first time by a group of which it has no offset of the topic.
    """

    shipped = "violated: X24 a young queue at 0, L11 a retry topic at its end, V28 the time that is nearest"
    cite = "RebalancePushImpl#computePullFromWhereWithException, ConsumeFromWhere"
    about = "at group mq"
    excuses = (BROADCASTS,)

    # What the clocks of consumers said when they started, in ms since 1970.
    started = Kept("at group")
    begins = Kept("at group mq")
    older = Kept("at group topic", ends=(GroupOffsetsRemoved,))

    @on(ConsumerStarted)
    def starts(self, _: int, at: str, event: ConsumerStarted) -> None:
        for one in self.views.consumers():
            if (one.machine, one.group) == (at, event.group):
                self.started[at, event.group] = one.now_ms

    @on(OffsetAnswered)
    def is_told(self, ms: int, at: str, event: OffsetAnswered) -> None:
        group = at, event.group, event.topic
        committed = {queue_id for topic, queue_id in self.views.committed(at, event.group) if topic == event.topic}
        if group not in self.older:
            self.older[group] = [] if committed else self._filled(at, event)
        is_none = event.offset == NO_OFFSET or event.queue_id in {*self.older[group]} - committed
        for place in self.facts.places(at, event) if is_none else ():
            key = machine_of(event.connection), *place
            self.begins.setdefault(key, []).append((ms, at, self._begin(at, *key)))

    def _filled(self, broker: str, event: OffsetAnswered) -> list[int]:
        """The queues of the topic that have messages."""
        ends = self.views.queue_units(broker)
        return [queue_id for topic, queue_id in ends if topic == event.topic and ends[topic, queue_id][1] > 0]

    @on(QueueTaken)
    def takes(self, ms: int, at: str, event: QueueTaken) -> Iterator[Told]:
        key = at, event.group, event.mq
        answers, none = _recent(self, at, event, ms), self.begins.get(key, ())
        if not answers or not {(one.ms, one.at) for one in answers} <= {one[:2] for one in none}:
            return
        then = [begin for told_ms, _, begin in none if told_ms >= answers[0].ms]
        begins = [*then, *(self._begin(one.at, *key) for one in answers)]
        known = sorted(begin for begin in begins if begin is not None)
        if None not in then and not known[0] <= event.offset <= known[-1]:
            sentence = f"{at} begins {queue_text(event.mq)} at {event.offset} and is to begin it at {known[-1]}"
            yield self.told(sentence, *key)

    def _begin(self, broker: str, machine: str, group: str, mq: MessageQueue) -> int | None:
        """Where a consumer is to begin what a broker has; None where one of them is not there.

        None also where it is to begin at a time, and the clock of the broker has gone back.
        """
        stored = self.views.stored_at(broker, mq.topic, mq.queue_id)
        where = self.views.consume_from(machine, group)
        if stored is None or where is None:
            return None
        mode, time = where
        if mode == ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET or mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
            return 0
        if mode == ConsumeFromWhere.CONSUME_FROM_TIMESTAMP:
            since_ms = self._since_ms(machine, group, time)
            return None if since_ms is None else self.views.first_stored(broker, mq.topic, mq.queue_id, since_ms)
        return stored.max_offset  # the three deprecated modes are CONSUME_FROM_LAST_OFFSET

    def _since_ms(self, machine: str, group: str, time: str) -> int | None:
        """The time at which a group is to begin, in ms since 1970; None: its consumer has not started."""
        if time:
            return time_of_text_ms(time)
        started_ms: int | None = self.started.get((machine, group))
        return None if started_ms is None else (started_ms - _HALF_AN_HOUR_MS) // 1_000 * 1_000


class Ended(NamedTuple):
    """How far a consumer was in a queue at a time: below `least` all is settled; of that, `late` only just before.

    corrected -- `least` is a legal offset that it was told. written -- it has come into the file since.
    """

    ms: int
    least: int
    late: frozenset[int] = frozenset()
    corrected: bool = False
    written: bool = False

    @property
    def forgotten(self) -> bool:
        """Whether it is a legal offset that has not come into the file."""
        return self.corrected and not self.written


class broadcaster_goes_on_where_it_ended(Rule):
    """A broadcasting consumer that ended in order, or was told a legal offset, does not begin before it.

    Who loses power may lose the file.
    """

    shipped = ("violated: L10 offsets of queues that were away, U16 a correction that is not written, "
               "X23 a read that came late, X15 a stop")
    cite = "LocalFileOffsetStore#persistAll, #persist"
    about = "at client_id group mq offset"
    excuses = (
        Excuse("there was no room on its disk for the file", when=lambda rule, told: rule.had_no_room(told)),
        cause("L10", "its file was written when the queue was away",
              when=lambda rule, told: not rule.ended[told.about[:4]].forgotten and told.about[:4] in rule.away),
        cause("U16", "a corrected offset has not come into its file",
              when=lambda rule, told: rule.ended[told.about[:4]].forgotten),
        cause("X15", "a listener ended it when the consumer was about to shut down",
              when=lambda rule, told: told.about[4] in rule.ended[told.about[:4]].late),
    )

    ended = Kept("at client_id group mq", survives="kill")
    # Queues that their client did not have when it wrote its file, and that are not in the file.
    away = Kept("at client_id group mq", survives="kill")

    def had_no_room(self, told: Told) -> bool:
        """Whether the disk was full since the file should have been written."""
        ended = self.ended[told.about[:4]]
        return not ended.written and self.facts.had_no_room(told.about[0], ended.ms, inf)

    @on(OffsetsWritten)
    def writes(self, ms: int, at: str, event: OffsetsWritten) -> None:
        written, held = dict(event.offsets), self.facts.holdings
        for key in [key for key in self.ended if key[:3] == (at, event.client_id, event.group)]:
            self.away.pop(key, None)
            if key[3] not in written and key not in held:
                self.away[key] = ms
        for mq, offset in event.offsets:
            key = at, event.client_id, event.group, mq
            if key in self.ended and offset >= self.ended[key].least:
                self.ended[key] = self.ended[key]._replace(written=True)

    @on(ConsumerStopping)
    def stops(self, ms: int, at: str, event: ConsumerStopping) -> None:
        since_ms = ms - deadlines.updated(self.bounds)
        for key, progress in self.facts.progress.items() if self.facts.broadcasts(at, event.group) else ():
            if key[:2] == (at, event.group):
                late = frozenset(one for one, settled_ms in progress.settled_ms.items()
                                 if settled_ms + self.facts.stood_still_ms(at, settled_ms) > since_ms)
                self.ended[at, event.client_id, *key[1:]] = Ended(ms, progress.all_below, late)

    @on(QueueTaken, OffsetReset, OffsetCorrected)
    def begins(self, ms: int, at: str, event: QueueTaken | OffsetReset | OffsetCorrected) -> Iterator[Told]:
        key = at, event.client_id, event.group, event.mq
        if isinstance(event, OffsetCorrected) and self.facts.broadcasts(at, event.group):
            self.ended[key] = Ended(ms, event.offset, corrected=True)
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
        cause("L10", "the queue was away when the file was written, or shortly before",
              when=lambda rule, told: told.about[4] == NO_OFFSET and rule.was_away(told)),
        cause("X16", "two consumers with one client id write it",
              when=lambda rule, told: told.about[:3] in rule.shared),
    )

    files = Kept("at client_id group", survives="kill")
    shared = Kept("at client_id group")

    def was_away(self, told: Told) -> bool:
        """Whether the client has not had the queue all the time since it wrote the file before."""
        at, client_id, group, mq, _ = told.about
        taken = self.past.last(QueueTaken, at=at, client_id=client_id, group=group, mq=mq)
        held = (at, client_id, group, mq) in self.facts.holdings
        return taken is None or not held or taken.ms >= (told.since_ms or 0)

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
