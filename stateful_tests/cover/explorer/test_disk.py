"""A search on a disk goes on where it was, whatever ended it, and refuses a directory that it cannot trust."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import group
from invariants.exploring import Room, explore_scopes
from model.explorer import DiskError, Exploration, Progress, Tuning, explore, shards
from model.explorer.storage import RECORD, Directory
from model.language.expectation import expectation
from model.language.nodes import FALSE, TRUE
from model.language.properties import LEADS_TO, Property
from stateful_tests.standard_error import beside_progress

NAME = "2,2 locked"
SMALL = Tuning(batch=40, shard=200)  # so that levels are settled several times, and shards are cut
ENDS_IN_A_WRITE = """
import os, signal, sys
from pathlib import Path
from stateful_tests.cover.explorer.test_disk import search
from model.explorer import shards
from model.explorer.storage import Directory

left, plain, shards._COLLECTED = int(sys.argv[2]), Directory.add, 1

def add(self, file, data):
    global left
    left -= 1
    if not left:
        with self._file(file).open("ab") as out:
            out.write(data[:len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, file, data)

Directory.add = add
search(Path(sys.argv[1]), cores=2)
"""


def search(disk: Path, name: str = NAME, **options: Any) -> Exploration:
    scope = group.scope(name)
    return explore(scope, list(scope.concept.properties.values()), disk=disk, tuning=SMALL, **options)


def counts(found: Exploration) -> tuple[object, ...]:
    return (found.states, found.transitions, found.depth, found.unknown, sorted(found.violations), found.firings,
            [level[0].tolist() for level in found.levels])


def in_memory(name: str = NAME) -> tuple[object, ...]:
    scope = group.scope(name)
    return counts(explore(scope, list(scope.concept.properties.values())))


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_COLLECTED", 1)


def test_a_killed_search_goes_on(tmp_path: Path) -> None:
    for writes in (30, 60):
        command = [sys.executable, "-c", ENDS_IN_A_WRITE, str(tmp_path / "states"), str(writes)]
        done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - our own module
        assert done.returncode == -signal.SIGKILL
    levels: list[Progress] = []
    found = search(tmp_path / "states", progress=levels.append)
    assert levels[0].depth > 2
    assert counts(found) == in_memory()


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.depth == 8:
            raise KeyboardInterrupt

    first = search(tmp_path, "2,2", progress=interrupt)
    assert (first.unknown, first.outcome("one_owner")) == ("interrupted", "violated")
    levels: list[Progress] = []
    found = search(tmp_path, "2,2", progress=levels.append)
    assert [progress.depth for progress in levels] == list(range(8, found.depth + 1))
    assert counts(found) == in_memory("2,2")
    assert found.violations == search(tmp_path, "2,2").violations


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [120]

    def full(_: int) -> None:
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskError, match="No space left on device; name a directory") as refused:
        search(tmp_path)
    assert len(str(refused.value).splitlines()) == 1
    levels: list[Progress] = []
    assert counts(search(tmp_path, progress=levels.append)) == in_memory()
    assert levels[0].depth > 1


def _another_search(disk: Path) -> None:
    record = (disk / RECORD).read_bytes()
    for left in disk.iterdir():
        left.unlink()
    search(disk, "2,1 locked")
    assert record != (disk / RECORD).read_bytes()


def _a_strange_file(disk: Path) -> None:
    (disk / "holiday.jpg").touch()


def _a_short_record(disk: Path) -> None:
    os.truncate(disk / RECORD, 400)


def _a_changed_record(disk: Path) -> None:
    record = (disk / RECORD).read_text("utf-8")
    (disk / RECORD).write_text(record.replace('"expanded":', '"expanded":1'), "utf-8")


def _a_short_file(disk: Path) -> None:
    largest = max(disk.glob("shard-*.bin"), key=lambda file: file.stat().st_size)
    os.truncate(largest, largest.stat().st_size - 1)


def _a_missing_file(disk: Path) -> None:
    next(disk.glob("shard-*.bin")).unlink()


def _a_changed_byte(disk: Path) -> None:
    file = next(disk.glob("shard-*.bin"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize(("harm", "says"), [
    (_another_search, "holds another search"), (_a_strange_file, "holds holiday.jpg"), (_a_short_record, "is damaged"),
    (_a_changed_record, "is damaged"), (_a_short_file, "is damaged"), (_a_missing_file, "is damaged"),
    (_a_changed_byte, "is damaged"),
])
def test_a_directory_that_cannot_be_trusted_is_refused(
    harm: Callable[[Path], None], says: str, tmp_path: Path,
) -> None:
    search(tmp_path)
    harm(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(DiskError, match=says) as refused:
        search(tmp_path)
    assert len(str(refused.value).splitlines()) == 1
    assert before == {file.name: file.read_bytes() for file in tmp_path.iterdir()}


def test_two_searches_do_not_share_a_directory(tmp_path: Path) -> None:
    with closing(Directory(tmp_path)), pytest.raises(DiskError, match="another search is at work"):
        search(tmp_path)
    assert search(tmp_path).unknown == ""


def test_a_goal_that_was_changed_is_judged_anew(tmp_path: Path) -> None:
    """What is kept are states: nobody who goes on is told what was found of another goal."""
    scope = group.scope(NAME)
    at_once = Property("comes", LEADS_TO, scope.concept, "", TRUE, expectation("holds"))
    for condition, outcome in ((TRUE, "unknown"), (FALSE, "violated"), (TRUE, "unknown")):  # at once: nobody waits
        declared = replace(at_once, condition=condition)
        assert explore(scope, [declared], disk=tmp_path, tuning=SMALL).outcome("comes") == outcome


def test_rows_are_those_of_a_search_in_memory(tmp_path: Path) -> None:
    def rows(room: Room | None = None) -> list[tuple[object, ...]]:
        return [(row.property, row.subject, row.outcome, row.note, row.cost["states"], row.cost["transitions"])
                for row in explore_scopes(["filters", "order lock, B-22a"], room=room)]

    plain = rows()
    assert rows(Room(cores=2, disk=tmp_path)) == plain
    assert {file.name for file in tmp_path.iterdir()} == {"filters", "order-lock-B-22a"}
    assert rows(Room(disk=tmp_path)) == plain


def test_the_command_refuses_a_directory_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "invariants", "explore", "filters", "--disk", str(tmp_path / "file")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own module
    assert done.returncode == 2
    assert "Not a directory; name a directory that can be written" in done.stderr
    assert len(beside_progress(done.stderr)) == 1
