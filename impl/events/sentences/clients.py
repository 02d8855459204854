"""Sentences about the timers of a client, and the name servers that it asks."""

from __future__ import annotations

from impl.events import clients as told
from impl.events.sentences.said import Said

SENTENCES: dict[type, Said] = {
    told.TimerJobBegan: Said("the timer of {at} begins {job}, which is due every {period_ms}", "timer jobs"),
    told.TimerJobEnded: Said("the timer of {at} is through with {job}", "ends of timer jobs"),
    told.NameServerChosen: Said("{at} chooses the name server {addr}; its list has {listed}", "name servers chosen"),
    told.NameServersReplaced: Said("{at} is given another list of name servers: {listed}", "lists of name servers"),
}
