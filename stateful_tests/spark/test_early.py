from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from spark_fuzz import early
from spark_fuzz.cluster import Cluster
from spark_fuzz.work import Unit
from stateful_tests.spark import toys
from stateful_tests.spark.processes import running

ENDS_S = 60


@contextmanager
def started_by_a_jvm(folder: Path, address: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A daemon as Spark starts it, and the socket at which it lets itself be asked for workers."""
    environment = {**os.environ, early.SOCKET: str(address), "PYTHON_UNIX_DOMAIN_ENABLED": "true",
                   "PYTHON_WORKER_FACTORY_SOCK_DIR": str(folder)}
    process = subprocess.Popen([sys.executable, "-m", "spark_fuzz.early", "pyspark.worker"], env=environment,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    try:
        size = int.from_bytes(process.stdout.read(4), "big")
        yield process, process.stdout.read(size).decode()
        process.stdin.close()
        process.wait(ENDS_S)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def children() -> set[int]:
    return {pid for pid, parent in running(early.WAIT).items() if parent == os.getpid()}


def forked_by(address: str) -> int:
    """The process that forks a worker for whoever asks at this socket."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(address)
        worker = int.from_bytes(asking.recv(4), "big")
        return int(Path(f"/proc/{worker}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def test_workers_come_from_the_daemon_that_has_waited(cluster: Cluster) -> None:
    cluster.run_units([Unit("a", {"n": 1}), Unit("b", {"n": 2})], toys.squares)
    daemons = running("-m spark_fuzz.early")
    waited = [pid for pid, parent in daemons.items() if parent == os.getpid()]
    passed_on = [pid for pid, parent in daemons.items() if parent == cluster.context._gateway.proc.pid]
    parents = set(daemons.values())
    assert ([pid in parents for pid in waited], [pid in parents for pid in passed_on]) == ([True], [False])


def test_the_daemon_of_a_jvm_is_the_one_that_waits_and_both_end_with_the_jvm(tmp_path: Path) -> None:
    before = children()
    with early.waiting(sys.executable, tmp_path / "s", {}):
        waits, = children() - before
        while not (tmp_path / "s").exists():
            time.sleep(0.01)
        with started_by_a_jvm(tmp_path, tmp_path / "s") as (_, address):
            assert forked_by(address) == waits
        until = time.monotonic() + 20
        while waits in children() and time.monotonic() < until:
            time.sleep(0.01)
        assert waits not in children()


def test_where_none_waits_the_daemon_of_a_jvm_serves_itself(tmp_path: Path) -> None:
    with started_by_a_jvm(tmp_path, tmp_path / "nobody") as (process, address):
        assert forked_by(address) == process.pid


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_one_that_waits_ends_with_the_process_that_has_started_it(number: int, tmp_path: Path) -> None:
    code = ("import sys, time; from pathlib import Path; from spark_fuzz.early import waiting\n"
            "with waiting(sys.executable, Path(sys.argv[1]), {}): print(flush=True); time.sleep(60)")
    process = subprocess.Popen([sys.executable, "-c", code, tmp_path / "s"], stdout=subprocess.PIPE)  # noqa: S603 - this Python
    assert process.stdout
    process.stdout.readline()
    waits = [pid for pid, parent in running(early.WAIT).items() if parent == process.pid]
    process.send_signal(number)
    process.communicate()
    until = time.monotonic() + ENDS_S
    while set(waits) & set(running(early.WAIT)):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert waits
