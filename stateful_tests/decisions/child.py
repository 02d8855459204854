"""A user's strategy as a plain function: each call goes to a child process, with a wall limit, which can be killed."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from impl.decisions.message_queue import MessageQueue
from invariants.allocation import Failure
from invariants.verdict import BadInputError

START_LIMIT_S = 30.0
CALL_LIMIT_S = 5.0
_CHUNK_BYTES = 1 << 16
_ROOMS = Path(__file__).parents[2]


class StrategyHungError(Exception):
    """A call did not return within the limit; the child has been killed."""


class StrategyEndedError(Exception):
    """A call ended the child process (os._exit, a crash of native code, too much memory)."""


class ChildStrategy:
    """(group, me, queues, members) -> queues, for a class MODULE:CLASS; use it in a `with`, or `close` it.

    An answer is a list of MessageQueues (and of texts, for elements that are none), None, or a Failure that says what
    was raised. Raises StrategyHungError or StrategyEndedError when there is no answer; the child is gone then.
    """

    def __init__(self, reference: str, *, limit_s: float = CALL_LIMIT_S, hash_seed: int = 0) -> None:
        """Start the child and make the object.

        reference -- MODULE:CLASS, importable from here or from the working directory. limit_s -- wall seconds of one
        call. hash_seed -- the child's PYTHONHASHSEED: two children with different seeds differ where a strategy
        depends on hash().

        Raises BadInputError, in one sentence, when the class cannot be made.
        """
        self.reference, self._limit_s = reference, limit_s
        path = os.pathsep.join([str(_ROOMS), *(entry or str(Path.cwd()) for entry in sys.path)])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(hash_seed)}
        self._child = subprocess.Popen(  # noqa: S603  # our own module
            [sys.executable, "-P", "-m", "stateful_tests.decisions.worker", reference, str(Path.cwd())],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._end = weakref.finalize(self, _kill, self._child)
        self._buffer = b""
        try:
            reply = self._reply(START_LIMIT_S)
        except (StrategyHungError, StrategyEndedError) as error:
            raise BadInputError(f"making {reference} {_why(error)}; it must be made without effects") from error
        except BaseException:
            self.close()
            raise
        if "bad_input" in reply:
            self.close()
            raise BadInputError(reply["bad_input"])

    def __enter__(self) -> Self:
        """The strategy itself."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End the child."""
        self.close()

    def close(self) -> None:
        """Kill the child and whatever it started; may be called again."""
        self._end()

    def __call__(self, group: str, me: str, queues: list[MessageQueue], members: list[str]) -> Any:
        """What the class's allocate answers."""
        rows = [[queue.topic, queue.broker_name, queue.queue_id] for queue in queues]
        request = json.dumps({"group": group, "me": me, "queues": rows, "members": members})
        call = f"{self.reference} with me={me!r}, {len(queues)} queues and members {members!r}"
        try:
            self._send(request)
            reply = self._reply(self._limit_s)
        except StrategyHungError as error:
            raise StrategyHungError(f"{call} {_why(error)}") from error
        except StrategyEndedError as error:
            raise StrategyEndedError(f"{call} {_why(error)}") from error
        if "failure" in reply:
            return Failure(str(reply["failure"]))
        if "none" in reply:
            return None
        return [MessageQueue(*row) if isinstance(row, list) else row for row in reply["queues"]]

    def _send(self, line: str) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(line.encode("ascii") + b"\n")
            self._child.stdin.flush()
        except (OSError, ValueError) as error:  # the pipe is broken, or was closed with the child
            raise StrategyEndedError from error

    def _reply(self, limit_s: float) -> dict[str, Any]:
        assert self._child.stdout is not None
        descriptor, deadline = self._child.stdout.fileno(), time.monotonic() + limit_s
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(descriptor, _CHUNK_BYTES) if ready else None
            if not chunk:
                self.close()
                raise StrategyHungError(limit_s) if chunk is None else StrategyEndedError
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)  # type: ignore[no-any-return]  # the worker writes objects


def _why(error: Exception) -> str:
    if isinstance(error, StrategyHungError):
        return f"does not return within {error.args[0]:g} s"
    return "ends its process"


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's whole process group and take its status, so that nothing is left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
