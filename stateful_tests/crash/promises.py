"""What a crash must not break: the promises of a store, and how an outcome breaks them.

A kind of loss that people know by another name: *phantom* is a unit or a record that nobody has put
(`unit_names_its_record`, `recovery_is_a_prefix`), *index hole* is `key_is_found`.
"""

from __future__ import annotations

from collections.abc import Iterator

from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from stateful_tests.crash.known import Known, Message
from stateful_tests.crash.recovery import Outcome, Recovered

STARTS, ENDS, IDEMPOTENT = "store_starts_after_crash", "start_ends_after_crash", "recovery_is_idempotent"
SURVIVES, PREFIX, GONE = "acknowledged_survives_crash", "recovery_is_a_prefix", "gone_message_stays_gone"
NAMES, MISSED, CONSECUTIVE = "unit_names_its_record", "no_record_is_missed", "queue_offsets_are_consecutive"
KEYS, TIMES, EARLY = "key_is_found", "time_leads_to_its_first_message", "delayed_message_is_not_early"
LIVES = "store_does_what_it_is_asked"
PROPERTIES = {
    LIVES: "Without a crash messages are taken that may be, records are read, starts succeed, and an index counts its "
           "slots.",
    STARTS: "After a crash no start is refused.",
    ENDS: "After a crash recovery and start come to an end.",
    SURVIVES: "A message that was acknowledged before a crash is at its queue offset after it.",
    PREFIX: "After a crash the log has the first records that were put, each as it was, and nothing else.",
    GONE: "A message that a recovery has cut off, or that clean-up has taken away, does not come back.",
    NAMES: "After a crash each unit of a queue leads to the message that was given this queue offset.",
    MISSED: "After a crash each record of the log is in its queue.",
    CONSECUTIVE: "After a crash the next queue offset is the one behind the last message of the queue.",
    KEYS: "After a crash each record of the log is found by its keys.",
    EARLY: "After a crash a delayed message is due when it was due before.",
    TIMES: "A search by time leads to the first message of the queue that was stored then.",
    IDEMPOTENT: "A store that is killed right after its recovery recovers to the same.",
}
"""Property to its sentence."""


def broken(found: Outcome, known: Known) -> dict[str, str]:
    """The properties that an outcome breaks, each with a sentence; known -- when the crash came.

    Of a store that does not start nothing else is said: its files are as they were.
    """
    first, again = found
    if first.refused:
        return {ENDS if first.is_endless else STARTS: first.refused}
    back = {message.offset: message for message in known.gone if _is_in_log(first, message)}
    there = {**known.log, **back}
    told = {
        SURVIVES: _lost(first, known), PREFIX: _no_prefix(first, known, back), GONE: _back(back),
        NAMES: _wrong_units(first, there), MISSED: _missed(first, there), CONSECUTIVE: _shifted(first, known, there),
        KEYS: _not_found(first, there), EARLY: _early(first, there), TIMES: _not_at_its_time(first, there),
        IDEMPOTENT: _changed(first, again)}
    return {name: sentence for name, sentences in told.items() if (sentence := next(sentences, ""))}


def _is_in_log(first: Recovered, message: Message) -> bool:
    return (message.offset, message.record) in first.log


def _lost(first: Recovered, known: Known) -> Iterator[str]:
    """The acknowledged messages that are not where they were, a sentence each."""
    log = dict(first.log)
    for message in known.acknowledged:
        unit = first.units.get(message.queue, {}).get(message.queue_offset)
        if log.get(message.offset) != message.record:
            yield f"{message} was acknowledged, and the log does not have it"
        elif unit is None or (unit.offset, unit.size) != (message.offset, len(message.record)):
            yield f"{message} was acknowledged, and its queue does not lead to it"


def _no_prefix(first: Recovered, known: Known, back: dict[int, Message]) -> Iterator[str]:
    """What is leaving may be missing; of what is back `_back` tells."""
    put = sorted(known.log.values(), key=lambda message: message.offset)
    place = 0
    for offset, record in first.log:
        if offset in back:
            continue
        while place < len(put) and put[place].offset < offset and put[place] in known.leaving:
            place += 1
        if place >= len(put) or put[place].offset != offset:
            yield f"the log has a record at {offset}, and not all that were put before it"
        elif put[place].record != record:
            yield f"{put[place]} is in the log with other bytes than were put"
        place += 1


def _back(back: dict[int, Message]) -> Iterator[str]:
    for message in back.values():
        yield f"{message} was gone after a recovery or a clean-up, and is in the log again"


def _wrong_units(first: Recovered, there: dict[int, Message]) -> Iterator[str]:
    log = dict(first.log)
    for queue, units in first.units.items():
        for place, unit in units.items():
            message = there.get(unit.offset)
            where = f"unit {place} of {queue[0]}-{queue[1]}"
            if message is None or log.get(unit.offset) != message.record or unit.size != len(message.record):
                yield f"{where} leads to {unit.offset}, where no such message is"
            elif (*message.queue, message.queue_offset) != (*queue, place):
                yield f"{where} leads to {message}"
            elif unit.tags_code != message.tags_code and message.topic != RMQ_SYS_SCHEDULE_TOPIC:
                yield f"{where} has another code of its tags"


def _early(first: Recovered, there: dict[int, Message]) -> Iterator[str]:
    """In the queue of a level, the code of tags is when a message is due."""
    for (topic, _), units in first.units.items():
        for unit in units.values() if topic == RMQ_SYS_SCHEDULE_TOPIC else ():
            message = there.get(unit.offset)
            if message is not None and unit.size == len(message.record) and unit.tags_code < message.tags_code:
                yield f"{message} is due {message.tags_code - unit.tags_code:,} ms early"


def _missed(first: Recovered, there: dict[int, Message]) -> Iterator[str]:
    for offset, _ in first.log:
        message = there.get(offset)
        if message is not None and all(
                unit.offset != offset for unit in first.units.get(message.queue, {}).values()):
            yield f"{message} is in the log, and not in its queue"


def _shifted(first: Recovered, known: Known, there: dict[int, Message]) -> Iterator[str]:
    """The queue offsets of what clean-up has taken away stay used; of what it was just taking away they may."""
    expected = dict.fromkeys(first.next_offsets, 0) | known.expired
    for offset, _ in first.log:
        message = there.get(offset)
        if message is not None:
            expected[message.queue_name] = max(message.queue_offset + 1, known.expired.get(message.queue_name, 0))
    for queue, offset in expected.items():
        actual = first.next_offsets.get(queue, 0)
        if not offset <= actual <= max(offset, known.expiring.get(queue, 0)):
            how = "is given away twice" if actual < offset else "is passed over"
            yield f"the next message of {queue} gets queue offset {actual}, so that {min(actual, offset)} {how}"


def _not_found(first: Recovered, there: dict[int, Message]) -> Iterator[str]:
    for offset, _ in first.log:
        message = there.get(offset)
        for key in () if message is None else message.keys:
            if offset not in first.found[message.topic, key]:  # type: ignore[union-attr]  # it has keys
                yield f"{message} is in the log, and not found by its key {key}"


def _not_at_its_time(first: Recovered, there: dict[int, Message]) -> Iterator[str]:
    """Searches in queues that are as they were; of others nothing is said here."""
    earliest: dict[tuple[str, int, int], Message] = {}
    for _, message in sorted(there.items()):
        unit = first.units.get(message.queue, {}).get(message.queue_offset)
        if unit is not None and (unit.offset, unit.size) == (message.offset, len(message.record)):
            earliest.setdefault((*message.queue, message.store_timestamp), message)
    for time, message in earliest.items():
        if first.times[time] != message.queue_offset and _is_whole(first, there, message):
            yield f"a search by the time of {message} leads to message {first.times[time]}"


def _is_whole(first: Recovered, there: dict[int, Message], message: Message) -> bool:
    """Whether each unit of a message's queue leads to its message."""
    expected = {one.queue_offset: (one.offset, len(one.record)) for one in there.values() if one.queue == message.queue}
    return all((unit.offset, unit.size) == expected.get(place) for place, unit in first.units[message.queue].items())


def _changed(first: Recovered, again: Recovered | None) -> Iterator[str]:
    if again is None or again == first:
        return
    names = [name for name, one, other in zip(Recovered._fields, first, again, strict=True) if one != other]
    yield f"a second recovery {'does not start' if again.refused else 'has other ' + ' and '.join(names)}"
