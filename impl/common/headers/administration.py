"""Headers of requests that set up or inspect a broker, and of their answers."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.headers.shape import java_header, only_shape


@java_header(
    "CreateTopicRequestHeader",
    "topic:String! defaultTopic:String! readQueueNums:Integer! writeQueueNums:Integer! perm:Integer! "
    "topicFilterType:String! topicSysFlag:Integer order:Boolean!(false)")
class CreateTopicRequestHeader(NamedTuple):
    """CreateTopicRequestHeader; `order` is ignored by 4.9.3.

    default_topic -- ignored as well; the admin tool of 4.9.3 names the topic that others are made after.
    """

    topic: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: int = 0
    default_topic: str | None = None
    order: bool | None = False


@java_header("GetBrokerConfigResponseHeader", "version:String!")
class GetBrokerConfigResponseHeader(NamedTuple):
    """GetBrokerConfigResponseHeader; version -- the DataVersion of the configuration, as JSON."""

    version: str | None


@java_header("GetAllTopicConfigResponseHeader")
class GetAllTopicConfigResponseHeader(NamedTuple):
    """GetAllTopicConfigResponseHeader: it has no fields."""


@java_header("ResumeCheckHalfMessageRequestHeader", "msgId:String?")
class ResumeCheckHalfMessageRequestHeader(NamedTuple):
    """ResumeCheckHalfMessageRequestHeader; msg_id -- the broker's id of a half message that was given up."""

    msg_id: str | None = None


only_shape(
    "CreateAccessConfigRequestHeader",
    "accessKey:String! secretKey:String whiteRemoteAddress:String admin:boolean defaultTopicPerm:String "
    "defaultGroupPerm:String topicPerms:String groupPerms:String")
only_shape("DeleteAccessConfigRequestHeader", "accessKey:String!")
only_shape(
    "GetBrokerAclConfigResponseHeader",
    "version:String! allAclFileVersion:String brokerName:String! brokerAddr:String! clusterName:String!")
only_shape("GetBrokerClusterAclConfigResponseHeader", "plainAccessConfigs:List!")
only_shape("GetConsumeStatsInBrokerHeader", "isOrder:boolean!")
only_shape("UpdateGlobalWhiteAddrsConfigRequestHeader", "globalWhiteAddrs:String!")
only_shape("ViewBrokerStatsDataRequestHeader", "statsName:String! statsKey:String!")
only_shape("filtersrv.RegisterFilterServerRequestHeader", "filterServerAddr:String!")
only_shape("filtersrv.RegisterFilterServerResponseHeader", "brokerName:String! brokerId:long!")
only_shape(
    "filtersrv.RegisterMessageFilterClassRequestHeader",
    "consumerGroup:String! topic:String! className:String! classCRC:Integer!")
