"""Rules of the offsets that brokers keep: what was committed is answered, survives, and goes with its group."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from impl import events
from impl.decisions.names import MASTER_ID
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.offset_facts import is_of_another, is_on_another
from invariants.rules.orders import OFFSET
from invariants.rules.rule import Kept, Rule, Told, after, on


class broker_keeps_what_was_committed(Rule):
    """A master has, and answers, the offset that was committed last, as long as its process lives.

    Its table is looked at with each commit for the same group and topic.
    """

    shipped = "violated: B-21 of two first commits one is lost, B-20 a query deletes"
    cite = "ConsumerOffsetManager#commitOffset, #queryOffset"
    about = "at group topic queue_id"
    excuses = (Excuse("the broker is a slave, whose offsets its master's replace",
                      when=lambda rule, told: not rule.facts.is_master(told.about[0])),)

    @after(events.OffsetCommitted)
    def has(self, _: int, at: str, event: events.OffsetCommitted) -> Iterator[Told]:
        known = self.facts.committed[at, event.group, event.topic]
        table = self.views.committed_of(at, event.group, event.topic)
        lost = [] if table is None else [queue_id for queue_id in known if queue_id not in table]
        for queue_id in lost:
            sentence = f"{at} has none for queue {queue_id} of {event.topic}, where {known.pop(queue_id)} was committed"
            yield self.told(sentence, at, event.group, event.topic, queue_id)

    @on(events.OffsetAnswered)
    def answers(self, _: int, at: str, event: events.OffsetAnswered) -> Iterator[Told]:
        known = self.facts.committed.get((at, event.group, event.topic), {}).get(event.queue_id)
        if known is not None and known != event.offset:
            sentence = f"{at} answers {event.offset} for queue {event.queue_id} of {event.topic}, where {known} is"
            yield self.told(sentence, at, event.group, event.topic, event.queue_id)

SOUGHT = Excuse("an application that polls has gone to another offset of the queue",
                by=Match(events.QueueSought, of="group mq"), lasts=FOR_EVER)
_NO_RESET: tuple[None, int, dict[int, int]] = (None, 0, {})


def _of_another_member(rule: commits_go_down_by_resets_only, told: Told) -> bool:
    """B-19: what was greater came from another machine, and the sender has not begun there since."""
    _, group, mq, offset, connection, last, former = told.about
    sender = machine_of(connection)
    begun_ms, begun_at = rule.begun.get((sender, group, mq), (told.since_ms, -1))
    sent = [one for one in rule.facts.sent.get((group, mq), ()) if (one.at, one.offset) == (sender, offset)]
    was_sent_since = not sent or sent[-1].ms >= begun_ms
    return is_of_another(connection, former) and not (begun_ms > told.since_ms and begun_at >= last and was_sent_since)


def _was_reset(rule: commits_go_down_by_resets_only, told: Told) -> bool:
    """Whether its sender has reset the queue there, and what was greater was sent before, or while it was under way."""
    _, group, mq, offset, connection, last, former = told.about
    reset_to, _, sent_ms = rule.reset.get((machine_of(connection), group, mq), _NO_RESET)
    is_late = last not in sent_ms or _was_under_way(rule, told, sent_ms.get(offset))
    return offset == reset_to and machine_of(connection) == machine_of(former) and is_late


def _was_under_way(rule: commits_go_down_by_resets_only, told: Told, sent_ms: int | None) -> bool:
    """Whether it was sent so lately, without the time in which the broker has stood still since; None: it was not."""
    return sent_ms is not None and deadlines.handled(rule.bounds) >= (
        told.since_ms or 0) - sent_ms - rule.facts.stood_still_ms(told.about[0], sent_ms)


def _was_corrected(rule: commits_go_down_by_resets_only, told: Told) -> bool:
    """Whether its sender, from which the greater one came too, had asked for more, and was told to go back to this."""
    _, group, mq, offset, connection, _, former = told.about
    sender = machine_of(connection)
    asked, corrected = rule.corrected.get((sender, group, mq), (-1, -1))
    return sender == machine_of(former) and corrected == offset < asked


def _was_begun_before(rule: commits_go_down_by_resets_only, told: Told) -> bool:
    """Whether its sender had begun the queue anew when the greater one came, which was set or last sent before that."""
    _, group, mq, offset, connection, last, former = told.about
    sender = machine_of(connection)
    (reset_to, reset_ms, _), (begun_ms, begun_at) = (
        table.get((sender, group, mq), none) for table, none in ((rule.reset, _NO_RESET), (rule.begun, (-1, 0))))
    sent = rule.past.last(events.OffsetSent, at=sender, group=group, mq=mq, offset=last)
    made_ms = reset_ms if last == reset_to else inf if sent is None else sent.ms
    return machine_of(former) == sender and made_ms <= begun_ms <= (told.since_ms or 0) and begun_at <= offset


def _was_ordered(rule: commits_go_down_by_resets_only, told: Told) -> bool:
    """Whether its sender is an operator who has said that the offset is to be this, and not the other one since."""
    at, group, mq, offset, connection, last, _ = told.about
    this, other = (rule.past.last(
        events.OrderGiven, at=machine_of(connection), server=at, kind=OFFSET,
        name=f"{group} {mq.topic} {mq.queue_id}", wanted=(one,)) for one in (offset, last))
    return this is not None and (other is None or other.place < this.place)


class commits_go_down_by_resets_only(Rule):
    """Without a reset the committed offset of a queue does not go down.

    A broker that starts again is taken to have nothing. Behind a reset commits may begin anew where that went.
    offset, connection -- the lower one, and on which it has come. last, former -- the same of the greater one; where
    a client has reset it meanwhile, the offset of that, and the client's address without a port.
    """

    judges = "committed_offset_never_regresses"
    shipped = ("violated: B-18 commits are reordered, B-19 the former owner's comes late, "
               "B-32 one of a former connection comes late, X23 a read comes late")
    cite = "ConsumerOffsetManager#commitOffset"
    about = "at group mq offset connection last former"
    excuses = (
        SOUGHT,
        Excuse("the commit is that of a reset, and one that was sent before, or meanwhile, has come before it",
               when=_was_reset),
        Excuse("the greater one came when its sender, who had sent or reset it before, had begun the queue anew below",
               when=_was_begun_before),
        Excuse("the broker has not what its sender had read, and has told it to go back", when=_was_corrected),
        Excuse("an operator has set the offset by hand", when=_was_ordered),
        cause("B-19", "another member has sent what came last", when=_of_another_member),
        cause("B-32", "it came on another connection of the same client",
              when=lambda _, told: is_on_another(told.about[4], told.about[6])),
    )

    last = Kept("at group mq", ends=(events.GroupOffsetsRemoved, events.BrokerStarted))
    begun = Kept("at group mq", survives="all", begins=(events.QueueTaken,), value=lambda ms, event: (ms, event.offset))
    reset = Kept("at group mq", survives="all")
    asked = Kept("at group mq", survives="all", begins=(events.PullSuspended,), value=lambda _, event: event.offset)
    corrected = Kept("at group mq", survives="all")

    @on(events.OffsetReset)
    def resets(self, ms: int, at: str, event: events.OffsetReset) -> None:
        self.reset[at, event.group, event.mq] = event.offset, ms, {}
        for key, last in self.last.items():
            if key[1:] == (event.group, event.mq) and event.offset < last[0]:
                former = last[1] if machine_of(last[1]) == at else f"{at}:"
                self.last[key] = event.offset, former, ms

    @on(events.OffsetCorrected)
    def goes_where_it_is_told(self, _: int, at: str, event: events.OffsetCorrected) -> None:
        key = at, event.group, event.mq
        self.corrected[key] = self.asked.get(key, -1), event.offset

    @on(events.OffsetSent)
    def sends(self, ms: int, at: str, event: events.OffsetSent) -> None:
        self.reset.get((at, event.group, event.mq), (None, 0, {}))[2][event.offset] = ms

    @on(events.OffsetCommitted)
    def commits(self, ms: int, at: str, event: events.OffsetCommitted) -> list[Told]:
        key = at, *self.facts.places(at, event)[0]
        now = event.offset, event.connection, ms
        (last, former, last_ms), self.last[key] = self.last.get(key, now), now
        if event.offset >= last:
            return []
        sentence = f"{event.offset} is committed of {queue_text(key[2])} after {last}"
        return [self.told(sentence, *key, event.offset, event.connection, last, former, since_ms=last_ms)]


class group_offsets_go_with_the_group(Rule):
    """When a group is deleted with its offsets, its offsets of all topics are gone."""

    cite = "AdminBrokerProcessor#deleteSubscriptionGroup, ConsumerOffsetManager#removeOffset"
    about = "at group"

    @on(events.GroupOffsetsRemoved)
    def removed(self, _: int, at: str, event: events.GroupOffsetsRemoved) -> Iterator[Told]:
        for group, topic in sorted(self.views.groups_with_offsets(at)):
            if group == event.group:
                yield self.told(f"{at} keeps the offsets of {topic}", at, group)


class committed_offset_survives_its_broker(Rule):
    """A master whose process ends keeps what was committed before the last write of its file, or before its shutdown.

    Any offset that was committed since the last one that must be in the file may be in it, too. A broker that stands
    still writes nothing, and one whose disk is full keeps the file that it has.
    """

    shipped = "violated: B-21 of two first commits one is lost, B-20 a query deletes"
    cite = "BrokerController#initialize: consumerOffsetManager.persist, ConfigManager#load, MixAll#string2File"
    about = "at group topic queue_id"

    commits = Kept("at group topic queue_id", ends=(events.GroupOffsetsRemoved,), survives="kill")
    # The end of the process that ran: one that ends while it starts has written nothing.
    ended_ms = Kept("at", survives="all")
    stopped_ms = Kept("at", survives="all", begins=(events.BrokerShutDown,))

    def _sure_ms(self, at: str, ended_ms: int, stopped_ms: int | None) -> float:
        """What was committed until then is in the file, which is written whenever there is time and room for it."""
        writes_ms = deadlines.written(self.bounds)
        if stopped_ms is not None and not self.facts.had_no_room(at, stopped_ms - writes_ms, stopped_ms):
            return stopped_ms
        until_ms: float = ended_ms
        still = [(one.ms, one.ms + one.event.ms) for one in self.past.of(events.ProcessPaused, at=at)]
        for begin_ms, end_ms in sorted([*self.facts.full.get((at,), ()), *still], reverse=True):
            if begin_ms <= until_ms <= end_ms + writes_ms:
                until_ms = begin_ms
        return until_ms - writes_ms

    @on(events.ProcessKilled)
    def ends(self, ms: int, at: str, event: events.ProcessKilled) -> None:
        del event
        self.ended_ms.setdefault((at,), ms)

    @on(events.OffsetCommitted)
    def has(self, ms: int, at: str, event: events.OffsetCommitted) -> None:
        commits = self.commits.setdefault((at, event.group, event.topic, event.queue_id), [])
        if not commits or commits[-1][1] != event.offset:
            commits.append((ms, event.offset))

    @after(events.BrokerStarted)
    def starts(self, _: int, at: str, event: events.BrokerStarted) -> Iterator[Told]:
        ended_ms, stopped_ms = self.ended_ms.pop((at,), 0), self.stopped_ms.pop((at,), None)
        sure_ms = self._sure_ms(at, ended_ms, stopped_ms)
        for key in [key for key in self.commits if key[0] == at]:
            commits = self.commits.pop(key)
            must = sum(ms <= sure_ms for ms, _ in commits)
            may = {offset for _, offset in commits[max(must - 1, 0):]}
            found = (self.views.committed_of(at, *key[1:3]) or {}).get(key[3])
            if must and event.broker_id == MASTER_ID and found not in may:
                sentence = f"{at} starts with {found} for queue {key[3]} of {key[2]}, where {max(may)} was kept"
                yield self.told(sentence, *key, since_ms=ended_ms)


class broadcaster_commits_nowhere(Rule):
    """Who broadcasts keeps his offsets himself: he sends none to a broker, neither with a pull nor by a timer."""

    cite = "LocalFileOffsetStore#persistAll, DefaultMQPushConsumerImpl#pullMessage: commitOffsetEnable"
    about = "at group"

    @on(events.PullSuspended, events.OffsetSent)
    def sends(self, _: int, at: str, event: events.PullSuspended | events.OffsetSent) -> Iterator[Told]:
        if (isinstance(event, events.OffsetSent) or event.commits) and self.facts.broadcasts(at, event.group):
            yield self.told(f"{at} broadcasts, and commits an offset of {queue_text(event.mq)}", at, event.group)


class offset_is_taken_once(Rule):
    """Where nothing fails a broker commits once what a client sends once, with a pull or by itself.

    A pull that was held has committed when it came, and does not do so when it is answered: its client may have
    committed more since, or lost the queue.
    """

    cite = "PullMessageProcessor#processRequest: storeOffsetEnable, if brokerAllowSuspend"
    calm = True
    about = "machine group mq"

    # How many offsets of a queue a machine has sent that no broker has taken.
    sent = Kept("machine group mq", survives="all")

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> None:
        key = at, event.group, event.mq
        self.sent[key] = self.sent.get(key, 0) + 1

    @on(events.OffsetCommitted)
    def is_taken(self, _: int, at: str, event: events.OffsetCommitted) -> Iterator[Told]:
        machine = machine_of(event.connection)
        keys = [(machine, *place) for place in self.facts.places(at, event) if (machine, *place) in self.sent]
        taken = next((key for key in keys if self.sent[key]), None)
        if taken is not None:
            self.sent[taken] -= 1
        elif keys:
            yield self.told(f"{at} commits {event.offset} of {queue_text(keys[0][2])} for {machine}, which has not "
                            "sent it again", *keys[0])
