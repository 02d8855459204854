"""Spark: a session with the settings that pay here, and a stop that leaves no process behind.

This module, `crew` and the workers' daemon are the only ones that import pyspark. Rows come back to the driver, so
executors need no file system in common.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError
from spark_fuzz.crew import ATTEMPTS, Crew, Task, is_stopped, one_line
from spark_fuzz.java import java_home
from spark_fuzz.work import Row, Unit, Work

ROOMS = ("model", "invariants", "impl", "stateful_tests", "spark_fuzz")
"""What workers on other machines are sent; proofs stay with the driver."""

SETTINGS = {
    "spark.app.name": "rocketproof",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.daemon.module": "spark_fuzz.daemon",
    "spark.task.maxFailures": str(ATTEMPTS + 1),
    "spark.speculation": "false",
}
"""Serial collection, the first compiler only and no UI: 0.6 of the start-up time. `local[n]` ignores maxFailures."""

MASTER_ANSWERS_S, EXECUTOR_COMES_S, STOP_S, JVM_ENDS_S, POLL_S = 5.0, 60.0, 20.0, 10.0, 0.1


@dataclass
class Cluster:
    """A running Spark. context -- the SparkContext."""

    context: Any

    @property
    def cores(self) -> int:
        """How many tasks run at the same time; executors come and go."""
        with suppress(Exception):  # of a JVM that is gone who takes the next task hears
            self._cores = int(self.context.defaultParallelism)
        return self._cores

    def __post_init__(self) -> None:
        """No core is known yet."""
        self._cores = 1

    @contextmanager
    def crew(self, work: Work) -> Iterator[Crew]:
        """Who does tasks with a work function in the block; what is not done at its end is cancelled."""
        crew = Crew(self.context, work)
        try:
            yield crew
        finally:
            crew.end()

    def run_units(self, units: Sequence[Unit], work: Work) -> list[Row]:
        """The rows of all units, in their order, each in a task of its own.

        A unit whose worker dies at every attempt ends as a failed row that tells how it died. Raises ClusterLostError.
        """
        rows: dict[str, list[Row]] = {}
        waiting = deque(units)
        with self.crew(work) as crew:
            while waiting or crew.inside:
                while waiting and crew.inside <= self.cores:
                    crew.give(Task((waiting.popleft(),)))
                rows |= {one.unit.id: one.rows for done in crew.take() for one in done.attempted}
        return [row for unit in units for row in rows[unit.id]]

    def warm_up(self) -> None:
        """Start the workers: the first tasks of a session pay for most of it.

        Raises BadInputError when workers cannot do what this process can.
        """
        units = [Unit(f"warm-up {number}") for number in range(self.cores)]
        failures = [row["error"] for row in self.run_units(units, _nothing) if row["error"] is not None]
        if failures:
            raise BadInputError(f"Spark's workers fail ({failures[0]}); set PYSPARK_PYTHON to a Python like this one")


def _nothing(_unit: Unit) -> list[Row]:
    return [{}]


@contextmanager
def open_cluster(master: str = "local[*]") -> Iterator[Cluster]:
    """A Spark for the time of the block; one per process at a time.

    master -- local[*], local[n] (both retry a lost worker), or anything else that Spark takes, unchanged.
    Raises BadInputError when there is no such master, or no Java, or Spark cannot start.
    """
    _check(master)
    scratch = Path(tempfile.mkdtemp(prefix="rocketproof-spark-"))
    jvm = _Jvm(scratch)
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        with _environment(_variables(master)):
            context = jvm.start(_settings(master, scratch))
        # pyspark installs a handler that talks to the JVM, in the middle of whatever else is said to it.
        _on_interrupt(interrupt)
        _wait_for_executor(context, master)
        cluster = Cluster(context)
        cluster.warm_up()
        yield cluster
    finally:
        _on_interrupt(signal.SIG_IGN)  # stopping takes a second, and an impatient Ctrl-C must not leave the JVM behind
        try:
            jvm.stop()
            shutil.rmtree(scratch, ignore_errors=True)
        finally:
            _on_interrupt(interrupt)


class _Jvm:
    """The JVM of the driver, its output kept from the terminal."""

    def __init__(self, scratch: Path) -> None:
        self.log = scratch / "spark.log"
        self.gateway: Any = None
        self.context: Any = None

    def start(self, settings: Mapping[str, str]) -> Any:
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


def _check(master: str) -> None:
    """Says at once what Spark would say after minutes."""
    if find_spec("pyspark") is None:
        raise BadInputError("campaigns need Spark: pip install 'rocketproof[spark]'")
    if not re.match(r"(local(\[(\d+|\*)(,\d+)?\])?|yarn|(spark|k8s)://\S+)$", master):
        raise BadInputError(f"--master {master}: not a master; give local[*], local[2] or spark://HOST:PORT")
    if not master.startswith("spark://"):
        return
    addresses = re.findall(r"([^,:/]+):(\d+)", master.removeprefix("spark://"))
    if not addresses:
        raise BadInputError(f"--master {master}: no port; give spark://HOST:PORT")
    if not any(_answers(host, int(port)) for host, port in addresses):
        raise BadInputError(f"--master {master}: nothing answers there; start the master, or leave --master out")


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=MASTER_ANSWERS_S):
            return True
    except (OSError, OverflowError):
        return False


def _settings(master: str, scratch: Path) -> dict[str, str]:
    """Spark's settings for a master; a cluster's workers get the rooms as a zip file that lies in their folder."""
    # PYTHONSAFEPATH: a package of the user's that is called as a room, in the working directory, is not what is meant.
    settings = {**SETTINGS, "spark.master": master, "spark.executorEnv.PYTHONSAFEPATH": "1"}
    if plain := re.match(r"local(?:\[(\d+|\*)\])?$", master):
        settings["spark.master"] = f"local[{plain[1] or 1},{ATTEMPTS + 1}]"
    if master.startswith("local"):
        settings |= {"spark.local.dir": str(scratch), "spark.executorEnv.PYTHONPATH": str(_folder())}
    else:
        archive = _zip_rooms(scratch / "rocketproof.zip")
        settings |= {"spark.submit.pyFiles": str(archive), "spark.executorEnv.PYTHONPATH": archive.name}
    return settings


def _folder() -> Path:
    """The folder that the rooms lie in."""
    return Path(__file__).resolve().parent.parent


def _zip_rooms(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for room in ROOMS:
            for file in sorted((_folder() / room).rglob("*.py")):
                archive.write(file, file.relative_to(_folder()))
    return path


def _variables(master: str) -> dict[str, str]:
    """What must be in the environment while Spark starts; what the user has set stays, except the home of Spark."""
    import pyspark  # noqa: PLC0415 - an extra, and slow to import

    loopback = master.startswith("local") or re.match(r"spark://(127\.|localhost)", master)
    wanted = {"PYSPARK_PYTHON": sys.executable} | ({"SPARK_LOCAL_IP": "127.0.0.1"} if loopback else {})
    chosen = {name: os.environ.get(name, value) for name, value in wanted.items()}
    return chosen | {"JAVA_HOME": str(java_home()), "SPARK_HOME": str(Path(pyspark.__file__).parent)}


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set for the block only: another judge in this process must not find our Java home."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _on_interrupt(handler: Any) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


def _wait_for_executor(context: Any, master: str) -> None:
    """Wait until an executor is there; raises BadInputError when none comes."""
    if master.startswith("local"):
        return
    until = time.monotonic() + EXECUTOR_COMES_S
    while context._jsc.sc().getExecutorMemoryStatus().size() <= 1:  # noqa: SLF001 - the driver itself is one; pyspark has no public way
        if time.monotonic() > until or is_stopped(context):
            raise BadInputError(f"--master {master}: gives no executor; start a worker, or leave --master out")
        time.sleep(POLL_S)
