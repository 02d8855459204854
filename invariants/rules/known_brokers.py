"""Whom name servers know: who is kept, who is dropped, and whose an id is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.events import (
    BrokerDropped,
    BrokerFound,
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStarted,
    BrokerStopping,
    BrokerUnregistered,
    BrokerUpdateTimestamp,
    ClockDrifts,
    ClockJumped,
    ProcessKilled,
    VersionQueried,
)
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Duty, Kept, Rule, Told, on
from invariants.rules.weather import was_cut_off_from

HEARD_MS = 2 * deadlines.REGISTRATION_MS


class living_broker_is_not_dropped(Rule):
    """Where the network breaks no connection, a broker that has registered in the last minute and lives is kept.

    It does not speak of a broker that has said goodbye, nor of a registration of a process that has ended since.
    """

    shipped = "violated: N-21 a time-out closes the connection"
    cite = "RouteInfoManager#onChannelDestroy"
    about = "at broker broker_addr"
    excuses = (
        *was_cut_off_from("at", "broker", deadlines.half_open_ended),
        Excuse("a process of the machine has ended shortly before, and its connections end late",
               by=Match(ProcessKilled, of="broker=at"), lasts=deadlines.half_open_ended),
        Excuse("the broker has begun to shut down", by=Match(BrokerStopping, of="broker"), lasts=FOR_EVER,
               until=Match(BrokerStarted, of="broker")),
    )

    heard_ms = Kept("at broker broker_addr", machine="broker", ends=(Match(ProcessKilled, of="at"),),
                    begins=(Match(BrokerRegistered, of="at broker=broker_addr.machine broker_addr"),))

    @on(BrokerLiveRemoved)
    def removed(self, ms: int, at: str, event: BrokerLiveRemoved) -> Iterator[Told]:
        key = at, machine_of(event.broker_addr), event.broker_addr
        heard_ms = self.heard_ms.pop(key, None)
        if event.why == "destroyed" and heard_ms is not None and ms - heard_ms < HEARD_MS:
            yield self.told(f"{at} drops {event.broker_addr}, which lives, {ms - heard_ms} ms after it has registered",
                            *key)


def _speaks_wholly(event: BrokerRegistered) -> bool:
    """Whether it is no half registration."""
    return event.version is not None


class registrations_keep_a_broker(Rule):
    """A broker is dropped by its goodbye, by the end of its connection, or 120 s after it was heard of last."""

    shipped = ("violated: N-7 a clean-up in two steps, N-8 an old time is read, N-5 the first address on a connection, "
               "N-17 the end of an older connection")
    cite = "RouteInfoManager#scanNotActiveBroker, #onChannelDestroy"
    about = "at broker_addr why"
    excuses = (
        Excuse("the clock of the name server was set since it has heard of the broker", by=Match(ClockJumped, of="at")),
        Excuse("the clock of the name server drifts, by which a broker expires",
               when=lambda rule, told: told.about[2] == "expired" and told.about[:1] in rule.drifting),
    )

    # The connections on which brokers spoke last, and those whose ends were looked into.
    heard_ms = Kept("at broker_addr", begins=(Match(BrokerRegistered, having=_speaks_wholly),))
    connections = Kept("at broker_addr", begins=(Match(BrokerRegistered, having=_speaks_wholly),),
                       value=lambda _, event: event.connection)
    ended = Kept("at connection", begins=(BrokerFound,))
    drifting = Kept("at", survives="all", begins=(ClockDrifts,))

    @on(BrokerUpdateTimestamp)
    def renewed(self, ms: int, at: str, event: BrokerUpdateTimestamp) -> None:
        if (at, event.broker_addr) in self.heard_ms:
            self.heard_ms[at, event.broker_addr] = ms

    @on(VersionQueried)
    def asked(self, _: int, at: str, event: VersionQueried) -> None:
        if (at, event.broker_addr) in self.connections and not event.changed:
            self.connections[at, event.broker_addr] = event.connection

    @on(BrokerLiveRemoved)
    def removed(self, ms: int, at: str, event: BrokerLiveRemoved) -> Iterator[Told]:
        addr, about = event.broker_addr, (at, event.broker_addr, event.why)
        heard_ms, connection = self.heard_ms.pop((at, addr), None), self.connections.pop((at, addr), "")
        if event.why == "expired" and heard_ms is not None and ms - heard_ms < deadlines.EXPIRY_MS:
            yield self.told(f"{at} lets {addr} expire {ms - heard_ms} ms after it was heard of", *about,
                            since_ms=heard_ms)
        if event.why == "destroyed" and connection and (at, connection) not in self.ended:
            yield self.told(f"{at} removes {addr}, whose connection {connection} lasts", *about)


class closed_broker_is_dropped(Duty):
    """A name server that is told of the end of a broker's connection drops the broker.

    The table of the living shows connections; one that is over is owed to be dropped from then on.
    """

    shipped = "violated: N-25 the event is dropped"
    cite = "BrokerHousekeepingService#onChannelClose, RouteInfoManager#onChannelDestroy"
    about = "at broker_addr connection"
    within_ms = deadlines.end_noticed
    paid_by = (BrokerLiveRemoved, Match(BrokerRegistered, of="at broker_addr"))
    excuses = (Excuse("it has registered when the end was handled already",
                      when=lambda rule, told: told.about in rule.too_late),)
    late = "{at} keeps {broker_addr} long after its connection {connection} has ended"

    ended = Kept("at connection", begins=(BrokerFound,))
    too_late = Kept("at broker_addr connection", ends=(BrokerLiveRemoved,))
    _looked_ms = -deadlines.SCAN_MS

    @on(BrokerRegistered)
    def registered(self, ms: int, at: str, event: BrokerRegistered) -> None:
        if (at, event.connection) in self.ended:
            self.too_late[at, event.broker_addr, event.connection] = ms

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Rule."""
        if now_ms - self._looked_ms >= deadlines.SCAN_MS:
            self._looked_ms = now_ms
            for namesrv in self.views.namesrvs():
                for addr, (connection, active) in self.views.registered(namesrv).items():
                    if not active:
                        self.owe((namesrv, addr, connection), now_ms)
        yield from super().look(now_ms)


class goodbye_frees_its_sender_only(Rule):
    """The goodbye of a broker removes no address but its own."""

    shipped = "violated: N-1 the id goes whoever has it"
    cite = "RouteInfoManager#unregisterBroker"
    about = "at broker_addr"

    # RouteInfoManager.brokerAddrTable behind the last change of it.
    addresses = Kept("at")

    @on(BrokerRegistered, BrokerDropped)
    def changed(self, _: int, at: str, event: BrokerRegistered | BrokerDropped) -> None:
        del event
        self.addresses[at,] = self.views.addresses(at)

    @on(BrokerUnregistered)
    def unregistered(self, _: int, at: str, event: BrokerUnregistered) -> Iterator[Told]:
        before, after = self.addresses.get((at,), {}), self.views.addresses(at)
        self.addresses[at,] = after
        for key, addr in before.items():
            if addr != event.broker_addr and after.get(key) != addr:
                yield self.told(f"{at} removes {addr} when {event.broker_addr} says goodbye", at, event.broker_addr)


def _both_were_started(rule: Any, told: Told) -> bool:
    """Whether two machines were told to be the broker of this name and id."""
    _, broker_name, broker_id, *addrs = told.about
    return all((machine_of(addr), broker_name, broker_id) in rule.started for addr in addrs)


class id_is_not_taken_back(Rule):
    """A broker does not take its id back from one that has taken it, as long as that one is there."""

    shipped = "violated: N-15 two masters of one name take turns"
    cite = "RouteInfoManager#registerBroker"
    about = "at broker_name broker_id broker_addr holder"
    excuses = (cause("N-15", "two brokers of one name were started with one id", when=_both_were_started),)

    # Who has an id now, and from whom others have taken it.
    holder, others = Kept("at broker_name broker_id"), Kept("at broker_name broker_id")
    started = Kept("at broker_name broker_id", survives="all", begins=(BrokerStarted,))

    @on(BrokerRegistered)
    def registered(self, _: int, at: str, event: BrokerRegistered) -> Iterator[Told]:
        key, addr = (at, event.broker_name, event.broker_id), event.broker_addr
        holder, self.holder[key] = self.holder.get(key), addr
        if holder is not None and holder != addr:
            before = self.others.setdefault(key, set())
            before.add(holder)
            if addr in before:
                before.discard(addr)
                yield self.told(f"{at} gives id {event.broker_id} of {event.broker_name} back from {holder} to {addr}",
                                *key, addr, holder)

    @on(BrokerLiveRemoved)
    def removed(self, _: int, at: str, event: BrokerLiveRemoved) -> None:
        for key in [key for key, addr in self.holder.items() if (key[0], addr) == (at, event.broker_addr)]:
            del self.holder[key]
            self.others.pop(key, None)
