"""The stories of hazards, followed by everything that follows worlds: which declared property each of them breaks."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from invariants.hazards import HAZARDS
from invariants.history import HISTORIES
from invariants.refinement.consumer_group import ConsumerGroup
from invariants.refinement.follower import ROUND
from invariants.refinement.history import Histories
from invariants.refinement.order_lock import OrderLocks
from invariants.refinement.route_info import RouteInfo
from invariants.refinement.subscription import Subscription
from stateful_tests import stories
from stateful_tests.worlds.promised import DECLARED
from stateful_tests.worlds.run import Judges
from stateful_tests.worlds.world import World

Story = Callable[[], None]

BREAKS = {
    "one_owner_per_queue": "B-13 B-15 B-24 D1 D2 D3 D4 D5 D6 D8 N-11 U3",
    "one_owner_when_settled": "D6 U3",
    "every_queue_owned_when_settled": "D6 U3 U4",
    "one_lock_holder": "B-22a",
    "one_live_believer": "D9",
    "held_queue_stays_locked": "D9 D10",
    "taken_queue_counts_as_locked": "U8",
    "pull_finds_its_subscription": "B-1 B-2 B-31",
    "heartbeats_do_not_remove_others_topics": "B-1 B-31",
    "pull_is_filtered_by_own_expression": "B-3 L4",
    "table_is_one_members_set": "B-2",
    "list_has_no_repetition": "B-5 D6 U3",
    "goodbye_is_final": "B-9",
    "broker_keeps_what_was_committed": "B-21",
    "committed_offset_never_regresses": "B-18 B-19 X4 X10 X17",
    "only_the_settled_is_committed": "L8 L14",
    "reset_takes_effect": "L8 L14",
    "start_is_what_the_broker_answered": "L2",
    "nothing_is_skipped": "L2",
    "settled_is_not_begun_again": "X1 X3 X4 X8 X12 X15",
    "live_broker_stays_routed": "N-1 N-5 N-7 N-8",
    "goodbye_frees_its_sender_only": "N-1",
    "registrations_keep_a_broker": "N-7 N-8",
    "full_registration_installs_all_topics": "N-2 N-3 N-16",
    "dead_broker_is_dropped": "N-6",
    "refines_consumer_group": "B-7 B-8",
    "refines_subscription": "B-29",
}
"""Property to the hazards that break it in their stories; refines_…: by a step that the model does not have."""

TOLD = """
    B-4 B-6 B-10 B-11 B-12 B-14 B-16 B-17 B-20 B-22b B-23 B-25 B-26 B-27 B-28 D7 D12 L1 L10 L11 L13 N-4 N-9 N-10 N-12
    N-13 N-14 N-15 N-17 N-18 N-19 N-20 N-21 N-22 N-23 N-24 N-25 N-26 U1 U2 U5 U6 U7 U9 U10 U11 U12 U13 U14 U15 X11 X13
    X16 X18
"""
"""Hazards whose stories say themselves what goes wrong: what is judged while they are told does not break by them.

Some break properties of the time after a healing, or of a model of their own: `test_history`, `test_worlds`,
`test_group_servers` and `explore` judge these.
"""


def told_of() -> Iterator[tuple[str, Story]]:
    """Every hazard, and a story of it."""
    by_name = {hazard.replace("-", "").lower(): hazard for hazard in HAZARDS}
    for path in sorted(Path(*stories.__path__).glob("test_*.py")):
        if path.stem != "test_repaired":
            for name, story in inspect.getmembers(import_module(f"{stories.__name__}.{path.stem}"), inspect.isfunction):
                named = re.match(r"test_([a-z]+\d+[ab]?)_(?!does_not_happen|that_nobody)", name)
                if named and named[1] in by_name and not inspect.signature(story).parameters:
                    yield by_name[named[1]], story


STORIES = list(told_of())


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> list[Judges]:
    """Every world that is made from now on has judges."""
    made, judges = World.__init__, list[Judges]()

    def init(world: World, *args: Any, **settings: Any) -> None:
        made(world, *args, **settings)
        judges.append(Judges())
        judges[-1].followers = [
            ConsumerGroup(world, "G", "orders"), OrderLocks(world, "G"), Subscription(world), RouteInfo(world),
            Histories(world),
        ]
        world.simulation.kernel.monitor, world.simulation.kernel.show_every = judges[-1], ROUND

    monkeypatch.setattr(World, "__init__", init)
    return judges


@pytest.mark.parametrize("hazard", sorted({hazard for hazards in BREAKS.values() for hazard in hazards.split()}))
def test_the_stories_of_a_hazard_break_its_properties(hazard: str, watch: list[Judges]) -> None:
    for told, story in STORIES:
        if told == hazard:
            story()
    broken = {seen.property for judges in watch for seen in judges.seen.values()}
    assert {name for name, hazards in BREAKS.items() if hazard in hazards.split()} <= broken


def test_every_story_of_a_hazard_is_judged_or_says_itself_what_goes_wrong() -> None:
    judged = {hazard for hazards in BREAKS.values() for hazard in hazards.split()}
    assert {hazard for hazard, _ in STORIES} == judged | set(TOLD.split())
    assert judged & set(TOLD.split()) == set()
    assert {name for name in BREAKS if not name.startswith("refines_")} <= {*DECLARED, *HISTORIES}
