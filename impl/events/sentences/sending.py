"""Sentences about producers: attempts, failures, and half messages."""

from __future__ import annotations

from impl.events import sending as told
from impl.events.sentences.said import Said

SENTENCES: dict[type, Said] = {
    told.ProducerStarted: Said("producer {group} of {client_id} has started", "starts of producers"),
    told.ProducerShutDown: Said("producer {group} of {client_id} has shut down", "ends of producers"),
    told.PublishInfoUpdated: Said(
        "producer {group} of {client_id} has queues of {topic} to choose from: {queues}", "queues for producers"),
    told.SendAttempted: Said(
        "producer {group} of {client_id} sends {key} to {mq}, attempt {attempt}", "attempts to send"),
    told.SendFailed: Said(
        "producer {group} of {client_id} gives {key} up after {attempts} attempts and {spent_ms} ms: code {code}",
        "failed sends"),
    told.HalfMessageEnded: Said(
        "producer {group} of {client_id} tells the broker of its half message {key}: {state}", "ends of half messages"),
}
