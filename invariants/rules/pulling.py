"""Rules of pulls: whom they ask and for what, when they wait, and that they go on."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.java_arithmetic import INT_MAX
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.decisions.pull_answer import PullCode
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.facts import is_suspended, queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on
from invariants.rules.weather import a_broker_was_away, broker_was_away, clock_was_set
from invariants.views import Cache, Limits

MIB = 1024 * 1024
_HOLDING = "at client_id group mq"
_ENDS = events.QueueDropped, events.ConsumerShutDown
_LEFT_ITS_TABLE = Excuse("the queue has left its table and was not dropped: others pull it, too",
                         by=events.QueueForgotten, lasts=FOR_EVER)
_AWAY = Excuse("the queue's broker was away, or stood still", when=broker_was_away)


class failed_pull_is_put_off(Rule):
    """A push consumer whose pull was not answered waits for a second before it pulls the queue again."""

    cite = "PullCallback#onException: PULL_TIME_DELAY_MILLS_WHEN_EXCEPTION"
    about = _HOLDING
    excuses = (clock_was_set("at"), _LEFT_ITS_TABLE)

    taken = Kept(_HOLDING, ends=_ENDS, begins=(events.QueueTaken,))
    open = Kept(_HOLDING, ends=(*_ENDS, events.QueueTaken, events.PullAnswered))

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, *event[:3]
        since_ms = self.open.get(key)
        if key in self.taken:
            self.open[key] = ms
            if since_ms is not None and ms - since_ms < deadlines.PULL_FAILED_MS:
                yield self.told(f"{at} pulls {queue_text(event.mq)} {ms - since_ms} ms after a pull that was not "
                                "answered", *key)


class found_pull_is_followed_after_its_interval(Rule):
    """Between a pull that has found something and the next pull of the queue lies the interval that its user wants."""

    cite = "PullCallback#onSuccess: pullInterval, executePullRequestLater"
    about = _HOLDING
    excuses = (clock_was_set("at"), _LEFT_ITS_TABLE)

    found = Kept(_HOLDING, ends=(*_ENDS, events.QueueTaken), begins=(events.MessagesFound,))

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, *event[:3]
        since_ms = self.found.pop(key, None)
        limits = None if since_ms is None else self.views.limits(at, event.group)
        if since_ms is not None and limits and ms - since_ms < limits.interval_ms:
            yield self.told(f"{at} pulls {queue_text(event.mq)} {ms - since_ms} ms after it has found something, and "
                            f"wants to wait for {limits.interval_ms} ms", *key)


class pull_asks_as_configured(Rule):
    """Where nothing fails a pull asks for as many messages as configured, by the version that is subscribed."""

    cite = "DefaultMQPushConsumerImpl#pullMessage: pullBatchSize, getSubVersion"
    about = "at group mq"
    calm = True

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, event.group, event.mq
        limits = self.views.limits(at, event.group)
        if limits and event.most != limits.pull_batch_size:
            yield self.told(f"{at} asks for {event.most} messages of {queue_text(event.mq)}, and wants "
                            f"{limits.pull_batch_size}", *key)
        subscribed = self.views.subscribed(at, event.group).get(event.mq.topic)
        if subscribed is not None and event.by_version != subscribed.sub_version:
            yield self.told(f"{at} pulls {queue_text(event.mq)} by version {event.by_version} of its subscription, "
                            f"which is {subscribed.sub_version}", *key)


class suggestion_is_followed(Rule):
    """A pull asks the broker that the last answer has suggested, if its address is known: the master again, too."""

    cite = "PullAPIWrapper#updatePullFromWhichNode, #recalculatePullFromWhichNode"
    about = _HOLDING

    suggested = Kept(_HOLDING, begins=(events.PullAnswered,), value=lambda _, event: event.suggested)

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, *event[:3]
        broker_id = self.suggested.get(key, MASTER_ID)
        addr = self.views.known_addresses(at, event.client_id).get((event.mq.broker_name, broker_id))
        if addr is not None and addr != event.asked:
            yield self.told(f"{at} asks {event.asked} for {queue_text(event.mq)}, and was told to ask broker "
                            f"{broker_id}, which is {addr}", *key)


class slave_is_told_no_offset(Rule):
    """A pull that goes to a slave commits nothing: its offsets are those of its master."""

    cite = "PullAPIWrapper#pullKernelImpl: clearCommitOffsetFlag"
    about = _HOLDING

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        if event.commits and any(one.broker_addr == event.asked and one.broker_id != MASTER_ID
                                 for one in self.views.brokers()):
            yield self.told(f"{at} commits {queue_text(event.mq)} with a pull that goes to the slave "
                            f"{event.asked}", at, *event[:3])


class pull_commits_what_is_remembered(Rule):
    """Where nothing fails a pull of a queue that is shared out carries what is settled by then, if it asks the master.

    The timer sends that, too, but up to five seconds later.
    """

    cite = "DefaultMQPushConsumerImpl#pullMessage: commitOffsetEnable, commitOffsetValue"
    about = _HOLDING
    calm = True
    excuses = (_AWAY,)

    # What a holding remembers and has sent: a listener that ends behind it still notes an offset, which the next
    # holding forgets (RebalanceImpl#removeDirtyOffset).
    memory = Kept(_HOLDING, ends=(*_ENDS, events.QueueTaken, events.OffsetReset, events.OffsetCorrected),
                  begins=(events.OffsetUpdated,), value=lambda _, event: event.offset)
    sent = Kept(_HOLDING, ends=(*_ENDS, events.QueueTaken), begins=(events.OffsetSent,),
                value=lambda _, event: event.offset)

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, *event[:3]
        memory, master = self.memory.get(key, 0), (event.mq.broker_name, MASTER_ID)
        asks_master = self.views.known_addresses(at, event.client_id).get(master) == event.asked
        if asks_master and self.facts.clusters(at, event.group) and memory > self.sent.get(key, 0):
            yield self.told(f"{at} pulls {queue_text(event.mq)} and does not commit {memory}, up to which all is "
                            "settled", *key)


# What is cached -------------------------------------------------------------------------------------------------------


def _excess(cache: Cache, limits: Limits, queues: int) -> str:
    """What of a queue is more than its user wants, in words; empty if nothing is. queues -- that the consumer has."""
    most = _of_topic(limits.messages, limits.topic_messages, queues)
    mib = _of_topic(limits.mib, limits.topic_mib, queues)
    if cache.messages > most:
        return f"{cache.messages} messages of it wait, and at most {most} are to"
    if cache.size_bytes // MIB > mib:
        return f"{cache.size_bytes} bytes of it wait, and at most {mib} MiB are to"
    if limits.span is not None and cache.span > limits.span:
        return f"messages of it wait that are {cache.span} apart, and at most {limits.span} are wanted"
    return ""


def _of_topic(of_queue: int, of_topic: int, queues: int) -> int:
    return max(1, of_topic // queues) if of_topic > 0 and queues else of_queue


class Cached(Rule):
    """What is common: how many queues a consumer has, by which limits of a topic are divided."""

    # When its share was changed last, and before that: the new number counts soon after it has changed.
    queues = Kept("at client_id group")

    @after(events.QueuesAssigned)
    def changes(self, _: int, at: str, event: events.QueuesAssigned) -> None:
        if event.changed:
            owner = at, *event[:2]
            before = self.queues.get(owner, (0, 0))[1]
            self.queues[owner] = before, len(self.facts.held_at(*owner))

    def excess(self, at: str, client_id: str, group: str, mq: MessageQueue, *, at_most: bool) -> str:
        """What is cached too much, by the greater limit, or by the lesser one."""
        cache, limits = self.views.cache(at, group, mq), self.views.limits(at, group)
        if not cache or not limits:
            return ""
        queues = [count for count in self.queues.get((at, client_id, group), ()) if count] or [0]
        return _excess(cache, limits, min(queues) if at_most else max(queues))


class cache_is_bounded(Cached):
    """A consumer pulls no more of a queue while more of it waits than its user wants: messages, MiB, or how far apart.

    What is set for a topic is divided among all queues that the consumer has.
    """

    cite = "DefaultMQPushConsumerImpl#pullMessage: pullThresholdForQueue, RebalancePushImpl#messageQueueChanged"
    about = "at group mq"

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        excess = self.excess(at, event.client_id, event.group, event.mq, at_most=True)
        if excess:
            yield self.told(f"{at} pulls {queue_text(event.mq)}: {excess}", at, event.group, event.mq)


def _has_left_the_route(rule: Rule, told: Told) -> bool:
    at, _, group, mq = told.about
    return mq not in rule.facts.routes.get((at, group, mq.topic), (mq,))


class room_is_filled(Cached, Duty):
    """Where nothing fails a pull is followed by the next one at once, as long as no more waits than its user wants.

    Who wants an interval between pulls waits for that before.
    """

    cite = "PullCallback#onSuccess: executePullRequestImmediately, DefaultMQPushConsumerImpl#pullMessage"
    calm = True
    about = _HOLDING
    within_ms = deadlines.pulled_again
    paid_by = (events.PullSuspended, events.QueueDropped, events.ConsumerStopping)
    late = "{at} has not pulled queue {mq.queue_id} of {mq.topic} at {mq.broker_name} for {waited_ms} ms: there is room"
    excuses = (Excuse("a broker was away, and the one thread that pulls may wait for a connection to it",
                      when=a_broker_was_away),
               Excuse("the client was told of a route without the queue, and may know no address of its broker",
                      when=_has_left_the_route))

    # When a queue was given up last: pulls of that time may be answered, and nothing follows.
    given_up_ms = Kept(_HOLDING, begins=(events.QueueDropped,))
    # Consumers that their users have suspended, and that nobody has seen at work since.
    suspended = Kept("at client_id group", begins=(events.ConsumerSuspended,))

    @after(events.PullAnswered)
    def is_answered(self, ms: int, at: str, event: events.PullAnswered) -> None:
        key = at, *event[:3]
        is_old = ms - self.given_up_ms.get(key, -inf) <= deadlines.pulled(self.bounds)
        if event.code != PullCode.PULL_OFFSET_MOVED and key in self.facts.holdings and not is_old:
            limits = self.views.limits(at, event.group)
            self.owe(key, ms)
            self.count_from(key, ms + (limits.interval_ms if limits else 0))

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Duty; no time counts while there is a reason to wait."""
        resumed = [one for one in self.suspended if not is_suspended(self.views, *one)] if self.suspended else []
        for key in [key for key in self.owed if key[:3] in resumed or self._may_wait(*key)
                    or self.excess(*key, at_most=False)]:
            self.count_from(key, now_ms)
        self.suspended.drop(resumed.__contains__)
        yield from super().look(now_ms)

    def _may_wait(self, at: str, client_id: str, group: str, mq: MessageQueue) -> bool:
        """Whether it is suspended, does not run or subscribe the topic, or waits for a lock."""
        runs = any(one[:3] == (at, client_id, group) and one.service_state == "RUNNING" and not one.pause
                   for one in self.views.consumers())
        locked = not self.facts.is_orderly(at, group) or any(
            held[:4] == (at, client_id, group, mq) and held.locked for held in self.views.process_queues(at))
        subscribes = mq.topic in self.views.subscribed(at, group)
        return not (runs and locked and subscribes)


# When a pull has to wait ----------------------------------------------------------------------------------------------


class suspended_consumer_does_not_pull(Rule):
    """A consumer that its user has suspended does not pull.

    Time in which its process stands still does not count: it may have looked before whether it is suspended.
    """

    cite = "DefaultMQPushConsumerImpl#suspend, #pullMessage: isPause"
    about = "at client_id group"

    suspended_ms = Kept("at client_id group", begins=(events.ConsumerSuspended,))

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, *event[:2]
        since_ms = self.suspended_ms.get(key, INT_MAX)
        waited_ms = ms - since_ms - self.facts.stood_still_ms(at, since_ms)
        if waited_ms > deadlines.begun(self.bounds) and is_suspended(self.views, *key):
            yield self.told(f"{at} pulls {queue_text(event.mq)}, and {event.group} is suspended there", *key)


class refused_queue_is_not_pulled(Rule):
    """A consumer that reads in order does not pull a queue whose lock it was refused when it renewed its locks.

    Ignores a pull that the consumer had begun before it heard the refusal: its table says when the last one began.
    """

    cite = "DefaultMQPushConsumerImpl#pullMessage: isLocked"
    about = _HOLDING

    # Whose last answer was a refusal; who has heard that, and when its last pull had begun.
    refused = Kept("client_id group mq", survives="all")
    heard = Kept(_HOLDING, ends=(*_ENDS, Match(events.LockBelieved, having=lambda one: one.locked)))

    @on(events.LocksAnswered)
    def answered(self, ms: int, _: str, event: events.LocksAnswered) -> None:
        for mq in event.asked - event.granted:
            self.refused[event.client_id, event.group, mq] = ms
        for mq in event.granted:
            self.refused.pop((event.client_id, event.group, mq), None)

    @on(events.LocksHeard)
    def hears(self, _: int, at: str, event: events.LocksHeard) -> None:
        """Who asks for one queue alone does not renew: it keeps what it believes."""
        mqs = [mq for mq in event.mqs if (*event[:2], mq) in self.refused] if len(event.mqs) > 1 else []
        began = self._began(at) if mqs else {}
        for mq in mqs:
            self.heard[at, *event[:2], mq] = began.get((at, *event[:2], mq))

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, *event[:3]
        if key in self.heard and self.facts.is_orderly(at, event.group) and self._began(at).get(key) != self.heard[key]:
            yield self.told(f"{at} pulls {queue_text(event.mq)}, whose lock it was refused", *key)

    def _began(self, at: str) -> dict[tuple[Any, ...], int]:
        return {held[:4]: held.last_pull_timestamp for held in self.views.process_queues(at)}


# Offsets that a broker does not have ----------------------------------------------------------------------------------


class illegal_offset_is_corrected(Duty):
    """Who is told that its broker has no such offset gives the queue up, and is where it is told in ten seconds.

    So it is unless a rebalance takes the queue out of its table before; whoever takes it again has done so.
    """

    cite = "PullCallback#onSuccess: OFFSET_ILLEGAL, executeTaskLater(10000)"
    about = _HOLDING
    within_ms = deadlines.corrected
    paid_by = (events.QueueTaken,)
    excuses = (Excuse("its consumer shuts down", by=(events.ConsumerStopping, events.ConsumerShutDown)),)
    kept = Kept(_HOLDING, ends=(events.QueueDropped, events.QueueTaken))
    # All to which its brokers have sent it.
    nearest = Kept(_HOLDING)

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> None:
        if event.code == PullCode.PULL_OFFSET_MOVED:
            self.nearest.setdefault((at, *event[:3]), set()).add(event.next_begin_offset)

    @on(events.OffsetFoundIllegal)
    def is_told(self, ms: int, at: str, event: events.OffsetFoundIllegal) -> None:
        key = at, *event[:3]
        self.owe(key, ms, event.nearest)
        if key in self.facts.holdings:
            self.kept[key] = ms

    @on(events.OffsetCorrected)
    def corrects(self, _: int, at: str, event: events.OffsetCorrected) -> Iterator[Told]:
        key = at, *event[:3]
        if key in self.kept:
            yield self.told(f"{at} has gone on with {queue_text(event.mq)}, where its broker had no such offset", *key)
        if event.offset not in self.nearest.get(key, {event.offset}):
            yield self.told(f"{at} goes to {event.offset} of {queue_text(event.mq)}, and was told to go to "
                            f"{max(self.nearest[key])}", *key)
        if key in self.owed and self.owed[key][2] == event.offset:
            self.pay(key)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        if not any(held[:4] == key and held.dropped for held in self.views.process_queues(key[0])):
            return None
        return f"{key[0]} has not gone to {what} in {queue_text(key[3])} in {waited_ms} ms"


class correction_waits(Rule):
    """An offset that its broker does not have is corrected ten seconds after the answer, when listeners are through."""

    cite = "DefaultMQPushConsumerImpl#pullMessage: OFFSET_ILLEGAL, executeTaskLater(10000)"
    about = _HOLDING
    excuses = (clock_was_set("at"),)

    # When brokers have sent it elsewhere; each answer is followed by a correction.
    answered_ms = Kept(_HOLDING)

    @on(events.PullAnswered)
    def is_answered(self, ms: int, at: str, event: events.PullAnswered) -> None:
        if event.code == PullCode.PULL_OFFSET_MOVED:
            self.answered_ms.setdefault((at, *event[:3]), []).append(ms)

    @on(events.OffsetCorrected)
    def corrects(self, ms: int, at: str, event: events.OffsetCorrected) -> Iterator[Told]:
        key = at, *event[:3]
        answers_ms = self.answered_ms.get(key, [])
        since_ms = answers_ms.pop(0) if answers_ms else ms - deadlines.ILLEGAL_MS
        if ms - since_ms < deadlines.ILLEGAL_MS:
            yield self.told(f"{at} corrects its offset of {queue_text(event.mq)} {ms - since_ms} ms after the answer",
                            *key, since_ms=since_ms)


class corrected_offset_is_sent(Duty):
    """A clustering consumer that has corrected an offset commits it at once."""

    cite = "PullCallback#onSuccess: offsetStore.persist"
    about = "at group mq"
    within_ms = deadlines.given_up
    paid_by = (events.QueueTaken, events.ConsumerShutDown)
    excuses = (_AWAY,)
    late = "{at} has gone to {what} in queue {mq.queue_id} of {mq.topic} at {mq.broker_name}, and not committed it"

    @on(events.OffsetCorrected)
    def corrects(self, ms: int, at: str, event: events.OffsetCorrected) -> None:
        if self.facts.clusters(at, event.group):
            self.owe((at, event.group, event.mq), ms, event.offset)

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> None:
        key = at, event.group, event.mq
        if key in self.owed and self.owed[key][2] == event.offset:
            self.pay(key)
