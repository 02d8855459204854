"""What requests and responses carry beside their code: `common.protocol.header` and `common.protocol.body`.

Times are milliseconds since 1970. What encoding adds (checksum, compression, JSON) is not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from impl.common.data_version import DataVersion
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfigSerializeWrapper
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import AUTO_CREATE_TOPIC_KEY_TOPIC
from impl.decisions.subscription import TAG, SubscriptionData

DEFAULT_TRACE_REGION_ID = "DefaultRegion"  # MixAll


class RegisterBrokerRequestHeader(NamedTuple):
    """Also of UNREGISTER_BROKER and QUERY_DATA_VERSION, which leave ha_server_addr out."""

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: int
    ha_server_addr: str | None = None


@dataclass(slots=True)
class RegisterBrokerBody:
    """`RegisterBrokerBody`: topics with their version, and the broker's filter servers."""

    topic_config_serialize_wrapper: TopicConfigSerializeWrapper | None
    filter_server_list: list[str] | None


class RegisterBrokerResponseHeader(NamedTuple):
    """What a slave learns; a master gets None twice."""

    ha_server_addr: str | None
    master_addr: str | None


class QueryDataVersionResponseHeader(NamedTuple):
    """Whether the name server has another version; the body is the one that it has, if any."""

    changed: bool


class TopicRequestHeader(NamedTuple):
    """GetRouteInfo-, DeleteTopic-, DeleteTopicFromNamesrv-, QueryTopicConsumeByWhoRequestHeader."""

    topic: str


class DeleteSubscriptionGroupRequestHeader(NamedTuple):
    """`DeleteSubscriptionGroupRequestHeader`. remove_offset -- what the group has committed goes as well."""

    group_name: str
    remove_offset: bool = False


class BrokerNameRequestHeader(NamedTuple):
    """WipeWritePermOfBrokerRequestHeader, AddWritePermOfBrokerRequestHeader."""

    broker_name: str


class TopicCountResponseHeader(NamedTuple):
    """WipeWritePermOfBrokerResponseHeader, AddWritePermOfBrokerResponseHeader."""

    topic_count: int


class KVConfigRequestHeader(NamedTuple):
    """PutKVConfigRequestHeader and its kin: key or value None where the request has none."""

    namespace: str
    key: str | None = None
    value: str | None = None


class UnregisterClientRequestHeader(NamedTuple):
    """Who leaves: the connection counts, the client id does not."""

    client_id: str | None
    producer_group: str | None
    consumer_group: str | None


class ConsumerGroupRequestHeader(NamedTuple):
    """GetConsumerListByGroupRequestHeader, NotifyConsumerIdsChangedRequestHeader."""

    consumer_group: str


class ConsumerOffsetRequestHeader(NamedTuple):
    """QueryConsumerOffsetRequestHeader (commit_offset None), UpdateConsumerOffsetRequestHeader."""

    consumer_group: str
    topic: str
    queue_id: int
    commit_offset: int | None = None


class QueueOffsetRequestHeader(NamedTuple):
    """GetMaxOffsetRequestHeader, GetMinOffsetRequestHeader, SearchOffsetRequestHeader (the one with a timestamp)."""

    topic: str
    queue_id: int
    timestamp: int | None = None


class OffsetResponseHeader(NamedTuple):
    """Of all requests that ask for an offset."""

    offset: int


class SendMessageRequestHeader(NamedTuple):
    """SendMessageRequestHeader, and SendMessageRequestHeaderV2, which has shorter names on the wire.

    default_topic, default_topic_queue_nums -- what a topic is made after that the broker does not have. queue_id --
    less than 0: the broker draws one. properties -- as text. max_reconsume_times -- None: of the group. batch -- the
    body holds several messages, whatever the request code says.
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


class SendMessageResponseHeader(NamedTuple):
    """SendMessageResponseHeader, and the two fields that are in every answer to a send.

    msg_id -- the broker's, of store host and log offset; of a batch one for each message, with commas between. None
    where nothing was stored. msg_region, trace_on -- MSG_REGION and TRACE_ON, for the client's trace. transaction_id --
    brokers of 4.9.3 give none.
    """

    msg_id: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    msg_region: str = DEFAULT_TRACE_REGION_ID
    trace_on: bool = True
    transaction_id: str | None = None


class ConsumerSendMsgBackRequestHeader(NamedTuple):
    """ConsumerSendMsgBackRequestHeader.

    offset -- of the record in the broker's log. delay_level -- 0: the broker counts up, less than 0: no further try.
    origin_msg_id, origin_topic -- as the consumer received it. max_reconsume_times -- None: of the group.
    """

    offset: int
    group: str
    delay_level: int
    origin_msg_id: str | None = None
    origin_topic: str | None = None
    unit_mode: bool = False
    max_reconsume_times: int | None = None


class ReplyMessageRequestHeader(NamedTuple):
    """ReplyMessageRequestHeader: a reply on its way to who has asked; fields as in SendMessageRequestHeader.

    born_host, store_host -- as Java prints a socket address, "/ip:port". store_timestamp -- ms since 1970.
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


class QueryMessageRequestHeader(NamedTuple):
    """QueryMessageRequestHeader. begin_timestamp, end_timestamp -- of the store time, ms since 1970.

    unique_key -- the field _UNIQUE_KEY_QUERY: key is a UNIQ_KEY, and the broker sets max_num.
    """

    topic: str
    key: str
    max_num: int
    begin_timestamp: int
    end_timestamp: int
    unique_key: bool = False


class QueryMessageResponseHeader(NamedTuple):
    """QueryMessageResponseHeader: time (ms) and log offset of what the index has last."""

    index_last_update_timestamp: int
    index_last_update_phyoffset: int


class ViewMessageRequestHeader(NamedTuple):
    """ViewMessageRequestHeader. offset -- of the record in the log."""

    offset: int


class GetEarliestMsgStoretimeResponseHeader(NamedTuple):
    """GetEarliestMsgStoretimeResponseHeader. timestamp -- ms since 1970, -1: there is no message."""

    timestamp: int


class QueryConsumeQueueRequestHeader(NamedTuple):
    """QueryConsumeQueueRequestHeader: max_count units from first_index on; consumer_group -- whose filter is shown."""

    topic: str
    queue_id: int = 0
    first_index: int = 0
    max_count: int = 0
    consumer_group: str | None = None


class ConsumeQueueData(NamedTuple):
    """ConsumeQueueData: one unit of a consume queue."""

    physic_offset: int
    physic_size: int
    tags_code: int


class QueryConsumeQueueResponseBody(NamedTuple):
    """QueryConsumeQueueResponseBody. filter_data -- text; queue_data -- None where no unit is at the index."""

    subscription_data: SubscriptionData | None
    filter_data: str | None
    queue_data: tuple[ConsumeQueueData, ...] | None
    max_queue_index: int
    min_queue_index: int


class EndTransactionRequestHeader(NamedTuple):
    """EndTransactionRequestHeader: what a producer decided.

    tran_state_table_offset -- the half message's place in its queue; commit_log_offset -- in the log.
    commit_or_rollback -- MessageSysFlag: 8 commit, 12 rollback, 0 not known. msg_id -- the unique key.
    """

    producer_group: str
    tran_state_table_offset: int
    commit_log_offset: int
    commit_or_rollback: int
    from_transaction_check: bool = False
    msg_id: str | None = None
    transaction_id: str | None = None


class CheckTransactionStateRequestHeader(NamedTuple):
    """CheckTransactionStateRequestHeader: the broker asks a producer; the body is the half message as a record."""

    tran_state_table_offset: int
    commit_log_offset: int
    msg_id: str | None = None
    transaction_id: str | None = None
    offset_msg_id: str | None = None


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


class PullMessageResponseHeader(NamedTuple):
    """PullMessageResponseHeader. The body of a SUCCESS is the records, one behind the other."""

    suggest_which_broker_id: int
    next_begin_offset: int
    min_offset: int
    max_offset: int


class LockBatchRequestBody(NamedTuple):
    """LockBatchRequestBody, UnlockBatchRequestBody; the broker believes all three."""

    consumer_group: str
    client_id: str
    mq_set: tuple[MessageQueue, ...]


class CheckClientRequestBody(NamedTuple):
    """CheckClientRequestBody."""

    client_id: str
    group: str
    subscription_data: SubscriptionData


class CreateTopicRequestHeader(NamedTuple):
    """CreateTopicRequestHeader; `order` is ignored by 4.9.3."""

    topic: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: int = 0


class ResetOffsetRequestHeader(NamedTuple):
    """ResetOffsetRequestHeader: of the operator, and of the broker to its clients, where is_force is always False.

    timestamp -- go back to the first message that was stored then or later; -1: to the end of the queue. is_force --
    go there even if it is further on than what the group has committed.
    """

    topic: str
    group: str
    timestamp: int
    is_force: bool = False


class MessageQueueForC(NamedTuple):
    """MessageQueueForC: a queue and its offset."""

    topic: str
    broker_name: str
    queue_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class ResetOffsetBody:
    """ResetOffsetBody: queue to offset."""

    offset_table: Mapping[MessageQueue, int]


class ResetOffsetBodyForC(NamedTuple):
    """ResetOffsetBodyForC: a list, where ResetOffsetBody has an object, under the same name."""

    offset_table: tuple[MessageQueueForC, ...]


class GetConsumerStatusRequestHeader(NamedTuple):
    """GetConsumerStatusRequestHeader; client_addr -- the id of the client to be asked; blank: all of the group."""

    topic: str
    group: str
    client_addr: str | None = None


@dataclass(frozen=True, slots=True)
class GetConsumerStatusBody:
    """GetConsumerStatusBody: a client fills in the first table, queue to offset in memory; the broker the second."""

    message_queue_table: Mapping[MessageQueue, int]
    consumer_table: Mapping[str | None, Mapping[MessageQueue, int]]


class QueryCorrectionOffsetHeader(NamedTuple):
    """QueryCorrectionOffsetHeader; filter_groups -- separated by commas."""

    topic: str
    compare_group: str
    filter_groups: str | None = None


@dataclass(slots=True)
class SubscriptionGroupWrapper:
    """SubscriptionGroupWrapper: what a slave copies."""

    subscription_group_table: Mapping[str, SubscriptionGroupConfig]
    data_version: DataVersion
