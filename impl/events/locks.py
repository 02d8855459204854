"""What brokers and clients report of the locks of queues."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue


class LockGranted(NamedTuple):
    """RebalanceLockManager: the entry has the client's id and the time of now.

    fast -- without the lock (then another client may have taken the entry over: `holder` says whose id it has).
    """

    broker: str
    group: str
    mq: MessageQueue
    client_id: str
    holder: str
    fast: bool


class LockReleased(NamedTuple):
    """RebalanceLockManager#unlockBatch removed an entry; client_id -- who asked for it, and had it on 4.9.3."""

    broker: str
    group: str
    mq: MessageQueue
    client_id: str


class LockBelieved(NamedTuple):
    """ProcessQueue#setLocked; True also sets lastLockTimestamp."""

    client_id: str
    group: str
    mq: MessageQueue
    locked: bool


class RenewalRefused(NamedTuple):
    """RebalanceImpl#lockAll: a broker has answered, and not granted the locks of these queues."""

    client_id: str
    group: str
    mqs: frozenset[MessageQueue]


class LocksAnswered(NamedTuple):
    """AdminBrokerProcessor#lockBatchMQ: the answer; asked, granted -- queues."""

    broker: str
    group: str
    client_id: str
    asked: frozenset[MessageQueue]
    granted: frozenset[MessageQueue]


class LocksHeard(NamedTuple):
    """MQClientAPIImpl#lockBatchMQ: the answer of a broker has come in time; mqs -- the queues that were asked for."""

    client_id: str
    group: str
    mqs: frozenset[MessageQueue]
