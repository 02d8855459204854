"""One consumer group: membership, what each member knows of it, and the queues it therefore holds."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Maybe,
    Rigid,
    Set,
    Sort,
    State,
    Table,
    action,
    always,
    empty,
    every,
    exists,
    forall,
    initially,
    require,
    setof,
)


class Broker(Sort):
    """A broker that hosts queues of the topic."""


class Member(Sort):
    """A client id; one connection per broker."""


class Queue(Sort):
    """A message queue of the one topic."""


class Group(State):
    """A group of consumers of one topic."""

    up: Table[Member, Bool]                                 # the process runs
    listed: Table[tuple[Broker, Member], Bool]              # ConsumerGroupInfo.channelInfoTable, per broker
    answer: Table[Member, Set[Member]]                      # the id list last fetched
    fetched: Table[Member, Bool]                            # … and not applied yet
    holds: Table[tuple[Member, Queue], Bool]                # RebalanceImpl.processQueueTable, not dropped
    share: Rigid[tuple[Set[Member], Queue], Maybe[Member]]  # the strategy: who gets the queue, given the list


@initially
def nobody(s: Group) -> Bool:
    """No process runs."""
    return (forall(~s.up[m] & ~s.fetched[m] & (s.answer[m] == empty(Member)) for m in every(Member))
            & forall(~s.listed[b, m] for b, m in every(Broker, Member))
            & forall(~s.holds[m, q] for m, q in every(Member, Queue)))


@action("DefaultMQPushConsumerImpl#start")
def start(s: Group, m: Member) -> None:
    """A process starts."""
    require(~s.up[m])
    s.up[m] = TRUE


@action("ConsumerManager#registerConsumer", flow="m -> b")
def heartbeat(s: Group, b: Broker, m: Member) -> None:
    """A broker hears of a member."""
    s.listed[b, m] = TRUE


@action("ConsumerManager#doChannelCloseEvent, #scanNotActiveChannel", environment=True)
def remove(s: Group, b: Broker, m: Member) -> None:
    """Close, expiry or a partition: one broker loses one member, dead or alive."""
    s.listed[b, m] = FALSE


@action("MQClientInstance#findConsumerIdList", flow="b -> m")
def fetch(s: Group, b: Broker, m: Member) -> None:
    """Any broker of the topic is asked; an empty group is an error and changes nothing."""
    require(s.up[m], exists(s.listed[b, x] for x in every(Member)))
    s.answer[m] = setof(Member, lambda x: s.listed[b, x])
    s.fetched[m] = TRUE


@action("RebalanceImpl#updateProcessQueueTableInRebalance", atomic_by="RebalanceService")
def apply(s: Group, m: Member) -> None:
    """The fetched list decides what the member holds."""
    require(s.fetched[m], s.up[m])
    for q in every(Queue):
        s.holds[m, q] = s.answer[m].has(m) & s.share[s.answer[m], q].holds(m)
    s.fetched[m] = FALSE


@action("kill -9", environment=True)
def crash(s: Group, m: Member) -> None:
    """A process ends; the brokers learn of it later."""
    require(s.up[m])
    s.up[m] = FALSE
    s.fetched[m] = FALSE
    for q in every(Queue):
        s.holds[m, q] = FALSE


def settled(s: Group) -> Bool:
    """Every broker lists exactly the living, and every living member has applied that list."""
    return (forall(s.listed[b, m].iff(s.up[m]) for b, m in every(Broker, Member))
            & forall(s.up[m].implies(~s.fetched[m] & (s.answer[m] == setof(Member, lambda x: s.up[x]))
                     & forall(s.holds[m, q].iff(s.share[s.answer[m], q].holds(m)) for q in every(Queue)))
                     for m in every(Member)))


@always(shipped="violated: D1 join, D2 incomplete list, D4 partition")
def one_owner_per_queue(s: Group) -> Bool:
    """At any time a queue is held by at most one member of the group."""
    return forall((s.holds[a, q] & s.holds[b, q]).implies(a == b) for a, b, q in every(Member, Member, Queue))


@always(shipped="holds")
def one_owner_when_settled(s: Group) -> Bool:
    """Once every member has applied the true list, no queue has two owners."""
    return settled(s).implies(forall((s.holds[a, q] & s.holds[b, q]).implies(a == b)
                                     for a, b, q in every(Member, Member, Queue)))
