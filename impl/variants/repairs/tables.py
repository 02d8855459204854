"""Repairs of what name servers keep and answer, and of what brokers make of the answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as with_fields
from typing import Any

from impl.broker import broker_outer_api
from impl.broker.broker_outer_api import RegisterResult
from impl.broker.client_manage_processor import ClientManageProcessor
from impl.broker.registration import Registration
from impl.common.config_manager import persist
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_WRITE, clear_flag
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID, RMQ_SYS_SELF_TEST_TOPIC
from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.remoting import Remoting
from impl.namesrv.kv_config_manager import KV_CONFIG_PATH, KVConfigManager
from impl.namesrv.request_handlers import DefaultRequestProcessor
from impl.namesrv.route_info_manager import (
    BrokerAddrs,
    BrokerRegistration,
    PickedUpRoute,
    RegisterBrokerResult,
    RouteInfoManager,
)
from impl.ports.remoting import Command, Connection
from impl.variants.variant import Variant, around, replace


@around(RouteInfoManager, "pickup_topic_route_data")
def _pick_up_a_copy(original: Callable[[RouteInfoManager, str], PickedUpRoute | None]) -> Callable[..., Any]:
    def pickup_topic_route_data(self: RouteInfoManager, topic: str) -> PickedUpRoute | None:
        """The queues are copied under the read lock, as the addresses are."""
        route = original(self, topic)
        return None if route is None else with_fields(route, queue_datas=[*route.queue_datas])

    return pickup_topic_route_data


@around(DefaultRequestProcessor, "register_broker")
def _answer_what_is(
    original: Callable[[DefaultRequestProcessor, Connection, Command], Command],
) -> Callable[..., Command]:
    def register_broker(self: DefaultRequestProcessor, channel: Connection, request: Command) -> Command:
        """SUCCESS only for who is in the table now."""
        response = original(self, channel, request)
        if not self.route_info.broker_live_table.contains_key(request.header.broker_addr):
            return Command(ResponseCode.SYSTEM_ERROR, remark="the broker is not registered")
        return response

    return register_broker


@around(DefaultRequestProcessor, "query_broker_topic_config")
def _connection_on_record(original: Callable[..., Awaitable[Command]]) -> Callable[..., Awaitable[Command]]:
    async def query_broker_topic_config(
        self: DefaultRequestProcessor, channel: Connection, request: Command,
    ) -> Command:
        """Who is alive over another connection ends with that one."""
        addr = request.header.broker_addr
        info = self.route_info.broker_live_table.get(addr)
        if info is not None and channel.is_active() \
                and not self.route_info.is_broker_topic_config_changed(addr, request.body):
            info.channel = channel
        return await original(self, channel, request)

    return query_broker_topic_config


# What an operator takes away ------------------------------------------------------------------------------------------


def _wiped(route_info: RouteInfoManager) -> set[str]:
    """The names of brokers whose permission to write was wiped."""
    names: set[str] = vars(route_info).setdefault("wiped", set())
    return names


def _deleted(route_info: RouteInfoManager) -> set[tuple[str, str]]:
    """Topics that were deleted, and names of brokers that have not registered without them since."""
    pairs: set[tuple[str, str]] = vars(route_info).setdefault("deleted", set())
    return pairs


def _listed(route_info: RouteInfoManager) -> dict[str, set[str]]:
    """Names of brokers, and the topics of their last whole registrations."""
    topics: dict[str, set[str]] = vars(route_info).setdefault("listed", {})
    return topics


def _whole(registration: BrokerRegistration) -> set[str]:
    """The topics of a registration that has all of its master: it lists one that every broker has. Empty: it has not.

    The broker refuses to create that topic, and to delete it, so that no increment lists it.
    """
    wrapper = registration.topic_config_wrapper
    topics = set() if wrapper is None else {*(wrapper.topic_config_table or ())}
    return topics if registration.broker_id == MASTER_ID and RMQ_SYS_SELF_TEST_TOPIC in topics else set()


@around(RouteInfoManager, "wipe_write_perm_of_broker_by_lock")
def _remember_wiped(original: Callable[[RouteInfoManager, str], int]) -> Callable[..., int]:
    def wipe_write_perm_of_broker_by_lock(self: RouteInfoManager, broker_name: str) -> int:
        """It stays so until ADD_WRITE_PERM_OF_BROKER."""
        _wiped(self).add(broker_name)
        return original(self, broker_name)

    return wipe_write_perm_of_broker_by_lock


@around(RouteInfoManager, "add_write_perm_of_broker_by_lock")
def _forget_wiped(original: Callable[[RouteInfoManager, str], int]) -> Callable[..., int]:
    def add_write_perm_of_broker_by_lock(self: RouteInfoManager, broker_name: str) -> int:
        """The broker's own permissions count again."""
        _wiped(self).discard(broker_name)
        return original(self, broker_name)

    return add_write_perm_of_broker_by_lock


@around(RouteInfoManager, "_create_and_update_queue_data")
def _mask_wiped(original: Callable[[RouteInfoManager, str, TopicConfig], None]) -> Callable[..., None]:
    def _create_and_update_queue_data(self: RouteInfoManager, broker_name: str, topic_config: TopicConfig) -> None:
        """A registration gives no permission back that was wiped."""
        if broker_name in _wiped(self):
            topic_config = with_fields(topic_config, perm=clear_flag(topic_config.perm, PERM_WRITE))
        original(self, broker_name, topic_config)

    return _create_and_update_queue_data


@around(RouteInfoManager, "delete_topic")
def _remember_deleted(original: Callable[[RouteInfoManager, str], None]) -> Callable[..., None]:
    def delete_topic(self: RouteInfoManager, topic: str) -> None:
        """Every broker that has it is to delete it too."""
        _deleted(self).update((topic, name) for name, topics in _listed(self).items() if topic in topics)
        original(self, topic)

    return delete_topic


@around(RouteInfoManager, "_create_and_update_queue_data")
def _leave_out_deleted(original: Callable[[RouteInfoManager, str, TopicConfig], None]) -> Callable[..., None]:
    def _create_and_update_queue_data(self: RouteInfoManager, broker_name: str, topic_config: TopicConfig) -> None:
        """What was deleted here is not routed before its broker has deleted it too, and created it anew."""
        if (topic_config.topic_name, broker_name) not in _deleted(self):
            original(self, broker_name, topic_config)

    return _create_and_update_queue_data


@around(RouteInfoManager, "register_broker")
def _take_away_what_is_gone(
    original: Callable[[RouteInfoManager, BrokerRegistration], RegisterBrokerResult],
) -> Callable[..., RegisterBrokerResult]:
    def register_broker(self: RouteInfoManager, registration: BrokerRegistration) -> RegisterBrokerResult:
        """What a whole registration does not list its broker does not have."""
        topics, name = _whole(registration), registration.broker_name
        result = original(self, registration)
        if topics:
            _listed(self)[name] = topics
            gone = {pair for pair in _deleted(self) if pair[1] == name and pair[0] not in topics}
            _deleted(self).difference_update(gone)
            for topic, queue_datas in self.topic_queue_table.entries():
                if topic not in topics:
                    queue_datas[:] = [data for data in queue_datas if data.broker_name != name]
                    if not queue_datas:
                        self.topic_queue_table.remove(topic)
        return result

    return register_broker


# Clusters, files, events ----------------------------------------------------------------------------------------------


def _leave_cluster(route_info: RouteInfoManager, data: BrokerAddrs) -> None:
    broker_names = route_info.cluster_addr_table.get(data.cluster)
    if broker_names is not None:
        broker_names.remove(data.broker_name)
        if broker_names.is_empty():
            route_info.cluster_addr_table.remove(data.cluster)


@around(RouteInfoManager, "_enter_address")
def _one_cluster(
    original: Callable[[RouteInfoManager, BrokerRegistration], tuple[BrokerAddrs, bool]],
) -> Callable[..., tuple[BrokerAddrs, bool]]:
    def _enter_address(self: RouteInfoManager, registration: BrokerRegistration) -> tuple[BrokerAddrs, bool]:
        """A name that registers in another cluster leaves the one that it was in."""
        data = self.broker_addr_table.get(registration.broker_name)
        if data is not None and data.cluster != registration.cluster_name:
            _leave_cluster(self, data)
            data.cluster = registration.cluster_name
        return original(self, registration)

    return _enter_address


@around(RouteInfoManager, "unregister_broker")
def _leave_its_cluster(original: Callable[[RouteInfoManager, str, str, str, int], None]) -> Callable[..., None]:
    def unregister_broker(
        self: RouteInfoManager, cluster_name: str, broker_addr: str, broker_name: str, broker_id: int,
    ) -> None:
        """A name leaves the cluster that it is in, whatever the goodbye says."""
        data = self.broker_addr_table.get(broker_name)
        original(self, cluster_name if data is None else data.cluster, broker_addr, broker_name, broker_id)

    return unregister_broker


@replace(KVConfigManager, "_persist")
async def _persist_alone(self: KVConfigManager) -> None:
    """Under the write lock: one writer after another."""
    await self.node.lock(self._lock)
    persist(self.node.disk, KV_CONFIG_PATH, self.text())
    self.node.unlock(self._lock)


@around(Remoting, "event")
def _keep_all_events(original: Callable[[Remoting, str, Channel], None]) -> Callable[..., None]:
    def event(self: Remoting, name: str, channel: Channel) -> None:
        """Any number of them may wait."""
        self.events.queue_bound = None
        original(self, name, channel)

    return event


# Brokers --------------------------------------------------------------------------------------------------------------


@replace(Registration, "_master_of")
def _first_that_knows(self: Registration, results: list[RegisterResult]) -> str | None:
    """The first name server that knows a master says who it is."""
    del self
    return next((result.master_addr for result in results if result.master_addr is not None), None)


@replace(ClientManageProcessor, "_announce_topics")
async def _announce_later(self: ClientManageProcessor) -> None:
    """In a thread of its own; if that fails, the next registration of the timer is soon enough."""
    async def announce() -> None:
        try:
            await self.registration.register_broker_all(check_order_config=False, oneway=True, force_register=True)
        except JavaError:
            return

    self.node.start_thread("announceTopics", announce())


@replace(broker_outer_api, "_compressed")
def _compress_all(config: TopicConfig) -> TopicConfig:
    """The text has the unit bits and the order flag too."""
    return with_fields(config)


REPAIRS = (
    Variant(
        "route_in_one_step", "repair", "A route is copied whole before the read lock is given back.",
        "the idea: QueueData is copied in RouteInfoManager#pickupTopicRouteData, as BrokerData is", ("N-9",),
        (_pick_up_a_copy,),
    ),
    Variant(
        "success_is_registered", "repair", "A registration that has not entered its broker is answered SYSTEM_ERROR.",
        "the idea: say what came of it", ("N-20",), (_answer_what_is,),
    ),
    Variant(
        "query_is_on_record", "repair", "A broker that asks for its version is registered on that connection.",
        "the idea: updateBrokerInfoUpdateTimestamp takes the channel as well", ("N-17",), (_connection_on_record,),
    ),
    Variant(
        "wiped_stays_wiped", "repair", "A wiped permission to write stays so until it is given back.",
        "the idea: the name server remembers whom it has wiped", ("N-13",),
        (_remember_wiped, _forget_wiped, _mask_wiped),
    ),
    Variant(
        "deleted_stays_deleted", "repair", "What a broker does not list is not routed, and what was deleted neither.",
        "the idea: a registration that lists RMQ's self-test topic is whole", ("N-14",),
        (_remember_deleted, _leave_out_deleted, _take_away_what_is_gone),
    ),
    Variant(
        "one_cluster_for_a_name", "repair", "A broker that changes its cluster leaves the old one.",
        "the idea: BrokerData.cluster is the one that it is in", ("N-26",), (_one_cluster, _leave_its_cluster),
    ),
    Variant(
        "key_values_one_writer", "repair", "The file of key values has one writer at a time.",
        "the idea: KVConfigManager#persist under the write lock", ("N-24",), (_persist_alone,),
    ),
    Variant(
        "all_events_wait", "repair", "No event of a connection is dropped.",
        "the idea: NettyEventExecutor#putNettyEvent without a bound", ("N-25",), (_keep_all_events,),
    ),
    Variant(
        "who_knows_the_master", "repair", "A slave believes the name server that knows a master.",
        "the idea: no answer is none", ("N-19",), (_first_that_knows,),
    ),
    Variant(
        "topics_are_announced_later", "repair", "A heartbeat does not wait until name servers know its retry topic.",
        "the idea: registerBrokerAll in a thread of its own", ("N-22",), (_announce_later,),
    ),
    Variant(
        "compress_all_of_a_topic", "repair", "A compressed registration has all that another one has.",
        "the idea: TopicConfig#encode writes topicSysFlag and order too", ("N-23",), (_compress_all,),
    ),
)
