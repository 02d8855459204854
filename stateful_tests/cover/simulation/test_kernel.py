"""The kernel: virtual time, segments, pauses, kills, and what it refuses."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest

from impl.decisions.java_errors import IllegalArgumentError, JavaRuntimeError
from impl.events import ProcessKilled, ThreadDied
from impl.hosts.simulation.clock import EPOCH_MS, WallClock
from impl.hosts.simulation.kernel import RESTING, EndlessRunError, Kernel, Record
from impl.hosts.simulation.process import PAUSES_MS, TIMED_OUT, Future, Process, ProcessDeadError, suspend
from impl.hosts.simulation.profile import FaultProfile
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from impl.hosts.simulation.threads import Threads
from impl.ports.threads import Lock


def kernel(*choices: int, **profile: int) -> Kernel:
    return Kernel(ReplayTape(choices), FaultProfile(**profile))


def process(of: Kernel, name: str = "broker") -> Threads:
    return Threads(of, name, WallClock(of))


def traced(of: Kernel) -> list[tuple[int, Any]]:
    return [(time_ms, event) for time_ms, _, event in of.records if isinstance(event, str)]


def test_sleepers_wake_in_order_of_time_then_of_falling_asleep() -> None:
    with kernel() as k:
        broker = process(k)

        async def run(name: str, *sleeps: int) -> None:
            for ms in sleeps:
                await broker.sleep(ms)
                broker.trace(name)

        broker.spawn("a", run("a", 5, 5))
        broker.spawn("b", run("b", 10, 1))
        broker.spawn("c", run("c", 3, 0, 7))
        k.run(100)
        assert traced(k) == [(3, "c"), (3, "c"), (5, "a"), (10, "b"), (10, "c"), (10, "a"), (11, "b")]
        assert k.now_ms == 100
        assert k.segments == 3 + 7


def test_the_order_of_what_is_ready_is_a_choice() -> None:
    def order(*choices: int) -> str:
        with kernel(*choices, order=1) as k:
            broker = process(k)

            async def run(name: str) -> None:
                await broker.sleep(5)
                broker.trace(name)

            for name in "abc":
                broker.spawn(name, run(name))
            k.run(10)
            return "".join(event for _, event in traced(k))

    first = (0, 0)  # the starts stay in order
    assert order() == order(*first) == "abc"
    assert order(*first, 2) == "cab"
    assert order(*first, 2, 1) == "cba"
    assert order(*first, 9) == "abc"
    assert order(*first, 1) == "bac"


def test_interleave_goes_on_or_pauses() -> None:
    def run(*choices: int) -> tuple[list[tuple[int, Any]], int]:
        with kernel(*choices, thread_pause=1) as k:
            broker = process(k)

            async def thread(name: str) -> None:
                await broker.interleave("somewhere")
                broker.trace(name)

            broker.spawn("a", thread("a"))
            broker.spawn("b", thread("b"))
            k.run(100_000)
            return traced(k), k.segments

    assert run() == ([(0, "a"), (0, "b")], 4)
    assert run(1) == ([(0, "b"), (0, "a")], 4)  # no width, but the other goes first
    assert run(4) == ([(0, "b"), (PAUSES_MS[3], "a")], 4)
    assert run(4, 8) == ([(PAUSES_MS[3], "a"), (PAUSES_MS[7], "b")], 4)


def test_the_monitor_sees_each_segment_with_what_was_traced_in_it() -> None:
    seen: list[tuple[str, list[Any]]] = []

    def monitor(of: Process, records: Sequence[Record], _: bool) -> None:
        seen.append((of.name, [event for _, _, event in records]))

    with Kernel(ReplayTape([]), monitor=monitor) as k:
        broker = process(k)

        async def thread() -> None:
            broker.trace("one")
            broker.trace("two")
            await broker.interleave("between")
            broker.trace("three")
            await broker.sleep(1)

        broker.spawn("thread", thread())
        k.run(10)
    assert seen == [("broker", ["one", "two"]), ("broker", ["three"]), ("broker", [])]


def test_a_silent_segment_is_shown_when_it_is_due() -> None:
    seen: list[tuple[str, list[Any], bool]] = []

    def monitor(of: Process, records: Sequence[Record], due: bool) -> None:
        seen.append((of.name, [event for _, _, event in records], due))

    with Kernel(ReplayTape([]), monitor=monitor) as k:
        k.show_every = 4
        broker, other = process(k), process(k, "other")

        async def thread(of: Process, *events: str) -> None:
            for event in events:
                if event:
                    of.trace(event)
                await of.interleave("next")

        broker.spawn("thread", thread(broker, *["a", "b", "", "", "", "c", "", ""]))
        other.spawn("thread", thread(other, "", ""))
        k.run(10)
        assert k.segments == 12
    assert seen == [("broker", ["a"], True), ("broker", ["b"], False), ("broker", [], True), ("broker", ["c"], False),
                    ("broker", [], True), ("other", [], True)]


def test_a_future_is_resolved_once_and_waited_for_by_one() -> None:
    with kernel() as k:
        broker = process(k)
        answers: list[Any] = []
        future, late, early = Future(k), Future(k), Future(k)

        async def wait(for_what: Awaitable[Any]) -> None:
            answers.append(await for_what)

        broker.spawn("a", wait(broker.until(future, 50)))
        broker.spawn("b", wait(broker.until(late, 50)))
        assert early.resolve("early")
        broker.spawn("c", wait(early))
        k.at(20, future.resolve, "answer")
        k.at(60, lambda _: answers.append(late.resolve("too late")))
        k.run(100)
        assert answers == ["early", "answer", TIMED_OUT, False]

        shared = Future(k)
        broker.spawn("d", wait(shared))
        broker.spawn("e", wait(shared))
        with pytest.raises(RuntimeError, match="broker e waits for a future for which broker d waits already"):
            k.run(200)


class Body:
    """A thread that does everything forbidden in its finally clause."""

    def __init__(self, node: Threads, lock: Lock, effect: Callable[[Body], Any]) -> None:
        self.node, self.lock, self.effect = node, lock, effect
        self.reached: list[str] = []

    async def run(self) -> None:
        assert await self.node.try_lock(self.lock, 0)
        try:
            await self.node.sleep(1_000)
        finally:
            self.reached.append("finally")
            self.effect(self)
            self.reached.append("after the effect")


EFFECTS: dict[str, Callable[[Body], Any]] = {
    "unlock": lambda body: body.node.unlock(body.lock),
    "trace": lambda body: body.node.trace("politely"),
    "sleep": lambda body: body.node.sleep(1),
    "after": lambda body: body.node.after(1, lambda: body.reached.append("fired")),
    "spawn": lambda body: body.node.spawn("ghost", body.run()),
    "interleave": lambda body: body.node.interleave("finally"),
    "random": lambda body: body.node.random(2, "finally"),
}


@pytest.mark.parametrize("effect", EFFECTS)
def test_a_kill_runs_finally_but_no_port_obeys(effect: str) -> None:
    with kernel() as k:
        broker = process(k)
        lock = Lock("lock")
        body = Body(broker, lock, EFFECTS[effect])
        broker.spawn("thread", body.run())
        k.run(10)
        k.kill(broker)
        assert body.reached == ["finally"]
        assert lock.held
        assert not broker.tasks
        k.run(10_000)
        assert body.reached == ["finally"]
        assert [record[2] for record in k.records] == [ProcessKilled(1, False)]
        assert not k.tape.choices


def test_without_a_kill_the_same_finally_has_its_effect() -> None:
    with kernel() as k:
        broker = process(k)
        body = Body(broker, Lock("lock"), EFFECTS["trace"])
        broker.spawn("thread", body.run())
        k.run(10_000)
        assert traced(k) == [(1_000, "politely")]


def test_awaiting_in_finally_is_found_out() -> None:
    with kernel() as k:
        broker = process(k)

        async def thread() -> None:
            try:
                await broker.sleep(10)
            finally:
                await suspend(1)

        broker.spawn("thread", thread())
        k.run(5)
        with pytest.raises(RuntimeError, match="broker thread awaits in finally"):
            k.kill(broker)
        broker.tasks.clear()


def test_a_process_may_kill_itself_and_ends_with_that_segment() -> None:
    with kernel() as k:
        broker = process(k)
        reached: list[str] = []

        async def thread(last: str) -> None:
            k.kill(broker)
            reached.append("same segment")
            if last == "port":
                broker.trace("from the grave")
            await suspend(1)
            reached.append("next segment")

        async def other() -> None:
            await broker.sleep(1)
            reached.append("other")

        broker.spawn("other", other())
        broker.spawn("thread", thread("await"))
        k.run(10)
        broker = process(k)
        broker.spawn("thread", thread("port"))
        k.run(20)
        assert reached == ["same segment", "same segment"]
        assert not broker.tasks
        assert traced(k) == []


def test_a_restart_is_another_incarnation_and_the_old_one_stays_dead() -> None:
    with kernel() as k:
        first = process(k)
        with pytest.raises(ValueError, match="broker lives"):
            process(k)
        first.after(50, lambda: k.record("broker", "old timer"))
        k.run(10)
        k.kill(first)
        second = process(k)
        assert (first.incarnation, second.incarnation) == (1, 2)
        with pytest.raises(ProcessDeadError):
            first.trace("old")
        with pytest.raises(ProcessDeadError):
            k.kill(first)
        second.trace("new")
        k.run(100)
        assert traced(k) == [(10, "new")]


def test_no_coroutine_is_left_unawaited() -> None:
    """Warnings are errors here: an un-awaited coroutine would fail this test."""
    k = kernel()
    broker = process(k)
    broker.spawn("never started", suspended())
    k.kill(broker)
    with pytest.raises(ProcessDeadError):
        broker.spawn("too late", suspended())
    second = process(k)
    second.spawn("suspended", suspended())
    k.run(5)
    second.spawn("also never started", suspended())
    k.close()
    del k, broker, second
    gc.collect()


async def suspended() -> None:
    await suspend(10)


def test_a_paused_process_stands_still_and_goes_on_in_order() -> None:
    with kernel() as k:
        broker, other = process(k), process(k, "other")

        async def ticks(of: Threads, name: str, every_ms: int) -> None:
            while True:
                await of.sleep(every_ms)
                of.trace(name)

        broker.spawn("slow", ticks(broker, "slow", 40))
        broker.spawn("fast", ticks(broker, "fast", 30))
        other.spawn("other", ticks(other, "other", 50))
        k.run(10)
        k.pause(broker, 90)
        k.run(140)
        assert traced(k) == [
            (50, "other"), (100, "fast"), (100, "slow"), (100, "other"), (130, "fast"), (140, "slow"),
        ]
        k.pause(broker, 1_000)
        k.kill(broker)
        k.run(5_000)
        assert all(name == "other" for time_ms, name in traced(k) if time_ms > 140)


def test_a_java_exception_ends_a_thread_and_a_python_error_ends_the_run() -> None:
    with kernel() as k:
        broker = process(k)

        async def java() -> None:
            await broker.sleep(3)
            raise JavaRuntimeError("boom")

        async def python() -> None:
            await broker.sleep(7)
            raise KeyError("ours")

        broker.spawn("java", java())
        k.run(5)
        assert k.records == [(3, "broker", ThreadDied("java", "java.lang.RuntimeException", "boom"))]
        broker.spawn("python", python())
        with pytest.raises(KeyError) as caught:
            k.run(100)
        assert caught.value.__notes__ == ["in thread broker python at 12 ms"]


def test_a_negative_sleep_is_refused_as_in_java() -> None:
    with kernel() as k:
        broker = process(k)
        with pytest.raises(IllegalArgumentError):
            broker.sleep(-1)


@pytest.mark.parametrize("spin", ["interleave", "sleep"])
def test_a_run_that_spins_is_given_up(spin: str) -> None:
    with Kernel(ReplayTape([]), max_segments=1_000) as k:
        broker = process(k)

        async def thread() -> None:
            while True:
                await (broker.interleave("x") if spin == "interleave" else broker.sleep(0))

        broker.spawn("thread", thread())
        with pytest.raises(EndlessRunError, match="segments and only 0 ms"):
            k.run(10)


@pytest.mark.parametrize(("more", "ends_ms"), [(0, 1_001), (200, 1_250), (999, 999_002)])
def test_a_run_that_talks_without_end_is_given_up_later_the_older_it_is(more: int, ends_ms: int) -> None:
    with Kernel(ReplayTape([]), max_segments=1_000, more_segments=more) as k:
        broker = process(k)
        broker.spawn("thread", ticking(broker))
        with pytest.raises(EndlessRunError, match="talks without end") as raised:
            k.run(1_100_000)
        assert (k.now_ms, raised.value.stands) == (ends_ms, False)


def test_a_run_that_is_old_enough_for_what_it_does_goes_on() -> None:
    with Kernel(ReplayTape([]), max_segments=1_000, more_segments=1_000) as k:
        broker = process(k)
        broker.spawn("thread", ticking(broker))
        k.run(10_000)
        assert k.segments == 10_001


async def ticking(threads: Threads) -> None:
    while True:
        await threads.sleep(1)


def test_random_seeds_pause_about_as_often_as_the_profile_says() -> None:
    with Kernel(RandomTape(1), FaultProfile(thread_pause=20)) as k:
        broker = process(k)

        async def thread() -> None:
            for _ in range(4_000):
                await broker.interleave("x")

        broker.spawn("thread", thread())
        k.run(10**9)
        assert 150 < sum(choice > 0 for choice in k.tape.choices) < 250


def test_wall_clocks_jump_and_drift_while_true_time_goes_on() -> None:
    with kernel() as k:
        clock = WallClock(k, 500)
        assert clock.now_ms() == EPOCH_MS + 500
        assert clock.uptime_ms() == 0
        k.run(1_000)
        clock.jump(-10_000)
        assert (clock.now_ms(), clock.uptime_ms()) == (EPOCH_MS + 500 - 9_000, 1_000)
        clock.set_drift(100_000)  # a tenth too fast
        k.run(2_000)
        assert (clock.now_ms(), clock.uptime_ms()) == (EPOCH_MS + 500 - 7_900, 2_100)
        clock.set_drift(-500_000)
        k.run(4_000)
        assert clock.uptime_ms() == 3_100
        clock.set_drift(0)
        k.run(4_001)
        assert clock.uptime_ms() == 3_101
        with pytest.raises(ValueError, match="-1000000"):
            clock.set_drift(-1_000_000)


@pytest.mark.parametrize("ppm", [0, 1, -1, 333_333, -333_333, 1_000_000, -999_999])
def test_a_timer_is_the_least_true_time_after_which_it_is_due(ppm: int) -> None:
    with kernel() as k:
        clock = WallClock(k)
        clock.set_drift(ppm)
        for local_ms in (0, 1, 2, 3, 1_000, 12_345):
            true_ms = clock.true_ms(local_ms)
            k.now_ms = true_ms
            assert clock.uptime_ms() >= local_ms
            k.now_ms = true_ms - 1
            assert clock.uptime_ms() < local_ms
            k.now_ms = 0


def test_sleep_goes_by_the_quartz_of_the_machine() -> None:
    with kernel() as k:
        clock = WallClock(k)
        clock.set_drift(1_000_000)  # twice as fast
        node = Threads(k, "fast", clock)

        async def thread() -> None:
            await node.sleep(1_000)
            clock.jump(3_600_000)
            node.trace("woke")
            await node.sleep(1_000)
            node.trace("woke")

        node.spawn("thread", thread())
        k.run(10_000)
        assert traced(k) == [(500, "woke"), (1_000, "woke")]


@pytest.fixture
def usual() -> Iterator[tuple[int, int, int]]:
    """Python's own thresholds, whatever a test before has made of them."""
    found = gc.get_threshold()
    gc.set_threshold(700, *found[1:])
    yield gc.get_threshold()
    gc.set_threshold(*found)


def test_the_garbage_collector_rests_until_the_last_kernel_is_closed(usual: tuple[int, int, int]) -> None:
    with kernel() as first:
        assert gc.get_threshold() == (RESTING, *usual[1:])
        with kernel() as second:
            second.run(1)
            first.close()
            assert gc.get_threshold() == (RESTING, *usual[1:])
    assert gc.get_threshold() == usual
