"""Remoting: which name server a client asks."""

# ruff: noqa: ARG005  # handlers and listeners get whatever the port gives them

from __future__ import annotations

from impl.events import NameServerChosen
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from impl.ports.node import Node
from impl.ports.remoting import Command
from stateful_tests.cover.simulation.calling import ECHO, World, build, texts


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
