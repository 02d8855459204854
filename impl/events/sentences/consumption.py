"""Sentences about pulls and messages."""

from __future__ import annotations

from impl.events import consumption as told
from impl.events.sentences.said import Said

SENTENCES: dict[type, Said] = {
    told.PullSuspended: Said("{at} pulls {mq} from offset {offset} on, and the broker holds the pull", "pulls"),
    told.PullAnswered: Said("the broker answers the pull of {mq} by {at}: {code}", "pulls answered"),
    told.PullFailed: Said("{at} has no answer to its pull of {mq}", "pulls that failed"),
    told.MessagesFound: Said("{at} gets the messages {offsets} of {mq}", "pulls with messages"),
    told.PullBegun: Said("{at} begins to pull {mq}, whose lock it has, from offset {offset} on", "first pulls"),
    told.MessagesTaken: Said("{at} takes the messages {offsets} of {mq} for its listener", "batches taken"),
    told.MessagesPutBack: Said("{at} puts the messages {offsets} of {mq} back: they are to be consumed again",
                               "batches put back"),
    told.ListenerStarted: Said("the listener of {at} begins with {mq}", "listener calls"),
    told.ListenerEnded: Said("the listener of {at} has ended with {mq}", "ends of listener calls"),
    told.MessagesGiven: Said("the listener of {at} is given the messages {offsets} of {mq}", "messages given"),
    told.MessagesAnswered: Said("the listener of {at} answers {answers} for {offsets} of {mq}", "answers of listeners"),
    told.MessagesExpired: Said("{at} sends the messages {offsets} of {mq} back, which a listener has had for too long",
                               "expired messages"),
    told.MessagesSettled: Said("{at} has consumed the messages {offsets} of {mq}", "batches consumed"),
}
