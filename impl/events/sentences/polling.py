"""Sentences about applications that poll."""

from __future__ import annotations

from impl.events import polling as told
from impl.events.sentences.said import Said

SENTENCES: dict[type, Said] = {
    told.QueuesHeld: Said("{at} has the queues {mqs} of {group} to poll", "changes of what is polled"),
    told.PollBegan: Said("the application of {at} polls", "polls"),
    told.PollEnded: Said("the poll of the application of {at} has ended with {messages} messages", "ends of polls"),
    told.WaysMixed: Said("the application of {at} subscribes and assigns", "mixed ways"),
    told.TopicLeft: Said("the application of {at} unsubscribes {topic}", "topics left"),
    told.TopicWantedAgain: Said("the application of {at} is about to subscribe {topic} again", "topics wanted again"),
    told.TopicTakenAgain: Said("the application of {at} subscribes {topic} again", "topics taken again"),
    told.PollerStopping: Said("the application of {at} shuts the consumer down that it polls", "shutdowns that begin"),
    told.PollerShutDown: Said("the consumer that the application of {at} polls has shut down", "shutdowns of pollers"),
    told.MessagesPolled: Said("the application of {at} has polled the messages {offsets} of {mq}", "batches polled"),
    told.CommitAsked: Said("the application of {at} commits what it has polled", "commits by hand"),
    told.QueueSought: Said("the application of {at} goes to offset {offset} of {mq}", "seeks"),
    told.SeekRefused: Said("the application of {at} may not go to offset {offset} of {mq}", "seek refused"),
    told.QueueRested: Said("the application of {at} rests {mq}, or goes on with it: {rested}", "rests"),
}
