"""What replication asks of the store, and a connection of the service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from impl.store.mapped_file import SelectMappedBufferResult
from impl.store.message_store_config import MessageStoreConfig


class ReplicatedStore(Protocol):
    """The part of `store.DefaultMessageStore` that is used here; see there. now_ms -- its SystemClock."""

    config: MessageStoreConfig
    now_ms: Callable[[], int]

    def get_max_phy_offset(self) -> int:
        """The end of the log."""
        ...

    def get_commit_log_data(self, offset: int) -> SelectMappedBufferResult | None:
        """The log from an offset to the end of its file."""
        ...

    def append_to_commit_log(self, start_offset: int, data: bytes) -> bool:
        """Append raw bytes."""
        ...


class Slaves(Protocol):
    """The part of `ha.HAService` that a connection uses. store -- of the master."""

    store: ReplicatedStore

    def notify_transfer_some(self, offset: int) -> None:
        """A slave has come so far."""
        ...

    def remove_connection(self, connection: object) -> None:
        """A connection has ended."""
        ...
