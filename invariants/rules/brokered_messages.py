"""Messages on their way through a broker: what was tried too often, what is sent back, what is pulled again."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import (
    DLQ_GROUP_TOPIC_PREFIX,
    RETRY_GROUP_TOPIC_PREFIX,
    RMQ_SYS_SCHEDULE_TOPIC,
    get_dlq_topic,
)
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.match import machine_of
from invariants.rules.past import place_of
from invariants.rules.rule import Duty, Kept, Rule, Told, on

_COPIES = RMQ_SYS_SCHEDULE_TOPIC, RETRY_GROUP_TOPIC_PREFIX, DLQ_GROUP_TOPIC_PREFIX
"""How topics begin that have copies of what was sent back."""
_PROCESS_DIGITS, _FIRST = 20, 3
"""So many digits of a unique id name the process that has made it; so many of its messages are looked at."""


class dead_letter_is_there_at_once(Rule):
    """A message whose tries are over is in the dead-letter queue when the broker has taken it."""

    shipped = "violated: M1 one that a consumer sends itself is delayed once more"
    cite = "SendMessageProcessor#handleRetryAndDLQ, #asyncConsumerSendMsgBack"
    about = "broker group"

    @on(events.DeadLetterTaken)
    def taken(self, _: int, at: str, event: events.DeadLetterTaken) -> Iterator[Told]:
        if event.delay_level:
            yield self.told(f"the dead letter {event.key} of {event.group} waits at {at} for delay level "
                            f"{event.delay_level}", event.broker, event.group)


class dead_letters_can_be_read(Rule):
    """The topic that a broker makes for the dead letters of a group can be read and written.

    It stays as it is until an operator changes it.
    """

    cite = "SendMessageProcessor#asyncConsumerSendMsgBack, #handleRetryAndDLQ: PERM_WRITE | PERM_READ"
    about = "broker group"
    excuses = (Excuse("an operator has given an order about the topic", when=lambda rule, told: rule.past.last(
        events.OrderGiven, server=told.about[0], name=get_dlq_topic(told.about[1])) is not None),)

    @on(events.DeadLetterTaken)
    def taken(self, _: int, at: str, event: events.DeadLetterTaken) -> Iterator[Told]:
        topic = get_dlq_topic(event.group)
        data = self.views.topics(at).get(topic)
        if data is not None and data.perm != PERM_READ | PERM_WRITE:
            yield self.told(f"{at} has made {topic} with the permission {data.perm}", event.broker, event.group)


class accepted_send_back_is_kept(Rule):
    """A broker that says SUCCESS to a message that is sent back has a copy, for another try or as a dead letter.

    Each has one of its own, which its store has appended.
    """

    shipped = "violated: M2 a group with no retry queue loses it"
    cite = "SendMessageProcessor#asyncConsumerSendMsgBack"
    about = "broker group"
    excuses = (
        cause("M2", "the group has no retry queues there",
              when=lambda rule, told: (nums := rule.views.retry_queue_nums(*told.about)) is not None and nums <= 0),
    )

    # Records that no send-back has had for its copy.
    copies = Kept("at copy_offset", survives="all")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic.startswith(_COPIES):
            self.copies[at, event.commit_log_offset] = ms

    @on(events.SendBackTaken)
    def taken(self, _: int, at: str, event: events.SendBackTaken) -> Iterator[Told]:
        if self.copies.pop((at, event.copy_offset), None) is None:
            yield self.told(f"{at} has no copy of the message at {event.commit_log_offset} that {event.group} has sent "
                            "back", event.broker, event.group)


class retry_is_where_it_is_read(Rule):
    """A message that is sent back gets into a queue that its topic has, at once or when its delay is over."""

    shipped = "violated: M4 the group's number of retry queues is another one"
    cite = "SendMessageProcessor#asyncConsumerSendMsgBack, TopicConfigManager#createTopicInSendMessageBackMethod"
    about = "broker group"

    @on(events.SendBackTaken)
    def taken(self, _: int, at: str, event: events.SendBackTaken) -> Iterator[Told]:
        topic = self.views.topics(at).get(event.copy_topic)
        if event.copy_offset is not None and (topic is None or event.copy_queue_id >= topic.read_queue_nums):
            yield self.told(f"{at} keeps the message at {event.commit_log_offset} for queue {event.copy_queue_id} of "
                            f"{event.copy_topic}, which is none", event.broker, event.group)


class retried_pull_goes_on(Rule):
    """A pull that is to be tried again at once goes on behind what it has asked for."""

    shipped = "violated: M3 a slave that ends before the offset"
    cite = "PullMessageProcessor#processRequest, DefaultMessageStore#nextOffsetCorrection"
    about = "broker group topic queue_id"

    @on(events.PullRetried)
    def retried(self, _: int, at: str, event: events.PullRetried) -> Iterator[Told]:
        if event.next_offset <= event.offset:
            yield self.told(f"{at} tells {event.group} to pull queue {event.queue_id} of {event.topic} again at once, "
                            f"from {event.next_offset} on as before",
                            event.broker, event.group, event.topic, event.queue_id)


class held_pull_commits_at_once(Duty):
    """A master takes the offset that comes with a pull, also of one that it holds.

    It need not once a commit of the same client has overtaken the pull, which says more. Where the client has pulled
    that offset several times without an answer, it may be the first of these pulls that is held.
    """

    cite = "PullMessageProcessor#processRequest: storeOffsetEnable"
    about = "at group topic queue_id connection"
    within_ms = deadlines.soon
    paid_by = (events.OffsetCommitted,)
    late = ("{at} holds a pull of queue {queue_id} of {topic} by {connection} for {waited_ms} ms, and has not taken "
            "the offset of {group} that came with it")

    @on(events.PullHeld)
    def holds(self, ms: int, at: str, event: events.PullHeld) -> None:
        mq, client = MessageQueue(event.topic, self.facts.broker_name(at), event.queue_id), machine_of(event.connection)
        answered = self.past.last(events.PullAnswered, at=client, group=event.group, mq=mq)
        pulled = self.past.of(events.PullSuspended, since=place_of(answered), at=client, group=event.group, mq=mq,
                              offset=event.offset)
        taken = self.past.last(events.OffsetCommitted, at=at, group=event.group, topic=event.topic,
                               queue_id=event.queue_id, connection=event.connection)
        made = self.past.last(events.ConnectionMade, at=client, server=at)
        is_former = made is not None and made.event.connection != event.connection  # it has pulled anew since
        commits = bool(pulled) and all(one.event.commits for one in pulled) and place_of(taken) < pulled[0].place
        if self.facts.is_master(at) and not is_former and commits:
            self.owe((at, event.group, event.topic, event.queue_id, event.connection), ms)


class message_is_born_where_its_id_says(Rule):
    """A message says that it was born at the host that has sent it, with whose address its unique id begins.

    Looked at with the first messages of each process in each topic of a broker, but for the topics of copies.
    """

    cite = "SendMessageProcessor#asyncSendMessage: setBornHost, MessageClientIDSetter#createUniqID"
    about = "at key"

    looked_at = Kept("at process topic", survives="all")

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        if event.key is None or event.topic.startswith(_COPIES):
            return
        who = at, event.key[:_PROCESS_DIGITS], event.topic
        self.looked_at[who] = self.looked_at.get(who, 0) + 1
        written = self.views.written(at, *event[4:6]) if self.looked_at[who] <= _FIRST else None
        if written and not event.key.startswith(address := written.born[1]):
            yield self.told(f"{event.key} was born at {address}, says {at}", at, event.key)
