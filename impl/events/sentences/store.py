"""Sentences about messages on their way into a store, and about stores that start."""

from __future__ import annotations

from typing import Any

from impl.events import store as told
from impl.events.sentences.said import Said, Template


def _answered(event: Any, _: Any) -> Template:
    """Whether the message is stored."""
    if event.queue_offset < 0:
        return "{broker} refuses the message {key} of {at}: {code}"
    return "{broker} has the message {key} of {at} at {queue_offset} of queue {queue_id} of {topic}: {code}"


def _refused(event: told.StoreRefused, _: Any) -> Template:
    """Which file is to blame."""
    why = "" if event.path is None else ": its file {path} has {length} bytes, and not as many as are configured"
    return "the store of {broker} does not load, and the broker does not come up" + why


SENTENCES: dict[type, Said] = {
    told.SendAnswered: Said(_answered, "answers to producers"),
    told.MessageAppended: Said(
        "{broker} appends {size} bytes to its log at {commit_log_offset}: message {queue_offset} of queue {queue_id} "
        "of {topic}, {key}", "appended messages"),
    told.MessageDispatched: Said(
        "{broker} puts message {queue_offset} into queue {queue_id} of {topic}: it is at {commit_log_offset}",
        "dispatched messages"),
    told.StoreLoaded: Said("the store of {broker} has recovered its log from {min_offset} to {max_offset}",
                           "recoveries of stores"),
    told.LogCopied: Said("{broker} copies {size} bytes of its master's log to {offset}", "copied parts of the log"),
    told.GroupCommitted: Said("a round of group commit at {broker} has ended; its log counts as flushed up to {offset}",
                              "rounds of group commit"),
    told.LogFlushed: Said("the log of {broker} counts as flushed up to {offset}", "flushes of the log"),
    told.LogExpired: Said("{broker} deletes the oldest files of its log, which begins at {min_offset} now",
                          "deletions of old files"),
    told.QueuesDeleted: Said("{broker} deletes its queues of {topic}", "deletions of queues"),
    told.DelayLevelEnded: Said("the task of delay level {level} at {broker} ends with an Error, and no other one comes",
                               "delay levels without a task"),
    told.SlaveConnected: Said("{slave} connects to {broker} to copy its log", "connections of slaves"),
    told.ReplicaReported: Said("{broker} hears that {slave} has its log up to {offset}", "reports of slaves"),
    told.ReplicaAnswered: Said("{broker} answers the put up to {next_offset}, which has waited for a slave: {status}",
                               "answers of slaves"),
    told.SlaveDisconnected: Said("{broker} has no connection to its slave {slave} any more", "lost slaves"),
    told.StoreRefused: Said(_refused, "refused starts"),
}
