"""Headers of requests to name servers, and of their answers."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.headers.shape import java_header, only_shape


@java_header(
    "namesrv.RegisterBrokerRequestHeader",
    "brokerName:String! brokerAddr:String! clusterName:String! haServerAddr:String! brokerId:Long! compressed:boolean "
    "bodyCrc32:Integer(0)")
@java_header(
    "namesrv.UnRegisterBrokerRequestHeader",
    "brokerName:String! brokerAddr:String! clusterName:String! brokerId:Long!")
@java_header(
    "namesrv.QueryDataVersionRequestHeader",
    "brokerName:String! brokerAddr:String! clusterName:String! brokerId:Long!")
class RegisterBrokerRequestHeader(NamedTuple):
    """Also of UNREGISTER_BROKER and QUERY_DATA_VERSION, which have the first four fields.

    compressed, body_crc32 -- of the body as it is sent; what encodes the body sets them. 0: it is not checked.
    """

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: int
    ha_server_addr: str | None = None
    compressed: bool = False
    body_crc32: int | None = 0


@java_header("namesrv.RegisterBrokerResponseHeader", "haServerAddr:String? masterAddr:String?")
class RegisterBrokerResponseHeader(NamedTuple):
    """What a slave learns; a master gets None twice."""

    ha_server_addr: str | None
    master_addr: str | None


@java_header("namesrv.QueryDataVersionResponseHeader", "changed:Boolean!")
class QueryDataVersionResponseHeader(NamedTuple):
    """Whether the name server has another version; the body is the one that it has, if any."""

    changed: bool


@java_header("namesrv.GetRouteInfoRequestHeader", "topic:String!")
@java_header("namesrv.DeleteTopicFromNamesrvRequestHeader", "topic:String!")
@java_header("DeleteTopicRequestHeader", "topic:String!")
@java_header("QueryTopicConsumeByWhoRequestHeader", "topic:String!")
@java_header("GetTopicStatsInfoRequestHeader", "topic:String!")
class TopicRequestHeader(NamedTuple):
    """GetRouteInfo-, DeleteTopicFromNamesrv-, DeleteTopic-, QueryTopicConsumeByWho-, GetTopicStatsInfoRequestHeader."""

    topic: str


@java_header("namesrv.WipeWritePermOfBrokerRequestHeader", "brokerName:String!")
@java_header("namesrv.AddWritePermOfBrokerRequestHeader", "brokerName:String!")
class BrokerNameRequestHeader(NamedTuple):
    """WipeWritePermOfBrokerRequestHeader, AddWritePermOfBrokerRequestHeader."""

    broker_name: str


@java_header("namesrv.WipeWritePermOfBrokerResponseHeader", "wipeTopicCount:Integer!=topic_count")
@java_header("namesrv.AddWritePermOfBrokerResponseHeader", "addTopicCount:Integer!=topic_count")
class TopicCountResponseHeader(NamedTuple):
    """WipeWritePermOfBrokerResponseHeader, AddWritePermOfBrokerResponseHeader."""

    topic_count: int


@java_header("namesrv.PutKVConfigRequestHeader", "namespace:String! key:String! value:String!")
@java_header("namesrv.GetKVConfigRequestHeader", "namespace:String! key:String!")
@java_header("namesrv.DeleteKVConfigRequestHeader", "namespace:String! key:String!")
@java_header("namesrv.GetKVListByNamespaceRequestHeader", "namespace:String!")
class KVConfigRequestHeader(NamedTuple):
    """PutKVConfigRequestHeader and its kin: key or value None where the request has none."""

    namespace: str
    key: str | None = None
    value: str | None = None


@java_header("namesrv.GetKVConfigResponseHeader", "value:String?")
class GetKVConfigResponseHeader(NamedTuple):
    """GetKVConfigResponseHeader."""

    value: str | None


@java_header("GetTopicsByClusterRequestHeader", "cluster:String!")
class GetTopicsByClusterRequestHeader(NamedTuple):
    """GetTopicsByClusterRequestHeader."""

    cluster: str


only_shape("namesrv.RegisterOrderTopicRequestHeader", "topic:String! orderTopicString:String!")
