"""Sockets of simulated processes: bytes in their order, room for so many, and the ways in which a connection ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from impl.hosts.simulation.channel import STALLS_MS
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.node import Node
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.sockets import CONNECT_TIMEOUT_MS, WINDOW_BYTES, Socket
from impl.hosts.simulation.tape import ReplayTape
from impl.ports.byte_stream import StreamError


class Pair:
    """A client that is connected to a server; ready -- how often the client has been woken, and when."""

    def __init__(self, world: Simulation) -> None:
        self.world = world
        self.accepted: list[Socket] = []
        self.reached: list[tuple[int, Socket | None]] = []
        self.ready_ms: list[int] = []
        world.add("server", self._serve)
        world.add("client", _nothing)
        world.run(0)

    async def _serve(self, node: Node) -> None:
        node.accept_streams(10912, self.accepted.append)

    def connect(self, address: str = "server:10912") -> None:
        node = self.world.nodes["client"]

        async def reach() -> None:
            found = await node.open_stream(address)
            self.reached.append((self.world.kernel.now_ms, found))
            while found is not None:
                await node.wait(found.ready, 1_000_000)
                self.ready_ms.append(self.world.kernel.now_ms)

        node.spawn("client", reach())

    def connected(self) -> tuple[Socket, Socket]:
        self.connect()
        self.later(10)
        (_, client), (server,) = self.reached[-1], self.accepted
        assert client is not None
        return client, server

    def later(self, ms: int) -> None:
        self.world.run(self.world.kernel.now_ms + ms)


async def _nothing(_: Node) -> None:
    """Run nothing."""


@pytest.fixture
def pair() -> Iterator[Pair]:
    with Simulation(ReplayTape([])) as world:
        yield Pair(world)


def test_bytes_arrive_in_their_order_a_millisecond_later_and_are_read_in_any_pieces(pair: Pair) -> None:
    client, server = pair.connected()
    assert server.remote_address.startswith("client:")
    assert client.remote_address == "server:10912"
    assert server.write(b"abc") == 3
    assert server.write(b"de") == 2
    assert client.read(10) == b""
    pair.later(1)
    assert [client.read(4), client.read(4), client.read(4)] == [b"abcd", b"e", b""]
    assert {*pair.ready_ms} == {pair.world.kernel.now_ms}


def test_a_window_is_all_that_was_not_read_and_who_waits_for_room_is_woken(pair: Pair) -> None:
    client, server = pair.connected()
    assert client.write(bytes(WINDOW_BYTES + 5)) == WINDOW_BYTES
    pair.later(1)
    assert client.write(b"x") == 0
    assert pair.ready_ms == []
    assert server.read(3) == bytes(3)
    pair.later(1)
    assert pair.ready_ms == [pair.world.kernel.now_ms]
    assert client.write(b"wxyz") == 3
    server.read(1)
    pair.later(1)
    assert len(pair.ready_ms) == 2


def test_who_is_not_waiting_for_room_is_not_woken_by_it(pair: Pair) -> None:
    client, server = pair.connected()
    client.write(b"abc")
    pair.later(1)
    assert server.read(9) == b"abc"
    pair.later(5)
    assert pair.ready_ms == []


@pytest.mark.parametrize(("left", "taken"), [(0, 16), (1, 14), (7, 2)])
def test_a_socket_that_stalls_takes_a_part_and_then_nothing_for_a_while(left: int, taken: int) -> None:
    with Simulation(ReplayTape([2, left])) as world:
        pair = Pair(world)
        client, server = pair.connected()
        world.kernel.profile = FaultProfile(write_stall=1)
        assert client.write(bytes(16)) == taken
        world.kernel.profile = CALM
        assert client.write(b"x") == 0
        pair.later(1)
        assert server.read(99) == bytes(taken)
        assert pair.ready_ms == []
        pair.later(STALLS_MS[1] - 1)
        assert {*pair.ready_ms} == {world.kernel.now_ms}
        assert client.write(b"x") == 1


def test_the_other_side_has_closed_what_it_sent_is_read_first(pair: Pair) -> None:
    client, server = pair.connected()
    server.write(b"bye")
    server.close()
    server.close()
    pair.later(1)
    assert [client.read(9), client.read(9)] == [b"bye", None]
    assert {*pair.ready_ms} == {pair.world.kernel.now_ms}
    with pytest.raises(StreamError, match="Broken pipe"):
        client.write(b"x")


def test_a_machine_without_power_is_silent(pair: Pair) -> None:
    client, _ = pair.connected()
    pair.world.kill("server", power_loss=True)
    pair.later(1_000)
    assert client.read(9) == b""
    assert client.write(bytes(WINDOW_BYTES)) == WINDOW_BYTES, "TCP keeps it"
    assert client.write(b"x") == 0


def test_the_end_of_a_process_closes_its_connections(pair: Pair) -> None:
    client, _ = pair.connected()
    pair.world.kill("server")
    pair.later(5)
    assert client.read(9) is None


def test_a_machine_that_is_up_again_resets_what_it_does_not_know(pair: Pair) -> None:
    client, _ = pair.connected()
    pair.world.kill("server", power_loss=True)
    pair.world.start("server")
    pair.later(5)
    client.write(b"x")
    pair.later(5)
    with pytest.raises(StreamError, match="reset"):
        client.read(9)
    with pytest.raises(StreamError):
        client.write(b"x")
    client.close()


def test_nobody_listens_and_nobody_answers(pair: Pair) -> None:
    began_ms = pair.world.kernel.now_ms
    pair.connect("server:1")
    pair.later(10)
    assert pair.reached == [(began_ms + 2, None)]
    pair.world.network.partition("server", "client")
    pair.connect()
    pair.later(CONNECT_TIMEOUT_MS + 5)
    assert pair.reached[1] == (began_ms + 10 + CONNECT_TIMEOUT_MS, None)


def test_a_port_that_is_refused_is_free_again_and_connections_stay(pair: Pair) -> None:
    client, server = pair.connected()
    node = pair.world.nodes["server"]
    node.refuse_streams(10912)
    pair.connect()
    pair.later(10)
    assert pair.reached[-1][1] is None
    server.write(b"still")
    pair.later(1)
    assert client.read(9) == b"still"
    node.accept_streams(10912, pair.accepted.append)


def test_a_message_on_its_way_is_named_by_its_length(pair: Pair) -> None:
    from impl.hosts.simulation.trail import Trail  # noqa: PLC0415  # only here

    client, _ = pair.connected()
    trail = pair.world.kernel.trail = Trail()
    client.write(bytes(2_000))
    assert [flow.text for flow in trail.flows] == ["2,000 bytes"]
