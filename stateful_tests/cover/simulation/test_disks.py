"""What every host's Disk does, on every host: a simulated machine, a folder of this one, and one that is only shown."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from impl.common.config_manager import (
    file_to_string,
    load_string,
    persist,
    persist_unguarded,
    string_to_file,
    string_to_file_not_safe,
)
from impl.hosts.files.directory import Directory
from impl.hosts.files.overlay import Overlay
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.node import Node
from impl.hosts.simulation.tape import ReplayTape
from impl.ports.disk import PAGE_BYTES, Disk, DiskError, DiskFullError
from impl.ports.threads import UNINTERRUPTED, run_now

ROOT = Path(__file__).parents[3]


class Machine(Protocol):
    """A machine on which a process has a disk."""

    disk: Disk

    def kill(self) -> None:
        """End the process, and start it again."""


class Simulated:
    """A simulated machine."""

    def __init__(self, world: Simulation) -> None:
        self.world = world
        self.disk: Disk = world.add("broker", _nothing).disk

    def kill(self) -> None:
        self.world.kill("broker")
        self.disk = self.world.start("broker").disk


class Real:
    """A folder of this machine; a process that is gone has left its objects behind."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.disk: Disk = Directory(root)

    def kill(self) -> None:
        self.disk = Directory(self.root)


class Shown:
    """A folder of this machine that is only shown."""

    def __init__(self, root: Path) -> None:
        self.disk: Disk = Overlay(root)

    def kill(self) -> None:
        """What is written here is kept by the Overlay alone, whoever uses it."""


async def _nothing(node: Node) -> None:
    pass


@pytest.fixture(params=["simulated", "real", "shown"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    if request.param == "real":
        yield Real(tmp_path)
        return
    if request.param == "shown":
        yield Shown(tmp_path)
        assert list(tmp_path.iterdir()) == []
        return
    with Simulation(ReplayTape([])) as world:
        yield Simulated(world)


@pytest.fixture
def disk(machine: Machine) -> Disk:
    return machine.disk


def test_what_is_written_is_read_by_everybody(disk: Disk) -> None:
    file = disk.open("store/commitlog/00000000000000000000")
    file.write(0, b"one")
    assert file.append(b"two") == 3
    file.write(1, b"N")
    other = disk.open("store/commitlog/00000000000000000000")
    assert other.read(0, 100) == b"oNetwo"
    assert other.read(2, 2) == b"et"
    assert (other.read(6, 5), other.read(9, 5), other.length()) == (b"", b"", 6)


@pytest.mark.parametrize("at", [0, 1, PAGE_BYTES - 1, PAGE_BYTES, 3 * PAGE_BYTES - 2])
def test_a_write_may_cross_pages(disk: Disk, at: int) -> None:
    file = disk.open("log", 4 * PAGE_BYTES)
    data = bytes(range(1, 251)) * 20
    file.write(at, data)
    assert file.read(at, len(data)) == data
    assert file.read(0, at) == bytes(at)
    assert file.length() == max(4 * PAGE_BYTES, at + len(data))


def test_a_file_is_made_with_a_length_and_never_cut_by_opening_it(disk: Disk) -> None:
    disk.open("log", 10_000).write(5, b"x")
    assert disk.length("log") == 10_000
    assert disk.open("log").read(4, 3) == b"\0x\0"
    assert disk.open("log", 3).length() == 10_000
    assert disk.open("log", 10_001).length() == 10_001


def test_a_gap_holds_zeros(disk: Disk) -> None:
    file = disk.open("log")
    file.write(5_000, b"x")
    assert (file.length(), file.read(0, 5_001)) == (5_001, bytes(5_000) + b"x")


def test_truncate_cuts_off_and_extends_by_zeros(disk: Disk) -> None:
    file = disk.open("log")
    file.write(0, b"x" * 5_000)
    file.truncate(4_500)
    file.truncate(4_600)
    assert file.read(0, 9_000) == b"x" * 4_500 + bytes(100)
    file.truncate(0)
    assert (file.length(), file.append(b"y"), file.read(0, 9)) == (0, 0, b"y")


def test_what_is_written_survives_a_kill_and_what_is_volatile_does_not(machine: Machine) -> None:
    file = machine.disk.open("log", 10)
    file.write(0, b"mapped")
    file.put(6, b"ab")
    machine.kill()
    file = machine.disk.open("log")
    assert file.read(0, 10) == b"mapped" + bytes(4)
    file.commit(6, 2)
    assert file.read(6, 2) == bytes(2)


def test_what_is_volatile_is_read_once_it_is_committed(machine: Machine) -> None:
    file = machine.disk.open("log", 10)
    file.put(2, b"abcd")
    assert file.read(0, 10) == bytes(10)
    file.commit(2, 3)
    assert file.read(0, 10) == b"\0\0abc" + bytes(5)
    file.put(7, b"z")
    file.commit(5, 3)
    machine.kill()
    assert machine.disk.open("log").read(0, 10) == b"\0\0abcd\0z\0\0"


def test_a_commit_writes_zeros_where_nothing_was_put(disk: Disk) -> None:
    file = disk.open("log")
    file.write(0, b"xyz")
    file.put(0, b"a")
    file.commit(0, 2)
    assert file.read(0, 9) == b"a\0z"


def test_force_takes_a_range_or_all(disk: Disk) -> None:
    file = disk.open("log", 3 * PAGE_BYTES)
    file.write(10, b"x")
    file.force(0, 11)
    file.force()
    assert file.read(10, 1) == b"x"


def test_a_closed_file_refuses(disk: Disk) -> None:
    file = disk.open("log")
    file.put(0, b"x")
    file.close()
    file.close()
    refused: list[Callable[[], object]] = [
        file.length, file.last_modified_ms, file.force, file.try_lock, lambda: file.read(0, 1),
        lambda: file.write(0, b"x"), lambda: file.append(b"x"),
        lambda: file.put(0, b"x"), lambda: file.commit(0, 1), lambda: file.truncate(0),
    ]
    for operation in refused:
        with pytest.raises(DiskError, match="Stream Closed"):
            operation()
    assert disk.length("log") == 0


def test_a_lock_is_held_until_its_file_is_closed(disk: Disk) -> None:
    file, other = disk.open("lock"), disk.open("lock")
    assert file.try_lock()
    assert file.try_lock()
    assert not other.try_lock()
    other.close()
    assert not disk.open("lock").try_lock()
    file.close()
    assert disk.open("lock").try_lock()


def test_a_lock_ends_with_its_process() -> None:
    with Simulation(ReplayTape([])) as world:
        machine = Simulated(world)
        assert machine.disk.open("lock").try_lock()
        machine.kill()
        assert machine.disk.open("lock").try_lock()


def test_rename_replaces(disk: Disk) -> None:
    disk.open("a").append(b"one")
    disk.open("folder/b").append(b"two")
    assert disk.rename("a", "folder/b")
    assert (disk.length("a"), disk.open("folder/b").read(0, 9)) == (None, b"one")
    assert not disk.rename("a", "folder/b")
    assert not disk.rename("folder/b", "nowhere/b")
    assert not disk.rename("folder/b", "folder")
    assert disk.open("folder/b").read(0, 9) == b"one"
    assert disk.rename("folder/b", "folder/b")
    assert disk.length("folder/b") == 3


def test_a_file_that_is_deleted_or_replaced_lives_on_for_who_has_it_open(disk: Disk) -> None:
    deleted, replaced = disk.open("a"), disk.open("b")
    deleted.append(b"one")
    replaced.append(b"two")
    assert disk.delete("a")
    disk.open("c").append(b"new")
    assert disk.rename("c", "b")
    for file in (deleted, replaced):
        file.append(b"!")
        file.force()
    assert (deleted.read(0, 9), replaced.read(0, 9)) == (b"one!", b"two!")
    assert (disk.length("a"), disk.open("a").length(), disk.open("b").read(0, 9)) == (None, 0, b"new")


def test_folders_are_made_listed_and_deleted_when_they_are_empty(disk: Disk) -> None:
    for path in ("queue/t/1/0", "queue/t/0/0", "queue/s", "abort"):
        disk.open(path)
    assert disk.list("") == ["abort", "queue"]
    assert disk.list("queue") == ["s", "t"]
    assert disk.list("queue/t") == ["0", "1"]
    assert disk.list("nowhere") == disk.list("abort") == []
    assert not disk.delete("queue/t/1")
    assert disk.delete("queue/t/1/0")
    assert disk.list("queue/t/1") == []
    assert disk.list("queue/t") == ["0", "1"]
    assert disk.delete("queue/t/1")
    assert not disk.delete("queue/t/1")
    assert disk.list("queue/t") == ["0"]
    assert disk.length("queue/t") is None
    with pytest.raises(DiskError, match="directory"):
        disk.open("queue/t")


def test_no_file_is_made_below_a_file(disk: Disk) -> None:
    disk.open("store/index")
    for path in ("store/index/1", "store/index/deep/1"):
        with pytest.raises(DiskError):
            disk.open(path)
    assert (disk.list("store"), disk.list("store/index")) == (["index"], [])


def test_a_write_and_a_cut_are_seen_in_the_time_of_the_file(disk: Disk) -> None:
    file = disk.open("log")
    made_ms = file.last_modified_ms()
    assert made_ms > 1_600_000_000_000
    file.append(b"x")
    assert made_ms <= disk.open("log").last_modified_ms() <= made_ms + 60_000


def test_pages_that_are_written_take_space(disk: Disk) -> None:
    assert 0 < disk.free_bytes() <= disk.total_bytes()


# Whole texts ----------------------------------------------------------------------------------------------------------


def test_a_text_is_written_anew_each_time(disk: Disk) -> None:
    assert file_to_string(disk, "config/topics.json") is None
    for text in ("long and older", "new \N{SNOWMAN}", ""):
        string_to_file_not_safe(disk, "config/topics.json", text)
        assert file_to_string(disk, "config/topics.json") == text


@pytest.mark.parametrize("guarded", [True, False])
def test_string2file_keeps_the_former_text_as_a_backup(disk: Disk, *, guarded: bool) -> None:
    for text in ("one", "two", "three"):
        if guarded:
            assert persist(disk, "config/t", text)
        else:
            run_now(persist_unguarded(disk, "config/t", text, UNINTERRUPTED))
    assert disk.list("config") == ["t", "t.bak"]
    assert (file_to_string(disk, "config/t"), file_to_string(disk, "config/t.bak")) == ("three", "two")


def test_a_text_that_is_missing_or_empty_is_read_from_its_backup(disk: Disk) -> None:
    assert load_string(disk, "t") is None
    string_to_file(disk, "t", "one")
    string_to_file(disk, "t", "two")
    assert load_string(disk, "t") == "two"
    string_to_file_not_safe(disk, "t", "")
    assert load_string(disk, "t") == "one"
    disk.delete("t")
    assert load_string(disk, "t") == "one"


# A folder of this machine ---------------------------------------------------------------------------------------------


def test_a_write_that_the_system_takes_in_pieces_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, offset: pwrite(fd, data[:3], offset))
    file = Directory(tmp_path).open("log")
    file.write(2, b"0123456789")
    assert file.read(0, 99) == b"\0\x000123456789"


def test_a_write_that_finds_no_space_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pwrite = os.pwrite
    file = Directory(tmp_path).open("log")
    file.append(b"one")

    def full(fd: int, data: memoryview, offset: int) -> int:
        if offset > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(fd, data[:2], offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(DiskFullError, match="No space left on device"):
        file.append(b"two")
    assert file.read(0, 9) == b"one"


# A real kill ----------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from impl.hosts.files.directory import Directory
file = Directory(Path(sys.argv[1])).open("log", 10)
file.write(0, b"mapped")
file.put(6, b"ab")
assert file.try_lock()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_what_it_has_written(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, timeout=60, check=False)  # noqa: S603  # this interpreter, a program above
    assert done.returncode == -signal.SIGKILL
    log = Directory(tmp_path).open("log")
    assert log.read(0, 10) == b"mapped" + bytes(4)
    assert log.try_lock()


LOCKING = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_file_that_nobody_has_any_more_holds_no_descriptor_and_no_lock(tmp_path: Path) -> None:
    file = Directory(tmp_path).open("lock")
    assert file.try_lock()
    other = Directory(tmp_path).open("lock")
    assert not other.try_lock()
    del file
    assert other.try_lock()


def test_a_lock_that_another_process_has_as_java_takes_it_is_respected(tmp_path: Path) -> None:
    file = Directory(tmp_path).open("lock")
    command = [sys.executable, "-c", LOCKING, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:  # noqa: S603  # as above
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        assert not file.try_lock()
        holder.communicate()
    assert file.try_lock()
