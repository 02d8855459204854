"""The recorded calls of the functions that a port may answer, and what they are about, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError, nearest
from stateful_tests.conformance.judge import RECORDINGS
from stateful_tests.conformance.port.functions import FUNCTIONS, Function, text
from stateful_tests.conformance.replay import SUFFIXES, Row, lines

_LOOKED_AT = 400  # calls of which the shortest is shown whose answer is not empty
_SHOWN = 200  # characters of a call, or of an answer, in a line


@dataclass(frozen=True, slots=True)
class Call:
    """A recorded call: its line in the file, its row, and the recorded answer."""

    line: int
    row: Row
    recorded: Mapping[str, Any]

    @property
    def effort(self) -> tuple[bool, int]:
        """Sorts calls for people: those that 4.9.3 answers before those for which it throws, the shortest first."""
        return "e" in self.recorded, len(text(self.row["a"]))


def calls(function: Function) -> Iterator[Call]:
    """The recorded calls of a function, in their order."""
    rows = lines(_path(function))
    next(rows)
    for line, row in rows:
        if (recorded := function.recorded(row)) is not None:
            yield Call(line, row, recorded)


def shown(value: Any) -> str:
    """Arguments, or an answer, as a sentence has them."""
    whole = text(value)
    return whole if len(whole) <= _SHOWN else f"{whole[:_SHOWN]}…"


def described(names: Sequence[str] = ()) -> Iterator[str]:
    """Of each recording what its arguments and results are, and of each function a call and its answer.

    names -- only these functions. Raises BadInputError for one that was not recorded.
    """
    for name in names:
        if name not in FUNCTIONS:
            raise BadInputError(f"no recording is about {name!r}; {nearest(name, [*FUNCTIONS])}there are "
                                f"{', '.join(FUNCTIONS)}")
    functions = [FUNCTIONS[name] for name in names or FUNCTIONS]
    for recording in dict.fromkeys(function.recording for function in functions):
        own = [function for function in functions if function.recording == recording]
        yield from _header(own[0])
        for function in own:
            call = min(islice(calls(function), _LOOKED_AT), key=lambda one: (not one.recorded.get("r"), one.effort))
            yield f"  {function.name}: {shown(call.row['a'])} → {shown(call.recorded)}"
        yield ""


def _header(function: Function) -> Iterator[str]:
    _, header = next(lines(_path(function)))
    yield f"{header['what']} ({header['java']})"
    yield from (f"  {name}: {header[name]}" for name in ("args", "result", "errors") if header.get(name))


def _path(function: Function) -> Path:
    return next(path for path in (RECORDINGS / f"{function.recording}{suffix}" for suffix in SUFFIXES) if path.exists())
