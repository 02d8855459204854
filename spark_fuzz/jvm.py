"""The JVM that Spark's driver runs in: its start, and an end that leaves no process behind."""

from __future__ import annotations

import logging
import re
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError
from spark_fuzz.crew import one_line

STOP_S, JVM_ENDS_S = 20.0, 10.0


class Jvm:
    """The JVM of the driver, its output kept from the terminal.

    log -- the file for its output. local -- whether the tasks run in this JVM. gateway, context -- of pyspark, when it
    has started.
    """

    def __init__(self, log: Path, *, local: bool) -> None:
        """Not started yet."""
        self.log, self._local = log, local
        self.gateway: Any = None
        self.context: Any = None

    def start(self, settings: Mapping[str, str]) -> Any:
        """The SparkContext; raises BadInputError when Spark does not start."""
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - an extra, and slow to import
        from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - same

        if SparkContext._active_spark_context is not None:  # noqa: SLF001 - getOrCreate would hand it out with other settings
            raise RuntimeError("this process has a Spark already; use that one")
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        try:
            with self.log.open("ab") as log:
                self.gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
            self.context = SparkContext(conf=conf, gateway=self.gateway)
        except Exception as failure:
            raise BadInputError(f"Spark does not start: {self._told() or one_line(failure)}") from failure
        # A JVM that is killed is told by one line of ours, not by the stack traces of each thread that talked to it.
        logging.getLogger().addFilter(_not_from_py4j)
        self.context._accumulatorServer.handle_error = lambda *_request: None  # noqa: SLF001 - no public way
        return self.context

    def _told(self) -> str:
        """The line of the JVM's output that says most, or nothing."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        telling = [line for line in lines if re.search(r"\b(Exception|Error|error|ERROR|not found)\b", line)]
        return telling[0].strip()[:300] if telling else ""

    def stop(self) -> None:
        """Ends context and JVM, whatever state they are in; a JVM that does not listen is killed."""
        if self.gateway is None:
            return
        from pyspark import SparkContext  # noqa: PLC0415 - as above

        process: subprocess.Popen[bytes] = self.gateway.proc
        if self._local:  # nobody else has to hear of its end, which would take a second
            process.kill()
            self.context = _without_jvm(self.context)
        deadline = threading.Timer(STOP_S, process.kill)
        deadline.start()
        try:
            with suppress(Exception):  # a JVM that is gone cannot be asked to stop
                if self.context is not None:
                    self.context.stop()
            with suppress(Exception):
                self.gateway.shutdown()
        finally:
            SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - else the next one would talk to this JVM
            SparkContext._active_spark_context = None  # noqa: SLF001 - same
            _end(process)
            deadline.cancel()
            logging.getLogger().removeFilter(_not_from_py4j)


def _without_jvm(context: Any) -> Any:
    """The context, which can be stopped but has nobody to tell, and need not wait for its own server."""
    if context is not None:
        context._jsc = None  # noqa: SLF001 - it would complain that nobody answers
        server, context._accumulatorServer = context._accumulatorServer, None  # noqa: SLF001 - no public way
        threading.Thread(target=server.shutdown, daemon=True).start()  # it listens up to half a second
    return context


def _not_from_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        with suppress(OSError):
            process.stdin.close()  # Spark's gateway ends at the end of its input
    try:
        process.wait(JVM_ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
