"""What a producer answers: SendResult and its kin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue


class CommunicationMode(Enum):
    """`client.impl.CommunicationMode`."""

    SYNC = "SYNC"
    ASYNC = "ASYNC"
    ONEWAY = "ONEWAY"


class SendStatus(Enum):
    """`client.producer.SendStatus`: all four say that the master has the message, in memory at least."""

    SEND_OK = "SEND_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"


class LocalTransactionState(Enum):
    """`client.producer.LocalTransactionState`."""

    COMMIT_MESSAGE = "COMMIT_MESSAGE"
    ROLLBACK_MESSAGE = "ROLLBACK_MESSAGE"
    UNKNOW = "UNKNOW"


@dataclass(frozen=True, slots=True)
class SendResult:
    """`client.producer.SendResult`.

    msg_id -- unique id; of a batch: all, joined by commas. offset_msg_id -- the broker's, likewise. message_queue --
    the broker by the name that was used, the queue id from the answer. queue_offset -- of the first.
    """

    send_status: SendStatus
    msg_id: str | None
    offset_msg_id: str | None
    message_queue: MessageQueue
    queue_offset: int
    transaction_id: str | None = None


@dataclass(frozen=True, slots=True)
class TransactionSendResult(SendResult):
    """`client.producer.TransactionSendResult`: its producer has tried to tell the broker local_transaction_state."""

    local_transaction_state: LocalTransactionState = LocalTransactionState.UNKNOW


class SendCallback(Protocol):
    """`client.producer.SendCallback`: one of the two is called once, in a pool of the instance or of the producer."""

    def on_success(self, result: SendResult) -> None:
        """The broker has the message."""
        ...

    def on_exception(self, error: JavaError) -> None:
        """Nobody knows, or it has not."""
        ...
