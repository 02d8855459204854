"""Registration: how a broker tells its name servers of itself and its topics (methods of BrokerController)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from impl.broker.broker_config import BrokerConfig
from impl.broker.broker_outer_api import REGISTER_BROKER_TIMEOUT_MS, BrokerOuterAPI, RegisterResult
from impl.broker.slave_synchronize import SlaveSynchronize
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.headers import RegisterBrokerRequestHeader
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID
from impl.events import MasterLearned
from impl.ports.node import Node
from impl.ports.threads import Lock


class Registration:
    """The part of `broker.BrokerController` that registers with the name servers.

    header -- what name servers are told of the broker itself. update_ha_master_address -- is told from where a slave
    is to copy its master's log.
    """

    def __init__(
        self, node: Node, config: BrokerConfig, topic_config_manager: TopicConfigManager,
        broker_outer_api: BrokerOuterAPI, slave_synchronize: SlaveSynchronize,
    ) -> None:
        """Register these topics; a slave is told whom to copy from."""
        self.node, self.config = node, config
        self.topic_config_manager, self.broker_outer_api = topic_config_manager, broker_outer_api
        self.slave_synchronize = slave_synchronize
        self.update_ha_master_address: Callable[[str], None] = _copy_nothing
        self.monitor = Lock("BrokerController: synchronized registerBrokerAll, registerIncrementBrokerData")
        self.header = RegisterBrokerRequestHeader(
            config.broker_name, f"{node.name}:{config.listen_port}", config.cluster_name, config.broker_id,
            f"{node.name}:{config.listen_port + 1}",
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
            self.header, wrapper.data_version, REGISTER_BROKER_TIMEOUT_MS,
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
            self.header, wrapper, REGISTER_BROKER_TIMEOUT_MS, oneway=oneway, increment=increment,
        )
        if results:
            if results[0].ha_server_addr is not None:
                self.update_ha_master_address(results[0].ha_server_addr)
            master_addr = self.slave_synchronize.master_addr = self._master_of(results)
            if self.config.broker_id != MASTER_ID:
                answers = tuple(result.master_addr for result in results)
                self.node.trace(MasterLearned(self.node.name, master_addr, answers))
            if check_order_config:
                self.topic_config_manager.update_order_topic_config(results[0].kv_table)

    def _master_of(self, results: list[RegisterResult]) -> str | None:
        """Whom the name server that answered first has for the master (N-19)."""
        return results[0].master_addr


def _copy_nothing(ha_server_addr: str) -> None:
    """A master, or a broker that keeps no messages, has no use for it."""
    del ha_server_addr
