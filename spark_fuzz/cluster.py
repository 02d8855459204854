"""Spark: a session with the settings that pay here, and a stop that leaves no process behind.

This module, `crew` and the workers' daemon are the only ones that import pyspark. Rows come back to the driver, so
executors need no file system in common.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError
from spark_fuzz.archive import Archive
from spark_fuzz.crew import ATTEMPTS, Crew, Task, is_stopped
from spark_fuzz.early import SOCKET, waiting
from spark_fuzz.java import java_home
from spark_fuzz.jvm import Jvm
from spark_fuzz.work import Row, Unit, Work

ROOMS = ("model", "invariants", "impl", "stateful_tests", "spark_fuzz")
"""What workers on other machines are sent; proofs stay with the driver."""
SENT = (".py", ".toml")
"""Of the rooms' files those that modules need; recordings stay with the driver, too."""

SETTINGS = {
    "spark.app.name": "rocketproof",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.daemon.module": "spark_fuzz.early",
    "spark.task.maxFailures": str(ATTEMPTS + 1),
    "spark.speculation": "false",
}
"""Serial collection, the first compiler only and no UI: 0.6 of the start-up time. `local[n]` ignores maxFailures."""

ARCHIVE_PAYS_S = 60.0
"""Who uses Spark for so many seconds makes the archive that lets later ones start faster."""
MASTER_ANSWERS_S, EXECUTOR_COMES_S, ARCHIVE_COMES_S, POLL_S = 5.0, 60.0, 300.0, 0.1
ASKED_S = 0.5
_SOCKET = "daemon.sock"  # in the scratch folder


@dataclass
class Cluster:
    """A running Spark. context -- the SparkContext."""

    context: Any
    _cores: int = field(default=1, init=False)
    _asked_s: float = field(default=-math.inf, init=False)

    @property
    def cores(self) -> int:
        """How many tasks run at the same time; executors come and go, so Spark is asked again every ASKED_S."""
        if time.monotonic() >= self._asked_s + ASKED_S:
            with suppress(Exception):  # of a JVM that is gone who takes the next task hears
                self._cores = int(self.context.defaultParallelism)
            self._asked_s = time.monotonic()
        return self._cores

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


def prepare() -> bool:
    """Make the archive that lets Spark start faster, if it is not there; whether it is there now."""
    variables = _variables("local")
    archive = Archive(Path(variables["JAVA_HOME"]), Path(variables["SPARK_HOME"]), Path())
    if not archive.path.exists():
        with open_cluster("local[1]", ARCHIVE_PAYS_S):
            until = time.monotonic() + ARCHIVE_COMES_S
            while not archive.path.exists() and time.monotonic() < until:
                time.sleep(POLL_S)
    return archive.path.exists()


@contextmanager
def open_cluster(master: str = "local[*]", seconds: float = 0.0) -> Iterator[Cluster]:
    """A Spark for the time of the block; one per process at a time.

    master -- local[*], local[n] (both retry a lost worker), or anything else that Spark takes, unchanged.
    seconds -- how long it will be used, as far as that is known.
    Raises BadInputError when there is no such master, or no Java, or Spark cannot start.
    """
    _check(master)
    scratch = Path(tempfile.mkdtemp(prefix="rocketproof-spark-"))
    interrupt = signal.getsignal(signal.SIGINT)
    local = master.startswith("local")
    jvm = Jvm(scratch / "spark.log", local=local)
    with ExitStack() as around:
        # stopping takes a while, and an impatient Ctrl-C must not leave the JVM behind
        around.callback(_on_interrupt, interrupt)
        around.callback(shutil.rmtree, scratch, ignore_errors=True)
        variables = _variables(master)
        archive = Archive(Path(variables["JAVA_HOME"]), Path(variables["SPARK_HOME"]), scratch)
        wanted = seconds >= ARCHIVE_PAYS_S and not archive.path.exists()
        if local:
            around.enter_context(waiting(variables["PYSPARK_PYTHON"], scratch / _SOCKET, _seen_by_workers(scratch)))
        around.callback(jvm.stop)
        around.callback(_on_interrupt, signal.SIG_IGN)
        with _environment(variables):
            context = jvm.start(_settings(master, scratch, archive.option(wanted=wanted)))
        # pyspark installs a handler that talks to the JVM, in the middle of whatever else is said to it.
        _on_interrupt(interrupt)
        _wait_for_executor(context, master)
        cluster = Cluster(context)
        cluster.warm_up()
        if wanted:
            around.enter_context(archive.made_meanwhile(context))
        yield cluster


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


def _settings(master: str, scratch: Path, option: str = "") -> dict[str, str]:
    """Spark's settings for a master; a cluster's workers get the rooms as a zip file that lies in their folder.

    option -- one more for the driver's JVM.
    """
    # PYTHONSAFEPATH: a package of the user's that is called as a room, in the working directory, is not what is meant.
    settings = {**SETTINGS, "spark.master": master, "spark.executorEnv.PYTHONSAFEPATH": "1"}
    settings["spark.driver.extraJavaOptions"] += f" {option}"
    if plain := re.match(r"local(?:\[(\d+|\*)\])?$", master):
        settings["spark.master"] = f"local[{plain[1] or 1},{ATTEMPTS + 1}]"
    if master.startswith("local"):
        settings |= {"spark.local.dir": str(scratch)}
        settings |= {f"spark.executorEnv.{name}": value for name, value in _seen_by_workers(scratch).items()}
    else:
        archive = _zip_rooms(scratch / "rocketproof.zip")
        settings |= {"spark.submit.pyFiles": str(archive), "spark.executorEnv.PYTHONPATH": archive.name}
    return settings


def _seen_by_workers(scratch: Path) -> dict[str, str]:
    """What workers on this machine have in their environment."""
    return {"PYTHONPATH": str(_folder()), SOCKET: str(scratch / _SOCKET)}


def _folder() -> Path:
    """The folder that the rooms lie in."""
    return Path(__file__).resolve().parent.parent


def _zip_rooms(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for room in ROOMS:
            for file in sorted((_folder() / room).rglob("*.*")):
                if file.suffix in SENT:
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
