"""What slaves have of their masters' logs: brokers of one name are replicas, whoever of them is the master now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from impl.decisions.names import MASTER_ID
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, cause
from invariants.rules.match import Match
from invariants.rules.past import said
from invariants.rules.rule import Ascription, Duty, Kept, Promise, Rule, Told, after, on
from invariants.rules.weather import clock_was_set
from invariants.views import StoredRecord

_SUCCESS, _SYNC_MASTER, _SLAVE = 0, "SYNC_MASTER", "SLAVE"
_BEYOND = "has another record there, which it had when its master had lost its own"
_SHIFTED = "has records at other places than its master"
_OTHER = "has another record there"
_DELETED, _BEHIND = "what comes next is gone", "it has not come so far"
_NEWEST = "it was not sent what its master had before that"
_FIRST = "has what the first file of its master begins with"
_GONE, _BEGINS_LATER, _NEVER = "has lost it", "begins behind it", "never had it"


class _Logs(Rule):
    """The records of all logs: what masters have appended, slaves have copied, and starts have found."""

    # By machine: the records by their offsets. A file that is deleted stays here. What a start has found lost is gone.
    logs = Kept("at", survives="all")
    roles = Kept("at", survives="all", begins=(events.StoreLoaded,), value=lambda _, event: event.broker_role)
    # Slaves that have appended a frame elsewhere than it begins (V32), and masters that have started with less (V11).
    shifted = Kept("at", survives="all", begins=(
        Match(events.LogCopied, having=lambda event: event.offset != event.master_offset),))
    shorter = Kept("at", survives="all")

    @on(events.MessageAppended)
    def keeps_appended(self, _: int, at: str, event: events.MessageAppended) -> None:
        self.log(at)[event.commit_log_offset] = StoredRecord(
            event.commit_log_offset, event.topic, event.queue_id, event.queue_offset, event.size, event.key)

    @on(events.LogCopied)
    def keeps_copied(self, _: int, at: str, event: events.LogCopied) -> None:
        del event
        log = self.log(at)
        last = max(log, default=-1)
        known = 0 if last < 0 else last + log[last].size
        log.update({one.commit_log_offset: one for one in self.views.log_records_from(at, known)})

    @on(events.StoreLoaded)
    def keeps_found(self, ms: int, at: str, event: events.StoreLoaded) -> None:
        log = self.log(at)
        if any(offset >= event.max_offset for offset in log):
            self.shorter[at,] = ms
        found = {one.commit_log_offset: one for one in self.views.log_records(at)}
        self.logs[at,] = {offset: one for offset, one in log.items() if offset < event.min_offset} | found

    def log(self, at: str) -> dict[int, StoredRecord]:
        """The records of a machine, in the order of their coming."""
        found: dict[int, StoredRecord] = self.logs.setdefault((at,), {})
        return found

    def otherwise(self, master: str, event: events.LogCopied) -> str:
        """What a slave has that was sent something else than what its master had there."""
        first = next(iter(self.views.log_records(master)), None)
        gone = first is not None and first.commit_log_offset > 0
        return _FIRST if gone and not event.master_offset else _OTHER

    def others(self, at: str) -> Iterator[str]:
        """The other brokers of the same name that have, or had, a log."""
        name = self.facts.broker_name(at)
        return (other for (other,) in self.logs if other != at and self.facts.broker_name(other) == name)


class slave_has_its_masters_records(_Logs):
    """Where a slave's log and its master's have a record, it is the same."""

    judges = "slave_log_is_a_prefix"
    shipped = ("violated: V11 a slave beyond its master, V25 offset 0 stands for the first file, "
               "V32 a slave with an empty file, V33 a full disk has zeros instead")
    cite = "HAConnection.WriteSocketService#run, HAClient#dispatchReadRequest"
    about = "at what"
    excuses = (
        cause("V11", "its master has started with less than it had", when=lambda _, told: told.about[1] == _BEYOND),
        cause("V32", "a frame was appended elsewhere", when=lambda _, told: told.about[1] == _SHIFTED),
        cause("V25", "its master was asked for offset 0, and sent what its first file has",
              when=lambda _, told: told.about[1] == _FIRST),
        cause("V33", "files of others filled the disk of the slave", by=Match(events.DiskFilled, of="at"),
              lasts=FOR_EVER),
    )

    @after(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        mine = self.log(at)[event.commit_log_offset]
        for slave in self.others(at):
            theirs = self.log(slave).get(event.commit_log_offset)
            if theirs not in {None, mine} and self.roles.get((slave,)) == _SLAVE:
                yield self._told(slave, at, mine.commit_log_offset)

    @after(events.LogCopied)
    def copied(self, _: int, at: str, event: events.LogCopied) -> Iterator[Told]:
        new = [one for one in self.log(at).values() if one.commit_log_offset + one.size > event.offset]
        for master in self.others(at):
            log = self.log(master)
            wrong = next((one for one in new if log.get(one.commit_log_offset, one) != one), None)
            if wrong is not None and self.roles.get((master,)) != _SLAVE:
                yield self._told(at, master, wrong.commit_log_offset, self.otherwise(master, event))
        yield from self._bytes(at, event)

    def _bytes(self, at: str, event: events.LogCopied) -> Iterator[Told]:
        """What was copied is what a master has where it says that it begins; of several one is enough."""
        copied = self.views.log_bytes(at, event.offset, event.size)
        masters = [one for one in self.others(at) if self.roles.get((one,)) != _SLAVE]
        there = {one: self.views.log_bytes(one, event.master_offset, len(copied)) for one in masters}
        whole = [one for one in masters if len(there[one]) == len(copied)]
        if whole and copied not in there.values():
            yield self._told(at, whole[0], event.master_offset)

    def _told(self, slave: str, master: str, offset: int, otherwise: str = _OTHER) -> Told:
        what = _SHIFTED if (slave,) in self.shifted else _BEYOND if (master,) in self.shorter else otherwise
        return self.told(f"{master} has a record at {offset}, and {slave} {what}", slave, what)


class copies_are_where_they_were_put(_Logs):
    """A slave has each message at the position at which the master has put it."""

    judges = "copies_keep_their_place"
    shipped = "violated: V25 offset 0 stands for the first file, V32 a slave with an empty file"
    cite = "HAClient#dispatchReadRequest, CommitLog#appendData"
    about = "at what"
    excuses = (
        cause("V32", "a frame was appended elsewhere", when=lambda _, told: told.about[1] == _SHIFTED),
        cause("V25", "its master was asked for offset 0, and sent what its first file has",
              when=lambda _, told: told.about[1] == _FIRST),
    )

    @after(events.LogCopied)
    def copied(self, _: int, at: str, event: events.LogCopied) -> Iterator[Told]:
        new = [one for one in self.log(at).values()
               if one.commit_log_offset + one.size > event.offset and one.key is not None]
        for master in (one for one in self.others(at) if self.roles.get((one,)) != _SLAVE):
            placed: dict[str | None, list[int]] = {}  # a message that is sent again, or comes again, is there twice
            for one in self.log(master).values() if new else ():
                placed.setdefault(one.key, []).append(one.commit_log_offset)
            wrong = next((one for one in new if one.commit_log_offset not in placed.get(one.key, [
                one.commit_log_offset])), None)
            if wrong is not None:
                what = _SHIFTED if (at,) in self.shifted else self.otherwise(master, event)
                yield self.told(f"{at} has {wrong.key} at {wrong.commit_log_offset}, and {master} has put it at "
                                f"{placed[wrong.key][0]}", at, what)


class acknowledged_is_copied(_Logs):
    """A message that was acknowledged under SYNC_MASTER, and is in the master's log, is in a slave's log, too."""

    judges = "acknowledged_message_is_on_the_slave"
    shipped = "violated: V11 a slave beyond its master, V29 an empty slave, V34 a slave that loses its end"
    cite = "CommitLog#submitReplicaRequest, HAService.GroupTransferService#doWaitTransfer"
    about = "broker key what"
    excuses = (
        cause("V34", "a slave had it, and has lost its power", when=lambda _, told: told.about[2] == _GONE),
        cause("V29", "a slave was sent the newest file only", when=lambda _, told: told.about[2] == _BEGINS_LATER),
        cause("V11", "a slave has something else there", when=lambda _, told: told.about[2] == _BEYOND),
        cause("V32", "a slave has records at other places", when=lambda _, told: told.about[2] == _SHIFTED),
    )

    # Where its producer was told that it is, under SYNC_MASTER; a slave that has had it, and when it was seen there.
    acknowledged = Kept("broker key", survives="all")
    seen = Kept("broker key", survives="all")

    @after(events.SendAnswered)
    def answered(self, _: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        del at
        if event.code == _SUCCESS and self.roles.get((event.broker,)) == _SYNC_MASTER:
            key = event.broker, event.key
            self.acknowledged[key] = event.commit_log_offset
            yield from self._missing(key)

    @after(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> Iterator[Told]:
        del event
        name = self.facts.broker_name(at)
        for key in [key for key in self.acknowledged if self.facts.broker_name(key[0]) == name]:
            yield from self._missing(key)

    def _missing(self, key: tuple[str, str]) -> Iterator[Told]:
        (broker, uniq_key), offset = key, self.acknowledged[key]
        mine = self.log(broker).get(offset)
        if mine is None or mine.key != uniq_key:
            del self.acknowledged[key]  # the master has lost it, or something else is there
            return
        if any(self.log(other).get(offset) == mine for other in self.others(broker)):
            self.seen[key] = True
            return
        del self.acknowledged[key]
        what = self._why(broker, offset, had=key in self.seen)
        yield self.told(f"{broker} has {uniq_key} at {offset}, has acknowledged it, and each slave {what}", *key, what)

    def _why(self, broker: str, offset: int, *, had: bool) -> str:
        """What a slave has instead."""
        logs = [self.log(other) for other in self.others(broker)]
        if any((other,) in self.shifted for other in self.others(broker)):
            return _SHIFTED
        if had or any((other,) in self.shorter for other in self.others(broker)):
            return _GONE
        if (broker,) in self.shorter:
            return _BEYOND
        return _BEGINS_LATER if any(log and min(log) > offset for log in logs) else _NEVER


class slave_keeps_its_connection(Rule):
    """As long as master and slave run and nothing fails, the connection on which the log is copied lasts."""

    cite = "HAService.HAClient#isTimeToReportOffset, HAConnection.ReadSocketService#run"
    about = "broker slave"
    calm = True

    # Whose connections there are while both sides run.
    joined = Kept(about, machine="broker", begins=(events.SlaveConnected,), ends=(
        Match(events.ProcessKilled, of="slave=at"), Match(events.BrokerStopping, of="slave=broker"),
        Match(events.BrokerStopping, of="broker")))

    @on(events.SlaveDisconnected)
    def ends(self, ms: int, at: str, event: events.SlaveDisconnected) -> Iterator[Told]:
        del at
        since_ms = self.joined.pop((event.broker, event.slave), None)
        if since_ms is not None:
            yield self.told(f"the connection of {event.slave} to {event.broker} ends after {ms - since_ms} ms",
                            event.broker, event.slave)


class silent_slave_is_disconnected(Duty):
    """A master closes the connection of a slave whose process stands still as soon as it is silent for 20 s.

    Puts that wait for a slave are told from then on that there is none.
    """

    cite = "HAConnection.ReadSocketService#run: haHousekeepingInterval"
    about = "at slave connection"
    within_ms = deadlines.silent_slave_gone
    paid_by = (events.SlaveDisconnected,)
    excuses = (clock_was_set("at"),)
    late = "{at} keeps the connection {connection} of {slave}, whose process stands still for {waited_ms} ms"

    connected = Kept("at slave connection", begins=(events.SlaveConnected,), ends=(events.SlaveDisconnected,))

    @on(events.ProcessPaused)
    def falls_silent(self, ms: int, at: str, event: events.ProcessPaused) -> None:
        lasts = event.ms > deadlines.silent_slave_gone(self.bounds)
        for key in [key for key in self.connected if key[1] == at and lasts]:
            self.owe(key, ms)

    @on(events.WorldHealed)
    def goes_on(self, *_: Any) -> None:
        """What stood still goes on then."""
        for key in [*self.connected]:
            self.pay(key)


def _is_never_told(rule: Any, told: Told) -> bool:
    """Whether a connection to the slave has broken at its master alone since the slave has connected last."""
    slave, master, _ = told.about
    connected = rule.past.last(events.SlaveConnected, broker=master, slave=slave)
    return connected is not None and any(one.event.seen_after_ms is None for one in rule.past.of(
        events.ConnectionSevered, since=connected.place, at=master, other=slave))


class slave_catches_up_in_time(Promise, _Logs):
    """A slave that stays connected has all of its master's log at last, when nothing more is put."""

    judges = "lagging_slave_catches_up"
    shipped = ("violated: V20 a slave behind the first file, V29 an empty slave gets the newest file only, V37 its "
               "connection is dead")
    about = "at broker what"
    within_ms = deadlines.connected_again
    excuses = (
        cause("V20", "its master has deleted what comes next", when=lambda _, told: told.about[2] == _DELETED),
        cause("V29", "a slave was sent the newest file only", when=lambda _, told: told.about[2] == _NEWEST),
        cause("V37", "the connection on which it was sent the log last has broken, and nobody has told it",
              when=_is_never_told),
    )

    # When a master has appended its records: time and offset, the oldest first. Slaves whose logs have begun, and
    # those that were not sent all that a master had then.
    put_ms = Kept("at", survives="all")
    begun = Kept("at", survives="all")
    lacking = Kept("at master", survives="all")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        self.put_ms.setdefault((at,), []).append((ms, event.commit_log_offset))

    @after(events.LogCopied)
    def begins(self, ms: int, at: str, event: events.LogCopied) -> None:
        """What a master has deleted before that, and may have again after a loss of power, was not to be sent."""
        if event.size and (at,) not in self.begun:
            self.begun[at,] = ms
            for master in self.others(at):
                first = next(iter(self.views.log_records(master)), None)
                if first is not None and first.commit_log_offset < event.offset:
                    self.lacking[at, master] = ms

    @after(events.StoreLoaded)
    def loses_all(self, _: int, at: str, event: events.StoreLoaded) -> None:
        if not event.max_offset:
            self.begun.pop((at,), None)
            self.lacking.drop(lambda key: key[0] == at)

    def wrong(self) -> Iterator[Told]:
        """See Promise: what a master has put for some time is there."""
        brokers = [one for one in self.views.brokers() if (one.machine,) in self.logs]
        for slave in (one for one in brokers if one.broker_id != MASTER_ID):
            for master in brokers:
                if master.broker_id == MASTER_ID and master.broker_name == slave.broker_name:
                    yield from self._behind(slave.machine, master.machine)

    def _behind(self, slave: str, master: str) -> Iterator[Told]:
        put = self.put_ms.get((master,), [])
        old = [offset for ms, offset in put if ms <= put[-1][0] - deadlines.copied(self.bounds)]
        end = max(self.log(slave), default=-1)
        first = next(iter(self.views.log_records(master)), None)
        if (slave, master) in self.lacking and first is not None and first.commit_log_offset < min(self.log(slave)):
            yield self.told(f"{slave} has nothing before {min(self.log(slave))}, and {master} has a record at "
                            f"{first.commit_log_offset}", slave, master, _NEWEST)
        elif old and end < old[-1]:
            what = _DELETED if first is not None and end < first.commit_log_offset - 1 else _BEHIND
            yield self.told(f"{slave} has nothing behind {end}, and {master} has put a record at {old[-1]}",
                            slave, master, what)


class replicas_do_no_step_of_their_model(Ascription):
    """A full disk takes nothing of what a slave copies."""

    judges = "refines_replication"
    excuses = (
        cause("V33", "files of others filled the disk of the slave",
              when=lambda rule, found: any(one.at == said(found, "slave") for one in rule.past.of(events.DiskFilled))),
    )
