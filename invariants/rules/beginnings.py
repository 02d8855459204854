"""Rules of where one consumer begins a queue: where the broker says, or as it is configured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.start_offset import NO_OFFSET, ConsumeFromWhere
from impl.events import OffsetAnswered, QueueTaken
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import machine_of
from invariants.rules.offset_facts import At
from invariants.rules.rule import Kept, Rule, Told, on

BROADCASTS = Excuse("the consumer broadcasts: its offsets are in a file of its own",
                    when=lambda rule, told: rule.facts.broadcasts(*told.about[:2]))


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

    The end is what the queue had when its broker said that there is no offset, or what it has now. It is computed from
    what is stored.
    """

    shipped = "violated: L11 a retry topic at its end"
    cite = "RebalancePushImpl#computePullFromWhereWithException, ConsumeFromWhere"
    about = "at group mq"
    excuses = (BROADCASTS,)

    begins = Kept("at group mq")

    @on(OffsetAnswered)
    def is_told(self, ms: int, at: str, event: OffsetAnswered) -> None:
        if event.offset == NO_OFFSET:
            key = machine_of(event.connection), *self.facts.place(at, event)
            self.begins.setdefault(key, []).append((ms, self._begin(at, *key)))

    @on(QueueTaken)
    def takes(self, ms: int, at: str, event: QueueTaken) -> Iterator[Told]:
        key = at, event.group, event.mq
        answers = _recent(self, at, event, ms)
        if not answers or any(one.offset != NO_OFFSET for one in answers):
            return
        then = [begin for told_ms, begin in self.begins[key] if told_ms >= answers[0].ms]
        begins = [*then, *(self._begin(one.at, *key) for one in answers)]
        known = sorted(begin for begin in begins if begin is not None)
        if None not in then and not known[0] <= event.offset <= known[-1]:
            sentence = f"{at} begins {queue_text(event.mq)} at {event.offset} and is to begin it at {known[-1]}"
            yield self.told(sentence, *key)

    def _begin(self, broker: str, machine: str, group: str, mq: MessageQueue) -> int | None:
        """Where a consumer is to begin what a broker has; None where one of them is not there."""
        stored = self.views.stored_at(broker, mq.topic, mq.queue_id)
        where = self.views.consume_from(machine, group)
        if stored is None or where is None:
            return None
        mode, timestamp_ms = where
        if mode == ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET or mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
            return 0
        if mode == ConsumeFromWhere.CONSUME_FROM_TIMESTAMP:
            return next((offset for ms, offset in stored.stored if ms >= timestamp_ms), stored.max_offset)
        return stored.max_offset  # the three deprecated modes are CONSUME_FROM_LAST_OFFSET
