"""A child process that is asked by lines: each answer comes within a wall limit, or the child is given up."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Final

_CHUNK_BYTES: Final = 1 << 16
_ENDING_S: Final = 0.5
_SHOWN: Final = 200
_STDERR: Final = "stderr"
_ROOMS: Final = str(Path(__file__).parents[1])
_TELLING = re.compile(r"(?i)^\S.*(error|exception)|^\S.*panicked|^(panic|fatal):")
"""Of what was said on standard error the line to be shown. Frames of a stack are indented in all languages but Go."""


class ChildError(Exception):
    """A child did not answer as it should. The message is the end of a sentence about it."""


class ChildHungError(ChildError):
    """It did not answer in time."""


class ChildEndedError(ChildError):
    """It ended, or closed its output."""


class ChildGarbageError(ChildError):
    """It wrote what is no answer."""


class Child:
    """A running process, in a session of its own: Ctrl-C is its parent's to handle.

    Close it after a ChildError. It ends at the latest with this object, and with it whatever it has started.
    """

    def __init__(
        self, command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the process.

        folder -- keeps what the process says on standard error, and is deleted with it; None: nothing is kept.
        environment -- its variables; None: those of this process.
        Raises OSError, ValueError or IndexError when there is no such program; the folder is gone then.
        """
        self._folder, self._buffer = folder, bytearray()
        try:
            with Path(os.devnull if folder is None else folder / _STDERR).open("wb") as stderr:
                self.process = subprocess.Popen(  # noqa: S603 - our own module, or a program that the user has named
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment, bufsize=0,
                    start_new_session=True)
        except BaseException:
            _delete(folder)
            raise
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._writing, self._reading = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._writing, False)
        self._end = weakref.finalize(self, _kill, self.process, folder)

    @property
    def alive(self) -> bool:
        """Whether it has not been closed."""
        return self._end.alive

    def close(self) -> None:
        """Kill the process and whatever it started, and delete its folder; may be called again."""
        self._end()

    def line(
        self, request: bytes, limit_s: float, longest_bytes: float = inf,
        goes_on: Callable[[], bool] = lambda: False,
    ) -> bytes:
        """Write a request, and read the line that answers it. A child that does not read is not waited for either.

        limit_s -- wall seconds. goes_on -- asked when they are over: whether the child is given as long again.
        longest_bytes -- more than these are no line.
        Raises ChildHungError, ChildEndedError, or ChildGarbageError for a line that is too long.
        """
        if not self.alive:
            raise ChildEndedError("has been ended")
        deadline, left, seen = time.monotonic() + limit_s, memoryview(request), 0
        while (end := self._buffer.find(b"\n", seen)) < 0:
            seen = len(self._buffer)
            wait_s = max(0.0, deadline - time.monotonic())
            readable, writable, _ = select.select([self._reading], [self._writing] if left else [], [], wait_s)
            if writable:
                left = left[self._written(left):]
            if readable:
                self._read(longest_bytes)
            elif not writable:
                if not goes_on():
                    raise ChildHungError(f"does not answer within {limit_s:g} s{self._unfinished()}")
                deadline = time.monotonic() + limit_s
        line = bytes(self._buffer[:end])
        del self._buffer[:end + 1]
        return line

    def _written(self, left: memoryview) -> int:
        try:
            return os.write(self._writing, left)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise ChildEndedError(self._ended()) from None

    def _read(self, longest_bytes: float) -> None:
        chunk = os.read(self._reading, _CHUNK_BYTES)
        if not chunk:
            raise ChildEndedError(self._ended())
        self._buffer += chunk
        if len(self._buffer) > longest_bytes:
            raise ChildGarbageError(f"wrote a line of more than {longest_bytes / (1 << 20):.0f} MiB")

    def _ended(self) -> str:
        """How it ended, and what it said last on standard error."""
        with suppress(subprocess.TimeoutExpired):  # it has closed its output and goes on
            self.process.wait(_ENDING_S)
        status = self.process.returncode
        how = "closed its output" if status is None else (
            f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}")
        told = _told(self._said())
        return f"{how}{self._unfinished()}{f' ({told})' if told else ''}"

    def _unfinished(self) -> str:
        """What it has written of a line that has no end."""
        if not self._buffer:
            return ""
        return f" after {self._buffer[:_SHOWN].decode(errors='replace')!r} without the end of a line"

    def _said(self) -> list[str]:
        if self._folder is None:
            return []
        text = (self._folder / _STDERR).read_text(encoding="utf-8", errors="replace")
        return [line.rstrip() for line in text.split("\n") if line.strip()]


def worker(
    module: str, arguments: Sequence[str], folder: Path | None = None, path: Sequence[str] | None = None,
    **variables: str,
) -> Child:
    """A child that runs a module of ours, also where a package of the user's is called as one of our rooms.

    folder -- see Child. path -- where else it finds modules; None: where PYTHONPATH says. variables -- of its
    environment, beside those of this process.
    """
    others = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)) if path is None else path
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([_ROOMS, *others]), **variables}
    return Child([sys.executable, "-P", "-m", module, *arguments], folder, environment)


def _told(said: Sequence[str]) -> str:
    """Of what was said on standard error what tells most; a line that ends in a colon goes on in the next."""
    places = [place for place, line in enumerate(said) if _TELLING.search(line)] or [len(said) - 1]
    told = said[places[-1]:][:2] if said else []
    told = told if told and told[0].endswith(":") else told[:1]
    return " ".join(line.strip() for line in told)[:_SHOWN]


def _kill(process: subprocess.Popen[bytes], folder: Path | None) -> None:
    """Kill the whole process group, and take the child's status, so that nothing is left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    _delete(folder)


def _delete(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
