"""Where nothing fails what is woken is done at once: how late puts, copies, time-outs and deliveries may be."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from impl import events
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from invariants.rules import deadlines
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Rule, Told, on

_SYNC_MASTER = "SYNC_MASTER"
_REMEMBERED_MS = 10_000
_WAITS_ROUND_MS = 1_000  # HAService.GroupTransferService#doWaitTransfer: waitForRunning
Put = tuple[int, int]
"""Where the record of a put ends, and when it was put."""


class put_is_answered_at_once(Rule):
    """A put wakes who forces the log, if it waits for that, and waits for no period; so its sender is answered at once.

    What is said of a broker that waits for slaves is said by others: slaves take their time.
    """

    cite = "CommitLog.GroupCommitService#putRequest, #run; SendMessageProcessor#handlePutMessageResultFuture"
    calm = True
    about = "broker at"

    copied = Kept("at", survives="all", begins=(events.StoreLoaded,),
                  value=lambda _, event: event.broker_role == _SYNC_MASTER)
    put_ms = Kept("broker commit_log_offset", machine="broker", begins=(events.MessageAppended,))

    @on(events.SendAnswered)
    def answered(self, ms: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        put_ms = self.put_ms.pop((event.broker, event.commit_log_offset), ms)
        if ms - put_ms > deadlines.AT_ONCE_MS and not self.copied.get((event.broker,)):
            yield self.told(f"{event.broker} answers {at} {ms - put_ms} ms after it has put {event.key}", event.broker,
                            at, since_ms=put_ms)


class put_is_copied_at_once(Rule):
    """A put wakes the threads that send the log, which look every 100 ms by themselves.

    What was put before a slave has reported for the first time on its connection it is sent in its turn.
    """

    cite = "HAConnection.WriteSocketService#run: allWaitForRunning, HAService.WaitNotifyObject#wakeupAll"
    calm = True
    about = "slave"

    since_ms = Kept("slave", survives="all", ends=(events.SlaveDisconnected, events.SlaveConnected))
    puts = Kept("broker_name", survives="all")

    @on(events.ReplicaReported)
    def reports(self, ms: int, _: str, event: events.ReplicaReported) -> None:
        self.since_ms.setdefault((event.slave,), ms)

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        puts = self.puts.setdefault((self.facts.broker_name(at),), deque[Put]())
        puts.append((event.commit_log_offset + event.size, ms))
        while puts[0][1] < ms - _REMEMBERED_MS:
            puts.popleft()

    @on(events.LogCopied)
    def copies(self, ms: int, at: str, event: events.LogCopied) -> Iterator[Told]:
        since_ms = self.since_ms.get((at,), ms)
        puts: deque[Put] = self.puts.get((self.facts.broker_name(at),), deque())
        first_ms = min((put_ms for end, put_ms in puts if put_ms > since_ms
                        and event.master_offset < end <= event.master_offset + event.size), default=ms)
        if ms - first_ms > deadlines.AT_ONCE_MS:
            yield self.told(f"{at} has a message {ms - first_ms} ms after its master", at, since_ms=first_ms)


class slave_is_waited_for_no_longer(Rule):
    """A put that waits for a slave is answered when its time is over, and the round of a second that waits for it."""

    cite = "HAService.GroupTransferService#doWaitTransfer; MessageStoreConfig.slaveTimeout"
    calm = True
    about = "broker"

    put_ms = Kept("broker next_offset", machine="broker")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        self.put_ms[at, event.commit_log_offset + event.size] = ms

    @on(events.ReplicaAnswered)
    def answered(self, ms: int, at: str, event: events.ReplicaAnswered) -> Iterator[Told]:
        put_ms = self.put_ms.pop((at, event.next_offset), ms)
        if ms - put_ms > deadlines.SLAVE_MS + _WAITS_ROUND_MS + deadlines.AT_ONCE_MS:
            yield self.told(f"{at} has waited {ms - put_ms} ms for a slave, and says {event.status}", at,
                            since_ms=put_ms)


class delayed_message_comes_at_once(Rule):
    """A delayed message is in its topic within the 100 ms after which its level is looked at again.

    That time begins when its delay is over, and its unit in the queue of its level.
    """

    cite = "ScheduleMessageService.DeliverDelayedMessageTimerTask#executeOnTimeup, DELAY_FOR_A_WHILE"
    calm = True
    about = "at level key"

    waits = Kept("at key")
    dispatched_ms = Kept("at commit_log_offset", begins=(
        Match(events.MessageDispatched, having=lambda one: one.topic == RMQ_SYS_SCHEDULE_TOPIC),))

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        if event.topic == RMQ_SYS_SCHEDULE_TOPIC:
            self.waits[at, event.key] = ms, event.queue_id + 1, event.commit_log_offset
            return
        put_ms, level, place = self.waits.pop((at, event.key), (ms, 1, -1))
        late_ms = ms - max(put_ms + deadlines.LEVELS_MS[level - 1], self.dispatched_ms.pop((at, place), ms))
        if late_ms > deadlines.AT_ONCE_MS:
            yield self.told(f"{at} has delivered {event.key} of delay level {level} {late_ms} ms late", at, level,
                            event.key, since_ms=put_ms)


class checks_have_their_interval(Rule):
    """A broker asks about a half message once in an interval of checks, and at first within two.

    The two count from when it is old enough: a message may say that it is to be left alone for longer than others, in
    worlds by an interval at most. They count from when the broker knows a producer of the group, which one that was
    started anew learns by a heartbeat. They are not judged where a producer or a broker has ended since the put.
    """

    cite = "TransactionalMessageCheckService#run, TransactionalMessageServiceImpl#check: transactionTimeOut"
    calm = True
    about = "group key"

    # Who has a half message; when it was put, and when it was asked about last; when a process has ended last; since
    # when a broker knows a producer of a group.
    halves = Kept("key", survives="all")
    asked_ms = Kept("group key", survives="all")
    ended_ms = Kept("", survives="all", begins=(
        Match(events.ProcessKilled, events.ProducerShutDown, events.BrokerStopping, of=""),))
    known_ms = Kept("at group", ends=(events.ProducerForgotten,))

    @on(events.ProducerRegistered)
    def registered(self, ms: int, at: str, event: events.ProducerRegistered) -> None:
        self.known_ms.setdefault((at, event.group), ms)

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            self.halves.setdefault((event.key,), {}).setdefault(at, ms)

    @on(events.TransactionAsked)
    def asked(self, ms: int, at: str, event: events.TransactionAsked) -> Iterator[Told]:
        del at
        brokers, key = self.halves.get((event.key,), {}), event[:2]
        if not event.checked or len(brokers) != 1:
            return
        ((broker, put_ms),) = brokers.items()
        interval_ms = self.views.transaction_check_interval_ms(broker)
        before_ms, self.asked_ms[key] = self.asked_ms.get(key), ms
        if interval_ms is None:
            return
        if before_ms is not None and ms - before_ms < interval_ms - deadlines.AT_ONCE_MS:
            yield self.told(f"{broker} asks about {event.key} again after {ms - before_ms} ms, and is to do so every "
                            f"{interval_ms} ms", *key, since_ms=before_ms)
        known_ms = max(put_ms, self.known_ms.get((broker, event.group), 0))
        old_ms = known_ms + deadlines.HALF_MESSAGE_MS + 2 * interval_ms
        if before_ms is None and self.ended_ms.get((), 0) < put_ms and ms - old_ms > deadlines.AT_ONCE_MS:
            yield self.told(f"{broker} asks about {event.key} for the first time {ms - put_ms} ms after its put", *key,
                            since_ms=put_ms)
