"""A stand-alone master and a worker on loopback, from the pip package: what a cluster of one's own is like."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from invariants.verdict import Verdict
from spark_fuzz.java import java_home

pytestmark = pytest.mark.quality  # three JVMs for one test

LIMITS = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def alive_workers(port: int) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/", timeout=5) as page:
            return int(json.load(page)["aliveworkers"])
    except OSError:
        return 0


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a master that has one worker."""
    package = find_spec("pyspark")
    assert package
    assert package.origin
    home = Path(package.origin).parent
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    commands = [
        ["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)],
        ["worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1200m", "--webui-port", "0",
         "--work-dir", str(tmp_path / "work"), address],
    ]
    variables = {"SPARK_HOME": str(home), "JAVA_HOME": str(java_home()), "SPARK_LOCAL_IP": "127.0.0.1", **LIMITS}
    with (tmp_path / "cluster.log").open("wb") as log:
        started = [
            subprocess.Popen(  # noqa: S603 - Spark's own start script
                [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
                env={**os.environ, **variables}, stdout=log, stderr=log,
            ) for name, *arguments in commands
        ]
        try:
            until = time.monotonic() + 120
            while not alive_workers(page):
                assert time.monotonic() < until, (tmp_path / "cluster.log").read_text(encoding="utf-8")
                time.sleep(0.2)
            yield address
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def test_a_cluster_gives_the_verdicts_and_has_the_code_sent(master: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spark_fuzz", "--decisions", "--minutes", "10", "--units", "37", "--json", "-"]
    done = subprocess.run(  # noqa: S603 - this Python
        [*command, "--master", master, "--out", str(tmp_path / "out")], capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all(Verdict.from_json(line).as_expected for line in done.stdout.splitlines())
    assert list((tmp_path / "work").glob("app-*/*/rocketproof.zip"))
