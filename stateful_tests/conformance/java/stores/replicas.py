"""Replication between the real store and ours, over TCP: the slave's log is the master's, byte for byte, both ways."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from impl.hosts.files.directory import Directory
from impl.hosts.sockets.connections import Listener, connect
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_store_config import BrokerRole, MessageStoreConfig
from stateful_tests.conformance.java.stores.programs import drawn, put_to_ours, put_to_real
from stateful_tests.conformance.java.stores.real import ROOT, real_store

LIMIT_S = 30.0  # a slave of 4.9.3 says nothing for the five seconds of a heartbeat
_CONFIG = MessageStoreConfig(mapped_file_size_commit_log=1 << 16, configured_file_size_consume_queue=2_000,
                             max_hash_slot_num=101, max_index_num=400)
_PUTS = 60


def replication(folder: Path, seed: int) -> tuple[int, str | None]:
    """Put a program to a master: how many puts there were, and what differs. Of an even seed the real store is it."""
    random = Random(seed)  # noqa: S311  # a program must be the same again
    return _from_real(folder, random) if seed % 2 == 0 else _from_ours(folder, random)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _from_real(folder: Path, random: Random) -> tuple[int, str | None]:
    master = real_store(folder / "real", _CONFIG)
    slave = DefaultMessageStore(
        Directory(folder / "ours"), replace(_CONFIG, broker_role=BrokerRole.SLAVE), _now_ms, connect=connect)
    if not (bool(master.load()) and slave.load() and slave.start()):
        return 0, "expected both to start, got one that does not"
    master.start()
    slave.ha_service.update_master_address(f"127.0.0.1:{int(master.getMessageStoreConfig().getHaListenPort())}")
    for _ in range(_PUTS):
        put_to_real(master, drawn(random))
    found = _until_alike(
        folder, lambda: int(master.getMaxPhyOffset()), slave.get_max_phy_offset, slave.ha_service.ha_client.run_once,
    ) or _begins_at_the_last_file(folder / "ours", slave.get_max_phy_offset())
    slave.shutdown()
    master.shutdown()
    return _PUTS, found


def _from_ours(folder: Path, random: Random) -> tuple[int, str | None]:
    master = DefaultMessageStore(Directory(folder / "ours"), _CONFIG, _now_ms)
    slave = real_store(folder / "real", replace(_CONFIG, broker_role=BrokerRole.SLAVE))
    if not (bool(slave.load()) and master.load() and master.start()):
        return 0, "expected both to start, got one that does not"
    slave.start()
    for _ in range(_PUTS):
        put_to_ours(master, drawn(random))
    with Listener() as listener:
        slave.getHaService().updateMasterAddress(listener.address)

        def step() -> None:
            if (accepted := listener.accept()) is not None:
                master.ha_service.accept(accepted)
            master.ha_service.run_once()

        found = _until_alike(folder, master.get_max_phy_offset, lambda: int(slave.getMaxPhyOffset()), step)
        found = found or _begins_at_the_last_file(folder / "real", int(slave.getMaxPhyOffset()))
        master.shutdown()
    slave.shutdown()
    return _PUTS, found


def _until_alike(
    folder: Path, of_master: Callable[[], int], of_slave: Callable[[], int], step: Callable[[], Any],
) -> str | None:
    """Step until the slave has as much as the master, and compare the files of the log: what differs."""
    until = time.monotonic() + LIMIT_S
    while of_slave() < of_master() and time.monotonic() < until:
        step()
        time.sleep(0.002)
    if of_slave() != of_master():
        return f"expected {of_master()} bytes on the slave, got {of_slave()}"
    real, ours = (_log(folder / name, of_slave()) for name in ("real", "ours"))
    alike = all(real[name] == ours[name] for name in real.keys() & ours.keys())
    return None if alike and real.keys() & ours.keys() else "expected the same bytes on both, got others"


def _begins_at_the_last_file(slave: Path, end: int) -> str | None:
    """A slave that was empty is sent no older file of its master (V29): what differs from that."""
    begin, last = min(map(int, _log(slave, end))), end - end % _CONFIG.mapped_file_size_commit_log
    return None if begin == last else f"expected a slave that begins at {last}, got one that begins at {begin}"


def _log(folder: Path, end: int) -> dict[str, bytes]:
    """The files of a log, up to an offset. A slave that was empty has the last one only."""
    files = (folder / ROOT / "commitlog").iterdir()
    return {file.name: file.read_bytes()[:end - int(file.name)] for file in files if int(file.name) < end}
