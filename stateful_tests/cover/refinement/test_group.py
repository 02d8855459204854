"""The followers of groups and order locks: silent where they should be, and seen to notice what they are for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest

from impl.broker.rebalance_lock_manager import LockEntry, RebalanceLockManager
from impl.broker.reported_tables import ReportedConsumerManager, ReportedGroupInfo, ReportedLocks
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.rebalance import RebalanceImpl
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.topic_config import TopicConfig
from impl.decisions.allocation import AllocateMessageQueueAveragelyByCircle, AllocateMessageQueueConsistentHash
from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerRegistered,
    ConsumerRemoved,
    LockReleased,
    ProcessKilled,
    QueueForgotten,
    QueueTaken,
    RouteUpdated,
)
from impl.hosts.simulation.profile import CALM
from impl.hosts.simulation.tape import RandomTape
from invariants.finding import Finding
from invariants.refinement.consumer_group import ConsumerGroup
from invariants.refinement.follower import Follower, Following as Shown
from model.consumer_group import Rebalancing
from model.language.scalar import StepReading
from model.language.scope import Scope
from model.scopes import SCOPES, averagely
from stateful_tests.stories import (
    test_broker_clients as clients,
    test_leaving as leaving,
    test_lost_and_late as late,
    test_more_owners as more,
    test_two_owners as two,
)
from stateful_tests.stories.followed import Following, followed, lived, told
from stateful_tests.stories.scenes import believes
from stateful_tests.stories.storm import GROUP, STORMY, TOPIC
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, lived as lived_as
from stateful_tests.worlds.world import World

GROUP_IS_REFINED, LOCK_IS_REFINED = "refines_consumer_group", "refines_order_lock"
TOPICS = (TopicConfig("orders", 4, 4),)
LAST = MessageQueue("orders", "broker-a", 3)


# Silence --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("orderly", [False, True])
def test_a_calm_group_is_followed_without_a_finding(orderly: bool) -> None:
    following = lived(0, orderly=orderly)
    assert following.found == []
    assert len(following.group.visited) > 10
    assert (len(following.locks.visited) > 5) is orderly


@pytest.mark.parametrize("orderly", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_storm_is_followed_to_its_end(seed: int, orderly: bool) -> None:
    following = lived(seed, STORMY, orderly=orderly)
    assert following.diverges() == []
    assert set(following.names()) <= {"one_owner_per_queue", "one_lock_holder", "one_live_believer"}  # D1, B-22a, D8
    assert len(following.group.visited) > 30


STORIES = [
    two.test_d6_two_processes_with_one_client_id_own_the_same_half_and_nobody_the_other,
    two.test_d9_does_not_happen_if_nothing_was_cached,
    two.test_d10_an_orderly_shutdown_gives_the_locks_away_before_its_listener_and_its_offsets,
    more.test_d3_members_whose_routes_differ_divide_different_queues,
    more.test_b5_a_client_with_two_connections_has_two_places_in_the_list,
    more.test_u4_the_share_of_a_member_that_does_not_subscribe_the_topic_is_nobodys,
    more.test_u7_an_orderly_queue_that_flaps_while_its_batch_runs_is_dead_for_two_minutes,
    clients.test_b9_a_heartbeat_that_is_handled_after_the_goodbye_makes_a_ghost,
    clients.test_b17_a_call_that_times_out_evicts_its_caller,
    leaving.test_d12_a_consumer_that_stops_locks_queues_after_it_has_unlocked_all,
    late.test_b22b_a_renewal_that_comes_after_the_unlock_locks_a_queue_that_nobody_has,
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__[:12])
def test_what_the_models_know_is_no_divergence(story: Callable[[], None]) -> None:
    assert told(story).diverges() == []


def test_a_strategy_of_its_own_is_asked_for_its_shares() -> None:
    for strategy in (AllocateMessageQueueAveragelyByCircle(), AllocateMessageQueueConsistentHash()):
        following = Following()
        with World(RandomTape(0), CALM, following) as world:
            following.follow(world)
            world.add_namesrv()
            world.add_broker("broker-a", "broker-a", topics=TOPICS)
            world.run(100)
            for machine in ("c1", "c2"):
                world.add_consumer(machine, PushConsumerConfig(GROUP, {TOPIC: "*"}, strategy=strategy))
            world.run(60_000)
            assert world.views.one_owner_each(GROUP, TOPIC)
        assert following.diverges() == []


def test_more_machines_than_the_first_scope_has_room_for_are_followed() -> None:
    following = Following()
    with World(RandomTape(0), CALM, following) as world:
        following.follow(world)
        world.add_namesrv()
        for broker in ("broker-a", "broker-b", "broker-c"):
            world.add_broker(broker, broker, topics=TOPICS)
        world.run(100)
        for number in range(10):
            world.add_consumer(f"c{number}", PushConsumerConfig(GROUP, {TOPIC: "*"}, orderly=True))
            world.run(1_000)
        world.run(130_000)
        assert world.views.one_owner_each(GROUP, TOPIC)
    assert following.diverges() == []


def test_two_runs_at_once_are_each_followed_by_their_own_list() -> None:
    def story() -> None:
        with World() as world:
            world.add_namesrv()
            world.add_broker("broker-a", "broker-a", topics=TOPICS)
            world.run(100)
            first = more.join(world, "c1")
            paused = world.pause("findConsumerIdList: the list is here", 3_000)
            world.run_until(lambda: paused.hit, 21_000)
            world.add_consumer("c2", more.ORDERS)
            world.run(500)
            world.call("c1", first.resume)
            world.run(100)
            assert world.views.one_owner_each("G", "orders")
            since_ms = world.now_ms
            world.run(3_000)  # the older list is applied, and given up again at once
            assert len(world.events(QueueTaken, since_ms)) == 2

    following = told(story)
    assert following.diverges() == []
    assert following.names()["one_owner_per_queue"] == 2


def test_queues_that_only_the_leaver_had_are_nobodys_loss() -> None:
    def story() -> None:
        with World() as world:
            world.add_namesrv()
            world.add_broker("broker-a", "broker-a", topics=TOPICS)
            world.run(100)
            leaver = more.join(world, "c2")
            world.brokers["broker-a"].topic_config_manager.update_topic_config(TopicConfig("orders", 2, 2))
            rebalance = leaver.rebalance_impl
            world.run_until(lambda: len(rebalance.topic_subscribe_info_table.get("orders") or ()) == 2, 120_000)
            assert LAST in rebalance.process_queue_table.key_set()
            world.simulation.kernel.pause(world.simulation.nodes["c2"], 300_000)
            more.join(world, "c1")
            world.run_until(lambda: len(world.views.listed("broker-a", "G")) == 1, 200_000)
            world.run(30_000)
            world.simulation.kill("c2")
            world.run(100)

    following = told(story)
    assert following.diverges() == []
    assert not following.names()["every_queue_owned_when_settled"]


def test_a_queue_that_leaves_the_table_undropped_is_believed_locked_no_more() -> None:
    plan = Plan("shipped", "ordered_resets", "clocks", "focus")
    with lived_as(plan, STRATEGIES["focus"](1226589)) as (world, record):
        assert [event.mq for _, event in world.events(QueueForgotten)] == [LAST]
    assert LOCK_IS_REFINED not in {one.property for one in record.seen}


# Hazards --------------------------------------------------------------------------------------------------------------


def test_b7_an_entry_in_an_object_that_has_left_is_a_divergence() -> None:
    story = clients.test_b7_a_heartbeat_enters_a_group_object_that_has_just_been_removed
    (sentence,) = told(story).diverges()
    assert "is false, the model has true" in sentence
    assert sentence.startswith("listed[broker-a, c2@")


def test_b8_a_group_that_is_removed_with_its_member_is_a_divergence() -> None:
    story = leaving.test_b8_the_second_goodbye_removes_a_group_that_is_another_one_by_now
    assert told(story).diverges() == ["listed[broker-a, c3] is false, the model has true"]


@pytest.mark.parametrize(("story", "name"), [
    (two.test_d1_a_joiner_takes_its_share_before_the_owner_has_given_it_up, "one_owner_per_queue"),
    (two.test_d2_a_restarted_broker_knows_only_who_has_spoken_to_it_since, "one_owner_per_queue"),
    (two.test_d4_as_long_as_one_broker_alone_has_lost_a_member_there_are_two_owners, "one_owner_per_queue"),
    (two.test_d6_two_processes_with_one_client_id_own_the_same_half_and_nobody_the_other, "one_owner_when_settled"),
    (two.test_d6_two_processes_with_one_client_id_own_the_same_half_and_nobody_the_other,
     "every_queue_owned_when_settled"),
    (more.test_u4_the_share_of_a_member_that_does_not_subscribe_the_topic_is_nobodys, "every_queue_owned_when_settled"),
    (two.test_d9_a_delayed_unlock_frees_the_lock_that_its_owner_has_taken_anew, "one_live_believer"),
    (late.test_b22a_a_renewal_and_a_take_over_of_an_expired_lock_are_both_granted, "one_lock_holder"),
], ids=lambda value: value if isinstance(value, str) else value.__name__[5:9])
def test_a_hazard_violates_its_property(story: Callable[[], None], name: str) -> None:
    following = told(story)
    assert following.names()[name]
    assert following.diverges() == []


def lost_table(world: World) -> None:
    """c1 believes in its locks and stands still, the broker forgets them, and c2 takes what c1 had."""
    world.add_namesrv()
    world.add_broker("broker-a", "broker-a", topics=TOPICS)
    world.run(100)
    first, second = (more.join(world, machine, more.IN_ORDER) for machine in ("c1", "c2"))
    world.run_until(lambda: believes(first, LAST) or believes(second, LAST), 60_000)
    owner, other = (first, second) if believes(first, LAST) else (second, first)
    machine = "c1" if owner is first else "c2"
    world.simulation.kernel.pause(world.simulation.nodes[machine], 40_000)
    for connection in world.connections(machine, "broker-a"):
        world.simulation.network.sever(connection.peer, None)
    world.restart("broker-a")
    world.run_until(lambda: LAST in world.views.two_owners("G", "orders"), 28_000)
    world.call("c2" if machine == "c1" else "c1", other.rebalance_impl.lock_all)
    world.run(100)
    assert believes(other, LAST)
    assert believes(owner, LAST)


def test_d8_a_lock_table_that_is_lost_makes_two_believers() -> None:
    def story() -> None:
        with World() as world:
            lost_table(world)

    following = told(story)
    assert following.names()["one_live_believer"]
    assert following.diverges() == []


# Faults ---------------------------------------------------------------------------------------------------------------


def planted(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, fault: Callable[..., Any], *, orderly: bool = False,
) -> list[str]:
    """What diverges in a storm when a method is replaced."""
    monkeypatch.setattr(owner, name, fault)
    return lived(0, STORMY, orderly=orderly).diverges()


def test_a_drop_that_is_not_reported_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert planted(monkeypatch, RebalancePushImpl, "report_dropped", lambda _, **__: None)


def test_a_removal_from_the_list_that_is_not_reported_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert planted(monkeypatch, ReportedGroupInfo, "_removed", lambda *_: None)


def test_a_group_that_is_removed_with_members_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def drop_group(self: ReportedConsumerManager, caller: str, group: str, *_: object) -> None:
        del caller
        self.consumer_table.remove(group)

    assert planted(monkeypatch, ReportedConsumerManager, "drop_empty_group", drop_group)


def test_a_queue_that_the_strategy_does_not_give_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    update = RebalanceImpl.update_process_queue_table

    async def greedy(self: RebalanceImpl, topic: str, mqs: Any, *rest: Any) -> bool:
        everything = self.topic_subscribe_info_table.get(topic)
        return await update(self, topic, [*mqs, *sorted(everything or ())[:1]], *rest)

    sentences = planted(monkeypatch, RebalanceImpl, "update_process_queue_table", greedy)
    assert any("take is not possible: gives" in sentence for sentence in sentences)


def test_a_queue_that_is_kept_although_another_has_it_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(self: RebalanceImpl, *_: object) -> bool:  # noqa: ARG001  # a method
        return False

    sentences = planted(monkeypatch, RebalanceImpl, "_give_up", never)
    assert any("settle is not possible" in sentence for sentence in sentences)


def test_a_queue_that_is_dropped_although_the_list_gives_it_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    give_up = RebalanceImpl._give_up

    async def timid(self: RebalanceImpl, topic: str, mqs: Any, threads: Any) -> bool:
        return await give_up(self, topic, sorted(mqs)[1:], threads)

    sentences = planted(monkeypatch, RebalanceImpl, "_give_up", timid)
    assert any("drop is not possible" in sentence for sentence in sentences)


def test_a_list_that_no_broker_gave_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(self: ReportedGroupInfo) -> list[str | None]:
        return [info.client_id for info in self.channel_info_table.values()][:1]

    sentences = planted(monkeypatch, ReportedGroupInfo, "get_all_client_id", half)
    assert any("listed[" in sentence or "answer[" in sentence for sentence in sentences)


def test_a_lock_that_is_granted_twice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def generous(self: LockEntry, now_ms: int) -> bool:
        return now_ms > self.last_update_timestamp

    sentences = planted(monkeypatch, LockEntry, "is_expired", generous, orderly=True)
    assert any("grant is not possible: " in sentence for sentence in sentences)


def test_a_lock_that_another_takes_away_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unlock(self: RebalanceLockManager, group: str, mqs: Sequence[MessageQueue], client_id: str) -> None:
        del mqs, client_id
        locks = self.mq_lock_table.get(group)
        if locks is not None:
            locks.clear()

    assert planted(monkeypatch, RebalanceLockManager, "unlock_batch", unlock, orderly=True)


def test_a_lock_that_is_granted_without_a_word_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert planted(monkeypatch, ReportedLocks, "_granted", lambda *_, **__: None, orderly=True)


def test_a_belief_without_a_grant_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = RebalancePushImpl._mark_locked

    def gullible(self: RebalancePushImpl, mqs: Any) -> None:
        mark(self, [*mqs, *self.process_queue_table.key_set()])

    sentences = planted(monkeypatch, RebalancePushImpl, "_mark_locked", gullible, orderly=True)
    assert any("answer is not possible: granted[c]" in sentence for sentence in sentences)


def test_after_a_divergence_the_follower_goes_on() -> None:
    with followed(0) as (world, following):
        world.run(30_000)
        (consumer,) = world.consumers["consumer1"]
        table = consumer.rebalance_impl.process_queue_table
        stolen = next(mq for mq in table.key_set() if mq.topic == TOPIC)
        table.remove(stolen)
        (sentence,) = [finding.sentence for finding in looked_at(following.group, "consumer1")]
        assert sentence.startswith("holds[consumer1@")
        assert f"{stolen.broker_name}/{stolen.queue_id}] is false, the model has true" in sentence
        since_ms = world.now_ms
        world.simulation.kill("consumer2")
        world.simulation.start("consumer2")
        world.run(60_000)
        assert following.diverges(since_ms) == []


def looked_at(follower: Follower, machine: str) -> list[Finding]:
    """What is found when a machine that reports nothing is due."""
    return follower.segment(machine, (), whole=True)


def test_a_client_has_as_many_places_as_connections() -> None:
    with World() as world:
        follower = ConsumerGroup(world, "G", "orders")
        entered = [ConsumerRegistered("broker-a", "G", "c", f"c1:{port}", True, True, frozenset())
                   for port in range(100)]
        assert follower.segment("c1", [(0, "broker-a", event) for event in entered]) == []
        gone = ConsumerRemoved("broker-a", "G", "c", "c1:0", "closed", True)
        assert follower.segment("c1", [(1, "broker-a", gone)]) == []
        places = [place for place in range(101) if follower.monitor.value("listed", "broker-a", ("c", place))]
        assert places == list(range(99))


def test_a_follower_is_shown_what_it_hears() -> None:
    with followed(0) as (_, following):
        group, locks = following.group, following.locks
        shown = Shown((locks, group))
        heard = {event: shown.concerned([(0, "broker-a", event)]) for event in (
            ProcessKilled(1, False), LockReleased("broker-a", "G", LAST, "c"),
            RouteUpdated("c", "G", "orders", frozenset()), "nothing")}
        assert list(heard.values()) == [(locks, group), (locks,), (group,), ()]


def test_a_silent_machine_is_looked_at_in_its_round() -> None:
    with followed(0, orderly=True) as (world, following):
        world.run(30_000)
        assert looked_at(following.group, "broker-a") == looked_at(following.locks, "broker-a") == []
        info = world.brokers["broker-a"].consumer_manager.get_consumer_group_info(GROUP)
        locks = world.brokers["broker-a"].rebalance_lock_manager.mq_lock_table.get(GROUP)
        assert info is not None
        assert locks is not None
        info.channel_info_table.values()[0].client_id = "nobody"
        locks.remove(locks.key_set()[0])
        (entry,), (lock,) = looked_at(following.group, "broker-a"), looked_at(following.locks, "broker-a")
        assert (entry.property, lock.property) == (GROUP_IS_REFINED, LOCK_IS_REFINED)
        assert "listed[broker-a, nobody] is true, the model has false" in entry.sentence
        assert "held is false, the model has true" in lock.sentence


# The grain of the group -----------------------------------------------------------------------------------------------


def small(*, changing: bool = False) -> tuple[StepReading, StepReading]:
    """The model of the group, and its finer one, in a small scope; changing -- some route gives nobody a queue."""
    scope = next(named.scope for named in SCOPES if named.name == "group 1,2,2")
    share = averagely(2)
    sizes: Any = scope.sizes
    rigid: dict[str, Any] = {
        "share": share, "subscribes": lambda _: True, "leader": lambda m: m,
        "gives": lambda m, view, q: share(view, m, q), "spares": lambda m, view, q: changing or not share(view, m, q),
    }
    return StepReading(scope), StepReading(Scope(Rebalancing, sizes, rigid))


def reachable(reading: StepReading) -> set[int]:
    found, fresh = {0}, [0]
    while fresh:
        after = {state for before in fresh for _, state in reading.successors(before)} - found
        found |= after
        fresh = sorted(after)
    return found


def test_dropping_and_taking_one_after_another_ends_where_the_model_does_it_at_once() -> None:
    whole, fine = small()
    states = reachable(whole)
    assert len(states) == 2089
    compared = 0
    for state in states:
        for m in range(2):
            if not whole.enabled("apply", (m,), state):
                continue
            ends = set()
            for order in permutations(range(2)):
                after = state
                for action in ("drop", "take"):
                    for q in order:
                        if fine.enabled(action, (m, q), after):
                            after = fine.apply(action, (m, q), after)
                ends.add(fine.step("settle", (m,), after))
            assert ends == {whole.apply("apply", (m,), state)}
            compared += 1
    assert compared > 500


def test_who_may_have_divided_the_queues_of_a_former_route_has_not_rebalanced() -> None:
    whole, fine = small()
    _, changing = small(changing=True)
    holding = 0
    for state in reachable(whole):
        for m in range(2):
            if not fine.enabled("settle", (m,), state):
                continue
            has_rebalanced, may_have = (
                one.step("settle", (m,), state) != one.step("settle_beside", (m,), state) for one in (fine, changing))
            holds = any(fine.enabled("give_up", (m, q), state) for q in range(2))
            assert may_have == (has_rebalanced and not holds)
            holding += has_rebalanced and holds
    assert holding > 100
