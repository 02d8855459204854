"""`OrderedQueue`: a queue at the one ordered consumer that has it (X14)."""

from __future__ import annotations

from model.language import FALSE, TRUE, Bool, Ghost, Table, action, every, forall, initially, require, search_only
from model.process_queue.queue import Queue, QueueOffset


class OrderedQueue(Queue):
    """A queue at its ordered consumer: before `done` all is committed, before `turn` taken, before `next` pulled.

    It counts what this consumer pulls, from its first pull on: what the group has committed before is no part of it.
    """

    answered: Bool          # the broker has said where the group is, since the consumer took the queue
    begun: Bool             # PullRequest.previouslyLocked
    next: QueueOffset       # PullRequest.nextOffset
    turn: QueueOffset       # the first key of ProcessQueue.msgTreeMap, but for a stray one
    done: QueueOffset       # the first key of ProcessQueue.consumingMsgOrderlyTreeMap, but for a stray one
    remembers: Bool         # RemoteBrokerOffsetStore.offsetTable has an entry
    memory: QueueOffset     # … which says this
    stray: Bool             # a message was pulled once more, and waits
    place: QueueOffset      # … that of this offset
    strayed: Bool           # … and is taken
    given: Ghost[Table[QueueOffset, Bool]]  # the listener was given it
    settled: Ghost[Table[QueueOffset, Bool]]
    disordered: Ghost[Bool]  # the listener was given a message before an earlier one, or behind one that is done


@initially
def fresh(s: OrderedQueue) -> Bool:
    """The queue is taken, and nothing is pulled."""
    return (~s.answered & ~s.begun & (s.next == 0) & (s.turn == 0) & (s.done == 0) & ~s.remembers & (s.memory == 0)
            & ~s.stray & ~s.strayed & ~s.disordered
            & forall(~s.given[o] & ~s.settled[o] for o in every(QueueOffset)))


# The first pull -------------------------------------------------------------------------------------------------------


@action("ConsumerManageProcessor#queryConsumerOffset", environment=True)
def answer(s: OrderedQueue) -> None:
    """The broker says where the group is."""
    s.answered = TRUE


def first_pull(s: OrderedQueue) -> None:
    """DefaultMQPushConsumerImpl#pullMessage: the lock is there for the first time."""
    require(~s.begun, by="DefaultMQPushConsumerImpl#pullMessage")
    s.begun = TRUE


@action("DefaultMQPushConsumerImpl#pullMessage: previouslyLocked")
def begin_pulls(s: OrderedQueue) -> None:
    """The first pull goes where the broker has said, which is remembered."""
    require(s.answered, by="RemoteBrokerOffsetStore#readOffset")
    first_pull(s)
    s.remembers = TRUE
    s.memory = QueueOffset.of(0)


@action("DefaultMQPushConsumerImpl#pullMessage: the group has no offset, or the read fails (L1, L2, X10)")
def begin_elsewhere(s: OrderedQueue) -> None:
    """The first pull goes elsewhere, and that is not remembered."""
    first_pull(s)


@action("RemoteBrokerOffsetStore#persistAll: the offset of a queue that was not in processQueueTable when it began")
def forget(s: OrderedQueue) -> None:
    """The timer forgets what is remembered."""
    require(s.remembers, by="RemoteBrokerOffsetStore#persistAll")
    s.remembers = FALSE


# Consuming ------------------------------------------------------------------------------------------------------------


@action("ProcessQueue#putMessage")
def pull_ordered(s: OrderedQueue) -> None:
    """The next message is pulled and cached."""
    require(s.begun, by="DefaultMQPushConsumerImpl#pullMessage")
    require(s.next < s.stored, by="DefaultMessageStore#getMessage")
    s.next = s.next + 1


@action("ProcessQueue#putMessage, of a second chain of pulls")
def pull_again(s: OrderedQueue, o: QueueOffset) -> None:
    """A second chain of pulls for the same process queue brings what does not wait any more (X14)."""
    require(o < s.turn, by="ProcessQueue#putMessage")
    search_only(o < s.done, ~s.stray, ~s.strayed)
    s.stray = TRUE
    s.place = o


@action("ProcessQueue#takeMessages", atomic_by="the monitor of MessageQueueLock")
def take_message(s: OrderedQueue) -> None:
    """The first message that waits is given to the listener."""
    require(~s.stray, s.turn < s.next, by="ProcessQueue#takeMessages")
    s.disordered = s.disordered | s.settled[s.turn] | (~(s.turn == 0) & ~s.given[s.turn - 1])
    s.given[s.turn] = TRUE
    s.turn = s.turn + 1


@action("ProcessQueue#takeMessages: a message that was pulled again")
def take_stray(s: OrderedQueue) -> None:
    """A message that was pulled again comes before all others, and the listener is given it once more."""
    require(s.stray, by="ProcessQueue#takeMessages")
    s.disordered = s.disordered | s.settled[s.place]
    s.stray = FALSE
    s.strayed = TRUE


@action("ProcessQueue#commit")
def commit(s: OrderedQueue) -> None:
    """The first message that is taken is done, or was stored as a dead letter; a batch is as many such steps.

    With the last of them a stray one is done that was taken, too.
    """
    require(s.done < s.turn, by="ProcessQueue#commit")
    s.strayed = s.strayed & (s.done + 1 < s.turn)
    s.settled[s.done] = TRUE
    s.remembers = TRUE
    s.memory = s.done + 1
    s.done = s.done + 1


@action("ProcessQueue#commit: only a message that was pulled again is taken")
def commit_stray(s: OrderedQueue) -> None:
    """The offset behind the message that was pulled again is noted, though later ones are done."""
    require(s.strayed, s.done == s.turn, by="ProcessQueue#commit")
    s.strayed = FALSE
    s.remembers = TRUE
    s.memory = s.place + 1


@action("ProcessQueue#makeMessageToConsumeAgain")
def suspend(s: OrderedQueue) -> None:
    """The listener suspends the queue: what it was given last waits again; a rollback is as many such steps."""
    require(s.done < s.turn, by="ConsumeMessageOrderlyService#processConsumeResult")
    s.turn = s.turn - 1


@action("DefaultMQPushConsumerImpl#correctTagsOffset")
def correct_ordered(s: OrderedQueue) -> None:
    """A pull has brought nothing, and nothing is cached: what is remembered goes on to the next pull."""
    require(s.begun, by="DefaultMQPushConsumerImpl#pullMessage")
    require(s.done == s.next, ~s.stray, ~s.strayed, by="DefaultMQPushConsumerImpl#correctTagsOffset")
    s.remembers = TRUE
    s.memory = s.next
