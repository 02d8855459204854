"""The command `rocketproof` in a process of its own, asked for rows: whatever happens to it, there is an answer."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

GRACE_S = 20
"""A command that has used up its time may take so long to end those that it has started, and to write its rows."""
PICTURE_LIMIT_S = 60
LAST_LINES = 20
_STATUS_OF = {"expected": 0, "unknown": 3, "different": 1}
_HERE = str(Path(__file__).parents[1])
_START = ("import sys; sys.argv[0] = 'rocketproof'; "
          f"sys.path.append({_HERE!r}); from rocketproof.__main__ import main; main()")
PROGRAM = [sys.executable, "-P", "-c", _START]
"""The command, also where no script is installed for it."""


@dataclass(frozen=True)
class Answer:
    """What a command has said.

    command -- its words. rows -- verdict rows, as `--json` writes them. problem -- why they are not all that there
    should be, with the last lines that were printed; empty if they are. folder -- of the evidence.
    """

    command: str
    rows: list[dict[str, Any]]
    problem: str
    folder: str

    def to_json(self) -> str:
        """For another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What to_json wrote."""
        return cls(**json.loads(text))


def asked(command: str, root: Path, folder: Path, limit_s: float) -> Answer:
    """Run a command, and read its rows; it is over after so many seconds at the latest.

    root -- the working directory. folder -- for rows and evidence, relative to it.
    """
    rows = folder / "rows.jsonl"
    with suppress(FileNotFoundError):
        (root / rows).unlink()
    try:
        words = [*shlex.split(command), "--json", str(rows), "--out", str(folder)]
    except ValueError as error:
        return Answer(command, [], f"{command}: {error}", str(folder))
    status, said, in_time = _ended(words, root, limit_s)
    found, unread = _read(root / rows)
    problem = f"does not end within {limit_s:g} s" if not in_time else unread or _problem(status, found)
    last = "\n".join(said.splitlines()[-LAST_LINES:])
    return Answer(command, found, problem and f"rocketproof {command}: {problem}\n{last}", str(folder))


def picture(file: Path, root: Path) -> str:
    """What `rocketproof show` prints of a file of evidence; or why it prints nothing."""
    status, said, in_time = _ended(["show", str(file)], root, PICTURE_LIMIT_S)
    return said.strip("\n") if in_time and status == 0 else f"{file} cannot be shown: {said.strip()}"


def _ended(words: list[str], root: Path, limit_s: float) -> tuple[int, str, bool]:
    """Status, what was printed, and whether the process has ended by itself; nothing of it is left."""
    child = subprocess.Popen(  # noqa: S603 - this Python, and the user's own words
        [*PROGRAM, *words], cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True)
    try:
        said, _ = child.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return _interrupted(child)
    finally:
        _kill(child)
    return child.returncode, said, True


def _interrupted(child: subprocess.Popen[str]) -> tuple[int, str, bool]:
    """Press its Ctrl-C: it keeps its rows then."""
    os.killpg(child.pid, signal.SIGINT)
    try:
        said, _ = child.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        _kill(child)
        said, _ = child.communicate()
    return child.returncode, said, False


def _kill(child: subprocess.Popen[str]) -> None:
    """End whatever is left of the process and of those that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _read(file: Path) -> tuple[list[dict[str, Any]], str]:
    """The rows of a file, and what is wrong with it."""
    try:
        lines = file.read_text("utf-8").splitlines() if file.is_file() else []
        return [json.loads(line) for line in lines], ""
    except ValueError as error:
        return [], f"its rows cannot be read ({error})"


def _problem(status: int, rows: list[dict[str, Any]]) -> str:
    """What a status says that no row does."""
    if status < 0:
        return f"is killed by {signal.Signals(-status).name}"
    if status not in _STATUS_OF.values():
        return f"ends with status {status}"
    if not rows:
        return f"gives no verdict, and ends with status {status}"
    standings = {row["standing"] for row in rows}
    expected = next(_STATUS_OF[one] for one in ("different", "unknown", "expected") if one in standings)
    return "" if status == expected else f"ends with status {status}, of which no row tells"
