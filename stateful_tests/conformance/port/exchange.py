"""A program that answers calls: one JSON object a line in, one out (the protocol of docs/adapters.md, version 1).

    {"id": 0, "do": "hello", "protocol": 1}                        {"id": 0, "protocol": 1, "name": …, "functions": […],
                                                                    "batch": true or false}
    {"id": 1, "do": "call", "function": F, "a": A}                 {"id": 1, "r": R} or {"id": 1, "e": CLASS, "m": TEXT}
    {"id": 2, "do": "batch", "function": F, "calls": [A, A, …]}    {"id": 2, "answers": [{"r": R}, {"e": …}, …]}

Who knows batches gets nothing else. The program may hang, die or write anything: each is an exception here, and the
program has ended then.
"""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from invariants.verdict import BadInputError

PROTOCOL: Final = 1
START_LIMIT_S: Final = 30.0
CALL_LIMIT_S: Final = 5.0
OF_A_BATCH_S: Final = 0.01
"""What a call adds to the time that a batch may take."""
LONGEST_BYTES: Final = 16 << 20
_CHUNK_BYTES, _ENDING_S, _SHOWN = 1 << 16, 0.5, 120
_TELLING = re.compile(r"(?i)error|exception|panic")  # of what was said on standard error the line to be shown
_compact = json.JSONEncoder(separators=(",", ":")).encode

Answer = Mapping[str, Any]
"""{"r": result} or {"e": class or kind of the error, "m": its text}."""


class PortError(Exception):
    """A program did not answer as the protocol wants; it has ended. The message is the end of a sentence about it."""


class PortHungError(PortError):
    """It did not answer in time, and was killed."""


class PortEndedError(PortError):
    """It ended."""


class PortGarbageError(PortError):
    """It wrote what is no answer to what it was asked."""


class Exchange:
    """A running program; use it in a `with`, or `close` it.

    name -- what it calls itself. functions -- the names of what it answers.
    """

    def __init__(self, command: str, limit_s: float = CALL_LIMIT_S) -> None:
        """Start the program, and greet it.

        command -- words as in a shell, but no shell reads them. limit_s -- wall seconds of a call.
        Raises BadInputError, in one sentence, when it cannot be started or does not greet back.
        """
        self.command, self._limit_s, self._next, self._buffer = command, limit_s, 0, bytearray()
        folder = tempfile.mkdtemp(prefix="rocketproof-port-")
        self._stderr = Path(folder, "stderr")
        self._child = self._started(folder)
        self._end = weakref.finalize(self, _kill, self._child, folder)
        try:
            hello = self._asked({"do": "hello", "protocol": PROTOCOL}, START_LIMIT_S)
            self.name, self.functions, self._batches = _greeting(hello)
        except PortError as error:
            raise BadInputError(f"--exec {command!r} {error}; its first line of output must answer the greeting: "
                                '{"id": 0, "protocol": 1, "name": "…", "functions": ["allocate"]}') from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """The program itself."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End it."""
        self.close()

    def close(self) -> None:
        """Kill the program and whatever it started; may be called again."""
        self._end()

    @property
    def alive(self) -> bool:
        """Whether it has not been closed."""
        return self._end.alive

    def call(self, function: str, arguments: Any) -> Answer:
        """The answer to one call; raises PortError."""
        if self._batches:
            return self.batch(function, [_compact(arguments)])[0]
        return self._answer(self._asked({"do": "call", "function": function, "a": arguments}, self._limit_s))

    def batch(self, function: str, calls: Sequence[str]) -> list[Answer]:
        """The answers to many calls, each given as JSON; one by one where the program knows no batches.

        Raises PortError.
        """
        if not self._batches:
            return [self.call(function, json.loads(one)) for one in calls]
        head = f'"do":"batch","function":{json.dumps(function)},"calls":['
        reply = self._sent(f"{head}{','.join(calls)}]", self._limit_s + OF_A_BATCH_S * len(calls))
        answers = reply.get("answers")
        if not isinstance(answers, list) or len(answers) != len(calls):
            self.close()
            raise PortGarbageError(f"gave no list of {len(calls)} answers to a batch, but {_shown(reply)}")
        return [self._answer(one) for one in answers]

    def _answer(self, reply: Any) -> Answer:
        if not isinstance(reply, dict) or ("r" in reply) == ("e" in reply):
            self.close()
            raise PortGarbageError(f"gave an answer that has neither r nor e, or both: {_shown(reply)}")
        return reply

    # Lines ------------------------------------------------------------------------------------------------------------

    def _asked(self, request: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        return self._sent(_compact(request)[1:-1], limit_s)

    def _sent(self, body: str, limit_s: float) -> dict[str, Any]:
        """The reply to a request; body -- the inside of its JSON object, but for the id."""
        number, self._next = self._next, self._next + 1
        try:
            line = self._line(f'{{"id":{number},{body}}}\n'.encode(), limit_s)
            return _reply(line, number)
        except PortError:
            self.close()
            raise

    def _line(self, request: bytes, limit_s: float) -> bytes:
        """Write a line and read one, within a wall limit; who does not read is not waited for either."""
        reading, writing = self._pipes()
        deadline, left = time.monotonic() + limit_s, memoryview(request)
        while (end := self._buffer.find(b"\n")) < 0:
            wait_s = max(0.0, deadline - time.monotonic())
            readable, writable, _ = select.select([reading], [writing] if left else [], [], wait_s)
            if not readable and not writable:
                raise PortHungError(f"does not answer within {limit_s:g} s")
            if writable:
                left = left[self._written(writing, left):]
            if readable:
                self._read(reading)
        line = bytes(self._buffer[:end])
        del self._buffer[:end + 1]
        return line

    def _written(self, writing: int, left: memoryview) -> int:
        try:
            return os.write(writing, left)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise PortEndedError(self._ended()) from None

    def _read(self, reading: int) -> None:
        chunk = os.read(reading, _CHUNK_BYTES)
        if not chunk:
            raise PortEndedError(self._ended())
        self._buffer += chunk
        if len(self._buffer) > LONGEST_BYTES:
            raise PortGarbageError(f"wrote a line of more than {LONGEST_BYTES >> 20} MiB")

    def _pipes(self) -> tuple[int, int]:
        if not self.alive:
            raise PortEndedError("has been ended")
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        return self._child.stdout.fileno(), self._child.stdin.fileno()

    # The process ------------------------------------------------------------------------------------------------------

    def _started(self, folder: str) -> subprocess.Popen[bytes]:
        try:
            words = shlex.split(self.command)
            with self._stderr.open("wb") as stderr:
                child = subprocess.Popen(  # noqa: S603 - the user's own program
                    words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0,
                    start_new_session=True)  # Ctrl-C is the parent's to handle
        except (OSError, ValueError, IndexError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            why = error.strerror if isinstance(error, OSError) else error
            raise BadInputError(f"--exec {self.command!r} cannot be started ({why}); give a program and its arguments",
                                ) from error
        assert child.stdin is not None
        os.set_blocking(child.stdin.fileno(), False)
        return child

    def _ended(self) -> str:
        """How it ended, and what it said last on standard error."""
        with suppress(subprocess.TimeoutExpired):  # it has closed its output and goes on
            self._child.wait(_ENDING_S)
        status = self._child.returncode
        how = "closed its output" if status is None else (
            f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}")
        said = [line.strip() for line in self._stderr.read_text(encoding="utf-8", errors="replace").split("\n")]
        told = [line for line in said if _TELLING.search(line)] or [line for line in said if line]
        return f"{how}{f' ({told[-1][:_SHOWN]})' if told else ''}"


def _greeting(hello: Mapping[str, Any]) -> tuple[str, tuple[str, ...], bool]:
    functions = hello.get("functions")
    if hello.get("protocol") != PROTOCOL:
        raise PortGarbageError(f"speaks protocol {hello.get('protocol')!r}, not {PROTOCOL}")
    if not isinstance(functions, list) or not all(isinstance(one, str) for one in functions) or not functions:
        raise PortGarbageError(f"names no functions that it answers: {_shown(hello)}")
    return str(hello.get("name", "")), tuple(functions), hello.get("batch") is True


def _reply(line: bytes, number: int) -> dict[str, Any]:
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        raise PortGarbageError(f"wrote a line that is not JSON: {line[:_SHOWN].decode(errors='replace')!r}") from None
    if not isinstance(reply, dict):
        raise PortGarbageError(f"wrote no JSON object: {_shown(reply)}")
    if reply.get("id") != number or isinstance(reply.get("id"), bool):
        raise PortGarbageError(f"answered id {_shown(reply.get('id'))} when it was asked {number}")
    return reply


def _shown(value: Any) -> str:
    return json.dumps(value)[:_SHOWN]


def _kill(child: subprocess.Popen[bytes], folder: str) -> None:
    """Kill the child's whole process group, and take its status, so that nothing is left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    shutil.rmtree(folder, ignore_errors=True)
