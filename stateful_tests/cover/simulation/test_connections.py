"""Remoting: connections that are made, shared, closed, reset and idle, and what their calls are told."""

from __future__ import annotations

import pytest

from impl.hosts.simulation.channel import IDLE_MS
from impl.ports.byte_stream import SelectableStream
from impl.ports.remoting import (
    Command,
    RemotingConnectError,
    RemotingSendRequestError,
)
from stateful_tests.cover.simulation.calling import ADDRESS, ECHO, PLAIN, SILENT, World, nothing, texts, told


def test_a_call_connects_once_and_is_answered(world: World) -> None:
    world.sync("a", ECHO, "hello")
    assert world.run(10) == [(1, "CONNECT"), (4, "a: (0, 'hello')")]
    world.sync("b", ECHO, "again")
    assert world.run(10) == [(12, "b: (0, 'again')")]


def test_threads_that_want_the_same_address_share_one_attempt(world: World) -> None:
    world.sync("a", ECHO, 1)
    world.sync("b", ECHO, 2)
    assert texts(world.run(10)) == ["CONNECT", "a: (0, 1)", "b: (0, 2)"]


def test_a_sync_timeout_closes_the_connection_and_fails_everybody_on_it(world: World) -> None:
    world.sync("times out", SILENT, timeout_ms=1_000)
    world.sync("waits", SILENT, timeout_ms=30_000)
    world.start("async", world.client.invoke_async(ADDRESS, Command(SILENT), 30_000, told(world, "async")))
    world.run(990)
    assert world.run(100) == [
        (1_000, "times out: RemotingTimeoutError"), (1_000, "waits: RemotingSendRequestError"),
        (1_000, "async called back: failed"), (1_001, "CLOSE"),
    ]
    world.sync("new connection", ECHO, 1)
    assert texts(world.run(10)) == ["CONNECT", "new connection: (0, 1)"]


def test_a_close_by_the_peer_fails_nothing_and_pending_calls_run_into_their_timeout(world: World) -> None:
    world.sync("a", SILENT, timeout_ms=3_000)
    world.run(1_000)
    world.server.channels[0].close()
    assert world.run(1_990) == [(1_000, "CLOSE")]
    assert world.run(100) == [(3_000, "a: RemotingTimeoutError")]


def test_a_reset_fails_pending_calls_at_once(world: World) -> None:
    world.sync("a", SILENT, timeout_ms=30_000)
    world.run(100)
    end = next(end for end in world.simulation.network.open_ends if end.process.name == "client")
    world.simulation.network.sever(end, 1_000)
    assert world.run(2_000) == [
        (100, "a: RemotingSendRequestError"), (1_100, "EXCEPTION"), (1_100, "CLOSE"),
    ]


def test_writing_to_a_closed_channel_fails_as_a_send(world: World) -> None:
    world.sync("a", ECHO, 1)
    world.run(10)
    channel = world.server.channels[0]
    channel.close()
    server = world.simulation.nodes["server"]

    async def push() -> None:
        with pytest.raises(RemotingSendRequestError):
            await world.server.remoting.invoke_sync(channel, Command(307), 1_000)
        await world.server.remoting.invoke_oneway(channel, Command(40), 10)  # only logged
        server.trace("pushed")

    server.spawn("push", push())
    assert texts(world.run(100)) == ["CLOSE", "pushed"]


def test_no_connection_is_a_connect_error_after_the_connect_timeout(world: World) -> None:
    world.sync("refused", ECHO, addr="server:1")
    world.sync("nobody", ECHO, timeout_ms=10_000, addr="nowhere:1")
    assert world.run(5_000) == [(2, "refused: RemotingConnectError"), (3_000, "nobody: RemotingConnectError")]


def test_connecting_counts_against_the_timeout_of_a_call(world: World) -> None:
    world.sync("a", ECHO, 1, timeout_ms=1)
    assert texts(world.run(1_000)) == ["CONNECT", "a: RemotingTimeoutError", "CLOSE"]
    world.start("b", world.client.invoke_async(ADDRESS, Command(ECHO), 1, told(world, "b")))
    assert texts(world.run(1_000)) == ["CONNECT", "b: RemotingTooMuchRequestError"]


def test_a_process_that_stands_still_closes_the_connections_of_its_callers(world: World) -> None:
    world.sync("a", ECHO, 1)
    world.run(10)
    world.simulation.kernel.pause(world.simulation.nodes["server"], 10_000)
    world.sync("b", PLAIN, "b", timeout_ms=3_000)
    assert world.run(9_000) == [(3_010, "b: RemotingTimeoutError")]
    assert world.run(2_000) == [(10_010, "plain b"), (10_010, "CLOSE")]


def test_client_and_server_see_idleness(world: World) -> None:
    world.sync("a", ECHO, 1)
    world.run(1_000)
    lines = world.run(2 * IDLE_MS)
    assert lines == [(IDLE_MS + 3, "IDLE"), (IDLE_MS + 3, "CLOSE")]
    world.sync("b", ECHO, 2)
    assert texts(world.run(10)) == ["CONNECT", "b: (0, 2)"]


def test_a_shutdown_closes_connections_on_either_side(world: World) -> None:
    world.sync("a", ECHO, 1)
    world.run(10)
    world.client.shutdown()
    world.sync("b", ECHO, 2)
    assert texts(world.run(10)) == ["b: RemotingConnectError", "CLOSE"]
    other = world.simulation.add("other", nothing).remoting_client("Other")

    async def call() -> None:
        await other.invoke_sync(ADDRESS, Command(ECHO), 1_000)

    world.simulation.nodes["other"].spawn("call", call())
    world.run(10)
    world.server.remoting.shutdown()
    assert world.run(10) == []
    assert not world.server.channels[1].is_active()


def test_connections_and_processes_cannot_be_sent(world: World) -> None:
    world.sync("a", ECHO, 1)
    world.run(10)
    for body in (world.server.channels[0], [world.node]):
        world.sync("b", ECHO, body)
        with pytest.raises(TypeError, match="is part of a message"):
            world.run(10)


def test_connect_errors_name_the_address_and_remoting_errors_their_java_class() -> None:
    assert RemotingConnectError(None).message == "connect to null failed"
    assert RemotingSendRequestError("b:1").message == "send request to <b:1> failed"
    assert RemotingConnectError("b:1").java_class == "org.apache.rocketmq.remoting.exception.RemotingConnectException"
    assert str(Command(34)) == "34"
    assert str(Command(0, is_response=True)) == "response 0"


def test_bytes_that_are_no_command_close_their_connection(world: World) -> None:
    node = world.simulation.nodes["client"]
    found: list[SelectableStream | None] = []

    async def write() -> None:
        stream = await node.open_stream(ADDRESS)
        found.append(stream)
        assert stream is not None
        stream.write(bytes(8))

    node.spawn("HAClient", write())
    assert [text for _, text in world.run(100)] == ["CONNECT", "CLOSE"]
    (stream,) = found
    assert stream is not None
    assert stream.read(1) is None
