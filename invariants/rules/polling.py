"""Rules of applications that poll: what they are given, what is committed for them, and what they rest.

They are told from outside: by what applications say that they did, and by what their clients send.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.decisions.start_offset import NO_OFFSET
from impl.decisions.subscription import SUB_ALL
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Rule, Told, on

COMMITTING = "persistAllConsumerOffset"
MOVED = Match(events.PullAnswered, having=lambda one: one.code == PullCode.PULL_OFFSET_MOVED)
DISK_WAS_FULL = Excuse("the disk of the queue's broker was full, and what it has deleted is passed over",
               when=lambda rule, told: any(rule.facts.broker_name(one.at) == told.about[2].broker_name
                                           for one in rule.past.of(events.DiskFilled)))


def _crash_looked_like_a_stop(rule: Any, told: Told) -> bool:
    """Whether the machine of the queue's broker has lost its power, and its store has come up as after a stop."""
    lost = [one for one in rule.past.of(events.ProcessKilled, power_loss=True)
            if rule.facts.broker_name(one.at) == told.about[2].broker_name]
    return any(start.event.last_exit_ok for one in lost
               for start in rule.past.of(events.StoreLoaded, since=one.place, at=one.at)[:1])


class Polled(Rule):
    """What is common: of a queue that comes back nothing is known any more.

    So has a seek that ends when the queue has been given up led nowhere.
    """

    about = "at group mq"

    @on(events.QueuesHeld)
    def has(self, _: int, at: str, event: events.QueuesHeld) -> None:
        kept = event.mqs.intersection(self.facts.polls_from.get((at, event.group), event.mqs))
        for table in self.of_what_is_held():
            table.drop(lambda key: key[:2] == (at, event.group) and not kept.issuperset(key[2:]))

    def of_what_is_held(self) -> Iterator[Kept]:
        """The tables that know something of the queues that a consumer has."""
        return self.tables()


class polls_follow_one_another(Polled):
    """Whoever polls a queue is given what follows the last message of it, or what is where it has sought.

    Who subscribes some tags is given nothing that stands before that. Whoever polls begins anew where it has taken the
    queue again, or where the broker had no such offset.
    """

    shipped = "violated: V26 a crash looks like a stop, X30 a seek is forgotten with its pull"
    cite = "DefaultLitePullConsumerImpl#poll, #seek, AssignedMessageQueue"
    excuses = (
        DISK_WAS_FULL,
        cause("V26", "the machine of the queue's broker lost its power, and its store came up as after a stop",
              when=_crash_looked_like_a_stop),
        cause("X30", "a pull from where its application has sought was not answered, and the next one began elsewhere",
              when=lambda rule, told: told.about in rule.forgotten),
    )

    # Where applications have sought, and where the answers to pulls from there say that the next ones are to begin; of
    # queues that are pulled from elsewhere without such an answer, when that was.
    sought = Kept("at group mq", begins=(events.QueueSought,), value=lambda _, event: event.offset)
    answered = Kept("at group mq", ends=(events.QueueSought,))
    forgotten = Kept("at group mq", ends=(events.QueueSought,))
    next_offset = Kept("at group mq", ends=(MOVED,), begins=(events.QueueSought,),
                       value=lambda _, event: event.offset)

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> None:
        key = at, event.group, event.mq
        if event.offset == self.sought.get(key):
            self.answered.setdefault(key, set())
        elif key in self.answered:
            if event.offset not in self.answered.pop(key):
                self.forgotten[key] = ms
            del self.sought[key]

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> None:
        key = at, event.group, event.mq
        if key in self.answered:
            self.answered[key].add(event.next_begin_offset)

    @on(events.MessagesPolled)
    def polls(self, _: int, at: str, event: events.MessagesPolled) -> Iterator[Told]:
        key = at, event.group, event.mq
        due = self.next_offset.get(key, event.offsets[0])
        self.next_offset[key] = event.offsets[-1] + 1
        if not _goes_on(event, due):
            given = f"is given {', '.join(map(str, event.offsets))} of {queue_text(event.mq)}"
            yield self.told(f"{at} {given}, where {due} follows", *key)


def _goes_on(event: events.MessagesPolled, due: int) -> bool:
    """Whether a batch begins there and has no gap; who does not subscribe all may find gaps."""
    if event.subscribed == SUB_ALL:
        return event.offsets == tuple(range(due, due + len(event.offsets)))
    return due <= event.offsets[0] and event.offsets == tuple(sorted({*event.offsets}))


class only_the_held_is_polled(Polled):
    """A poll gives no messages of a queue that its consumer has given up."""

    shipped = "violated: X27 what waits of a topic that was unsubscribed"
    cite = "DefaultLitePullConsumerImpl#poll: isDropped, #unsubscribe"
    excuses = (cause("X27", "its application has unsubscribed the topic",
                     when=lambda rule, told: told.about[:2] in rule.left),)

    left = Kept("at group", begins=(events.TopicLeft,))

    @on(events.MessagesPolled)
    def polls(self, _: int, at: str, event: events.MessagesPolled) -> Iterator[Told]:
        if event.mq not in self.facts.polls_from.get((at, event.group), (event.mq,)):
            yield self.told(f"{at} is given {', '.join(map(str, event.offsets))} of {queue_text(event.mq)}, which it "
                            "does not have", at, event.group, event.mq)


class only_the_subscribed_is_polled(Rule):
    """A poll gives messages of the tags that its application subscribes, and no others."""

    cite = "DefaultLitePullConsumerImpl.PullTaskImpl#run, PullAPIWrapper#processPullResult"
    about = "at group topic"

    @on(events.MessagesPolled)
    def polls(self, _: int, at: str, event: events.MessagesPolled) -> Iterator[Told]:
        subscribed = {one.strip() for one in event.subscribed.split("||")}
        others = sorted({*event.tags} - subscribed) if event.subscribed != SUB_ALL else []
        if others:
            given = f"is given messages of {queue_text(event.mq)} with the tag {others[0] or '(none)'}"
            yield self.told(f"{at} {given}, and subscribes {event.subscribed}", at, event.group, event.mq.topic)


class refused_offset_is_left(Polled):
    """Whoever polls a queue, and is told that it has no such offset, does not ask for that again."""

    cite = "DefaultLitePullConsumerImpl.PullTaskImpl#run: updatePullOffset"

    asked = Kept("at group mq", begins=(events.PullSuspended,), value=lambda _, event: event.offset)
    refused = Kept("at group mq", ends=(events.QueueSought,))

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> None:
        key = at, event.group, event.mq
        is_elsewhere = self.asked.get(key, event.next_begin_offset) != event.next_begin_offset
        if event.code == PullCode.PULL_OFFSET_MOVED and is_elsewhere and key[:2] in self.facts.polls_from:
            self.refused[key] = self.asked[key]

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, event.group, event.mq
        if self.refused.pop(key, None) == event.offset:
            yield self.told(f"{at} pulls {queue_text(event.mq)} again from {event.offset} on, which was refused", *key)


class only_what_was_worked_on_is_committed(Polled):
    """A consumer that is polled commits no more than what its application was done with: what it had polled before.

    With autoCommit it is done with all when it polls again, without it when it says so. Where it has begun counts, too:
    what a broker has told its client of the queue may be committed again, as may what the client has committed last. Of
    a queue that is given up the client keeps in memory what was done, until its timer comes past it: if it is given the
    queue again before, it goes on there. Who subscribes some tags may pass others, and is given nothing of that later.
    """

    cite = "DefaultLitePullConsumerImpl#maybeAutoCommit, #commitAll, RemoteBrokerOffsetStore#persistAll"
    excuses = (DISK_WAS_FULL,)

    polled, done = (Kept("at group mq") for _ in range(2))
    # What was committed last. What is in memory of queues that were given up, and those of them at which the timer is.
    sent = Kept("at group mq")
    memory, passed = (Kept("at group mq") for _ in range(2))
    # Queues of which some tags are subscribed; and from where to where a commit has gone on that may pass other tags.
    filtered, ahead = (Kept("at group mq", ends=(events.QueueSought,)) for _ in range(2))

    @on(events.QueuesHeld)
    def has(self, ms: int, at: str, event: events.QueuesHeld) -> None:
        """See Polled; what was done is in memory."""
        self.memory.update((key, offset) for key, offset in self.done.items()
                           if key[:2] == (at, event.group) and key[2] not in event.mqs)
        self.passed.drop(lambda key: key[:2] == (at, event.group) and key[2] in event.mqs)
        super().has(ms, at, event)

    def of_what_is_held(self) -> Iterator[Kept]:
        """See Polled."""
        yield from (self.polled, self.done, self.filtered, self.ahead)

    @on(events.TimerJobBegan)
    def timer_begins(self, ms: int, at: str, event: events.TimerJobBegan) -> None:
        if event.job == COMMITTING:
            self.passed.update((key, ms) for key in self.memory if key[0] == at
                               and key[2] not in self.facts.polls_from.get(key[:2], ()))

    @on(events.TimerJobEnded)
    def timer_ends(self, _: int, at: str, event: events.TimerJobEnded) -> None:
        if event.job == COMMITTING:
            for key in [key for key in self.passed if key[0] == at]:
                del self.passed[key]
                self.memory.pop(key, None)

    @on(events.MessagesPolled)
    def polls(self, ms: int, at: str, event: events.MessagesPolled) -> Iterator[Told]:
        key = at, event.group, event.mq
        done, sent = self.ahead.pop(key, (0, 0))
        if any(done <= offset < sent for offset in event.offsets):
            committed = f"has committed {sent} of {queue_text(event.mq)}, where it was done with all below {done}"
            yield self.told(f"{at} {committed}, and is given {event.offsets[0]}", *key)
        if event.subscribed != SUB_ALL:
            self.filtered[key] = ms
        self.done.setdefault(key, event.offsets[0])
        self.polled[key] = max(event.offsets[-1] + 1, self.polled.get(key, 0))

    @on(events.QueueSought)
    def seeks(self, _: int, at: str, event: events.QueueSought) -> None:
        key = at, event.group, event.mq
        self.done[key] = max(event.offset, self.done.get(key, 0))

    @on(events.PollBegan, events.CommitAsked)
    def is_done(self, _: int, at: str, event: events.PollBegan | events.CommitAsked) -> None:
        if isinstance(event, events.CommitAsked) or event.auto_commit:
            for key, offset in self.polled.items():
                if key[:2] == (at, event.group):
                    self.done[key] = max(offset, self.done.get(key, 0))

    @on(events.OffsetSent)
    def commits(self, _: int, at: str, event: events.OffsetSent) -> Iterator[Told]:
        key = at, event.group, event.mq
        memory = self.memory.get(key, NO_OFFSET)
        done = self.done.get(key, memory)
        if event.offset < memory:  # it has been overwritten
            del self.memory[key]
        most = max(done, memory, self._was_told(key), self.sent.get(key, NO_OFFSET))
        self.sent[key] = event.offset
        if done == NO_OFFSET or event.offset <= most:
            return
        if key in self.filtered:
            self.ahead[key] = most, event.offset
        else:
            yield self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, where it is done with all below "
                            f"{done}", *key)

    def _was_told(self, key: tuple[str, str, MessageQueue]) -> int:
        """The greatest offset of the queue that a broker has answered to the client."""
        return max((one.offset for one in self.facts.answers.get(key, ())), default=NO_OFFSET)


class rested_queue_is_not_pulled(Polled):
    """While an application rests a queue nothing of it is pulled, but for a pull that is about to begin."""

    cite = "DefaultLitePullConsumerImpl#pause, PullTaskImpl#run"

    pulls = Kept("at group mq", ends=(Match(events.QueueRested, having=lambda one: not one.rested),))

    @on(events.QueueRested)
    def rests(self, _: int, at: str, event: events.QueueRested) -> None:
        if event.rested:
            self.pulls[at, event.group, event.mq] = 0

    @on(events.PullSuspended)
    def pulled(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, event.group, event.mq
        if key in self.pulls:
            self.pulls[key] += 1
            if self.pulls[key] > 1:
                yield self.told(f"{at} pulls {queue_text(event.mq)}, which its application rests", *key)
