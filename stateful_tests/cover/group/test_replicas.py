"""Masters and slaves of the simulation: the log is copied over the network, puts wait for it, slaves are read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impl.broker.slave_synchronize import DELAY_OFFSET_PATH
from impl.common.config_manager import persist
from impl.common.headers import PullMessageRequestHeader, SendMessageRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import FLAG_SUBSCRIPTION
from impl.events import SHUTDOWN_HOOK, LogCopied, LogFlushed, ReplicaReported, SlaveConnected, SlaveDisconnected
from impl.ports.disk import DiskError
from impl.ports.remoting import Command
from impl.store.message_store_config import BrokerRole, MessageStoreConfig
from impl.store.reput_message_service import ReputMessageService
from impl.store.schedule_message_service import ScheduleMessageService
from impl.store.store_checkpoint import StoreCheckpoint
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.world import World

MASTER, SLAVE = "broker-a", "broker-s"
SYNC, ASYNC = replace(STORE, broker_role=BrokerRole.SYNC_MASTER), STORE
FIRST_REPORT_MS, COPY_MS, CALL_MS = 12_000, 200, 10_000


def build(world: World, config: MessageStoreConfig = SYNC, *, slave: bool = True) -> None:
    """A master, and perhaps its slave, which has asked for the log."""
    world.store_config = config
    world.add_namesrv()
    world.add_broker(MASTER, MASTER, topics=[TopicConfig("orders", 1, 1)])
    world.run(1_000)
    if slave:
        world.add_broker(SLAVE, MASTER, broker_id=1)
        world.run(FIRST_REPORT_MS)


def send(world: World, body: bytes = b"body", properties: str | None = None) -> Command:
    header = SendMessageRequestHeader("P", "orders", 0, 1, properties)
    request = Command(RequestCode.SEND_MESSAGE_V2, header, body)
    return world.ask(f"{MASTER}:10911", request, timeout_ms=CALL_MS)


def frames(world: World) -> list[LogCopied]:
    """What the slave has appended, but for heartbeats."""
    return [event for _, event in world.events(LogCopied) if event.size]


def ends(world: World) -> list[int]:
    """Where the logs of master and slave end."""
    found = []
    for machine in (MASTER, SLAVE):
        plane = world.brokers[machine].data_plane
        found.append(plane.store.get_max_phy_offset())
    return found


def test_a_put_of_a_sync_master_waits_until_a_slave_has_the_message() -> None:
    with World() as world:
        build(world)
        assert send(world).code == ResponseCode.SUCCESS
        copied, = frames(world)
        assert (copied.broker, copied.master_offset, copied.offset) == (SLAVE, 0, 0)
        assert ends(world) == [copied.size, copied.size]
        world.simulation.kernel.pause(world.simulation.nodes[SLAVE], 4_000)
        assert send(world).code == ResponseCode.FLUSH_SLAVE_TIMEOUT
        world.run(4_000)
        assert ends(world) == [2 * copied.size] * 2


def test_without_a_slave_a_put_of_a_sync_master_is_stored_and_says_so() -> None:
    with World() as world:
        build(world, slave=False)
        assert send(world).code == ResponseCode.SLAVE_NOT_AVAILABLE


def test_an_async_master_answers_at_once_and_sends_within_100_ms() -> None:
    with World() as world:
        build(world, ASYNC)
        world.simulation.network.partition(MASTER, SLAVE)
        assert send(world).code == ResponseCode.SUCCESS
        world.run(COPY_MS)
        assert not frames(world)
        world.simulation.network.heal()
        world.run(COPY_MS)
        assert len({*ends(world)}) == 1


def test_a_master_reports_its_slave_from_its_connection_to_its_end() -> None:
    with World() as world:
        build(world)
        send(world)
        connected, = world.events(SlaveConnected)
        assert connected[1][:2] == SlaveConnected(MASTER, SLAVE)[:2]
        reports = [event[2:4] for _, event in world.events(ReplicaReported)]
        assert reports == [(0, 0), (ends(world)[0],) * 2]
        world.simulation.kill(SLAVE)
        world.run(10)
        ended, = world.events(SlaveDisconnected)
        assert ended[1] == SlaveDisconnected(*connected[1])


def test_a_slave_is_read_and_takes_no_message() -> None:
    with World() as world:
        build(world)
        send(world)
        world.run(COPY_MS)
        header = PullMessageRequestHeader("G", "orders", 0, 0, 32, FLAG_SUBSCRIPTION, 0, 15_000, 0, "*")
        world.run(10_000)  # it has copied the topics
        answer = world.ask(f"{SLAVE}:10911", Command(RequestCode.PULL_MESSAGE, header))
        assert answer.code == ResponseCode.SUCCESS
        assert b"body" in answer.body
        refused = world.ask(f"{SLAVE}:10911", Command(
            RequestCode.SEND_MESSAGE_V2, SendMessageRequestHeader("P", "orders", 0, 1), b"body"))
        assert refused.code == ResponseCode.SERVICE_NOT_AVAILABLE


def next_record(world: World) -> bytes:
    """What the slave lacks of the log of its master."""
    master, slave = (world.brokers[machine].data_plane.store for machine in (MASTER, SLAVE))
    found = master.get_commit_log_data(slave.get_max_phy_offset())
    assert found is not None
    record = found.read()
    found.release()
    return record


def test_a_slave_with_a_part_of_a_record_looks_again_when_more_comes() -> None:
    with World() as world:
        build(world, ASYNC)
        send(world)
        world.run(COPY_MS)
        world.simulation.network.partition(MASTER, SLAVE)
        send(world)
        record, slave = next_record(world), world.brokers[SLAVE].data_plane
        kernel = world.simulation.kernel
        for part, rests in ((record[:50], 5_000), (record[50:], 10)):
            at, segments = slave.store.get_max_phy_offset(), kernel.segments
            assert slave.store.append_to_commit_log(at, part)
            slave.threads.log_has_grown()
            world.run(rests)
            assert kernel.segments - segments < 1_000
        assert slave.store.dispatch_behind_bytes() == 0
        assert slave.store.get_max_offset_in_queue("orders", 0) == 2


def test_a_slave_with_a_part_of_a_record_looks_again_when_its_log_begins_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with World() as world:
        build(world, ASYNC)
        world.run(COPY_MS)
        world.simulation.network.partition(MASTER, SLAVE)
        send(world)
        slave = world.brokers[SLAVE].data_plane
        assert slave.store.append_to_commit_log(slave.store.get_max_phy_offset(), next_record(world)[:50])
        slave.threads.log_has_grown()
        world.run(1_000)
        cleaned, looks, dispatch = list[int](), list[int](), ReputMessageService.do_reput

        def do_reput(self: ReputMessageService) -> None:
            if self is slave.store.reput_message_service:
                looks.append(world.now_ms)
            dispatch(self)

        monkeypatch.setattr(ReputMessageService, "do_reput", do_reput)
        monkeypatch.setattr(slave.store.clean_commit_log_service, "run", lambda: cleaned.append(world.now_ms))
        monkeypatch.setattr(slave.store, "get_min_phy_offset", lambda: len(cleaned))
        world.run_until(lambda: bool(cleaned), 60_000)
        assert max(looks) < cleaned[0] - 10_000  # all is flushed since, and nobody wakes the dispatcher any more
        world.run(10)
        assert max(looks) >= cleaned[0]


def test_a_slave_that_could_not_dispatch_tries_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with World() as world:
        build(world, ASYNC)
        store, fails = world.brokers[SLAVE].data_plane.store, [DiskError("there is no room")] * 3
        dispatch = ReputMessageService.do_reput

        def do_reput(self: ReputMessageService) -> None:
            if self is store.reput_message_service and fails:
                raise fails.pop()
            dispatch(self)

        monkeypatch.setattr(ReputMessageService, "do_reput", do_reput)
        send(world)
        world.run(COPY_MS)
        assert not fails
        assert store.dispatch_behind_bytes() == 0


def test_what_a_stop_has_flushed_is_reported_also_if_it_fails_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: StoreCheckpoint) -> None:
        raise DiskError("Input/output error")

    with World() as world:
        build(world, replace(ASYNC, flush_interval_commit_log_ms=3_600_000), slave=False)
        send(world)
        store = world.brokers[MASTER].data_plane.store
        monkeypatch.setattr(StoreCheckpoint, "flush", fail)
        assert not world.events(LogFlushed)
        with pytest.raises(DiskError):
            store.shutdown()
        assert [event.offset for _, event in world.events(LogFlushed)] == [store.get_max_phy_offset()]


def test_a_slave_goes_on_where_it_was_when_it_or_its_master_has_started_again() -> None:
    with World() as world:
        build(world, ASYNC)
        send(world)
        for machine in (SLAVE, MASTER):
            world.simulation.kill(machine)
            world.simulation.start(machine)
            world.run(30_000 + FIRST_REPORT_MS)
            send(world)
            world.run(COPY_MS)
            assert len({*ends(world)}) == 1, machine


def test_a_slave_that_was_promoted_has_the_messages_and_takes_new_ones() -> None:
    with World() as world:
        build(world)
        send(world, b"old")
        world.retire(MASTER)
        world.restart_broker_as(SLAVE, power_loss=False, broker_id=0)
        world.run(1_000)
        answer = world.ask(f"{SLAVE}:10911", Command(
            RequestCode.SEND_MESSAGE_V2, SendMessageRequestHeader("P", "orders", 0, 1), b"new"))
        assert (answer.code, answer.header.queue_offset) == (ResponseCode.SLAVE_NOT_AVAILABLE, 1)


def test_a_slave_has_the_offsets_of_its_masters_delay_queues_in_its_file() -> None:
    with World() as world:
        build(world)
        send(world, properties="DELAY\x011")
        world.run(12_000)
        plane = world.brokers[MASTER].data_plane
        service: ScheduleMessageService = plane.store.schedule_message_service
        assert service.offset_table.get(1) == 1
        world.run(10_000)
        storage = world.simulation.disks[SLAVE].find(DELAY_OFFSET_PATH)
        assert storage is not None
        assert storage.read(0, storage.length).decode() == service.encode()
        assert world.brokers[SLAVE].slave_synchronize.master_addr == f"{MASTER}:10911"


def test_an_offset_of_a_level_behind_its_queue_is_moved_before_a_message_is_delayed() -> None:
    with World() as world:
        build(world, slave=False)
        persist(world.simulation.nodes[MASTER].disk, DELAY_OFFSET_PATH, '{"offsetTable":{1:5}}')
        world.simulation.kill(MASTER)
        world.simulation.start(MASTER)
        world.run(5_000)
        tasks = world.brokers[MASTER].data_plane.store.schedule_message_service.tasks
        assert [task.offset for task in tasks if task.level == 1] == [0]


def test_after_a_shutdown_nobody_listens_for_slaves() -> None:
    with World() as world:
        build(world)
        world.simulation.nodes[MASTER].spawn(SHUTDOWN_HOOK, world.brokers[MASTER].shutdown())
        world.run(1_000)
        assert world.events(SlaveDisconnected)
        connected = len(world.events(SlaveConnected))
        world.run(20_000)
        assert len(world.events(SlaveConnected)) == connected
