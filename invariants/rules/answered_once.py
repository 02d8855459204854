"""How often a request is answered."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from invariants.rules.rule import Rule, Told, on


class request_is_answered_once(Rule):
    """Who is asked answers each request that wants an answer once at most.

    Its client takes the first answer, and drops all others: they are not noticed there.
    """

    cite = ("NettyRemotingAbstract#processRequestCommand, #processResponseCommand, "
            "SendMessageProcessor#handlePutMessageResultFuture, BrokerFastFailure#cleanExpiredRequestInQueue")
    about = "at connection"

    @on(events.AnsweredAgain)
    def answers_again(self, _: int, at: str, event: events.AnsweredAgain) -> Iterator[Told]:
        yield self.told(f"{at} answers request {event.opaque} over {event.connection} again", at, event.connection)
