"""Which hazards a finding shows, of those that can break its property; what a rule contradicts."""

from __future__ import annotations

from typing import Any

from impl.events import OffsetCommitted
from invariants.finding import put_down_to
from invariants.rules.bounds import Bounds
from invariants.rules.declared import RULES
from invariants.rules.telling_apart import looked_for, perhaps, shown
from invariants.rules.watch import Watch
from stateful_tests.rules.collected import HISTORIES
from stateful_tests.rules.written import Tables, findings

BROKER = "broker-a"
TABLES: Any = Tables()
MANY = 60
"""So many rules name a record that they contradict, in some written history; more is better."""
SEVERAL = ("D2", "D4", "D5")


def test_a_finding_shows_the_hazards_whose_cause_was_seen() -> None:
    key = ("a_property", "QueueTaken", put_down_to("D4"))
    assert shown(SEVERAL, key) == ("D4",)
    assert perhaps(SEVERAL, key) == ""


def test_a_finding_of_which_no_cause_was_seen_shows_those_of_which_nobody_sees_one() -> None:
    key = ("a_property", "QueueTaken")
    assert shown(("D2",), key) == ("D2",)
    assert perhaps(("D2",), key) == ""
    assert shown(SEVERAL, key) == SEVERAL
    assert perhaps(SEVERAL, key) == "; D2, D4 or D5: the run does not tell them apart"
    assert perhaps((), key) == ""


def test_a_hazard_whose_cause_is_looked_for_and_was_not_seen_is_not_shown() -> None:
    hazards, key = ("B-11", "B-17", "D5"), ("connections_of_members_last", "ConsumerRemoved")
    assert looked_for(key[0]) == {"B-11"}
    assert shown(hazards, key) == ("B-17", "D5")
    assert shown(hazards[:1], key) == ()
    assert perhaps(hazards[:1], key) == "; the run shows no cause of B-11"


def test_a_rule_names_the_record_that_it_contradicts() -> None:
    rules = [RULES["commits_go_down_by_resets_only"]]
    records = [(at, BROKER, OffsetCommitted(BROKER, "G", "orders", queue_id, offset, "c1:32768"))
               for at, (queue_id, offset) in enumerate([(0, 10), (0, 20), (1, 90), (0, 15)])]
    watch, silent = (Watch(TABLES, Bounds(), rules, explains=explains) for explains in (True, False))
    (found,), (plain,) = watch.segment(BROKER, records), silent.segment(BROKER, records)
    assert found.earlier == records[1]
    assert (plain.earlier, plain) == (None, found)


def test_rules_judge_alike_whether_they_explain_or_not_and_most_can() -> None:
    explained, silent = set[str](), set[str]()
    for history in HISTORIES:
        found = findings(history, history.broken, explains=True)
        assert found == findings(history, history.broken), history.rule
        (explained if any(one.earlier for one in found) else silent).add(history.rule)
    assert len(explained) >= MANY
    assert all(one.earlier is None or one.earlier in history.broken for history in HISTORIES
               for one in findings(history, history.broken, explains=True))
