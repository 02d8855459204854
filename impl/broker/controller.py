"""BrokerController: the process of a broker, as far as clients and name servers are concerned.

Left out: sending and pulling (others fill the message store), filter servers, the fast port,
BrokerFastFailure (it answers what has waited too long in the queue of a pool).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from impl.broker.admin_broker_processor import AdminBrokerProcessor
from impl.broker.bloom_filter import BloomFilter
from impl.broker.broker_outer_api import REGISTER_BROKER_TIMEOUT_MS, BrokerOuterAPI, RegisterResult
from impl.broker.client_housekeeping_service import ClientHousekeepingService
from impl.broker.client_manage_processor import ClientManageProcessor
from impl.broker.config_files import groups_text, load_groups, load_topics, topics_text
from impl.broker.consumer_filter_manager import ConsumerFilterManager
from impl.broker.consumer_ids_change_listener import DefaultConsumerIdsChangeListener
from impl.broker.consumer_manage_processor import ConsumerManageProcessor
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.reported_tables import ReportedConsumerManager, ReportedLocks, ReportedProducerManager
from impl.broker.slave_synchronize import INITIAL_DELAY_MS, PERIOD_MS, SlaveSynchronize
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.broker.topic_config_manager import TopicConfigManager, TopicSettings
from impl.common.config_manager import load_string, string_to_file
from impl.common.headers import RegisterBrokerRequestHeader
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID
from impl.events import (
    BrokerShutDown,
    BrokerStarted,
    BrokerStopping,
    MasterLearned,
    TopicConfigDeleted,
    TopicConfigUpdated,
)
from impl.message_store import MessageStore
from impl.node_ports import ChannelEventListener, Connection, Handler, Node
from impl.ports import Lock
from impl.reported_map import ReportedMap

TOPICS_PATH = "store/config/topics.json"
CONSUMER_OFFSET_PATH = "store/config/consumerOffset.json"
SUBSCRIPTION_GROUP_PATH = "store/config/subscriptionGroup.json"
CONSUMER_FILTER_PATH = "store/config/consumerFilter.json"
_BLOOM_ERROR_PERCENT, _BLOOM_GROUPS = 20, 32  # maxErrorRateOfBloomFilter, expectConsumerNumUseFilter


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """`common.BrokerConfig`, what is read here, with its defaults. namesrv_addrs -- "host:port" each."""

    broker_name: str
    namesrv_addrs: tuple[str, ...]
    broker_id: int = MASTER_ID
    cluster_name: str = "DefaultCluster"
    listen_port: int = 10911
    cores: int = 4
    broker_permission: int = PERM_READ | PERM_WRITE
    auto_create_topic_enable: bool = True
    default_topic_queue_nums: int = 8
    auto_create_subscription_group: bool = True
    notify_consumer_ids_changed_enable: bool = True
    enable_property_filter: bool = False
    force_register: bool = True
    compressed_register: bool = False
    register_name_server_period_ms: int = 30_000
    flush_consumer_offset_interval_ms: int = 5_000


class PoolSize(NamedTuple):
    """A pool: threads, and how many requests may wait (None: any number)."""

    threads: int
    queue: int | None


def pool_sizes(cores: int) -> dict[str, PoolSize]:
    """BrokerController#initialize: the pools that the codes below name."""
    return {
        "heartbeat": PoolSize(min(32, cores), 50_000),
        "client_manage": PoolSize(32, 1_000_000),
        "consumer_manage": PoolSize(32, None),
        "admin": PoolSize(16, None),
    }


class BrokerController:
    """`broker.BrokerController`.

    master_addr -- whom a slave copies from (SlaveSynchronize.masterAddr); None: nobody, and always so of a master.
    """

    def __init__(self, node: Node, config: BrokerConfig, message_store: MessageStore) -> None:
        """BrokerController#initialize: tables are loaded, timers run; nobody listens yet."""
        self.node, self.config, self.message_store = node, config, message_store
        self.broker_addr = f"{node.name}:{config.listen_port}"
        self.master_addr: str | None = None
        self.monitor = Lock("BrokerController: synchronized registerBrokerAll, registerIncrementBrokerData")
        self._make_tables()
        self._load()
        self.broker_outer_api = BrokerOuterAPI(
            node, list(config.namesrv_addrs), compressed_register=config.compressed_register,
        )
        self.slave_synchronize = SlaveSynchronize(self)
        self._register_processors()
        self.scheduler = node.scheduler("BrokerControllerScheduledThread")
        self.scheduler.schedule_at_fixed_rate(
            self.persist_consumer_offset, 10_000, config.flush_consumer_offset_interval_ms,
        )
        self.scheduler.schedule_at_fixed_rate(self.persist_consumer_filter, 10_000, 10_000)

    def _make_tables(self) -> None:
        node, config = self.node, self.config
        self.remoting_server = node.remoting_server(config.listen_port, _Events(self))
        self.topic_config_manager = TopicConfigManager(
            TopicSettings(
                config.broker_name, config.cluster_name, config.auto_create_topic_enable,
                config.default_topic_queue_nums,
            ),
            node.now_ms, self.persist_topics,
        )
        self.topic_config_manager.topic_config_table = ReportedMap(
            1024, self._topic_put, self._topic_removed, self.topic_config_manager.topic_config_table.entries(),
        )
        self.subscription_group_manager = SubscriptionGroupManager(
            node.now_ms, self.persist_groups, auto_create_subscription_group=config.auto_create_subscription_group,
        )
        self.consumer_offset_manager = ConsumerOffsetManager(self.message_store.get_min_offset_in_queue)
        self.consumer_filter_manager = ConsumerFilterManager(
            BloomFilter(_BLOOM_ERROR_PERCENT, _BLOOM_GROUPS), node.now_ms,
        )
        self.rebalance_lock_manager = ReportedLocks(node)
        self.producer_manager = ReportedProducerManager(node)
        listener = DefaultConsumerIdsChangeListener(
            node, self.remoting_server, self.consumer_filter_manager,
            notify_enable=config.notify_consumer_ids_changed_enable,
        )
        self.consumer_manager = ReportedConsumerManager(listener, node)
        self.client_housekeeping_service = ClientHousekeepingService(
            node, self.producer_manager, self.consumer_manager,
        )

    def _topic_put(self, topic: str, _: TopicConfig) -> None:
        self.node.trace(TopicConfigUpdated(self.node.name, topic))

    def _topic_removed(self, topic: str, _: TopicConfig) -> None:
        self.node.trace(TopicConfigDeleted(self.node.name, topic))

    def _register_processors(self) -> None:
        """BrokerController#registerProcessor: which codes share a pool decides which requests can meet or overtake."""
        client, consumer, admin = ClientManageProcessor(self), ConsumerManageProcessor(self), AdminBrokerProcessor(self)
        self.processors: dict[int, tuple[Handler, str]] = {
            RequestCode.HEART_BEAT: (client.heart_beat, "heartbeat"),
            RequestCode.UNREGISTER_CLIENT: (client.unregister_client, "client_manage"),
            RequestCode.CHECK_CLIENT_CONFIG: (client.check_client_config, "client_manage"),
            RequestCode.GET_CONSUMER_LIST_BY_GROUP: (consumer.get_consumer_list_by_group, "consumer_manage"),
            RequestCode.UPDATE_CONSUMER_OFFSET: (consumer.update_consumer_offset, "consumer_manage"),
            RequestCode.QUERY_CONSUMER_OFFSET: (consumer.query_consumer_offset, "consumer_manage"),
        }
        self.pools = {
            name: self.node.pool(name, size.threads, size.queue)
            for name, size in pool_sizes(self.config.cores).items()
        }
        for code, (handler, pool) in self.processors.items():
            self.remoting_server.register_processor(code, handler, self.pools[pool])
        self.remoting_server.register_default_processor(admin.process_request, self.pools["admin"])

    # Files ------------------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        files = self.node.files
        topics, groups = load_string(files, TOPICS_PATH), load_string(files, SUBSCRIPTION_GROUP_PATH)
        if topics is not None:
            load_topics(self.topic_config_manager, topics)
        if groups is not None:
            load_groups(self.subscription_group_manager, groups)
        self.consumer_offset_manager.decode(load_string(files, CONSUMER_OFFSET_PATH))
        filters = load_string(files, CONSUMER_FILTER_PATH)
        if filters is not None:
            self.consumer_filter_manager.decode(filters)

    def persist_topics(self) -> None:
        """TopicConfigManager#persist, in the thread that changed a topic."""
        string_to_file(self.node.files, TOPICS_PATH, topics_text(self.topic_config_manager))

    def persist_groups(self) -> None:
        """SubscriptionGroupManager#persist, in the thread that changed a group."""
        string_to_file(self.node.files, SUBSCRIPTION_GROUP_PATH, groups_text(self.subscription_group_manager))

    def persist_consumer_offset(self) -> None:
        """ConsumerOffsetManager#persist, every 5 s."""
        string_to_file(self.node.files, CONSUMER_OFFSET_PATH, self.consumer_offset_manager.encode())

    def persist_consumer_filter(self) -> None:
        """ConsumerFilterManager#persist, every 10 s."""
        string_to_file(self.node.files, CONSUMER_FILTER_PATH, self.consumer_filter_manager.encode())

    # Life -------------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """BrokerController#start: listen, register once in this thread, then by the timer; slaves copy every 10 s."""
        self.remoting_server.start()
        self.broker_outer_api.start()
        self.client_housekeeping_service.start()
        self.node.trace(BrokerStarted(self.node.name, self.config.broker_name, self.config.broker_id))
        if self.config.broker_id != MASTER_ID:
            self.scheduler.schedule_at_fixed_rate(self.slave_synchronize.sync_all, INITIAL_DELAY_MS, PERIOD_MS)
        await self.register_broker_all(check_order_config=True, oneway=False, force_register=True)
        period_ms = max(10_000, min(self.config.register_name_server_period_ms, 60_000))
        self.scheduler.schedule_at_fixed_rate(self._register_again, 10_000, period_ms)

    async def _register_again(self) -> None:
        try:
            await self.register_broker_all(
                check_order_config=True, oneway=False, force_register=self.config.force_register,
            )
        except JavaError:
            return  # logged

    async def shutdown(self) -> None:
        """BrokerController#shutdown: clients first, then the name servers, one after another, then the offsets."""
        self.node.trace(BrokerStopping(self.node.name))
        self.client_housekeeping_service.shutdown()
        self.remoting_server.shutdown()
        self.scheduler.shutdown()
        await self.broker_outer_api.unregister_broker_all(self._header())
        self.broker_outer_api.shutdown()
        self.persist_consumer_offset()
        self.persist_consumer_filter()
        self.node.trace(BrokerShutDown(self.node.name))

    # Registration -----------------------------------------------------------------------------------------------------

    def _header(self) -> RegisterBrokerRequestHeader:
        config = self.config
        ha_server_addr = f"{self.node.name}:{config.listen_port + 1}"
        return RegisterBrokerRequestHeader(
            config.broker_name, self.broker_addr, config.cluster_name, config.broker_id, ha_server_addr,
        )

    async def register_broker_all(self, *, check_order_config: bool, oneway: bool, force_register: bool) -> None:
        """BrokerController#registerBrokerAll, synchronized: whoever else registers waits, up to 6 s for each."""
        await self.node.lock(self.monitor)
        try:
            wrapper = self._with_permission(self.topic_config_manager.build_topic_config_serialize_wrapper())
            if force_register or await self._need_register(wrapper):
                await self._do_register_broker_all(wrapper, check_order_config=check_order_config, oneway=oneway)
        except JavaError:
            self.node.unlock(self.monitor)
            raise
        self.node.unlock(self.monitor)

    async def _need_register(self, wrapper: TopicConfigSerializeWrapper) -> bool:
        """BrokerController#needRegister: one name server that wants it is enough, and then all get it."""
        votes = await self.broker_outer_api.need_register(
            self._header(), wrapper.data_version, REGISTER_BROKER_TIMEOUT_MS,
        )
        return any(votes)

    async def register_increment_broker_data(self, topic_config: TopicConfig) -> None:
        """BrokerController#registerIncrementBrokerData, synchronized: ONE topic under the version of all of them."""
        await self.node.lock(self.monitor)
        wrapper = TopicConfigSerializeWrapper(
            {topic_config.topic_name: topic_config}, self.topic_config_manager.data_version,
        )
        try:
            await self._do_register_broker_all(
                self._with_permission(wrapper), check_order_config=True, oneway=False, increment=True,
            )
        except JavaError:
            self.node.unlock(self.monitor)
            raise
        self.node.unlock(self.monitor)

    def _with_permission(self, wrapper: TopicConfigSerializeWrapper) -> TopicConfigSerializeWrapper:
        """A broker that may not be read or written registers its topics so; all else of them gets lost on the way."""
        permission = self.config.broker_permission
        if permission & PERM_READ and permission & PERM_WRITE:
            return wrapper
        table = {
            topic: TopicConfig(topic, config.read_queue_nums, config.write_queue_nums, permission)
            for topic, config in (wrapper.topic_config_table or {}).items()
        }
        return replace(wrapper, topic_config_table=table)

    async def _do_register_broker_all(
        self, wrapper: TopicConfigSerializeWrapper, *, check_order_config: bool, oneway: bool, increment: bool = False,
    ) -> None:
        """BrokerController#doRegisterBrokerAll: the name server that answered first decides."""
        results = await self.broker_outer_api.register_broker_all(
            self._header(), wrapper, REGISTER_BROKER_TIMEOUT_MS, oneway=oneway, increment=increment,
        )
        if results:
            self.master_addr = self._master_of(results)
            if self.config.broker_id != MASTER_ID:
                answers = tuple(result.master_addr for result in results)
                self.node.trace(MasterLearned(self.node.name, self.master_addr, answers))
            if check_order_config:
                self.topic_config_manager.update_order_topic_config(results[0].kv_table)

    def _master_of(self, results: list[RegisterResult]) -> str | None:
        """Whom the name server that answered first has for the master (N-19)."""
        return results[0].master_addr


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
