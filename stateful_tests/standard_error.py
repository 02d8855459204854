"""What a command says on standard error beside its progress."""

from __future__ import annotations

import re

_PROGRESS = re.compile(r"\w+: \d+ s( \||$)")


def beside_progress(err: str) -> list[str]:
    """The lines that are not progress, which comes every two seconds: how many depends on the machine."""
    return [line for line in err.splitlines() if not _PROGRESS.match(line)]
