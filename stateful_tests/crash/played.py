"""A trace of the model of the commit log, done with a store: each step is an operation, a crash, or a part of recovery.

A record is a page, so that it can be lost by itself; of a queue the version of its page is left that has no later unit.
A file of the log has one record, for recovery begins with a file; where a record comes back that was cut off (V4), or
a queue must end where the log does (V3), all are in one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from impl.common.inet_socket_address import InetSocketAddress
from impl.common.util_all import offset2_file_name
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE
from impl.ports.disk import PAGE_BYTES, DiskError
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_store_config import FlushDiskType, MessageStoreConfig
from impl.store.put_message_result import PutMessageFuture
from impl.store.put_message_status import PutMessageStatus
from stateful_tests.crash.memory import Content
from stateful_tests.crash.recorder import Recorder
from stateful_tests.played.trace import PlayedTrace

TORN = "tear"
"""The one step that is not done: a record that is a page is not torn."""
_HOST = InetSocketAddress(bytes([127, 0, 0, 1]), 10_911)
_BEFORE_BODY_BYTES = 92  # of a record with a topic of one letter and no properties
_FILE_BYTES, _BIG_FILE_BYTES = PAGE_BYTES + 1_024, 8 * PAGE_BYTES
_BETWEEN_PUTS_MS, _CHECKPOINT_MARGIN_MS = 10_000, 3_000
_OF_RECOVERY = {"dispatch_again", "dispatch_on", "truncate_unit", "keep_zeros"}


class UnplayedError(ValueError):
    """A trace that is not done with the store; it says why."""


class _Disk(Recorder):
    """A disk of which the forces can fail."""

    fails = False

    def forced(self, content: Content, pages: range) -> None:
        """See MemoryDisk."""
        if self.fails:
            raise DiskError("Input/output error")
        super().forced(content, pages)


class Played(PlayedTrace):
    """A store that has done the steps of a trace; raises UnplayedError if a step cannot be done."""

    parts = "impl.store"
    at_the_end = True  # a model recovers step by step, and a store as a whole

    def begin(self) -> None:
        """A store that is up."""
        names = {step["action"] for step in self.steps}
        if TORN in names:
            raise UnplayedError("a record of one page is not torn; `rocketproof crash --workload sync_torn` tears one")
        in_one = bool(names & {"recover_more", "keep_zeros"})
        self._stride = PAGE_BYTES if in_one else _FILE_BYTES
        self.config = MessageStoreConfig(
            mapped_file_size_commit_log=_BIG_FILE_BYTES if in_one else _FILE_BYTES, max_message_size=2 * PAGE_BYTES,
            configured_file_size_consume_queue=20 * CQ_STORE_UNIT_SIZE, message_index_enable=False,
            flush_disk_type=FlushDiskType.SYNC_FLUSH)
        self.disk, self._now = _Disk(), 1_700_000_000_000
        self._lost: Counter[tuple[str, int]] = Counter()
        self._lost_names: list[str] = []
        self._futures: list[PutMessageFuture] = []
        self.store = self._loaded()
        self.store.start()

    def _now_ms(self) -> int:
        self._now += 1
        return self._now

    def _loaded(self) -> DefaultMessageStore:
        store = DefaultMessageStore(self.disk, self.config, self._now_ms)
        if not store.load():
            self.differences.append("the store does not load")
        return store

    # Steps ------------------------------------------------------------------------------------------------------------

    def do_step(self, name: str, arguments: list[str]) -> str:
        """Do one step; what a store does as a whole when it loads is done with the first step of recovery."""
        if name in _OF_RECOVERY:
            return "part of recovery"
        if name in {"recover", "recover_more"}:
            return self._recover(self.steps[self.number - 1:])
        return str(getattr(self, f"_{name}")(*arguments))

    def _append(self, queue: str) -> str:
        self._now += _BETWEEN_PUTS_MS
        body = b"." * (PAGE_BYTES - _BEFORE_BODY_BYTES)
        message = MessageExtBrokerInner(_topic(queue), body, _HOST, _HOST)
        message.write_properties()
        self._futures = [self.store.async_put_message(message)]
        result = self._futures[0].append_message_result
        return f"a message is put to {_topic(queue)}" if result else "the put is refused"

    def _dispatch(self) -> str:
        """Of a store that runs one record is dispatched; one that starts dispatches by itself."""
        if self.cells["phase"] != "UP":
            return "part of recovery"
        service = self.store.reput_message_service
        place = max(self._position(service.reput_from_offset), self.number_in("first"))
        behind = service.behind
        service.behind = lambda: place * self._stride + 1 - service.reput_from_offset  # type: ignore[method-assign]
        service.do_reput()
        service.behind = behind  # type: ignore[method-assign]
        return f"the record at {place} is dispatched"

    def _pass_over(self) -> str:
        return "dispatch begins with the oldest file"

    def _flush(self) -> str:
        log = self.store.commit_log.mapped_file_queue
        while log.flushed_where < log.get_max_offset():
            before = log.flushed_where
            log.flush(0)
            if log.flushed_where == before:
                break
        return f"flushedWhere is {log.flushed_where}"

    def _flush_newer(self) -> str:
        return self._flush()

    def _flush_in_vain(self) -> str:
        self.disk.fails = True
        said = self._flush()
        self.disk.fails = False
        return f"each force fails, and {said}"

    def _acknowledge(self) -> str:
        self.store.commit_log.group_commit_service.run_once()
        results = [future.result() for future in self._futures]
        if not all(result is not None and result.status is PutMessageStatus.PUT_OK for result in results):
            self.differences.append("the put is not answered with PUT_OK")
        return "the put is answered with PUT_OK"

    def _flush_queue(self, queue: str) -> str:
        found = self.store.find_consume_queue(_topic(queue), 0)
        for _ in range(found.get_max_offset_in_queue()):
            found.flush(0)
        return f"the queue of {_topic(queue)} is forced"

    def _expire(self) -> str:
        log = self.store.commit_log.mapped_file_queue
        log.mapped_files[0].destroy(0)
        log._remove(log.mapped_files[:1])  # noqa: SLF001  # deleteExpiredFileByTime ends so, for a batch of files
        return "the oldest file is deleted"

    def _expire_early(self) -> str:
        return self._expire()

    def _stop(self) -> str:
        self.store.shutdown()
        return "an orderly stop"

    def _kill(self) -> str:
        self.store._lock_file.close()  # noqa: SLF001  # as the operating system does
        return "the process ends"

    def _lose_power(self) -> str:
        if self.cells["phase"] != "DOWN":
            self._kill()
        return "the machine is off"

    def _lose_record(self, place: str) -> str:
        path, page = self._page_of(int(place))
        self._lost[path, page] += 1
        return f"page {page} of {path} is lost"

    def _lose_unit(self, queue: str) -> str:
        path = f"store/consumequeue/{_topic(queue)}/0/{offset2_file_name(0)}"
        self._lost[path, 0] += any(self.disk.contents[path].data)
        return f"page 0 of {path} is as it was before its last unit"

    def _lose_only_unit(self, queue: str) -> str:
        return self._lose_unit(queue)

    def _lose_abort(self) -> str:
        self._lost_names.append("store/abort")
        return "the name store/abort is lost"

    def _rot(self, place: str) -> str:
        path, page = self._page_of(int(place))
        self.disk.contents[path].data[page * PAGE_BYTES + PAGE_BYTES // 2] ^= 1
        return f"a bit of {path} turns"

    def _recover(self, rest: Sequence[Mapping[str, Any]]) -> str:
        """A new process loads the store; what the power has taken is lost before."""
        if self.cells["dark"] == "true":
            self.disk.lose_power({page: -1 - back for page, back in self._lost.items() if back}, self._lost_names)
        self._lost, self._lost_names = Counter(), []
        starts = [one["arguments"]["start"] for one in rest if one["action"] == "dispatch_again"]
        self._write_checkpoint(int(starts[0]) if starts else 0)
        self.store = self._loaded()
        return f"a new process loads the store: its log ends at {self.store.get_max_phy_offset()}"

    def _resume(self) -> str:
        started = self.store.start()
        if not started:
            self.differences.append("the store does not start")
        return "the store starts"

    def _write_checkpoint(self, start: int) -> None:
        """The checkpoint vouches for what was put before a record; for nothing before the first one."""
        time_ms = 0
        if start > self.number_in("first"):
            path, page = self._page_of(start)
            stored = page * PAGE_BYTES + 56  # STORETIMESTAMP of a record with addresses of four bytes
            time_ms = int.from_bytes(self.disk.contents[path].data[stored:stored + 8], "big") + _CHECKPOINT_MARGIN_MS
        file = self.disk.open("store/checkpoint", PAGE_BYTES)
        file.write(0, time_ms.to_bytes(8, "big") * 2)
        file.force()
        file.close()

    # Places -----------------------------------------------------------------------------------------------------------

    def _position(self, offset: int) -> int:
        return -(-offset // self._stride)

    def _page_of(self, place: int) -> tuple[str, int]:
        size = self.config.mapped_file_size_commit_log
        file, offset = divmod(place * self._stride, size)
        return f"store/commitlog/{offset2_file_name(file * size)}", offset // PAGE_BYTES

    # What comes of it -------------------------------------------------------------------------------------------------

    def seen(self) -> Iterator[tuple[str, int]]:
        """See PlayedTrace; of a store that is not up only its log is looked at."""
        if self.cells["phase"] == "DOWN":
            return
        yield "first", self._position(self.store.get_min_phy_offset())
        yield "end", self._position(self.store.get_max_phy_offset())
        if self.cells["phase"] == "UP":
            yield from self._seen_of_queues()

    def _seen_of_queues(self) -> Iterator[tuple[str, int]]:
        for queue in ("queue0", "queue1"):
            topic = _topic(queue)
            found = self.store.find_consume_queue(topic, 0)
            yield f"units[{queue}]", found.get_max_offset_in_queue()
            for number in range(found.get_min_offset_in_queue(), found.get_max_offset_in_queue()):
                unit = found.unit(number)
                if unit is not None:
                    yield f"unit[{queue}, {number}]", self._position(unit.offset)

    def files(self) -> Iterator[str]:
        """See PlayedTrace."""
        for path, content in sorted(self.disk.contents.items()):
            used = len(bytes(content.data).rstrip(b"\0"))
            yield f"{path:52} {len(content.data):7,} bytes, " + (f"{used:,} until the last that is not 0" if used
                                                                 else "all 0")


def _topic(queue: str) -> str:
    """Of the model's queue0: A."""
    return "AB"[int(queue.removeprefix("queue"))]
