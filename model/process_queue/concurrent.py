"""`ProcessQueues`: a queue at concurrent consumers, RemoteBrokerOffsetStore and ConsumerOffsetManager.

It shows L1, L2, L8, L14, B-19 and X18. A message is settled when its listener has done it, or a copy of it is stored to
be tried again. Of the commits of a member that are on their way the last one counts, and a reset is one step.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Ghost,
    Rigid,
    Sort,
    Table,
    action,
    assume,
    every,
    forall,
    initially,
    ite,
    promise,
    require,
)
from model.process_queue.queue import Queue, QueueOffset


class Member(Sort):
    """A consumer of the group."""


class ProcessQueues(Queue):
    """One queue, the members that consume it beside each other or in turn, and the group's offset at the broker."""

    known: Bool                                         # ConsumerOffsetManager.offsetTable has an entry
    committed: QueueOffset                              # … which says this
    sends: Table[Member, Bool]                          # an UPDATE_CONSUMER_OFFSET of this member is on its way
    sent: Table[Member, QueueOffset]                    # … and says this
    owns: Table[Member, Bool]                           # processQueueTable has the queue, and it is not dropped
    next: Table[Member, QueueOffset]                    # PullRequest.nextOffset
    first: Table[Member, QueueOffset]                   # the first key of ProcessQueue.msgTreeMap, or `behind`
    behind: Table[Member, QueueOffset]                  # behind the last key that it had
    cached: Table[tuple[Member, QueueOffset], Bool]     # ProcessQueue.msgTreeMap, between these two
    remembers: Table[Member, Bool]                      # RemoteBrokerOffsetStore.offsetTable has an entry
    memory: Table[Member, QueueOffset]                  # … which says this
    late: Table[Member, Bool]                           # a thread is about to raise that entry, and looks no more
    later: Table[Member, QueueOffset]                   # … to this
    wanted: Rigid[QueueOffset, Bool]                    # the message passes the group's filter
    begun: Ghost[Bool]                                  # the group has begun the queue, or was told where to
    begin: Ghost[QueueOffset]                           # … here
    turned: Ghost[Bool]                                 # changes with each reset
    settled: Ghost[Table[QueueOffset, Bool]]            # since then


@initially
def untouched(s: ProcessQueues) -> Bool:
    """Nobody has the queue."""
    return (~s.known & ~s.begun & (s.begin == 0) & ~s.turned
            & forall(~s.owns[m] & ~s.remembers[m] & ~s.sends[m] & ~s.late[m] for m in every(Member))
            & forall(~s.cached[m, o] for m, o in every(Member, QueueOffset))
            & forall(~s.settled[o] for o in every(QueueOffset)))


def raise_memory(s: ProcessQueues, m: Member, o: QueueOffset) -> None:
    """RemoteBrokerOffsetStore#updateOffset, increaseOnly."""
    s.memory[m] = ite(s.remembers[m] & (o < s.memory[m]), s.memory[m], o)
    s.remembers[m] = TRUE


def left(s: ProcessQueues, m: Member) -> None:
    """The queue is not this member's any more."""
    s.owns[m] = FALSE
    s.remembers[m] = FALSE


def caches(s: ProcessQueues, m: Member, o: QueueOffset) -> Bool:
    """A member has pulled a message of the queue that it has, and not settled it."""
    return s.owns[m] & (s.first[m] <= o) & (o < s.behind[m]) & s.cached[m, o]


# Taking and leaving ---------------------------------------------------------------------------------------------------


@promise
def hand_overs_wait_for_commits(s: ProcessQueues, m: Member) -> Bool:
    """A member takes the queue when no other one has it, and the commits of all were handled."""
    return forall(((x != m).implies(~s.owns[x])) & ~s.sends[x] for x in every(Member))


def taken_at(s: ProcessQueues, m: Member, o: QueueOffset) -> None:
    """RebalanceImpl#updateProcessQueueTableInRebalance: a fresh process queue, and a pull from here on."""
    require(~s.owns[m], by="RebalanceImpl#updateProcessQueueTableInRebalance")
    assume(hand_overs_wait_for_commits, s, m)
    s.owns[m] = TRUE
    s.next[m] = o
    s.first[m] = o
    s.behind[m] = o


@action("RebalanceImpl#updateProcessQueueTableInRebalance: the broker has an offset")
def take(s: ProcessQueues, m: Member) -> None:
    """A member takes the queue where the group has committed, and remembers that."""
    require(s.known, by="RebalancePushImpl#computePullFromWhereWithException")
    taken_at(s, m, s.committed)
    s.remembers[m] = TRUE
    s.memory[m] = s.committed


@action("RemoteBrokerOffsetStore#persistAll: the offset of a queue that is not in processQueueTable yet")
def take_forgotten(s: ProcessQueues, m: Member) -> None:
    """A member takes the queue where the group has committed, and the timer has forgotten that in the meantime."""
    require(s.known, by="RebalancePushImpl#computePullFromWhereWithException")
    taken_at(s, m, s.committed)
    s.remembers[m] = FALSE


@action("RebalanceImpl#updateProcessQueueTableInRebalance: a young queue")
def take_young(s: ProcessQueues, m: Member) -> None:
    """A member takes a queue of which nothing is committed, and is told that the group has come to its first message.

    That is remembered, and will be committed.
    """
    require(~s.known, by="ConsumerManageProcessor#queryConsumerOffset")
    taken_at(s, m, QueueOffset.of(0))
    s.remembers[m] = TRUE
    s.memory[m] = QueueOffset.of(0)
    s.begun = TRUE


@action("RebalanceImpl#updateProcessQueueTableInRebalance: CONSUME_FROM_FIRST_OFFSET")
def take_first(s: ProcessQueues, m: Member) -> None:
    """A member takes a queue of which nothing is committed from its first message on."""
    require(~s.known, by="ConsumerManageProcessor#queryConsumerOffset")
    taken_at(s, m, QueueOffset.of(0))
    s.remembers[m] = FALSE
    s.begun = TRUE


@action("RebalanceImpl#updateProcessQueueTableInRebalance: CONSUME_FROM_LAST_OFFSET")
def take_last(s: ProcessQueues, m: Member) -> None:
    """A member takes an old queue of which nothing is committed behind its last message (L1)."""
    require(~s.known, by="ConsumerManageProcessor#queryConsumerOffset")
    taken_at(s, m, s.stored)
    s.remembers[m] = FALSE
    s.begin = ite(s.begun, s.begin, s.stored)
    s.begun = TRUE


@action("RemoteBrokerOffsetStore#readOffset: the broker answers with an error")
def take_despite(s: ProcessQueues, m: Member) -> None:
    """A member takes an error for the answer that nothing is committed, and begins behind the last message (L2)."""
    require(s.known, by="RebalancePushImpl#computePullFromWhereWithException")
    taken_at(s, m, s.stored)
    s.remembers[m] = FALSE


@action("RebalancePushImpl#removeUnnecessaryMessageQueue: the offset is known")
def drop(s: ProcessQueues, m: Member) -> None:
    """The queue goes to another member: what is remembered is committed, and forgotten."""
    require(s.owns[m], by="RebalanceImpl#updateProcessQueueTableInRebalance")
    require(s.remembers[m], by="RemoteBrokerOffsetStore#persist")
    s.sends[m] = TRUE
    s.sent[m] = s.memory[m]
    left(s, m)


@action("RebalancePushImpl#removeUnnecessaryMessageQueue: nothing is remembered")
def drop_unknown(s: ProcessQueues, m: Member) -> None:
    """The queue goes to another member, and nothing is committed."""
    require(s.owns[m], by="RebalanceImpl#updateProcessQueueTableInRebalance")
    require(~s.remembers[m], by="RemoteBrokerOffsetStore#persist")
    left(s, m)


@action("kill -9", environment=True)
def crash(s: ProcessQueues, m: Member) -> None:
    """A member ends, and what it has not committed is not committed."""
    require(s.owns[m], by="kill(2)")
    left(s, m)
    s.late[m] = FALSE


# Consuming ------------------------------------------------------------------------------------------------------------


@action("PullCallback#onSuccess: FOUND")
def pull(s: ProcessQueues, m: Member) -> None:
    """The next message is pulled and cached."""
    require(s.owns[m], by="DefaultMQPushConsumerImpl#pullMessage")
    require(s.next[m] < s.stored, s.wanted[s.next[m]], by="DefaultMessageStore#getMessage")
    s.cached[m, s.next[m]] = TRUE
    s.first[m] = ite(s.first[m] == s.behind[m], s.next[m], s.first[m])
    s.behind[m] = s.next[m] + 1
    s.next[m] = s.next[m] + 1


@action("PullCallback#onSuccess: NO_MATCHED_MSG")
def pass_over(s: ProcessQueues, m: Member) -> None:
    """The next message is none that the group wants."""
    require(s.owns[m], by="DefaultMQPushConsumerImpl#pullMessage")
    require(s.next[m] < s.stored, ~s.wanted[s.next[m]], by="DefaultMessageStore#getMessage")
    s.next[m] = s.next[m] + 1


@action("DefaultMQPushConsumerImpl#correctTagsOffset")
def correct_offset(s: ProcessQueues, m: Member) -> None:
    """A pull has brought nothing, and nothing is cached: what is remembered goes on to the next pull."""
    require(s.owns[m], by="DefaultMQPushConsumerImpl#pullMessage")
    require(s.first[m] == s.behind[m], by="DefaultMQPushConsumerImpl#correctTagsOffset")
    raise_memory(s, m, s.next[m])


@action("ProcessQueue#removeMessage")
def settle(s: ProcessQueues, m: Member, o: QueueOffset) -> None:
    """A message is done, or its copy is stored; it is cached no more."""
    require(caches(s, m, o), by="ProcessQueue#removeMessage")
    s.cached[m, o] = FALSE
    s.settled[o] = TRUE


def behind_the_first(s: ProcessQueues, m: Member) -> QueueOffset:
    """ProcessQueue#removeMessage: the first message that was cached is no more; returns what is to be remembered."""
    require(s.owns[m], by="ConsumeMessageConcurrentlyService#processConsumeResult")
    require(s.first[m] < s.behind[m], ~s.cached[m, s.first[m]], by="ProcessQueue#removeMessage")
    behind = s.first[m] + 1
    s.first[m] = behind
    return behind


@action("ConsumeMessageConcurrentlyService#processConsumeResult")
def go_on(s: ProcessQueues, m: Member) -> None:
    """Behind the first message that was cached, and is no more, goes on what is remembered."""
    raise_memory(s, m, behind_the_first(s, m))


@action("ConsumeMessageConcurrentlyService#processConsumeResult: another message than the first that is cached")
def remember_first(s: ProcessQueues, m: Member) -> None:
    """A message behind the first one is settled: what is remembered goes on to the first one."""
    require(s.owns[m], by="ConsumeMessageConcurrentlyService#processConsumeResult")
    require(s.first[m] < s.behind[m], s.cached[m, s.first[m]], by="ProcessQueue#removeMessage")
    raise_memory(s, m, s.first[m])


@action("ConsumeMessageConcurrentlyService#processConsumeResult: the thread is held up behind its look at `dropped`")
def go_on_slowly(s: ProcessQueues, m: Member) -> None:
    """As before, but what is remembered is raised later, whatever becomes of the queue until then (X18)."""
    s.late[m] = TRUE
    s.later[m] = behind_the_first(s, m)


@action("RemoteBrokerOffsetStore#updateOffset: a thread that was held up")
def raise_late(s: ProcessQueues, m: Member) -> None:
    """What was to be remembered is remembered now."""
    require(s.late[m], by="ConsumeMessageConcurrentlyService#processConsumeResult")
    raise_memory(s, m, s.later[m])
    s.late[m] = FALSE


# Committing -----------------------------------------------------------------------------------------------------------


@action("RemoteBrokerOffsetStore#persistAll")
def persist(s: ProcessQueues, m: Member) -> None:
    """What a member remembers of a queue that it has is committed: every five seconds, or with a pull."""
    require(s.owns[m], s.remembers[m], by="RemoteBrokerOffsetStore#persistAll")
    s.sends[m] = TRUE
    s.sent[m] = s.memory[m]


@action("ConsumerOffsetManager#commitOffset")
def arrive(s: ProcessQueues, m: Member) -> None:
    """The broker takes whatever comes, and smaller offsets, too."""
    require(s.sends[m], by="ConsumerManageProcessor#updateConsumerOffset")
    s.known = TRUE
    s.committed = s.sent[m]
    s.sends[m] = FALSE


@action("the network", environment=True)
def lose(s: ProcessQueues, m: Member) -> None:
    """A commit is lost: it is sent one way."""
    require(s.sends[m], by="NettyRemotingAbstract#invokeOnewayImpl")
    s.sends[m] = FALSE


# Resetting ------------------------------------------------------------------------------------------------------------


@promise
def resets_meet_no_commits(s: ProcessQueues) -> Bool:
    """No commit is on its way while the group is reset."""
    return forall(~s.sends[m] for m in every(Member))


@promise
def resets_meet_no_results(s: ProcessQueues) -> Bool:
    """No listener's result is being noted while the group is reset."""
    return forall(~s.late[m] for m in every(Member))


def reset_to(s: ProcessQueues, to: QueueOffset) -> None:
    """Everybody leaves the queue, and the group is to go on here; what was settled counts no more."""
    require(to <= s.stored, by="DefaultMessageStore#getOffsetInQueueByTime")
    assume(resets_meet_no_commits, s)
    assume(resets_meet_no_results, s)
    s.known = TRUE
    s.committed = to
    s.begun = TRUE
    s.begin = to
    s.turned = ~s.turned
    for m in every(Member):
        s.owns[m] = FALSE
        s.remembers[m] = FALSE
    for o in every(QueueOffset):
        s.settled[o] = FALSE


@action("MQClientInstance#resetOffset")
def reset(s: ProcessQueues, to: QueueOffset) -> None:
    """The group is told to go on at an offset of the queue."""
    reset_to(s, to)


@action("MQClientInstance#resetOffset, while a pull is held at the broker")
def reset_beside_a_pull(s: ProcessQueues, to: QueueOffset, m: Member) -> None:
    """As before; the pull that a member has at the broker finds nothing cached when it ends, and is believed (L8)."""
    require(s.owns[m], s.next[m] == s.stored, by="PullRequestHoldService#suspendPullRequest")
    reset_to(s, to)
    s.late[m] = TRUE
    s.later[m] = s.next[m]
