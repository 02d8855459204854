"""One message that a group fails to work on: its attempts, the copies that are stored to be tried again, and its end.

A message that is sent back is stored anew with one attempt more to its count, and the former record is done with (M2,
X5, X6, X7, X20). That a copy waits first is the matter of `model.retry`.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
    Ghost,
    Nat,
    State,
    Table,
    action,
    every,
    forall,
    initially,
    require,
)


class Record(Nat):
    """A record of the message: 0 is the first, the others were sent back."""


class Times(Nat):
    """How often a message was tried."""


class Delivery(State):
    """The records of a message, as far as its group has them before it."""

    next: Record                      # what is stored next
    open: Table[Record, Bool]         # the group is to work on it
    reconsumed: Table[Record, Times]  # reconsumeTimes
    done: Bool                        # a listener has succeeded
    dead: Bool                        # %DLQ% has it
    tried: Ghost[Times]               # how often a listener was given it
    most: Constant[Times]             # maxReconsumeTimes


@initially
def sent(s: Delivery) -> Bool:
    """The message is stored."""
    return ((s.next == 1) & forall(s.open[r].iff(r == 0) & (s.reconsumed[r] == 0) for r in every(Record))
            & ~s.done & ~s.dead & (s.tried == 0))


def given(s: Delivery) -> None:
    """A listener is given the message."""
    s.tried = s.tried + 1


@action("ConsumeMessageConcurrentlyService#processConsumeResult: CONSUME_SUCCESS")
def succeed(s: Delivery, r: Record) -> None:
    """A listener does the work."""
    require(s.open[r], by="ConsumeMessageConcurrentlyService.ConsumeRequest#run")
    given(s)
    s.open[r] = FALSE
    s.done = TRUE


def store_copy(s: Delivery, r: Record, times: Times) -> None:
    """A copy that counts so many attempts takes the place of a record."""
    s.reconsumed[s.next] = times
    s.open[r] = FALSE
    s.open[s.next] = TRUE
    s.next = s.next + 1


def take_back(s: Delivery, r: Record) -> None:
    """SendMessageProcessor#asyncConsumerSendMsgBack, %RETRY%: the copy counts one attempt more."""
    require(s.reconsumed[r] < s.most, by="SendMessageProcessor#asyncConsumerSendMsgBack")
    store_copy(s, r, s.reconsumed[r] + 1)


@action("SendMessageProcessor#asyncConsumerSendMsgBack: %RETRY%")
def send_back(s: Delivery, r: Record) -> None:
    """A listener fails, and a copy is stored that counts one attempt more."""
    require(s.open[r], by="ConsumeMessageConcurrentlyService.ConsumeRequest#run")
    given(s)
    take_back(s, r)


@action("SendMessageProcessor#asyncConsumerSendMsgBack: %DLQ%")
def bury(s: Delivery, r: Record) -> None:
    """A listener fails for the last time, and the message is stored as a dead letter."""
    require(s.open[r], by="ConsumeMessageConcurrentlyService.ConsumeRequest#run")
    require(s.most <= s.reconsumed[r], by="SendMessageProcessor#asyncConsumerSendMsgBack")
    given(s)
    s.open[r] = FALSE
    s.dead = TRUE


@action("SendMessageProcessor#asyncConsumerSendMsgBack: retryQueueNums is 0")
def swallow(s: Delivery, r: Record) -> None:
    """A listener fails, and the broker confirms that it has stored nothing (M2)."""
    require(s.open[r], by="SendMessageProcessor#asyncConsumerSendMsgBack")
    given(s)
    s.open[r] = FALSE


@action("DefaultMQPushConsumerImpl#sendMessageBack: the answer is lost")
def send_back_twice(s: Delivery, r: Record) -> None:
    """A listener fails, a copy is stored, and as no answer comes, the consumer sends another one itself (X5)."""
    require(s.open[r], by="ConsumeMessageConcurrentlyService.ConsumeRequest#run")
    require(s.reconsumed[r] + 1 < s.most, by="SendMessageProcessor#handleRetryAndDLQ")
    given(s)
    times = s.reconsumed[r] + 1
    s.reconsumed[s.next] = times
    s.reconsumed[s.next + 1] = times
    s.open[r] = FALSE
    s.open[s.next] = TRUE
    s.open[s.next + 1] = TRUE
    s.next = s.next + 2


def comes_too_early(s: Delivery, r: Record) -> None:
    """SendMessageProcessor#handleRetryAndDLQ: what a consumer sends itself counts this attempt: it is a dead letter."""
    require(s.open[r], by="ConsumeMessageConcurrentlyService.ConsumeRequest#run")
    require(s.most <= s.reconsumed[r] + 1, by="SendMessageProcessor#handleRetryAndDLQ")
    given(s)
    s.dead = TRUE


@action("SendMessageProcessor#handleRetryAndDLQ: the answer is lost")
def bury_copy(s: Delivery, r: Record) -> None:
    """As before, but one attempt is left: a copy is stored, and the consumer's own is a dead letter (X5)."""
    comes_too_early(s, r)
    take_back(s, r)


@action("SendMessageProcessor#handleRetryAndDLQ: the request is lost")
def bury_early(s: Delivery, r: Record) -> None:
    """A listener fails, and what the consumer sends itself is a dead letter, although one attempt may be left (X5)."""
    comes_too_early(s, r)
    s.open[r] = FALSE


@action("DefaultMQProducerImpl#sendKernelImpl: the second attempt of a copy")
def begin_anew(s: Delivery, r: Record) -> None:
    """A listener fails, and the copy that the consumer sends itself has lost its count on the way (X20)."""
    require(s.open[r], by="DefaultMQPushConsumerImpl#sendMessageBack")
    given(s)
    store_copy(s, r, Times.of(0))


@action("kill -9 of a consumer before its commit", environment=True)
def deliver_again(s: Delivery, r: Record) -> None:
    """A record was sent back, and that is not committed when its consumer ends: it is pulled again (X6)."""
    require(r < s.next, ~s.open[r], by="ConsumerOffsetManager#queryOffset")
    s.open[r] = TRUE


@action("ProcessQueue#cleanExpiredMsg")
def send_back_at_work(s: Delivery, r: Record) -> None:
    """A listener works for more than 15 minutes, the message is sent back meanwhile, and the listener succeeds (X7)."""
    require(s.open[r], by="ProcessQueue#cleanExpiredMsg")
    given(s)
    take_back(s, r)
    s.done = TRUE
