"""A group of consumers as a whole: it becomes right after every storm, and a run is its tape."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from impl.broker.reported_tables import ReportedGroupInfo
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.topic_config import TopicConfig
from impl.events import ThreadDied
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from stateful_tests.stories.reported import Reported
from stateful_tests.stories.storm import CONVERGENCE_MS, GROUP, STORMY, TOPIC, group_world, weather
from stateful_tests.worlds.script import PAUSING, Script
from stateful_tests.worlds.world import World

ROOT = Path(__file__).parents[3]
DIGEST = """
from impl.hosts.simulation.tape import RandomTape
from stateful_tests.stories.storm import weather
print(weather(RandomTape(3), storm_ms=60_000).digest)
"""


@pytest.mark.parametrize("orderly", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_after_a_storm_every_queue_gets_one_owner_in_time_and_keeps_it(seed: int, orderly: bool) -> None:
    outcome = weather(RandomTape(seed), orderly=orderly)
    assert outcome.healed_ms is not None
    assert outcome.segments > 2_000


def test_a_group_that_never_becomes_right_is_seen() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("impl.client.rebalance_push.start_offset", lambda *_: -1)  # no queue is ever taken
        assert weather(RandomTape(0), CALM, storm_ms=1_000).healed_ms is None


def test_a_storm_does_harm() -> None:
    with group_world(RandomTape(5), STORMY) as world:
        world.strike()
        harm = 0
        for _ in range(120):
            world.run(1_000)
            harm += not world.views.one_owner_each(GROUP, TOPIC)
        assert harm > 10


def test_a_calm_group_stays_as_it_is() -> None:
    with group_world(RandomTape(1)) as world:
        world.run(5_000)
        owners = world.views.holders(GROUP, TOPIC)
        assert world.views.one_owner_each(GROUP, TOPIC)
        for _ in range(60):
            world.run(CONVERGENCE_MS // 60)
            assert world.views.holders(GROUP, TOPIC) == owners
        assert not [event for _, _, event in world.simulation.kernel.records if event.__class__ is ThreadDied]


def test_a_recorded_storm_replays_to_the_same_digest_and_tape() -> None:
    recorded = weather(RandomTape(3), storm_ms=60_000)
    assert weather(ReplayTape(recorded.choices), storm_ms=60_000) == recorded
    assert weather(RandomTape(4), storm_ms=60_000).digest != recorded.digest
    environment = {**os.environ, "PYTHONHASHSEED": "2"}
    elsewhere = subprocess.check_output(  # noqa: S603  # the interpreter that runs this test, and a program above
        [sys.executable, "-c", DIGEST], cwd=ROOT, env=environment, text=True, timeout=60,
    )
    assert elsewhere.strip() == recorded.digest


def joined_late(tape: Script | ReplayTape) -> str:
    with World(tape, PAUSING) as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=[TopicConfig(TOPIC, 4, 4)])
        world.run(100)
        world.add_consumer("c1", PushConsumerConfig(GROUP, {TOPIC: "*"}))
        world.run(1_500)
        return world.simulation.digest()


def test_a_script_is_a_tape_too() -> None:
    script = Script()
    paused = script.pause("registerConsumer: before updateChannel", 1_000)
    scripted = joined_late(script)
    assert paused.hit
    replayed = ReplayTape(script.choices)
    assert joined_late(replayed) == scripted
    (sentence,) = replayed.sentences
    assert sentence.endswith("broker-a: paused 1000 ms at registerConsumer: before updateChannel")
    assert joined_late(Script()) != scripted


def unreported(seed: int, profile: FaultProfile, *, orderly: bool) -> Reported:
    reported = Reported()
    with group_world(RandomTape(seed), profile, reported, orderly=orderly) as world:
        reported.world = world
        world.strike()
        world.run(60_000)
        world.heal()
        world.run(30_000)
    return reported


@pytest.mark.parametrize("seed", range(2))
def test_no_table_moves_without_an_event_in_the_same_segment(seed: int) -> None:
    reported = unreported(seed, STORMY, orderly=True)
    assert reported.compared > 1_000
    assert reported.differences == []


def test_a_write_that_is_not_reported_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RebalancePushImpl, "report_dropped", lambda self, **_: None)  # noqa: ARG005  # a method
    assert unreported(0, STORMY, orderly=False).differences


def test_a_removal_that_is_not_reported_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReportedGroupInfo, "_removed", lambda self, channel, info: None)  # noqa: ARG005  # a method
    assert unreported(0, STORMY, orderly=False).differences
