"""What does not last: keys of records that are gone, clients that are silent, name servers that are away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on
from invariants.rules.weather import clock_was_set

INDEX = "store/index/"


def _counts_as_used(rule: Rule, at: str) -> bool:
    """Whether a force of a file of the index has failed in this process: who forces it does not give it back then."""
    return any(one.event.path.startswith(INDEX) and rule.past.lives(one)
               for one in rule.past.of(events.ForceFailed, at=at))


class index_goes_with_the_log(Rule):
    """A broker that deletes the oldest files of its log deletes those of the index that have keys of nothing else.

    The last file of the index stays in any case.
    """

    cite = "CleanConsumeQueueService#deleteExpiredFiles, IndexService#deleteExpiredFile, IndexFile#flush"
    about = "at"
    excuses = (
        Excuse("a force of a file of the index has failed, and the file counts as used since then",
               when=lambda rule, told: _counts_as_used(rule, *told.about)),
    )

    @after(events.LogExpired)
    def expires(self, _: int, at: str, event: events.LogExpired) -> Iterator[Told]:
        old = [end for end in self.views.index_ends(at)[:-1] if end < event.min_offset]
        if old:
            yield self.told(f"the log of {at} begins at {event.min_offset} now, and {len(old)} of the files of its "
                            f"index have no key of anything behind {max(old)}", at)


class silent_client_expires(Duty):
    """A broker forgets who has said only once that he is there, 120 s later, also if his connection lasts."""

    cite = "ClientHousekeepingService#scanExceptionChannel, ProducerManager#scanNotActiveChannel, ConsumerManager"
    about = "broker group client_id"
    within_ms = deadlines.expired
    excuses = (clock_was_set("broker"),)
    late = "{broker} lists {client_id} in {group} {waited_ms} ms after he has spoken"

    @on(events.SpokenOnce)
    def speaks(self, ms: int, _: str, event: events.SpokenOnce) -> None:
        self.owe(tuple(event), ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        at, group, client_id = key
        listed = {who for (name, _), who in self.views.producers(at).items() if name == group}
        listed.update(self.views.members(at, group).values() if self.views.has_group(at, group) else ())
        return super().broken(key, what, waited_ms) if client_id in listed else None


class silent_broker_expires(Duty):
    """A name server forgets a broker that has told it nothing for 120 s, also if its connection lasts.

    Registrations count, and questions for a version that has not changed. It looks every ten seconds.
    """

    shipped = "violated: N-4 the scan ends with an exception"
    cite = "RouteInfoManager#scanNotActiveBroker, #registerBroker, #updateBrokerInfoUpdateTimestamp"
    about = "namesrv broker_addr"
    within_ms = deadlines.expired
    excuses = (
        clock_was_set("namesrv"),
        cause("N-4", "a thread of the name server has died", by=Match(events.ThreadDied, of="namesrv=at"),
              lasts=FOR_EVER),
    )
    late = "{namesrv} knows {broker_addr}, of which it has heard nothing for {waited_ms} ms"

    @on(events.BrokerRegistered, events.BrokerUpdateTimestamp)
    def hears_of_it(self, ms: int, at: str, event: events.BrokerRegistered | events.BrokerUpdateTimestamp) -> None:
        self.pay((at, event.broker_addr))
        self.owe((at, event.broker_addr), ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        namesrv, broker_addr = key
        return super().broken(key, what, waited_ms) if broker_addr in self.views.registered(namesrv) else None


class only_listed_name_servers_are_asked(Rule):
    """A client that was told of other name servers asks no other ones from then on.

    What it has asked before may arrive late, as long as it cannot pass, and as its process or that of the name server
    stands still.
    """

    cite = "NettyRemotingClient#updateNameServerAddressList"
    about = "client addr"

    told_of = Kept("client", machine="client", ends=(Match(events.ConsumerStarted, of="client=at"),),
                   begins=(events.NameServersTold,), value=lambda ms, event: (ms, event.listed))

    @on(events.RouteAnswered, events.RouteDenied)
    def asks(self, ms: int, at: str, event: events.RouteAnswered | events.RouteDenied) -> Iterator[Told]:
        client = machine_of(event.connection)
        told_ms, listed = self.told_of.get((client,), (ms, ()))
        still_ms = sum(self.facts.stood_still_ms(one, told_ms) for one in (client, at))
        if ms - told_ms - still_ms > deadlines.waited(self.bounds) and at not in map(machine_of, listed):
            yield self.told(f"{client} asks {at}, and was told {ms - told_ms} ms before to ask {', '.join(listed)}",
                            client, at, since_ms=told_ms)


class name_server_that_is_away_is_left(Duty):
    """A client whose name server has ended asks another one, or the same when it is back, the next time it asks.

    Where nothing fails but that, and another name server runs. Clients ask for their routes every 30 s.
    """

    cite = "NettyRemotingClient#getAndCreateNameserverChannel, MQClientInstance#updateTopicRouteInfoFromNameServer"
    about = "client"
    calm = True
    within_ms = deadlines.asked_elsewhere
    paid_by = (Match(events.RouteAnswered, events.RouteDenied, of="client=connection.machine"),)
    excuses = (Excuse("it shuts down", by=Match(events.ConsumerStopping, of="client=at")),)
    late = "{client} has asked no name server for {waited_ms} ms, since {what} has ended"

    # Whom each client has asked last; who asks by a timer.
    asks = Kept("client", machine="client", value=lambda _, event: event.namesrv, begins=(
        Match(events.RouteAnswered, events.RouteDenied, of="client=connection.machine"),))
    timed = Kept("at", begins=(events.TimerJobBegan,), ends=(events.ConsumerShutDown,))

    @on(events.ProcessKilled)
    def ends(self, ms: int, at: str, event: events.ProcessKilled) -> None:
        del event
        others = {*self.views.namesrvs()} - {at}
        if not others:
            self.owed.clear()
        for (client,), namesrv in self.asks.items():
            if namesrv == at and others and (client,) in self.timed:
                self.owe((client,), ms, at)
