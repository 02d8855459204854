"""Remoting: pools, answers, timeouts, late answers, permits, copies."""

# ruff: noqa: ARG005  # handlers and listeners get whatever the port gives them

from __future__ import annotations

from typing import Any, cast

from impl.common.heartbeat_data import ConsumerData, HeartbeatData
from impl.events import AnsweredAgain
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.profile import FaultProfile
from impl.hosts.simulation.remoting import Remoting
from impl.hosts.simulation.tape import ReplayTape
from impl.ports.remoting import Command, RemotingTimeoutError, RemotingTooMuchRequestError
from stateful_tests.cover.simulation.calling import (
    ADDRESS,
    BUSY,
    ECHO,
    FAILS,
    PLAIN,
    SILENT,
    SLOW,
    World,
    build,
    texts,
    told,
)


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
