"""Hazards on the official classes: the same steps as in a story, and what the tables of RocketMQ 4.9.3 say then.

Only the worker imports this. Where two threads of RocketMQ meet, the second one is a thread here, too. It is given
WAIT_S seconds to end, so that a lock would be seen to be held.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import jpype

WAIT_S = 5.0
CLUSTER, NAME, TOPIC, GROUP, CLIENT = "DefaultCluster", "broker-a", "orders", "G", "c1"
FIRST, SECOND = "10.0.0.1:10911", "10.0.0.2:10911"
_MASTER = 0


def _class(name: str) -> Any:
    return jpype.JClass(f"org.apache.rocketmq.{name}")


def _connection() -> Any:
    """A connection that is open and leads nowhere."""
    return jpype.JClass("io.netty.channel.embedded.EmbeddedChannel")()


# Name servers ---------------------------------------------------------------------------------------------------------


class _NameServer:
    """A name server without a port: its request processor, and its tables."""

    def __init__(self) -> None:
        configs = _class("common.namesrv.NamesrvConfig")(), _class("remoting.netty.NettyServerConfig")()
        controller = _class("namesrv.NamesrvController")(*configs)
        self.tables = controller.getRouteInfoManager()
        self._processor = _class("namesrv.processor.DefaultRequestProcessor")(controller)

    def register(self, address: str, version: Any = None, perm: int = 6) -> None:
        """A master of the name registers its topic on a connection of its own.

        version -- of its topics; None: a new one. perm -- what may be done with them.
        """
        topics = _class("common.protocol.body.TopicConfigSerializeWrapper")()
        topics.getTopicConfigTable().put(TOPIC, _class("common.TopicConfig")(TOPIC, 4, 4, perm))
        if version is not None:
            topics.setDataVersion(version)
        self.tables.registerBroker(CLUSTER, address, NAME, _MASTER, address, topics, None, _connection())

    def goodbye(self, address: str) -> bool:
        """UNREGISTER_BROKER of a master; whether it is answered with SUCCESS."""
        header = _class("common.protocol.header.namesrv.UnRegisterBrokerRequestHeader")()
        header.setClusterName(CLUSTER)
        header.setBrokerAddr(address)
        header.setBrokerName(NAME)
        header.setBrokerId(jpype.JClass("java.lang.Long").valueOf(_MASTER))
        code = _class("common.protocol.RequestCode").UNREGISTER_BROKER
        request = _class("remoting.protocol.RemotingCommand").createRequestCommand(code, header)
        request.makeCustomHeaderToNet()
        return int(self._processor.processRequest(None, request).getCode()) == 0

    def routed(self) -> list[str]:
        """The addresses in the topic's route."""
        route = self.tables.pickupTopicRouteData(TOPIC)
        return [] if route is None else sorted(
            str(address) for data in route.getBrokerDatas() for address in data.getBrokerAddrs().values())

    def permitted(self) -> list[int]:
        """The permissions in the topic's route."""
        return [int(data.getPerm()) for data in self.tables.pickupTopicRouteData(TOPIC).getQueueDatas()]


def late_goodbye() -> dict[str, Any]:
    """N-27: a broker registers, starts again at its address and registers anew; then its old goodbye is handled."""
    namesrv = _NameServer()
    namesrv.register(FIRST)
    namesrv.register(FIRST)
    before = namesrv.routed()
    answered = namesrv.goodbye(FIRST)
    return {"before": before, "answered": answered, "after": namesrv.routed()}


def two_masters() -> dict[str, Any]:
    """N-15: two brokers of one name register the same id, in turns."""
    namesrv = _NameServer()
    routes = []
    for address in (FIRST, SECOND, FIRST):
        namesrv.register(address)
        routes.append(namesrv.routed())
    return {"routes": routes}


def another_permission() -> dict[str, Any]:
    """N-30: a broker starts again with another permission, under the version of its file, and under a new one."""
    namesrv, version = _NameServer(), _class("common.DataVersion")()
    permitted = []
    for perm in (6, 4):
        namesrv.register(FIRST, version, perm)
        permitted.append(namesrv.permitted())
    version = _class("common.DataVersion")()
    version.nextVersion()
    namesrv.register(FIRST, version, 4)
    return {"permitted": permitted, "under_another_version": namesrv.permitted()}


# Brokers --------------------------------------------------------------------------------------------------------------


class _Listener:
    """A ConsumerIdsChangeListener that does nothing."""

    def handle(self, _event: Any, _group: Any, *_args: Any) -> None:
        """ConsumerIdsChangeListener#handle."""


class _Subscriptions:
    """The subscriptions of a heartbeat: a java.util.Set that lets another thread run when it is gone through."""

    def __init__(self, between: Callable[[], None]) -> None:
        self._inside = jpype.JClass("java.util.HashSet")()
        self._inside.add(_class("common.filter.FilterAPI").buildSubscriptionData(TOPIC, "*"))
        self._between: Callable[[], None] | None = between

    def iterator(self) -> Any:
        """Set#iterator; the first time ConsumerGroupInfo#updateSubscription asks, updateChannel is behind it."""
        between, self._between = self._between, None
        if between is not None:
            between()
        return self._inside.iterator()

    def size(self) -> int:
        """Set#size."""
        return int(self._inside.size())


def goodbye_beside_a_heartbeat() -> dict[str, Any]:
    """B-33: ConsumerManager#unregisterConsumer between the two parts of #registerConsumer of the same client."""
    manager = _class("broker.client.ConsumerManager")(
        jpype.JProxy(_class("broker.client.ConsumerIdsChangeListener"), inst=_Listener()))
    info = _class("broker.client.ClientChannelInfo")(
        _connection(), CLIENT, _class("remoting.protocol.LanguageCode").JAVA, 399)
    goodbye = threading.Thread(target=lambda: manager.unregisterConsumer(GROUP, info, False), daemon=True)
    beside: list[bool] = []

    def between() -> None:
        beside.append(manager.findChannel(GROUP, CLIENT) is not None)
        goodbye.start()
        goodbye.join(WAIT_S)
        beside.append(not goodbye.is_alive())

    kinds = (_class("common.protocol.heartbeat.ConsumeType").CONSUME_PASSIVELY,
             _class("common.protocol.heartbeat.MessageModel").CLUSTERING,
             _class("common.consumer.ConsumeFromWhere").CONSUME_FROM_LAST_OFFSET)
    subscriptions = jpype.JProxy("java.util.Set", inst=_Subscriptions(between))
    manager.registerConsumer(GROUP, info, *kinds, subscriptions, False)
    entered, waited_for_nothing = beside
    return {"entered": entered, "waited_for_nothing": waited_for_nothing,
            "group": manager.getConsumerGroupInfo(GROUP) is not None,
            "subscription": manager.findSubscriptionData(GROUP, TOPIC) is not None}


STORIES: dict[str, Callable[[], dict[str, Any]]] = {
    "N-27": late_goodbye, "N-15": two_masters, "N-30": another_permission, "B-33": goodbye_beside_a_heartbeat,
}
"""By the name of the hazard."""


def told(hazard: str) -> str:
    """What the official classes did in the story of a hazard, as JSON."""
    return json.dumps(STORIES[hazard]())
