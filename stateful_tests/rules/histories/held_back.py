"""Written histories of listeners that commit themselves."""

from __future__ import annotations

from typing import Any

import invariants.rules.held_back  # noqa: F401  # declares its rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    MessagesAnswered,
    MessagesGiven,
    OffsetCorrected,
    OffsetReset,
    OffsetSent,
    OffsetUpdated,
    QueueDropped,
    QueueTaken,
)
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Written

C, C2, G, ID = "c1", "c2", "G", "c1@1"
MQ, MQ2 = MessageQueue("orders", "broker-a", 0), MessageQueue("orders", "broker-a", 1)
CALM = Bounds()
Told = tuple[int, str, Any]


def given(ms: int, *offsets: int, at: str = C, mq: MessageQueue = MQ) -> Told:
    """A listener is given messages."""
    zeros = (0,) * len(offsets)
    return ms, at, MessagesGiven(G, mq, offsets, tuple(f"k{offset}" for offset in offsets), zeros, 16, True)


def answered(ms: int, answer: str, *offsets: int, at: str = C, mq: MessageQueue = MQ) -> Told:
    """It says what becomes of them."""
    keys = tuple(f"k{offset}" for offset in offsets)
    return ms, at, MessagesAnswered(G, mq, offsets, keys, (answer,) * len(offsets))


def sent(ms: int, offset: int, *, at: str = C, mq: MessageQueue = MQ) -> Told:
    """Its client commits."""
    return ms, at, OffsetSent(ID, G, mq, offset)


def updated(ms: int, offset: int, mq: MessageQueue = MQ) -> Told:
    """Its client remembers an offset."""
    return ms, C, OffsetUpdated(ID, G, mq, offset)


TAKEN = (1, C, QueueTaken(ID, G, MQ, 4))
AGAIN, DROPPED = (4, C, QueueTaken(ID, G, MQ, 4)), (4, C, QueueDropped(ID, G, MQ, True))
MOVED = AGAIN, (4, C, OffsetReset(ID, G, MQ, 4)), (4, C, OffsetCorrected(ID, G, MQ, 4))
HOLDS = TAKEN, given(2, 4, 5), answered(3, "HELD", 4, 5)
HOLDS_MORE = *HOLDS, given(3, 6), answered(4, "HELD", 6)
ROLLS_BACK = *HOLDS, given(3, 6), answered(4, "ROLLBACK", 4, 5, 6)

HISTORIES = (
    Written("held_back_is_not_committed", (*HOLDS, sent(5, 5)), (*HOLDS, sent(5, 4)), says="holds 4 back"),
    Written("held_back_is_not_committed", (*HOLDS_MORE, sent(5, 7)), (*HOLDS_MORE, sent(5, 4)), says="holds 4 back"),
    Written("held_back_is_not_committed", (*HOLDS, given(4, 6), answered(5, "LATER", 6), sent(6, 6)),
            (*HOLDS, given(4, 6), answered(5, "SUCCESS", 4, 5, 6), sent(6, 7))),
    Written("held_back_is_not_committed", (*HOLDS, sent(5, 6)),
            (*HOLDS, given(4, 6), answered(5, "ROLLBACK", 4, 5, 6), sent(6, 7))),
    Written("held_back_is_not_committed", (*HOLDS, sent(5, 6)),
            (*HOLDS, sent(5, 6, at=C2), sent(6, 6, mq=MQ2))),
    Written("held_back_is_not_committed", (*HOLDS, DROPPED, sent(5, 6)),  # its listener has ended with another holding
            (TAKEN, given(2, 4, 5), AGAIN, answered(5, "HELD", 4, 5), sent(6, 6))),
    *(Written("held_back_is_not_committed", (*HOLDS, sent(5, 6)), (*HOLDS, one, sent(5, 6))) for one in MOVED),
    Written("committed_by_hand_is_remembered", (*HOLDS, answered(6, "SUCCESS", 4, 5), updated(7, 5)),
            (*HOLDS, answered(6, "SUCCESS", 4, 5), updated(7, 6)), bounds=CALM, says="does not remember 6"),
    Written("committed_by_hand_is_remembered", (*HOLDS_MORE, answered(6, "SUCCESS", 4, 5, 6), updated(7, 7, MQ2)),
            (*HOLDS_MORE, updated(5, 7)), bounds=CALM, says="does not remember 7"),
    Written("committed_by_hand_is_remembered", (*HOLDS, answered(6, "SUCCESS", 4, 5)),
            (TAKEN, given(2, 4, 5), answered(3, "SUCCESS", 4, 5), given(4, 6), answered(5, "SUCCESS", 6)), bounds=CALM),
    Written("committed_by_hand_is_remembered", (*HOLDS, answered(6, "SUCCESS", 4, 5)),
            (*HOLDS, given(4, 6), answered(5, "LATER", 6)), bounds=CALM),
    Written("committed_by_hand_is_remembered", (*HOLDS, answered(6, "SUCCESS", 4, 5)),
            (TAKEN, DROPPED, answered(5, "HELD", 4, 5), answered(6, "SUCCESS", 4, 5)), bounds=CALM),
    Written("committed_by_hand_is_remembered", (*HOLDS, answered(6, "SUCCESS", 4, 5)),
            (*HOLDS, given(4, 7), answered(6, "SUCCESS", 7)), bounds=CALM),  # what was held is another member's
    *(Written("committed_by_hand_is_remembered", (*HOLDS, answered(6, "SUCCESS", 4, 5)),
              (*HOLDS, one, answered(6, "SUCCESS", 4, 5)), bounds=CALM) for one in (*MOVED, DROPPED)),
    Written("rolled_back_comes_first", (*ROLLS_BACK, given(5, 6)), (*ROLLS_BACK, given(5, 4, 5), given(6, 6)),
            says="rolled back what it was given from 4 on"),
    Written("rolled_back_comes_first", (*ROLLS_BACK, given(5, 7)), (*ROLLS_BACK, given(5, 3), given(6, 7))),
    Written("rolled_back_comes_first", (*ROLLS_BACK, given(5, 7)),
            (*ROLLS_BACK, given(5, 7, at=C2), given(6, 7, mq=MQ2), given(7, 4))),
    Written("rolled_back_comes_first", (*ROLLS_BACK, given(5, 7)),
            (TAKEN, given(2, 4, 5), AGAIN, answered(5, "ROLLBACK", 4, 5), given(6, 7))),
    Written("rolled_back_comes_first", (*ROLLS_BACK, given(5, 7)),
            (*HOLDS, given(3, 6), answered(4, "SUCCESS", 4, 5, 6), given(5, 7))),
    *(Written("rolled_back_comes_first", (*ROLLS_BACK, given(5, 7)), (*ROLLS_BACK, one, given(5, 7))) for one in MOVED),
)
