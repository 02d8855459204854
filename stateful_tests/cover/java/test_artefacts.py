"""The cache of the official artefacts: complete, damaged, half written, without a network."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from invariants.verdict import BadInputError
from stateful_tests.conformance.java import artefacts

pytestmark = [
    pytest.mark.java,
    # jgo leaves the socket of an answer other than 200 to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

NOWHERE = "http://127.0.0.1:9/maven2"  # nobody listens on the discard port


@pytest.fixture(scope="module")
def official() -> Path:
    """The folder of the real jars; fetched now if this machine never did."""
    try:
        return artefacts.jars()[0].parent
    except BadInputError as error:
        pytest.fail(str(error))


@pytest.fixture
def cache(official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A complete cache of this test's own, and no network; answers the folder of the jars."""
    folder = tmp_path / "cache" / official.name
    shutil.copytree(official, folder)
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ROCKETPROOF_MAVEN", NOWHERE)
    return folder


@dataclass
class Mirror:
    """A Maven repository on this machine: what it serves by file name, what it was asked for."""

    url: str = ""
    contents: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


class MirrorHandler(http.server.BaseHTTPRequestHandler):
    def __init__(self, mirror: Mirror, *arguments: object) -> None:
        self.mirror = mirror
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        name = self.path.rsplit("/", 1)[-1]
        content = self.mirror.contents.get(name)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if content is not None:
            self.mirror.asked.append(self.path)
            self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def mirror(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror that serves the official jars."""
    served = Mirror(contents={path.name: path.read_bytes() for path in cache.glob("*.jar")})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(MirrorHandler, served))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}/maven2"
    monkeypatch.setenv("ROCKETPROOF_MAVEN", served.url)
    yield served
    server.shutdown()
    thread.join()
    server.server_close()


def never(_done: int, _of: int) -> None:
    raise AssertionError("nothing was to be fetched")


def test_table_locks_the_39_jars() -> None:
    table = artefacts.locked()
    names = {artefact.file_name for artefact in table}
    assert len(table) == len(names) == 39
    assert sum(artefact.bytes for artefact in table) == 22_392_857
    assert all(len(artefact.sha256) == 64 and int(artefact.sha256, 16) for artefact in table)
    assert {artefact.version for artefact in table if artefact.group == "org.apache.rocketmq"} == {"4.9.3"}
    assert {"guava-31.0.1-jre.jar", "javassist-3.20.0-GA.jar", "snakeyaml-1.30.jar", "failureaccess-1.0.1.jar"} <= names


def test_a_complete_cache_needs_no_network(cache: Path) -> None:
    found = artefacts.jars(never)
    assert [path.name for path in found] == [artefact.file_name for artefact in artefacts.locked()]
    assert {path.parent for path in found} == {cache}


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "longer"])
def test_a_damaged_jar_is_fetched_again_and_no_other(cache: Path, mirror: Mirror, damage: str) -> None:
    jar = cache / "rocketmq-client-4.9.3.jar"
    good = jar.read_bytes()
    bad = {"cut": good[:1000], "flipped": bytes([good[0] ^ 1]) + good[1:], "longer": good + b"x"}
    if damage == "gone":
        jar.unlink()
    else:
        jar.write_bytes(bad[damage])
    fetched: list[tuple[int, int]] = []
    assert jar in artefacts.jars(lambda done, of: fetched.append((done, of)))
    assert jar.read_bytes() == good
    assert fetched == [(1, 1)]
    assert mirror.asked == ["/maven2/org/apache/rocketmq/rocketmq-client/4.9.3/rocketmq-client-4.9.3.jar"]


def test_an_empty_cache_is_filled(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path / "new"))
    fetched: list[tuple[int, int]] = []
    found = artefacts.jars(lambda done, of: fetched.append((done, of)))
    assert fetched == [(done, 39) for done in range(1, 40)]
    assert len(mirror.asked) == 39
    assert sorted(found[0].parent.iterdir()) == sorted(found), "the download folder is gone"


def test_other_bytes_than_published_are_refused(cache: Path, mirror: Mirror) -> None:
    jar = cache / "fastjson-1.2.76.jar"
    jar.unlink()
    mirror.contents[jar.name] = b"<html>please log in</html>"
    with pytest.raises(BadInputError, match=r"other bytes than the published fastjson-1\.2\.76\.jar"):
        artefacts.jars()
    assert not jar.exists()


def test_a_damaged_cache_without_network_is_not_used(cache: Path) -> None:
    (cache / "guava-31.0.1-jre.jar").write_bytes(b"half")
    with pytest.raises(BadInputError, match=r"guava-31\.0\.1-jre\.jar cannot be fetched .*connect to the network once"):
        artefacts.jars()


def test_a_mirror_that_lacks_a_jar_is_named(cache: Path, mirror: Mirror) -> None:
    (cache / "jna-4.2.2.jar").unlink()
    del mirror.contents["jna-4.2.2.jar"]
    with pytest.raises(BadInputError, match=rf"jna-4\.2\.2\.jar cannot be fetched from {mirror.url}"):
        artefacts.jars()


def test_a_killed_download_leaves_nothing_for_ever(cache: Path, mirror: Mirror) -> None:
    old, young = cache / "download-old", cache / "download-young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "half.jar").write_bytes(b"PK")
    os.utime(old, (0, 0))
    (cache / "jna-4.2.2.jar").unlink()
    artefacts.jars()
    assert mirror.asked
    assert not old.exists()
    assert young.exists(), "it may be another run's"


def test_a_cache_that_cannot_be_written_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("ROCKETPROOF_MAVEN", NOWHERE)
    with pytest.raises(BadInputError, match="set ROCKETPROOF_CACHE to a folder that can"):
        artefacts.jars()


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path))
    assert artefacts.cache_folder() == tmp_path
    monkeypatch.delenv("ROCKETPROOF_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert artefacts.cache_folder() == tmp_path / "rocketproof"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert artefacts.cache_folder() == Path.home() / ".cache" / "rocketproof"


def test_the_command_without_network_is_no_pass(tmp_path: Path) -> None:
    environment = {**os.environ, "ROCKETPROOF_CACHE": str(tmp_path), "ROCKETPROOF_MAVEN": NOWHERE}
    command = [sys.executable, "-m", "stateful_tests.conformance.java", "--inputs", "12", "--json", "-"]
    root = Path(artefacts.__file__).parents[3]
    ran = subprocess.run(  # noqa: S603  our own command
        command, env=environment, cwd=root, capture_output=True, text=True, timeout=60, check=False,
    )
    assert ran.returncode == 2
    assert ran.stdout == "", "no verdict"
    (line,) = ran.stderr.strip().splitlines()
    assert "cannot be fetched from http://127.0.0.1:9/maven2" in line
    assert "connect to the network once" in line
