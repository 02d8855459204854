"""What began a finding: the last deeds and faults before it, and where they are unknown the last request of people."""

from __future__ import annotations

from collections.abc import Sequence

from impl import events as e
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX, is_system_topic
from impl.events.ownership import DEFAULT_STRATEGY
from invariants.pictures.log import Log
from invariants.pictures.marks import FAULT
from invariants.pictures.moments import Moments
from invariants.pictures.past import Past
from invariants.pictures.rows import Row

TRIGGERS: tuple[type, ...] = (
    e.ConsumerStarted, e.ConsumerStopping, e.ConsumerSuspended, e.NameServersReplaced, e.OffsetsLeftOut,
    e.BrokerStarted, e.BrokerStopping, e.OffsetsReset, e.SubscriptionGroupDeleted, e.TopicConfigDeleted, e.TopicDeleted,
    e.WritePermWiped, e.WritePermAdded, e.KVConfigPut, e.ResetReceived,
    e.TopicUnsubscribed, e.TopicLeft, e.TopicTakenAgain, e.OffsetFoundIllegal, e.OrderGiven,
)
"""Events that say what somebody has done: a program was started or stopped, an operator gave an order."""
LASTING: tuple[type, ...] = (e.PartitionBegan, e.ForceFailed, e.DiskFilled)
"""Faults whose effect comes to light later: they count although something else has been so since."""
_AT_ONCE_MS, _MEANWHILE_MS, _MOST = 50, 15_000, 3
"""Deeds within the first time count as one, with faults before them within the second; so many at most."""


def began(log: Log, past: Past, rows: Sequence[Row], at: Moments) -> list[Row]:
    """The rows that began what the last of them shows; rows -- of its past, in their order.

    at -- the moments of the finding. What was done since the earlier one has begun it, with deeds that belong to the
    finding, and settings; else the last that was done before. Of a machine that is driven by hand each request is a
    deed.
    """
    earlier = -1 if at.earlier is None else at.earlier
    before = [*rows[:-1]] or [*rows]
    willed = [row for row in before if _is_deed(row)]
    since = [row for row in willed if row.place > earlier or row.place in at.last or isinstance(row.event, LASTING)]
    chosen = since or _last(willed) or _by_hand(log, past, rows) or before[:1]
    return [row for row in rows if row in chosen or has_settings(row.event)]


def _last(rows: Sequence[Row]) -> list[Row]:
    """The last of them, with those of the same time, and with what still holds something up."""
    return [row for row in rows if rows[-1].time_ms - row.time_ms <= (
        _MEANWHILE_MS if row.kind == FAULT or isinstance(row.event, e.ResetReceived) else _AT_ONCE_MS)][-_MOST:]


def _is_deed(row: Row) -> bool:
    return row.kind == FAULT or is_willed(row.event)


def is_willed(event: object) -> bool:
    """Whether an event says what somebody has done; topics for retries are made by heartbeats."""
    if isinstance(event, e.ProcessStarted):
        return event.incarnation > 1
    if isinstance(event, e.TopicConfigUpdated):
        return not event.topic.startswith(RETRY_GROUP_TOPIC_PREFIX) and not is_system_topic(event.topic)
    return isinstance(event, TRIGGERS)


def has_settings(event: object) -> bool:
    """Whether an event says that something was started with other settings than most have."""
    return (isinstance(event, e.BrokerStarted) and bool(event.settings)) or (
        isinstance(event, e.ConsumerStarted) and event.strategy != DEFAULT_STRATEGY)


def is_unseen(event: object) -> bool:
    """Whether an event says what an application has done with its consumer and has told nobody of."""
    return isinstance(event, e.TopicUnsubscribed | e.TopicLeft | e.ResetReceived)


def _by_hand(log: Log, past: Past, rows: Sequence[Row]) -> list[Row]:
    """The first row of the last request, of a machine that reports nothing by itself, that is no repetition."""
    requests = [(row, past.handles(int(row.place))) for row in rows if row.event is not None]
    asked = [(row, request) for row, request in requests if request is not None and request.source not in log.speaking]
    news = [(row, request) for row, request in asked if _is_new(log, row)] or asked
    return [row for row, request in news if request is news[-1][1]][:1]


def _is_new(log: Log, row: Row) -> bool:
    """Whether the machine has not reported just the same before."""
    known = log.places.get((row.at, row.event.__class__), ())
    return all(place >= row.place or log.records[place][2] != row.event for place in known)
