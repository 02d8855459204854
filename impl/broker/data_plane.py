"""DataPlane: what a broker has to keep and give out messages: a store with its threads, and who serves its messages."""

from __future__ import annotations

from impl.broker.calc_bit_map import calc_bit_map
from impl.broker.examination_processor import ExaminationProcessor
from impl.broker.pull_message_processor import PullMessageProcessor
from impl.broker.pull_request_hold_service import LONG_POLLING_INTERVAL_MS
from impl.broker.query_message_processor import QueryMessageProcessor
from impl.broker.registration import Registration
from impl.broker.reply_message_processor import ReplyMessageProcessor
from impl.broker.reported_message_store import ReportedMessageStore
from impl.broker.send_message_back import SendMessageBack
from impl.broker.send_message_processor import SendMessageProcessor
from impl.broker.store_admin_processor import StoreAdminProcessor
from impl.broker.store_threads import StoreThreads
from impl.broker.tables import BrokerTables
from impl.broker.transactions import Transactions
from impl.ports.pools import Pool
from impl.ports.remoting import RemotingServer
from impl.store.dispatch_request import DispatchRequest


class DataPlane:
    """The part of `broker.BrokerController` that has messages. The processors are in the request table."""

    def __init__(
        self, tables: BrokerTables, store: ReportedMessageStore, remoting_server: RemotingServer,
        registration: Registration, pull_pool: Pool,
    ) -> None:
        """Make the processors; pull_pool -- in which pulls that were held run again."""
        self.tables, self.node, self.store = tables, tables.node, store
        self.threads = threads = StoreThreads(tables.node, store)
        self._ha_port = tables.config.listen_port + 1
        if store.config.slave:
            registration.update_ha_master_address = store.ha_service.update_master_address
        self.transactions = Transactions(tables, threads, remoting_server, registration)
        self.send_message_processor = SendMessageProcessor(
            tables, threads, remoting_server, registration, self.transactions)
        self.send_message_back = SendMessageBack(self.send_message_processor)
        self.reply_message_processor = ReplyMessageProcessor(tables, threads, remoting_server, registration)
        self.pull_message_processor = PullMessageProcessor(tables, threads, remoting_server, pull_pool)
        self.query_message_processor = QueryMessageProcessor(store)
        self.store_admin_processor = StoreAdminProcessor(tables, store)
        self.examination_processor = ExaminationProcessor(tables, store)

    async def start(self) -> None:
        """BrokerController#start: the store, and who holds pulls."""
        await self.threads.start(self._ha_port)
        self.transactions.start()
        long_polling = self.store.config.long_polling_enable
        interval_ms = LONG_POLLING_INTERVAL_MS if long_polling else self.tables.config.short_polling_time_ms
        self.node.start_thread("PullRequestHoldService", self.pull_message_processor.hold_service.run(interval_ms))

    def message_arriving(self, request: DispatchRequest) -> None:
        """NotifyMessageArrivingListener#arriving; raises what a filter raises."""
        calculated = self.tables.config.enable_calc_filter_bit_map
        bits = calc_bit_map(self.tables.consumer_filter_manager, request) if calculated else None
        self.pull_message_processor.hold_service.message_arriving(request, bits)

    def shutdown(self) -> None:
        """BrokerController#shutdown: who holds pulls, and the store."""
        self.pull_message_processor.hold_service.stopped = True
        self.threads.ha.shutdown()
        self.store.shutdown()
