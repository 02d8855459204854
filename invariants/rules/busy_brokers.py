"""Brokers that have no thread for what they are asked: they say so, when it has waited for so long as it may."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Told, on
from invariants.rules.weather import clock_was_set

BUSY = "busy"
SYSTEM_BUSY = 2  # RemotingSysResponseCode


class waiting_request_is_refused_in_its_time(Duty):
    """A request that waits for a thread of a broker for as long as it may is answered SYSTEM_BUSY then, and not before.

    A send is refused earlier where another one has been writing for too long (DefaultMessageStore#isOSPageCacheBusy).
    What comes while the broker stands still begins to wait when that goes on.
    """

    cite = "BrokerFastFailure#cleanExpiredRequest: waitTimeMillsInSendQueue, waitTimeMillsInPullQueue, #returnResponse"
    about = "broker pool number"
    within_ms = deadlines.soon
    paid_by = (Match(events.InquiryAnswered, of="broker=server pool=name number"),)
    excuses = (
        Excuse("the broker stops, and answers nothing any more", by=Match(events.BrokerStopping, of="broker=at")),
        Excuse("a message was lost, or a connection broke", by=Match(
            events.MessageLost, events.ConnectionSevered, events.PartitionBegan, of=""), lasts=deadlines.on_the_way),
        clock_was_set("broker"),
    )
    late = "{broker} has not refused a request that waits for its pool {pool}, {waited_ms} ms after its time"

    # Until when all threads of a pool are busy; and when somebody asked then.
    held = Kept("broker pool", machine="broker", begins=(events.ThreadsHeld,), value=lambda ms, event: ms + event.ms)
    asked = Kept("broker pool number", machine="broker")
    # Brokers that have lost their power since they were asked last: who asks first does so on a dead connection.
    powerless = Kept("broker", survives="all", begins=(Match(
        events.ProcessKilled, of="broker=at", having=lambda event: event.power_loss),))

    @on(events.InquiryMade)
    def asks(self, ms: int, at: str, event: events.InquiryMade) -> None:
        if self.powerless.pop((event.server,), None) is None and event.what == BUSY:
            self.asked[event.server, event.name, event.number] = ms
            waits_ms = max(ms, self.facts.standing_ms.get((event.server,), ms))
            due_ms = waits_ms + deadlines.QUEUE_MS[event.name]
            if self.held.get((event.server, event.name), 0) > due_ms + deadlines.soon(self.bounds):
                self.owe((event.server, event.name, event.number), due_ms, at)

    @on(events.ProcessPaused)
    def stands_still(self, ms: int, at: str, event: events.ProcessPaused) -> None:
        """See Duty; what was asked may not have come before, and a thread that is free when it goes on may take it."""
        goes_on_ms = ms + event.ms
        for key in [key for key in self.owed if key[0] == at]:
            if self.held.get(key[:2], 0) <= goes_on_ms:
                self.pay(key)
            else:
                self.count_from(key, goes_on_ms + deadlines.QUEUE_MS[key[1]])

    @on(events.ProcessKilled)
    def asks_no_more(self, _: int, at: str, event: events.ProcessKilled) -> None:
        """Who has asked hears nothing any more."""
        del event
        self.owed.drop(lambda key: self.owed[key][-1] == at)

    @on(events.InquiryAnswered)
    def is_answered(self, ms: int, _: str, event: events.InquiryAnswered) -> Iterator[Told]:
        key = event.server, event.name, event.number
        since_ms = self.asked.pop(key, None)
        if since_ms is None or event.answer != (SYSTEM_BUSY,) or event.name == "send":
            return
        if ms - since_ms < deadlines.QUEUE_MS[event.name]:
            yield self.told(f"{event.server} refuses a request of its pool {event.name} that has waited for "
                            f"{ms - since_ms} ms", *key)
