from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spark_fuzz.archive import Archive
from spark_fuzz.java import CACHE_VARIABLE

MAKES = 'for a do f=${a#-XX:SharedArchiveFile=}; done; echo classes > "$f"'
ENDS_S = 30


def homes(folder: Path, body: str = MAKES) -> Archive:
    """The archive of a Java home whose `java` is a shell script."""
    program = folder / "java" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    (folder / "spark" / "jars").mkdir(parents=True)
    return Archive(folder / "java", folder / "spark", folder)


def making(of: Archive) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "spark_fuzz.archive", of.path, of.java / "bin" / "java", "-a"],  # noqa: S603 - our own
                            stdin=subprocess.PIPE)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


def kept(folder: Path) -> list[str]:
    return [file.name for file in (folder / "cache").iterdir()]


def test_a_jvm_uses_the_archive_that_is_there_or_notes_what_belongs_into_it(tmp_path: Path) -> None:
    one = homes(tmp_path)
    assert (one.option(wanted=False), one.option(wanted=True)) == ("", f'"-XX:DumpLoadedClassList={tmp_path}/noted"')
    with making(one) as process:
        assert process.wait(ENDS_S) == 0
    assert one.option(wanted=False) == f'"-XX:SharedArchiveFile={one.path}"'
    assert (one.path.read_text("utf-8"), kept(tmp_path)) == ("classes\n", [one.path.name])


def test_another_java_or_spark_has_another_archive(tmp_path: Path) -> None:
    one = homes(tmp_path)
    before = one.path
    (one.spark / "jars" / "new.jar").touch()
    after = one.path
    (one.java / "bin" / "java").write_text("another", encoding="utf-8")
    assert len({before, after, one.path}) == 3


def test_of_a_command_that_fails_nothing_is_left(tmp_path: Path) -> None:
    with making(homes(tmp_path, f"{MAKES}; exit 1")) as process:
        assert process.wait(ENDS_S) == 0
    assert kept(tmp_path) == []


def test_who_has_no_more_time_leaves_nothing(tmp_path: Path) -> None:
    with making(homes(tmp_path, f"{MAKES}; exec sleep 60")) as process:
        assert process.stdin
        process.stdin.close()
        assert process.wait(ENDS_S) == 0
    assert kept(tmp_path) == []


@pytest.mark.quality
def test_spark_starts_with_the_archive_that_was_made_of_it(tmp_path: Path) -> None:
    code = """
from pathlib import Path
from spark_fuzz.cluster import open_cluster, prepare
assert prepare()
with open_cluster("local[1]") as cluster:
    told = Path(f"/proc/{cluster.context._gateway.proc.pid}/maps").read_text()
    assert ".jsa" in told
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)  # noqa: S603 - this Python
    assert [Path(name).suffix for name in kept(tmp_path) if name.startswith("spark-")] == [".jsa"]
