"""ConfigManager: how tables are written to files and read back (`common.ConfigManager`, MixAll#string2File)."""

from __future__ import annotations

from impl.ports.disk import Files
from impl.ports.threads import Interleave

_BACKUP = ".bak"


def string_to_file(files: Files, path: str, text: str) -> None:
    """MixAll#string2File: .tmp, then the old one to .bak, then the new one takes its place. Nothing is forced."""
    files.write_text(path + ".tmp", text)
    previous = files.read_text(path)
    if previous is not None:
        files.write_text(path + _BACKUP, previous)
    files.delete(path)
    files.rename(path + ".tmp", path)


def load_string(files: Files, path: str) -> str | None:
    """ConfigManager#load: the file, or its backup if it is missing or empty; None: start empty."""
    return files.read_text(path) or files.read_text(path + _BACKUP) or None


async def string_to_file_unguarded(files: Files, path: str, text: str, threads: Interleave) -> None:
    """MixAll#string2File by a thread that no lock keeps from others that write the same file: they share the .tmp."""
    files.write_text(path + ".tmp", text)
    await threads.interleave("string2File: before the old file is read")
    previous = files.read_text(path)
    if previous is not None:
        files.write_text(path + _BACKUP, previous)
    await threads.interleave("string2File: before the old file is deleted")
    files.delete(path)
    await threads.interleave("string2File: before the new file is renamed")
    files.rename(path + ".tmp", path)
