"""What a name server reports of its routes, registrations and key values."""

from __future__ import annotations

from typing import NamedTuple


class BrokerRegistered(NamedTuple):
    """RouteInfoManager#registerBroker has ended.

    version -- timestamp and counter of the data version, None if the body had none. topics -- what the registration
    listed (not all need have been taken over).
    """

    namesrv: str
    broker_name: str
    broker_id: int
    broker_addr: str
    connection: str
    version: tuple[int, int] | None
    topics: frozenset[str]


class BrokerUnregistered(NamedTuple):
    """RouteInfoManager#unregisterBroker has ended."""

    namesrv: str
    broker_name: str
    broker_id: int
    broker_addr: str


class BrokerLiveRemoved(NamedTuple):
    """An address left brokerLiveTable; why -- "unregistered", "destroyed" (onChannelDestroy), "expired" (the scan)."""

    namesrv: str
    broker_addr: str
    why: str


class BrokerFound(NamedTuple):
    """RouteInfoManager#onChannelDestroy, under the read lock: the address of the connection; None if it has none."""

    namesrv: str
    broker_addr: str | None
    connection: str


class BrokerDropped(NamedTuple):
    """RouteInfoManager#onChannelDestroy, under the write lock: the address left the routes; known or not before."""

    namesrv: str
    broker_addr: str


class BrokerUpdateTimestamp(NamedTuple):
    """RouteInfoManager#updateBrokerInfoUpdateTimestamp: an unchanged version counts as a sign of life."""

    namesrv: str
    broker_addr: str


class TopicDeleted(NamedTuple):
    """RouteInfoManager#deleteTopic."""

    namesrv: str
    topic: str


class WritePermWiped(NamedTuple):
    """RouteInfoManager#wipeWritePermOfBrokerByLock: no queue of the broker may be written any more."""

    namesrv: str
    broker_name: str


class WritePermAdded(NamedTuple):
    """RouteInfoManager#addWritePermOfBrokerByLock: all queues of the broker may be read and written."""

    namesrv: str
    broker_name: str


class VersionQueried(NamedTuple):
    """DefaultRequestProcessor#queryBrokerTopicConfig has compared; changed -- the name server has another version.

    One that has not changed is a sign of life over this connection.
    """

    namesrv: str
    broker_addr: str
    connection: str
    changed: bool


class RegistrationAnswered(NamedTuple):
    """DefaultRequestProcessor#registerBrokerWithFilterServer: the code; known -- the address is in brokerLiveTable."""

    namesrv: str
    broker_addr: str
    code: int
    known: bool


class RouteAnswered(NamedTuple):
    """DefaultRequestProcessor#getRouteInfoByTopic: the answer as it is encoded.

    queue_names -- the broker names of its queues. broker_names -- those that it has addresses of. addrs -- these.
    connection -- "host:port" of who has asked.
    """

    namesrv: str
    topic: str
    queue_names: frozenset[str]
    broker_names: frozenset[str]
    addrs: frozenset[str]
    connection: str = ""


class RouteDenied(NamedTuple):
    """DefaultRequestProcessor#getRouteInfoByTopic: it is answered without a route.

    connection -- "host:port" of who has asked. code -- of the answer, in 4.9.3 always TOPIC_NOT_EXIST.
    """

    namesrv: str
    topic: str
    connection: str = ""
    code: int = 17


class KVConfigPut(NamedTuple):
    """KVConfigManager#putKVConfig, #deleteKVConfig have ended; value -- None if the key was deleted."""

    namesrv: str
    namespace: str
    key: str
    value: str | None


class KVConfigLoaded(NamedTuple):
    """KVConfigManager#load: what a name server that starts finds in its file: namespace, key and value."""

    namesrv: str
    values: frozenset[tuple[str, str, str | None]]


class ClusterInfoFetched(NamedTuple):
    """GET_BROKER_CLUSTER_INFO was answered: the broker names that have addresses, and those that are in clusters."""

    namesrv: str
    broker_names: frozenset[str]
    cluster_names: frozenset[str]


class RegistrationCutShort(NamedTuple):
    """RouteInfoManager#registerBroker has thrown in its midst, and goes on: error -- the Java class.

    What was written stays: the address stands under the name of the broker, and does not count as alive.
    """

    namesrv: str
    broker_addr: str
    error: str
