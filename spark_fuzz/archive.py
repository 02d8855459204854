"""An archive of the classes that Spark loads: with it the JVM starts in half of the time and of the CPU time.

It is made once for a Java and a Spark, in about ten seconds of CPU time, and lies in the cache folder (90 MB). A JVM
ignores one that does not fit. Who needs Spark for a while makes it meanwhile, in a process of its own with the lowest
priority: `python -m spark_fuzz.archive ARCHIVE COMMAND`, which gives up when its standard input ends.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from spark_fuzz.java import cache_folder, wheel_java

POLL_S, ENDS_S = 0.2, 5.0
_LOWEST = 19


@dataclass(frozen=True)
class Archive:
    """The archive of a Java and a Spark.

    java, spark -- their homes. scratch -- a folder for what is needed to make it.
    """

    java: Path
    spark: Path
    scratch: Path

    @property
    def path(self) -> Path:
        """Where it lies when it has been made; other versions have others."""
        files = [self.java / "bin" / "java", *filter(None, [wheel_java()]), self.spark / "jars"]
        known = [f"{file.resolve()} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
        return cache_folder() / f"spark-{blake2b(repr(known).encode(), digest_size=6).hexdigest()}.jsa"

    def option(self, *, wanted: bool) -> str:
        """What a JVM is told to use it, or to note what belongs into it if it is wanted."""
        if wanted:
            return f'"-XX:DumpLoadedClassList={self._noted}"'
        return f'"-XX:SharedArchiveFile={self.path}"' if self.path.exists() else ""

    @property
    def _noted(self) -> Path:
        return self.scratch / "noted"

    @contextmanager
    def made_meanwhile(self, context: Any) -> Iterator[None]:
        """Make it in the time of the block, if that is long enough; context -- of the JVM that has noted."""
        if not self._noted.exists():  # a Java that cannot
            yield
            return
        class_path = context._jvm.java.lang.System.getProperty("java.class.path")  # noqa: SLF001 - no public way
        classes = self.scratch / "classes"
        noted = self._noted.read_bytes()
        classes.write_bytes(noted[: noted.rfind(b"\n") + 1])  # the JVM still writes
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", __name__, self.path, self.java / "bin" / "java", "-Xshare:dump", "-XX:+UseSerialGC",
             f"-XX:SharedClassListFile={classes}", "-cp", class_path],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}, process_group=0,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with process:
            yield


def main() -> None:
    """Give the command that makes an archive, which is there as a whole or not at all."""
    os.nice(_LOWEST)
    archive, *command = sys.argv[1:]
    made = Path(archive).with_name(f".{Path(archive).name}.{os.getpid()}")
    made.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen([*command, f"-XX:SharedArchiveFile={made}"], stdin=subprocess.DEVNULL) as process:  # noqa: S603 - as given
        while process.poll() is None:
            if select.select([sys.stdin], [], [], POLL_S)[0]:
                process.kill()
                break
    if process.returncode == 0 and made.exists():
        made.replace(archive)
    made.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
