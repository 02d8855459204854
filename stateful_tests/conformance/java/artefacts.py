"""The official RocketMQ 4.9.3 artefacts: fetched once from Maven Central, kept in a cache, checked at every use.

`artefacts.jsonl` is the lock: coordinates, size and sha256 of the 39 jars that rocketmq-broker, -namesrv, -store,
-client and -tools 4.9.3 resolve to. A jar of other bytes is never used, wherever it came from.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from invariants.verdict import BadInputError

VERSION = "4.9.3"
CENTRAL = "https://repo.maven.apache.org/maven2"
_DOWNLOADS = 6  # at a time
_TIMEOUT_S = 20  # without a byte
_STALE_S = 3600  # a download folder this old was left by a run that was killed


@dataclass(frozen=True, slots=True)
class Artefact:
    """One jar: Maven coordinates, size and sha256 as published."""

    group: str
    artifact: str
    version: str
    bytes: int
    sha256: str

    @property
    def file_name(self) -> str:
        """Name of the jar in the cache and in the repository."""
        return f"{self.artifact}-{self.version}.jar"

    def is_intact(self, folder: Path) -> bool:
        """Whether the folder holds this jar with the published bytes."""
        try:
            content = (folder / self.file_name).read_bytes()
        except OSError:
            return False
        return len(content) == self.bytes and hashlib.sha256(content).hexdigest() == self.sha256


def locked() -> list[Artefact]:
    """The committed table, in class path order."""
    text = resources.files(__package__).joinpath("artefacts.jsonl").read_text(encoding="utf-8")
    return [Artefact(**json.loads(line)) for line in text.splitlines()]


def cache_folder() -> Path:
    """Where the jars are kept: ROCKETPROOF_CACHE, else XDG_CACHE_HOME/rocketproof, else ~/.cache/rocketproof."""
    own = os.environ.get("ROCKETPROOF_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "rocketproof"


def jars(fetched: Callable[[int, int], None] = lambda _done, _of: None) -> list[Path]:
    """The 39 jars, intact; what is missing or damaged in the cache is fetched from Maven Central first.

    fetched -- told (jars fetched, jars to fetch) while it downloads; not called when the cache is complete.

    Raises BadInputError when Maven Central cannot be reached, answers other bytes, or the cache cannot be written.
    """
    folder = cache_folder() / f"rocketmq-{VERSION}"
    table = locked()
    wanted = [artefact for artefact in table if not artefact.is_intact(folder)]
    if wanted:
        try:
            _fetch(wanted, folder, fetched)
        except OSError as error:
            raise BadInputError(
                f"{folder}: cannot be written ({error}); set ROCKETPROOF_CACHE to a folder that can",
            ) from error
    return [folder / artefact.file_name for artefact in table]


def _fetch(wanted: list[Artefact], folder: Path, fetched: Callable[[int, int], None]) -> None:
    """Download into a folder of this run, check, and only then move into the cache: a killed run leaves no half jar."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("download-*"):
        if left.stat().st_mtime < time.time() - _STALE_S:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="download-", dir=folder) as scratch:
        done = 0
        pool = ThreadPoolExecutor(_DOWNLOADS)
        try:
            for artefact, path in zip(wanted, pool.map(_downloader(Path(scratch)), wanted), strict=True):
                if not artefact.is_intact(path.parent):
                    raise BadInputError(
                        f"{_repository()} answered other bytes than the published {artefact.file_name}; "
                        "is a proxy in between? Try again, or give another mirror in ROCKETPROOF_MAVEN",
                    )
                path.replace(folder / artefact.file_name)
                done += 1
                fetched(done, len(wanted))
        finally:
            pool.shutdown(cancel_futures=True)


def _repository() -> str:
    """The Maven repository to ask: a mirror of Maven Central may be named in ROCKETPROOF_MAVEN."""
    return os.environ.get("ROCKETPROOF_MAVEN", CENTRAL).rstrip("/")


def _downloader(repository_cache: Path) -> Callable[[Artefact], Path]:
    """A function that downloads one artefact below the given folder and returns its path."""
    try:
        import requests  # noqa: PLC0415 -- comes with jgo, which only the extra `java` installs
        from jgo.maven import MavenContext  # noqa: PLC0415 -- same
    except ImportError as error:
        raise BadInputError(f"{error.name} is not installed; pip install 'rocketproof[java]'") from error
    logging.getLogger("jgo").setLevel(logging.CRITICAL)  # our sha256 says what its sha1 warning would
    context = MavenContext(
        repo_cache=repository_cache, remote_repos={"central": _repository()}, timeout=_TIMEOUT_S,
    )

    def download(artefact: Artefact) -> Path:
        coordinate = f"{artefact.group}:{artefact.artifact}:{artefact.version}"
        try:
            return Path(context.create_dependency(coordinate).artifact.resolve())
        except (requests.RequestException, RuntimeError) as error:
            reason = type(error).__name__ if isinstance(error, requests.RequestException) else error
            raise BadInputError(
                f"RocketMQ {VERSION} is not in the cache and {artefact.file_name} cannot be fetched from "
                f"{_repository()} ({reason}); connect to the network once, or set ROCKETPROOF_CACHE to a filled cache",
            ) from error

    return download
