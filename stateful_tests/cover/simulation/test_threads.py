"""Threads, locks, signals, pools, schedulers and files of a simulated process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from impl.common.config_manager import file_to_string, string_to_file_not_safe
from impl.decisions.java_errors import JavaRuntimeError
from impl.events import ThreadDied
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.node import Node
from impl.hosts.simulation.profile import CALM
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from impl.ports.node import Node as NodePort
from impl.ports.pools import RejectedExecutionError
from impl.ports.threads import Lock, Signal


async def nothing(node: NodePort) -> None:
    """A process without a main thread."""


@pytest.fixture
def world() -> Iterator[Simulation]:
    with Simulation(ReplayTape([])) as simulation:
        simulation.add("broker", nothing)
        yield simulation


@pytest.fixture
def node(world: Simulation) -> Node:
    port: NodePort = world.nodes["broker"]  # mypy: a simulated node has every port
    assert port.name == "broker"
    return world.nodes["broker"]


def traced(world: Simulation) -> list[tuple[int, Any]]:
    return [(time_ms, event) for time_ms, _, event in world.kernel.records if isinstance(event, str)]


def test_a_lock_has_one_holder_and_waiters_take_turns(world: Simulation, node: Node) -> None:
    lock = Lock("lock")

    async def use(name: str, at_ms: int, hold_ms: int, patience_ms: int | None) -> None:
        await node.sleep(at_ms)
        if patience_ms is None:
            await node.lock(lock)
        elif not await node.try_lock(lock, patience_ms):
            node.trace(f"{name} gave up")
            return
        node.trace(f"{name} got it")
        await node.sleep(hold_ms)
        node.unlock(lock)

    node.start_thread("a", use("a", 0, 100, 0))
    node.start_thread("b", use("b", 10, 50, 95))
    node.start_thread("c", use("c", 20, 10, 50))
    node.start_thread("d", use("d", 30, 10, None))
    node.start_thread("e", use("e", 40, 10, 0))
    world.run(1_000)
    assert traced(world) == [
        (0, "a got it"), (40, "e gave up"), (70, "c gave up"), (100, "b got it"), (150, "d got it"),
    ]
    assert not lock.held
    with pytest.raises(RuntimeError, match="lock is not held"):
        node.unlock(lock)


@pytest.mark.parametrize("seed", range(30))
def test_an_unlock_in_the_millisecond_in_which_patience_ends_loses_nobody(seed: int) -> None:
    lock, got = Lock("lock"), []
    with Simulation(RandomTape(seed), replace(CALM, order=2)) as world:
        world.add("broker", nothing)
        node = world.nodes["broker"]

        async def use(name: str, at_ms: int, patience_ms: int) -> None:
            await node.sleep(at_ms)
            if await node.try_lock(lock, patience_ms):
                got.append(name)
                await node.sleep(100)
                node.unlock(lock)

        node.start_thread("holder", use("holder", 0, 0))
        node.start_thread("impatient", use("impatient", 1, 99))
        node.start_thread("patient", use("patient", 2, 500))
        world.run(5_000)
    assert not lock.held
    assert set(got) >= {"holder", "patient"}


def test_a_lock_is_not_fair_but_who_was_overtaken_stays_first(world: Simulation, node: Node) -> None:
    lock = Lock("lock")

    async def holder() -> None:
        await node.lock(lock)
        await node.sleep(10)
        node.unlock(lock)
        await node.lock(lock)  # before the waiters wake
        node.trace("barged in")
        await node.sleep(10)
        node.unlock(lock)

    async def waiter(name: str) -> None:
        await node.lock(lock)
        node.trace(name)
        node.unlock(lock)

    node.start_thread("holder", holder())
    node.start_thread("first", waiter("first"))
    node.start_thread("second", waiter("second"))
    world.run(100)
    assert traced(world) == [(10, "barged in"), (20, "first"), (20, "second")]


def test_wakings_collapse_into_one_extra_run(world: Simulation, node: Node) -> None:
    signal = Signal("RebalanceService")

    async def service() -> None:
        while True:
            notified = await node.wait(signal, 20_000)
            node.trace(f"run {'woken' if notified else 'by timer'}")
            await node.sleep(100)  # the run

    async def waker() -> None:
        for ms in (5, 5, 5, 1_000):
            await node.sleep(ms)
            node.wake(signal)

    node.start_thread("service", service())
    node.start_thread("waker", waker())
    world.run(30_000)
    assert traced(world) == [(5, "run woken"), (105, "run woken"), (1_015, "run woken"), (21_115, "run by timer")]


def test_two_threads_cannot_wait_for_one_signal(world: Simulation, node: Node) -> None:
    signal = Signal("latch")
    node.spawn("a", node.wait(signal, 10))
    node.spawn("b", node.wait(signal, 10))
    with pytest.raises(RuntimeError, match="two threads wait for latch"):
        world.run(100)


def test_join_waits_for_the_end_of_a_thread_or_gives_up(world: Simulation, node: Node) -> None:
    async def work() -> None:
        await node.sleep(50)

    thread = node.start_thread("work", work())

    async def joiner(timeout_ms: int) -> None:
        node.trace(f"{timeout_ms}: {await thread.join(timeout_ms)}")

    for timeout_ms in (20, 70, 90):
        node.start_thread("joiner", joiner(timeout_ms))
    world.run(100)
    node.start_thread("late joiner", joiner(0))
    world.run(200)
    assert traced(world) == [(20, "20: False"), (50, "70: True"), (50, "90: True"), (100, "0: True")]


def job(node: Node, name: str, ms: int) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        node.trace(f"{name} begins")
        await node.sleep(ms)
        node.trace(f"{name} ends")

    return run


def test_a_job_holds_a_thread_as_long_as_it_lives_and_the_queue_is_fifo(world: Simulation, node: Node) -> None:
    pool = node.pool("pool", 2, 2)
    first, *others = [job(node, name, ms) for name, ms in (("a", 30), ("b", 10), ("c", 15), ("d", 1))]
    pool.execute(first)
    for other in others:
        pool.execute(other)
    with pytest.raises(RejectedExecutionError, match="2 jobs wait"):
        pool.execute(first)
    assert list(pool.queue) == others[1:]
    world.run(100)
    assert traced(world) == [
        (0, "a begins"), (0, "b begins"), (10, "b ends"), (10, "c begins"), (25, "c ends"), (25, "d begins"),
        (26, "d ends"), (30, "a ends"),
    ]


def test_plain_jobs_and_failing_ones_give_their_thread_back(world: Simulation, node: Node) -> None:
    pool = node.pool("pool", 1)

    def fail() -> None:
        raise JavaRuntimeError("boom")

    pool.execute(fail)
    pool.execute(lambda: node.trace("plain"))
    pool.execute(removed := job(node, "removed", 1))
    assert pool.remove(removed)
    assert not pool.remove(removed)
    world.run(10)
    assert traced(world) == [(0, "plain")]
    assert ThreadDied("pool", "java.lang.RuntimeException", "boom") in [r[2] for r in world.kernel.records]
    assert pool.free == 1


def test_a_pool_shuts_down_with_or_without_its_queue(world: Simulation, node: Node) -> None:
    async def stop(now: bool) -> None:
        pool = node.pool("pool", 1)
        jobs = [job(node, name, 20) for name in ("a", "b")]
        for each in jobs:
            pool.execute(each)
        await node.sleep(5)
        if now:
            assert pool.shutdown_now() == jobs[1:]
        else:
            pool.shutdown()
        with pytest.raises(RejectedExecutionError):
            pool.execute(jobs[0])
        node.trace(f"in time: {await pool.await_termination(10)}")
        node.trace(f"at last: {await pool.await_termination(1_000)}")
        node.trace(f"again: {await pool.await_termination(0)}")

    node.start_thread("stop", stop(now=False))
    world.run(1_000)
    assert traced(world) == [
        (0, "a begins"), (15, "in time: False"), (20, "a ends"), (20, "b begins"), (40, "b ends"),
        (40, "at last: True"), (40, "again: True"),
    ]
    world.kernel.records.clear()
    node.start_thread("stop", stop(now=True))
    world.run(2_000)
    assert [event for _, event in traced(world)] == [
        "a begins", "in time: False", "a ends", "at last: True", "again: True",
    ]


def test_fixed_rate_catches_up_and_fixed_delay_does_not(world: Simulation, node: Node) -> None:
    scheduler = node.scheduler("timer")
    lengths = iter([250, 10, 10, 10, 10, 10])

    async def tick() -> None:
        node.trace("tick")
        await node.sleep(next(lengths))

    scheduler.schedule_at_fixed_rate(tick, 50, 100)
    world.run(460)
    assert [time_ms for time_ms, _ in traced(world)] == [50, 300, 310, 350, 450]
    world.kernel.records.clear()
    node.scheduler("other").schedule_with_fixed_delay(job(node, "tock", 30), 40, 100)
    scheduler.shutdown()
    world.run(1_000)
    assert [time_ms for time_ms, event in traced(world) if event == "tock begins"] == [500, 630, 760, 890]


def test_one_thread_of_a_scheduler_serves_all_its_jobs(world: Simulation, node: Node) -> None:
    scheduler = node.scheduler("MQClientFactoryScheduledThread")
    scheduler.schedule_at_fixed_rate(job(node, "slow", 500), 10, 10_000)
    scheduler.schedule(job(node, "quick", 1), 20)
    world.run(1_000)
    assert traced(world) == [(10, "slow begins"), (510, "slow ends"), (510, "quick begins"), (511, "quick ends")]


def test_a_periodic_job_never_runs_again_after_an_exception_and_one_shots_survive_shutdown(
    world: Simulation, node: Node,
) -> None:
    scheduler = node.scheduler("timer")

    def fail() -> None:
        node.trace("failing")
        raise JavaRuntimeError("boom")

    scheduler.schedule_at_fixed_rate(fail, 10, 10)
    scheduler.schedule_at_fixed_rate(lambda: node.trace("periodic"), 100, 100)
    scheduler.schedule(lambda: node.trace("one shot"), 500)
    world.run(250)
    scheduler.shutdown()
    with pytest.raises(RejectedExecutionError):
        scheduler.schedule(fail, 1)
    with pytest.raises(RejectedExecutionError):
        scheduler.schedule_with_fixed_delay(fail, 1, 1)
    world.run(1_000)
    assert traced(world) == [(10, "failing"), (100, "periodic"), (200, "periodic"), (500, "one shot")]


def test_nothing_of_a_dead_process_runs(world: Simulation, node: Node) -> None:
    pool, scheduler = node.pool("pool", 1), node.scheduler("timer")
    for name in ("a", "b"):
        pool.execute(job(node, name, 100))
    scheduler.schedule_at_fixed_rate(lambda: node.trace("tick"), 10, 10)
    world.run(15)
    world.kill("broker")
    reborn = world.start("broker")
    world.run(1_000)
    assert traced(world) == [(0, "a begins"), (10, "tick")]
    assert (reborn.incarnation, reborn.alive, node.alive) == (2, True, False)


def test_files_survive_a_kill(world: Simulation, node: Node) -> None:
    string_to_file_not_safe(node.disk, "a", "one")
    string_to_file_not_safe(node.disk, "a.tmp", "two")
    node.disk.rename("a.tmp", "a")
    node.disk.rename("none", "a")
    string_to_file_not_safe(node.disk, "b", "gone")
    node.disk.delete("b")
    node.disk.delete("never there")
    world.kill("broker")
    disk = world.start("broker").disk
    assert [file_to_string(disk, path) for path in ("a", "a.tmp", "b", "none")] == ["two", None, None, None]


@pytest.mark.parametrize(
    ("choices", "left"), [([], "new"), ([1], "old"), ([2], ""), ([3], "new")], ids=["kept", "older", "empty", "any"],
)
def test_a_power_loss_may_cost_what_was_written_lately(choices: list[int], left: str) -> None:
    with Simulation(ReplayTape(choices)) as world:
        disk = world.add("broker", nothing).disk
        string_to_file_not_safe(disk, "safe", "long ago")
        string_to_file_not_safe(disk, "file", "old")
        world.run(31_000)
        string_to_file_not_safe(disk, "file", "new")
        world.kill("broker", power_loss=True)
        disk = world.start("broker").disk
        assert (file_to_string(disk, "file"), file_to_string(disk, "safe")) == (left, "long ago")


def test_a_power_loss_asks_only_about_what_could_differ() -> None:
    with Simulation(ReplayTape([])) as world:
        disk = world.add("broker", nothing).disk
        for text in ("same", "same"):
            string_to_file_not_safe(disk, "file", text)
        disk.delete("never there")
        world.kill("broker", power_loss=True)
        assert world.kernel.tape.choices == []


def test_chance_comes_from_the_tape() -> None:
    drawn = []
    for tape in (RandomTape(1), RandomTape(1), ReplayTape([])):
        with Simulation(tape) as world:
            node = world.add("client", nothing)
            drawn.append([node.random(5, "findBrokerAddrByTopic") for _ in range(20)])
    assert drawn[0] == drawn[1] != drawn[2] == [0] * 20
