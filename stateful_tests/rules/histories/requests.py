"""Written histories of requests over messages."""

from __future__ import annotations

from typing import Any

import invariants.rules.requests  # noqa: F401  # declares the rules
from impl.events import (
    BrokerStarted,
    ClockJumped,
    MessageAppended,
    NameServerChosen,
    RequestAsked,
    RequestGiven,
    RequestReplied,
    RequestTold,
    SendAnswered,
    SendFailed,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from stateful_tests.rules.written import Tables, Written

P, C, G = "producer1", "c1", "P"
CALM, FAILS = Bounds(), Tables(calm=False)
OVER_MS = 3_000 + 1_000 + 3_000 + 12_000 + 18_000 + 2_000
UNSENT_MS = deadlines.soon(CALM)
REPLIES = "cluster_REPLY_TOPIC"
Told = tuple[int, str, Any]


def asked(ms: int = 0, key: str = "k") -> Told:
    """The application asks."""
    return ms, P, RequestAsked(G, key, "orders", 3_000)


def told(ms: int = 5, replied_to: str = "", content: int | None = None, exception: str | None = None) -> Told:
    """It is told what became of that."""
    return ms, P, RequestTold(G, "k", replied_to, content, exception)


def answered(queue_offset: int) -> Told:
    """A broker says whether it has the request; -1: it has not."""
    return 3, P, SendAnswered("broker-a", "orders", 0, queue_offset, 100, "k", 0 if queue_offset >= 0 else 2)


def replied(ms: int, key: str = "k", content: int | None = None) -> Told:
    """Somebody has replied."""
    return ms, C, RequestReplied("G", key, content)


def given(timeout_ms: int, key: str = "k") -> Told:
    """Somebody is to reply."""
    return 3, C, RequestGiven("G", key, timeout_ms)


def stored(key: str = "k", at: str = "broker-a", topic: str = REPLIES) -> Told:
    """A broker has put a message into its log."""
    return 3, at, MessageAppended(at, topic, 0, 0, 0, 100, key)


def reply_answered(code: int, topic: str = REPLIES) -> Told:
    """A broker has answered who replies."""
    return 4, C, SendAnswered("broker-a", topic, 0, -1, -1, "k", code)


def chosen(ms: int, client: int = 1, at: str = P) -> Told:
    """A client of a process chooses a name server."""
    return ms, at, NameServerChosen("n:9876", frozenset(), client)


def at(ms: int) -> Told:
    """Time passes."""
    return ms, "broker-a", BrokerStarted("broker-a", "broker-a", 0)


OVER, FAILED = "RequestTimeoutException", "MQClientException"
UNSENT = 4, P, SendFailed(P, G, "k", "orders", -1, 3, 3, 4, 3_000)

HISTORIES = (
    Written("reply_is_that_of_its_request", (told(5, "other"),), (told(5, "k"), told(6)), says="the reply to other"),
    # Who has asked may have the reply before its sender is told that it was stored.
    Written("reply_comes_as_it_was_sent", (replied(2, content=7), told(5, "k", 8)),
            (replied(2, content=7), told(5, "k", 7)), says="the reply to k is not what was sent"),
    Written("reply_comes_as_it_was_sent", (told(5, "k", 8), replied(6, content=7)),
            (told(5, "k", 8), replied(6, "other", 7), replied(7, content=8))),
    Written("reply_comes_as_it_was_sent", (replied(2, content=7), told(5, "k", 8)),
            (replied(2), told(5, "k", 8), replied(6), told(7))),
    Written("request_is_over_in_its_time", (asked(),), (asked(), told()), bounds=CALM),
    Written("request_is_over_in_its_time", (asked(), at(OVER_MS + 1), told(OVER_MS + 1)),
            (asked(), at(OVER_MS), told(OVER_MS)), bounds=CALM, says="heard nothing of its request k"),
    # Its client goes from one name server to another one; the first that a client has is nothing that it has left.
    *(Written("request_is_over_in_its_time", broken, kept, bounds=CALM) for broken, kept in (
        ((asked(), chosen(2)), (asked(), chosen(2), chosen(3))),
        ((asked(), chosen(2), chosen(3, client=2)), (chosen(0), asked(), chosen(3, client=2), chosen(4, client=2))),
        ((asked(), chosen(2, at="producer2"), chosen(3, at="producer2")), (
            asked(), chosen(2, client=2), chosen(3, client=2))),
        ((asked(), chosen(2), chosen(3, at="producer2")), (chosen(0), chosen(1), asked(2))),
        ((chosen(0), chosen(1), asked(OVER_MS + 2)), (chosen(0), chosen(1), asked(OVER_MS + 1))))),
    Written("request_is_waited_for_in_full", (asked(), told(2_999)), (asked(), told(3_000)),
            says="is told after 2999 ms that there is no reply to k, and wants to wait for 3000 ms"),
    Written("request_is_waited_for_in_full", (asked(), told()), (asked(), told(5, "k"))),
    Written("request_is_waited_for_in_full", (asked(), told()), (asked(), UNSENT, told())),
    Written("request_is_waited_for_in_full", (asked(), told()), (asked(), (1, P, ClockJumped(5)), told())),
    Written("request_is_waited_for_in_full", (asked(), told()), (told(),)),
    Written("request_is_waited_for_in_full", (asked(), told()), (asked(), told()), kept_views=FAILS),
    Written("missing_reply_is_explained", (asked(), told(3_000, exception="")),
            (asked(), told(3_000, exception=OVER)), says="neither a reply to k nor an exception"),
    Written("missing_reply_is_explained", (asked(), told(exception="")), (asked(), told())),
    Written("missing_reply_is_explained", (asked(), told(exception="")), (asked(), told(5, "k", 7, ""))),
    Written("missing_reply_is_explained", (asked(), answered(0), told(exception=FAILED)),
            (asked(), answered(-1), told(exception=FAILED)), says="is told MQClientException of k"),
    Written("missing_reply_is_explained", (asked(), answered(0), told(exception=FAILED)),
            (asked(), answered(0), told(exception=OVER))),
    Written("missing_reply_is_explained", (asked(), UNSENT, told(3_000, exception=OVER)),
            (asked(), UNSENT, told(3_000, exception=FAILED)), says="the time of k is over, which could not be sent"),
    # What it is told once more is not about this rule.
    Written("missing_reply_is_explained", (asked(), UNSENT, told(3_000, exception=OVER)),
            (asked(), UNSENT, told(5, exception=FAILED), told(3_000, exception=OVER))),
    Written("unsent_request_is_over_at_once", (asked(), UNSENT), (UNSENT,), bounds=CALM),
    Written("unsent_request_is_over_at_once", (asked(), UNSENT, at(UNSENT_MS + 5), told(UNSENT_MS + 5)),
            (asked(), UNSENT, at(UNSENT_MS + 4), told(UNSENT_MS + 4)), bounds=CALM,
            says="could not send its request k"),
    Written("unsent_request_is_over_at_once", (asked(), UNSENT), (asked(), told(3), UNSENT), bounds=CALM),
    Written("reply_comes_to_who_waits", (asked(), replied(2_999), told(3_000)),
            (asked(), replied(3_000), told(3_000))),
    Written("reply_comes_to_who_waits", (asked(), replied(2), told()), (asked(), replied(2), told(5, "k"))),
    Written("reply_comes_to_who_waits", (asked(), replied(2), told()), (asked(), replied(2, "other"), told())),
    Written("reply_comes_to_who_waits", (asked(), replied(2), told()), (asked(), replied(2), told()), kept_views=FAILS),
    Written("request_says_how_long_it_waits", (asked(), given(-1)), (asked(), given(3_000), given(-1, "other"))),
    *(Written("answered_reply_is_stored", (*others, reply_answered(code)), (stored(), reply_answered(code)),
              says=f"is answered {code} to its reply k") for code in (0, 1)
      for others in ((), (stored("other"),), (stored(at="broker-b"),), (stored(topic="orders"),))),
    *(Written("answered_reply_is_stored", (reply_answered(0),), (kept,))
      for kept in (reply_answered(0, "orders"), reply_answered(2), reply_answered(14))),
    Written("answered_reply_is_stored", (reply_answered(0),), (reply_answered(0),), kept_views=FAILS),
)
