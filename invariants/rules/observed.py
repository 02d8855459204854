"""What clients of a world have observed as a whole: the checks of histories judge it when a run is over.

A check is declared in `invariants.histories.checks`, with the property, what it promises and who promises it. A rule
here says what is expected of it in worlds, when it does not speak there, and what its findings are put down to: a
history has only what clients know, and reasons are looked for in what brokers and the host have reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.histories.checks import CHECKS, Check, Finding as Broken
from invariants.histories.judging import judged
from invariants.histories.operations import Operation
from invariants.rules.delays import was_recovered
from invariants.rules.excuse import Excuse, cause
from invariants.rules.observed_causes import (
    clock_was_set,
    failed_in_a_batch,
    force_failed,
    is_displaced,
    is_tried_in_place,
    joiner_was_early,
    list_has_changed,
    was_corrected,
    was_deleted,
    was_ended_for_another,
    was_filtered,
    was_not_forced,
    was_not_heard_of,
    was_not_taken,
    went_with_another,
)
from invariants.rules.offset_facts import READ_EARLY, was_read_early
from invariants.rules.rule import Rule, Told

OBSERVED: dict[str, type[Observed]] = {}
"""The rules of this module by the names of their checks."""


class Observed(Rule):
    """Judges a run by a check of histories.

    check -- its name. about -- queue, offset and key of the message where the finding shows, and the group; None where
    it has none.
    """

    check: ClassVar[str]
    about = "mq offset key group"

    declared: ClassVar[Check]

    def __init_subclass__(cls) -> None:
        """Declare it, with what its check says."""
        cls.declared = CHECKS[cls.check]
        cls.cite = cls.declared.source
        super().__init_subclass__()
        cls.name, cls.sentence = cls.declared.property, cls.declared.sentence
        OBSERVED[cls.check] = cls

    def shows(self, finding: Broken) -> Told:
        """A finding of the check, as rules tell it; it is wrong since its first operation."""
        one = finding.operations[-1]
        about = queue_named(one.queue), one.offset, one.message, finding.group or None
        return self.told(finding.sentence.removesuffix("."), *about, since_ms=finding.operations[0].time_ms)


class Observation(NamedTuple):
    """An operation that a client of a world has observed, and how many records the world had before it."""

    position: int
    operation: Operation


def broken(observed: Sequence[Observation]) -> Iterator[tuple[Broken, int]]:
    """What the checks find in all that the clients of a world have observed, each with the position where it shows."""
    position = {one.operation.place: one.position for one in observed}
    for told in judged(one.operation for one in observed):
        if isinstance(told, Broken):
            yield told, position[told.operations[-1].place]


def queue_named(name: str | None) -> MessageQueue | None:
    """The queue that a history calls so; `stateful_tests.worlds.notes` names them."""
    if name is None:
        return None
    topic, broker_name, queue_id = name.rsplit("/", 2)
    return MessageQueue(topic, broker_name, int(queue_id))


_UNFORCED = Excuse("its broker acknowledges what it has not forced (ASYNC_FLUSH), and has lost its power since",
                   when=was_not_forced)
_DELETED = Excuse("its broker's disk was full, and the broker has deleted the file of its log", when=was_deleted)
_CORRECTED = Excuse("its broker has said that it has no such offset, and the member goes on where the broker says",
                    when=was_corrected)


# The rules ------------------------------------------------------------------------------------------------------------


class acknowledged_is_delivered(Observed):
    """A message that was acknowledged is not lost."""

    check = "lost"
    shipped = ("violated: V26 its queue lacks its unit, V3 units stand one place too late, V6 a force has failed and "
               "nobody minds, V33 a disk has not taken its unit, V41 its queue was deleted with another topic, L3 the "
               "tags of another member are others")
    excuses = (
        _UNFORCED, _DELETED,
        cause("L3", "members of its group subscribe other tags, among which its tag is not", when=was_filtered),
        cause("V6", "its log ends before it, and a force had failed", when=force_failed),
        cause("V33", "files of others filled the disk when its queue was to have its unit", when=was_not_taken),
        cause("V41", "its broker has deleted its queue, and nobody has told it to delete the topic",
              when=went_with_another),
        cause("V26", "its queue has another message in its place, or none, and the machine has lost its power",
              when=lambda rule, told: is_displaced(rule, told, power_loss=True)),
        cause("V3", "its queue has another message in its place, or none, and the process was killed",
              when=lambda rule, told: is_displaced(rule, told, power_loss=False)),
    )


class delivered_was_sent(Observed):
    """Nothing is made up."""

    check = "phantom"
    shipped = "violated: T7 the end of another half message commits it"
    excuses = (
        cause("T7", "the end of a half message that a crash has taken was taken for its own",
              when=was_ended_for_another),
    )

    def shows(self, finding: Broken) -> Told:
        """See Observed; what it contradicts is what the producer has said of its transaction."""
        told = super().shows(finding)
        said = self.past.last(events.HalfMessageEnded, key=told.about[2])
        return told if said is None else told._replace(earlier=(said.ms, said.at, said.event))


class settled_is_over(Observed):
    """What is over does not come again."""

    check = "duplicated"
    shipped = "violated: X26 a batch is suspended with a dead letter in it"
    excuses = (
        cause("X26", "it was given up in a batch with others, one of which is to come again", when=failed_in_a_batch),
    )


class committed_offset_never_goes_back(Observed):
    """A member that keeps a queue goes on."""

    check = "regressed"
    shipped = "violated: L14 a commit waits for an address"
    excuses = (
        _CORRECTED,
        cause("L14", READ_EARLY, when=lambda rule, told: was_read_early(
            rule.past, told.about[3], told.about[0], told.about[1])),
    )


class delays_are_waited(Observed):
    """A delayed message waits."""

    check = "early"
    shipped = "violated: V5 what recovery dispatches is due at once"
    excuses = (
        Excuse("the clock of a broker that has put it was set after it was sent, or drifts", when=clock_was_set),
        cause("V5", "its broker has recovered it from a crash while it was to wait",
              when=lambda rule, told: was_recovered(rule, told.about[2])),
    )


class only_subscribed_is_delivered(Observed):
    """Filters are one's own, also of a member of another version."""

    check = "misfiltered"


class commits_pass_nothing_unfinished(Observed):
    """Nobody commits past what nobody has finished, nor sent back."""

    check = "skipped"
    excuses = (_UNFORCED, _DELETED)


class order_is_kept(Observed):
    """A key keeps its queue, and an orderly member does not go back."""

    check = "reordered"
    about = "mq offset key group other"
    shipped = "violated: P10 the hash is taken over the list of the moment"
    excuses = (
        _UNFORCED,
        cause("P10", "the producer had another list of queues for the one than for the other", when=list_has_changed),
    )

    def shows(self, finding: Broken) -> Told:
        """See Observed; it is about the earlier message, and names the other one."""
        earlier, later = finding.operations
        return self.told(finding.sentence.removesuffix("."), queue_named(earlier.queue), earlier.offset,
                         earlier.message, finding.group or None, later.message, since_ms=earlier.time_ms)


class transactions_keep_their_order(Observed):
    """Nobody sees a message before its producer has committed it."""

    check = "transaction_reordered"


class half_messages_are_resolved(Observed):
    """Who is told that its half message is stored is asked what becomes of it."""

    check = "unresolved"


class one_owner_at_once(Observed):
    """Members know one after the other that a queue has changed hands."""

    check = "two_owners"
    about = "mq offset key group former taker"
    shipped = "violated: D1 a joiner takes its share first, D2 an incomplete list"
    excuses = (
        cause("D1", "the group had changed, and one of them has given it up since", when=joiner_was_early),
        cause("D2", "a broker has answered who started, or got a topic, and had not heard of the other one",
              when=was_not_heard_of),
    )

    def shows(self, finding: Broken) -> Told:
        """See Observed; it is wrong since the second member has taken the queue."""
        former, one = finding.operations
        return self.told(finding.sentence.removesuffix("."), queue_named(one.queue), one.offset, None,
                         finding.group or None, former.process, one.process, since_ms=one.time_ms)


class given_up_after_its_attempts(Observed):
    """No message comes more often than its group has it sent back."""

    check = "dead_letter"
    excuses = (Excuse("the member tries it again where it is: its client could not send it back",
                      when=is_tried_in_place),)
