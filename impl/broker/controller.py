"""BrokerController: the process of a broker, as far as clients and name servers are concerned.

Left out: filter servers, the fast port.
"""

from __future__ import annotations

from impl.broker.broker_config import BrokerConfig
from impl.broker.broker_fast_failure import BrokerFastFailure
from impl.broker.broker_outer_api import BrokerOuterAPI
from impl.broker.client_housekeeping_service import ClientHousekeepingService
from impl.broker.data_plane import DataPlane
from impl.broker.registration import Registration
from impl.broker.reported_message_store import ReportedMessageStore
from impl.broker.request_table import pool_sizes, rejects, request_not_supported, request_table
from impl.broker.slave_synchronize import INITIAL_DELAY_MS, PERIOD_MS, SlaveSynchronize
from impl.broker.tables import BrokerTables
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID
from impl.events import BrokerShutDown, BrokerStarted, BrokerStopping
from impl.ports.message_store import MessageStore
from impl.ports.node import Node
from impl.ports.remoting import ChannelEventListener, Connection
from impl.store.dispatch_request import DispatchRequest
from impl.store.message_store_config import MessageStoreConfig


class BrokerController(BrokerTables):
    """`broker.BrokerController`: the tables, and what serves them to clients, slaves and name servers.

    processors -- request code to its row in the request table. pools -- by the names that the rows give. data_plane --
    messages; None: others fill the message store. initialized -- tables and store have loaded, so that it may start.
    """

    def __init__(self, node: Node, config: BrokerConfig, message_store: MessageStore | MessageStoreConfig) -> None:
        """BrokerController#initialize: tables are loaded, timers run; nobody listens yet.

        message_store -- how messages are to be stored on the disk of the node; or whoever says which there are.
        """
        self.broker_addr = f"{node.name}:{config.listen_port}"
        self.remoting_server = node.remoting_server(config.listen_port, _Events(self))
        store = None
        if isinstance(message_store, MessageStoreConfig):
            message_store = store = ReportedMessageStore(node, message_store, self._message_arriving)
        super().__init__(node, config, message_store, self.remoting_server)
        self.client_housekeeping_service = ClientHousekeepingService(
            node, self.producer_manager, self.consumer_manager,
        )
        self.broker_outer_api = BrokerOuterAPI(
            node, list(config.namesrv_addrs), compressed_register=config.compressed_register,
        )
        self.slave_synchronize = SlaveSynchronize(self, self.broker_outer_api, self.broker_addr)
        self.registration = Registration(
            node, config, self.topic_config_manager, self.broker_outer_api, self.slave_synchronize,
        )
        self.pools = {
            name: node.pool(name, size.threads, size.queue) for name, size in pool_sizes(config.cores).items()
        }
        self.data_plane = None if store is None else DataPlane(
            self, store, self.remoting_server, self.registration, self.pools["pull"])
        self._register_processors()
        self.broker_fast_failure = BrokerFastFailure(node, config, self.pools, store)
        self.initialized = self.loaded and (store is None or store.load())
        self.scheduler = node.scheduler("BrokerControllerScheduledThread")
        self.scheduler.schedule_at_fixed_rate(
            self.persist_consumer_offset, 10_000, config.flush_consumer_offset_interval_ms,
        )
        self.scheduler.schedule_at_fixed_rate(self.persist_consumer_filter, 10_000, 10_000)

    def _message_arriving(self, request: DispatchRequest) -> None:
        """The listener that the store is made with, before who holds pulls is there."""
        if self.data_plane is not None:
            self.data_plane.message_arriving(request)

    def _register_processors(self) -> None:
        """BrokerController#registerProcessor."""
        self.processors = request_table(self, self.remoting_server, self.registration, self.data_plane)
        for code, (handler, pool) in self.processors.items():
            self.remoting_server.register_processor(code, handler, self.pools[pool], rejects(pool, self.data_plane))
        self.remoting_server.register_default_processor(request_not_supported, self.pools["admin"])

    async def start(self) -> None:
        """BrokerController#start: listen, register once in this thread, then by the timer; slaves copy every 10 s.

        Raises JavaRuntimeError if another process has the store.
        """
        if self.data_plane is not None:
            await self.data_plane.start()
        self.remoting_server.start()
        self.broker_outer_api.start()
        self.client_housekeeping_service.start()
        if self.config.broker_fast_failure_enable:
            self.broker_fast_failure.start()
        self.node.trace(BrokerStarted(
            self.node.name, self.config.broker_name, self.config.broker_id, self.config.switched()))
        if self.config.broker_id != MASTER_ID:
            self.scheduler.schedule_at_fixed_rate(self.slave_synchronize.sync_all, INITIAL_DELAY_MS, PERIOD_MS)
        await self.registration.register_broker_all(check_order_config=True, oneway=False, force_register=True)
        period_ms = max(10_000, min(self.config.register_name_server_period_ms, 60_000))
        self.scheduler.schedule_at_fixed_rate(self._register_again, 10_000, period_ms)

    async def _register_again(self) -> None:
        try:
            await self.registration.register_broker_all(
                check_order_config=True, oneway=False, force_register=self.config.force_register,
            )
        except JavaError:
            return  # logged

    async def shutdown(self) -> None:
        """BrokerController#shutdown: clients first, then the name servers, one after another, then the offsets."""
        self.node.trace(BrokerStopping(self.node.name))
        self.client_housekeeping_service.shutdown()
        self.remoting_server.shutdown()
        if self.data_plane is not None:
            self.data_plane.shutdown()
        self.broker_fast_failure.stopped = True
        self.scheduler.shutdown()
        await self.broker_outer_api.unregister_broker_all(self.registration.header)
        self.broker_outer_api.shutdown()
        self.persist_consumer_offset()
        self.persist_consumer_filter()
        self.node.trace(BrokerShutDown(self.node.name))


class _Events(ChannelEventListener):
    """The listener that the server is made with, before the service that handles its events is there."""

    def __init__(self, controller: BrokerController) -> None:
        self.controller = controller

    def on_channel_connect(self, remote_addr: str, channel: Connection) -> None:
        """Nothing is known of the client yet."""

    async def on_channel_close(self, remote_addr: str, channel: Connection) -> None:
        """See ClientHousekeepingService."""
        await self.controller.client_housekeeping_service.on_channel_close(remote_addr, channel)

    async def on_channel_exception(self, remote_addr: str, channel: Connection) -> None:
        """See ClientHousekeepingService."""
        await self.controller.client_housekeeping_service.on_channel_exception(remote_addr, channel)

    async def on_channel_idle(self, remote_addr: str, channel: Connection) -> None:
        """See ClientHousekeepingService."""
        await self.controller.client_housekeeping_service.on_channel_idle(remote_addr, channel)
