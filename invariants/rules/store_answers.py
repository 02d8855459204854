"""What a broker's answer to a put says: that the disk has the message, or that it has waited as its sender asks."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, ClassVar

from impl import events
from impl.decisions.names import REPLY_TOPIC_POSTFIX, RMQ_SYS_SCHEDULE_TOPIC
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.match import Match
from invariants.rules.past import place_of
from invariants.rules.rule import Kept, Rule, Told, after, on
from invariants.rules.stored_logs import flushes_no_more

_SUCCESS, _SYNC = 0, "SYNC_FLUSH"
_SYSTEM_ERROR, _SYSTEM_BUSY = 1, 2
_UNABLE = {_SYSTEM_ERROR: "SYSTEM_ERROR", _SYSTEM_BUSY: "SYSTEM_BUSY"}
_FLUSH_DISK_TIMEOUT, _FLUSH_SLAVE_TIMEOUT = 10, 12
_LIMITS_MS = {_FLUSH_DISK_TIMEOUT: ("its disk", deadlines.SYNC_FLUSH_MS),
              _FLUSH_SLAVE_TIMEOUT: ("each slave", deadlines.SLAVE_MS)}
"""FLUSH_DISK_TIMEOUT and FLUSH_SLAVE_TIMEOUT: who was too slow, and how long a broker waits before it says so."""


def _has_failed_since(rule: Any, told: Told) -> bool:
    """Whether a force has failed at the broker since the message was appended there."""
    broker, key, commit_log_offset = told.about
    appended = rule.past.last(events.MessageAppended, at=broker, key=key, commit_log_offset=commit_log_offset)
    return rule.past.last(events.ForceFailed, since=place_of(appended), at=broker) is not None


class acknowledged_is_on_the_disk(Rule):
    """A message that was acknowledged under SYNC_FLUSH has been forced to the disk."""

    shipped = "violated: V6 a force has failed and nobody minds"
    cite = "CommitLog#submitFlushRequest, GroupCommitService#doCommit, ScheduleMessageService#messageTimeup"
    about = "broker key commit_log_offset"
    excuses = (
        Excuse("a client has sent it, and said that nobody is to wait for it",
               when=lambda rule, told: told.about[1:2] in rule.unwaited),
        cause("V6", "a force has failed at the broker since it had the message", when=_has_failed_since),
    )
    unwaited = Kept("key", survives="all", begins=(Match(events.SendAttempted, having=lambda one: not one.waits),))

    # How a broker flushes; how long its records are.
    flushes = Kept("at", survives="all", begins=(events.StoreLoaded,), value=lambda _, event: event.flush_disk_type)
    sizes = Kept("at key commit_log_offset", survives="all", begins=(events.MessageAppended,),
                 value=lambda _, event: event.size)

    @after(events.SendAnswered)
    def answered(self, _: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        del at
        key = event.broker, event.key, event.commit_log_offset
        size = self.sizes.pop(key, 0) if event.code == _SUCCESS else 0
        if size and self.flushes.get((event.broker,)) == _SYNC and not self.views.is_forced(
                event.broker, event.commit_log_offset, size):
            yield self.told(f"{event.broker} has acknowledged {event.key}, and a loss of power may take it", *key)


class sender_is_waited_for(Rule):
    """A client that sends a message asks its broker to wait for disk and slave.

    A copy that a broker has made for a retry says that nobody is to wait for it. A consumer that cannot send that copy
    back, and sends it itself, says of it what it was given.
    """

    cite = "Message#isWaitStoreMsgOK, DefaultMQPushConsumerImpl#sendMessageBack: MessageAccessor#setProperties"
    about = "at key"

    # What brokers have copied to be tried again.
    copied = Kept("key", survives="all", begins=(Match(events.MessageAppended, having=lambda one: (
        one.topic == RMQ_SYS_SCHEDULE_TOPIC and not one.waits)),))

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        if not event.waits and (event.key,) not in self.copied:
            yield self.told(f"{at} sends {event.key}, and says that nobody is to wait for it", at, event.key)


class broker_takes_messages(Rule):
    """Where nothing fails no broker says that it cannot take a message, or is too busy for it.

    Ignores replies: a broker that is not connected to who has asked says SYSTEM_ERROR, and keeps the reply anyway.
    """

    cite = ("SendMessageProcessor#handlePutMessageResult, #rejectRequest, BrokerFastFailure#cleanExpiredRequest, "
            "AbstractSendMessageProcessor#msgCheck")
    about = "broker code key"
    calm = True
    excuses = (
        Excuse("the message names a queue that its topic does not have there any more",
               when=lambda rule, told: rule.names_no_queue(*told.about)),
    )

    def names_no_queue(self, broker: str, code: int, key: str) -> bool:
        """Whether the broker says SYSTEM_ERROR of a message for a queue that its topic does not have."""
        sent = self.past.last(events.SendAttempted, key=key)
        topic = None if sent is None else self.views.topics(broker).get(sent.event.mq.topic)
        return code == _SYSTEM_ERROR and sent is not None and topic is not None and sent.event.mq.queue_id >= max(
            topic.read_queue_nums, topic.write_queue_nums)

    @after(events.SendAnswered)
    def answered(self, _: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        if event.code in _UNABLE and not event.topic.endswith(REPLY_TOPIC_POSTFIX):
            yield self.told(f"{event.broker} does not take {event.key} of {at}: it says {_UNABLE[event.code]}",
                            event.broker, event.code, event.key)


class busy_broker_takes_messages_again(Rule):
    """When all faults have ended no broker stays too busy for messages, whatever has failed there before."""

    cite = "CommitLog#asyncPutMessage: beginTimeInLock = 0, DefaultMessageStore#isOSPageCacheBusy"
    about = "broker key"

    # When all faults ended, and until when all threads for messages were busy.
    healed = Kept("at", survives="all", begins=(events.WorldHealed,))
    held = Kept("broker pool", machine="broker", begins=(events.ThreadsHeld,), value=lambda ms, event: ms + event.ms)

    @on(events.SendAnswered)
    def answered(self, ms: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        since_ms = max(min(self.healed.values(), default=inf), self.held.get((event.broker, "send"), 0))
        if event.code == _SYSTEM_BUSY and ms - since_ms > deadlines.unbusied(self.bounds):
            yield self.told(f"{event.broker} is too busy for {event.key} of {at}, {ms - since_ms} ms after the last "
                            "fault", event.broker, event.key)


_TOO_EARLY = (
    Excuse("a force has failed there meanwhile", by=Match(events.ForceFailed, of="broker=at"),
           lasts=deadlines.SYNC_FLUSH_MS),
    Excuse("its clock was set forward", by=Match(events.ClockJumped, of="broker=at"), lasts=deadlines.SYNC_FLUSH_MS),
    Excuse("its clock runs too fast", lasts=FOR_EVER,
           by=Match(events.ClockDrifts, of="broker=at", having=lambda event: event.ppm > 0)),
)
"""Why a broker may say too early that it has waited for disk or slave."""


class _TimeOuts(Rule):
    """What is common: who says that disk or slave was too slow says so of a record."""

    about = "broker key code"
    excuses: ClassVar[tuple[Excuse, ...]] = _TOO_EARLY


class time_outs_are_waited(_TimeOuts):
    """A broker says that disk or slave was too slow only when it has waited as long as it may."""

    judges = "time_out_is_over"
    shipped = "violated: V44 nothing is flushed behind a clean-up"
    cite = "FlushDiskWatcher#run, GroupCommitService#doCommit, HAService.GroupTransferService#doWaitTransfer"
    excuses = (
        *_TOO_EARLY,
        cause("V44", "the broker has deleted files that it had not flushed, and flushes nothing more",
              when=lambda rule, told: told.about[2] == _FLUSH_DISK_TIMEOUT and flushes_no_more(rule, told.about[0])),
    )

    appended_ms = Kept("at key commit_log_offset", survives="all", begins=(events.MessageAppended,))

    @after(events.SendAnswered)
    def answered(self, ms: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        del at
        who, limit_ms = _LIMITS_MS.get(event.code, ("", 0))
        began_ms = self.appended_ms.get((event.broker, event.key, event.commit_log_offset))
        if began_ms is not None and ms - began_ms < limit_ms:
            yield self.told(f"{event.broker} has put {event.key}, and says after {ms - began_ms} ms that {who} was too "
                            "slow", event.broker, event.key, event.code)


class time_outs_are_true(_TimeOuts):
    """A broker says that disk or slave was too slow only if neither had the record long before the time was over."""

    cite = "GroupCommitService#doCommit, HAService.GroupTransferService#doWaitTransfer: push2SlaveMaxOffset"

    # Where each record ends and when it was put; and when the log was forced, or a slave has reported it, up to where.
    put = Kept("at key commit_log_offset", survives="all", begins=(events.MessageAppended,),
               value=lambda ms, event: (event.commit_log_offset + event.size, ms))
    steps = Kept("at code")

    @on(events.LogFlushed, events.ReplicaReported)
    def goes_on(self, ms: int, at: str, event: events.LogFlushed | events.ReplicaReported) -> None:
        code = _FLUSH_DISK_TIMEOUT if isinstance(event, events.LogFlushed) else _FLUSH_SLAVE_TIMEOUT
        self.steps.setdefault((at, code), []).append((event.offset, ms))

    @on(events.SendAnswered)
    def answered(self, _: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        who, limit_ms = _LIMITS_MS.get(event.code, ("", 0))
        end, put_ms = self.put.get((event.broker, event.key, event.commit_log_offset), (0, 0))
        steps = self.steps.get((event.broker, event.code), ())
        had_ms = min((ms for offset, ms in steps if offset >= end), default=inf)
        told = deadlines.flush_told if event.code == _FLUSH_DISK_TIMEOUT else deadlines.soon
        if end and limit_ms and had_ms < put_ms + limit_ms - told(self.bounds):
            yield self.told(f"{event.broker} tells {at} that {who} was too slow for {event.key}, which it had after "
                            f"{had_ms - put_ms} ms", event.broker, event.key, event.code)
