"""Written histories of the logs of brokers: what was acknowledged, recovered, seen."""

from __future__ import annotations

from typing import Any

import invariants.rules.stored_logs  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerShutDown,
    BrokerStarted,
    ClockDrifts,
    ClockJumped,
    DiskFilled,
    ForceFailed,
    LogCopied,
    LogExpired,
    LogFlushed,
    MessageAppended,
    MessagesFound,
    ProcessKilled,
    ProcessPaused,
    PullSuspended,
    SendAnswered,
    StoreLoaded,
    StoreRefused,
)
from invariants.rules import deadlines
from invariants.views import QueueRange, StoredRecord
from stateful_tests.rules.written import STORMY, Tables, Turns, Written

B, P, C = "broker-a", "producer1", "consumer1"
Told = tuple[int, str, Any]
MQ, ELSEWHERE = MessageQueue("orders", B, 0), MessageQueue("orders", "broker-b", 0)


def record(offset: int, key: str = "k1", queue_offset: int = 0, size: int = 100) -> StoredRecord:
    """A record of the queue."""
    return StoredRecord(offset, "orders", 0, queue_offset, size, key)


def appended(ms: int, offset: int, key: str = "k1", queue_offset: int = 0) -> Told:
    """The broker appends it."""
    return ms, B, MessageAppended(B, "orders", 0, queue_offset, offset, 100, key)


def answered(ms: int, offset: int, key: str = "k1", code: int = 0) -> Told:
    """The producer is answered."""
    return ms, P, SendAnswered(B, "orders", 0, 0, offset, key, code)


def loaded(ms: int, least: int = 0, end: int = 0, how: str = "SYNC_FLUSH") -> Told:
    """The store of the broker has recovered."""
    return ms, B, StoreLoaded(B, least, end, how)


def lost(ms: int, *, power_loss: bool = True) -> Told:
    """The broker ends."""
    return ms, B, ProcessKilled(1, power_loss)


def filled(ms: int, percent: int = 100) -> Told:
    """So much of the disk of the broker is full."""
    return ms, B, DiskFilled(percent)


def has(*records: StoredRecord) -> Tables:
    """What the log has."""
    return Tables(log_records=records)


def copies(*records: StoredRecord) -> Tables:
    """What the log has, and from where on a slave copies it."""
    return Tables(log_records=records,
                  log_records_from=lambda _, least: [one for one in records if one.commit_log_offset >= least])


def found(ms: int, *offsets: int, mq: MessageQueue = MQ) -> Told:
    """A consumer finds messages."""
    return ms, C, MessagesFound("c1@1", "G", mq, offsets)


def up_to(end: int) -> Tables:
    """Where the queue ends."""
    return Tables(stored_at=QueueRange(0, end))


def paused(ms: int, at: str = B) -> tuple[int, str, Any]:
    """A process stands still for a millisecond."""
    return ms, at, ProcessPaused(1)


def asks(whom: tuple[str, str, int]) -> tuple[int, str, Any]:
    """A member asks this machine, for this group, for messages of this queue."""
    machine, group, queue_id = whom
    return 1, C, PullSuspended("c1@1", group, MessageQueue("orders", B, queue_id), 0, f"{machine}:10911")


SENT = (appended(1, 100), answered(2, 100))
ONE, TWO = record(100), record(200, "k2", 1)
BOTH = (appended(1, 100), appended(2, 200, "k2", 1))
OTHER = (3, "broker-b", StoreLoaded("broker-b", 0, 0, "SYNC_FLUSH"))
REFUSED = (3, B, StoreRefused(B))
STARTED = (0, B, BrokerStarted(B, B, 0))
MASTER, SLAVE = "broker-a-master", "broker-a-slave"
PAIR = (0, MASTER, BrokerStarted(MASTER, B, 0)), (0, SLAVE, BrokerStarted(SLAVE, B, 1))
LOADED = StoreLoaded(B, 0, 0, "SYNC_FLUSH")
CLOSED = (1, B, BrokerShutDown(B))
OTHERWISE, COPIED = record(0, "k9"), (2, B, LogCopied(B, 0, 0, 100))

BUFFERED = Tables(**has().answers, buffers_log=True)
COMMITTED_MS, FORCED_MS = deadlines.committed(STORMY), deadlines.forced(STORMY)

UNWAITED = (1, B, appended(1, 100)[2]._replace(waits=False))
STOPPED_WELL = (100_000, B, StoreLoaded(B, 0, 0, "SYNC_FLUSH", last_exit_ok=True))
KILLED, FREE_MS = lost(90_000, power_loss=False), 90_000 - COMMITTED_MS

HISTORIES = (
    Written("crash_keeps_acknowledged", broken=(*SENT, lost(3), loaded(4)), views=has(),
            kept=(*SENT, lost(3), loaded(4)), kept_views=has(ONE), causes=(), says="without k1"),
    Written("crash_keeps_acknowledged", broken=(*SENT, lost(3), loaded(4)), views=has(record(300)),
            kept=(*SENT, lost(3), loaded(4, least=101)), kept_views=has()),
    Written("crash_keeps_acknowledged", broken=(*SENT, lost(3), loaded(4, least=100)), views=has(),
            kept=(appended(1, 100), answered(2, 100, code=10), lost(3), loaded(4)), kept_views=has()),
    Written("crash_keeps_acknowledged", broken=(*SENT, lost(3, power_loss=False), loaded(4, how="ASYNC_FLUSH")),
            views=has(), kept=(*SENT, lost(3), loaded(4, how="ASYNC_FLUSH")), kept_views=has()),
    Written("crash_keeps_acknowledged",
            broken=(lost(1), appended(2, 100), answered(3, 100), lost(4, power_loss=False),
                    loaded(5, how="ASYNC_FLUSH")), views=has(),
            kept=(appended(1, 100), lost(1), answered(3, 100), loaded(5, how="ASYNC_FLUSH")), kept_views=has()),
    # V44: the process that has ended had deleted what it had not flushed.
    *(Written("crash_keeps_acknowledged", broken=(loaded(0), (0, B, LogFlushed(B, 50)), *before, *SENT, end, loaded(4)),
              views=has(), causes=causes) for before, end, causes in (
        (((0, B, LogExpired(B, 60)),), lost(3), ("V44",)), (((0, B, LogExpired(B, 50)),), lost(3), ()),
        (((0, B, LogExpired(B, 60)), loaded(0, 60, 60)), lost(3), ()),
        (((0, B, LogExpired(B, 60)),), lost(3, power_loss=False), ()))),
    Written("crash_keeps_acknowledged", broken=(*SENT, OTHER, loaded(4)), views=has(), kept=(*SENT, OTHER),
            kept_views=has()),
    Written("crash_keeps_acknowledged", broken=(*SENT, lost(COMMITTED_MS + 2, power_loss=False), loaded(100_000)),
            kept=(*SENT, lost(COMMITTED_MS + 1, power_loss=False), lost(99_000, power_loss=False), loaded(100_000)),
            views=BUFFERED, kept_views=BUFFERED),
    Written("crash_keeps_acknowledged", views=BUFFERED, kept_views=BUFFERED,
            broken=(*SENT, lost(3, power_loss=False), (4, B, StoreLoaded(B, 0, 0, "SYNC_FLUSH", last_exit_ok=True))),
            kept=(*SENT, lost(3, power_loss=False), loaded(4))),
    # What nobody waits for is forced in some seconds by the process that has put it.
    *(Written("crash_keeps_acknowledged",
              broken=(loaded(0, how=how), first, SENT[1], lost(FORCED_MS + 2), loaded(900_000, how=how)), views=has(),
              kept=(loaded(0, how=how), first, SENT[1], lost(FORCED_MS + 1), loaded(900_000, how=how)))
      for how, first in (("ASYNC_FLUSH", SENT[0]), ("SYNC_FLUSH", UNWAITED))),
    Written("crash_keeps_acknowledged", views=has(),
            broken=(loaded(0, how="ASYNC_FLUSH"), *SENT, paused(9, "broker-b"), lost(FORCED_MS + 2),
                    loaded(900_000, how="ASYNC_FLUSH")),
            kept=(loaded(0, how="ASYNC_FLUSH"), *SENT, paused(9), lost(FORCED_MS + 2),
                  loaded(900_000, how="ASYNC_FLUSH"))),
    *(Written("crash_keeps_acknowledged", broken=(*SENT, *there, lost(800_000), loaded(900_000, how="ASYNC_FLUSH")),
              views=has(), kept=(*SENT, *kept, lost(800_000), loaded(900_000, how="ASYNC_FLUSH")), kept_views=has())
      for there, kept in (((), ((3, B, ClockJumped(5)),)),
                          (((3, "broker-b", ClockDrifts(5)),), ((3, B, ClockDrifts(5)),)),
                          ((lost(700_000, power_loss=False),), (lost(3, power_loss=False),)))),
    Written("crash_keeps_acknowledged",
            broken=(loaded(0), *SENT, lost(800_000), loaded(900_000, how="ASYNC_FLUSH")), views=has(),
            kept_views=has(ONE), kept=(loaded(0), *SENT, lost(3, power_loss=False), loaded(4, how="ASYNC_FLUSH"))),
    # A message that is not to be waited for: nobody forces it.
    Written("crash_keeps_acknowledged", broken=(*SENT, lost(3), loaded(4)), views=has(),
            kept=(UNWAITED, SENT[1], lost(3), loaded(4)), kept_views=has()),
    Written("crash_keeps_acknowledged", broken=(UNWAITED, SENT[1], lost(3, power_loss=False), loaded(4)), views=has(),
            kept=(UNWAITED, SENT[1], lost(3), loaded(4)), kept_views=has()),
    # Who stops in order empties its buffers, unless its disk is full then.
    *(Written("crash_keeps_acknowledged", views=BUFFERED, kept_views=BUFFERED,
              broken=(*SENT, *broken, STOPPED_WELL), kept=(*SENT, *kept, STOPPED_WELL)) for broken, kept in (
        ((filled(3), filled(89_999, 99), KILLED), (filled(3), KILLED)),
        ((filled(3), filled(89_999, 99), KILLED), (filled(3), filled(90_000, 99), KILLED)),
        ((filled(COMMITTED_MS + 2), KILLED), (filled(COMMITTED_MS + 1), KILLED)),
        ((KILLED, filled(90_001)), (filled(90_000 - COMMITTED_MS), filled(9_000), KILLED)))),
    # What a full disk does not take stays in the buffer.
    *(Written("crash_keeps_acknowledged", views=BUFFERED, kept_views=BUFFERED,
              broken=(*SENT, *broken, loaded(100_000)), kept=(*SENT, *kept, loaded(100_000))) for broken, kept in (
        ((filled(COMMITTED_MS + 2), KILLED), (filled(COMMITTED_MS + 1), KILLED)),
        ((filled(3, 99), KILLED), (filled(3), KILLED)),
        ((filled(3), filled(FREE_MS - 1, 99), KILLED), (filled(3), filled(FREE_MS, 99), KILLED)),
        ((KILLED, filled(90_001)), (filled(3), filled(9_000), KILLED)),
        ((filled(3), filled(4, 0), filled(COMMITTED_MS + 5), KILLED),
         (filled(3), filled(4, 0), filled(COMMITTED_MS + 4), KILLED)))),

    Written("recovered_log_is_a_prefix", broken=(*BOTH, loaded(3)), views=has(TWO), kept=(*BOTH, loaded(3)),
            kept_views=has(ONE), says="no record at 100"),
    Written("recovered_log_is_a_prefix", broken=(*BOTH, loaded(3)), views=has(ONE, record(200, "k3", 1)),
            kept=(*BOTH, loaded(3, least=101)), kept_views=has(TWO), says="says otherwise", causes=("V7",)),
    Written("recovered_log_is_a_prefix", broken=(*BOTH, loaded(3)), views=has(ONE, TWO, record(300, "k3", 2)),
            kept=(*BOTH, loaded(3)), kept_views=has(ONE, TWO), says="nobody has appended", causes=()),
    Written("recovered_log_is_a_prefix", broken=(*BOTH, loaded(3), loaded(4)),
            views=Tables(log_records=Turns((ONE,), (ONE, TWO))), kept=(*BOTH, loaded(3), appended(4, 200, "k2", 1),
                                                                      loaded(5)),
            kept_views=Tables(log_records=Turns((ONE,), (ONE, TWO))), says="again", causes=("V4",)),
    Written("recovered_log_is_a_prefix", broken=(STARTED, loaded(1), loaded(2)),
            views=Tables(log_records=Turns((), (ONE,))), kept=(STARTED, loaded(1), loaded(2)), kept_views=has(ONE),
            says="nobody has appended"),
    Written("recovered_log_is_a_prefix", broken=(*BOTH, loaded(3, least=100)), views=has(TWO),
            kept=(*BOTH, loaded(3, least=200), loaded(4)), kept_views=Tables(log_records=Turns((TWO,), (ONE, TWO)))),
    Written("recovered_log_is_a_prefix", broken=(*BOTH, loaded(3)), views=has(TWO),
            kept=(*BOTH, loaded(3, least=100), appended(4, 300, "k3", 2), loaded(5, least=100)),
            kept_views=Tables(log_records=Turns((), (record(300, "k3", 2),)))),
    # A slave copies what it has not yet, and nothing that it has.
    Written("recovered_log_is_a_prefix", broken=(appended(1, 0), COPIED, loaded(3)), views=copies(OTHERWISE, TWO),
            kept=(COPIED, COPIED, loaded(3)), kept_views=copies(OTHERWISE, TWO), says="says otherwise"),

    Written("visible_is_durable", broken=(STARTED, found(1, 0, 1), loaded(2)), views=up_to(1),
            kept=(STARTED, found(1, 0, 1), loaded(2)), kept_views=up_to(2), says="up to 1"),
    # Of a master and its slave the master was asked.
    Written("visible_is_durable", broken=(*PAIR, found(1, 0), (2, MASTER, LOADED)), views=up_to(0),
            kept=(*PAIR, found(1, 0), (2, SLAVE, LOADED)), kept_views=up_to(0)),
    *(Written("visible_is_durable", broken=(STARTED, asks(broken), found(1, 0), loaded(2)), views=up_to(0),
              kept=(STARTED, asks(kept), found(1, 0), loaded(2)), kept_views=up_to(0))
      for broken, kept in (((B, "H", 0), ("broker-b", "G", 0)), ((B, "G", 1), ("broker-b", "G", 0)))),
    Written("visible_is_durable", broken=(STARTED, found(1, 4), found(2, 1), loaded(3)), views=up_to(4),
            kept=(STARTED, found(1, 4, mq=ELSEWHERE), loaded(3)), kept_views=up_to(0)),
    Written("visible_is_durable", broken=(STARTED, found(1, 0), loaded(2)), views=Tables(stored_at=None),
            kept=(STARTED, found(1, 4), found(2, 1), loaded(3)), kept_views=up_to(5)),
    Written("visible_is_durable", broken=(STARTED, appended(1, 100), found(1, 0), loaded(2, least=100)), views=up_to(0),
            kept=(STARTED, appended(1, 100), found(1, 0), loaded(2, least=200)), kept_views=up_to(0)),
    Written("crash_keeps_acknowledged", broken=(answered(1, 0), answered(1, 100), lost(2), loaded(3)),
            views=has(record(100)), kept=(answered(1, 0), answered(1, 100), lost(2), loaded(3)),
            kept_views=has(record(0), record(100))),
    Written("store_loads_after_a_crash", broken=(REFUSED,), kept=((1, B, DiskFilled(88)), REFUSED)),
    Written("store_loads_after_a_crash", broken=((1, B, DiskFilled(88)), (2, B, DiskFilled(0)), REFUSED),
            kept=((1, B, ForceFailed("store/lock", lost=True)), (1, B, StoreRefused(B)))),
    Written("orderly_end_is_noted", (CLOSED, lost(2, power_loss=False), loaded(3)),
            (CLOSED, lost(2), loaded(3)), says="and it was shut down in order"),
    Written("orderly_end_is_noted", (CLOSED, loaded(3)),
            (CLOSED, (3, B, LOADED._replace(last_exit_ok=True)), lost(4, power_loss=False), loaded(5))),
    Written("orderly_end_is_noted", (CLOSED, loaded(3)), ((1, "broker-b", BrokerShutDown("broker-b")), loaded(3))),
    Written("orderly_end_is_noted", (CLOSED, loaded(3)), (lost(1, power_loss=False), loaded(3))),
)
