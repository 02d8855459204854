"""How workers ended: kept by the daemon that forks them, read by the worker that tries a unit again.

Daemon and workers share one file without a name. Each worker notes which unit it begins; the daemon notes with which
status a worker ended. What is appended is short, so that notes of different processes never mix.
"""

from __future__ import annotations

import os
import signal
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_NOTE = struct.Struct("<cqq")  # what is noted, process, unit or status
_BEGAN, _ENDED = b"b", b"e"
_HASH_BYTES = 8


class Deaths:
    """The notes; of a process that no daemon has forked there are none."""

    def __init__(self) -> None:
        """No file yet."""
        self._file: int | None = None

    def keep(self) -> None:
        """Begin to keep notes, for this process and those that it forks."""
        made, path = tempfile.mkstemp()
        self._file = os.open(path, os.O_RDWR | os.O_APPEND)
        os.close(made)
        Path(path).unlink()

    def began(self, unit: str) -> None:
        """This process begins a unit."""
        self._note(_BEGAN, os.getpid(), _hash(unit))

    def reap(self, *_: object) -> None:
        """Note how children ended, all that have; a handler of SIGCHLD."""
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                self._note(_ENDED, process, status)

    def of(self, unit: str) -> list[str]:
        """How each worker ended that had begun a unit and did not finish it, as "signal 9 (SIGKILL)"."""
        began: set[int] = set()
        told: list[str] = []
        for what, process, value in _NOTE.iter_unpack(self._content()):
            if what == _BEGAN:
                (began.add if value == _hash(unit) else began.discard)(process)
            elif process in began:
                told.append(ended(value))
        return told

    def _note(self, what: bytes, process: int, value: int) -> None:
        if self._file is not None:
            os.write(self._file, _NOTE.pack(what, process, value))

    def _content(self) -> bytes:
        if self._file is None:
            return b""
        size = os.fstat(self._file).st_size
        content = os.pread(self._file, size, 0)
        return content[: len(content) // _NOTE.size * _NOTE.size]


DEATHS = Deaths()
"""Those of this process's daemon."""


def ended(status: int) -> str:
    """The status that `os.waitpid` gives, in words."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"signal {number} ({signal.Signals(number).name})"
    return f"exit status {os.WEXITSTATUS(status)}"


def reaping(signals: Any, deaths: Deaths) -> SimpleNamespace:
    """Stands for the module `signal` in a daemon that ignores how its children end: here it is noted."""
    set_handler: Callable[..., Any] = signals.signal

    def handle(number: int, handler: Any) -> Any:
        ignored = number == signals.SIGCHLD and handler is signals.SIG_IGN
        return set_handler(number, deaths.reap if ignored else handler)

    return SimpleNamespace(**{**vars(signals), "signal": handle})


def _hash(unit: str) -> int:
    return int.from_bytes(blake2b(unit.encode(), digest_size=_HASH_BYTES).digest(), "little", signed=True)
