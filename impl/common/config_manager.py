"""ConfigManager: how tables are written to files and read back (`common.ConfigManager`, MixAll#string2File)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from impl.decisions.java_errors import IllegalArgumentError, JavaError
from impl.ports.disk import Disk, DiskError
from impl.ports.threads import Interleave

_BACKUP = ".bak"
_NUMBER_KEY = re.compile(r"(?<=[{,])(-?\d+)(?=:)")


def file_to_string(disk: Disk, path: str) -> str | None:
    """MixAll#file2String: the whole text of a file; None if there is no such file."""
    length = disk.length(path)
    if length is None:
        return None
    file = disk.open(path)
    data = file.read(0, length)
    file.close()
    return data.decode("utf-8", "replace")


def string_to_file_not_safe(disk: Disk, path: str, text: str) -> None:
    """MixAll#string2FileNotSafe: make or overwrite a file, and its folder. Nothing is forced; raises DiskFullError."""
    file = disk.open(path)
    file.truncate(0)
    file.append(text.encode("utf-8", "replace"))
    file.close()


def string_to_file(disk: Disk, path: str, text: str) -> None:
    """MixAll#string2File: .tmp, then the old one to .bak, then the new one takes its place. Nothing is forced.

    Raises DiskFullError; the file is then as it was.
    """
    string_to_file_not_safe(disk, path + ".tmp", text)
    previous = file_to_string(disk, path)
    if previous is not None:
        string_to_file_not_safe(disk, path + _BACKUP, previous)
    disk.delete(path)
    disk.rename(path + ".tmp", path)


def persist(disk: Disk, path: str, text: str) -> bool:
    """ConfigManager#persist: an IOException is logged; whether the file has the text."""
    try:
        string_to_file(disk, path, text)
    except DiskError:
        return False
    return True


def load_string(disk: Disk, path: str) -> str | None:
    """ConfigManager#load: the file, or its backup if it is missing or empty; None: start empty."""
    return file_to_string(disk, path) or file_to_string(disk, path + _BACKUP) or None


def load(disk: Disk, path: str, decode: Callable[[str], None]) -> bool:
    """ConfigManager#load: decode the file, or its backup if it is missing, empty or does not decode.

    False: the backup does not decode either. A backup that is missing or empty is as good as one that decodes.
    """
    return _decoded(disk, path, decode) or _decoded(disk, path + _BACKUP, decode) is not False


def _decoded(disk: Disk, path: str, decode: Callable[[str], None]) -> bool | None:
    """Whether the file decodes; None: there is nothing to decode."""
    text = file_to_string(disk, path)
    if not text:
        return None
    try:
        decode(text)
    except JavaError:
        return False
    return True


def parsed_json(text: str) -> dict[str, Any]:
    """RemotingSerializable#fromJson of an object; numbers that are keys need no quotes, because fastjson writes none.

    Raises IllegalArgumentError for a text that is none.
    """
    try:
        document = json.loads(_NUMBER_KEY.sub(r'"\1"', text))
    except ValueError as error:
        raise IllegalArgumentError(str(error)) from error
    if not isinstance(document, dict):
        raise IllegalArgumentError("not an object")
    return document


@contextmanager
def as_fastjson() -> Iterator[None]:
    """In the block what a document has not, or has otherwise, is an IllegalArgumentError, as of a text that is none."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IllegalArgumentError(f"{type(error).__name__}: {error}") from error


async def persist_unguarded(disk: Disk, path: str, text: str, threads: Interleave) -> None:
    """MixAll#string2File by a thread that no lock keeps from others that write the same file: they share the .tmp.

    An IOException is logged.
    """
    try:
        string_to_file_not_safe(disk, path + ".tmp", text)
        await threads.interleave("string2File: before the old file is read")
        previous = file_to_string(disk, path)
        if previous is not None:
            string_to_file_not_safe(disk, path + _BACKUP, previous)
    except DiskError:
        return
    await threads.interleave("string2File: before the old file is deleted")
    disk.delete(path)
    await threads.interleave("string2File: before the new file is renamed")
    disk.rename(path + ".tmp", path)
