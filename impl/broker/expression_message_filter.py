"""ExpressionMessageFilter: which messages of a queue a pull is for; by tag, or by an expression over properties."""

from __future__ import annotations

from collections.abc import Mapping

from impl.broker.consumer_filter_manager import ConsumerFilterData, ConsumerFilterManager
from impl.common.byte_buffer import ByteBuffer
from impl.common.message_const import PROPERTY_RETRY_TOPIC
from impl.common.message_decoder import decode_properties
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.subscription import SubscriptionData, is_tag_type, matches_by_consume_queue
from impl.store.message_reads import CqExtUnit


class ExpressionMessageFilter:
    """`broker.filter.ExpressionMessageFilter`.

    subscription -- of the group, or of the request. filter_data -- its compiled expression; None: what is no tag
    expression matches. manager -- has the bloom filter.
    """

    def __init__(
        self, subscription: SubscriptionData, filter_data: ConsumerFilterData | None, manager: ConsumerFilterManager,
    ) -> None:
        """Match what is subscribed."""
        self.subscription, self._filter_data, self._manager = subscription, filter_data, manager

    def is_matched_by_consume_queue(self, tags_code: int | None, cq_ext_unit: CqExtUnit | None = None) -> bool:
        """ExpressionMessageFilter#isMatchedByConsumeQueue: a tag by its hash; an expression by the bits, if there are.

        What the bits cannot decide matches: the expression is evaluated when the record has been read.
        """
        data = self._filter_data
        if is_tag_type(self.subscription.expression_type) or self.subscription.class_filter_mode:
            return matches_by_consume_queue(self.subscription, tags_code)
        if data is None or data.compiled_expression is None or data.bloom_filter_data is None:
            return True
        if cq_ext_unit is None or not data.is_msg_in_live(cq_ext_unit.msg_store_time):
            return True
        bits, bloom_filter = cq_ext_unit.filter_bit_map, self._manager.bloom_filter
        if bits is None or not bloom_filter.is_valid(data.bloom_filter_data):
            return True
        if 8 * len(bits) != data.bloom_filter_data.bit_num:
            return True
        return bloom_filter.is_hit_at(data.bloom_filter_data.bit_pos, bits)

    def is_matched_by_commit_log(self, record: bytes | None, properties: Mapping[str, str] | None = None) -> bool:
        """ExpressionMessageFilter#isMatchedByCommitLog.

        properties -- of the message, if they have been read; else they are read from the record.
        """
        if self.subscription.class_filter_mode or is_tag_type(self.subscription.expression_type):
            return True
        return matches_expression(self._filter_data, _properties(record, properties))


class ExpressionForRetryMessageFilter(ExpressionMessageFilter):
    """`broker.filter.ExpressionForRetryMessageFilter`: what is tried again is filtered as in its first topic."""

    def is_matched_by_commit_log(self, record: bytes | None, properties: Mapping[str, str] | None = None) -> bool:
        """ExpressionForRetryMessageFilter#isMatchedByCommitLog.

        Raises NullPointerError for a message in a retry topic that names no topic of its own.
        """
        topic = not_null(self.subscription.topic)
        if self.subscription.class_filter_mode:
            return True
        if not topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
            return super().is_matched_by_commit_log(record, properties)
        read = _properties(record, properties)
        real_topic = not_null(not_null(read).get(PROPERTY_RETRY_TOPIC))
        group = topic.removeprefix(RETRY_GROUP_TOPIC_PREFIX)
        return matches_expression(self._manager.get(real_topic, group), read)


def _properties(record: bytes | None, properties: Mapping[str, str] | None) -> Mapping[str, str] | None:
    if properties is not None or record is None:
        return properties
    return decode_properties(ByteBuffer(record))


def matches_expression(data: ConsumerFilterData | None, properties: Mapping[str, str] | None) -> bool:
    """Whether the expression is true; one that is missing matches all, one that is no truth value nothing.

    The end of ExpressionMessageFilter#isMatchedByCommitLog.
    """
    if data is None or data.compiled_expression is None:
        return True
    try:
        return data.compiled_expression.evaluate(properties) is True
    except JavaError:
        return False  # logged
