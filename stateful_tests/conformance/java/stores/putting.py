"""A process that puts messages to a store without end, until it is killed, and says which ones are acknowledged."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from impl.decisions.flags import TRANSACTION_PREPARED_TYPE, TRANSACTION_ROLLBACK_TYPE, get_transaction_value
from impl.hosts.files.directory import Directory
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_store_config import FlushDiskType, MessageStoreConfig
from stateful_tests.conformance.java import runtime
from stateful_tests.conformance.java.stores.programs import CONFIG, Put, drawn, put_to_ours, put_to_real
from stateful_tests.conformance.java.stores.real import real_store, silence

KINDS = ("real", "ours")


class Acknowledged(NamedTuple):
    """A put that was answered with PUT_OK: offset of its record, and its queue offset, -1 if no queue leads to it."""

    offset: int
    queue_offset: int

    @classmethod
    def of(cls, put: Put, answer: Any) -> Acknowledged | None:
        """What an answer acknowledges, if anything."""
        if answer is None or answer[0] != "PUT_OK" or answer[1][0] != "PUT_OK":
            return None
        in_no_queue = get_transaction_value(put.sys_flag) in {TRANSACTION_PREPARED_TYPE, TRANSACTION_ROLLBACK_TYPE}
        return cls(answer[1][1], -1 if in_no_queue else answer[1][3])


def config_of(seed: int) -> MessageStoreConfig:
    """Every other store answers only what is flushed."""
    return replace(CONFIG, flush_disk_type=FlushDiskType.SYNC_FLUSH if seed % 2 else FlushDiskType.ASYNC_FLUSH)


def main(kind: str, folder: Path, seed: int, scratch: Path, jars: list[Path]) -> None:
    """Put to a new store of a kind on folder/store; a line for each put that it acknowledges."""
    random = Random(seed)  # noqa: S311  # the same puts again
    putting = _real(folder, seed, scratch, jars) if kind == "real" else _ours(folder, seed, random)
    for _ in count():
        put = drawn(random)
        acknowledged = Acknowledged.of(put, putting(put))
        if acknowledged is not None:
            sys.stdout.write(f"{acknowledged.offset} {acknowledged.queue_offset}\n")
            sys.stdout.flush()


def _real(folder: Path, seed: int, scratch: Path, jars: list[Path]) -> Callable[[Put], Any]:
    runtime.start(jars, scratch)
    silence(scratch)
    store = real_store(folder, config_of(seed))
    if not bool(store.load()):
        raise AssertionError("a new store loads")
    store.start()
    return lambda put: put_to_real(store, put)[0]


def _ours(folder: Path, seed: int, random: Random) -> Callable[[Put], Any]:
    store = DefaultMessageStore(Directory(folder), config_of(seed), lambda: time.time_ns() // 1_000_000)
    if not (store.load() and store.start()):
        raise AssertionError("a new store starts")

    def put_and_work(put: Put) -> Any:
        answer = put_to_ours(store, put)
        if random.randrange(2):
            store.reput_message_service.do_reput()
        store.allocate_mapped_file_service.mmap_operation()
        return answer

    return put_and_work


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), [Path(jar) for jar in sys.argv[5:]])
