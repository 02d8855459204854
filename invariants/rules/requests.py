"""What applications are told of requests over messages: the reply that is theirs, or that none came in time."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, on
from invariants.rules.sending import REPLIES
from invariants.rules.weather import clock_was_set

_TIME_IS_OVER = "RequestTimeoutException"
SUCCESS, NOT_PUSHED = 0, 1
"""ResponseCode: SUCCESS, and SYSTEM_ERROR, which a broker says that could not give a reply to who waits for it."""


class reply_is_that_of_its_request(Rule):
    """Who asks over messages is given the reply to that request, and no other."""

    cite = "ClientRemotingProcessor#processReplyMessage, RequestFutureHolder#getRequestFutureTable"
    about = "group key"

    @on(events.RequestTold)
    def told_of(self, _: int, at: str, event: events.RequestTold) -> Iterator[Told]:
        if event.replied_to not in ("", event.key):
            yield self.told(f"{at} is given the reply to {event.replied_to} for {event.key}", event.group, event.key)


class reply_comes_as_it_was_sent(Rule):
    """The reply that is given to who asks has the topic, the flag, the properties and the body that were sent."""

    cite = "ReplyMessageProcessor#pushReplyMessage, ClientRemotingProcessor#receiveReplyMessage: uncompress, setFlag"
    about = "group key"

    # What was given to who has asked, and what was sent to him: either may be known first.
    given, sent = (Kept("key", survives="all") for _ in range(2))

    @on(events.RequestTold)
    def is_told(self, _: int, __: str, event: events.RequestTold) -> Iterator[Told]:
        if event.content is not None:
            self.given[event.key,] = event.group, event.content
            yield from self._compared(event.key)

    @on(events.RequestReplied)
    def replies(self, _: int, __: str, event: events.RequestReplied) -> Iterator[Told]:
        if event.content is not None:
            self.sent[event.key,] = event.content
            yield from self._compared(event.key)

    def _compared(self, key: str) -> Iterator[Told]:
        group, given = self.given.get((key,), ("", None))
        if given is not None and self.sent.get((key,), given) != given:
            yield self.told(f"the reply to {key} is not what was sent", group, key)


class request_is_over_in_its_time(Duty):
    """Who asks over messages has the reply, or is told that there is none, when the time-out is over."""

    cite = "DefaultMQProducer#request, RequestFutureHolder#scanExpiredRequest"
    about = "at group key"
    within_ms = deadlines.request_over
    paid_by = (events.RequestTold,)
    excuses = (Excuse("its name server was away: those who ask for routes wait one after another",
                      when=lambda rule, told: rule.has_left_a_name_server(told)),)
    late = "{at} has heard nothing of its request {key} for {waited_ms} ms"

    def has_left_a_name_server(self, told: Told) -> bool:
        """Whether a client of the process has chosen another name server than before, in the meantime or lately."""
        chosen = self.past.of(events.NameServerChosen, at=told.about[0])
        lately_ms = (told.since_ms or 0) - deadlines.request_over(self.bounds)
        return any(one.ms >= lately_ms and any(before.event.client == one.event.client for before in chosen[:number])
                   for number, one in enumerate(chosen))

    @on(events.RequestAsked)
    def asks(self, ms: int, at: str, event: events.RequestAsked) -> None:
        self.owe((at, event.group, event.key), ms)


class request_is_waited_for_in_full(Rule):
    """Where nothing fails nobody is told that there is no reply to what was sent before the time-out is over."""

    cite = "DefaultMQProducerImpl#request: waitResponseMessage(timeout - cost), RequestResponseFuture#isTimeout"
    about = "at group key"
    calm = True
    excuses = (Excuse("the request could not be sent", by=Match(events.SendFailed, of="at group key"), lasts=FOR_EVER),
               clock_was_set("at"))

    asked = Kept("at group key", begins=(events.RequestAsked,), value=lambda ms, event: (ms, event.timeout_ms))

    @on(events.RequestTold)
    def told_of(self, ms: int, at: str, event: events.RequestTold) -> Iterator[Told]:
        key = at, event.group, event.key
        since_ms, timeout_ms = self.asked.pop(key, (ms, 0))
        if not event.replied_to and ms - since_ms < timeout_ms:
            yield self.told(f"{at} is told after {ms - since_ms} ms that there is no reply to {event.key}, and wants "
                            f"to wait for {timeout_ms} ms", *key, since_ms=since_ms)


class missing_reply_is_explained(Rule):
    """Who has no reply is told by an exception: that the time is over if a broker has said that it has the request.

    That the time is over is said of no request of which its sender has heard that it could not be sent.
    """

    cite = "DefaultMQProducerImpl#waitResponse, #requestFail, RequestFutureHolder#scanExpiredRequest"
    about = "at group key"

    waits = Kept("at group key", begins=(events.RequestAsked,), ends=(events.RequestTold,))
    stored = Kept("at key", begins=(Match(events.SendAnswered, having=lambda one: one.queue_offset >= 0),))
    failed = Kept("at group key", begins=(Match(events.SendFailed, of="at group key"),))

    @on(events.RequestTold)
    def told_of(self, _: int, at: str, event: events.RequestTold) -> Iterator[Told]:
        key, said = (at, event.group, event.key), event.exception
        if event.replied_to or said is None or key not in self.waits:
            return
        if not said:
            yield self.told(f"{at} is told neither a reply to {event.key} nor an exception", *key)
        elif said != _TIME_IS_OVER and (at, event.key) in self.stored:
            yield self.told(f"{at} is told {said} of {event.key}, which its broker has", *key)
        elif said == _TIME_IS_OVER and key in self.failed:
            yield self.told(f"{at} is told that the time of {event.key} is over, which could not be sent", *key)


class unsent_request_is_over_at_once(Duty):
    """Who asks over messages hears at once that the request could not be sent, and does not wait for a reply."""

    cite = "DefaultMQProducerImpl#request: onException, #requestFail"
    about = "at group key"
    within_ms = deadlines.soon
    paid_by = (events.RequestTold,)
    late = "{at} could not send its request {key}, and is not told so for {waited_ms} ms"

    waits = Kept("at group key", begins=(events.RequestAsked,), ends=(events.RequestTold,))

    @on(events.SendFailed)
    def fails(self, ms: int, at: str, event: events.SendFailed) -> None:
        if (key := (at, event.group, event.key)) in self.waits:
            self.owe(key, ms)


class reply_comes_to_who_waits(Rule):
    """A reply that was sent in time, and taken by its broker, is given to who waits for it."""

    cite = "ReplyMessageProcessor#pushReplyMessage, ClientRemotingProcessor#receiveReplyMessage"
    about = "group key"
    calm = True

    until_ms = Kept("key", survives="all", begins=(events.RequestAsked,), value=lambda ms, event: ms + event.timeout_ms)
    replied = Kept("key", survives="all")

    @on(events.RequestReplied)
    def replies(self, ms: int, at: str, event: events.RequestReplied) -> None:
        del at
        if ms < self.until_ms.get((event.key,), ms):
            self.replied[event.key,] = ms

    @on(events.RequestTold)
    def told_of(self, _: int, at: str, event: events.RequestTold) -> Iterator[Told]:
        if not event.replied_to and (event.key,) in self.replied:
            yield self.told(f"{at} is told that there is no reply to {event.key}, which has come", event.group,
                            event.key)


class answered_reply_is_stored(Rule):
    """Where nothing fails a reply that is answered is in the log of its broker, also if nobody could be given it."""

    cite = "ReplyMessageProcessor#processReplyMessageRequest: storeReplyMessageEnable"
    about = "broker key"
    calm = True

    appended = Kept("broker key", survives="all", begins=(Match(
        events.MessageAppended, having=lambda event: event.topic.endswith(REPLIES)),))

    @on(events.SendAnswered)
    def is_answered(self, _: int, at: str, event: events.SendAnswered) -> Iterator[Told]:
        is_known = event.code in {SUCCESS, NOT_PUSHED} and event.topic.endswith(REPLIES)
        if is_known and (event.broker, event.key) not in self.appended:
            yield self.told(f"{at} is answered {event.code} to its reply {event.key}, which is not in the log of "
                            f"{event.broker}", event.broker, event.key)


class request_says_how_long_it_waits(Rule):
    """Who is to reply can read from the request how long its sender waits."""

    cite = "DefaultMQProducerImpl#prepareSendRequest: PROPERTY_MESSAGE_TTL"
    about = "group key"

    asked = Kept("key", survives="all", begins=(events.RequestAsked,), value=lambda _, event: event.timeout_ms)

    @on(events.RequestGiven)
    def gives(self, _: int, at: str, event: events.RequestGiven) -> Iterator[Told]:
        waits_ms = self.asked.get((event.key,), event.timeout_ms)
        if event.timeout_ms != waits_ms:
            yield self.told(f"{at} reads that {event.key} waits {event.timeout_ms} ms, and it waits {waits_ms} ms",
                            event.group, event.key)
