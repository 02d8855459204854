"""ClientConfig: what every client has: where name servers are, who it is, and how often its instance works."""

from __future__ import annotations

from dataclasses import dataclass

from impl.decisions.message_queue import MessageQueue
from impl.decisions.namespace import wrap_namespace

DEFAULT_INSTANCE_NAME = "DEFAULT"


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """`client.ClientConfig`, what is read here, with its defaults.

    namesrv_addrs -- "host:port" each. namespace -- put before the names of topics and groups of its
    producers and push consumers.
    """

    namesrv_addrs: tuple[str, ...]
    client_ip: str
    instance_name: str = DEFAULT_INSTANCE_NAME
    poll_name_server_interval_ms: int = 30_000
    heartbeat_broker_interval_ms: int = 30_000
    persist_consumer_offset_interval_ms: int = 5_000
    client_callback_executor_threads: int = 4
    namespace: str | None = None

    def build_mq_client_id(self) -> str:
        """ClientConfig#buildMQClientId, without a unit."""
        return f"{self.client_ip}@{self.instance_name}"


class InNamespace:
    """A client whose user names topics, groups and queues without the namespace of its configuration."""

    namespace: str | None

    def with_namespace(self, resource: str) -> str:
        """ClientConfig#withNamespace."""
        return wrap_namespace(self.namespace, resource) or resource

    def queue_with_namespace(self, mq: MessageQueue) -> MessageQueue:
        """ClientConfig#queueWithNamespace."""
        return mq._replace(topic=self.with_namespace(mq.topic))
