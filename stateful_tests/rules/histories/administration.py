"""Written histories of what follows from orders, and of what operators are told."""

from __future__ import annotations

from typing import Any

import invariants.rules.administration  # declares its rules
import invariants.rules.inspections  # noqa: F401  # declares its rule
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import QueueData
from impl.events import (
    BrokerStarted,
    InquiryAnswered,
    InquiryMade,
    KVConfigPut,
    MessageAppended,
    OrderDone,
    OrderGiven,
    ProcessKilled,
    QueuesDeleted,
    RegistrationEncoded,
    SendAttempted,
    TopicConfigDeleted,
)
from invariants.rules import deadlines
from invariants.rules.administration import heard, polled
from invariants.rules.bounds import Bounds
from invariants.views import Broker, QueueRange, StoredRecord, Subscription
from stateful_tests.rules.histories.promises import MEMBER
from stateful_tests.rules.written import END_MS, Tables, Turns, Written

B, NS, OTHER, OPERATOR, P, TOPIC = "broker-a", "nameserver1", "nameserver2", "operator", "producer1", "refunds"
MASTER = Broker(B, B, 0, f"{B}:10911", 0, None)
SLAVE = MASTER._replace(machine="broker-a-slave", broker_id=1)
OPEN, CLOSED = QueueData(B, 2, 2, 6, 0), QueueData(B, 2, 2, 4, 0)
CALM = Bounds()
Told = tuple[int, str, Any]


def given(ms: int, kind: str = "topic", wanted: Any = (2, 2, 6, 0), name: str = TOPIC) -> Told:
    """An operator sends an order."""
    return ms, OPERATOR, OrderGiven(B, kind, name, wanted)


def done(ms: int, kind: str = "topic", wanted: Any = (2, 2, 6, 0), name: str = TOPIC) -> Told:
    """He was answered SUCCESS."""
    return ms, OPERATOR, OrderDone(B, kind, name, wanted)


def announced(ms: int, *topics: str) -> Told:
    """The broker registers."""
    return ms, B, RegistrationEncoded(B, (1, 1), frozenset(topics), increment=False)


def asked(what: str, name: str, number: int = 1) -> Told:
    """An operator asks."""
    return 1, OPERATOR, InquiryMade(B, what, name, number)


def told(what: str, name: str, *answer: Any, number: int = 1) -> Told:
    """It is answered."""
    return 2, OPERATOR, InquiryAnswered(B, what, name, number, answer)


def inquiry(what: str, name: str, wrong: tuple[Any, ...], right: tuple[Any, ...], **tables: Any) -> Written:
    """One answer that is not what the tables have, and one that is."""
    return Written("operators_are_told_what_is_so", (asked(what, name), told(what, name, *wrong)),
                   (asked(what, name), told(what, name, *right)), views=Tables(**tables))


def route(cluster: str | None, order: str | None) -> tuple[Any, ...]:
    """The route of a topic that one broker has."""
    return ((B, 2, 2, 6, 0),), ((B, cluster, ((0, "a:1"),)),), order


def consuming(state: str) -> Tables:
    """A member of a group, in this state."""
    return Tables(members={"consumer1:1": "c1"}, offsets={},
                  consumers=[MEMBER._replace(machine="consumer1", service_state=state)])


def listed(*lists: Any, ordered: Any = (), **views: Any) -> Tables:
    """The ordered topics that each name server knows, and those of the broker."""
    values = {name: {f"ORDER_TOPIC_CONFIG {topic}": "broker-a:2" for topic in topics}
              for name, topics in zip((NS, OTHER), lists, strict=True)}
    return Tables(namesrvs=[NS, OTHER], key_values=lambda at: values[at], ordered_topics=ordered,
                  **{"brokers": [MASTER], "topics": {TOPIC: OPEN}, **views})


def routed(*datas: Any, **views: Any) -> Tables:
    """What each name server has of the topic."""
    tables = dict(zip((NS, OTHER), datas, strict=True))
    return Tables(namesrvs=[NS, OTHER], queue_datas=lambda at: {TOPIC: (tables[at],)},
                  **{"key_values": {}, **views})


def sends(ms: int, topic: str = TOPIC, *, chooses: bool = False) -> Told:
    """A producer is about to send; chooses -- its application has chosen the queue."""
    mq = MessageQueue(topic, B, 0)
    return ms, P, SendAttempted("p@1", "P", "k", 1, mq, frozenset() if chooses else frozenset({mq}))


LATER = given(deadlines.handled(CALM) + 10, wanted=None), done(deadlines.handled(CALM) + 20, wanted=None)
DELETED = given(1, wanted=None), done(2, wanted=None)
LEFT = {(TOPIC, 0): (0, 1), ("orders", 0): (0, 1)}
SENT = (1, B, MessageAppended(B, TOPIC, 0, 0, 0, 100, "k"))
KEEP = "other_topics_keep_their_queues"
TAKEN, GOES = (2, B, TopicConfigDeleted(B, TOPIC)), (2, B, QueuesDeleted(B, TOPIC, (0,)))
STARTED, PUT = (0, B, BrokerStarted(B, B, 0)), (1, NS, KVConfigPut(NS, "ORDER_TOPIC_CONFIG", TOPIC, "broker-a:2"))
UNFORCED = (0, B, BrokerStarted(B, B, 0, ("forceRegister = false",)))
POLLED_MS = 1_000_000
DIES = (1, B, ProcessKilled(1, power_loss=False))
MEMBERS = {"consumer1:1": "c1", "consumer2:1": "c2"}

HISTORIES = (
    Written("illegal_orders_are_refused", (given(1, "illegal"), done(2, "illegal")), (given(1, "illegal"),)),
    Written("illegal_orders_are_refused", (done(2, "illegal"),), (done(2),)),
    Written("deleted_topic_takes_its_messages", DELETED, DELETED, bounds=CALM, says="queue 0 of refunds",
            views=Tables(queue_units=LEFT), kept_views=Tables(queue_units={("orders", 0): (0, 1)})),
    Written("deleted_topic_takes_its_messages", DELETED, (DELETED[0], SENT, DELETED[1]), bounds=CALM,
            views=Tables(queue_units=LEFT)),
    Written("deleted_topic_takes_its_messages", DELETED, DELETED, bounds=CALM, views=Tables(queue_units=LEFT),
            kept_views=Tables(queue_units=LEFT, topics={TOPIC: OPEN})),
    Written("deleted_topic_takes_its_messages", (SENT, *LATER), (given(1), done(2)), bounds=CALM,
            views=Tables(queue_units=LEFT)),
    Written("deleted_topic_takes_its_messages", DELETED, (given(1, "group", None), done(2, "group", None)),
            bounds=CALM, views=Tables(queue_units=LEFT)),
    Written(KEEP, (SENT, GOES), (GOES,), bounds=CALM, causes=("V41",), says="which was not to be deleted"),
    Written(KEEP, (SENT, GOES), (SENT, TAKEN, GOES), bounds=CALM, views=Tables(topics={TOPIC: OPEN}), causes=()),
    Written(KEEP, (SENT, TAKEN, SENT, GOES), (SENT, given(1, wanted=None), GOES), bounds=CALM),
    *(Written(KEEP, (SENT, other, GOES), (SENT, given(1, wanted=None), GOES), bounds=CALM) for other in (
        given(1), given(1, "group", None), given(1, name="orders", wanted=None),
        (1, OPERATOR, OrderGiven(OTHER, "topic", TOPIC, None)), (1, B, TopicConfigDeleted(B, "orders")),
        (1, OTHER, TopicConfigDeleted(OTHER, TOPIC)))),
    *(Written(KEEP, (SENT, GOES), (SENT, other), bounds=CALM) for other in (
        (2, B, QueuesDeleted(B, "orders", (0,))), (2, OTHER, QueuesDeleted(OTHER, TOPIC, (0,))))),
    Written("made_topic_is_announced", (given(2), done(4)), (given(2), announced(3, TOPIC), done(4))),
    Written("made_topic_is_announced", (announced(1, TOPIC), given(2), done(4)),
            (given(2), announced(2, TOPIC), done(4))),
    Written("made_topic_is_announced", (given(2), announced(3, "orders"), done(4)), (given(2), done(4, "group"))),
    Written("made_topic_is_announced", (given(2), done(4)), (given(2, wanted=None), done(4, wanted=None))),
    Written("made_topic_is_announced", (given(2), done(4)), (given(2, name="orders"), done(4))),
    Written("made_topic_is_announced", (given(1), announced(2, TOPIC), done(3), given(4), done(5)),
            (given(1), announced(2, TOPIC), given(3), done(4))),
    Written("made_topic_is_announced", (given(1, wanted=None), done(2, wanted=None), announced(3, TOPIC), given(4),
                                        done(5)), (given(1, wanted=None), announced(3, TOPIC), given(4), done(5))),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT), (STARTED, PUT), bounds=CALM,
            views=listed({TOPIC}, {TOPIC}), kept_views=listed({TOPIC}, {TOPIC}, ordered=[TOPIC]),
            says="is not ordered at broker-a"),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT), (STARTED, PUT), bounds=CALM,
            views=listed({"orders"}, {"orders"}, ordered=[TOPIC]),
            kept_views=listed({"orders"}, set(), ordered=[TOPIC]), says="refunds is ordered at broker-a"),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT), (UNFORCED, PUT), bounds=CALM,
            views=listed({TOPIC}, {TOPIC})),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT), (STARTED, PUT), bounds=CALM,
            views=listed({TOPIC}, {TOPIC}), kept_views=listed({TOPIC}, {TOPIC}, brokers=[SLAVE])),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT), (STARTED, PUT), bounds=CALM,
            views=listed({TOPIC}, {TOPIC}), kept_views=listed({TOPIC}, {TOPIC}, topics={})),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT), (STARTED, PUT), bounds=CALM,
            views=listed({TOPIC}, {TOPIC}), kept_views=listed({TOPIC}, {TOPIC}, calm=False)),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT),
            (STARTED, PUT, announced(1 + heard(CALM), TOPIC), (END_MS, *PUT[1:])), bounds=CALM,
            views=listed({TOPIC}, {TOPIC})),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT), (), bounds=CALM,
            views=listed({TOPIC}, {TOPIC})),
    Written("ordered_topics_are_those_of_name_servers", (STARTED, PUT), (STARTED, PUT), bounds=CALM,
            views=listed({"orders"}, {"orders"}, ordered=[TOPIC]), kept_views=listed(set(), set(), ordered=[TOPIC])),
    Written("closed_topics_get_no_messages", (sends(20_000), sends(POLLED_MS)), (sends(20_000), sends(POLLED_MS)),
            bounds=CALM, views=routed(CLOSED, CLOSED), kept_views=routed(CLOSED, OPEN)),
    Written("closed_topics_get_no_messages", (sends(20_000), sends(POLLED_MS)),
            (sends(20_000), sends(POLLED_MS, chooses=True)), bounds=CALM, views=routed(CLOSED, CLOSED)),
    Written("closed_topics_get_no_messages", (sends(20_000), sends(20_001 + polled(CALM))),
            (sends(20_000), sends(20_000 + polled(CALM))), bounds=CALM, views=routed(CLOSED, CLOSED)),
    Written("closed_topics_get_no_messages", (sends(20_000), sends(POLLED_MS)),
            (sends(20_000), sends(POLLED_MS, "orders")), bounds=CALM, views=routed(CLOSED, CLOSED)),
    Written("closed_topics_get_no_messages", (sends(20_000), sends(POLLED_MS)), (sends(20_000), sends(POLLED_MS)),
            bounds=CALM, views=routed(CLOSED, CLOSED),
            kept_views=routed(CLOSED, CLOSED, key_values={f"ORDER_TOPIC_CONFIG {TOPIC}": "broker-a:2"})),
    Written("closed_topics_get_no_messages", (sends(20_000), sends(POLLED_MS)),
            (sends(20_000), given(POLLED_MS, wanted=(4, 4, 6, 0)), sends(POLLED_MS)), bounds=CALM,
            views=routed(CLOSED, CLOSED)),
    Written("closed_topics_get_no_messages", (sends(20_000), given(POLLED_MS, wanted=(4, 4, 4, 0)), sends(POLLED_MS)),
            (sends(20_000), given(POLLED_MS, wanted=(4, 4, 2, 0)), sends(POLLED_MS)), bounds=CALM,
            views=routed(CLOSED, CLOSED)),
    Written("closed_topics_get_no_messages", (sends(20_000), given(POLLED_MS, "group", (4, 4, 2)), sends(POLLED_MS)),
            (sends(20_000), given(POLLED_MS, wanted=(4, 4, 2, 0)), sends(POLLED_MS)), bounds=CALM,
            views=routed(CLOSED, CLOSED)),
    Written("closed_topics_get_no_messages", (sends(20_000), given(POLLED_MS, wanted=None), sends(POLLED_MS)),
            (sends(20_000), given(POLLED_MS, wanted=(4, 4, 2, 0)), sends(POLLED_MS)), bounds=CALM,
            views=routed(CLOSED, CLOSED)),
    inquiry("message", "7", ((7, "l"),), ((7, "k"),), log_records=(
        StoredRecord(0, "orders", 0, 0, 7, "j"), StoredRecord(7, "orders", 0, 1, 7, "k"))),
    inquiry("earliest message", "orders 0", (2,), (1,), stored_at=QueueRange(3, 4),
            stored_ms=lambda *about: about[3] - 2),
    inquiry("earliest message", "orders 0", (2,), (-1,), stored_at=QueueRange(0, 0), stored_ms=None),
    Written("operators_are_told_what_is_so", (asked("end", "orders 0"), told("end", "orders 0", 3)),
            (asked("end", "orders 0"), told("end", "orders 0", 4)), views=Tables(queue_end=4), says="is told (3,) for"),
    Written("operators_are_told_what_is_so", (asked("end", "orders 0"), told("end", "orders 0", 3)),
            (asked("end", "orders 0"), told("end", "orders 0", 3)), views=Tables(queue_end=4),
            kept_views=Tables(queue_end=Turns(3, 4))),
    Written("operators_are_told_what_is_so", (asked("end", "orders 0"), told("end", "orders 0", 3)),
            (asked("end", "orders 0", 2), told("end", "orders 0", 3)), views=Tables(queue_end=4)),
    Written("operators_are_told_what_is_so", (asked("end", "orders 0"), told("end", "orders 0", 3)),
            (asked("end", "orders 0"), DIES, told("end", "orders 0", 3)), views=Tables(queue_end=4)),
    inquiry("begin", "orders 0", (0,), (2,), stored_at=QueueRange(2, 4)),
    inquiry("consume stats", "G orders", ((0, 4, 3, 9), (1, 4, 0, 0)), ((0, 4, 3, 7), (1, 4, 0, 0)), queue_end=4,
            subscriptions={}, topics={"orders": QueueData(B, 2, 1, 6, 0)}, committed_of={0: 3},
            stored_ms=lambda _, __, ___, index: {2: 7}.get(index)),
    inquiry("consume stats", "G orders", ((0, 4, 0, 0),), (), queue_end=4, topics={"orders": QueueData(B, 1, 1, 6, 0)},
            subscriptions={"bills": Subscription("*", 1, None)}, committed_of={}, stored_ms=None),
    inquiry("topic stats", "orders", ((0, 0, 4, 7),), ((0, 2, 4, 7),), topics={"orders": QueueData(B, 2, 1, 6, 0)},
            stored_at=QueueRange(2, 4), stored_ms=lambda _, __, ___, index: {3: 7}.get(index)),
    inquiry("consumers", "G", ("PUSH", "CLUSTERING", "LAST", (("consumer1:1", "c1"),), (("orders", "*", 1),)),
            ("PUSH", "CLUSTERING", "LAST", (("consumer1:1", "c1"), ("consumer2:1", "c2")), (("orders", "*", 1),)),
            consumed_as=("PUSH", "CLUSTERING", "LAST"), members=MEMBERS,
            subscriptions={"orders": Subscription("*", 1, None)}),
    inquiry("consumers", "G", (), ("code", 206), consumed_as=None, members={}, subscriptions={}),
    inquiry("topic stats", "orders", ("code", 1), ("code", 17), topics={}),
    inquiry("producers", "P", ("code", 17), ("code", 1), producers={("Q", "producer2:1"): "p2"}),
    inquiry("producers", "P", ("code", 1), (("producer1:1", "p1"),), producers={("P", "producer1:1"): "p1"}),
    inquiry("members", "G", (), ("code", 1), listed=[]),
    inquiry("progress", "G orders", (), ("code", 1), members={}, consumers=[], offsets={}),
    inquiry("units", "orders 0 2 4", (2, 4, (70,)), (2, 4, (70, 80)), queue_units={("orders", 0): (2, 4)},
            queue_unit=lambda *about: about[3] * 10 + 50),
    inquiry("units", "orders 0 2 4", (2, 9, (70, 80, 90)), (2, 9, (70, 80, 90, 100)),
            queue_units={("orders", 0): (2, 9)}, queue_unit=lambda *about: about[3] * 10 + 50),
    inquiry("units", "orders 0 2 4", ("code", 1), (), queue_units={("orders", 0): (2, 2)}, queue_unit=None),
    inquiry("units", "orders 0 2 4", (), ("code", 1), queue_units={("orders", 1): (2, 4)}, queue_unit=None),
    inquiry("producers", "P", (), (("producer1:1", "p1"),),
            producers={("P", "producer1:1"): "p1", ("Q", "producer2:1"): "p2"}),
    inquiry("consuming groups", "orders", ("G",), ("G", "H"), groups=["G", "I"], groups_with_offsets={("H", "orders"),
            ("I", "bills")}, subscriptions=lambda _, group: {"orders": 1} if group == "G" else {}),
    inquiry("progress", "G orders", (("c1", ()),), (("c1", ((MessageQueue("orders", B, 0), 3),)),),
            members={"consumer1:1": "c1"}, consumers=[MEMBER._replace(machine="consumer1")],
            offsets={MessageQueue("orders", B, 0): 3, MessageQueue("bills", B, 0): 4}),
    Written("operators_are_told_what_is_so", (asked("progress", "G orders"), told("progress", "G orders")),
            (asked("progress", "G orders"), told("progress", "G orders")), views=consuming("RUNNING"),
            kept_views=consuming("SHUTDOWN_ALREADY")),
    inquiry("members", "G", ("c1",), ("c1", "c2"), listed=["c1", "c2"]),
    inquiry("broker's topics", "", (), (("refunds", 2, 2, 6, 0),), topics={TOPIC: OPEN}),
    inquiry("broker's groups", "", (), (("G", 3),), subscription_groups=["G"], group_config=(3,)),
    inquiry("routed topics", "", ("orders",), ("orders", "refunds"), queue_datas={TOPIC: (OPEN,), "orders": (OPEN,)}),
    inquiry("cluster's topics", "DefaultCluster", ("orders", "refunds"), ("refunds",),
            clusters={"DefaultCluster": (B,)},
            queue_datas={TOPIC: (OPEN,), "orders": (OPEN._replace(broker_name="gone"),)}),
    inquiry("system topics", "", ("DefaultCluster",), ("DefaultCluster", B), clusters={"DefaultCluster": (B,)}),
    inquiry("clusters", "", ((("DefaultCluster", (B,)),), ((B, 0, "a:1", None),)),
            ((("DefaultCluster", (B,)),), ((B, 0, "a:1", "DefaultCluster"),)),
            clusters={"DefaultCluster": (B,)}, addresses={(B, 0): "a:1"}),
    *(inquiry("route", TOPIC, route(wrong, "broker-a:2"), route("blue", "broker-a:2"), queue_datas={TOPIC: (OPEN,)},
              says_order=True, addresses={(B, 0): "a:1", ("broker-b", 0): "b:1"},
              clusters={"red": ("broker-b",), "blue": (B,)}, key_values={f"ORDER_TOPIC_CONFIG {TOPIC}": "broker-a:2"})
      for wrong in ("red", None)),
    *(inquiry("route", TOPIC, route(None, wrong), route(None, right), queue_datas={TOPIC: (OPEN,)}, says_order=says,
              addresses={(B, 0): "a:1"}, clusters={}, key_values={f"ORDER_TOPIC_CONFIG {TOPIC}": "broker-a:2"})
      for wrong, right, says in ((None, "broker-a:2", True), ("broker-a:2", None, False))),
    inquiry("route", TOPIC, (((B, 2, 2, 6, 0),), (), None), ("code", 17), queue_datas={TOPIC: (OPEN,)}, addresses={},
            clusters={}, key_values={}),
    inquiry("unit topics", "", (TOPIC,), ("orders",),
            queue_datas={TOPIC: (OPEN._replace(topic_sys_flag=2),), "orders": (OPEN._replace(topic_sys_flag=1),)}),
    inquiry("unit subscribed topics", "", ("orders",), (TOPIC,),
            queue_datas={TOPIC: (OPEN._replace(topic_sys_flag=2),), "orders": (OPEN._replace(topic_sys_flag=1),)}),
    inquiry("key values", "notes", (), (("owner", "1"),), key_values={"notes owner": "1", "limits owner": "2"}),
    inquiry("key value", "notes owner", ("2",), ("1",), key_values={"notes owner": "1"}),
    inquiry("key value", "notes phone", ("code", 1), ("code", 22), key_values={"notes owner": "1"}),
    *(inquiry("key values", "notes", ("code", 1), right, key_values={"limits owner": "2"})
      for right in ((), ("code", 22))),
)
