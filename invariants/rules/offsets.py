"""Rules of the offsets that brokers keep: what was committed is answered, survives, and goes with its group."""

from __future__ import annotations

from collections.abc import Iterator

from impl.decisions.names import MASTER_ID
from impl.events import (
    BrokerShutDown,
    BrokerStarted,
    GroupOffsetsRemoved,
    OffsetAnswered,
    OffsetCommitted,
    OffsetReset,
    ProcessKilled,
    ProcessPaused,
)
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.offset_facts import is_of_another, is_on_another
from invariants.rules.rule import Kept, Rule, Told, after, on
from invariants.rules.watch import Run


def _at_a_slave(rule: Rule, told: Told) -> bool:
    """Whether the machine of a finding is no master."""
    return not rule.facts.is_master(told.about[0])


class broker_keeps_what_was_committed(Rule):
    """A master has, and answers, the offset that was committed last, as long as its process lives.

    Its table is looked at with each commit for the same group and topic.
    """

    shipped = "violated: B-21 of two first commits one is lost, B-20 a query deletes"
    cite = "ConsumerOffsetManager#commitOffset, #queryOffset"
    about = "at group topic queue_id"
    excuses = (Excuse("the broker is a slave, whose offsets its master's replace", when=_at_a_slave),)

    @after(OffsetCommitted)
    def has(self, _: int, at: str, event: OffsetCommitted) -> Iterator[Told]:
        """What was committed is in the table."""
        known = self.facts.committed[at, event.group, event.topic]
        table = self.views.committed_of(at, event.group, event.topic)
        for queue_id in [] if table is None else [one for one in known if one not in table]:
            sentence = f"{at} has none for queue {queue_id} of {event.topic}, where {known.pop(queue_id)} was committed"
            yield self.told(sentence, at, event.group, event.topic, queue_id)

    @on(OffsetAnswered)
    def answers(self, _: int, at: str, event: OffsetAnswered) -> Iterator[Told]:
        """What was committed last is answered."""
        known = self.facts.committed.get((at, event.group, event.topic), {}).get(event.queue_id)
        if known is not None and known != event.offset:
            sentence = f"{at} answers {event.offset} for queue {event.queue_id} of {event.topic}, where {known} is"
            yield self.told(sentence, at, event.group, event.topic, event.queue_id)


def _of_another_member(_: Rule, told: Told) -> bool:
    """B-19: what was greater came from another machine."""
    return is_of_another(*told.about[-2:])


def _of_a_former_connection(_: Rule, told: Told) -> bool:
    """B-32: what was greater came from the same machine, on another connection."""
    return is_on_another(*told.about[-2:])


def _was_reset(rule: committed_offset_never_regresses, told: Told) -> bool:
    """Whether it is where the queue was reset to."""
    _, group, mq, offset, *_connections = told.about
    return offset in rule.reset_to.get((group, mq), ())


class committed_offset_never_regresses(Rule):
    """Without a reset the committed offset of a queue does not go down.

    A broker that starts again is taken to have nothing. Behind a reset commits may begin anew where that went.
    connection, former -- on which the lower one and the greater one have come.
    """

    shipped = ("violated: B-18 commits are reordered, B-19 the former owner's comes late, "
               "B-32 one of a former connection comes late, X23 a read comes late")
    cite = "ConsumerOffsetManager#commitOffset"
    about = "at group mq offset connection former"
    excuses = (
        Excuse("the commit is that of a reset", when=_was_reset),
        cause("B-19", "another member has sent what came last", when=_of_another_member),
        cause("B-32", "it came on another connection of the same client", when=_of_a_former_connection),
    )

    def __init__(self, run: Run) -> None:
        """Nothing is committed."""
        super().__init__(run)
        self.last = Kept("at group mq", ends=(GroupOffsetsRemoved, BrokerStarted))
        self.reset_to = Kept("group mq", survives="all")

    @on(OffsetReset)
    def resets(self, _: int, __: str, event: OffsetReset) -> None:
        """What is committed may go down so far."""
        self.reset_to.setdefault((event.group, event.mq), set()).add(event.offset)
        for key in [key for key in self.last if key[1:] == (event.group, event.mq)]:
            self.last[key] = min(self.last[key], (event.offset, ""))

    @on(OffsetCommitted)
    def commits(self, _: int, at: str, event: OffsetCommitted) -> list[Told]:
        """What is committed goes up."""
        key = at, event.group, self.facts.queue(at, event.topic, event.queue_id)
        now = event.offset, event.connection
        (last, former), self.last[key] = self.last.get(key, now), now
        if event.offset >= last:
            return []
        sentence = f"{event.offset} is committed of {queue_text(key[2])} after {last}"
        return [self.told(sentence, *key, *now, former)]


class group_offsets_go_with_the_group(Rule):
    """When a group is deleted with its offsets, its offsets of all topics are gone."""

    cite = "AdminBrokerProcessor#deleteSubscriptionGroup, ConsumerOffsetManager#removeOffset"
    about = "at group"

    @on(GroupOffsetsRemoved)
    def removed(self, _: int, at: str, event: GroupOffsetsRemoved) -> Iterator[Told]:
        """Its broker has none of it."""
        for group, topic in sorted(self.views.groups_with_offsets(at)):
            if group == event.group:
                yield self.told(f"{at} keeps the offsets of {topic}", at, group)


class committed_offset_survives_its_broker(Rule):
    """A master whose process ends keeps what was committed before the last write of its file, or before its shutdown.

    Any offset that was committed since the last one that must be in the file may be in it, too.
    """

    cite = "BrokerController#initialize: consumerOffsetManager.persist, ConfigManager#load"
    about = "at group topic queue_id"
    excuses = (
        Excuse("the broker stood still shortly before its process ended, and wrote nothing meanwhile",
               by=Match(ProcessPaused, of="at"), lasts=deadlines.written),
    )

    def __init__(self, run: Run) -> None:
        """Nothing is committed."""
        super().__init__(run)
        self.commits = Kept("at group topic queue_id", ends=(GroupOffsetsRemoved,), survives="kill")
        self.ended_ms = Kept("at", survives="all")
        self.stopped_ms = Kept("at", survives="all")
        self._written_ms = deadlines.written(run.bounds)

    @on(OffsetCommitted)
    def has(self, ms: int, at: str, event: OffsetCommitted) -> None:
        """Its file will have it."""
        commits = self.commits.setdefault((at, event.group, event.topic, event.queue_id), [])
        if not commits or commits[-1][1] != event.offset:
            commits.append((ms, event.offset))

    @on(BrokerShutDown)
    def stops(self, ms: int, at: str, _: BrokerShutDown) -> None:
        """All that it has is in its file."""
        self.stopped_ms[at,] = ms

    @on(ProcessKilled)
    def ends(self, ms: int, at: str, _: ProcessKilled) -> None:
        """What is in its file is all that it will have."""
        self.ended_ms[at,] = ms

    @after(BrokerStarted)
    def starts(self, _: int, at: str, event: BrokerStarted) -> Iterator[Told]:
        """It has what its file must have."""
        ended_ms, stopped_ms = self.ended_ms.pop((at,), 0), self.stopped_ms.pop((at,), None)
        sure_ms = ended_ms - self._written_ms if stopped_ms is None else stopped_ms
        for key in [key for key in self.commits if key[0] == at]:
            commits = self.commits.pop(key)
            must = sum(ms <= sure_ms for ms, _ in commits)
            may = {offset for _, offset in commits[max(must - 1, 0):]}
            found = (self.views.committed_of(at, *key[1:3]) or {}).get(key[3])
            if must and event.broker_id == MASTER_ID and found not in may:
                sentence = f"{at} starts with {found} for queue {key[3]} of {key[2]}, where {max(may)} was kept"
                yield self.told(sentence, *key, since_ms=ended_ms)
