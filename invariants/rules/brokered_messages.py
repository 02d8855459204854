"""Messages on their way through a broker: what was tried too often, what is sent back, what is pulled again."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from invariants.rules import deadlines
from invariants.rules.excuse import cause
from invariants.rules.rule import Kept, Promise, Rule, Told, on


class dead_letter_is_there_at_once(Rule):
    """A message whose tries are over is in the dead-letter queue when the broker has taken it."""

    shipped = "violated: M1 one that a consumer sends itself is delayed once more"
    cite = "SendMessageProcessor#handleRetryAndDLQ, #asyncConsumerSendMsgBack"
    about = "broker group"

    @on(events.DeadLetterTaken)
    def taken(self, _: int, at: str, event: events.DeadLetterTaken) -> Iterator[Told]:
        if event.delay_level:
            yield self.told(f"the dead letter {event.key} of {event.group} waits at {at} for delay level "
                            f"{event.delay_level}", event.broker, event.group)


class accepted_send_back_is_kept(Rule):
    """A broker that says SUCCESS to a message that is sent back has a copy, for another try or as a dead letter."""

    shipped = "violated: M2 a group with no retry queue loses it"
    cite = "SendMessageProcessor#asyncConsumerSendMsgBack"
    about = "broker group"
    excuses = (
        cause("M2", "the group has no retry queues there",
              when=lambda rule, told: (nums := rule.views.retry_queue_nums(*told.about)) is not None and nums <= 0),
    )

    @on(events.SendBackTaken)
    def taken(self, _: int, at: str, event: events.SendBackTaken) -> Iterator[Told]:
        if not event.kept:
            yield self.told(f"{at} has no copy of the message at {event.commit_log_offset} that {event.group} has sent "
                            "back", event.broker, event.group)


class retry_is_where_it_is_read(Rule):
    """A message that is sent back gets into a queue that the retry topic has."""

    shipped = "violated: M4 the group's number of retry queues is another one"
    cite = "SendMessageProcessor#asyncConsumerSendMsgBack, TopicConfigManager#createTopicInSendMessageBackMethod"
    about = "broker group"

    @on(events.SendBackTaken)
    def taken(self, _: int, at: str, event: events.SendBackTaken) -> Iterator[Told]:
        if not event.readable:
            yield self.told(f"{at} keeps the message at {event.commit_log_offset} for queue {event.queue_id} of "
                            f"%RETRY%{event.group}, which is none", event.broker, event.group)


class retried_pull_goes_on(Rule):
    """A pull that is to be tried again at once goes on behind what it has asked for."""

    shipped = "violated: M3 a slave that ends before the offset"
    cite = "PullMessageProcessor#processRequest, DefaultMessageStore#nextOffsetCorrection"
    about = "broker group topic queue_id"

    @on(events.PullRetried)
    def retried(self, _: int, at: str, event: events.PullRetried) -> Iterator[Told]:
        if event.next_offset <= event.offset:
            yield self.told(f"{at} tells {event.group} to pull queue {event.queue_id} of {event.topic} again at once, "
                            f"from {event.next_offset} on as before",
                            event.broker, event.group, event.topic, event.queue_id)


class delayed_message_comes_at_last(Promise):
    """A delayed message that a broker has kept is in its topic when its delay is over.

    Only what was stored before the world healed is looked for.
    """

    cite = "ScheduleMessageService.DeliverDelayedMessageTimerTask#executeOnTimeup"
    about = "at"
    within_ms = deadlines.all_delays_over
    named = True

    # Delayed messages by their ids: where they are before the healing; and which of them were put into a topic.
    waiting = Kept("id", survives="all")
    came = Kept("id", survives="all")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic != RMQ_SYS_SCHEDULE_TOPIC:
            self.came[event.key,] = ms
        elif event.key is not None and not self.healed_ms:
            self.waiting[event.key,] = at

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for broker in self.views.brokers():
            left = {key for key, at in self.waiting.items() if at == broker.machine and key not in self.came}
            kept = {(record.key,) for record in self.views.log_records(broker.machine)} if left else set()
            late = sorted(str(key[0]) for key in left & kept)
            if late:
                yield self.told(f"{broker.machine} has {len(late)} delayed messages that are due and were not "
                                f"delivered, {late[0]} first", broker.machine)
