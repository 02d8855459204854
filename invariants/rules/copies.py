"""What brokers write down again: a message whose delay is over, whose transaction has ended, or that was sent back."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP, RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from invariants.rules.excuse import Excuse, cause
from invariants.rules.rule import Kept, Rule, Told, after
from invariants.rules.sending import OWN_TOPICS
from invariants.views import Written

_OF_THE_WAY = frozenset({
    "DELAY", "RETRY_TOPIC", "REAL_TOPIC", "REAL_QID", "ORIGIN_MESSAGE_ID", "RECONSUME_TIME", "MAX_RECONSUME_TIMES",
    "CONSUME_START_TIME", "MIN_OFFSET", "MAX_OFFSET", "WAIT", "TRAN_MSG", "TRAN_PREPARED_QUEUE_OFFSET",
    "TRANSACTION_CHECK_TIMES", "__transactionId__",
})
"""MessageConst: the properties by which brokers and clients find the way of a message; they come and go."""
_FIRST = frozenset({"RETRY_TOPIC", "ORIGIN_MESSAGE_ID"})
"""What a message was when it was sent back first: it stays."""
_CONTENT, _BORN, _PROPERTIES, _ORIGIN, _NO_ORIGIN = (
    "another body or flag", "another birth", "other properties", "another origin", "no origin")


class copy_is_the_message(Rule):
    """What a broker writes down again of a message has its body, flag, birth and properties, and its first origin.

    So it is when a delay is over, a transaction has ended or is asked about, and when a message is sent back.
    """

    shipped = "violated: T5 a half message that is put back loses its flag"
    cite = ("ScheduleMessageService#messageTimeup, EndTransactionProcessor#endMessageTransaction, "
            "SendMessageProcessor#asyncConsumerSendMsgBack, TransactionalMessageBridge#renewHalfMessageInner")
    about = "id what"
    excuses = (
        Excuse("a client has sent it again, and has said anew when it was born",
               when=lambda rule, told: told.about[1] in {_BORN, _ORIGIN} and told.about[:1] in rule.again),
        Excuse("it is in its topic more than once, as its broker has delivered it again after its delay",
               when=lambda rule, told: told.about[1] == _ORIGIN and rule.delivered.get(told.about[:1], 0) > 1),
        cause("T5", "its broker has put it back, to ask about it", when=lambda rule, told: (
            told.about[1] == _CONTENT and rule.halves.get(told.about[:1], 0) > 1)),
    )

    # Where the first record of a message is; messages that clients have sent more than once; how often a half message
    # was put; how often a message was delivered after its delay; and what the first copy says that a message was.
    first = Kept("id", survives="all")
    again = Kept("id", survives="all")
    halves = Kept("id", survives="all")
    delivered = Kept("id", survives="all")
    origins = Kept("id", survives="all")

    @after(events.SendAttempted)
    def attempts(self, ms: int, at: str, event: events.SendAttempted) -> None:
        del at
        if event.attempt > 1 or event.oneway or event.group == CLIENT_INNER_PRODUCER_GROUP:
            self.again.update({(one,): ms for one in event.key.split(",")})

    @after(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> None:
        """What a recovery has cut off is there no more: others may be put there."""
        for key in [key for key, place in self.first.items() if place[0] == at and place[1] >= event.max_offset]:
            del self.first[key]

    @after(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        if event.key is None:
            return
        key, place = (event.key,), (at, event.commit_log_offset, event.size)
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            self.halves[key] = self.halves.get(key, 0) + 1
        if not event.topic.startswith(OWN_TOPICS):
            self.delivered[key] = self.delivered.get(key, 0) + 1
        known = self.first.setdefault(key, place)
        first, copy = (None, None) if known == place else (self.views.written(*known), self.views.written(*place))
        for what in () if first is None or copy is None else (
                *_differs(first, copy), *self._origin(key, event.topic, copy)):
            yield self.told(f"{at} writes {event.key} into {event.topic} with {what}", event.key, what)

    def _origin(self, key: tuple[str], topic: str, copy: Written) -> Iterator[str]:
        """What a copy says otherwise than the first one of when the message was sent back first, or does not say.

        A consumer that sends a message back itself, as one of its own, takes the origin away again.
        """
        origin = tuple(one for one in copy.properties if one[0] in _FIRST)
        if origin and self.origins.setdefault(key, origin) != origin:
            yield _ORIGIN
        by_broker = topic == RMQ_SYS_SCHEDULE_TOPIC and key not in self.again
        if by_broker and {name for name, _ in origin} == {"RETRY_TOPIC"}:
            yield _NO_ORIGIN


def _differs(first: Written, again: Written) -> Iterator[str]:
    """What the record of a copy says otherwise than the first one of its message."""
    if first.content != again.content:
        yield _CONTENT
    if first.born != again.born:
        yield _BORN
    if _without(first) != _without(again):
        yield _PROPERTIES


def _without(written: Written) -> tuple[tuple[str, str], ...]:
    return tuple(one for one in written.properties if one[0] not in _OF_THE_WAY)
