"""What runs on this machine, by its command line."""

from __future__ import annotations

import subprocess
import time


def running(text: str) -> dict[int, int]:
    """{process: its parent} of the processes whose command line has the text."""
    told = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True)  # noqa: S607 - ps of the PATH
    rows = [line.split(maxsplit=2) for line in told.stdout.splitlines() if text in line]
    return {int(pid): int(parent) for pid, parent, _ in rows}


def gone(text: str, seconds: float) -> bool:
    """Whether no such process is left within so many seconds."""
    until = time.monotonic() + seconds
    while running(text):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True
