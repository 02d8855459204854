"""Stories of a slave and the log of its master: what is copied, to which place, and what can be copied no more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.common.topic_config import TopicConfig
from impl.events import LogCopied, SlaveConnected
from impl.hosts.simulation.sockets import Socket
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_store_config import BrokerRole
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.producers import ASYNC, BODY_BYTES, SEND_EVERY_MS, SYNC, Sending
from stateful_tests.worlds.world import World

MASTER, SLAVE, PRODUCER = "broker-a", "broker-s", "producer1"
HOST = InetSocketAddress(bytes([10, 0, 0, 1]), 10_911)
FILE_BYTES = 8_192
LONG = BODY_BYTES.index(6_000)
"""Of messages that are so long each file of the log has one."""
REPORT_MS = 5_000
"""A slave reports for the first time so long after it has connected."""
COPIED_MS = 15_000
"""Within so much time a slave connects, reports for the first time, and is sent what there is."""


def begin(world: World, role: BrokerRole = BrokerRole.ASYNC_MASTER) -> None:
    """A master whose log has small files."""
    world.store_config = replace(STORE, broker_role=role, mapped_file_size_commit_log=FILE_BYTES)
    world.script.draw("how long a message is", LONG)
    world.add_namesrv()
    world.add_broker(MASTER, MASTER, topics=[TopicConfig("orders", 1, 1)])
    world.run(2_000)


def join(world: World) -> None:
    """A slave, which has connected."""
    world.add_broker(SLAVE, MASTER, broker_id=1)
    world.run_until(lambda: bool(world.events(SlaveConnected)), COPIED_MS)


def leave(world: World) -> None:
    """The process of the slave is killed."""
    world.simulation.kernel.kill(world.simulation.nodes[SLAVE], power_loss=False)
    world.run(1_000)


def produce(world: World, count: int, kind: str = SYNC) -> None:
    """So many messages are sent, and no more."""
    world.add_producer(PRODUCER, Sending("orders", (kind,)))
    world.run(count * SEND_EVERY_MS + 100)
    world.simulation.kill(PRODUCER)
    del world.simulation.boots[PRODUCER]


def places(world: World, machine: str) -> dict[str | None, int]:
    """The messages of a log, each with its place."""
    return {one.key: one.commit_log_offset for one in world.views.log_records(machine)}


def copied(world: World) -> dict[str | None, int]:
    """A master has a message, and its slave has copied it: its place."""
    begin(world)
    join(world)
    produce(world, 1)
    world.run(COPIED_MS)
    there = places(world, SLAVE)
    assert there == places(world, MASTER) != {}
    return there


def test_v20_a_slave_gets_nothing_where_its_master_has_deleted_the_file() -> None:
    with World() as world:
        before = copied(world)
        leave(world)
        produce(world, 5)
        world.simulation.fill_disk(MASTER, 86)
        world.run(80_000)
        assert min(places(world, MASTER).values()) > FILE_BYTES
        world.simulation.fill_disk(MASTER, 0)
        world.simulation.start(SLAVE)
        world.run(2 * COPIED_MS)
        assert places(world, SLAVE) == before
        produce(world, 1)


def test_v29_an_empty_slave_gets_the_last_file_only() -> None:
    with World() as world:
        begin(world, BrokerRole.SYNC_MASTER)
        join(world)
        world.run(REPORT_MS - 3 * SEND_EVERY_MS)
        produce(world, 3, ASYNC)  # they wait for the slave, which has not reported yet
        world.run(2 * COPIED_MS)
        mine, theirs = places(world, MASTER), places(world, SLAVE)
        assert min(theirs.values()) == max(mine.values()) > min(mine.values())
        produce(world, 1)


def test_v25_a_master_that_is_asked_for_offset_0_sends_what_its_first_file_begins_with() -> None:
    with World() as world:
        begin(world)
        join(world)
        world.run(COPIED_MS)
        world.simulation.fill_disk(MASTER, 86)
        world.call(MASTER, partial(fill_and_clean, world))
        world.run(COPIED_MS)
        mine, theirs = places(world, MASTER), places(world, SLAVE)
        assert set(mine.values()) == {FILE_BYTES}
        assert theirs == dict.fromkeys(mine, 0)


async def fill_and_clean(world: World) -> None:
    """A file and a half are filled, and clean-up runs, while the thread of the slave's connection stands still."""
    store = world.brokers[MASTER].data_plane.store
    for key in ("first", "second"):
        message = MessageExtBrokerInner("orders", bytes(6_000), HOST, HOST)
        message.put_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX, key)
        message.write_properties()
        store.async_put_message(message)
    store.commit_log.mapped_file_queue.flush(0)
    store.clean_commit_log_service.run()


def test_v32_a_slave_with_an_empty_file_appends_there_what_its_master_has_elsewhere() -> None:
    with World() as world:
        begin(world)
        join(world)
        world.run(COPIED_MS)
        assert [event.size for _, event in world.events(LogCopied)] == [0]
        leave(world)
        produce(world, 3)
        world.simulation.start(SLAVE)
        world.run(COPIED_MS)
        mine, theirs = places(world, MASTER), places(world, SLAVE)
        assert any(place != mine[key] for key, place in theirs.items())


def test_v37_a_slave_whose_connection_is_dead_copies_nothing_and_does_not_connect_again() -> None:
    with World() as world:
        before = copied(world)
        connection, = world.brokers[MASTER].data_plane.store.ha_service.connection_list
        channel = cast("Socket", connection.connection).channel
        assert channel is not None
        world.simulation.network.sever(channel, None)
        produce(world, 1)
        world.run(60_000)
        assert places(world, SLAVE) == before != places(world, MASTER)
        produce(world, 1)
