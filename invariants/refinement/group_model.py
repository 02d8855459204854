"""The model that follows a group: `model.consumer_group.Group` in the grain of its implementation, and its elements."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from impl.decisions.message_queue import MessageQueue
from invariants import consumer_group as promised
from invariants.finding import Finding
from invariants.refinement.asked import AskedReading
from invariants.refinement.elements import Pool
from invariants.refinement.members import MEMBERS, Members, Process
from invariants.refinement.monitor import Alternatives, Monitor, Step, TooManyStatesError
from model.consumer_group import Broker, Group, Member, Queue
from model.language import FALSE, TRUE, Bool, Property, Rigid, Set, action, every, forall, require
from model.language.layout import USED, Cell

NAME = "refines_consumer_group"
ANSWERS = 8
"""How many answers to one machine are kept; each thread waits for one at a time, and gives up after 3 s."""

PROPERTIES: tuple[Property, ...] = tuple(
    Group.concept.properties[declared.__name__] for declared in (
        promised.one_owner_per_queue, promised.one_owner_when_settled, promised.every_queue_owned_when_settled,
    )
)


class Rebalancing(Group, without=("apply",)):
    """A group whose members take what a list gives them one queue after another."""

    gives: Rigid[tuple[Member, Set[Member], Queue], Bool]   # by its own strategy and route the member gets the queue
    spares: Rigid[tuple[Member, Set[Member], Queue], Bool]  # … it does not; both, while its route changes


@action("RebalanceImpl#updateProcessQueueTableInRebalance: putIfAbsent")
def take(s: Rebalancing, m: Member, q: Queue) -> None:
    """A member takes a queue that the list gives it."""
    require(s.up[m], s.fetched[m], ~s.holds[m, q], s.gives[m, s.answer[m], q])
    s.holds[m, q] = TRUE


@action("RebalanceImpl#updateProcessQueueTableInRebalance: setDropped")
def drop(s: Rebalancing, m: Member, q: Queue) -> None:
    """A member drops a queue that the list gives to somebody else."""
    require(s.fetched[m], s.holds[m, q], s.spares[m, s.answer[m], q])
    s.holds[m, q] = FALSE


@action("ProcessQueue#isPullExpired, RebalanceImpl#truncateMessageQueueNotMyTopic, #destroy, "
        "MQClientInstance#resetOffset, PullCallback#onSuccess with OFFSET_ILLEGAL", environment=True)
def give_up(s: Rebalancing, m: Member, q: Queue) -> None:
    """A queue is dropped whatever the list says: no pull for 120 s, no subscription, a shutdown, a reset, no offset."""
    require(s.holds[m, q])
    s.holds[m, q] = FALSE


@action("RebalanceImpl#rebalanceByTopic", atomic_by="RebalanceService, one thread per instance")
def settle(s: Rebalancing, m: Member) -> None:
    """A run has ended: the member holds nothing but what the list gives it."""
    require(s.up[m], s.fetched[m],
            forall(s.holds[m, q].implies(s.gives[m, s.answer[m], q]) for q in every(Queue)))
    s.fetched[m] = FALSE


@action("RebalanceImpl#rebalanceByTopic beside another run")
def settle_beside(s: Rebalancing, m: Member) -> None:
    """One of two runs has ended; which of the lists it had cannot be told."""
    require(s.up[m])
    s.fetched[m] = FALSE


VISIBLE = ("up", "listed", "holds")


@lru_cache(maxsize=128)
def reading_of(group: str, topic: str, brokers: int, members: int, queues: int) -> Bits:
    """The model at these sizes; the group's followers take turns with it."""
    del group, topic
    reading = AskedReading(
        Rebalancing, {Broker: brokers, Member: members, Queue: queues},
        ("share", "subscribes", "leader", "gives", "spares"),
    )
    return Bits(reading)


class Bits:
    """Where the visible cells lie: bits of a state, by the numbers of elements."""

    def __init__(self, reading: AskedReading) -> None:
        """Look them up."""
        self.reading = reading
        sizes, cell = reading.ground.scope.sizes, reading.layout.cell
        self.sizes = sizes["Broker"], sizes["Member"]
        brokers, members, queues = range(sizes["Broker"]), range(sizes["Member"]), range(sizes["Queue"])
        self.up = [cell("up", m).mask for m in members]
        self.fetched = [cell("fetched", m).mask for m in members]
        self.answer = [cell("answer", m) for m in members]
        self.listed = [[cell("listed", b, m).mask for m in members] for b in brokers]
        self.holds = [[cell("holds", m, q).mask for q in queues] for m in members]
        self.rows = [sum(row) for row in self.listed]
        self.members = [up | sum(row) for up, row in zip(self.up, self.holds, strict=True)]


@lru_cache(maxsize=64)
def same_cells(old: Bits, new: Bits, queues: tuple[tuple[int, int], ...]) -> list[tuple[Cell, Cell]]:
    """The cells of one scope with what they are in another; queues -- those of the one that the other has, too."""
    renamed, found = dict(queues), []
    for cell in old.reading.layout.cells:
        keys = cell.keys
        if cell.variable == "holds":
            if keys[1] not in renamed:
                continue
            keys = keys[0], renamed[keys[1]]
        found.append((cell, new.reading.layout.cell(cell.variable, *keys)))
    return found


class Answer(NamedTuple):
    """An answer on its way: the ids, and the states in which it was given."""

    client_ids: tuple[str | None, ...]
    then: tuple[int, ...]


class GroupModel:
    """A monitor of one group on one topic whose elements come and go.

    bits -- where cells lie in the present scope. members, brokers -- who the elements are. answers -- by broker and
    asking machine, the last ANSWERS that were given. monitor -- its states are those of the present scope.
    """

    def __init__(self, group: str, topic: str, properties: Iterable[Property]) -> None:
        """Nobody is there."""
        self.group, self.topic = group, topic
        self.bits = reading_of(group, topic, 2, MEMBERS, 1)
        self.members = Members(group, topic, lambda: self.bits.reading.forget())  # noqa: PLW0108  # not today's reading
        self.brokers = Pool(2)
        self.answers: dict[tuple[str, str], deque[Answer]] = {}
        self.belong()
        self.monitor = Monitor(self.bits.reading, _nothing, VISIBLE, 0, properties, NAME)

    @property
    def states(self) -> tuple[int, ...]:
        """Those that fit all that was reported."""
        return self.monitor.states

    def take(self, event: Any, *steps: Step) -> list[Finding]:
        """Take the steps that an event stands for."""
        return self.monitor.follow(event, [steps])

    def write(self, mask: int, value: int) -> None:
        """Give some bits of all states a value; nothing is judged."""
        self.monitor.states = tuple(sorted({state & ~mask | value for state in self.monitor.states}))

    def place(self, client_id: str, k: int) -> int:
        """The element of a client's k-th place in the id list."""
        found = self.members.place(client_id, k, self.needed)
        self.fit()
        return found

    def listed(self, client_ids: Sequence[str | None]) -> int:
        """The set of Members that an id list names."""
        found = self.members.bits(client_ids, self.needed)
        self.fit()
        return found

    def begin(self, process: Process) -> int:
        """A process has started: its element."""
        found = self.members.start(process, self.needed)
        self.fit()
        if not process.routes[0] <= self.members.queues.keys():
            self.requeue()
        return found

    def broker(self, machine: str) -> int:
        """The element of a broker."""
        found = self.brokers.give(machine, lambda _: True, lambda _: None)
        self.fit()
        return found

    def belong(self) -> None:
        """Answer for the rigid functions from now on."""
        self.bits.reading.belong(self, self.members.answers)

    def needed(self, member: int) -> bool:
        """Whether anything of a Member is set."""
        bits, of_all = self.bits, [m for clients in self.members.running.values() for m in clients.values()]
        mine = bits.members[member] | sum(row[member] for row in bits.listed)
        for m in of_all:
            mine |= 1 << bits.answer[m].position + member
        kept = [state for answers in self.answers.values() for answer in answers for state in answer.then]
        lists = [ids for m in of_all for ids in self.members.processes[m].lists]
        return any(state & mine for state in (*self.monitor.states, *kept)) or any(ids >> member & 1 for ids in lists)

    def queue(self, mq: MessageQueue) -> int:
        """The number of a queue."""
        found = self.members.queues.get(mq)
        if found is None:
            self.requeue({mq})
            found = self.members.queues[mq]
        return found

    def requeue(self, more: AbstractSet[MessageQueue] = frozenset()) -> None:
        """Follow the queues that are in a route of a living member, or still held, and no others."""
        queues, states = self.members.queues, self.monitor.states
        held = [sum(column) for column in zip(*self.bits.holds, strict=True)]
        wanted = {mq for mq, q in queues.items() if any(state & held[q] for state in states)}
        for clients in self.members.running.values():
            for member in clients.values():
                wanted |= self.members.processes[member].routes[-1]
        if wanted | more != set(queues):
            self._move(sorted(wanted | more))

    def fit(self) -> None:
        """Follow in a scope that has room for all elements; raises TooManyStatesError when there can be none."""
        if self.members.pool.size > USED:
            raise TooManyStatesError(f"the id lists of {self.group} have more than {USED // 2 + 1} places in use")
        if (self.brokers.size, self.members.pool.size) != self.bits.sizes:
            self._move(list(self.members.queues))

    def _move(self, queues: Sequence[MessageQueue]) -> None:
        """Pack all states anew, for these queues."""
        old, numbers = self.bits, {mq: q for q, mq in enumerate(queues)}
        renamed = {q: numbers[mq] for mq, q in self.members.queues.items() if mq in numbers}
        new = reading_of(self.group, self.topic, self.brokers.size, self.members.pool.size, max(1, len(queues)))
        cells = same_cells(old, new, tuple(sorted(renamed.items())))

        def moved(states: Iterable[int]) -> tuple[int, ...]:
            return tuple(sorted({sum((state & here.mask) >> here.position << there.position for here, there in cells)
                                 for state in states}))

        self.bits, self.members.queues = new, numbers
        self.members.forget()
        self.belong()
        self.monitor.move(new.reading, moved(self.monitor.states))
        for answers in self.answers.values():
            for number, answer in enumerate(answers):
                answers[number] = answer._replace(then=moved(answer.then))

    def named(self, finding: Finding) -> Finding:
        """With the implementation's names instead of those of elements."""
        names = {f"broker{number}": str(machine) for machine, number in self.brokers.given.items()}
        names |= {f"queue{q}": f"{mq.broker_name}/{mq.queue_id}" for mq, q in self.members.queues.items()}
        for client_id, chain in self.members.chains.items():
            names |= {f"member{m}": client_id + "'" * place for place, m in enumerate(chain)}
        sentence = re.sub(r"\b(?:broker|queue|member)\d+\b", lambda word: names.get(word[0], word[0]), finding.sentence)
        return replace(finding, sentence=sentence)


def _nothing(_: Any) -> Alternatives:
    return ()
