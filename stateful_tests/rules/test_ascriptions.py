"""What followers find is put down to a hazard if its cause was seen, and to none otherwise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from impl.decisions.allocation import (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueByConfig,
    AllocateMessageQueueByMachineRoom,
)
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import QueueData
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStarted,
    ClockJumped,
    ConnectionRefused,
    ConnectionSevered,
    ConsumerIdsFetched,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerStarted,
    DiskFilled,
    ListenerEnded,
    ListenerStarted,
    LockReleased,
    OffsetAnswered,
    OffsetCommitted,
    OffsetCorrected,
    OffsetLearntLate,
    OffsetReset,
    OffsetSent,
    OffsetUpdated,
    PartitionBegan,
    ProcessKilled,
    ProcessPaused,
    QueueTaken,
    RouteUpdated,
    TimerJobBegan,
)
from invariants.finding import Finding
from invariants.rules import deadlines
from invariants.rules.bounds import Bounds
from invariants.rules.declared import BY_NAME, RULES
from invariants.rules.rule import Ascription
from invariants.rules.watch import Watch
from invariants.views import Broker
from invariants.views.values import HeldQueue
from stateful_tests.rules.written import Tables

BOUNDS = Bounds()
LATE_MS = 10_000_000
MQ = MessageQueue("orders", "broker-a", 0)
LISTENS = (0, "c1", ListenerStarted("c1", "G", MQ))
STARTS = (0, "broker-a", BrokerStarted("broker-a", "broker-a", 0))
BOTH = tuple((0, client, ConsumerStarted(client, "G", "CLUSTERING", orderly=False)) for client in ("c1", "c2"))
ANSWER, FULL_ANSWER, NO_ANSWER = ((0, "c1", ConsumerIdsFetched("c1", "G", "orders", "broker-a:10911", client_ids))
                                  for client_ids in (("c1",), ("c1", "c2"), None))
WHOLE_MS = deadlines.lists_are_whole(BOUNDS)
LEASE_MS = deadlines.CLIENT_LEASE_MS


def answer(
    client_ids: tuple[str, ...] | None, client: str = "c1", *, group: str = "G", topic: str = "orders",
) -> tuple[int, str, Any]:
    return 0, client, ConsumerIdsFetched(client, group, topic, "broker-a:10911", client_ids)


def routed(*mqs: MessageQueue, client: str = "c1") -> tuple[int, str, Any]:
    return 0, client, RouteUpdated(client, "G", "orders", frozenset(mqs))


OTHER = MQ._replace(broker_name="broker-b")
C1, TWO = ("c1",), ("c1", "c2")


def heartbeat(*, added: bool) -> tuple[int, str, Any]:
    return 0, "broker-a", ConsumerRegistered("broker-a", "G", "c1", "c1:1", True, added, frozenset())


def subscribed(expression: str, version: int = 1) -> tuple[int, str, Any]:
    said = frozenset({("orders", expression, version)})
    return 0, "broker-a", ConsumerRegistered("broker-a", "G", "c1", "c1:1", True, False, said)


def consumer(strategy: Any) -> Any:
    return SimpleNamespace(strategy=strategy, machine="c1", group="G")


def causes(
    name: str, now_ms: int, *records: tuple[int, str, Any], strategy: Any = None,
    about: tuple[tuple[str, Any], ...] = (),
) -> set[str]:
    views: Any = Tables(consumers=[consumer(strategy)])
    watch = Watch(views, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    for record in records:
        watch.segment(record[1], [record])
    return set(watch.ascribed(Finding(name, None, "it is so", ("differs",), about=about), now_ms).causes)


@pytest.mark.parametrize(("name", "now_ms", "records", "hazards"), [
    ("one_owner_per_queue", 1, (heartbeat(added=True),), {"D1"}),
    ("one_owner_per_queue", 1, (heartbeat(added=False),), set()),
    ("one_owner_per_queue", 1, ((0, "c2", ConsumerStarted("c2", "G", "CLUSTERING", orderly=False)),), {"D1"}),
    ("one_owner_per_queue", deadlines.rebalanced(BOUNDS), (heartbeat(added=True),), {"D1"}),
    ("one_owner_per_queue", deadlines.rebalanced(BOUNDS) + 1, (heartbeat(added=True),), set()),
    ("one_owner_per_queue", deadlines.lists_are_whole(BOUNDS), (STARTS,), {"D1"}),
    ("one_owner_per_queue", deadlines.lists_are_whole(BOUNDS) + 1, (STARTS,), set()),
    *(("one_owner_per_queue", LATE_MS, (*BOTH, *answers), hazards) for answers, hazards in (
        ((answer(C1), answer(TWO, "c2")), {"D1"}), ((answer(TWO), answer(TWO[::-1], "c2")), set()),
        ((answer(C1),), set()), ((answer(C1), answer(None, "c2")), set()),
        ((answer(C1), answer(TWO, "c2", group="H")), set()), ((answer(C1), answer(TWO, "c2", topic="others")), set()),
        ((answer(C1), answer(TWO, "c3")), set()), ((answer(TWO, "c2"), answer(C1), answer(TWO)), set()))),
    ("one_owner_per_queue", LATE_MS, (BOTH[0], answer(C1), answer(TWO, "c2")), set()),
    ("one_owner_per_queue", LATE_MS, (*BOTH, routed(MQ), routed(MQ, OTHER, client="c2")), {"D1"}),
    ("one_owner_per_queue", LATE_MS, (*BOTH, routed(MQ), routed(MQ, client="c2")), set()),
    ("one_owner_per_queue", LATE_MS, (*BOTH, routed(MQ), routed(MQ, OTHER, client="c3")), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, STARTS, ANSWER), {"D2"}),
    ("one_owner_while_nobody_joins", WHOLE_MS, (*BOTH, STARTS, ANSWER), {"D2"}),
    ("one_owner_while_nobody_joins", WHOLE_MS + 1, (*BOTH, STARTS, ANSWER), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, STARTS), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, STARTS, FULL_ANSWER), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, STARTS, ANSWER, FULL_ANSWER), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, STARTS, NO_ANSWER), set()),
    ("one_owner_while_nobody_joins", 1, (BOTH[0], STARTS, ANSWER), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "broker-b", BrokerStarted("b", "b", 0)), ANSWER), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "c2", ConnectionSevered("broker-a", None)), ANSWER), {"D4"}),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "broker-a", ConnectionSevered("c2", None)), ANSWER), {"D4"}),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "broker-a", PartitionBegan("c2")), ANSWER), {"D4"}),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "c2", ConnectionRefused("broker-a")), ANSWER), {"D4"}),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "broker-a", ConsumerRemoved(
        "broker-a", "G", "c2", "c2:1", "expired", attached=True)), ANSWER), {"D4"}),
    ("one_owner_while_nobody_joins", WHOLE_MS + 9, (*BOTH, (0, "c2", ProcessPaused(9)), ANSWER), {"D4"}),
    ("one_owner_while_nobody_joins", WHOLE_MS + 9, (*BOTH, (0, "broker-a", ProcessPaused(8)), ANSWER), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "broker-a", ProcessKilled(1, power_loss=False)), ANSWER), {"D4"}),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "c1", ConnectionSevered("broker-a", None)), ANSWER), set()),
    ("one_owner_while_nobody_joins", 1, (*BOTH, (0, "c2", ConnectionSevered("broker-b", None)), ANSWER), set()),
    ("pull_is_filtered_by_own_expression", 1, (subscribed("a"), subscribed("b")), {"B-3", "L3"}),
    ("pull_is_filtered_by_own_expression", 1, (subscribed("a"), subscribed("a")), set()),
    ("pull_is_filtered_by_own_expression", LATE_MS, ((0, "c1", ClockJumped(-1)),), {"L4"}),
    ("pull_is_filtered_by_own_expression", 1, (subscribed("a", 2), subscribed("b", 1)), {"B-3", "L3", "L4"}),
    ("pull_is_filtered_by_own_expression", 1, (subscribed("a", 1), subscribed("b", 2)), {"B-3", "L3"}),
    ("pull_is_filtered_by_own_expression", 1, (subscribed("a", 2), subscribed("a", 1)), set()),
    ("live_broker_stays_routed", LATE_MS, (STARTS, (0, "b", BrokerStarted("b", "broker-a", 0))), {"N-15"}),
    ("live_broker_stays_routed", 1, (STARTS, (0, "b", BrokerStarted("b", "broker-a", 1))), set()),
    ("live_broker_stays_routed", 1, (STARTS, STARTS), set()),
    ("listeners_do_not_overlap", LEASE_MS + 1, (LISTENS,), {"D7"}),
    ("ordered_messages_stay_in_order", LEASE_MS + 1, (LISTENS,), {"D7"}),
    ("listeners_do_not_overlap", LEASE_MS, (LISTENS,), set()),
    ("listeners_do_not_overlap", LEASE_MS + 1, (LISTENS, (1, "c1", ListenerEnded("c1", "G", MQ))), set()),
])
def test_a_finding_is_put_down_to_what_was_seen(
    name: str, now_ms: int, records: tuple[tuple[int, str, Any], ...], hazards: set[str],
) -> None:
    assert causes(name, now_ms, *records, about=(("group", "G"), ("mq", MQ))) == hazards


@pytest.mark.parametrize(("name", "strategy", "hazards"), [
    ("one_owner_when_settled", AllocateMessageQueueByConfig([MQ]), {"A-4"}),
    ("one_owner_when_settled", AllocateMessageQueueAveragely(), set()),
    ("every_queue_owned_when_settled", AllocateMessageQueueByConfig([MQ]), {"L13"}),
    ("every_queue_owned_when_settled", AllocateMessageQueueByMachineRoom(), {"L13"}),
    ("every_queue_owned_when_settled", AllocateMessageQueueAveragely(), set()),
])
def test_a_finding_is_put_down_to_a_strategy(name: str, strategy: Any, hazards: set[str]) -> None:
    assert causes(name, 1, strategy=strategy) == hazards


def test_the_properties_of_rules_are_those_that_no_model_declares() -> None:
    assert "queue_is_taken_once" in BY_NAME
    assert "one_owner_per_queue" not in BY_NAME


def test_at_each_step_a_property_of_a_model_is_judged_by_a_rule_that_names_it_and_by_no_promise() -> None:
    assert BY_NAME["nothing_is_skipped"] is RULES["no_beginning_skips"]
    assert BY_NAME["delayed_message_comes_at_last"] is RULES["delayed_message_comes_at_last"]
    assert RULES["every_name_server_learns_in_time"].judges == "every_name_server_learns"
    assert "every_name_server_learns" not in BY_NAME


def entered(connection: str) -> tuple[int, str, Any]:
    return 0, "broker-a", ConsumerRegistered("broker-a", "G", "c1", connection, True, True, frozenset())


def gone(why: str) -> tuple[int, str, Any]:
    return 5, "broker-a", ConsumerRemoved("broker-a", "G", "c1", "c1:1", why, attached=True)


TWICE = entered("c1:1"), entered("c1:2")
HAND_OVER_MS = deadlines.handed_over(BOUNDS)


@pytest.mark.parametrize(("now_ms", "records", "hazards"), [
    (1, TWICE, {"B-5"}), (1, TWICE[:1], set()), (1, (entered("c1:1"), entered("c2:1")), set()),
    (HAND_OVER_MS + 5, (*TWICE, gone("expired")), {"B-5"}), (HAND_OVER_MS + 6, (*TWICE, gone("expired")), set()),
    (6, (*TWICE, gone("closed")), set()), (6, (TWICE[0], gone("expired"), TWICE[1]), set()),
])
def test_a_client_counts_as_listed_twice_until_one_of_its_connections_has_expired_long_ago(
    now_ms: int, records: tuple[tuple[int, str, Any], ...], hazards: set[str],
) -> None:
    views: Any = Tables()
    watch = Watch(views, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    for record in records:
        watch.segment(record[1], [record])
    found = Finding("list_has_no_repetition", None, "it is so", ("differs",), about=(("group", "G"),))
    assert set(watch.ascribed(found, now_ms).causes) == hazards


@pytest.mark.parametrize(("topic", "where", "answers", "hazards"), [
    ("orders", (ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, 80), (), {"V28"}),
    ("%RETRY%G", (ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, 80), (), {"L11"}),
    ("orders", (ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, 80), (), set()),
    ("%RETRY%G", (ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, 80), (), set()),
    ("orders", None, (), set()),
    ("orders", (ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, 80), (("c1", -1), ("c1", 0), ("c2", -1)), {"X24"}),
    ("orders", (ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, 80), (("c1", 0),), {"X24"}),
    ("%RETRY%G", (ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, 80), (("c1", 0),), {"X24"}),
    ("orders", (ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, 80), (("c1", 0), ("c1", -1), ("c2", 0)), set()),
])
def test_a_beginning_elsewhere_is_put_down_to_an_answer_of_0_or_to_a_search_by_time(
    topic: str, where: tuple[ConsumeFromWhere, int] | None, answers: tuple[tuple[str, int], ...], hazards: set[str],
) -> None:
    views: Any = Tables(consume_from=where)
    watch = Watch(views, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    for machine, offset in answers:
        watch.segment("b1", [(0, "b1", OffsetAnswered("b1", "G", topic, 0, f"{machine}:1", offset))])
    about = (("at", "c1"), ("group", "G"), ("mq", MessageQueue(topic, "broker-a", 0)))
    found = Finding("new_group_begins_where_it_is_to", None, "it is so", ("differs",), about=about)
    assert set(watch.ascribed(found, 1).causes) == hazards


@pytest.mark.parametrize(("records", "hazards"), [
    ((0, 2), {"X17"}), ((2, 0), {"X10"}), ((0, 3), {"X10"}), ((0, "G2"), {"X10"}), ((0, 2, "answered"), {"X17"}),
    ((2, 0, "answered"), {"X23"}),
])
def test_a_commit_of_less_is_put_down_to_a_correction_that_came_when_the_queue_was_taken_anew(
    records: tuple[int | str, ...], hazards: set[str],
) -> None:
    said = {0: QueueTaken("c1", "G", MQ, 9), 2: OffsetCorrected("c1", "G", MQ, 2), 3: OffsetCorrected("c1", "G", MQ, 3),
            "G2": OffsetCorrected("c1", "G2", MQ, 2)}
    views: Any = Tables()
    watch = Watch(views, BOUNDS, [RULES["offset_of_a_holding_goes_back"]])
    for one in records:
        at, event = ("c1", said[one]) if one in said else (
            "broker-a", OffsetAnswered("broker-a", "G", MQ.topic, MQ.queue_id, "c1:1", 2))
        watch.segment(at, [(0, at, event)])
    found = Finding("commits_of_a_holding_go_forward", OffsetSent("c1", "G", MQ, 2), "it is so", ("OffsetSent",),
                    about=(("at", "c1"), ("group", "G"), ("mq", MQ)))
    assert set(watch.ascribed(found, 1).causes) == hazards


EARLIER = (0, "c1", OffsetUpdated("c1", "G", MQ, 3))
SENT = (2, "c1", OffsetSent("c1", "G", MQ, 2))


@pytest.mark.parametrize(("records", "hazards"), [
    ((EARLIER, SENT), {"L14"}), ((SENT, EARLIER), {"X10"}), ((EARLIER,), {"X10"}),
    (((0, "c1", OffsetUpdated("c1", "G", MQ, 2)), SENT), {"X10"}), (((0, "c2", EARLIER[2]), SENT), {"X10"}),
    (((0, "c1", EARLIER[2]._replace(group="G2")), SENT), {"X10"}),
    ((EARLIER, (2, "c1", SENT[2]._replace(offset=1))), {"X10"}),
    ((EARLIER, (1, "c1", QueueTaken("c1", "G", MQ, 2)), SENT), {"X10"}),
    ((EARLIER, (1, "c1", OffsetReset("c1", "G", MQ, 2)), SENT), {"X10"}),
    ((EARLIER, (1, "c1", OffsetLearntLate("c1", "G", MQ, 2, pulled=False)), SENT), {"X10"}),
])
def test_a_commit_of_less_than_memory_has_is_put_down_to_a_commit_that_was_read_early(
    records: tuple[tuple[int, str, Any], ...], hazards: set[str],
) -> None:
    views: Any = Tables()
    watch = Watch(views, BOUNDS, [RULES["offset_of_a_holding_goes_back"]])
    for record in records:
        watch.segment(record[1], [record])
    found = Finding("commits_of_a_holding_go_forward", SENT[2], "it is so", ("OffsetSent",),
                    about=(("at", "c1"), ("group", "G"), ("mq", MQ)))
    assert set(watch.ascribed(found, 3).causes) == hazards


@pytest.mark.parametrize(("records", "hazards"), [
    (("corrected", "taken"), {"X29"}), (("taken", "corrected"), set()), (("taken",), set()),
    (("corrected", "by another"), set()), (("corrected", "another"), set()),
])
def test_a_step_that_consumption_has_not_is_put_down_to_a_correction_before_its_client_took_the_queue_anew(
    records: tuple[str, ...], hazards: set[str],
) -> None:
    said: dict[str, Any] = {
        "corrected": OffsetCorrected("c1", "G", MQ, 2), "taken": QueueTaken("c1", "G", MQ, 2),
        "by another": QueueTaken("c2", "G", MQ, 2), "another": QueueTaken("c1", "G", MQ._replace(queue_id=9), 2)}
    views: Any = Tables()
    watch = Watch(views, BOUNDS, [RULES["queue_does_no_step_of_its_model"]])
    for one in records:
        watch.segment(said[one].client_id, [(0, said[one].client_id, said[one])])
    found = Finding("refines_process_queue", None, "it is so", ("differs",), about=(("mq", MQ),))
    assert set(watch.ascribed(found, 1).causes) == hazards


@pytest.mark.parametrize(("taken_ms", "mq", "hazards"), [
    (1, MQ, {"X28"}), (0, MQ, set()), (1, MQ._replace(queue_id=1), set()),
])
def test_what_the_timer_forgets_is_no_step_of_the_model(taken_ms: int, mq: MessageQueue, hazards: set[str]) -> None:
    records = [(1 - taken_ms, "c1", TimerJobBegan("c1", "persistAllConsumerOffset", 5_000)),
               (taken_ms, "c1", QueueTaken("c1", "G", mq, 5)), (2, "c1", OffsetUpdated("c1", "G", mq, 6))]
    tables: Any = Tables()
    watch = Watch(tables, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    for record in sorted(records, key=lambda one: one[0]):
        watch.segment("c1", [record])
    found = Finding("refines_process_queue", None, "it is so", ("differs",), about=(("mq", MQ),))
    assert set(watch.ascribed(found, 9).causes) == hazards


@pytest.mark.parametrize(("machine", "hazards"), [("broker-a", {"V33"}), ("broker-b", set())])
def test_a_unit_that_is_not_there_is_put_down_to_the_full_disk_of_its_broker(machine: str, hazards: set[str]) -> None:
    views: Any = Tables()
    watch = Watch(views, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    watch.segment(machine, [(0, machine, DiskFilled(100))])
    found = Finding("refines_commit_log", None, "it is so", ("differs", "unit"), about=(("broker", "broker-a"),))
    assert set(watch.ascribed(found, 1).causes) == hazards


@pytest.mark.parametrize(("machine", "about", "hazards"), [
    ("broker-a-slave", (("slave", "broker-a-slave"),), {"V33"}), ("broker-a", (("slave", "broker-a-slave"),), set()),
    ("broker-a-slave", (), set()),
])
def test_a_copy_that_is_not_there_is_put_down_to_the_full_disk_of_its_slave(
    machine: str, about: tuple[tuple[str, str], ...], hazards: set[str],
) -> None:
    views: Any = Tables()
    watch = Watch(views, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    watch.segment(machine, [(0, machine, DiskFilled(100))])
    found = Finding("refines_replication", None, "it is so", ("differs", "copy"), about=about)
    assert set(watch.ascribed(found, 1).causes) == hazards


MINE = ("c1", "G", MQ)
BEGINS, ENDS = (0, "c1", ListenerStarted(*MINE)), (0, "c1", ListenerEnded(*MINE))
TAKES, FREES = (0, "c1", QueueTaken(*MINE, 2)), (0, "broker-a", LockReleased("broker-a", "G", MQ, "c1"))
RESTARTS = (0, "c1", ConsumerStarted("c1", "G", "CLUSTERING", orderly=True))


@pytest.mark.parametrize(("records", "freed", "overlap"), [
    ((BEGINS, TAKES, FREES), True, True), ((TAKES, BEGINS, TAKES, FREES), True, True),
    ((BEGINS, TAKES, FREES, ENDS), True, False), ((BEGINS, ENDS, TAKES, FREES), False, False),
    ((TAKES, BEGINS, FREES), False, False), ((BEGINS, FREES, TAKES), False, False), ((BEGINS, FREES), False, False),
    ((TAKES, FREES), False, False), ((BEGINS, RESTARTS, TAKES, FREES), False, False), ((BEGINS, TAKES), False, False),
    ((BEGINS, (0, "c1", QueueTaken("c1", "G", MQ._replace(queue_id=9), 2)), FREES), False, False),
    ((BEGINS, TAKES, (0, "broker-a", FREES[2]._replace(group="G2"))), False, False),
    ((BEGINS, TAKES, (0, "broker-a", FREES[2]._replace(client_id="c2"))), False, False),
])
def test_a_lock_that_is_freed_under_a_listener_of_a_former_holding_is_put_down_to_the_queue_that_was_taken_anew(
    records: tuple[tuple[int, str, Any], ...], *, freed: bool, overlap: bool,
) -> None:
    views: Any = Tables()
    watch = Watch(views, BOUNDS, [RULES[name] for name in (
        "lock_is_freed_under_a_former_listener", "listeners_overlap_behind_a_former_holding")])
    for ms, at, event in records:
        watch.segment(at, [(ms, at, event)])
    found = [Finding(name, event, "it is so", (name,), about=about) for name, event, about in (
        ("listener_keeps_its_lock", FREES[2], (("at", "broker-a"), ("client_id", "c1"), ("group", "G"), ("mq", MQ))),
        ("listeners_do_not_overlap", ListenerStarted("c2", "G", MQ), (("mq", MQ),)),
        ("ordered_messages_stay_in_order", None, (("at", "c2"), ("group", "G"), ("mq", MQ))))]
    assert [set(watch.ascribed(one, 1).causes) for one in found] == [
        {"D13"} if one else set() for one in (freed, overlap, overlap)]


ADDRESS, OPEN = "broker-a:10911", QueueData("broker-a", 4, 4, 6, 0)
CLOSED, FLAGGED = OPEN._replace(perm=4), OPEN._replace(topic_sys_flag=1)
RUNS = Broker("broker-a", "broker-a", 0, ADDRESS, 0, None)


def begins(*settings: str, broker_id: int = 0) -> tuple[int, str, Any]:
    return 0, "broker-a", BrokerStarted("broker-a", "broker-a", broker_id, settings)


def registers(
    counter: int = 1, broker_id: int = 0, addr: str = ADDRESS, namesrv: str = "nameserver1",
) -> tuple[int, str, Any]:
    return 0, namesrv, BrokerRegistered(
        namesrv, "broker-a", broker_id, addr, f"{addr}0", (1, counter), frozenset({"orders"}))


COMPRESSES, SHUTS = begins("compressedRegister = true"), begins("brokerPermission = 4")
MISSED, OTHER_MISSED = ((0, at, BrokerLiveRemoved(at, addr, "expired")) for at, addr in (
    ("nameserver1", ADDRESS), ("nameserver1", "broker-b:10911")))


@pytest.mark.parametrize(("records", "routed", "real", "hazards"), [
    ((COMPRESSES,), OPEN, FLAGGED, {"N-23"}), ((begins(),), OPEN, FLAGGED, set()), ((COMPRESSES,), OPEN, CLOSED, set()),
    ((COMPRESSES, begins()), OPEN, FLAGGED, set()), ((COMPRESSES,), None, FLAGGED, set()), ((), OPEN, FLAGGED, set()),
    ((COMPRESSES,), OPEN, None, {"N-14"}), ((begins(), registers(), SHUTS, registers()), OPEN, None, {"N-14"}),
    ((begins(), registers(), SHUTS, registers()), OPEN, CLOSED, {"N-30"}),
    ((SHUTS, registers(), begins(), registers()), CLOSED, FLAGGED, {"N-30"}),
    ((begins(), registers(), SHUTS, registers()), OPEN._replace(read_queue_nums=8), CLOSED, set()),
    ((SHUTS, registers(), SHUTS, registers()), OPEN, CLOSED, set()),
    ((registers(), SHUTS, registers()), OPEN, CLOSED, set()),
    ((begins(), SHUTS, registers()), OPEN, CLOSED, set()), ((begins(), registers(), SHUTS), OPEN, CLOSED, set()),
    ((begins(), registers(), SHUTS, registers(2)), OPEN, CLOSED, set()),
    ((begins(), registers(), SHUTS, registers(2), registers()), OPEN, CLOSED, set()),
    ((begins(), registers(2), registers(), SHUTS, registers()), OPEN, CLOSED, {"N-30"}),
    ((begins(), registers(), MISSED, SHUTS, registers()), OPEN, CLOSED, set()),
    ((begins(), registers(), SHUTS, MISSED, registers()), OPEN, CLOSED, set()),
    ((begins(), registers(), SHUTS, registers(), MISSED), OPEN, CLOSED, set()),
    ((begins(), registers(), SHUTS, registers(), SHUTS, registers()), OPEN, CLOSED, {"N-30"}),
    ((begins(), registers(), SHUTS, registers(), SHUTS, registers(2)), OPEN, CLOSED, set()),
    ((begins(), registers(), SHUTS, registers(), OTHER_MISSED), OPEN, CLOSED, {"N-30"}),
    ((begins(), MISSED, registers(), SHUTS, registers()), OPEN, CLOSED, {"N-30"}),
    ((begins(), registers(), SHUTS, registers(addr="broker-b:10911")), OPEN, CLOSED, set()),
    ((begins(), registers(), SHUTS, registers(namesrv="nameserver2")), OPEN, CLOSED, set()),
    ((begins(), registers(), begins("brokerPermission = 4", broker_id=1), registers()), OPEN, CLOSED, set()),
])
def test_a_route_that_differs_is_put_down_to_flags_or_to_a_permission_under_a_known_version(
    records: tuple[tuple[int, str, Any], ...], routed: QueueData | None, real: QueueData | None, hazards: set[str],
) -> None:
    views: Any = Tables(brokers=[RUNS], topics={} if real is None else {"orders": real},
                        queue_datas={} if routed is None else {"orders": (routed,)})
    watch = Watch(views, BOUNDS, [RULES["route_differs_from_its_broker"]])
    for ms, at, event in records:
        watch.segment(at, [(ms, at, event)])
    about = (("at", "nameserver1"), ("broker_name", "broker-a"), ("topic", "orders"))
    found = Finding("routes_say_what_brokers_have", None, "it is so", ("routes",), about=about)
    assert set(watch.ascribed(found, 1).causes) == hazards


@pytest.mark.parametrize(("records", "is_promoted"), [
    ((registers(broker_id=1), registers()), True), ((registers(), registers()), False),
    ((registers(broker_id=1), registers(2)), False), ((registers(), registers(broker_id=1)), False),
    ((registers(broker_id=1), registers(addr="broker-b:10911")), False),
    ((registers(broker_id=1), registers(namesrv="nameserver2")), False),
    ((registers(2, broker_id=1), registers(broker_id=1), registers()), True),
    ((registers(broker_id=1), registers(broker_id=2)), False),
])
def test_topics_that_are_not_installed_are_put_down_to_a_promotion_under_the_version_of_the_slave(
    records: tuple[tuple[int, str, Any], ...], *, is_promoted: bool,
) -> None:
    watch = Watch(Tables(), BOUNDS, [RULES["topics_are_not_installed"]])  # type: ignore[arg-type]  # tables that are written
    for ms, at, event in records:
        watch.segment(at, [(ms, at, event)])
    found = Finding("full_registration_installs_all_topics", None, "it is so", ("topics",), about=(
        ("at", "nameserver1"), ("broker_name", "broker-a"), ("topic", "orders")))
    assert ("N-16" in watch.ascribed(found, 1).causes) is is_promoted


@pytest.mark.parametrize(("held", "hazards"), [
    (("c1", "G", MQ, True), {"U7"}), (("c1", "G", MQ, False), set()), (("c1", "H", MQ, True), set()),
    (("c1", "G", MQ._replace(queue_id=1), True), set()),
])
def test_a_queue_that_is_committed_after_it_was_given_up_is_put_down_to_its_place_in_the_table(
    held: tuple[str, str, MessageQueue, bool], hazards: set[str],
) -> None:
    machine, group, mq, is_dropped = held
    views: Any = Tables(process_queues=[HeldQueue(machine, f"{machine}@1", group, mq, is_dropped, True, False, 0, 0)])
    watch = Watch(views, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    about = (("at", "c1"), ("group", "G"), ("mq", MQ))
    found = Finding("given_up_is_not_committed", None, "it is so", ("OffsetSent",), about=about)
    assert set(watch.ascribed(found, 9).causes) == hazards


@pytest.mark.parametrize(("corrected_ms", "is_dropped", "now_ms", "hazards"), [
    (1, True, 9, {"U7"}), (3, True, 3 + deadlines.given_up(BOUNDS), {"U10"}),
    (3, True, 4 + deadlines.given_up(BOUNDS), {"U7"}), (3, False, LATE_MS, {"U10"}),
])
def test_a_queue_whose_offset_was_corrected_is_put_down_to_that_alone_unless_it_stays_dropped(
    corrected_ms: int, is_dropped: bool, now_ms: int, hazards: set[str],
) -> None:
    held = HeldQueue("c1", "c1", "G", MQ, is_dropped, True, False, 0, 0)
    views: Any = Tables(consumers=[consumer(None)], process_queues=[held])
    watch = Watch(views, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    for ms, event in sorted([(2, QueueTaken("c1", "G", MQ, 2)), (corrected_ms, OffsetCorrected("c1", "G", MQ, 2))]):
        watch.segment("c1", [(ms, "c1", event)])
    found = Finding("queue_is_not_left_alone", None, "it is so", ("late",), about=(("group", "G"), ("mq", MQ)))
    assert set(watch.ascribed(found, now_ms).causes) == hazards


@pytest.mark.parametrize(("kind", "name", "queue_ids", "hazards"), [
    ("offset", "G orders 1", (1, 0), {"B-21"}), ("offset", "G orders 0", (1, 0), {"B-21"}),
    ("offset", "G orders 1", (1, 0, 1), set()), ("offset", "G orders 1", (0, 2, 1), set()),
    ("offset", "G orders 1", (1, 1), set()), ("offset", "G orders 1", (1,), set()),
    ("offset", "H orders 1", (1, 0), set()), ("offset", "G returns 1", (1, 0), set()),
    ("topic", "orders", (1, 0), set()),
])
def test_an_ordered_offset_that_is_gone_is_put_down_to_two_first_commits(
    kind: str, name: str, queue_ids: tuple[int, ...], hazards: set[str],
) -> None:
    views: Any = Tables()
    watch = Watch(views, BOUNDS, [rule for rule in RULES.values() if issubclass(rule, Ascription)])
    for queue_id in queue_ids:
        watch.segment("broker-a", [(0, "broker-a", OffsetCommitted("broker-a", "G", "orders", queue_id, 7, "o:1"))])
    about = (("server", "broker-a"), ("kind", kind), ("name", name))
    found = Finding("orders_are_kept", None, "it is so", ("in time",), about=about)
    assert set(watch.ascribed(found, 9).causes) == hazards
