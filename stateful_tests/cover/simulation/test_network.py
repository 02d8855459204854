"""The network: order, delay, loss, partitions, half-open connections, death and idleness."""

# ruff: noqa: ARG002, ARG005  # handlers and listeners get whatever the port gives them

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from impl.events.host import ConnectionMade
from impl.hosts.simulation.channel import DELAYS_MS, IDLE_MS, STALLS_MS, Channel
from impl.hosts.simulation.clock import WallClock
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.network import Network
from impl.hosts.simulation.process import Process, ProcessDeadError
from impl.hosts.simulation.profile import FaultProfile
from impl.hosts.simulation.tape import ReplayTape


class End:
    """Writes down what it is told."""

    def __init__(self, process: Process, log: list[tuple[int, str, Any]]) -> None:
        self.process, self.log = process, log
        self.channel: Channel | None = None

    def note(self, what: Any) -> None:
        self.log.append((self.process.kernel.now_ms, self.process.name, what))

    def received(self, channel: Channel, message: Any) -> None:
        self.note(message)

    def connected(self, channel: Channel) -> None:
        self.channel = channel
        self.note("CONNECT")

    def closed(self, channel: Channel, *, by_self: bool) -> None:
        self.note("CLOSE by self" if by_self else "CLOSE")

    def broken(self, channel: Channel) -> None:
        self.note("EXCEPTION")

    def idle(self, channel: Channel) -> None:
        self.note("IDLE")
        channel.close()


class Net:
    """A server and two clients, with one connection each, at 100 ms."""

    def __init__(self, *choices: int, **profile: int) -> None:
        self.tape = ReplayTape([*choices])
        self.kernel = Kernel(self.tape)
        self.network = Network(self.kernel)
        self.log: list[tuple[int, str, Any]] = []
        self.server = self.process("server")
        self.accepted: list[End] = []
        self.network.listen(self.server, "server:1", self.accepting())
        self.a, self.b = self.client("a"), self.client("b")
        self.kernel.run(100)
        self.log.clear()
        self.kernel.profile = FaultProfile(**profile)

    def process(self, name: str) -> Process:
        return Process(self.kernel, name, WallClock(self.kernel))

    def accepting(self) -> End:
        end = End(self.server, self.log)
        self.accepted.append(end)
        return end

    def client(self, name: str, address: str = "server:1") -> End:
        end = End(self.process(name), self.log)
        self.connect(end, address)
        return end

    def connect(self, end: End, address: str = "server:1") -> None:
        def settle(channel: Channel | None) -> bool:
            end.channel = channel
            end.note("refused" if channel is None else "connected")
            return True

        self.network.connect(end.process, end, address, settle)

    def write(self, end: End, message: Any, *, lossy: bool = False) -> bool:
        assert end.channel is not None
        return end.channel.write(message, lossy=lossy)

    def back(self, end: End) -> Channel:
        assert end.channel is not None
        return end.channel.peer

    def run(self, ms: int) -> list[tuple[int, str, Any]]:
        """What happened in so many milliseconds, with times counted from the first connection."""
        self.log.clear()
        self.kernel.run(self.kernel.now_ms + ms)
        return [(time_ms - 100, who, what) for time_ms, who, what in self.log]


def test_a_connection_takes_a_round_trip_and_reports_connect() -> None:
    net = Net()
    net.client("c")
    assert net.run(10) == [(1, "server", "CONNECT"), (2, "c", "connected")]


def test_messages_of_one_connection_stay_in_order_and_others_overtake() -> None:
    net = Net(3, delay=1)
    for message in ("1", "2", "3"):
        net.write(net.a, message)
    net.write(net.b, "other")
    late = 1 + DELAYS_MS[2]
    assert net.run(100) == [(1, "server", "other"), *[(late, "server", message) for message in ("1", "2", "3")]]
    assert net.tape.sentences == ["100 ms, a: delayed 20 ms at 1 a -> server"]


def test_order_within_a_connection_survives_any_order_of_ready_events() -> None:
    net = Net(*[1, 2, 3] * 10, order=1)
    for message in range(8):
        net.write(net.a, message)
        net.write(net.b, -message - 1)
    arrived = [what for _, _, what in net.run(10)]
    assert [what for what in arrived if what >= 0] == list(range(8))
    assert [what for what in arrived if what < 0] == list(range(-1, -9, -1))
    assert net.tape.told


def test_only_one_way_messages_are_lost_or_doubled() -> None:
    net = Net(1, 0, 1, 0, 0, one_way_loss=1, one_way_duplicate=1)
    for message in ("lost", "doubled", "plain"):
        net.write(net.a, message, lossy=True)
    for message in ("request", "request"):
        net.write(net.a, message)
    assert [what for _, _, what in net.run(10)] == ["doubled", "doubled", "plain", "request", "request"]
    assert len(net.tape.choices) == 1 + 2 + 2


def test_a_stalled_socket_holds_back_what_follows_and_is_not_writable() -> None:
    net = Net(2, 0, write_stall=1)
    net.write(net.a, "1")
    assert net.a.channel is not None
    assert not net.a.channel.is_writable()
    net.write(net.a, "2")
    assert net.run(100) == [(STALLS_MS[1] + 1, "server", "1"), (STALLS_MS[1] + 1, "server", "2")]
    assert net.a.channel.is_writable()


def test_a_close_is_seen_behind_the_data_and_nothing_passes_afterwards() -> None:
    net = Net()
    net.write(net.a, "last words")
    net.back(net.a).write("to a")
    assert net.a.channel is not None
    net.a.channel.close()
    net.a.channel.close()
    assert not net.write(net.a, "more")
    assert net.log == [(100, "a", "CLOSE by self")]
    assert net.run(10) == [(1, "server", "last words"), (1, "server", "CLOSE")]
    assert not net.back(net.a).write("anyone there?")
    assert net.network.open_ends.keys() == {net.b.channel, net.back(net.b)}


def test_a_one_way_partition_holds_back_one_way_and_heals() -> None:
    net = Net()
    net.network.partition("a", "server")
    net.write(net.a, "held 1")
    net.write(net.b, "passes")
    net.back(net.a).write("other way")
    net.write(net.a, "held 2")
    assert net.run(1_000) == [(1, "server", "passes"), (1, "a", "other way")]
    net.network.heal_one(("a", "server"))
    net.write(net.a, "later")
    assert [what for _, _, what in net.run(10)] == ["held 1", "held 2", "later"]


def test_nobody_connects_through_a_partition() -> None:
    net = Net()
    c, d = net.client("c"), net.client("d")
    net.run(10)
    net.network.partition("c", "server")
    net.network.partition("server", "d")
    for end in (c, d):
        net.connect(end)
    assert net.run(10_000) == []
    net.network.heal()
    net.connect(c)
    assert [(who, what) for _, who, what in net.run(10)] == [("server", "CONNECT"), ("c", "connected")]


def test_a_close_behind_a_partition_leaves_the_other_end_open() -> None:
    net = Net()
    net.network.partition("a", "server")
    assert net.a.channel is not None
    net.a.channel.close()
    assert net.run(1_000) == []
    assert net.back(net.a).is_active()
    net.network.heal()
    assert net.run(10) == [(1_001, "server", "CLOSE")]
    assert not net.back(net.a).is_active()


def test_a_broken_connection_is_seen_by_one_side_first() -> None:
    net = Net()
    assert net.a.channel is not None
    net.network.sever(net.a.channel, 5_000)
    assert not net.write(net.a, "no")
    assert net.back(net.a).write("vanishes")
    assert net.log == [(100, "a", "EXCEPTION"), (100, "a", "CLOSE")]
    assert net.run(4_999) == []
    assert net.back(net.a).is_active()
    assert net.run(10) == [(5_000, "server", "EXCEPTION"), (5_000, "server", "CLOSE")]


def test_a_half_open_end_that_is_never_told_is_idle_at_last() -> None:
    net = Net()
    assert net.a.channel is not None
    net.network.sever(net.a.channel, None)
    net.kernel.run(60_000)
    assert net.back(net.a).write("vanishes, but it counts as use")
    net.kernel.run(IDLE_MS + 10_000)
    assert net.back(net.a).is_active()
    assert net.run(IDLE_MS) == [
        (60_000 + IDLE_MS - 100, "server", "IDLE"), (60_000 + IDLE_MS - 100, "server", "CLOSE by self"),
    ]
    assert not net.back(net.a).is_active()


def test_an_end_that_only_receives_is_not_idle() -> None:
    net = Net()
    for _ in range(5):
        assert net.write(net.a, "heartbeat")
        net.run(60_000)
    assert net.back(net.a).is_active()
    assert not net.back(net.b).is_active()


def test_kill_minus_nine_closes_connections_and_a_power_loss_does_not() -> None:
    net = Net()
    net.kernel.kill(net.a.process)
    net.kernel.kill(net.b.process, power_loss=True)
    assert net.run(1_000) == [(1, "server", "CLOSE")]
    assert net.back(net.b).write("into the dark")
    assert net.run(10_000) == []
    net.process("b")
    assert net.back(net.b).write("anyone there?")
    assert [what for _, _, what in net.run(10)] == ["EXCEPTION", "CLOSE"]


def test_it_is_told_of_which_process_a_connection_is() -> None:
    net = Net()
    channels = [net.back(end).remote_address for end in (net.a, net.b)]
    net.connect(net.a)
    net.kernel.kill(net.a.process)  # before its second connection is accepted
    net.run(100)
    made = [(machine, event) for _, machine, event in net.kernel.records if isinstance(event, ConnectionMade)]
    assert made == [("a", ConnectionMade("server", channels[0])), ("b", ConnectionMade("server", channels[1]))]


def test_a_dead_machine_does_not_answer_and_a_dead_process_refuses() -> None:
    net = Net()
    net.kernel.kill(net.server)
    net.run(10)
    net.connect(net.a)
    assert net.run(100) == [(12, "a", "refused")]
    net.server = net.process("server")
    net.network.listen(net.server, "server:1", net.accepting())
    net.kernel.kill(net.server, power_loss=True)
    net.connect(net.a)
    assert net.run(60_000) == []
    net.server = net.process("server")
    net.connect(net.a)
    assert [what for _, _, what in net.run(100)] == ["refused"]
    net.connect(net.a, "nowhere:1")
    assert net.run(60_000) == []


def test_two_processes_of_a_machine_cannot_share_a_port() -> None:
    net = Net()
    with pytest.raises(ValueError, match="server:1 is in use"):
        net.network.listen(net.server, "server:1", net.accepting())
    net.network.unlisten("server:1")
    net.network.listen(net.server, "server:1", net.accepting())


def test_connections_may_be_refused_by_chance() -> None:
    net = Net(1, 0, connect_refused=1)
    net.connect(net.a)
    assert net.run(10) == [(2, "a", "refused")]
    net.connect(net.a)
    assert [what for _, _, what in net.run(10)] == ["CONNECT", "connected"]
    assert net.tape.sentences == ["101 ms, a: refused at server:1"]


def test_who_gave_up_connecting_hangs_up() -> None:
    net = Net()
    c = End(net.process("c"), net.log)
    net.network.connect(c.process, c, "server:1", lambda channel: False)
    assert net.run(10) == [(1, "server", "CONNECT"), (3, "server", "CLOSE")]


def test_a_paused_process_receives_later_and_in_order() -> None:
    net = Net()
    net.kernel.pause(net.server, 1_000)
    net.write(net.a, "1")
    net.kernel.run(500)
    net.write(net.a, "2")
    net.client("c")
    assert net.a.channel is not None
    net.a.channel.close()
    assert [line for line in net.run(2_000) if line[1] == "server"] == [
        (1_000, "server", "1"), (1_000, "server", "2"), (1_000, "server", "CONNECT"), (1_000, "server", "CLOSE"),
    ]


def test_ports_of_a_dead_process_write_and_close_nothing() -> None:
    net = Net()
    channel = net.a.channel
    assert channel is not None
    net.kernel.kill(net.a.process)
    attempts: list[Callable[[], object]] = [
        lambda: channel.write("x"), channel.close, lambda: net.connect(net.a),
        lambda: net.network.listen(net.a.process, "a:1", net.a),
    ]
    for attempt in attempts:
        with pytest.raises(ProcessDeadError):
            attempt()


def test_a_replay_keeps_the_messages_for_a_diagram() -> None:
    net = Net(1, 0, 0, one_way_loss=1)
    net.write(net.a, "lost", lossy=True)
    net.write(net.a, "passes", lossy=True)
    net.run(10)
    trail = net.network.kernel.trail
    assert trail is not None
    assert [(f.sent_ms, f.source, f.target, f.text, f.received_ms) for f in trail.flows] == [
        (100, "a", "server", "lost", None), (100, "a", "server", "passes", 101),
    ]
