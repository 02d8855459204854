"""Follows one group on one topic with `model.consumer_group.Rebalancing`: who is listed, who fetched, who holds what.

Elements. A Broker is a machine; for a Member and a Queue see `members`. Queues are those of the routes that living
members have, and those still held.

Grain. Queues are taken and dropped one by one, with waits in between; a queue of a member's share stays away when its
lock is refused or it has no start offset. What is taken must be given by the list, what is dropped must not, and
nothing else may be held at the end. That every queue of the share is taken at last `ownership_converges` says.

The answer of a broker. `fetch` reads the broker's list when the broker answers, and becomes known when the client names
what it got. So the step is taken aside when the broker answers (`Monitor.foresee`), and entered when the client has the
list; an answer that comes late or never changes nothing.

Two runs at once (DefaultMQPushConsumerImpl#resume rebalances in the thread of its caller): the lists that were fetched
before are kept, and what the latest one does not explain they may.

`listed` is what was written to any object of the group: a heartbeat that enters an object that has left the table
(B-7), and a group that is removed with its members (B-8), are differences.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants import consumer_group as promised
from invariants.finding import Finding
from invariants.refinement.coverage import GROUPS, Visited, Watched, form_in_group, watching
from invariants.refinement.follower import Follower
from invariants.refinement.maps import Map, hears
from invariants.refinement.members import Member, Members, Process, View, listed
from invariants.refinement.monitor import Outcomes, Step, judged
from invariants.views import ConsumerTables, Machines
from model.consumer_group import Group, Rebalancing
from model.language import Property
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, Writes

NAME = "refines_consumer_group"
ANSWERS = 8
"""How many answers to one machine are kept; each thread waits for one at a time, and gives up after 3 s."""
PROPERTIES = judged(Group.concept, promised.one_owner_per_queue, promised.one_owner_when_settled,
                    promised.every_queue_owned_when_settled)
GHOSTS = tuple(info.name for info in Rebalancing.concept.variables.values() if info.ghost)
"""What only the properties read."""
QUEUE = Rebalancing.concept.sorts["Queue"]


class Answer(NamedTuple):
    """An answer on its way: the ids, and what it would make of each member that runs on the asking machine."""

    client_ids: tuple[str | None, ...]
    outcomes: dict[Member, Outcomes]


def named(element: Any) -> str:
    """An element as people know it."""
    if isinstance(element, MessageQueue):
        return f"{element.broker_name}/{element.queue_id}"
    return element[0] + "'" * element[1] if isinstance(element, tuple) else str(element)


def followers(machines: Machines, groups: Sequence[tuple[str, str]], scopes: Sequence[str]) -> list[Follower]:
    """One for each group and topic; all of them watch the first scope of groups among these, if there is one."""
    watched = next((Visited(name) for name in scopes if name in GROUPS), None)
    return [ConsumerGroup(machines, group, topic, watched=watched) for group, topic in groups]


class ConsumerGroup(Map):
    """Follower of one group on one topic; see Follower."""

    def __init__(
        self, machines: Machines, group: str, topic: str, properties: Iterable[Property] = PROPERTIES,
        watched: Visited | None = None,
    ) -> None:
        """Watch from the first segment on; properties -- of Group, to be judged. watched -- of its scope, if any."""
        judged = tuple(properties)
        super().__init__(machines, NAME, judged)
        self.group, self.topic, self.watched = group, topic, watched
        self.members = Members(group, topic)
        self.reading = OpenReading(Rebalancing.concept, self.members.rigid)
        self.monitor = watching(watched, lambda cells, scope: form_in_group(cells, scope, self.members, machines),
                                self.reading, judged, NAME, visible=("up", "listed", "holds"), named=named,
                                unmarked=GHOSTS, history=GHOSTS, kept=("Queue",))
        self._answers: dict[tuple[str, str], deque[Answer]] = {}
        self._connections: dict[str, dict[str, str]] = {}
        self._look, self._version = False, 0
        self._illegal: set[tuple[tuple[str, int] | None, MessageQueue]] = set()  # told of no such offset
        if watched is not None:
            self.takes.update({kind: partial(self._noting, take) for kind, take in self.takes.items()})

    def _noting(self, take: Callable[..., list[Finding]], machine: str, event: Any) -> list[Finding]:
        found = take(machine, event)
        self._note(found)
        return found

    def _note(self, found: Sequence[Finding]) -> None:
        if isinstance(self.monitor, Watched):
            self.monitor.note((*self.found, *found))

    # Machines ---------------------------------------------------------------------------------------------------------

    @hears(events.ProcessKilled)
    def _killed(self, machine: str, event: events.ProcessKilled) -> list[Finding]:
        found = [one for client_id in list(self.members.running.get(machine, ()))
                 for one in self._end(machine, client_id, event)]
        self._connections.pop(machine, None)
        steps: list[Step] = [("forget", cell[1:]) for cell in self._row(machine) if self.monitor.value(*cell)]
        return found + self.monitor.take(event, *steps) if steps else found

    def _row(self, broker: str) -> list[Cell]:
        """The cells of a broker's id list."""
        return [("listed", broker, member) for member in self.reading.given.named["Member"]]

    @hears(events.ConsumerStarted)
    def _started(self, machine: str, event: events.ConsumerStarted) -> list[Finding]:
        """DefaultMQPushConsumerImpl#start, of a consumer in clustering."""
        for consumer in self._consumers(machine) if event.group == self.group else ():
            if consumer.client_id == event.client_id:
                return self.monitor.take(event, ("start", (self._begin(machine, consumer),)))
        return []

    def _consumers(self, machine: str) -> list[ConsumerTables]:
        return [consumer for consumer in self.views.tables_of(machine, self.group) if consumer.clustering]

    def _begin(self, machine: str, consumer: ConsumerTables) -> Member:
        member = self.members.start(Process(machine, consumer, self.topic))
        self._requeue()
        return member

    def _requeue(self) -> None:
        """Somebody starts, or has another route: a rebalance that has ended knew other queues."""
        self._name_queues()
        self.monitor.begin_anew()

    def _name_queues(self) -> None:
        """From now on the queues are these."""
        wanted = self._queues()
        if wanted != self.reading.given.named["Queue"].keys():
            self.reading.given.name(QUEUE, sorted(wanted))
        self.monitor.reconsider()

    def _queues(self, without: Member | None = None) -> set[MessageQueue]:
        """The queues in a route of a living member, and those still held; without -- who holds none in a moment."""
        named, value = self.reading.given.named, self.monitor.values
        holders = [member for member in named["Member"] if member != without]
        wanted = {mq for mq in named["Queue"] if any(True in value("holds", m, mq) for m in holders)}
        return wanted.union(*(process.routes[-1] for process in self.members.alive()))

    @hears(events.ConsumerShutDown)
    def _shut_down(self, machine: str, event: events.ConsumerShutDown) -> list[Finding]:
        known = event.group == self.group and event.client_id in self.members.running.get(machine, ())
        return self._end(machine, event.client_id, event) if known else []

    def _end(self, machine: str, client_id: str, event: Any) -> list[Finding]:
        """The end of a process; what it once fetched says nothing any more."""
        member = self.members.running[machine].pop(client_id)
        # Queues that nobody else has go with him: who has rebalanced did so for others.
        takes_along = not self._queues(without=member) >= self.reading.given.named["Queue"].keys()
        if takes_along:
            self.monitor.begin_anew()
        found = self.monitor.take(event, ("crash", (member,)))
        self.monitor.write({("answer", member): frozenset()})
        if takes_along:
            self._name_queues()
        return found

    # Lists ------------------------------------------------------------------------------------------------------------

    @hears(events.ConsumerRegistered)
    def _registered(self, machine: str, event: events.ConsumerRegistered) -> list[Finding]:
        """ConsumerGroupInfo#updateChannel of any object of the group; a second connection is a second place."""
        if event.group != self.group:
            return []
        client_id, connections = event.client_id or "", self._connections.setdefault(machine, {})
        before = connections.get(event.connection)
        if before == client_id:
            return []
        found = [] if before is None else self._leave(machine, event.connection, event)
        member = client_id, list(connections.values()).count(client_id)
        connections[event.connection] = client_id
        return found + self.monitor.take(event, ("heartbeat", (machine, member)))

    @hears(events.ConsumerRemoved)
    def _removed(self, machine: str, event: events.ConsumerRemoved) -> list[Finding]:
        known = event.group == self.group and event.attached and event.connection in self._connections.get(machine, ())
        return self._leave(machine, event.connection, event) if known else []

    def _leave(self, broker: str, connection: str, event: Any) -> list[Finding]:
        """A connection is gone: its client loses the last of its places at the broker."""
        connections = self._connections[broker]
        client_id = connections.pop(connection)
        member = client_id, list(connections.values()).count(client_id)
        return self.monitor.take(event, ("forget", (broker, member)))

    @hears(events.GroupRemoved)
    def _group_removed(self, _machine: str, _event: events.GroupRemoved) -> list[Finding]:
        """Nothing in the model; if it had members (B-8), the tables differ."""
        self._look = True
        return []

    @hears(events.ConsumerIdsAnswered)
    def _answered(self, machine: str, event: events.ConsumerIdsAnswered) -> list[Finding]:
        """Take the step aside; whether the client ever has the answer is seen there."""
        if event.group == self.group and event.client_ids:
            asking = event.connection.rpartition(":")[0]
            answers = self._answers.setdefault((machine, asking), deque(maxlen=ANSWERS))
            answers.append(Answer(event.client_ids, {
                member: self.monitor.foresee(("fetch", (machine, member)))
                for member in self.members.running.get(asking, {}).values()}))
        return []

    @hears(events.ConsumerIdsFetched)
    def _fetched(self, machine: str, event: events.ConsumerIdsFetched) -> list[Finding]:
        """The client has the answer of a broker, which read its list when it answered."""
        member = self.members.running.get(machine, {}).get(event.client_id)
        if event.group != self.group or member is None or event.client_ids is None or event.broker_addr is None:
            return []
        broker = event.broker_addr.rpartition(":")[0]
        answer = self._answer(broker, machine, event.client_ids)
        if event.topic != self.topic:
            return []
        process, view = self.members.processes[member], listed(event.client_ids)
        process.begin(self.ms, view)
        if not process.subscribes:
            process.subscribes = True
            self.members.forget()
            self.monitor.reconsider()
        if answer is None:
            told = f"{event.client_id} has a list that {broker} never answered"
            found = [Finding(NAME, event, told, (NAME, "fetch", "not answered"))]
        else:
            never = Outcomes(("fetch", (broker, member)), why=("fetch", "it never was"))
            found = self.monitor.late(event, self._as_of_now(answer.outcomes.get(member, never), broker, member, view))
        return found + self._has(member, view, event, told=self.diverges(found))

    def _answer(self, broker: str, machine: str, client_ids: tuple[str | None, ...]) -> Answer | None:
        """The broker's last answer of this kind to this machine; others may be those of other threads."""
        answers = self._answers.get((broker, machine), deque())
        found = next((answer for answer in reversed(answers) if answer.client_ids == client_ids), None)
        if found is not None:
            answers.remove(found)
        return found

    def _as_of_now(self, then: Outcomes, broker: str, member: Member, view: View) -> Outcomes:
        """What an answer makes of a member that learns it now: it was heard if the broker still lists the same."""
        same = all(self.monitor.value(*cell) == (cell[2] in view) for cell in self._row(broker))
        kept = same and self.monitor.values("rebalanced", member) == {True}
        ghosts = {("heard", member): same, ("rebalanced", member): kept}
        return then._replace(writes=tuple(
            {**writes, **{cell: writes.get(cell, False) and now for cell, now in ghosts.items()}}
            for writes in then.writes))

    def _has(self, member: Member, view: View, event: Any, *, told: bool) -> list[Finding]:
        """Compare the list that a client has with the one that the model has for it; told -- that they differ."""
        cell, wanted = ("answer", member), {("answer", member): view, ("fetched", member): True}
        if self.monitor.agrees(wanted):
            return []
        wanted.update(dict.fromkeys(((ghost, member) for ghost in GHOSTS), False))
        shown, has = (self.monitor.text(cell, value) for value in (view, self.monitor.value(*cell)))
        self.monitor.write(wanted)
        sentence = f"{self.monitor.label(cell)} is {shown}, the model has {has}"
        return [] if told else [Finding(NAME, event, sentence, (NAME, "fetch", "differs"))]

    # Queues -----------------------------------------------------------------------------------------------------------

    def _member(self, machine: str, event: Any, topic: str) -> Member | None:
        """Who reports something of the topic."""
        followed = event.group == self.group and topic == self.topic
        return self.members.running.get(machine, {}).get(event.client_id) if followed else None

    @hears(events.RouteUpdated)
    def _routed(self, machine: str, event: events.RouteUpdated) -> list[Finding]:
        """A run that is under way, or that waits for its list, may have read the queues before."""
        member = self._member(machine, event, event.topic)
        if member is not None and event.mqs != (process := self.members.processes[member]).routes[-1]:
            process.reroute(self.ms, event.mqs)
            self.members.forget()
            self._requeue()
        return []

    @hears(events.QueueTaken)
    def _taken(self, machine: str, event: events.QueueTaken) -> list[Finding]:
        member = self._member(machine, event, event.mq.topic)
        self._illegal.discard((member, event.mq))
        return [] if member is None else self._by_any_list(event, member, ("take", (member, event.mq)))

    @hears(events.QueueDropped)
    def _dropped(self, machine: str, event: events.QueueDropped) -> list[Finding]:
        member = self._member(machine, event, event.mq.topic)
        if member is None:
            return []
        found = self._by_any_list(event, member, ("drop", (member, event.mq)))
        was_told = (member, event.mq) in self._illegal
        self._illegal.discard((member, event.mq))
        if self.diverges(found) and (was_told or self.members.processes[member].consumer.gives_up(event.mq)):
            return self.monitor.take(event, ("give_up", (member, event.mq)))
        return found

    @hears(events.OffsetFoundIllegal, events.OffsetCorrected)
    def _told_of_no_offset(
        self, machine: str, event: events.OffsetFoundIllegal | events.OffsetCorrected,
    ) -> list[Finding]:
        """The queue is given up at once, and the one that is held 10 s later once more (X17)."""
        member = self._member(machine, event, event.mq.topic)
        self._illegal.update(() if member is None else [(member, event.mq)])
        return []

    @hears(events.QueuesAssigned)
    def _assigned(self, machine: str, event: events.QueuesAssigned) -> list[Finding]:
        self._look, member = True, self._member(machine, event, event.topic)
        if member is None:
            return []
        process = self.members.processes[member]
        beside, routes = process.beside, len(process.routes)
        if not self.reading.given.named["Queue"].keys() <= process.routes[-1]:
            self._name_queues()
        found = self.monitor.take(event, ("settle", (member,)))
        if beside and self.diverges(found):
            found = self.monitor.take(event, ("settle_beside", (member,)))
        if len({one.routes[-1] for one in self.members.alive()}) > 1:
            self.monitor.begin_anew()  # whose routes differ have not divided the same queues (D3)
        process.end(self.ms)
        if len(process.routes) < routes:
            self.members.forget()
            self.monitor.reconsider()
        return found

    def _by_any_list(self, event: Any, member: Member, step: Step) -> list[Finding]:
        """Take a step by the list that was fetched last, or else by that of a run that may still be under way."""
        found = self.monitor.take(event, step)
        if self.diverges(found) and len(self.monitor.states) == 1:
            for view in self.members.processes[member].lists:
                supposed = self.monitor.supposing(event, step, {
                    ("answer", member): view, ("fetched", member): True, ("heard", member): False})
                if supposed is not None:
                    return supposed
        return found

    # Tables -----------------------------------------------------------------------------------------------------------

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map."""
        monitor, found = self.monitor, list[Finding]()
        if whole or self._look or self.found or monitor.moved:
            found = self.unsaid(self._differing(machine))
            monitor.moved = self._look = False
            self._note(found)
        if monitor.version != self._version:
            self._version = monitor.version
            self.visited.update(monitor.fingerprints())
        return found

    def _differing(self, machine: str) -> list[Finding]:
        seen: Writes = {}
        looked: list[Cell] = []
        members = self.views.members(machine, self.group) if machine in self.machines.brokers else None
        if members is not None:
            seen = {("listed", machine, member): True for member in listed(members.values())}
            looked = [*seen, *self._row(machine)]
        if machine in self.machines.consumers:
            self._held(machine, seen, looked)
        found = self.monitor.compare(seen, looked)
        if found and members is not None:
            self._connections[machine] = {connection: client_id or "" for connection, client_id in members.items()}
        return found

    def _held(self, machine: str, seen: Writes, looked: list[Cell]) -> None:
        running = self.members.running.setdefault(machine, {})
        for consumer in self._consumers(machine):
            if consumer.client_id not in running and consumer.is_up():
                self._begin(machine, consumer)
        for member in running.values():
            consumer = self.members.processes[member].consumer
            looked.append(("up", member))
            looked += [("holds", member, mq) for mq in self.reading.given.named["Queue"]]
            if consumer.is_up():
                seen["up", member] = True
                holds = [("holds", member, mq) for mq in consumer.holds(self.topic)]
                seen.update(dict.fromkeys(holds, True))
                looked += holds
