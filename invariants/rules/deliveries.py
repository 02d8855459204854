"""Rules of what listeners are given: no more often than their group allows, in order, and everything to everybody.

They are told from outside: by what applications say that they were given and made of it, and by what brokers store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import (
    CLIENT_INNER_PRODUCER_GROUP,
    DLQ_GROUP_TOPIC_PREFIX,
    RETRY_GROUP_TOPIC_PREFIX,
    RMQ_SYS_SCHEDULE_TOPIC,
    get_retry_topic,
)
from impl.events import (
    ForceFailed,
    MessageAppended,
    MessagesAnswered,
    MessagesGiven,
    ProcessKilled,
    QueueTaken,
    SendAttempted,
    TopicConfigDeleted,
    TopicConfigUpdated,
)
from invariants.rules import deadlines
from invariants.rules.answers import HELD, ROLLBACK, SUCCESS, has_failed, threads_held
from invariants.rules.delays import (
    copy_waits_for_ever,
    copy_was_deleted,
    copy_was_lost,
    is_left_undispatched,
    next_copy,
    was_passed_over,
)
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.past import Reported, place_of
from invariants.rules.rule import Kept, Promise, Rule, Told, on
from invariants.views import StoredRecord

SUB_ALL, TOPICS_FILE = "*", "store/config/topics.json"
BROADCASTING, CLUSTERING = "BROADCASTING", "CLUSTERING"  # MessageModel
_SENT_AGAIN = Match(SendAttempted, having=lambda one: one.group == CLIENT_INNER_PRODUCER_GROUP and one.attempt > 1)


class attempts_are_counted(Rule):
    """No listener is given a message after more attempts than its group allows, or a retry without their number.

    What cannot be sent back is tried again where it is, and counts on there.
    """

    judges = "attempts_are_bounded"
    shipped = "violated: X20 the count is lost when the inner producer sends a second time"
    cite = "SendMessageProcessor#asyncConsumerSendMsgBack, #handleRetryAndDLQ"
    about = "at group key"
    excuses = (
        Excuse("it is tried again where it is, and something has failed: it may not have been sent back",
               when=lambda rule, _: rule.in_place and not rule.views.calm()),
        Excuse("it is tried again where it is, as its client was told that it could not be sent back",
               when=lambda rule, _: rule.in_place and rule.unsent),
        cause("X20", "the client's own producer has sent it a second time",
              when=lambda rule, told: told.about[2:] in rule.again),
    )

    # Messages that clients have sent to retry topics again; how often each was tried, in its queue, when it was given.
    again = Kept("key", survives="all", begins=(_SENT_AGAIN,))
    tried = Kept("at group mq offset")
    failed = Kept("at key", begins=(Match(events.SendFailed, having=lambda one: (
        one.group == CLIENT_INNER_PRODUCER_GROUP)),))
    in_place = unsent = False

    @on(MessagesGiven)
    def gives(self, _: int, at: str, event: MessagesGiven) -> Iterator[Told]:
        for key, offset, attempt in zip(event.keys, event.offsets, event.attempts, strict=True):
            place = at, event.group, event.mq, offset
            self.in_place = 0 <= self.tried.get(place, -1) < attempt
            self.unsent = self.failed.pop((at, key), None) is not None
            self.tried[place] = attempt
            if event.mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX) and not attempt:
                yield self.told(f"{at} is given {key} of the retry topic, as if it had never been tried", at,
                                event.group, key)
            elif attempt > event.most:
                yield self.told(f"{at} is given {key} after it was sent back {attempt} times, and {event.group} gives "
                                f"up after {event.most}", at, event.group, key)


class failure_is_retried_once(Rule):
    """A message that a listener was given is put off no more often than listeners have failed with it.

    Who broadcasts fails once and for all: nothing is sent back. What its listener does not want again is a dead letter,
    or, if its broker does not take that, sent by its client as any other, which knows no dead letters.
    Who works on it for a minute may have failed: it expires then, after the least consumeTimeout that there is, and
    what is answered later belongs to the same attempt. If the clock is set forward meanwhile it may expire at once,
    also when it is answered and not settled yet.
    """

    shipped = "violated: X5 a send-back is repeated that was stored, X7 an expired message fails as well"
    cite = "DefaultMQPushConsumerImpl#sendMessageBack, ProcessQueue#cleanExpiredMsg"
    about = "key"
    excuses = (Excuse("its producer has sent it again", when=lambda rule, told: told.about in rule.again),
               cause("X5", "a client sends it itself", when=lambda rule, told: told.about in rule.anew),
               cause("X7", "it has expired", when=lambda rule, told: told.about in rule.expired))

    # How often listeners have failed with a message that was given to one; how often it was put off since.
    failures = Kept("key", survives="all")
    put_off = Kept("key", survives="all")
    # What a listener has failed with and does not want again, and no broker has taken as a dead letter.
    unwanted = Kept("key", survives="all", ends=(events.DeadLetterTaken,))
    # Since when listeners work on what they were given; what they have had for too long. The keys of that, and of what
    # clients have sent since.
    working = Kept("at mq offset key")
    late = Kept("at mq offset key")
    # What was answered and is not settled yet; what was under way when the clock of its machine was set forward.
    answered = Kept("at mq offset key")
    aged = Kept("at mq offset key")
    expired = Kept("key", survives="all")
    anew = Kept("key", survives="all")
    again = Kept("key", survives="all", begins=(Match(SendAttempted, having=lambda one: (
        one.group != CLIENT_INNER_PRODUCER_GROUP and one.attempt > 1)),))

    @on(MessagesGiven)
    def gives(self, ms: int, at: str, event: MessagesGiven) -> None:
        for key, offset in zip(event.keys, event.offsets, strict=True):
            self.failures.setdefault((key,), 0)
            self.working[at, event.mq, offset, key] = ms

    @on(MessagesAnswered)
    def answers(self, ms: int, at: str, event: MessagesAnswered) -> None:
        for key, offset, answer in zip(event.keys, event.offsets, event.answers, strict=True):
            place = at, event.mq, offset, key
            self.working.pop(place, None)
            self.answered[place] = ms
            fails = has_failed(answer) and not self.facts.broadcasts(at, event.group)
            if self.late.pop(place, None) is not None or not fails:
                continue
            if event.level >= 0:
                self.failures[key,] = self.failures.get((key,), 0) + 1
            else:
                self.unwanted[key,] = ms

    @on(events.MessagesSettled)
    def settles(self, _: int, at: str, event: events.MessagesSettled) -> None:
        self.answered.drop(lambda place: place[:2] == (at, event.mq) and place[2] in event.offsets)

    @on(events.ClockJumped)
    def is_set(self, ms: int, at: str, event: events.ClockJumped) -> None:
        if event.ms > 0:
            self.aged.update((place, ms) for table in (self.working, self.answered) for place in table
                             if place[0] == at)

    @on(events.SendAttempted)
    def sends(self, ms: int, at: str, event: events.SendAttempted) -> None:
        del at
        if (event.key,) in self.failures:
            self.anew[event.key,] = ms
        if event.group == CLIENT_INNER_PRODUCER_GROUP and self.unwanted.pop((event.key,), None) is not None:
            self.failures[event.key,] = self.failures.get((event.key,), 0) + 1

    @on(MessageAppended)
    def is_put_off(self, ms: int, at: str, event: MessageAppended) -> Iterator[Told]:
        if event.topic == RMQ_SYS_SCHEDULE_TOPIC and event.key is not None and (event.key,) in self.failures:
            times = self.put_off[event.key,] = self.put_off.get((event.key,), 0) + 1
            if times > self.failures[event.key,]:
                self._expire(event.key, ms)
            if times > self.failures[event.key,]:
                yield self.told(f"{at} has put {event.key} off {times} times, and listeners have failed with it "
                                f"{self.failures[event.key,]} times", event.key)

    def _expire(self, key: str, ms: int) -> None:
        """Whoever has worked on it for a minute has failed with it, too, also by a clock that was set."""
        long = [place for place, since_ms in self.working.items() if ms - since_ms >= deadlines.LISTENER_EXPIRY_MS]
        for place in [place for place in dict.fromkeys((*long, *self.aged)) if place[3] == key]:
            self.aged.pop(place, None)
            if place in self.working:
                self.late[place] = self.working.pop(place)
            self.expired[key,] = ms
            self.failures[key,] += 1


class ordered_messages_stay_in_order(Rule):
    """Of an ordered queue no listener of a group is given a message before all that it was given before are settled.

    What was given again from an earlier one on, by another owner or by the same, begins there anew. One with which its
    last attempt has failed is settled: it is a dead letter. What its broker has deleted by the time that it sends a
    member on (OFFSET_ILLEGAL) nobody can be given again, and nobody waits for it.
    What a listener holds back counts as settled here.
    """

    shipped = ("violated: D7 a batch outlives the lease, D8 the broker has lost its locks, D9 an unlock comes late, "
               "D10 a shutdown does not wait, D13 a listener goes on behind a reset")
    cite = "ConsumeMessageOrderlyService.ConsumeRequest#run, RebalanceLockManager#tryLockBatch"
    about = "at group mq"

    # The offsets that listeners of a group work on, at which machine, and whether it is their last attempt. Members
    # that broadcast share no queue: each is a group of its own.
    open = Kept("group mq", survives="all")

    @on(MessagesGiven)
    def gives(self, _: int, at: str, event: MessagesGiven) -> Iterator[Told]:
        if not event.orderly or not event.offsets:
            return
        open_at = self.open.setdefault((self._readers(at, event.group), event.mq), {})
        for offset in [offset for offset in open_at if offset >= event.offsets[0]]:
            del open_at[offset]
        if open_at:
            least = min(open_at)
            yield self.told(f"{at} is given {event.offsets[0]} of {queue_text(event.mq)}, and {open_at[least][0]} has "
                            f"not settled {least}", at, event.group, event.mq)
        for offset, attempt in zip(event.offsets, event.attempts, strict=True):
            open_at[offset] = at, attempt >= event.most

    @on(MessagesAnswered)
    def answers(self, _: int, at: str, event: MessagesAnswered) -> None:
        open_at = self.open.get((self._readers(at, event.group), event.mq), {})
        for offset, answer in zip(event.offsets, event.answers, strict=True):
            worker, is_last = open_at.get(offset, ("", False))
            if worker == at and (answer in {SUCCESS, HELD} or is_last):
                del open_at[offset]

    @on(events.OffsetFoundIllegal)
    def is_sent_on(self, _: int, at: str, event: events.OffsetFoundIllegal) -> None:
        stored = [has.min_offset for broker in self.views.brokers() if broker.broker_name == event.mq.broker_name
                  if (has := self.views.stored_at(broker.machine, event.mq.topic, event.mq.queue_id)) is not None]
        open_at = self.open.get((self._readers(at, event.group), event.mq), {})
        for offset in [offset for offset in open_at if offset < min(stored, default=0)]:
            del open_at[offset]

    def _readers(self, at: str, group: str) -> tuple[str, ...]:
        """Who shares a queue with a member."""
        return (group, at) if self.facts.broadcasts(at, group) else (group,)


class Delivered(Promise):
    """What promises share that look at what is stored, and at what listeners have said of it.

    Only what was stored before the world healed is looked for: the rest may be on its way.
    stored_ms -- the keys of that. settled -- group and key of what a listener has succeeded with, and has
    not rolled back. given -- group, machine and key of what one was given. dead -- group and key of dead letters.
    """

    stored_ms = Kept("key", survives="all")
    settled = Kept("group key", survives="all")
    given = Kept("group at key", survives="all")
    dead = Kept("group key", survives="all")
    # What was read of a broker's log when the world had healed: where it begins, and the records that are looked for.
    read = Kept("at", ends=(events.BrokerStarted, events.LogCopied))

    @on(MessagesGiven)
    def is_given(self, ms: int, at: str, event: MessagesGiven) -> None:
        for key in event.keys:
            self.given.setdefault((event.group, at, key), ms)

    @on(MessagesAnswered)
    def is_settled(self, ms: int, _: str, event: MessagesAnswered) -> None:
        for key, answer in zip(event.keys, event.answers, strict=True):
            if answer in {SUCCESS, HELD}:
                self.settled.setdefault((event.group, key), ms)
            elif answer == ROLLBACK:
                self.settled.pop((event.group, key), None)

    @on(MessageAppended)
    def is_stored(self, ms: int, at: str, event: MessageAppended) -> None:
        del at
        if event.key is not None and event.topic.startswith(DLQ_GROUP_TOPIC_PREFIX):
            self.dead.setdefault((event.topic.removeprefix(DLQ_GROUP_TOPIC_PREFIX), event.key), ms)
        elif event.key is not None and not self.healed_ms:
            self.stored_ms.setdefault((event.key,), ms)

    def stored(self, topic: str) -> Iterator[tuple[MessageQueue, int, str]]:
        """Queue, offset and key of each message of a topic that a living broker has, as far as it is looked for."""
        for broker in self.views.brokers():
            for record in self._looked_for(broker.machine):
                if record.topic == topic:
                    mq = MessageQueue(topic, broker.broker_name, record.queue_id)
                    yield mq, record.queue_offset, str(record.key)

    def _looked_for(self, at: str) -> Sequence[StoredRecord]:
        """The records of a broker that are looked for; its log is read again when a file of it was deleted."""
        begin = self.views.log_begin(at)
        if self.read.get((at,), (None,))[0] != begin:
            self.read[at,] = begin, [one for one in self.views.log_records(at) if (one.key,) in self.stored_ms]
        found: list[StoredRecord] = self.read[at,][1]
        return found

    def readers(self, message_model: str) -> dict[tuple[str, str], list[str]]:
        """Group and topic to the machines that read all of it, where all members of the group do so."""
        readers: dict[tuple[str, str], list[str]] = {}
        others = set()
        for one in self.views.in_service():
            if self.facts.is_refused(one.group, one.client_id):
                continue
            for topic, subscription in self.views.subscribed(one.machine, one.group).items():
                readers.setdefault((one.group, topic), []).append(one.machine)
                if subscription.sub_string != SUB_ALL or one.message_model != message_model:
                    others.add((one.group, topic))
        return {place: machines for place, machines in sorted(readers.items())
                if place not in others and not place[1].startswith(RETRY_GROUP_TOPIC_PREFIX)}


class every_message_is_settled(Delivered):
    """A message that is stored has been consumed by each group that reads its topic, or is one of its dead letters."""

    shipped = ("violated: U4 a member that has queues of the topic does not subscribe it, "
               "V23 its copy is lost that nobody has waited for, V39 its copy waits in a level without a task, "
               "V40 nothing is dispatched, V42 its copy was passed over, V43 its queue is gone from its topic")
    excuses = (
        Excuse("the broker of its copy for another try has deleted the file of its log in which the copy was",
               when=lambda rule, told: copy_was_deleted(rule, told.about[0], told.about[2])),
        Excuse("a member that has its queue, or one of the retry topic if it waits there, has no thread that a "
               "listener gives back, and has not given it to one since it has the queue",
               when=lambda rule, told: rule.has_no_thread(*told.about)),
        Excuse("its broker has lost its queue with its power, and could not force the table of topics before",
               when=lambda rule, told: any(map(rule.was_not_forced, rule.without_queue(*told.about)))),
        cause("U4", "a member of the group does not subscribe the topic",
              when=lambda rule, told: rule.lacks(told.about[0], told.about[1].topic)),
        cause("V23", "its copy for another try was not waited for, and is gone with the power of its broker",
              when=lambda rule, told: copy_was_lost(rule, told.about[0], told.about[2])),
        cause("V39", "its copy for another try is in a delay level whose task has ended",
              when=lambda rule, told: copy_waits_for_ever(rule, told.about[0], told.about[2])),
        cause("V40", "the thread that dispatches has ended, before it came to the message or its copy for another try",
              when=lambda rule, told: is_left_undispatched(rule, rule.last_put(*told.about))),
        cause("V42", "its copy for another try was put where a lost message was, before its delay level had looked, or "
              "had saved a new offset",
              when=lambda rule, told: was_passed_over(rule, next_copy(rule, told.about[0], told.about[2]))),
        cause("V43", "its broker has lost its power since, and has no such queue of the topic any more",
              when=lambda rule, told: bool(rule.without_queue(*told.about))),
    )
    cite = "DefaultMQPushConsumerImpl#pullMessage, ConsumeMessageService"
    about = "group mq key"
    within_ms = deadlines.all_settled
    named = True
    lasts = True  # nobody sends any more

    def lacks(self, group: str, topic: str) -> bool:
        """Whether a member of the group does not subscribe a topic; whom a broker refuses is none."""
        return any(topic not in self.views.subscribed(one.machine, group) for one in self.views.in_service()
                   if one.group == group and not self.facts.is_refused(group, one.client_id))

    def has_no_thread(self, group: str, mq: MessageQueue, key: str) -> bool:
        """Whether who is to give it to a listener has only threads that listeners do not give back.

        What a listener was given there is sent back when it has expired, by a thread that no listener has.
        """
        is_copied = next_copy(self, group, key) is not None
        holdings = {(at, held) for at, _, of, held in self.facts.holdings if of == group and (
            held.topic == get_retry_topic(group) if is_copied else held == mq)}
        return any(threads_held(self.past, at, group) >= (self.views.consume_threads(at, group) or inf)
                   and not self._was_given(at, group, held, key) for at, held in holdings)

    def _was_given(self, at: str, group: str, mq: MessageQueue, key: str) -> bool:
        """Whether a member has given a message to a listener since it has its queue."""
        taken = place_of(self.past.last(QueueTaken, at=at, group=group, mq=mq))
        return any(key in one.event.keys for one in self.past.of(MessagesGiven, since=taken, at=at, group=group, mq=mq))

    def without_queue(self, group: str, mq: MessageQueue, key: str) -> list[Reported]:
        """The losses of power of a broker since it put a message that was not sent back, and has no queue any more."""
        put = self.past.last(MessageAppended, key=key, topic=mq.topic)
        if put is None or next_copy(self, group, key) is not None:
            return []
        topics = self.views.topics(put.at)
        there = mq.topic in topics and mq.queue_id < topics[mq.topic].read_queue_nums
        return [] if there else self.past.of(ProcessKilled, since=put.place, at=put.at, power_loss=True)

    def was_not_forced(self, lost: Reported) -> bool:
        """Whether a force of the table of topics had failed when it was written last before a loss of power."""
        written = (*self.past.of(TopicConfigUpdated, TopicConfigDeleted, at=lost.at),
                   *self.past.of(ForceFailed, at=lost.at, path=TOPICS_FILE))
        last = max((one for one in written if one.place < lost.place), default=lost)
        return isinstance(last.event, ForceFailed)

    def last_put(self, group: str, mq: MessageQueue, key: str) -> Reported | None:
        """When a broker put what the group is to be given next of a message."""
        return next_copy(self, group, key) or self.past.last(MessageAppended, key=key, topic=mq.topic)

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for group, topic in self.readers(CLUSTERING):
            for mq, offset, key in self.stored(topic):
                if (group, key) not in self.settled and (group, key) not in self.dead:
                    yield self.told(f"{group} has not consumed {key} at {offset} of {queue_text(mq)}", group, mq, key)


class broadcast_reaches_everyone(Delivered):
    """Every message that is stored has been given to each living member of a broadcasting group."""

    shipped = "violated: U16 an illegal offset stays in the file"
    cite = "LocalFileOffsetStore, DefaultMQPushConsumerImpl#pullMessage"
    about = "at group mq"
    within_ms = deadlines.all_settled
    named = True
    lasts = True  # nobody sends any more

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for (group, topic), machines in self.readers(BROADCASTING).items():
            for mq, offset, key in self.stored(topic):
                for at in machines:
                    if (group, at, key) not in self.given:
                        yield self.told(f"{at} has not been given {key} at {offset} of {queue_text(mq)}", at, group, mq)
