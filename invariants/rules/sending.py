"""What producers are told of their messages, how they use their attempts, and where they send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP, MASTER_ID, REPLY_TOPIC_POSTFIX, RMQ_SYS_SCHEDULE_TOPIC
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.orders import ORDER_TOPIC_CONFIG
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.rules.stored_codes import java_hash

STORED = frozenset({0, 10, 11, 12})
"""SUCCESS, FLUSH_DISK_TIMEOUT, SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT: the master has the message."""
_NOT_STORED = frozenset({2, 13, 14, 16, 17, 10001, 10003, 10004, 10005})
"""SYSTEM_BUSY, MESSAGE_ILLEGAL, SERVICE_NOT_AVAILABLE, NO_PERMISSION, TOPIC_NOT_EXIST, and those ClientErrorCodes that
say that no broker was reached: what fails with them is, by what they say, not stored."""
_BUSY, _NO_BROKER, _RETRIED = 2, 10003, frozenset({1, 14, 16, 17, 204, 205})
FOR_NOW = _RETRIED | {_BUSY}
"""SYSTEM_ERROR, SERVICE_NOT_AVAILABLE, NO_PERMISSION, TOPIC_NOT_EXIST, NO_BUYER_ID, NOT_IN_CURRENT_UNIT, SYSTEM_BUSY:
another broker, or the same one later, may take what was refused so."""
_HOPELESS = frozenset({13, 10004, 10005})
"""MESSAGE_ILLEGAL, NO_NAME_SERVER_EXCEPTION, NOT_FOUND_TOPIC_EXCEPTION: another broker would not take it either."""
_NO_TIME, _REFUSED, _ANSWERED, _OTHERWISE = "no time is left", "SYSTEM_BUSY", "a broker has answered", "for no reason"
_UNKNOWN, _UNROUTED = "its broker has no address", "no route was known when it began"
_REROUTED = "its route has changed"
_FIRST, _LATER, _ABSENT = "first attempt", "later attempt", "broker of which it has none"
_STORES, _REFUSES = "said to be stored", "said to be refused"
OWN_TOPICS = ("%", "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_", "TRANS_CHECK_MAX_TIME_TOPIC")
"""What begins so has copies of messages of other topics."""
COMMITS = "COMMIT_MESSAGE"
_TRIED_AGAIN = Match(events.SendAttempted, having=lambda one: one.attempt > 1)
REPLIES = f"_{REPLY_TOPIC_POSTFIX}"
"""How the topic of the replies of a cluster ends."""
LISTED = Match(events.PublishInfoUpdated, having=lambda one: bool(one.queues))
SENT_ANEW = Match(events.SendAttempted, having=lambda one: one.group == CLIENT_INNER_PRODUCER_GROUP)
"""A consumer sends a message itself that it could not send back."""
EMPTIED = Match(events.PublishInfoUpdated, having=lambda one: not one.queues)
LATENCY_AWARE = Match(events.ProducerStarted, having=lambda one: one.send_latency_fault_enable)


class send_outcome_is_honest(Rule):
    """A message of which a producer is told that it is stored is stored there; one that was refused is not stored.

    There: at this place of the log, and as this number of the queue.

    Most exceptions say neither. What a consumer sends anew that it could not send back has its id already, so that
    nothing is said of it when it is refused. SUCCESS of a reply says that who waits for it has it; where the answer
    names no place of the log, it does not say that the reply is stored.
    """

    shipped = "violated: P1 the last attempt speaks for all"
    cite = ("DefaultMQProducerImpl#sendDefaultImpl, MQClientAPIImpl#processSendResponse, "
            "ReplyMessageProcessor#handlePushReplyResult")
    about = "key what"
    excuses = (cause("P1", "it is said to be refused, and was tried more than once", when=lambda rule, told: (
        told.about[1] == _REFUSES and told.about[:1] in rule.again)),)

    # Sends that were tried again. Where each message was appended, by its id: machine and place of the log, topic,
    # queue and number. And the sends, of one message or a batch, that were refused.
    again = Kept("key", survives="all", begins=(_TRIED_AGAIN,))
    appended = Kept("id", survives="all")
    refused = Kept("id", survives="all")

    @on(events.MessageAppended)
    def stored(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        self.appended.setdefault((event.key,), {})[at, event.commit_log_offset] = (
            event.topic, event.queue_id, event.queue_offset)
        key = self.refused.pop((event.key,), None)
        if key is not None:
            yield self.told(f"{at} stores {event.key}, which was refused", key, _REFUSES)

    @on(events.SendAnswered)
    def answered(self, _: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        if event.code not in STORED or (event.commit_log_offset < 0 and event.topic.endswith(REPLIES)):
            return
        place = event.broker, event.commit_log_offset
        there = self.appended.get((event.key,), {}).get(place)
        if there is None:
            yield self.told(f"{at} is told that {event.key} is at {place[1]} in the log of {place[0]}, which has not "
                            "appended it there", event.key, _STORES)
        elif there[0] == event.topic and there[1:] != (event.queue_id, event.queue_offset):
            yield self.told(f"{at} is told that {event.key} is number {event.queue_offset} of queue {event.queue_id}, "
                            f"and it is number {there[2]} of queue {there[1]}", event.key, _STORES)

    @on(events.SendFailed)
    def failed(self, _: int, at: str, event: events.SendFailed) -> Iterator[Told]:
        if event.code not in _NOT_STORED or event.group == CLIENT_INNER_PRODUCER_GROUP:
            return
        for one in event.key.split(","):
            brokers = sorted(broker for broker, _ in self.appended.get((one,), ()))
            if brokers:
                yield self.told(f"{at} is told that {one} was refused (code {event.code}), and {brokers[0]} has it",
                                event.key, _REFUSES)
            self.refused[one,] = event.key


class message_is_in_the_named_queue(Rule):
    """A message is stored in a queue that its producer has named, also if it has waited before, or was a half message.

    Copies that brokers make have topics of their own.
    """

    shipped = "holds"
    cite = "SendMessageProcessor#asyncSendMessage, ScheduleMessageService#messageTimeup, EndTransactionProcessor"
    about = "id"

    # The topics and queues that the requests have named, one for each attempt.
    named = Kept("id", survives="all")

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> None:
        del at
        for one in event.key.split(","):
            self.named.setdefault((one,), set()).add((event.mq.topic, event.mq.queue_id))

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        if event.topic.startswith(OWN_TOPICS):
            return
        named = self.named.get((event.key,), ())
        if named and (event.topic, event.queue_id) not in named:
            yield self.told(f"{at} stores {event.key} in queue {event.queue_id} of {event.topic}, which its producer "
                            "has not named", event.key)


class sent_once_is_stored_once(Rule):
    """A message that is sent once is stored once in its topic."""

    judges = "message_is_stored_once"
    shipped = ("violated: P6 an attempt without an answer is followed by another one, P12 nobody looks what has ended, "
               "V19 a look notes its first delivery only, B-28 a slave that is promoted")
    cite = "DefaultMQProducerImpl#sendDefaultImpl, MQClientAPIImpl#onExceptionImpl"
    about = "key at"
    excuses = (
        Excuse("it was sent one way once, and something has failed: the network may have doubled it",
               when=lambda rule, told: (told.about[:1] in rule.oneway and told.about[:1] not in rule.again
                                        and not rule.views.calm())),
        cause("P6", "it was tried more than once, and its broker has it no more often than it was sent there",
              when=lambda rule, told: told.about[:1] in rule.again and told.about not in rule.uncalled_for),
        cause("V19", "it was delayed, and its broker has started since it was delivered",
              when=lambda rule, told: told.about[:1] in rule.delayed and told.about in rule.anew),
        cause("B-28", "it was delayed, and the other broker of its name was, or has become, the master in its place",
              when=lambda rule, told: told.about[:1] in rule.delayed and told.about in rule.led),
        cause("P12", "it is a half message, whose end may arrive twice",
              when=lambda rule, told: told.about[:1] in rule.committed),
    )

    # The ids of those that were tried again, of those that were sent one way, and of half messages that are committed.
    committed = Kept("key", survives="all", begins=(
        Match(events.HalfMessageEnded, having=lambda one: one.state == COMMITS),))
    again = Kept("id", survives="all")
    oneway = Kept("id", survives="all")
    # How often producers have sent each message to a broker of a name, and how often brokers have stored it; and those
    # that a broker has stored more often than they were sent there.
    sent = Kept("topic id broker_name", survives="all")
    copies = Kept("topic id", survives="all")
    uncalled_for = Kept("id broker", survives="all")
    # How often brokers of a name have put each off; how often a broker that has delivered it may do so after its last
    # start, and those that it has delivered so; those that it has delivered after another one of its name, whose slave
    # it was, or who was its slave.
    delayed = Kept("id", survives="all")
    started = Kept("id broker", survives="all")
    anew = Kept("id broker", survives="all")
    led = Kept("id broker", survives="all")

    @on(events.BrokerStarted)
    def starts(self, _: int, at: str, event: events.BrokerStarted) -> None:
        del event
        name = self.facts.broker_name(at)
        self.started.update({(key, at): self.delayed.get((key,), Counter())[name]
                             for (_, key), copies in self.copies.items() if at in copies})

    @on(events.SendAttempted)
    def attempts(self, ms: int, at: str, event: events.SendAttempted) -> None:
        del at
        for one in event.key.split(","):
            place = event.mq.topic, one, event.mq.broker_name
            self.sent[place] = self.sent.get(place, 0) + 1
            if event.attempt > 1:
                self.again[one,] = ms
        if event.oneway:
            self.oneway[event.key,] = ms

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        if event.key is None or event.topic.startswith(OWN_TOPICS):
            if event.topic == RMQ_SYS_SCHEDULE_TOPIC:
                self.delayed.setdefault((event.key,), Counter())[self.facts.broker_name(at)] += 1
            return
        copies = self.copies.setdefault((event.topic, event.key), {})
        if left := self.started.get((event.key, at), 0):
            self.started[event.key, at], self.anew[event.key, at] = left - 1, ms
        else:
            self.anew.pop((event.key, at), None)
        name = self.facts.broker_name(at)
        if any(other != at and self.facts.broker_name(other) == name for other in copies):
            self.led[event.key, at] = ms
        names = [mq.broker_name for mq in self.facts.queues(at, event.topic, event.queue_id)]
        if copies.get(at, 0) >= sum(self.sent.get((event.topic, event.key, one), 0) for one in names):
            self.uncalled_for[event.key, at] = ms
        if copies:
            yield self.told(f"{at} stores {event.key} in {event.topic}, and {next(iter(copies))} has it", event.key, at)
        copies[at] = copies.get(at, 0) + 1


class attempts_are_used(Rule):
    """A send does not fail before all its attempts were made, unless no broker would take the message."""

    shipped = "violated: P2 a silent broker uses up the time, P5 SYSTEM_BUSY is final, P7 so is any asynchronous answer"
    cite = "DefaultMQProducer.retryTimesWhenSendFailed, retryTimesWhenSendAsyncFailed"
    about = "client_id group topic why"
    excuses = (
        Excuse("its producer knows no route of the topic, and cannot ask for it",
               when=lambda rule, told: told.about[:3] not in rule.listed),
        Excuse("its producer knew no route of the topic when it began, and has waited in vain for one",
               when=lambda _, told: told.about[3] == _UNROUTED),
        Excuse("the application has chosen a queue of a broker whose address is not known",
               when=lambda _, told: told.about[3] == _UNKNOWN),
        Excuse("it is asynchronous, and so has chosen once; its broker has no address, as the route has changed",
               when=lambda _, told: told.about[3] == _REROUTED),
        cause("P2", "no time is left", when=lambda _, told: told.about[3] == _NO_TIME),
        cause("P5", "a broker was busy", when=lambda _, told: told.about[3] == _REFUSED),
        cause("P7", "a broker has answered an asynchronous send", when=lambda _, told: told.about[3] == _ANSWERED),
    )

    listed = Kept("client_id group topic", survives="all", begins=(LISTED,), ends=(EMPTIED,))
    # How many attempts applications have asked for; of others their producer says it.
    asked = Kept("key", survives="all", begins=(events.SendAsked,), value=lambda _, event: event.attempts)
    # What was not sent yet to the queues that applications have chosen.
    chosen = Kept("key", survives="all", begins=(events.QueueChosen,), ends=(events.SendAttempted,))
    # Where topics are routed; and what was asked for without a route, and was not sent yet.
    routed = Kept("at group topic", begins=(LISTED,), ends=(EMPTIED,))
    unrouted = Kept("key", survives="all", ends=(events.SendAttempted,))

    @on(events.SendAsked)
    def begins(self, ms: int, at: str, event: events.SendAsked) -> None:
        if (at, event.group, event.topic) not in self.routed:
            self.unrouted[event.key,] = ms

    @on(events.SendFailed)
    def failed(self, _: int, at: str, event: events.SendFailed) -> Iterator[Told]:
        allowed = self.asked.get((event.key,), event.allowed)
        why = self._why(at, event)
        if event.attempts < allowed and event.code not in _HOPELESS:
            yield self.told(f"{at} gives {event.key} up after {event.attempts} of {allowed} attempts: "
                            f"{why}, and {event.spent_ms} ms of {event.timeout_ms} ms have passed",
                            event.client_id, event.group, event.topic, why)

    def _why(self, at: str, event: events.SendFailed) -> str:
        if (event.key,) in self.chosen:
            return _UNKNOWN
        if (event.key,) in self.unrouted:
            return _UNROUTED
        return _REROUTED if self._was_rerouted(at, event) else _by_its_code(event)

    def _was_rerouted(self, at: str, event: events.SendFailed) -> bool:
        """Whether an asynchronous send has no broker, and its producer was given another list before it was sent.

        Addresses change before lists do: it may know no address of a broker from whose queues it chooses.
        """
        asked = self.past.last(events.SendAsked, at=at, key=event.key)
        if asked is None or not asked.event.asynchronous or event.code != _NO_BROKER:
            return False
        sent = self.past.last(events.SendAttempted, since=asked.place, at=at, key=event.key)
        given = self.past.last(events.PublishInfoUpdated, at=at, group=event.group, topic=event.topic)
        return sent is None and given is not None and (
            given.place > asked.place or lacks_an_address(self, at, event.client_id, given.event.queues))


class retry_reaches_another_broker(Rule):
    """An attempt that follows another one goes to another broker, if the topic has queues at one."""

    shipped = "violated: Q-3 with latency fault tolerance the last broker is not avoided"
    cite = "MQFaultStrategy#selectOneMessageQueue, TopicPublishInfo#selectOneMessageQueue"
    about = "client_id group"
    excuses = (cause("Q-3", "its producer is aware of latency", when=lambda rule, told: told.about in rule.aware),)

    aware = Kept("client_id group", survives="all", begins=(LATENCY_AWARE,))
    # Number and broker of the last attempt; one at a broker without a known address is not told of.
    tried = Kept("client_id group key", survives="all")

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        key, broker = (event.client_id, event.group, event.key), event.mq.broker_name
        others = {mq.broker_name for mq in event.listed} - {broker}
        if others and self.tried.get(key) == (event.attempt - 1, broker):
            yield self.told(f"{at} sends {event.key} to {broker} again, and not to {min(others)}", *key[:2])
        self.tried[key] = event.attempt, broker


class queues_are_listed_in_their_order(Rule):
    """The queues of which an application chooses one are listed by the names of their brokers, and by their ids.

    So a key has the same queue in all processes. A configured order of the topic takes the place of this one.
    """

    cite = "MQClientInstance#topicRouteData2TopicPublishInfo: Collections.sort, QueueData#compareTo"
    about = "at group topic"
    excuses = (
        Excuse("an order of its topic was configured", when=lambda rule, told: told.about[2:] in rule.ordered),
        Excuse("its producer is aware of latency: such ones write into their lists",
               when=lambda rule, told: told.about[:2] in rule.aware),
    )

    aware = Kept("at group", survives="all", begins=(LATENCY_AWARE,))
    ordered = Kept("key", survives="all", begins=(
        Match(events.KVConfigPut, of="key", having=lambda one: one.namespace == ORDER_TOPIC_CONFIG),))

    @on(events.QueueChosen)
    def chooses(self, _: int, at: str, event: events.QueueChosen) -> Iterator[Told]:
        places = [(mq.broker_name, mq.queue_id) for mq in event.listed]
        wrong = next((later for former, later in pairwise(places) if later <= former), None)
        if wrong is not None:
            yield self.told(f"{at} lists queue {wrong[1]} of {wrong[0]} behind others that come after it", at,
                            event.group, event.mq.topic)


class hashed_key_has_its_queue(Rule):
    """Whoever chooses by the hash of a key is given the queue at |hashCode % n| of the n queues of the list."""

    cite = "SelectMessageQueueByHash#select"
    about = "at group"

    @on(events.QueueChosen)
    def chooses(self, _: int, at: str, event: events.QueueChosen) -> Iterator[Told]:
        if event.listed:
            due = event.listed[abs(java_hash(event.about)) % len(event.listed)]
            if event.mq != due:
                yield self.told(f"{at} chooses {queue_text(event.mq)} for {event.about}, which has {queue_text(due)} "
                                f"among {len(event.listed)}", at, event.group)


class queue_is_one_of_the_list(Rule):
    """A request names a queue that the addressed broker has in the list from which its producer chooses."""

    shipped = "violated: P4 an asynchronous retry changes the address only, P16 brokers are picked from the route"
    cite = "MQClientAPIImpl#onExceptionImpl, MQFaultStrategy#selectOneMessageQueue, TopicPublishInfo.messageQueueList"
    about = "client_id group which"
    excuses = (
        cause("P4", "it is a later attempt", when=lambda _, told: told.about[2] == _LATER),
        cause("P16", "its producer is aware of latency, and the list has no queue of the broker",
              when=lambda rule, told: told.about[2] == _ABSENT and told.about[:2] in rule.aware),
    )

    aware = Kept("client_id group", survives="all", begins=(LATENCY_AWARE,))
    # The lists that a route has given a producer, in their order.
    given = Kept("client_id group topic", survives="all")

    @on(events.PublishInfoUpdated)
    def updated(self, _: int, at: str, event: events.PublishInfoUpdated) -> None:
        del at
        self.given.setdefault(event[:3], []).append(frozenset(event.queues))

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        listed = self._as_made(event)
        if event.listed and event.mq not in listed:
            absent = event.mq.broker_name not in {mq.broker_name for mq in listed}
            yield self.told(f"{at} sends {event.key} to queue {event.mq.queue_id} of {event.mq.broker_name}, which is "
                            "not in its list", event.client_id, event.group,
                            _ABSENT if absent else _LATER if event.attempt > 1 else _FIRST)

    def _as_made(self, event: events.SendAttempted) -> frozenset[MessageQueue]:
        """The list; where the producer has written into it (P3), the last ones that it was given."""
        given = self.given.get((event.client_id, event.group, event.mq.topic), [])
        return event.listed if not given or event.listed in given else frozenset().union(*given[-2:])


class list_is_that_of_its_route(Rule):
    """The list from which a producer chooses is what its route has made, for as long as it has that route."""

    shipped = "violated: P3 latency fault tolerance writes into the shared list"
    cite = "MQFaultStrategy#selectOneMessageQueue, TopicPublishInfo.messageQueueList"
    about = "client_id group"
    excuses = (cause("P3", "a producer of its process is aware of latency",
                     when=lambda rule, told: told.about[:1] in rule.aware),)

    aware = Kept("client_id", survives="all", begins=(LATENCY_AWARE,))
    # All lists that the producer was given; a send that began under an old one goes on with it.
    given = Kept("client_id group", survives="all")

    @on(events.PublishInfoUpdated)
    def updated(self, _: int, at: str, event: events.PublishInfoUpdated) -> None:
        del at
        self.given.setdefault((event.client_id, event.group), set()).add(frozenset(event.queues))

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        key = event.client_id, event.group
        if event.listed and event.listed not in self.given.get(key, ()):
            yield self.told(f"{at} chooses from {len(event.listed)} queues, and no route has given it these", *key)


class equal_arguments_have_one_queue(Rule):
    """Messages that are sent with equal arguments, by hash, go to one queue."""

    shipped = "violated: P10 the hash is taken over the list of the moment"
    cite = "SelectMessageQueueByHash#select"
    about = "client_id group"
    excuses = (cause("P10", "the queues of the topic have changed", when=lambda rule, _: rule.has_changed()),)

    # The queues that a producer was given last, and how often they were others than before. Where the last message
    # went, and how often queues had changed when it was sent, and the one before it: its own list may be as old.
    queues = Kept("client_id group topic", survives="all")
    changes = Kept("client_id group topic", survives="all")
    went = Kept("client_id group topic hashed", survives="all")
    list_before: tuple[tuple[str, ...], int]

    @on(events.PublishInfoUpdated)
    def updated(self, _: int, at: str, event: events.PublishInfoUpdated) -> None:
        del at
        key = event[:3]
        if self.queues.get(key) != event.queues:
            self.queues[key], self.changes[key] = event.queues, self.changes.get(key, 0) + 1

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        if event.hashed is None:
            return
        key = event.client_id, event.group, event.mq.topic, event.hashed
        last, last_list, before = self.went.get(key, (event.mq, 0, 0))
        self.list_before = key[:3], before
        if last != event.mq:
            yield self.told(f"{at} sends messages of {event.hashed} to queue {event.mq.queue_id} of "
                            f"{event.mq.broker_name}, and before to queue {last.queue_id} of {last.broker_name}",
                            *key[:2])
        self.went[key] = event.mq, self.changes.get(key[:3], 0), last_list

    def has_changed(self) -> bool:
        """Whether the list may be another one than that of the last message with this argument."""
        place, before = self.list_before
        return bool(self.changes.get(place, 0) != before)


def lacks_an_address(rule: Rule, at: str, client_id: str, queues: Iterable[MessageQueue]) -> bool:
    """Whether a producer knows no address of a master of one of these queues."""
    known = rule.views.addresses_to_send(at, client_id)
    return any((mq.broker_name, MASTER_ID) not in known for mq in queues)


def _by_its_code(event: events.SendFailed) -> str:
    """Why a send has failed before its last attempt, as far as it says so itself."""
    if event.spent_ms >= event.timeout_ms:
        return _NO_TIME
    if event.code == _BUSY:
        return _REFUSED
    return _ANSWERED if event.code in _RETRIED else _OTHERWISE
