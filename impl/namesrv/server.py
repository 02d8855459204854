"""NamesrvController: the process of a name server."""

from __future__ import annotations

from impl.decisions.java_errors import NullPointerError
from impl.events import (
    BrokerDropped,
    BrokerFound,
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerUnregistered,
    BrokerUpdateTimestamp,
    RegistrationCutShort,
    TopicDeleted,
    WritePermAdded,
    WritePermWiped,
)
from impl.namesrv.kv_config_manager import KVConfigManager
from impl.namesrv.request_handlers import DefaultRequestProcessor
from impl.namesrv.route_info_manager import BrokerLiveInfo, BrokerRegistration, RegisterBrokerResult, RouteInfoManager
from impl.ports.node import Node
from impl.ports.remoting import Channel, Connection
from impl.reported_map import ReportedHashMap

LISTEN_PORT = 9876
SERVER_WORKER_THREADS = 8  # NettyServerConfig.serverWorkerThreads: one pool for all codes
SCAN_INITIAL_DELAY_MS, SCAN_PERIOD_MS = 5_000, 10_000


class ReportedRouteInfo(RouteInfoManager):
    """RouteInfoManager, its writes reported to the node in the segment that makes them."""

    def __init__(self, node: Node) -> None:
        """Start empty."""
        super().__init__(node.now_ms)
        self.node = node
        self._why = "expired"  # only the scan removes an address outside the methods below
        self.broker_live_table = ReportedHashMap(256, self._live_removed)

    def _live_removed(self, broker_addr: str, _: BrokerLiveInfo) -> None:
        self.node.trace(BrokerLiveRemoved(self.node.name, broker_addr, self._why))

    def register_broker(self, registration: BrokerRegistration) -> RegisterBrokerResult:
        """RouteInfoManager#registerBroker."""
        result = super().register_broker(registration)
        wrapper = registration.topic_config_wrapper
        version = None if wrapper is None else (wrapper.data_version.timestamp, wrapper.data_version.counter)
        topics = frozenset(() if wrapper is None else wrapper.topic_config_table or ())
        connection = getattr(registration.channel, "remote_address", "")
        self.node.trace(BrokerRegistered(
            self.node.name, registration.broker_name, registration.broker_id, registration.broker_addr, connection,
            version, topics,
        ))
        if wrapper is None:
            self.node.trace(RegistrationCutShort(
                self.node.name, registration.broker_addr, NullPointerError.java_class))
        return result

    def unregister_broker(self, cluster_name: str, broker_addr: str, broker_name: str, broker_id: int) -> None:
        """RouteInfoManager#unregisterBroker."""
        self._why = "unregistered"
        super().unregister_broker(cluster_name, broker_addr, broker_name, broker_id)
        self._why = "expired"
        self.node.trace(BrokerUnregistered(self.node.name, broker_name, broker_id, broker_addr))

    def find_broker_addr(self, channel: Channel) -> str | None:
        """RouteInfoManager#onChannelDestroy, under the read lock."""
        broker_addr = super().find_broker_addr(channel)
        self.node.trace(BrokerFound(self.node.name, broker_addr, getattr(channel, "remote_address", "")))
        return broker_addr

    def remove_broker_addr(self, broker_addr: str) -> None:
        """RouteInfoManager#onChannelDestroy, under the write lock."""
        self._why = "destroyed"
        super().remove_broker_addr(broker_addr)
        self._why = "expired"
        self.node.trace(BrokerDropped(self.node.name, broker_addr))

    def update_broker_info_update_timestamp(self, broker_addr: str) -> None:
        """RouteInfoManager#updateBrokerInfoUpdateTimestamp."""
        super().update_broker_info_update_timestamp(broker_addr)
        self.node.trace(BrokerUpdateTimestamp(self.node.name, broker_addr))

    def delete_topic(self, topic: str) -> None:
        """RouteInfoManager#deleteTopic."""
        super().delete_topic(topic)
        self.node.trace(TopicDeleted(self.node.name, topic))

    def wipe_write_perm_of_broker_by_lock(self, broker_name: str) -> int:
        """RouteInfoManager#wipeWritePermOfBrokerByLock."""
        count = super().wipe_write_perm_of_broker_by_lock(broker_name)
        self.node.trace(WritePermWiped(self.node.name, broker_name))
        return count

    def add_write_perm_of_broker_by_lock(self, broker_name: str) -> int:
        """RouteInfoManager#addWritePermOfBrokerByLock."""
        count = super().add_write_perm_of_broker_by_lock(broker_name)
        self.node.trace(WritePermAdded(self.node.name, broker_name))
        return count


class BrokerHousekeepingService:
    """`namesrv.routeinfo.BrokerHousekeepingService`: the end of ANY connection, a client's too, is looked into.

    The one event thread of the server runs it.
    """

    def __init__(self, node: Node, route_info: RouteInfoManager) -> None:
        """Clean up in this table."""
        self.node, self.route_info = node, route_info

    def on_channel_connect(self, remote_addr: str, channel: Connection) -> None:
        """Nothing is known of it yet."""

    async def on_channel_close(self, remote_addr: str, channel: Connection) -> None:
        """BrokerHousekeepingService#onChannelClose."""
        await self.route_info.on_channel_destroy(remote_addr, channel, self.node)

    async def on_channel_exception(self, remote_addr: str, channel: Connection) -> None:
        """BrokerHousekeepingService#onChannelException."""
        await self.route_info.on_channel_destroy(remote_addr, channel, self.node)

    async def on_channel_idle(self, remote_addr: str, channel: Connection) -> None:
        """BrokerHousekeepingService#onChannelIdle."""
        await self.route_info.on_channel_destroy(remote_addr, channel, self.node)


class NamesrvController:
    """`namesrv.NamesrvController`.

    order_message_enable -- NamesrvConfig.orderMessageEnable.
    """

    def __init__(self, node: Node, *, order_message_enable: bool = False) -> None:
        """NamesrvController#initialize: the key values are read, the timer runs; nobody listens yet."""
        self.node, self.order_message_enable = node, order_message_enable
        self.route_info = ReportedRouteInfo(node)
        self.kv_config = KVConfigManager(node)
        self.kv_config.load()
        self.server = node.remoting_server(LISTEN_PORT, BrokerHousekeepingService(node, self.route_info))
        processor = DefaultRequestProcessor(
            node, self.route_info, self.kv_config, order_message_enable=order_message_enable,
        )
        self.server.register_default_processor(
            processor.process_request, node.pool("RemotingExecutorThread", SERVER_WORKER_THREADS),
        )
        self.scheduler = node.scheduler("NSScheduledThread")
        # The job has no try: an exception out of the scan ends it for ever (N-4).
        self.scheduler.schedule_at_fixed_rate(
            lambda: self.route_info.scan_not_active_broker(node), SCAN_INITIAL_DELAY_MS, SCAN_PERIOD_MS,
        )

    def start(self) -> None:
        """NamesrvController#start."""
        self.server.start()
