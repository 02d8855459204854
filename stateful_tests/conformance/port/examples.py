"""The adapters in examples/adapters: how each is built and started, where its tools are."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from invariants.verdict import BadInputError
from stateful_tests.conformance.java import artefacts

ADAPTERS = Path(__file__).parents[3] / "examples" / "adapters"
BUILD_LIMIT_S = 600


@dataclass(frozen=True, slots=True)
class Example:
    """An adapter.

    language -- of it. source -- below ADAPTERS. tools -- programs that it needs. build -- words of the command that
    builds it, if anything is built; {source}, {out} and {jars} are put in. run -- words of the command that starts it.
    differ -- functions that are known to answer otherwise than 4.9.3 (docs/adapters.md).
    """

    language: str
    source: str
    tools: tuple[str, ...]
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    differ: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """The tools that are not on this machine."""
        return [tool for tool in self.tools if shutil.which(tool) is None]

    def built(self, folder: Path) -> str:
        """The command that starts it, when it has been built below a folder.

        Raises BadInputError, with the last line that was said, when that fails.
        """
        out = folder / self.language
        out.mkdir(parents=True, exist_ok=True)
        jars = os.pathsep.join(map(str, artefacts.jars())) if any("{jars}" in word for word in self.run) else ""
        places = {"source": str(ADAPTERS / self.source), "out": str(out.resolve()), "jars": jars}
        if self.build:
            _built([word.format(**places) for word in self.build], ADAPTERS / Path(self.source).parent)
        return shlex.join(word.format(**places) for word in self.run)


def _built(words: Sequence[str], folder: Path) -> None:
    try:
        ended = subprocess.run(  # noqa: S603 - the project's own examples
            words, cwd=folder, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise BadInputError(f"{words[0]} does not end within {BUILD_LIMIT_S} s") from error
    if ended.returncode:
        said = [line.strip() for line in ended.stderr.splitlines() if line.strip()] or ["it said nothing"]
        raise BadInputError(f"{shlex.join(words)[:200]} ended with status {ended.returncode}: {said[-1][:300]}")


EXAMPLES: Sequence[Example] = (
    Example("java", "Adapter.java", ("javac", "java"), ("java", "-cp", "{out}:{jars}", "Adapter"),
            ("javac", "-nowarn", "-cp", "{jars}", "-d", "{out}", "{source}")),
    Example("go", "go/main.go", ("go",), ("{out}/adapter",), ("go", "build", "-o", "{out}/adapter", "."),
            ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM")),
    Example("rust", "rust/Cargo.toml", ("cargo",), ("{out}/release/adapter",),
            ("cargo", "build", "--quiet", "--locked", "--release", "--target-dir", "{out}")),
    Example("c++", "adapter.cpp", ("g++",), ("{out}/adapter",),
            ("g++", "-std=c++17", "-O2", "-o", "{out}/adapter", "{source}")),
    Example("javascript", "adapter.js", ("node",), ("node", "{source}")),
    Example("python", "adapter.py", ("python3",), ("python3", "{source}")),
)
"""All of them, the official clients first."""
