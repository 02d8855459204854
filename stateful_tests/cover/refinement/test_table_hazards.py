"""Followers of subscriptions and routes tell the stories of hazards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stateful_tests.cover.refinement.watching import LOOK_THEN_PUT, Watch, one_falls_silent
from stateful_tests.stories import (
    test_broker_clients,
    test_client_tables,
    test_leaving,
    test_lost_and_late,
    test_name_server,
    test_route_tables,
)
from stateful_tests.worlds.world import World

STORIES: tuple[tuple[Callable[[], None], str], ...] = (
    (test_broker_clients.test_b1_members_with_different_topics_remove_each_others, "pull_finds_its_subscription"),
    (test_broker_clients.test_b1_members_with_different_topics_remove_each_others,
     "heartbeats_do_not_remove_others_topics"),
    (test_broker_clients.test_b7_a_heartbeat_enters_a_group_object_that_has_just_been_removed,
     "answered_heartbeat_means_listed"),
    (test_leaving.test_b8_the_second_goodbye_removes_a_group_that_is_another_one_by_now,
     "answered_heartbeat_means_listed"),
    (test_lost_and_late.test_b2_two_heartbeats_at_once_leave_an_empty_subscription_table, "table_is_one_members_set"),
    (test_lost_and_late.test_b2_two_heartbeats_at_once_leave_an_empty_subscription_table,
     "pull_finds_its_subscription"),
    (test_lost_and_late.test_b31_a_heartbeat_that_was_overtaken_by_one_of_the_same_client_takes_its_new_topic_away,
     "heartbeats_do_not_remove_others_topics"),
    (test_broker_clients.test_b3_of_two_expressions_the_one_with_the_greatest_version_filters_for_all,
     "pull_is_filtered_by_own_expression"),
    (test_client_tables.test_l4_a_member_whose_clock_is_behind_changes_its_expression_and_nobody_takes_it,
     "pull_is_filtered_by_own_expression"),
    (test_name_server.test_n1_a_late_goodbye_of_the_old_master_removes_the_new_one, "live_broker_stays_routed"),
    (test_name_server.test_n2_after_an_increment_the_other_topics_look_unchanged_for_ever,
     "full_registration_installs_all_topics"),
    (test_lost_and_late.test_n3_an_increment_overtakes_the_full_registration_of_a_topic_that_a_heartbeat_made,
     "full_registration_installs_all_topics"),
    (test_route_tables.test_n6_half_a_registration_never_expires, "dead_broker_is_dropped"),
    (test_name_server.test_n7_the_clean_up_after_a_broken_connection_removes_the_broker_that_has_come_back,
     "live_broker_stays_routed"),
    (test_name_server.test_n8_the_scan_removes_what_was_registered_while_it_looked, "live_broker_stays_routed"),
    (test_lost_and_late.test_n16_a_slave_that_becomes_master_does_not_bring_its_topics,
     "full_registration_installs_all_topics"),
)


@pytest.mark.parametrize(("story", "broken"), STORIES)
def test_the_story_of_a_hazard_breaks_its_property_and_no_step_is_foreign(
    watch: Watch, story: Callable[[], None], broken: str,
) -> None:
    story()
    assert broken in watch.broken()
    assert watch.divergences() == set()


def test_n4_nobody_drops_the_dead_when_the_scan_has_died(watch: Watch) -> None:
    with World() as world:
        test_name_server.one_broker(world)
        world.add_broker("machine2", "broker-b")
        world.run(41_000)
        paused = world.pause("scanNotActiveBroker: the timestamp has been read", 1_000)
        world.run_until(lambda: paused.hit, 10_000)
        world.add_broker("machine3", "broker-c")
        world.run(1_100)
        assert watch.findings == []
        one_falls_silent(world)
        assert watch.broken() == {"dead_broker_is_dropped"}


def test_n5_the_scan_takes_a_step_that_no_name_has_alone(watch: Watch) -> None:
    test_route_tables.test_n5_the_scan_evicts_the_living_broker_that_shares_a_connection_with_the_expired_one()
    assert "live_broker_stays_routed" in watch.broken()
    assert ("refines_route_info", "destroy_remove", "(target[k] is a)") in watch.divergences()


@pytest.mark.parametrize("story", [
    test_lost_and_late.test_b29_a_heartbeat_that_was_overtaken_puts_an_older_subscription_over_a_newer_one,
    test_lost_and_late.test_b29_of_two_first_heartbeats_the_newer_one_is_lost,
])
def test_b29_a_thread_that_has_looked_before_takes_a_step_that_the_model_does_not_have(
    watch: Watch, story: Callable[[], None],
) -> None:
    story()
    assert watch.divergences() & LOOK_THEN_PUT
    assert watch.divergences() - LOOK_THEN_PUT == set()
