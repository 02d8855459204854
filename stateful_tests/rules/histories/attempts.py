"""Written histories of what the requests of producers say."""

from __future__ import annotations

from typing import Any

import invariants.rules.attempts  # noqa: F401  # declares the rules
from impl.common.topic_config import TopicConfig
from impl.decisions.message_queue import MessageQueue
from impl.events import BrokerStarted, OrderGiven, ProcessPaused, QueueChosen, SendTold, TopicConfigUpdated
from invariants.rules.bounds import Bounds
from stateful_tests.rules.histories.applications import (
    CALM,
    LISTED,
    NOTHING_LISTED,
    QUEUES,
    P,
    answered,
    asked,
    told,
    tried,
)
from stateful_tests.rules.written import Tables, Written

Told = tuple[int, str, Any]
G, A = "P", "broker-a"
FULL, OWN = "shop%orders", MessageQueue("orders", A, 0)
PAUSING, FAILS = Bounds(thread_pause_ms=100), Tables(calm=False)
OTHER = OWN._replace(broker_name="broker-c")
KNOWN = Tables(addresses_to_send={(mq.broker_name, 0): f"{mq.broker_name}:10911" for mq in QUEUES})
MADE = (1, A, TopicConfigUpdated(A, "orders"))


def opened(settings: tuple[str, ...]) -> Told:
    """A broker starts with these settings."""
    return 0, A, BrokerStarted(A, A, 0, settings)


CLOSED = opened(("autoCreateTopicEnable = false",))


def wants(**fields: Any) -> Told:
    """The application sends, in a way of its own."""
    ms, at, event = asked(0)
    return ms, at, event._replace(**fields)


def late(timeout_ms: int, attempt: int = 1) -> Told:
    """The request is sent 2 ms later, and waits so long."""
    return tried(attempt, timeout_ms=timeout_ms)


def chosen(queue_id: int) -> Told:
    """The application has chosen a queue."""
    return 1, P, QueueChosen(G, "k", OWN._replace(queue_id=queue_id))


def permitted(perm: int) -> Tables:
    """The topic as its broker has it."""
    return Tables(topics={"orders": TopicConfig("orders", 4, 4, perm)})


def queues(number: int) -> Tables:
    """The topic as its broker has it."""
    return Tables(topics={"orders": TopicConfig("orders", number, number)})


def stands_still(ms: int = 1, at: str = P) -> Told:
    """A process stands still for a second."""
    return ms, at, ProcessPaused(1_000)


ANOTHER = wants(another=True)
LATER = wants(asynchronous=True)
ILLEGAL = wants(legal=False)
TRIED = tried()

SLAVE_IS_LATE = told(5, "FLUSH_SLAVE_TIMEOUT")

HISTORIES = (
    # A closed broker makes a topic for a message; for an operator, or nobody; an open one, or the one before did.
    *(Written("closed_broker_makes_no_topic", (CLOSED, asked(0), MADE), kept, causes=(), says="broker-a makes orders")
      for kept in ((CLOSED, asked(0), (0, "operator", OrderGiven(A, "topic", "orders", (4, 4, 6, 0))), MADE),
                   (CLOSED, MADE), (CLOSED, asked(0), (1, A, TopicConfigUpdated(A, "parcels"))), (asked(0), MADE),
                   (opened(()), asked(0), MADE), (opened(("clusterTopicEnable = false",)), asked(0), MADE),
                   ((0, "broker-b", CLOSED[2]), asked(0), MADE), (CLOSED, opened(()), asked(0), MADE),
                   ((0, A, CLOSED[2]._replace(broker_id=1)), asked(0), MADE),
                   ((0, *MADE[1:]), CLOSED, asked(0), MADE))),
    Written("closed_broker_makes_no_topic", ((0, "broker-b", MADE[2]), CLOSED, asked(0), MADE)),
    Written("closed_broker_makes_no_topic", ((0, A, TopicConfigUpdated(A, "parcels")), CLOSED, asked(0), MADE)),
    Written("closed_broker_makes_no_topic", (
        CLOSED, asked(0), (0, "operator", OrderGiven("broker-b", "topic", "orders", (4, 4, 6, 0))), MADE)),
    # Refused for good; stored, or refused for now, or another one, or a message that is sent for the first time.
    *(Written("final_refusal_ends_a_send", (tried(), answered(13), tried(2)), kept, causes=(),
              says="sends k again, which was refused for good (code 13)") for kept in (
        *((tried(), answered(code), tried(2)) for code in (0, 1, 2, 12, 14, 16, 17, 204, 205)),
        (tried(), answered(13)), (tried(), answered(13, key="j"), tried(2)), (tried(), answered(13), tried()),
        (tried(), answered(13), tried(), tried(2)), (tried(), answered(13), (4, "producer2", tried(2)[2])))),
    Written("final_refusal_ends_a_send", (tried(key="k,j"), answered(13), answered(13, key="j"), tried(2, key="k,j")),
            (tried(key="k,j"), answered(13, key="j"), tried(2, key="k,j"))),
    *(Written("less_safe_message_goes_to_another_broker", (ANOTHER, tried(), answered(code), SLAVE_IS_LATE), kept,
              says="is told FLUSH_SLAVE_TIMEOUT of k after 1 of 3 attempts", views=KNOWN)
      for code, kept in (
          (10, (asked(0), tried(), answered(10), SLAVE_IS_LATE)), (11, (ANOTHER, tried(), answered(0), SLAVE_IS_LATE)),
          (12, (ANOTHER, tried(3), answered(12), SLAVE_IS_LATE)),
          (12, (ANOTHER, tried(), answered(12), (3_001, *SLAVE_IS_LATE[1:]))),
          (12, (ANOTHER, tried(), answered(12), tried(2), answered(2), SLAVE_IS_LATE)),
          (12, (ANOTHER, tried(), answered(12, key="j"), SLAVE_IS_LATE)))),
    Written("less_safe_message_goes_to_another_broker", views=KNOWN,
            broken=(ANOTHER, tried(2), answered(12), (3_000, *SLAVE_IS_LATE[1:])), kept=(SLAVE_IS_LATE,),
            says="after 2 of 3"),
    Written("less_safe_message_goes_to_another_broker", views=KNOWN,
            broken=(wants(another=True, key="k,j"), tried(key="k,j"), answered(12),
                    told(5, "FLUSH_SLAVE_TIMEOUT", "k,j")),
            kept=(ANOTHER, tried(), answered(12), told(5, "FLUSH_SLAVE_TIMEOUT", "k,j"))),
    Written("less_safe_message_goes_to_another_broker", (ANOTHER, answered(12), SLAVE_IS_LATE),
            (ANOTHER, tried(listed=frozenset(), key="j"), answered(0), SLAVE_IS_LATE), says="after 0 of 3"),
    # An attempt at a broker whose master is not known sends nothing.
    *(Written("less_safe_message_goes_to_another_broker", (ANOTHER, tried(listed=listed), answered(12), SLAVE_IS_LATE),
              (ANOTHER, tried(listed=frozenset((OWN, OTHER))), answered(12), SLAVE_IS_LATE), views=views,
              kept_views=Tables(addresses_to_send={(A, 0): "a:1", (OTHER.broker_name, 1): "c:1"}))
      for listed, views in (
          (frozenset((OWN,)), Tables(addresses_to_send={(A, 0): "a:1"})),
          (frozenset((OWN, OTHER)), Tables(addresses_to_send={(A, 0): "a:1", (OTHER.broker_name, 0): "c:1"})),
          (frozenset((OWN,)), Tables(addresses_to_send=lambda *client: (
              {(A, 0): "a:1"} if client == (P, TRIED[2].client_id) else {}))))),
    Written("attempt_has_the_time_that_is_left", (asked(0), late(2_999)), (asked(0), late(2_998)), says="2998 ms are"),
    Written("attempt_has_the_time_that_is_left", (asked(0), late(2_997)), (asked(0), TRIED, tried(key="other"))),
    Written("attempt_has_the_time_that_is_left", (LATER, late(3_099, 2)), (LATER, late(3_098, 2)), bounds=PAUSING),
    Written("attempt_has_the_time_that_is_left", (LATER, late(2_999)), (LATER, late(2_998)), bounds=PAUSING),
    Written("attempt_has_the_time_that_is_left", (asked(0), late(3_000, 2)), (asked(0), late(2_998, 2)),
            bounds=PAUSING),
    # The process stands still, too, before the send is tried again.
    Written("attempt_has_the_time_that_is_left", (LATER, stands_still(), late(4_099, 2)),
            (LATER, stands_still(), late(4_098, 2)), bounds=PAUSING),
    Written("attempt_has_the_time_that_is_left", (LATER, stands_still(), late(2_999)),
            (LATER, stands_still(0), late(4_098, 2)), bounds=PAUSING),
    Written("attempt_has_the_time_that_is_left", (stands_still(-1_000), LATER, late(3_099, 2)),
            (stands_still(-1_000), LATER, late(3_098, 2)), bounds=PAUSING),
    Written("attempt_has_the_time_that_is_left", (LATER, stands_still(at="c1"), late(3_099, 2)),
            (LATER, stands_still(), late(2_998, 2)), bounds=PAUSING),
    Written("attempt_has_the_time_that_is_left", (asked(0), stands_still(), late(3_000, 2)),
            (asked(0), stands_still(), late(2_998, 2)), bounds=PAUSING),
    Written("request_names_what_is_meant", (wants(topic=FULL), TRIED), (wants(), TRIED), says="sends k as P to orders"),
    Written("request_names_what_is_meant", (wants(group="shop%P"), TRIED), (TRIED,), says="means shop%P"),
    Written("request_names_what_is_meant", (chosen(1), TRIED), (chosen(0), TRIED), says="has chosen queue 1"),
    Written("request_names_what_is_meant", (wants(topic=FULL), chosen(1), TRIED),
            (wants(topic=FULL), chosen(1), (2, "c1", TRIED[2]))),
    Written("request_names_what_is_meant", (wants(topic="shop%others"), told(4, "SEND_OK")),
            (wants(topic=FULL), told(4, "SEND_OK"), told(5))),
    Written("illegal_message_is_not_sent", (ILLEGAL, TRIED), (wants(), TRIED), says="sends k, which is illegal"),
    Written("illegal_message_is_not_sent", (ILLEGAL, told(4, "SEND_OK")), (ILLEGAL, told(4)), says="is told SEND_OK"),
    Written("legal_message_is_tried", (LISTED, wants(), told(4)), (LISTED, wants(), TRIED, told(4))),
    Written("legal_message_is_tried", (LISTED, wants(), told(4)), (wants(), told(4))),
    Written("legal_message_is_tried", (NOTHING_LISTED, LISTED, wants(), told(4)),
            (LISTED, NOTHING_LISTED, wants(), told(4))),
    Written("legal_message_is_tried", (LISTED, wants(), told(4)), (LISTED, ILLEGAL, told(4))),
    Written("legal_message_is_tried", (LISTED, wants(), told(4)), (LISTED, chosen(0), wants(), told(4))),
    Written("legal_message_is_tried", (LISTED, wants(), (4, P, SendTold(G, "k"))), (LISTED, wants(), told(4)),
            kept_views=FAILS, bounds=CALM),
    Written("new_topic_is_as_large_as_wished", (wants(queue_nums=2), MADE), (wants(queue_nums=2), MADE),
            views=queues(8), kept_views=queues(2), says="with 8 queues, and 2 are wished"),
    Written("new_topic_is_as_large_as_wished", (wants(queue_nums=2), MADE), (wants(), MADE), views=queues(8)),
    Written("new_topic_is_as_large_as_wished", (wants(queue_nums=1), TRIED), (wants(queue_nums=2), TRIED)),
    Written("new_topic_is_as_large_as_wished", (wants(queue_nums=1), TRIED), (wants(queue_nums=1), MADE, TRIED),
            kept_views=queues(1)),
    Written("new_topic_is_for_everybody", (wants(), MADE), (wants(), MADE), views=permitted(7),
            kept_views=permitted(6)),
    Written("new_topic_is_for_everybody", (wants(), MADE), (MADE,), views=permitted(7)),
    Written("new_topic_is_for_everybody", (wants(), MADE),
            (wants(), (0, "operator", OrderGiven(A, "topic", "orders", (4, 4, 7, 0))), MADE), views=permitted(7)),
)
