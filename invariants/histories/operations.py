"""The format of a history, version 1: one operation a row, with the same fields in JSON lines, Parquet and Arrow.

`docs/histories.md` says the same to those who write one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args, get_type_hints

VERSION = 1
VERSION_FIELD = "rocketproof_history"
"""JSON lines may begin with an object that has only this field; Parquet and Arrow may have it in their metadata."""

SEND, ACKNOWLEDGED, FAILED, UNKNOWN = "send", "acknowledged", "failed", "unknown"
COMMITTED_HALF, ROLLED_BACK = "half_committed", "half_rolled_back"
DELIVERED, CONSUMED, SENT_BACK, GIVEN_UP = "delivered", "consumed", "sent_back", "given_up"
COMMITTED, ASSIGNED, REVOKED, RESTARTED = "committed", "assigned", "revoked", "restarted"

OF_SENDS = (SEND, ACKNOWLEDGED, FAILED, UNKNOWN, COMMITTED_HALF, ROLLED_BACK)
SETTLED = (CONSUMED, SENT_BACK, GIVEN_UP)
OF_MESSAGES = (*OF_SENDS, DELIVERED, *SETTLED)
OF_OWNERS = (ASSIGNED, REVOKED, RESTARTED)
KINDS = (*OF_MESSAGES, COMMITTED, *OF_OWNERS)
"""Every kind of operation."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(OF_SENDS, ("message",)),
    **dict.fromkeys((DELIVERED, *SETTLED), ("message", "group", "queue", "offset")),
    COMMITTED: ("group", "queue", "offset"), ASSIGNED: ("group", "queue"), REVOKED: ("group", "queue"), RESTARTED: (),
}
"""Fields that an operation of a kind must have, besides `kind`, `process` and `seq`."""


class Operation(NamedTuple):
    """One operation that a client observed.

    kind -- one of KINDS. process -- the client; another life of a client has another name, or a `restarted` between.
    seq -- a number that grows within its process. message -- the unique id of a message, the same whenever it is sent
    again or retried. group -- of consumers. queue, offset -- where the message is stored, or what was committed: the
    next offset to consume, or where an owner begins. time_ms, clock -- when, by which clock; without a clock it is the
    process's own. key -- what is sent with one key stays in order. tag -- of a message. half -- whether a message is
    the half of a transaction. delay_ms -- how long a message waits after it was sent, or sent back. attempt -- how
    often the message was sent back before (reconsumeTimes). Of an assignment: tags -- the tags that its owner
    subscribes, separated by `||`, none for all; orderly -- whether messages are consumed in order; max_attempts -- how
    often a message is sent back before it is given up.
    """

    kind: str
    process: str
    seq: int
    message: str | None = None
    group: str | None = None
    queue: str | None = None
    offset: int | None = None
    time_ms: int | None = None
    clock: str | None = None
    key: str | None = None
    tag: str | None = None
    half: bool | None = None
    delay_ms: int | None = None
    attempt: int | None = None
    tags: str | None = None
    orderly: bool | None = None
    max_attempts: int | None = None

    @property
    def place(self) -> tuple[str, int]:
        """What names the operation: its process, and its number there."""
        return self.process, self.seq


TYPES: Mapping[str, type] = {
    name: next(kind for kind in (bool, int, str) if kind in (hinted, *get_args(hinted)))
    for name, hinted in get_type_hints(Operation).items()}
"""The type of each field."""


MARKS = ("key", "half", "delay_ms", "attempt", "tags", "orderly")
"""Fields that ask for more than the kind of an operation says, where they are given and true."""

_LARGEST, _MOST_SHOWN = 1 << 63, 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = {str: "text", int: "integer", bool: "boolean"}  # as docs/histories.md has them


class MalformedError(ValueError):
    """A row that is no operation; the sentence says why."""


class NotJSONError(MalformedError):
    """A line that is no JSON: it may be the beginning of one that is."""


def operation(row: Mapping[str, Any], seq: int | None = None) -> Operation:
    """The operation of a row; seq -- its number where the row has none. Raises MalformedError."""
    given = {name: value for name, value in row.items() if value is not None}
    if strange := sorted(given.keys() - TYPES.keys()):
        raise MalformedError(f"no field is called {strange[0]!r}; there are {', '.join(TYPES)}")
    for name, value in given.items():
        if type(value) is not TYPES[name]:
            raise MalformedError(f"{name} is {_shown(value)}, which is no {_WORDS[TYPES[name]]}")
        if type(value) is int and not -_LARGEST <= value < _LARGEST:
            raise MalformedError(f"{name} is {_shown(value)}, which 64 bits do not hold")
        if type(value) is str and not value.isascii() and _SURROGATE.search(value):
            raise MalformedError(f"{name} is {_shown(value)}, which has half a character (a lone surrogate)")
    if seq is not None:
        given.setdefault("seq", seq)
    kind = given.get("kind")
    if kind not in KINDS:
        raise MalformedError(f"no kind of operation is called {kind!r}; there are {', '.join(KINDS)}")
    if absent := [name for name in ("process", "seq", *NEEDS[kind]) if name not in given]:
        raise MalformedError(f"{kind} has no {absent[0]}")
    return Operation(**given)


def _shown(value: object) -> str:
    """A value as JSON, or how it begins."""
    text = json.dumps(value, default=str)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def parsed(line: str, seq: int) -> Operation | None:
    """The operation of a line of JSON, none if it is the line that says the version; raises MalformedError.

    seq -- its number where the line has none: lines of a process are then in its order.
    """
    try:
        row = json.loads(line)
    except ValueError as error:
        raise NotJSONError(f"not JSON ({error})") from error
    except RecursionError as error:
        raise MalformedError("no operation: its JSON is nested too deeply") from error
    if not isinstance(row, dict):
        raise MalformedError("not a JSON object")
    if VERSION_FIELD in row:
        check_version(row[VERSION_FIELD])
        return None
    return operation(row, seq)


def check_version(version: object) -> None:
    """Raises MalformedError unless this is the version that is read here."""
    if str(version) != str(VERSION):
        raise MalformedError(f"a history of version {version}; version {VERSION} is read here")


def to_json(one: Operation) -> str:
    """One line, without the fields that are not given."""
    return json.dumps({name: value for name, value in one._asdict().items() if value is not None})
