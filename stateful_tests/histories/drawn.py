"""Random small histories; of every two one has a planted fault."""

from __future__ import annotations

import random
from typing import Any

from invariants.histories.operations import Operation

_MEMBERS, _QUEUES, _GROUPS = ("a", "b"), ("q", "r"), ("g", "h")
_CLOCKS = (None, None, "wall")


def drawn(seed: int) -> list[Operation]:
    """A history; with an odd seed something in it is changed at random."""
    chance = random.Random(seed)  # noqa: S311 - tests
    rows: list[dict[str, Any]] = []
    tags, orderly = chance.choice((None, None, "x", "x || y")), chance.choice((None, True))
    rows += [{"kind": "assigned", "process": chance.choice(_MEMBERS), "group": "g", "queue": queue, "tags": tags,
              "offset": chance.choice((0, 0, 0, 1, None)), "orderly": orderly,
              "max_attempts": chance.choice((1, 2, None, -1))} for queue in _QUEUES]
    for number in range(chance.randrange(1, 4)):
        rows += _story(chance, number, rows)
    if seed % 2:
        for _ in range(chance.randrange(1, 4)):
            _spoil(chance, rows)
    clock = chance.choice(_CLOCKS)
    return [Operation(**{"seq": at, "time_ms": 10 * at, "clock": clock, **row}) for at, row in enumerate(rows)]


def _story(chance: random.Random, number: int, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A message from its send to the commit that passes it."""
    owner = chance.choice([row for row in rows if row["kind"] == "assigned"])
    process, group, queue = owner["process"], owner["group"], owner["queue"]
    message = f"m{number}"
    send = {"half": chance.choice((None, None, None, True)), "delay_ms": chance.choice((None, None, None, 5, 30)),
            "tag": chance.choice((None, "x")), "key": chance.choice((None, "k"))}
    producer = {"process": "p", "message": message}
    place = {"queue": queue, "offset": number}
    at = {"process": process, "group": group, "message": message, **place}
    told = [{"kind": "send", **producer, **send},
            {"kind": chance.choice(("acknowledged", "acknowledged", "acknowledged", "unknown", "failed")), **producer,
             **place, "key": send["key"]}]
    if send["half"]:
        told.append({"kind": chance.choice(("half_committed", "half_rolled_back")), **producer, **place,
                     "key": send["key"]})
    attempts = chance.choice((0, 0, 0, 1, 2))
    for attempt in range(attempts):
        told += [{"kind": "delivered", **at, "attempt": attempt},
                 {"kind": "sent_back", **at, "attempt": attempt, "delay_ms": chance.choice((None, 5, 30))}]
    told += [{"kind": "delivered", **at, "attempt": attempts or None},
             {"kind": chance.choice(("consumed", "consumed", "consumed", "given_up")), **at,
              "attempt": attempts or None},
             {"kind": "committed", "process": process, "group": group, "queue": queue, "offset": number + 1}]
    if not chance.randrange(4):
        told.insert(chance.randrange(len(told)), {"kind": chance.choice(("revoked", "assigned", "restarted")),
                                                  "process": process, "group": group, "queue": queue})
    return told


def _spoil(chance: random.Random, rows: list[dict[str, Any]]) -> None:
    """A row is left out, comes twice, or elsewhere, or one of its fields is another."""
    at = chance.randrange(len(rows))
    match chance.randrange(4):
        case 0:
            if len(rows) > 1:
                rows.pop(at)
        case 1:
            rows.insert(chance.randrange(len(rows) + 1), dict(rows[at]))
        case 2:
            rows.insert(chance.randrange(len(rows)), rows.pop(at))
        case _:
            row = dict(rows[at])
            name = chance.choice(sorted(row.keys() - {"kind"}))
            row[name] = {
                "process": chance.choice((*_MEMBERS, "p")), "group": chance.choice(_GROUPS),
                "queue": chance.choice(_QUEUES), "offset": chance.randrange(4), "message": f"m{chance.randrange(3)}",
                "tag": "z", "key": "k", "half": True, "delay_ms": 30, "attempt": chance.randrange(4), "tags": "x",
                "orderly": True, "max_attempts": 1}[name]
            rows[at] = row
