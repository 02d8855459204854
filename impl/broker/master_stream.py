"""MasterStream: the connection of a slave, made by a thread that may wait, and given to a client that does not."""

from __future__ import annotations

from impl.ports.byte_stream import SelectableStream
from impl.ports.node import Node


class MasterStream:
    """RemotingUtil#connect for HAClient: the thread of the client has waited before, and the stream is given here."""

    def __init__(self, node: Node) -> None:
        """Have reached nobody."""
        self._node = node
        self.stream: SelectableStream | None = None
        self._address = ""

    async def reach(self, address: str) -> None:
        """Connect, for as long as it takes."""
        self._address, self.stream = address, await self._node.open_stream(address)

    def __call__(self, address: str) -> SelectableStream | None:
        """See Connect in `impl.ports.byte_stream`."""
        return self.stream if address == self._address else None
