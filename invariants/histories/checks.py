"""The checks of a history: each is declared once, with what it promises, whose promise it is, and what it needs.

What is yielded is a Finding, which names the operations that show it, or an Unjudged, which says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from invariants.histories.operations import (
    ACKNOWLEDGED,
    ASSIGNED,
    COMMITTED,
    CONSUMED,
    DELIVERED,
    GIVEN_UP,
    Operation,
)

ORDER, CLOCKS = "order alone", "clocks"
"""What a check goes by."""


@dataclass(frozen=True, slots=True)
class Check:
    """A promise that a history is judged by.

    name -- of what breaks it. property -- the promise, a positive claim. sentence -- what is promised. source -- which
    of RocketMQ's code promises it. needs -- what a history must have of it. about -- kinds of operations, and fields:
    where a history has none of them, there is nothing to judge. by -- ORDER or CLOCKS.
    """

    name: str
    property: str
    sentence: str
    source: str
    needs: str
    about: tuple[str, ...]
    by: str = ORDER


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken promise: the check, the operations that show it (the last one is where it shows), and a sentence."""

    check: str
    operations: tuple[Operation, ...]
    sentence: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Something that a check could not judge: the operation, and what is missing."""

    check: str
    operation: Operation
    missing: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """An operation that contradicts the format: it has no beginning, or its number or id is another's."""

    operation: Operation
    sentence: str


Told = Finding | Unjudged | Problem

_ALL = (
    Check("lost", "acknowledged_is_delivered",
          "A message that was acknowledged is delivered to each group that has committed past it and subscribes it.",
          "DefaultMQProducerImpl#sendKernelImpl, ConsumeMessageConcurrentlyService#processConsumeResult",
          "acknowledged with queue and offset, assigned with the offset where the group began, committed",
          (ACKNOWLEDGED,)),
    Check("phantom", "delivered_was_sent",
          "A message that is delivered was sent, its send has not failed, and its transaction was not rolled back.",
          "EndTransactionProcessor#processRequest", "send", (DELIVERED,)),
    Check("duplicated", "settled_is_over",
          "A member that has consumed a message, or given it up, is not delivered it again from that place while it "
          "keeps the queue.",
          "ProcessQueue#removeMessage", "delivered, consumed, given_up, revoked, restarted", (CONSUMED, GIVEN_UP)),
    Check("reordered", "order_is_kept",
          "An orderly member is delivered nothing before what it has consumed, and messages of one key that are "
          "sent one after the other stand in one queue in that order.",
          "ConsumeMessageOrderlyService#processConsumeResult, SelectMessageQueueByHash",
          "assigned with orderly; send and acknowledged, or half_committed, with key", ("orderly", "key")),
    Check("transaction_reordered", "transactions_keep_their_order",
          "A half message that was rolled back is not committed after that, nor one that was committed rolled back, "
          "and it is delivered after it was committed.",
          "TransactionMQProducer#sendMessageInTransaction, EndTransactionProcessor#processRequest",
          "send with half, half_committed and half_rolled_back; of what is delivered time_ms, by one clock or clocks "
          "that agree", ("half",), CLOCKS),
    Check("skipped", "commits_pass_nothing_unfinished",
          "A group commits past a message that it was delivered when somebody has consumed it, sent it back or "
          "given it up.",
          "ProcessQueue#removeMessage", "delivered, consumed, sent_back, given_up, committed", (COMMITTED,)),
    Check("regressed", "committed_offset_never_goes_back",
          "What a member commits of a queue does not go back while it keeps the queue.",
          "RemoteBrokerOffsetStore#updateOffset", "committed, assigned", (COMMITTED,)),
    Check("unresolved", "half_messages_are_resolved",
          "A half message that was acknowledged is committed or rolled back.",
          "TransactionalMessageServiceImpl#check", "send with half, half_committed, half_rolled_back", ("half",)),
    Check("early", "delays_are_waited",
          "A message that is delayed, or sent back with a delay, is delivered after it.",
          "ScheduleMessageService", "delay_ms and time_ms, by one clock or clocks that agree", ("delay_ms",), CLOCKS),
    Check("misfiltered", "only_subscribed_is_delivered",
          "A member is delivered messages only of the tags that it subscribes.",
          "PullAPIWrapper#processPullResult", "assigned with tags, send", ("tags",)),
    Check("two_owners", "one_owner_at_once",
          "A queue belongs to one member of a group at a time.", "RebalanceImpl#updateProcessQueueTableInRebalance",
          "assigned and revoked with time_ms, by one clock or clocks that agree; who owns it at the end needs none",
          (ASSIGNED,), CLOCKS),
    Check("dead_letter", "given_up_after_its_attempts",
          "A message is given up when it was sent back as often as the group allows, and not delivered after that.",
          "AbstractSendMessageProcessor#handleRetryAndDLQ", "assigned, delivered and given_up with attempt",
          (GIVEN_UP, "attempt")),
)
CHECKS: Mapping[str, Check] = {one.name: one for one in _ALL}
"""The checks by name."""
PROMISES: Mapping[str, Check] = {one.property: one for one in _ALL}
"""The checks by the property that they judge."""
