"""What the units of queues say of messages, so that filters and delays need not read the log."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from impl import events
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, cause
from invariants.rules.match import Match
from invariants.rules.rule import Rule, Told, after
from invariants.rules.stored_queues import KILLED
from invariants.views.values import Dispatched


@lru_cache
def java_hash(text: str) -> int:
    """String#hashCode: of the UTF-16 units of a text, as an int with its sign."""
    found, data = 0, text.encode("utf-16-be", "surrogatepass")
    for place in range(0, len(data), 2):
        found = 31 * found + int.from_bytes(data[place:place + 2])
    return (found + 2**31) % 2**32 - 2**31


def _due_code(record: Dispatched) -> int:
    """What stands in the queue: the hash of the tags, or when the delay of the message is over, in ms."""
    if record.topic == RMQ_SYS_SCHEDULE_TOPIC:
        return record.stored_ms + deadlines.LEVELS_MS[record.queue_id]
    return java_hash(record.tags or "")


def _has_recovered(rule: Rule, told: Told) -> bool:
    """Whether the message is delayed, and its store has recovered from a crash."""
    at, topic, _ = told.about
    return topic == RMQ_SYS_SCHEDULE_TOPIC and any(
        not one.event.last_exit_ok for one in rule.past.of(events.StoreLoaded, at=at))


class unit_has_the_code_of_its_record(Rule):
    """A unit has the hash of the tags of its record; in SCHEDULE_TOPIC_XXXX it has the time when the delay is over.

    A filter by tags looks at nothing else before a message is sent, and a delay ends at that time.
    """

    shipped = "violated: V3 a unit for no record, V5 what recovery dispatches is due at once, V8 a unit is torn"
    cite = "CommitLog#checkMessageAndReturnSize, ConsumeQueue#putMessagePositionInfo"
    about = "at topic queue_id"
    excuses = (
        KILLED,
        cause("V5", "the message is delayed, and its store has recovered from a crash", when=_has_recovered),
        cause("V8", "its machine lost its power", lasts=FOR_EVER,
              by=Match(events.ProcessKilled, of="at", having=lambda event: event.power_loss)),
    )

    @after(events.MessageDispatched)
    def dispatched(self, _: int, at: str, event: events.MessageDispatched) -> Iterator[Told]:
        for record in islice(self.views.dispatched(at, event.commit_log_offset), 1):
            yield from self._judged(at, record)

    @after(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> Iterator[Told]:
        del event
        wrong = [one for record in self.views.dispatched(at) for one in self._judged(at, record)]
        yield from {one.about: one for one in reversed(wrong)}.values()

    def _judged(self, at: str, record: Dispatched) -> Iterator[Told]:
        """Of a queue that leads to the record; what else it leads to is told by another rule."""
        if self.views.queue_unit(at, *record[1:4]) != record.commit_log_offset:
            return
        found, due = self.views.unit_code(at, *record[1:4]), _due_code(record)
        if found != due:
            yield self.told(f"unit {record.queue_offset} of queue {record.queue_id} of {record.topic} at {at} has the "
                            f"code {found}, and {due} is that of its record", at, record.topic, record.queue_id)
