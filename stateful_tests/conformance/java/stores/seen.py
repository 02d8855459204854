"""What the real DefaultMessageStore has after a start, in the words of the crash atlas and for its judges."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jpype

from impl.store.consume_queue import Unit
from impl.store.message_store_config import MessageStoreConfig
from stateful_tests.conformance.java.stores.real import (
    ROOT,
    queues_of_real,
    real_store,
    topic_queue_table_of_real,
)
from stateful_tests.crash.recovery import SEARCH_FAILS, WAITS, Recovered

START_LIMIT_S = 10.0  # a start takes some 50 ms


def recovered(
    folder: Path, config: MessageStoreConfig, keys: Sequence[tuple[str, str]] = (),
    times: Sequence[tuple[str, int, int]] = (),
) -> Recovered:
    """Let the real store load and start on folder/store.

    keys -- topics and keys to ask for. times -- topics, queue ids and times (ms) to search.
    """
    real = real_store(folder, config)
    if not bool(real.load()):
        return Recovered("load fails")
    refused = started(real)
    if refused:
        return Recovered(refused)
    next_offsets = {queue: offset for queue, offset in topic_queue_table_of_real(real).items() if offset}
    found = {(topic, key): _found(real, topic, key) for topic, key in keys}
    return Recovered("", tuple(_log(real, folder, config)), _units(real), next_offsets, found,
                     {time: _searched(real, *time) for time in times})


def started(real: Any, limit_s: float = START_LIMIT_S) -> str:
    """Start it in a thread of its own, and wait until everything is dispatched: "", or why it does not start.

    limit_s -- a start that takes longer waits for ever; it is interrupted, and its threads end. Raises TimeoutError if
    it starts and dispatches not all in time: then nothing can be said of it.
    """
    raised: list[str] = []

    def run() -> None:
        try:
            real.start()
        except jpype.JException as error:
            raised.append(f"start fails with {error}")

    thread = java_thread(run)
    thread.start()
    thread.join(int(limit_s * 1_000))
    if thread.isAlive():
        thread.interrupt()
        java_thread(real.shutdown).start()
        return WAITS
    until = time.monotonic() + START_LIMIT_S
    while not raised and int(real.dispatchBehindBytes()) > 0:
        if time.monotonic() > until:
            raise TimeoutError(f"not everything is dispatched within {START_LIMIT_S:g} s")
        time.sleep(0.01)
    return raised[0] if raised else ""


def java_thread(run: Callable[[], None]) -> Any:
    """A daemon thread of Java's own: the JVM never forgets one of Python's that has called it."""
    thread = jpype.JClass("java.lang.Thread")(jpype.JProxy("java.lang.Runnable", {"run": run}))
    thread.setDaemon(True)
    return thread


def _log(real: Any, folder: Path, config: MessageStoreConfig) -> Iterator[tuple[int, bytes]]:
    """The readable records, file by file; CommitLog#checkMessageAndReturnSize says how long one is."""
    log, size = real.getCommitLog(), config.mapped_file_size_commit_log
    offset, end = int(real.getMinPhyOffset()), int(real.getMaxPhyOffset())
    while offset < end:
        length = _length(log, real.getCommitLogData(offset))
        if length:
            file = folder / ROOT / "commitlog" / f"{offset - offset % size:020d}"
            yield offset, file.read_bytes()[offset % size:][:length]
        offset = offset + length if length else int(log.rollNextFile(offset))


def _length(log: Any, result: Any) -> int:
    """Of the record that a buffer begins with; 0 where a file ends, or for what is no record."""
    if result is None:
        return 0
    try:
        request = log.checkMessageAndReturnSize(result.getByteBuffer(), False, False)  # Java's own
        return int(request.getMsgSize()) if request.isSuccess() else 0
    finally:
        result.release()


def _units(real: Any) -> dict[tuple[str, int], dict[int, Unit]]:
    found: dict[tuple[str, int], dict[int, Unit]] = {}
    for topic, queue_id, queue in queues_of_real(real):
        offsets = range(int(queue.getMinOffsetInQueue()), int(queue.getMaxOffsetInQueue()))
        found[topic, queue_id] = {
            offset: unit for offset in offsets if (unit := _unit(queue.getIndexBuffer(offset))) is not None}
    return {queue: units for queue, units in found.items() if units}


def _unit(result: Any) -> Unit | None:
    if result is None:
        return None
    buffer = result.getByteBuffer()
    unit = Unit(int(buffer.getLong()), int(buffer.getInt()), int(buffer.getLong()))
    result.release()
    return unit


def _found(real: Any, topic: str, key: str) -> frozenset[int]:
    result = real.queryMessage(topic, key, 64, 0, 1 << 62)
    position = jpype.JClass("org.apache.rocketmq.common.message.MessageDecoder").MESSAGE_PHYSIC_OFFSET_POSTION
    return frozenset(int(buffer.getLong(buffer.position() + position)) for buffer in result.getMessageBufferList())


def _searched(real: Any, topic: str, queue_id: int, timestamp: int) -> int:
    try:
        return int(real.getOffsetInQueueByTime(topic, queue_id, timestamp))
    except jpype.JException:
        return SEARCH_FAILS
