"""Files of simulated machines, as whole texts; they survive the processes.

Fault injected here, when a machine loses power: each file whose last change is not older than UNFORCED_MS may be as it
was before that change, or empty (its new length was on the disk, its bytes were not). MixAll#string2File forces
nothing. Choice 0: it is as it was last written. A kill -9 loses nothing that was written.
"""

from __future__ import annotations

from dataclasses import dataclass

from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.process import Process

UNFORCED_MS = 30_000  # an operating system writes back by itself after about so long


@dataclass(slots=True)
class _File:
    text: str | None
    before: str | None
    changed_ms: int


class Disk:
    """The files of one machine."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        """Empty; name -- of the machine."""
        self.kernel, self.name = kernel, name
        self._files: dict[str, _File] = {}

    def read(self, path: str) -> str | None:
        """The content; None if there is no such file."""
        file = self._files.get(path)
        return None if file is None else file.text

    def write(self, path: str, text: str | None) -> None:
        """Replace the content; None: remove the file."""
        file = self._files.get(path)
        if file is None:
            self._files[path] = _File(text, None, self.kernel.now_ms)
        else:
            file.text, file.before, file.changed_ms = text, file.text, self.kernel.now_ms

    def lose_power(self) -> None:
        """Let the tape choose what is left of each file that was changed lately."""
        for path, file in self._files.items():
            if self.kernel.now_ms - file.changed_ms > UNFORCED_MS or file.text == file.before:
                continue
            chosen = self.kernel.tape.pick(3, "")
            if chosen:
                file.text, lost = (file.before, "older") if chosen == 1 or file.text is None else ("", "empty")
                if self.kernel.tape.telling:
                    self.kernel.tape.tell(self.kernel.now_ms, self.name, f"after power loss {path} is {lost}")


class Files:
    """What one process sees of its disk; see `impl.ports.disk`."""

    def __init__(self, process: Process, disk: Disk) -> None:
        """The files of the machine on which the process runs."""
        self.process, self.disk = process, disk

    def read_text(self, path: str) -> str | None:
        """See Files in `impl.ports.disk`."""
        self.process.check_alive()
        return self.disk.read(path)

    def write_text(self, path: str, text: str) -> None:
        """See Files in `impl.ports.disk`."""
        self.process.check_alive()
        self.disk.write(path, text)

    def rename(self, path: str, to: str) -> None:
        """See Files in `impl.ports.disk`."""
        text = self.read_text(path)
        if text is not None:
            self.disk.write(to, text)
            self.disk.write(path, None)

    def delete(self, path: str) -> None:
        """See Files in `impl.ports.disk`."""
        self.process.check_alive()
        self.disk.write(path, None)
