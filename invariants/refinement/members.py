"""Who the members of a followed group are, and what their strategies give them.

A Member is a place in the id list: a client id and its first, second, … connection to a broker (B-5), lent to the
process that runs. So equal client ids share their places (D6), and a new process with the client id of a dead one
continues it. A Queue is a MessageQueue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from invariants.views import ConsumerTables

LISTS = 8
"""So many different lists are kept: a run that is late may have had one before several others began and ended."""
FORGOTTEN_MS = 180_000
"""A run that has not ended by then has ended without a word."""
ASKED_MS = 15_000
"""Between its look at the route and its list a run may wait so long: for a lock, a name server, a connection, a broker,
3 s each, and a bit."""

Member = tuple[str, int]
View = frozenset[Member]
Queues = frozenset[MessageQueue]


class Process:
    """A consumer that runs, or ran.

    machine, consumer -- which. subscribes -- whether it subscribes the topic. routes -- the queue lists of which a run
    that is under way may have read one; the last is the present one. left -- when each of the others was left, in ms.
    begun -- when each run under way had its list. lists -- the lists of runs that may be under way. beside -- whether
    another run was under way when the latest began; false again when all have ended.
    """

    def __init__(self, machine: str, consumer: ConsumerTables, topic: str) -> None:
        """As the consumer is at its start."""
        self.machine, self.consumer = machine, consumer
        self.routes: list[Queues] = [consumer.route(topic)]
        self.subscribes = consumer.subscribes(topic)
        self.left: list[int] = []
        self.begun: list[int] = []
        self.lists: list[View] = []
        self.beside = False

    def reroute(self, now_ms: int, route: Queues) -> None:
        """The client has another route."""
        self.routes.append(route)
        self.left.append(now_ms)

    def begin(self, now_ms: int, view: View) -> None:
        """A run has its list."""
        self.begun = [ms for ms in self.begun if now_ms - ms < FORGOTTEN_MS]
        self.lists = [*[one for one in self.lists if one != view][1 - LISTS:], view] if self.begun else [view]
        self.beside = bool(self.begun)
        self.begun.append(now_ms)

    def end(self, now_ms: int) -> None:
        """A run has ended; if it was the only one, its list and older routes that no other may have read are over."""
        self.begun = self.begun[:-1]
        if not self.begun:
            self.lists, self.beside = [], False
            self.left = [ms for ms in self.left if now_ms - ms < ASKED_MS]
            self.routes = self.routes[-1 - len(self.left):]


class Members:
    """The members of one group on one topic.

    running -- machine to client id to the member of the process that runs. processes -- member to the process that has
    its place, or had it last. rigid -- the rigid functions of Rebalancing.
    """

    def __init__(self, group: str, topic: str) -> None:
        """Nobody."""
        self.group, self.topic = group, topic
        self.running: dict[str, dict[str, Member]] = {}
        self.processes: dict[Member, Process] = {}
        self._divisions: dict[tuple[Member, View], tuple[Queues, Queues | None]] = {}
        self._shares: dict[View, dict[MessageQueue | None, Member | None]] = {}
        self.rigid: Mapping[str, Callable[..., Any]] = {
            "share": self._share, "leader": lambda member: (member[0], 0),
            "subscribes": lambda member: member in self.processes and self.processes[member].subscribes,
            "gives": lambda member, view, mq: mq in self._divided(member, view)[0],
            "spares": lambda member, view, mq: (kept := self._divided(member, view)[1]) is not None and mq not in kept,
        }

    def start(self, process: Process) -> Member:
        """A process has started: it gets the first place of its client id that no other living one has."""
        client_id, k = process.consumer.client_id, 0
        while any((client_id, k) in clients.values() for clients in self.running.values()):
            k += 1
        self.running.setdefault(process.machine, {})[client_id] = client_id, k
        self.processes[client_id, k] = process
        self.forget()
        return client_id, k

    def alive(self) -> list[Process]:
        """The processes that run."""
        return [self.processes[member] for clients in self.running.values() for member in clients.values()]

    def forget(self) -> None:
        """Processes or their routes have changed."""
        self._divisions.clear()
        self._shares.clear()

    def _divided(self, member: Member, view: View) -> tuple[Queues, Queues | None]:
        """What the member's own strategy gives it of its own routes; and what of all of them, None if it never divides.

        While a route changes the queues of the old one and of the new one may have been divided.
        """
        found = self._divisions.get((member, view))
        if found is None:
            process = self.processes.get(member)
            each = [self._allocated(process, member[0], view, route) for route in process.routes] if process else []
            given = [queues for queues in each if queues is not None]
            kept = frozenset.intersection(*given) if given else None
            found = self._divisions[member, view] = frozenset[MessageQueue]().union(*given), kept
        return found

    def _allocated(self, process: Process, client_id: str, view: View, route: Queues) -> Queues | None:
        """RebalanceImpl#rebalanceByTopic; None if the strategy throws, and everything stays as it is."""
        try:
            allocated = process.consumer.strategy.allocate(
                self.group, client_id, list(_in_order(route)), list(_client_ids(view)))
        except JavaError:
            return None
        return frozenset(allocated or ())

    def _share(self, view: View, member: Member, mq: MessageQueue) -> bool:
        """Whether the member's slot has a queue, as the first of the list with a process would have it.

        A queue that is in no route (any more) is the first's, who cannot hold it: such a group is not settled.
        """
        shares = self._shares.get(view)
        if shares is None:
            shares = self._shares[view] = self._shared(sorted(view), view)
        return shares.get(mq, shares.get(None)) == member

    def _shared(self, members: Sequence[Member], view: View) -> dict[MessageQueue | None, Member | None]:
        """Queue to share, for one id list; None to whom every other queue belongs."""
        reference = next((self.processes[m] for m in members if m in self.processes), None)
        if reference is None:
            return {}
        route = reference.routes[-1]
        shares: dict[MessageQueue | None, Member | None] = {None: members[0], **dict.fromkeys(sorted(route))}
        for client_id in dict.fromkeys(client_id for client_id, _ in members):
            given = self._allocated(reference, client_id, view, route) or frozenset()
            shares.update(dict.fromkeys(sorted(given), (client_id, 0)))
        return shares


def listed(client_ids: Iterable[str | None]) -> View:
    """The members that an id list names: as many places of a client as it stands there."""
    places = Counter[str]()
    members = []
    for given in client_ids:
        client_id = given or ""
        members.append((client_id, places[client_id]))
        places[client_id] += 1
    return frozenset(members)


@lru_cache(maxsize=256)
def _in_order(route: Queues) -> tuple[MessageQueue, ...]:
    """Collections#sort."""
    return tuple(sorted(route))


@lru_cache(maxsize=256)
def _client_ids(view: View) -> tuple[str, ...]:
    """The id list as RebalanceImpl sorts it."""
    return tuple(sorted((client_id for client_id, _ in view), key=utf16_key))
