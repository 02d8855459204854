"""What began a finding: the last deeds and faults before it, and where they are unknown the last request of people."""

from __future__ import annotations

from collections.abc import Sequence

from impl import events as e
from invariants.pictures.log import Log
from invariants.pictures.marks import FAULT
from invariants.pictures.past import Past
from invariants.pictures.rows import Row

TRIGGERS: tuple[type, ...] = (
    e.ConsumerStarted, e.ConsumerStopping, e.BrokerStarted, e.BrokerStopping, e.OffsetsReset,
    e.SubscriptionGroupDeleted, e.TopicConfigDeleted, e.TopicDeleted, e.WritePermWiped, e.WritePermAdded, e.KVConfigPut,
)
"""Events that say what somebody has done: a program was started or stopped, an operator gave an order."""
_TOGETHER_MS = 50
"""Deeds within this time count as one."""


def began(log: Log, past: Past, rows: Sequence[Row], earlier: float) -> list[Row]:
    """The rows that began what the last of them shows; rows -- of its past, in their order.

    earlier -- the place that it contradicts, -1: none. What was done since then has begun it; else the last that was
    done before. Of a machine that is driven by hand each request is a deed.
    """
    past_of = [row for row in rows[:-1] if row.place != earlier] or [*rows[-1:]]
    willed = [row for row in past_of if _is_deed(row)]
    found = willed or [row for row in past_of if _by_hand(log, past, row)][-1:]
    return [row for row in found if row.place > earlier] or _last(found) or past_of[:1]


def _last(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if rows[-1].time_ms - row.time_ms <= _TOGETHER_MS]


def _is_deed(row: Row) -> bool:
    again = isinstance(row.event, e.ProcessStarted) and row.event.incarnation > 1
    return again or row.kind == FAULT or isinstance(row.event, TRIGGERS)


def _by_hand(log: Log, past: Past, row: Row) -> bool:
    """Whether a row says what came of the request of a machine that reports nothing by itself."""
    request = None if row.event is None else past.handles(int(row.place))
    return request is not None and request.source not in log.speaking
