"""The parent's side of the worker: start it, ask it within a wall limit, kill it. No JPype here, and no JVM."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from invariants.verdict import BadInputError
from stateful_tests.child import ChildError, ChildHungError, worker
from stateful_tests.conformance.java import artefacts
from stateful_tests.conformance.java.worker import COUNTER

START_LIMIT_S = 60.0


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
        self._scratch, self._seen = Path(tempfile.mkdtemp(prefix="rocketproof-java-")), 0
        (self._scratch / COUNTER).write_bytes(bytes(8))
        self._child = worker("stateful_tests.conformance.java.worker", [str(self._scratch), *map(str, jars)],
                             self._scratch)
        try:
            self.java_version = str(self._received(b"", START_LIMIT_S)["java"])
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
        self._child.close()

    @property
    def alive(self) -> bool:
        """Whether it has not been closed."""
        return self._child.alive

    def ask(self, limit_s: float, **request: Any) -> Mapping[str, Any]:
        """The reply to one request, as `worker` describes it.

        limit_s -- wall seconds, for each call of a batch; beyond them (at most as long again) the worker is killed and
        JavaHungError raised.

        Raises BadInputError when the worker says so, JavaProcessError when it ends or fails. After any of the two
        process errors this object is closed.
        """
        return self._received(json.dumps(request).encode("ascii") + b"\n", limit_s)

    def _received(self, request: bytes, limit_s: float) -> Mapping[str, Any]:
        """The reply line to a request."""
        reply: Mapping[str, Any] = json.loads(self._line(request, limit_s).decode("ascii"))
        if "bad_input" in reply:
            raise BadInputError(reply["bad_input"])
        if "failed" in reply:
            raise JavaProcessError(reply["failed"])
        return reply

    def _line(self, request: bytes, limit_s: float) -> bytes:
        self._seen = 0
        try:
            return self._child.line(request, limit_s, goes_on=self._goes_on)
        except ChildError as error:
            stopped = JavaHungError if isinstance(error, ChildHungError) else JavaProcessError
            call = self._call()
            self.close()
            raise stopped(f"the Java process {error}", call) from None

    def _goes_on(self) -> bool:
        """Whether the batch has come to another call since this was asked last."""
        before, self._seen = self._seen, self._call()
        return self._seen != before

    def _call(self) -> int:
        """The call under way, by the worker's counter; 0 when the worker has been closed."""
        if not self.alive:
            return 0
        return int(struct.unpack("Q", (self._scratch / COUNTER).read_bytes())[0])
