"""Directories that are not as a broker leaves them: the store does as RocketMQ's does, and the inspection says why."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaError, JavaRuntimeError, MappingFaultError
from impl.hosts.files.directory import Directory
from impl.store.default_message_store import DefaultMessageStore
from invariants.__main__ import app
from stateful_tests.cover.store.brokers import SMALL, T0, Broker
from stateful_tests.cover.store.directories import on_files, put_four_files, put_ten
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.world import World

Spoil = Callable[[Path], object]
TORN = b'{"dataVersion":{"counter":1,"tim'
LOG, QUEUE, DELAY = "commitlog", "consumequeue/T/0", "config/delayOffset.json"
SECOND, THIRD = "00000000000000002048", "00000000000000004096"


def wrote(path: str, content: bytes) -> Spoil:
    """A file has this content."""
    def spoil(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)

    return spoil


def both(one: Spoil, other: Spoil) -> Spoil:
    """Do both."""
    return lambda root: (one(root), other(root))


def with_a_folder_for_a_checkpoint(root: Path) -> None:
    """The checkpoint is a folder."""
    (root / "checkpoint").unlink()
    (root / "checkpoint").mkdir()


def without_log(root: Path) -> None:
    """The log is a file, and no folder."""
    shutil.rmtree(root / LOG)
    (root / LOG).write_bytes(b"")


def started(root: Path) -> str:
    """What becomes of a store that starts on the directory: it loads or not, and what is raised."""
    store = DefaultMessageStore(Directory(root.parent), SMALL, lambda: T0)
    try:
        return ("started" if store.start() else "waits") if store.load() else "refused"
    except JavaError as error:
        return error.java_class


def said(root: Path) -> tuple[int, str]:
    """The status of the command, and what it says."""
    told = CliRunner().invoke(app, ["store", str(root)])
    return told.exit_code, told.output


CASES: tuple[tuple[str, Spoil, str, int, str], ...] = (
    ("a file of the wrong length", wrote(f"{LOG}/{SECOND}", bytes(100)), "refused", 1,
     f"{LOG}/{SECOND}: 100 bytes, not 2048: the broker does not start"),
    ("a file without content", wrote(f"{LOG}/{SECOND}", b""), "refused", 1,
     f"{LOG}/{SECOND}: 0 bytes, not 2048: the broker does not start"),
    ("a foreign file", wrote(f"{LOG}/notes.txt", b"hello"), "refused", 1,
     f"{LOG}/notes.txt: 5 bytes, not 2048: the broker does not start"),
    ("a foreign file of the right length", wrote(f"{LOG}/notes.txt", bytes(2_048)), "refused", 1,
     f"{LOG}/notes.txt: its name is no offset: the broker does not start"),
    ("a folder among the files", lambda root: (root / LOG / "lost+found").mkdir(), "refused", 1,
     f"{LOG}/lost+found: 4096 bytes, not 2048: the broker does not start"),
    ("a queue file of the wrong length", wrote(f"{QUEUE}/{0:020}", b"x" * 7), "refused", 1,
     f"{QUEUE}/{0:020}: 7 bytes, not 6000000: the broker does not start"),
    ("a foreign file in a queue", wrote(f"{QUEUE}/notes.txt", bytes(200)), "refused", 1,
     f"{QUEUE}/notes.txt: its name is no offset: the broker does not start"),
    ("a folder that is no queue", lambda root: (root / "consumequeue/T/abc").mkdir(), "started", 1, "V13"),
    ("torn offsets of delay levels", wrote(DELAY, TORN), "started", 1,
     f"{DELAY}: it is not JSON: the broker begins with an empty table"),
    ("torn offsets, and a torn backup", both(wrote(DELAY, TORN), wrote(f"{DELAY}.bak", TORN)), "refused", 1,
     f"{DELAY}: neither it nor its .bak is JSON: the broker does not start"),
    ("torn topics, and a torn backup",
     both(wrote("config/topics.json", TORN), wrote("config/topics.json.bak", TORN)), "started", 1,
     "config/topics.json: neither it nor its .bak is JSON: the broker does not start"),
    ("an index file of another length", wrote("index/20261121110650296", b"hello"), "started", 1,
     "index/20261121110650296:5: 5 bytes, not 248: a start fills it up with zeros"),
    ("a checkpoint that is a folder", with_a_folder_for_a_checkpoint, "refused", 2,
     "store/checkpoint (Is a directory)"),
    ("a log that is a file", without_log, "started", 2, "no folder commitlog in it"),
)


@pytest.mark.parametrize(("spoil", "becomes", "status", "says"), [one[1:] for one in CASES],
                         ids=[one[0] for one in CASES])
def test_what_becomes_of_it_and_what_is_said(
    spoil: Spoil, becomes: str, status: int, says: str, tmp_path: Path,
) -> None:
    root = on_files(tmp_path, put_ten)
    spoil(root)
    code, output = said(root)
    assert (code, says in " ".join(output.split())) == (status, True), output
    assert "Traceback" not in output
    assert started(root) == becomes


def test_a_gap_in_the_log_is_said_and_behind_an_orderly_stop_the_start_waits_for_ever(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_four_files)
    (root / "abort").unlink()
    (root / LOG / SECOND).unlink()
    code, output = said(root)
    assert (code, f"{LOG}/{THIRD}: the file of offset 2048 is missing before it" in output) == (1, True)
    assert started(root) == "waits"


def test_no_permission_is_one_line_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = on_files(tmp_path, put_ten)
    allowed = os.access
    for denied in (root / LOG, root / LOG / f"{0:020}", root / "config"):
        denied.mkdir(exist_ok=True) if denied.name == "config" else None
        monkeypatch.setattr(os, "access", lambda path, mode, it=denied: path != it and allowed(path, mode))
        code, output = said(root)
        assert code == 2
        assert f"{denied}: cannot be read; look at the store as the user that runs its broker" in output.replace(
            "\n", "")


def test_a_directory_that_a_broker_holds_is_loaded_and_not_started(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_ten)
    holder = DefaultMessageStore(Directory(root.parent), SMALL, lambda: T0)
    assert holder.load()
    assert holder.start()
    other = DefaultMessageStore(Directory(root.parent), SMALL, lambda: T0)
    assert other.load()
    with pytest.raises(JavaRuntimeError, match="Lock failed,MQ already started"):
        other.start()


def test_a_full_disk_takes_no_new_page_and_what_was_acknowledged_is_there() -> None:
    """Java's mapping faults where a sparse file has no page: the put ends with an Error, and nothing is written."""
    broker = Broker()
    broker.put(b"kept")
    broker.machine.fill(100)
    for _ in range(3):  # there is a page for them
        broker.put(bytes(500))
    with pytest.raises(MappingFaultError, match="a fault occurred in an unsafe memory access operation"):
        broker.put(bytes(500))
    broker.machine.fill(0)
    broker.kill()
    broker.restart()
    broker.dispatch()
    assert broker.bodies() == [b"kept", *[bytes(500)] * 3]


@pytest.mark.parametrize(("name", "starts_empty"), [
    ("topics", True), ("consumerOffset", True), ("subscriptionGroup", True), ("consumerFilter", True)])
def test_a_torn_table_is_replaced_by_its_backup_and_without_a_whole_one_the_broker_does_not_start(
    name: str, starts_empty: bool,
) -> None:
    """ConfigManager#load: a backup that is not there is as good as one that decodes."""
    for torn, initialized in (((".json",), starts_empty), ((".json", ".json.bak"), False)):
        with World() as world:
            world.store_config = STORE
            world.add_namesrv()
            world.add_broker("broker-a", "broker-a", topics=[TopicConfig("orders", 1, 1)])
            world.run(15_000)
            disk = world.simulation.nodes["broker-a"].disk
            for suffix in torn:
                file = disk.open(f"store/config/{name}{suffix}")
                file.truncate(0)
                file.append(TORN)
            if len(torn) == 1:
                disk.delete(f"store/config/{name}.json.bak")
            world.simulation.kill("broker-a")
            before = world.brokers["broker-a"]
            world.simulation.start("broker-a")
            world.run(1_000)
            assert (world.brokers["broker-a"] is not before) == initialized
            assert world.simulation.nodes["broker-a"].alive == initialized
