"""A command of `rocketproof`, run in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from invariants.__main__ import app
from invariants.verdict import Verdict


def run(*arguments: str | Path) -> Any:
    """What the command printed, and its exit status."""
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, list(map(str, arguments)))


def rows(text: str) -> list[Verdict]:
    """The rows that it wrote, one a line."""
    return [Verdict.from_json(line) for line in text.splitlines()]


def one_line(stderr: str) -> str:
    """The single line that a command says on standard error."""
    (line,) = stderr.splitlines()
    assert line.startswith("rocketproof: ")
    return line
