"""Stories of messages that come late, in another order, or not at all."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from impl.common.headers import LockBatchRequestBody, UnregisterClientRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.events import (
    BrokerRegistered,
    LockGranted,
    LockReleased,
    OffsetCommitted,
    RegistrationFailed,
    SubscriptionRemoved,
    SubscriptionUpdated,
)
from impl.hosts.simulation.clock import EPOCH_MS
from impl.ports.remoting import Command
from invariants.subscription import subscription_version_never_goes_back
from model.language.open import OpenReading
from model.subscription import Versions
from stateful_tests.stories import scenes
from stateful_tests.stories.scenes import ADDR, BROKER, IN_ORDER, LAST, NS, ORDERS, join, start_asking
from stateful_tests.worlds.script import PAUSING
from stateful_tests.worlds.world import World

NO_SUCH_CODE = 9_999


def one_broker(world: World) -> None:
    world.add_namesrv()
    world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 4, 4)])
    world.run(100)


def heartbeat(client_id: str, topic: str, version: int = 1) -> Command:
    return scenes.heartbeat(client_id, scenes.subscription(topic, version=version))


def test_n3_an_increment_overtakes_the_full_registration_of_a_topic_that_a_heartbeat_made() -> None:
    with World() as world:
        one_broker(world)
        paused = world.pause("createTopicInSendMessageBackMethod: before registerBrokerAll", 1_000)
        world.add_consumer("c1", ORDERS)
        world.run_until(lambda: paused.hit, 1_000)
        world.create_topic(BROKER, "invoices")
        assert world.views.routed(NS, "invoices") == [BROKER]
        world.run(300_000)
        assert world.brokers[BROKER].topic_config_manager.select_topic_config("%RETRY%G") is not None
        assert world.views.routed(NS, "%RETRY%G") == []


def test_n16_a_slave_that_becomes_master_does_not_bring_its_topics() -> None:
    with World() as world:
        one_broker(world)
        topics = [TopicConfig("orders", 4, 4), TopicConfig("invoices", 4, 4)]
        world.add_broker("machine2", BROKER, broker_id=1, topics=topics)
        world.run(1_000)
        assert world.views.routed(NS, "invoices") == []

        world.restart_broker_as("machine2", broker_id=0)
        world.run(1_000)
        assert world.views.address_of(NS, BROKER) == "machine2:10911"
        world.simulation.network.partition(BROKER, NS)  # the old master falls silent
        world.run(60_000)
        assert world.views.address_of(NS, BROKER) == "machine2:10911"
        assert world.brokers["machine2"].topic_config_manager.select_topic_config("invoices") is not None
        assert world.views.routed(NS, "invoices") == []


def test_n21_a_registration_that_times_out_removes_the_broker() -> None:
    with World() as world:
        one_broker(world)
        world.run(9_000)
        since_ms = world.now_ms
        world.simulation.kernel.pause(world.simulation.nodes[NS], 8_000)
        world.run(9_100)
        assert [event.namesrv_addr for _, event in world.events(RegistrationFailed, since_ms)] == [f"{NS}:9876"]
        assert world.events(BrokerRegistered, since_ms) != []
        assert world.simulation.nodes[BROKER].alive
        assert world.views.routed(NS, "orders") == []
        world.run_until(lambda: world.views.routed(NS, "orders") == [BROKER], 30_000)


def test_b2_two_heartbeats_at_once_leave_an_empty_subscription_table() -> None:
    with World() as world:
        one_broker(world)
        world.ask(ADDR, heartbeat("c1", "orders"), tester="c1")
        world.ask(ADDR, Command(NO_SUCH_CODE), tester="c2")  # it connects
        first = world.pause("updateSubscription: between the two loops", 100)
        one = start_asking(world, "c1", heartbeat("c1", "orders"))
        world.run_until(lambda: first.hit, 100)
        second = world.pause("updateSubscription: before a topic is removed", 100)
        other = start_asking(world, "c2", heartbeat("c2", "invoices"))
        world.run_until(lambda: second.hit and bool(one) and bool(other), 400)
        assert [answer.code for answer in one + other] == [0, 0]
        assert len(world.views.listed(BROKER, "G")) == 2
        assert world.views.expressions(BROKER, "G") == {}


def versions(world: World) -> list[int]:
    """What subVersions of the topic orders the table has had, as they are asked for; it was never removed."""
    assert world.events(SubscriptionRemoved) == []
    return [event.sub_version - EPOCH_MS for _, event in world.events(SubscriptionUpdated) if event.topic == "orders"]


def goes_back(versions: list[int]) -> bool:
    """Whether the declared property is false of a step from one of these versions to the next."""
    reading = OpenReading(Versions.concept)
    declared = Versions.concept.properties[subscription_version_never_goes_back.__name__]
    states = [{("present",): True, ("current",): version} for version in versions]
    return not all(reading.holds(declared, before, after) for before, after in pairwise(states))


def overtaken(world: World, slow: Command, fast: Command) -> None:
    """Two heartbeats: the slow one's thread stands still behind its look at the topic until the other is answered."""
    for tester in ("c1", "c2"):
        world.ask(ADDR, Command(NO_SUCH_CODE), tester=tester)  # it connects
    world.pause("updateSubscription: the topic has been looked up", 1_000)
    answers = start_asking(world, "c1", slow)
    world.run(100)
    answers.append(world.ask(ADDR, fast, tester="c2"))
    world.run_until(lambda: len(answers) == 2, 2_000)
    assert [answer.code for answer in answers] == [0, 0]


def test_b29_a_heartbeat_that_was_overtaken_puts_an_older_subscription_over_a_newer_one() -> None:
    with World() as world:
        one_broker(world)
        world.ask(ADDR, heartbeat("c1", "orders"), tester="c1")
        overtaken(world, slow=heartbeat("c1", "orders", version=2), fast=heartbeat("c2", "orders", version=3))
        assert versions(world) == [1, 3, 2]
        assert goes_back(versions(world))
        world.ask(ADDR, heartbeat("c2", "orders", version=3), tester="c2")
        assert versions(world) == [1, 3, 2, 3]


def test_b29_of_two_first_heartbeats_the_newer_one_is_lost() -> None:
    with World() as world:
        one_broker(world)
        overtaken(world, slow=heartbeat("c1", "orders", version=2), fast=heartbeat("c2", "orders", version=1))
        assert versions(world) == [1]
        world.ask(ADDR, heartbeat("c1", "orders", version=2), tester="c1")
        assert versions(world) == [1, 2]
        assert not goes_back(versions(world))


def test_b31_a_heartbeat_that_was_overtaken_by_one_of_the_same_client_takes_its_new_topic_away() -> None:
    with World() as world:
        one_broker(world)
        for connection in ("one", "another"):
            world.ask(ADDR, Command(NO_SUCH_CODE), tester=connection)  # it connects
        paused = world.pause("registerConsumer: before updateSubscription", 1_000)
        slow = start_asking(world, "one", heartbeat("c1", "orders"))
        world.run_until(lambda: paused.hit, 100)
        world.ask(ADDR, heartbeat("c1", "invoices"), tester="another")
        assert [*world.views.expressions(BROKER, "G")] == ["invoices"]
        world.run_until(lambda: bool(slow), 1_100)
        assert [*world.views.expressions(BROKER, "G")] == ["orders"]


def test_b33_a_goodbye_beside_a_heartbeat_of_the_same_client_takes_the_group_away() -> None:
    with World() as world:
        one_broker(world)
        world.ask(ADDR, heartbeat("c1", "orders"), tester="c1")
        paused = world.pause("registerConsumer: before updateSubscription", 1_000)
        answers = start_asking(world, "c1", heartbeat("c1", "orders"))
        world.run_until(lambda: paused.hit, 100)
        header = UnregisterClientRequestHeader("c1", None, "G")  # of a consumer that the client has had before
        world.ask(ADDR, Command(RequestCode.UNREGISTER_CLIENT, header=header), tester="c1")
        world.run_until(lambda: bool(answers), 1_100)
        assert answers[0].code == ResponseCode.SUCCESS
        assert world.views.listed(BROKER, "G") == []
        assert not world.views.has_group(BROKER, "G")


def test_b13_a_lost_notification_leaves_two_owners_until_the_timer() -> None:
    with World() as world:
        one_broker(world)
        join(world, "c1")
        world.simulation.kernel.profile = replace(PAUSING, one_way_loss=1)
        world.script.draw("NOTIFY_CONSUMER_IDS_CHANGED broker-a -> c1", 1)
        world.add_consumer("c2", ORDERS)
        world.run_until(lambda: world.views.two_owners("G", "orders") != [], 1_000)
        waited_ms = world.run_until(lambda: world.views.two_owners("G", "orders") == [], 20_000)
        assert waited_ms > 10_000


def test_b18_of_two_commits_of_one_client_the_older_one_stays() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1")
        world.run_until(lambda: world.now_ms % 5_000 == 1_000, 5_000)

        def commit(offset: int) -> None:
            consumer.offset_store.update_offset(LAST, offset, increase_only=True)
            world.call("c1", lambda: consumer.offset_store.persist(LAST))

        paused = world.pause("updateConsumerOffset: before commitOffset", 1_000)
        commit(10)
        world.run_until(lambda: paused.hit, 100)
        commit(20)
        world.run(2_000)

        committed = [event.offset for _, event in world.events(OffsetCommitted) if event.queue_id == LAST.queue_id]
        assert committed[-2:] == [20, 10]
        assert world.brokers[BROKER].consumer_offset_manager.query_offset("G", "orders", LAST.queue_id) == 10


def test_b32_a_commit_on_a_former_connection_of_its_client_overwrites_those_of_the_next() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1")
        scenes.after_a_persist(world)
        paused = world.pause("updateConsumerOffset: before commitOffset", 3_000)
        scenes.acknowledge(world, consumer, 10)
        scenes.works(consumer, 600)
        scenes.fill(world, LAST, 20)
        world.call("c1", lambda: consumer.offset_store.persist(LAST))
        world.run_until(lambda: paused.hit, 100)
        (connection,) = world.connections("c1", BROKER)
        world.simulation.network.sever(connection, 0)
        world.run_until(lambda: scenes.in_memory(consumer) == 20, 1_000)
        world.call("c1", lambda: consumer.offset_store.persist(LAST))
        world.run(3_000)
        assert scenes.commits(world)[-2:] == [20, 10]
        assert scenes.committed(world) == 10


def test_b22a_a_renewal_and_a_take_over_of_an_expired_lock_are_both_granted() -> None:
    with World() as world:
        one_broker(world)

        def lock(client_id: str) -> Command:
            return Command(RequestCode.LOCK_BATCH_MQ, body=LockBatchRequestBody("G", client_id, (LAST,)))

        assert world.ask(ADDR, lock("c1"), tester="c1").body == (LAST,)
        world.run(60_001)
        paused = world.pause("isLocked: the owner has been read", 100)
        renewed = start_asking(world, "c1", lock("c1"))
        world.run_until(lambda: paused.hit, 100)
        taken = world.ask(ADDR, lock("c2"), tester="c2")
        world.run_until(lambda: bool(renewed), 200)

        assert renewed[0].body == taken.body == (LAST,)
        both = [(event.client_id, event.holder, event.fast) for _, event in world.events(LockGranted, 60_000)]
        assert both == [("c2", "c2", False), ("c1", "c2", True)]


def test_b22b_a_renewal_that_comes_after_the_unlock_locks_a_queue_that_nobody_has() -> None:
    with World() as world:
        one_broker(world)
        first = join(world, "c1", IN_ORDER)
        paused = world.pause("lockBatchMQ: before tryLockBatch", 100)
        world.run_until(lambda: paused.hit, 21_000)
        since_ms = world.now_ms
        world.add_consumer("c2", IN_ORDER)
        world.consumers["c2"][0].suspend()  # so that it does not ask for the lock itself in these 100 ms
        world.run(1_000)
        world.call("c2", world.consumers["c2"][0].resume)

        released_ms = [ms for ms, event in world.events(LockReleased, since_ms) if event.mq == LAST]
        granted = [(ms, event.client_id) for ms, event in world.events(LockGranted, since_ms) if event.mq == LAST]
        assert not first.rebalance_impl.process_queue_table.contains_key(LAST)
        assert released_ms
        assert granted[-1][1] == first.instance.client_id
        assert granted[-1][0] > released_ms[-1]
        waited_ms = world.run_until(lambda: LAST not in world.views.no_owner("G", "orders"), 90_000)
        assert waited_ms > 55_000


def test_u12_a_heartbeat_under_way_keeps_the_new_version_of_a_subscription_from_the_broker() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1")
        join(world, "c2")
        paused = world.pause("heartBeat: before registerConsumer", 1_000)
        world.run_until(lambda: paused.hit, 30_000)
        since_ms = world.now_ms

        def versions() -> tuple[int, int]:
            mine = consumer.rebalance_impl.subscription_inner.get("orders")
            info = world.brokers[BROKER].consumer_manager.get_consumer_group_info("G")
            stored = None if info is None else info.find_subscription_data("orders")
            return mine.sub_version if mine else -1, stored.sub_version if stored else -1

        before, _ = versions()
        world.simulation.kill("c2")
        world.run(2_000)
        mine, stored = versions()
        assert mine > before
        assert mine > stored
        world.run_until(lambda: len(set(versions())) == 1, 31_000)
        assert world.now_ms - since_ms > 20_000
