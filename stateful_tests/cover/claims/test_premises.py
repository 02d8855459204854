"""Promises are audited: without one of them, all other premises kept, what had it as a premise fails, and nothing else.

A proof drops every promise that is no premise of its property, so what holds without it is proved. Here a search drops
it, and finds the run that the promise keeps away.
"""

from __future__ import annotations

from copy import copy

import pytest

from invariants.exploring import keeps
from invariants.front_desk.catalogue import provable
from invariants.front_desk.guards import ALL, promises
from invariants.front_desk.premises import premises
from model.explorer import explore
from model.language import Promise
from model.language.scope import Scope
from model.scopes import SCOPES

BY_NAME = {named.name: named.scope for named in SCOPES}
NEEDED = (
    ("lists_follow_in_time", "ownership_converges", "convergence", 8),
    ("rebalances_run_in_time", "ownership_converges", "convergence", 3),
    ("rebalances_run_in_time", "membership_change_reaches_all", "convergence", 3),
    ("leaves_quietly", "leaving_member_stays_gone", "registration", 5),
    ("heartbeats_come_in_time", "live_member_is_never_forgotten", "membership", 4),
    ("heartbeats_come_in_time", "list_is_exactly_the_living", "membership", 2),
    ("leaves_wait_for_heartbeats", "pull_finds_its_subscription", "subscription, same", 6),
    ("leaves_wait_for_heartbeats", "heartbeats_do_not_remove_others_topics", "subscription, same", 8),
    ("answers_come_in_time", "one_live_believer", "order lock", 5),
    ("answers_come_in_time", "listeners_do_not_overlap", "order lock", 7),
    ("batches_end_in_time", "listeners_do_not_overlap", "order lock", 7),
    ("contender_tries_in_time", "abandoned_lock_is_freed", "abandoned lock", 1),
    ("goodbyes_beat_restarts", "live_broker_stays_routed", "routes", 5),
    ("ids_are_unique", "live_broker_stays_routed", "routes", 4),
    ("registrations_come_in_time", "live_broker_stays_routed", "routes", 4),
    ("scans_come_in_time", "dead_broker_is_dropped", "routes", 4),
    ("rounds_come_in_time", "every_name_server_learns", "name servers", 2),
    ("polls_come_in_time", "route_cache_becomes_true", "route cache", 2),
    ("checkpoint_is_true", "no_record_is_missed", "commit log", 9),
    ("hand_overs_wait_for_commits", "committed_offset_never_regresses", "process queue", 10),
    ("resets_meet_no_commits", "nothing_is_skipped", "process queue", 6),
    ("resets_meet_no_commits", "committed_offset_never_regresses", "process queue", 5),
    ("resets_meet_no_results", "nothing_is_skipped", "process queue, late results", 10),
    ("checks_come_after_the_transaction", "transaction_is_delivered_once", "transaction", 6),
    ("checks_meet_no_answer", "transaction_is_delivered_once", "transaction", 6),
    ("messages_meet_no_look", "arriving_message_wakes_the_pull", "held pull", 3),
    ("scans_run_in_time", "held_pull_is_answered_in_time", "held pull", 3),
    ("scans_run_in_time", "arriving_message_is_seen_within_a_scan", "held pull, P13", 4),
    ("pools_work_at_once", "held_pull_is_answered_in_time", "held pull", 6),
    ("pools_work_at_once", "arriving_message_is_seen_within_a_scan", "held pull, P13", 6),
    ("some_broker_is_left", "publish_list_keeps_its_queues", "publish list", 3),
)
"""Promise, property that needs it, a scope that keeps all its premises, and the steps of a shortest run without it."""
UNUSED = {"closes_are_handled_at_once", "one_request_at_a_time", "starts_wait_for_the_close", "the_living_are_listed"}
"""Promises on which no proof rests."""


def breaking(scope: Scope, name: str) -> Scope:
    """The same scope in which one more promise is not kept."""
    other = copy(scope)
    other.breaks = (*scope.breaks, name)
    return other


@pytest.mark.parametrize(("name", "declared", "scope", "steps"), NEEDED)
def test_without_its_promise_a_property_fails(name: str, declared: str, scope: str, steps: int) -> None:
    kept = BY_NAME[scope]
    wanted = kept.concept.properties[declared]
    assert keeps(kept, wanted)
    assert not keeps(breaking(kept, name), wanted)
    found = explore(breaking(kept, name), [wanted], until_decided=True)
    assert len(found.violations[declared]["steps"]) == steps


def test_every_promise_that_is_a_premise_is_shown_to_be_needed() -> None:
    shown = {name for name, *_ in NEEDED}
    given = {name for concept in ALL.values() for name, one in premises(concept.properties.values()).items()
             if isinstance(one, Promise)}
    assert shown == given
    assert {one.name for concept in ALL.values() for one in promises(concept)} == given | UNUSED


@pytest.mark.parametrize("scope", ["membership", "registration", "subscription, same", "route cache"])
def test_without_a_promise_that_is_none_of_its_premises_a_property_holds(scope: str) -> None:
    kept = BY_NAME[scope]
    for promise in promises(kept.concept):
        others = [one for one in kept.concept.properties.values()
                  if provable(one) and promise not in one.given and keeps(kept, one)]
        found = explore(breaking(kept, promise.name), others)
        assert {one.name: found.outcome(one.name) for one in others if found.outcome(one.name) != "holds"} == {}


def test_premises_of_one_name_say_the_same() -> None:
    said: dict[str, set[str]] = {}
    for concept in ALL.values():
        for name, one in premises(concept.properties.values()).items():
            said.setdefault(name, set()).add(one.sentence)
    assert {name for name, sentences in said.items() if len(sentences) > 1} == set()
