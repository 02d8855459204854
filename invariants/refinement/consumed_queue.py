"""The model that follows one queue at the concurrent consumers of a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.finding import Finding
from invariants.refinement.consumers import NAME
from invariants.refinement.maps import placed
from invariants.refinement.monitor import Monitor, Step
from invariants.rules.facts import queue_text
from invariants.views import ConsumerTables
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, Writes
from model.process_queue.concurrent import ProcessQueues

VISIBLE = ("owns", "cached", "memory", "remembers", "known", "committed")
NOTHING = -1
"""What a broker answers that has no offset of the group."""


class ConsumedQueue:
    """One queue.

    broker -- the master whose table counts; "" after its end. found -- what a pull brings while its steps are taken.
    Of each member:
    answers -- the offsets that it was answered since it took the queue last. forgets -- its timer has been at work
    since then. known_to -- what it has ever remembered, or was told to commit. cached -- what it has in the model.
    again -- it has had the queue before. left -- what was cached when it left: its listeners may still work on that.
    removed -- how often ProcessQueue#removeMessage has answered what, as the model has it, and may be told late.
    timed -- who has taken it while its timer was at work, until that is over or another offset is remembered.
    """

    def __init__(self, mq: MessageQueue) -> None:
        """Nobody has it."""
        self.mq, self.broker = mq, ""
        self.answers: dict[str, list[int]] = {}
        self.forgets: set[str] = set()
        self.known_to: dict[str, set[int]] = {}
        self.cached: dict[str, set[int]] = {}
        self.again: set[str] = set()
        self.left: dict[str, set[int]] = {}
        self.removed: dict[str, Counter[int]] = {}
        self.timed: set[str] = set()
        self.found: frozenset[int] = frozenset()
        self.monitor = Monitor(OpenReading(ProcessQueues.concept, {"wanted": lambda o: o in self.found}), (), NAME,
                               visible=VISIBLE, kept=("Member",), unmarked=("settled",))
        self.value = self.monitor.value

    def step(self, event: Any, *steps: Step) -> list[Finding]:
        """Take these steps."""
        return self._noted(self.monitor.take(event, *steps)) if steps else []

    def as_if(self, event: Any, step: Step, cells: Writes) -> list[Finding]:
        """Take a step by what was so when it was decided; where that is so now, or is not enough, by the state."""
        found = None if len(self.monitor.states) > 1 else self.monitor.supposing(event, step, cells)
        return self.step(event, step) if found is None else self._noted(found)

    def _noted(self, found: list[Finding]) -> list[Finding]:
        """With the queue."""
        return placed(found, queue_text(self.mq), mq=self.mq)

    def owns(self, member: str) -> bool:
        """Whether a member has the queue."""
        return bool(self.value("owns", member))

    def _remember(self, member: str) -> None:
        """Note what it remembers now."""
        if self.value("remembers", member):
            self.known_to.setdefault(member, set()).add(self.value("memory", member))

    # Taking and leaving -----------------------------------------------------------------------------------------------

    def taken(self, member: str, event: events.QueueTaken, *, remembers: bool, timed: bool) -> list[Finding]:
        """Take the queue where the broker has answered; else at the first message, or where the consumer begins.

        remembers -- whether the tables still have what was read: the timer forgets offsets of queues that are not held.
        timed -- it is at work, and may still forget this one.
        """
        (self.timed.add if timed else self.timed.discard)(member)
        offset, answers = event.offset, self.answers.pop(member, [])
        remembers = remembers or (member not in self.forgets and NOTHING not in answers)
        self.forgets.discard(member)
        self.cached[member] = set()
        if offset in answers and (remembers or NOTHING not in answers):
            young = offset == 0 and not self.value("known") and remembers
            how = "take_young" if young else "take" if remembers else "take_forgotten"
            cells: Writes = {("known",): not young, ("committed",): offset}
        elif offset == 0 and NOTHING in answers:
            how, cells = "take_first", {("known",): False}
        else:
            how = "take_last" if NOTHING in answers else "take_despite"
            cells = {("known",): how == "take_despite", ("stored",): offset}
        found = self.as_if(event, (how, (member,)), cells)
        self._remember(member)
        return found

    def dropped(self, member: str, event: Any) -> list[Finding]:
        """Leave the queue; what it remembers is about to be sent."""
        self._left(member)
        return self.step(event, ("drop" if self.value("remembers", member) else "drop_unknown", (member,)))

    def _left(self, member: str) -> None:
        self.timed.discard(member)
        self.again.add(member)
        self.left.setdefault(member, set()).update(self.cached[member])
        self.removed.pop(member, None)

    def forgotten(self, member: str) -> None:
        """The table has lost the queue: its pulls go on, and no step of the model is like that."""
        self._left(member)
        self.monitor.write({("owns", member): False, ("remembers", member): False})

    def killed(self, member: str, event: Any) -> list[Finding]:
        """The process of a member ends."""
        for noted in (self.answers, self.left, self.removed):
            noted.pop(member, None)
        for those in (self.again, self.forgets, self.timed):
            those.discard(member)
        return self.step(event, ("crash", (member,))) if self.owns(member) else []

    # Consuming --------------------------------------------------------------------------------------------------------

    def _reaches(self, offset: int) -> None:
        if self.value("stored") < offset:
            self.monitor.write({("stored",): offset})

    def pulls(self, member: str, event: events.PullSuspended) -> list[Finding]:
        """The next pull begins behind what the last one has passed over."""
        begin = self.value("next", member)
        if event.offset < begin:
            return self._noted(self.monitor.compare({("next", member): event.offset}, [("next", member)]))
        return self._pass_over(member, event.offset, event)

    def _pass_over(self, member: str, end: int, event: Any) -> list[Finding]:
        passed = range(self.value("next", member), end)
        if not passed:
            return []
        self._reaches(end)
        self._forget(member, passed)
        return self.step(event, *[("pass_over", (member,))] * len(passed))

    def _forget(self, member: str, passed: Iterable[int]) -> None:
        """What is passed over is not cached; an earlier holding, which subscribed other tags, may have had it."""
        stale = [offset for offset in passed if self.value("cached", member, offset)]
        if stale:
            self.monitor.write({("cached", member, offset): False for offset in stale})

    def brings(self, member: str, event: events.MessagesFound) -> list[Finding]:
        """What a pull has found enters the cache; what lies between is passed over."""
        self.found = frozenset(event.offsets)
        begin, end = self.value("next", member), event.offsets[-1] + 1
        self._reaches(end)
        self._forget(member, (offset for offset in range(begin, end) if offset not in self.found))
        steps = [("pull" if offset in self.found else "pass_over", (member,)) for offset in range(begin, end)]
        found = self.step(event, *steps or [("pull", (member,))])
        self.found = frozenset()
        self.cached[member].update(event.offsets)
        return found

    def settled(self, member: str, event: Any) -> list[Finding]:
        """What was cached is settled; where it may be what a listener of an earlier holding had, tables tell."""
        cached, left = self.cached[member], self.left.get(member, set())
        offsets = [offset for offset in event.offsets if offset in cached]  # others have expired before
        steps: list[Step] = [("settle", (member, offset)) for offset in offsets]
        first = min(cached.difference(offsets), default=self.value("behind", member))
        self.removed.setdefault(member, Counter())[first] += 1
        if left.issuperset(event.offsets):
            left.difference_update(event.offsets)
            return self._noted(self.monitor.follow(event, [steps, []]))
        cached.difference_update(offsets)
        return self.step(event, *steps)

    def updated(self, member: str, event: events.OffsetUpdated) -> list[Finding]:
        """What is remembered goes on to the first message that is cached; it may have waited, whatever came between."""
        offset, removed = event.offset, self.removed.get(member, Counter())
        self.timed.discard(member)
        if self.owns(member) and removed[offset]:
            if offset != self.value("first", member):  # else it may be of a listener whose messages all stay
                removed[offset] -= 1
            found = self._remembers_late(member, event) if self._is_over(member, offset) else self.step(
                event, *self._up_to(member, offset))
        elif member in self.again:
            found = self._remembers_late(member, event)
        else:
            cell = "first", member
            found = self._noted(self.monitor.compare({cell: offset}, [cell])) or self.step(
                event, ("remember_first", (member,)))
        self._remember(member)
        self.told(member, offset)
        return found

    def _remembers_late(self, member: str, event: events.OffsetUpdated | events.OffsetLearntLate) -> list[Finding]:
        """A thread was held up between its look and what it remembers."""
        later = {("late", member): True, ("later", member): event.offset}
        return self.as_if(event, ("raise_late", (member,)), later)

    def _is_over(self, member: str, offset: int) -> bool:
        """Whether a message was the first that is cached, is so no more, and nothing is remembered yet.

        Another thread has settled it meanwhile, and what that one remembers is still to come.
        """
        return not self.value("remembers", member) and offset == self.value("first", member) < self.value(
            "behind", member) and not self.value("cached", member, offset)

    def learns_late(self, member: str, event: events.OffsetLearntLate) -> list[Finding]:
        """A pull of an earlier holding has brought nothing, and is believed (L8)."""
        found = self._remembers_late(member, event)
        self.told(member, event.offset)
        return found

    def _up_to(self, member: str, offset: int) -> list[Step]:
        """The steps by which the first message that is cached, or the end of the cache, becomes this one."""
        first = self.value("first", member)
        if offset > first:
            return [("go_on", (member,))] * (offset - first)
        remembers = self.value("remembers", member) and self.value("memory", member) >= offset
        return [] if remembers or offset < first else [("remember_first", (member,))]

    def _corrected(self, member: str, offset: int, event: Any) -> list[Finding]:
        """What is remembered has moved and nobody said so: a pull has brought nothing while nothing was cached."""
        cell = self.value
        steps: list[Step] = [("go_on", (member,))] * (cell("behind", member) - cell("first", member))
        self._reaches(offset)
        steps += [("pass_over", (member,))] * (offset - cell("next", member))
        found = self.step(event, *steps, ("correct_offset", (member,)))
        self._remember(member)
        return found

    # Committing -------------------------------------------------------------------------------------------------------

    def sends(self, member: str, event: events.OffsetSent) -> list[Finding]:
        """A commit is on its way: of what is remembered, or was, when it was looked at."""
        offset, found = event.offset, list[Finding]()
        if not self.owns(member) or (self.has_committed(offset) and self._remembers(member, offset)):
            return []
        if not self._remembers(member, offset) and offset not in self.known_to.get(member, ()):
            found = self._corrected(member, offset, event)
        if self._remembers(member, offset):
            return found + self.step(event, ("persist", (member,)))
        if offset in self.known_to.get(member, ()):
            return self.as_if(event, ("persist", (member,)), {("remembers", member): True, ("memory", member): offset})
        return found

    def _remembers(self, member: str, offset: int) -> bool:
        return bool(self.value("remembers", member)) and self.value("memory", member) == offset

    def told(self, member: str, offset: int) -> None:
        """A member was told what to commit: by an operator, or by a broker that does not have what it asked for."""
        self.known_to.setdefault(member, set()).add(offset)

    def has_committed(self, offset: int) -> bool:
        """Whether a commit of this would change nothing, and is no step."""
        return bool(self.value("known")) and self.value("committed") == offset

    def committed(self, member: str, event: events.OffsetCommitted) -> list[Finding]:
        """A commit arrives; one that was sent before the last may do so, too."""
        offset = event.offset
        if self.value("sends", member) and self.value("sent", member) == offset:
            return self.step(event, ("arrive", (member,)))
        if offset in self.known_to.get(member, ()):
            return self.as_if(event, ("arrive", (member,)), {("sends", member): True, ("sent", member): offset})
        return self.step(event, ("arrive", (member,)))

    def answered(self, member: str, offset: int, *, forgets: bool) -> None:
        """A broker has answered where the group is; forgets -- the member's timer is at work and may forget that."""
        self.answers.setdefault(member, []).append(offset)
        if forgets:
            self.forgets.add(member)

    def timer_forgets(self, member: str, consumer: ConsumerTables) -> None:
        """RemoteBrokerOffsetStore#persistAll: what was read before the queue was taken is forgotten after that."""
        if member in self.timed and consumer.remembers(self.mq) is None:
            self.monitor.write({("remembers", member): False})

    def timer_ends(self, member: str, consumer: ConsumerTables) -> None:
        """It forgets nothing more."""
        self.timer_forgets(member, consumer)
        self.timed.discard(member)

    # Tables -----------------------------------------------------------------------------------------------------------

    def at_member(self, member: str, consumer: ConsumerTables) -> list[Finding]:
        """Compare what a member's tables say of the queue."""
        cached = consumer.cached(self.mq)
        seen: Writes = {("owns", member): cached is not None}
        looked: list[Cell] = [*seen]
        found: list[Finding] = []
        if cached is not None and self.owns(member):
            self.timer_forgets(member, consumer)
            memory, has = consumer.remembers(self.mq), self.cached[member]
            if memory is not None and self._moved(member, memory, cached):
                found = self._corrected(member, memory, None)
            seen.update((("cached", member, offset), True) for offset in cached)
            looked += [("cached", member, offset) for offset in (*has.difference(cached), *cached)]
            seen["remembers", member] = memory is not None
            looked.append(("remembers", member))
            if memory is not None:
                seen["memory", member] = memory
                looked.append(("memory", member))
            self.cached[member] = {*cached}
        return found + self._noted(self.monitor.compare(seen, looked))

    def _moved(self, member: str, memory: int, cached: Sequence[int]) -> bool:
        """Whether what is remembered is what a pull can have made of it, with nothing in the cache."""
        return not cached and not self._remembers(member, memory) and self.value("next", member) <= memory

    def at_broker(self, machine: str, offset: int | None) -> list[Finding]:
        """Compare what the table of a master says; that of another one is taken over."""
        seen: Writes = {("known",): offset is not None, ("committed",): offset or 0}
        looked = [cell for cell in seen if cell == ("known",) or offset is not None]
        if self.broker != machine:
            self.broker = machine
            self.monitor.write({cell: seen[cell] for cell in looked})
            return []
        return self._noted(self.monitor.compare(seen, looked))
