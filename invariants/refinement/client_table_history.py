"""Judges of histories (`invariants.history`): what a broker lists of its clients, and what these say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.events import (
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerStarted,
    GoodbyeTaken,
    GroupRemoved,
    HeartbeatHandled,
    ProcessKilled,
    ProcessPaused,
    SubscriptionRemoved,
    SubscriptionUpdated,
    VersionRaised,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import Hearing, Judge, machine_of
from invariants.refinement.member_history import Expiries

IDLE_MS = 75_000
"""A connection on which nothing comes for 120 s is closed as idle; a heartbeat is handled 40 s late at most."""
SOON_MS = 5_000
"""A heartbeat takes milliseconds; a pull that was refused is repeated after 3 s."""
CALM_MS = 60_000
"""After a strike calls run into their time-outs, and a heartbeat is due after 30 s."""

Group = tuple[str, str]  # broker's machine, group


class Lists:
    """Who is listed where: a part of judges.

    groups -- broker and group to the last heartbeat on each connection that is listed.
    """

    def __init__(self) -> None:
        """Nobody is listed."""
        self.groups: dict[Group, dict[str, ConsumerRegistered]] = {}

    def hears(self) -> Hearing:
        """What changes it."""
        return {ConsumerRegistered: self.entered, ConsumerRemoved: self.left, GroupRemoved: self.ended,
                tuple: self.host}

    def entered(self, _: int, machine: str, event: ConsumerRegistered) -> None:
        """A heartbeat has put its connection."""
        if event.attached:
            self.groups.setdefault((machine, event.group), {})[event.connection] = event

    def left(self, _: int, machine: str, event: ConsumerRemoved) -> None:
        """A connection is taken out."""
        if event.attached:
            self.groups.get((machine, event.group), {}).pop(event.connection, None)

    def ended(self, _: int, machine: str, event: GroupRemoved) -> None:
        """The group is dropped."""
        self.groups.pop((machine, event.group), None)

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        """A process has ended."""
        if event.__class__ is ProcessKilled:
            for key in [key for key in self.groups if key[0] == machine]:
                del self.groups[key]


class _GoodbyeTakesTheClientOut(Judge):
    """Of goodbye_delists_a_member: when the goodbye is taken no connection of the client is left in the group."""

    name = "goodbye_delists_a_member"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.lists = Lists()

    def hears(self) -> Hearing:
        return {**self.lists.hears(), GoodbyeTaken: self.taken}

    def taken(self, _: int, machine: str, event: GoodbyeTaken) -> Iterator[str]:
        for connection, heartbeat in self.lists.groups.get((machine, event.group), {}).items():
            if event.attached and heartbeat.client_id == event.client_id:
                yield f"{machine} lists {event.client_id} of {event.group} by {connection} when it has said goodbye"


class _ConnectionsOfMembersLast(Expiries):
    """Of connections_of_members_last.

    last_ms -- broker, group and connection to the last heartbeat on it.
    """

    name = "connections_of_members_last"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.last_ms: dict[tuple[str, str, str], int] = {}

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is not ProcessPaused:  # who stands still has not gone
            super().host(ms, machine, event)

    def entered(self, ms: int, machine: str, event: ConsumerRegistered) -> None:
        super().entered(ms, machine, event)
        self.last_ms[machine, event.group, event.connection] = ms

    def removed(self, ms: int, machine: str, event: ConsumerRemoved) -> Iterator[str]:
        last_ms = self.last_ms.pop((machine, event.group, event.connection), -IDLE_MS)
        refused = (machine, event.group, event.client_id) in self.refused
        runs = not refused and (event.client_id, event.group) not in self.stopped
        if event.why == "closed" and runs and ms - last_ms < IDLE_MS and self.unstruck(ms, machine, event):
            yield f"{machine} takes {event.client_id} of {event.group} for gone when {event.connection} ends"


class _GroupHasOneMessageModel(Judge):
    """Of group_has_one_message_model: looked at with each heartbeat. models -- of those that were seen to start."""

    name = "group_has_one_message_model"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.lists = Lists()
        self.models: dict[tuple[str | None, str], str] = {}

    def hears(self) -> Hearing:
        return {**self.lists.hears(), ConsumerStarted: self.started, ConsumerRegistered: self.registered}

    def started(self, _: int, __: str, event: ConsumerStarted) -> None:
        self.models[event.client_id, event.group] = event.message_model

    def registered(self, ms: int, machine: str, event: ConsumerRegistered) -> Iterator[str]:
        self.lists.entered(ms, machine, event)
        said = self.models.get((event.client_id, event.group))
        for other in self.lists.groups.get((machine, event.group), {}).values() if event.attached and said else ():
            model = self.models.get((other.client_id, event.group), said)
            if model != said:
                yield f"{machine} has {said} from {event.client_id} and {model} from {other.client_id}"


class _TopicsLeaveWithTheirMember(Judge):
    """Of topics_leave_with_their_member: a second after somebody has gone, when no heartbeat is being handled.

    topics -- what the table has. gone -- since when it is to be looked at. busy -- connections, by group.
    """

    name = "topics_leave_with_their_member"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.lists = Lists()
        self.topics: dict[Group, set[str]] = {}
        self.gone: dict[Group, int] = {}
        self.busy: dict[Group, set[str]] = {}

    def hears(self) -> Hearing:
        return {**self.lists.hears(), ConsumerRegistered: self.registered, HeartbeatHandled: self.handled,
                ConsumerRemoved: self.removed, GroupRemoved: self.ended, SubscriptionUpdated: self.put,
                SubscriptionRemoved: self.taken_out, tuple: self.host}

    def registered(self, ms: int, machine: str, event: ConsumerRegistered) -> None:
        self.lists.entered(ms, machine, event)
        self.busy.setdefault((machine, event.group), set()).add(event.connection)

    def handled(self, _: int, machine: str, event: HeartbeatHandled) -> None:
        self.busy.get((machine, event.group), set()).discard(event.connection)

    def removed(self, ms: int, machine: str, event: ConsumerRemoved) -> None:
        self.lists.left(ms, machine, event)
        if event.attached:
            self.gone[machine, event.group] = ms

    def put(self, _: int, machine: str, event: SubscriptionUpdated) -> None:
        if event.attached:
            self.topics.setdefault((machine, event.group), set()).add(event.topic)

    def taken_out(self, _: int, machine: str, event: SubscriptionRemoved) -> None:
        if event.attached:
            self.topics.get((machine, event.group), set()).discard(event.topic)

    def ended(self, ms: int, machine: str, event: GroupRemoved) -> None:
        self.lists.ended(ms, machine, event)
        self._forget((machine, event.group))

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        self.lists.host(ms, machine, event)
        if event.__class__ is ProcessKilled:
            for key in [key for key in (*self.topics, *self.busy) if key[0] == machine]:
                self._forget(key)

    def _forget(self, key: Group) -> None:
        for table in (self.topics, self.gone, self.busy):
            table.pop(key, None)

    def due(self, now_ms: int) -> Iterator[str]:
        for key, since_ms in [*self.gone.items()] if self.gone else ():
            if now_ms > since_ms and not self.busy.get(key):
                del self.gone[key]
                here = self.lists.groups.get(key, {}).values()
                wanted = {topic for heartbeat in here for topic, _, __ in heartbeat.subscriptions}
                for topic in sorted(self.topics.get(key, set()) - wanted) if here else ():
                    yield f"{key[0]} has {topic} subscribed in {key[1]}, of whose members nobody subscribes it"


class _NewVersionIsToldSoon(Expiries):
    """Of new_version_is_told_soon: at the brokers that list the member with the topic, where nothing has struck.

    raised -- client id, group and topic to time, machine and version. told -- broker and these to the greatest version.
    """

    name = "new_version_is_told_soon"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.lists = Lists()
        self.raised: dict[tuple[str, str, str], tuple[int, str, int]] = {}
        self.told: dict[tuple[str, str | None, str, str | None], int] = {}

    def hears(self) -> Hearing:
        return {**self.lists.hears(), VersionRaised: self.up, ConsumerRegistered: self.registered, tuple: self.host}

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        super().host(ms, machine, event)
        self.lists.host(ms, machine, event)
        if event.__class__ is ProcessKilled:
            for key in [key for key, (_, where, __) in self.raised.items() if where == machine]:
                del self.raised[key]

    def up(self, ms: int, machine: str, event: VersionRaised) -> None:
        self.raised[event.client_id, event.group, event.topic] = ms, machine, event.sub_version

    def registered(self, ms: int, machine: str, event: ConsumerRegistered) -> None:
        self.lists.entered(ms, machine, event)
        for topic, _, version in event.subscriptions:
            key = machine, event.client_id, event.group, topic
            self.told[key] = max(version, self.told.get(key, version))

    def due(self, now_ms: int) -> Iterator[str]:
        for key, (ms, client, version) in [*self.raised.items()] if self.raised else ():
            if now_ms - ms > SOON_MS:
                del self.raised[key]
                for broker in self._brokers(*key, client):
                    struck_ms = max(self.calm_since.get(one, -CALM_MS) for one in (broker, client))
                    if self.told[broker, *key] < version and now_ms - struck_ms >= CALM_MS:
                        yield f"{broker} does not know version {version} of {key[2]}, which {client} pulls with"

    def _brokers(self, client_id: str, group: str, topic: str, client: str) -> list[str]:
        """Where the last heartbeat of the client, which has the topic, is listed."""
        return sorted({
            broker for (broker, name), here in self.lists.groups.items() if name == group
            for connection, heartbeat in here.items()
            if heartbeat.client_id == client_id and machine_of(connection) == client
            and any(topic == one for one, _, __ in heartbeat.subscriptions)
        })


JUDGES: tuple[type[Judge], ...] = (
    _GoodbyeTakesTheClientOut, _ConnectionsOfMembersLast, _GroupHasOneMessageModel, _TopicsLeaveWithTheirMember,
    _NewVersionIsToldSoon,
)
