"""What brokers say of the members of groups, as steps of `model.registration.Registering`: one model per broker, group.

A Channel is a membership: a connection, and how often its member has left before, for who comes back on a connection
(or is brought back by a heartbeat that was overtaken) cannot be told from a new one at the broker. So
leaving_member_stays_gone is not judged here. An Info is a number: the objects that a group has had, in their order.

Grain. A broker does not report that a thread has found the group's object, only that its channel was put, and whether
into the object of the table. So a heartbeat is queued, finds and puts at once; one that puts into an object that has
left the table had found it before (B-7): the last one that left. Who looks whether an object is empty, and when, is not
reported either; the table is emptied by a thread that has seen that (B-8), and that members go with it is for
answered_heartbeat_means_listed to say. A member leaves when its leave-taking is handled.

Visible: whether the group has an object, and who is inside it. Hidden: wants, answered, gone, and all other objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from impl import events
from invariants import registration as promised
from invariants.finding import Finding
from invariants.refinement.follower import Follower
from invariants.refinement.maps import GroupMap, hears
from invariants.refinement.monitor import Monitor, Step, judged
from invariants.views import Machines
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, Writes
from model.registration import Registering, Registration

NAME = "refines_registration"
PROPERTIES = judged(Registration.concept, promised.answered_heartbeat_means_listed)
FEW = 8
"""So many memberships that have ended may still be known."""
Channel = tuple[str, int]


def followers(machines: Machines, _groups: Sequence[tuple[str, str]], _scopes: Sequence[str]) -> list[Follower]:
    """One follower, of all machines."""
    return [Registrations(machines)]


class Registrations(GroupMap["_Group"]):
    """Follower of all groups at all brokers; see Follower."""

    def __init__(self, machines: Machines) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, NAME, PROPERTIES, _Group)

    @hears(events.ClientChannelClosed)
    def _closed(self, machine: str, event: events.ClientChannelClosed) -> list[Finding]:
        return [found for group in self.groups.get(machine, {}).values() for found in group.closed(event)]

    def concerned(self, machine: str, event: Any) -> _Group:
        """See GroupMap."""
        return self._group(machine, event.group)

    def _group(self, machine: str, name: str) -> _Group:
        groups = self.groups.setdefault(machine, {})
        return groups.get(name) or groups.setdefault(name, _Group())

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map."""
        changed = [name for name, group in self.groups.get(machine, {}).items() if whole or group.monitor.moved]
        if not (changed or whole) or not self.views.runs_broker(machine):
            return []
        found, views = list[Finding](), self.views
        for name in dict.fromkeys((*changed, *(views.groups(machine) if whole else ()))):
            group = self._group(machine, name)
            found += group.compare(views.members(machine, name) if views.has_group(machine, name) else None)
            self.visited.update(group.monitor.fingerprints())
        return found


class _Group:
    """One group at one broker.

    members -- connection to the membership that it is; those that have not been removed. left_before -- connection to
    how often its member has left. objects -- how many the group has had. former -- the last that left the table.
    """

    def __init__(self) -> None:
        self.members: dict[str, Channel] = {}
        self.left_before: dict[str, int] = {}
        self.objects = self.former = 0
        self.monitor = Monitor(OpenReading(Registering.concept), PROPERTIES, NAME, visible=("current", "inside"),
                               named=_named)
        self.value = self.monitor.value

    @hears(events.GroupEntered)
    def entered(self, event: events.GroupEntered) -> list[Finding]:
        self.objects += 1
        return self.monitor.take(event, ("enter_group", (self.objects,)))

    @hears(events.GroupRemoved)
    def left(self, event: events.GroupRemoved) -> list[Finding]:
        self.former = self.value("current") or self.former
        return self.monitor.take(event, ("remove_group_beside", ()))

    @hears(events.ConsumerRegistered)
    def registered(self, event: events.ConsumerRegistered) -> list[Finding]:
        """A heartbeat's thread has put its connection, into the object of the table or into a former one."""
        current = self.value("current")
        put_into = current if event.attached else self.former
        channel = self._whose(event.connection, (current, put_into))
        if self._has_left(channel) or (self.value("answered", channel) and self.value("inside", put_into, channel)):
            return []
        self._forget()
        steps: list[Step] = [] if self.value("wants", channel) else [("join", (channel,))]
        steps.append(("beat", (channel,)))
        if event.attached:
            steps += [("find_group", (channel, current)), ("put_channel", (channel, current))]
        else:
            steps.append(("put_channel_beside", (channel, self.former)))
        return self.monitor.take(event, *steps)

    def closed(self, event: events.ClientChannelClosed) -> list[Finding]:
        channel = self.members.get(event.connection)
        return [] if channel is None else self.monitor.take(event, *self._leaves(channel))

    @hears(events.ConsumerRemoved)
    def removed(self, event: events.ConsumerRemoved) -> list[Finding]:
        channel = self.members.get(event.connection)
        if channel is None:
            return []
        if not event.attached:
            return self.monitor.take(event, ("remove_channel_beside", (channel, self.former)))
        self._over(event.connection)
        return self.monitor.take(event, *self._leaves(channel), ("remove_channel", (channel, self.value("current"))))

    @hears(events.GoodbyeTaken)
    def said_goodbye(self, event: events.GoodbyeTaken) -> list[Finding]:
        """A goodbye was handled; it may have found nothing to remove.

        One that looked into a former object leaves the entry in the object of the table, and the membership with it.
        """
        channel = self.members.get(event.connection)
        if channel is None:
            return []
        if event.attached or not self.value("inside", self.value("current"), channel):
            self._over(event.connection)
        return self.monitor.take(event, *self._leaves(channel)) if self.value("wants", channel) else []

    def _channel(self, connection: str) -> Channel:
        channel = self.members.get(connection)
        if channel is None:
            channel = self.members[connection] = connection, self.left_before.get(connection, 0)
        return channel

    def _whose(self, connection: str, objects: Iterable[int | None]) -> Channel:
        """The membership whose heartbeat was put; objects -- that of the table, and the one that it was put into.

        A member that has left, and has an entry in one of them, has not been removed there yet: a heartbeat from before
        its end changes nothing that can be seen. Without an entry it is brought back, as another member. Nobody reports
        that an entry goes with an object that leaves the table (B-8), and the end of the connection then finds none.
        """
        channel = self._channel(connection)
        if self._has_left(channel) and not any(self.value("inside", one, channel) for one in objects):
            self._over(connection)
        return self._channel(connection)

    def _has_left(self, channel: Channel) -> bool:
        return bool(self.value("came", channel) and not self.value("wants", channel))

    def _leaves(self, channel: Channel) -> list[Step]:
        return [("leave", (channel,))] if self.value("wants", channel) else []

    def _over(self, connection: str) -> None:
        """Who is entered on this connection from now on is another member."""
        del self.members[connection]
        self.left_before[connection] = self.left_before.get(connection, 0) + 1

    def _forget(self) -> None:
        known, about = self.monitor.reading.given.named, {*self.members.values()}
        over = [channel for channel in known["Channel"] if channel not in about]
        if len(over) > FEW:
            self.monitor.forget("Channel", over)
            self.monitor.forget("Info", [i for i in known["Info"] if i not in (self.value("current"), self.former)])

    def compare(self, connections: Iterable[str] | None) -> list[Finding]:
        """Compare with the connections in the group's object, None if it has none."""
        self.monitor.moved = False
        current = self.value("current")
        if connections is None:
            return self.monitor.compare({}, [("current",)])
        if current is None:
            self.objects += 1
            current = self.objects
        seen: Writes = {("inside", current, self._channel(connection)): True for connection in connections}
        seen["current",] = current
        known = self.monitor.reading.given.named["Channel"]
        looked: list[Cell] = [*seen, *(("inside", current, channel) for channel in known)]
        return self.monitor.compare(seen, looked)


def _named(element: Any) -> str:
    """An element as people know it."""
    return str(element[0]) if isinstance(element, tuple) else f"object {element}"
