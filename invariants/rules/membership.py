"""Who is listed in a group: heartbeats enter members and keep them, goodbyes and ends of connections take them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Duty, Kept, Promise, Rule, Told, on
from invariants.rules.weather import clock_was_set, ended_or_stood_still, has_shut_down, was_cut_off_from
from invariants.views import Views

_MEMBER = "at client_id group client"
"""A broker, a member, and the machine (client) from which the member speaks."""
_STOPS = Excuse("the member has begun to shut down", by=Match(events.ConsumerStopping, of="client=at client_id group"),
                lasts=FOR_EVER, until=Match(events.ConsumerStarted, of="client=at client_id group"))
_POLLS_NO_MORE = Excuse("the member, which was polled, has begun to shut down",
                        by=Match(events.PollerStopping, of="client=at client_id group"), lasts=deadlines.expired)
_STARTS_AGAIN = Excuse("the member has started again", by=Match(events.ConsumerStarted, of="client=at client_id group"))
_IS_REFUSED = Excuse("the broker objects to the heartbeats of the member",
                     by=Match(events.HeartbeatRefused, of="at client_id group"), lasts=FOR_EVER,
                     until=Match(events.ConsumerRegistered, of="at client_id group"))
_CANNOT_CONNECT = Excuse("the member was refused a connection to the broker",
                         by=Match(events.ConnectionRefused, of="client=at at=server"), lasts=deadlines.expired)
_CLOCKS = (clock_was_set("at"), clock_was_set("client"))


def _of_a_former(kind: type) -> Callable[[Rule, Told], bool]:
    """Whether the connection of the last such event was made for a consumer that has shut down, before the next one."""

    def holds(rule: Rule, told: Told) -> bool:
        at, client_id, group, *_ = told.about
        connection = rule.past.of(kind, at=at, client_id=client_id, group=group)[-1].event.connection
        name = {"at": machine_of(connection), "client_id": client_id, "group": group}
        made = rule.past.last(events.ConnectionMade, at=name["at"], connection=connection)
        ended = [] if made is None else rule.past.of(events.ConsumerShutDown, since=made.place, **name)
        return any(rule.past.of(events.ConsumerStarted, since=one.place, **name) for one in ended[:1])

    return holds


class goodbye_is_final(Rule):
    """A member that has left a group is not listed again on the same connection unless it starts again.

    Ignores goodbyes of an earlier consumer of the machine that are handled when the next one runs.
    """

    shipped = "violated: B-9 a heartbeat that comes late, B-30 one that was prepared before"
    cite = "ConsumerManager#unregisterConsumer"
    about = f"{_MEMBER} connection"
    excuses = (_STARTS_AGAIN,)

    left_ms = Kept(about)

    @on(events.GoodbyeTaken, events.ConsumerRemoved)
    def leaves(self, ms: int, at: str, event: events.GoodbyeTaken | events.ConsumerRemoved) -> None:
        client = machine_of(event.connection)
        by_goodbye = getattr(event, "why", "unregistered") == "unregistered"
        if by_goodbye and not self.facts.runs(client, event.client_id, event.group):
            self.left_ms[at, event.client_id, event.group, client, event.connection] = ms

    @on(events.ConsumerRegistered)
    def enters(self, _: int, at: str, event: events.ConsumerRegistered) -> Iterator[Told]:
        key = at, event.client_id, event.group, machine_of(event.connection), event.connection
        if key in self.left_ms:
            yield self.told(f"{at} lists {event.client_id} again, who has left {event.group}", *key,
                            since_ms=self.left_ms[key])


class goodbye_waits_for_the_heartbeat(Rule):
    """No goodbye, and no end of a connection, takes a member away whose heartbeat has entered it and goes on."""

    shipped = "violated: B-33 both are handled at once"
    cite = "ConsumerManager#registerConsumer, #unregisterConsumer, #doChannelCloseEvent"
    about = "at group connection"

    entered_ms = Kept(about, begins=(Match(events.ConsumerRegistered, having=lambda event: event.attached),),
                      ends=(events.SubscriptionsHandled,))

    @on(events.ConsumerRemoved)
    def leaves(self, _: int, at: str, event: events.ConsumerRemoved) -> Iterator[Told]:
        key = at, event.group, event.connection
        entered_ms = self.entered_ms.pop(key, None)
        if event.attached and event.why in {"unregistered", "closed"} and entered_ms is not None:
            yield self.told(f"{at} removes {event.client_id} from {event.group} while its heartbeat is handled", *key,
                            since_ms=entered_ms)


class heartbeats_keep_a_member(Rule):
    """A member does not expire within 120 s of its last heartbeat."""

    shipped = "violated: B-11 look and removal are two steps"
    cite = "ConsumerManager#scanNotActiveChannel"
    about = "at group connection"
    excuses = (clock_was_set("at"),)

    @on(events.ConsumerRemoved)
    def removed(self, ms: int, at: str, event: events.ConsumerRemoved) -> Iterator[Told]:
        key = at, event.group, event.connection
        age_ms = ms - self.facts.heartbeats_ms.get(key, ms - deadlines.EXPIRY_MS)
        if event.why == "expired" and age_ms < deadlines.EXPIRY_MS:
            yield self.told(f"{at} lets {event.client_id} of {event.group} expire {age_ms} ms after it was heard", *key)


class closed_connection_is_delisted(Duty):
    """A broker that is told of the end of a connection takes it out of all its groups."""

    cite = "ClientHousekeepingService#onChannelClose, ConsumerManager#doChannelCloseEvent"
    about = "at group connection"
    within_ms = deadlines.handled
    paid_by = (events.ConsumerRemoved,)
    excuses = (Excuse("a later heartbeat enters it again", by=events.ConsumerRegistered),
               Excuse("its group is dropped", by=events.GroupRemoved))
    late = "{at} lists {what} in {group} {waited_ms} ms after the connection {connection} has ended"

    @on(events.ClientChannelClosed)
    def closed(self, ms: int, at: str, event: events.ClientChannelClosed) -> None:
        for key, heartbeat in self.facts.listed.items():
            if (key[0], key[2]) == (at, event.connection):
                self.owe(key, ms, heartbeat.client_id)


def _was_unknown(rule: living_members_do_not_expire, told: Told) -> bool:
    """Whether the client of a member was seen without the broker's address so lately that it may expire for that."""
    seen_ms = rule.unknown_ms.get((told.about[3], told.about[0]))
    return seen_ms is not None and (told.since_ms or 0) - seen_ms <= deadlines.expired(rule.bounds)


class living_members_do_not_expire(Rule):
    """A member does not expire at a broker while both live and reach each other."""

    shipped = "violated: B-10 groups share one time, B-9 a heartbeat that comes late"
    cite = "MQClientInstance#sendHeartbeatToAllBroker"
    about = _MEMBER
    excuses = (
        _STOPS, _IS_REFUSED, *_CLOCKS, _CANNOT_CONNECT, *was_cut_off_from("at", "client", deadlines.expired),
        ended_or_stood_still("at", deadlines.expired), ended_or_stood_still("client", deadlines.expired),
        Excuse("the client has not known the broker: no name server that it asked had it", when=_was_unknown),
        Excuse("who has spoken for it says no more that it is there",
               by=Match(events.SpokenOnce, of="at=broker client_id group"), lasts=FOR_EVER),
    )

    # When a client was last seen not to know the address of a broker.
    unknown_ms = Kept("client broker", survives="all")
    _looked_ms = -deadlines.SCAN_MS

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Rule; who knows whom is looked at several times between two heartbeats."""
        if now_ms - self._looked_ms >= deadlines.SCAN_MS:
            self._looked_ms = now_ms
            for client in dict.fromkeys(one.machine for one in self.views.consumers()):
                known = {*map(machine_of, self.views.known_addresses(client).values())}
                for (broker,) in self.facts.brokers:
                    if broker not in known:
                        self.unknown_ms[client, broker] = now_ms
        yield from ()

    @on(events.ConsumerRemoved)
    def removed(self, ms: int, at: str, event: events.ConsumerRemoved) -> Iterator[Told]:
        # A connection is not listed any more; its client may be, by another one.
        key = at, event.client_id, event.group, machine_of(event.connection)
        here = [connection for connection, heartbeat in self.facts.connections(at, event.group).items()
                if (heartbeat.client_id, machine_of(connection)) == (event.client_id, key[3])]
        if event.why == "expired" and here in ([], [event.connection]):
            yield self.told(f"{at} lets {event.client_id} of {event.group} expire, which lives and can reach it", *key,
                            since_ms=ms)


def known_when_it_stops(views: Views, at: str, event: events.ConsumerStopping | events.PollerStopping) -> list[str]:
    """The addresses of brokers that a client knows which shuts down, and to which it says goodbye."""
    addresses = views.addresses_to_poll if isinstance(event, events.PollerStopping) else views.known_addresses
    return sorted({*addresses(at, event.client_id).values()})


class goodbye_delists_a_member(Duty):
    """A member that leaves in order, and is not cut off, is taken out by its goodbye and does not have to expire.

    Looks after the shutdown, which sends a goodbye to each broker that its client knows.
    """

    shipped = ("violated: B-9 a heartbeat that comes late, B-30 one that was prepared before, "
               "B-6 another connection, D6 equal ids")
    cite = "MQClientInstance#unregisterConsumer, ClientManageProcessor#unregisterClient"
    about = _MEMBER
    within_ms = deadlines.handled
    excuses = (
        _STARTS_AGAIN, clock_was_set("client"), *was_cut_off_from("at", "client", deadlines.waited), _CANNOT_CONNECT,
        has_shut_down("at"),
    )
    late = "{at} lists {client_id} of {group} {waited_ms} ms after its shutdown"

    # The brokers to which a shutdown that has begun sends goodbyes.
    known = Kept("client client_id group", machine="client")

    @on(events.ConsumerStopping, events.PollerStopping)
    def leaves(self, _: int, client: str, event: events.ConsumerStopping | events.PollerStopping) -> None:
        addresses = known_when_it_stops(self.views, client, event)
        self.known[client, event.client_id, event.group] = {*map(machine_of, addresses)}

    @on(events.ConsumerShutDown, events.PollerShutDown)
    def has_left(self, ms: int, client: str, event: events.ConsumerShutDown | events.PollerShutDown) -> None:
        known = self.known.get((client, event.client_id, event.group), ())
        for (at,) in self.facts.brokers:
            if at in known:
                self.owe((at, event.client_id, event.group, client), ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        at, client_id, group, client = key
        listed = {(who, machine_of(connection)) for connection, who in self.views.members(at, group).items()}
        return super().broken(key, what, waited_ms) if (client_id, client) in listed else None


class goodbye_removes_all_connections(Rule):
    """When a broker has taken the goodbye of a member, no connection of the member is left in the group."""

    judges = "goodbye_delists_a_member"
    shipped = goodbye_delists_a_member.shipped
    cite = "ConsumerGroupInfo#unregisterChannel"
    about = "at client_id group"
    excuses = (Excuse("the goodbye is that of a consumer that has shut down, and another one has its name",
                      when=_of_a_former(events.GoodbyeTaken)),)

    @classmethod
    def claim(cls) -> str:
        """See Rule."""
        return goodbye_delists_a_member.claim()

    @on(events.GoodbyeTaken)
    def taken(self, _: int, at: str, event: events.GoodbyeTaken) -> Iterator[Told]:
        if self.facts.runs(machine_of(event.connection), event.client_id, event.group):
            return  # a goodbye of an earlier consumer does not mean the one that runs
        for connection, heartbeat in self.facts.connections(at, event.group).items():
            if heartbeat.client_id == event.client_id:
                yield self.told(f"{at} lists {event.client_id} of {event.group} by {connection} after its goodbye",
                                at, event.client_id, event.group)


class connections_of_members_last(Rule):
    """The connection of a member lasts while it runs, is not cut off from its broker, and sends heartbeats.

    Looks at connections on which a heartbeat has come so lately that they cannot be idle.
    """

    shipped = ("violated: B-11 the expiry of another group closes it, B-17 a call that times out, B-24 a heartbeat "
               "that waits, D5 a slow answer")
    cite = "ClientHousekeepingService#onChannelClose, ConsumerManager#doChannelCloseEvent"
    about = _MEMBER
    excuses = (
        _STOPS, _POLLS_NO_MORE, _IS_REFUSED, *_CLOCKS, *was_cut_off_from("at", "client", deadlines.waited),
        Excuse("the process of the member was killed", by=Match(events.ProcessKilled, of="client=at"),
               lasts=deadlines.expired),
        Excuse("it was made for a consumer that has shut down, and another one has its name",
               when=_of_a_former(events.ConsumerRemoved)),
    )

    @on(events.ConsumerRemoved)
    def removed(self, ms: int, at: str, event: events.ConsumerRemoved) -> Iterator[Told]:
        last_ms = self.facts.heartbeats_ms.get((at, event.group, event.connection))
        if event.why == "closed" and last_ms is not None and ms - last_ms < deadlines.close_to_idle(self.bounds):
            yield self.told(f"{at} takes {event.client_id} of {event.group} for gone when its connection "
                            f"{event.connection} ends", at, event.client_id, event.group, machine_of(event.connection))


class brokers_hear_of_each_group(Duty):
    """Each living broker that a running client knows hears of each of its groups, every 30 s.

    The broker says what it has heard.
    """

    cite = "MQClientInstance#sendHeartbeatToAllBroker, #prepareHeartbeatData"
    about = "client client_id group at"
    within_ms = deadlines.heard_of
    paid_by = tuple(Match(kind, of="client=connection.machine client_id group at")
                    for kind in (events.ConsumerRegistered, events.HeartbeatRefused))
    excuses = (
        Excuse("the consumer shuts down", by=Match(events.ConsumerStopping, of="client=at client_id group")),
        ended_or_stood_still("at", deadlines.waited), *was_cut_off_from("client", "at", deadlines.waited),
        Excuse("the client was refused a connection to the broker",
               by=Match(events.ConnectionRefused, of="client=at at=server"), lasts=deadlines.heard_of),
    )
    late = "{at} has not heard of {client_id} in {group} for {waited_ms} ms"

    _looked_ms = -deadlines.SCAN_MS

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Duty; who knows whom is looked at once in a while."""
        if now_ms - self._looked_ms >= deadlines.SCAN_MS:
            self._looked_ms, known = now_ms, {*self._known()}
            self.owed.drop(lambda key: key not in known)
            for key in sorted(known):
                self.owe(key, now_ms)
        yield from super().look(now_ms)

    def _known(self) -> Iterator[tuple[str, str, str, str]]:
        """Who is to be heard of where: machine, client id, group, broker."""
        living = {broker.broker_addr: broker.machine for broker in self.views.brokers()}
        for one in self.views.consumers():
            if self.facts.runs(one.machine, one.client_id, one.group) and one.service_state == "RUNNING":
                for addr in self.views.known_addresses(one.machine, one.client_id).values():
                    if addr in living:
                        yield one.machine, one.client_id, one.group, living[addr]


class clients_forget_the_dead(Promise):
    """After the last fault clients know no addresses but those of living brokers."""

    cite = "MQClientInstance#cleanOfflineBroker"
    about = "at broker_addr"
    within_ms = deadlines.forgotten

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        living = {broker.broker_addr for broker in self.views.brokers()}
        for at in dict.fromkeys(one.machine for one in self.views.consumers()):
            for addr in sorted({*self.views.known_addresses(at).values()} - living):
                yield self.told(f"{at} still knows {addr}", at, addr)
