"""Rules of what a client process does by itself: when its timers run, and which name server it asks."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.rule import Kept, Rule, Told, on


class timers_do_not_wait_for_each_other(Rule):
    """A periodic job of a client begins when it is due, whatever its other jobs wait for.

    A job that is still at work when it is due again begins when it has ended.
    """

    shipped = "violated: U17 one thread runs them all"
    cite = "MQClientInstance#startScheduledTask, scheduledExecutorService"
    about = "at client_id job"
    excuses = (Excuse("the process stood still when it was due", by=events.ProcessPaused),)

    # When a job began last, and when it ended.
    begun_ms = Kept(about, ends=(events.ConsumerShutDown,), begins=(events.TimerJobBegan,))
    ended_ms = Kept(about, begins=(events.TimerJobEnded,))

    @on(events.TimerJobBegan)
    def begins(self, ms: int, at: str, event: events.TimerJobBegan) -> Iterator[Told]:
        key = at, event.client_id, event.job
        due_ms = max(self.begun_ms.get(key, ms) + event.period_ms, self.ended_ms.get(key, ms))
        if ms - due_ms > deadlines.soon(self.bounds):
            yield self.told(f"{at} begins {event.job} {ms - due_ms} ms late", *key, since_ms=due_ms)


class name_server_is_chosen_from_the_list(Rule):
    """A client chooses the name server that it asks from the list of name servers that it has then."""

    shipped = "violated: R-2 it goes through the list that it had when it began to connect"
    cite = "NettyRemotingClient#getAndCreateNameserverChannel, #updateNameServerAddressList"
    about = "at addr"

    @on(events.NameServerChosen)
    def chosen(self, _: int, at: str, event: events.NameServerChosen) -> Iterator[Told]:
        if event.addr not in event.listed:
            yield self.told(f"{at} asks {event.addr} from now on, which is not in its list", at, event.addr)
