"""Remoting: pools, answers, timeouts that close connections, late answers, permits, events, name servers."""

# ruff: noqa: ARG002, ARG005  # handlers and listeners get whatever the port gives them

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from impl.common.heartbeat_data import ConsumerData, HeartbeatData
from impl.decisions.java_errors import JavaRuntimeError
from impl.events import AnsweredAgain, NameServerChosen
from impl.hosts.simulation.channel import IDLE_MS
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.profile import FaultProfile
from impl.hosts.simulation.remoting import Remoting
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from impl.ports.byte_stream import SelectableStream
from impl.ports.node import Node
from impl.ports.remoting import (
    Command,
    Connection,
    RemotingClient,
    RemotingConnectError,
    RemotingError,
    RemotingSendRequestError,
    RemotingServer,
    RemotingTimeoutError,
    RemotingTooMuchRequestError,
    ResponseFuture,
)

ECHO, SLOW, FAILS, SILENT, PLAIN, BUSY = 1, 2, 3, 4, 5, 6
ADDRESS = "server:10911"


class Server:
    """Answers by request code; writes down what happens to its connections."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.remoting: RemotingServer = node.remoting_server(10911, self)
        self.pool = node.pool("pool", 2, 1)
        self.silent: list[tuple[Connection, Command]] = []
        self.rejecting = False
        self.channels: list[Connection] = []
        for code, handler in ((ECHO, self.echo), (SLOW, self.slow), (FAILS, self.fails)):
            self.remoting.register_processor(code, handler, self.pool)
        self.remoting.register_processor(SILENT, self.keep)
        self.remoting.register_processor(PLAIN, self.plain)
        self.remoting.register_processor(BUSY, self.plain, None, lambda: self.rejecting)
        self.remoting.start()

    async def echo(self, channel: Connection, request: Command) -> Command:
        return Command(0, body=request.body)

    async def slow(self, channel: Connection, request: Command) -> Command:
        self.node.trace(f"slow {request.body} begins")
        await self.node.sleep(request.body)
        return Command(0, body=request.body)

    def fails(self, channel: Connection, request: Command) -> Command:
        raise JavaRuntimeError("no")

    def keep(self, channel: Connection, request: Command) -> None:
        self.silent.append((channel, request))

    def plain(self, channel: Connection, request: Command) -> Command:
        self.node.trace(f"plain {request.body}")
        return Command(0, remark=channel.remote_address)

    def on_channel_connect(self, remote_addr: str, channel: Connection) -> None:
        self.channels.append(channel)
        self.node.trace("CONNECT")

    async def on_channel_close(self, remote_addr: str, channel: Connection) -> None:
        await self.node.interleave("onChannelClose")
        self.node.trace("CLOSE")

    def on_channel_exception(self, remote_addr: str, channel: Connection) -> None:
        self.node.trace("EXCEPTION")

    def on_channel_idle(self, remote_addr: str, channel: Connection) -> None:
        self.node.trace("IDLE")


@dataclass
class World:
    """One server, one client."""

    simulation: Simulation
    server: Server
    client: RemotingClient

    @property
    def node(self) -> Node:
        return self.simulation.nodes["client"]

    def run(self, ms: int) -> list[tuple[int, str]]:
        """Texts traced in so many milliseconds."""
        kernel = self.simulation.kernel
        before = len(kernel.records)
        kernel.run(kernel.now_ms + ms)
        return [(time_ms, event) for time_ms, _, event in kernel.records[before:] if isinstance(event, str)]

    def start(self, name: str, call: Coroutine[Any, Any, Any]) -> None:
        """A thread of the client that reports how its call ends."""
        self.simulation.nodes["client"].spawn(name, self.report(name, call))

    async def report(self, name: str, call: Coroutine[Any, Any, Any]) -> None:
        try:
            answer = await call
        except RemotingError as error:
            self.node.trace(f"{name}: {type(error).__name__}")
        else:
            self.node.trace(f"{name}: {(answer.code, answer.body) if answer is not None else None}")

    def sync(self, name: str, code: int, body: Any = None, timeout_ms: int = 3_000, addr: str | None = ADDRESS) -> None:
        self.start(name, self.client.invoke_sync(addr, Command(code, body=body), timeout_ms))


async def nothing(node: Node) -> None:
    """No main thread."""


def build(simulation: Simulation) -> World:
    server = Server(simulation.add("server", nothing))
    client = simulation.add("client", nothing).remoting_client("Client", 2)
    client.start()
    return World(simulation, server, client)


@pytest.fixture
def world() -> Iterator[World]:
    with Simulation(ReplayTape([])) as simulation:
        yield build(simulation)


def texts(lines: list[tuple[int, str]]) -> list[str]:
    return [text for _, text in lines]


def test_a_call_connects_once_and_is_answered(world: World) -> None:
    world.sync("a", ECHO, "hello")
    assert world.run(10) == [(1, "CONNECT"), (4, "a: (0, 'hello')")]
    world.sync("b", ECHO, "again")
    assert world.run(10) == [(12, "b: (0, 'again')")]


def test_threads_that_want_the_same_address_share_one_attempt(world: World) -> None:
    world.sync("a", ECHO, 1)
    world.sync("b", ECHO, 2)
    assert texts(world.run(10)) == ["CONNECT", "a: (0, 1)", "b: (0, 2)"]


def test_requests_of_one_connection_overtake_each_other_in_a_pool(world: World) -> None:
    world.sync("a", SLOW, 100)
    world.sync("b", ECHO, 1)
    assert texts(world.run(200)) == ["CONNECT", "slow 100 begins", "b: (0, 1)", "a: (0, 100)"]


def test_a_request_that_waits_to_be_written_keeps_its_earlier_number(world: World) -> None:
    world.sync("connect", ECHO)
    world.run(10)
    permits = cast("Remoting", world.client).oneway_permits
    permits.free = 0
    world.start("waits", world.client.invoke_oneway(ADDRESS, Command(SILENT, body="waits"), 100))
    world.run(1)
    world.sync("overtakes", SILENT, "overtakes")
    world.run(1)
    permits.release()
    world.run(10)
    assert [(request.body, request.opaque) for _, request in world.server.silent] == [("overtakes", 3), ("waits", 2)]


def test_a_full_pool_answers_busy_but_not_to_one_way_requests(world: World) -> None:
    for name, ms in (("a", 100), ("b", 100), ("c", 10)):
        world.sync(name, SLOW, ms)
    world.run(20)
    world.sync("d", SLOW, 1)
    world.start("e", world.client.invoke_oneway(ADDRESS, Command(SLOW, body=1), 1_000))
    assert texts(world.run(500)) == [
        "e: None", "d: (2, None)", "slow 10 begins", "a: (0, 100)", "b: (0, 100)", "c: (0, 10)",
    ]
    assert world.simulation.kernel.trail is not None
    sent = [flow.text for flow in world.simulation.kernel.trail.flows]
    assert sent.count("2") == 5
    assert sent.count("response 0") == 3
    assert sent.count("response 2") == 1, "nobody answers e"


def test_a_rejecting_processor_answers_busy_before_its_pool(world: World) -> None:
    world.server.rejecting = True
    world.sync("a", BUSY)
    world.run(10)
    world.server.rejecting = False
    world.sync("b", BUSY)
    assert texts(world.run(10)) == ["plain None", "b: (0, None)"]


def test_errors_of_a_handler_and_unknown_codes_are_answered(world: World) -> None:
    answers: list[Command] = []

    async def ask() -> None:
        answers.extend([await world.client.invoke_sync(ADDRESS, Command(code), 1_000) for code in (FAILS, 99, PLAIN)])

    world.start("ask", ask())
    world.run(100)
    assert [(answer.code, answer.remark) for answer in answers] == [
        (1, "java.lang.RuntimeException: no"), (3, " request type 99 not supported"), (0, "client:32769"),
    ]


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


def told(world: World, name: str) -> Callable[[ResponseFuture], None]:
    def callback(future: ResponseFuture) -> None:
        if future.response_command is not None:
            outcome = f"answered {future.response_command.body}"
        elif not future.send_request_ok:
            outcome = "failed"
        else:
            outcome = "timed out" if future.is_timeout(world.node.now_ms()) else "unknown"
        world.node.trace(f"{name} called back: {outcome}")

    return callback


def test_an_async_timeout_closes_nothing_and_comes_with_the_scan(world: World) -> None:
    world.start("a", world.client.invoke_async(ADDRESS, Command(SILENT), 5_300, told(world, "a")))
    world.start("b", world.client.invoke_async(ADDRESS, Command(SLOW, body=2_500), 5_300, told(world, "b")))
    assert world.run(5_990)[1:] == [
        (2, "a: None"), (2, "b: None"), (3, "slow 2500 begins"), (2_504, "b called back: answered 2500"),
    ]
    assert world.run(2_000) == [(7_000, "a called back: timed out")]
    world.sync("same connection", ECHO, 1)
    assert texts(world.run(10)) == ["same connection: (0, 1)"]


def test_a_late_answer_is_dropped(world: World) -> None:
    world.start("a", world.client.invoke_async(ADDRESS, Command(SILENT), 1_000, told(world, "a")))
    world.run(10_000)
    [(channel, request)] = world.server.silent
    world.server.remoting.respond(channel, request, Command(0, body="late"))
    world.server.remoting.respond(channel, request, Command(0, body="twice"))
    assert world.run(1_000) == []


def test_a_suspended_request_is_answered_later(world: World) -> None:
    world.sync("pull", SILENT, timeout_ms=30_000)
    world.run(15_000)
    [(channel, request)] = world.server.silent
    world.server.remoting.respond(channel, request, Command(0, body="found"))
    assert texts(world.run(10)) == ["pull: (0, 'found')"]


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


def test_a_clock_that_jumps_forward_makes_calls_forget_their_answers(world: World) -> None:
    world.sync("sync", SLOW, 9_000, timeout_ms=10_000)
    world.start("async", world.client.invoke_async(ADDRESS, Command(SILENT), 30_000, told(world, "async")))
    world.run(5_500)
    world.simulation.clocks["client"].jump(60_000)
    assert world.run(6_000) == [
        (6_000, "async called back: timed out"), (10_000, "sync: RemotingTimeoutError"), (10_001, "CLOSE"),
    ]


def test_server_pushes_wait_for_a_permit(world: World) -> None:
    with Simulation(ReplayTape([]), FaultProfile()) as simulation:
        world = build(simulation)
        world.client.register_processor(40, lambda channel, request: world.node.trace("told"))
        world.sync("a", ECHO, 1)
        world.run(10)
        channel, server = world.server.channels[0], simulation.nodes["server"]
        simulation.kernel.tape = ReplayTape([3] + [0] * 1_000)
        simulation.kernel.profile = FaultProfile(write_stall=1)

        async def push(timeout_ms: int) -> None:
            try:
                await world.server.remoting.invoke_oneway(channel, Command(40), timeout_ms)
            except (RemotingTimeoutError, RemotingTooMuchRequestError) as error:
                server.trace(type(error).__name__)

        for _ in range(256):
            server.spawn("push", push(10))
        world.run(1)
        server.spawn("without patience", push(0))
        server.spawn("with little", push(10))
        server.spawn("with more", push(200))
        lines = world.run(500)
    assert lines[:2] == [(11, "RemotingTooMuchRequestError"), (21, "RemotingTimeoutError")]
    assert lines[2:] == [(111, "told")] * 256 + [(111, "told")]


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


def name_servers(simulation: Simulation, count: int) -> tuple[World, list[str]]:
    async def serve(node: Node) -> None:
        server = node.remoting_server(9876)
        server.register_default_processor(lambda channel, request: Command(0, body=node.name), node.pool("pool", 8))
        server.start()

    for i in range(count):
        simulation.add(f"n{i}", serve)
    return build(simulation), [f"n{i}:9876" for i in range(count)]


def test_a_client_sticks_to_one_name_server_until_its_connection_breaks() -> None:
    with Simulation(ReplayTape([])) as simulation:
        world, addrs = name_servers(simulation, 3)
        world.sync("nobody", ECHO, addr=None)
        world.client.update_name_server_address_list(addrs)
        assert world.client.get_name_server_address_list() == addrs
        for _ in range(3):
            world.run(100)
            world.sync("a", ECHO, addr=None)
        assert texts(world.run(100)) == ["a: (0, 'n1')"]
        simulation.kill("n1")
        world.run(10)
        world.sync("next", ECHO, addr=None)
        assert texts(world.run(100)) == ["next: (0, 'n2')"]
        simulation.kill("n2")
        simulation.kill("n0", power_loss=True)
        world.run(10)
        world.sync("waits for n0, n1 and n2 refuse", ECHO, addr=None, timeout_ms=10_000)
        assert [text for _, text in world.run(20_000)] == ["waits for n0, n1 and n2 refuse: RemotingConnectError"]


def test_it_is_told_which_client_of_a_process_has_chosen_a_name_server() -> None:
    with Simulation(ReplayTape([])) as simulation:
        world, addrs = name_servers(simulation, 1)
        world.client.update_name_server_address_list(addrs)
        world.sync("a", ECHO, addr=None)
        world.run(100)
        another = world.node.remoting_client("another")
        another.start()
        another.update_name_server_address_list(addrs)
        world.start("b", another.invoke_sync(None, Command(ECHO), 3_000))
        world.run(100)
        chosen = [event for _, _, event in simulation.kernel.records if isinstance(event, NameServerChosen)]
        assert [event.addr for event in chosen] == addrs * 2
        assert len({event.client for event in chosen}) == 2


def test_name_servers_are_shuffled_and_an_equal_set_changes_nothing() -> None:
    seen = set()
    for seed in range(20):
        with Simulation(RandomTape(seed)) as simulation:
            world, addrs = name_servers(simulation, 3)
            world.client.update_name_server_address_list(addrs)
            shuffled = world.client.get_name_server_address_list()
            assert shuffled is not None
            world.client.update_name_server_address_list(addrs[::-1])
            world.client.update_name_server_address_list([])
            assert world.client.get_name_server_address_list() == shuffled
            assert sorted(shuffled) == addrs
            world.sync("a", ECHO, addr=None)
            seen.add((tuple(shuffled), *texts(world.run(100))))
    assert len({order for order, _ in seen}) > 3
    assert len({answer for _, answer in seen}) == 3


def test_calls_end_with_their_process(world: World) -> None:
    world.sync("a", SLOW, 1_000)
    world.run(100)
    world.simulation.kill("server")
    world.simulation.kill("client")
    assert world.run(10_000) == []
    assert world.simulation.network.open_ends == {}


def test_the_receiver_gets_a_copy_in_both_directions(world: World) -> None:
    sent = HeartbeatData("c1", consumer_data_set=[ConsumerData("g", "PASSIVELY", "CLUSTERING", "FIRST")])
    answers: list[Any] = []

    async def ask() -> None:
        answers.append((await world.client.invoke_sync(ADDRESS, Command(ECHO, body=sent), 1_000)).body)
        answers.append((await world.client.invoke_sync(ADDRESS, Command(ECHO, body=sent), 1_000)).body)

    world.start("ask", ask())
    world.run(100)
    first, second = answers
    assert first == second == sent
    assert first is not sent
    assert first is not second
    assert first.consumer_data_set is not sent.consumer_data_set
    assert first.consumer_data_set[0] is not sent.consumer_data_set[0]


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


def test_who_answers_a_request_again_is_reported_but_not_for_one_that_wants_no_answer(world: World) -> None:
    world.sync("asked", SILENT)
    world.start("oneway", world.client.invoke_oneway(ADDRESS, Command(SILENT), 3_000))
    world.run(10)
    for channel, request in world.server.silent:
        for _ in range(2):
            world.server.remoting.respond(channel, request, Command(0))
    again = [event for _, _, event in world.simulation.kernel.records if isinstance(event, AnsweredAgain)]
    assert again == [AnsweredAgain(channel.remote_address, request.opaque)
                     for channel, request in world.server.silent if not request.oneway]
    assert len(again) == 1
