"""What brokers say of subscriptions, as steps of `model.subscription.Subscriptions`: one model per broker and group.

A Member is a connection with the topics that its heartbeats carry (a connection that changes its topics becomes another
Member); its stamp and its expression are those of the heartbeat that was handled last, which may be older than what the
client has by now. Each heartbeat is followed at the grain of its thread: begin is the connection's put, done the end
of ConsumerManager#registerConsumer; that both loops are over is reported, too. `heartbeat`, the whole in one step,
never happens, so that heartbeat_is_idempotent, which speaks of it alone, is not judged.

Visible: listed, subscribed, and version and expression of what is subscribed. Hidden: answered, stamp, text, phase,
todo, last. Nobody reports that a topic was looked up and left as it was, nor where the second loop begins: these steps
change nothing that is visible, and are taken when a later one shows that they must have been, in all orders that then
matter.

What the model does not know: a member that goes while its heartbeat is being handled, or as the last one, goes when
that heartbeat is done, or with the group; until then it counts as listed, and as one who was never answered. An object
that left ConsumerManager's table is no longer followed (who is in it: `model.registration`). In 4.9.3 the look at a
topic and its put are two steps: a thread that stands between them can put an older version over a newer one, or lose a
newer one to putIfAbsent. The model has one step, so this is a difference of `version` or `expression`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from impl import events
from invariants import subscription as declared  # noqa: F401  # declares the properties
from invariants.finding import Finding
from invariants.refinement.follower import Follower
from invariants.refinement.maps import GroupMap, hears
from invariants.refinement.monitor import Monitor, Step, judged
from invariants.views import Machines, Subscription as InTable
from model.language.open.reading import NOBODY, OpenReading
from model.language.open.states import Cell, State, Writes
from model.subscription import Subscriptions

NAME = "refines_subscription"
VISIBLE = ("listed", "subscribed", "version", "expression")
PROPERTIES = judged(Subscriptions.concept, without=("heartbeat_is_idempotent",))
SILENT = (events.SubscriptionsHandled, events.HeartbeatHandled)
"""What writes nothing."""
RIGID = {"wants": lambda member, topic: topic in member[1], "first_text": lambda _member, _topic: NOBODY}
FEW = 8
"""So many members that have gone may still be known."""
Steps = tuple[Step, ...]
Member = tuple[str, frozenset[str]]
"""A connection and the topics that it wants."""


def followers(machines: Machines, _groups: Sequence[tuple[str, str]], _scopes: Sequence[str]) -> list[Follower]:
    """One follower, of all machines."""
    return [Subscription(machines)]


class Subscription(GroupMap["_Group"]):
    """Follower of all groups at all brokers; see Follower."""

    def __init__(self, machines: Machines) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, NAME, PROPERTIES, _Group)
        self._changed: dict[str, bool] = {}  # to whether a group is compared although its model has not moved visibly

    @hears(events.GroupEntered)
    def _entered(self, machine: str, event: events.GroupEntered) -> list[Finding]:
        self.groups.setdefault(machine, {})[event.group] = _Group()
        self._changed[event.group] = True
        return []

    def concerned(self, machine: str, event: Any) -> _Group | None:
        """See GroupMap."""
        groups, kind, name = self.groups.get(machine, {}), event.__class__, event.group
        if kind not in SILENT:
            self._changed[name] = self._changed.get(name, False) or kind is not events.ConsumerRegistered
        return groups.pop(name, None) if kind is events.GroupRemoved else groups.get(name)

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map; a group that came or went without a word is followed from now on, or no more."""
        changed, self._changed = self._changed, {}
        if not (changed or whole) or not self.views.runs_broker(machine):
            return []
        found, groups, views = list[Finding](), self.groups.setdefault(machine, {}), self.views
        for name, look in dict.fromkeys((*groups, *views.groups(machine)), True).items() if whole else changed.items():
            group, there = groups.get(name), views.has_group(machine, name)
            if (group is not None) != there:
                word = "is there" if there else "is gone"
                found.append(Finding(NAME, None, f"{name} {word} and nobody said so", (NAME, "differs", "group")))
            if there:
                group = groups.setdefault(name, group or _Group())
                if look or group.monitor.moved:
                    found += group.compare(views.members(machine, name), views.subscriptions(machine, name))
                self.visited.add(group.monitor.fingerprints()[0])
            else:
                groups.pop(name, None)
        return found


class _Group:
    """One group object at one broker.

    now -- connection to the Member that it is. busy -- the same, of connections whose heartbeat is being handled.
    waiting -- the same, of those whose heartbeat changes nothing as long as nothing else happens, and whether both its
    loops are over: its steps are taken only if something does.
    going -- Members that left and are still listed in the model. over -- Members whose thread has both loops behind it,
    which the model does not know yet. latest -- machine and client id to the connection of its last heartbeat.
    """

    def __init__(self) -> None:
        self.now: dict[str, Member] = {}
        self.busy: dict[str, Member] = {}
        self.waiting: dict[str, tuple[Member, bool]] = {}
        self.going: list[Member] = []
        self.over: list[Member] = []
        self.latest: dict[tuple[str, str | None], str] = {}
        self.reading = OpenReading(Subscriptions.concept, RIGID)
        self.monitor = Monitor(self.reading, PROPERTIES, NAME, visible=VISIBLE, unmarked=("version", "stamp"),
                               named=_named)

    @hears(events.ConsumerRegistered)
    def registered(self, event: events.ConsumerRegistered) -> list[Finding]:
        if not event.attached:
            return []
        carried = sorted((topic, text, version) for topic, text, version in event.subscriptions if topic is not None)
        member = event.connection, frozenset(topic for topic, _, _ in carried)
        self.latest[event.connection.rpartition(":")[0], event.client_id] = event.connection
        if self._changes_nothing(member, carried):
            self.waiting[event.connection] = member, False
            return []
        found = self._end_loops(event)
        before = self.now.get(event.connection, member)
        self.now[event.connection] = self.busy[event.connection] = member
        self.going = [m for m in self.going if m != member] + [before] * (before != member)
        self._forget()
        found += self.monitor.take(event, *self._stamps(member, carried), ("begin", (member,)))
        return found + self._let_go(event)

    def _changes_nothing(self, member: Member, carried: Sequence[tuple[str, str, int]]) -> bool:
        """Whether a heartbeat is one of a member that is listed, and leaves all topics as they are."""
        if self.busy or self.going or self.now.get(member[0]) != member or member[0] in self.waiting:
            return False
        (state, *others), topics = self.monitor.states.views, self.reading.given.named["Topic"]
        return bool(
            not others and state.get(("answered", member), False) and _is(state, "IDLE", member)
            and not self._stamps(member, carried) and all(_unchanged(state, member, t) for t in member[1])
            and all(t in member[1] for t in topics if state.get(("subscribed", t), False)))

    def _wake(self, event: Any) -> list[Finding]:
        """Something else happens: take the steps of heartbeats that would have changed nothing."""
        found: list[Finding] = []
        for connection, (member, over) in self.waiting.items():
            self.busy[connection] = member
            found += self.monitor.take(event, ("begin", (member,)))
            self.over += [member] * over
        self.waiting.clear()
        return found

    def _stamps(self, member: Member, carried: Sequence[tuple[str, str, int]]) -> list[Step]:
        """Version and expression of each topic as the heartbeat carries them, where the model has others."""
        steps: list[Step] = []
        value = self.monitor.value
        for topic, text, version in carried:
            if value("text", member, topic) != text:
                steps.append(("change_expression", (member, topic, text, version)))
            elif value("stamp", member, topic) != version:
                steps.append(("restamp", (member, topic, version)))
        return steps

    def _forget(self) -> None:
        """Forget what members had that have gone, if they are many."""
        known, about = self.reading.given.named["Member"], {*self.now.values(), *self.busy.values(), *self.going}
        if len(known) > len(about) + FEW:
            self.monitor.forget("Member", [member for member in known if member not in about])

    @hears(events.ConsumerRemoved)
    def removed(self, event: events.ConsumerRemoved) -> list[Finding]:
        if not event.attached or event.connection not in self.now:
            return []
        found = self._wake(event)
        self.going.append(self.now.pop(event.connection))
        return found + self._let_go(event)

    def _let_go(self, event: Any) -> list[Finding]:
        """Take leave of those whose heartbeat is not being handled, as long as somebody stays."""
        found: list[Finding] = []
        for member in [m for m in self.going if m not in self.busy.values()]:
            if len(self.now) + len(self.going) > 1:
                self.going.remove(member)
                found += self.monitor.take(event, ("leave", (member,)))
        if self.going:  # nothing is promised to those who are about to go
            self.monitor.write({("answered", member): False for member in self.going})
        return found

    @hears(events.GroupRemoved)
    def ended(self, event: events.GroupRemoved) -> list[Finding]:
        """The group left the table, with everybody who is still in it; threads go on with an object nobody reads."""
        here = dict.fromkeys((*self.now.values(), *self.going))
        return [] if self.busy or self.waiting else self.monitor.take(event, *(("leave", (member,)) for member in here))

    @hears(events.SubscriptionUpdated)
    def updated(self, event: events.SubscriptionUpdated) -> list[Finding]:
        topic, subscription = event.topic, (event.sub_version, event.sub_string)
        return self._put(event, "add_topic", lambda state: [
            (*others, ("add_topic", (m, topic))) for m in self.busy.values()
            if _adds(state, m, topic) and subscription == _carried(state, m, topic)
            for others in self._before_put(state, m, topic)])

    @hears(events.SubscriptionRemoved)
    def unsubscribed(self, event: events.SubscriptionRemoved) -> list[Finding]:
        topic = event.topic
        return self._put(event, "remove_topic", lambda state: [
            (*others, *self._turned(state, m), ("remove_topic", (m, topic))) for m in self.busy.values()
            if topic not in m[1] for others in self._before_removal(state, m, topic)])

    def _put(self, event: Any, action: str, ways: Callable[[State], list[Steps]]) -> list[Finding]:
        """Some thread has changed a topic; ways -- which one may have, or none, which is no step of the model."""
        if not event.attached:
            return []
        found = self._end_loops(event)
        anybody = next(iter(self.busy.values()), ("nobody", frozenset[str]()))
        foreign: Steps = ((action, (anybody, event.topic)),)
        return found + self.monitor.follow(event, lambda state: ways(state) or [foreign])

    @hears(events.SubscriptionsHandled)
    def looped(self, event: events.SubscriptionsHandled) -> list[Finding]:
        """A heartbeat's thread has both loops behind it; that matters if another one does something before its end."""
        if event.connection in self.waiting:
            self.waiting[event.connection] = self.waiting[event.connection][0], True
        elif event.attached and event.connection in self.busy:
            self.over.append(self.busy[event.connection])
        return []

    def _end_loops(self, event: Any) -> list[Finding]:
        """Wake who waits; take the steps of threads whose loops are over: each has removed what it had to remove."""
        found = self._wake(event)
        while self.over:
            found += self._end_loop(event, self.over.pop(0))
        return found

    def _end_loop(self, event: Any, member: Member) -> list[Finding]:
        found = self.monitor.follow(event, lambda state: [self._looped(state, member)])
        if len(self.monitor.states) > 1:
            self.monitor.keep(lambda state: not self._todo(state, member))
        return found

    @hears(events.HeartbeatHandled)
    def done(self, event: events.HeartbeatHandled) -> list[Finding]:
        member = self.busy.pop(event.connection, None)
        if self.waiting.pop(event.connection, None) is not None or member is None:
            return []
        self.over = [other for other in self.over if other != member]
        if event.connection not in self.latest.values() or member in self.going:
            self.monitor.rewrite(lambda state: self._overtaken(state, member))
            return self._let_go(event)
        found = self.monitor.follow(event, lambda state: [(*self._looped(state, member), ("done", (member,)))])
        return found + self._let_go(event)

    def _overtaken(self, state: State, member: Member) -> Writes:
        """The client has left, or has another connection: what it wanted with this heartbeat is promised no more."""
        todo: Writes = {("todo", member, topic): False for topic in self._todo(state, member)}
        return {**todo, ("phase", member): "IDLE", ("answered", member): False}

    # What nobody reported ---------------------------------------------------------------------------------------------

    def _todo(self, state: State, member: Member) -> list[str]:
        """The topics that the thread has still to look up, or to remove."""
        return [t for t in self.reading.given.named["Topic"] if state.get(("todo", member, t), False)]

    def _turned(self, state: State, member: Member) -> Steps:
        """What the thread must have done before its second loop."""
        if not _is(state, "ADDING", member):
            return ()
        return (*(("add_topic", (member, t)) for t in self._todo(state, member)), ("turn", (member,)))

    def _looped(self, state: State, member: Member) -> Steps:
        """What it must have done before its loops are over; what it does not find any more it passes."""
        if not _is(state, "REMOVING", member):
            return self._turned(state, member)
        return tuple(("remove_topic", (member, topic)) for topic in self._todo(state, member)
                     if not state.get(("subscribed", topic), False))

    def _before_put(self, state: State, by: Member, topic: str) -> Iterable[Steps]:
        """Before a topic is new: threads that do not want it have begun to remove, or not; have passed it, or not."""
        if state.get(("subscribed", topic), False):
            return [()]
        return _joined(self._passed(state, m, topic) for m in self.busy.values() if m != by and topic not in m[1])

    def _passed(self, state: State, member: Member, topic: str) -> Sequence[Steps]:
        """Nothing, or that the thread has passed the place at which it would remove the topic."""
        todo = self._todo(state, member)
        if _is(state, "REMOVING", member):
            return ((), (("remove_topic", (member, topic)),)) if topic in todo else ((),)
        unchanged = all(_unchanged(state, member, t) for t in todo)
        return ((), self._turned(state, member)) if unchanged else ((),)

    def _before_removal(self, state: State, by: Member, topic: str) -> Iterable[Steps]:
        """Before a topic goes: threads that want it have looked it up and left it as it was, or not."""
        return _joined(((), (("add_topic", (m, topic)),)) for m in self.busy.values()
                       if m != by and _adds(state, m, topic) and _unchanged(state, m, topic))

    def compare(self, connections: Collection[str], subscriptions: Mapping[str, InTable]) -> list[Finding]:
        self.monitor.moved = False
        if {*connections} != self.now.keys():  # those of the table count, whatever was said of them
            self.now = {connection: self.now.get(connection, (connection, frozenset())) for connection in connections}
        named = self.reading.given.named
        looked: list[Cell] = [*(("listed", member) for member in named["Member"]),
                              *(("subscribed", topic) for topic in dict.fromkeys((*named["Topic"], *subscriptions)))]
        seen: Writes = {("listed", member): True for member in (*self.now.values(), *self.going)}
        for topic, sub in subscriptions.items():
            content: Writes = {("version", topic): sub.sub_version, ("expression", topic): sub.sub_string}
            seen["subscribed", topic] = True
            seen.update(content)
            looked += content
        return self.monitor.compare(seen, looked)


def _is(state: State, phase: str, member: Member) -> bool:
    return bool(state.get(("phase", member), "IDLE") == phase)


def _carried(state: State, member: Member, topic: str) -> tuple[int, str]:
    return state.get(("stamp", member, topic), 0), state.get(("text", member, topic), NOBODY)


def _adds(state: State, member: Member, topic: str) -> bool:
    """Whether the thread has still to look this topic up."""
    return _is(state, "ADDING", member) and state.get(("todo", member, topic), False)


def _unchanged(state: State, member: Member, topic: str) -> bool:
    """Whether it would leave the topic as it is."""
    newer = state.get(("stamp", member, topic), 0) > state.get(("version", topic), 0)
    return state.get(("subscribed", topic), False) and not newer


def _named(element: Any) -> str:
    return str(element[0]) if isinstance(element, tuple) and element else str(element)


def _joined(choices: Iterable[Sequence[Steps]]) -> Iterable[Steps]:
    """All ways to take one of each."""
    return (tuple(step for steps in chosen for step in steps) for chosen in product(*choices))
