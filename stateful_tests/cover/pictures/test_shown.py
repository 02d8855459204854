"""How what was found is told in words: of steps that no model has, and of tables that differ."""

from __future__ import annotations

from dataclasses import replace

from impl import events as e
from impl.events.sentences import SENTENCES, Words
from invariants.finding import Finding
from invariants.pictures.claims import claim, in_words
from invariants.pictures.log import Log
from invariants.pictures.moments import moments
from stateful_tests.machines.program import parsed
from stateful_tests.machines.search import played


def test_a_step_that_no_model_has_is_told_by_what_was_reported() -> None:
    gone = e.BrokerFound("nameserver1", "broker-a:10911", "broker-a:32769")
    found = Finding("refines_route_info", gone, "destroy_find is not possible: closed[k]", ("refines_route_info",))
    sentence = in_words(found, "nameserver1", [(0, "nameserver1", gone)])
    assert "closed[k]" not in sentence
    assert sentence.startswith("nameserver1 ")
    assert sentence.endswith(": nothing that happened before allows this step.")
    assert in_words(replace(found, property="a_rule"), "nameserver1", []) == found.sentence


def test_where_tables_differ_about_a_lock_the_picture_has_what_was_last_said_of_its_queue() -> None:
    program = parsed("ask_only(who='broker-b'); pass_time(s=131); start(who='consumer2')")
    machine = played("order_lock", "repaired+seeded-unlock-for-anyone", program, telling=True, to_the_end=False)
    found = next(one for one in machine.seen if one.differs)
    kernel = machine.world.simulation.kernel
    assert kernel.trail is not None
    log = Log(kernel.records, kernel.trail)
    at = moments(log, found)
    assert at.earlier is not None
    freed = log.records[at.earlier][2]
    assert isinstance(freed, e.LockReleased)
    assert freed.client_id.startswith("consumer2")
    queue = f"queue {freed.mq.queue_id} of the retry topic of G at broker-b"
    assert claim(found, Words(kernel.records, SENTENCES)) == (
        f"{queue} is not locked, but what happened before leaves no other result than that {queue} is locked.")
