"""DefaultTransactionalMessageCheckListener: asks a producer of a half message, or gives the message up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from impl.broker.transaction.transactional_message_bridge import TransactionalMessageBridge, copied
from impl.common.headers import CheckTransactionStateRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_PRODUCER_GROUP,
    PROPERTY_REAL_QUEUE_ID,
    PROPERTY_REAL_TOPIC,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
)
from impl.decisions.java_errors import JavaError, JavaException, not_null
from impl.decisions.java_text import parse_integer
from impl.decisions.names import RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC

TCMT_QUEUE_NUMS = 1  # AbstractTransactionalMessageCheckListener


CreateTopic = Callable[[str, int], Awaitable[None]]
SendCheck = Callable[[str | None, CheckTransactionStateRequestHeader, MessageExt], None]


class DefaultTransactionalMessageCheckListener:
    """`broker.transaction.queue.DefaultTransactionalMessageCheckListener`.

    send_check -- ProducerManager#getAvailableChannel and Broker2Client#checkProducerTransactionState: sends header and
    message to a producer of the group, if there is one. create_topic -- makes a topic of so many queues.
    """

    def __init__(
        self, bridge: TransactionalMessageBridge, send_check: SendCheck, create_topic: CreateTopic,
    ) -> None:
        """Have asked nobody."""
        self._bridge, self._send_check, self._create_topic = bridge, send_check, create_topic

    def resolve_half_msg(self, half: MessageExt) -> None:
        """AbstractTransactionalMessageCheckListener#sendCheckMessage; Java runs it in a pool of up to five threads."""
        key = half.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)
        header = CheckTransactionStateRequestHeader(half.queue_offset, half.commit_log_offset, key, key, half.msg_id)
        try:
            message = replace(
                half, topic=not_null(half.get_property(PROPERTY_REAL_TOPIC)), store_size=0,
                queue_id=parse_integer(not_null(half.get_property(PROPERTY_REAL_QUEUE_ID)), 32))
            self._send_check(half.get_property(PROPERTY_PRODUCER_GROUP), header, message)
        except JavaError:
            return

    async def resolve_discard_msg(self, half: MessageExt) -> None:
        """DefaultTransactionalMessageCheckListener#resolveDiscardMsg: put it where people can find it.

        Nobody looks whether it was taken; the check goes on behind it, but for an Error, which ends its round.
        """
        try:
            await self._create_topic(RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, TCMT_QUEUE_NUMS)
            self._bridge.put_without_wait(copied(half, RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, 0))
        except JavaException:
            return
