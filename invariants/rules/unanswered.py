"""That a broker answers who sends it a message."""

from __future__ import annotations

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, on

_SYNC_FLUSH, _SYNC_MASTER = "SYNC_FLUSH", "SYNC_MASTER"

_HEARS_NO_ANSWER = (events.SendAnswered, Match(events.BrokerStopping, of="broker"),
                    Match(events.ProducerShutDown, events.ConsumerShutDown, events.ProcessKilled, of="at"))


def _told_of(_: int, loaded: events.StoreLoaded) -> dict[type, int]:
    """What a broker reports, and how often, before the thread is done that answers who waits for it."""
    return {events.GroupCommitted: 2 if loaded.flush_disk_type == _SYNC_FLUSH else 0,  # one may have begun before
            events.ReplicaReported: 1 if loaded.broker_role == _SYNC_MASTER else 0}


def _last(key: str) -> str:
    """That of the last message of a batch: the answer to all comes with that to this one."""
    return key.rpartition(",")[2]


class stored_message_is_answered(Duty):
    """Who sends a message is answered when its broker has forced it and a slave has it, as far as that is waited for.

    A client that has stopped, or that speaks to a broker that stops, hears no answer, and none that comes when it waits
    no more: its last attempt may have no time left, and the application is told what an earlier one was answered.
    """

    cite = ("GroupCommitService#doCommit, HAService.GroupTransferService#doWaitTransfer, "
            "SendMessageProcessor#handlePutMessageResultFuture")
    about = "broker at key"
    within_ms = deadlines.answer_heard
    paid_by = _HEARS_NO_ANSWER
    excuses = (
        Excuse("its client stands still", by=Match(events.ProcessPaused, of="at"), lasts=deadlines.answer_heard),
        Excuse("nothing passes somewhere", by=Match(events.ConnectionSevered, events.PartitionBegan, of=""),
               lasts=deadlines.waited),
    )
    late = "{broker} has stored {key} of {at} as safely as it is to, and has not answered for {waited_ms} ms"

    # What brokers report of a record; who waits for an answer of whom; where a record ends, and what is still to come.
    reports = Kept("at", survives="all", begins=(events.StoreLoaded,), value=_told_of)
    asks = Kept("at key")
    unsafe = Kept("broker at key", machine="broker", ends=_HEARS_NO_ANSWER)

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> None:
        self._waits_no_more(at, event.key)
        if not event.oneway:
            self.asks[at, _last(event.key)] = event.mq.broker_name

    @on(events.SendAnswered)
    def is_answered(self, _: int, at: str, event: events.SendAnswered) -> None:
        if self.asks.get((at, event.key)) == self.facts.broker_name(event.broker):
            del self.asks[at, event.key]

    @on(events.SendFailed, events.SendTold)
    def is_over(self, _: int, at: str, event: events.SendFailed | events.SendTold) -> None:
        self._waits_no_more(at, event.key)

    def _waits_no_more(self, client: str, key: str) -> None:
        """For the answer to an earlier attempt."""
        self.asks.pop((client, _last(key)), None)
        for table in (self.unsafe, self.owed):
            for one in [one for one in table if one[1:] == (client, _last(key))]:
                del table[one]

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        for client, key in [one for one, asked in self.asks.items() if one[1] == event.key
                            and asked == self.facts.broker_name(at)]:
            del self.asks[client, key]  # what comes behind it are copies
            left = self.reports.get((at,), {}) if event.waits else {}
            self.unsafe[at, client, key] = event.commit_log_offset + event.size, dict(left)
        self._safe(ms, at)

    @on(events.GroupCommitted, events.ReplicaReported)
    def goes_on(self, ms: int, at: str, event: events.GroupCommitted | events.ReplicaReported) -> None:
        for key, (end, left) in self.unsafe.items():
            if key[0] == at and end <= event.offset and left.get(type(event)):
                left[type(event)] -= 1
        self._safe(ms, at)

    def _safe(self, ms: int, broker: str) -> None:
        for key in [key for key, (_, left) in self.unsafe.items() if key[0] == broker and not any(left.values())]:
            del self.unsafe[key]
            self.owe(key, ms)
