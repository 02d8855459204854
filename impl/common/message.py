"""MessageExt: a message as the store has it and consumers get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MessageExt:
    """`common.message.MessageExt`, what is read here. queue_offset -- its place in the queue."""

    queue_offset: int
    body: bytes | None = b"x"
    properties: Mapping[str, str] = field(default_factory=dict)

    def get_property(self, name: str) -> str | None:
        """Message#getProperty."""
        return self.properties.get(name)
