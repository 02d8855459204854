"""The checks of histories again, written from their sentences: every operation is compared with every other.

It shares the format with `invariants.histories`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from invariants.histories.operations import Operation

Said = tuple[str, str, str, str, int]
"""Found or unjudged; the check; the group; process and number of the operation where it shows."""
History = Sequence[Operation]
_CHANGES = ("assigned", "revoked", "restarted")


def said(history: History, agree_ms: int | None = None) -> set[Said]:
    """Everything that the checks have to say of a history."""
    return {one for check in _CHECKS for one in check(history)} | {
        one for check in (_early, _two_owners, _transaction_reordered) for one in check(history, agree_ms)}


def _found(check: str, one: Operation, group: str | None = None) -> Said:
    return "found", check, group or "", one.process, one.seq


def _unjudged(check: str, one: Operation, group: str | None = None) -> Said:
    return "unjudged", check, group or "", one.process, one.seq


def _of(history: History, kinds: str, message: str | None) -> list[Operation]:
    """Operations on a message, by process and number."""
    return sorted((one for one in history if one.kind in kinds.split() and one.message == message),
                  key=lambda one: (one.process, one.seq))


def _same(one: Operation, other: Operation, *names: str) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _changed(history: History, one: Operation, other: Operation) -> bool:
    """Whether the queue changed hands, or the process restarted, after the one and not after the other."""
    return any(change.kind in _CHANGES and change.process == other.process and one.seq < change.seq <= other.seq
               and (change.kind == "restarted" or _same(change, other, "group", "queue")) for change in history)


def _assignment(history: History, one: Operation) -> Operation | None:
    """The latest assignment of the queue to the process."""
    found = [other for other in history if other.kind == "assigned" and other.seq <= one.seq
             and _same(other, one, "process", "group", "queue")]
    return max(found, key=lambda other: other.seq, default=None)


def _wants(assigned: Operation, tag: str | None) -> bool:
    return assigned.tags in (None, "*") or tag in [one.strip() for one in (assigned.tags or "").split("||")]


def _messages(history: History) -> set[str | None]:
    return {one.message for one in history if one.message is not None}


def _groups(history: History) -> set[str]:
    return {one.group for one in history if one.kind == "committed" and one.group is not None}


def _lost(history: History) -> Iterator[Said]:
    for message in _messages(history):
        acknowledged, sends = _of(history, "acknowledged", message), _of(history, "send", message)
        if not acknowledged:
            continue
        half = any(one.half for one in sends)
        moved = half or any(one.delay_ms for one in sends)
        known = _of(history, "half_committed", message) if moved else acknowledged
        placed = [one for one in known if one.queue is not None and one.offset is not None]
        delivered = {one.group for one in _of(history, "delivered", message)}
        if placed:
            for group in _groups(history) - delivered:
                yield from _owed(history, placed[0], sends[0].tag if sends else None, group)
        elif not delivered and not _of(history, "half_rolled_back", message) and (
                not half or _of(history, "half_committed", message)):
            yield _unjudged("lost", acknowledged[0])


def _owed(history: History, stored: Operation, tag: str | None, group: str) -> Iterator[Said]:
    offset = stored.offset or 0
    mine = [one for one in history if one.group == group and one.queue == stored.queue]
    if not any(one.kind == "committed" and (one.offset or 0) > offset for one in mine):
        return
    begun = [one for one in mine if one.kind == "assigned"]
    if all(one.offset is None for one in begun):
        yield _unjudged("lost", stored, group)
    elif any(one.offset is not None and one.offset <= offset for one in begun):
        if all(_wants(one, tag) for one in begun):
            yield _found("lost", stored, group)
        elif any(_wants(one, tag) for one in begun):
            yield _unjudged("lost", stored, group)


def _phantom(history: History) -> Iterator[Said]:
    observed = any(one.kind == "send" for one in history)
    for message in _messages(history):
        delivered = _of(history, "delivered", message)
        if delivered and not observed:
            yield _unjudged("phantom", delivered[0])
            continue
        failed = len(_of(history, "failed", message)) >= len(_of(history, "send", message))
        rolled_back = _of(history, "half_rolled_back", message) and not _of(history, "half_committed", message)
        if failed or rolled_back:
            for group in dict.fromkeys(one.group for one in delivered):
                yield _found("phantom", next(one for one in delivered if one.group == group), group)


def _duplicated(history: History) -> Iterator[Said]:
    for one in history:
        for over in history:
            if (one.kind == "delivered" and over.kind in ("consumed", "given_up") and over.seq < one.seq
                    and _same(one, over, "process", "group", "queue", "offset", "message")
                    and not _changed(history, over, one) and not _is_of_a_former_holding(history, over)):
                yield _found("duplicated", one, one.group)


def _is_of_a_former_holding(history: History, over: Operation) -> bool:
    """Of what the process was delivered before the queue changed hands less has ended than was delivered."""
    here = [one for one in history if one.seq < over.seq
            and _same(one, over, "process", "group", "queue", "offset", "message") and not any(
                other.kind == "restarted" and other.process == over.process and one.seq < other.seq <= over.seq
                for other in history)]
    former = [one for one in here if one.kind == "delivered" and _changed(history, one, over)]
    return len(former) > len([one for one in here if one.kind in ("consumed", "sent_back", "given_up")])


def _reordered(history: History) -> Iterator[Said]:
    orderly = {one.group for one in history if one.kind in _CHANGES and one.orderly}
    for one in history:
        for other in history:
            if (one.group in orderly and one.kind == "delivered" and other.kind == "consumed" and other.seq < one.seq
                    and _same(one, other, "process", "group", "queue") and (one.offset or 0) < (other.offset or 0)
                    and not _changed(history, other, one) and _was_delivered_since(history, other)):
                yield _found("reordered", one, one.group)
    for one in history:
        if one.kind in ("acknowledged", "half_committed") and one.key is not None:
            yield from _out_of_key(history, one)


def _was_delivered_since(history: History, consumed: Operation) -> bool:
    """Whether the member was delivered so much of the queue since it has it."""
    return any(one.kind == "delivered" and one.seq < consumed.seq and (one.offset or 0) >= (consumed.offset or 0)
               and _same(one, consumed, "process", "group", "queue") and not _changed(history, one, consumed)
               for one in history)


def _out_of_key(history: History, one: Operation) -> Iterator[Said]:
    """A message of a key that stands before the one of which the place was told last when its send began."""
    mine = sorted((other for other in history if _same(one, other, "process", "key")), key=lambda other: other.seq)
    if not (begin := _begin(mine, one)):
        return
    earlier = [other for other in mine if other.seq < begin.seq and _begin(mine, other)]
    if earlier and (earlier[-1].queue != one.queue or (earlier[-1].offset or 0) > (one.offset or 0)):
        yield _found("reordered", one)


def _begin(mine: History, told: Operation) -> Operation | None:
    """The send of a message of which an operation tells where it stands, if nothing else has ended it."""
    own = [one for one in mine if one.message == told.message and one.seq < told.seq and one.kind in (
        "send", "acknowledged", "failed", "unknown", "half_committed", "half_rolled_back")]
    begin = max((one for one in own if one.kind == "send"), key=lambda one: one.seq, default=None)
    if begin is None or begin.delay_ms or told.queue is None or told.offset is None:
        return None
    if told.kind != ("half_committed" if begin.half else "acknowledged"):
        return None
    ends = [one for one in own if one.seq > begin.seq and not (begin.half and one.kind == "acknowledged")]
    return None if ends else begin


def _skipped(history: History) -> Iterator[Said]:
    for message in _messages(history):
        delivered = _of(history, "delivered", message)
        settled = {one.group for one in _of(history, "consumed sent_back given_up", message)}
        for group in dict.fromkeys(one.group for one in delivered if one.group not in settled):
            passed = [one for one in delivered if one.group == group and any(
                other.kind == "committed" and _same(other, one, "group", "queue")
                and (other.offset or 0) > (one.offset or 0) for other in history)]
            if passed:
                yield _found("skipped", passed[0], group)


def _regressed(history: History) -> Iterator[Said]:
    for one in history:
        before = [other for other in history if one.kind == other.kind == "committed" and other.seq < one.seq
                  and _same(one, other, "process", "group", "queue") and not _changed(history, other, one)]
        latest = max(before, key=lambda other: other.seq, default=one)
        if (latest.offset or 0) > (one.offset or 0):
            yield _found("regressed", one, one.group)


def _unresolved(history: History) -> Iterator[Said]:
    for message in _messages(history):
        acknowledged = _of(history, "acknowledged", message)
        ended = _of(history, "half_committed half_rolled_back", message)
        if acknowledged and not ended and any(one.half for one in _of(history, "send", message)):
            yield _found("unresolved", acknowledged[0])


def _transaction_reordered(history: History, agree_ms: int | None) -> Iterator[Said]:
    for message in _messages(history):
        if not any(one.half for one in _of(history, "send", message)):
            continue
        told = _of(history, "half_committed half_rolled_back", message)
        for other in told:
            earlier = [one for one in told if one.process == other.process and one.seq < other.seq]
            if earlier and earlier[-1].kind != other.kind:
                yield _found("transaction_reordered", other)
        commits = _of(history, "half_committed", message)
        for one in _of(history, "delivered", message) if commits else ():
            first = [_precedes(one, commit, agree_ms) for commit in commits]
            if first.count("yes") == len(first):
                yield _found("transaction_reordered", commits[0], one.group)
            elif "no" not in first:
                yield _unjudged("transaction_reordered", one, one.group)


def _precedes(one: Operation, other: Operation, agree_ms: int | None) -> str:
    if one.process == other.process:
        return "yes" if one.seq < other.seq else "no"
    slack_ms = 0 if _share(one, other) else agree_ms
    if one.time_ms is None or other.time_ms is None or slack_ms is None:
        return "perhaps"
    return "yes" if one.time_ms + slack_ms < other.time_ms else "no"


def _misfiltered(history: History) -> Iterator[Said]:
    for one in history:
        if one.kind != "delivered":
            continue
        assigned, sends = _assignment(history, one), _of(history, "send", one.message)
        if assigned is None or assigned.tags in (None, "*"):
            continue
        if not sends:
            yield _unjudged("misfiltered", one, one.group)
        elif not _wants(assigned, sends[0].tag):
            yield _found("misfiltered", one, one.group)


def _dead_letter(history: History) -> Iterator[Said]:
    for one in history:
        if one.kind == "given_up" or (one.kind == "delivered" and one.attempt):
            assigned = _assignment(history, one)
            if assigned is None or one.attempt is None:
                yield _unjudged("dead_letter", one, one.group)
                continue
            usual = None if assigned.orderly else 16
            most = usual if assigned.max_attempts in (None, -1) else assigned.max_attempts
            too_soon = one.kind == "given_up" and (most is None or one.attempt < most)
            too_late = one.kind == "delivered" and most is not None and one.attempt > most
            if too_soon or too_late:
                yield _found("dead_letter", one, one.group)


_CHECKS: tuple[Callable[[History], Iterator[Said]], ...] = (
    _lost, _phantom, _duplicated, _reordered, _skipped, _regressed, _unresolved, _misfiltered, _dead_letter)


def _share(one: Operation, other: Operation) -> bool:
    return (one.clock or one.process) == (other.clock or other.process)


def _early(history: History, agree_ms: int | None) -> Iterator[Said]:
    for begin in history:
        for one in history:
            of_send = begin.kind == "send" and not one.attempt
            again = (begin.kind == "sent_back" and begin.group == one.group
                     and (one.attempt or 0) == (begin.attempt or 0) + 1)
            if one.kind == "delivered" and one.message == begin.message and begin.delay_ms and (of_send or again):
                slack_ms = 0 if _share(begin, one) else agree_ms
                if begin.time_ms is None or one.time_ms is None or slack_ms is None:
                    yield _unjudged("early", one, one.group)
                elif one.time_ms - begin.time_ms + slack_ms < begin.delay_ms:
                    yield _found("early", one, one.group)


def _two_owners(history: History, agree_ms: int | None) -> Iterator[Said]:
    assigned = [one for one in history if one.kind == "assigned"]
    for one in assigned:
        for other in assigned:
            if one.process < other.process and _same(one, other, "group", "queue"):
                yield from _owned_twice(one, _end(history, one), other, _end(history, other), agree_ms)


def _end(history: History, one: Operation) -> Operation | None:
    ends = [other for other in history if other.kind in _CHANGES and other.process == one.process
            and other.seq > one.seq and (other.kind == "restarted" or _same(other, one, "group", "queue"))]
    return min(ends, key=lambda other: other.seq, default=None)


def _owned_twice(one: Operation, end: Operation | None, other: Operation, other_end: Operation | None,
                 agree_ms: int | None) -> Iterator[Said]:
    if any(over is not None and over.kind == "restarted" for over in (end, other_end)):
        return
    later = max(one, other, key=lambda begin: (begin.time_ms or 0, begin.process, begin.seq))
    if end is None and other_end is None:
        yield _found("two_owners", later, one.group)
        return
    certain = []
    for begin, over in ((one, other_end), (other, end)):
        if over is not None:
            slack_ms = 0 if _share(begin, over) else agree_ms
            if begin.time_ms is None or over.time_ms is None or slack_ms is None:
                yield _unjudged("two_owners", later, one.group)
                return
            certain.append(over.time_ms - begin.time_ms - slack_ms > 0)
    if all(certain):
        yield _found("two_owners", later, one.group)
