"""Who does the traces of which model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from model.scopes import SCOPES
from stateful_tests.crash.played import Played, UnplayedError
from stateful_tests.played.consumption import PlayedConsumption
from stateful_tests.played.failing import PlayedDelivery
from stateful_tests.played.held_pull import PlayedPull
from stateful_tests.played.ordered_queue import PlayedOrderedQueue
from stateful_tests.played.trace import PlayedTrace

PLAYERS: Mapping[str, type[PlayedTrace]] = {
    "Delivery": PlayedDelivery, "LongPolling": PlayedPull, "OrderedQueue": PlayedOrderedQueue,
    "ProcessQueues": PlayedConsumption, "Store": Played,
}
"""By the name of the model."""


def played(scope: str, trace: Mapping[str, Any]) -> PlayedTrace:
    """A trace of a scope, done; raises KeyError if nobody does those of its model."""
    found = next(one.scope for one in SCOPES if one.name == scope)
    constants = {name: found.rigid(name, ()) for name, info in found.concept.variables.items()
                 if info.rigid and not info.keys}
    return PLAYERS[found.concept.name](trace, constants)


def on_the_implementation(document: Mapping[str, Any]) -> Iterator[str]:
    """What the implementation makes of a trace that a search has found, line by line; nothing for other evidence."""
    details = document["subject"].get("details", {})
    if document["kind"] != "trace" or "mutation" in details or "file" in details:
        return
    player = PLAYERS.get(details.get("concept"))
    if player is not None:
        try:
            yield from played(document["subject"]["name"], document).told()
        except UnplayedError as error:
            yield f"on {player.parts}: not done, {error}"
