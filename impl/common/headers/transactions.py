"""Headers of the second half of a transactional send."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.headers.shape import java_header


@java_header(
    "EndTransactionRequestHeader",
    "producerGroup:String! tranStateTableOffset:Long! commitLogOffset:Long! commitOrRollback:Integer! "
    "fromTransactionCheck:Boolean?(false) msgId:String! transactionId:String")
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


@java_header("EndTransactionResponseHeader")
class EndTransactionResponseHeader(NamedTuple):
    """EndTransactionResponseHeader: it has no fields."""


@java_header(
    "CheckTransactionStateRequestHeader",
    "tranStateTableOffset:Long! commitLogOffset:Long! msgId:String transactionId:String offsetMsgId:String")
class CheckTransactionStateRequestHeader(NamedTuple):
    """CheckTransactionStateRequestHeader: the broker asks a producer; the body is the half message as a record."""

    tran_state_table_offset: int
    commit_log_offset: int
    msg_id: str | None = None
    transaction_id: str | None = None
    offset_msg_id: str | None = None


@java_header(
    "CheckTransactionStateResponseHeader",
    "producerGroup:String! tranStateTableOffset:Long! commitLogOffset:Long! commitOrRollback:Integer!")
class CheckTransactionStateResponseHeader(NamedTuple):
    """CheckTransactionStateResponseHeader: declared in Java, sent by nobody."""

    producer_group: str
    tran_state_table_offset: int
    commit_log_offset: int
    commit_or_rollback: int
