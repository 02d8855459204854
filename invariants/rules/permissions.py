"""What brokers allow whom, and for how long: pulls, and from whom; locks; who is asked about transactions, and when."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from impl import events
from impl.decisions.names import MASTER_ID, RMQ_SYS_TRANS_HALF_TOPIC
from impl.decisions.pull_answer import PullCode
from impl.decisions.transaction_check import TRANSACTION_TIMEOUT_MS
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.views import Views

MAY_READ = "permission to read"
"""What a stranger asks a broker for who pulls as a group; its name is "group topic", and it is told the code."""
REFUSAL = "refusal"
"""What a stranger asks for who wants what a broker must refuse; its name is one of these, and it is told the code."""
SEND_BEHIND, SEND_TO_A_SLAVE = "a message for the queue behind the last one", "a message for a slave"
PULL_BEHIND, PULL_BEFORE = "a pull of the queue behind the last one", "a pull of queue -1"
SUBSCRIBE_BY_SQL = "a subscription by SQL92, by which it does not filter"
DELETE_DELAYS, DELETE_HALVES = "the end of the topic of delays", "the end of the topic of half messages"
_SYSTEM_ERROR, _SYSTEM_BUSY, _SERVICE_NOT_AVAILABLE = 1, 2, 14  # RemotingSysResponseCode, ResponseCode
REFUSED = {**dict.fromkeys((SEND_BEHIND, PULL_BEHIND, PULL_BEFORE, DELETE_DELAYS, DELETE_HALVES, SUBSCRIBE_BY_SQL),
                           _SYSTEM_ERROR), SEND_TO_A_SLAVE: _SERVICE_NOT_AVAILABLE}
"""Of each the code."""
_NO_PERMISSION = 16  # ResponseCode
_OWN_TIME = "CHECK_IMMUNITY_TIME_IN_SECONDS"  # MessageConst.PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS
IN_A_ROW = 8
"""So many questions in turn go to more than one of two producers, also where some overtake others."""


class refusals_say_their_code(Rule):
    """A broker refuses what is for queues that it does not have, or for its master, and what it does not do.

    The answer to a message for the queue behind the last one, to a pull of that or of queue -1, to the deletion of a
    system topic, and to who wants to filter as the broker does not is SYSTEM_ERROR; to a message for a slave it is
    SERVICE_NOT_AVAILABLE. A broker without a free thread may say that instead.
    """

    cite = ("AbstractSendMessageProcessor#msgCheck, PullMessageProcessor#processRequest, "
            "AdminBrokerProcessor#deleteTopic, ClientManageProcessor#checkClientConfig, "
            "DefaultMessageStore#checkStoreStatus")
    about = "server name"

    @on(events.InquiryAnswered)
    def answers(self, _: int, at: str, event: events.InquiryAnswered) -> Iterator[Told]:
        due = REFUSED[event.name] if event.what == REFUSAL else None
        if due is not None and event.answer[0] not in {due, _SYSTEM_BUSY}:
            yield self.told(f"{at} asks {event.server} for {event.name}, and is answered {event.answer[0]} instead of "
                            f"{due}", event.server, event.name)


class closed_is_not_read(Rule):
    """A broker that may be read lets each group pull that may consume, of each topic that may be, and no others.

    Looked at where neither was changed while it was asked.
    """

    cite = "PullMessageProcessor#processRequest: isConsumeEnable, PermName#isReadable"
    about = "server name number"
    calm = True

    # Whether it was to be refused when it was asked.
    asked = Kept("server name number", machine="server")

    @on(events.InquiryMade)
    def asks(self, _: int, __: str, event: events.InquiryMade) -> None:
        if event.what == MAY_READ:
            self.asked[event.server, event.name, event.number] = is_closed(self.views, event.server, event.name)

    @on(events.InquiryAnswered)
    def answers(self, _: int, at: str, event: events.InquiryAnswered) -> Iterator[Told]:
        key = event.server, event.name, event.number
        closed = self.asked.pop(key, None)
        if closed is None or closed != is_closed(self.views, event.server, event.name):
            return
        if closed != (event.answer[0] == _NO_PERMISSION):
            group, topic = event.name.split()
            yield self.told(f"{at} pulls {topic} as {group} at {event.server}, which {'may not' if closed else 'may'} "
                            f"be, and is answered {event.answer[0]}", *key)


class broadcast_can_be_forbidden(Rule):
    """A broker answers no pull of a group that broadcasts and may not: consumeBroadcastEnable is false.

    Not so shortly after an operator has changed the group.
    """

    cite = "PullMessageProcessor#processRequest: isConsumeBroadcastEnable"
    about = "at group mq"
    excuses = (Excuse("an operator has changed the group lately", lasts=deadlines.pulled,
                      by=Match(events.OrderGiven, of="group=name")),)

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> Iterator[Told]:
        masters = [one.machine for one in self.views.brokers()
                   if (one.broker_name, one.broker_id) == (event.mq.broker_name, MASTER_ID)
                   ] if self.facts.broadcasts(at, event.group) else []
        if any(self.views.may_broadcast(one, event.group) is False for one in masters):
            yield self.told(f"{masters[0]} answers a pull of {queue_text(event.mq)} by {at}, whose group {event.group} "
                            "broadcasts and must not", at, event.group, event.mq)


def is_closed(views: Views, broker: str, name: str) -> bool | None:
    """Whether a group may not read a topic; None: the broker does not have the topic. name -- both, with a blank."""
    group, topic = name.split()
    is_open = views.may_be_read(broker, topic)
    return None if is_open is None else not is_open or views.may_consume(broker, group) is False


class Lock(NamedTuple):
    """Whose a lock is, and since when: by the clock of the broker, in ms; None: it has no clock."""

    client_id: str
    clock_ms: int | None


class locks_last_a_minute(Rule):
    """A lock is its client's for 60 s after its broker has granted it last, and free then or when it is given back.

    Who asks for one that is free, or its own, is granted it, and nobody else. A broker that has just started may
    refuse it: it does not know whose a lock was before.
    """

    cite = "RebalanceLockManager#tryLockBatch, #isLocked, LockEntry#isExpired"
    about = "at client_id group mq"
    calm = True

    # As clients were answered; and since when each broker runs.
    had = Kept("at group mq", ends=(events.LockReleased,))
    started_ms = Kept("at", begins=(events.BrokerStarted,))

    @on(events.LocksAnswered)
    def answers(self, ms: int, at: str, event: events.LocksAnswered) -> Iterator[Told]:
        is_young = ms - self.started_ms.get((at,), -inf) <= deadlines.BROKER_LEASE_MS
        clock = self.views.clock(at)
        now_ms = None if clock is None else clock()
        for mq in sorted(event.asked):
            key = at, event.group, mq
            may, is_granted = _may(self.had.get(key), event.client_id, now_ms), mq in event.granted
            if may is not None and may is not is_granted and not (is_young and may):
                had = self.had.get(key)
                whose = "which is free" if had is None else f"which {had.client_id} was granted last"
                yield self.told(f"{event.client_id} is {'granted' if is_granted else 'refused'} {queue_text(mq)}, "
                                f"{whose}", at, event.client_id, event.group, mq)
            if is_granted:
                self.had[key] = Lock(event.client_id, now_ms)


def _may(had: Lock | None, client_id: str, now_ms: int | None) -> bool | None:
    """Whether a client is to be granted a lock; None: nobody can tell, to the second."""
    if had is None or had.client_id == client_id:
        return True
    if now_ms is None or had.clock_ms is None:
        return None
    over_ms = now_ms - had.clock_ms - deadlines.BROKER_LEASE_MS
    return None if abs(over_ms) < deadlines.SEEN_MS else over_ms > 0


class producers_are_asked_in_turn(Rule):
    """A broker that asks a group about its half messages asks its producers in turn, not the same one each time.

    Where it asks one group only, and two or more of its producers have been connected all the while.
    """

    cite = "ProducerManager#getAvailableChannel"
    about = "broker group"
    calm = True

    # Where each half message is; whom a broker has asked last about those of a group: the machine, and how often in a
    # row; and which clients were connected then.
    broker = Kept("id", survives="all")
    in_a_row = Kept("broker group", machine="broker")
    producers = Kept("broker group", machine="broker")

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            self.broker.setdefault((event.key,), at)

    @on(events.HalfMessageEnded)
    def is_asked(self, _: int, at: str, event: events.HalfMessageEnded) -> Iterator[Told]:
        broker = self.broker.get((event.key,)) if event.from_check else None
        if broker is None:
            return
        key = broker, event.group
        there = frozenset(client for (group, _), client in self.views.producers(broker).items() if group == event.group)
        last, times = self.in_a_row.get(key, (at, 0))
        is_same = last == at and self.producers.get(key) == there and len(there) > 1
        times = times + 1 if is_same else 1
        self.in_a_row[key], self.producers[key] = (at, times), there
        if times == IN_A_ROW and sum(one[0] == broker for one in self.in_a_row) == 1:
            yield self.told(f"{broker} asks {at} {times} times in a row, of {len(there)} producers of {event.group}",
                            *key)


class half_message_has_its_time(Rule):
    """Nobody is asked about a half message before it is as old as it says, or its broker is told to wait."""

    cite = "TransactionalMessageServiceImpl#check, #getImmunityTime; BrokerConfig.transactionTimeOut"
    about = "key"
    excuses = (Excuse("a clock was set, or drifts: it is as old as its broker's clock says, and its producer's said",
                      by=Match(events.ClockJumped, events.ClockDrifts, of=""), lasts=FOR_EVER),)

    # Since when each half message is there, and how long nobody is to be asked from then on.
    put = Kept("id", survives="all")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            written, clock = self.views.written(at, event.commit_log_offset, event.size), self.views.clock(at)
            own = dict(written.properties if written else ()).get(_OWN_TIME)
            waits_ms = TRANSACTION_TIMEOUT_MS if own is None else int(own) * 1_000
            # It is as old as its producer says; an attempt that was made before another one may come behind it.
            since_ms = ms - (clock() - written.born[0]) if written and clock else ms
            self.put[event.key,] = min(self.put.get((event.key,), (since_ms, waits_ms)), (since_ms, waits_ms))

    @on(events.TransactionAsked)
    def is_asked(self, ms: int, at: str, event: events.TransactionAsked) -> Iterator[Told]:
        since_ms, waits_ms = self.put.get((event.key,), (ms, 0))
        if event.checked and ms - since_ms < waits_ms - deadlines.SOON_MS:
            yield self.told(f"{at} is asked about {event.key}, which was made {ms - since_ms} ms ago, and nobody is "
                            f"to be asked for {waits_ms} ms", event.key)


class Reader(NamedTuple):
    """A pull that is on its way to a master: who is asked, from where, and the last offset that the read may look at.

    It looks at the message behind those that it takes, too. is_far -- whether also that one is not in memory.
    """

    broker: str
    offset: int
    last: int
    is_far: bool


class who_lags_is_sent_to_a_slave(Rule):
    """A master that lets slaves be read sends who reads what is not in memory to that of its group, and nobody else."""

    cite = "PullMessageProcessor#processRequest: isSuggestPullingFromSlave, DefaultMessageStore#getMessage"
    about = "at client_id group mq"
    calm = True

    asked = Kept("at client_id group mq", ends=(events.PullFailed, events.QueueDropped))

    @on(events.PullSuspended)
    def asks(self, _: int, at: str, event: events.PullSuspended) -> None:
        broker, (topic, _name, queue_id) = machine_of(event.asked), event.mq
        self.asked.pop((at, *event[:3]), None)
        if self.facts.is_master(broker):
            end = self.views.queue_end(broker, topic, queue_id)
            last = min(event.offset + event.most, end - 1)
            is_far = bool(self.views.is_far_back(broker, topic, queue_id, last))
            self.asked[at, *event[:3]] = Reader(broker, event.offset, last, is_far)

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> Iterator[Told]:
        asked = self.asked.pop((at, *event[:3]), None)
        reads_at = None if asked is None else self.views.reads_at(asked.broker, event.group)
        if asked is None or reads_at is None or event.code != PullCode.SUCCESS:
            return
        if self.facts.pulled_ms(at, event) is None:
            return
        if _is_wrong(self.views, asked, event, *reads_at):
            yield self.told(f"{asked.broker} sends {at}, who reads {queue_text(event.mq)} from {asked.offset} to "
                            f"{event.next_begin_offset}, to {event.suggested}", at, *event[:3])


def _is_wrong(views: Views, asked: Reader, event: events.PullAnswered, stays: int, goes: int) -> bool:
    """Whether who has asked is sent to another broker than it is to be. stays, goes -- the ids that its group has."""
    if not views.reads_slaves(asked.broker):
        return event.suggested != MASTER_ID
    near = views.is_far_back(asked.broker, event.mq.topic, event.mq.queue_id, asked.offset) is False
    far = asked.is_far and event.next_begin_offset <= asked.last
    to_be = {stays} if near else {goes} if far else {stays, goes}
    return event.suggested not in to_be
