"""What brokers do when files of others fill their disks: they take no messages, and delete what is old."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on


class full_disk_refuses_writes(Rule):
    """While its disk is fuller than 90 % a broker appends nothing, until the disk is at 85 % or less again.

    It looks at its disk every ten seconds.
    """

    shipped = "violated: V24 another check ends it at 90 %"
    cite = "CleanCommitLogService#isSpaceToDelete, DefaultMessageStore#checkStoreStatus"
    about = "at"
    excuses = (
        Excuse("its process stood still shortly before", by=Match(events.ProcessPaused, of="at"),
               lasts=deadlines.space_seen),
    )

    # How full the disk is, in percent; since when it has been too full, and since when the store has been loaded.
    percent = Kept("at", survives="all", begins=(events.DiskFilled,), value=lambda _, event: event.percent)
    full_ms = Kept("at", survives="all")
    loaded_ms = Kept("at", begins=(events.StoreLoaded,))

    @on(events.DiskFilled)
    def filled(self, ms: int, at: str, event: events.DiskFilled) -> None:
        if event.percent > deadlines.FULL_PERCENT:
            self.full_ms.setdefault((at,), ms)
        elif event.percent <= deadlines.FREE_PERCENT or not self._knows(ms, at):
            self.full_ms.pop((at,), None)

    @on(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> None:
        del event
        if self.percent.get((at,), 0) <= deadlines.FULL_PERCENT:  # what a process knew ends with it
            self.full_ms.pop((at,), None)

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        del event
        if self._knows(ms, at):
            yield self.told(f"{at} appends a message {ms - self.full_ms[at,]} ms after its disk was full", at)

    def _knows(self, ms: int, at: str) -> bool:
        """Whether the broker has seen that its disk was full, and has not seen enough space since."""
        since_ms = max(self.full_ms.get((at,), ms), self.loaded_ms.get((at,), ms))
        return bool(ms - since_ms > deadlines.space_seen(self.bounds))


_NOTHING_IS_FORCED = Excuse(
    "a force has failed shortly before: with all repairs what is deleted is forced first",
    by=Match(events.ForceFailed, of="at"), lasts=deadlines.room_made)


class full_disk_makes_room(Duty):
    """A broker whose disk is fuller than 75 % deletes the oldest file of its log, beyond 85 % also if it is young.

    Young is what has changed in the last three days, or as the broker is configured. It makes a pass every ten seconds,
    the first one a minute after its start. The last file of a log stays, so that a pass may come in vain before the log
    has another one.
    """

    cite = "CleanCommitLogService#deleteExpiredFiles, MappedFileQueue#deleteExpiredFileByTime"
    about = "at"
    within_ms = deadlines.room_made
    excuses = (_NOTHING_IS_FORCED,)
    late = "the disk of {at} has been too full for {waited_ms} ms, and its log still begins at {what}"

    # How full the disk is, in percent; when the store was loaded.
    percent = Kept("at", survives="all", begins=(events.DiskFilled,), value=lambda _, event: event.percent)
    loaded_ms = Kept("at", begins=(events.StoreLoaded,))

    @after(events.DiskFilled, events.StoreLoaded)
    def fills(self, ms: int, at: str, event: events.DiskFilled | events.StoreLoaded) -> None:
        del event
        percent = self.percent.get((at,), 0)
        if percent <= deadlines.USED_PERCENT or (percent <= deadlines.FREE_PERCENT and not self.views.log_is_old(at)):
            self.pay((at,))
        elif (at,) in self.loaded_ms:
            self.owe((at,), ms, self.views.log_begin(at))
            self.count_from((at,), self.loaded_ms[at,] + deadlines.FIRST_CLEAN_UP_MS)

    @on(events.MessageAppended, events.LogCopied)
    def grows(self, ms: int, at: str, event: events.MessageAppended | events.LogCopied) -> None:
        if (at,) in self.owed:
            begin = event.offset if isinstance(event, events.LogCopied) else event.commit_log_offset
            second = self.views.log_begin(at) + self.views.log_file_bytes(at)
            if begin <= second < begin + event.size:
                self.count_from((at,), ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        log, file_bytes = self.views.replicated(key[0]), self.views.log_file_bytes(key[0])
        is_done = log is None or log.begin > what or log.end - log.begin <= file_bytes
        return None if is_done else super().broken(key, what, waited_ms)


class old_files_go_at_their_hour(Duty):
    """In the hours of deleteWhen a broker deletes the files of its log to which it has not written for long.

    Long is three days, or as the broker is configured, by its own clock. It makes a pass every ten seconds, the first
    one a minute after its start. The last file of a log stays.
    """

    cite = "CleanCommitLogService#isTimeToDelete, #deleteExpiredFiles, MappedFileQueue#deleteExpiredFileByTime"
    about = "at"
    within_ms = deadlines.room_made
    excuses = (_NOTHING_IS_FORCED,)
    late = "{at} has been up for {waited_ms} ms at an hour of deleteWhen, and the first file of its log is old"

    @after(events.StoreLoaded)
    def loaded(self, ms: int, at: str, event: events.StoreLoaded) -> None:
        del event
        self.owe((at,), ms)
        self.count_from((at,), ms + deadlines.FIRST_CLEAN_UP_MS)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        at, = key
        log = self.views.replicated(at)
        has_one_file = log is None or log.end - log.begin <= self.views.log_file_bytes(at)
        is_due = self.views.deletes_at_this_hour(at) and self.views.log_is_old(at) and not has_one_file
        return super().broken(key, what, waited_ms) if is_due else None


class young_files_stay(Rule):
    """A broker whose disk is not fuller than 85 % deletes no file of its log to which it has written lately.

    Lately is in the last three days, or as the broker is configured, by its own clock.
    """

    cite = "CleanCommitLogService#isSpaceToDelete, #deleteExpiredFiles, MappedFileQueue#deleteExpiredFileByTime"
    about = "at"
    excuses = (Excuse("its disk is fuller, or was so shortly before: a file that was read then may go as late as that",
                      when=lambda rule, told: rule.was_full(*told.about)),)

    # Until when the disk was, or is, fuller; and when each file of the log was written to, by the clock of the broker.
    full_ms = Kept("at", survives="all")
    files = Kept("at")

    def was_full(self, at: str) -> bool:
        """Whether the disk was fuller than 85 % so lately that a file which is given back now may go for that."""
        return bool(self.past.records[-1][0] - self.full_ms.get((at,), -inf) <= deadlines.given_back(self.bounds))

    @on(events.DiskFilled)
    def filled(self, ms: int, at: str, event: events.DiskFilled) -> None:
        if event.percent > deadlines.FREE_PERCENT:
            self.full_ms[at,] = inf
        elif self.full_ms.get((at,)) == inf:
            self.full_ms[at,] = ms

    @after(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> None:
        del event
        self.files[at,] = dict(self.views.log_files(at))

    @after(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> None:
        self._writes(at, event.commit_log_offset)

    @after(events.LogCopied)
    def copied(self, _: int, at: str, event: events.LogCopied) -> None:
        self._writes(at, event.offset)

    def _writes(self, at: str, offset: int) -> None:
        clock = self.views.clock(at)
        if clock is not None:
            self.files.setdefault((at,), {})[offset - offset % self.views.log_file_bytes(at)] = clock()

    @on(events.LogExpired)
    def expires(self, _: int, at: str, event: events.LogExpired) -> Iterator[Told]:
        files, clock = self.files.get((at,), {}), self.views.clock(at)
        gone = [files.pop(begin) for begin in sorted(files) if begin < event.min_offset]
        ages_ms = [clock() - written_ms for written_ms in gone if clock is not None]
        if ages_ms and min(ages_ms) < self.views.file_reserved_ms(at):
            yield self.told(f"{at} deletes a file of its log {min(ages_ms)} ms after it was written to", at)
