"""A scenario: the frames that a proxy saw between clients, broker and name server of the real 4.9.3, in its order."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from impl.remoting.remoting_command import RemotingCommand, decode
from invariants.verdict import BadInputError

SUFFIXES = (".jsonl", ".jsonl.gz")
_KEYS = ("seq", "conn", "link", "dir", "at_ms", "header", "frame_hex")
HOSTILE = "hostile"
"""The file of bytes that are no frames, and of what became of the connection."""


@dataclass(frozen=True)
class Frame:
    """One frame. at_ms -- since the scenario began; answers -- the number of the request, of a response."""

    line: int
    seq: int
    conn: int
    link: str
    from_client: bool
    at_ms: int
    answers: int | None
    data: bytes
    row: Mapping[str, Any]

    @cached_property
    def command(self) -> RemotingCommand:
        """The frame, decoded."""
        return decode(self.data[4:], lambda: 0)

    @property
    def is_request(self) -> bool:
        """A request, one-way or not."""
        return not self.command.is_response


@dataclass(frozen=True)
class Scenario:
    """One recorded scenario. path -- of its file."""

    path: Path

    @property
    def name(self) -> str:
        """The file's name without suffixes."""
        return self.path.name.removesuffix(".gz").removesuffix(".jsonl")

    @property
    def names(self) -> tuple[str, ...]:
        """By which it is asked for."""
        return self.name, f"wire/{self.name}", "wire", self.path.name

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """All of them; raises BadInputError."""
        found: list[Frame] = []
        try:
            for row in self.rows():
                found.append(_frame(len(found) + 1, row))
        except (ValueError, KeyError, TypeError) as error:
            place = f"{self.path}:{len(found) + 1}"
            raise BadInputError(f"{place}: not a frame ({error}); record the scenario again") from error
        return tuple(found)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """The objects of the file; raises BadInputError."""
        line = 0
        try:
            with gzip.open(self.path, "rb") if self.path.name.endswith(".gz") else self.path.open("rb") as file:
                for line, text in enumerate(file, start=1):  # noqa: B007  an error names it
                    row = json.loads(text)
                    if not isinstance(row, dict):
                        raise TypeError("no object")  # noqa: TRY301  told below
                    yield row
        except (OSError, EOFError, ValueError, TypeError, zlib.error) as error:
            raise BadInputError(f"{self.path}:{line or 1}: not a frame ({error}); record the scenario again") from error

    def answer(self, request: Frame) -> Frame | None:
        """The recorded response to a request."""
        return self._answers.get(request.seq)

    @cached_property
    def _answers(self) -> Mapping[int, Frame]:
        return {frame.answers: frame for frame in self.frames if frame.answers is not None}


def _frame(line: int, row: Mapping[str, Any]) -> Frame:
    missing = [key for key in _KEYS if key not in row]
    if missing:
        message = f"{missing[0]!r} is missing"
        raise ValueError(message)
    return Frame(line, row["seq"], row["conn"], row["link"], row["dir"] == "c2s", row["at_ms"], row.get("answers"),
                 bytes.fromhex(row["frame_hex"]), row)


def scenarios(folder: Path) -> list[Scenario]:
    """The scenarios of a folder with an index.json, or of its folder `wire`."""
    for place in (folder, folder / "wire"):
        if (place / "index.json").is_file():
            return [Scenario(path) for path in sorted(place.iterdir()) if path.name.endswith(SUFFIXES)]
    return []
