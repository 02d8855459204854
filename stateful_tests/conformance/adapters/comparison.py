"""What adapters share: run the implementation, put its answer in the recordings' words, compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from impl.decisions.java_errors import JavaError, NullPointerError

_SHOWN = 200  # characters of an answer in a difference
_text = json.JSONEncoder(sort_keys=True).encode


def outcome(call: Callable[[], Any]) -> dict[str, Any]:
    """The answer of a call as a row has it: {r} or {e, m}. A crash that no Java exception stands for is {crash}."""
    try:
        return {"r": call()}
    except JavaError as error:
        return {"e": error.java_class, "m": error.message}
    except Exception as error:  # noqa: BLE001  an implementation that crashes differs from the recording
        return {"crash": f"{type(error).__name__}: {error}"}


ANY_MESSAGE = {"any": "message"}
"""Stands for the message of a live exception whose text depends on the Java version: only its class is compared."""


def expected(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The answer in a row; raises KeyError when it has none."""
    if "e" in recorded:
        return {"e": recorded["e"], "m": recorded["m"]}
    return {"r": recorded["r"]}


def difference(wanted: Any, got: Any, what: str = "") -> str | None:
    """None when both are equal as JSON values (1 is not true, 1 is not 1.0), else one line that shows them."""
    left, right = _text(wanted), _text(got)
    if left == right:
        return None
    return f"{what}{': ' if what else ''}expected {_cut(left)}, got {_cut(right)}"


def compare(recorded: Mapping[str, Any], call: Callable[[], Any], what: str = "") -> str | None:
    """Compare a recorded answer with that of a call.

    The text of a NullPointerException depends on the Java version, so only its class is compared.
    """
    wanted, got = expected(recorded), outcome(call)
    if wanted.get("e") == got.get("e") == NullPointerError.java_class:
        return None
    if wanted.get("m") == ANY_MESSAGE and "e" in got:
        got = {**got, "m": ANY_MESSAGE}
    return difference(wanted, got, what)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
