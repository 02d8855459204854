"""The threads of replication: each steps a service of `impl.store.ha` as the thread of that name does in Java.

A connection of a master is one thread here: reading and writing share nothing but the slave's first report.
"""

from __future__ import annotations

from collections.abc import Callable

from impl.broker.reported_message_store import ReportedMessageStore
from impl.decisions.replication import NO_REQUEST_OFFSET
from impl.events import ReplicaAnswered, ReplicaReported, SlaveConnected, SlaveDisconnected
from impl.ports.byte_stream import SelectableStream
from impl.ports.node import Node
from impl.ports.threads import Signal
from impl.store.ha.ha_connection import HAConnection
from impl.store.message_store_config import BrokerRole

SELECT_MS = 1_000  # Selector#select of HAClient
TRANSFER_WAIT_MS = 100  # WaitNotifyObject#allWaitForRunning in WriteSocketService#run
NOTIFY_TRANSFER_MS = 1_000  # GroupTransferService#doWaitTransfer
_NO_PUT_MS = 60_000


class HAThreads:
    """HAService's AcceptSocketService, GroupTransferService, HAClient, and the services of its connections."""

    def __init__(self, node: Node, store: ReportedMessageStore, copied: Callable[[], None]) -> None:
        """Run nothing yet; copied -- is told when the log of a slave has grown."""
        self.node, self.store, self._master, self._copied = node, store, store.master_stream, copied
        self._transfer = Signal("GroupTransferService")
        self._streams: dict[HAConnection, SelectableStream] = {}
        self._port = 0

    def start(self, port: int) -> None:
        """HAService#start; who is no slave is never told of a master, and its client would connect nowhere."""
        self._port = port
        self.node.accept_streams(port, self._accept)
        self.node.start_thread("GroupTransferService", self._answer_puts())
        if self.store.config.slave:
            self.node.start_thread("HAClient", self._follow_master())

    def shutdown(self) -> None:
        """HAService#shutdown: nobody is accepted any more; the store closes the connections."""
        if self._port:
            self.node.refuse_streams(self._port)

    def put_done(self) -> None:
        """HAService#getWaitNotifyObject#wakeupAll: a put of a SYNC_MASTER is sent at once."""
        if self.store.config.broker_role is BrokerRole.SYNC_MASTER:
            for stream in self._streams.values():
                self.node.wake(stream.ready)
            self.node.wake(self._transfer)

    # A master ---------------------------------------------------------------------------------------------------------

    def _accept(self, stream: SelectableStream) -> None:
        """AcceptSocketService#run."""
        connection = self.store.ha_service.accept(stream)
        self.node.trace(SlaveConnected(self.node.name, _machine(stream), stream.remote_address))
        self._streams[connection] = stream
        self.node.start_thread("HAConnection", self._serve(connection, stream))

    async def _serve(self, connection: HAConnection, stream: SelectableStream) -> None:
        ha_service, slave, end = self.store.ha_service, _machine(stream), stream.remote_address
        reported = NO_REQUEST_OFFSET
        while connection in ha_service.connection_list:
            sent = connection.run_once()
            self.store.report_flushed()
            if connection.slave_ack_offset != reported:
                reported = connection.slave_ack_offset
                self.node.trace(ReplicaReported(
                    self.node.name, slave, reported, connection.next_transfer_offset, end))
                self.node.wake(self._transfer)
            if sent:
                await self.node.interleave("HAConnection.WriteSocketService#run: before the next frame")
            elif connection in ha_service.connection_list:
                await self.node.wait(stream.ready, TRANSFER_WAIT_MS)
        del self._streams[connection]
        self.node.trace(SlaveDisconnected(self.node.name, slave, end))

    async def _answer_puts(self) -> None:
        service = self.store.ha_service.group_transfer_service
        while not self.store.stopped:
            waiting = service.requests
            service.run_once()
            for request in waiting:
                if request.status is not None:
                    self.node.trace(ReplicaAnswered(self.node.name, request.next_offset, request.status.name))
            await self.node.wait(self._transfer, NOTIFY_TRANSFER_MS if service.requests else _NO_PUT_MS)

    # A slave ----------------------------------------------------------------------------------------------------------

    async def _follow_master(self) -> None:
        client = self.store.ha_service.ha_client
        while not self.store.stopped:
            if client.master_address and not client.connected:
                await self._master.reach(client.master_address)
            end = self.store.get_max_phy_offset()
            wait_ms = client.run_once()
            if self.store.get_max_phy_offset() != end:
                self._copied()
            if wait_ms:
                await self.node.sleep(wait_ms)
            elif client.connected and self._master.stream is not None:
                await self.node.wait(self._master.stream.ready, SELECT_MS)


def _machine(stream: SelectableStream) -> str:
    """Whose end of a connection the other one is."""
    return stream.remote_address.rpartition(":")[0]
