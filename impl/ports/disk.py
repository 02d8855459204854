"""The files of a machine."""

from __future__ import annotations

from typing import Protocol


class Files(Protocol):
    """The files that a process reads and writes as whole texts (MixAll#string2File); each call is atomic."""

    def read_text(self, path: str) -> str | None:
        """The content; None if there is no such file."""
        ...

    def write_text(self, path: str, text: str) -> None:
        """Create or replace a file; the folder is made. Nothing is forced to the disk."""
        ...

    def rename(self, path: str, to: str) -> None:
        """Give a file another name, replacing what has it; nothing happens if there is no such file."""
        ...

    def delete(self, path: str) -> None:
        """Remove a file if it is there."""
        ...
