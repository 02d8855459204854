"""Follows the stores of masters with `model.commit_log.Store`: append, dispatch, flush, stops, kills, recovery.

A Position is the number of a record in the log, a Queue a topic and a queue id; what a log begins with that was cut
away is one position. Recovery dispatches before it is told where the log ends: these records wait for that. Whether a
stop was an orderly one shows in the next start. A flush that has not come to the end of the log is none, and a force
that fails in the same segment makes it one in vain. Of a flush it is compared that the disk has what it should.

After a loss of power the model says which records may be gone. In everything else the next start is believed then, and
after a life as a slave, a deletion of queues, or if files that were deleted are there again. Not followed: who waits
for a flush, the index, and the forces of queues, so that whatever clean-up deletes counts as deleted early (V35).

Of the hazards of 4.9.3 one shows here: a unit that a full disk does not take (V33). The others are steps of the model,
or begin with a loss of power.

The promises of the model are not judged here: the rules of `stored_logs` and `stored_queues` do, and look for causes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from impl import events
from impl.decisions.names import MASTER_ID
from invariants.finding import Finding
from invariants.refinement.follower import Follower
from invariants.refinement.maps import Map, hears, placed
from invariants.refinement.monitor import Monitor, Step
from invariants.views import Machines, Views
from model.commit_log.store import Store
from model.language.open.reading import OpenReading
from model.language.open.states import Writes

NAME = "refines_commit_log"
LOG, ABORT = "store/commitlog/", "store/abort"
_KILL, _STOP, _LOSE, _RESUME = ((name, ()) for name in ("kill", "stop", "lose_power", "resume"))


def followers(machines: Machines, _groups: object, _scopes: object) -> list[Follower]:
    """One, of all machines."""
    return [Logs(machines)]


class _Store:
    """A store. ends -- of each position, where it ends in the log. early -- what recovery has dispatched until now.

    grown -- queues for which something was dispatched in this segment. failed -- whether a force of the log has failed
    in it.
    """

    def __init__(self, machine: str, views: Views) -> None:
        self.machine, self.views = machine, views
        self.monitor = Monitor(OpenReading(Store.concept), (), NAME, unmarked=("place", "torn"), visible=(
            "first", "end", "flushed", "clean", "offset_of", "units", "unit", "durable"))
        self.value = self.monitor.value
        self.ends: list[int] = []
        self.early: list[events.MessageDispatched] = []
        self.grown: dict[tuple[str, int], None] = {}
        self.failed = False

    def place(self, offset: int) -> int:
        """How many positions of the log end at an offset or before it."""
        return bisect_right(self.ends, offset)

    def take(self, event: Any, *ways: Sequence[Step]) -> list[Finding]:
        """Take the steps of one of these ways."""
        return self.noted(self.monitor.follow(event, ways))

    def compare(self, seen: Writes) -> list[Finding]:
        """Compare what is said here."""
        return self.noted(self.monitor.compare(seen, [*seen]))

    def noted(self, found: list[Finding]) -> list[Finding]:
        """With the broker."""
        return placed(found, self.machine, broker=self.machine)

    def begins(self) -> None:
        """Take over what is there; nothing waits for its dispatch."""
        begin, records = max(self.views.log_begin(self.machine), 0), self.views.log_records(self.machine)
        self.ends = [*([begin] if begin else []), *(one.commit_log_offset + one.size for one in records)]
        first, end = self.place(begin), len(self.ends)
        found: Writes = {("phase",): "UP", ("dark",): False, ("clean",): False, ("first",): first, ("end",): end,
                         ("flushed",): end, ("dispatched",): end, ("kept",): end}
        for place, one in enumerate(records, first):
            queue = one.topic, one.queue_id
            found.update({("readable", place): True, ("queue_of", place): queue, ("offset_of", place): one.queue_offset,
                          ("unit", queue, one.queue_offset): place})
        for queue, (least, behind) in self.views.queue_units(self.machine).items():
            found.update({("least", queue): least, ("units", queue): behind, ("next_offset", queue): behind})
        self.monitor.write(found)

    @hears(events.MessageAppended)
    def appended(self, event: events.MessageAppended) -> list[Finding]:
        """CommitLog#asyncPutMessage."""
        place = len(self.ends)
        self.ends.append(event.commit_log_offset + event.size)
        found = self.take(event, [("append", ((event.topic, event.queue_id),))])
        return found + self.compare({("offset_of", place): event.queue_offset})

    @hears(events.MessageDispatched)
    def dispatched(self, event: events.MessageDispatched) -> list[Finding]:
        """DefaultMessageStore#doDispatch: the record that comes next."""
        if self.value("phase") == "DOWN":
            self.early.append(event)
            return []
        self.grown[event.topic, event.queue_id] = None
        found = self.take(event, [("dispatch", ())])
        return found + self.compare({("dispatched",): self.place(event.commit_log_offset) + 1})

    @hears(events.LogFlushed)
    def flushed(self, event: events.LogFlushed) -> list[Finding]:
        """MappedFileQueue#flush: what lies before the record at the former end counts as forced, too."""
        before, place = self.value("flushed"), self.place(event.offset)
        if place < self.value("end"):
            self.monitor.write({("flushed",): place, **{
                ("durable", one): True for one in range(before, 0 if self.failed else place)}})
            return []
        if before >= place:
            return []
        found = self.take(event, [("flush_in_vain" if self.failed else "flush_newer" if before else "flush", ())])
        ends = [0, *self.ends]
        return found + self.compare({} if self.failed else {
            ("durable", one): self.views.is_forced(self.machine, ends[one], ends[one + 1] - ends[one])
            for one in range(before, place)})

    @hears(events.LogExpired)
    def expired(self, event: events.LogExpired) -> list[Finding]:
        """MappedFileQueue#deleteExpiredFileByTime: a file is as many steps as it has records.

        The last file stays: where a full disk has taken no record of it, nothing is left of which the model would know.
        """
        found, first = list[Finding](), self.place(event.min_offset)
        for _ in range(self.value("first"), min(first, self.value("end") - 1)):
            found += self.take(event, [("expire", ())], [("expire_early", ())])
        if first == self.value("end"):
            self.monitor.write({("first",): first})
        return found

    @hears(events.ForceFailed)
    def fails(self, event: events.ForceFailed) -> list[Finding]:
        """MappedFile#flush: what is written may get lost. A start that cannot force the file abort has made it."""
        self.failed |= event.path.startswith(LOG)
        return self.take(event, [_RESUME]) if event.path == ABORT and self.value("phase") == "DISPATCHING" else []

    def loaded(self, event: events.StoreLoaded) -> list[Finding]:
        """CommitLog#recoverNormally, #recoverAbnormally: what is gone had not been forced."""
        end, early, dark = self.place(event.max_offset), self.early, self.value("dark")
        self.early, found = [], list[Finding]()
        if dark and end < self.value("end"):
            found += self.take(event, [("lose_record", (end,))])
        found += self.take(event, [("recover", (end,))])
        del self.ends[end:]
        if dark or found:
            return found
        found += self.compare({("clean",): event.last_exit_ok})
        if event.last_exit_ok:
            return found + self.take(event, [("dispatch_on", (self._known(),))])
        start = self.place(early[0].commit_log_offset) if early else self.value("first")
        found += self.take(event, [("dispatch_again", (start,))])
        return found + [one for record in early for one in self.dispatched(record)]

    def looks(self) -> list[Finding]:
        """Compare with the log of the broker, and with the last units of the queues that have grown."""
        has, grown = self.views.replicated(self.machine), [*self.grown]
        self.grown.clear()
        self.monitor.moved = False
        if has is None:
            return []
        seen: Writes = {("first",): self.place(max(has.begin, 0)), ("end",): self.place(has.end),
                        ("flushed",): self.place(has.flushed)}
        for queue in grown:
            seen["units", queue] = units = self.views.queue_end(self.machine, *queue)
            offset = self.views.queue_unit(self.machine, *queue, units - 1) if units else None
            if offset is not None:
                seen["unit", queue, units - 1] = self.place(offset)
        return self.compare(seen)

    def _known(self) -> int:
        """Behind the greatest record that a queue has."""
        lasts = {queue: self.value("units", queue) for queue in self.monitor.reading.given.named["Queue"]}
        behind: list[int] = [self.value("unit", queue, units - 1) + 1 for queue, units in lasts.items() if units]
        first: int = self.value("first")
        return max([first, *behind])


class Logs(Map):
    """Follower of the stores of all masters; see Follower.

    stores -- by machine. stopping -- machines whose brokers stop in this segment.
    """

    def __init__(self, machines: Machines) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, NAME, (), _Store)
        self.stores: dict[str, _Store] = {}
        self.stopping: dict[str, events.BrokerStopping] = {}

    def concerned(self, machine: str, event: Any) -> _Store | None:  # noqa: ARG002  # whatever happens to its log
        """See Map."""
        return self.stores.get(machine)

    @hears(events.StoreLoaded)
    def _loaded(self, machine: str, event: events.StoreLoaded) -> list[Finding]:
        store = self.stores.get(machine)
        if store is None:
            return []
        if event.broker_role == "SLAVE" or store.place(event.min_offset) != store.value("first"):
            del self.stores[machine]
            return []
        found = store.loaded(event)
        if found or store.value("phase") == "FOUND":
            del self.stores[machine]
        return found

    @hears(events.BrokerStarted)
    def _starts(self, machine: str, event: events.BrokerStarted) -> list[Finding]:
        if machine in self.stores:
            return self.stores[machine].take(event, [_RESUME])
        if event.broker_id == MASTER_ID:
            self.stores[machine] = _Store(machine, self.views)
            self.stores[machine].begins()
        return []

    @hears(events.QueuesDeleted)
    def _deletes(self, machine: str, _: events.QueuesDeleted) -> list[Finding]:
        self.stores.pop(machine, None)
        return []

    @hears(events.BrokerStopping)
    def _stops(self, machine: str, event: events.BrokerStopping) -> list[Finding]:
        self.stopping[machine] = event
        return []

    @hears(events.ThreadDied)
    def _gives_up(self, machine: str, event: events.ThreadDied) -> list[Finding]:
        """Who cannot force what he stops ends as if he were killed: the file abort stays."""
        if event.thread == events.SHUTDOWN_HOOK:
            self.stopping.pop(machine, None)
        return []

    @hears(events.ProcessKilled)
    def _killed(self, machine: str, event: events.ProcessKilled) -> list[Finding]:
        store = self.stores.get(machine)
        if store is None:
            return []
        store.early.clear()
        if event.power_loss:
            return [] if store.value("dark") else store.take(event, [_LOSE])
        return [] if store.value("phase") == "DOWN" else store.take(event, [_KILL])

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map: what a broker has of its log; a stop that leaves something to be dispatched is a kill."""
        stopping, self.stopping = self.stopping, {}
        store = self.stores.get(machine)
        if store is None:
            return []
        store.failed = False
        found = list[Finding]()
        if machine in stopping and store.value("phase") != "DOWN":
            is_possible = store.monitor.possible(_STOP)
            found += store.take(stopping[machine], [_KILL], *([[_STOP]] if is_possible else []))
        if whole or store.grown or store.monitor.moved:
            self.visited.update(store.monitor.fingerprints())
            found += store.looks()
        return self.unsaid(found)
