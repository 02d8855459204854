"""Repairs of name servers, of how brokers register, and of what clients keep of routes."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable

from impl.broker.broker_outer_api import BrokerOuterAPI
from impl.broker.registration import Registration
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.route_tables import DefaultTopic, RouteTables
from impl.common.data_version import DataVersion
from impl.common.headers import RegisterBrokerRequestHeader
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.java_errors import MQClientError
from impl.decisions.route_queues import TopicRouteData
from impl.hash_map import ConcurrentModificationError
from impl.namesrv.request_handlers import DefaultRequestProcessor
from impl.namesrv.route_info_manager import (
    BrokerAddrs,
    BrokerRegistration,
    RegisterBrokerResult,
    RouteInfoManager,
)
from impl.namesrv.server import BrokerHousekeepingService
from impl.ports.remoting import Channel, Command, Connection
from impl.ports.threads import Interleave
from impl.variants.held import Held
from impl.variants.variant import Variant, around, replace

_NO_ID = -1  # no broker has it


@around(RouteInfoManager, "unregister_broker")
def _unregister_own(original: Callable[[RouteInfoManager, str, str, str, int], None]) -> Callable[..., None]:
    def unregister_broker(
        self: RouteInfoManager, cluster_name: str, broker_addr: str, broker_name: str, broker_id: int,
    ) -> None:
        """The id goes that the address has, if it has one."""
        del broker_id
        data = self.broker_addr_table.get(broker_name)
        addrs = () if data is None else data.broker_addrs.entries()
        own = next((other_id for other_id, addr in addrs if addr == broker_addr), _NO_ID)
        original(self, cluster_name, broker_addr, broker_name, own)

    return unregister_broker


@around(DefaultRequestProcessor, "unregister_broker")
def _unregister_by_its_connection(
    original: Callable[[DefaultRequestProcessor, Connection, Command], Command],
) -> Callable[..., Command]:
    def unregister_broker(self: DefaultRequestProcessor, channel: Connection, request: Command) -> Command:
        """The goodbye of a process says nothing of the next one, which has the same address and another connection."""
        info = self.route_info.broker_live_table.get(request.header.broker_addr)
        if info is not None and info.channel is not channel:
            return Command(ResponseCode.SUCCESS)
        return original(self, channel, request)

    return unregister_broker


_ACCEPTED = "accepted"  # in the attributes of a RouteInfoManager: connections, with their numbers


@around(BrokerHousekeepingService, "on_channel_connect")
def _count_connections(
    original: Callable[[BrokerHousekeepingService, str, Connection], None],
) -> Callable[..., None]:
    def on_channel_connect(self: BrokerHousekeepingService, remote_addr: str, channel: Connection) -> None:
        """Connections are numbered as they are accepted."""
        accepted = vars(self.route_info).setdefault(_ACCEPTED, {})
        accepted[channel] = len(accepted)
        original(self, remote_addr, channel)

    return on_channel_connect


@around(DefaultRequestProcessor, "register_broker")
def _register_by_its_last_connection(
    original: Callable[[DefaultRequestProcessor, Connection, Command], Command],
) -> Callable[..., Command]:
    def register_broker(self: DefaultRequestProcessor, channel: Connection, request: Command) -> Command:
        """A late registration of a former process would put the next one under the goodbye that comes behind it."""
        info = self.route_info.broker_live_table.get(request.header.broker_addr)
        accepted = vars(self.route_info).get(_ACCEPTED, {})
        if info is not None and accepted.get(info.channel, -1) > accepted.get(channel, -1):
            return Command(ResponseCode.SYSTEM_ERROR, remark="the broker has registered on a later connection")
        return original(self, channel, request)

    return register_broker


@around(DefaultRequestProcessor, "register_broker")
def _register_the_living(
    original: Callable[[DefaultRequestProcessor, Connection, Command], Command],
) -> Callable[..., Command]:
    def register_broker(self: DefaultRequestProcessor, channel: Connection, request: Command) -> Command:
        """A registration is not begun when its connection is over: no event would ever end it."""
        if not channel.is_active():
            return Command(ResponseCode.SYSTEM_ERROR, remark="the connection is closed")
        return original(self, channel, request)

    return register_broker


@replace(Registration, "register_increment_broker_data")
async def _register_everything(self: Registration, topic_config: TopicConfig) -> None:
    """The whole table under its version, as for any other change."""
    del topic_config
    await self.register_broker_all(check_order_config=True, oneway=False, force_register=True)


@around(Registration, "_with_permission")
def _copy_with_its_version(
    original: Callable[[Registration, TopicConfigSerializeWrapper], TopicConfigSerializeWrapper],
) -> Callable[..., TopicConfigSerializeWrapper]:
    def _with_permission(self: Registration, wrapper: TopicConfigSerializeWrapper) -> TopicConfigSerializeWrapper:
        """A table that is a copy goes under the version that it was copied from, not under a later one."""
        made = original(self, wrapper)
        return made if made is wrapper else dataclasses.replace(made, data_version=made.data_version.copy())

    return _with_permission


@around(RouteInfoManager, "_enter_address")
def _new_holder_is_first(
    original: Callable[[RouteInfoManager, BrokerRegistration], tuple[BrokerAddrs, bool]],
) -> Callable[..., tuple[BrokerAddrs, bool]]:
    def _enter_address(self: RouteInfoManager, registration: BrokerRegistration) -> tuple[BrokerAddrs, bool]:
        """Whoever was not at this id right before counts as first, so that its topics are taken over."""
        data = self.broker_addr_table.get(registration.broker_name)
        holder = None if data is None else data.broker_addrs.get(registration.broker_id)
        broker_data, _ = original(self, registration)
        return broker_data, holder != registration.broker_addr

    return _enter_address


@around(RouteInfoManager, "scan_not_active_broker")
def _scan_again(original: Callable[[RouteInfoManager, Interleave], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def scan_not_active_broker(self: RouteInfoManager, threads: Interleave) -> None:
        """A pass that was disturbed begins anew."""
        while True:
            try:
                return await original(self, threads)
            except ConcurrentModificationError:
                continue

    return scan_not_active_broker


@around(RouteInfoManager, "on_channel_destroy")
def _destroy_who_is_meant(
    original: Callable[[RouteInfoManager, str | None, Channel | None, Interleave], Awaitable[None]],
) -> Callable[..., Awaitable[None]]:
    async def on_channel_destroy(
        self: RouteInfoManager, remote_addr: str | None, channel: Channel | None, threads: Interleave,
    ) -> None:
        """The scan names the address that it has expired; a connection that ends takes all addresses on it along."""
        addresses = {addr for data in self.broker_addr_table.values() for addr in data.broker_addrs.values()}
        live = self.broker_live_table
        sharing = [addr for addr, info in live.entries() if info.channel is channel]
        if remote_addr is not None and sharing and remote_addr in addresses and not live.contains_key(remote_addr):
            self.remove_broker_addr(remote_addr)
            return
        await original(self, remote_addr, channel, threads)
        for addr in sharing[1:]:
            info = live.get(addr)
            if info is not None and info.channel is channel:
                self.remove_broker_addr(addr)

    return on_channel_destroy


@around(RouteInfoManager, "register_broker")
def _register_whole(
    original: Callable[[RouteInfoManager, BrokerRegistration], RegisterBrokerResult],
) -> Callable[..., RegisterBrokerResult]:
    def register_broker(self: RouteInfoManager, registration: BrokerRegistration) -> RegisterBrokerResult:
        """What Java would stop at half-way is not begun."""
        return RegisterBrokerResult() if registration.topic_config_wrapper is None else original(self, registration)

    return register_broker


@around(RouteInfoManager, "on_channel_destroy")
def _destroy_in_one_step(
    original: Callable[[RouteInfoManager, str | None, Channel | None, Interleave], Awaitable[None]],
) -> Callable[..., Awaitable[None]]:
    async def on_channel_destroy(
        self: RouteInfoManager, remote_addr: str | None, channel: Channel | None, threads: Interleave,
    ) -> None:
        """Under one write lock from the look to the removal."""
        held = Held(threads, "onChannelDestroy: between the read lock and the write lock")
        await original(self, remote_addr, channel, held)

    return on_channel_destroy


@around(RouteInfoManager, "scan_not_active_broker")
def _expire_in_one_step(
    original: Callable[[RouteInfoManager, Interleave], Awaitable[None]],
) -> Callable[..., Awaitable[None]]:
    async def scan_not_active_broker(self: RouteInfoManager, threads: Interleave) -> None:
        """Under one write lock from the look at an address to its removal from all tables."""
        await original(self, Held(
            threads, "scanNotActiveBroker: the timestamp has been read", "scanNotActiveBroker: before onChannelDestroy",
            "onChannelDestroy: between the read lock and the write lock",
        ))

    return scan_not_active_broker


@around(BrokerOuterAPI, "need_register")
def _silence_wants_it(original: Callable[..., Awaitable[list[bool]]]) -> Callable[..., Awaitable[list[bool]]]:
    async def need_register(
        self: BrokerOuterAPI, header: RegisterBrokerRequestHeader, data_version: DataVersion, timeout_ms: int,
    ) -> list[bool]:
        """A name server that has not answered votes yes."""
        votes = await original(self, header, data_version, timeout_ms)
        missing = len(self.remoting_client.get_name_server_address_list() or []) - len(votes)
        return votes + [True] * missing

    return need_register


@replace(DefaultRequestProcessor, "get_broker_cluster_info")
async def _cluster_info_in_one_step(self: DefaultRequestProcessor, channel: Connection, request: Command) -> Command:
    """Both tables under the read lock."""
    del channel, request
    brokers, clusters = self.route_info.get_all_cluster_info()
    broker_datas = {name: data.copy() for name, data in brokers.entries()}
    broker_names = {cluster: list(names.key_set()) for cluster, names in clusters.entries()}
    return Command(ResponseCode.SUCCESS, body=(broker_datas, broker_names))


@around(RouteTables, "_fetch_route")
def _forget_unknown_topics(
    original: Callable[[RouteTables, str, DefaultTopic | None], Awaitable[TopicRouteData | None]],
) -> Callable[..., Awaitable[TopicRouteData | None]]:
    async def _fetch_route(self: RouteTables, topic: str, default: DefaultTopic | None) -> TopicRouteData | None:
        """TOPIC_NOT_EXIST takes the route out of the table; its addresses stay known until another one comes."""
        forgotten: dict[str, TopicRouteData] = vars(self).setdefault("forgotten", {})
        try:
            found = await original(self, topic, default)
        except MQClientError as error:
            if default is None and (error.message or "").startswith(f"CODE: {int(ResponseCode.TOPIC_NOT_EXIST)} "):
                route = self.topic_route_table.remove(topic)
                if route is not None:
                    forgotten[topic] = route
            raise
        forgotten.pop(topic, None)
        return found

    return _fetch_route


@around(RouteTables, "is_broker_addr_exist_in_topic_route_table")
def _forgotten_addresses_exist(original: Callable[[RouteTables, str], bool]) -> Callable[..., bool]:
    def is_broker_addr_exist_in_topic_route_table(self: RouteTables, addr: str) -> bool:
        """A name server that has just started knows no topic yet, and the brokers want their heartbeats."""
        forgotten = vars(self).get("forgotten", {}).values()
        return original(self, addr) or any(
            addr in broker_data.broker_addrs.values() for route in forgotten for broker_data in route.broker_datas
        )

    return is_broker_addr_exist_in_topic_route_table


@around(DefaultMQPushConsumerImpl, "unsubscribe")
def _forget_its_queues(original: Callable[[DefaultMQPushConsumerImpl, str], None]) -> Callable[..., None]:
    def unsubscribe(self: DefaultMQPushConsumerImpl, topic: str) -> None:
        """Nobody would tell of a change of its queues while it is not subscribed, nor of an old one later."""
        original(self, topic)
        self.rebalance_impl.topic_subscribe_info_table.remove(topic)

    return unsubscribe


REPAIRS = (
    Variant(
        "unregister_own_address", "repair", "UNREGISTER_BROKER frees the id only if the address has it.",
        "apache/rocketmq #5374, #5375, commit debd7b62b6", ("N-1",), (_unregister_own,),
    ),
    Variant(
        "unregister_by_its_connection", "repair",
        "UNREGISTER_BROKER ends what was registered on its connection, and no earlier connection registers again.",
        "apache/rocketmq #11043, the idea: clean-up removes what was registered through the connection", ("N-27",),
        (_unregister_by_its_connection, _count_connections, _register_by_its_last_connection),
    ),
    Variant(
        "register_the_living", "repair", "A registration whose connection is over is not taken.",
        "the idea: what no event will end does not begin", ("N-21",), (_register_the_living,),
    ),
    Variant(
        "register_whole_table", "repair",
        "A new topic makes the broker register its whole table, not an increment, and under the version of that table.",
        "the other cure than apache/rocketmq #4522, #4523, which refuses the increment of an unknown broker",
        ("N-2", "N-3"), (_register_everything, _copy_with_its_version),
    ),
    Variant(
        "scan_begins_anew", "repair", "An expiry scan that meets a concurrent change begins anew instead of dying.",
        "the idea of BrokerLiveTable as a ConcurrentHashMap, as in 5.x", ("N-4",), (_scan_again,),
    ),
    Variant(
        "destroy_who_is_meant", "repair", "An expired address is removed itself, and a connection with all on it.",
        "the idea of #11043: clean-up removes what was registered through the connection", ("N-5",),
        (_destroy_who_is_meant,),
    ),
    Variant(
        "register_whole_or_not", "repair", "A registration without a topic table is not begun.",
        "the idea: check arguments first", ("N-6",), (_register_whole,),
    ),
    Variant(
        "destroy_in_one_step", "repair", "The clean-up of a connection finds and removes under one write lock.",
        "apache/rocketmq #11043, the idea", ("N-7",), (_destroy_in_one_step,),
    ),
    Variant(
        "expire_in_one_step", "repair", "The scan looks and removes under one write lock.",
        "apache/rocketmq #11043, the idea", ("N-8",), (_expire_in_one_step,),
    ),
    Variant(
        "cluster_info_in_one_step", "repair", "GET_BROKER_CLUSTER_INFO reads both tables under the read lock.",
        "commit 43b659e2af of a pull request to apache/rocketmq", ("N-10",), (_cluster_info_in_one_step,),
    ),
    Variant(
        "new_holder_is_first", "repair", "Who takes a broker id from another brings its topics, whatever its version.",
        "the idea: a change of the master is a first registration", ("N-16",), (_new_holder_is_first,),
    ),
    Variant(
        "silence_wants_it", "repair", "A name server that does not answer in time votes for registering.",
        "the idea: an unknown outcome is no refusal", ("N-18",), (_silence_wants_it,),
    ),
    Variant(
        "forget_unsubscribed_topics", "repair", "A client forgets the queues of a topic that it unsubscribes.",
        "the idea: topicSubscribeInfoTable#remove in DefaultMQPushConsumerImpl#unsubscribe", ("R-1",),
        (_forget_its_queues,),
    ),
    Variant(
        "forget_unknown_topics", "repair", "A client forgets the route of a topic that the name server does not know.",
        "the idea: TOPIC_NOT_EXIST is an answer, not an error", ("R-1",),
        (_forget_unknown_topics, _forgotten_addresses_exist),
    ),
)
