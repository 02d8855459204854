"""HAService: the connections of a master's slaves, the puts that wait for them, and the client of a slave."""

from __future__ import annotations

from impl.decisions.replication import is_slave_ok, is_transferred
from impl.ports.byte_stream import ByteStream, Connect
from impl.store.ha.ha_client import HAClient
from impl.store.ha.ha_connection import HAConnection
from impl.store.ha.replicated import ReplicatedStore
from impl.store.put_message_result import GroupCommitRequest
from impl.store.put_message_status import PutMessageStatus


class HAService:
    """`ha.HAService`.

    connection_list -- of slaves. push2_slave_max_offset -- the greatest offset that any slave has reported since the
    start; it never falls. The host accepts connections (`accept`), and steps `run_once`.
    """

    def __init__(self, store: ReplicatedStore, connect: Connect) -> None:
        """Have no connection. connect -- how a slave reaches its master."""
        self.store = store
        self.connection_list: list[HAConnection] = []
        self.push2_slave_max_offset = 0
        self.group_transfer_service = GroupTransferService(self)
        self.ha_client = HAClient(store, connect)

    def update_master_address(self, new_address: str) -> None:
        """HAService#updateMasterAddress: "" means that there is no master."""
        self.ha_client.master_address = new_address

    def accept(self, connection: ByteStream) -> HAConnection:
        """AcceptSocketService#run: whoever connects is a slave."""
        self.connection_list.append(HAConnection(self, connection))
        return self.connection_list[-1]

    def run_once(self) -> None:
        """A round of all connections and of the waiting puts."""
        for connection in [*self.connection_list]:
            connection.run_once()
        self.group_transfer_service.run_once()

    def shutdown(self) -> None:
        """HAService#shutdown."""
        self.ha_client.close_master()
        for connection in [*self.connection_list]:
            connection.shutdown()

    # Of the commit log ------------------------------------------------------------------------------------------------

    def is_slave_ok(self, master_put_where: int) -> bool:
        """HAService#isSlaveOK."""
        return is_slave_ok(len(self.connection_list), master_put_where, self.push2_slave_max_offset,
                           self.store.config.ha_slave_fallbehind_max_bytes)

    def put_request(self, request: GroupCommitRequest) -> None:
        """HAService#putRequest."""
        self.group_transfer_service.put_request(request)

    # Of a connection --------------------------------------------------------------------------------------------------

    def notify_transfer_some(self, offset: int) -> None:
        """HAService#notifyTransferSome: some slave has come so far."""
        self.push2_slave_max_offset = max(self.push2_slave_max_offset, offset)

    def remove_connection(self, connection: object) -> None:
        """HAService#removeConnection."""
        self.connection_list = [one for one in self.connection_list if one is not connection]


class GroupTransferService:
    """`HAService.GroupTransferService` (SYNC_MASTER): it answers one put after the other, in their order.

    A put whose deadline is over waits behind those that were before it. Java looks at a deadline each second only; here
    it is looked at in each round.
    """

    def __init__(self, ha_service: HAService) -> None:
        """Have no requests."""
        self._ha_service = ha_service
        self._requests_write: list[GroupCommitRequest] = []
        self._requests_read: list[GroupCommitRequest] = []

    @property
    def requests(self) -> list[GroupCommitRequest]:
        """The puts that wait."""
        return [*self._requests_read, *self._requests_write]

    def put_request(self, request: GroupCommitRequest) -> None:
        """GroupTransferService#putRequest."""
        self._requests_write.append(request)

    def run_once(self) -> None:
        """GroupTransferService#run, one round: answer what can be answered; take what has come when all is answered."""
        if not self._requests_read:
            self._requests_write, self._requests_read = self._requests_read, self._requests_write
        self._do_wait_transfer()

    def _do_wait_transfer(self) -> None:
        while self._requests_read:
            request = self._requests_read[0]
            transferred = is_transferred(self._ha_service.push2_slave_max_offset, request.next_offset)
            if not transferred and self._ha_service.store.now_ms() < request.deadline_ms:
                return
            request.wakeup_customer(PutMessageStatus.PUT_OK if transferred else PutMessageStatus.FLUSH_SLAVE_TIMEOUT)
            self._requests_read.pop(0)
