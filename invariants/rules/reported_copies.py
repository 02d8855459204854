"""That a slave tells its master what it has copied."""

from __future__ import annotations

from impl import events
from invariants.rules import deadlines
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, on


class copied_is_reported_at_once(Duty):
    """Where nothing fails a slave tells its master at once what it has copied: puts wait for that."""

    cite = "HAService.HAClient#dispatchReadRequest: reportSlaveMaxOffsetPlus"
    calm = True
    about = "slave"
    within_ms = deadlines.soon
    paid_by = (events.SlaveDisconnected, Match(events.BrokerStopping, of=""))
    late = "{slave} has copied the log of its master up to {what}, and has not said so for {waited_ms} ms"

    ends = Kept("slave", machine="slave")

    @on(events.LogCopied)
    def copies(self, ms: int, at: str, event: events.LogCopied) -> None:
        if event.size:  # a heartbeat has none
            self.ends[at,] = event.offset + event.size
            self.owe((at,), ms, self.ends[at,])

    @on(events.ReplicaReported)
    def reports(self, ms: int, _: str, event: events.ReplicaReported) -> None:
        key = (event.slave,)
        if key in self.owed and event.offset >= self.owed[key][2]:
            self.pay(key)
            if event.offset < self.ends[key]:
                self.owe(key, ms, self.ends[key])
