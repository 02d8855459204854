"""Judges of histories (`invariants.history`): members of groups at brokers, and the clusters of a name server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from impl.events import (
    ClientChannelClosed,
    ClockDrifts,
    ClockJumped,
    ClusterInfoFetched,
    ConnectionRefused,
    ConnectionSevered,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    GroupRemoved,
    HeartbeatRefused,
    PartitionBegan,
    ProcessKilled,
    ProcessPaused,
    ProcessStarted,
    ProducerRegistered,
    QueuesAssigned,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import HANDLED_MS, Hearing, Judge

EXPIRED_MS = 120_000
ON_THE_WAY_MS = 150_000
"""A heartbeat that was encoded before a moment is handled so long after it at the latest."""
UNSTRUCK_MS = 180_000
"""A heartbeat comes every 30 s; after a strike the route may have to be learnt anew, and calls run into time-outs."""
FOR_EVER = 1 << 60
SKEW_MS = 24 * 60 * 60 * 1000


class _GoodbyeIsFinal(Judge):
    """Of goodbye_is_final; a goodbye of a former life, which is handled in the next one, is none.

    left -- broker, group and connection to the client. running -- client id and group of those that have not said it.
    """

    name = "goodbye_is_final"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.left: dict[tuple[str, str, str], str | None] = {}
        self.running: set[tuple[str | None, str]] = set()

    def hears(self) -> Hearing:
        return {ConsumerRemoved: self.removed, ConsumerStarted: self.started, ConsumerStopping: self.stops,
                ConsumerRegistered: self.registered}

    def removed(self, _: int, machine: str, event: ConsumerRemoved) -> None:
        if event.why == "unregistered" and (event.client_id, event.group) not in self.running:
            self.left[machine, event.group, event.connection] = event.client_id

    def stops(self, _: int, __: str, event: ConsumerStopping) -> None:
        self.running.discard((event.client_id, event.group))

    def started(self, _: int, __: str, event: ConsumerStarted) -> None:
        self.running.add((event.client_id, event.group))
        for key in [key for key, who in self.left.items() if who == event.client_id and key[1] == event.group]:
            del self.left[key]

    def registered(self, _: int, machine: str, event: ConsumerRegistered) -> Iterator[str]:
        if (machine, event.group, event.connection) in self.left:
            yield f"{machine} lists {event.client_id} again, who has left {event.group}"


class _HeartbeatsKeepAMember(Judge):
    """Of heartbeats_keep_a_member; a broker whose clock was touched is not judged.

    Where a client's newest connection takes the place of its older ones, these do not expire.
    """

    name = "heartbeats_keep_a_member"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.last_ms: dict[tuple[str, str, str], int] = {}
        self.touched: set[str] = set()
        self.early: dict[tuple[str, str, str | None], tuple[int, int]] = {}

    def hears(self) -> Hearing:
        return {tuple: self.host, ConsumerRegistered: self.registered, ConsumerRemoved: self.removed}

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ in (ClockJumped, ClockDrifts):
            self.touched.add(machine)

    def registered(self, ms: int, machine: str, event: ConsumerRegistered) -> None:
        self.last_ms[machine, event.group, event.connection] = ms
        self.early.pop((machine, event.group, event.client_id), None)

    def removed(self, ms: int, machine: str, event: ConsumerRemoved) -> None:
        last_ms = self.last_ms.pop((machine, event.group, event.connection), None)
        if event.why == "expired" and last_ms is not None and ms - last_ms < EXPIRED_MS and machine not in self.touched:
            self.early[machine, event.group, event.client_id] = ms, ms - last_ms

    def due(self, now_ms: int) -> Iterator[str]:
        for key, (at_ms, age_ms) in [*self.early.items()]:
            if now_ms > at_ms:
                del self.early[key]
                yield f"{key[0]} lets {key[2]} of {key[1]} expire {age_ms} ms after its heartbeat"


class _ClosedConnectionIsDelisted(Judge):
    """Of closed_connection_is_delisted: what a heartbeat has entered before, and none enters later."""

    name = "closed_connection_is_delisted"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.listed: dict[tuple[str, str, str], str | None] = {}
        self.closed: dict[tuple[str, str, str], int] = {}

    def hears(self) -> Hearing:
        return {tuple: self.host, ConsumerRegistered: self.registered, ConsumerRemoved: self.removed,
                GroupRemoved: self.group_removed, ClientChannelClosed: self.close}

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        """A process that stands still is told when it goes on."""
        if event.__class__ is ProcessKilled:
            self._forget(lambda key: key[0] == machine)
        elif event.__class__ is ProcessPaused:
            self.closed.update({key: ms + event.ms for key in self.closed if key[0] == machine})

    def group_removed(self, _: int, machine: str, event: GroupRemoved) -> None:
        self._forget(lambda key: key[:2] == (machine, event.group))

    def _forget(self, mine: Callable[[tuple[str, str, str]], bool]) -> None:
        for key in [key for key in self.listed if mine(key)]:
            self.listed.pop(key, None)
            self.closed.pop(key, None)

    def registered(self, _: int, machine: str, event: ConsumerRegistered) -> None:
        key = machine, event.group, event.connection
        self.closed.pop(key, None)
        if event.attached:
            self.listed[key] = event.client_id

    def removed(self, _: int, machine: str, event: ConsumerRemoved) -> None:
        key = machine, event.group, event.connection
        self._forget(lambda one: one == key)

    def close(self, ms: int, machine: str, event: ClientChannelClosed) -> None:
        for key in self.listed:
            if key[0] == machine and key[2] == event.connection:
                self.closed.setdefault(key, ms)

    def due(self, now_ms: int) -> Iterator[str]:
        for key, since_ms in [*self.closed.items()]:
            if now_ms - since_ms > HANDLED_MS:
                del self.closed[key]
                yield f"{key[0]} lists {self.listed[key]} in {key[1]} long after the connection {key[2]} has ended"


class _ProducerConnectionIsDelisted(Judge):
    """Of closed_producer_is_delisted: what a heartbeat has entered before, and none enters later."""

    name = "closed_producer_is_delisted"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.closed: dict[tuple[str, str], int] = {}

    def hears(self) -> Hearing:
        return {tuple: self.host, ProducerRegistered: self.registered, ClientChannelClosed: self.close}

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        """A process that stands still is told when it goes on."""
        for key in [key for key in self.closed if key[0] == machine]:
            if event.__class__ is ProcessKilled:
                del self.closed[key]
            elif event.__class__ is ProcessPaused:
                self.closed[key] = ms + event.ms

    def registered(self, _: int, machine: str, event: ProducerRegistered) -> None:
        self.closed.pop((machine, event.connection), None)

    def close(self, ms: int, machine: str, event: ClientChannelClosed) -> None:
        self.closed[machine, event.connection] = ms

    def due(self, now_ms: int) -> Iterator[str]:
        for key, since_ms in [*self.closed.items()]:
            if now_ms - since_ms > HANDLED_MS:
                del self.closed[key]
                broker = self.living.broker(key[0])
                tables = () if broker is None else broker.producer_manager.group_channel_table.entries()
                for group, table in tables:
                    if any(getattr(channel, "remote_address", "") == key[1] for channel in table.key_set()):
                        yield f"{key[0]} lists {key[1]} as a producer of {group} long after its connection has ended"


class Expiries(Judge):
    """What judges share that look at members who expire where nothing has struck them, their broker, or the network.

    stopped -- client ids and groups that have begun to shut down, with the time of the end.
    refused -- clients to whose last heartbeat a broker has objected, on whatever connection it came: what they were
    listed by before may end.
    """

    def __init__(self, living: Living) -> None:
        """Nothing has struck."""
        super().__init__(living)
        self.refused: set[tuple[str, str, str | None]] = set()
        self.calm_since: dict[str, int] = {}
        self.stopped: dict[tuple[str | None, str], int] = {}

    def hears(self) -> Hearing:
        """See Judge."""
        return {tuple: self.host, ConsumerRemoved: self.removed, ConsumerStopping: self.stops,
                ConsumerShutDown: self.stops, ConsumerStarted: self.starts, HeartbeatRefused: self.objected,
                ConsumerRegistered: self.entered}

    def host(self, ms: int, machine: str, event: Any) -> None:
        """Something strikes."""
        what = event.__class__
        if what is ProcessKilled or (what is ProcessStarted and event.incarnation > 1):
            self._strike(machine, ms)
        elif what is ProcessPaused:
            self._strike(machine, ms + event.ms)
        elif what is ConnectionRefused:
            self._strike(machine, ms)
        elif what in (PartitionBegan, ConnectionSevered):
            self._strike(machine, FOR_EVER)
            self._strike(str(event[0]), FOR_EVER)
        elif what in (ClockJumped, ClockDrifts):
            self._strike(machine, FOR_EVER)

    def _strike(self, machine: str, until_ms: int) -> None:
        self.calm_since[machine] = max(until_ms, self.calm_since.get(machine, 0))

    def starts(self, _: int, __: str, event: ConsumerStarted) -> None:
        """A consumer starts."""
        self.stopped.pop((event.client_id, event.group), None)

    def stops(self, ms: int, __: str, event: ConsumerStopping | ConsumerShutDown) -> None:
        """A consumer begins to stop, or has stopped."""
        self.stopped[event.client_id, event.group] = ms

    def objected(self, _: int, __: str, event: HeartbeatRefused) -> None:
        """A broker has refused a heartbeat."""
        self.refused.add((event.broker, event.group, event.client_id))

    def entered(self, _: int, __: str, event: ConsumerRegistered) -> None:
        """A broker has taken a heartbeat."""
        self.refused.discard((event.broker, event.group, event.client_id))

    def removed(self, ms: int, machine: str, event: ConsumerRemoved) -> Iterator[str]:
        """Somebody is not listed any more."""
        if event.why == "expired" and self.unstruck(ms, machine, event):
            yield from self.expired(machine, event)

    def unstruck(self, ms: int, machine: str, event: ConsumerRemoved) -> bool:
        """Whether nothing has struck the two machines for long, and the client is not listed any more."""
        client = event.connection.rpartition(":")[0]
        struck_ms = max(self.calm_since.get(one, -UNSTRUCK_MS) for one in (machine, client))
        return ms - struck_ms >= UNSTRUCK_MS and not self._listed(machine, event)

    def _listed(self, machine: str, event: ConsumerRemoved) -> bool:
        """Whether the client is still there, by another connection on which it has come."""
        broker = self.living.broker(machine)
        info = None if broker is None else broker.consumer_manager.get_consumer_group_info(event.group)
        return info is not None and event.client_id in info.get_all_client_id()

    def expired(self, machine: str, event: ConsumerRemoved) -> Iterator[str]:
        """Why this one ought not to have expired."""
        raise NotImplementedError


class _LivingMembersDoNotExpire(Expiries):
    """Of living_members_do_not_expire."""

    name = "living_members_do_not_expire"

    def expired(self, machine: str, event: ConsumerRemoved) -> Iterator[str]:
        refused = (event.broker, event.group, event.client_id) in self.refused
        if not refused and (event.client_id, event.group) not in self.stopped:
            yield f"{machine} lets {event.client_id} of {event.group} expire, which lives and can reach it"


class _GoodbyeDelistsAMember(Expiries):
    """Of goodbye_delists_a_member: once the shutdown has ended, in the midst of which its thread may stand still."""

    name = "goodbye_delists_a_member"

    def hears(self) -> Hearing:
        return {event: heard for event, heard in super().hears().items() if event is not ConsumerStopping}

    def expired(self, machine: str, event: ConsumerRemoved) -> Iterator[str]:
        if (event.client_id, event.group) in self.stopped:
            yield f"{machine} lets {event.client_id} of {event.group} expire, which has left in order"


class _ChangedShareRenewsTheSubscription(Judge):
    """Of changed_share_renews_the_subscription; heartbeats that may be older than the change are not looked at."""

    name = "changed_share_renews_the_subscription"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.carried: dict[tuple[str, str, str], int] = {}
        self.changed: dict[tuple[str, str, str], tuple[int, int]] = {}
        self.touched = False

    def hears(self) -> Hearing:
        return {tuple: self.host, QueuesAssigned: self.assigned, ConsumerRegistered: self.registered}

    def host(self, _: int, __: str, event: tuple[Any, ...]) -> None:
        self.touched |= event.__class__ in (ClockJumped, ClockDrifts)

    def assigned(self, ms: int, _: str, event: QueuesAssigned) -> None:
        key = event.client_id, event.group, event.topic
        if event.changed and key in self.carried:
            self.changed[key] = ms, self.carried[key]

    def registered(self, ms: int, machine: str, event: ConsumerRegistered) -> Iterator[str]:
        for topic, _, version in event.subscriptions:
            key = str(event.client_id), event.group, str(topic)
            since_ms, before = self.changed.get(key, (ms, version))
            if version > before:
                self.changed.pop(key, None)
            elif ms - since_ms > ON_THE_WAY_MS and not self.touched:
                del self.changed[key]
                yield f"{machine} is told of {topic} by {event.client_id} with the version from before a change"
            self.carried[key] = max(version, self.carried.get(key, version))


class _VersionsAreTimes(Judge):
    """Of versions_are_times, by the clock of the broker that hears it."""

    name = "versions_are_times"

    def hears(self) -> Hearing:
        return {ConsumerRegistered: self.registered}

    def registered(self, _: int, machine: str, event: ConsumerRegistered) -> Iterator[str]:
        broker = self.living.broker(machine)
        if broker is not None:
            now_ms = broker.node.now_ms()
            for topic, __, version in sorted(event.subscriptions, key=str):
                if abs(version - now_ms) > SKEW_MS:
                    yield f"{event.client_id} has {version} as the version of {topic}, at {now_ms} of {machine}"


class _ClusterInfoFitsTogether(Judge):
    """Of cluster_info_fits_together."""

    name = "cluster_info_fits_together"

    def hears(self) -> Hearing:
        return {ClusterInfoFetched: self.fetched}

    def fetched(self, _: int, __: str, event: ClusterInfoFetched) -> Iterator[str]:
        for name in sorted(event.broker_names ^ event.cluster_names):
            yield f"{event.namesrv} has {name} in one of them only"


JUDGES: tuple[type[Judge], ...] = (
    _GoodbyeIsFinal,
    _HeartbeatsKeepAMember,
    _ClosedConnectionIsDelisted,
    _ProducerConnectionIsDelisted,
    _LivingMembersDoNotExpire,
    _GoodbyeDelistsAMember,
    _ChangedShareRenewsTheSubscription,
    _VersionsAreTimes,
    _ClusterInfoFitsTogether,
)
