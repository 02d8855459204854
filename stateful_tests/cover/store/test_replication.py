"""A master's log on its slaves: what is sent and when, what a put is answered, and how both sides come apart."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from impl.hosts.simulation.streams import ROOM_BYTES, Stream, connector, streams
from impl.hosts.sockets.connections import Listener, connect
from impl.ports.byte_stream import ByteStream, StreamError
from impl.ports.disk import DiskFullError
from impl.store.message_store_config import BrokerRole
from impl.store.put_message_result import PutMessageFuture
from impl.store.put_message_status import PutMessageStatus
from stateful_tests.cover.store.brokers import T0, Broker

ADDRESS = "10.0.0.1:10912"
SECOND_MS = 1_000


class Pair:
    """A master, and a slave that knows it."""

    def __init__(self, room_bytes: int = ROOM_BYTES, **changes: Any) -> None:
        self.listening = True
        self.master = Broker(broker_role=BrokerRole.SYNC_MASTER, **changes)
        self.slave = Broker(broker_role=BrokerRole.SLAVE, connect=connector(self._accept, room_bytes), **changes)
        self.meet()

    def _accept(self, address: str, end: Stream) -> bool:
        assert address == ADDRESS
        if self.listening:
            self.master.store.ha_service.accept(end)
        return self.listening

    def meet(self) -> None:
        """The slave learns the address of its master."""
        self.slave.store.ha_service.update_master_address(ADDRESS)

    def run(self, rounds: int = 20) -> None:
        for _ in range(rounds):
            self.slave.store.ha_service.ha_client.run_once()
            self.master.store.ha_service.run_once()

    def begin(self) -> None:
        """Connect, and let the time of a heartbeat pass, after which the slave reports."""
        self.run(1)
        self.later(6)
        self.run()

    def later(self, seconds: int) -> None:
        self.master.now += seconds * SECOND_MS
        self.slave.now += seconds * SECOND_MS

    def come(self) -> bytes:
        """What has come to the slave, and was not read."""
        end, = (one.connection for one in self.master.store.ha_service.connection_list)
        assert isinstance(end, Stream)
        return bytes(end.other.come)

    @property
    def client(self) -> Any:
        return self.slave.store.ha_service.ha_client


def log(broker: Broker) -> bytes:
    """The readable bytes of the log."""
    store, found, offset = broker.store, b"", broker.store.get_min_phy_offset()
    while (data := store.get_commit_log_data(offset)) is not None:
        found += data.read()
        offset += data.size
        data.release()
    return found


def status(future: PutMessageFuture) -> PutMessageStatus | None:
    result = future.result()
    return None if result is None else result.status


# What is sent ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("room_bytes", "batch_bytes"), [(ROOM_BYTES, 32_768), (9, 32_768), (ROOM_BYTES, 10)])
def test_the_log_of_a_slave_is_that_of_its_master(room_bytes: int, batch_bytes: int) -> None:
    """Whatever part of a frame there is room for, and wherever a frame cuts a record."""
    pair = Pair(room_bytes, ha_transfer_batch_size_bytes=batch_bytes)
    pair.begin()
    bodies = [bytes([number]) * number for number in range(1, 31)]
    for body in bodies:
        pair.master.put(body)
    pair.run(3_000)
    assert log(pair.slave) == log(pair.master)
    assert len(log(pair.master)) > 2_048, "in two files"
    pair.slave.dispatch()
    pair.master.dispatch()
    assert pair.slave.bodies() == pair.master.bodies() == bodies


def test_a_slave_is_silent_for_the_time_of_a_heartbeat_and_nothing_is_sent_before() -> None:
    pair = Pair()
    pair.master.put()
    pair.run()
    assert log(pair.slave) == b""
    pair.later(6)
    pair.run()
    assert log(pair.slave) == log(pair.master)


def test_v29_an_empty_slave_gets_the_last_file_only() -> None:
    pair = Pair()
    for _ in range(30):
        pair.master.put()
    pair.begin()
    assert pair.slave.store.get_min_phy_offset() == 2_048
    assert log(pair.slave) == log(pair.master)[2_048:]


def with_a_slave_behind() -> Pair:
    """A slave that was killed after the first of many files."""
    pair = Pair()
    pair.begin()
    pair.master.put()
    pair.run()
    pair.slave.kill()
    for _ in range(60):
        pair.master.put()
    return pair


def test_v20_a_slave_gets_nothing_where_its_master_has_deleted_the_file() -> None:
    pair = with_a_slave_behind()
    pair.master.store.commit_log.mapped_file_queue.delete_expired_file_by_time(0, 0, clean_immediately=True)
    assert 0 < pair.slave.store.get_max_phy_offset() < pair.master.store.get_min_phy_offset()
    before = log(pair.slave)
    pair.slave.restart()
    pair.meet()
    for _ in range(3):
        pair.begin()
    assert log(pair.slave) == before


def test_a_slave_far_behind_gets_all_that_its_master_still_has() -> None:
    """It is not so that it gets the newest file only, as apache/rocketmq#3661 says; see V29 and V20."""
    pair = with_a_slave_behind()
    pair.slave.restart()
    pair.meet()
    pair.begin()
    pair.run(100)
    assert log(pair.slave) == log(pair.master)
    assert len(log(pair.slave)) > 2 * 2_048


def test_a_slave_goes_on_where_it_was() -> None:
    pair = Pair()
    pair.begin()
    pair.master.put()
    pair.run()
    pair.slave.kill()
    pair.slave.restart()
    pair.master.put()
    pair.meet()
    pair.begin()
    assert log(pair.slave) == log(pair.master)


def test_nobody_listens_and_the_next_attempt_comes_after_five_seconds() -> None:
    pair = Pair()
    pair.listening = False
    assert pair.client.run_once() == 5_000
    assert not pair.client.connected
    pair.listening = True
    assert pair.client.run_once() == 0
    assert pair.client.connected


def test_a_slave_whose_disk_is_full_waits_and_appends_the_same_frame_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_full(*_: object) -> bool:
        raise DiskFullError

    pair = Pair()
    pair.begin()
    pair.master.put()
    with monkeypatch.context() as patch:
        patch.setattr(pair.slave.store, "append_to_commit_log", is_full)
        for _ in range(20):
            pair.master.store.ha_service.run_once()
            if waited := pair.client.run_once():
                break
        assert waited == 5_000
    pair.later(6)
    pair.run()
    assert log(pair.slave) == log(pair.master)


def test_a_frame_of_less_than_nothing_is_an_exception_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair()
    pair.begin()
    connection, = pair.master.store.ha_service.connection_list
    connection.connection.write(struct.pack(">qi", pair.slave.store.get_max_phy_offset(), -5))
    taken = list[bytes]()
    monkeypatch.setattr(pair.slave.store, "append_to_commit_log", lambda _, data: taken.append(data))
    assert pair.client.run_once() == 5_000
    assert pair.client.connected
    assert not taken


# What a put is answered -----------------------------------------------------------------------------------------------


def test_a_put_waits_for_the_slave_and_one_without_a_slave_does_not() -> None:
    pair = Pair()
    assert status(pair.master.put()) is PutMessageStatus.SLAVE_NOT_AVAILABLE
    pair.begin()
    future = pair.master.put()
    assert status(future) is None
    pair.run(3)
    assert status(future) is PutMessageStatus.PUT_OK


def test_puts_are_answered_in_their_order_after_the_deadline_of_the_first() -> None:
    pair = Pair(slave_timeout_ms=3_000)
    pair.begin()
    first, second = pair.master.put(), pair.master.put()
    transfer = pair.master.store.ha_service.group_transfer_service
    transfer.run_once()
    assert status(first) is status(second) is None
    pair.master.now += 4_000
    transfer.run_once()
    assert status(first) is status(second) is PutMessageStatus.FLUSH_SLAVE_TIMEOUT
    third = pair.master.put()
    pair.run(3)
    assert status(third) is PutMessageStatus.PUT_OK


def test_a_slave_far_behind_is_none() -> None:
    pair = Pair(ha_slave_fallbehind_max_bytes=150)
    pair.begin()
    assert status(pair.master.put()) is None
    assert status(pair.master.put()) is PutMessageStatus.SLAVE_NOT_AVAILABLE


def test_v11_a_slave_that_has_what_its_master_lost_acknowledges_what_was_never_sent() -> None:
    """The greatest offset that was ever reported counts, and the first report is compared with nothing."""
    pair = Pair()
    pair.begin()
    for _ in range(3):
        pair.master.put(b"lost")
    pair.run()
    pair.master = Broker(broker_role=BrokerRole.SYNC_MASTER)
    pair.client.close_master()
    pair.begin()
    future = pair.master.put(b"new")
    pair.master.store.ha_service.run_once()
    assert status(future) is PutMessageStatus.PUT_OK
    assert b"new" not in log(pair.slave)


# The end of a connection ----------------------------------------------------------------------------------------------


def offsets(*values: int) -> bytes:
    return struct.pack(f">{len(values)}q", *values)


def test_of_the_reports_in_one_read_the_last_counts_and_only_a_later_one_is_compared() -> None:
    broker, (end, other) = Broker(broker_role=BrokerRole.SYNC_MASTER), streams()
    service = broker.store.ha_service
    service.accept(end)
    other.write(offsets(3, 9_000))
    service.run_once()
    assert service.push2_slave_max_offset == 9_000
    assert len(service.connection_list) == 1
    other.write(offsets(9_001)[:3])
    service.run_once()
    other.write(offsets(9_001)[3:])
    service.run_once()
    assert service.connection_list == []
    assert service.push2_slave_max_offset == 9_000
    assert other.read(100) is None


def test_a_frame_that_does_not_begin_where_the_log_ends_closes_the_connection() -> None:
    ends: list[Stream] = []

    def accept(_: str, end: Stream) -> bool:
        ends.append(end)
        return True

    slave = Broker(broker_role=BrokerRole.SLAVE, connect=connector(accept))
    slave.store.ha_service.update_master_address(ADDRESS)
    client = slave.store.ha_service.ha_client
    client.run_once()
    ends[0].write(struct.pack(">qi", 77, 4) + b"abcd")  # an empty log takes any offset
    client.run_once()
    assert slave.store.get_max_phy_offset() == 4, "it is put at the begin of the file that the offset would lie in"
    ends[0].write(struct.pack(">qi", 5, 4))
    client.run_once()
    assert not client.connected
    client.run_once()
    assert len(ends) == 2, "it connects again at once"


def test_both_sides_leave_a_connection_on_which_nothing_comes() -> None:
    pair = Pair()
    pair.begin()
    pair.master.now += 21 * SECOND_MS
    pair.master.store.ha_service.run_once()
    assert pair.master.store.ha_service.connection_list == []
    pair.client.run_once()
    assert not pair.client.connected


@pytest.mark.parametrize("late", [False, True])
def test_heartbeats_and_ends_come_after_their_time_and_not_at_it(late: bool) -> None:
    """The test of both sides is `interval >`."""
    pair, now = Pair(), T0
    for broker in (pair.master, pair.slave):
        broker.store.now_ms = lambda: now
    pair.run(1)
    now += 5 * SECOND_MS + late
    pair.client.run_once()
    pair.master.store.ha_service.run_once()
    assert [one.slave_request_offset for one in pair.master.store.ha_service.connection_list] == [0 if late else -1]
    pair.client.run_once()
    pair.master.put()
    pair.run(3)
    now += 5 * SECOND_MS + late
    pair.master.store.ha_service.run_once()
    assert pair.come() == (struct.pack(">qi", len(log(pair.master)), 0) if late else b"")


def test_a_side_that_hears_nothing_ends_the_connection_after_its_time_and_not_at_it() -> None:
    pair, now = Pair(), T0
    for broker in (pair.master, pair.slave):
        broker.store.now_ms = lambda: now
    pair.run(1)
    now += 20 * SECOND_MS
    pair.master.store.ha_service.run_once()
    assert len(pair.master.store.ha_service.connection_list) == 1
    now += 1
    pair.master.store.ha_service.run_once()
    assert pair.master.store.ha_service.connection_list == []


def test_a_slave_that_cannot_report_whole_connects_again() -> None:
    """Three attempts, each with room for two bytes of eight."""
    pair = Pair(2)
    pair.run(1)
    pair.slave.now += 6 * SECOND_MS
    pair.client.run_once()
    assert not pair.client.connected


def test_a_connection_that_breaks_is_left_by_both_sides() -> None:
    """What the master reads and writes then ends with an error, and what the slave writes too."""
    pair = Pair()
    pair.begin()
    pair.master.store.ha_service.connection_list[0].connection.close()
    pair.master.store.ha_service.run_once()
    assert pair.master.store.ha_service.connection_list == []
    pair.later(6)
    pair.client.run_once()
    assert not pair.client.connected


def test_the_buffer_of_reports_begins_anew_when_it_is_full() -> None:
    """ReadSocketService reads 1 MiB at most in a round, and all of it in the next one."""
    broker, (end, other) = Broker(broker_role=BrokerRole.SYNC_MASTER), streams(4 << 20)
    broker.store.ha_service.accept(end)
    other.write(offsets(0) * (1 << 17) + offsets(0, 77))
    broker.put()
    broker.store.ha_service.run_once()
    assert broker.store.ha_service.push2_slave_max_offset == 0
    broker.store.ha_service.run_once()
    assert broker.store.ha_service.push2_slave_max_offset == 77


def test_a_master_that_stops_leaves_its_slaves() -> None:
    pair = Pair()
    pair.begin()
    pair.master.store.shutdown()
    pair.client.run_once()
    assert not pair.client.connected


# Sockets --------------------------------------------------------------------------------------------------------------


def test_over_tcp() -> None:
    master = Broker(broker_role=BrokerRole.SYNC_MASTER)
    with Listener() as listener:
        slave = Broker(broker_role=BrokerRole.SLAVE, connect=connect)
        slave.store.ha_service.update_master_address(listener.address)
        for number in range(9):
            master.put(bytes([number]))
        for _ in range(10_000):
            slave.now += 100
            slave.store.ha_service.ha_client.run_once()
            if (accepted := listener.accept()) is not None:
                master.store.ha_service.accept(accepted)
            master.store.ha_service.run_once()
            if log(slave) == log(master):
                break
        assert log(slave) == log(master)
        slave.store.shutdown()
        master.store.shutdown()
    assert connect("127.0.0.1:1") is None
    assert connect("nonsense") is None


@pytest.mark.parametrize("kind", ["stream", "socket"])
def test_what_connections_promise(kind: str) -> None:
    """The suite of the port: both hosts pass it."""
    one: ByteStream
    other: ByteStream
    if kind == "stream":
        one, other = streams()
    else:
        with Listener() as listener:
            reached = connect(listener.address)
            assert reached is not None
            while (accepted := listener.accept()) is None:
                pass
            one, other = reached, accepted
    assert one.read(10) == b""
    assert other.write(b"abc") == 3
    read = b""
    while len(read) < 3:
        read += one.read(2) or b""
    assert read == b"abc"
    other.close()
    while one.read(1) == b"":
        pass
    assert one.read(1) is None
    one.close()
    one.close()
    with pytest.raises(StreamError):
        one.read(1)
    with pytest.raises(StreamError):
        other.write(b"x")
