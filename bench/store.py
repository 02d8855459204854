"""Speed of the store: `python -m bench.store [--seconds S] [--java]`.

One JSON object a line; every rate is of wall time on one core, and ratios are of the same run. Puts go the whole way:
encoded, appended, dispatched to queue and index; with SYNC_FLUSH each is flushed before the next.

simulated     puts a second on a disk in memory
files         the same on files, ASYNC_FLUSH; with --java beside the official DefaultMessageStore in this process
sync          with SYNC_FLUSH on files, beside a loop that writes as many bytes and forces them
recovery      seconds for a GiB of log, by the time that a start after a kill takes
inspection    GiB of log a second with `rocketproof store`, and the most memory that the process has
sparse        the same command on a log of ten GiB that is mostly holes
atlas         images and recoveries a second of the crash atlas
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_const import PROPERTY_KEYS
from impl.common.record_layout import BLANK_MAGIC_CODE
from impl.hosts.files.directory import Directory
from impl.ports.disk import Disk
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_store_config import FlushDiskType, MessageStoreConfig
from stateful_tests.crash.memory import MemoryDisk
from stateful_tests.crash.programs import Life
from stateful_tests.crash.survey import MACHINE, Crashes, surveyed
from stateful_tests.crash.workloads import WORKLOADS
from stateful_tests.stores.inspection import inspect
from stateful_tests.stores.sizes import sizes_of

_HOST = InetSocketAddress(bytes([127, 0, 0, 1]), 10_911)
_BODY = bytes(1_000)
CONFIG = MessageStoreConfig(
    mapped_file_size_commit_log=16 << 20, configured_file_size_consume_queue=400_000, max_hash_slot_num=5_000,
    max_index_num=20_000)
SYNC = replace(CONFIG, flush_disk_type=FlushDiskType.SYNC_FLUSH)
GIB = 1 << 30
SPARSE_FILES, SPARSE_RECORDS = 10, 100
BLANK = struct.Struct(">ii")  # length and magic code
Row = dict[str, Any]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def started(disk: Disk, config: MessageStoreConfig) -> DefaultMessageStore:
    """A store that takes puts."""
    store = DefaultMessageStore(disk, config, _now_ms)
    if not (store.load() and store.start()):
        raise RuntimeError("the store does not start")
    return store


def put(store: DefaultMessageStore, number: int) -> None:
    """One message of 1,000 bytes with a key, up to its acknowledgement, and its dispatch."""
    message = MessageExtBrokerInner("T", _BODY, _HOST, _HOST)
    message.put_property(PROPERTY_KEYS, f"k{number}")
    message.write_properties()
    future = store.async_put_message(message)
    if store.config.flush_disk_type is FlushDiskType.SYNC_FLUSH:
        store.commit_log.group_commit_service.run_once()
    store.reput_message_service.do_reput()
    result = future.result()
    if result is None or result.append_message_result is None:
        raise RuntimeError("a put is not acknowledged")


def rate(work: Callable[[int], object], seconds: float) -> float:
    """How often a second it is done."""
    number, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        work(number)
        number += 1
    return number / (time.perf_counter() - began)


def simulated(seconds: float) -> Row:
    """Puts on a disk in memory."""
    store = started(MemoryDisk({}), CONFIG)
    return {"measured": "simulated", "puts_per_second": round(rate(lambda number: put(store, number), seconds))}


def files(folder: Path, seconds: float, java: Callable[[Path, float], float] | None) -> Row:
    """Puts on files, and how many times faster the official store is."""
    store = started(Directory(folder / "ours"), CONFIG)
    ours = rate(lambda number: put(store, number), seconds)
    store.shutdown()
    row: Row = {"measured": "files", "puts_per_second": round(ours)}
    if java is not None:
        theirs = java(folder / "real", seconds)
        row |= {"java_puts_per_second": round(theirs), "java_is_faster": round(theirs / ours, 1)}
    return row


def sync(folder: Path, seconds: float) -> Row:
    """Puts that are flushed each, beside bare writes of as many bytes."""
    store = started(Directory(folder / "sync"), SYNC)
    ours = rate(lambda number: put(store, number), seconds)
    length = store.get_max_phy_offset() // max(store.get_max_offset_in_queue("T", 0), 1)
    store.shutdown()
    with (folder / "bare").open("wb", buffering=0) as file:
        data = bytes(length)

        def bare(_: int) -> None:
            file.write(data)
            os.fsync(file.fileno())

        alone = rate(bare, seconds)
    return {"measured": "sync", "puts_per_second": round(ours), "bare_per_second": round(alone),
            "share_of_bare": round(ours / alone, 2)}


def recovery(folder: Path, seconds: float) -> Row:
    """A start after a kill of what was put in that time."""
    disk = Directory(folder / "recovery")
    store = started(disk, CONFIG)
    rate(lambda number: put(store, number), seconds)
    log_bytes = store.get_max_phy_offset()
    store._lock_file.close()  # noqa: SLF001  # as the operating system does at a kill
    began = time.perf_counter()
    store = started(disk, CONFIG)
    took_s = time.perf_counter() - began
    store.shutdown()
    return {"measured": "recovery", "log_bytes": log_bytes, "seconds_per_gib": round(took_s * GIB / log_bytes, 1)}


def inspection(folder: Path, seconds: float) -> Row:
    """`rocketproof store` on what was put in that time."""
    store = started(Directory(folder / "inspection"), CONFIG)
    rate(lambda number: put(store, number), seconds)
    log_bytes = store.get_max_phy_offset()
    store.shutdown()
    directory = folder / "inspection" / "store"
    began = time.perf_counter()
    inspect(directory, sizes_of(directory))
    took_s = time.perf_counter() - began
    _, peak_mib = looked_at(directory)
    return {"measured": "inspection", "log_bytes": log_bytes, "gib_per_second": round(log_bytes / GIB / took_s, 4),
            "peak_mib": peak_mib}


def sparse(folder: Path, file_bytes: int = GIB) -> Row:
    """`rocketproof store` on ten log files, each with a few records and a blank behind them."""
    store = started(Directory(folder / "sparse"), replace(CONFIG, mapped_file_size_commit_log=file_bytes))
    for number in range(SPARSE_FILES * SPARSE_RECORDS):
        put(store, number)
        file = store.commit_log.mapped_file_queue.mapped_files[-1]
        if (number + 1) % SPARSE_RECORDS == 0:
            file.file.write(file.wrote_position, BLANK.pack(file.file_size - file.wrote_position, BLANK_MAGIC_CODE))
            file.set_positions(file.file_size)
            store.reput_message_service.do_reput()
    log_bytes = store.get_max_phy_offset()
    store.shutdown()
    took_s, peak_mib = looked_at(folder / "sparse" / "store")
    return {"measured": "sparse", "log_bytes": log_bytes, "seconds": round(took_s, 1), "peak_mib": peak_mib}


def looked_at(directory: Path) -> tuple[float, int]:
    """How many seconds the command takes, and the most MiB that it has in memory; raises RuntimeError if it fails."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "invariants", "store", str(directory), "--json", os.devnull]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[1])  # noqa: S603  # this Python, and this project
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"rocketproof store ends with {process.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss >> 10


def atlas() -> Row:
    """All machine crashes of some workloads of the crash atlas."""
    began, images, recoveries = time.process_time(), 0, 0
    for name in ("sync_two_topics", "sync_roll", "sync_index", "sync_kill", "async_batch"):
        life = Life(WORKLOADS[name])
        tally = surveyed(life, Crashes(life, MACHINE).all())
        images, recoveries = images + tally.covered, recoveries + tally.recoveries
    spent_s = time.process_time() - began
    return {"measured": "atlas", "images_per_cpu_second": round(images / spent_s),
            "recoveries_per_cpu_second": round(recoveries / spent_s)}


def real(folder: Path, seconds: float) -> float:
    """Puts a second of the official store, in this process; its calls go by way of JPype."""
    from stateful_tests.conformance.java import artefacts, runtime  # noqa: PLC0415  # Java is optional
    from stateful_tests.conformance.java.stores.programs import Put, put_to_real  # noqa: PLC0415
    from stateful_tests.conformance.java.stores.real import real_store, silence  # noqa: PLC0415

    folder.mkdir()
    runtime.start(artefacts.jars(lambda *_: None), folder)
    silence(folder)
    store = real_store(folder, CONFIG)
    if not bool(store.load()):
        raise RuntimeError("the official store does not load")
    store.start()
    host = bytes([127, 0, 0, 1]), 10_911
    found = rate(lambda number: put_to_real(store, Put(
        "T", 0, _BODY, {PROPERTY_KEYS: f"k{number}"}, host, host, 0, 0, 0, batch=False)), seconds)
    store.shutdown()
    return found


def measured(folder: Path, seconds: float, *, java: bool) -> Iterator[Row]:
    """All rows."""
    yield simulated(seconds)
    yield files(folder, seconds, real if java else None)
    yield sync(folder, seconds)
    yield recovery(folder, seconds)
    yield inspection(folder, seconds)
    yield sparse(folder)
    yield atlas()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each")
    parser.add_argument("--java", action="store_true", help="beside the official store")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocketproof-store-") as scratch:
        for row in measured(Path(scratch), given.seconds, java=given.java):
            print(json.dumps(row), flush=True)
    os._exit(0)  # threads of the official store do not end


if __name__ == "__main__":
    main()
