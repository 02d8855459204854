"""Written histories of brokers whose disks are filled by files of others."""

from __future__ import annotations

from typing import Any

import invariants.rules.space  # noqa: F401  # declares the rules
from impl.events import DiskFilled, ForceFailed, MessageAppended, ProcessKilled, StoreLoaded
from invariants.rules import deadlines
from invariants.views import Replicated
from stateful_tests.rules.written import STORMY, Tables, Written

B = "broker-a"
Told = tuple[int, str, Any]
SEEN_MS = deadlines.space_seen(STORMY)
MINUTE_MS = deadlines.FIRST_CLEAN_UP_MS
LATE_MS = MINUTE_MS + deadlines.room_made(STORMY)


def appended(ms: int) -> Told:
    """The broker appends a message."""
    return ms, B, MessageAppended(B, "orders", 0, 0, 0, 100, "k")


def loaded(ms: int, least: int = 0) -> Told:
    """The store has recovered."""
    return ms, B, StoreLoaded(B, least, 1_000, "SYNC_FLUSH")


def filled(ms: int, percent: int, at: str = B) -> Told:
    """The disk is so full."""
    return ms, at, DiskFilled(percent)


def log(begin: int, end: int, *, before: int | None = None, is_old: bool = False) -> Tables:
    """A log of files of 100 bytes; before -- where it began when its disk was filled."""
    was = begin if before is None else before
    return Tables(log_begin=was, log_file_bytes=100, log_is_old=is_old, replicated=Replicated(begin, end, 0, 0, (), ()))


FULL = loaded(0), filled(1, 91)
FORCE_FAILED = ForceFailed("store/commitlog/0", lost=True)
NOW_MS = SEEN_MS + 2
LONG, OLD = log(0, 101), log(0, 101, is_old=True)

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
)
