"""The checks that look at one message at a time: all that anybody did with it, in every group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from invariants.histories.checks import Finding, Problem, Told, Unjudged
from invariants.histories.context import Context
from invariants.histories.operations import (
    ACKNOWLEDGED,
    COMMITTED_HALF,
    CONSUMED,
    DELIVERED,
    FAILED,
    GIVEN_UP,
    ROLLED_BACK,
    SEND,
    SENT_BACK,
    SETTLED,
    UNKNOWN,
    Operation,
)

MAX_ATTEMPTS = 16
"""How often a message is sent back where its group says nothing (DefaultMQPushConsumerImpl#getMaxReconsumeTimes)."""


@dataclass(frozen=True, slots=True)
class Message:
    """What was done with one message: operations in order of process and number."""

    operations: tuple[Operation, ...]

    def of(self, *kinds: str, group: str | None = None) -> list[Operation]:
        """Its operations of these kinds; group -- only of this one."""
        return [one for one in self.operations if one.kind in kinds and (group is None or one.group == group)]

    @property
    def groups(self) -> list[str]:
        """The groups that it was delivered to."""
        return sorted({one.group or "" for one in self.of(DELIVERED)})

    @property
    def stored(self) -> Operation | None:
        """The operation that says where consumers find it: a delayed or half message is first stored elsewhere."""
        moved = any(one.half or one.delay_ms for one in self.of(SEND))
        known = self.of(COMMITTED_HALF) if moved else self.of(ACKNOWLEDGED)
        return next((one for one in known if one.queue is not None and one.offset is not None), None)


def judged(operations: Iterable[Operation], context: Context) -> Iterator[Told]:
    """What is to be said of one message."""
    message = Message(tuple(sorted(operations, key=lambda one: one.place)))
    yield from _problems(message)
    for check in (_lost, _phantom, _duplicated, _skipped, _unresolved, _transactions, _early, _misfiltered,
                  _dead_letters):
        yield from check(message, context)


def _problems(message: Message) -> Iterator[Problem]:
    """Operations without their beginning, numbers that are used twice, ids that are another's, clocks that go back."""
    begun: set[tuple[str, ...]] = set()
    before: Operation | None = None
    for one in message.operations:
        if before is not None and one.place == before.place:
            yield Problem(one, f"{one.process} has two operations with the number {one.seq}")
        elif (before is not None and one.process == before.process and one.clock == before.clock
              and one.time_ms is not None and before.time_ms is not None and one.time_ms < before.time_ms):
            yield Problem(one, f"the clock of {one.process} goes back from {before.time_ms} to {one.time_ms} ms")
        before = one
        key = (one.process, one.group or "", one.queue or "", str(one.offset)) if one.group else (one.process,)
        if one.kind in (SEND, DELIVERED):
            begun.add(key)
        elif one.kind in (ACKNOWLEDGED, FAILED, UNKNOWN, *SETTLED) and key not in begun:
            first = SEND if one.kind not in SETTLED else DELIVERED
            yield Problem(one, f"{one.kind} of {one.message} without its {first}")
    senders = list({one.process: one for one in message.of(SEND)}.values())
    for other in senders[1:]:
        yield Problem(other, f"{other.process} sends {other.message}, the id of a message of {senders[0].process}")


def _lost(message: Message, context: Context) -> Iterator[Told]:
    if not message.of(ACKNOWLEDGED):
        return
    stored, delivered = message.stored, message.groups
    if stored is None:
        if not delivered and not message.of(ROLLED_BACK) and (
                message.of(COMMITTED_HALF) or not any(one.half for one in message.of(SEND))):
            yield Unjudged("lost", message.of(ACKNOWLEDGED)[0], "queue and offset where consumers find it")
        return
    for group in context.groups(stored.queue or ""):
        if group not in delivered:
            yield from _missing(message, stored, group, context)


def _missing(message: Message, stored: Operation, group: str, context: Context) -> Iterator[Told]:
    """A message that a group was not delivered."""
    queue, offset = stored.queue or "", stored.offset or 0
    committed = context.committed[group, queue]
    if committed <= offset:
        return
    begins = context.assignments(group, queue)
    known = [one.offset for one in begins if one.offset is not None]
    if not known:
        yield Unjudged("lost", stored, "the offset where the group began", group)
        return
    if min(known) > offset:
        return
    tag = next((one.tag for one in message.of(SEND)), None)
    if all(subscribes(one, tag) for one in begins):
        yield Finding("lost", (stored,), f"{stored.message} was acknowledged at offset {offset} of {queue} and never "
                      f"delivered to {group}, which has committed {committed}.", group)
    elif any(subscribes(one, tag) for one in begins):
        yield Unjudged("lost", stored, "one subscription that all members of the group share", group)


def subscribes(assigned: Operation, tag: str | None) -> bool:
    """Whether the owner of a queue subscribes a tag."""
    return assigned.tags is None or selects(assigned.tags, tag)


def selects(tags: str, tag: str | None) -> bool:
    """Whether an expression, tags separated by `||` or `*`, has a tag; None: a message without one."""
    return tags.strip() == "*" or (tag is not None and tag in [one.strip() for one in tags.split("||")])


def _phantom(message: Message, context: Context) -> Iterator[Told]:
    delivered = message.of(DELIVERED)
    if not delivered:
        return
    if not context.sends:
        yield Unjudged("phantom", delivered[0], "sends")
        return
    sends, failed = message.of(SEND), message.of(FAILED)
    rolled_back = message.of(ROLLED_BACK)
    if not sends:
        why, shown = "nobody has sent it", []
    elif len(failed) >= len(sends):
        why, shown = f"its send at {failed[0].process} failed", failed[:1]
    elif rolled_back and not message.of(COMMITTED_HALF):
        why, shown = "its transaction was rolled back", rolled_back[:1]
    else:
        return
    for group in message.groups:
        first = message.of(DELIVERED, group=group)[0]
        yield Finding("phantom", (*shown, first), f"{first.message} was delivered to {first.process} of {group}, but "
                      f"{why}.", group)


def _duplicated(message: Message, context: Context) -> Iterator[Finding]:
    over: dict[tuple[str, ...], Operation] = {}
    before: dict[tuple[str, ...], list[Operation]] = defaultdict(list)
    for one in message.of(DELIVERED, *SETTLED):
        place = one.process, one.group or "", one.queue or "", str(one.offset)
        if one.kind != DELIVERED:
            if one.kind != SENT_BACK and not _ends_what_was_before(before[place], one, context):
                over[place] = one
        elif place in over and not context.is_interrupted(over[place], one):
            yield Finding("duplicated", (over[place], one), f"{one.message} at offset {one.offset} of {one.queue} is "
                          f"delivered again to {one.process}, which has "
                          f"{'consumed it' if over[place].kind == CONSUMED else 'given it up'} and kept the queue.",
                          one.group or "")
        before[place].append(one)


def _ends_what_was_before(before: list[Operation], one: Operation, context: Context) -> bool:
    """Whether it may end what was delivered before the queue changed hands: not all of that has ended yet."""
    here = [each for each in before if not context.is_restarted(each, one)]
    ended = sum(each.kind != DELIVERED for each in here)
    return sum(each.kind == DELIVERED and context.is_interrupted(each, one) for each in here) > ended


def _skipped(message: Message, context: Context) -> Iterator[Finding]:
    for group in message.groups:
        if message.of(*SETTLED, group=group):
            continue
        for one in message.of(DELIVERED, group=group):
            committed = context.committed.get((group, one.queue or ""))
            if committed is not None and one.offset is not None and committed > one.offset:
                yield Finding("skipped", (one,), f"{one.message} was delivered to {one.process} and never settled, but "
                              f"{group} has committed {committed} of {one.queue}, past its offset {one.offset}.", group)
                break


def _unresolved(message: Message, _context: Context) -> Iterator[Finding]:
    halves = message.of(ACKNOWLEDGED) if any(one.half for one in message.of(SEND)) else []
    if halves and not message.of(COMMITTED_HALF, ROLLED_BACK):
        yield Finding("unresolved", (halves[0],), f"The half message {halves[0].message} was acknowledged to "
                      f"{halves[0].process}, and neither committed nor rolled back.")


def _transactions(message: Message, context: Context) -> Iterator[Told]:
    if not any(one.half for one in message.of(SEND)):
        return
    for one, other in pairwise(message.of(COMMITTED_HALF, ROLLED_BACK)):
        if one.process == other.process and one.kind != other.kind:
            said = [_IN_WORDS[each.kind] for each in (one, other)]
            yield Finding("transaction_reordered", (one, other), f"{one.process} has {said[0]} {one.message}, and then "
                          f"it has {said[1]} it.")
    commits = message.of(COMMITTED_HALF)
    for one in message.of(DELIVERED) if commits else ():
        before = [_is_before(one, commit, context) for commit in commits]
        if all(before):
            yield Finding("transaction_reordered", (one, commits[0]), f"{one.message} was delivered to {one.process} "
                          f"before {commits[0].process} has committed it.", one.group or "")
        elif False not in before:
            yield Unjudged("transaction_reordered", one, "a clock that was read at delivery and at commit",
                           one.group or "")


_IN_WORDS = {COMMITTED_HALF: "committed", ROLLED_BACK: "rolled back"}


def _is_before(one: Operation, other: Operation, context: Context) -> bool | None:
    """Whether one operation was certainly before another; None where nobody knows."""
    if one.process == other.process:
        return one.seq < other.seq
    apart_ms = context.apart_ms(other, one)
    return None if apart_ms is None else apart_ms < 0


def _early(message: Message, context: Context) -> Iterator[Told]:
    for group in message.groups:
        delivered = message.of(DELIVERED, group=group)
        for begin in (*message.of(SEND), *message.of(SENT_BACK, group=group)):
            if (begin.delay_ms or 0) <= 0:
                continue
            for one in delivered:
                if (one.attempt or 0) == _attempt_after(begin):
                    yield from _waited(begin, one, group, context)


def _attempt_after(begin: Operation) -> int:
    return 0 if begin.kind == SEND else (begin.attempt or 0) + 1


def _waited(begin: Operation, delivered: Operation, group: str, context: Context) -> Iterator[Told]:
    apart_ms, delay_ms = context.apart_ms(begin, delivered), begin.delay_ms or 0
    if apart_ms is None:
        yield Unjudged("early", delivered, "a clock that was read at both ends", group)
    elif apart_ms < delay_ms:
        yield Finding("early", (begin, delivered), f"{delivered.message} was delivered to {delivered.process} at most "
                      f"{apart_ms} ms after {begin.process} had "
                      f"{'sent it' if begin.kind == SEND else 'sent it back'}; its "
                      f"delay is {delay_ms} ms.", group)


def _misfiltered(message: Message, context: Context) -> Iterator[Told]:
    sends = message.of(SEND)
    for one in message.of(DELIVERED):
        assigned = context.in_force(one)
        if assigned is None or subscribes(assigned, None):
            continue
        if not sends:
            yield Unjudged("misfiltered", one, "the tag of a message whose send was not observed", one.group or "")
        elif not subscribes(assigned, sends[0].tag):
            yield Finding("misfiltered", (assigned, one), f"{one.message} has the tag "
                                                          f"{sends[0].tag or '(none)'} and was "
                          f"delivered to {one.process}, which subscribes {assigned.tags}.", one.group or "")


def _dead_letters(message: Message, context: Context) -> Iterator[Told]:
    for one in message.of(DELIVERED, GIVEN_UP):
        if one.kind == DELIVERED and not one.attempt:
            continue
        assigned = context.in_force(one)
        if assigned is None or one.attempt is None:
            missing = "the number of its attempt" if assigned else "the assignment that says how many there are"
            yield Unjudged("dead_letter", one, missing, one.group or "")
            continue
        most = assigned.max_attempts
        if most is None or most < 0:
            most = None if assigned.orderly else MAX_ATTEMPTS
        if one.kind == DELIVERED and most is not None and one.attempt > most:
            yield Finding("dead_letter", (assigned, one), f"{one.message} is delivered to {one.process} after "
                                                          f"it was sent "
                          f"back {one.attempt} times; {one.group} gives up after {most}.", one.group or "")
        elif one.kind == GIVEN_UP and (most is None or one.attempt < most):
            yield Finding("dead_letter", (assigned, one), f"{one.process} gives {one.message} up after it was "
                                                          f"sent back "
                          f"{one.attempt} times; {one.group} "
                          f"{'never gives up' if most is None else f'gives up after {most}'}.", one.group or "")
