"""What a producer makes of sends that fail: brokers that it shuns, the list that it rewrites, attempts that it repeats.

`PublishList` is MQFaultStrategy with sendLatencyFaultEnable and the shared list of TopicPublishInfo (P3). `Sending` is
one call of DefaultMQProducerImpl#sendDefaultImpl (P6). Which position a counter picks, and for how long a latency
shuns a broker, are functions: `impl.decisions.queue_selection` and `impl.decisions.fault_strategy`.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Ghost,
    Nat,
    Rigid,
    Sort,
    State,
    Table,
    action,
    assume,
    every,
    exists,
    forall,
    initially,
    promise,
    require,
)


class Slot(Sort):
    """A place in TopicPublishInfo.messageQueueList."""


class Broker(Sort):
    """A broker of the topic."""


class PublishList(State):
    """The list of queues that a producer chooses from, and the brokers that it shuns."""

    at: Table[Slot, Broker]         # the broker of the queue in this place
    route: Rigid[Slot, Broker]      # … as the route says
    shunned: Table[Broker, Bool]    # LatencyFaultToleranceImpl has an item that is not available
    chosen: Ghost[Table[Broker, Bool]]


@initially
def routed(s: PublishList) -> Bool:
    """The list is as the route says."""
    return (forall(s.at[x] == s.route[x] for x in every(Slot))
            & forall(~s.shunned[b] & ~s.chosen[b] for b in every(Broker)))


@promise
def some_broker_is_left(s: PublishList, b: Broker) -> Bool:
    """Not all brokers of a topic fail, or are slow, within the time for which they are shunned."""
    return exists(~s.shunned[s.at[x]] & (s.at[x] != b) for x in every(Slot))


@action("LatencyFaultToleranceImpl#updateFaultItem")
def shun(s: PublishList, b: Broker) -> None:
    """A send to a broker has failed, or was slow."""
    assume(some_broker_is_left, s, b)
    s.shunned[b] = TRUE


@action("LatencyFaultToleranceImpl.FaultItem#isAvailable")
def forgive(s: PublishList, b: Broker) -> None:
    """The time for which a broker is shunned is over."""
    require(s.shunned[b], by="LatencyFaultToleranceImpl#isAvailable")
    s.shunned[b] = FALSE


@action("MQFaultStrategy#selectOneMessageQueue: an available broker")
def choose(s: PublishList, x: Slot) -> None:
    """A queue of an available broker is chosen."""
    require(~s.shunned[s.at[x]], by="LatencyFaultToleranceImpl#isAvailable")
    s.chosen[s.at[x]] = TRUE


@action("MQFaultStrategy#selectOneMessageQueue: LatencyFaultToleranceImpl#pickOneAtLeast")
def choose_in_need(s: PublishList, x: Slot, b: Broker) -> None:
    """All brokers are shunned: the queue whose turn it is becomes one of the least bad broker, for good (P3)."""
    require(forall(s.shunned[s.at[y]] for y in every(Slot)), by="LatencyFaultToleranceImpl#isAvailable")
    require(exists(s.route[y] == b for y in every(Slot)), by="TopicPublishInfo#getQueueIdByBroker")
    s.at[x] = b
    s.chosen[b] = TRUE


class Outcome(Choice):
    """What a call of send has told its caller."""

    NOTHING: Outcome
    SEND_OK: Outcome
    EXCEPTION: Outcome


class Attempts(Nat):
    """How many attempts of a call were begun."""


class Sending(State):
    """One call of send: the attempt that is under way, and the brokers that have stored the message."""

    begun: Attempts
    waits: Bool                   # an attempt is under way
    asked: Broker                 # … at this broker
    lingers: Table[Broker, Bool]  # a request for which nobody waits any more is on its way to the broker
    stored: Table[Broker, Bool]   # the broker has the message
    told: Outcome


@initially
def called(s: Sending) -> Bool:
    """Nothing is sent yet."""
    return ((s.begun == 0) & ~s.waits & (s.told == Outcome.NOTHING)
            & forall(~s.stored[b] & ~s.lingers[b] for b in every(Broker)))


def begin(s: Sending, b: Broker) -> None:
    """DefaultMQProducerImpl#sendKernelImpl: an attempt begins, at this broker."""
    require(~s.waits, s.told == Outcome.NOTHING, by="DefaultMQProducerImpl#sendDefaultImpl")
    s.begun = s.begun + 1
    s.waits = TRUE
    s.asked = b


@action("DefaultMQProducerImpl#sendKernelImpl")
def attempt(s: Sending, b: Broker) -> None:
    """The first attempt begins, or another one when the broker of the last had not stored the message."""
    require(forall(~s.stored[x] for x in every(Broker)))
    begin(s, b)


@action("DefaultMQProducerImpl#sendKernelImpl")
def attempt_again(s: Sending, b: Broker) -> None:
    """Another attempt begins, though a broker has the message whose answer was lost (P6)."""
    require(~forall(~s.stored[x] for x in every(Broker)))
    begin(s, b)


@action("SendMessageProcessor#asyncSendMessage")
def store(s: Sending) -> None:
    """The broker stores the message."""
    require(s.waits, ~s.stored[s.asked], by="NettyRemotingAbstract#processRequestCommand")
    s.stored[s.asked] = TRUE


@action("MQClientAPIImpl#processSendResponse: SUCCESS")
def answer(s: Sending) -> None:
    """The broker's answer arrives."""
    require(s.waits, s.stored[s.asked], by="SendMessageProcessor#handlePutMessageResult")
    s.waits = FALSE
    s.told = Outcome.SEND_OK


@action("the network, or an error of the broker", environment=True)
def fail(s: Sending) -> None:
    """The attempt ends without an answer, or with an error; whether the message is, or will be, stored is not known."""
    require(s.waits, by="NettyRemotingAbstract#invokeSyncImpl")
    s.waits = FALSE
    s.lingers[s.asked] = ~s.stored[s.asked]


@action("SendMessageProcessor#asyncSendMessage, of a request for which nobody waits any more")
def store_late(s: Sending, b: Broker) -> None:
    """A broker stores the message of an attempt that has ended without it (P6)."""
    require(s.lingers[b], by="NettyRemotingAbstract#processRequestCommand")
    s.lingers[b] = FALSE
    s.stored[b] = TRUE


@action("DefaultMQProducerImpl#sendDefaultImpl: no attempt is left")
def raise_exception(s: Sending) -> None:
    """The caller is told of the failure."""
    require(~s.waits, s.begun > 0, s.told == Outcome.NOTHING, by="DefaultMQProducerImpl#sendDefaultImpl")
    s.told = Outcome.EXCEPTION
