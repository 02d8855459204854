"""MQClientManager: the instances of one process, and what else all of its clients share."""

from __future__ import annotations

from dataclasses import replace

from impl.client.client_config import DEFAULT_INSTANCE_NAME, ClientConfig
from impl.client.mq_client_instance import MQClientInstance
from impl.client.request_response_future import RequestFutureHolder
from impl.common.inet_socket_address import socket_address
from impl.common.message_client_id_setter import MessageClientIDSetter
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node


class MQClientManager:
    """`client.impl.MQClientManager`: the instances of one process, by client id.

    factory_table -- client id to instance; the first one's configuration counts for all that share it.
    request_futures -- of all producers of the process.
    """

    def __init__(self, node: Node) -> None:
        """Start empty, as every process does."""
        self.node = node
        self.factory_table: ConcurrentHashMap[str, MQClientInstance] = ConcurrentHashMap()
        self.request_futures = RequestFutureHolder(node)
        self._names, self._correlations = 0, 0
        self._uniq_ids: MessageClientIDSetter | None = None

    def get_or_create_mq_client_instance(self, config: ClientConfig) -> MQClientInstance:
        """MQClientManager#getOrCreateMQClientInstance."""
        client_id = config.build_mq_client_id()
        instance = self.factory_table.get(client_id)
        if instance is None:
            instance = MQClientInstance(self.node, config, self)
            self.factory_table.put(client_id, instance)
        return instance

    def create_uniq_id(self) -> str:
        """MessageClientIDSetter#createUniqID: its first four bytes are the address of the machine."""
        if self._uniq_ids is None:
            drawn = [self.node.random(256, "MessageClientIDSetter: hashCode of the class loader") for _ in range(4)]
            self._uniq_ids = MessageClientIDSetter(
                socket_address(f"{self.node.name}:0").address, 1, int.from_bytes(drawn, "big"), self.node.now_ms())
        return self._uniq_ids.create_uniq_id(self.node.now_ms())

    def create_correlation_id(self) -> str:
        """CorrelationIdUtil#createCorrelationId; in Java a random UUID, here one that no other request has."""
        self._correlations += 1
        return f"{self.node.name}-{self.node.now_ms():x}-{self._correlations}"

    def change_instance_name_to_pid(self, config: ClientConfig) -> ClientConfig:
        """ClientConfig#changeInstanceNameToPID: "DEFAULT" becomes a name that no other client has, nor had."""
        if config.instance_name != DEFAULT_INSTANCE_NAME:
            return config
        self._names += 1
        return replace(config, instance_name=f"{self._names}#{self.node.now_ms()}")
