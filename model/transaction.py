"""One transactional message: its half message and the copies that checks make of it, and how they end.

`Transaction` is the half queue of TransactionalMessageServiceImpl as far as one message goes (P12, T2, T3, T4). Time is
not counted: a check comes at any time, and gives up some time after the first. At most the producer's own answer, one
question of a check, and one answer to such are on their way; what is made anew takes the place of what was lost. Of the
half message and its copies only the last one lies before the check; what ends another one is forgotten.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Ghost,
    State,
    action,
    assume,
    initially,
    promise,
    require,
)


class Outcome(Choice):
    """What has become of the local transaction."""

    OPEN: Outcome
    COMMITTED: Outcome
    ROLLED_BACK: Outcome


class Transaction(State):
    """A producer with its local transaction, and what the broker knows of it."""

    outcome: Outcome       # of the local transaction
    prepared: Bool         # the half message is stored
    waiting: Bool          # it, or its last copy, is not before the offset of CID_RMQ_SYS_TRANS in the half queue
    ended: Bool            # … and the op queue has a message for it
    told: Bool             # the producer's END_TRANSACTION is on its way
    told_passed: Bool      # … and the check has passed the half message for which it is
    asked: Bool            # CHECK_TRANSACTION_STATE is on its way, or with the producer
    asked_passed: Bool
    checked: Bool          # a check has asked before
    answered: Bool         # the END_TRANSACTION that answers a check is on its way
    answered_passed: Bool
    commits: Bool          # … and says commit
    delivered: Bool        # the real topic has the message
    halted: Bool           # each round of the check ends with an exception
    twice: Ghost[Bool]     # the real topic has it twice
    undone: Ghost[Bool]    # the broker has taken a rollback


@initially
def nothing(s: Transaction) -> Bool:
    """No half message is stored."""
    return ((s.outcome == Outcome.OPEN) & ~s.prepared & ~s.waiting & ~s.ended & ~s.told & ~s.told_passed & ~s.asked
            & ~s.asked_passed & ~s.checked & ~s.answered & ~s.answered_passed & ~s.commits & ~s.delivered & ~s.halted
            & ~s.twice & ~s.undone)


@action("TransactionalMessageBridge#putHalfMessage")
def prepare(s: Transaction) -> None:
    """The half message is stored."""
    require(~s.prepared, by="DefaultMQProducerImpl#sendMessageInTransaction")
    s.prepared = TRUE
    s.waiting = TRUE


@action("TransactionListener#executeLocalTransaction: COMMIT_MESSAGE")
def commit_locally(s: Transaction) -> None:
    """The local transaction is committed, and the producer says so."""
    require(s.prepared, s.outcome == Outcome.OPEN, by="DefaultMQProducerImpl#sendMessageInTransaction")
    s.outcome = Outcome.COMMITTED
    s.told = TRUE


@action("TransactionListener#executeLocalTransaction: ROLLBACK_MESSAGE")
def roll_back_locally(s: Transaction) -> None:
    """The local transaction is rolled back, and the producer says so."""
    require(s.prepared, s.outcome == Outcome.OPEN, by="DefaultMQProducerImpl#sendMessageInTransaction")
    s.outcome = Outcome.ROLLED_BACK
    s.told = TRUE


@action("the network", environment=True)
def lose_end(s: Transaction) -> None:
    """The producer's answer is lost: it is sent one way."""
    require(s.told, by="NettyRemotingAbstract#invokeOnewayImpl")
    s.told = FALSE


@action("the network", environment=True)
def lose_check(s: Transaction) -> None:
    """The question, or the answer to it, is lost; or nobody of the group is there."""
    require(s.asked | s.answered, by="NettyRemotingAbstract#invokeOnewayImpl")
    s.asked = FALSE
    s.answered = FALSE


# The broker takes an answer -------------------------------------------------------------------------------------------


def put_message(s: Transaction, passed: Bool) -> None:
    """EndTransactionProcessor#sendFinalMessage, #deletePrepareMessage."""
    s.ended = s.ended | ~passed
    s.twice = s.twice | s.delivered
    s.delivered = TRUE


def drop_message(s: Transaction, passed: Bool) -> None:
    """EndTransactionProcessor#processRequest: a rollback is taken."""
    s.ended = s.ended | ~passed
    s.undone = TRUE


def commit_own(s: Transaction) -> None:
    """EndTransactionProcessor#processRequest: the producer's own commit is taken."""
    require(s.told, s.outcome == Outcome.COMMITTED, by="EndTransactionProcessor#processRequest")
    s.told = FALSE
    put_message(s, s.told_passed)


def commit_answered(s: Transaction) -> None:
    """EndTransactionProcessor#processRequest: the commit that answers a check is taken."""
    require(s.answered, s.commits, by="EndTransactionProcessor#processRequest")
    s.answered = FALSE
    put_message(s, s.answered_passed)


@action("EndTransactionProcessor#processRequest: commit, of the producer")
def commit_first(s: Transaction) -> None:
    """The producer's own commit is taken, and the message is not delivered yet."""
    require(~s.delivered)
    commit_own(s)


@action("EndTransactionProcessor#processRequest: commit, of the producer")
def commit_late(s: Transaction) -> None:
    """The producer's own commit is taken, although the message is delivered (P12)."""
    require(s.delivered)
    commit_own(s)


@action("EndTransactionProcessor#processRequest: rollback, of the producer")
def roll_back(s: Transaction) -> None:
    """The producer's own rollback is taken."""
    require(s.told, s.outcome == Outcome.ROLLED_BACK, by="EndTransactionProcessor#processRequest")
    s.told = FALSE
    drop_message(s, s.told_passed)


@action("EndTransactionProcessor#processRequest: commit, from a check")
def commit_checked(s: Transaction) -> None:
    """The answer to a check is a commit, and the message is not delivered yet."""
    require(~s.delivered)
    commit_answered(s)


@action("EndTransactionProcessor#processRequest: commit, from a check")
def commit_checked_late(s: Transaction) -> None:
    """The answer to a check is a commit, and is taken although the message is delivered (P12)."""
    require(s.delivered)
    commit_answered(s)


@action("EndTransactionProcessor#processRequest: rollback, from a check")
def roll_back_checked(s: Transaction) -> None:
    """The answer to a check is a rollback."""
    require(s.answered, ~s.commits, by="EndTransactionProcessor#processRequest")
    s.answered = FALSE
    drop_message(s, s.answered_passed)


# The check ------------------------------------------------------------------------------------------------------------


@promise
def checks_meet_no_answer(s: Transaction) -> Bool:
    """A check asks when no answer of the producer is on its way, nor a former question."""
    return ~s.told & ~s.asked & ~s.answered


@promise
def checks_come_after_the_transaction(s: Transaction) -> Bool:
    """A check asks when the local transaction is over: within the time for which a half message is immune."""
    return s.outcome != Outcome.OPEN


def passed(s: Transaction) -> None:
    """The check goes on; what is on its way is about a half message that it has passed."""
    s.told_passed = TRUE
    s.answered_passed = TRUE


@action("TransactionalMessageServiceImpl#check: an op message was read")
def pass_ended(s: Transaction) -> None:
    """The check passes a half message that has ended."""
    require(~s.halted, s.waiting, s.ended, by="TransactionalMessageServiceImpl#check")
    s.waiting = FALSE
    s.asked_passed = TRUE
    passed(s)


@action("TransactionalMessageServiceImpl#putBackHalfMsgQueue, AbstractTransactionalMessageCheckListener#resolveHalfMsg")
def check(s: Transaction) -> None:
    """The check puts a copy of the half message behind the others, and asks a producer of the group about that one."""
    require(~s.halted, s.waiting, ~s.ended, by="TransactionalMessageServiceImpl#check")
    assume(checks_meet_no_answer, s)
    assume(checks_come_after_the_transaction, s)
    passed(s)
    s.asked = TRUE
    s.asked_passed = FALSE
    s.checked = TRUE


@action("DefaultTransactionalMessageCheckListener#resolveDiscardMsg")
def give_up(s: Transaction) -> None:
    """The check has asked often enough, and puts the message where no consumer looks (T3)."""
    require(~s.halted, s.waiting, ~s.ended, by="TransactionalMessageServiceImpl#check")
    require(s.checked, by="TransactionalMessageServiceImpl#needDiscard")
    s.waiting = FALSE
    s.asked_passed = TRUE
    passed(s)


@action("TransactionalMessageServiceImpl#check: an exception", environment=True)
def halt(s: Transaction) -> None:
    """A message of the queue makes each round end with an exception, and what the round has done is not noted (T4)."""
    require(~s.halted, by="TransactionalMessageServiceImpl#check")
    s.halted = TRUE


def answer(s: Transaction) -> None:
    """DefaultMQProducerImpl#checkTransactionState: an answer to the question goes out."""
    s.answered_passed = s.asked_passed
    s.asked = FALSE
    s.answered = TRUE


@action("TransactionListener#checkLocalTransaction: COMMIT_MESSAGE")
def answer_commit(s: Transaction) -> None:
    """The producer is asked, and says that the local transaction is committed."""
    require(s.asked, s.outcome == Outcome.COMMITTED, by="DefaultMQProducerImpl#checkTransactionState")
    answer(s)
    s.commits = TRUE


@action("TransactionListener#checkLocalTransaction: ROLLBACK_MESSAGE")
def answer_rollback(s: Transaction) -> None:
    """The producer is asked, and says that the local transaction is rolled back."""
    require(s.asked, s.outcome == Outcome.ROLLED_BACK, by="DefaultMQProducerImpl#checkTransactionState")
    answer(s)
    s.commits = FALSE


@action("TransactionListener#checkLocalTransaction: UNKNOW")
def answer_unknown(s: Transaction) -> None:
    """The producer is asked while the local transaction runs, and says nothing."""
    require(s.asked, s.outcome == Outcome.OPEN, by="DefaultMQProducerImpl#checkTransactionState")
    s.asked = FALSE


@action("TransactionListener#checkLocalTransaction: ROLLBACK_MESSAGE, of a transaction that it does not find")
def answer_early(s: Transaction) -> None:
    """The producer does not find the transaction, for it runs still, and says that it is rolled back (T2)."""
    require(s.asked, s.outcome == Outcome.OPEN, by="DefaultMQProducerImpl#checkTransactionState")
    answer(s)
    s.commits = FALSE
