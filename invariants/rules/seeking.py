"""Rules of applications that poll: where they go in their queues, what they leave, and as whom they are known."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.decisions.start_offset import NO_OFFSET
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.polling import DISK_WAS_FULL, Polled
from invariants.rules.polling_in_time import BROKER_AWAY
from invariants.rules.rule import Duty, Kept, Rule, Told, on
from invariants.views import Views
from invariants.views.values import QueueRange


def _stored(views: Views, mq: MessageQueue) -> list[QueueRange]:
    """What each broker of its name has of a queue."""
    return [stored for broker in views.brokers() if broker.broker_name == mq.broker_name
            if (stored := views.stored_at(broker.machine, mq.topic, mq.queue_id)) is not None]


_CORRECTED = Match(events.PullAnswered, of="at group mq", having=lambda one: one.code == PullCode.PULL_OFFSET_MOVED)


class Left(Rule):
    """What is common: which topics applications have unsubscribed, and when."""

    about = "at group mq"

    left_ms = Kept("at group topic", begins=(events.TopicLeft,), ends=(events.TopicWantedAgain,))


class left_topic_is_not_pulled(Left):
    """Nothing of a topic that an application has unsubscribed is pulled, but for a pull that is about to begin.

    Who subscribes it again has it before the call returns, which tells the brokers first.
    """

    cite = "DefaultLitePullConsumerImpl#unsubscribe: removePullTaskCallback, PullTaskImpl#run"

    pulled = Kept("at group mq")

    @on(events.TopicWantedAgain)
    def subscribes(self, _: int, at: str, event: events.TopicWantedAgain) -> None:
        self.pulled.drop(lambda key: key[:2] == (at, event.group) and key[2].topic == event.topic)

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, event.group, event.mq
        if (at, event.group, event.mq.topic) not in self.left_ms:
            return
        if key in self.pulled:
            yield self.told(f"{at} pulls {queue_text(event.mq)}, whose topic its application has unsubscribed", *key)
        self.pulled[key] = ms


class left_topic_is_not_committed(Left):
    """Where nothing fails a consumer commits nothing of a topic that was unsubscribed once it has rebalanced.

    Until then a timer sends what was polled before.
    """

    cite = "RebalanceImpl#truncateMessageQueueNotMyTopic, RemoteBrokerOffsetStore#persistAll"
    calm = True

    @on(events.OffsetSent)
    def sends(self, ms: int, at: str, event: events.OffsetSent) -> Iterator[Told]:
        left_ms = self.left_ms.get((at, event.group, event.mq.topic), ms)
        if ms - left_ms > deadlines.left(self.bounds):
            yield self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, whose topic its application has "
                            f"unsubscribed {ms - left_ms} ms before", at, event.group, event.mq, since_ms=left_ms)


class poller_is_listed(Duty):
    """Where nothing fails brokers list an application that polls, under the name of its group."""

    cite = "DefaultLitePullConsumer#start: wrapNamespace, MQClientInstance#prepareHeartbeatData"
    calm = True
    about = "client group"
    within_ms = deadlines.heard_of
    paid_by = (Match(events.PollerShutDown, of="client=at group"),
               Match(events.ConsumerRegistered, of="client=connection.machine group"))
    excuses = (Excuse("a broker objects to its heartbeats, for its group subscribes something else",
                      by=Match(events.HeartbeatRefused, of="client=connection.machine group"), lasts=FOR_EVER),)
    late = "no broker has heard of {group} from {client} for {waited_ms} ms, which polls for it"

    listed = Kept("client group", machine="client", begins=(
        Match(events.ConsumerRegistered, of="client=connection.machine group"),))

    @on(events.PollBegan)
    def polls(self, ms: int, at: str, event: events.PollBegan) -> None:
        if (at, event.group) not in self.listed:
            self.owe((at, event.group), ms)


class seek_stays_in_the_queue(Rule):
    """A seek that returns leads to an offset that the queue has, or to its end; and the queue is one of the consumer's.

    While it asks where the queue begins and ends another member may take the queue.
    """

    cite = "DefaultLitePullConsumerImpl#seek: minOffset, maxOffset, AssignedMessageQueue#messageQueues"
    about = "at group mq"
    excuses = (DISK_WAS_FULL,)

    had = Kept("at group mq")

    @on(events.QueuesHeld)
    def has(self, ms: int, at: str, event: events.QueuesHeld) -> None:
        self.had.update({(at, event.group, mq): ms for mq in sorted(event.mqs)})

    @on(events.QueueSought)
    def seeks(self, _: int, at: str, event: events.QueueSought) -> Iterator[Told]:
        key = at, event.group, event.mq
        stored = _stored(self.views, event.mq)
        least, most = (min(one.min_offset for one in stored), max(one.max_offset for one in stored)) if stored else (
            event.offset, event.offset)
        if not least <= event.offset <= most:
            yield self.told(f"{at} goes to {event.offset} of {queue_text(event.mq)}, which has {least} to {most}", *key)
        if key not in self.had:
            yield self.told(f"{at} goes to {event.offset} of {queue_text(event.mq)}, which it never had", *key)


class legal_seek_is_taken(Rule):
    """Where nothing fails nobody is refused who seeks, in a queue that is his, an offset that it has, or its end."""

    cite = "DefaultLitePullConsumerImpl#seek: offset < minOffset || offset > maxOffset"
    about = "at group mq"
    calm = True
    excuses = (BROKER_AWAY,)

    @on(events.SeekRefused)
    def is_refused(self, _: int, at: str, event: events.SeekRefused) -> Iterator[Told]:
        if event.mq not in self.facts.polls_from.get((at, event.group), ()):
            return
        for stored in _stored(self.views, event.mq):
            if stored.min_offset <= event.offset <= stored.max_offset:
                yield self.told(f"{at} may not go to {event.offset} of {queue_text(event.mq)}, which has "
                                f"{stored.min_offset} to {stored.max_offset}", at, event.group, event.mq)


class _Positions(Polled):
    """What is common: where a consumer that is polled may be in its queues, by what it is told and does itself.

    What answers a pull of a former holding tells nothing.
    """

    known = Kept("at group mq")
    # Queues that have been pulled since they were taken.
    begun = Kept("at group mq")

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> None:
        if (at, event.group, event.mq) in self.begun:
            self.know((at, event.group, event.mq), event.next_begin_offset)

    @on(events.QueueSought)
    def seeks(self, _: int, at: str, event: events.QueueSought) -> None:
        self.know((at, event.group, event.mq), event.offset)

    @on(events.MessagesPolled)
    def polls(self, _: int, at: str, event: events.MessagesPolled) -> None:
        self.know((at, event.group, event.mq), event.offsets[-1] + 1)

    def know(self, key: tuple[str, str, MessageQueue], offset: int) -> None:
        """It may be there in this queue."""
        self.known.setdefault(key, set()).add(offset)

    def asked(self, key: tuple[str, str, MessageQueue]) -> set[int]:
        """What brokers have answered that is committed of this queue."""
        return {one.offset for one in self.facts.answers.get(key, ())}


class poller_pulls_where_it_was_told(_Positions):
    """A consumer that is polled pulls a queue where it began it, or from an offset that somebody has named since.

    That is a broker in the answer to a pull, or to who asks what is committed; its application, which has sought; or
    the end of what it was given. Until its first pull of a queue is answered it may begin it again.
    """

    cite = "DefaultLitePullConsumerImpl#nextPullOffset, AssignedMessageQueue#updatePullOffset"

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, event.group, event.mq
        if key[:2] not in self.facts.polls_from:
            return
        self.begun[key] = ms
        if event.offset not in self.known.get(key, (event.offset,)) and event.offset not in self.asked(key):
            yield self.told(f"{at} pulls {queue_text(event.mq)} from {event.offset}, which nobody has named", *key)


class taken_queue_begins_where_it_was_left(_Positions):
    """A consumer that is polled begins a queue that it has taken where a broker has told it, or where it was before.

    That is where it has pulled the queue, was to pull it next, was given its messages, or has sought. Of a queue
    without an offset it knows nothing.
    """

    cite = "DefaultLitePullConsumerImpl#nextPullOffset, AssignedMessageQueue#updatePullOffset: processQueue"

    # Queues of which a broker has said since they were taken that the group has no offset.
    without = Kept("at group mq")

    def of_what_is_held(self) -> Iterator[Kept]:
        """See Polled."""
        yield from (self.begun, self.without)

    @on(events.OffsetAnswered)
    def is_told(self, ms: int, at: str, event: events.OffsetAnswered) -> None:
        if event.offset == NO_OFFSET:
            self.without.update({(machine_of(event.connection), *place): ms for place in self.facts.places(at, event)})

    @on(events.PullSuspended)
    def pulls(self, ms: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        key = at, event.group, event.mq
        if key[:2] not in self.facts.polls_from:
            return
        is_right = key in self.begun or key in self.without or event.offset in self.asked(key).union(
            self.known.get(key, ()))
        self.begun[key] = ms
        self.know(key, event.offset)
        if not is_right:
            yield self.told(f"{at} begins {queue_text(event.mq)} at {event.offset}, which nobody has told it", *key)


class ways_exclude_each_other(Rule):
    """Who has subscribed cannot assign queues, and who has assigned some cannot subscribe."""

    cite = "DefaultLitePullConsumerImpl#setSubscriptionType"
    about = "at group"

    @on(events.WaysMixed)
    def mixes(self, _: int, at: str, event: events.WaysMixed) -> Iterator[Told]:
        yield self.told(f"{at} does both", at, event.group)


class seek_is_committed(Polled):
    """Whoever commits behind a seek, when the queue is pulled from there, does not commit what was polled before it.

    Not so once a broker has said that it does not have what comes next, and where it goes on.
    """

    cite = "DefaultLitePullConsumerImpl#nextPullOffset: updateConsumeOffset"

    # Where applications have gone; from there on, what a commit may say: then it is committed by hand.
    sought = Kept("at group mq", begins=(events.QueueSought,), value=lambda _, event: event.offset)
    gone, committed = (Kept("at group mq", ends=(events.QueueSought, _CORRECTED)) for _ in range(2))
    excuses = (BROKER_AWAY,)

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> None:
        key = at, event.group, event.mq
        if self.sought.get(key) == event.offset:
            self.gone[key] = self.sought.pop(key)

    @on(events.MessagesPolled)
    def polls(self, _: int, at: str, event: events.MessagesPolled) -> None:
        key = at, event.group, event.mq
        self.sought.pop(key, None)
        if key in self.gone:
            self.gone[key] = event.offsets[-1] + 1

    @on(events.CommitAsked)
    def commits(self, _: int, at: str, event: events.CommitAsked) -> None:
        self.committed.update({key: offset for key, offset in self.gone.items() if key[:2] == (at, event.group)})

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> Iterator[Told]:
        key = at, event.group, event.mq
        most = max(self.committed.get(key, event.offset), self.gone.get(key, NO_OFFSET))
        if event.offset > most:
            yield self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, and is at {most} since it has "
                            "gone back", *key)
