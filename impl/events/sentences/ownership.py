"""Sentences about consumers and the queues that they hold."""

from __future__ import annotations

from typing import Any

from impl.events import ownership as told
from impl.events.sentences.said import Said


def _fetched(event: told.ConsumerIdsFetched, _: Any) -> str:
    if event.client_ids is None:
        return "{at} asks {broker_addr} for the members of {group}, and gets none"
    return "{at} divides {topic} by the members that {broker_addr} named: {client_ids}"


def _assigned(event: told.QueuesAssigned, _: Any) -> str:
    holds = "{mqs}" if event.mqs else "no queue of {topic}"
    return f"{{at}} has rebalanced {{topic}}: it holds {holds}"


def _dropped(event: told.QueueDropped, _: Any) -> str:
    return "{at} gives {mq} up in a rebalance" if event.by_rebalance else "{at} gives {mq} up"


def _started(event: told.ConsumerStarted, _: Any) -> str:
    way = ", broadcasting" if event.message_model == "BROADCASTING" else ", in order" if event.orderly else ""
    own = "" if event.strategy == told.DEFAULT_STRATEGY else ", with the strategy {strategy}"
    return "{at} starts a consumer of {group}{own_id}" + way + own


def _routed(event: told.RouteUpdated, _: Any) -> str:
    return "{at} has a route of {topic}: " + ("{mqs}" if event.mqs else "no queue")


SENTENCES: dict[type, Said] = {
    told.AllocationFailed: Said("the strategy of {at} throws {error} for {topic}: {at} keeps the queues that it has",
                                "strategies that throw"),
    told.ConsumerStarted: Said(_started, "starts of consumers"),
    told.ConsumerStopping: Said("{at} begins to shut its consumer of {group} down", "shutdowns begun"),
    told.ConsumerSuspended: Said("{at} suspends its consumer of {group}: no more pulls; the group is not told",
                                 "consumers suspended"),
    told.ConsumerShutDown: Said("{at} has shut its consumer of {group} down", "shutdowns"),
    told.ConsumerIdsFetched: Said(_fetched, "member lists fetched"),
    told.QueueTaken: Said("{at} takes {mq} and begins it at offset {offset}", "queues taken"),
    told.QueueDropped: Said(_dropped, "queues given up"),
    told.QueueForgotten: Said("{at} takes {mq} out of its table and does not drop it: its pulls go on",
                              "queues forgotten"),
    told.QueuesAssigned: Said(_assigned, "rebalances"),
    told.RouteUpdated: Said(_routed, "routes learnt"),
}
