"""Sentences about messages on their way through a broker."""

from __future__ import annotations

from typing import Any

from impl.events import messages as told
from impl.events.sentences.said import Said, Template


def _dead(event: told.DeadLetterTaken, _: Any) -> Template:
    if event.delay_level:
        return "{broker} takes the dead letter {key} of {group}, and delays it by level {delay_level} first"
    return "{broker} puts {key} into the dead letters of {group}"


def _sent_back(event: told.SendBackTaken, _: Any) -> Template:
    if event.copy_offset is not None:
        return "{broker} keeps the message at {commit_log_offset}, which {group} sends back, for queue {copy_queue_id}"
    return "{broker} says SUCCESS to {group}, which sends the message at {commit_log_offset} back, and keeps nothing"


def _found(event: told.KeyAnswered, _: Any) -> Template:
    if not event.offsets:
        return "{broker} has no message of {topic} with the key {key}"
    return "{broker} has messages of {topic} with the key {key} at {offsets}"


SENTENCES: dict[type, Said] = {
    told.DeadLetterTaken: Said(_dead, "dead letters"),
    told.SendBackTaken: Said(_sent_back, "messages that are sent back"),
    told.PullRetried: Said(
        "{broker} tells {group} to pull queue {queue_id} of {topic} again at once: it asked for {offset}, and is to go "
        "on at {next_offset}", "pulls to be tried again"),
    told.PullHeld: Said(
        "{broker} holds the pull of {connection}: queue {queue_id} of {topic} has nothing at {offset} for {group}",
        "pulls that are held"),
    told.HeldPullAnswered: Said("{broker} answers a pull of {connection} that it has held", "held pulls answered"),
    told.HeldPullRefused: Said("{broker} has no thread for a pull of {connection} that it has held: nobody answers it",
                               "held pulls refused"),
    told.KeyAsked: Said("an operator asks {broker} for the messages of {topic} with the key {key}", "keys asked for"),
    told.KeyAnswered: Said(_found, "keys answered"),
}
