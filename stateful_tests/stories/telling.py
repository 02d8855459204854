"""Stories as a judge: a story of a hazard is told while everything looks on that judges simulated worlds.

A story is a directed scenario, in a test that needs nothing; its name begins with that of its hazard. When it is told
its world heals, and what is promised of the time after a healing is judged as in every run.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from impl.hosts.simulation.trail import Trail
from impl.variants.subjects import SHIPPED
from invariants.finding import Finding
from invariants.hazards import HAZARDS
from invariants.refinement.consumer_group import ConsumerGroup
from invariants.refinement.follower import ROUND, Following
from invariants.refinement.order_lock import OrderLocks
from invariants.refinement.registration import Registrations
from invariants.refinement.route_info import RouteInfo
from invariants.refinement.subscription import Subscription
from invariants.rules.bounds import Bounds
from invariants.rules.telling_apart import shown
from invariants.rules.watch import Watch
from stateful_tests import stories
from stateful_tests.worlds.healing import healing, watching
from stateful_tests.worlds.run import Judges
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

Story = Callable[[], None]

BREAKS: Mapping[str, str] = {
    "one_owner_per_queue": "B-13 B-15 B-24 D1 D2 D3 D4 D5 D6 D8 N-11 U3",
    "one_owner_when_settled": "D6 U3",
    "every_queue_owned_when_settled": "D6 U3 U4",
    "one_lock_holder": "B-22a",
    "one_live_believer": "D9",
    "held_queue_stays_locked": "D9 D10",
    "listener_keeps_its_lock": "D13",
    "lock_outlasts_the_batch": "X11",
    "taken_queue_counts_as_locked": "U8",
    "pull_finds_its_subscription": "B-1 B-2 B-31",
    "heartbeats_do_not_remove_others_topics": "B-1 B-31",
    "pull_is_filtered_by_own_expression": "B-3 L4",
    "table_is_one_members_set": "B-2",
    "queue_is_not_left_alone": "B-5 B-22b D6 D12 L13 U1 U3 U7 U10 U11 U13",
    "given_up_is_not_committed": "U7",
    "held_queue_is_worked_on": "U5 U9",
    "only_the_listed_give_up": "U2",
    "share_is_kept": "X13",
    "only_the_readable_is_held": "U14",
    "told_members_rebalance": "B-13 U15",
    "only_ordered_groups_lock": "U9",
    "leaver_frees_its_locks": "D12",
    "listeners_do_not_overlap": "D7 D13",
    "ordered_messages_stay_in_order": "D8",
    "abandoned_lock_is_freed": "U6",
    "list_has_no_repetition": "B-5 D6 U3",
    "goodbye_is_final": "B-9",
    "heartbeats_keep_a_member": "B-11",
    "living_members_do_not_expire": "B-9",
    "goodbye_delists_a_member": "B-6",
    "goodbye_waits_for_the_heartbeat": "B-33",
    "list_is_exactly_the_living": "B-10",
    "connections_of_members_last": "B-11 B-17 B-24 D5",
    "members_are_told_of_changes": "B-12",
    "group_has_one_message_model": "B-16",
    "topics_leave_with_their_member": "B-27",
    "new_version_is_told_soon": "B-4 U12",
    "heartbeat_makes_the_retry_topic": "B-25",
    "filter_is_as_new_as_its_subscription": "B-14 B-26 L4",
    "replies_find_the_producer": "B-23",
    "broker_keeps_what_was_committed": "B-20 B-21",
    "committed_offset_survives_its_broker": "B-20 B-21",
    "committed_offset_never_regresses": "B-18 B-19 B-32 X4 X10 X17",
    "only_the_settled_is_committed": "L8 L14 X18",
    "reset_takes_effect": "L8 L14 X18",
    "start_is_what_the_broker_answered": "L2",
    "nothing_is_skipped": "L2",
    "first_beginning_is_kept": "L1",
    "new_group_begins_where_it_is_to": "L11 X24",
    "commits_of_a_holding_go_forward": "L14",
    "committed_offset_never_goes_back": "L14",
    "settled_is_over": "X26",
    "attempts_count_up": "X26",
    "settled_is_committed": "X28 X29",
    "settled_is_not_begun_again": "B-28 X1 X3 X4 X8 X12 X15 X25 X28",
    "broadcaster_goes_on_where_it_ended": "L10 U16",
    "broadcast_reaches_everyone": "U16",
    "file_keeps_its_offsets": "L10 X16",
    "live_broker_stays_routed": "N-1 N-5 N-7 N-8",
    "goodbye_frees_its_sender_only": "N-1",
    "goodbye_ends_its_own_process": "N-27",
    "existing_topics_are_not_denied": "N-28",
    "registrations_keep_a_broker": "N-7 N-8 N-17",
    "full_registration_installs_all_topics": "N-2 N-3 N-16",
    "dead_broker_is_dropped": "N-4 N-6",
    "silent_broker_expires": "N-4",
    "closed_broker_is_dropped": "N-25",
    "living_broker_is_not_dropped": "N-21",
    "success_means_registered": "N-20",
    "other_version_is_registered": "N-18",
    "id_is_not_taken_back": "N-15",
    "address_has_one_name": "N-29",
    "name_server_is_chosen_from_the_list": "R-2",
    "name_server_that_was_reached_is_asked": "R-3",
    "timers_do_not_wait_for_each_other": "U17",
    "lock_goes_with_its_holder": "B-34",
    "members_have_even_shares": "A-9",
    "route_fits_together": "N-9",
    "routes_lead_to_the_living": "N-12 N-25",
    "routes_say_what_brokers_have": "N-14 N-23 N-30",
    "what_is_taken_away_stays_away": "N-13 N-14",
    "cluster_info_fits_together": "N-10 N-26",
    "key_values_survive": "N-24",
    "slave_takes_the_master_it_is_told": "N-19",
    "heartbeats_do_not_wait_for_name_servers": "N-22",
    "answered_heartbeat_means_listed": "B-7 B-8",
    "lagging_slave_catches_up": "V20 V29 V37",
    "slave_log_is_a_prefix": "V25 V32",
    "copies_keep_their_place": "V25 V32",
    "acknowledged_survives_crash": "V6",
    "acknowledged_is_on_the_disk": "V6",
    "every_message_is_settled": "V23 V43",
    "recovery_is_a_prefix": "V4 V7",
    "visible_is_durable": "V16",
    "store_loads_after_a_crash": "V22",
    "queue_offsets_are_consecutive": "V3",
    "queues_begin_where_the_log_does": "V18",
    "unit_names_its_record": "V3 V33",
    "no_record_is_missed": "V26 V38 V40",
    "delayed_message_comes_at_last": "V39 V42",
    "delay_is_over_in_time": "V39 V42",
    "polls_follow_one_another": "V26 X30",
    "only_the_held_is_polled": "X27",
    "polled_is_committed": "X27 X31",
    "topic_taken_again_is_pulled": "U18",
    "polled_queue_is_pulled": "U18",
    "full_disk_refuses_writes": "V24",
    "time_out_is_over": "V44",
    "other_topics_keep_their_queues": "V41",
    "dead_letter_is_there_at_once": "M1",
    "accepted_send_back_is_kept": "M2",
    "failure_is_retried_once": "X5 X7",
    "dead_letter_comes_after_all_attempts": "X5",
    "attempts_are_bounded": "X20",
    "retried_pull_goes_on": "M3",
    "retry_is_where_it_is_read": "M4",
    "send_outcome_is_honest": "P1",
    "message_is_stored_once": "P6 P12",
    "check_passes_every_half_message": "T4",
    "message_comes_as_it_was_sent": "T5",
    "copy_is_the_message": "T5",
    "ended_half_message_is_left_alone": "T6",
    "half_message_ends_at_last": "T3",
    "delivered_was_sent": "T7",
    "attempts_are_used": "P2 P5 P7",
    "queue_is_one_of_the_list": "P4 P16",
    "outcome_is_told_once": "P14",
    "slow_broker_is_shunned": "P15",
    "retry_reaches_another_broker": "Q-3",
    "list_is_that_of_its_route": "P3",
    "equal_arguments_have_one_queue": "P10",
    "refines_consumer_group": "B-7 B-8",
    "refines_subscription": "B-29",
}
"""Property to the hazards that break it in their stories; refines_…: by a step that the model does not have."""

TOLD_TWICE: tuple[tuple[str, str, str], ...] = (
    ("B-30", "test_b30_a_goodbye_waits_for_the_heartbeat_that_was_prepared_before_it", "goodbye_is_final"),
    ("X10", "test_x10_the_first_pull_of_an_ordered_queue_waits_until_its_offset_can_be_read",
     "committed_offset_never_regresses"),
    ("X21", "test_x21_a_queue_that_is_taken_while_a_reset_waits_is_dropped_before_it_leaves", "queue_is_taken_once"),
    ("X21", "test_x21_a_queue_that_is_taken_while_a_reset_waits_is_dropped_before_it_leaves",
     "pulls_follow_one_another"),
    ("X22", "test_x22_a_run_of_a_rebalance_removes_only_what_it_has_dropped", "queue_is_taken_once"),
    ("X23", "test_x23_an_offset_whose_read_ends_late_does_not_replace_what_was_settled_meanwhile",
     "commits_of_a_holding_go_forward"),
)
"""Hazard, story and property of stories of two worlds, as shipped and with a repair; the first breaks the property."""

TOGETHER: Mapping[str, str] = {
    "B-3": "L3", "L4": "B-3 L3", "D6": "U3", "U3": "D6", "B-9": "B-30", "B-30": "B-9",
    "B-17": "B-24 D5", "B-24": "B-17 D5", "D5": "B-17 B-24",
    "B-5": "U1", "N-1": "N-15", "N-5": "N-4", "X8": "X4 B-28", "X15": "D1", "X16": "L10", "V26": "V3",
}
"""Hazard to others whose cause is in its stories, too, or from which a run does not tell it apart."""
_TWICE = "test_with_and_without"
_REPAIRED = frozenset({_TWICE, "test_repaired", "test_all_repairs"})
"""Files of stories in which repairs end hazards; that of stories which are told with a repair and without."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A world of a story, and what its judges saw."""

    world: World
    judges: Judges

    def of(self, name: str, hazard: str = "", *, last: bool = False) -> Finding | None:
        """What was seen of a property that is put down to a hazard, alone or beside others, or says what it is about.

        Of several that are as good it is the first one, or the last.
        """
        found = [one for one in self.judges.seen.values() if one.property == name]
        return max(found[::-1] if last else found, default=None, key=lambda one: (
            one.causes == (hazard,), hazard in one.causes, one.event is not None or bool(one.about)))

    def hazards(self, name: str) -> list[tuple[str, ...]]:
        """The hazards that each finding of a property shows, of those that break it in RocketMQ as shipped."""
        declared = subject_named(SHIPPED).hazards(name)
        return [shown(declared, one.key) for one in self.judges.seen.values() if one.property == name]


@lru_cache(maxsize=1)
def told_of() -> tuple[tuple[str, Story], ...]:
    """Every hazard that has one, and a story of it."""
    by_name = {hazard.replace("-", "").lower(): hazard for hazard in HAZARDS}
    found = []
    for path in sorted(Path(*stories.__path__).glob("test_*.py")):
        if path.stem not in _REPAIRED:
            for name, story in inspect.getmembers(import_module(f"{stories.__name__}.{path.stem}"), inspect.isfunction):
                named = re.match(r"test_([a-z]+\d+[ab]?)_(?!does_not_happen|that_nobody)", name)
                if named and named[1] in by_name and not inspect.signature(story).parameters:
                    found.append((by_name[named[1]], story))
    return tuple(found)


def told_twice(name: str) -> Story:
    """A story of TOLD_TWICE by its name; their file needs pytest."""
    story: Story = getattr(import_module(f"{stories.__name__}.{_TWICE}"), name)
    return story


@contextmanager
def looking_on() -> Iterator[list[Seen]]:
    """Every world that is made in the block has judges, and heals before it ends; the block is given what they see."""
    made, closed = World.__init__, World.__exit__
    seen, promised = list[Seen](), dict[int, Watch]()

    def init(world: World, *args: Any, **settings: Any) -> None:
        made(world, *args, **settings)
        world.simulation.kernel.trail = Trail()
        # Stories say themselves when a thread stands still.
        promises = watching(world, bounds=Bounds(), observed=("duplicated", "phantom", "regressed"))
        judges, promised[id(world)] = Judges(), promises
        judges.following = Following([
            promises, ConsumerGroup(world, "G", "orders"), OrderLocks(world, "G"), Subscription(world),
            RouteInfo(world), Registrations(world),
        ])
        world.simulation.kernel.monitor, world.simulation.kernel.show_every = judges, ROUND
        seen.append(Seen(world, judges))

    def leave(world: World, *error: Any) -> None:
        try:
            if error[0] is None:
                world.heal()
                judges = next(one.judges for one in seen if one.world is world)
                for found in healing(world, promised[id(world)]):
                    judges.note(world.simulation.kernel, found)
                judges.note(world.simulation.kernel, promised[id(world)].observed(world.notes.history()))
        finally:
            closed(world, *error)

    with patch.object(World, "__init__", init), patch.object(World, "__exit__", leave):
        yield seen


def stories_of(name: str) -> Iterator[tuple[str, Story]]:
    """The stories in which a property is broken, with their hazards."""
    hazards = BREAKS.get(name, "").split()
    yield from (one for one in told_of() if one[0] in hazards)
    yield from ((hazard, told_twice(story)) for hazard, story, broken in TOLD_TWICE if broken == name)


def hazards_told(name: str) -> frozenset[str]:
    """The hazards that break a property in a story."""
    return frozenset([*BREAKS.get(name, "").split(), *(hazard for hazard, _, broken in TOLD_TWICE if broken == name)])


def has_story(name: str) -> bool:
    """Whether a story shows how a property is broken."""
    return bool(hazards_told(name))
