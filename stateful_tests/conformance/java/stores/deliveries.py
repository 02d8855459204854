"""Delayed messages, given to the real store and to ours through two lives: equal deliveries, equal files after each.

Before the second life each level gets an offset that may lie beyond the end of its queue, as a loss of power leaves it.
The real store's log says at which moment a thread of which level put what: ours does the same at these moments. Which
of several threads is first is chance; what a delivery is, whether it comes, and where the next life begins are not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_REAL_TOPIC
from impl.decisions.java_arithmetic import LONG_MAX
from impl.decisions.retry_level import delay_time_level
from impl.hosts.files.directory import Directory
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_store_config import MessageStoreConfig
from impl.store.schedule_message_service import ScheduleMessageService
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.java.stores.programs import Put, put_to_ours, put_to_real
from stateful_tests.conformance.java.stores.real import ROOT, files_of, real_store, state_of_ours, state_of_real
from stateful_tests.conformance.store_answers import records_of_log
from stateful_tests.conformance.store_deeds import Deliveries

_CONFIG = MessageStoreConfig(
    mapped_file_size_commit_log=1 << 18, configured_file_size_consume_queue=200, max_hash_slot_num=7,
    max_index_num=4_000, max_message_size=4_096, message_delay_level="0s 1s 0s 1h")
_HALF_LEVEL = "3"  # of its own: what is dropped may be the first of a look or the last of the one before
_BETWEEN_LOOKS_MS = 50  # Java's are 100 ms apart
_UNTIL_DELIVERED_S = 2.3  # a first look after 1 s, a delay of 1 s, and one look more
_GREATEST_PUTS = 25
_HOST = bytes([127, 0, 0, 1]), 10_911
_OFFSETS = f"{ROOT}/config/delayOffset.json"


def delivery(folder: Path, seed: int) -> tuple[int, str | None]:
    """Let both stores live twice: how many messages were put and delivered, and what differs."""
    random, done = Random(seed), 0  # noqa: S311  # a program must be the same again
    for name in ("real", "ours"):
        (folder / name).mkdir()
    for life in range(2):
        if life:
            _set_offsets(folder, random)
        puts = [_drawn(random) for _ in range(random.randrange(3, _GREATEST_PUTS))]
        wanted = _real_life(folder, puts)
        log = dict(_log(folder / "real"))
        got = _our_life(folder, puts, log)
        done = len(log)
        found = (difference(wanted, got, f"state after life {life}")
                 or difference(_files(folder / "real"), _files(folder / "ours"), f"files after life {life}"))
        if found is not None:
            return done, found
    return done, None


def _set_offsets(folder: Path, random: Random) -> None:
    """The file of both says for some levels that so many of their messages were delivered."""
    some = random.sample(["1", "2", "4"], random.randrange(4))
    text = json.dumps({"offsetTable": {level: random.randrange(_GREATEST_PUTS) for level in some}})
    for name in ("real", "ours"):
        (folder / name / _OFFSETS).write_text(text)


def _drawn(random: Random) -> Put:
    """A message of level 1, 2 or 4, of one that is too high, or of none; a half message of level 3."""
    topic = random.choice(["T", "RMQ_SYS_TRANS_HALF_TOPIC", "%RETRY%g"])
    level = random.choice(["1", "1", "2", "4", "9", "0"])
    others = {"KEYS": "a b", "TAGS": "t", "WAIT": "true", "UNIQ_KEY": random.randbytes(8).hex()}
    properties = {name: value for name, value in others.items() if random.randrange(2)}
    properties["DELAY"] = _HALF_LEVEL if topic == "RMQ_SYS_TRANS_HALF_TOPIC" else level
    return Put(topic, random.randrange(2), random.randbytes(random.randrange(1, 50)), properties, _HOST, _HOST,
               random.randrange(10**12), random.randrange(9), random.choice([0, 0, 2, 8]), batch=False)


def _real_life(folder: Path, puts: list[Put]) -> dict[str, Any]:
    """Start the real store, put, wait until what is due was delivered, stop: its state then."""
    real = real_store(folder / "real", _CONFIG)
    if not bool(real.load()):
        return {"load": False}
    real.start()
    for put in puts:
        put_to_real(real, put)
    time.sleep(_UNTIL_DELIVERED_S)
    state = state_of_real(real)
    real.shutdown()
    return state


def _log(folder: Path) -> Iterator[tuple[int, MessageExt]]:
    for path in sorted((folder / ROOT / "commitlog").iterdir()):
        yield from records_of_log(int(path.name), path.read_bytes())


def _our_life(folder: Path, puts: list[Put], log: dict[int, MessageExt]) -> dict[str, Any]:
    """The same with ours, at the moments of the real log; a record that is no copy is the next put."""
    now_ms, waiting = [0], list(puts)
    ours = DefaultMessageStore(Directory(folder / "ours"), _CONFIG, lambda: now_ms[0])
    if not (ours.load() and ours.start()):
        return {"load": False}
    deliveries = _Threads(ours.schedule_message_service, now_ms)
    for offset, message in log.items():
        now_ms[0] = message.store_timestamp
        if offset < ours.get_max_phy_offset():
            continue
        if message.topic == message.get_property(PROPERTY_REAL_TOPIC):
            deliveries.deliver(delay_time_level(message.get_property(PROPERTY_DELAY_TIME_LEVEL)))
        else:
            put_to_ours(ours, waiting.pop(0))
        ours.reput_message_service.do_reput()
        ours.allocate_mapped_file_service.mmap_operation()
    deliveries.finish()
    state = state_of_ours(ours)
    ours.shutdown()
    return state


class _Threads(Deliveries):
    """The threads of the levels, whose looks begin where those of the real ones did. now_ms -- the clock, in a list."""

    def __init__(self, service: ScheduleMessageService, now_ms: list[int]) -> None:
        super().__init__(service)
        self._schedule, self._now_ms = service, now_ms
        self._last_ms: dict[int, int] = {}

    def deliver(self, level: int) -> bool:
        """End a look before, if the real one has not gone on with it: its next message was not due yet."""
        now_ms, last_ms = self._now_ms[0], self._last_ms.get(level)
        if last_ms is not None and now_ms - last_ms >= _BETWEEN_LOOKS_MS and self._next_due_ms(level) > last_ms:
            self._now_ms[0] = last_ms
            self.end_look(level)
        self._now_ms[0] = self._last_ms[level] = now_ms
        return super().deliver(level)

    def _next_due_ms(self, level: int) -> int:
        task = next(task for task in self._schedule.tasks if task.level == level)
        unit = self._schedule.queue(level).unit(task.offset + 1)
        return LONG_MAX if unit is None else unit.tags_code


def _files(folder: Path) -> dict[str, str]:
    """All files, that of the offsets of the levels by its text."""
    return {**files_of(folder), _OFFSETS: (folder / _OFFSETS).read_text()}
