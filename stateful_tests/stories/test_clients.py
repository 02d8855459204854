"""Stories of clients by themselves: their timers, the name server that they ask, and all that a member has to do."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import TopicRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.events import NameServerChosen, TimerJobBegan
from impl.hosts.simulation.profile import CALM
from impl.ports.remoting import Command, RemotingTimeoutError
from stateful_tests.stories.scenes import IN_ORDER, LAST, after_a_persist, believes, join, stage
from stateful_tests.worlds.world import World

OLD, OLDER, NEW = "nameserver1", "nameserver2", "nameserver3"
ROUTE_MS = 30_000  # ClientConfig.pollNameServerInterval


def test_u17_commits_to_a_broker_that_has_vanished_hold_up_the_whole_timer() -> None:
    with World() as world:
        stage(world, "broker-a", "broker-b")
        join(world, "c1")
        after_a_persist(world)
        world.retire("broker-b")
        since_ms = world.now_ms
        world.run(100_000)
        polls = [ms for ms, event in world.events(TimerJobBegan, since_ms - ROUTE_MS)
                 if event.job == "updateTopicRouteInfoFromNameServer"]
        gaps = [later - earlier for earlier, later in pairwise(polls)]
        assert max(gaps) > ROUTE_MS + 5_000


def test_b34_a_dead_owner_of_an_ordered_queue_blocks_it_until_its_lease_ends() -> None:
    with World() as world:
        stage(world)
        first, second = (join(world, machine, IN_ORDER) for machine in ("c1", "c2"))
        world.run_until(lambda: believes(first, LAST) or believes(second, LAST), 60_000)
        (dead,) = world.views.holders("G", "orders")[LAST]
        heir = second if dead == "c1" else first
        world.simulation.kill(dead)
        world.run_until(lambda: len(world.views.listed("broker-a", "G")) == 1, 1_000)

        lock = world.views.lock("broker-a", "G", LAST)
        assert lock is not None
        assert lock.client_id != heir.instance.client_id
        assert world.run_until(lambda: believes(heir, LAST), 90_000) > 35_000


def test_a9_members_that_divide_each_topic_by_itself_leave_the_last_of_them_nothing() -> None:
    topics = ("bills", "orders", "refunds")
    config = PushConsumerConfig("G", dict.fromkeys(topics, "*"))
    with World(profile=CALM) as world:
        world.add_namesrv()
        world.add_broker("broker-a", "broker-a", topics=[TopicConfig(topic, 1, 1) for topic in topics])
        world.run(100)
        for machine in ("c1", "c2"):
            join(world, machine, config)
        for _ in range(12):
            world.run(10_000)
            assert [world.views.holders("G", topic) for topic in topics] == [
                {mq: ["c1"] for mq in world.views.queues(topic)} for topic in topics]


def test_r2_a_client_that_connects_while_its_list_changes_asks_a_name_server_that_left_it() -> None:
    with World() as world:
        for name in (OLD, OLDER, NEW):
            world.add_namesrv(name)
        world.add_broker("broker-a", "broker-a", topics=[TopicConfig("orders", 1, 1)])
        world.add_tester("asker")
        world.run(100)
        client = world.testers["asker"]
        client.update_name_server_address_list([f"{OLD}:9876", f"{OLDER}:9876"])
        for namesrv in (OLD, OLDER):
            world.simulation.network.partition("asker", namesrv)

        async def ask() -> None:
            question = Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, header=TopicRequestHeader("orders"))
            assert (await client.invoke_sync(None, question, 10_000)).code == ResponseCode.SUCCESS

        world.call("asker", ask)
        world.run(1_000)
        client.update_name_server_address_list([f"{NEW}:9876"])
        world.simulation.network.heal()
        world.run(10_000)
        (*_, (_, last)) = world.events(NameServerChosen)
        assert last.addr not in last.listed
        world.call("asker", ask)
        world.run(10_000)
        assert world.connections("asker", NEW) == []


def test_r3_a_client_that_waits_for_a_name_server_without_power_hangs_up_on_the_one_that_lives() -> None:
    with World() as world:
        for name in (OLD, OLDER):
            world.add_namesrv(name)
        world.add_broker("broker-a", "broker-a", topics=[TopicConfig("orders", 1, 1)])
        for machine in ("asker", "another"):
            world.add_tester(machine)
        world.run(100)
        world.testers["asker"].update_name_server_address_list([f"{OLD}:9876", f"{OLDER}:9876"])
        world.testers["another"].update_name_server_address_list([f"{OLDER}:9876"])
        answers: list[int | None] = []

        async def ask(machine: str) -> None:
            question = Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, header=TopicRequestHeader("orders"))
            try:
                answers.append((await world.testers[machine].invoke_sync(None, question, 3_000)).code)
            except RemotingTimeoutError:
                answers.append(None)

        def asked(machine: str, times: int) -> list[int | None]:
            answers.clear()
            for _ in range(times):
                world.call(machine, partial(ask, machine))
                world.run(4_000)
            return answers

        world.simulation.kill(OLD, power_loss=True)
        assert asked("asker", 1) == [ResponseCode.SUCCESS]
        world.restart(OLDER)
        world.run(31_000)
        assert asked("another", 1) == [ResponseCode.SUCCESS]
        assert asked("asker", 5) == [None] * 5
