"""What the log of a broker has: what was acknowledged survives, and recovery gives back what was appended."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.names import MASTER_ID
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.match import Match, machine_of
from invariants.rules.past import place_of
from invariants.rules.rule import Kept, Rule, Told, after, on
from invariants.views import StoredRecord

_SUCCESS = 0
_ASYNC = "ASYNC_FLUSH"
_AGAIN = "a record again, which an earlier recovery had cut off,"
_OTHERWISE = "a record that says otherwise than the one that was appended"
_NEW, _NONE = "a record that nobody has appended", "no record"


def flushes_no_more(rule: Any, broker: str, lives: int = 1) -> bool:
    """Whether clean-up has deleted what a broker had not flushed, and it has flushed nothing since (V44).

    lives -- of its store: 1, the present one; 2, that before it.
    """
    loads = rule.past.of(events.StoreLoaded, at=broker)
    loaded = loads[-lives] if len(loads) >= lives else None
    flushed, expired = (rule.past.last(kind, since=place_of(loaded), at=broker)
                        for kind in (events.LogFlushed, events.LogExpired))
    begun = 0 if loaded is None else loaded.event.max_offset
    reached = begun if flushed is None else flushed.event.offset
    return expired is not None and 0 < reached < expired.event.min_offset


class crash_keeps_acknowledged(Rule):
    """An acknowledged message survives the end of its broker's process, with SYNC_FLUSH also a loss of power.

    What the broker has deleted to make room is not looked for. A buffer of a pool is lost with the process, and what a
    full disk does not take stays in it. With ASYNC_FLUSH, and of a message that is not to be waited for (WAIT), a force
    is promised in some seconds only, by a clock that is not set; a client that sends a copy for another try itself
    sends with it what the copy says that it was given.
    """

    judges = "acknowledged_survives_crash"
    shipped = "violated: V6 a force has failed and nobody minds, V44 nothing is flushed behind a clean-up"
    cite = "CommitLog#submitFlushRequest: isWaitStoreMsgOK, GroupCommitService#doCommit, CommitLog#recoverAbnormally"
    about = "broker key commit_log_offset"
    excuses = (
        cause("V6", "a force has failed at the broker", by=Match(events.ForceFailed, of="broker=at"), lasts=FOR_EVER),
        cause("V44", "the broker had deleted files that it had not flushed, and flushed nothing more",
              when=lambda rule, told: rule.has_lost_power(*told.about) and flushes_no_more(rule, told.about[0], 2)),
    )

    # What its producer was told: where it is, more than once if it was sent more than once; when it was appended.
    acknowledged = Kept(about, survives="all", begins=(
        Match(events.SendAnswered, of=about, having=lambda event: event.code == _SUCCESS),))
    appended_ms = Kept("at key commit_log_offset", survives="all", begins=(
        Match(events.MessageAppended, having=lambda event: event.key is not None),))
    unwaited_ms = Kept("at key commit_log_offset", survives="all", begins=(
        Match(events.MessageAppended, having=lambda event: event.key is not None and not event.waits),))
    powerless_ms = Kept("at", survives="all", begins=(
        Match(events.ProcessKilled, having=lambda event: event.power_loss),))
    # The beginning of the process that had the store last, its end, and for how long it has stood still.
    loaded_ms = Kept("at", survives="all")
    ended_ms = Kept("at", survives="all")
    still_ms = Kept("at", survives="all")

    @on(events.ProcessKilled)
    def ends(self, ms: int, at: str, event: events.ProcessKilled) -> None:
        del event
        if (at,) not in self.ended_ms:
            self.ended_ms[at,] = ms
            self.still_ms[at,] = self.facts.stood_still_ms(at, self.loaded_ms.get((at,), ms))

    @after(events.StoreLoaded)
    def loaded(self, ms: int, at: str, event: events.StoreLoaded) -> Iterator[Told]:
        forced, self.loaded_ms[at,] = self._forced(at), ms
        buffered_ms = self._buffered_since(at, event)
        there = {(one.key, one.commit_log_offset) for one in self.views.log_records(at)}
        for broker, key, offset in [one for one in self.acknowledged if one[0] == at]:
            if (key, offset) in there:
                continue
            del self.acknowledged[broker, key, offset]
            if self.appended_ms.get((at, key, offset), 0) >= buffered_ms:
                continue
            is_late = self.appended_ms.get((at, key, offset), -1) not in forced
            may_be_lost = is_late and self._may_be_lost(at, key, offset, event.flush_disk_type)
            if offset >= event.min_offset and not may_be_lost:
                yield self.told(f"{at} has recovered its log to {event.max_offset} without {key}, which it had "
                                f"acknowledged at {offset}", broker, key, offset)

    def _forced(self, at: str) -> range:
        """When the process that had the store last has put what it has forced by itself, in ms."""
        ended_ms, loaded_ms = self.ended_ms.get((at,), 0), self.loaded_ms.get((at,), 0)
        if self.past.of(events.ClockJumped, events.ClockDrifts, at=at):
            return range(0)
        return range(loaded_ms, ended_ms - self.still_ms.get((at,), 0) - deadlines.forced(self.bounds))

    def _buffered_since(self, at: str, event: events.StoreLoaded) -> float:
        """Since when what was put may have been in a buffer when the process that had the store was killed."""
        ended_ms, takes_ms = self.ended_ms.pop((at,), inf), deadlines.committed(self.bounds)
        if not self.views.buffers_log(at):
            return inf
        since_ms: float = inf if event.last_exit_ok else ended_ms - takes_ms  # who stops in order empties its buffers
        for full_ms, free_ms in reversed(self.facts.full.get((at,), ())):
            if full_ms <= ended_ms and free_ms >= min(since_ms, ended_ms):
                since_ms = min(since_ms, full_ms - takes_ms)
        return since_ms

    def _may_be_lost(self, at: str, key: str, offset: int, flush_disk_type: str) -> bool:
        """Whether nothing is promised of it: the machine lost its power when it was there, and nobody had forced it."""
        is_forced = flush_disk_type != _ASYNC and (at, key, offset) not in self.unwaited_ms
        return not is_forced and self.has_lost_power(at, key, offset)

    def has_lost_power(self, at: str, key: str, offset: int) -> bool:
        """Whether the machine has lost its power since it had a message."""
        lost_ms: float = self.powerless_ms.get((at,), -1)
        had_ms: float = self.appended_ms.get((at, key, offset), lost_ms)
        return had_ms <= lost_ms


class recovered_log_is_a_prefix(Rule):
    """A store that recovers has a prefix of the records that it had, and nothing that was cut off comes back.

    What is on a disk when its broker starts for the first time is taken for had.
    """

    judges = "recovery_is_a_prefix"
    shipped = "violated: V4 the bytes behind the end stay, V7 only bodies are checked"
    cite = "CommitLog#recoverNormally, #recoverAbnormally, MappedFileQueue#truncateDirtyFiles"
    about = "at what"
    excuses = (
        cause("V4", "what was cut off is there again", when=lambda _, told: told.about[1] == _AGAIN),
        cause("V7", "a record says otherwise than it did", when=lambda _, told: told.about[1] == _OTHERWISE),
    )

    # The records of a log by their offsets, and those that a recovery has cut off, with their offsets.
    logs = Kept("at", survives="all")
    cut = Kept("at", survives="all")

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> None:
        record = StoredRecord(event.commit_log_offset, event.topic, event.queue_id, event.queue_offset, event.size,
                              event.key)
        self.logs.setdefault((at,), {})[event.commit_log_offset] = record

    @on(events.LogCopied)
    def copied(self, _: int, at: str, event: events.LogCopied) -> None:
        """What a slave has copied it has appended."""
        del event
        log = self.logs.setdefault((at,), {})
        last = max(log, default=-1)
        known = 0 if last < 0 else last + log[last].size
        log.update({one.commit_log_offset: one for one in self.views.log_records_from(at, known)})

    @after(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> Iterator[Told]:
        found = {one.commit_log_offset: one for one in self.views.log_records(at)}
        had, cut = self.logs.get((at,), found), self.cut.setdefault((at,), set())
        # Files that the broker has deleted come back when a loss of power takes back that they were.
        deleted = {offset: one for offset, one in had.items() if offset < event.min_offset}
        self.logs[at,] = deleted | found
        wrong = next((one for offset, one in sorted(found.items()) if one != had.get(offset)), None)
        if wrong is not None:
            what = _AGAIN if wrong in cut else _OTHERWISE if wrong.commit_log_offset in had else _NEW
            yield self.told(f"{at} has {what} at {wrong.commit_log_offset}", at, what)
        missing = [one for offset, one in had.items() if offset not in found and event.min_offset <= offset]
        behind = next((one for one in missing if any(offset > one.commit_log_offset for offset in found)), None)
        if behind is not None:
            yield self.told(f"{at} has no record at {behind.commit_log_offset}, and has some behind it", at, _NONE)
        cut.update(missing)


class visible_is_durable(Rule):
    """What a consumer has found at a broker is still there when the broker starts again.

    What the broker has deleted to make room is not looked for.
    """

    shipped = "violated: V16 dispatch does not wait for the flush"
    cite = "DefaultMessageStore.ReputMessageService#doReput"
    about = "at mq"

    # Masters that run, by name and machine; whom a client has pulled a queue from last; the offset behind the greatest
    # that was found, by queue and machine; where in the log each message of a queue is.
    asked = Kept("at group mq", begins=(events.PullSuspended,), value=lambda _, event: machine_of(event.asked))
    masters = Kept("broker_name broker", machine="broker", begins=(
        Match(events.BrokerStarted, having=lambda event: event.broker_id == MASTER_ID),))
    seen = Kept("mq machine", survives="all")
    placed = Kept("at topic queue_id queue_offset", survives="all",
                  value=lambda _, event: event.commit_log_offset, begins=(events.MessageAppended,))

    @on(events.MessagesFound)
    def finds(self, _: int, at: str, event: events.MessagesFound) -> None:
        name = event.mq.broker_name
        masters = [machine for known, machine in self.masters if known == name] or [name]
        asked = self.asked.get((at, event.group, event.mq), masters[0])
        if masters == [asked]:  # of two nobody knows which one was asked, and who leads now may not have been
            key = event.mq, masters[0]
            self.seen[key] = max(event.offsets[-1] + 1, self.seen.get(key, 0))

    @after(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> Iterator[Told]:
        for (mq, _), seen in [one for one in self.seen.items() if one[0][1] == at]:
            stored = self.views.stored_at(at, mq.topic, mq.queue_id)
            end = 0 if stored is None else stored.max_offset
            if end < seen:
                self.seen[mq, at] = end
                if self.placed.get((at, mq.topic, mq.queue_id, seen - 1), event.min_offset) < event.min_offset:
                    continue
                yield self.told(f"{at} starts with queue {mq.queue_id} of {mq.topic} up to {end}, and a consumer had "
                                f"found what is before {seen}", at, mq)


class store_loads_after_a_crash(Rule):
    """Whatever a crash has left of its files, a store loads again."""

    shipped = "violated: V22 a file without content prevents it"
    cite = "MappedFileQueue#load, BrokerController#initialize"
    about = "at"
    excuses = (
        Excuse("files of others fill its disk", by=Match(events.DiskFilled, having=lambda event: event.percent > 0),
               lasts=FOR_EVER, until=Match(events.DiskFilled, having=lambda event: event.percent == 0)),
        Excuse("a force has just failed", by=Match(events.ForceFailed, of="at")),
    )

    @on(events.StoreRefused)
    def refused(self, _: int, at: str, event: events.StoreRefused) -> Iterator[Told]:
        del event
        yield self.told(f"{at} does not come up", at)


class orderly_end_is_noted(Rule):
    """Where nothing fails a store that was shut down in order is not recovered as after a crash."""

    cite = "DefaultMessageStore#shutdown: abort, #load: isTempFileExist"
    about = "at"
    calm = True

    ended_ms = Kept("at", survives="kill", begins=(events.BrokerShutDown,))

    @on(events.StoreLoaded)
    def loads(self, _: int, at: str, event: events.StoreLoaded) -> Iterator[Told]:
        ended_ms = self.ended_ms.pop((at,), None)
        if ended_ms is not None and not event.last_exit_ok:
            yield self.told(f"{at} looks through its log as after a crash, and it was shut down in order", at,
                            since_ms=ended_ms)
