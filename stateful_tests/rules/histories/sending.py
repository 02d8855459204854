"""Written histories of producers: what they are told, their attempts, and where they send."""

from __future__ import annotations

from typing import Any

import invariants.rules.sending  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    HalfMessageEnded,
    KVConfigPut,
    MessageAppended,
    ProducerStarted,
    PublishInfoUpdated,
    QueueChosen,
    SendAnswered,
    SendAsked,
    SendAttempted,
    SendFailed,
)
from stateful_tests.rules.written import Tables, Written

P, ID, G, A, B = "producer1", "producer1@1", "P", "broker-a", "broker-b"
QUEUES = tuple(MessageQueue("orders", broker, queue_id) for broker in (A, B) for queue_id in range(2))
FAILS = Tables(calm=False)
KNOWN, LACKS = (Tables(addresses_to_send={(name, 0): f"{name}:10911" for name in names}) for names in ((A, B), (A,)))
Told = tuple[int, str, Any]


def appended(  # what a record says
    ms: int, key: str = "k", at: str = A, offset: int = 0, topic: str = "orders", *, queue_id: int = 0, number: int = 0,
) -> Told:
    """A broker appends a message."""
    return ms, at, MessageAppended(at, topic, queue_id, number, offset, 100, key)


def answered(ms: int, code: int = 0, offset: int = 0, at: str = A) -> Told:
    """A broker has answered the producer."""
    return ms, P, SendAnswered(at, "orders", 0, 0, offset, "k", code)


def failed(code: int, attempts: int = 3, spent_ms: int = 10, key: str = "k") -> Told:
    """The producer gives a message up."""
    return 5, P, SendFailed(ID, G, key, "orders", code, attempts, 3, spent_ms, 3_000)


SENDS_ANEW = 5, P, SendFailed(ID, "CLIENT_INNER_PRODUCER", "k", "%RETRY%G", 17, 0, 3, 6_000, 3_000)


def tried(ms: int, attempt: int = 1, mq: MessageQueue = QUEUES[0], key: str = "k", **more: Any) -> Told:
    """The producer sends a message."""
    return ms, P, SendAttempted(ID, G, key, attempt, mq, **{"listed": frozenset(QUEUES), **more})


def hashed(about: str, mq: MessageQueue, queues: int = 3) -> Told:
    """An application has a queue chosen by the hash of a key, of the first ones."""
    return 1, P, QueueChosen(G, "k", mq, about, QUEUES[:queues])


def lists(*places: int) -> Told:
    """An application chooses among these."""
    return 1, P, QueueChosen(G, "k", QUEUES[0], "a", tuple(QUEUES[place] for place in places))


def configured(namespace: str, key: str) -> Told:
    """Operators have put a value."""
    return 0, "namesrv1", KVConfigPut("namesrv1", namespace, key, "broker-b:1;broker-a:2")


def started(*, aware: bool) -> Told:
    """The producer starts."""
    return 0, P, ProducerStarted(ID, G, aware)


def ended(ms: int, state: str) -> Told:
    """The producer ends its half message."""
    return ms, P, HalfMessageEnded(ID, G, "k", state)


ORDERS, OTHER_KEY, OTHER_ORDERS = (configured(*one) for one in (
    ("ORDER_TOPIC_CONFIG", "orders"), ("ORDER_TOPIC_CONFIG", "invoices"), ("PROJECT_CONFIG", "orders")))
SLAVE = "broker-a-slave"
LEADS, SLAVE_LEADS, OTHER_LEADS = (
    (0, A, BrokerStarted(A, A, 0)), (0, SLAVE, BrokerStarted(SLAVE, A, 0)), (0, B, BrokerStarted(B, B, 0)))
RENAMED = (0, A, BrokerStarted(A, "broker-x", 0))
OF_OTHERS = QUEUES[0]._replace(topic="others")
CHOSEN = (1, P, QueueChosen(G, "k", QUEUES[0]))
GIVEN = (0, P, PublishInfoUpdated(ID, G, "orders", QUEUES))
DELAYED, RESTARTED = appended(0, topic="SCHEDULE_TOPIC_XXXX"), (2, A, BrokerStarted(A, A, 0))
ASKED = (0, P, SendAsked(G, "k", "orders", 3, 3_000, (7,), False))
ASYNC = (1, P, ASKED[2]._replace(asynchronous=True))
NOTHING_GIVEN = (0, P, PublishInfoUpdated(ID, G, "orders", ()))
CUT, OF_A = frozenset(QUEUES[:3]), frozenset(QUEUES[:2])
ONLY_A = (1, P, PublishInfoUpdated(ID, G, "orders", QUEUES[:2]))
NOT_KEPT = (2, P, SendAnswered(A, "DefaultCluster_REPLY_TOPIC", 0, 0, -1, "k", 0))
OTHER = (2, P, PublishInfoUpdated(ID, G, "orders", QUEUES[:3]))

HISTORIES = (
    Written("send_outcome_is_honest", broken=(answered(2),), kept=(appended(1), answered(2)), causes=()),
    Written("send_outcome_is_honest", broken=(appended(1, offset=7), answered(2)), kept=(answered(2, code=1),)),
    Written("send_outcome_is_honest", broken=(tried(1), appended(2), tried(3, 2), failed(17)), causes=("P1",),
            kept=(tried(1), appended(2), failed(10002))),
    Written("send_outcome_is_honest", broken=(tried(1), appended(2), failed(17)), causes=()),
    Written("send_outcome_is_honest", broken=(tried(1), appended(2), tried(3, 2), answered(4, offset=7)), causes=()),
    Written("send_outcome_is_honest", broken=(failed(2), appended(6)), kept=(failed(1), appended(6)), causes=()),
    # What a consumer sends anew is elsewhere already.
    *(Written("send_outcome_is_honest", broken=(*before, failed(17), *behind), kept=(*before, SENDS_ANEW, *behind))
      for before, behind in (((appended(1),), ()), ((), (appended(6),)))),
    Written("send_outcome_is_honest", broken=(failed(16, key="j,k"), appended(6)), kept=(failed(16, key="i,j"),)),
    Written("send_outcome_is_honest", broken=(appended(1, number=1), answered(2)), says="number 0 of queue 0, and it",
            kept=(appended(1, topic="RMQ_SYS_TRANS_HALF_TOPIC", number=1), answered(2))),
    Written("send_outcome_is_honest", broken=(appended(1, queue_id=1), answered(2)), kept=(appended(1), answered(2))),
    Written("send_outcome_is_honest", broken=(answered(2, offset=-1),), kept=(NOT_KEPT,), causes=()),
    *(Written("send_outcome_is_honest", broken=((2, P, NOT_KEPT[2]._replace(commit_log_offset=place)),),
              kept=(NOT_KEPT,)) for place in (0, 5)),
    # Of a the hash code is 97, of yellow -734239628, which leaves 2 of 3.
    *(Written("queues_are_listed_in_their_order", (lists(*places),), (*reason, lists(*then)), says=says)
      for places, reason, then, says in (
          ((2, 0), (), (0, 2), "queue 0 of broker-a behind"), ((1, 0), (), (0, 1), "queue 0 of broker-a behind"),
          ((2, 2), (), (2,), "of broker-b behind"), ((2, 0), (ORDERS,), (2, 0), ""),
          ((2, 0), (started(aware=True),), (2, 0), ""))),
    Written("queues_are_listed_in_their_order", (OTHER_KEY, OTHER_ORDERS, started(aware=False), lists(1, 0)),
            (CHOSEN,)),
    Written("hashed_key_has_its_queue", broken=(hashed("yellow", QUEUES[0]),), kept=(hashed("yellow", QUEUES[2]),),
            causes=(), says="for yellow, which has queue 0 of orders at broker-b among 3"),
    Written("hashed_key_has_its_queue", broken=(hashed("a", QUEUES[0]),), kept=(
        hashed("a", QUEUES[1]), hashed("yellow", QUEUES[0], 2), CHOSEN)),
    Written("message_is_in_the_named_queue", broken=(tried(0), appended(1, queue_id=1)),
            kept=(tried(0), tried(1, 2, QUEUES[1]), appended(2, queue_id=1), appended(3))),
    Written("message_is_in_the_named_queue", broken=(tried(0, key="j,k"), appended(1, topic="others")),
            kept=(appended(1, "j", queue_id=1), tried(1), appended(2, topic="RMQ_SYS_TRANS_HALF_TOPIC", queue_id=1))),
    Written("sent_once_is_stored_once", broken=(appended(1), appended(2, at=B)), causes=(),
            kept=(appended(1), appended(2, topic="RMQ_SYS_TRANS_HALF_TOPIC"), appended(3, "other"))),
    Written("sent_once_is_stored_once", broken=(
        tried(0, key="j,k"), tried(0, 2, key="j,k"), appended(1), appended(2)), causes=("P6",),
            kept=(tried(0, oneway=True), appended(1), appended(2)), kept_views=FAILS),
    Written("sent_once_is_stored_once", broken=(tried(0), tried(0, 2, QUEUES[2]), appended(1), appended(2)), causes=()),
    Written("sent_once_is_stored_once", broken=(tried(0), tried(0, 2, QUEUES[2]), appended(1), appended(2, at=B)),
            causes=("P6",)),
    Written("sent_once_is_stored_once", broken=(tried(0), tried(0, 2, OF_OTHERS), appended(1), appended(2)), causes=()),
    Written("sent_once_is_stored_once", broken=(
        LEADS, RENAMED, tried(0), tried(0, 2, QUEUES[0]._replace(broker_name="broker-x")), appended(1), appended(2)),
            causes=("P6",)),
    Written("sent_once_is_stored_once", broken=(tried(0, oneway=True), appended(1), appended(2)), causes=()),
    Written("sent_once_is_stored_once", broken=(DELAYED, appended(1), RESTARTED, appended(3)), causes=("V19",),
            kept=(DELAYED, appended(1), RESTARTED)),
    Written("sent_once_is_stored_once", broken=(DELAYED, appended(1), appended(3)), causes=(), kept=(DELAYED,)),
    # Two masters of one name.
    Written("sent_once_is_stored_once", broken=(LEADS, SLAVE_LEADS, DELAYED, appended(1), appended(3, at=SLAVE)),
            causes=("B-28",), kept=(LEADS, SLAVE_LEADS, DELAYED, appended(1))),
    Written("sent_once_is_stored_once", broken=(LEADS, SLAVE_LEADS, appended(1), appended(3, at=SLAVE)), causes=(),
            kept=(LEADS, SLAVE_LEADS, DELAYED, appended(3, at=SLAVE))),
    Written("sent_once_is_stored_once", broken=(LEADS, OTHER_LEADS, DELAYED, appended(1), appended(3, at=B)), causes=(),
            kept=(LEADS, OTHER_LEADS, DELAYED, appended(3, at=B))),
    Written("sent_once_is_stored_once", broken=(LEADS, SLAVE_LEADS, DELAYED, appended(1), appended(3)), causes=(),
            kept=(LEADS, SLAVE_LEADS, DELAYED, appended(3))),
    Written("sent_once_is_stored_once", broken=(appended(1), RESTARTED, appended(3)), causes=(), kept=(RESTARTED,)),
    Written("sent_once_is_stored_once", broken=(appended(1), ended(2, "COMMIT_MESSAGE"), appended(3)), causes=("P12",),
            kept=(appended(1), ended(2, "ROLLBACK_MESSAGE"))),
    Written("attempts_are_used", broken=(GIVEN, failed(-1, 2, 3_000)), kept=(GIVEN, failed(-1, 3, 3_000)),
            causes=("P2",)),
    Written("attempts_are_used", broken=(GIVEN, failed(2, 1)), kept=(GIVEN, failed(13, 1)), causes=("P5",)),
    Written("attempts_are_used", broken=(GIVEN, failed(17, 1)), kept=(GIVEN, failed(10005, 0)), causes=("P7",)),
    Written("attempts_are_used", broken=(GIVEN, failed(10001, 1)), kept=(GIVEN, failed(10001)), causes=()),
    Written("attempts_are_used", broken=(GIVEN, CHOSEN, tried(2), failed(-1, 1)), causes=(),
            kept=(GIVEN, CHOSEN, failed(-1, 1))),
    Written("attempts_are_used", broken=(GIVEN, failed(-1, 0)), kept=(NOTHING_GIVEN, failed(-1, 0)), causes=()),
    Written("attempts_are_used", broken=(GIVEN, ASKED, failed(-1, 0)), kept=(ASKED, GIVEN, failed(-1, 0)), causes=()),
    Written("attempts_are_used", broken=(ASKED, GIVEN, tried(2), failed(-1, 1)), causes=(),
            kept=(GIVEN, NOTHING_GIVEN, ASKED, GIVEN, failed(-1, 0))),
    Written("attempts_are_used", broken=(NOTHING_GIVEN, GIVEN, failed(-1, 0)), causes=(),
            kept=(GIVEN, NOTHING_GIVEN, failed(-1, 0))),
    # The broker that an asynchronous send has chosen is gone before it is sent.
    *(Written("attempts_are_used", broken=(GIVEN, *broken), kept=(GIVEN, ASYNC, OTHER, failed(10003, 1)), causes=(),
              views=KNOWN)
      for broken in ((ASYNC, failed(10003, 1)), (ASYNC, OTHER, failed(10001, 1)), (OTHER, failed(10003, 1)),
                     (ASKED, OTHER, failed(10003, 1)), (ASYNC, OTHER, tried(3), failed(10003, 1)),
                     (ASYNC, (2, P, PublishInfoUpdated(ID, G, "parcels", QUEUES)), failed(10003, 1)),
                     (ASYNC, (2, P, OTHER[2]._replace(group="Q")), failed(10003, 1)),
                     (ASYNC, (2, "producer2", OTHER[2]), failed(10003, 1)), (OTHER, (3, P, ASYNC[2]), failed(10003, 1)),
                     ((1, P, ASYNC[2]._replace(key="j")), OTHER, failed(10003, 1)))),
    *(Written("attempts_are_used", broken=(GIVEN, ASYNC, failed(10003, 1)), kept=(GIVEN, *kept, failed(10003, 1)),
              causes=(), views=KNOWN) for kept in ((tried(0), ASYNC, OTHER), (ASYNC, OTHER, tried(3, key="j")))),
    *(Written("attempts_are_used", broken=(GIVEN, ASYNC, failed(10003, 1)), kept=(GIVEN, ASYNC, failed(10003, 1)),
              causes=(), views=KNOWN, kept_views=views)
      for views in (LACKS, Tables(addresses_to_send={**LACKS.answers["addresses_to_send"], (B, 1): "b:1"}))),
    *(Written("attempts_are_used", broken=(GIVEN, *broken), kept=(GIVEN, ASYNC, failed(10003, 1)), causes=(),
              views=views, kept_views=LACKS)
      for broken, views in (
          ((ASYNC, tried(3), failed(10003, 1)), LACKS), ((ASKED, failed(10003, 1)), LACKS),
          ((ASYNC, failed(10001, 1)), LACKS),
          ((ASYNC, failed(10003, 1)), Tables(addresses_to_send=lambda *client: (
              KNOWN if client == (P, ID) else LACKS).answers["addresses_to_send"])))),
    Written("retry_reaches_another_broker", broken=(started(aware=True), tried(1), tried(2, 2)), causes=("Q-3",),
            kept=(started(aware=True), tried(1), tried(2, 2, QUEUES[2]), tried(3, 3))),
    Written("retry_reaches_another_broker", broken=(started(aware=False), tried(1), tried(2, 2)), causes=(),
            kept=(tried(1), tried(2, 2, listed=frozenset(QUEUES[:2])), tried(3, key="other"), tried(4, 3, QUEUES[2]),
                  tried(5, 2, QUEUES[2], key="other"))),
    Written("queue_is_one_of_the_list", broken=(tried(1, 2, QUEUES[3], listed=CUT),), causes=("P4",),
            kept=(tried(1, 2), tried(2, listed=frozenset()))),
    Written("queue_is_one_of_the_list", broken=(tried(1, 1, QUEUES[3], listed=CUT),), causes=(),
            kept=(tried(1, 1, QUEUES[2], listed=CUT),)),
    Written("queue_is_one_of_the_list", broken=(ONLY_A, tried(1, 1, QUEUES[2], listed=OF_A)), causes=(),
            kept=(ONLY_A, tried(1, 1, QUEUES[2], listed=frozenset()))),  # the application chose it, of an older list
    # P16: the list has no queue of the broker; the producer may have written into it since it was given it.
    *(Written("queue_is_one_of_the_list", causes=("P16",),
              broken=(started(aware=True), *given, tried(5, 1, QUEUES[2], listed=cut)),
              kept=(started(aware=True), *given, tried(5, 1, listed=cut)))
      for given, cut in (((), OF_A), ((ONLY_A,), OF_A), ((ONLY_A,), CUT), ((GIVEN, ONLY_A, ONLY_A), CUT))),
    Written("queue_is_one_of_the_list", broken=(started(aware=False), tried(1, 1, QUEUES[2], listed=OF_A)), causes=(),
            kept=(started(aware=True), GIVEN, ONLY_A, tried(3, 1, QUEUES[2]), tried(4, 1, QUEUES[2], listed=CUT))),
    Written("queue_is_one_of_the_list", broken=(started(aware=True), tried(1, 1, QUEUES[3], listed=CUT)), causes=(),
            kept=(started(aware=True), ONLY_A, (0, P, PublishInfoUpdated(ID, G, "parcels", ())), tried(1, listed=CUT))),
    Written("list_is_that_of_its_route", broken=(started(aware=True), GIVEN, tried(1, listed=CUT)), causes=("P3",),
            kept=(GIVEN, OTHER, tried(3, listed=CUT), tried(4), tried(5, listed=frozenset()))),
    Written("list_is_that_of_its_route", broken=(started(aware=False), GIVEN, tried(1, listed=CUT)), causes=(),
            kept=(GIVEN, tried(1))),
    Written("equal_arguments_have_one_queue", causes=("P10",), broken=(
        GIVEN, tried(1, hashed="red"), OTHER, tried(3, mq=QUEUES[1], hashed="red")), kept=(
        tried(1, hashed="red"), tried(2, mq=QUEUES[1], hashed="green"), tried(3, mq=QUEUES[2]),
        tried(4, hashed="red"))),
    Written("equal_arguments_have_one_queue", broken=(
        tried(1, hashed="red"), tried(3, mq=QUEUES[1], hashed="red")), kept=(tried(1), tried(2, mq=QUEUES[1])),
            causes=()),
    Written("equal_arguments_have_one_queue", causes=("P10",), broken=(  # the second had the list of the first
        GIVEN, tried(1, hashed="red"), OTHER, tried(3, hashed="red"), tried(4, mq=QUEUES[1], hashed="red"))),
    Written("equal_arguments_have_one_queue", causes=(), broken=(
        GIVEN, tried(1, hashed="red"), tried(2, hashed="red"), (3, P, GIVEN[2]), tried(4, mq=QUEUES[1], hashed="red"))),
    Written("equal_arguments_have_one_queue", causes=(), broken=(
        GIVEN, tried(1, hashed="red"), OTHER, tried(3, hashed="red"), tried(4, hashed="red"),
        tried(5, mq=QUEUES[1], hashed="red"))),
)
