"""Follows what a group consumes with `model.process_queue.ProcessQueues`: one model for each queue of its topic.

Elements. A Member is a machine that runs a consumer of the group which shares queues out and works on messages beside
each other; `ordered_queue` follows those that work in order. What a retry topic brings is not followed.

Visible: owns, cached and memory, of a member that has the queue; known and committed, of the master that answered last.
The table of another master, or of one that has started again, is taken over as it is. Hidden: next, which pulls tell,
first and behind, and what is on its way.

What no event tells. That a pull has passed messages over shows in the next pull; that it has moved what is remembered
(correctTagsOffset) shows in the table, and the steps that lead there are taken then, with their guards.

What the model does not have. The timer forgets what was read of a queue that was not held when it began, even if it is
held by then: what is remembered is taken over. Of the queue itself only what members have seen of it is followed: that
`stored` is the end of what brokers keep is the matter of other judges, and so is which messages pass a filter: what a
pull brings is wanted, what it leaves out is not. Of several commits that are on their way the model knows the last one;
an earlier one arrives as if it were that, if the member has ever remembered it. In the same way a read counts that the
broker has answered, although something else is committed by now. A reset is not one step here: a member drops the
queue, as always, and commits later what it was told. Listeners of a holding that has ended may work on, and nothing
tells their messages from those of the next holding: where the tables show that nothing was settled, nothing was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.finding import Finding
from invariants.refinement.consumed_queue import ConsumedQueue
from invariants.refinement.consumers import ConsumerMap, machine_of
from invariants.refinement.follower import Follower
from invariants.refinement.maps import hears
from invariants.refinement.ordered_queue import OrderedQueues
from invariants.views import Broker, ConsumerTables, Machines

MASTER_ID = 0
OF_MEMBERS = (events.QueueTaken, events.QueueDropped, events.QueueForgotten, events.PullSuspended, events.PullAnswered,
              events.MessagesFound, events.MessagesSettled, events.MessagesExpired, events.OffsetUpdated,
              events.OffsetSent, events.OffsetReset, events.OffsetCorrected, events.OffsetLearntLate)
"""What a consumer says of a queue."""
SILENT = (events.OffsetSent, events.PullSuspended)
"""What changes nothing that is visible."""


def followers(machines: Machines, groups: Sequence[tuple[str, str]], _scopes: Sequence[str]) -> list[Follower]:
    """Two for each group: of its concurrent consumers, and of its ordered ones."""
    return [kind(machines, group, topic) for group, topic in groups for kind in (ConsumedQueues, OrderedQueues)]


class ConsumedQueues(ConsumerMap):
    """Follower of the queues of one topic at the concurrent consumers of one group; see Follower."""

    def __init__(self, machines: Machines, group: str, topic: str) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, group, topic, (), OF_MEMBERS)
        self.queues: dict[MessageQueue, ConsumedQueue] = {}
        self._changed: dict[ConsumedQueue, None] = {}

    def follows(self, consumer: ConsumerTables) -> bool:
        """See ConsumerMap."""
        return not consumer.orderly

    def queue_of(self, machine: str, event: Any) -> ConsumedQueue:
        """See ConsumerMap."""
        del machine
        queue = self._queue(event.mq)
        if event.__class__ not in SILENT:
            self._changed[queue] = None
        return queue

    def _queue(self, mq: MessageQueue) -> ConsumedQueue:
        if mq not in self.queues:
            self.queues[mq] = ConsumedQueue(mq)
        return self.queues[mq]

    # Machines ---------------------------------------------------------------------------------------------------------

    def ended(self, machine: str, event: events.ProcessKilled | events.ConsumerShutDown) -> list[Finding]:
        """See ConsumerMap; a shutdown has dropped all queues before."""
        killed = isinstance(event, events.ProcessKilled)
        return [one for queue in self.queues.values() for one in queue.killed(machine, event)] if killed else []

    @hears(events.ProcessKilled)
    def _killed(self, machine: str, event: events.ProcessKilled) -> list[Finding]:
        for queue in self.queues.values():
            if queue.broker == machine:
                queue.broker = ""
        return super()._killed(machine, event)

    def forgets(self, machine: str) -> None:
        """See ConsumerMap."""
        for queue in self.queues.values():
            if machine in queue.answers:
                queue.forgets.add(machine)

    def timer_ends(self, machine: str) -> None:
        """See ConsumerMap."""
        for queue in self.queues.values():
            queue.timer_ends(machine, self.running[machine])

    # Consumers --------------------------------------------------------------------------------------------------------

    @hears(events.QueueTaken)
    def _taken(self, machine: str, queue: ConsumedQueue, event: events.QueueTaken) -> list[Finding]:
        """RebalanceImpl#updateProcessQueueTableInRebalance."""
        remembers = self.running[machine].remembers(event.mq) is not None
        return queue.taken(machine, event, remembers=remembers, timed=self.may_forget(machine))

    @hears(events.QueueDropped)
    def _dropped(self, machine: str, queue: ConsumedQueue, event: events.QueueDropped) -> list[Finding]:
        """ProcessQueue#setDropped; RebalancePushImpl#removeUnnecessaryMessageQueue, if anybody comes to it."""
        return queue.dropped(machine, event) if queue.owns(machine) else []

    @hears(events.QueueForgotten)
    def _forgotten(self, machine: str, queue: ConsumedQueue, _: events.QueueForgotten) -> list[Finding]:
        queue.forgotten(machine)
        return []

    @hears(events.PullSuspended)
    def _pulls(self, machine: str, queue: ConsumedQueue, event: events.PullSuspended) -> list[Finding]:
        """DefaultMQPushConsumerImpl#pullMessage: PullRequest.nextOffset."""
        return queue.pulls(machine, event) if queue.owns(machine) else []

    @hears(events.PullAnswered)
    def _answered(self, *_: Any) -> list[Finding]:
        """DefaultMQPushConsumerImpl#correctTagsOffset may follow: what it does shows in the tables."""
        return []

    @hears(events.MessagesFound)
    def _found(self, machine: str, queue: ConsumedQueue, event: events.MessagesFound) -> list[Finding]:
        """PullCallback#onSuccess: ProcessQueue#putMessage."""
        return queue.brings(machine, event) if queue.owns(machine) else []

    @hears(events.MessagesSettled, events.MessagesExpired)
    def _settled(self, machine: str, queue: ConsumedQueue, event: Any) -> list[Finding]:
        """ProcessQueue#removeMessage, of what was done or sent back."""
        return queue.settled(machine, event) if queue.owns(machine) else []

    @hears(events.OffsetUpdated)
    def _updated(self, machine: str, queue: ConsumedQueue, event: events.OffsetUpdated) -> list[Finding]:
        """ConsumeMessageConcurrentlyService#processConsumeResult: OffsetStore#updateOffset."""
        return queue.updated(machine, event)

    @hears(events.OffsetLearntLate)
    def _late(self, machine: str, queue: ConsumedQueue, event: events.OffsetLearntLate) -> list[Finding]:
        """DefaultMQPushConsumerImpl#correctTagsOffset; what a late read does (X23) is no step of the model."""
        return queue.learns_late(machine, event) if event.pulled else []

    @hears(events.OffsetSent)
    def _sent(self, machine: str, queue: ConsumedQueue, event: events.OffsetSent) -> list[Finding]:
        """RemoteBrokerOffsetStore#persistAll, #persist, or a pull."""
        return queue.sends(machine, event)

    @hears(events.OffsetReset, events.OffsetCorrected)
    def _told(self, machine: str, queue: ConsumedQueue, event: Any) -> list[Finding]:
        """MQClientInstance#resetOffset, the task of OFFSET_ILLEGAL: what is about to be committed."""
        queue.told(machine, event.offset)
        return []

    # Brokers ----------------------------------------------------------------------------------------------------------

    def _of_master(self, machine: str, event: Any) -> MessageQueue | None:
        """The queue of which a master says something to the group."""
        of_group = event.group == self.group and event.topic == self.topic
        broker = self._master(machine) if of_group else None
        return None if broker is None else MessageQueue(self.topic, broker.broker_name, event.queue_id)

    def _master(self, machine: str) -> Broker | None:
        broker = self.views.broker(machine)
        return broker if broker is not None and broker.broker_id == MASTER_ID else None

    @hears(events.OffsetAnswered)
    def _asked(self, machine: str, event: events.OffsetAnswered) -> list[Finding]:
        """ConsumerManageProcessor#queryConsumerOffset."""
        member = machine_of(event.connection)
        mq = self._of_master(machine, event) if member in self.running else None
        if mq is not None:
            self._queue(mq).answered(member, event.offset, forgets=self.may_forget(member))
        return []

    @hears(events.OffsetCommitted)
    def _committed(self, machine: str, event: events.OffsetCommitted) -> list[Finding]:
        """ConsumerOffsetManager#commitOffset: by a member; what somebody else commits is taken over."""
        mq = self._of_master(machine, event) if self.queues else None
        queue, member = None if mq is None else self.queues.get(mq), machine_of(event.connection)
        if queue is None or queue.has_committed(event.offset):
            return []
        self._changed[queue] = None
        if queue.broker == machine and member in queue.known_to:
            return queue.committed(member, event)
        queue.broker = ""
        return []

    @hears(events.GroupOffsetsRemoved, events.OffsetsLeftOut)
    def _removed(self, machine: str, event: Any) -> list[Finding]:
        """An operator has the offsets of the group removed: its table is taken over."""
        for queue in self.queues.values() if event.group == self.group else ():
            if queue.broker == machine:
                queue.broker = ""
                self._changed[queue] = None
        return []

    # Tables -----------------------------------------------------------------------------------------------------------

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map: the queues of which something was said, or all."""
        changed, self._changed = self._changed, {}
        if not (whole or changed):
            return []
        differing, queues = list[Finding](), tuple(self.queues.values()) if whole else tuple(changed)
        consumer, master = self.running.get(machine), self._master(machine)
        if consumer is not None:
            for queue in queues:
                differing += queue.at_member(machine, consumer)
        if master is not None and queues:
            offsets = self.views.committed_of(machine, self.group, self.topic) or {}
            for queue in queues:
                if queue.mq.broker_name == master.broker_name:
                    differing += queue.at_broker(machine, offsets.get(queue.mq.queue_id))
        for queue in queues:
            if queue.monitor.moved:
                queue.monitor.moved = False
                self.visited.update(queue.monitor.fingerprints())
        return self.unsaid(differing)
