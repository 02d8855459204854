"""What runs on this machine, by its command line; and a stand-alone Spark on loopback, from the pip package."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from spark_fuzz.java import java_home

_LIMITS = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}
_STARTS_S = 180


def running(text: str) -> dict[int, int]:
    """{process: its parent} of the processes whose command line has the text."""
    told = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True)  # noqa: S607 - ps of the PATH
    rows = [line.split(maxsplit=2) for line in told.stdout.splitlines() if text in line]
    return {int(pid): int(parent) for pid, parent, _ in rows}


def workers() -> list[int]:
    """The Python workers of the Spark of this process: forked from the daemon that it has started."""
    found = running("-m spark_fuzz.early")
    own = {pid for pid, parent in found.items() if parent == os.getpid()}
    return [pid for pid, parent in found.items() if parent in own]


def gone(text: str, seconds: float) -> bool:
    """Whether no such process is left within so many seconds."""
    until = time.monotonic() + seconds
    while running(text):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


@dataclass(frozen=True)
class Standalone:
    """A master with workers. address -- of the master. folder -- of the workers, in their command lines."""

    address: str
    folder: Path

    def workers(self) -> list[int]:
        """The workers' Java processes."""
        return sorted(set(running(f"--work-dir {self.folder}")) & set(running("deploy.worker.Worker")))

    def executors(self) -> list[int]:
        """Those of the executors, which run in the workers' folder."""
        found = running("CoarseGrainedExecutorBackend")
        own = str(self.folder.resolve())
        return sorted(pid for pid in found if str(Path(f"/proc/{pid}/cwd").resolve()).startswith(own))


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[Standalone]:
    """A master and so many workers of a core each, below a folder, for the time of the block."""
    package = find_spec("pyspark")
    assert package is not None
    assert package.origin is not None
    home = Path(package.origin).parent
    port, page = _free_port(), _free_port()
    cluster = Standalone(f"spark://127.0.0.1:{port}", folder / "work")
    commands = [["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]] + workers * [
        ["worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1200m", "--webui-port", "0",
         "--work-dir", str(cluster.folder), cluster.address]]
    variables = {"SPARK_HOME": str(home), "JAVA_HOME": str(java_home()), "SPARK_LOCAL_IP": "127.0.0.1", **_LIMITS}
    with (folder / "cluster.log").open("wb") as log:
        started = [
            subprocess.Popen(  # noqa: S603 - Spark's own start script
                [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
                env={**os.environ, **variables}, stdout=log, stderr=log,
            ) for name, *arguments in commands
        ]
        try:
            until = time.monotonic() + _STARTS_S
            while _alive_workers(page) < workers:
                assert time.monotonic() < until, (folder / "cluster.log").read_text(encoding="utf-8")
                time.sleep(0.2)
            yield cluster
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _alive_workers(port: int) -> int:
    """0 also while the master starts: its page for people is there before the one for programs, and answers for it."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/", timeout=5) as page:
            return int(json.load(page)["aliveworkers"])
    except (OSError, json.JSONDecodeError):
        return 0


@contextmanager
def disk_of(size_bytes: int) -> Iterator[None]:
    """The kernel refuses to write files beyond the size, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
