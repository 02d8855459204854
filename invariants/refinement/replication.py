"""What masters and slaves have of a log, as steps of `model.replication`: one model for each life of a master.

A Position is the number of a record in the master's log; what lies before its first record is one position. A Message
is such a number too, a Slave a machine. What a slave appends counts when it has done so, and a record that has come in
part does not count yet. A connection that a slave has given up may still be there at the master: the one that
was made last counts, and what comes on others only raises push2slave.

What is rewritten. A start of the master begins anew with what its store has found; so `restart`, `lose` and `lose_sent`
are no steps here, nor `lose_copy`. A put that does not ask for slaves waits for nobody, nor does one of a master that
is no SYNC_MASTER. A flush that has not come to the end of the log is none.

A slave is followed from a connection on, if its records are those of its master. It is not until the next one when its
process has ended, or it has taken bytes elsewhere than they begin (V11, V25, V32): then positions mean nothing. Nor is
it if the master accepts a connection of a process that has ended meanwhile: what comes on it tells of a former life.

The promises of the model are not judged here: the rules of `invariants.rules.replicated_logs` do, and look for causes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from impl import events
from invariants.finding import Finding
from invariants.refinement.follower import Follower
from invariants.refinement.maps import Map, hears
from invariants.refinement.monitor import Monitor, Step
from invariants.views import Machines, StoredRecord, Views
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, Writes
from model.replication import Replicas

NAME = "refines_replication"
VISIBLE = ("first", "end", "flushed", "push2slave", "connected", "asked", "waiting", "begin", "copied", "filed", "copy")
_SLAVE, _SYNC_MASTER, _PUT_OK = "SLAVE", "SYNC_MASTER", "PUT_OK"


def followers(machines: Machines, _groups: object, _scopes: object) -> list[Follower]:
    """One follower, of all machines."""
    return [Replication(machines)]


class Replication(Map):
    """Follower of all masters; see Follower. masters -- by machine. follows -- a slave to its last master.

    gone -- brokers whose process has ended, until the next one has found its store.
    """

    def __init__(self, machines: Machines) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, NAME, ())
        self.masters: dict[str, _Master] = {}
        self.follows: dict[str, _Master] = {}
        self.gone = set[str]()

    @hears(events.StoreLoaded)
    def _loaded(self, machine: str, event: events.StoreLoaded) -> list[Finding]:
        self.gone.discard(machine)
        if event.broker_role == _SLAVE:
            self.masters.pop(machine, None)
        else:
            self.masters[machine] = _Master(machine, event, self.views)
        return []

    @hears(events.ProcessKilled, events.BrokerStopping)
    def _ends(self, machine: str, _: events.ProcessKilled | events.BrokerStopping) -> list[Finding]:
        self.masters.pop(machine, None)
        self.gone.add(machine)
        if machine in self.follows:
            self.follows.pop(machine).adrift.add(machine)
        return []

    @hears(events.MessageAppended, events.LogFlushed, events.LogExpired, events.SlaveConnected, events.ReplicaReported,
           events.ReplicaAnswered, events.SlaveDisconnected)
    def _at_master(self, machine: str, event: Any) -> list[Finding]:
        master = self.masters.get(machine)
        if master is None:
            if isinstance(event, events.LogExpired) and machine in self.follows:
                self.follows[machine].slave_expired(machine, event)
            return []
        found = _TAKES[event.__class__](master, event)
        if isinstance(event, events.SlaveConnected):
            self.follows[event.slave] = master
            master.adrift.update(self.gone & {event.slave})
        return found

    @hears(events.LogCopied)
    def _copied(self, machine: str, event: events.LogCopied) -> list[Finding]:
        master = self.follows.get(machine)
        return [] if master is None or machine in master.adrift else master.copied(machine, event)

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map."""
        master = self.masters.get(machine)
        if master is None or not (whole or master.monitor.moved or self.found):
            return []
        return self.unsaid(master.compare())


class _Master:
    """One life of a master.

    ends -- of each position, where it ends in the log. links -- connections and the slaves at their other ends, in the
    order of their coming. asking -- connections on which something was reported. waiting -- the end of a record to its
    message. adrift -- slaves that are not followed.
    """

    def __init__(self, machine: str, event: events.StoreLoaded, views: Views) -> None:
        self.machine, self.views = machine, views
        self.sync = event.broker_role == _SYNC_MASTER
        self.monitor = Monitor(OpenReading(Replicas.concept), (), NAME, visible=VISIBLE)
        self.value = self.monitor.value
        records = views.log_records(machine)
        self.records: list[StoredRecord | None] = [None, *records] if event.min_offset else [*records]
        self.ends = [event.min_offset if one is None else one.commit_log_offset + one.size for one in self.records]
        self.end_bytes = event.max_offset
        self.links: dict[str, str] = {}
        self.asking: set[str] = set()
        self.waiting: dict[int, int] = {}
        self.adrift: set[str] = set()
        end = len(self.ends)
        found: Writes = {("first",): self.place(event.min_offset), ("end",): end, ("flushed",): end}
        for place in range(end):
            found.update({("log", place): place, ("put", place): True, ("place", place): place})
        self.monitor.write(found)

    def place(self, offset: int) -> int:
        """How many positions of the log end at an offset or before it."""
        return bisect_right(self.ends, offset)

    def end(self) -> int:
        """Where the log ends: behind its last record, or behind the blank after that, which is reported nowhere."""
        has, file_bytes = self.views.replicated(self.machine), self.views.log_file_bytes(self.machine)
        file_end = -(-self.end_bytes // file_bytes) * file_bytes
        return file_end if has is not None and has.end >= file_end else self.end_bytes

    # The master -------------------------------------------------------------------------------------------------------

    def appended(self, event: events.MessageAppended) -> list[Finding]:
        """CommitLog#asyncPutMessage."""
        message, self.end_bytes = len(self.ends), event.commit_log_offset + event.size
        self.adrift.update(slave for slave in self.links.values() if self.value("copied", slave) > message)
        self.ends.append(self.end_bytes)
        self.records.append(StoredRecord(event.commit_log_offset, event.topic, event.queue_id, event.queue_offset,
                                         event.size, event.key))
        found = self.monitor.take(event, ("append", (message,)))
        if not (self.sync and event.waits):
            self.monitor.write({("waiting", message): False})
        elif self.value("waiting", message):
            self.waiting[self.end_bytes] = message
        return found

    def flushed(self, event: events.LogFlushed) -> list[Finding]:
        """MappedFileQueue#flush: of one file; the step is that of the round that comes to the end."""
        if event.offset == self.end_bytes and self.value("flushed") < self.value("end"):
            return self.monitor.take(event, ("flush", ()))
        self.monitor.write({("flushed",): self.place(event.offset)})
        return []

    def expired(self, event: events.LogExpired) -> list[Finding]:
        """MappedFileQueue#deleteExpiredFileByTime: a file is as many steps as it has records.

        The last file stays: where a full disk has taken no record of it, nothing is left of which the model would know.
        """
        found, first = list[Finding](), self.place(event.min_offset)
        for _ in range(self.value("first"), min(first, self.value("end") - 1)):
            step: Step = "expire", ()
            found += self.monitor.take(event, step if self.monitor.possible(step) else ("expire_unsent", ()))
        if first == self.value("end"):
            self.monitor.write({("first",): first})
        return found

    def answered(self, event: events.ReplicaAnswered) -> list[Finding]:
        """HAService.GroupTransferService#doWaitTransfer."""
        message = self.waiting.pop(event.next_offset, -1)
        return self.monitor.take(event, ("acknowledge" if event.status == _PUT_OK else "time_out", (message,)))

    # Its slaves -------------------------------------------------------------------------------------------------------

    def connected(self, event: events.SlaveConnected) -> list[Finding]:
        """HAService.AcceptSocketService#run: a former connection of the slave counts as ended."""
        slave, found = event.slave, list[Finding]()
        if self.value("connected", slave):
            found += self.monitor.take(event, ("disconnect", (slave,)))
        self.links[event.connection] = slave
        self._know(slave)
        return found + self.monitor.take(event, ("connect", (slave,)))

    def _know(self, slave: str) -> None:
        """Take over what a slave has, if these are records of the master."""
        begin, records = self.views.log_begin(slave), self.views.log_records(slave)
        copies = {self.place(one.commit_log_offset): one for one in records}
        self.adrift.discard(slave)
        end = records[-1].commit_log_offset + records[-1].size if records else max(begin, 0)
        mine = self.records
        if any(place >= len(mine) or mine[place] not in {None, one} for place, one in copies.items()) or (
                self.place(end) != max([*copies, self.place(max(begin, 0)) - 1]) + 1):
            self.adrift.add(slave)
            return
        self.monitor.write({
            ("filed", slave): begin >= 0, ("begin", slave): self.place(max(begin, 0)), ("copied", slave):
            self.place(end), **{("copy", slave, place): place for place in copies}})

    def disconnected(self, event: events.SlaveDisconnected) -> list[Finding]:
        """HAService#removeConnection."""
        is_last = self._last(self.links.get(event.connection)) == event.connection
        slave = self.links.pop(event.connection, None)
        if slave is None or not self.value("connected", slave):
            return []
        older = self._last(slave)
        if older is None:
            return self.monitor.take(event, ("disconnect", (slave,)))
        if is_last:  # and its slave has given up the older one, of which the master does not know
            self.adrift.add(slave)
            self.monitor.write({("asked", slave): older in self.asking})
        return []

    def _last(self, slave: str | None) -> str | None:
        """The connection of a slave that was made last."""
        return next((link for link, one in reversed(self.links.items()) if one == slave), None)

    def reported(self, event: events.ReplicaReported) -> list[Finding]:
        """HAConnection.ReadSocketService#processReadEvent."""
        slave, place = event.slave, self.place(event.offset)
        latest, end = self._last(slave), self.end()
        self.asking.add(event.connection)
        if latest != event.connection or slave in self.adrift:
            beyond = event.offset > end
            self.monitor.write({("push2slave",): max(self.value("push2slave"), 0 if beyond else place)})
            if latest == event.connection:
                self.monitor.write({("asked", slave): True})
            return []
        if self.value("asked", slave):
            step: Step = ("refuse", (slave,)) if event.offset > end else ("report", (slave, place))
            return self.monitor.take(event, step) if event.offset else []
        if event.offset:
            return self.monitor.take(event, ("ask", (slave,)))
        newest = self.place(self.end_bytes - self.end_bytes % self.views.log_file_bytes(self.machine))
        ways: list[list[Step]] = [[("ask_empty", (slave,))]]
        if newest > self.value("first"):
            ways.append([("ask_late", (slave, newest))])
        return self.monitor.follow(event, ways)

    def copied(self, slave: str, event: events.LogCopied) -> list[Finding]:
        """HAClient#dispatchReadRequest: of a frame that has come when its connection was over nothing is followed."""
        if event.offset != event.master_offset or not self.value("asked", slave) or (
                event.offset + event.size > self.end()):
            self.adrift.add(slave)
            return []
        if not event.size:
            return self.monitor.take(event, ("heartbeat", (slave,)))
        begin, end = self.place(event.offset), self.place(event.offset + event.size)
        found = list[Finding]()
        for _ in range(begin, end):
            found += self.monitor.take(event, ("transfer", (slave,)))
        return found + self._compare_copies(slave, event, begin, end)

    def _compare_copies(self, slave: str, event: events.LogCopied, begin: int, end: int) -> list[Finding]:
        """What a slave has appended is what the model says."""
        last = self.ends[begin - 1] if begin else 0
        theirs = self.views.log_records_from(slave, max(last, self.views.log_begin(slave)))
        seen: Writes = {("copied", slave): end, ("filed", slave): True,
                        ("begin", slave): self.place(max(self.views.log_begin(slave), 0))}
        for place, one in zip(range(begin, end), theirs, strict=False):
            seen["copy", slave, place] = place if self.records[place] == one else one
        looked: list[Cell] = [*seen, *(("copy", slave, place) for place in range(begin, end))]
        del event
        return self.monitor.compare(seen, looked)

    def slave_expired(self, slave: str, event: events.LogExpired) -> None:
        """A slave has deleted files of its own, of which the model has no step."""
        self.monitor.write({("begin", slave): self.place(event.min_offset)})

    # Tables -----------------------------------------------------------------------------------------------------------

    def compare(self) -> list[Finding]:
        """Compare with what the master has."""
        self.monitor.moved = False
        has = self.views.replicated(self.machine)
        if has is None:
            return []
        seen: Writes = {("first",): self.place(max(has.begin, 0)), ("end",): self.place(has.end),
                        ("flushed",): self.place(has.flushed), ("push2slave",): self.place(has.push2slave)}
        latest = {self.links.get(connection, connection): asked for connection, asked in has.slaves}
        for slave, asked in latest.items():
            seen["connected", slave] = True
            seen["asked", slave] = asked
        for end in has.waiting:
            seen["waiting", self.waiting.get(end, end)] = True
        slaves = dict.fromkeys((*self.monitor.reading.given.named["Slave"], *latest))
        looked: list[Cell] = [("first",), ("end",), ("flushed",), ("push2slave",),
                              *((name, slave) for name in ("connected", "asked") for slave in slaves),
                              *(("waiting", message) for message in self.waiting.values()), *seen]
        return self.monitor.compare(seen, looked)


_TAKES: dict[type, Callable[[_Master, Any], list[Finding]]] = {
    events.MessageAppended: _Master.appended, events.LogFlushed: _Master.flushed, events.LogExpired: _Master.expired,
    events.SlaveConnected: _Master.connected, events.ReplicaReported: _Master.reported,
    events.ReplicaAnswered: _Master.answered, events.SlaveDisconnected: _Master.disconnected,
}
