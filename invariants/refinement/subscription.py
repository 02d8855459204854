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

Versions are wall clocks of which only the order counts: each has the number of its place among those still about.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.controller import BrokerController
from impl.broker.reported_tables import connection_of
from impl.decisions.subscription import SubscriptionData
from impl.events import (
    ConsumerRegistered,
    ConsumerRemoved,
    GroupEntered,
    GroupRemoved,
    HeartbeatHandled,
    ProcessKilled,
    SubscriptionRemoved,
    SubscriptionsHandled,
    SubscriptionUpdated,
)
from invariants import subscription as declared  # noqa: F401  # declares the properties
from invariants.finding import Finding
from invariants.refinement.elements import Followed, Pool, Sized, judged
from invariants.refinement.follower import Living, Machines, Record
from invariants.refinement.monitor import Step
from model.language.scope import Scope
from model.subscription import Subscriptions

NAME = "refines_subscription"
VISIBLE = ("listed", "subscribed", "version", "expression")
PROPERTIES = judged(tuple(Subscriptions.concept.properties.values()), without=("heartbeat_is_idempotent",))
IDLE, ADDING, REMOVING = range(3)  # Phase
SILENT = (SubscriptionsHandled, HeartbeatHandled)
"""What writes nothing."""
Steps = tuple[Step, ...]


class _Scope(Sized):
    """A scope with the places of its cells, which each comparison needs.

    listed, todo, phase, subscribed, version, expression, stamp, text -- by Member and Topic. looked -- the bits of
    listed and subscribed.
    """

    def __init__(self, scope: Scope) -> None:
        """Look the places up."""
        super().__init__(scope)
        members, topics = range(scope.sizes["Member"]), range(scope.sizes["Topic"])
        self.listed = [self.at("listed", m)[0] for m in members]
        self.phase = [self.at("phase", m)[0] for m in members]
        self.todo, self.stamp, self.text = (
            [[self.at(name, m, t)[0] for t in topics] for m in members] for name in ("todo", "stamp", "text"))
        self.subscribed, self.version, self.expression = (
            [self.at(name, t)[0] for t in topics] for name in ("subscribed", "version", "expression"))
        self.versions, self.expressions = self.at("version", 0)[1], self.at("expression", 0)[1]
        self.content = [self.versions << v | self.expressions << e
                        for v, e in zip(self.version, self.expression, strict=True)]
        self.looked = self.whole("listed") | self.whole("subscribed")


@lru_cache(maxsize=512)
def _sized(members: int, topics: int, expressions: int, rows: tuple[int, ...]) -> _Scope:
    """The scope of these sizes; rows -- for each member the topics that it wants, one bit each."""
    return _Scope(Scope(
        Subscriptions,
        {"Member": members, "Topic": topics, "Expression": expressions, "Version": 2 * members},
        {"wants": lambda m, t: bool(rows[m] >> t & 1), "first_text": lambda _m, _t: 0},
    ))


class Subscription:
    """Follower of all groups at all brokers; see Follower.

    groups -- broker and group to what is followed. visited -- fingerprints of the states that were compared.
    """

    name = NAME

    def __init__(self, machines: Machines) -> None:
        """Watch from the first segment on."""
        self.living = Living(machines)
        self.groups: dict[str, dict[str, _Group]] = {}
        self.visited: set[int] = set()
        self._take: dict[type, Callable[[str, Any], list[Finding]]] = {
            GroupEntered: self._entered,
            GroupRemoved: self._ended,
            ConsumerRegistered: self._by(_Group.registered),
            ConsumerRemoved: self._by(_Group.removed),
            SubscriptionUpdated: self._by(_Group.updated),
            SubscriptionRemoved: self._by(_Group.unsubscribed),
            SubscriptionsHandled: self._by(_Group.looped),
            HeartbeatHandled: self._by(_Group.done),
        }
        self.hears = (ProcessKilled, *self._take)

    def segment(self, machine: str, records: Sequence[Record], *, whole: bool = False) -> list[Finding]:
        """See Follower."""
        findings: list[Finding] = []
        changed: dict[str, bool] = {}
        for _, where, event in records:
            take = self._take.get(event.__class__)
            if take is not None:
                findings += take(where, event)
                if event.__class__ not in SILENT:
                    changed[event.group] = changed.get(event.group, False) or event.__class__ is not ConsumerRegistered
            elif event.__class__ is ProcessKilled:
                self.groups.pop(where, None)
        if (changed or whole) and (broker := self.living.broker(machine)) is not None:
            findings += self._compare(machine, broker, None if whole else changed)
        return findings

    def _entered(self, where: str, event: GroupEntered) -> list[Finding]:
        self.groups.setdefault(where, {})[event.group] = _Group()
        return []

    def _ended(self, where: str, event: GroupRemoved) -> list[Finding]:
        group = self.groups.get(where, {}).pop(event.group, None)
        return [] if group is None else group.ended(event)

    def _by(self, take: Callable[[_Group, Any], list[Finding]]) -> Callable[[str, Any], list[Finding]]:
        def by_group(where: str, event: Any) -> list[Finding]:
            group = self.groups.get(where, {}).get(event.group)
            return [] if group is None else take(group, event)

        return by_group

    def _compare(self, machine: str, broker: BrokerController, changed: Mapping[str, bool] | None) -> list[Finding]:
        """Compare groups of a broker; one that came or went without a word is followed from now on, or no more.

        changed -- their names, and whether to compare one whose model has not moved visibly; None: all.
        """
        findings: list[Finding] = []
        groups, table = self.groups.setdefault(machine, {}), broker.consumer_manager.consumer_table
        for name, look in (dict.fromkeys((*groups, *table.key_set()), True) if changed is None else changed).items():
            group, info = groups.get(name), table.get(name)
            if (group is None) != (info is None):
                word = "is gone" if info is None else "is there"
                findings.append(Finding(NAME, None, f"{name} {word} and nobody said so", (NAME, "differs", "group")))
            if info is None:
                groups.pop(name, None)
            else:
                group = groups.setdefault(name, group or _Group())
                findings += group.compare(info, look=look)
                self.visited.add(group.followed.fingerprint())
        return findings


class _Group:
    """One group object at one broker.

    rows -- for each Member what it wants, one bit for each Topic. now -- connection to the Member that it is. busy --
    the same, of connections whose heartbeat is being handled. going -- Members that left and are still listed in the
    model. over -- Members whose thread has both loops behind it, which the model does not know yet. latest -- machine
    and client id to the connection of its last heartbeat. ranks -- for each Topic the versions that are about, in
    order: a Version is a place in it.
    """

    def __init__(self) -> None:
        """No members."""
        self.members, self.topics, self.expressions = Pool(4), Pool(2), Pool(2)
        self.rows: list[int] = []
        self.now: dict[str, int] = {}
        self.busy: dict[str, int] = {}
        self.going: list[int] = []
        self.over: list[int] = []
        self.latest: dict[tuple[str, str | None], str] = {}
        self.ranks = [[0], [0]]
        self.reading = _sized(4, 2, 2, (0, 0, 0, 0))
        self.followed = Followed(self.reading, VISIBLE, 0, PROPERTIES)
        self._compared = 0

    # Events -----------------------------------------------------------------------------------------------------------

    def registered(self, event: ConsumerRegistered) -> list[Finding]:
        """A heartbeat's thread has put its connection."""
        if not event.attached:
            return []
        findings = self._end_loops(event)
        carried = sorted((topic, text, version) for topic, text, version in event.subscriptions if topic is not None)
        numbers = [(self._topic(topic), self._expression(text), version) for topic, text, version in carried]
        member = self._member(event.connection, sum(1 << topic for topic, _, _ in numbers))
        self.latest[event.connection.rpartition(":")[0], event.client_id] = event.connection
        before = self.now.get(event.connection, member)
        self.now[event.connection] = self.busy[event.connection] = member
        self.going = [m for m in self.going if m != member] + [before] * (before != member)
        findings += self.followed.take(event, [(*self._stamps(member, numbers), ("begin", (member,)))])
        return findings + (self._let_go(event) if self.going else [])

    def _stamps(self, member: int, numbers: Sequence[tuple[int, int, int]]) -> list[Step]:
        """Version and expression of each topic as the heartbeat carries them, where the model has others."""
        steps: list[Step] = []
        ranks = [self._rank(topic, version) for topic, _, version in numbers]
        reading, state = self.reading, self.followed.states[0]
        for (topic, text, _), rank in zip(numbers, ranks, strict=True):
            if state >> reading.text[member][topic] & reading.expressions != text:
                steps.append(("change_expression", (member, topic, text, rank)))
            elif state >> reading.stamp[member][topic] & reading.versions != rank:
                steps.append(("restamp", (member, topic, rank)))
        return steps

    def removed(self, event: ConsumerRemoved) -> list[Finding]:
        """A connection left."""
        if not event.attached or event.connection not in self.now:
            return []
        self.going.append(self.now.pop(event.connection))
        return self._let_go(event)

    def _let_go(self, event: Any) -> list[Finding]:
        """Take leave of those whose heartbeat is not being handled, as long as somebody stays."""
        findings: list[Finding] = []
        for member in [m for m in self.going if m not in self.busy.values()]:
            if len(self.now) + len(self.going) > 1:
                self.going.remove(member)
                findings += self.followed.take(event, [[("leave", (member,))]])
        if self.going:
            self.followed.rewrite(self._unpromised)
        return findings

    def _unpromised(self, state: int) -> int:
        """Nothing is promised to those who are about to go."""
        for member in self.going:
            state = self.reading.put(state, 0, "answered", member)
        return state

    def ended(self, event: GroupRemoved) -> list[Finding]:
        """The group left the table, with everybody who is still in it; threads go on with an object nobody reads."""
        here = sorted({*self.now.values(), *self.going})
        return [] if self.busy else self.followed.take(event, [[("leave", (member,)) for member in here]])

    def updated(self, event: SubscriptionUpdated) -> list[Finding]:
        """Some thread has put a topic."""
        if not event.attached:
            return []
        findings = self._end_loops(event)
        topic, text = self._topic(event.topic), self._expression(event.sub_string)
        rank, reading = self._rank(topic, event.sub_version), self.reading

        def steps(state: int) -> list[Steps]:
            return [(*others, ("add_topic", (m, topic))) for m in self.busy.values()
                    if self._adds(state, m, topic)
                    and state >> reading.stamp[m][topic] & reading.versions == rank
                    and state >> reading.text[m][topic] & reading.expressions == text
                    for others in self._before_put(state, m, topic)] or [(("add_topic", (self._any(), topic)),)]

        return findings + self.followed.take(event, steps)

    def unsubscribed(self, event: SubscriptionRemoved) -> list[Finding]:
        """Some thread has removed a topic."""
        if not event.attached:
            return []
        findings = self._end_loops(event)
        topic = self._topic(event.topic)

        def steps(state: int) -> list[Steps]:
            return [(*others, *self._turned(state, m), ("remove_topic", (m, topic))) for m in self.busy.values()
                    if not self.rows[m] >> topic & 1
                    for others in self._before_removal(state, m, topic)] or [(("remove_topic", (self._any(), topic)),)]

        return findings + self.followed.take(event, steps)

    def looped(self, event: SubscriptionsHandled) -> list[Finding]:
        """A heartbeat's thread has both loops behind it; that matters if another one does something before its end."""
        if event.attached and event.connection in self.busy:
            self.over.append(self.busy[event.connection])
        return []

    def _end_loops(self, event: Any) -> list[Finding]:
        """Take the steps of threads whose loops are over; each has removed what it had still to remove."""
        findings: list[Finding] = []
        while self.over:
            findings += self._end_loop(event, self.over.pop(0))
        return findings

    def _end_loop(self, event: Any, member: int) -> list[Finding]:
        findings = self.followed.take(event, lambda state: [self._looped(state, member)])
        self.followed.keep(lambda state: not self._todo(state, member))
        return findings

    def done(self, event: HeartbeatHandled) -> list[Finding]:
        """A heartbeat's thread has come to its end."""
        member = self.busy.pop(event.connection, None)
        if member is None:
            return []
        self.over = [other for other in self.over if other != member]
        if event.connection not in self.latest.values() or member in self.going:
            self.followed.rewrite(lambda state: self._overtaken(state, member))
            return self._let_go(event) if self.going else []

        findings = self.followed.take(event, lambda state: [(*self._looped(state, member), ("done", (member,)))])
        return findings + (self._let_go(event) if self.going else [])

    def _overtaken(self, state: int, member: int) -> int:
        """The client has left, or has another connection: what it wanted with this heartbeat is promised no more."""
        for topic in self._todo(state, member):
            state = self.reading.put(state, 0, "todo", member, topic)
        return self.reading.put(self.reading.put(state, IDLE, "phase", member), 0, "answered", member)

    # What nobody reported ---------------------------------------------------------------------------------------------

    def _any(self) -> int:
        return next(iter(self.busy.values()), 0)

    def _is(self, state: int, phase: int, member: int) -> bool:
        return state >> self.reading.phase[member] & 3 == phase

    def _todo(self, state: int, member: int) -> list[int]:
        """The topics that the thread has still to look up, or to remove."""
        return [t for t, place in enumerate(self.reading.todo[member]) if state >> place & 1]

    def _adds(self, state: int, member: int, topic: int) -> bool:
        """Whether the thread has still to look this topic up."""
        return self._is(state, ADDING, member) and topic in self._todo(state, member)

    def _unchanged(self, state: int, member: int, topic: int) -> bool:
        """Whether it would leave the topic as it is."""
        reading = self.reading
        stamp = state >> reading.stamp[member][topic] & reading.versions
        version = state >> reading.version[topic] & reading.versions
        return bool(state >> reading.subscribed[topic] & 1) and stamp <= version

    def _turned(self, state: int, member: int) -> Steps:
        """What the thread must have done before its second loop."""
        if not self._is(state, ADDING, member):
            return ()
        return (*(("add_topic", (member, t)) for t in self._todo(state, member)), ("turn", (member,)))

    def _looped(self, state: int, member: int) -> Steps:
        """What it must have done before its loops are over; what it does not find any more it passes."""
        if not self._is(state, REMOVING, member):
            return self._turned(state, member)
        return tuple(("remove_topic", (member, topic)) for topic in self._todo(state, member)
                     if not state >> self.reading.subscribed[topic] & 1)

    def _before_put(self, state: int, by: int, topic: int) -> Iterable[Steps]:
        """Before a topic is new: threads that do not want it have begun to remove, or not; have passed it, or not."""
        if state >> self.reading.subscribed[topic] & 1:
            return [()]
        others = [m for m in self.busy.values() if m != by and not self.rows[m] >> topic & 1]
        return _joined([self._passed(state, m, topic) for m in others])

    def _passed(self, state: int, member: int, topic: int) -> Sequence[Steps]:
        """Nothing, or that the thread has passed the place at which it would remove the topic."""
        todo = self._todo(state, member)
        if self._is(state, REMOVING, member):
            return ((), (("remove_topic", (member, topic)),)) if topic in todo else ((),)
        unchanged = all(self._unchanged(state, member, t) for t in todo)
        return ((), self._turned(state, member)) if unchanged else ((),)

    def _before_removal(self, state: int, by: int, topic: int) -> Iterable[Steps]:
        """Before a topic goes: threads that want it have looked it up and left it as it was, or not."""
        others = [m for m in self.busy.values()
                  if m != by and self._adds(state, m, topic) and self._unchanged(state, m, topic)]
        return _joined([((), (("add_topic", (m, topic)),)) for m in others])

    # Tables -----------------------------------------------------------------------------------------------------------

    def compare(self, info: ConsumerGroupInfo, *, look: bool = True) -> list[Finding]:
        """Compare with the group's object; look -- also if nothing visible has moved since it was compared last."""
        if look or (self._compared ^ self.followed.states[0]) & self.followed.monitor.visible:
            findings = self._compare(info)
            self._compared = self.followed.states[0]
        else:
            findings = []
        for pool in (self.members, self.topics, self.expressions):
            pool.settle()
        return findings

    def _compare(self, info: ConsumerGroupInfo) -> list[Finding]:
        self._see(info)
        content = [self._content(*entry) for entry in info.subscription_table.entries()]
        reading, seen = self.reading, 0
        looked = reading.looked
        for member in (*self.now.values(), *self.going):
            seen |= 1 << reading.listed[member]
        for topic, text, version in content:
            rank = self._rank(topic, version)
            seen |= 1 << reading.subscribed[topic] | rank << reading.version[topic] | text << reading.expression[topic]
            looked |= reading.content[topic]
        return self.followed.compare(seen, looked)

    def _content(self, name: str, sub: SubscriptionData) -> tuple[int, int, int]:
        """Topic, Expression and real version of an entry."""
        topic, text = self.topics.given.get(name), self.expressions.given.get(sub.sub_string)
        return (self._topic(name) if topic is None else topic,
                self._expression(sub.sub_string) if text is None else text, sub.sub_version)

    def _see(self, info: ConsumerGroupInfo) -> None:
        """The connections are those of the table, whatever was said of them."""
        connections = [connection_of(channel) for channel in info.channel_info_table.key_set()]
        if len(connections) == len(self.now) and all(connection in self.now for connection in connections):
            return
        self.now = {connection: member for connection, member in self.now.items() if connection in connections}
        for connection in connections:
            if connection not in self.now:
                self.now[connection] = self._member(connection, self.rows[0] if self.rows else 0)

    # Elements ---------------------------------------------------------------------------------------------------------

    def _member(self, connection: str, row: int) -> int:
        """The Member of a connection that wants these topics."""
        def needed(number: int) -> bool:
            return number in self.now.values() or number in self.busy.values() or number in self.going

        known = self.members.known((connection, row))
        if known is not None and self.rows[known] == row:
            return known
        member = self.members.give((connection, row), needed, lambda _: None)
        rows = self.rows or [row] * self.members.size
        self.rows = rows + [rows[0]] * (self.members.size - len(rows))
        self.rows[member] = row
        self._fit()
        return member

    def _topic(self, name: str) -> int:
        """The Topic of a name."""
        known = self.topics.known(name)
        if known is not None:
            return known

        def needed(number: int) -> bool:
            wanted = any(self.rows[m] >> number & 1 for m in {*self.now.values(), *self.busy.values(), *self.going})
            return wanted or any(self.reading.get(state, "subscribed", number) for state in self.followed.states)

        def new(number: int) -> None:
            self.rows = [row & ~(1 << number) for row in self.rows]
            self.ranks += [[0] for _ in range(self.topics.size - len(self.ranks))]

        return self._new(self.topics, name, needed, new)

    def _expression(self, text: str) -> int:
        """The Expression of a text."""
        known = self.expressions.known(text)
        if known is not None:
            return known

        def needed(number: int) -> bool:
            sizes = self.reading.ground.scope.sizes
            return any(
                self.reading.get(state, "text", m, t) == number or self.reading.get(state, "expression", t) == number
                for state in self.followed.states for m in range(sizes["Member"]) for t in range(sizes["Topic"]))

        return self._new(self.expressions, text, needed, lambda _: None)

    def _new(
        self, pool: Pool, identity: Hashable, needed: Callable[[int], bool], new: Callable[[int], None],
    ) -> int:
        number = pool.give(identity, needed, new)
        self._fit()
        return number

    def _fit(self) -> None:
        """Follow in the scope of the present sizes and rows."""
        sizes = self.members.size, self.topics.size, self.expressions.size
        reading = _sized(*sizes, tuple(self.rows) or (0,) * sizes[0])
        if reading is not self.reading:
            self.reading = reading
            self.followed.move(reading)

    def _rank(self, topic: int, version: int) -> int:
        """The place of a version among those of the topic that are about; they are numbered anew for a new one."""
        ranks = self.ranks[topic]
        if version in ranks:
            return ranks.index(version)
        cells = [("version", topic), *(("stamp", m, topic) for m in range(self.members.size))]
        about = {ranks[self.reading.get(state, *cell)] for state in self.followed.states for cell in cells}
        self.ranks[topic] = anew = sorted({*about, version})
        places = {old: anew.index(real) for old, real in enumerate(ranks) if real in about}
        if any(old != new for old, new in places.items()):
            self.followed.rewrite(lambda state: self._renumbered(state, cells, places))
        return anew.index(version)

    def _renumbered(self, state: int, cells: Sequence[tuple[str | int, ...]], places: Mapping[int, int]) -> int:
        for cell in cells:
            state = self.reading.put(state, places[self.reading.get(state, *cell)], *cell)
        return state


def _joined(choices: Sequence[Sequence[Steps]]) -> Iterable[Steps]:
    """All ways to take one of each."""
    return (tuple(step for steps in chosen for step in steps) for chosen in product(*choices))
