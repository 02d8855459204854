"""What brokers know of producers: their connections, and where replies go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.events import ClientChannelClosed, ConsumerRegistered, HeartbeatRefused, ProducerRegistered
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Promise, Rule, Told, on


class closed_producer_is_delisted(Duty):
    """A broker that is told of the end of a connection takes it out of all its producer groups."""

    cite = "ClientHousekeepingService#onChannelClose, ProducerManager#doChannelCloseEvent"
    about = "at connection"
    within_ms = deadlines.handled
    excuses = (Excuse("a later heartbeat enters it again", by=ProducerRegistered),)
    late = "{at} lists {connection} as a producer {waited_ms} ms after its connection has ended"

    @on(ClientChannelClosed)
    def closed(self, ms: int, at: str, event: ClientChannelClosed) -> None:
        self.owe((at, event.connection), ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        listed = {connection for _, connection in self.views.producers(key[0])}
        return super().broken(key, what, waited_ms) if key[1] in listed else None


class replies_find_the_producer(Rule):
    """When a broker has entered the heartbeat of a producer it has a connection of it for replies."""

    shipped = "violated: B-23 the end of an old connection takes the new one"
    cite = "ProducerManager#registerProducer, #findChannel"
    about = "at group client_id"

    @on(ProducerRegistered)
    def registered(self, _: int, at: str, event: ProducerRegistered) -> Iterator[Told]:
        if str(event.client_id) not in self.views.reply_connections(at):
            yield self.told(f"{at} finds no connection of {event.client_id}, which has just spoken as {event.group}",
                            at, event.group, event.client_id)


class producers_are_known(Promise):
    """After the last fault every broker knows the producer that each living client has, and no other.

    A consumer whose heartbeats are refused expires, and its connection ends; its producer is back with the next one.
    """

    cite = "ClientManageProcessor#heartBeat, ProducerManager#registerProducer"
    about = "at group client_id"
    within_ms = deadlines.spoken
    excuses = (
        Excuse("the broker objects to the heartbeats of the client", by=Match(HeartbeatRefused, of="at client_id"),
               lasts=FOR_EVER, until=Match(ConsumerRegistered, of="at client_id")),
    )

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        right = {pair for one in self.views.consumers() if one.service_state == "RUNNING"
                 for pair in self.views.producing(one.machine)}
        for broker in self.views.brokers():
            known = {(group, who) for (group, _), who in self.views.producers(broker.machine).items()}
            for group, client_id in sorted(known ^ right, key=str):
                yield self.told(f"{broker.machine} and the living clients differ about the producer {group} of "
                                f"{client_id}", broker.machine, group, client_id)
