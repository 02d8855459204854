"""The parent's side of the worker: start it, ask it within a wall limit, kill it. No JPype here, and no JVM."""

from __future__ import annotations

import json
import os
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from invariants.verdict import BadInputError
from stateful_tests.conformance.java import artefacts
from stateful_tests.conformance.java.worker import COUNTER

START_LIMIT_S = 60.0
_CHUNK_BYTES = 1 << 20
_KILL_WAIT_S = 10.0


class JavaProcessError(Exception):
    """The worker ended or answered what it must not: the checker crashed, so the outcome is unknown."""

    def __init__(self, message: str, call: int = 0) -> None:
        """Keep the message, and the number of the call of the batch that was under way."""
        super().__init__(message)
        self.call = call


class JavaHungError(JavaProcessError):
    """A request exceeded its wall limit; the worker has been killed."""


class JavaProcess:
    """One worker. Use it in a `with`, or `close` it; at the latest it ends with this object or this process.

    Raises BadInputError when the artefacts, JPype or a Java are missing; JavaProcessError when no JVM comes up.
    """

    def __init__(self, jars: Sequence[Path] | None = None) -> None:
        """Start the JVM, with the official jars unless others are given; takes about a second."""
        jars = artefacts.jars() if jars is None else jars
        scratch = tempfile.mkdtemp(prefix="rocketproof-java-")
        Path(scratch, COUNTER).write_bytes(bytes(8))
        root = str(Path(__file__).parents[3])
        command = [sys.executable, "-P", "-m", "stateful_tests.conformance.java.worker", scratch, *map(str, jars)]
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        with Path(scratch, "stderr").open("wb") as stderr:
            child = subprocess.Popen(  # noqa: S603 -- our own module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                env={**os.environ, "PYTHONPATH": path}, start_new_session=True,  # Ctrl-C is the parent's to handle
            )
        self._child, self._scratch = child, Path(scratch)
        self._finalizer = weakref.finalize(self, _end, child, scratch)
        try:
            self.java_version = str(self._received(START_LIMIT_S)["java"])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """The process itself."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Kill it."""
        self.close()

    def close(self) -> None:
        """Kill the worker and delete its scratch folder; may be called again."""
        self._finalizer()

    @property
    def alive(self) -> bool:
        """Whether it has not been closed."""
        return self._finalizer.alive

    def ask(self, limit_s: float, **request: Any) -> Mapping[str, Any]:
        """The reply to one request, as `worker` describes it.

        limit_s -- wall seconds, for each call of a batch; beyond them (at most as long again) the worker is killed and
        JavaHungError raised.

        Raises BadInputError when the worker says so, JavaProcessError when it ends or fails. After any of the two
        process errors this object is closed.
        """
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            self._child.stdin.flush()
        except OSError:
            raise self._ended() from None
        return self._received(limit_s)

    def _received(self, limit_s: float) -> Mapping[str, Any]:
        """The next reply line."""
        reply: Mapping[str, Any] = json.loads(self._line(limit_s).decode("ascii"))
        if "bad_input" in reply:
            raise BadInputError(reply["bad_input"])
        if "failed" in reply:
            raise JavaProcessError(reply["failed"])
        return reply

    def _line(self, limit_s: float) -> bytes:
        """Read until a line's end; the worker writes one line for one request."""
        assert self._child.stdout is not None
        fileno, deadline = self._child.stdout.fileno(), time.monotonic() + limit_s
        chunks: list[bytes] = []
        seen = 0
        while not chunks or not chunks[-1].endswith(b"\n"):
            ready, _, _ = select.select([fileno], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                call = self._call()
                if call != seen:  # the batch goes on
                    seen, deadline = call, time.monotonic() + limit_s
                    continue
                self.close()
                raise JavaHungError(f"no answer within {limit_s:g} s", call)
            chunk = os.read(fileno, _CHUNK_BYTES)
            if not chunk:
                raise self._ended()
            chunks.append(chunk)
        return b"".join(chunks)

    def _call(self) -> int:
        """The call under way, by the worker's counter."""
        return int(struct.unpack("Q", (self._scratch / COUNTER).read_bytes())[0])

    def _ended(self) -> JavaProcessError:
        """Why the worker is gone, in one line; closes."""
        with suppress(subprocess.TimeoutExpired):  # it has closed its pipe, or this is not its end
            self._child.wait(_KILL_WAIT_S)
        call, status = self._call(), self._child.returncode
        said = (self._scratch / "stderr").read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")
        self.close()
        return JavaProcessError(f"the Java process ended with status {status} ({last[:300]})", call)


def _end(child: subprocess.Popen[bytes], scratch: str) -> None:
    """Kill the child, reap it, close the pipes, delete the scratch folder."""
    child.kill()
    child.wait(_KILL_WAIT_S)
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        with suppress(OSError):  # what was not sent goes nowhere
            pipe.close()
    shutil.rmtree(scratch, ignore_errors=True)
