"""Unusual bytes sent straight to the real servers: whether the connection ends, and what is answered.

A row is one case. Our decoder reads the bytes; the requests that it finds are given to our servers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from impl.common.data_version import DataVersion
from impl.common.fastjson.deserializers import from_json
from impl.common.headers import RegisterBrokerBody, RegisterBrokerRequestHeader
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.java_text import utf8_text
from impl.ports.remoting import Command
from impl.remoting.frame_decoder import FrameDecoder
from impl.remoting.remoting_command import RemotingCommand
from invariants.verdict import BadInputError
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.replay import FileResult
from stateful_tests.conformance.wire.answers import compare_answer
from stateful_tests.conformance.wire.contents import CONTENTS, request_body, request_header
from stateful_tests.conformance.wire.recorded import Scenario
from stateful_tests.conformance.wire.rows import Row, judged
from stateful_tests.conformance.wire.traffic import NAMESRV, STORE
from stateful_tests.worlds.world import World

TLS = "its first byte is that of TLS, which our servers do not speak"
_LOCAL = -(1 << 40)  # an opaque that the decoder has invented
_BROKER = "127.0.0.12"
_CODES = frozenset(int(code) for code in RequestCode)


def compare_hostile(scenario: Scenario) -> FileResult:
    """All cases of the file; raises BadInputError."""
    rows = list(scenario.rows())
    for line, row in enumerate(rows, start=1):
        missing = [key for key in ("target", "case", "outcome") if key not in row]
        if missing:
            raise BadInputError(f"{scenario.path}:{line}: not a case, {missing[0]!r} is missing; record the file again")
    return judged(scenario, "hostile bytes", "NettyDecoder#decode, RemotingCommand#decode", _compared(rows))


def _compared(rows: list[Mapping[str, Any]]) -> Iterator[Row]:
    with World() as world:
        _begin(world, rows)
        for line, row in enumerate(rows, start=1):
            if _sent(row)[:1] == b"\x16":
                yield Row(line, row["case"], aside=TLS)
            else:
                yield Row(line, row["case"], _case(world, row), recorded=row["outcome"])


def _begin(world: World, rows: list[Mapping[str, Any]]) -> None:
    """A broker, and a name server that knows the routes that the answers show."""
    world.store_config = STORE
    world.add_namesrv()
    world.add_broker(_BROKER, "harbor", listen_port=21011)
    world.add_namesrv(NAMESRV)
    world.run(3_000)
    brokers: dict[str, RegisterBrokerRequestHeader] = {}
    topics: dict[str, dict[str, TopicConfig]] = {}
    for topic, route in _routes(rows):
        queues = {one.values["brokerName"]: one.values for one in route["queueDatas"]}
        for broker in (one.values for one in route["brokerDatas"]):
            counts = queues[broker["brokerName"]]
            config = TopicConfig(topic, counts["readQueueNums"], counts["writeQueueNums"], counts["perm"],
                                 topic_sys_flag=counts["topicSysFlag"])
            for broker_id, addr in broker["brokerAddrs"].entries():
                brokers[addr] = RegisterBrokerRequestHeader(
                    broker["brokerName"], addr, broker["cluster"], broker_id, "")
                topics.setdefault(addr, {})[topic] = config
    for addr, header in brokers.items():
        body = RegisterBrokerBody(TopicConfigSerializeWrapper(topics[addr], DataVersion(0)), [])
        world.ask(f"{NAMESRV}:9876", Command(RequestCode.REGISTER_BROKER, header, body))


def _routes(rows: list[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Topics and routes, as the name server has answered them."""
    for row in rows:
        asked = {one.opaque: one for one in FrameDecoder(lambda: _LOCAL).feed(_sent(row))}
        for answer in _answers(row) if row["target"] == "namesrv" else ():
            request = asked.get(answer.opaque)
            if request is not None and request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC and answer.body is not None:
                topic = str(not_null(request.ext_fields).get("topic"))
                yield topic, from_json(utf8_text(answer.body), "TopicRouteData", 0).values


def _sent(row: Mapping[str, Any]) -> bytes:
    if "sent_hex" in row:
        return bytes.fromhex(row["sent_hex"])
    return bytes.fromhex(row["sent_head_hex"]).ljust(row["sent_len"], b"\0")


def _answers(row: Mapping[str, Any]) -> list[RemotingCommand]:
    return FrameDecoder(lambda: _LOCAL).feed(bytes.fromhex(row["outcome"]["answered_hex"] or ""))


def _case(world: World, row: Mapping[str, Any]) -> str | None:
    decoder = FrameDecoder(lambda: _LOCAL)
    requests = decoder.feed(_sent(row))
    closed = decoder.closed or bool(row.get("half_closed"))
    found = difference(row["outcome"]["closed"], closed, f"closed, in the case {row['case']!r}")
    if found is not None or closed:  # what was asked before the end is answered, or it is not
        return found
    ours = [(request, answer) for request in requests for answer in _asked(world, row["target"], request)]
    recorded = _answers(row)
    found = difference(len(recorded), len(ours), f"answers, in the case {row['case']!r}")
    return found or next(_different(row, recorded, ours), None)


def _different(
    row: Mapping[str, Any], recorded: list[RemotingCommand], ours: list[tuple[RemotingCommand, Command]],
) -> Iterator[str]:
    for wanted, (request, answer) in zip(recorded, ours, strict=True):
        found = compare_answer(request, wanted, answer)
        if found is None and request.opaque != _LOCAL:
            found = difference(wanted.opaque, request.opaque, "opaque")
        if found is not None:
            yield f"{found}, in the case {row['case']!r}"


def _asked(world: World, target: str, request: RemotingCommand) -> Iterator[Command]:
    """The answer, if there is to be one."""
    if request.is_response:
        return
    namesrv = target == "namesrv"
    if request.oneway or (namesrv and request.code not in _CODES):
        return  # an unknown code is never answered by a name server
    try:
        known = request.code in CONTENTS
        header = request_header(request) if known else None
        body = request_body(request, 0) if known else None
    except JavaError as error:
        yield Command(1, remark=f"{error.java_class}: {error.message}")
        return
    code = RequestCode(request.code) if request.code in _CODES else request.code
    yield world.ask(
        f"{NAMESRV}:9876" if namesrv else f"{_BROKER}:21011",
        Command(code, header, body, version=request.version, language=request.language or "OTHER"))
