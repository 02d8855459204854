"""A broker whose producers send transactional messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impl.broker.broker_config import BrokerConfig
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.broker.transaction.default_check_listener import DefaultTransactionalMessageCheckListener
from impl.broker.transaction.end_transaction_processor import Answer, EndTransactionProcessor
from impl.broker.transaction.transactional_message_bridge import CID_SYS_RMQ_TRANS, Tables, TransactionalMessageBridge
from impl.broker.transaction.transactional_message_service import (
    TransactionalMessageCheckService,
    TransactionalMessageServiceImpl,
)
from impl.common.headers import CheckTransactionStateRequestHeader, EndTransactionRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_PRODUCER_GROUP, PROPERTY_TRANSACTION_PREPARED
from impl.decisions.flags import MULTI_TAGS_FLAG, TRANSACTION_PREPARED_TYPE
from impl.decisions.names import RMQ_SYS_TRANS_HALF_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC
from impl.ports.threads import UNINTERRUPTED, run_now
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import AppendMessageResult
from stateful_tests.cover.store.brokers import BORN, NONE, SMALL, STORED, Broker

GROUP = "PG"


class TransactionBroker(Broker):
    """asked -- what producers were asked: group, header and message. created -- topics that were made.

    registered -- how often the name servers were told of one.
    """

    def __init__(self, **changes: Any) -> None:
        """Start; changes -- of the configuration of the store."""
        super().__init__(SMALL, **changes)
        self.asked: list[tuple[str | None, CheckTransactionStateRequestHeader, MessageExt]] = []
        self.created: list[tuple[str, int]] = []
        self.registered = 0
        self.offsets = ConsumerOffsetManager(self.store.get_min_offset_in_queue)
        self.serve()

    def serve(self) -> None:
        """Make what works on the store that is there now."""
        topics = TopicConfigManager(BrokerConfig("broker", ()), self.now_ms, lambda: None)
        tables = Tables("broker", self.offsets, topics, self._register)
        self.bridge = TransactionalMessageBridge(tables, self.store, STORED, self.now_ms)
        self.service = TransactionalMessageServiceImpl(self.bridge)
        self.processor = EndTransactionProcessor(self.store, self.service)
        self.listener = DefaultTransactionalMessageCheckListener(
            self.bridge, lambda *asked: self.asked.append(asked), self._create)
        self.check_service = TransactionalMessageCheckService(
            self.service, self.listener, BrokerConfig("broker", ()))

    async def _register(self) -> None:
        self.registered += 1

    async def _create(self, topic: str, queue_nums: int) -> None:
        self.created.append((topic, queue_nums))

    def prepare(
        self, body: bytes = b"body", topic: str = "T", queue_id: int = 2, born_ms: int | None = None,
        properties: Mapping[str, str] = NONE,
    ) -> AppendMessageResult:
        """A producer sends a half message, and it is dispatched."""
        message = MessageExtBrokerInner(
            topic, body, BORN, STORED, queue_id=queue_id, flag=5, sys_flag=TRANSACTION_PREPARED_TYPE | MULTI_TAGS_FLAG,
            born_timestamp=self.now if born_ms is None else born_ms)
        own = {PROPERTY_PRODUCER_GROUP: GROUP, PROPERTY_TRANSACTION_PREPARED: "true"}
        for name, value in {**own, **properties}.items():
            message.put_property(name, value)
        result = self.service.async_prepare_message(message).append_message_result
        assert result is not None
        self.dispatch()
        return result

    def end(self, half: AppendMessageResult, how: int, **wrong: Any) -> Answer | None:
        """A producer ends a half message; how -- a transaction type; wrong -- what is wrong in the request."""
        answers: list[Answer] = []
        header = EndTransactionRequestHeader(GROUP, half.logics_offset, half.wrote_offset, how)._replace(**wrong)
        self.processor.process_request(header, answers.append)
        self.dispatch()
        return answers[0] if answers else None

    def check(self, after_ms: int = 0) -> None:
        """One round of the check, so much later."""
        self.now += after_ms
        run_now(self.check_service.run_once(UNINTERRUPTED))
        self.dispatch()

    def progress(self) -> tuple[int, int]:
        """How far the check has come in the half queue and in the op queue; -1: nowhere yet."""
        half, op = (self.offsets.query_offset(CID_SYS_RMQ_TRANS, topic, 0)
                    for topic in (RMQ_SYS_TRANS_HALF_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC))
        return half, op

    def halves(self) -> list[bytes | None]:
        """The bodies in the half queue."""
        return self.bodies(RMQ_SYS_TRANS_HALF_TOPIC)

    def ops(self) -> list[bytes | None]:
        """The bodies in the op queue."""
        return self.bodies(RMQ_SYS_TRANS_OP_HALF_TOPIC)
