"""Pulls that wait at a broker: a message that arrives answers them, and so does the end of the time that they wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Kept, Rule, Told, on

SUB_ALL = "*"
_ANSWERS = events.PullAnswered, events.PullFailed
_RESETS = Excuse("its client was told to reset queues: the thread that hears answers sleeps for 10 s each time",
                 by=Match(events.ResetReceived, of="at group"), lasts=deadlines.reset)


def _was_renamed(rule: Any, told: Told) -> bool:
    """Whether the machine whose queue it is has started as a broker under two names."""
    return any(len(names) > 1 and told.about[-1].broker_name in names for names in rule.facts.names.values())


class arriving_message_answers_the_pull(Rule):
    """Where nothing fails a pull that is held is answered when a message arrives for it, and not at the next scan.

    Judged of groups whose members have all read everything: others wait for a message that they have subscribed. And of
    masters: a slave lets a pull wait until it looks at all (ReputMessageService#doReput). Where nothing fails no
    message comes between the look of a pull and its hold (P13).
    """

    cite = "NotifyMessageArrivingListener#arriving, PullRequestHoldService#notifyMessageArriving"
    about = "at group mq"
    calm = True
    excuses = (_RESETS,)

    # The pulls that are not answered: from which offset each is, and at which machine. Since when there is a message.
    pulls = Kept("at client_id group mq", ends=(*_ANSWERS, events.QueueDropped, events.ConsumerShutDown))
    there = Kept("at client_id group mq", ends=(
        *_ANSWERS, events.PullSuspended, events.QueueDropped, events.ConsumerShutDown))
    # Topics of which a group has not read everything.
    chosen = Kept("group topic", survives="all")

    @on(events.ConsumerRegistered)
    def subscribes(self, _: int, at: str, event: events.ConsumerRegistered) -> None:
        del at
        self.chosen.update({(event.group, topic): True for topic, expression, _ in event.subscriptions
                            if expression != SUB_ALL})

    @on(events.PullSuspended)
    def pulled(self, _: int, at: str, event: events.PullSuspended) -> None:
        key, asked = (at, event.client_id, event.group, event.mq), machine_of(event.asked)
        self.pulls.pop(key, None)
        if (asked,) not in self.facts.brokers or self.facts.is_master(asked):
            self.pulls[key] = event.offset, asked

    @on(events.MessageDispatched)
    def arrives(self, ms: int, at: str, event: events.MessageDispatched) -> None:
        mq = MessageQueue(event.topic, self.facts.broker_name(at), event.queue_id)
        for key, (offset, asked) in self.pulls.items():
            if key[3] == mq and asked == at and offset <= event.queue_offset:
                self.there.setdefault(key, ms)

    @on(events.BrokerStopping, events.BrokerStarted, events.ProcessKilled)
    def ends(self, _: int, at: str, event: Any) -> None:
        """What a broker held goes with it."""
        del event
        name = self.facts.broker_name(at)
        for table in (self.pulls, self.there):
            table.drop(lambda key: key[3].broker_name == name)

    def look(self, now_ms: int) -> Iterator[Told]:
        """Look at what has not been answered."""
        limit_ms = deadlines.woken(self.bounds)
        for key, since_ms in [*self.there.items()] if self.there else ():
            if now_ms - since_ms > limit_ms:
                del self.there[key]
                if (key[2], key[3].topic) not in self.chosen:
                    yield self.told(f"the pull of {queue_text(key[3])} by {key[0]} is not answered {now_ms - since_ms} "
                                    "ms after a message has come", key[0], key[2], key[3], since_ms=since_ms)


class Asked(Rule):
    """What is common: the pulls of each client, each with the machine that was asked, and more.

    The machine may have another name as a broker by now.
    """

    about = "at group mq"
    calm = True
    excuses = (_RESETS,)

    pulls: Kept

    @on(events.BrokerStopping, events.BrokerStarted, events.ProcessKilled)
    def ends(self, _: int, at: str, event: Any) -> None:
        """What a broker held goes with it."""
        del event
        for key in [key for key, (asked, _) in self.pulls.items() if asked == at]:
            del self.pulls[key]

    @on(events.ConnectionMade)
    def connects(self, _: int, at: str, event: events.ConnectionMade) -> None:
        """Who connects again has lost the connection on which he has asked."""
        for key in [key for key, (asked, _) in self.pulls.items() if (key[0], asked) == (at, event.server)]:
            del self.pulls[key]

    @on(events.QueuesHeld)
    def has(self, _: int, at: str, event: events.QueuesHeld) -> None:
        """Who is polled does not hear of what he has given up."""
        self.pulls.drop(lambda key: key[:3] == (at, event.client_id, event.group) and key[3] not in event.mqs)


class found_message_has_just_come(Asked):
    """Where nothing fails a pull that is held is answered when a message arrives that its group is given then.

    The group may have subscribed some messages only, by tags or by an expression, which has not changed meanwhile.
    """

    cite = ("NotifyMessageArrivingListener#arriving, PullRequestHoldService#notifyMessageArriving, "
            "CommitLogDispatcherCalcBitMap#dispatch")

    # Of each pull of a master: when the messages came there that have come since.
    pulls = Kept("at client_id group mq", ends=(events.QueueDropped, events.ConsumerShutDown))

    @on(events.PullSuspended)
    def pulled(self, _: int, at: str, event: events.PullSuspended) -> None:
        key, asked = (at, event.client_id, event.group, event.mq), machine_of(event.asked)
        self.pulls.pop(key, None)
        if self.facts.is_master(asked):
            self.pulls[key] = asked, {}

    @on(events.MessageDispatched)
    def arrives(self, ms: int, at: str, event: events.MessageDispatched) -> None:
        queue = event.topic, event.queue_id
        for key, (asked, came_ms) in self.pulls.items():
            if asked == at and (key[3].topic, key[3].queue_id) == queue:
                came_ms[event.queue_offset] = ms

    @on(events.MessagesFound)
    def finds(self, ms: int, at: str, event: events.MessagesFound) -> Iterator[Told]:
        _, came_ms = self.pulls.pop((at, *event[:3]), ("", {}))
        since_ms = came_ms.get(event.offsets[0], ms)
        if ms - since_ms > deadlines.woken(self.bounds):
            yield self.told(f"{at} is given message {event.offsets[0]} of {queue_text(event.mq)} {ms - since_ms} ms "
                            f"after it has come, and has pulled before that", at, event.group, event.mq,
                            since_ms=since_ms)

    @on(events.SubscriptionUpdated)
    def subscribes(self, _: int, __: str, event: events.SubscriptionUpdated) -> None:
        """What the group did not want when it came it may want now."""
        self.pulls.drop(lambda key: key[2] == event.group and key[3].topic == event.topic)


class held_pull_ends_in_its_time(Asked):
    """Where nothing fails a pull is answered when its time is over, as soon as its broker looks at those it holds.

    Also one that a message has woken whose tag is another one.
    """

    cite = "PullMessageProcessor#processRequest: suspendTimeoutMillisLong, PullRequestHoldService#run"

    # Since when each is on its way, or held.
    pulls = Kept("at client_id group mq", begins=(events.PullSuspended,), ends=(
        *_ANSWERS, events.QueueDropped, events.ConsumerStopping, events.ConsumerShutDown),
        value=lambda ms, event: (machine_of(event.asked), ms))

    def look(self, now_ms: int) -> Iterator[Told]:
        """Look at what has not been answered."""
        limit_ms = deadlines.held(self.bounds)
        for key, (asked, since_ms) in [*self.pulls.items()] if self.pulls else ():
            if now_ms - since_ms > limit_ms:
                del self.pulls[key]
                if any(one.machine == asked for one in self.views.brokers()):
                    yield self.told(f"the pull of {queue_text(key[3])} by {key[0]} is not answered after "
                                    f"{now_ms - since_ms} ms", key[0], key[2], key[3], since_ms=since_ms)


class empty_answer_has_waited(Rule):
    """Where nothing fails a pull that finds nothing is answered so when it was held as long as its client lets it wait.

    Else a client that has read everything would ask all the time.
    """

    cite = "DefaultMQPushConsumerImpl#pullMessage: PullSysFlag.buildSysFlag, PullMessageProcessor#processRequest"
    about = "at group mq"
    calm = True

    @on(events.PullAnswered)
    def answered(self, ms: int, at: str, event: events.PullAnswered) -> Iterator[Told]:
        since_ms = self.facts.pulled_ms(at, event)
        if event.code == PullCode.PULL_NOT_FOUND and since_ms is not None and ms - since_ms < deadlines.LEAST_HOLD_MS:
            yield self.told(f"{at} is told after {ms - since_ms} ms that {queue_text(event.mq)} has nothing for "
                            f"{event.group}, and lets pulls wait", at, event.group, event.mq, since_ms=since_ms)


class held_pull_is_waited_for(Rule):
    """Where nothing fails a client pulls a queue again when the pull that a broker holds for it was answered.

    A consumer that is polled does so when its application goes elsewhere in the queue, or has it again.
    """

    cite = "DefaultMQPushConsumerImpl: CONSUMER_TIMEOUT_MILLIS_WHEN_SUSPEND, BROKER_SUSPEND_MAX_TIME_MILLIS"
    about = "at group mq"
    calm = True
    excuses = (_RESETS, Excuse("its broker has another name now, and is asked for queues of both",
                               when=_was_renamed))

    # Whose pulls brokers hold: the machine of the client, its group and the queue, and which broker.
    held = Kept("connection opaque", survives="all", ends=(events.HeldPullAnswered,))
    given_up = Kept("at group mq", begins=(events.QueueDropped,), ends=(events.QueueTaken,))

    @on(events.PullHeld)
    def is_held(self, _: int, at: str, event: events.PullHeld) -> None:
        """A queue may be given up while the pull is on the way."""
        mq = MessageQueue(event.topic, self.facts.broker_name(at), event.queue_id)
        whose = machine_of(event.connection), event.group
        if mq in self.facts.polls_from.get(whose, (mq,)) and (*whose, mq) not in self.given_up:
            self.held[event.connection, event.opaque] = (*whose, mq), at

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> Iterator[Told]:
        if self._forget((at, event.group, event.mq)):
            yield self.told(f"{at} pulls {queue_text(event.mq)} again, while a broker holds its last pull for "
                            f"{event.group}", at, event.group, event.mq)

    @on(events.QueueDropped, events.QueueSought)
    def gives_up(self, _: int, at: str, event: events.QueueDropped | events.QueueSought) -> None:
        self._forget((at, event.group, event.mq))

    @on(events.QueuesHeld)
    def has(self, _: int, at: str, event: events.QueuesHeld) -> None:
        for whose, _ in [*self.held.values()]:
            if whose[:2] == (at, event.group) and whose[2] not in event.mqs:
                self._forget(whose)

    @on(events.BrokerStopping, events.BrokerStarted, events.ProcessKilled)
    def ends(self, _: int, at: str, event: Any) -> None:
        """What a broker held goes with it, and so does what a client waited for."""
        del event
        for key in [key for key, (whose, broker) in self.held.items() if at in (whose[0], broker)]:
            del self.held[key]

    def _forget(self, whose: tuple[str, str, MessageQueue]) -> bool:
        """Whether a broker has held a pull of them."""
        keys = [key for key, (one, _) in self.held.items() if one == whose]
        for key in keys:
            del self.held[key]
        return bool(keys)
