"""What the requests of a producer say: for whom, to which queue, for how long; and what is never requested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from impl import events
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.names import MASTER_ID
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.rules.sending import EMPTIED, FOR_NOW, LISTED, STORED, lacks_an_address
from invariants.rules.weather import clock_was_set

_NAMESPACE_ENDS = "%"
_MAKES_NO_TOPIC = "autoCreateTopicEnable = false"
"""BrokerStarted.settings"""
_LESS_SAFE = STORED - {0}
"""FLUSH_DISK_TIMEOUT, SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT: the message is stored, and not as its broker should."""


def _event(_: int, event: events.SendAsked) -> events.SendAsked:
    return event


class attempt_has_the_time_that_is_left(Rule):
    """Each attempt has what is left of the time-out of its send, no more and no less.

    A thread may stand still before an asynchronous send is tried again, and its process with it.
    """

    cite = "DefaultMQProducerImpl#sendDefaultImpl, #sendSelectImpl, MQClientAPIImpl#sendMessageAsync: costTime"
    about = "at group"
    excuses = (clock_was_set("at"),)

    asked = Kept("at key", begins=(events.SendAsked,), value=lambda ms, event: (ms + event.timeout_ms, event))

    @on(events.SendAttempted)
    def attempts(self, ms: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        asked = self.asked.get((at, event.key))
        if asked is None or event.timeout_ms is None:
            return
        left_ms = asked[0] - ms
        late_ms = self._late_ms(at, asked[0] - asked[1].timeout_ms, event.attempt) if asked[1].asynchronous else 0
        if not left_ms <= event.timeout_ms <= left_ms + late_ms:
            yield self.told(f"{at} waits {event.timeout_ms} ms for attempt {event.attempt} to send {event.key}, for "
                            f"which {left_ms} ms are left", at, event.group)

    def _late_ms(self, at: str, since_ms: int, attempt: int) -> int:
        """How late an attempt may be behind the failure of the one before, which has said how long it is to wait."""
        again = attempt - 1
        return again * self.bounds.thread_pause_ms + (self.facts.stood_still_ms(at, since_ms) if again else 0)


class request_names_what_is_meant(Rule):
    """A request names the topic and the group of its send, with their namespace, and the queue that was chosen."""

    cite = "ClientConfig#withNamespace, #queueWithNamespace, DefaultMQProducerImpl#sendSelectImpl"
    about = "at group"

    # What applications have asked for; a consumer that sends a message again means its retry topic.
    asked = Kept("at key", begins=(events.SendAsked,), value=_event)
    chosen = Kept("at key", begins=(events.QueueChosen,), value=lambda _, event: event.mq)

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        asked, chosen = self.asked.get((at, event.key)), self.chosen.get((at, event.key))
        if asked is not None and (asked.group, asked.topic) != (event.group, event.mq.topic):
            yield self.told(f"{at} sends {event.key} as {event.group} to {event.mq.topic}, and means {asked.group} and "
                            f"{asked.topic}", at, asked.group)
        if chosen is not None and chosen[1:] != event.mq[1:]:
            yield self.told(f"{at} sends {event.key} to {queue_text(event.mq)}, and has chosen {queue_text(chosen)}",
                            at, event.group)

    @on(events.SendTold)
    def is_told(self, _: int, at: str, event: events.SendTold) -> Iterator[Told]:
        """Applications know no namespace."""
        asked = self.asked.get((at, event.key))
        if asked is not None and event.mq is not None and _own_name(asked.topic) != event.mq.topic:
            yield self.told(f"{at} is told that {event.key} is in {queue_text(event.mq)}", at, event.group)


class illegal_message_is_not_sent(Rule):
    """What no broker would take is refused before anything is sent.

    Its topic is none, or one of the system, or its body is empty or too long.
    """

    cite = "Validators#checkMessage"
    about = "at group"

    illegal = Kept("key", survives="all")

    @on(events.SendAsked)
    def asks(self, ms: int, at: str, event: events.SendAsked) -> None:
        del at
        if not event.legal:
            self.illegal[event.key,] = ms

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        if (event.key,) in self.illegal:
            yield self.told(f"{at} sends {event.key}, which is illegal", at, event.group)

    @on(events.SendTold)
    def is_told(self, _: int, at: str, event: events.SendTold) -> Iterator[Told]:
        if (event.key,) in self.illegal and event.mq is not None:
            yield self.told(f"{at} is told {event.status} of {event.key}, which is illegal", at, event.group)


class legal_message_is_tried(Rule):
    """A legal message of a topic whose queues are known is sent to some broker, before its send fails.

    Who has chosen a queue itself may have chosen one whose broker is not known.
    """

    cite = "Validators#checkMessage, DefaultMQProducerImpl#sendDefaultImpl"
    about = "at group"
    calm = True

    listed = Kept("at group topic", begins=(LISTED,), ends=(EMPTIED,))
    asked = Kept("at key", begins=(events.SendAsked,), ends=(events.SendAttempted,), value=_event)
    chosen = Kept("key", survives="all", begins=(events.QueueChosen,))

    @on(events.SendTold)
    def is_told(self, _: int, at: str, event: events.SendTold) -> Iterator[Told]:
        asked = self.asked.pop((at, event.key), None)
        known = asked is not None and asked.legal and (at, event.group, asked.topic) in self.listed
        if known and (event.key,) not in self.chosen:
            yield self.told(f"{at} has not sent {event.key}, and gives it up", at, event.group)


class less_safe_message_goes_to_another_broker(Rule):
    """Who wants it so, and is answered that a message is stored, and not as safely as wished, sends it once more.

    It does so while attempts and time are left. A later answer that the message is refused ends its attempts, too.
    """

    cite = "DefaultMQProducerImpl#sendDefaultImpl: isRetryAnotherBrokerWhenNotStoreOK"
    about = "at group"
    excuses = (
        clock_was_set("at"),
        Excuse("its producer knows no address of a broker from whose queues it chooses: such an attempt sends nothing",
               when=lambda rule, told: rule.lacks_an_address(told.about[0])),
    )

    asked = Kept("at key", begins=(Match(events.SendAsked, having=lambda one: one.another),),
                 value=lambda ms, event: (ms, event))
    attempts = Kept("at key", begins=(events.SendAttempted,), value=lambda _, event: event)
    codes = Kept("at key", begins=(events.SendAnswered,), value=lambda _, event: event.code)
    last: events.SendAttempted | None = None  # of the message that was told of last

    @on(events.SendTold)
    def is_told(self, ms: int, at: str, event: events.SendTold) -> Iterator[Told]:
        begun_ms, asked = self.asked.pop((at, event.key), (ms, None))
        code = self.codes.get((at, event.key.partition(",")[0]))
        self.last = self.attempts.pop((at, event.key), None)
        attempts = 0 if self.last is None else self.last.attempt
        if asked is None or code not in _LESS_SAFE or attempts >= asked.attempts:
            return
        if ms - begun_ms <= asked.timeout_ms:
            yield self.told(f"{at} is told {event.status} of {event.key} after {attempts} of {asked.attempts} attempts",
                            at, event.group, since_ms=begun_ms)

    def lacks_an_address(self, at: str) -> bool:
        """Whether a master is not known of a broker that the last attempt could have chosen."""
        return self.last is not None and lacks_an_address(self, at, self.last.client_id, self.last.listed)


class final_refusal_ends_a_send(Rule):
    """What a broker has refused for good is not sent again: another broker would refuse it, too.

    For good is refused what is illegal, not what a broker is too busy for, or has no topic or no permission for now.
    """

    shipped = "holds"
    cite = "DefaultMQProducer.retryResponseCodes, DefaultMQProducerImpl#sendDefaultImpl, MQClientAPIImpl#sendMessage"
    about = "at group"

    # The code with which the last attempt to send a message was refused; of a batch its first message stands for all.
    refused = Kept("at id")

    @on(events.SendAnswered)
    def is_answered(self, _: int, at: str, event: events.SendAnswered) -> None:
        if event.code not in STORED | FOR_NOW:
            self.refused[at, event.key] = event.code

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        code = self.refused.pop((at, event.key.partition(",")[0]), None)
        if code is not None and event.attempt > 1:
            yield self.told(f"{at} sends {event.key} again, which was refused for good (code {code})", at, event.group)


class new_topic_is_as_large_as_wished(Rule):
    """A topic that is made for a message has as many queues at its broker as its producer wishes, at most.

    It chooses among so many, too, as long as no broker has the topic.
    """

    cite = "DefaultMQProducer.defaultTopicQueueNums, MQClientInstance#updateTopicRouteInfoFromNameServer"
    about = "at topic"

    asked = Kept("topic", survives="all", begins=(events.SendAsked,), value=lambda _, event: event.queue_nums)
    made = Kept("topic", survives="all", begins=(events.TopicConfigUpdated,))

    @on(events.TopicConfigUpdated)
    def is_made(self, _: int, at: str, event: events.TopicConfigUpdated) -> Iterator[Told]:
        wished = self.asked.get((event.topic,))
        config = self.views.topics(at).get(event.topic)
        if wished is not None and config is not None and config.write_queue_nums != wished:
            yield self.told(f"{at} makes {event.topic} with {config.write_queue_nums} queues, and {wished} are wished",
                            at, event.topic)

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        topic = event.mq.topic
        wished = self.asked.get((topic,))
        if wished is None or (topic,) in self.made:
            return
        most = max(Counter(mq.broker_name for mq in event.listed).values(), default=0)
        if most > wished:
            yield self.told(f"{at} chooses among {most} queues of a broker for {topic}, and wishes {wished}", at, topic)


class MadeForMessages(Rule):
    """What is common: a topic to which applications send, and that no operator has ordered, is made for a message."""

    about = "at topic"

    asked = Kept("topic", survives="all", begins=(events.SendAsked,))
    ordered = Kept("server name", survives="all", begins=(events.OrderGiven,))

    def is_for_a_message(self, at: str, topic: str) -> bool:
        """Whether a broker makes it for a message, if it makes it now."""
        return (topic,) in self.asked and (at, topic) not in self.ordered


class new_topic_is_for_everybody(MadeForMessages):
    """A topic that is made for a message may be written and read, and is no pattern for others."""

    cite = "TopicConfigManager#createTopicInSendMessageMethod: PERM_INHERIT is cleared"

    @on(events.TopicConfigUpdated)
    def is_made(self, _: int, at: str, event: events.TopicConfigUpdated) -> Iterator[Told]:
        config = self.views.topics(at).get(event.topic) if self.is_for_a_message(at, event.topic) else None
        if config is not None and config.perm != PERM_READ | PERM_WRITE:
            yield self.told(f"{at} makes {event.topic} with the permission {config.perm}", at, event.topic)


class closed_broker_makes_no_topic(MadeForMessages):
    """A broker that is not to make topics makes none for a message: operators create them.

    A master that starts again has the topics that it had; a slave has those of its master.
    """

    shipped = "holds"
    cite = "BrokerConfig.autoCreateTopicEnable, TopicConfigManager#createTopicInSendMessageMethod"

    had = Kept("server topic", survives="all")

    @on(events.TopicConfigUpdated)
    def is_made(self, ms: int, at: str, event: events.TopicConfigUpdated) -> Iterator[Told]:
        broker, is_new = self.facts.brokers.get((at,)), (at, event.topic) not in self.had
        self.had[at, event.topic] = ms
        is_closed = broker is not None and broker.broker_id == MASTER_ID and _MAKES_NO_TOPIC in broker.settings
        if is_new and is_closed and self.is_for_a_message(at, event.topic):
            yield self.told(f"{at} makes {event.topic}, and is not to make topics", at, event.topic)


def _own_name(topic: str) -> str:
    """Without its namespace."""
    return topic.rpartition(_NAMESPACE_ENDS)[2]

