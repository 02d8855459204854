"""Sentences about the timers of a client, and the name servers that it asks."""

from __future__ import annotations

from typing import Any

from impl.events import clients as told
from impl.events.sentences.said import Said


def _chosen(event: told.NameServerChosen, _: Any) -> str:
    if event.addr in event.listed:
        return "{at} chooses the name server {addr} from its list: {listed}"
    return "{at} chooses the name server {addr}, which is not in its list any more: {listed}"


def _replaced(_: told.NameServersReplaced, before: Any) -> str:
    said = "{at} is given another list of name servers: {listed}"
    return said if before is None else said + " instead of {before.listed}"


SENTENCES: dict[type, Said] = {
    told.TimerJobBegan: Said("the timer of {at} begins {job}, which is due every {period_ms}", "timer jobs"),
    told.TimerJobEnded: Said("the timer of {at} is through with {job}", "ends of timer jobs"),
    told.NameServerChosen: Said(_chosen, "name servers chosen"),
    told.NameServersReplaced: Said(_replaced, "lists of name servers"),
}
