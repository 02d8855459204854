"""DataVersion: which state of a broker's topic table a registration carries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class DataVersion:
    """`common.DataVersion`. Versions are equal or different; there is no order, an older one counts as a change.

    timestamp -- milliseconds since 1970 of the last change, by the broker's clock.
    counter -- changes so far.
    """

    timestamp: int
    counter: int = 0

    def copy(self) -> DataVersion:
        """The version as it is now."""
        return DataVersion(self.timestamp, self.counter)

    def assign_new_one(self, data_version: DataVersion) -> None:
        """DataVersion#assignNewOne."""
        self.timestamp = data_version.timestamp
        self.counter = data_version.counter

    def next_version(self, now_ms: int) -> None:
        """DataVersion#nextVersion: two writes, and no lock; a reader may see the first alone."""
        self.timestamp = now_ms
        self.counter += 1
