"""Random programs of puts, flushes, stops and kills against a list of what was put."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given, settings, strategies as st

from impl.common.message_const import PROPERTY_KEYS
from impl.store.message_store_config import FlushDiskType
from impl.store.put_message_result import PutMessageFuture
from stateful_tests.cover.store.brokers import SMALL, Broker

QUEUES = [("T", 0), ("T", 1), ("Other", 0)]
KEYS = ["", "a", "b", "a b"]

sizes = st.integers(0, 700)
steps = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(QUEUES), sizes, st.sampled_from(KEYS)),
    st.tuples(st.just("batch"), st.sampled_from(QUEUES), st.lists(st.integers(0, 60), min_size=1, max_size=5)),
    st.tuples(st.sampled_from(["dispatch", "flush", "stop", "kill", "killed while starting"])),
    st.tuples(st.just("wait"), st.sampled_from([1, 600, 5_000, 61_000])),
)


class Program:
    """A broker, and the lists that it must agree with."""

    def __init__(self, flush: FlushDiskType) -> None:
        self.broker = Broker(flush_disk_type=flush)
        self.bodies: dict[tuple[str, int], list[bytes]] = defaultdict(list)
        self.offsets: dict[tuple[str, str], set[int]] = defaultdict(set)
        self.waiting: list[PutMessageFuture] = []

    def put(self, queue: tuple[str, int], size: int, keys: str) -> None:
        body = bytes([len(self.bodies[queue]) % 251]) * size
        future = self.broker.put(body, *queue, {PROPERTY_KEYS: keys} if keys else {})
        result = future.append_message_result
        assert result is not None
        self.waiting.append(future)
        self.bodies[queue].append(body)
        for key in keys.split():
            self.offsets[queue[0], key].add(result.wrote_offset)

    def batch(self, queue: tuple[str, int], lengths: list[int]) -> None:
        bodies = [bytes([len(self.bodies[queue]) % 251]) * size for size in lengths]
        self.waiting.append(self.broker.put_batch(bodies, *queue))
        self.bodies[queue] += bodies

    def wait(self, ms: int) -> None:
        self.broker.now += ms

    def restart(self, how: str) -> None:
        broker, end = self.broker, self.broker.store.get_max_phy_offset()
        if how == "stop":
            broker.store.shutdown()
            assert broker.store.shut_down_normal
        else:
            broker.kill()
        if how == "killed while starting":
            broker.load()
            broker.kill()
        self.waiting.clear()
        broker.restart()
        assert broker.store.get_max_phy_offset() == end
        self.check()

    def run(self, step: Any) -> None:
        match step:
            case ("put", queue, size, keys):
                self.put(queue, size, keys)
            case ("batch", queue, lengths):
                self.batch(queue, lengths)
            case ("wait", ms):
                self.wait(ms)
            case ("dispatch",):
                self.broker.dispatch()
            case ("flush",):
                self.broker.flush()
                assert all(future.result() is not None for future in self.waiting)
            case (how,):
                self.restart(how)

    def check(self) -> None:
        """Every message is at its offset, in its queue, under its keys and under its id, and nothing else is."""
        store = self.broker.store
        self.broker.dispatch()
        for (topic, queue_id), bodies in self.bodies.items():
            messages = self.broker.messages(topic, queue_id)
            assert [message.body or b"" for message in messages] == bodies
            assert [message.queue_offset for message in messages] == list(range(len(bodies)))
            assert all(store.look_message_by_offset(one.commit_log_offset) == one for one in messages)
        for (topic, key), offsets in self.offsets.items():
            assert set(self.broker.found(key, topic)) == offsets or len(offsets) > SMALL.max_msgs_num_batch


@given(st.lists(steps, max_size=40), st.sampled_from(FlushDiskType))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_what_was_put_is_there_after_any_stop_or_kill(program: list[Any], flush: FlushDiskType) -> None:
    run = Program(flush)
    for step in program:
        run.run(step)
    run.check()
    run.restart("kill")
    run.restart("stop")
    assert run.broker.store.dispatch_behind_bytes() == 0
