"""Recordings of the files of the store: mapped-file queues, consume queues, index files, each on a simulated disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impl.hosts.simulation.disk import Disk, MachineDisk
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.tape import ReplayTape
from impl.store.consume_queue import ConsumeQueue, units_of
from impl.store.index_file import IndexFile, IndexHeader
from impl.store.mapped_file import MappedFile
from impl.store.mapped_file_queue import MappedFileQueue
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.adapters.sequence import T0, ControlledClock, Operations, replay_steps
from stateful_tests.conformance.replay import Adapter, Row

_PATH = "store/recorded"
_QUEUE_FILE_BYTES = 64
_CONSUME_QUEUE_FILE_BYTES = 100
_SLOT_COUNT = 4  # its place in the header as recordings have it


def fresh_disk() -> tuple[Disk, MachineDisk]:
    """An empty disk, as a process sees it, and as the machine does, which can set the times of files."""
    kernel = Kernel(ReplayTape([]))
    machine = MachineDisk(kernel, "machine")
    return Disk(kernel.world, machine), machine


def queue_state(queue: MappedFileQueue) -> dict[str, Any]:
    """The files of a queue and its two marks; recordings have the committed position as text."""
    files = [
        [one.file_from_offset, one.wrote_position, str(one.committed_position), one.flushed_position,
         one.first_create_in_queue]
        for one in queue.mapped_files
    ]
    return {"files": files, "flushed": queue.flushed_where, "committed": queue.committed_where}


def _start(mapped_file: MappedFile | None) -> int | None:
    return None if mapped_file is None else mapped_file.file_from_offset


class _QueueRun:
    """A mapped-file queue with files of 64 bytes."""

    def __init__(self) -> None:
        self.disk, _ = fresh_disk()
        self.clock = ControlledClock()
        self.queue = self._fresh()
        self.operations: Operations = {
            "append": self._append,
            "last": lambda step: _start(self.queue.get_last_mapped_file(step["start"], step["create"])),
            "find": lambda step: _start(self.queue.find_mapped_file_by_offset(step["offset"], step["first"])),
            "truncate": lambda step: self.queue.truncate_dirty_files(step["offset"]),
            "reset": lambda step: self.queue.reset_offset(step["offset"]),
            "deleteLast": lambda _: self.queue.delete_last_mapped_file(),
            "flush": lambda step: self.queue.flush(step["pages"]),
            "commit": lambda step: self.queue.commit(step["pages"]),
            "expire": lambda step: self.queue.delete_expired_file_by_offset(step["offset"], step["unit"]),
            "min": lambda _: self.queue.get_min_offset(),
            "max": lambda _: self.queue.get_max_offset(),
            "maxWrote": lambda _: self.queue.get_max_wrote_position(),
            "behind": lambda _: self.queue.how_much_fall_behind(),
            "toCommit": lambda _: self.queue.remain_how_many_data_to_commit(),
            "toFlush": lambda _: self.queue.remain_how_many_data_to_flush(),
            "select": self._select,
            "reload": self._reload,
        }

    def _fresh(self) -> MappedFileQueue:
        return MappedFileQueue(self.disk, _PATH, _QUEUE_FILE_BYTES, self.clock.now_ms)

    def _append(self, step: Row) -> bool:
        mapped_file = self.queue.get_last_mapped_file(step["start"])
        return mapped_file is not None and mapped_file.append_message(bytes.fromhex(step["data"]))

    def _select(self, step: Row) -> str | None:
        mapped_file = self.queue.find_mapped_file_by_offset(step["offset"])
        if mapped_file is None:
            return None
        result = mapped_file.select_mapped_buffer(step["offset"] % _QUEUE_FILE_BYTES, step["size"])
        if result is None:
            return "none"
        data = result.read()
        result.release()
        return data.hex()

    def _reload(self, _: Row) -> bool:
        self.queue = self._fresh()
        return self.queue.load()

    def observed(self, step: Row) -> Mapping[str, Any]:
        """The state after every step."""
        del step
        return {"s": queue_state(self.queue)}


def mapped_file_queue(row: Row) -> str | None:
    """A run of one queue of files."""
    return replay_steps(row, _QueueRun())


class _ScriptedLog:
    """The commit log of a recorded consume queue."""

    def __init__(self) -> None:
        self.min_phy_offset = 0
        self.known: dict[int, int] = {}

    def get_min_phy_offset(self) -> int:
        """Where the log begins."""
        return self.min_phy_offset

    def pickup_store_timestamp(self, offset: int, size: int) -> int:
        """The store time of a record that was put, -1 for any other."""
        del size
        return self.known.get(offset, -1)


class _ConsumeQueueRun:
    """A consume queue with files of five units."""

    def __init__(self) -> None:
        self.disk, self.machine = fresh_disk()
        self.clock, self.log = ControlledClock(), _ScriptedLog()
        self.queue = self._fresh()
        self.operations: Operations = {
            "put": self._put,
            "buffer": self._buffer,
            "correctMin": lambda step: self.queue.correct_min_offset(step["phy"]),
            "truncate": lambda step: self.queue.truncate_dirty_logic_files(step["phy"]),
            "expire": lambda step: self.queue.delete_expired_file(step["phy"]),
            "byTime": self._by_time,
            "roll": lambda step: self.queue.roll_next_file(step["index"]),
            "lastOffset": lambda _: self.queue.get_last_offset(),
            "recover": self._recover,
            "setMin": self._set_min,
        }

    def _fresh(self) -> ConsumeQueue:
        return ConsumeQueue("T", 0, self.disk, _PATH, _CONSUME_QUEUE_FILE_BYTES, self.log, self.clock.now_ms)

    def _put(self, step: Row) -> bool:
        self.log.known[step["phy"]] = step["time"]
        return self.queue.put_message_position_info(step["phy"], step["size"], step["tag"], step["index"])

    def _buffer(self, step: Row) -> list[list[int]] | None:
        result = self.queue.get_index_buffer(step["index"])
        if result is None:
            return None
        units = [list(unit) for unit in units_of(result.read())]
        result.release()
        return units

    def _by_time(self, step: Row) -> int:
        for mapped_file, modified_ms in zip(self.queue.mapped_file_queue.mapped_files, step["mtimes"], strict=True):
            set_last_modified(self.machine, mapped_file.path, modified_ms)
        self.log.min_phy_offset = step["minPhy"]
        self.log.known = {int(offset): store_ms for offset, store_ms in step["known"].items()}
        return self.queue.get_offset_in_queue_by_time(step["time"])

    def _recover(self, _: Row) -> bool:
        self.queue = self._fresh()
        loaded = self.queue.load()
        self.queue.recover()
        return loaded

    def _set_min(self, step: Row) -> None:
        self.queue.min_logic_offset = step["bytes"]

    def observed(self, step: Row) -> Mapping[str, Any]:
        """The state after every step."""
        del step
        queue = self.queue
        return {"s": {
            "min": queue.get_min_offset_in_queue(), "max": queue.get_max_offset_in_queue(),
            "maxPhy": queue.max_physic_offset, "minLogic": queue.min_logic_offset,
            "total": queue.get_message_total_in_queue(), **queue_state(queue.mapped_file_queue),
        }}


def set_last_modified(machine: MachineDisk, path: str, modified_ms: int) -> None:
    """Set the time of a file; raises KeyError if there is none."""
    storage = machine.find(path)
    if storage is None:
        raise KeyError(path)
    storage.modified_ms = modified_ms


def consume_queue(row: Row) -> str | None:
    """A run of one consume queue."""
    return replay_steps(row, _ConsumeQueueRun())


class _IndexFileRun:
    """One small index file.

    slot_counts -- the recorder wrote down Java's live counter of slots, and so each step has the number that the
    counter had at the end: when the file was opened again, or after the last step. They are compared then.
    """

    def __init__(self, row: Row) -> None:
        self.disk, _ = fresh_disk()
        self.clock = ControlledClock()
        self.sizes = row["slots"], row["entries"]
        self.slot_counts: list[tuple[IndexHeader, int]] = []
        self.file = self._opened(row["endPhyOffset"], row["endTimestamp"])
        self.operations: Operations = {
            "put": lambda step: self.file.put_key(step["key"], step["phyOffset"], step["time"]),
            "select": self._select,
            "match": lambda step: self.file.is_time_matched(step["begin"], step["end"]),
            "reload": self._reload,
        }

    def _opened(self, end_phy_offset: int, end_timestamp: int) -> IndexFile:
        slots, entries = self.sizes
        return IndexFile(
            self.disk, f"{_PATH}/{T0}", slots, entries, self.clock.now_ms, end_phy_offset, end_timestamp)

    def _select(self, step: Row) -> list[int]:
        found: list[int] = []
        self.file.select_phy_offset(found, step["key"], step["max"], step["begin"], step["end"])
        return found

    def _reload(self, _: Row) -> None:
        self.file.flush()
        self.file = self._opened(0, 0)
        self.file.load()

    def content(self) -> str:
        """The whole file."""
        file = self.file.mapped_file
        return file.mapped_byte_buffer.read(0, file.file_size).hex()

    def observed(self, step: Row) -> Mapping[str, Any]:
        """The header after every step."""
        header = self.file.header
        slot_count = step["s"][_SLOT_COUNT]
        self.slot_counts.append((header, slot_count))
        return {"s": [
            header.begin_timestamp, header.end_timestamp, header.begin_phy_offset, header.end_phy_offset,
            slot_count, header.index_count,
        ]}

    def difference_at_the_end(self, row: Row) -> str | None:
        """The slot counts, and the bytes of the file."""
        for number, (header, recorded) in enumerate(self.slot_counts):
            found = difference(recorded, header.hash_slot_count, f"step {number}: hash slot count in the end")
            if found is not None:
                return found
        return difference(row["last"], self.content(), "the file")


def index_file(row: Row) -> str | None:
    """A run of one index file, and its bytes after the last step."""
    run = _IndexFileRun(row)
    return replay_steps(row, run) or run.difference_at_the_end(row)


ADAPTERS: dict[str, Adapter] = {
    "index-file-sequences": index_file,
    "consume-queue-sequences": consume_queue,
    "mapped-file-queue-sequences": mapped_file_queue,
}
