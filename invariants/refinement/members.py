"""Who the elements of a followed group are: places in the id list, the processes that have them, what a list gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from invariants.refinement.asked import Ask
from invariants.refinement.elements import Pool

MEMBERS = 8
LISTS = 8
"""So many different lists are kept: a run that is late may have had one before several others began and ended."""
FORGOTTEN_MS = 180_000
"""A run that has not ended by then has ended without a word."""
ASKED_MS = 15_000
"""Between its look at the route and its list a run may wait so long: for a lock, a name server, a connection, a broker,
3 s each, and a bit."""


class Process:
    """A consumer that runs, or ran.

    machine, consumer -- which. subscribes -- whether it subscribes the topic. routes -- the queue lists of which a run
    that is under way may have read one; the last is the present one. left -- when each of the others was left, in ms.
    begun -- when each run under way had its list. lists -- the lists (bits of Members) of runs that may be under way.
    beside -- whether there was more than one since none was under way.
    beside -- whether two of them were under way at once, and not all have ended since.
    """

    def __init__(self, machine: str, consumer: DefaultMQPushConsumerImpl, topic: str) -> None:
        """As the consumer is at its start."""
        self.machine, self.consumer = machine, consumer
        route = consumer.rebalance_impl.topic_subscribe_info_table.get(topic)
        self.routes: list[frozenset[MessageQueue]] = [frozenset(route or ())]
        self.subscribes = consumer.rebalance_impl.subscription_inner.contains_key(topic)
        self.left: list[int] = []
        self.begun: list[int] = []
        self.lists: list[int] = []
        self.beside = False

    def reroute(self, now_ms: int, route: frozenset[MessageQueue]) -> None:
        """The client has another route."""
        self.routes.append(route)
        self.left.append(now_ms)

    def begin(self, now_ms: int, ids: int) -> None:
        """A run has its list."""
        self.begun = [ms for ms in self.begun if now_ms - ms < FORGOTTEN_MS]
        self.lists = [*[one for one in self.lists if one != ids][1 - LISTS:], ids] if self.begun else [ids]
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
    """The elements of the sort Member, and the rigid functions, which depend on who they are.

    pool -- gives elements to places: (client id, 0, 1, …). whose -- element to client id. chains -- client id to its
    elements, by place. running -- machine to client id to the element of the process that runs. processes -- element to
    the process that has it, or had it last. queues -- to their numbers.
    """

    def __init__(self, group: str, topic: str, changed: Callable[[], None]) -> None:
        """Nobody; changed -- called when the rigid functions may have changed."""
        self.group, self.topic, self.changed = group, topic, changed
        self.pool = Pool(MEMBERS)
        self.whose: dict[int, str] = {}
        self.chains: dict[str, list[int]] = {}
        self.running: dict[str, dict[str, int]] = {}
        self.processes: dict[int, Process] = {}
        self.queues: dict[MessageQueue, int] = {}
        self._given: dict[tuple[int, int], tuple[int, int]] = {}
        self._shares: dict[int, dict[int, int]] = {}

    # Elements ---------------------------------------------------------------------------------------------------------

    def place(self, client_id: str, k: int, needed: Callable[[int], bool]) -> int:
        """The element of a client's k-th place, a new one if it has not so many.

        needed -- whether anything of an element is set; those of a client id go together.
        """
        chain = self.chains.setdefault(client_id, [])
        while len(chain) <= k:
            def kept(number: int) -> bool:
                owner = self.whose[number]
                return owner == client_id or any(map(needed, self.chains[owner]))

            chain.append(self.pool.give((client_id, len(chain)), kept, self._taken_back))
            self.whose[chain[-1]] = client_id
            self.forget()
        return chain[k]

    def _taken_back(self, number: int) -> None:
        """A client id that had the element has none any more."""
        for other in self.chains.pop(self.whose.pop(number, ""), []):
            self.whose.pop(other, None)
            self.processes.pop(other, None)
            for identity in [identity for identity, given in self.pool.given.items() if given == other != number]:
                del self.pool.given[identity]

    def start(self, process: Process, needed: Callable[[int], bool]) -> int:
        """A process has started: it gets the first place of its client id that no other living one has."""
        client_id = process.consumer.instance.client_id
        taken = {m for clients in self.running.values() for m in clients.values()}
        k = next((k for k, m in enumerate(self.chains.get(client_id, ())) if m not in taken),
                 len(self.chains.get(client_id, ())))
        member = self.place(client_id, k, needed)
        self.running.setdefault(process.machine, {})[client_id] = member
        self.processes[member] = process
        self.forget()
        return member

    def bits(self, client_ids: Sequence[str | None], needed: Callable[[int], bool]) -> int:
        """The set of Members that an id list names: as many places of a client as it stands there."""
        found, seen = 0, dict[str, int]()
        for given in client_ids:
            client_id = given or ""
            k = seen.get(client_id, 0)
            seen[client_id] = k + 1
            chain = self.chains.get(client_id)
            found |= 1 << (chain[k] if chain is not None and k < len(chain) else self.place(client_id, k, needed))
        return found

    def in_bits(self, members: int) -> list[int]:
        """The elements of a set."""
        return [m for m in range(members.bit_length()) if members >> m & 1]

    # Rigid functions --------------------------------------------------------------------------------------------------

    def answers(self) -> dict[str, Ask]:
        """The rigid functions by name; see Sharing and Rebalancing."""
        return {"share": self._share, "subscribes": self._subscribes, "leader": self._leader,
                "gives": lambda m, view, q: self._divided(m, view)[0] >> q & 1,
                "spares": lambda m, view, q: self._divided(m, view)[1] >> q & 1}

    def forget(self) -> None:
        """Who the elements are, or what their routes are, has changed."""
        self._given.clear()
        self._shares.clear()
        self.changed()

    def _subscribes(self, member: int) -> int:
        process = self.processes.get(member)
        return int(process is not None and process.subscribes)

    def _leader(self, member: int) -> int:
        return self.chains[self.whose[member]][0] if member in self.whose else member

    def _divided(self, member: int, view: int) -> tuple[int, int]:
        """What the member's own strategy gives it of its own routes, and what it does not; bits of queues."""
        found = self._given.get((member, view))
        if found is None:
            process, gives, spares = self.processes.get(member), 0, 0
            for route in process.routes if process is not None else ():
                given = self._allocated(process, self.whose[member], view, route)
                if given is not None:
                    gives |= given
                    spares |= ~given
            found = self._given[member, view] = gives, spares & (1 << len(self.queues)) - 1
        return found

    def _allocated(
        self, process: Process | None, client_id: str, view: int, route: frozenset[MessageQueue],
    ) -> int | None:
        """RebalanceImpl#rebalanceByTopic; None if the strategy throws, and everything stays as it is."""
        if process is None:
            return None
        client_ids = sorted((self.whose.get(m, "") for m in self.in_bits(view)), key=utf16_key)
        try:
            allocated = process.consumer.rebalance_impl.strategy.allocate(
                self.group, client_id, list(_in_order(route)), client_ids,
            )
        except JavaError:
            return None
        return sum(1 << self.queues[mq] for mq in dict.fromkeys(allocated or ()) if mq in self.queues)

    def _share(self, view: int, q: int) -> int:
        """Whose slot has a queue, as the first of the list with a process would have it; Maybe, so one more.

        A queue that is in no route (any more) is the first's, who cannot hold it: such a group is not settled.
        """
        shares = self._shares.get(view)
        if shares is None:
            shares = self._shares[view] = self._shared(self.in_bits(view))
        return shares.get(q, 0)

    def _shared(self, members: Sequence[int]) -> dict[int, int]:
        """Queue to share, for one id list."""
        reference = next((self.processes[m] for m in members if m in self.processes), None)
        if reference is None:
            return {}
        view, route = sum(1 << m for m in members), reference.routes[-1]
        shares = dict.fromkeys(range(max(1, len(self.queues))), members[0] + 1)
        shares.update((self.queues[mq], 0) for mq in sorted(route) if mq in self.queues)
        for client_id in dict.fromkeys(self.whose.get(m, "") for m in members):
            given = self._allocated(reference, client_id, view, route) or 0
            shares.update((q, self.chains[client_id][0] + 1) for q in self.in_bits(given))
        return shares


@lru_cache(maxsize=256)
def _in_order(route: frozenset[MessageQueue]) -> tuple[MessageQueue, ...]:
    """Collections#sort."""
    return tuple(sorted(route))
