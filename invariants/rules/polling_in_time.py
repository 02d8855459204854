"""Rules of applications that poll: how long a poll takes, that queues are pulled, and that commits are sent."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.decisions.start_offset import NO_OFFSET, ConsumeFromWhere
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.polling import Polled
from invariants.rules.rule import Duty, Kept, Told, on
from invariants.rules.weather import broker_was_away, clock_was_set

BROKER_AWAY = Excuse("the queue's broker was away, or stood still", when=broker_was_away)


class poll_waits_as_asked(Duty):
    """A poll returns when its time is over, and sooner only with messages."""

    cite = "DefaultLitePullConsumerImpl#poll: consumeRequestCache.poll(endTime - now)"
    about = "at group"
    within_ms = deadlines.polled
    paid_by = (Match(events.PollEnded, having=lambda one: one.messages > 0), events.PollerShutDown)
    excuses = (clock_was_set("at"),)
    late = "{at} polls in {group} for {waited_ms} ms, and wants to wait for {what} ms"

    @on(events.PollBegan)
    def begins(self, ms: int, at: str, event: events.PollBegan) -> None:
        key = at, event.group
        self.pay(key)
        self.owe(key, ms, event.timeout_ms)
        self.count_from(key, ms + event.timeout_ms)

    @on(events.PollEnded)
    def ends(self, ms: int, at: str, event: events.PollEnded) -> Iterator[Told]:
        key = at, event.group
        if key in self.owed and not event.messages:
            since_ms, _, timeout_ms = self.owed.pop(key)
            if ms - since_ms < timeout_ms:
                yield self.told(f"{at} is given nothing after {ms - since_ms} ms, and wants to wait for {timeout_ms} "
                                "ms", *key, since_ms=since_ms)


class found_is_polled_at_once(Duty):
    """Where nothing fails a poll that waits returns when a pull has found messages."""

    cite = "DefaultLitePullConsumerImpl#submitConsumeRequest, #poll"
    calm = True
    about = "at group"
    within_ms = deadlines.polled
    paid_by = (events.PollEnded, events.PollerShutDown, events.QueuesHeld, events.QueueSought)
    late = "{at} polls in {group}, and is given nothing {waited_ms} ms after messages were found"

    polls = Kept("at group", begins=(events.PollBegan,), ends=(events.PollEnded, events.PollerShutDown))
    # The pulls that are not answered; what a pull finds that began before a seek is not wanted any more.
    pulls = Kept("at group mq", begins=(events.PullSuspended,), ends=(events.QueueSought,))

    @on(events.PullAnswered)
    def is_answered(self, ms: int, at: str, event: events.PullAnswered) -> None:
        key = at, event.group
        began = self.pulls.pop((*key, event.mq), None)
        if event.code == PullCode.SUCCESS and began is not None and key in self.polls and (
                event.mq in self.facts.polls_from.get(key, ())):
            self.owe(key, ms)


class polled_queue_is_pulled(Duty):
    """A consumer that is polled pulls each queue that it has, one pull after another, but for those that are rested."""

    shipped = "violated: U18 a topic that is left while a rebalance shares it out"
    cite = "DefaultLitePullConsumerImpl.PullTaskImpl#run, #startPullTask"
    about = "at group mq"
    within_ms = deadlines.pulled
    paid_by = (events.PollerShutDown,)
    excuses = (BROKER_AWAY, cause("U18", "its application has left the topic before, and subscribed it again",
                                  when=lambda rule, told: told.about[:2] in rule.left))
    late = "{at} has not pulled queue {mq.queue_id} of {mq.topic} at {mq.broker_name} for {waited_ms} ms"

    left = Kept("at group", begins=(events.TopicLeft,))
    rested = Kept("at group mq")

    @on(events.QueuesHeld)
    def has(self, ms: int, at: str, event: events.QueuesHeld) -> None:
        for table in (self.owed, self.rested):
            table.drop(lambda key: key[:2] == (at, event.group) and key[2] not in event.mqs)
        for mq in sorted(event.mqs):
            if (at, event.group, mq) not in self.rested:
                self.owe((at, event.group, mq), ms)

    @on(events.QueueRested)
    def rests(self, ms: int, at: str, event: events.QueueRested) -> None:
        key = at, event.group, event.mq
        if event.rested:
            self.rested[key] = ms
            self.pay(key)
        elif self.rested.pop(key, None) is not None:
            self.owe(key, ms)

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> None:
        key = at, event.group, event.mq
        if key in self.owed:
            self.pay(key)
            self.owe(key, ms)


class topic_taken_again_is_pulled(Duty):
    """An application that subscribes a topic again pulls each queue of it that its consumer has meanwhile kept."""

    shipped = "violated: U18 who subscribes again before a rebalance has no pull tasks"
    cite = "DefaultLitePullConsumerImpl#subscribe, #unsubscribe, RebalanceImpl#rebalanceByTopic: messageQueueChanged"
    about = "at group mq"
    within_ms = deadlines.pulled
    paid_by = (events.PullSuspended, events.PollerShutDown, Match(events.QueueRested, having=lambda one: one.rested))
    excuses = (BROKER_AWAY,)
    late = ("{at} has not pulled queue {mq.queue_id} of {mq.topic} at {mq.broker_name} for {waited_ms} ms, since its "
            "topic was subscribed again")

    @on(events.TopicLeft)
    def leaves(self, _: int, at: str, event: events.TopicLeft) -> None:
        self.owed.drop(lambda key: key[:2] == (at, event.group) and key[2].topic == event.topic)

    @on(events.TopicTakenAgain)
    def subscribes(self, ms: int, at: str, event: events.TopicTakenAgain) -> None:
        for mq in self.views.taken_to_poll(at, event.group, event.topic):
            self.owe((at, event.group, mq), ms)

    def broken(self, key: tuple[str, str, MessageQueue], what: None, waited_ms: int) -> str | None:
        """What the consumer has given up meanwhile it need not pull."""
        at, group, mq = key
        return super().broken(key, what, waited_ms) if mq in self.views.taken_to_poll(at, group, mq.topic) else None


def _not_begun(rule: polled_is_committed, told: Told) -> bool:
    """Whether what is told of was wrong before a process queue stood for the queue."""
    return bool((told.since_ms or 0) < rule.begun_ms.get(told.about, -inf))


class polled_is_committed(Duty):
    """What an application was done with, or has committed itself, its consumer commits in time.

    autoCommit commits with a poll, every five seconds, and what was committed is sent with the offsets of the timer,
    and when the consumer shuts down, which begins with that: what is committed later is not. Whatever was polled before
    a poll, and another one began five seconds later, autoCommit has committed in between. What was committed before a
    run of the rebalance has the list of members is sent when the run has given the queue up, the rest need not be.

    A queue is polled that a rebalance has taken, also where nobody has said it where the queue begins: as shipped the
    timer forgets the offsets of such a queue, until a later rebalance is told.
    """

    shipped = "violated: X27 what waits of a topic that was unsubscribed, X31 a queue whose beginning nobody has said"
    cite = ("DefaultLitePullConsumerImpl#maybeAutoCommit, #commitAll, #persistConsumerOffset, #shutdown, "
            "RebalanceLitePullImpl#removeUnnecessaryMessageQueue, RebalanceImpl#updateProcessQueueTableInRebalance")
    about = "at group mq"
    within_ms = deadlines.polled_is_sent
    excuses = (
        BROKER_AWAY, clock_was_set("at"),
        cause("X27", "its application has unsubscribed a topic", when=lambda rule, told: told.about[:2] in rule.left),
        cause("X31", "no broker had said where the queue begins since a rebalance took it", when=_not_begun),
    )
    late = ("{at} is done with queue {mq.queue_id} of {mq.topic} at {mq.broker_name} up to {what}, and has not "
            "committed that for {waited_ms} ms")

    # Behind what was polled; what was committed of that for certain, by hand or by autoCommit, and since when; what was
    # sent; and when polls began, with what was polled before each.
    polled, committed, sent, marks = (Kept("at group mq", ends=(events.QueueSought,)) for _ in range(4))
    stopping = Kept("at group", begins=(events.PollerStopping,))
    left = Kept("at group", begins=(events.TopicLeft,))
    # When a run of the rebalance had the list of members last. What was committed before that, and not sent, of queues
    # that have gone since: with the run, or with a topic that the application unsubscribes, which it says next.
    listed = Kept("at group topic", begins=(Match(events.ConsumerIdsFetched,
                                                  having=lambda one: one.client_ids is not None),))
    unsent = Kept("at group mq")
    # Queues for which no process queue stood when a rebalance had shared them out, until when that was so.
    begun_ms = Kept("at group mq")

    @on(events.QueuesHeld)
    def has(self, ms: int, at: str, event: events.QueuesHeld) -> None:
        self._takes(ms, at, event)
        for key, (offset, since_ms) in self.committed.items():
            listed_ms = self.listed.get((*key[:2], key[2].topic), -inf)
            if key[:2] == (at, event.group) and key[2] not in event.mqs and since_ms < listed_ms:
                self.unsent[key] = offset, since_ms
        for table in (self.owed, self.polled, self.committed, self.sent, self.marks):
            table.drop(lambda key: key[:2] == (at, event.group) and not event.mqs.issuperset(key[2:]))

    def _takes(self, ms: int, at: str, event: events.QueuesHeld) -> None:
        for key in ((at, event.group, mq) for mq in sorted(event.mqs)):
            topic = key[2].topic
            if key[2] in self.views.taken_to_poll(at, event.group, topic):
                if key in self.begun_ms:
                    self.begun_ms[key] = min(self.begun_ms[key], ms)
            elif (at, event.group, topic) in self.listed:
                self.begun_ms[key] = inf

    @on(events.TopicLeft)
    def unsubscribes(self, _: int, at: str, event: events.TopicLeft) -> None:
        self.unsent.drop(lambda key: key[:2] == (at, event.group) and key[2].topic == event.topic)

    @on(events.PollBegan, events.PollerStopping)
    def goes_on(self, _: int, at: str, event: events.PollBegan | events.PollerStopping) -> Iterator[Told]:
        for key, (offset, since_ms) in [one for one in self.unsent.items() if one[0][:2] == (at, event.group)]:
            del self.unsent[key]
            yield self.told(f"{at} has given up {queue_text(key[2])} and not sent {offset}, which was committed", *key,
                            since_ms=since_ms)

    @on(events.MessagesPolled)
    def polls(self, _: int, at: str, event: events.MessagesPolled) -> None:
        self.polled[at, event.group, event.mq] = event.offsets[-1] + 1

    @on(events.QueueSought)
    def seeks(self, _: int, at: str, event: events.QueueSought) -> None:
        self.pay((at, event.group, event.mq))

    @on(events.PollBegan, events.CommitAsked)
    def is_done(self, ms: int, at: str, event: events.PollBegan | events.CommitAsked) -> None:
        if (isinstance(event, events.PollBegan) and not event.auto_commit) or (at, event.group) in self.stopping:
            return
        for key, offset in self.polled.items():
            if key[:2] == (at, event.group) and offset > self.sent.get(key, NO_OFFSET):
                self.owe(key, ms, offset)
                if isinstance(event, events.CommitAsked):
                    self.committed[key] = offset, ms
                else:
                    self._commits_itself(key, ms, offset)

    def _commits_itself(self, key: tuple[str, str, MessageQueue], ms: int, offset: int) -> None:
        """A poll begins; offset -- behind what was polled before."""
        marks = self.marks.setdefault(key, [])
        while marks and marks[0][0] + deadlines.AUTO_COMMIT_MS <= ms:
            done = marks.pop(0)[1]
            if done > self.sent.get(key, NO_OFFSET):
                self.committed[key] = done, ms
        marks.append((ms, offset))

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> None:
        key = at, event.group, event.mq
        self.sent[key] = event.offset
        if key in self.owed and event.offset >= self.owed[key][2]:
            self.pay(key)
        if key in self.committed and event.offset >= self.committed[key][0]:
            del self.committed[key]

    @on(events.PollerShutDown)
    def ends(self, _: int, at: str, event: events.PollerShutDown) -> Iterator[Told]:
        """What was committed is sent by now; whether autoCommit has come to the rest nobody knows."""
        mine = at, event.group
        for key, (offset, _) in [one for one in self.committed.items() if one[0][:2] == mine]:
            since_ms = self.owed[key][0] if key in self.owed else None
            yield self.told(f"{at} has shut down and not sent {offset} of {queue_text(key[2])}, which was committed",
                            *key, since_ms=since_ms)
        for table in self.tables():
            if table is not self.left and table is not self.begun_ms:  # these say why it has not sent it
                table.drop(lambda key: key[:2] == mine)


class poller_begins_where_it_is_to(Polled):
    """A consumer that polls begins a queue of which its group has no offset as configured: at the first message."""

    cite = "RebalanceLitePullImpl#computePullFromWhereWithException"
    excuses = (BROKER_AWAY,)

    # The queues that have been pulled since they were taken. What the client was told of a queue last; what it has
    # committed something of.
    begun = Kept("at group mq")
    told_of = Kept("at group mq")
    committed = Kept("at group mq", survives="all", begins=(events.OffsetSent,))

    @on(events.OffsetAnswered)
    def is_told(self, _: int, at: str, event: events.OffsetAnswered) -> None:
        for place in self.facts.places(at, event):
            self.told_of[machine_of(event.connection), *place] = event.offset

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, event.group, event.mq
        is_first, self.begun[key] = key not in self.begun, ms
        is_none = self.told_of.get(key) == NO_OFFSET and key not in self.committed
        if is_first and is_none and event.offset > 0 and self._at_the_first(at, event.group):
            yield self.told(f"{at} begins {queue_text(event.mq)} at {event.offset}, and is to begin it at its first "
                            "message", *key)

    def _at_the_first(self, at: str, group: str) -> bool:
        return bool(self.views.polls_from(at, group) == ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
