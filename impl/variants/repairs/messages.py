"""Repairs of messages on their way through a broker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as changed

from impl.broker import pull_message_processor, send_message_processor
from impl.broker.send_message_back import SendMessageBack
from impl.broker.transaction import end_transaction_processor, transactional_message_bridge
from impl.broker.transaction.transactional_message_bridge import TransactionalMessageBridge
from impl.common.headers import EndTransactionRequestHeader, SendMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.common.pull_result import PullResult
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.names import DLQ_GROUP_TOPIC_PREFIX
from impl.decisions.pull_answer import BrokerSide, PullAnswer, PullCode, PullStatus, pull_code
from impl.hash_map import HashMap
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_reads import GetMessageResult
from impl.variants.variant import Variant, around, replace


@around(send_message_processor, "record_properties")
def _without_delay(original: Callable[..., HashMap[str, str]]) -> Callable[..., HashMap[str, str]]:
    def record_properties(header: SendMessageRequestHeader, topic: str) -> HashMap[str, str]:
        """A dead letter has no try to wait for."""
        properties = original(header, topic)
        if topic.startswith(DLQ_GROUP_TOPIC_PREFIX):
            properties.remove(PROPERTY_DELAY_TIME_LEVEL)
        return properties

    return record_properties


@around(pull_message_processor, "answer_to")
def _hold_what_is_ahead(original: Callable[..., PullAnswer]) -> Callable[..., PullAnswer]:
    def answer_to(found: GetMessageResult, requested_offset: int, side: BrokerSide) -> PullAnswer:
        """A slave that cannot correct an offset has found nothing, and holds the pull."""
        answer = original(found, requested_offset, side)
        moved = pull_code(found.status, requested_offset) == PullCode.PULL_OFFSET_MOVED
        return changed(answer, code=PullCode.PULL_NOT_FOUND) if moved and not answer.offset_moved_event else answer

    return answer_to


@replace(SendMessageBack, "retry_queue")
def _queue_of_the_topic(self: SendMessageBack, group: SubscriptionGroupConfig, retry_topic: TopicConfig) -> int:
    """One that the topic has."""
    queues = max(1, min(group.retry_queue_nums, retry_topic.read_queue_nums))
    return self.node.random(queues, "a queue of the retry topic")


@around(TransactionalMessageBridge, "get_message")
def _pass_what_cannot_be_read(original: Callable[..., PullResult | None]) -> Callable[..., PullResult | None]:
    def get_message(
        self: TransactionalMessageBridge, topic: str, queue_id: int, offset: int, nums: int,
    ) -> PullResult | None:
        """Where no record can be decoded there is no message: the check goes on behind them."""
        result = original(self, topic, queue_id, offset, nums)
        unreadable = result is not None and result.pull_status is PullStatus.FOUND and not result.msg_found_list
        return result._replace(pull_status=PullStatus.OFFSET_ILLEGAL) if result is not None and unreadable else result

    return get_message


@around(transactional_message_bridge, "renew_half_message_inner")
def _with_its_flag(original: Callable[..., MessageExtBrokerInner]) -> Callable[..., MessageExtBrokerInner]:
    def renew_half_message_inner(half: MessageExt) -> MessageExtBrokerInner:
        """A copy with all that it had."""
        inner = original(half)
        inner.flag = half.flag
        return inner

    return renew_half_message_inner


@around(end_transaction_processor, "check_prepare_message")
def _of_its_message(original: Callable[..., str | None]) -> Callable[..., str | None]:
    def check_prepare_message(half: MessageExt, header: EndTransactionRequestHeader) -> str | None:
        """An end says whose it is, too: after a crash another half message may lie in the place of the one it is of."""
        remark, key = original(half, header), half.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)
        is_another = key is not None and header.msg_id not in {None, key}
        return "The half message is another one" if remark is None and is_another else remark

    return check_prepare_message


REPAIRS = (
    Variant("dead_letters_do_not_wait", "repair", "A dead letter is in its queue as soon as the broker has it.",
            "SendMessageProcessor#handleRetryAndDLQ: no DELAY", ("M1",), (_without_delay,)),
    Variant("slave_holds_what_is_ahead", "repair", "A slave holds a pull that begins behind its end.",
            "PullMessageProcessor#processRequest: PULL_NOT_FOUND where it cannot correct", ("M3",),
            (_hold_what_is_ahead,)),
    Variant("retry_queue_is_the_topics", "repair", "A message that is sent back goes to a queue that its topic has.",
            "SendMessageProcessor#asyncConsumerSendMsgBack: the fewer of both numbers", ("M4",),
            (_queue_of_the_topic,)),
    Variant("unreadable_half_is_passed", "repair", "The check goes on behind a half message that cannot be read.",
            "the idea; apache/rocketmq #9523 keeps what a round has done before an exception", ("T4",),
            (_pass_what_cannot_be_read,)),
    Variant("end_is_of_its_message", "repair", "The end of a half message ends no other one that lies in its place.",
            "the idea: EndTransactionProcessor#checkPrepareMessage compares EndTransactionRequestHeader#msgId, too",
            ("T7",), (_of_its_message,)),
    Variant("renewed_half_keeps_its_flag", "repair", "A half message that is put back has the flag that it had.",
            "TransactionalMessageBridge#renewHalfMessageInner: setFlag", ("T5",), (_with_its_flag,)),
)
