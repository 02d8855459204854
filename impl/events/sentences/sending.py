"""Sentences about producers: attempts, failures, and half messages."""

from __future__ import annotations

from impl.events import sending as told
from impl.events.sentences.said import Said, Template


def _attempted(event: told.SendAttempted, _: told.SendAttempted | None) -> Template:
    """Where a message is sent to; how often it has been tried is said of later attempts."""
    return "{client_id} sends {key} to {mq}" + (", attempt {attempt}" if event.attempt > 1 else "")


def _failed(event: told.SendFailed, _: told.SendFailed | None) -> Template:
    """How a send has failed; an exception without a code says nothing more."""
    return "{client_id} gives {key} up after attempt {attempts} of {allowed}" + (": {code}" if event.code >= 0 else "")


def _told(event: told.SendTold, _: told.SendTold | None) -> Template:
    """What the application was told."""
    return "the application is told of {key}: " + ("{status}, at {queue_offset} of {mq}" if event.mq else "nothing")


def _asked(event: told.TransactionAsked, _: told.TransactionAsked | None) -> Template:
    """Whether a transaction is to be done, or was."""
    return "the application of {at} is asked " + ("what became of {key}" if event.checked else "to do {key}")


def _replied(event: told.RequestTold, _: told.RequestTold | None) -> Template:
    """What the application was told of its request."""
    return "the application is told of its request {key}: " + (
        "the reply to {replied_to}" if event.replied_to else "nothing")


SENTENCES: dict[type, Said] = {
    told.SendAsked: Said("the application of {at} sends {key}", "sends"),
    told.SendTold: Said(_told, "sends told"),
    told.ProducerStarted: Said("{client_id} starts a producer of {group}", "starts of producers"),
    told.ProducerShutDown: Said("{client_id} has shut its producer of {group} down", "ends of producers"),
    told.PublishInfoUpdated: Said(
        "{client_id} has queues of {topic} to choose from: {queues}", "queues for producers"),
    told.SendAttempted: Said(_attempted, "attempts to send"),
    told.SendFailed: Said(_failed, "failed sends"),
    told.QueueChosen: Said("the application of {at} chooses {mq} for {key}", "choices of queues"),
    told.TransactionAsked: Said(_asked, "transactions asked for"),
    told.TransactionAnswered: Said("the application of {at} answers {answer} for {key}", "answers of listeners"),
    told.EndTransactionTaken: Said("{broker} is told of the half message {key}: {state}", "ends that brokers hear"),
    told.OpMessagesRead: Said("{broker} reads what says that half messages have ended, up to {next_offset}",
                              "reads of op messages"),
    told.RequestAsked: Said("the application of {at} asks for a reply to {key}", "requests"),
    told.RequestGiven: Said("the application of {at} is to reply to {key}", "requests given"),
    told.RequestReplied: Said("the application of {at} has replied to {key}", "replies that were sent"),
    told.RequestTold: Said(_replied, "replies"),
    told.HalfMessageEnded: Said(
        "{client_id} tells the broker of its half message {key}: {state}", "ends of half messages"),
}
