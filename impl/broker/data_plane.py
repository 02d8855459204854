"""DataPlane: what a broker has to keep and give out messages: a store with its threads, SEND, PULL, transactions."""

from __future__ import annotations

from impl.broker.pull_message_processor import PullMessageProcessor
from impl.broker.registration import Registration
from impl.broker.reported_message_store import ReportedMessageStore
from impl.broker.send_message_processor import SendMessageProcessor, socket_address
from impl.broker.store_threads import StoreThreads
from impl.broker.tables import BrokerTables
from impl.broker.transactions import Transactions
from impl.common.request_code import RequestCode
from impl.ports.pools import Pool
from impl.ports.remoting import RemotingServer

SEND_QUEUE, PULL_QUEUE = 10_000, 100_000  # BrokerConfig.sendThreadPoolQueueCapacity, pullThreadPoolQueueCapacity
END_TRANSACTION_QUEUE = 100_000  # BrokerConfig.endTransactionPoolQueueCapacity


class DataPlane:
    """The part of `broker.BrokerController` that has messages.

    send_message_processor, pull_message_processor, transactions -- see there. send_pool -- sendMessageExecutor;
    pull_pool -- pullMessageExecutor; end_transaction_pool -- endTransactionExecutor.
    """

    def __init__(
        self, tables: BrokerTables, store: ReportedMessageStore, remoting_server: RemotingServer,
        registration: Registration,
    ) -> None:
        """BrokerController#registerProcessor, for these codes."""
        self.node, self.store, self.threads = tables.node, store, StoreThreads(tables.node, store)
        cores, self._ha_port = tables.config.cores, tables.config.listen_port + 1
        if store.config.slave:
            registration.update_ha_master_address = store.ha_service.update_master_address
        self.send_pool: Pool = self.node.pool("SendMessageThread", min(4, cores), SEND_QUEUE)
        self.pull_pool: Pool = self.node.pool("PullMessageThread", 16 + 2 * cores, PULL_QUEUE)
        self.end_transaction_pool: Pool = self.node.pool(
            "EndTransactionThread", max(8 + 2 * cores, 4 * min(4, cores)), END_TRANSACTION_QUEUE)
        host = socket_address(f"{self.node.name}:{tables.config.listen_port}")
        self.transactions = Transactions(tables, self.threads, remoting_server, registration, host)
        self.send_message_processor = SendMessageProcessor(
            tables, self.threads, remoting_server, registration, self.transactions)
        self.pull_message_processor = PullMessageProcessor(tables, store, remoting_server, self.pull_pool)
        send = self.send_message_processor
        for code in (RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2):
            remoting_server.register_processor(code, send.send_message, self.send_pool, send.reject_request)
        remoting_server.register_processor(
            RequestCode.PULL_MESSAGE, self.pull_message_processor.process_request, self.pull_pool)
        remoting_server.register_processor(
            RequestCode.END_TRANSACTION, self.transactions.end_transaction, self.end_transaction_pool)

    async def start(self) -> None:
        """BrokerController#start: the store, and who holds pulls."""
        await self.threads.start(self._ha_port)
        self.transactions.start()
        self.node.start_thread("PullRequestHoldService", self.pull_message_processor.hold_service.run())

    def shutdown(self) -> None:
        """BrokerController#shutdown: who holds pulls, and the store."""
        self.pull_message_processor.hold_service.stopped = True
        self.threads.ha.shutdown()
        self.store.shutdown()
