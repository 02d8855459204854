"""Headers of requests that send, pull and look for messages, and of their answers.

Times are milliseconds since 1970.
"""

from __future__ import annotations

from typing import NamedTuple

from impl.common.headers.shape import java_header
from impl.decisions.names import AUTO_CREATE_TOPIC_KEY_TOPIC
from impl.decisions.subscription import TAG

DEFAULT_TRACE_REGION_ID = "DefaultRegion"  # MixAll


@java_header(
    "SendMessageRequestHeader",
    "producerGroup:String! topic:String! defaultTopic:String! defaultTopicQueueNums:Integer! queueId:Integer! "
    "sysFlag:Integer! bornTimestamp:Long! flag:Integer! properties:String? reconsumeTimes:Integer? unitMode:boolean? "
    "batch:boolean? maxReconsumeTimes:Integer")
@java_header(
    "SendMessageRequestHeaderV2",
    "a:String!=producer_group b:String!=topic c:String!=default_topic d:Integer!=default_topic_queue_nums "
    "e:Integer!=queue_id f:Integer!=sys_flag g:Long!=born_timestamp h:Integer!=flag i:String?=properties "
    "j:Integer?=reconsume_times k:boolean?=unit_mode l:Integer=max_reconsume_times m:boolean?=batch")
class SendMessageRequestHeader(NamedTuple):
    """SendMessageRequestHeader, and SendMessageRequestHeaderV2, which has names of one letter on the wire.

    default_topic, default_topic_queue_nums -- what a topic is made after that the broker does not have. queue_id --
    less than 0: the broker draws one. properties -- as text. max_reconsume_times -- None: of the group. unit_mode --
    a topic made for this message gets that flag. batch -- the body holds several messages.
    """

    producer_group: str
    topic: str
    queue_id: int
    born_timestamp: int
    properties: str | None = None
    sys_flag: int = 0
    flag: int = 0
    default_topic: str = AUTO_CREATE_TOPIC_KEY_TOPIC
    default_topic_queue_nums: int = 4
    reconsume_times: int | None = 0
    max_reconsume_times: int | None = None
    unit_mode: bool = False
    batch: bool = False


@java_header(
    "SendMessageResponseHeader", "msgId:String! queueId:Integer! queueOffset:Long! transactionId:String",
    beside="MSG_REGION:String=msg_region TRACE_ON:String=trace_on")
class SendMessageResponseHeader(NamedTuple):
    """SendMessageResponseHeader, and the two fields that are in every answer to a send.

    msg_id -- the broker's, of store host and log offset; of a batch one for each message, with commas between. None
    where nothing was stored. msg_region, trace_on -- MSG_REGION and TRACE_ON, for the client's trace. transaction_id --
    the producer's unique key of the message.
    """

    msg_id: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    msg_region: str = DEFAULT_TRACE_REGION_ID
    trace_on: bool = True
    transaction_id: str | None = None


@java_header(
    "ConsumerSendMsgBackRequestHeader",
    "offset:Long! group:String! delayLevel:Integer! originMsgId:String originTopic:String unitMode:boolean? "
    "maxReconsumeTimes:Integer")
class ConsumerSendMsgBackRequestHeader(NamedTuple):
    """ConsumerSendMsgBackRequestHeader: a message that the group is to get again later.

    offset -- in the log of the broker. delay_level -- 0: the broker derives it from how often it was tried; below 0:
    into the dead-letter queue at once. max_reconsume_times -- None: of the group.
    """

    offset: int
    group: str
    delay_level: int
    origin_msg_id: str | None = None
    origin_topic: str | None = None
    unit_mode: bool = False
    max_reconsume_times: int | None = None


@java_header(
    "ReplyMessageRequestHeader",
    "producerGroup:String! topic:String! defaultTopic:String! defaultTopicQueueNums:Integer! queueId:Integer! "
    "sysFlag:Integer! bornTimestamp:Long! flag:Integer! properties:String? reconsumeTimes:Integer? unitMode:boolean? "
    "bornHost:String! storeHost:String! storeTimestamp:long!")
class ReplyMessageRequestHeader(NamedTuple):
    """ReplyMessageRequestHeader: a reply on its way to who has asked; fields as in SendMessageRequestHeader.

    born_host, store_host -- as Java prints a socket address, "/ip:port".
    """

    producer_group: str
    topic: str
    queue_id: int
    born_timestamp: int
    properties: str | None
    sys_flag: int
    flag: int
    default_topic: str
    default_topic_queue_nums: int
    reconsume_times: int | None
    unit_mode: bool
    born_host: str
    store_host: str
    store_timestamp: int


@java_header(
    "PullMessageRequestHeader",
    "consumerGroup:String! topic:String! queueId:Integer! queueOffset:Long! maxMsgNums:Integer! sysFlag:Integer! "
    "commitOffset:Long! suspendTimeoutMillis:Long!=suspend_timeout_ms subscription:String? subVersion:Long! "
    "expressionType:String")
class PullMessageRequestHeader(NamedTuple):
    """PullMessageRequestHeader. sys_flag -- bits of PullSysFlag; suspend_timeout_ms -- how long to hold the pull."""

    consumer_group: str
    topic: str
    queue_id: int
    queue_offset: int
    max_msg_nums: int
    sys_flag: int
    commit_offset: int
    suspend_timeout_ms: int
    sub_version: int
    subscription: str | None = None
    expression_type: str | None = TAG


@java_header(
    "PullMessageResponseHeader", "suggestWhichBrokerId:Long! nextBeginOffset:Long! minOffset:Long! maxOffset:Long!")
class PullMessageResponseHeader(NamedTuple):
    """PullMessageResponseHeader. The body of a SUCCESS is the records, one behind the other."""

    suggest_which_broker_id: int
    next_begin_offset: int
    min_offset: int
    max_offset: int


@java_header(
    "QueryMessageRequestHeader", "topic:String! key:String! maxNum:Integer! beginTimestamp:Long! endTimestamp:Long!",
    beside="_UNIQUE_KEY_QUERY:String=unique_key")
class QueryMessageRequestHeader(NamedTuple):
    """QueryMessageRequestHeader: messages of a topic with a key, stored between two times, both included.

    unique_key -- the field _UNIQUE_KEY_QUERY (MixAll.UNIQUE_MSG_QUERY_FLAG): key is a UNIQ_KEY, and the broker sets
    max_num.
    """

    topic: str
    key: str
    max_num: int
    begin_timestamp: int
    end_timestamp: int
    unique_key: bool = False


@java_header("QueryMessageResponseHeader", "indexLastUpdateTimestamp:Long! indexLastUpdatePhyoffset:Long!")
class QueryMessageResponseHeader(NamedTuple):
    """QueryMessageResponseHeader: how far the index has come. The body is the records, one behind the other."""

    index_last_update_timestamp: int
    index_last_update_phyoffset: int


@java_header("ViewMessageRequestHeader", "offset:Long!")
class ViewMessageRequestHeader(NamedTuple):
    """ViewMessageRequestHeader: offset in the log. The body of the answer is the record."""

    offset: int


@java_header("ViewMessageResponseHeader")
class ViewMessageResponseHeader(NamedTuple):
    """ViewMessageResponseHeader: it has no fields."""


@java_header(
    "QueryConsumeQueueRequestHeader",
    "topic:String queueId:int index:long=first_index count:int=max_count consumerGroup:String")
class QueryConsumeQueueRequestHeader(NamedTuple):
    """QueryConsumeQueueRequestHeader: units of a queue from first_index on, max_count at most.

    consumer_group -- whose filter judges them; None: nobody's.
    """

    topic: str
    queue_id: int = 0
    first_index: int = 0
    max_count: int = 0
    consumer_group: str | None = None
