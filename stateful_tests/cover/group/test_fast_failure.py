"""BrokerFastFailure: what has waited too long in the queue of a pool is answered SYSTEM_BUSY, and never processed."""

from __future__ import annotations

from impl.common.headers import SendMessageRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.events import MessageAppended
from impl.ports.remoting import Command
from stateful_tests.cover.group.stored import ADDRESS, BROKER, begin
from stateful_tests.worlds.world import World


def block(world: World, pool: str, ms: int) -> None:
    """Let all threads of a pool be busy for so long."""
    threads = world.brokers[BROKER].pools[pool]
    node = world.brokers[BROKER].node

    async def work() -> None:
        await node.sleep(ms)

    for _ in range(64):
        if threads.queue:
            break
        threads.execute(work)
    assert threads.remove(threads.queue[-1])


def sends(world: World, number: int = 3, prefix: str = "sender") -> list[tuple[int, Command]]:
    """Sends of as many machines at once; when each was answered, and how."""
    answers: list[tuple[int, Command]] = []
    for index in range(number):
        name = f"{prefix}{index}"
        world.add_tester(name)

        async def ask(name: str = name) -> None:
            header = SendMessageRequestHeader("P", "orders", 0, 1)
            answer = await world.testers[name].invoke_sync(
                ADDRESS, Command(RequestCode.SEND_MESSAGE_V2, header, b"body"), 5_000)
            answers.append((world.now_ms, answer))

        world.call(name, ask)
    return answers


def test_a_send_that_waits_200_ms_is_answered_system_busy_and_not_stored() -> None:
    with World() as world:
        begin(world)
        world.run(1_000)
        block(world, "send", 1_000)
        since_ms = world.now_ms
        answers = sends(world)
        world.run(2_000)
        assert [answer.code for _, answer in answers] == [ResponseCode.SYSTEM_BUSY] * 3
        assert all(200 <= ms - since_ms <= 220 for ms, _ in answers)
        remark = answers[0][1].remark or ""
        assert remark.startswith("[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 2")
        assert remark.endswith("ms, size of queue: 2")
        assert world.events(MessageAppended) == []


def test_a_send_that_waits_less_is_stored() -> None:
    with World() as world:
        begin(world)
        world.run(1_000)
        block(world, "send", 150)
        answers = sends(world)
        world.run(2_000)
        assert [answer.code for _, answer in answers] == [ResponseCode.SUCCESS] * 3


def test_a_broker_that_does_not_fail_fast_lets_everybody_wait() -> None:
    with World() as world:
        begin(world, broker_fast_failure_enable=False)
        world.run(1_000)
        block(world, "send", 1_000)
        since_ms = world.now_ms
        answers = sends(world)
        world.run(2_000)
        assert [(ms - since_ms >= 1_000, answer.code) for ms, answer in answers] == [(True, ResponseCode.SUCCESS)] * 3


def test_while_the_page_cache_is_busy_no_send_waits_and_none_is_queued() -> None:
    with World() as world:
        begin(world)
        world.run(1_000)
        block(world, "send", 1_000)
        waiting = sends(world, 2)
        world.run(50)
        log = world.brokers[BROKER].data_plane.store.commit_log  # type: ignore[union-attr]  # it has one
        log.begin_time_in_lock = world.brokers[BROKER].node.now_ms() - 1_001
        world.run(50)
        assert [(answer.remark or "")[:20] for _, answer in waiting] == ["[PCBUSY_CLEAN_QUEUE]"] * 2
        refused = sends(world, 1, "late")
        world.run(50)
        assert [(answer.code, answer.remark) for _, answer in refused] == [
            (ResponseCode.SYSTEM_BUSY, "[REJECTREQUEST]system busy, start flow control for a while")]
        assert world.events(MessageAppended) == []
