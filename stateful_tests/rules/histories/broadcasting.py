"""Written histories of broadcasting consumers and their files."""

from __future__ import annotations

from typing import Any

import invariants.rules.beginnings  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerStarted,
    ConsumerStopping,
    DiskFilled,
    MessagesFound,
    MessagesSettled,
    OffsetCorrected,
    OffsetsWritten,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueueTaken,
)
from stateful_tests.rules.written import Written

MQ = MessageQueue("orders", "broker-a", 0)
C, G = "c1", "G"
BROADCASTING = (0, C, ConsumerStarted(C, G, "BROADCASTING", orderly=False))
TAKEN = (1, C, QueueTaken(C, G, MQ, 100))
FOUND = (2, C, MessagesFound(C, G, MQ, (100,)))
SETTLED = (3, C, MessagesSettled(C, G, MQ, (100,)))
DROPPED = (4, C, QueueDropped(C, G, MQ))
STOPPING, SOON = (100_000, C, ConsumerStopping(C, G)), (4, C, ConsumerStopping(C, G))
BEGINS = (200_000, C, QueueTaken(C, G, MQ, 100))
CORRECTED = (5, C, OffsetCorrected(C, G, MQ, 101))
DIES = (2, C, ProcessKilled(1, power_loss=False))
FULL = (0, C, DiskFilled(100))
LOST_POWER = (2, C, ProcessKilled(1, power_loss=True))


def written(ms: int, *offsets: tuple[MessageQueue, int]) -> tuple[int, str, Any]:
    """The file is written."""
    return ms, C, OffsetsWritten(C, G, offsets)


ENDED = (BROADCASTING, TAKEN, FOUND, SETTLED)

def at_end(*records: tuple[int, str, Any], causes: tuple[str, ...] = ()) -> Written:
    """A broadcasting consumer begins before the offset where it was, because of this."""
    return Written("broadcaster_goes_on_where_it_ended", (*records, BEGINS), causes=causes)


HISTORIES = (
    Written("broadcaster_goes_on_where_it_ended", (*ENDED, written(5, (MQ, 101)), STOPPING, BEGINS),
            (BROADCASTING, TAKEN, FOUND, STOPPING, BEGINS)),
    Written("broadcaster_goes_on_where_it_ended", (*ENDED, STOPPING, written(100_001), BEGINS)),
    Written("broadcaster_goes_on_where_it_ended", (*ENDED, SOON, BEGINS),
            (*ENDED, SOON, (5, C, ProcessKilled(1, power_loss=True)), BEGINS)),
    Written("broadcaster_goes_on_where_it_ended", (BROADCASTING, TAKEN, CORRECTED, BEGINS)),
    Written("broadcaster_goes_on_where_it_ended", (BROADCASTING, TAKEN, CORRECTED, written(6, (MQ, 101)), BEGINS),
            (TAKEN, CORRECTED, BEGINS)),
    Written("broadcaster_goes_on_where_it_ended",
            (BROADCASTING, FULL, (4, C, DiskFilled(0)), TAKEN, CORRECTED, BEGINS),
            (BROADCASTING, FULL, TAKEN, CORRECTED, (6, C, DiskFilled(0)), BEGINS)),
    Written("broadcaster_goes_on_where_it_ended",
            (BROADCASTING, TAKEN, CORRECTED, written(6, (MQ, 101)), (7, C, DiskFilled(100)), BEGINS),
            (BROADCASTING, TAKEN, CORRECTED, written(6), (7, C, DiskFilled(100)), BEGINS)),
    Written("file_keeps_its_offsets", (written(1, (MQ, 5)), written(2, (MQ, 4))),
            (written(1, (MQ, 5)), written(2, (MQ, 6)))),
    Written("file_keeps_its_offsets", (written(1, (MQ, 5)), written(2))),
    Written("file_keeps_its_offsets", (written(1, (MQ, 5)), DIES, written(2, (MQ, 4))),
            (written(1, (MQ, 5)), LOST_POWER, written(2, (MQ, 4)))),
    Written("file_keeps_its_offsets", (BROADCASTING, BROADCASTING, written(1, (MQ, 5)), written(2, (MQ, 4)))),
    at_end(*ENDED, written(5, (MQ, 101)), STOPPING),
    at_end(*ENDED, DROPPED, STOPPING, written(100_001), causes=("L10",)),
    at_end(*ENDED, STOPPING, written(100_001)),
    at_end(*ENDED, DROPPED, STOPPING, written(100_001), written(100_002, (MQ, 100))),
    at_end(*ENDED, (67_002, *SOON[1:]), causes=("X15",)),
    at_end(*ENDED, (67_003, *SOON[1:])),
    *(at_end(*ENDED, (5, at, ProcessPaused(1_000)), (ms, *SOON[1:]), causes=causes) for at, ms, causes in (
        (C, 68_002, ("X15",)), (C, 68_003, ()), ("c2", 67_003, ()))),
    at_end(BROADCASTING, TAKEN, CORRECTED, causes=("U16",)),
    at_end(BROADCASTING, TAKEN, CORRECTED, written(6, (MQ, 100)), causes=("U16",)),
    at_end(BROADCASTING, TAKEN, CORRECTED, written(6, (MQ, 101))),
    Written("file_keeps_its_offsets", (written(1, (MQ, 5)), written(2, (MQ, 4))),
            (written(1, (MQ, 5)), written(2, (MQ, 5))), causes=(), says="has 4 of"),
    Written("file_keeps_its_offsets", (written(1, (MQ, 5)), written(2)), causes=("L10",), says="has nothing of"),
    Written("file_keeps_its_offsets", (written(1, (MQ, 5)), TAKEN, written(2)), causes=("L10",)),
    Written("file_keeps_its_offsets", (TAKEN, written(2, (MQ, 5)), written(3)), causes=()),
    Written("file_keeps_its_offsets", (TAKEN, written(2, (MQ, 5)), DROPPED, written(100_001)), causes=("L10",)),
)
