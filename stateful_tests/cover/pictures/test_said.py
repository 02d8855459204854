"""What the pictures of hazards have to say, so that a stranger understands them; a test of stories draws them anew."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from impl import events as e
from impl.broker.broker_config import BrokerConfig
from impl.events.sentences import SENTENCES, Words
from invariants.finding import Finding, put_down_to
from invariants.hazards import HAZARDS
from invariants.pictures.picture import picture
from invariants.pictures.text import BEGAN, SIGNS
from invariants.pictures.triggers import has_settings
from stateful_tests.cover.pictures.stored import stored
from stateful_tests.cover.pictures.told import NoTrail
from stateful_tests.stories.scenes import BROKER, FIRST
from stateful_tests.worlds.evidence import users_see

FACTS = [
    ("R-2", "chooses the name server nameserver2 from its list: nameserver1, nameserver2"),
    ("R-2", "nameserver1, which is not in its list any more: nameserver3"),
    ("U3", "starts a consumer of G with the client id 10.0.0.1@billing"),
    ("U3", "c1 has rebalanced orders: it holds queues 0-1 of orders"),
    ("A-9", "c1 3 (1 of bills, 1 of orders, 1 of refunds), c2 0"),
    ("D7", "the listeners of c2 and of c1 work at once"),
    ("V6", f"{BEGAN} a force of store/commitlog"),
    ("N-5", f"{BEGAN} nameserver1 registers silent over its connection to proxy"),
    ("N-17", f"{BEGAN} the connection of broker-a to nameserver1 breaks; nameserver1 sees it 60 s later"),
    ("N-23", "with compressedRegister = true"), ("L13", "with the strategy CONFIG"),
    ("N-10", "the thread of nameserver1 goes on with what it knew then"),
    ("X23", "(readOffset: the broker has answered)"),
    ("X13", "the broker answers the pull of queue 0 of orders by c1: PULL_NOT_FOUND"),
    ("X15", f"{BEGAN} c1 begins to shut its consumer of G down"), ("X15", "c1 commits offset 50 of queue 3"),
    ("L1", "broker-a tells c2 that G has no offset of queue 0"), ("U15", "and waits 10 s in between"),
    ("N-26", "with brokerClusterName = blue"), ("L8", "c1 sets its offset of queue 2 of orders to 0: a reset"),
    ("B-12", "broker-a hears a heartbeat of c2 in G"),
    ("B-10", f"{SIGNS['earlier']} c1 has shut its consumer of G down"), ("B-10", "a heartbeat of c1 in H: invoices"),
]
"""Hazard and a fact that explains it."""
HARM = [
    ("R-2", "asker tries to connect to nameserver2, for 3 s, in vain"),
    ("R-2", "the thread of asker goes on with what it knew then"),
    ("U17", "c1 tries 5 times to connect to broker-b, for 13 s, in vain"),
    ("B-25", "waits 3 s for the lock TopicConfigManager.topicConfigTableLock, in vain"),
    ("X13", "waits for a call that does not come back, and does so still"),
    ("B-11", "broker-a closes its connection to c1, because an entry of G that came over it has expired"),
    ("N-5", "nameserver1 closes its connection to proxy, because silent, which registered over it, has expired"),
    ("B-17", "c1 closes its connection to broker-a: no answer for 3 s"),
    ("D9", "c1 puts its release of locks off for 20 s"),
    ("X21", "c1 takes queue 3 of orders out of its table and does not drop it: its pulls go on"),
    ("X22", "c1 takes queue 3 of orders out of its table and does not drop it: its pulls go on"),
    ("X23", "so says the answer to a question that it sent before another of its threads took the queue"),
    ("L8", "so says the answer to a pull that it began before it gave the queue up"),
    ("D7", "the lock of queue 3 of orders that c1 has at broker-a expires: not renewed for 60 s"),
    ("B-2", "no topic is left in the table of G"),
    ("N-29", "it looks under this name only, and machine1 stays under broker-a, too"),
    ("X13", "c1 has not pulled queue 0 of orders for 120 s: its pulls count as expired"),
    ("B-10", "broker-a has not heard of c1 in G for 120 s, and keeps it: the heartbeats in H renew the same entry"),
    ("V16", "before it had reached 261: message 0 of queue 0 of orders was not forced yet, and is lost"),
    ("V4", "before it had reached 522 only: what an earlier start had cut off is there again"),
    ("V3", "for message 0, which is lost, the queue has an entry"),
    ("V26", "no file abort is there, as after an orderly stop"),
    ("V22", "its file store/commitlog/00000000000000065536 has 0 bytes, and not as many as are configured"),
    ("D12", "broker-a does not give the lock of queue 2 of orders to c3: c1 has it, the first of 4 times"),
    ("D12", "broker-a gives the lock of queue 2 of orders to c1"),
    ("B-6", "it takes nobody out who came over connection 2"),
    ("B-13", "the network loses the notification of broker-a to c1"),
    ("X3", "the network loses the offset commit of c1 to broker-a"),
    ("U11", "its question for the end of a queue; the answer is SYSTEM_BUSY"),
    ("X10", "c1 sends broker-a its question for an offset and gets no answer"),
    ("B-24", "c2 sends broker-a its heartbeat and gets no answer"),
    ("B-4", "a thread of c1 stands still for 10 s (subscribe: before the heartbeat)"),
    ("U6", "the listener of c1 begins with queue 2 of orders"),
    ("N-13", f"{SIGNS['earlier']} nameserver1 takes the right to write from all queues of broker-a"),
    ("N-14", f"{SIGNS['earlier']} broker-a deletes the topic orders"),
    ("N-5", f"{SIGNS['finding']} nameserver1 takes alive out of its routes"),
    ("D3", "c1 has a route of orders: queues 0-3 of orders at broker-b"),
    ("B-11", "broker-a enters c1 in G: orders in version 2"),
    ("D8", "that c1 had it was in the memory of the killed process"),
    ("X16", "another consumer of G runs there with the same client id"),
    ("B-28", "broker-s copies the offsets of broker-a"),
    ("N-18", "broker-a sends nameserver1 its question for the version and gets no answer"),
    ("U14", "c1 has a route of orders: no queue"),
    ("N-8", "the clock of nameserver1 is set ahead by"),
    ("U8", "c1 holds queue 0 of orders and waits for its lock"),
    ("N-1", "by then the id was machine2's"), ("N-2", "it has no route of orders"),
    ("N-3", "it has no route of the retry topic of G"), ("N-4", "the job that it was at is never begun again"),
    ("B-16", "broker-a has CLUSTERING from c1 and BROADCASTING from c2 in G"),
]
"""A hazard, and the step of it that does the harm, which no event of RocketMQ's servers reports."""
NOT_SAID = [("V6", "producer1 is killed"), ("B-14", "compiled version")]


_LANES = re.compile(r"^ *[\d,.]* +(?:[│●×✗├┤┼─▶◀┊⋮][ ─▶◀×┼]{2})+ ")


def said(hazard: str) -> str:
    """The sentences of a stored picture, without its lifelines and the ends of lines."""
    return " ".join(_LANES.sub("", line).strip() for line in stored(hazard))


@pytest.mark.parametrize(("hazard", "fact"), [*FACTS, *HARM])
def test_a_picture_has_the_fact_that_explains_it(hazard: str, fact: str) -> None:
    assert fact in said(hazard)


@pytest.mark.parametrize(("hazard", "text"), NOT_SAID)
def test_a_picture_has_no_false_trail(hazard: str, text: str) -> None:
    assert stored(hazard)
    assert text not in said(hazard)


def test_each_stored_picture_says_what_users_see() -> None:
    drawn = [hazard for hazard in HAZARDS if stored(hazard)]
    assert len(drawn) > 100
    assert [hazard for hazard in drawn if SIGNS["seen"] not in said(hazard)] == []


# What users see -------------------------------------------------------------------------------------------------------

REMOVED = (5, BROKER, e.SubscriptionRemoved(BROKER, "G", "orders", attached=True))
REFUSED = (9, "c1", e.PullAnswered("c1@D", "G", FIRST, 24))


@pytest.mark.parametrize(("records", "users", "shown"), [
    ([REMOVED], "Pulls fail.", "what users see of such a run: Pulls fail."), ([REMOVED], "", None),
    ([REMOVED, REFUSED], "Pulls fail.",
     "the broker answers the pull of queue 0 of orders by c1: SUBSCRIPTION_NOT_EXIST"),
])
def test_what_the_run_itself_shows_comes_before_what_is_known(records: Any, users: str, shown: str | None) -> None:
    found = Finding("a_property", REMOVED[2], "It is so.", (), position=1, time_ms=5)
    drawn = picture(records, NoTrail(), found, users)
    assert [row.text for row in drawn.rows if row.mark == "seen"] == ([] if shown is None else [shown])


@pytest.mark.parametrize(("subject", "name", "causes", "hazard"), [
    ("shipped", "address_has_one_name", (), "N-29"), ("shipped", "one_owner_per_queue", ("D1",), "D1"),
    ("shipped", "one_owner_per_queue", (), None), ("repaired", "address_has_one_name", (), None),
    ("repaired+bc-same-client-id", "one_owner_per_queue", ("D1",), "D1"),
    ("repaired-N-29+bc-same-client-id", "address_has_one_name", (), None),
])
def test_users_see_what_the_one_hazard_of_a_finding_makes_them_see(
    subject: str, name: str, causes: tuple[str, ...], hazard: str | None,
) -> None:
    found = Finding(name, None, "It is so.", tuple(map(put_down_to, causes)), causes=causes)
    assert users_see(subject, found) == ("" if hazard is None else HAZARDS[hazard].seen)


# What sentences say ---------------------------------------------------------------------------------------------------


def started(machine: str, client_id: str, **fields: Any) -> tuple[int, str, Any]:
    """A consumer starts."""
    return 0, machine, e.ConsumerStarted(client_id, "G", "CLUSTERING", orderly=False, **fields)


def test_a_client_id_is_said_where_several_machines_have_it() -> None:
    records = [started("c1", "one@shop"), started("c2", "one@shop"), started("c3", "three@shop")]
    words = Words(records, SENTENCES)
    assert [words.sentence(at, event) for _, at, event in records[1:]] == [
        "c2 starts a consumer of G with the client id one@shop", "c3 starts a consumer of G"]
    listed = e.ConsumerIdsAnswered(BROKER, "G", "c1:32768", ("one@shop", "one@shop", "three@shop"))
    assert words.sentence(BROKER, listed) == "broker-a tells c1 the members of G: one@shop (2 times), c3"
    left = e.GoodbyeTaken(BROKER, "G", "one@shop", "c2:32768", attached=True)
    assert words.sentence(BROKER, left) == "broker-a has handled the goodbye of one@shop (c2) from G"


def test_settings_other_than_the_default_are_said() -> None:
    usual = BrokerConfig("broker-a", ())
    own = BrokerConfig("broker-a", (), cluster_name="blue", compressed_register=True, cores=8)
    assert (usual.switched(), own.switched()) == ((), ("brokerClusterName = blue", "compressedRegister = true"))
    assert replace(usual, broker_permission=4).switched() == ("brokerPermission = 4",)
    assert not has_settings(e.BrokerStarted(BROKER, BROKER, 0, usual.switched()))
    assert has_settings(e.BrokerStarted(BROKER, BROKER, 0, own.switched()))
    assert [has_settings(started("c1", "c1@D", strategy=name)[2]) for name in ("AVG", "CONFIG")] == [False, True]
