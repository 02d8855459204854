"""All repairs together: groups become right, and nothing that repairs write is unreported."""

from __future__ import annotations

import pytest

from impl.events import BrokerLiveRemoved, SubscriptionRemoved
from impl.hosts.simulation.profile import FaultProfile
from impl.hosts.simulation.tape import RandomTape
from impl.variants.stack import active
from impl.variants.subjects import variants_of
from stateful_tests.stories.reported import Reported
from stateful_tests.stories.storm import GROUP, STORMY, TOPIC, group_world, weather


@pytest.mark.parametrize("orderly", [False, True])
def test_a_repaired_group_becomes_right_after_every_storm(orderly: bool) -> None:
    with active(variants_of("repaired")):
        outcomes = [weather(RandomTape(seed), orderly=orderly) for seed in range(5)]
    assert [seed for seed, outcome in enumerate(outcomes) if outcome.healed_ms is None] == []
    assert sum(outcome.segments for outcome in outcomes) > 20_000


@pytest.mark.parametrize("orderly", [False, True])
def test_repairs_report_what_they_write(orderly: bool) -> None:
    reported = Reported()
    with active(variants_of("repaired")), group_world(RandomTape(7), STORMY, reported, orderly=orderly) as world:
        reported.world = world
        world.strike()
        world.run(120_000)
        world.heal()
        world.run(30_000)
    assert reported.compared > 1_000
    assert reported.differences == []


STANDING_STILL = FaultProfile(thread_pause=10, order=20)


@pytest.mark.parametrize("seed", range(4))
def test_threads_that_stand_still_anywhere_make_no_member_and_no_subscription_disappear(seed: int) -> None:
    with active(variants_of("repaired")), group_world(RandomTape(seed), STANDING_STILL) as world:
        world.run(200_000)
        world.heal()
        world.run(100_000)
        ids = sorted(consumers[0].instance.client_id for consumers in world.consumers.values())
        for broker in world.brokers:
            assert world.views.listed(broker, GROUP) == ids
            assert world.views.expressions(broker, GROUP) == {TOPIC: "*"}
        assert world.events(SubscriptionRemoved) == []
        assert [event.why for _, event in world.events(BrokerLiveRemoved)] == []
