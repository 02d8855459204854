"""What a power loss costs a simulated disk, and what a full one refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import ClassVar

import pytest

from impl.common.config_manager import file_to_string, persist, string_to_file_not_safe
from impl.hosts.simulation.disk import Disk
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.node import Node
from impl.hosts.simulation.process import ProcessDeadError
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.storage import Storage
from impl.hosts.simulation.tape import ReplayTape
from impl.ports.disk import PAGE_BYTES, DiskFullError

LATER_MS = 31_000  # what was written is on the disk by then


class Machine:
    """A machine that can lose power, and the outcome by these choices of the tape."""

    made: ClassVar[list[Machine]] = []

    def __init__(self, choices: Sequence[int] = (), profile: FaultProfile = CALM) -> None:
        self.tape = ReplayTape(choices)
        self.world = Simulation(self.tape, profile)
        self.made.append(self)
        self.disk: Disk = self.world.add("broker", _nothing).disk

    def wait(self, ms: int) -> None:
        self.world.run(self.world.kernel.now_ms + ms)

    def lose_power(self) -> None:
        self.world.kill("broker", power_loss=True)
        self.disk = self.world.start("broker").disk

    @property
    def asked(self) -> int:
        return len(self.world.kernel.tape.choices)


@pytest.fixture(autouse=True)
def _end_all_processes() -> Iterator[None]:
    yield
    while Machine.made:
        Machine.made.pop().world.kernel.close()


async def _nothing(node: Node) -> None:
    pass


def log(machine: Machine, pages: int = 3) -> None:
    """A file whose name and length are safe, and three writes that are not."""
    file = machine.disk.open("log", pages * PAGE_BYTES)
    file.write(0, b"safe")
    machine.wait(LATER_MS)
    file.write(0, b"1111")
    file.write(PAGE_BYTES - 2, b"2222")
    file.write(2, b"33")


def content(machine: Machine) -> tuple[bytes, bytes]:
    """The bytes that the writes of `log` touch, in the first page and across its end."""
    file = machine.disk.open("log")
    return file.read(0, 4), file.read(PAGE_BYTES - 2, 4)


@pytest.mark.parametrize(("choices", "left"), [
    ([], (b"1133", b"2222")),
    ([1], (b"safe", bytes(4))),
    ([2, 0], (b"1133", b"2222")),
    ([2, 1], (b"1111", b"2222")),
    ([2, 2], (b"1111", bytes(4))),
    ([2, 3], (b"safe", bytes(4))),
    ([3, 0, 0], (b"1133", b"2222")),
    ([3, 1, 0], (b"1111", b"2222")),
    ([3, 2, 0], (b"1111", b"\0\x0022")),
    ([3, 3, 0], (b"safe", b"\0\x0022")),
    ([3, 0, 1], (b"1133", b"22\0\0")),
])
def test_a_power_loss_may_cost_what_was_written_in_place(choices: list[int], left: tuple[bytes, bytes]) -> None:
    machine = Machine(choices)
    log(machine)
    machine.lose_power()
    assert content(machine) == left
    assert machine.asked == max(1, len(choices))


def test_what_was_forced_is_not_asked_about() -> None:
    machine = Machine([1])
    log(machine)
    machine.disk.open("log").force()
    machine.lose_power()
    assert (content(machine), machine.asked) == ((b"1133", b"2222"), 0)


@pytest.mark.parametrize(("force", "left"), [
    ((0, 1), (b"1133", b"22\0\0")),
    ((PAGE_BYTES, 1), (b"safe", b"\0\x0022")),
    ((PAGE_BYTES - 1, 2), (b"1133", b"2222")),
])
def test_a_range_is_forced_by_whole_pages(force: tuple[int, int], left: tuple[bytes, bytes]) -> None:
    machine = Machine([1])
    log(machine)
    machine.disk.open("log").force(*force)
    machine.lose_power()
    assert content(machine) == left


def test_what_is_old_is_written_back_and_what_is_new_is_not() -> None:
    machine = Machine([1])
    log(machine)
    machine.wait(20_000)
    machine.disk.open("log").write(0, b"4")
    machine.wait(LATER_MS - 20_000)
    machine.lose_power()
    assert content(machine) == (b"1133", b"2222")


@pytest.mark.parametrize(("waited_ms", "left"), [(30_000, b"safe"), (30_001, b"1111")])
def test_a_write_is_at_risk_for_thirty_seconds(waited_ms: int, left: bytes) -> None:
    machine = Machine([1])
    file = machine.disk.open("log")
    file.append(b"safe")
    machine.wait(LATER_MS)
    file.write(0, b"1111")
    machine.wait(waited_ms)
    machine.lose_power()
    assert machine.disk.open("log").read(0, 9) == left


def test_a_page_that_is_never_forced_does_not_keep_every_write() -> None:
    storage = Storage(0)
    for ms in range(1, 1_000_000, 1_000):
        storage.write(0, b"x", ms)
    (dirty,) = storage._dirty.values()
    assert 30 <= len(dirty.changes) <= 31


def test_a_later_write_to_a_page_does_not_make_the_earlier_one_unsafe() -> None:
    machine = Machine([1])
    file = machine.disk.open("log", PAGE_BYTES)
    machine.wait(LATER_MS)
    for _ in range(4):
        file.append(b"x")
        machine.wait(20_000)
    machine.lose_power()
    assert machine.disk.length("log") == PAGE_BYTES + 3


@pytest.mark.parametrize(("choices", "left"), [([], b"onetwo"), ([1], b""), ([2, 1], b"one"), ([3, 1], b"one\0\0\0")])
def test_what_was_appended_may_be_lost_with_the_length_or_without(choices: list[int], left: bytes) -> None:
    machine = Machine(choices)
    file = machine.disk.open("log")
    machine.wait(LATER_MS)
    file.append(b"one")
    file.append(b"two")
    machine.lose_power()
    assert machine.disk.open("log").read(0, 100) == left


@pytest.mark.parametrize(("choices", "length"), [([], 10), ([1], None), ([2], 0)])
def test_a_file_that_was_just_made_may_be_missing_or_have_no_length(choices: list[int], length: int | None) -> None:
    machine = Machine(choices)
    machine.disk.open("log", 10)
    machine.lose_power()
    assert (machine.disk.length("log"), machine.asked) == (length, 1)


def test_a_write_into_a_file_that_was_just_made_is_one_of_its_own() -> None:
    machine = Machine([0, 1])
    machine.disk.open("log", 10).write(0, b"x")
    machine.lose_power()
    assert machine.disk.open("log").read(0, 10) == bytes(10)


def test_a_text_that_was_just_made_may_be_missing() -> None:
    machine = Machine([1])
    string_to_file_not_safe(machine.disk, "text", "new")
    machine.lose_power()
    assert machine.disk.length("text") is None


def test_what_was_appended_and_forced_stays() -> None:
    machine = Machine([1, 1])
    file = machine.disk.open("log")
    file.append(b"one")
    machine.wait(LATER_MS)
    file.append(b"two")
    file.force()
    machine.lose_power()
    assert (machine.disk.open("log").read(0, 9), machine.asked) == (b"onetwo", 0)


def test_a_file_that_was_forced_is_there() -> None:
    machine = Machine([1, 1, 1])
    machine.disk.open("log", 10).force()
    machine.lose_power()
    assert (machine.disk.length("log"), machine.asked) == (10, 0)


@pytest.mark.parametrize(("choices", "left"), [
    ([], (None, b"new")), ([1], (b"new", b"new")), ([0, 1], (None, b"old")), ([0, 2], (None, b"new")),
    ([1, 1], (b"new", b"old")),
])
def test_a_rename_that_was_not_forced_may_be_lost(choices: list[int], left: tuple[bytes | None, bytes]) -> None:
    machine = Machine(choices)
    machine.disk.open("a").append(b"new")
    machine.disk.open("b").append(b"old")
    machine.wait(LATER_MS)
    machine.disk.rename("a", "b")
    machine.lose_power()
    found = machine.disk.open("a").read(0, 9) if machine.disk.length("a") is not None else None
    assert (found, machine.disk.open("b").read(0, 9)) == left


def test_forcing_a_renamed_file_keeps_its_name() -> None:
    machine = Machine([0, 1])
    machine.disk.open("a").append(b"new")
    machine.disk.open("b").append(b"old")
    machine.disk.rename("a", "b")
    machine.disk.open("b").force()
    machine.lose_power()
    assert machine.disk.open("b").read(0, 9) == b"new"


def test_a_file_that_was_forced_before_it_was_renamed_keeps_its_bytes() -> None:
    machine = Machine([0, 2])
    file = machine.disk.open("a")
    file.append(b"new")
    file.force()
    machine.disk.rename("a", "b")
    machine.lose_power()
    assert (machine.disk.open("b").read(0, 9), machine.asked) == (b"new", 2)


def test_a_renamed_file_may_lose_what_was_written_into_it() -> None:
    machine = Machine([0, 2, 1])
    log(machine)
    machine.disk.rename("log", "b")
    machine.lose_power()
    assert machine.disk.open("b").read(0, 4) == b"safe"


def test_two_names_of_one_content_are_two_files_after_a_power_loss() -> None:
    machine = Machine([1])
    machine.disk.open("a").append(b"one")
    machine.wait(LATER_MS)
    machine.disk.rename("a", "b")
    machine.lose_power()
    machine.disk.open("a").write(0, b"ONE")
    assert machine.disk.open("b").read(0, 9) == b"one"


@pytest.mark.parametrize("choices", [[1], [2]])
def test_a_delete_may_be_undone(choices: list[int]) -> None:
    machine = Machine(choices)
    machine.disk.open("a").append(b"one")
    machine.wait(LATER_MS)
    machine.disk.delete("a")
    machine.lose_power()
    assert machine.disk.open("a").read(0, 9) == b"one"


def test_what_is_there_after_a_power_loss_is_there_after_the_next() -> None:
    machine = Machine([0, 0, 0, 1, 1, 1])
    machine.disk.open("log", PAGE_BYTES)
    machine.wait(1)
    machine.disk.open("log").write(0, b"x")
    machine.lose_power()
    assert machine.asked == 2
    machine.lose_power()
    assert (machine.disk.open("log").read(0, 1), machine.asked) == (b"x", 2)


def test_a_cut_keeps_the_first_bytes_and_may_be_lost() -> None:
    for choices, left in (([], b"ab"), ([1], b"abcd")):
        machine = Machine(choices)
        file = machine.disk.open("log")
        file.append(b"abcd")
        made_ms = file.last_modified_ms()
        machine.wait(LATER_MS)
        file.truncate(2)
        machine.lose_power()
        file = machine.disk.open("log")
        assert file.read(0, 9) == left
        assert file.last_modified_ms() == (made_ms if choices else made_ms + LATER_MS)


def test_a_short_text_can_be_written_into_and_extended_later() -> None:
    machine = Machine()
    file = machine.disk.open("log")
    file.append(b"one")
    machine.wait(1)
    file.write(10, b"x")
    assert file.read(0, 99) == b"one" + bytes(7) + b"x"
    file.write(PAGE_BYTES, b"y")
    assert file.read(PAGE_BYTES - 1, 9) == b"\0y"


def test_a_dead_process_reaches_no_file() -> None:
    machine = Machine()
    disk, file = machine.disk, machine.disk.open("log")
    machine.world.kill("broker")
    refused: list[Callable[[], object]] = [
        file.length, file.force, lambda: file.read(0, 1), lambda: file.write(0, b"x"), lambda: file.put(0, b"x"),
        lambda: file.truncate(0), lambda: disk.open("log"), lambda: disk.length("log"), lambda: disk.delete("log"),
        lambda: disk.rename("log", "b"), lambda: disk.list(""), disk.free_bytes, disk.total_bytes,
    ]
    for operation in refused:
        with pytest.raises(ProcessDeadError):
            operation()


def test_what_was_written_before_a_cut_is_lost_with_the_cut_or_not_at_all() -> None:
    machine = Machine([0, 1])
    log(machine)
    machine.disk.open("log").truncate(3)
    machine.lose_power()
    assert (machine.disk.open("log").read(0, 9), machine.asked) == (b"113", 1)


def test_a_kill_costs_nothing_that_was_written() -> None:
    machine = Machine([1, 1, 1])
    log(machine)
    machine.world.kill("broker")
    machine.disk = machine.world.start("broker").disk
    assert (content(machine), machine.asked) == ((b"1133", b"2222"), 0)


def test_what_was_lost_is_told() -> None:
    machine = Machine([3, 1])
    log(machine)
    machine.lose_power()
    assert machine.tape.sentences[-1] == "31000 ms, broker: after power loss log is torn"


def test_every_page_is_as_some_write_left_it() -> None:
    """All outcomes of three writes, by brute force: no other content can be found."""
    first = {b"safe", b"1111", b"1133"}
    across = {bytes(4), b"22\0\0", b"\0\x0022", b"2222"}
    for choices in product(range(4), repeat=3):
        machine = Machine(choices)
        log(machine)
        machine.lose_power()
        found = content(machine)
        assert found[0] in first
        assert found[1] in across
        assert (found[0] == b"1133") <= (found[1][:2] == b"22")  # they are in one page


# Space ----------------------------------------------------------------------------------------------------------------


def test_a_full_disk_refuses_new_pages_and_writes_nothing_then() -> None:
    machine = Machine(profile=FaultProfile(disk_bytes=2 * PAGE_BYTES))
    file = machine.disk.open("log", 100 * PAGE_BYTES)
    assert machine.disk.free_bytes() == machine.disk.total_bytes() == 2 * PAGE_BYTES
    file.write(0, b"x")
    assert machine.disk.free_bytes() == PAGE_BYTES
    with pytest.raises(DiskFullError, match="No space left on device"):
        file.write(PAGE_BYTES - 1, bytes([1]) * (PAGE_BYTES + 2))
    file.put(2 * PAGE_BYTES, b"y")
    machine.disk.open("other").append(b"z")
    with pytest.raises(DiskFullError):
        file.commit(2 * PAGE_BYTES, 1)
    assert file.read(0, 100 * PAGE_BYTES) == b"x" + bytes(100 * PAGE_BYTES - 1)
    file.write(1, b"y")
    machine.disk.delete("other")
    file.commit(2 * PAGE_BYTES, 1)
    assert file.read(2 * PAGE_BYTES, 1) == b"y"


def test_a_world_that_heals_has_space() -> None:
    machine = Machine(profile=FaultProfile(disk_bytes=1))
    file = machine.disk.open("log")
    with pytest.raises(DiskFullError):
        file.append(b"x")
    machine.world.heal()
    file.append(b"x")
    assert machine.disk.free_bytes() == machine.disk.total_bytes() - PAGE_BYTES


def test_a_table_that_finds_no_space_stays_as_it_was() -> None:
    machine = Machine(profile=FaultProfile(disk_bytes=2 * PAGE_BYTES))
    assert persist(machine.disk, "table", "one")
    assert persist(machine.disk, "other", "one")
    assert not persist(machine.disk, "table", "two")
    assert file_to_string(machine.disk, "table") == "one"


def test_a_write_moves_the_time_of_the_file_by_the_clock_of_the_machine() -> None:
    machine = Machine()
    file = machine.disk.open("log")
    made_ms = file.last_modified_ms()
    machine.wait(1_000)
    assert file.last_modified_ms() == made_ms
    machine.world.clocks["broker"].jump(60_000)
    file.append(b"x")
    assert file.last_modified_ms() == made_ms + 61_000
    machine.wait(1_000)
    file.truncate(0)
    assert file.last_modified_ms() == made_ms + 62_000
