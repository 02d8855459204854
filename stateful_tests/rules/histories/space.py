"""Written histories of brokers whose disks are filled by files of others."""

from __future__ import annotations

from typing import Any

import invariants.rules.space  # noqa: F401  # declares the rules
from impl.events import DiskFilled, ForceFailed, LogCopied, LogExpired, MessageAppended, ProcessKilled, StoreLoaded
from invariants.rules import deadlines
from invariants.views import Replicated
from stateful_tests.rules.written import STORMY, Tables, Turns, Written

B = "broker-a"
Told = tuple[int, str, Any]
SEEN_MS = deadlines.space_seen(STORMY)
MINUTE_MS = deadlines.FIRST_CLEAN_UP_MS
LATE_MS = MINUTE_MS + deadlines.room_made(STORMY)
GIVEN_BACK_MS = deadlines.given_back(STORMY)


def appended(ms: int, offset: int = 0, at: str = B) -> Told:
    """The broker appends a message."""
    return ms, at, MessageAppended(at, "orders", 0, 0, offset, 100, "k")


def copied(ms: int, offset: int) -> Told:
    """The broker copies what its master has."""
    return ms, B, LogCopied(B, offset, offset, 100)


def expired(ms: int, begin: int, at: str = B) -> Told:
    """The broker deletes what is before."""
    return ms, at, LogExpired(at, begin)


def files(*clock_ms: int, of: tuple[tuple[int, int], ...] = ()) -> Tables:
    """A log of files of 100 bytes, kept for 50 ms; clock_ms -- what the clock says each time. of -- where and when."""
    clocks = Turns(*clock_ms)
    return Tables(log_files=of, log_file_bytes=100, file_reserved_ms=50, clocks=clocks, clock=lambda _: clocks)


def loaded(ms: int, least: int = 0) -> Told:
    """The store has recovered."""
    return ms, B, StoreLoaded(B, least, 1_000, "SYNC_FLUSH")


def filled(ms: int, percent: int, at: str = B) -> Told:
    """The disk is so full."""
    return ms, at, DiskFilled(percent)


def ends(ms: int) -> Told:
    """The process of the broker ends."""
    return ms, B, ProcessKilled(1, power_loss=False)


def log(begin: int, end: int, *, before: int | None = None, is_old: bool = False, hour: bool = False) -> Tables:
    """A log of files of 100 bytes; before -- where it began when its disk was filled; hour -- it is one to delete."""
    was = begin if before is None else before
    return Tables(log_begin=was, log_file_bytes=100, log_is_old=is_old, deletes_at_this_hour=hour,
                  replicated=Replicated(begin, end, 0, 0, (), ()))


FULL = loaded(0), filled(1, 91)
FULL_LATE = loaded(0), filled(MINUTE_MS + 9, 86)
FORCE_FAILED = ForceFailed("store/commitlog/0", lost=True)
NOW_MS = SEEN_MS + 2
LONG, OLD = log(0, 101), log(0, 101, is_old=True)
THREE_FILES = (0, 10), (100, 11), (200, 60)

HISTORIES = (
    Written("full_disk_refuses_writes", broken=(*FULL, appended(NOW_MS)), kept=(*FULL, appended(NOW_MS - 1)),
            says=f"{SEEN_MS + 1} ms after"),
    Written("full_disk_refuses_writes", broken=(*FULL, filled(NOW_MS, 86), appended(NOW_MS + 1)),
            kept=(*FULL, filled(NOW_MS, 85), appended(NOW_MS + 1))),
    Written("full_disk_refuses_writes", broken=(*FULL, filled(2, 95), appended(NOW_MS)),
            kept=(*FULL, filled(NOW_MS - 1, 86), filled(NOW_MS - 1, 91), appended(NOW_MS + 1))),
    Written("full_disk_refuses_writes", broken=(*FULL, loaded(3), appended(3 + SEEN_MS + 1)),
            kept=(*FULL, loaded(3), appended(3 + SEEN_MS))),
    Written("full_disk_refuses_writes", broken=(*FULL, appended(NOW_MS), filled(NOW_MS, 88)),
            kept=(*FULL, filled(NOW_MS, 90), loaded(NOW_MS + 1), appended(3 * NOW_MS))),
    Written("full_disk_refuses_writes", broken=(loaded(0), filled(0, 91), appended(NOW_MS)),
            kept=(loaded(0), filled(1, 90), appended(NOW_MS))),
    Written("full_disk_refuses_writes", broken=(*FULL, appended(NOW_MS)),
            kept=(*FULL, (2, B, ProcessKilled(1, power_loss=False)), appended(NOW_MS))),
    # The first pass comes a minute after the start, the others every ten seconds.
    Written("full_disk_makes_room", broken=(loaded(0), filled(1, 86)), kept=(loaded(0), filled(1, 85)), views=LONG,
            says="its log still begins at 0"),
    Written("full_disk_makes_room", broken=(loaded(0), filled(1, 76)), kept=(loaded(0), filled(1, 75)), views=OLD),
    Written("full_disk_makes_room", broken=(loaded(0), filled(1, 86)), kept=(loaded(0), filled(1, 86)), views=LONG,
            kept_views=log(0, 100)),
    Written("full_disk_makes_room", broken=(loaded(0), filled(1, 86)), kept=(loaded(0), filled(1, 86)),
            views=log(100, 201), kept_views=log(100, 201, before=0)),
    Written("full_disk_makes_room", broken=(loaded(0), filled(1, 86)), kept=(loaded(0), filled(1, 86)), views=LONG,
            kept_views=Tables(log_begin=0, log_file_bytes=1, replicated=None)),
    Written("full_disk_makes_room", broken=(loaded(0), filled(1, 86), appended(LATE_MS + 1), filled(LATE_MS + 2, 0)),
            kept=(loaded(0), filled(1, 86), appended(LATE_MS), filled(LATE_MS + 2, 85)), views=LONG),
    Written("full_disk_makes_room", views=LONG,
            broken=(loaded(0), filled(MINUTE_MS + 9, 86), appended(LATE_MS + 10), filled(LATE_MS + 11, 0)),
            kept=(loaded(0), filled(MINUTE_MS + 9, 86), appended(LATE_MS + 9), filled(LATE_MS + 11, 0))),
    Written("full_disk_makes_room", broken=(filled(0, 86), loaded(1)), views=LONG,
            kept=(filled(0, 86), filled(1, 85), loaded(2))),
    Written("full_disk_makes_room", broken=(*FULL, (2, "broker-b", ProcessKilled(1, power_loss=False))),
            kept=(*FULL, (2, B, ProcessKilled(1, power_loss=False))), views=LONG),
    Written("full_disk_makes_room", broken=(loaded(0), filled(1, 86), filled(2, 0, "broker-b")),
            kept=(filled(0, 86),), views=LONG),
    Written("full_disk_makes_room", broken=(loaded(0), filled(1, 86), (2, "broker-b", FORCE_FAILED)),
            kept=(loaded(0), filled(1, 86), (2, B, FORCE_FAILED)), views=LONG),
    # The first file can go from when there is a second one.
    *(Written("full_disk_makes_room", views=LONG,
              broken=(*FULL_LATE, grows(MINUTE_MS + 10, within), appended(LATE_MS + 10, 300), filled(LATE_MS + 13, 0)),
              kept=(*FULL_LATE, grows(MINUTE_MS + 10, beyond), appended(LATE_MS + 10, 300), filled(LATE_MS + 13, 0)))
      for grows in (appended, copied) for within, beyond in ((0, 1), (101, 100))),
    Written("full_disk_makes_room", views=LONG,
            broken=(*FULL_LATE, appended(MINUTE_MS + 10, 1), appended(LATE_MS + 11, 300), filled(LATE_MS + 13, 0)),
            kept=(*FULL_LATE, appended(MINUTE_MS + 10, 1), appended(LATE_MS + 10, 300), filled(LATE_MS + 13, 0))),
    *(Written("old_files_go_at_their_hour", (loaded(0),), (loaded(0),), log(0, 101, is_old=True, hour=True), kept)
      for kept in (log(0, 100, is_old=True, hour=True), log(0, 101, hour=True), OLD,
                   Tables(log_file_bytes=1, log_is_old=True, deletes_at_this_hour=True, replicated=None))),
    *(Written("old_files_go_at_their_hour", (loaded(0), *broken), (loaded(0), *kept),
              log(0, 101, is_old=True, hour=True))
      for broken, kept in (((appended(LATE_MS + 1), ends(LATE_MS + 2)), (appended(LATE_MS), ends(LATE_MS + 2))),
                           (((1, "broker-b", FORCE_FAILED),), ((1, B, FORCE_FAILED),)))),
    # Where a file is written to at 10 by the clock of the broker, and goes at 59 or 60.
    *(Written("young_files_stay", broken=(writes, expired(1, 100)), kept=(writes, expired(1, 100)),
              views=files(10, 59), kept_views=files(10, 60), says="49 ms after")
      for writes in (appended(0), appended(0, 99), copied(0, 99))),
    Written("young_files_stay", broken=(loaded(0), expired(1, 200)), kept=(loaded(0), expired(1, 200)),
            views=files(60, of=THREE_FILES), kept_views=files(61, of=THREE_FILES),
            says="49 ms after"),
    Written("young_files_stay", broken=(loaded(0), appended(1), expired(2, 100)), kept=(loaded(0), expired(2, 100)),
            views=files(10, 20, of=((0, -90),)), kept_views=files(20, of=((0, -90),))),
    Written("young_files_stay", broken=(appended(0, 100), expired(1, 200)), kept=(appended(0, 100), expired(1, 100)),
            views=files(10, 20)),
    Written("young_files_stay", broken=(appended(0), expired(1, 100), appended(2, 100), expired(3, 200)),
            kept=(appended(0), expired(1, 100), expired(2, 200)), views=files(10, 20),
            kept_views=files(10, 60, 20)),
    Written("young_files_stay", broken=(appended(0), expired(1, 100)), kept=(appended(0), loaded(1), expired(2, 100)),
            views=files(10, 20)),
    Written("young_files_stay", broken=(appended(0), expired(1, 100)), kept=(appended(0), expired(1, 100)),
            views=files(10, 20), kept_views=Tables(clock=None, log_file_bytes=100)),
    *(Written("young_files_stay", broken=(*others, appended(3), expired(4, 100)),
              kept=(filled(0, 86), appended(3), expired(4, 100)), views=files(10, 20))
      for others in ((filled(0, 85),), (filled(0, 86, "broker-b"),))),
    Written("young_files_stay", broken=(filled(0, 95), filled(1, 85), appended(2), expired(2 + GIVEN_BACK_MS, 100)),
            kept=(filled(0, 95), filled(1, 85), appended(2), expired(1 + GIVEN_BACK_MS, 100)), views=files(10, 20)),
    Written("young_files_stay", kept=(filled(0, 95), filled(1, 85), filled(2, 0), appended(3), expired(4, 100)),
            broken=(filled(0, 95), filled(1, 85), filled(GIVEN_BACK_MS, 0), appended(3),
                    expired(2 + GIVEN_BACK_MS, 100)),
            views=files(10, 20)),
)
