"""What a program may answer for: the functions of the recordings, by name, each a function of plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stateful_tests.conformance.adapters.comparison import difference, expected
from stateful_tests.conformance.port.exchange import Answer
from stateful_tests.conformance.replay import Row

_WHOLE = ""

_STRATEGIES: Mapping[str, tuple[str, str]] = {
    "AVG": ("allocation-average-circle-hash", "AVG"),
    "AVG_BY_CIRCLE": ("allocation-average-circle-hash", "CIRCLE"),
    "CONSISTENT_HASH": ("allocation-average-circle-hash", "HASH"),
    "CONFIG": ("allocation-config", _WHOLE),
    "MACHINE_ROOM": ("allocation-machine-room", _WHOLE),
    "MACHINE_ROOM_NEARBY": ("allocation-nearby", _WHOLE),
    "CONSISTENT_HASH_WITH": ("allocation-consistent-hash-params", _WHOLE),
}
"""Name to recording, and the key of the answer in its rows; _WHOLE: the row is the answer."""
_PLAIN = (
    "allocation-names", "delay-levels", "fault-duration", "index-key-hash", "messagequeue-order", "queue-selectors",
    "route-change", "small-functions", "store-rules", "subscription-data", "sys-flags", "tag-match",
    "thread-local-index",
)
_BY_KEY: Mapping[str, tuple[str, ...]] = {
    "compute-pull-from-where": ("with", "old"),
    "names": ("blank", "checkGroup", "checkTopic", "dlq", "forbidden", "illegal", "lmq", "notAllowed", "reply", "retry",
              "sysGroup", "system", "validate"),
    "namespace": ("already", "isDlq", "isRetry", "of", "without", "without1", "wrap", "wrapRetry"),
    "route-to-queues": ("publish", "sortedBrokers", "subscribe"),
    "string-hash": ("hash", "multi", "none", "single"),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of RocketMQ 4.9.3 that was recorded.

    name -- as programs name it. recording -- that has its calls. key -- of its answer in a row; empty: the row is it.
    allocates -- whether it answers with queues of its arguments.
    """

    name: str
    recording: str
    key: str = _WHOLE
    allocates: bool = False

    def recorded(self, row: Row) -> Mapping[str, Any] | None:
        """The recorded answer in a row, {r} or {e, m}; None if the row has none."""
        if self.key and self.key not in row:
            return None
        answer = row[self.key] if self.key else row
        known = isinstance(answer, Mapping) and ("r" in answer or "e" in answer)
        found = expected(answer) if known else {"r": answer}
        if self.allocates and found.get("r") is not None:
            queues = row["a"]["mqAll"]
            found["r"] = [queues[one] if isinstance(one, int) else one for one in found["r"]]
        return found

    def differs(self, recorded: Mapping[str, Any], answer: Answer) -> str | None:
        """One line that says what differs, or None.

        Any error agrees with an error, for each language has its own; no list with an empty one, for who asks takes
        both for no queues (RebalanceImpl#rebalanceByTopic).
        """
        if "e" in recorded and "e" in answer:
            return None
        got = {name: answer[name] for name in ("r", "e", "m") if name in answer}
        if self.allocates and not recorded.get("r", True) and not got.get("r", True):
            return None
        return difference(recorded, got)


def _all() -> dict[str, Function]:
    found = [Function(name, recording, key, allocates=True) for name, (recording, key) in _STRATEGIES.items()]
    found += [Function(name, name) for name in _PLAIN]
    found += [Function(f"{name}.{key}", name, key) for name, keys in _BY_KEY.items() for key in keys]
    return {one.name: one for one in found}


FUNCTIONS: Mapping[str, Function] = _all()
"""By name."""


def text(arguments: Any) -> str:
    """Arguments as they are sent."""
    return json.dumps(arguments, separators=(",", ":"))
