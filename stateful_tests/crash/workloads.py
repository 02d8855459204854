"""The workloads of the crash atlas, and what crashes in them break in RocketMQ as shipped."""

from __future__ import annotations

from impl.store.message_store_config import FlushDiskType
from stateful_tests.crash.programs import Workload
from stateful_tests.crash.promises import (
    CONSECUTIVE,
    EARLY,
    ENDS,
    GONE,
    IDEMPOTENT,
    KEYS,
    MISSED,
    NAMES,
    PREFIX,
    STARTS,
    SURVIVES,
    TIMES,
)
from stateful_tests.crash.survey import JOURNALLED, KINDS, MACHINE, PROCESS

Expected = dict[str, tuple[str, ...]]
_STARTS: Expected = {STARTS: ("V22",)}
_TORN: Expected = {**_STARTS, PREFIX: ("V7",), NAMES: ("V7",)}
_PHANTOM: Expected = {**_STARTS, NAMES: ("V3",), CONSECUTIVE: ("V3",), IDEMPOTENT: ("V3",)}
_AS_IF_STOPPED: Expected = {
    **_STARTS, SURVIVES: ("V26",), NAMES: ("V3", "V26"), MISSED: ("V26",), CONSECUTIVE: ("V3", "V26"),
    IDEMPOTENT: ("V3", "V26")}
_HEADLESS: Expected = {PREFIX: ("V30",), CONSECUTIVE: ("V3", "V26", "V30")}
# Nothing promises that a message is on the disk which ASYNC_FLUSH has acknowledged; its loss is no hazard.
_UNFLUSHED: Expected = {SURVIVES: ()}

_TWO_STOPS: Expected = {STARTS: ("V22", "V31")}
_DELAYED: Expected = {**_STARTS, EARLY: ("V5",)}
_UNFORCED: Expected = {KEYS: ("V27",), IDEMPOTENT: ("V27",)}
_BATCH: Expected = {TIMES: ("V28",)}
# Nothing promises that the deletion of a file is on the disk.
_BACK: Expected = {GONE: ()}
_CUT: Expected = {GONE: ("V4",)}
_EXPIRED: Expected = {NAMES: ("V18",)}
# Clean-up has deleted a record whose unit the queue on the disk does not have.
_UNFORCED_QUEUE: Expected = {SURVIVES: ("V35",), NAMES: ("V35",), CONSECUTIVE: ("V35",)}
_SHORT: Expected = {**_UNFORCED_QUEUE, MISSED: ("V35",)}
_GAP: Expected = {**_BACK, ENDS: ("V22",)}

_SYNC, _ASYNC = FlushDiskType.SYNC_FLUSH, FlushDiskType.ASYNC_FLUSH

WORKLOADS = {one.name: one for one in (
    Workload(
        "sync_two_topics", "Messages of two topics, the queues flushed with the checkpoint.", _SYNC,
        ("put A", "flush", "put B", "flush", "dispatch", "put A", "flush", "dispatch", "checkpoint"),
        expected={PROCESS: _STARTS, JOURNALLED: _STARTS, MACHINE: _AS_IF_STOPPED}),
    Workload(
        "sync_roll", "A batch, and a record that begins the next file of the log.", _SYNC,
        ("put A", "flush", "batch A 3", "flush", "dispatch", "roll A", "flush", "dispatch"),
        expected={kind: {**_STARTS, **_BATCH} for kind in (PROCESS, JOURNALLED, MACHINE)}),
    Workload(
        "sync_index", "Messages with keys.", _SYNC,
        ("put A k", "flush", "dispatch", "put A k l", "flush", "dispatch", "checkpoint"), has_index=True,
        expected={PROCESS: _STARTS, JOURNALLED: _STARTS, MACHINE: {**_STARTS, KEYS: ("V26",), IDEMPOTENT: ("V26",)}}),
    Workload(
        "sync_index_stop", "Messages with keys, an orderly stop, and a new start.", _SYNC,
        ("put A k", "flush", "dispatch", "checkpoint", "stop", "start"), has_index=True,
        expected={PROCESS: _STARTS, JOURNALLED: {**_STARTS, **_UNFORCED},
                  MACHINE: {**_STARTS, KEYS: ("V26", "V27"), IDEMPOTENT: ("V26", "V27")}}),
    Workload(
        "sync_torn", "A record that two pages share, its properties on the second.", _SYNC,
        ("put A", "flush", "edge A", "put B", "flush", "dispatch"),
        expected={PROCESS: _TORN, JOURNALLED: _TORN,
                  MACHINE: {**_AS_IF_STOPPED, PREFIX: ("V7",), NAMES: ("V7", "V26")}}),
    Workload(
        "sync_stop", "An orderly stop, and a new start.", _SYNC,
        ("put A", "flush", "dispatch", "stop", "start", "put A", "flush", "dispatch"),
        expected={PROCESS: _STARTS, JOURNALLED: _STARTS, MACHINE: _STARTS}),
    Workload(
        "sync_kill", "A kill, the recovery from it, and work after it: a crash may hit the recovery too.", _SYNC,
        ("put A", "flush", "put B", "dispatch", "kill", "start", "put A", "flush", "dispatch", "checkpoint"),
        expected={PROCESS: _STARTS, JOURNALLED: _PHANTOM, MACHINE: _AS_IF_STOPPED}),
    Workload(
        "sync_two_stops", "Two orderly stops, each with a new start.", _SYNC,
        ("put A", "flush", "dispatch", "stop", "start", "stop", "start"),
        expected={PROCESS: _STARTS, JOURNALLED: _TWO_STOPS, MACHINE: _TWO_STOPS}),
    Workload(
        "sync_delay", "A delayed message, and its delivery.", _SYNC,
        ("delay A 1", "flush", "dispatch", "deliver", "flush", "dispatch", "offsets"),
        expected={PROCESS: _DELAYED, JOURNALLED: _DELAYED, MACHINE: {**_AS_IF_STOPPED, **_DELAYED}}),
    Workload(
        "sync_clean", "Clean-up of two files of the log after three days; of one queue nothing is left.", _SYNC,
        ("put A", "flush", "roll B", "flush", "roll A", "flush", "dispatch", "clean", "put A", "flush", "dispatch"),
        expected={PROCESS: {**_STARTS, **_EXPIRED}, JOURNALLED: {**_STARTS, **_EXPIRED},
                  MACHINE: {**_AS_IF_STOPPED, NAMES: ("V3", "V18", "V26"), **_BACK}},
        hidden={MACHINE: {CONSECUTIVE: ("V22",)}}),
    Workload(
        "sync_clean_many", "Thirteen files of the log: clean-up takes ten in a pass, and never the last.", _SYNC,
        ("put A", "flush", "rolls A 12", "dispatch", "clean", "clean"),
        expected={PROCESS: _STARTS, JOURNALLED: _STARTS,
                  MACHINE: {**_STARTS, **_BACK, NAMES: ("V22",), TIMES: ("V22",)}},
        hidden={MACHINE: {MISSED: ("V22",)}}),
    Workload(
        "sync_full", "A disk that fills: clean-up at once, and then no more writes.", _SYNC,
        ("put A", "flush", "roll A", "flush", "dispatch", "full 86", "put A", "flush", "full 91", "put B"),
        expected={PROCESS: _STARTS, JOURNALLED: {**_STARTS, **_UNFORCED_QUEUE},
                  MACHINE: {**_STARTS, **_GAP, **dict.fromkeys(_UNFORCED_QUEUE, ("V22", "V35"))}}),
    Workload(
        "sync_undispatched", "Clean-up at once of what was not dispatched yet, an orderly stop, a new start.", _SYNC,
        ("put A", "roll A", "flush", "full 86", "stop", "start"),
        expected={PROCESS: {**_STARTS, **_SHORT}, JOURNALLED: {**_STARTS, **_SHORT},
                  MACHINE: {**_STARTS, **_SHORT, **_BACK, PREFIX: ("V30",), NAMES: ("V22", "V35")}}),
    Workload(
        "sync_power", "A loss of power that keeps the second page, and a record that ends where one had ended.", _SYNC,
        ("put A", "flush", "edge A", "put B", "power 0", "start", "edge A", "flush", "dispatch"),
        expected={kind: {**_TORN, **_CUT} for kind in KINDS}),
    Workload(
        "sync_refused", "A message that is too long is not taken, and the next one is.", _SYNC,
        ("put A", "refused A", "put A", "flush", "dispatch"),
        expected={PROCESS: _STARTS, JOURNALLED: _STARTS, MACHINE: _STARTS}),
    Workload(
        "sync_touched", "Clean-up after three days of four files of the log, of which the second is young.", _SYNC,
        ("put A", "flush", "rolls A 3", "dispatch", "touch 1", "clean"),
        expected={PROCESS: _STARTS, JOURNALLED: _STARTS, MACHINE: {**_STARTS, **_BACK}}),
    Workload(
        "sync_forget", "An orderly stop, and a start without consume queues, which builds them anew.", _SYNC,
        ("put A", "put A", "flush", "dispatch", "stop", "forget", "start"),
        expected={PROCESS: _STARTS, JOURNALLED: _STARTS, MACHINE: _STARTS}),
    Workload(
        "async_power", "A loss of power with all that was not flushed, the recovery from it, and more work.", _ASYNC,
        ("put A", "dispatch", "put B", "flush", "put A", "power", "start", "put A", "dispatch", "flush"),
        expected={PROCESS: _STARTS, JOURNALLED: {**_STARTS, NAMES: ("V3",), IDEMPOTENT: ("V3",), **_UNFLUSHED},
                  MACHINE: {**_AS_IF_STOPPED, **_UNFLUSHED}},
        hidden={JOURNALLED: {NAMES: ("V26",), IDEMPOTENT: ("V26",)}}),
    Workload(
        "async_full", "Clean-up at once of what is not flushed everywhere.", _ASYNC,
        ("put A", "dispatch", "flush", "roll B", "flush", "full 86", "put A", "flush", "dispatch"),
        expected={PROCESS: {**_STARTS, **_EXPIRED},
                  JOURNALLED: {**_PHANTOM, **_EXPIRED, CONSECUTIVE: ("V3", "V35"), **_UNFLUSHED},
                  MACHINE: {**_AS_IF_STOPPED, **_GAP, PREFIX: ("V30",), CONSECUTIVE: ("V3", "V26", "V30", "V35"),
                            NAMES: ("V3", "V18", "V26"), **_UNFLUSHED}},
        hidden={PROCESS: {CONSECUTIVE: ("V35",)}}),  # without V16 nothing is dispatched that is not flushed
    Workload(
        "async_roll", "Messages that are acknowledged before they are flushed, in two files of the log.", _ASYNC,
        ("put A", "dispatch", "put A", "flush", "roll A", "dispatch", "put B", "dispatch", "flush"),
        expected={PROCESS: _STARTS, JOURNALLED: {**_PHANTOM, **_UNFLUSHED},
                  MACHINE: {**_AS_IF_STOPPED, **_UNFLUSHED}}),
    Workload(
        "async_batch", "Batches that are acknowledged before they are flushed.", _ASYNC,
        ("batch A 3", "dispatch", "flush", "batch B 2", "dispatch", "queues"),
        expected={PROCESS: {**_STARTS, **_BATCH}, JOURNALLED: {**_PHANTOM, **_UNFLUSHED, **_BATCH},
                  MACHINE: {**_AS_IF_STOPPED, **_UNFLUSHED, **_BATCH}}),
    Workload(
        "async_index_stop", "Messages with keys that are flushed by an orderly stop.", _ASYNC,
        ("put A k", "dispatch", "stop", "start"), has_index=True,
        expected={PROCESS: _STARTS, JOURNALLED: {**_STARTS, **_UNFORCED, **_UNFLUSHED},
                  MACHINE: {**_STARTS, **_UNFORCED, **_UNFLUSHED}},
        hidden={MACHINE: {KEYS: ("V26",), IDEMPOTENT: ("V26",)}}),
    Workload(
        "async_torn", "A record that two pages share, acknowledged before it is flushed.", _ASYNC,
        ("put A", "edge A", "put B", "dispatch", "flush", "put A", "dispatch", "queues"),
        expected={PROCESS: _TORN,
                  JOURNALLED: {**_PHANTOM, **_TORN, NAMES: ("V3", "V7"), **_UNFLUSHED},
                  MACHINE: {**_AS_IF_STOPPED, PREFIX: ("V7",), NAMES: ("V3", "V7", "V26"), **_UNFLUSHED}}),
    Workload(
        "async_index", "Messages with keys in two files of the log, acknowledged before they are flushed.", _ASYNC,
        ("put A k", "dispatch", "put B k l", "dispatch", "roll A", "put A m", "dispatch", "flush", "checkpoint"),
        has_index=True,
        expected={PROCESS: _STARTS, JOURNALLED: {**_PHANTOM, **_UNFLUSHED},
                  MACHINE: {**_AS_IF_STOPPED, **_HEADLESS, KEYS: ("V26",), **_UNFLUSHED}}),
)}
