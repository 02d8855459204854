"""Names of topics and groups: which are legal, which are the system's, which are derived."""

from __future__ import annotations

from impl.decisions.java_errors import MQClientError, NullPointerError, not_null
from impl.decisions.java_text import concatenated, is_blank, utf16_length

# common.topic.TopicValidator
AUTO_CREATE_TOPIC_KEY_TOPIC = "TBW102"
RMQ_SYS_SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
RMQ_SYS_BENCHMARK_TOPIC = "BenchmarkTest"
RMQ_SYS_TRANS_HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
RMQ_SYS_TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC"
RMQ_SYS_TRANS_OP_HALF_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"
RMQ_SYS_SELF_TEST_TOPIC = "SELF_TEST_TOPIC"
RMQ_SYS_OFFSET_MOVED_EVENT = "OFFSET_MOVED_EVENT"
SYSTEM_TOPIC_PREFIX = "rmq_sys_"
SYSTEM_TOPICS = frozenset({
    AUTO_CREATE_TOPIC_KEY_TOPIC, RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_BENCHMARK_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC,
    RMQ_SYS_TRACE_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC, RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, RMQ_SYS_SELF_TEST_TOPIC,
    RMQ_SYS_OFFSET_MOVED_EVENT,
})
TOPIC_MAX_LENGTH = 127
_LEGAL = frozenset("%|-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_LEGAL_TEXT = "^[%|a-zA-Z0-9_-]+$"
_SYSTEM_ERROR, _SUCCESS = 1, 0  # RemotingSysResponseCode

# client.Validators
CHARACTER_MAX_LENGTH = 255

# common.MixAll
RETRY_GROUP_TOPIC_PREFIX = "%RETRY%"
DLQ_GROUP_TOPIC_PREFIX = "%DLQ%"
CLIENT_INNER_PRODUCER_GROUP = "CLIENT_INNER_PRODUCER"
LMQ_PREFIX = "%LMQ%"
CID_RMQ_SYS_PREFIX = "CID_RMQ_SYS_"
REPLY_TOPIC_POSTFIX = "REPLY_TOPIC"
MASTER_ID = 0


def is_topic_or_group_illegal(name: str | None) -> bool:
    """TopicValidator#isTopicOrGroupIllegal; the empty name is legal here. Raises NullPointerError for null."""
    return not _LEGAL.issuperset(not_null(name))


def validate_topic(topic: str | None) -> tuple[bool, int, str | None]:
    """TopicValidator#validateTopic: whether the broker accepts the name, response code and remark."""
    if topic is None or is_blank(topic):
        return False, _SYSTEM_ERROR, "The specified topic is blank."
    if is_topic_or_group_illegal(topic):
        remark = f"The specified topic contains illegal characters, allowing only {_LEGAL_TEXT}"
        return False, _SYSTEM_ERROR, remark
    if utf16_length(topic) > TOPIC_MAX_LENGTH:
        return False, _SYSTEM_ERROR, "The specified topic is longer than topic max length."
    return True, _SUCCESS, None


def is_system_topic(topic: str | None) -> bool:
    """TopicValidator#isSystemTopic; raises NullPointerError for null."""
    return topic in SYSTEM_TOPICS or not_null(topic).startswith(SYSTEM_TOPIC_PREFIX)


def is_not_allowed_send_topic(topic: str | None) -> bool:
    """TopicValidator#isNotAllowedSendTopic: clients may not send to the schedule topic."""
    return topic == RMQ_SYS_SCHEDULE_TOPIC


def check_topic(topic: str | None) -> None:
    """Validators#checkTopic; raises MQClientError. The client tests the length before the characters."""
    if topic is None or is_blank(topic):
        raise MQClientError("The specified topic is blank")
    if utf16_length(topic) > TOPIC_MAX_LENGTH:
        raise MQClientError(f"The specified topic is longer than topic max length {TOPIC_MAX_LENGTH}.")
    if is_topic_or_group_illegal(topic):
        raise MQClientError(f"The specified topic[{topic}] contains illegal characters, allowing only {_LEGAL_TEXT}")


def check_group(group: str | None) -> None:
    """Validators#checkGroup; raises MQClientError."""
    if group is None or is_blank(group):
        raise MQClientError("the specified group is blank")
    if utf16_length(group) > CHARACTER_MAX_LENGTH:
        raise MQClientError(f"the specified group is longer than group max length {CHARACTER_MAX_LENGTH}.")
    if is_topic_or_group_illegal(group):
        raise MQClientError(f"the specified group[{group}] contains illegal characters, allowing only {_LEGAL_TEXT}")


def check_allowed_send_topic(topic: str | None) -> None:
    """Validators#isNotAllowedSendTopic; raises MQClientError."""
    if is_not_allowed_send_topic(topic):
        raise MQClientError(f"Sending message to topic[{topic}] is forbidden.")


def get_retry_topic(consumer_group: str | None) -> str:
    """MixAll#getRetryTopic."""
    return RETRY_GROUP_TOPIC_PREFIX + concatenated(consumer_group)


def get_dlq_topic(consumer_group: str | None) -> str:
    """MixAll#getDLQTopic."""
    return DLQ_GROUP_TOPIC_PREFIX + concatenated(consumer_group)


def get_reply_topic(cluster_name: str | None) -> str:
    """MixAll#getReplyTopic."""
    return f"{concatenated(cluster_name)}_{REPLY_TOPIC_POSTFIX}"


def is_sys_consumer_group(consumer_group: str | None) -> bool:
    """MixAll#isSysConsumerGroup; raises NullPointerError for null."""
    if consumer_group is None:
        raise NullPointerError
    return consumer_group.startswith(CID_RMQ_SYS_PREFIX)


def is_lmq(name: str | None) -> bool:
    """MixAll#isLmq."""
    return name is not None and name.startswith(LMQ_PREFIX)
