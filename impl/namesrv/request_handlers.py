"""DefaultRequestProcessor: what a name server answers.

All codes run in one pool of eight threads. A method that only calls one locked method of RouteInfoManager is plain;
what happens outside its locks has an interleave point. An unknown code is not answered at all.
"""

from __future__ import annotations

from collections.abc import Callable

from impl.common.data_version import DataVersion
from impl.common.faq_url import SUGGEST_TODO
from impl.common.headers import (
    BrokerNameRequestHeader,
    KVConfigRequestHeader,
    QueryDataVersionResponseHeader,
    RegisterBrokerBody,
    RegisterBrokerRequestHeader,
    RegisterBrokerResponseHeader,
    TopicCountResponseHeader,
    TopicRequestHeader,
)
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfigSerializeWrapper
from impl.decisions.java_errors import not_null
from impl.decisions.java_text import concatenated
from impl.decisions.route_queues import TopicRouteData
from impl.events import RegistrationAnswered, RouteAnswered, RouteDenied, VersionQueried
from impl.namesrv.kv_config_manager import NAMESPACE_ORDER_TOPIC_CONFIG, KVConfigManager
from impl.namesrv.route_info_manager import BrokerRegistration, RouteInfoManager
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection, Handler

SUCCESS = Command(ResponseCode.SUCCESS)


class DefaultRequestProcessor:
    """`namesrv.processor.DefaultRequestProcessor`.

    order_message_enable -- NamesrvConfig.orderMessageEnable: routes carry the order configuration.
    """

    def __init__(
        self, node: Node, route_info: RouteInfoManager, kv_config: KVConfigManager, *, order_message_enable: bool,
    ) -> None:
        """Answer from these tables."""
        self.node, self.route_info, self.kv_config = node, route_info, kv_config
        self.order_message_enable = order_message_enable
        self.handlers: dict[int, Handler] = {
            RequestCode.PUT_KV_CONFIG: self.put_kv_config,
            RequestCode.GET_KV_CONFIG: self.get_kv_config,
            RequestCode.DELETE_KV_CONFIG: self.delete_kv_config,
            RequestCode.GET_KVLIST_BY_NAMESPACE: self.get_kv_list_by_namespace,
            RequestCode.REGISTER_BROKER: self.register_broker,
            RequestCode.UNREGISTER_BROKER: self.unregister_broker,
            RequestCode.QUERY_DATA_VERSION: self.query_broker_topic_config,
            RequestCode.GET_ROUTEINFO_BY_TOPIC: self.get_route_info_by_topic,
            RequestCode.GET_BROKER_CLUSTER_INFO: self.get_broker_cluster_info,
            RequestCode.WIPE_WRITE_PERM_OF_BROKER: self.wipe_write_perm_of_broker,
            RequestCode.ADD_WRITE_PERM_OF_BROKER: self.add_write_perm_of_broker,
            RequestCode.DELETE_TOPIC_IN_NAMESRV: self.delete_topic_in_namesrv,
            RequestCode.GET_TOPICS_BY_CLUSTER: self.get_topics_by_cluster,
            RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: self._list_of(route_info.get_all_topic_list),
            RequestCode.GET_UNIT_TOPIC_LIST: self._list_of(route_info.get_unit_topics),
            RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: self._list_of(route_info.get_has_unit_sub_topic_list),
            RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: self._list_of(
                route_info.get_has_unit_sub_un_unit_topic_list,
            ),
            RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: self.get_system_topic_list,
        }

    async def process_request(self, channel: Connection, request: Command) -> Command | None:
        """DefaultRequestProcessor#processRequest."""
        handler = self.handlers.get(request.code)
        if handler is None:
            return None
        response = handler(channel, request)
        if request.code == RequestCode.REGISTER_BROKER and isinstance(response, Command):
            addr = request.header.broker_addr
            known = self.route_info.broker_live_table.contains_key(addr)
            self.node.trace(RegistrationAnswered(self.node.name, addr, response.code, known))
        if response is not None and not isinstance(response, Command):
            response = await response
        if request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC and response is not None:
            self._report_denial(channel, request.header.topic, response)
        return response

    def _report_denial(self, channel: Connection, topic: str, response: Command) -> None:
        if response.code != ResponseCode.SUCCESS:
            self.node.trace(RouteDenied(self.node.name, topic, channel.remote_address, response.code))

    def register_broker(self, channel: Connection, request: Command) -> Command:
        """DefaultRequestProcessor#registerBrokerWithFilterServer: SUCCESS, whatever happened under the write lock."""
        header: RegisterBrokerRequestHeader = request.header
        body: RegisterBrokerBody | None = request.body
        if body is None:
            body = RegisterBrokerBody(TopicConfigSerializeWrapper({}, DataVersion(0)), [])
        result = self.route_info.register_broker(BrokerRegistration(
            header.cluster_name, header.broker_addr, header.broker_name, not_null(header.broker_id),
            header.ha_server_addr, body.topic_config_serialize_wrapper, body.filter_server_list, channel,
        ))
        answer = RegisterBrokerResponseHeader(result.ha_server_addr, result.master_addr)
        order = self.kv_config.get_kv_list_by_namespace(NAMESPACE_ORDER_TOPIC_CONFIG)
        return Command(ResponseCode.SUCCESS, header=answer, body=order)

    def unregister_broker(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#unregisterBroker."""
        header: RegisterBrokerRequestHeader = request.header
        self.route_info.unregister_broker(
            header.cluster_name, header.broker_addr, header.broker_name, not_null(header.broker_id),
        )
        return SUCCESS

    async def query_broker_topic_config(self, channel: Connection, request: Command) -> Command:
        """DefaultRequestProcessor#queryBrokerTopicConfig: three reads and a write, none of them under a lock."""
        header: RegisterBrokerRequestHeader = request.header
        changed = self.route_info.is_broker_topic_config_changed(header.broker_addr, request.body)
        self.node.trace(VersionQueried(self.node.name, header.broker_addr, channel.remote_address, changed))
        await self.node.interleave("queryBrokerTopicConfig: the version has been compared")
        if not changed:
            self.route_info.update_broker_info_update_timestamp(header.broker_addr)
        await self.node.interleave("queryBrokerTopicConfig: before the version is read again")
        version = self.route_info.query_broker_topic_config(header.broker_addr)
        return Command(ResponseCode.SUCCESS, header=QueryDataVersionResponseHeader(changed), body=version)

    async def get_route_info_by_topic(self, channel: Connection, request: Command) -> Command:
        """DefaultRequestProcessor#getRouteInfoByTopic: the queue list is read again when the answer is encoded."""
        header: TopicRequestHeader = request.header
        picked_up = self.route_info.pickup_topic_route_data(header.topic)
        if picked_up is None:
            remark = f"No topic route info in name server for the topic: {concatenated(header.topic)}{SUGGEST_TODO}"
            return Command(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        await self.node.interleave("getRouteInfoByTopic: the read lock has been given back")
        route = picked_up.encoded()
        self._report(channel, header.topic, route)
        if self.order_message_enable:
            conf = self.kv_config.get_kv_config(NAMESPACE_ORDER_TOPIC_CONFIG, header.topic)
            route = route._replace(order_topic_conf=conf)
        return Command(ResponseCode.SUCCESS, body=route)

    def _report(self, channel: Connection, topic: str, route: TopicRouteData) -> None:
        self.node.trace(RouteAnswered(
            self.node.name, topic, frozenset(data.broker_name for data in route.queue_datas),
            frozenset(data.broker_name for data in route.broker_datas),
            frozenset(addr for data in route.broker_datas for addr in data.broker_addrs.values()),
            channel.remote_address,
        ))

    async def get_broker_cluster_info(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # same
        """DefaultRequestProcessor#getBrokerClusterInfo: broker data by name, broker names by cluster; no lock."""
        brokers, clusters = self.route_info.get_all_cluster_info()
        broker_datas = {name: data.copy() for name, data in brokers.entries()}
        await self.node.interleave("getBrokerClusterInfo: encoding, between the two tables")
        broker_names = {cluster: list(names.key_set()) for cluster, names in clusters.entries()}
        return Command(ResponseCode.SUCCESS, body=(broker_datas, broker_names))

    def wipe_write_perm_of_broker(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#wipeWritePermOfBroker."""
        header: BrokerNameRequestHeader = request.header
        count = self.route_info.wipe_write_perm_of_broker_by_lock(header.broker_name)
        return Command(ResponseCode.SUCCESS, header=TopicCountResponseHeader(count))

    def add_write_perm_of_broker(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#addWritePermOfBroker."""
        header: BrokerNameRequestHeader = request.header
        count = self.route_info.add_write_perm_of_broker_by_lock(header.broker_name)
        return Command(ResponseCode.SUCCESS, header=TopicCountResponseHeader(count))

    def delete_topic_in_namesrv(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#deleteTopicInNamesrv."""
        header: TopicRequestHeader = request.header
        self.route_info.delete_topic(header.topic)
        return SUCCESS

    def get_topics_by_cluster(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#getTopicsByCluster; the header is the name of the cluster."""
        return Command(ResponseCode.SUCCESS, body=self.route_info.get_topics_by_cluster(request.header))

    def get_system_topic_list(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#getSystemTopicListFromNs: the topics, and one address of a broker."""
        return Command(ResponseCode.SUCCESS, body=self.route_info.get_system_topic_list())

    def _list_of(self, read: Callable[[], list[str]]) -> Handler:
        return lambda channel, request: Command(ResponseCode.SUCCESS, body=read())  # noqa: ARG005  # a Handler

    async def put_kv_config(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#putKVConfig."""
        header: KVConfigRequestHeader = request.header
        if header.namespace is None or header.key is None:
            return Command(ResponseCode.SYSTEM_ERROR, remark="namespace or key is null")
        await self.kv_config.put_kv_config(header.namespace, header.key, header.value)
        return SUCCESS

    async def delete_kv_config(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#deleteKVConfig."""
        header: KVConfigRequestHeader = request.header
        await self.kv_config.delete_kv_config(header.namespace, header.key)
        return SUCCESS

    def get_kv_config(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#getKVConfig."""
        header: KVConfigRequestHeader = request.header
        value = None if header.key is None else self.kv_config.get_kv_config(header.namespace, header.key)
        if value is None:
            remark = f"No config item, Namespace: {concatenated(header.namespace)} Key: {concatenated(header.key)}"
            return Command(ResponseCode.QUERY_NOT_FOUND, remark=remark)
        return Command(ResponseCode.SUCCESS, body=value)

    def get_kv_list_by_namespace(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """DefaultRequestProcessor#getKVListByNamespace."""
        header: KVConfigRequestHeader = request.header
        table = self.kv_config.get_kv_list_by_namespace(header.namespace)
        if table is None:
            remark = f"No config item, Namespace: {concatenated(header.namespace)}"
            return Command(ResponseCode.QUERY_NOT_FOUND, remark=remark)
        return Command(ResponseCode.SUCCESS, body=table)
