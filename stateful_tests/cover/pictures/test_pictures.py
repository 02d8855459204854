"""Pictures of a cause: what they show, what they leave out, and that they fit a screen."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from impl import events as e
from impl.events.sentences import SENTENCES, Words
from impl.hosts.simulation.tape import ReplayTape
from invariants.finding import Finding
from invariants.pictures.causes import FAMILIES, READS
from invariants.pictures.log import Log
from invariants.pictures.marks import EARLIER, EVENT, FAULT, FINDING, FOLD, GAP, SEEN
from invariants.pictures.moments import moments
from invariants.pictures.picture import Picture, folded, picture
from invariants.pictures.rows import Row
from invariants.pictures.text import LONGEST, WIDEST, lines
from stateful_tests.cover.pictures.told import KINDS, NoTrail, text, told
from stateful_tests.stories.scenes import BROKER, FIRST, LAST
from stateful_tests.worlds.evidence import pictured
from stateful_tests.worlds.run import Plan, lived

TEN = (
    "refines_subscription", "one_owner_per_queue", "answered_heartbeat_means_listed", "one_lock_holder",
    "full_registration_installs_all_topics", "committed_offset_never_regresses", "goodbye_ends_its_own_process",
    "goodbye_waits_for_the_heartbeat", "queue_is_taken_once", "listeners_do_not_overlap",
)
"""Properties that ten different hazards break in a story."""
B29 = """\
         broker-a
         │  c1
         │  │  c2
         │  │  │   … 1 earlier step, not shown
  0.103  │◀─┤  │   broker-a puts version 1 of orders (*) into the table of G
  0.131  │◀─┤  │   broker-a hears a heartbeat of c1 in G: orders in version 2
  0.131  ×  │  │   ◆ a thread of broker-a that handles the heartbeat of c1
         │  │  │   stands still for 1 s (updateSubscription: the topic has been
         │  │  │   looked up)
  0.231  │◀─┼──┤   broker-a enters c2 in G: orders in version 3
  0.231  ●  │  │   ① broker-a replaces version 1 of orders by version 3
  1.131  ✗  │  │   ✗ broker-a replaces version 3 of orders by version 2: an
         │  │  │   older subscription wins
◆ what began it   ① the earlier moment that ✗ contradicts   ✗ the promise breaks
● a machine acts   × fault   ├─▶ message, as its receiver takes it
"""
B33 = """\
         broker-a
         │  c1
  0.111  │◀─┤   ① broker-a hears a heartbeat of c1 in G: orders in version 1
  0.111  ×  │   ◆ a thread of broker-a that handles the heartbeat of c1 stands
         │  │   still for 1 s (registerConsumer: before updateSubscription)
  0.121  │◀─┤   ✗ broker-a takes c1 out of G: it has said goodbye: broker-a
         │  │   removes c1 from G while its heartbeat is handled
◆ what began it   ① the earlier moment that ✗ contradicts   ✗ the promise breaks
● a machine acts   × fault   ├─▶ message, as its receiver takes it
"""
N27 = """\
         nameserver1
         │  machine1
         │  │  tester
         │  │  │   … 3 earlier steps, not shown
  0.003  │◀─┤  │   nameserver1 registers machine1 as broker-a with version 1:
         │  │  │   orders
  0.100  │  ×  │   ◆ machine1 is killed (kill -9)
  0.100  │  ●  │   ◆ machine1 starts again
  0.100  │  ●  │   ◆ machine1 starts as master of broker-a
  0.101  ●  │  │   nameserver1 looks for the broker of a closed connection of
         │  │  │   machine1: machine1
  0.101  ●  │  │   nameserver1 forgets machine1: its connection is closed
  0.101  ●  │  │   nameserver1 takes machine1 out of its routes
  0.103  │◀─┤  │   ① nameserver1 registers machine1 as broker-a with version 1:
         │  │  │   orders
         ⋮  ⋮  ⋮   1 s
  1.103  │◀─┼──┤   ✗ nameserver1 forgets machine1: it was unregistered:
         │  │  │   nameserver1 takes the goodbye of an earlier process for that
         │  │  │   of machine1
◆ what began it   ① the earlier moment that ✗ contradicts   ✗ the promise breaks
● a machine acts   × fault   ├─▶ message, as its receiver takes it
⋮ time passes
"""


def of_records(records: Sequence[tuple[int, str, Any]], **found: Any) -> Picture:
    """The picture of a finding by the last of these records."""
    ms, at, event = records[-1]
    given = {"event": event, "time_ms": ms, "machine": at, "position": len(records), **found}
    return picture(records, NoTrail(), Finding("a_property", sentence="It is so.", signature=("a_property",), **given))


def committed(ms: int, offset: int, queue_id: int = 0) -> tuple[int, str, Any]:
    """A commit at the broker."""
    return ms, BROKER, e.OffsetCommitted(BROKER, "G", "orders", queue_id, offset, "c1:32768")


def test_each_class_of_events_says_what_it_depends_on() -> None:
    assert {*READS} == {*KINDS}
    assert {kind.__module__ for kind in KINDS} == {*FAMILIES}


@pytest.mark.parametrize(("name", "golden"), [
    ("refines_subscription", B29), ("goodbye_waits_for_the_heartbeat", B33), ("goodbye_ends_its_own_process", N27),
])
def test_a_story_has_its_picture(name: str, golden: str) -> None:
    assert text(told(name)) == golden


@pytest.mark.parametrize("name", TEN)
def test_a_picture_marks_both_moments_and_fits_a_screen(name: str) -> None:
    drawn = told(name)
    marked = [row.mark for row in drawn.rows if row.mark]
    assert marked[:2] == [EARLIER, FINDING]
    assert marked[2:] in ([], [SEEN])
    shown = lines(drawn.lifelines, drawn.rows, drawn.left_out)
    assert len(shown) + 3 <= LONGEST
    assert max(map(len, shown)) <= WIDEST
    assert drawn.claim.endswith(".")


@pytest.mark.parametrize("name", TEN)
def test_a_picture_speaks_of_rocketmq_and_not_of_models_or_events(name: str) -> None:
    drawn = told(name)
    said = " ".join([drawn.claim, *(row.text for row in drawn.rows)])
    assert not any(kind.__name__ in said for kind in KINDS)
    assert not any(raw in said for raw in ("[", "{", "the model", "1645000000", "MessageQueue", "frozenset", "None"))


def test_only_the_causal_past_is_shown() -> None:
    other = e.OffsetCommitted(BROKER, "H", "orders", 0, 99, "c2:32769")
    records = [committed(1, 10), (2, BROKER, other), committed(3, 7, queue_id=1), (4, "c3", e.ProcessPaused(50)),
               committed(5, 20), committed(6, 5), committed(7, 30)]
    drawn = of_records(records[:6])
    assert [(row.time_ms, row.mark) for row in drawn.rows] == [(1, ""), (5, EARLIER), (6, FINDING), (6, SEEN)]
    assert drawn.rows[-2].text.endswith("20 stood there: the older offset wins")
    assert drawn.rows[-1].text == "whoever takes the queue next begins at 5, and gets the messages 5-19 a second time"


def test_what_struck_a_machine_between_the_moments_is_shown() -> None:
    records = [(1, BROKER, e.ProcessPaused(9)), committed(20_002, 20), (20_003, BROKER, e.ProcessPaused(50)),
               (20_004, "c2", e.ProcessPaused(60)), committed(20_005, 10)]
    drawn = of_records(records)
    told_of = [(row.time_ms, row.kind, row.began) for row in drawn.rows if row.mark != SEEN]
    assert told_of == [(20_002, EVENT, False), (20_003, FAULT, True), (20_005, EVENT, False)]


def test_time_that_passes_is_a_row_with_its_length() -> None:
    records = [committed(1, 10), (4_000, BROKER, e.ProcessPaused(50)), committed(22_004, 5)]
    drawn = of_records(records)
    assert [(row.kind, row.text) for row in drawn.rows if row.kind == GAP] == [(GAP, "4 s"), (GAP, "18 s")]
    assert "         ⋮   18 s\n" in text(drawn)


def test_what_was_done_last_has_begun_it_and_what_led_there_is_left_out() -> None:
    records = [(1, "c1", e.ConsumerStarted("c1@D", "G", "CLUSTERING", orderly=False)),
               (5, "c1", e.QueueTaken("c1@D", "G", FIRST, 0)), (9_000, "c2", e.ProcessKilled(1, power_loss=False)),
               (9_001, "c2", e.ProcessStarted(2)), (9_100, "c2", e.QueueTaken("c2@D", "G", FIRST, 0))]
    drawn = of_records(records)
    assert [(row.time_ms, row.began, row.mark) for row in drawn.rows if row.kind != GAP] == [
        (5, False, EARLIER), (9_000, True, ""), (9_001, True, ""), (9_100, False, FINDING), (9_100, False, SEEN)]
    assert drawn.rows[-1].text == "c2 and c1 both pull the queue: each message goes to both"


@pytest.mark.parametrize("ends", [
    e.QueueDropped("c1@D", "G", FIRST), e.ConsumerShutDown("c1@D", "G"), e.ProcessKilled(1, power_loss=True)])
def test_two_are_not_said_to_pull_a_queue_that_the_first_one_has_left(ends: Any) -> None:
    records = [(5, "c1", e.QueueTaken("c1@D", "G", FIRST, 0)), (6, "c1", ends),
               (9, "c2", e.QueueTaken("c2@D", "G", FIRST, 7))]
    assert of_records(records).rows[-1].text == "c2 is not given the messages 0-6"


def test_what_a_group_has_consumed_comes_again_where_a_queue_is_begun_before_it() -> None:
    records = [(5, "c1", e.MessagesSettled("c1@D", "G", FIRST, (3, 4, 5, 6))),
               (9, "c2", e.QueueTaken("c2@D", "G", FIRST, 5))]
    drawn = of_records(records, earlier=records[0])
    assert (drawn.rows[-1].mark, drawn.rows[-1].text) == (SEEN, "c2 gets the messages 5-6 a second time")
    assert of_records([(5, "c1", e.MessagesSettled("c1@D", "G", LAST, (6,))), records[1]],
                      earlier=records[0]).rows[-1].mark == FINDING


def test_users_meet_a_finding_in_the_next_event_of_its_kind() -> None:
    dropped = (5, BROKER, e.BrokerDropped("nameserver1", "broker-a:10911"))
    denied = (9, BROKER, e.RouteDenied("nameserver1", "orders"))
    found = Finding("a_property", dropped[2], "It is so.", (), position=1, time_ms=5)
    drawn = picture([dropped, denied], NoTrail(), found)
    assert [row.mark for row in drawn.rows] == [FINDING]  # it is about a broker, not about a topic
    removed = (5, BROKER, e.SubscriptionRemoved(BROKER, "G", "orders", attached=True))
    answers = [(7 + code, "c1", e.PullAnswered("c1@D", "G", FIRST, code)) for code in (19, 24)]
    drawn = picture([removed, *answers], NoTrail(), replace(found, event=removed[2]))
    assert [(row.mark, row.time_ms) for row in drawn.rows] == [(FINDING, 5), (SEEN, 31)]
    assert "SUBSCRIPTION_NOT_EXIST" in drawn.rows[-1].text


def test_the_goodbye_of_a_broker_is_begun_by_its_shutdown() -> None:
    drawn = told("goodbye_frees_its_sender_only")
    assert [row.text for row in drawn.rows if row.began] == ["machine1 begins to shut down"]


def test_the_legend_says_what_each_sign_means() -> None:
    shown = text(told("one_owner_per_queue"))
    for sign in ("◆ what began it", "① the earlier moment", "✗ the promise breaks", "● a machine acts",
                 "├─▶ message", "⋮ time passes"):
        assert sign in shown
    assert "┊ repetition" not in shown


def test_repetition_is_folded() -> None:
    renewals = [(10 + at, BROKER, e.LockGranted(BROKER, "G", LAST, "c1@D", "c1@D", fast=True)) for at in range(20)]
    other = e.LockGranted(BROKER, "G", LAST, "c2@D", "c2@D", fast=False)
    drawn = of_records([*renewals, (40, BROKER, other)], earlier=(10, BROKER, renewals[0][2]))
    assert [(row.kind, row.text) for row in drawn.rows if row.kind == FOLD] == [(FOLD, "… 18 lock renewals")]
    assert [row.mark for row in drawn.rows] == [EARLIER, "", "", FINDING]


def test_rows_that_are_alike_are_one() -> None:
    taken = [(at, "c1", e.QueueTaken("c1@D", "G", FIRST._replace(queue_id=at), 0)) for at in range(5)]
    words = Words(taken, SENTENCES)
    rows = [Row(at, ms, machine, words.sentence(machine, event), several=words.several(event), event=event)
            for at, (ms, machine, event) in enumerate(taken)]
    assert [row.text for row in folded(rows, words)] == ["… 5 queues taken at c1: queues 0-4 of orders"]
    assert folded(rows[:2], words) == rows[:2]
    marked = [*rows[:4], replace(rows[4], mark=FINDING)]
    assert [row.kind for row in folded(marked, words)] == [FOLD, EVENT]


def test_the_judge_says_what_is_contradicted_before_anybody_guesses() -> None:
    records = [committed(1, 10), committed(2, 20), committed(3, 5)]
    log = Log(records, NoTrail())
    found = Finding("a_property", records[-1][2], "It is so.", (), position=3)
    assert moments(log, found).earlier == 1
    named = Finding("a_property", records[-1][2], "It is so.", (), position=3, earlier=records[0])
    assert moments(log, named).earlier == 0


def test_a_finding_without_an_event_ends_its_picture() -> None:
    started = (1, "c1", e.ConsumerStarted("c1@D", "G", "CLUSTERING", orderly=False))
    told_of = (5, BROKER, e.ConsumerIdsChanged(BROKER, "G", "c1:32768", delivered=True))
    drawn = of_records([started, told_of], event=None, time_ms=9_000, about=(("at", "c1"), ("group", "G")),
                       earlier=told_of)
    assert drawn.rows[-1].mark == FINDING
    assert (drawn.rows[-1].at, drawn.rows[-1].text) == ("c1", "It is so")
    assert [row.time_ms for row in drawn.rows if row.mark == EARLIER] == [5]


def test_a_run_full_of_faults_has_pictures_that_fit() -> None:
    with lived(Plan("shipped", "clustering", "storm"), ReplayTape([7, 3, 1, 9, 2] * 400)) as (world, record):
        drawn = [pictured(world, found, "shipped") for found in record.seen]
    assert drawn
    for one in drawn:
        assert len(one["rows"]) + len(one["lifelines"]) <= LONGEST
        assert sum(row["mark"] == FINDING for row in one["rows"]) == 1


def test_the_same_run_has_the_same_picture_in_each_process() -> None:
    program = ("from stateful_tests.cover.pictures.told import text, told; "
               "print(text(told('queue_is_taken_once')))")
    shown = {subprocess.run(  # noqa: S603  # this very interpreter and a program that is written above
        [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True,
        text=True, timeout=60).stdout for seed in ("1", "2")}
    assert len(shown) == 1
