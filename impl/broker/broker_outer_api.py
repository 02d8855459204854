"""BrokerOuterAPI: what a broker asks of its name servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from impl.client.offset_store import MQBrokerError
from impl.common.data_version import DataVersion
from impl.common.headers import RegisterBrokerBody, RegisterBrokerRequestHeader, SubscriptionGroupWrapper
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.java_errors import JavaError
from impl.events import RegistrationEncoded, RegistrationFailed
from impl.ports.node import Node
from impl.ports.remoting import Command, RemotingTooMuchRequestError
from impl.ports.threads import Signal

POOL_THREADS, POOL_QUEUE = 4, 32  # brokerOuterExecutor; its further six threads start only when 32 name servers wait
REGISTER_BROKER_TIMEOUT_MS = 6_000  # BrokerConfig.registerBrokerTimeoutMills
UNREGISTER_BROKER_TIMEOUT_MS = 3_000
GET_ALL_TIMEOUT_MS = 3_000


@dataclass(slots=True)
class RegisterResult:
    """RegisterBrokerResult of one name server; kv_table -- its order configuration, None if it has no such table."""

    ha_server_addr: str | None
    master_addr: str | None
    kv_table: dict[str, str | None] | None


class BrokerOuterAPI:
    """`broker.out.BrokerOuterAPI`.

    Each name server is called by a job of its own; the caller waits for all of them, or for the timeout.

    compressed_register -- BrokerConfig.compressedRegister: the order flag and the unit bits of topics get lost (N-23).
    """

    def __init__(self, node: Node, namesrv_addrs: list[str], *, compressed_register: bool = False) -> None:
        """Know the name servers; call start before anything else."""
        self.node, self.compressed_register = node, compressed_register
        self.remoting_client = node.remoting_client("BrokerOuterAPI")
        self.remoting_client.update_name_server_address_list(namesrv_addrs)
        self.pool = node.pool("brokerOutApi_thread", POOL_THREADS, POOL_QUEUE)

    def start(self) -> None:
        """BrokerOuterAPI#start."""
        self.remoting_client.start()

    def shutdown(self) -> None:
        """BrokerOuterAPI#shutdown."""
        self.remoting_client.shutdown()
        self.pool.shutdown()

    async def register_broker_all(
        self,
        header: RegisterBrokerRequestHeader,
        wrapper: TopicConfigSerializeWrapper,
        timeout_ms: int,
        *,
        oneway: bool,
        increment: bool,
    ) -> list[RegisterResult]:
        """BrokerOuterAPI#registerBrokerAll: the answers in the order of their arrival, those in time only.

        The body is encoded once, from live objects. Raises RejectedExecutionError with too many name servers.
        """
        encoded = await self._encoded(wrapper)
        version, topics = encoded.data_version, frozenset(encoded.topic_config_table or ())
        self.node.trace(RegistrationEncoded(
            self.node.name, (version.timestamp, version.counter), topics, increment,
        ))
        body = RegisterBrokerBody(encoded, [])
        results: list[RegisterResult] = []

        async def register(addr: str) -> None:
            try:
                result = await self._register_broker(addr, header, body, timeout_ms, oneway=oneway)
            except JavaError as error:
                self.node.trace(RegistrationFailed(self.node.name, addr, error.java_class))
                return
            if result is not None:
                results.append(result)

        await self._for_each_name_server(register, timeout_ms)
        return list(results)

    async def _encoded(self, wrapper: TopicConfigSerializeWrapper) -> TopicConfigSerializeWrapper:
        """The wrapper as it is encoded: first the version, then the table; both belong to other threads too."""
        version = wrapper.data_version.copy()
        await self.node.interleave("registerBrokerAll: encoding, between the version and the table")
        encode = _compressed if self.compressed_register else _copied
        table = {topic: encode(config) for topic, config in (wrapper.topic_config_table or {}).items()}
        return TopicConfigSerializeWrapper(table, version)

    async def _register_broker(
        self, addr: str, header: RegisterBrokerRequestHeader, body: RegisterBrokerBody, timeout_ms: int, *,
        oneway: bool,
    ) -> RegisterResult | None:
        """BrokerOuterAPI#registerBroker: None for a one-way call, and for too many of them."""
        request = Command(RequestCode.REGISTER_BROKER, header=header, body=body)
        if oneway:
            try:
                await self.remoting_client.invoke_oneway(addr, request, timeout_ms)
            except RemotingTooMuchRequestError:
                return None
            return None
        response = await self.remoting_client.invoke_sync(addr, request, timeout_ms)
        if response.code != ResponseCode.SUCCESS:
            raise MQBrokerError(response.code, response.remark)
        return RegisterResult(response.header.ha_server_addr, response.header.master_addr, response.body)

    async def _for_each_name_server(self, job: Callable[[str], Awaitable[None]], timeout_ms: int) -> None:
        """A CountDownLatch over one job per name server."""
        addrs = self.remoting_client.get_name_server_address_list() or []
        latch = Signal("BrokerOuterAPI: CountDownLatch")
        running = len(addrs)

        async def run(addr: str) -> None:
            nonlocal running
            await job(addr)
            running -= 1
            if not running:
                self.node.wake(latch)

        for addr in addrs:
            self.pool.execute(lambda addr=addr: run(addr))  # type: ignore[misc]  # mypy has no type for the default
        if addrs:
            await self.node.wait(latch, timeout_ms)

    async def need_register(
        self, header: RegisterBrokerRequestHeader, data_version: DataVersion, timeout_ms: int,
    ) -> list[bool]:
        """BrokerOuterAPI#needRegister: one vote per name server that has answered in time; an exception votes yes.

        An answer that is not SUCCESS votes no. A call that fails just when the wait ends has no vote (N-18).
        """
        votes: list[bool] = []
        version = data_version.copy()

        async def ask(addr: str) -> None:
            request = Command(RequestCode.QUERY_DATA_VERSION, header=header, body=version)
            try:
                response = await self.remoting_client.invoke_sync(addr, request, timeout_ms)
            except JavaError:
                votes.append(True)
                return
            changed = False
            if response.code == ResponseCode.SUCCESS:
                changed = response.header.changed or (response.body is not None and response.body != version)
            votes.append(changed)

        await self._for_each_name_server(ask, timeout_ms)
        return list(votes)

    async def unregister_broker_all(self, header: RegisterBrokerRequestHeader) -> None:
        """BrokerOuterAPI#unregisterBrokerAll: one after another; failures are logged."""
        for addr in self.remoting_client.get_name_server_address_list() or []:
            request = Command(RequestCode.UNREGISTER_BROKER, header=header)
            try:
                await self.remoting_client.invoke_sync(addr, request, UNREGISTER_BROKER_TIMEOUT_MS)
            except JavaError as error:
                self.node.trace(RegistrationFailed(self.node.name, addr, error.java_class))

    # A slave and its master -------------------------------------------------------------------------------------------

    async def _get_all(self, addr: str, code: RequestCode) -> Command:
        response = await self.remoting_client.invoke_sync(addr, Command(code), GET_ALL_TIMEOUT_MS)
        if response.code != ResponseCode.SUCCESS:
            raise MQBrokerError(response.code, response.remark)
        return response

    async def get_all_topic_config(self, addr: str) -> TopicConfigSerializeWrapper:
        """BrokerOuterAPI#getAllTopicConfig of the broker at addr; it raises MQBrokerError, and what a call does."""
        wrapper: TopicConfigSerializeWrapper = (await self._get_all(addr, RequestCode.GET_ALL_TOPIC_CONFIG)).body
        return wrapper

    async def get_all_consumer_offset(self, addr: str) -> Mapping[str, Mapping[int, int]]:
        """BrokerOuterAPI#getAllConsumerOffset: "topic@group" to queue id to offset."""
        table: Mapping[str, Mapping[int, int]] = (await self._get_all(addr, RequestCode.GET_ALL_CONSUMER_OFFSET)).body
        return table

    async def get_all_delay_offset(self, addr: str) -> str:
        """BrokerOuterAPI#getAllDelayOffset: the text of delayOffset.json."""
        text: str = (await self._get_all(addr, RequestCode.GET_ALL_DELAY_OFFSET)).body
        return text

    async def get_all_subscription_group_config(self, addr: str) -> SubscriptionGroupWrapper:
        """BrokerOuterAPI#getAllSubscriptionGroupConfig."""
        response = await self._get_all(addr, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
        wrapper: SubscriptionGroupWrapper = response.body
        return wrapper


def _compressed(config: TopicConfig) -> TopicConfig:
    """TopicConfig#encode and #decode: name, queues, permissions and filter type are all that the text has."""
    return TopicConfig(
        config.topic_name, config.read_queue_nums, config.write_queue_nums, config.perm, config.topic_filter_type,
    )


def _copied(config: TopicConfig) -> TopicConfig:
    return TopicConfig(
        config.topic_name, config.read_queue_nums, config.write_queue_nums, config.perm, config.topic_filter_type,
        config.topic_sys_flag, config.order,
    )
