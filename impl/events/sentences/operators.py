"""Sentences about orders of operators, and about what they are told."""

from __future__ import annotations

from typing import Any

from impl.events import operators as told
from impl.events.sentences.said import Said


def _how(event: told.OrderGiven | told.OrderDone) -> str:
    return "is to go" if event.wanted is None else f"is to be ({', '.join(map(str, event.wanted))})"


def _given(event: told.OrderGiven, _: Any) -> str:
    return "an operator tells {server} that the {kind} {name} " + _how(event)


def _done(event: told.OrderDone, _: Any) -> str:
    return "{server} has done as it was told: the {kind} {name} " + _how(event)


def _answered(event: told.InquiryAnswered, _: Any) -> str:
    return "{server} answers an operator who asks for the {what} of {name}: " + f"{event.answer}"


SENTENCES: dict[type, Said] = {
    told.InquiryMade: Said("an operator asks {server} for the {what} of {name}", "inquiries"),
    told.InquiryAnswered: Said(_answered, "answered inquiries"),
    told.OrderGiven: Said(_given, "orders"),
    told.OrderDone: Said(_done, "orders done"),
    told.NameServersTold: Said("{client} is told to ask {listed} from now on", "lists that were told"),
    told.SpokenOnce: Said("{client_id} speaks to {broker} for {group}, and then no more", "clients that speak once"),
    told.ThreadsHeld: Said("{broker} has no free thread in its pool {pool} for {ms} ms", "busy pools"),
}
"""By the class of the event."""
