"""What clients make of messages with which listeners have failed: it is in histories when they have done it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impl.decisions.message_queue import MessageQueue
from impl.events import MessagesAnswered, MessagesExpired, MessagesGiven, MessagesSettled, SendAnswered
from impl.hosts.simulation.kernel import Record
from invariants.histories.checks import Finding
from invariants.histories.judging import judged
from invariants.histories.operations import DELIVERED, SENT_BACK, Operation
from stateful_tests.stories.scenes import ORDERS, stage
from stateful_tests.worlds.failures import Failures
from stateful_tests.worlds.listeners import NEVER, ONE_IN
from stateful_tests.worlds.producers import Sending
from stateful_tests.worlds.world import World

MQ = MessageQueue("orders", "broker-a", 0)


def given(*offsets: int, attempt: int = 0, orderly: bool = False, at: str = "c1") -> Record:
    keys = tuple(f"k{offset}" for offset in offsets)
    return 1, at, MessagesGiven("G", MQ, offsets, keys, (attempt,) * len(offsets), 2, orderly)


def answered(*answers: str) -> Record:
    offsets = tuple(range(len(answers)))
    return 2, "c1", MessagesAnswered("G", MQ, offsets, tuple(f"k{offset}" for offset in offsets), answers)


def settled(*offsets: int, at: str = "c1") -> Record:
    return 3, at, MessagesSettled("c1@1", "G", MQ, offsets)


def stored(key: str = "k0", topic: str = "%RETRY%G", log_offset: int = 9) -> Record:
    return 3, "c1", SendAnswered("broker-a", topic, 0, 0, log_offset, key, 0)


EXPIRED: Record = (3, "c1", MessagesExpired("c1@1", "G", MQ, (0,)))


@pytest.mark.parametrize(("records", "over"), [
    ((given(0), answered("LATER"), settled(0)), ["k0"]),
    ((given(0, attempt=2), answered("LATER"), settled(0)), ["k0, the last time"]),
    ((given(0, attempt=1), answered("LATER"), settled(0)), ["k0"]),
    ((given(0), answered("SUCCESS"), settled(0)), []),
    ((given(0, 1), answered("SUCCESS", "LATER"), settled(0, 1)), ["k1"]),
    # What cannot be sent back is not settled, and of a queue that is dropped nothing is.
    ((given(0, 1), answered("LATER", "LATER"), settled(1)), ["k1"]),
    ((given(0), answered("LATER")), []),
    ((given(0), answered("LATER"), settled(0, at="c2")), []),
    # A listener may be at work, or not end at all, when its client sends back what it has had for too long.
    ((given(0), EXPIRED), ["k0"]),
    ((given(0), answered(NEVER), EXPIRED), ["k0"]),
    ((given(0), EXPIRED, answered("LATER"), settled(0)), ["k0", "k0"]),
    ((given(0), EXPIRED, answered("SUCCESS"), settled(0)), ["k0"]),
    ((EXPIRED,), []),
    # In order a message is over when a broker has its dead letter, whatever becomes of the batch.
    ((given(0, attempt=2, orderly=True), answered("LATER"), stored()), ["k0, the last time"]),
    ((given(0, attempt=2, orderly=True), answered("LATER"), stored(), settled(0)), ["k0, the last time"]),
    ((given(0, attempt=2, orderly=True), answered("LATER"), settled(0)), []),
    ((given(0, attempt=2, orderly=True), answered("LATER"), stored(log_offset=-1)), []),
    ((given(0, attempt=2, orderly=True), answered("LATER"), stored("k1")), []),
    ((given(0, attempt=2, orderly=True), answered("LATER"), stored(topic="%RETRY%H")), []),
    ((given(0), answered("LATER"), stored()), []),
])
def test_what_is_over_is_what_a_client_says_to_be(records: tuple[Record, ...], over: list[str]) -> None:
    assert [f"{one.key}, the last time" if one.is_last else one.key for _, _, one in Failures().over(records)] == over


def test_what_a_listener_does_not_end_with_is_sent_back_and_nothing_is_skipped() -> None:
    with World() as world:
        world.fates = (NEVER,) * ONE_IN
        stage(world)
        world.add_consumer("c1", replace(ORDERS, max_reconsume_times=2, consume_timeout_minutes=1))
        world.run(5_000)
        world.add_producer("p1", replace(Sending("orders"), queues=1))
        world.run(2_000)
        world.simulation.kill("p1")
        world.run(180_000)
        noted = [one.operation for one in world.notes.history()]
    assert skipped(noted) == []
    # Before the next attempts: what the client has sent back may be passed, and nothing else.
    first = [one for one in noted if not one.attempt]
    delivered = [one for one in first if one.kind == DELIVERED]
    passed = Operation("committed", "c1", len(noted), None, "G", delivered[0].queue, 1_000)
    assert {one.message for one in first if one.kind == SENT_BACK} == {one.message for one in delivered} != set()
    assert skipped([*first, passed]) == []
    assert len(skipped([*(one for one in first if one.kind != SENT_BACK), passed])) == len(delivered)


def skipped(noted: list[Operation]) -> list[Finding]:
    return [one for one in judged(noted) if isinstance(one, Finding) and one.check == "skipped"]
