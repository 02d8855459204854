"""Whom name servers know: who is kept, who is dropped, and whose an id is."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on
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
               by=Match(events.ProcessKilled, of="broker=at"), lasts=deadlines.half_open_ended),
        Excuse("the broker has begun to shut down", by=Match(events.BrokerStopping, of="broker"), lasts=FOR_EVER,
               until=Match(events.BrokerStarted, of="broker")),
    )

    heard_ms = Kept("at broker broker_addr", machine="broker", ends=(Match(events.ProcessKilled, of="at"),),
                    begins=(Match(events.BrokerRegistered, of="at broker=broker_addr.machine broker_addr"),))

    @on(events.BrokerLiveRemoved)
    def removed(self, ms: int, at: str, event: events.BrokerLiveRemoved) -> Iterator[Told]:
        key = at, machine_of(event.broker_addr), event.broker_addr
        heard_ms = self.heard_ms.pop(key, None)
        if event.why == "destroyed" and heard_ms is not None and ms - heard_ms < HEARD_MS:
            yield self.told(f"{at} drops {event.broker_addr}, which lives, {ms - heard_ms} ms after it has registered",
                            *key)


class registrations_keep_a_broker(Rule):
    """A broker is dropped by its goodbye, by the end of its connection, or 120 s after it was heard of last."""

    shipped = ("violated: N-7 a clean-up in two steps, N-8 an old time is read, N-5 the first address on a connection, "
               "N-17 the end of an older connection")
    cite = "RouteInfoManager#scanNotActiveBroker, #onChannelDestroy"
    about = "at broker_addr why"
    excuses = (
        Excuse("the clock of the name server was set since it has heard of the broker",
               by=Match(events.ClockJumped, of="at")),
        Excuse("the clock of the name server drifts, by which a broker expires",
               when=lambda rule, told: told.about[2] == "expired" and told.about[:1] in rule.drifting),
    )

    # When brokers were heard of last, and on which connections, unless they registered by half; connections whose ends
    # were looked into.
    heard = Kept("at broker_addr", value=lambda ms, event: (ms, event.connection),
                 begins=(Match(events.BrokerRegistered, having=lambda event: event.version is not None),))
    ended = Kept("at connection", begins=(events.BrokerFound,))
    drifting = Kept("at", survives="all", begins=(events.ClockDrifts,))

    @on(events.BrokerUpdateTimestamp)
    def renewed(self, ms: int, at: str, event: events.BrokerUpdateTimestamp) -> None:
        if (at, event.broker_addr) in self.heard:
            self.heard[at, event.broker_addr] = ms, self.heard[at, event.broker_addr][1]

    @on(events.VersionQueried)
    def asked(self, _: int, at: str, event: events.VersionQueried) -> None:
        if (at, event.broker_addr) in self.heard and not event.changed:
            self.heard[at, event.broker_addr] = self.heard[at, event.broker_addr][0], event.connection

    @on(events.BrokerLiveRemoved)
    def removed(self, ms: int, at: str, event: events.BrokerLiveRemoved) -> Iterator[Told]:
        addr, about = event.broker_addr, (at, event.broker_addr, event.why)
        heard_ms, connection = self.heard.pop((at, addr), (None, ""))
        if event.why == "expired" and heard_ms is not None and ms - heard_ms < deadlines.EXPIRY_MS:
            sentence = f"{at} lets {addr} expire {ms - heard_ms} ms after it was heard of"
            yield self.told(sentence, *about, since_ms=heard_ms)
        if event.why == "destroyed" and connection and (at, connection) not in self.ended:
            yield self.told(f"{at} removes {addr}, although its connection is not closed", *about)


class closed_broker_is_dropped(Duty):
    """A name server that is told of the end of a broker's connection drops the broker.

    The table of the living shows connections; one that is over is owed to be dropped from then on.
    """

    shipped = "violated: N-25 the event is dropped"
    cite = "BrokerHousekeepingService#onChannelClose, RouteInfoManager#onChannelDestroy"
    about = "at broker_addr connection"
    within_ms = deadlines.end_noticed
    paid_by = (events.BrokerLiveRemoved, Match(events.BrokerRegistered, of="at broker_addr"))
    excuses = (Excuse("it has registered when the end was handled already",
                      when=lambda rule, told: told.about in rule.too_late),)
    late = "{at} keeps {broker_addr} long after its connection {connection} has ended"

    ended = Kept("at connection", begins=(events.BrokerFound,))
    too_late = Kept("at broker_addr connection", ends=(events.BrokerLiveRemoved,))
    _looked_ms = -deadlines.SCAN_MS

    @on(events.BrokerRegistered)
    def registered(self, ms: int, at: str, event: events.BrokerRegistered) -> None:
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

    @on(events.BrokerRegistered, events.BrokerDropped)
    def changed(self, _: int, at: str, __: events.BrokerRegistered | events.BrokerDropped) -> None:
        self.addresses[at,] = self.views.addresses(at)

    @on(events.BrokerUnregistered)
    def unregistered(self, _: int, at: str, event: events.BrokerUnregistered) -> Iterator[Told]:
        before, after = self.addresses.get((at,), {}), self.views.addresses(at)
        self.addresses[at,] = after
        for key, addr in before.items():
            if addr != event.broker_addr and after.get(key) != addr:
                yield self.told(f"{at} removes {addr} when {event.broker_addr} says goodbye", at, event.broker_addr)


class goodbye_ends_its_own_process(Rule):
    """A goodbye removes no broker that has registered since it started and has not begun to stop."""

    shipped = "violated: N-27 a goodbye comes after the restart"
    cite = "RouteInfoManager#unregisterBroker"
    about = "at broker broker_addr"

    # Brokers that run and have not begun to stop, and where these have registered since they started.
    running = Kept("broker", machine="broker", begins=(events.BrokerStarted,), ends=(events.BrokerStopping,))
    heard = Kept("at broker broker_addr", machine="broker", ends=(
        Match(events.ProcessKilled, of="at"), Match(events.BrokerStopping, of="broker")))
    # The connections of the processes that machines have now.
    own = Kept("client server connection", machine="client", begins=(
        Match(events.ConnectionMade, of="client=at server connection"),))

    @on(events.BrokerRegistered)
    def registered(self, ms: int, at: str, event: events.BrokerRegistered) -> None:
        """What comes on a connection of an earlier process is a late registration of that process."""
        broker = machine_of(event.broker_addr)
        if (broker, at, event.connection) not in self.own:
            self.heard.pop((at, broker, event.broker_addr), None)
        elif (broker,) in self.running:
            self.heard[at, broker, event.broker_addr] = ms

    @on(events.BrokerLiveRemoved)
    def removed(self, _: int, at: str, event: events.BrokerLiveRemoved) -> Iterator[Told]:
        key = at, machine_of(event.broker_addr), event.broker_addr
        heard_ms = self.heard.pop(key, None)
        if event.why == "unregistered" and heard_ms is not None:
            yield self.told(f"{at} takes the goodbye of an earlier process for that of {event.broker_addr}", *key,
                            since_ms=heard_ms)


class gone_broker_is_not_heard_of(Rule):
    """A broker that has said goodbye to a name server does not register there again before it starts again.

    Its timers have ended by then; what checks transactions, and what handles requests, ends later.
    """

    cite = "BrokerController#shutdown: the timers end before unregisterBrokerAll"
    about = "at broker broker_addr"
    calm = True
    excuses = (
        Excuse("it creates a topic while it shuts down, and registers it",
               by=Match(events.TopicConfigUpdated, of="broker"), lasts=FOR_EVER,
               until=Match(events.BrokerStopping, events.BrokerStarted, of="broker")),
    )

    gone = Kept(about, ends=(Match(events.BrokerStarted, of="broker"),), begins=(
        Match(events.BrokerUnregistered, of="at broker=broker_addr.machine broker_addr"),))

    @on(events.BrokerRegistered)
    def registers(self, ms: int, at: str, event: events.BrokerRegistered) -> Iterator[Told]:
        key = at, machine_of(event.broker_addr), event.broker_addr
        gone_ms = self.gone.pop(key, None)
        if gone_ms is not None:
            yield self.told(f"{event.broker_addr} registers at {at} again {ms - gone_ms} ms after its goodbye", *key)


class address_has_one_name(Rule):
    """The address of a broker stands under one broker name, the one under which it has registered last."""

    shipped = "violated: N-29 the former name is not looked for"
    cite = "RouteInfoManager#registerBroker"
    about = "at broker_addr broker_name"

    @after(events.BrokerRegistered)
    def registered(self, _: int, at: str, event: events.BrokerRegistered) -> Iterator[Told]:
        for (name, _id), addr in self.views.addresses(at).items():
            if addr == event.broker_addr and name != event.broker_name:
                yield self.told(f"{at} has {addr} as {name} besides {event.broker_name}", at, addr, name)


class id_is_not_taken_back(Rule):
    """A broker does not take its id back from one that has taken it, as long as that one is there."""

    shipped = "violated: N-15 two masters of one name take turns"
    cite = "RouteInfoManager#registerBroker"
    about = "at broker_name broker_id broker_addr holder"
    excuses = (
        cause("N-15", "two brokers of one name were started with one id", when=lambda rule, told: all(
            (machine_of(addr), *told.about[1:3]) in rule.started for addr in told.about[3:])),
    )

    # Who has an id now, and from whom others have taken it.
    holder, others = Kept("at broker_name broker_id"), Kept("at broker_name broker_id")
    started = Kept("at broker_name broker_id", survives="all", begins=(events.BrokerStarted,))

    @on(events.BrokerRegistered)
    def registered(self, _: int, at: str, event: events.BrokerRegistered) -> Iterator[Told]:
        key, addr = (at, event.broker_name, event.broker_id), event.broker_addr
        holder, self.holder[key] = self.holder.get(key), addr
        if holder is not None and holder != addr:
            before = self.others.setdefault(key, set())
            before.add(holder)
            if addr in before:
                before.discard(addr)
                yield self.told(f"{at} gives id {event.broker_id} of {event.broker_name} back from {holder} to {addr}",
                                *key, addr, holder)

    @on(events.BrokerLiveRemoved)
    def removed(self, _: int, at: str, event: events.BrokerLiveRemoved) -> None:
        for key in [key for key, addr in self.holder.items() if (key[0], addr) == (at, event.broker_addr)]:
            del self.holder[key]
            self.others.pop(key, None)
