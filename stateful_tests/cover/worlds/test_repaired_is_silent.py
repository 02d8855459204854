"""What was once found on `repaired`, and is not any more: programs, with the subject on which they still break it."""

from __future__ import annotations

import pytest

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.events import QueueDropped, QueuesAssigned, QueueTaken
from stateful_tests.machines.program import parsed
from stateful_tests.machines.search import machine_named, played
from stateful_tests.stories.followed import told
from stateful_tests.stories.scenes import join, stage
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

OVERTAKEN = ("pause_thread(where='registerConsumer: before updateSubscription', s=40); pass_time(s=30); "
             "subscribe(who='consumer1', topic='invoices', expression='*'); pass_time(s=120)")
TAKEN_BACK = ("pass_time(s=1); pass_time(s=20); "
              "pause_thread(where='registerConsumer: before updateSubscription', s=40); pass_time(s=20); "
              "unsubscribe(who='consumer1', topic='orders'); pass_time(s=20)")
SET_BACK = ("pass_time(s=1); set_clock(who='nameserver1', s=-60); "
            "cut_off(who='nameserver1', broker='broker-a', s=131); pass_time(s=120)")
PROMOTED = "kill(who='broker-a', s=1); change_roles(who='broker-a')"

UNHEARD = "kill(who='nameserver2', s=1); change_roles(who='broker-a')"
TWICE = ("pass_time(s=20); cut_off(who='nameserver2', broker='broker-a', s=20); stop_broker(who='broker-a', s=131); "
         "change_roles(who='broker-a')")

SILENT = (
    ("route_info", UNHEARD), ("route_info", TWICE), ("route_info", PROMOTED), ("route_info", SET_BACK),
    ("subscription", OVERTAKEN), ("subscription", TAKEN_BACK),
)

BROKEN = (
    ("route_info", "repaired-N-16", PROMOTED, "full_registration_installs_all_topics"),
    ("subscription", "repaired-B-31", OVERTAKEN, "heartbeats_do_not_remove_others_topics"),
)


@pytest.mark.parametrize(("concept", "program"), SILENT)
def test_a_program_breaks_nothing(concept: str, program: str) -> None:
    machine = played(concept, "repaired", parsed(program))
    assert machine.trial.unknown == []
    assert [one for one in machine.seen if not subject_named("repaired").explains(one.key)] == []


@pytest.mark.parametrize(("concept", "subject", "program", "name"), BROKEN)
def test_without_the_repair_it_breaks_its_property(concept: str, subject: str, program: str, name: str) -> None:
    hazard = subject.removeprefix("repaired-")
    assert hazard in machine_named(concept).hazards(subject, name)
    assert name in {one.property for one in played(concept, subject, parsed(program)).seen}


def a_route_shrinks_while_a_run_waits_for_its_list() -> None:
    """The run has read the route; another one, which begins later, ends before it."""
    with World() as world:
        world.add_namesrv()
        for broker in ("broker-a", "broker-b"):
            world.add_broker(broker, broker, topics=(TopicConfig("orders", 4, 4),))
        world.run(100)
        world.add_consumer("c1", PushConsumerConfig("G", {"orders": "*"}))
        world.run(21_000)
        instance, rebalance = world.consumers["c1"][0].instance, world.consumers["c1"][0].rebalance_impl
        world.simulation.kernel.pause(world.simulation.nodes["broker-b"], 2_000)
        for asked in (0, 1):  # the broker that stands still, and the other one
            world.script.draw("MQClientInstance#findBrokerAddrByTopic", asked)
            world.call("c1", lambda: rebalance.rebalance_by_topic("orders", is_order=False, threads=instance.node))
            world.run(100)
            if asked == 0:
                world.create_topic("broker-a", "orders", 2)
                world.call("c1", lambda: instance.update_topic_route_info_from_name_server("orders"))
                world.run(100)
        dropped = [event.mq for _, event in world.events(QueueDropped)]
        world.run(3_000)
        taken = [event.mq for _, event in world.events(QueueTaken)]
        assert len(dropped) == 2
        assert taken[-2:] == dropped


def test_a_run_that_waits_for_its_list_divides_the_queues_of_the_route_before() -> None:
    assert told(a_route_shrinks_while_a_run_waits_for_its_list).diverges() == []


def two_runs_have_the_same_list() -> None:
    """As when RebalanceService and DefaultMQPushConsumerImpl#resume rebalance at once."""
    with World() as world:
        stage(world)
        consumer = join(world, "c1")
        since_ms = world.now_ms
        world.pause("updateProcessQueueTableInRebalance: before dispatchPullRequest", 10)
        for _ in range(2):
            world.call("c1", lambda: consumer.rebalance_impl.rebalance_by_topic(
                "orders", is_order=False, threads=consumer.node))
        world.run(100)
        assert len(world.events(QueuesAssigned, since_ms)) == 2


def test_the_second_of_two_runs_with_one_list_may_end_too() -> None:
    assert told(two_runs_have_the_same_list).diverges() == []
