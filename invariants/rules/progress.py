"""Rules of the work on queues: what is held is pulled, and what is settled is committed, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.events import BrokerStarted, ConsumerStopping, PullAnswered, PullSuspended, QueueDropped, QueueTaken
from invariants.rules import deadlines
from invariants.rules.causes_of_filters import was_left_out
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.offset_facts import CORRECTED, FORGOTTEN, put_last, was_corrected, was_forgotten
from invariants.rules.offsets import SOUGHT
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on
from invariants.rules.weather import hangs_up_on_who_tells, nobody_runs_by, nobody_tells_the_master

Key = tuple[str, str, MessageQueue]  # machine, group, queue


class only_the_settled_is_committed(Rule):
    """A client commits no more of a queue than it began with, was told by the broker, was reset to, or has settled.

    What was found and settled counts, whatever the process queue says.
    """

    shipped = ("violated: L8 a pull that was held, X21 a pull of a queue that was reset, L14 a commit that waited, "
               "X18 a listener that saw no drop, X23 a read that came late, L3 a filter of another member")
    cite = "RemoteBrokerOffsetStore#updateOffset, ProcessQueue#removeMessage"
    about = "at group mq"
    excuses = (
        cause("L3", "its broker has left out what is not settled, and another member subscribes other tags",
              when=lambda rule, told: rule.was_left_out(told.about)),
        Excuse("its broker has deleted the file of its log in which the last of these messages was",
               when=lambda rule, told: rule.was_deleted(told.about)),
    )

    def was_deleted(self, key: tuple[Any, ...]) -> bool:
        """Whether the log of the broker begins behind the last message that the client commits.

        Of a message that was put before anybody looked the unit of the queue says where it was. That unit may be gone,
        too; then those behind it are there.
        """
        at, group, mq = key
        sent = self.past.last(events.OffsetSent, at=at, group=group, mq=mq)
        if sent is None:
            return False
        put = put_last(self, mq, sent.event.offset - 1)
        if put is not None:
            return bool(self.views.log_begin(put.at) > put.event.commit_log_offset)
        return any(self._is_gone(one, mq, sent.event.offset - 1)
                   for (one,) in self.facts.brokers if self.facts.broker_name(one) == mq.broker_name)

    def _is_gone(self, broker: str, mq: MessageQueue, place: int) -> bool:
        offset, behind = (self.views.queue_unit(broker, mq.topic, mq.queue_id, one) for one in (place, place + 1))
        return behind is not None if offset is None else self.views.log_begin(broker) > offset

    def was_left_out(self, key: tuple[Any, ...]) -> bool:
        """Whether a pull has left out what the client may not commit, and members of the group differ."""
        return was_left_out(self, key[1], key[2], self.facts.progress[key].may_commit)

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> list[Told]:
        key = at, event.group, event.mq
        progress = self.facts.progress.get(key)
        if progress is None or event.offset <= progress.told or event.offset <= progress.may_commit:
            return []
        most = f"it may commit {max(progress.told, progress.may_commit)}"
        return [self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, of which {most}", *key)]


class commits_of_a_holding_go_forward(Rule):
    """While a client holds a queue, and is not reset, its commits go back only to what another one has committed.

    An orderly consumer reads again what is committed when it has the lock; that may be less, if another one committed
    it since (B-19).
    """

    shipped = ("violated: X10 a failed read is taken for -1, X23 a read comes late, X17 a correction comes late, L14 a "
               "commit waits for an address")
    cite = "RemoteBrokerOffsetStore#updateOffset: increaseOnly"
    about = "at group mq"
    excuses = (SOUGHT,)

    last = Kept("at group mq", ends=(events.QueueDropped, events.OffsetReset), begins=(events.QueueTaken,),
                value=lambda _, event: event.offset)
    lower = Kept("at group mq", ends=(events.QueueDropped, events.OffsetReset, events.QueueTaken))

    @on(events.OffsetAnswered)
    def is_told(self, _: int, at: str, event: events.OffsetAnswered) -> None:
        for place in self.facts.places(at, event):
            key = machine_of(event.connection), *place
            if event.offset < self.last.get(key, -1):
                self.lower.setdefault(key, set()).add(event.offset)

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> Iterator[Told]:
        key = at, event.group, event.mq
        last = self.last.get(key)
        if last is None:
            return
        self.last[key] = event.offset
        if event.offset < last and event.offset not in self.lower.get(key, ()):
            yield self.told(f"{at} commits {event.offset} of {queue_text(event.mq)} after {last}", *key)


class given_up_is_not_committed(Rule):
    """A client commits a queue when it gives it up, and not again and again after that.

    What its timer was about to send then, and what waits for an address, may go out later. A queue whose listener is at
    work in order stays in the table, and is committed, until a rebalance finds the listener done. Time in which the
    process stands still does not count.
    """

    shipped = "violated: U7 an ordered queue that comes back while its batch runs stays dropped"
    cite = "RebalancePushImpl#removeUnnecessaryMessageQueue: persist, removeOffset; RemoteBrokerOffsetStore#persistAll"
    about = "at group mq"

    given_up_ms = Kept("at group mq", ends=(events.QueueTaken, events.OffsetReset, events.OffsetCorrected),
                       begins=(events.QueueDropped,))

    @on(events.OffsetSent)
    def sends(self, ms: int, at: str, event: events.OffsetSent) -> Iterator[Told]:
        key = at, event.group, event.mq
        given_up_ms = self.given_up_ms.get(key)
        if given_up_ms is None:
            return
        if min(self._since(at, given_up_ms, ms), self._done_since(ms, at, event)) > deadlines.sent(self.bounds):
            yield self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, which it has given up "
                            f"{ms - given_up_ms} ms before", *key, since_ms=given_up_ms)

    def _done_since(self, ms: int, at: str, event: events.OffsetSent) -> float:
        """For how long a rebalance has known that no listener is at work on the queue in order any more."""
        key = at, event.client_id, event.group, event.mq
        if key in self.facts.busy:
            return 0
        ended_ms = self.facts.ended_ms.get(key)
        return inf if ended_ms is None else self._since(at, ended_ms, ms) - deadlines.handed_over(self.bounds)

    def _since(self, at: str, since_ms: int, ms: int) -> int:
        """How much time has passed in which the process did not stand still."""
        return ms - since_ms - self.facts.stood_still_ms(at, since_ms)


class settled_is_remembered(Duty):
    """What a client has settled of a queue that it holds it has in memory at once, up to the first that is open.

    From there it is committed, and whoever takes the queue next begins behind it. A pull that finds nothing sets the
    memory to where it looked, and so hides soon that something was missing.
    """

    cite = "ProcessQueue#removeMessage, #commit, ConsumeMessageService#processConsumeResult"
    about = "at group mq"
    within_ms = deadlines.updated
    paid_by = (events.QueueTaken, events.QueueDropped, events.OffsetReset, events.OffsetCorrected)
    late = "{at} has settled queue {mq.queue_id} of {mq.topic} at {mq.broker_name} up to {what}, and not remembered it"

    memory = Kept("at group mq", ends=(events.QueueTaken, events.OffsetReset, events.OffsetCorrected))

    @after(events.MessagesSettled)
    def settles(self, ms: int, at: str, event: events.MessagesSettled) -> None:
        key = at, event.group, event.mq
        progress = self.facts.progress.get(key)
        is_held = (at, *event[:3]) in self.facts.holdings
        if is_held and progress is not None and progress.all_below > self.memory.get(key, -1):
            self.owe(key, ms, progress.all_below)

    @on(events.OffsetUpdated)
    def remembers(self, ms: int, at: str, event: events.OffsetUpdated) -> None:
        """Pay what is owed; what was settled meanwhile is owed from now on."""
        key = at, event.group, event.mq
        self.memory[key] = max(event.offset, self.memory.get(key, -1))
        if key in self.owed and event.offset >= self.owed[key][2]:
            self.pay(key)
            below = self.facts.progress[key].all_below
            if below > event.offset:
                self.owe(key, ms, below)


class settled_is_committed(Duty):
    """What a client has settled it commits: soon, and before it gives the queue up or ends in order.

    What a listener ends while its consumer stops, or while its queue is given up, counts only if it came into memory
    before; so does nothing that has left the route: nobody has an address for it.
    """

    shipped = ("violated: X21 a queue that was reset is worked on and in no table, X12 a topic that is left, X28 a "
               "timer that forgets, X29 a correction that forgets, R-3 a dead name server that is waited for")
    cite = "MQClientInstance#startScheduledTask: persistAllConsumerOffset, RebalanceImpl#removeUnnecessaryMessageQueue"
    about = "at group mq"
    within_ms = deadlines.sent
    paid_by = (events.OffsetReset, events.OffsetCorrected)
    excuses = (
        Excuse("the queue has no master, and no name server of its client lives", when=nobody_tells_the_master),
        cause("R-3", "the queue has no master, and its client waits for a name server without power, and hangs up on "
              "others", when=hangs_up_on_who_tells),
        cause("X28", FORGOTTEN, when=lambda rule, told: was_forgotten(rule.past, *told.about)),
        cause("X29", CORRECTED, when=lambda rule, told: was_corrected(
            rule.past, *told.about, within_ms=deadlines.given_up(rule.bounds))),
    )
    late = "{at} has not committed {what} of queue {mq.queue_id} of {mq.topic} at {mq.broker_name} in {waited_ms} ms"

    memory = Kept("at group mq", ends=(events.QueueTaken, events.OffsetReset, events.OffsetCorrected),
                  begins=(events.OffsetUpdated,), value=lambda _, event: event.offset)

    @after(events.MessagesSettled, events.OffsetUpdated)
    def is_to_commit(self, ms: int, at: str, event: events.MessagesSettled | events.OffsetUpdated) -> None:
        key = at, event.group, event.mq
        due = self._settled(event.client_id, key)
        if due is None and isinstance(event, events.OffsetUpdated):
            due = self.memory[key]
        if due is not None and self._commits(event.client_id, key):
            self.owe(key, ms, due)

    @on(events.OffsetSent)
    def sends(self, ms: int, at: str, event: events.OffsetSent) -> None:
        """Pay what is owed; then the client owes what is in memory, and if it has sent that, what it has settled."""
        key = at, event.group, event.mq
        if key not in self.owed or event.offset < self.owed[key][2]:
            return
        self.pay(key)
        if not self._commits(event.client_id, key):
            return
        settled = self._settled(event.client_id, key)
        if self.memory.get(key, event.offset) > event.offset:
            self.owe(key, ms, self.memory[key])
        elif settled is not None and settled > event.offset:
            self.owe(key, ms, settled)

    @on(events.QueueDropped)
    def gives_up(self, _: int, at: str, event: events.QueueDropped) -> None:
        key = at, event.group, event.mq
        if key in self.owed and not (self._is_in_memory(key) and self._is_routed(key)):
            self.pay(key)

    @on(events.RouteUpdated)
    def is_routed(self, _: int, at: str, event: events.RouteUpdated) -> None:
        self.owed.drop(lambda key: key[:2] == (at, event.group) and key[2].topic == event.topic
                       and key[2] not in event.mqs)

    @on(events.ConsumerStopping)
    def stops(self, _: int, at: str, event: events.ConsumerStopping) -> None:
        for key in self._owed_by(at, event.group):
            if not self._is_in_memory(key):
                self.pay(key)

    @on(events.ConsumerShutDown)
    def ends(self, _: int, at: str, event: events.ConsumerShutDown) -> Iterator[Told]:
        for key in self._owed_by(at, event.group):
            since_ms, _, offset = self.owed[key]
            sentence = f"{at} stops and has not committed {offset} of {queue_text(key[2])}"
            yield self.told(sentence, *key, since_ms=since_ms)
            self.pay(key)

    def _owed_by(self, at: str, group: str) -> list[Key]:
        return [key for key in self.owed if key[:2] == (at, group)]

    def _settled(self, client_id: str, key: Key) -> int | None:
        """The offset below which a client has settled all of a queue that it holds."""
        progress = self.facts.progress.get(key)
        return progress.all_below if progress is not None and self.facts.holds(client_id, *key[1:]) else None

    def _commits(self, client_id: str, key: Key) -> bool:
        """Whether a client commits to brokers at all, can reach the queue's, and does not end."""
        ends = self.facts.stops_now(client_id, key[1])
        return self.facts.clusters(*key[:2]) and self._is_routed(key) and not ends

    def _is_in_memory(self, key: Key) -> bool:
        return bool(self.memory.get(key, -1) >= self.owed[key][2])

    def _is_routed(self, key: Key) -> bool:
        return key[2] in self.facts.routes.get((key[0], key[1], key[2].topic), ())


class Committing(Duty):
    """What is common: a client that holds a queue owes a commit of it, unless the queue leaves the route."""

    about = "at client_id group mq"
    calm = True
    within_ms = deadlines.sent
    paid_by = (events.QueueDropped, events.QueueTaken, events.OffsetReset, events.OffsetCorrected,
               Match(events.ConsumerStopping, events.ConsumerShutDown, of="at client_id group"))

    @on(events.RouteUpdated)
    def is_routed(self, _: int, at: str, event: events.RouteUpdated) -> None:
        """For a queue that has left the route nobody has an address."""
        self.owed.drop(lambda key: (key[0], key[2], key[3].topic) == (at, event.group, event.topic)
                       and key[3] not in event.mqs)


class held_queue_is_committed_again(Committing):
    """Where nothing fails a client that has committed a queue does so again and again, as long as it has the queue.

    A broker that has lost its offsets is told them so, also of queues to which nothing comes.
    """

    cite = "MQClientInstance#startScheduledTask: persistAllConsumerOffset, RemoteBrokerOffsetStore#persistAll"
    late = "{at} has not committed queue {mq.queue_id} of {mq.topic} at {mq.broker_name} again for {waited_ms} ms"

    @on(events.OffsetSent)
    def sends(self, ms: int, at: str, event: events.OffsetSent) -> None:
        key = at, *event[:3]
        self.pay(key)
        if key in self.facts.holdings:
            self.owe(key, ms)


class waiting_queue_is_committed(Committing):
    """Where nothing fails a client that waits in a queue, and has nothing there to work on, commits where it waits.

    So whoever takes the queue next waits there, too, also if that is 0, and a message has come meanwhile; and what has
    been read of it and is not subscribed is not read again.
    """

    cite = "DefaultMQPushConsumerImpl#correctTagsOffset, RemoteBrokerOffsetStore#persistAll"
    late = ("{at} has not committed {what} of queue {mq.queue_id} of {mq.topic} at {mq.broker_name}, where it waits, "
            "in {waited_ms} ms")

    # What each holding has committed, and where its last pull began: the answer to one of a former holding comes late.
    sent = Kept("at client_id group mq", ends=(events.QueueTaken, events.QueueDropped), begins=(events.OffsetSent,),
                value=lambda _, event: event.offset)
    pulled = Kept("at client_id group mq", ends=(events.QueueTaken, events.QueueDropped), begins=(
        events.PullSuspended,), value=lambda _, event: event.offset)

    @on(events.PullAnswered)
    def is_answered(self, ms: int, at: str, event: events.PullAnswered) -> None:
        key = at, *event[:3]
        progress = self.facts.progress.get((at, event.group, event.mq))
        waits = (event.code == PullCode.PULL_NOT_FOUND and key in self.facts.holdings
                 and self.pulled.get(key) == event.next_begin_offset)
        is_idle = waits and progress is not None and not progress.open
        if is_idle and self.sent.get(key, -1) < event.next_begin_offset and self.facts.clusters(at, event.group):
            self.owe(key, ms, event.next_begin_offset)

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> None:
        key = at, *event[:3]
        if key in self.owed and event.offset >= self.owed[key][2]:
            self.pay(key)


class settled_is_written(Duty):
    """What a broadcasting member has settled it writes into its file: soon, as long as it has the queue."""

    cite = "MQClientInstance#startScheduledTask: persistAllConsumerOffset, LocalFileOffsetStore#persistAll"
    about = "at group mq"
    within_ms = deadlines.sent
    paid_by = (events.QueueDropped, events.QueueTaken, events.OffsetReset, events.OffsetCorrected)
    excuses = (Excuse("its consumer shuts down", by=(events.ConsumerStopping, events.ConsumerShutDown)),
               Excuse("files of others fill its disk", by=Match(events.DiskFilled, of="at"), lasts=FOR_EVER))
    late = "{at} has not written {what} of queue {mq.queue_id} of {mq.topic} at {mq.broker_name} in {waited_ms} ms"

    @on(events.OffsetUpdated)
    def remembers(self, ms: int, at: str, event: events.OffsetUpdated) -> None:
        if (at, *event[:3]) in self.facts.holdings and self.facts.broadcasts(at, event.group):
            self.owe((at, event.group, event.mq), ms, event.offset)

    @on(events.OffsetsWritten)
    def writes(self, _: int, at: str, event: events.OffsetsWritten) -> None:
        for mq, offset in event.offsets:
            key = at, event.group, mq
            if key in self.owed and offset >= self.owed[key][2]:
                self.pay(key)


class held_queue_is_worked_on(Duty):
    """No consumer that runs holds a queue for longer than a minute without a pull of it at a broker.

    By its clock it sees that a pull is not answered any more. Its time begins anew when its broker starts: it may have
    to learn the address, and that broker may give no lock until the leases of its former life are over.
    """

    shipped = "violated: U5 a member is suspended, U9 a broadcaster waits for a lock"
    cite = ("DefaultMQPushConsumerImpl#pullMessage: executePullRequestImmediately, executePullRequestLater; "
            "NettyRemotingAbstract#scanResponseTable")
    about = "at client_id group mq broker_name"
    within_ms = deadlines.pulled
    by_clock = True
    excuses = (
        Excuse("its consumer gives it up", by=QueueDropped),
        Excuse("its consumer shuts down", by=ConsumerStopping),
        Excuse("no broker of its name runs: its consumer may have heard so, and asks nobody",
               when=lambda rule, told: nobody_runs_by(rule, told.about[4])),
        Excuse("another client has its lock",
               when=lambda rule, told: rule.facts.locked_for(*told.about[2:4]) not in (None, told.about[1])),
        cause("U5", "its consumer was suspended",
              when=lambda rule, told: rule.suspended_ms.get(told.about[:3], -1) >= told.since_ms),
    )

    suspended_ms = Kept("at client_id group")
    started_ms = Kept("broker_name", survives="all", begins=(BrokerStarted,))
    _now_ms = 0

    @after(BrokerStarted)
    def starts(self, _: int, __: str, event: BrokerStarted) -> None:
        for key in [key for key in self.owed if key[4] == event.broker_name]:
            self._begin_anew(key)

    def _begin_anew(self, key: tuple[Any, ...]) -> None:
        leases_ms = deadlines.lease_is_over(self.bounds) if self.facts.is_orderly(key[0], key[2]) else 0
        self.count_from(key, self.started_ms.get((key[4],), 0) + leases_ms)

    @on(QueueTaken, PullAnswered, PullSuspended)
    def is_to_pull(self, ms: int, at: str, event: QueueTaken | PullAnswered | PullSuspended) -> None:
        """A pull is to be followed by the next one, whatever comes of it.

        An answer may come too late, and a rebalance under way may give a queue to a consumer that has shut down.
        """
        if isinstance(event, PullSuspended):
            self.pay((at, *event[:3], event.mq.broker_name))
        holds = isinstance(event, QueueTaken) or (at, *event[:3]) in self.facts.holdings
        if holds and (at, *event[:2]) not in self.facts.stopping:
            self.owe((at, *event[:3], event.mq.broker_name), ms)
            self._begin_anew((at, *event[:3], event.mq.broker_name))

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Duty."""
        self._now_ms = now_ms
        for one in self.views.consumers() if self.owed else ():
            if one.pause:
                self.suspended_ms[one[:3]] = now_ms
        yield from super().look(now_ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str:
        """See Duty; it is still to be done."""
        self.owe(key, self._now_ms, what)
        return f"{key[0]} holds {queue_text(key[3])} and has had no pull of it at a broker for {waited_ms} ms"


class held_queue_is_pulled(Rule):
    """Where nothing fails a consumer pulls each queue that it holds, one pull after another.

    Its table says when it has tried to.
    """

    cite = "PullMessageService, DefaultMQPushConsumerImpl#pullMessage"
    calm = True
    about = "at client_id group mq"

    # ProcessQueue.lastPullTimestamp when it was looked at last, and since when it is that.
    tried = Kept("at client_id group mq", ends=(QueueDropped,), begins=(QueueTaken,), value=lambda ms, _: (None, ms))
    _looked_ms = 0

    def look(self, now_ms: int) -> Iterator[Told]:
        """Look at the tables once in a while."""
        if now_ms - self._looked_ms < deadlines.PERSIST_MS or not self.tried:
            return
        self._looked_ms, limit_ms = now_ms, deadlines.pulled(self.bounds)
        for machine in dict.fromkeys(one.machine for one in self.views.consumers() if one.service_state == "RUNNING"):
            for held in self.views.process_queues(machine):
                value, since_ms = self.tried.get(held[:4], (None, now_ms))
                if value != held.last_pull_timestamp:
                    value, since_ms = held.last_pull_timestamp, now_ms
                if held[:4] in self.tried:
                    self.tried[held[:4]] = value, since_ms
                if now_ms - since_ms > limit_ms:
                    self.tried[held[:4]] = value, now_ms
                    yield self.told(f"{machine} has not pulled {queue_text(held.mq)} for {now_ms - since_ms} ms",
                                    *held[:4], since_ms=since_ms)
