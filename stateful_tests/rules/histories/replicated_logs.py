"""Written histories of the logs of a master and its slave."""

from __future__ import annotations

from typing import Any

import invariants.rules.replicated_logs  # noqa: F401  # declares the rules
from impl.events import (
    BrokerStarted,
    BrokerStopping,
    ClockJumped,
    ConnectionSevered,
    DiskFilled,
    LogCopied,
    MessageAppended,
    ProcessKilled,
    ProcessPaused,
    SendAnswered,
    SlaveConnected,
    SlaveDisconnected,
    StoreLoaded,
    WorldHealed,
)
from invariants.rules import deadlines
from invariants.views import Broker, StoredRecord
from stateful_tests.rules.written import STORMY, Tables, Turns, Written

M, S, N, P = "broker-a", "broker-s", "broker-n", "producer1"
MASTER, SLAVE, SYNC = "ASYNC_MASTER", "SLAVE", "SYNC_MASTER"
LATE_MS, COPIED_MS = 1_000_000, deadlines.copied(STORMY)
Told = tuple[int, str, Any]


def record(offset: int, key: str | None = "k1", size: int = 100) -> StoredRecord:
    """A record of the queue."""
    return StoredRecord(offset, "orders", 0, offset // 100, size, key)


def connected(ms: int) -> Told:
    """The slave connects to its master."""
    return ms, M, SlaveConnected(M, S)


def severed(ms: int, seen_after_ms: int | None = None) -> Told:
    """The connection breaks at the master, and the slave is told later, or never."""
    return ms, M, ConnectionSevered(S, seen_after_ms)


def gone(ms: int) -> Told:
    """Its connection has ended."""
    return ms, M, SlaveDisconnected(M, S)


def started(at: str, broker_id: int, name: str = M) -> Told:
    """A broker starts."""
    return 0, at, BrokerStarted(at, name, broker_id)


def loaded(ms: int, at: str, role: str, least: int = 0, end: int = 0) -> Told:
    """A store has recovered."""
    return ms, at, StoreLoaded(at, least, end, "ASYNC_FLUSH", False, role)


def appended(ms: int, offset: int, key: str | None = "k1", at: str = M) -> Told:
    """A master appends a record."""
    return ms, at, MessageAppended(at, "orders", 0, offset // 100, offset, 100, key)


def copied(ms: int, offset: int, at_master: int | None = None, size: int = 100) -> Told:
    """The slave copies bytes."""
    return ms, S, LogCopied(S, offset if at_master is None else at_master, offset, size)


def answered(ms: int, offset: int = 0, key: str = "k1", code: int = 0) -> Told:
    """The producer is answered."""
    return ms, P, SendAnswered(M, "orders", 0, 0, offset, key, code)


def at_master(*records: StoredRecord) -> Any:
    """What the master has; the slave starts with nothing."""
    return lambda at: records if at == M else ()


def has(*records: StoredRecord, then: Any = (), **more: Any) -> Tables:
    """What the slave has copied; then -- what a start finds there."""
    return Tables(log_records_from=lambda at, offset: tuple(
        one for one in records if at == S and one.commit_log_offset >= offset), log_records=then, **more)


BOTH = (started(M, 0), started(S, 1), loaded(0, M, MASTER), loaded(0, S, SLAVE))
SYNC_BOTH = (started(M, 0), started(S, 1), loaded(0, M, SYNC), loaded(0, S, SLAVE))
ELSE_SLAVE = (started(M, 0), started(S, 1, "broker-b"), loaded(0, M, SYNC), loaded(0, S, SLAVE))
ONE, OTHER = record(0), record(0, "k9")
ALIVE = (Broker(M, M, 0, f"{M}:10911", 0, None), Broker(S, M, 1, f"{S}:10911", 0, None))
STRANGER = (ALIVE[0], Broker(S, "broker-b", 1, f"{S}:10911", 0, None))
ELSEWHERE = has(ONE, then=lambda at: (record(100),) if at == N else ())
LATER = (appended(1, 0), copied(2, 0), appended(3, 100, "k2"), appended(LATE_MS, 200, "k3"))
WHOLE = (appended(1, 0), appended(2, 100, "k2"), copied(3, 100), appended(LATE_MS, 200, "k3"))

SILENT_MS = deadlines.silent_slave_gone(STORMY)


def halted(ms: int, lasts_ms: int = SILENT_MS + 1, at: str = S) -> Told:
    """The process of the slave stands still."""
    return ms, at, ProcessPaused(lasts_ms)


HISTORIES = (
    # Whoever is silent for so long is disconnected.
    *(Written("silent_slave_is_disconnected", (connected(0), halted(1)), kept) for kept in (
        (connected(0), halted(1, SILENT_MS)), (halted(1),), (connected(0), gone(1), halted(2)),
        (connected(0), halted(1), gone(2)), (connected(0), halted(1, at="broker-b")),
        (connected(0), halted(1), (2, "world", WorldHealed())), (connected(0), halted(1), (2, M, ClockJumped(1_000))),
        (connected(0), halted(1), (2, M, ProcessKilled(1, power_loss=False))))),
    *(Written("silent_slave_is_disconnected", (connected(0), halted(1), no_reason), (connected(0),))
      for no_reason in ((2, S, ClockJumped(1_000)), (2, "broker-b", ClockJumped(1_000)),
                        (2, "broker-b", ProcessKilled(1, power_loss=False)))),
    # A record of the slave is another one than that of its master.
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 0), copied(2, 0)), views=has(OTHER),
            kept=(*BOTH, appended(1, 0), copied(2, 0)), kept_views=has(ONE), causes=(), says="another record there."),
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 0), copied(2, 0, 100)), views=has(OTHER),
            kept=(*BOTH, appended(1, 0), copied(2, 0)), kept_views=has(record(100)), causes=("V32",),
            says="at other places"),
    *(Written("slave_has_its_masters_records", causes=causes, views=has(OTHER),
              broken=(*BOTH, (0, at, DiskFilled(100)), appended(1, 0), copied(2, 0)))
      for at, causes in ((S, ("V33",)), (M, ()))),
    # Its master was asked for offset 0, and the first file is another one by now.
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 0), copied(2, 0)), causes=("V25",),
            views=has(OTHER, then=at_master(record(100))),
            kept=(*BOTH, appended(1, 0), copied(2, 0)), kept_views=has(ONE, then=at_master(record(100)))),
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 100), copied(2, 100)), causes=(),
            views=has(record(100, "k9"), then=at_master(record(100))),
            kept=(*BOTH, appended(1, 100), copied(2, 100)), kept_views=has(record(100), then=at_master(record(100)))),
    # The bytes are others, though no record of them can be read; of two masters one is enough.
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 0), copied(2, 0)), causes=(),
            views=has(log_bytes=lambda at, *_: b"ab" if at == M else b"ax"), says="another record there.",
            kept=(*BOTH, appended(1, 0), copied(2, 0)), kept_views=has(log_bytes=b"ab")),
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 0), copied(2, 0)),
            views=has(log_bytes=lambda at, *_: b"ab" if at == M else b"ax"),
            kept=(*BOTH, appended(1, 0), copied(2, 0)),
            kept_views=has(log_bytes=lambda at, *_: b"a" if at == M else b"ax")),
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 0), copied(2, 0)),
            views=has(log_bytes=lambda at, *_: b"ab" if at == M else b"ax"),
            kept=(*BOTH, started(N, 0), loaded(0, N, MASTER), appended(1, 0), copied(2, 0)),
            kept_views=has(log_bytes=lambda at, *_: b"ab" if at == M else b"ax")),
    # The master starts without the record that its slave has, and appends another one.
    Written("slave_has_its_masters_records",
            broken=(*BOTH, appended(1, 0), copied(2, 0), loaded(3, M, MASTER), appended(4, 0, "k9")), views=has(ONE),
            kept=(*BOTH, appended(1, 0), copied(2, 0), loaded(3, M, MASTER), appended(4, 0)), kept_views=has(ONE),
            causes=("V11",), says="its master had lost its own"),
    Written("slave_has_its_masters_records",
            broken=(*BOTH, appended(1, 0), copied(2, 0), loaded(3, M, MASTER, 0, 1), appended(4, 0, "k9")),
            views=has(ONE), causes=(), says="another record there.",
            kept=(*BOTH, appended(1, 0), copied(2, 0), loaded(3, S, MASTER), appended(4, 0, "k9", S)),
            kept_views=has(ONE)),
    # A slave that has become a master of its own has what it likes; so has a broker of another name.
    Written("slave_has_its_masters_records",
            broken=(*BOTH, copied(1, 0), loaded(2, S, SLAVE, 0, 100), appended(3, 0)), views=has(then=(OTHER,)),
            kept=(*BOTH, copied(1, 0), loaded(2, S, MASTER, 0, 100), appended(3, 0)), kept_views=has(then=(OTHER,))),
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 0), copied(2, 0)), views=has(OTHER),
            kept=(*ELSE_SLAVE, appended(1, 0), copied(2, 0)), kept_views=has(OTHER)),
    Written("slave_has_its_masters_records", broken=(*BOTH, appended(1, 0), copied(2, 0)), views=has(OTHER),
            kept=(*BOTH[:3], loaded(0, M, SLAVE), appended(1, 0), copied(2, 0)), kept_views=has(OTHER)),
    # Of a second frame the first records are not looked at again.
    Written("slave_has_its_masters_records",
            broken=(*BOTH, copied(1, 0), appended(2, 100), copied(3, 100)),
            views=has(record(0, "k0"), record(100, "k9")),
            kept=(*BOTH, copied(1, 0), appended(2, 100), copied(3, 100)), kept_views=has(record(0, "k0"), record(100))),

    # A message of the slave is elsewhere than its master has put it.
    Written("copies_are_where_they_were_put", views=ELSEWHERE,
            broken=(*BOTH, started(N, 0), loaded(1, N, MASTER), copied(2, 0)),
            kept=(*BOTH, started(N, 2), loaded(1, N, SLAVE), copied(2, 0)), kept_views=ELSEWHERE),
    Written("copies_are_where_they_were_put", broken=(*BOTH, appended(1, 100), copied(2, 0, 100)), views=has(ONE),
            kept=(*BOTH, appended(1, 0), copied(2, 0)), kept_views=has(ONE), causes=("V32",), says="has put it at 100"),
    Written("copies_are_where_they_were_put", broken=(*BOTH, appended(1, 100), copied(2, 0)),
            views=has(ONE, then=at_master(record(100))), causes=("V25",),
            kept=(*BOTH, appended(1, 100, None), copied(2, 0)), kept_views=has(record(0, None))),
    Written("copies_are_where_they_were_put", broken=(*BOTH, appended(1, 100), copied(2, 0)),
            views=has(ONE, then=at_master(record(0, "k0"), record(100))), causes=(),
            kept=(*BOTH, appended(1, 0), copied(2, 0)), kept_views=has(ONE)),
    Written("copies_are_where_they_were_put", broken=(*BOTH, appended(1, 100), copied(2, 200)), views=has(record(200)),
            kept=(*BOTH, appended(1, 100), copied(2, 200)), kept_views=has(record(200, "k7")), causes=()),
    # What came with a former frame is not looked at again.
    Written("copies_are_where_they_were_put", broken=(*BOTH, appended(1, 100), copied(2, 0)), views=has(ONE),
            kept=(*BOTH, copied(1, 0), appended(2, 100), copied(3, 100)), kept_views=has(ONE, record(100))),
    # It is there twice.
    Written("copies_are_where_they_were_put", broken=(*BOTH, appended(1, 100), copied(2, 0)), views=has(ONE),
            kept=(*BOTH, appended(1, 0), appended(1, 100), copied(2, 0)), kept_views=has(ONE)),
    Written("copies_are_where_they_were_put", broken=(*BOTH, appended(1, 100), copied(2, 0)), views=has(ONE),
            kept=(*ELSE_SLAVE, appended(1, 100), copied(2, 0)), kept_views=has(ONE)),

    # A message that was acknowledged is on no slave.
    Written("acknowledged_is_copied", broken=(*SYNC_BOTH, appended(1, 0), answered(2)), views=has(),
            kept=(*SYNC_BOTH, appended(1, 0), copied(2, 0), answered(3)), kept_views=has(ONE), causes=(),
            says="never had it"),
    Written("acknowledged_is_copied", broken=(*SYNC_BOTH, appended(1, 0), answered(2)), views=has(),
            kept=(*SYNC_BOTH, appended(1, 0), answered(2, code=12)), kept_views=has()),
    Written("acknowledged_is_copied", broken=(*SYNC_BOTH, appended(1, 0), answered(2)), views=has(),
            kept=(*BOTH, appended(1, 0), answered(2)), kept_views=has()),
    Written("acknowledged_is_copied", broken=(*SYNC_BOTH, appended(1, 0), answered(2)), views=has(),
            kept=(*SYNC_BOTH, appended(1, 0, "k9"), answered(2)), kept_views=has()),
    # The slave had it, and starts without it: before the producer has its answer, or later.
    Written("acknowledged_is_copied",
            broken=(*SYNC_BOTH, appended(1, 0), copied(2, 0), answered(3), loaded(4, S, SLAVE)), views=has(ONE),
            kept=(*SYNC_BOTH, appended(1, 0), copied(2, 0), answered(3), loaded(4, S, SLAVE, 0, 100)),
            kept_views=has(ONE, then=(ONE,)), causes=("V34",), says="has lost it"),
    Written("acknowledged_is_copied",
            broken=(*SYNC_BOTH, appended(1, 0), copied(2, 0), loaded(3, S, SLAVE), answered(4)), views=has(ONE),
            kept=(*SYNC_BOTH, appended(1, 0), copied(2, 0), answered(3), loaded(4, S, SLAVE, 100, 100)),
            kept_views=has(ONE), causes=("V34",)),
    # The master has lost it, so that nobody needs to have it; a broker of another name starts.
    Written("acknowledged_is_copied",
            broken=(*SYNC_BOTH, appended(1, 0), copied(2, 0), answered(3), loaded(4, S, SLAVE)), views=has(ONE),
            kept=(*SYNC_BOTH, appended(1, 0), copied(2, 0), answered(3), loaded(4, M, SYNC), loaded(5, S, SLAVE)),
            kept_views=has(ONE)),
    Written("acknowledged_is_copied", broken=(*ELSE_SLAVE, appended(1, 0), copied(2, 0), answered(3)), views=has(ONE),
            kept=(*SYNC_BOTH, appended(1, 0), copied(2, 0), answered(3), loaded(4, "broker-c", SLAVE)),
            kept_views=has(ONE)),
    # The slave begins behind it, has something else there, or has all at other places.
    Written("acknowledged_is_copied", broken=(*SYNC_BOTH, appended(1, 0), copied(2, 100), answered(3)),
            views=has(record(100, "k2")), causes=("V29",), says="begins behind it"),
    Written("acknowledged_is_copied",
            broken=(*SYNC_BOTH, appended(1, 0, "k0"), copied(2, 0), loaded(3, M, SYNC), appended(4, 0), answered(5)),
            views=has(record(0, "k0")), causes=("V11",), says="its master had lost its own"),
    Written("acknowledged_is_copied", broken=(*SYNC_BOTH, appended(1, 0), copied(2, 0, 100), answered(3)),
            views=has(OTHER), causes=("V32",), says="at other places"),
    Written("acknowledged_is_copied", broken=(*SYNC_BOTH, appended(1, 0), copied(2, 0), answered(3)),
            views=has(OTHER), causes=(), says="never had it"),

    # A slave stays behind.
    Written("slave_catches_up_in_time", broken=(*BOTH, *LATER), views=has(ONE, brokers=ALIVE),
            kept=(*BOTH, *LATER[:2], copied(3, 100), *LATER[2:]), kept_views=has(ONE, record(100), brokers=ALIVE),
            causes=(), says="nothing behind 0"),
    Written("slave_catches_up_in_time", broken=(*BOTH, *LATER), causes=("V20",),
            views=has(ONE, then=at_master(record(100)), brokers=ALIVE),
            kept=(*BOTH, *LATER), kept_views=has(ONE, brokers=ALIVE[:1])),
    Written("slave_catches_up_in_time", broken=(*BOTH, *LATER), views=has(ONE, then=(ONE,), brokers=ALIVE), causes=(),
            kept=(*BOTH, *LATER), kept_views=has(ONE, brokers=ALIVE[1:])),
    Written("slave_catches_up_in_time", broken=(*BOTH, *LATER), views=has(ONE, brokers=ALIVE),
            kept=(*BOTH, *LATER), kept_views=has(ONE, brokers=STRANGER)),
    Written("slave_catches_up_in_time", broken=(*BOTH, *LATER), views=has(ONE, brokers=ALIVE),
            kept=(*BOTH, *LATER[:3], appended(4, 200, "k3")), kept_views=has(ONE, brokers=ALIVE)),
    Written("slave_catches_up_in_time", broken=(*BOTH, *LATER), views=has(ONE, brokers=ALIVE), bounds=STORMY,
            kept=(*BOTH[:3], *LATER[:1], *LATER[2:]), kept_views=has(brokers=ALIVE)),
    # Its connection is dead: it was never told, and has not connected again since.
    Written("slave_catches_up_in_time", broken=(*BOTH, connected(1), severed(1), *LATER), causes=("V37",),
            views=has(ONE, brokers=ALIVE), kept=(*BOTH, *LATER), kept_views=has(ONE, brokers=ALIVE[:1])),
    Written("slave_catches_up_in_time", broken=(*BOTH, connected(1), severed(1, 60_000), *LATER), causes=(),
            views=has(ONE, brokers=ALIVE), kept=(*BOTH, *LATER), kept_views=has(ONE, brokers=ALIVE[:1])),
    Written("slave_catches_up_in_time", broken=(*BOTH, severed(1), connected(1), *LATER), causes=(),
            views=has(ONE, brokers=ALIVE), kept=(*BOTH, *LATER), kept_views=has(ONE, brokers=ALIVE[:1])),
    # It has the newest part of the log only; what was deleted before it came is not looked for, even if it is back.
    Written("slave_catches_up_in_time", broken=(*BOTH, *WHOLE), causes=("V29",), says="nothing before 100",
            views=has(record(100, "k2"), then=at_master(ONE, record(100, "k2")), brokers=ALIVE),
            kept=(*BOTH, *WHOLE), kept_views=has(record(100, "k2"), then=(record(100, "k2"),), brokers=ALIVE)),
    Written("slave_catches_up_in_time", broken=(*BOTH, *WHOLE), causes=("V29",),
            views=has(record(100, "k2"), then=at_master(ONE), brokers=ALIVE),
            kept=(*BOTH, *WHOLE), kept_views=has(
                record(100, "k2"), then=Turns((), (), (record(100, "k2"),), (ONE,)), brokers=ALIVE)),
    Written("slave_catches_up_in_time", broken=(*BOTH, *LATER[:3], appended(3 + COPIED_MS, 200, "k3")),
            views=has(ONE, brokers=ALIVE), kept=(*BOTH, *WHOLE), kept_views=has(
                record(100, "k2"), then=Turns((), (), (ONE,), (record(100, "k2"),)), brokers=ALIVE)),
    Written("slave_catches_up_in_time", broken=(*BOTH, *WHOLE[:3], loaded(4, S, SLAVE, 0, 200), WHOLE[3]),
            views=has(record(100, "k2"), then=lambda at: (ONE,) if at == M else (record(100, "k2"),), brokers=ALIVE),
            kept=(*BOTH, *WHOLE[:3], copied(5, 200), WHOLE[3]), kept_views=has(
                record(100, "k2"), record(200, "k3"), brokers=ALIVE,
                then=Turns((), (), (record(100, "k2"),), (ONE,), (ONE,))), causes=("V29",)),
    # A slave that has lost all begins anew.
    Written("slave_catches_up_in_time", broken=(*BOTH, *WHOLE), causes=("V29",),
            views=has(record(100, "k2"), then=at_master(ONE), brokers=ALIVE),
            kept=(*BOTH, *WHOLE[:3], loaded(4, S, SLAVE), copied(5, 100), WHOLE[3]), kept_views=has(
                record(100, "k2"), then=Turns((), (), (ONE,), (), (record(100, "k2"),), (ONE,)), brokers=ALIVE)),
    Written("slave_catches_up_in_time", broken=(*BOTH, *WHOLE), causes=("V29",),
            views=has(record(100, "k2"), then=at_master(ONE), brokers=ALIVE),
            kept=(*BOTH, *WHOLE[:3], loaded(4, S, SLAVE), copied(5, 0, size=200), WHOLE[3]),
            kept_views=has(ONE, record(100, "k2"), then=at_master(ONE), brokers=ALIVE)),

    # A connection ends, though both run.
    Written("slave_keeps_its_connection", broken=(connected(1), gone(20_001)), views=has(calm=True), causes=(),
            says="ends after 20000 ms", kept=(connected(1), (2, S, ProcessKilled(1, False)), gone(3)),
            kept_views=has(calm=True)),
    Written("slave_keeps_its_connection", broken=(connected(1), gone(2)), views=has(calm=True),
            kept=(connected(1), (2, S, BrokerStopping(S)), gone(3)), kept_views=has(calm=True)),
    Written("slave_keeps_its_connection", broken=(connected(1), gone(2)), views=has(calm=True),
            kept=(connected(1), (2, M, BrokerStopping(M)), gone(3)), kept_views=has(calm=True)),
    Written("slave_keeps_its_connection", broken=(connected(1), gone(2)), views=has(calm=True),
            kept=(connected(1), gone(2)), kept_views=has(calm=False)),
)
