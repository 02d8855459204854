"""Follows one group on one topic with `model.consumer_group.Group`: who is listed, who fetched what, who holds what.

Elements. A broker is a machine. A member is a place in the id list: a client id and its first, second, … connection to
a broker (B-5), lent to the process that runs; so equal client ids share their places (D6), and a new process with the
client id of a dead one continues it. Queues are those of the routes that living members have, and those still held.

Grain. The model takes a whole list at once (`apply`); the implementation drops and takes queue by queue, with waits in
between, and a queue of its share stays away when its lock is refused or it has no start offset. `Rebalancing` says so:
what is taken must be given by the list, what is dropped must not, and nothing else may be held at the end. Whether
every queue of the share is taken at last is not for refinement to say but for `ownership_converges`.

The answer of a broker. `fetch` reads the broker's list when the broker answers, and becomes known when the client
names what it got; answers that come late or never change nothing. So the states of the moment of the answer are kept,
and the step is taken of them (`Monitor.late`) when the client has the list: one state instead of two for every answer
under way. Only one of the client's threads asks at a time, so nothing else touches its answer in between.

Two runs at once (DefaultMQPushConsumerImpl#resume rebalances in the thread of its caller): the list that was fetched
before is kept, and what the later one does not explain it may. So with routes: while a route changes, the queues of the
old one and of the new one may have been divided.

`listed` is what was written to any object of the group: a heartbeat that enters an object that has left the table
(B-7), and a group that is removed with its members (B-8), are differences.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.reported_tables import connection_of
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerIdsAnswered,
    ConsumerIdsFetched,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    GroupRemoved,
    ProcessKilled,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    RouteUpdated,
)
from invariants.finding import Finding
from invariants.refinement.coverage import GroupWalk, Visited
from invariants.refinement.follower import Living, Machines, Record, lives
from invariants.refinement.group_model import ANSWERS, NAME, PROPERTIES, Answer, GroupModel
from invariants.refinement.members import Process
from invariants.refinement.monitor import Step
from model.language import Property

CLUSTERING = "CLUSTERING"
RUNNING, START_FAILED = "RUNNING", "START_FAILED"


class ConsumerGroup:
    """Follower of one group on one topic; see Follower.

    visited -- fingerprints of the states that were seen at the end of a segment.
    """

    name = NAME

    def __init__(
        self, machines: Machines, group: str, topic: str, properties: Iterable[Property] = PROPERTIES,
        watched: Visited | None = None,
    ) -> None:
        """Watch from the first segment on; properties -- of Group, to be judged. watched -- of its scope, if any."""
        self.living, self.group, self.topic = Living(machines), group, topic
        self.visited: set[int] = set()
        self.model = GroupModel(group, topic, properties)
        self.watched = watched
        self._walk = None if watched is None else GroupWalk(watched, self.model, machines)
        self._connections: dict[int, dict[str, str]] = {}
        self._last: tuple[int, ...] = ()
        self._hears: dict[type, Callable[[str, int, Any], list[Finding]]] = {
            ProcessKilled: self._host, ConsumerRegistered: self._registered, ConsumerRemoved: self._removed,
            GroupRemoved: self._group_removed, ConsumerIdsAnswered: self._answered, ConsumerStarted: self._started,
            ConsumerShutDown: self._shut_down, ConsumerIdsFetched: self._fetched, RouteUpdated: self._routed,
            QueueTaken: self._taken, QueueDropped: self._dropped, QueuesAssigned: self._assigned,
        }
        self.hears = self._hears.keys()

    def segment(self, machine: str, records: Sequence[Record], *, whole: bool = False) -> list[Finding]:
        """See Follower."""
        look = whole
        found: list[Finding] = []
        model, bits, before = self.model, self.model.bits, self.model.states[0]
        model.belong()
        for ms, where, event in records:
            hear = self._hears.get(event.__class__)
            if hear is not None:
                found += hear(where, ms, event)
                look = look or event.__class__ in _LOOK
                if self._walk is not None:
                    self._walk.note(found)
        states = model.states
        if look or found or model.bits is not bits or (before ^ states[0]) & model.monitor.visible:
            found += self._compare(machine, diverged=self._diverges(found))
            states = model.states
            if self._walk is not None:
                self._walk.note(found)
        if states is not self._last:
            self._last = states
            self.visited.update(map(hash, states))
        return [model.named(finding) for finding in found] if found else found

    def _diverges(self, found: Iterable[Finding]) -> bool:
        return any(finding.property == NAME for finding in found)

    # Machines ---------------------------------------------------------------------------------------------------------

    def _host(self, machine: str, _: int, event: tuple[Any, ...]) -> list[Finding]:
        """A process that is killed takes its tables with it."""
        if event.__class__ is not ProcessKilled:
            return []
        found: list[Finding] = []
        for client_id in list(self.model.members.running.get(machine, ())):
            found += self._end(machine, client_id, event)
        broker = self.model.brokers.get(machine)
        if broker is not None:
            self._connections[broker] = {}
            listed = enumerate(self.model.bits.listed[broker])
            state = self.model.states[0]
            steps: list[Step] = [("forget", (broker, m)) for m, bit in listed if state & bit]
            if self._walk is not None:
                self._walk.taken(steps)
            found += self.model.take(event, *steps)
        return found

    def _started(self, machine: str, _: int, event: ConsumerStarted) -> list[Finding]:
        """DefaultMQPushConsumerImpl#start, of a consumer in clustering."""
        for consumer in self._consumers(machine) if event.group == self.group else ():
            if consumer.instance.client_id == event.client_id:
                member = self.model.begin(Process(machine, consumer, self.topic))
                return self.model.take(event, ("start", (member,)))
        return []

    def _shut_down(self, machine: str, _: int, event: ConsumerShutDown) -> list[Finding]:
        if event.group != self.group or event.client_id not in self.model.members.running.get(machine, ()):
            return []
        return self._end(machine, event.client_id, event)

    def _end(self, machine: str, client_id: str, event: Any) -> list[Finding]:
        """The end of a process; what it once fetched says nothing any more."""
        member = self.model.members.running[machine].pop(client_id)
        found = self.model.take(event, ("crash", (member,)))
        self.model.write(self.model.bits.answer[member].mask, 0)
        return found

    # Lists ------------------------------------------------------------------------------------------------------------

    def _registered(self, machine: str, _: int, event: ConsumerRegistered) -> list[Finding]:
        """ConsumerGroupInfo#updateChannel of any object of the group; a second connection is a second place."""
        if event.group != self.group:
            return []
        broker, client_id = self.model.broker(machine), event.client_id or ""
        connections = self._connections.setdefault(broker, {})
        before = connections.get(event.connection)
        if before == client_id:
            return []
        found = [] if before is None else self._leave(broker, event.connection, event)
        member = self.model.place(client_id, list(connections.values()).count(client_id))
        connections[event.connection] = client_id
        return found + self.model.take(event, ("heartbeat", (broker, member)))

    def _removed(self, machine: str, _: int, event: ConsumerRemoved) -> list[Finding]:
        if event.group != self.group:
            return []
        broker = self.model.broker(machine)
        known = event.attached and event.connection in self._connections.get(broker, ())
        return self._leave(broker, event.connection, event) if known else []

    def _leave(self, broker: int, connection: str, event: Any) -> list[Finding]:
        """A connection is gone: its client loses the last of its places at the broker."""
        connections = self._connections[broker]
        client_id = connections.pop(connection)
        member = self.model.place(client_id, list(connections.values()).count(client_id))
        return self.model.take(event, ("forget", (broker, member)))

    def _group_removed(self, _: str, __: int, ___: GroupRemoved) -> list[Finding]:
        """Nothing in the model; if it had members (B-8), the tables differ."""
        return []

    def _answered(self, machine: str, _: int, event: ConsumerIdsAnswered) -> list[Finding]:
        """Keep the states in which it was answered; whether the client ever has the answer is seen there."""
        if event.group == self.group and event.client_ids:
            key = machine, event.connection.rpartition(":")[0]
            answers = self.model.answers.get(key)
            if answers is None:
                answers = self.model.answers[key] = deque(maxlen=ANSWERS)
            answers.append(Answer(event.client_ids, self.model.states))
        return []

    def _fetched(self, machine: str, now_ms: int, event: ConsumerIdsFetched) -> list[Finding]:
        """The client has the answer of a broker, which read its list when it answered."""
        member = self.model.members.running.get(machine, {}).get(event.client_id)
        if event.group != self.group or member is None or event.client_ids is None or event.broker_addr is None:
            return []
        broker = event.broker_addr.rpartition(":")[0]
        then = self._answer(broker, machine, event.client_ids)
        if event.topic != self.topic:
            return []
        process, ids = self.model.members.processes[member], self.model.listed(event.client_ids)
        process.begin(now_ms, ids)
        if not process.subscribes:
            process.subscribes = True
            self.model.members.forget()
        if then is None:
            found = [Finding(NAME, event, f"{event.client_id} has a list that {broker} never answered",
                             (NAME, "fetch", "not answered"))]
        else:
            step = "fetch", (self.model.broker(broker), member)
            if self._walk is not None:
                self._walk.late(step, then)
            found = self.model.monitor.late(event, step, then)
        return found + self._has(member, ids, event, told=self._diverges(found))

    def _answer(self, broker: str, machine: str, client_ids: tuple[str | None, ...]) -> tuple[int, ...] | None:
        """The states in which the broker gave this machine this answer last; others may be those of other threads."""
        answers = self.model.answers.get((broker, machine), deque())
        found = next((answer for answer in reversed(answers) if answer.client_ids == client_ids), None)
        if found is None:
            return None
        answers.remove(found)
        return found.then

    def _has(self, member: int, ids: int, event: Any, *, told: bool) -> list[Finding]:
        """Compare the list that a client has with the one that the model has for it; told -- that they differ."""
        bits, states = self.model.bits, self.model.states
        cell, fetched = bits.answer[member], bits.fetched[member]
        mask, wanted = cell.mask | fetched, ids << cell.position | fetched
        if all(state & mask == wanted for state in states):
            return []
        self.model.write(mask, wanted)
        if told:
            return []
        ((name, has),) = bits.reading.layout.text(wanted, [cell]).items()
        model = bits.reading.layout.text(states[0], [cell])[name]
        return [Finding(NAME, event, f"{name} is {has}, the model has {model}", (NAME, "fetch", "differs"))]

    # Queues -----------------------------------------------------------------------------------------------------------

    def _member(self, machine: str, event: Any) -> int | None:
        """Who reports something of a queue or of the topic."""
        topic = event.mq.topic if event.__class__ in _OF_A_QUEUE else event.topic
        if event.group != self.group or topic != self.topic:
            return None
        return self.model.members.running.get(machine, {}).get(event.client_id)

    def _routed(self, machine: str, now_ms: int, event: RouteUpdated) -> list[Finding]:
        """A run that is under way, or that waits for its list, may have read the queues before."""
        member = self._member(machine, event)
        if member is not None and event.mqs != (process := self.model.members.processes[member]).routes[-1]:
            process.reroute(now_ms, event.mqs)
            self.model.members.forget()
            if event.mqs != self.model.members.queues.keys():
                self.model.requeue()
        return []

    def _taken(self, machine: str, _: int, event: QueueTaken) -> list[Finding]:
        member = self._member(machine, event)
        if member is None:
            return []
        return self._by_any_list(event, member, ("take", (member, self.model.queue(event.mq))))

    def _dropped(self, machine: str, _: int, event: QueueDropped) -> list[Finding]:
        member = self._member(machine, event)
        if member is None:
            return []
        queue = self.model.queue(event.mq)
        found = self._by_any_list(event, member, ("drop", (member, queue)))
        if self._diverges(found) and self._gives_up(self.model.members.processes[member].consumer, event.mq):
            return self.model.take(event, ("give_up", (member, queue)))
        return found

    def _gives_up(self, consumer: DefaultMQPushConsumerImpl, mq: MessageQueue) -> bool:
        """Whether the consumer has a reason of its own: it ends, is suspended or reset, or pulls or topic have ended.

        An orderly consumer may always have one, PULL_OFFSET_MOVED, of which nothing is left to be seen.
        """
        rebalance = consumer.rebalance_impl
        if consumer.service_state != RUNNING or consumer.pause or consumer.config.orderly:
            return True
        if consumer.instance.monitor.held:  # by MQClientInstance#resetOffset
            return True
        if not rebalance.subscription_inner.contains_key(mq.topic):
            return True
        pq = rebalance.process_queue_table.get(mq)
        return pq is not None and pq.is_pull_expired()

    def _assigned(self, machine: str, now_ms: int, event: QueuesAssigned) -> list[Finding]:
        member = self._member(machine, event)
        if member is None:
            return []
        process = self.model.members.processes[member]
        beside, routes = process.beside, len(process.routes)
        found = self.model.take(event, ("settle", (member,)))
        if beside and self._diverges(found):
            found = self.model.take(event, ("settle_beside", (member,)))
        process.end(now_ms)
        if len(process.routes) < routes:
            self.model.members.forget()
        return found

    def _by_any_list(self, event: Any, member: int, step: Step) -> list[Finding]:
        """Take a step by the list that was fetched last, or else by that of a run that may still be under way."""
        found = self.model.take(event, step)
        if not self._diverges(found) or len(self.model.states) > 1:
            return found
        (state,), monitor = self.model.states, self.model.monitor
        cell, fetched = self.model.bits.answer[member], self.model.bits.fetched[member]
        mask = cell.mask | fetched
        for ids in self.model.members.processes[member].lists:
            monitor.states = (state & ~mask | ids << cell.position | fetched,)
            if monitor.possible([step]):
                found = self.model.take(event, step)
                self.model.write(mask, state & mask)
                if self._walk is not None:
                    self._walk.leap()
                return found
        monitor.states = (state,)
        return found

    # Tables -----------------------------------------------------------------------------------------------------------

    def _consumers(self, machine: str) -> list[DefaultMQPushConsumerImpl]:
        return [consumer for consumer in self.living.consumers(machine)
                if consumer.group == self.group and consumer.config.message_model == CLUSTERING]

    def _compare(self, machine: str, *, diverged: bool) -> list[Finding]:
        """Compare the tables of one machine; what a step has said already is not said again."""
        bits, broker, seen, visible = self.model.bits, self.model.brokers.get(machine), 0, 0
        if broker is not None:
            seen, visible = self._listed(machine, broker), bits.rows[broker]
        if machine in self.living.machines.consumers:
            held, members = self._held(machine)
            seen, visible = seen | held, visible | members
        if self.model.bits is not bits:  # something was there that had no element yet
            return self._compare(machine, diverged=diverged)
        found = self.model.monitor.compare(seen, visible) if visible else []
        if found and broker is not None:
            self._connections[broker] = self._connected(machine)
        return [finding for finding in found if finding.property != NAME] if diverged else found

    def _info(self, machine: str) -> ConsumerGroupInfo | None:
        controller = self.living.broker(machine)
        return None if controller is None else controller.consumer_manager.consumer_table.get(self.group)

    def _listed(self, machine: str, broker: int) -> int:
        """Who is in the id list of a broker."""
        info = self._info(machine)
        if info is None:
            return 0
        ids = self.model.listed(info.get_all_client_id())
        row = self.model.bits.listed[broker]
        return sum(row[m] for m in self.model.members.in_bits(ids))

    def _connected(self, machine: str) -> dict[str, str]:
        info = self._info(machine)
        entries = () if info is None else info.channel_info_table.entries()
        return {connection_of(channel): client.client_id or "" for channel, client in entries}

    def _held(self, machine: str) -> tuple[int, int]:
        """Who is up there and holds what; and the bits that say so."""
        running = self.model.members.running.setdefault(machine, {})
        for consumer in self._consumers(machine):
            if consumer.instance.client_id not in running and self._is_up(consumer):
                self.model.begin(Process(machine, consumer, self.topic))
        seen = visible = 0
        for member in running.values():
            consumer, visible = self.model.members.processes[member].consumer, visible | self.model.bits.members[member]
            if not lives(consumer.node) or not self._is_up(consumer):
                continue
            seen |= self.model.bits.up[member]
            holds = self.model.bits.holds[member]
            for mq, pq in consumer.rebalance_impl.process_queue_table.entries():
                if mq.topic == self.topic and not pq.dropped:
                    seen |= holds[self.model.queue(mq)]
        return seen, visible

    def _is_up(self, consumer: DefaultMQPushConsumerImpl) -> bool:
        """Whether its start has come as far as its registration, and its shutdown has not ended."""
        registered = consumer.instance.consumer_table.get(self.group) is consumer
        return consumer.service_state == RUNNING or (consumer.service_state == START_FAILED and registered)


_OF_A_QUEUE = (QueueTaken, QueueDropped)
_LOOK = (GroupRemoved, QueuesAssigned)  # the tables are compared then, even if the model has not moved
