"""Repairs of a name server that has just started, of broker names that change, and of whom clients ask and when."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from impl.broker import config_files
from impl.broker.topic_config_manager import TopicConfigManager
from impl.client.client_config import ClientConfig
from impl.client.mq_client_instance import MQClientInstance
from impl.client.mq_client_manager import MQClientManager
from impl.common.config_manager import parsed_json
from impl.common.request_code import ResponseCode
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.events import NameServerChosen
from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.remoting_client import LOCK_TIMEOUT_MS, RemotingClient
from impl.namesrv.request_handlers import DefaultRequestProcessor
from impl.namesrv.route_info_manager import BrokerAddrs, BrokerRegistration, RouteInfoManager
from impl.namesrv.server import NamesrvController
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection, RemotingConnectError
from impl.variants.variant import Variant, around, replace

WAIT_FOR_SERVICE_MS = 45_000  # NamesrvConfig.waitSecondsForService, of 5.1.0
TIMER_THREADS = 8
"""For three periodic jobs, and delayed unlocks that wait for connections."""
_ALL, _PERMISSION = PERM_READ | PERM_WRITE, "brokerPermission"
_WAITS = "waits_for_brokers"  # in the attributes of a RouteInfoManager


@around(NamesrvController, "start")
def _wait_for_brokers(original: Callable[[NamesrvController], None]) -> Callable[[NamesrvController], None]:
    def start(self: NamesrvController) -> None:
        """For so long not all brokers need have registered."""

        async def wait() -> None:
            await self.node.sleep(WAIT_FOR_SERVICE_MS)
            del vars(self.route_info)[_WAITS]

        vars(self.route_info)[_WAITS] = True
        self.node.start_thread("waitForService", wait())
        original(self)

    return start


@around(DefaultRequestProcessor, "get_route_info_by_topic")
def _deny_nothing_yet(
    original: Callable[[DefaultRequestProcessor, Connection, Command], Awaitable[Command]],
) -> Callable[..., Awaitable[Command]]:
    async def get_route_info_by_topic(self: DefaultRequestProcessor, channel: Connection, request: Command) -> Command:
        """What is known is answered from the start."""
        answer = await original(self, channel, request)
        if answer.code == ResponseCode.TOPIC_NOT_EXIST and _WAITS in vars(self.route_info):
            return Command(ResponseCode.SYSTEM_ERROR, remark="name server not ready")
        return answer

    return get_route_info_by_topic


@around(RouteInfoManager, "_enter_address")
def _leave_former_names(
    original: Callable[[RouteInfoManager, BrokerRegistration], tuple[BrokerAddrs, bool]],
) -> Callable[..., tuple[BrokerAddrs, bool]]:
    def _enter_address(self: RouteInfoManager, registration: BrokerRegistration) -> tuple[BrokerAddrs, bool]:
        """Under another name it leaves, and with the last address of that name its topics; the address lives on."""
        for name, data in self.broker_addr_table.entries():
            for broker_id, addr in data.broker_addrs.entries():
                if addr == registration.broker_addr and name != registration.broker_name:
                    data.broker_addrs.remove(broker_id)
                    _leave_if_empty(self, name, data)
        return original(self, registration)

    return _enter_address


def _leave_if_empty(table: RouteInfoManager, name: str, data: BrokerAddrs) -> None:
    """What RouteInfoManager#unregisterBroker does when a name has no address any more."""
    if not data.broker_addrs.is_empty():
        return
    table.broker_addr_table.remove(name)
    names = table.cluster_addr_table.get(data.cluster)
    if names is not None:
        names.remove(name)
        if names.is_empty():
            table.cluster_addr_table.remove(data.cluster)
    table._remove_topic_by_broker_name(name)  # noqa: SLF001  # as unregisterBroker, from which this is taken


@replace(RemotingClient, "_name_server_channel")
async def _choose_from_the_list_of_now(self: RemotingClient) -> Channel | None:
    """The list is read again before each attempt."""
    channel = self._channel_at_hand(None)
    if channel is not None or not await self.threads.try_lock(self._namesrv_channel_lock, LOCK_TIMEOUT_MS):
        return channel
    channel = self._channel_at_hand(None)
    attempts = 0
    while channel is None and attempts < len(addrs := self._namesrv_addr_list or []):
        attempts += 1
        self._namesrv_index = (self._namesrv_index or 0) + 1
        chosen = self._namesrv_addr_choosed = addrs[self._namesrv_index % len(addrs)]
        self.process.trace(NameServerChosen(chosen, frozenset(addrs), self.number))
        channel = await self._create_channel(chosen)
    self.threads.unlock(self._namesrv_channel_lock)
    if channel is None and self._namesrv_addr_list:
        raise RemotingConnectError(f"[{', '.join(self._namesrv_addr_list)}]")
    return channel


@around(RemotingClient, "invoke_sync")
def _connect_before_the_call(original: Callable[..., Awaitable[Command]]) -> Callable[..., Awaitable[Command]]:
    async def invoke_sync(self: RemotingClient, addr: str | None, request: Command, timeout_ms: int) -> Command:
        """The time of a call to a name server begins when its client has come to one."""
        if addr is None and self._channel_at_hand(None) is None:
            await self._open_channel(None)
        return await original(self, addr, request, timeout_ms)

    return invoke_sync


@around(config_files, "topics_text")
def _write_the_permission(original: Callable[[TopicConfigManager], str]) -> Callable[[TopicConfigManager], str]:
    def topics_text(manager: TopicConfigManager) -> str:
        """The file of the topics says what the broker is permitted, unless that is everything."""
        text, permission = original(manager), manager.config.broker_permission
        return text if permission == _ALL else json.dumps(json.loads(text) | {_PERMISSION: permission})

    return topics_text


@around(config_files, "load_topics")
def _count_up_for_another(
    original: Callable[[TopicConfigManager, str], None],
) -> Callable[[TopicConfigManager, str], None]:
    def load_topics(manager: TopicConfigManager, text: str) -> None:
        """Another permission than that of the file is a change of all topics."""
        original(manager, text)
        if parsed_json(text).get(_PERMISSION, _ALL) != manager.config.broker_permission:
            manager.data_version.next_version(manager.now_ms())
            manager.persist()

    return load_topics


@around(MQClientInstance, "__init__")
def _threads_for_all_timers(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: MQClientInstance, node: Node, config: ClientConfig, manager: MQClientManager) -> None:  # noqa: N807  # the constructor that it replaces
        """Each job that is due finds a thread."""
        original(self, node, config, manager)
        self.scheduler = node.scheduler("MQClientFactoryScheduledThread", TIMER_THREADS)

    return __init__


REPAIRS = (
    Variant(
        "answer_when_brokers_have_registered", "repair",
        "In its first 45 s a name server says of an unknown topic that it is not ready.",
        "apache/rocketmq #5322, #5323, commit ff60d5c24a, with needWaitForService on", ("N-28",),
        (_wait_for_brokers, _deny_nothing_yet),
    ),
    Variant(
        "leave_former_names", "repair", "A registration takes its address out of all other broker names.",
        "apache/rocketmq #1989, #2001, the idea", ("N-29",), (_leave_former_names,),
    ),
    Variant(
        "choose_from_the_list_of_now", "repair", "A client chooses its name server from the list as it is now.",
        "apache/rocketmq #2090, the idea: the list is read under the lock", ("R-2",), (_choose_from_the_list_of_now,),
    ),
    Variant(
        "connect_before_the_call", "repair", "A call does not use up its time with the way to a name server.",
        "apache/rocketmq #7056, #7057, the idea: what connecting has cost closes no connection", ("R-3",),
        (_connect_before_the_call,),
    ),
    Variant(
        "permission_has_a_version", "repair", "A start with another brokerPermission raises the version of the topics.",
        "the idea: what AdminBrokerProcessor#updateBrokerConfig does, for a start as well", ("N-30",),
        (_write_the_permission, _count_up_for_another),
    ),
    Variant(
        "threads_for_all_timers", "repair", "The timer of a client has a thread for each of its jobs.",
        "apache/rocketmq #3138, #3143, the idea", ("U17",), (_threads_for_all_timers,),
    ),
)
