"""Written histories of what the units of queues say of their messages."""

from __future__ import annotations

from typing import Any

import invariants.rules.stored_codes  # noqa: F401  # declares the rule
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.events import MessageDispatched, ProcessKilled, StoreLoaded
from invariants.views import Dispatched
from stateful_tests.rules.written import Tables, Written

B = "broker-a"
Told = tuple[int, str, Any]
TAGGED = Dispatched(100, "orders", 0, 1, "TagA", 7)
PLAIN = Dispatched(0, "orders", 0, 0, None, 7)
DELAYED = Dispatched(200, RMQ_SYS_SCHEDULE_TOPIC, 1, 0, "TagA", 7)
TAG_A, DUE_MS = 2598919, 5_007
"""Java's "TagA".hashCode(), and when a message is due that was stored at 7 ms and waits for 5 s."""


def dispatched(ms: int, record: Dispatched = TAGGED) -> Told:
    """A queue has it."""
    return ms, B, MessageDispatched(B, *record[1:4], record.commit_log_offset)


def loaded(ms: int, at: str = B, *, last_exit_ok: bool = True) -> Told:
    """A store has recovered."""
    return ms, at, StoreLoaded(at, 0, 1_000, "SYNC_FLUSH", last_exit_ok)


def killed(ms: int, *, power_loss: bool = False) -> Told:
    """A process is killed."""
    return ms, B, ProcessKilled(1, power_loss=power_loss)


def store(*records: Dispatched, codes: tuple[int | None, ...], unit: int | None = None) -> Tables:
    """What a log has, and the codes of the units of its records; unit -- another record that they name."""
    known = {one[1:4]: code for one, code in zip(records, codes, strict=True)}
    return Tables(
        dispatched=lambda broker, offset=0: iter([x for x in records if broker == B and x[0] >= offset]),
        queue_unit=lambda _, *place: next((x[0] if unit is None else unit for x in records if x[1:4] == place), None),
        unit_code=lambda _, *place: known.get(place))


NAME, CRASHED = "unit_has_the_code_of_its_record", loaded(0, last_exit_ok=False)
WRONG, RIGHT, EARLY = store(TAGGED, codes=(0,)), store(TAGGED, codes=(TAG_A,)), store(DELAYED, codes=(TAG_A,))

HISTORIES = (
    Written(NAME, broken=(dispatched(1),), kept=(dispatched(1),), views=WRONG, kept_views=RIGHT,
            says=f"code 0, and {TAG_A} is that of its record"),
    Written(NAME, broken=(dispatched(1, PLAIN),), kept=(dispatched(1, PLAIN),), views=store(PLAIN, codes=(TAG_A,)),
            kept_views=store(PLAIN, codes=(0,))),
    Written(NAME, broken=(dispatched(1, DELAYED),), kept=(dispatched(1, DELAYED),), views=EARLY,
            kept_views=store(DELAYED, codes=(DUE_MS,)), says=f"{DUE_MS} is that of its record"),
    # A unit that leads to another record, and a record that has gone, are judged elsewhere.
    Written(NAME, broken=(dispatched(1),), kept=(dispatched(1),), views=WRONG,
            kept_views=store(TAGGED, codes=(0,), unit=0)),
    Written(NAME, broken=(dispatched(1),), kept=(dispatched(1),), views=WRONG, kept_views=store(codes=())),
    Written(NAME, broken=(loaded(1),), kept=(loaded(1),), views=store(PLAIN, TAGGED, codes=(0, 0)),
            kept_views=store(PLAIN, TAGGED, codes=(0, TAG_A)), says="unit 1 of queue 0 of orders"),
    Written(NAME, broken=(loaded(1),), views=store(PLAIN, TAGGED, codes=(1, 2)), says="unit 0 of queue 0 of orders"),
    Written(NAME, broken=(CRASHED, dispatched(1, DELAYED)), views=EARLY, causes=("V5",)),
    Written(NAME, broken=(CRASHED, loaded(1)), views=EARLY, causes=("V5",)),
    Written(NAME, broken=(loaded(0), dispatched(1, DELAYED)), views=EARLY, causes=()),
    Written(NAME, broken=(loaded(0, "broker-b", last_exit_ok=False), dispatched(1, DELAYED)), views=EARLY, causes=()),
    Written(NAME, broken=(CRASHED, dispatched(1)), views=WRONG, causes=()),
    Written(NAME, broken=(killed(0), dispatched(1)), views=WRONG, causes=("V3",)),
    Written(NAME, broken=(killed(0, power_loss=True), dispatched(1)), views=WRONG, causes=("V3", "V8")),
)
