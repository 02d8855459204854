"""Directories, recovered by the real store and by ours: equal states, and equal files, after the load and the start."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from impl.decisions.java_errors import JavaError
from impl.hosts.files.directory import Directory
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_store_config import MessageStoreConfig
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.java.stores.damage import damaged
from stateful_tests.conformance.java.stores.real import ROOT, files_of, real_store, state_of_ours, state_of_real
from stateful_tests.conformance.java.stores.seen import START_LIMIT_S, java_thread, started
from stateful_tests.conformance.store_images import Image
from stateful_tests.crash.recovery import WAITS

_WAITS_S = 1.5
LEAST_INDEX_ENTRIES = 100  # smaller index files roll over within a millisecond, and Java then makes one file twice


def recovery(folder: Path, images: Sequence[Image], seed: int) -> str | None:
    """Damage one of the images, let both load it: what differs, with what was done to it."""
    random = Random(seed)  # noqa: S311  # damage must be the same again
    image = random.choice([image for image in images if image.config().max_index_num >= LEAST_INDEX_ENTRIES])
    contents, blows = damaged(image.contents, random)
    config = replace(image.config(), message_index_safe=random.randrange(3) == 0)
    return loaded_alike(folder, contents, config, f"{image.name}, {', '.join(blows) or 'as it is'}")


def loaded_alike(
    folder: Path, contents: Mapping[str, bytes], config: MessageStoreConfig, what: str,
) -> str | None:
    """Let both stores load a directory and start on it: what differs after the one or the other.

    contents -- path below the root to bytes. what -- the directory is.
    """
    (folder / "real").mkdir()
    for path, data in contents.items():
        place = folder / "real" / ROOT / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    shutil.copytree(folder / "real", folder / "ours")
    shutil.copytree(folder / "real", folder / "before")
    real = real_store(folder / "real", config)
    ours = DefaultMessageStore(Directory(folder / "ours"), config, _Clock().now_ms)
    wanted = bool(real.load())
    try:
        got: object = ours.load()
    except JavaError as error:
        got = error.java_class
    found = difference(wanted, got, f"{what}: load")
    if found is not None or not wanted:
        real.getAllocateMappedFileService().shutdown()
        return found
    return _same(folder, real, ours, f"{what}: after the load") or _started_alike(folder, real, ours, what)


def _same(folder: Path, real: Any, ours: DefaultMessageStore, what: str) -> str | None:
    return difference(state_of_real(real), state_of_ours(ours), f"{what}, state") or difference(
        files_of(folder / "real"), files_of(folder / "ours"), f"{what}, files")


def _started_alike(folder: Path, real: Any, ours: DefaultMessageStore, what: str) -> str | None:
    """Let both start and dispatch: what differs. Where ours waits, the real one is not waited for as long."""
    try:
        got = "" if ours.start() else WAITS
    except JavaError as error:
        got = f"start fails with {error.java_class}"
    wanted = started(real, _WAITS_S if got == WAITS else START_LIMIT_S)
    found = difference(wanted, got, f"{what}: start")
    found = found or (_same(folder, real, ours, f"{what}: after the start") if not wanted else None)
    if not wanted:
        java_thread(real.shutdown).start()  # it sleeps for a second
    return found


class _Clock:
    """A clock that shows no time twice: index files are named by it."""

    def __init__(self) -> None:
        self._time_ms = 1_900_000_000_000

    def now_ms(self) -> int:
        """One millisecond more than before."""
        self._time_ms += 1
        return self._time_ms
