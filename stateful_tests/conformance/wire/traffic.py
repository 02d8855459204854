"""A scenario lived through again: the recorded clients ask our broker and our name server, at the recorded times.

Each recorded connection is a machine with one connection. A request waits until ours have answered what had been
answered before it in the recording. What the recording says was there before it began is put there first: topics from
registrations and routes, messages from answers that show them. The name server that is asked is not the one at which
our broker registers: the recorded broker registers there, with the recorded requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.common.data_version import DataVersion
from impl.common.headers import (
    ConsumerOffsetRequestHeader,
    KVConfigRequestHeader,
    RegisterBrokerBody,
    RegisterBrokerRequestHeader,
    SendMessageRequestHeader,
)
from impl.common.headers.shape import python_spelling
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CLUSTER
from impl.common.message_decoder import decodes
from impl.common.message_id import decode_message_id
from impl.common.message_properties import message_properties2_string
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfigSerializeWrapper
from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import utf8_text
from impl.hosts.simulation.clock import EPOCH_MS
from impl.namesrv.kv_config_manager import NAMESPACE_ORDER_TOPIC_CONFIG
from impl.ports.remoting import Command, Connection, ResponseFuture
from impl.remoting.remoting_command import RemotingCommand
from impl.store.message_store_config import MessageStoreConfig
from stateful_tests.conformance.wire.before import (
    begin_later,
    broker_of,
    brokers_of,
    has_order_namespace,
    named_topics,
    routes_of,
    to_others,
    topics_of,
)
from stateful_tests.conformance.wire.contents import (
    CONTENTS,
    RECORDS,
    RefusedError,
    client_body,
    request_body,
    request_header,
)
from stateful_tests.conformance.wire.older import UNKNOWN, older_messages
from stateful_tests.conformance.wire.reading import SENDS
from stateful_tests.conformance.wire.recorded import Frame, Scenario
from stateful_tests.conformance.wire.state_before import filters_by_sql, groups_of, offsets_of
from stateful_tests.conformance.wire.times import epoch_ms_of, last_frames, ordered
from stateful_tests.worlds.world import World

STORE = MessageStoreConfig(
    mapped_file_size_commit_log=1 << 20, configured_file_size_consume_queue=20_000, max_hash_slot_num=5_000,
    max_index_num=20_000)
NAMESRV = "recorded-namesrv"
PATIENCE_MS = 40_000
BEFORE_MS = 20_000  # how long before the scenario the broker starts, if no message is older
_ACL_EXCEPTION = "org.apache.rocketmq.acl.common.AclException"
_DEPEND_ON_CONTENT = (12, 29, 33, 321)  # QUERY_MESSAGE, a search by time, VIEW_MESSAGE_BY_ID, QUERY_CONSUME_QUEUE
PUSHES = (39, 40, 220, 221, 326)
"""What brokers send by themselves, that clients here take."""
_ASKS_ABOUT_LOG = {33: "offset", 36: "offset", 37: "commit_log_offset"}


class Push(NamedTuple):
    """What our broker has sent on a connection by itself. at_ms -- since the scenario began."""

    conn: int
    at_ms: int
    command: Command


@dataclass
class Lived:
    """What came of it. answers -- by the number of the request; None in it: no answer came.

    pushes -- what the broker has sent by itself. not_asked -- requests that were not given to our
    servers, with the reason. first_end_ms -- when the connection of a member was ended; the recorded
    one may have lasted longer.
    """

    answers: dict[int, Command | None] = field(default_factory=dict)
    pushes: list[Push] = field(default_factory=list)
    first_end_ms: int | None = None
    not_asked: dict[int, str] = field(default_factory=dict)


NOT_SERVED: Mapping[int, str] = {
    25: "UPDATE_BROKER_CONFIG", 26: "GET_BROKER_CONFIG", 28: "GET_BROKER_RUNTIME_INFO",
    50: "UPDATE_AND_CREATE_ACL_CONFIG", 51: "DELETE_ACL_CONFIG", 52: "GET_BROKER_CLUSTER_ACL_INFO",
    53: "UPDATE_GLOBAL_WHITE_ADDRS_CONFIG", 54: "GET_BROKER_CLUSTER_ACL_CONFIG",
    301: "REGISTER_FILTER_SERVER", 303: "QUERY_CONSUME_TIME_SPAN", 305: "GET_SYSTEM_TOPIC_LIST_FROM_BROKER",
    306: "CLEAN_EXPIRED_CONSUMEQUEUE", 307: "GET_CONSUMER_RUNNING_INFO", 309: "CONSUME_MESSAGE_DIRECTLY",
    314: "CLONE_GROUP_OFFSET", 315: "VIEW_BROKER_STATS_DATA",
    317: "GET_BROKER_CONSUME_STATS", 318: "UPDATE_NAMESRV_CONFIG", 319: "GET_NAMESRV_CONFIG",
    323: "RESUME_CHECK_HALF_MESSAGE",
}
"""What the servers of 4.9.3 serve and ours do not, by code."""


class Traffic:
    """One scenario in one world."""

    def __init__(self, scenario: Scenario, world: World) -> None:
        """Nothing has happened yet."""
        self.scenario, self.world, self.lived = scenario, world, Lived()
        self.requests = [frame for frame in scenario.frames if frame.is_request and frame.from_client]
        self.addr, self.broker_name, self.cluster = broker_of(scenario)
        self.machine, _, port = self.addr.rpartition(":")
        self.port = int(port)
        self.epoch_ms = epoch_ms_of(scenario)
        self._physical: dict[int, int] = {}
        self._half: dict[int, int] = {}
        self._start_ms = 0
        self._unseen: set[str] = set()
        self._begins_later = begin_later(scenario)
        self._last = last_frames(scenario)
        self._elsewhere = to_others(scenario, self.addr)
        self._members = {frame.conn for frame in self.requests if frame.command.code == RequestCode.HEART_BEAT}

    def live(self) -> Lived:
        """Begin, prepare, and go through all requests."""
        self._begin()
        for frame in ordered(self.scenario, self.requests):
            self._before(frame)
            self._ask(frame)
            self._end_connections(frame)
        self._wait(None)
        return self.lived

    # The state before -------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        world, older = self.world, older_messages(self.scenario, self.epoch_ms)
        first_ms = min([self.epoch_ms, *(message.store_timestamp for message in older)]) - BEFORE_MS
        world.store_config = STORE
        world.add_namesrv()
        world.add_broker(
            self.machine, self.broker_name, topics=tuple(topics_of(self.scenario).values()), cluster_name=self.cluster,
            listen_port=self.port, transaction_timeout_ms=2_000, transaction_check_interval_ms=4_000,
            enable_property_filter=filters_by_sql(self.scenario))
        world.add_namesrv(NAMESRV)
        for machine in (self.machine, NAMESRV):
            world.simulation.clocks[machine].jump(first_ms - EPOCH_MS - world.now_ms)
        world.run(3_000)
        self._register()
        for config in groups_of(self.scenario):
            world.ask(self.addr, Command(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=config), tester="before")
        for (topic, group, queue_id), offset in offsets_of(self.scenario).items():
            committed = ConsumerOffsetRequestHeader(group, topic, queue_id, offset)
            world.ask(self.addr, Command(RequestCode.UPDATE_CONSUMER_OFFSET, committed), tester="before")
        self._put(older)
        world.run(2_000)
        passed = self._clock() - self.epoch_ms
        for machine in (self.machine, NAMESRV):
            world.simulation.clocks[machine].jump(-passed)
        self._start_ms = world.now_ms

    def _clock(self) -> int:
        return self.world.simulation.clocks[self.machine].now_ms()

    def _put(self, older: list[MessageExt]) -> None:
        """Send what was there, at the times at which it was stored."""
        self._unseen = {message.topic for message in older if message.body == UNKNOWN}
        for message in older:
            ahead = message.store_timestamp - self._clock()
            if ahead > 0:
                self.world.simulation.clocks[self.machine].jump(ahead)
            header = SendMessageRequestHeader(
                "G", str(message.topic), message.queue_id, message.born_timestamp, message_properties2_string(
                    [pair for pair in (message.properties or {}).items() if pair[0] != PROPERTY_CLUSTER]),
                message.sys_flag, message.flag, reconsume_times=message.reconsume_times)
            answer = self.world.ask(
                self.addr, Command(RequestCode.SEND_MESSAGE_V2, header, message.body), tester="before")
            if getattr(answer.header, "msg_id", None):
                self._physical[message.commit_log_offset] = decode_message_id(answer.header.msg_id)[1]

    def _register(self) -> None:
        """Let the name server know the routes that it has before anybody registers in the recording."""
        topics = routes_of(self.scenario)
        others = named_topics(self.scenario)
        for (addr, name, cluster), of_broker in brokers_of(self.scenario).items():
            known = {topic: topics[topic] for topic in of_broker if topic in topics}
            known = others | known
            header = RegisterBrokerRequestHeader(name, addr, cluster, 0, "")
            body = RegisterBrokerBody(TopicConfigSerializeWrapper(known, DataVersion(0)), [])
            self._tell_namesrv(RequestCode.REGISTER_BROKER, header, body)
        if has_order_namespace(self.scenario):
            key = KVConfigRequestHeader(NAMESPACE_ORDER_TOPIC_CONFIG, "k", "v")
            self._tell_namesrv(RequestCode.PUT_KV_CONFIG, key)
            self._tell_namesrv(RequestCode.DELETE_KV_CONFIG, key)

    def _tell_namesrv(self, code: RequestCode, header: Any, body: Any = None) -> None:
        self.world.ask(f"{NAMESRV}:9876", Command(code, header, body), tester="before")

    def _end_connections(self, frame: Frame) -> None:
        """Close the connections of clients on which nothing comes any more and nothing is waited for."""
        stopped = frame.command.code == RequestCode.UNREGISTER_BROKER and frame.link.startswith("broker")
        ended = [conn for conn, last in self._last.items() if last < frame.seq]
        if stopped:  # the broker has closed all connections
            ended += [one.conn for one in self.requests if one.link == "client-broker" and one.seq < frame.seq]
        for conn in dict.fromkeys(ended):
            self._last.pop(conn, None)
            client = self.world.testers.get(f"conn{conn}")
            if client is not None:
                self._wait(frame)
                if self.lived.first_end_ms is None and conn in self._members:
                    self.lived.first_end_ms = self.world.now_ms - self._start_ms
                self.world.call(f"conn{conn}", _shut(client))
                self.world.run(3)

    # Requests ---------------------------------------------------------------------------------------------------------

    def _before(self, frame: Frame) -> None:
        self._wait(frame)
        late = self._start_ms + frame.at_ms - self.world.now_ms
        if late > 0:
            self.world.run(late)

    def _wait(self, frame: Frame | None) -> None:
        """Until ours have answered what had been answered before this frame, or it takes too long."""
        waiting = [one.seq for one in self.requests if one.seq in self.lived.answers and self._answered(one, frame)]
        end_ms = self.world.now_ms + PATIENCE_MS
        while self.world.now_ms < end_ms and any(self.lived.answers[seq] is None for seq in waiting):
            self.world.run(1)

    def _answered(self, request: Frame, frame: Frame | None) -> bool:
        answer = self.scenario.answer(request)
        return answer is not None and (frame is None or answer.seq < frame.seq)

    def _ask(self, frame: Frame) -> None:
        command = frame.command
        if command.code == 25:  # noqa: PLR2004  UPDATE_BROKER_CONFIG
            self._configure(command)
        reason = self._unreachable(frame)
        if reason is not None:
            self.lived.not_asked[frame.seq] = reason
            return
        if command.code in NOT_SERVED or (command.code not in CONTENTS and self.scenario.answer(frame) is None):
            self.lived.not_asked[frame.seq] = f"{command.code} {NOT_SERVED.get(command.code, '')}".strip()
            return
        try:
            request = self._translated(frame)
        except JavaError as error:  # the processor throws before it begins
            shown = str(error.message) if isinstance(error, RefusedError) else f"{error.java_class}: {error.message}"
            self.lived.answers[frame.seq] = Command(1, remark=shown)
            return
        addr = f"{NAMESRV}:9876" if frame.link.endswith("namesrv") else self.addr
        client = self._client(frame.conn)
        if command.oneway:
            self.world.call(f"conn{frame.conn}", lambda: client.invoke_oneway(addr, request, 3_000))
            self.world.run(3)
            return
        self.lived.answers[frame.seq] = None

        def done(future: ResponseFuture) -> None:
            self.lived.answers[frame.seq] = future.response_command
            self._learn(frame, future.response_command)

        self.world.call(
            f"conn{frame.conn}", lambda: client.invoke_async(addr, request, 4 * PATIENCE_MS, done))

    def _configure(self, command: RemotingCommand) -> None:
        """Set by hand what the operator sets: the request is not served, its effect is part of the state."""
        controller = self.world.brokers[self.machine]
        for line in utf8_text(command.body or b"").splitlines():
            key, _, value = line.partition("=")
            name = python_spelling(key)
            old = getattr(controller.config, name, None)
            if old is not None:
                new = value == "true" if isinstance(old, bool) else type(old)(value)
                object.__setattr__(controller.config, name, new)
        processor = getattr(controller.processors[RequestCode.HEART_BEAT].handler, "__self__", None)
        if processor is not None and hasattr(processor, "enable_property_filter"):
            processor.enable_property_filter = controller.config.enable_property_filter

    def _unreachable(self, frame: Frame) -> str | None:
        """Why a request cannot be given to our broker as it is."""
        fields, answer = frame.command.ext_fields, self.scenario.answer(frame)
        code, topic = frame.command.code, None if fields is None else fields.get("topic")
        got, remark = (None, "") if answer is None else (answer.command.code, answer.command.remark or "")
        if frame.link.endswith("namesrv"):
            return None
        unserved = got == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        reasons = {
            "it was refused by access control, which our brokers do not have": remark.startswith(_ACL_EXCEPTION),
            "sent to the fast port, which our brokers do not have": unserved and code == RequestCode.PULL_MESSAGE,
            "sent to another broker": frame.conn in self._elsewhere,
            "it is about messages that were there and that no answer shows":
                topic in self._unseen and code in _DEPEND_ON_CONTENT,
            "the queue had lost its first messages before the recording": topic in self._begins_later,
        }
        return next((reason for reason, applies in reasons.items() if applies), None)

    def _client(self, conn: int) -> Any:
        machine = f"conn{conn}"
        if machine not in self.world.testers:
            self.world.add_tester(machine)
            for code in PUSHES:
                self.world.testers[machine].register_processor(code, self._pushed_to(conn))
        return self.world.testers[machine]

    def _pushed_to(self, conn: int) -> Any:
        def handler(_: Connection, request: Command) -> Command | None:
            self.lived.pushes.append(Push(conn, self.world.now_ms - self._start_ms, request))
            return None if request.oneway else self._client_answer(conn, request)

        return handler

    def _client_answer(self, conn: int, request: Command) -> Command:
        """What the recorded client answered when it was asked so for the same time."""
        asked = [frame for frame in self.scenario.frames if frame.conn == conn and frame.is_request
                 and not frame.from_client and frame.command.code == request.code]
        times = sum((one.conn, one.command.code) == (conn, request.code) for one in self.lived.pushes)
        answer = self.scenario.answer(asked[times - 1]) if times <= len(asked) else None
        if answer is None:
            return Command(0)
        return Command(answer.command.code, body=client_body(request.code, answer.command))

    def _drawn(self, frame: Frame, header: Any) -> Any:
        """A send that leaves the queue to the broker gets the one that the recorded broker drew."""
        answer = self.scenario.answer(frame)
        fields = None if answer is None else answer.command.ext_fields
        if frame.command.code in SENDS and (header.queue_id or 0) < 0 and fields is not None and fields.get("queueId"):
            return header._replace(queue_id=int(str(fields.get("queueId"))))
        return header

    def _translated(self, frame: Frame) -> Command:
        """The request with the places that the log of our broker has for what the recorded one names."""
        command = frame.command
        if command.code not in CONTENTS:
            return Command(command.code, version=command.version, language=command.language or "OTHER")
        header, code = request_header(command), command.code
        header = self._drawn(frame, header)
        if code == RequestCode.GET_TOPICS_BY_CLUSTER:
            header = header.cluster  # the handler takes the name alone
        place = _ASKS_ABOUT_LOG.get(code)
        if place is not None:
            header = header._replace(**{place: self._physical.get(getattr(header, place), getattr(header, place))})
        if code == RequestCode.END_TRANSACTION:
            header = header._replace(
                tran_state_table_offset=self._half.get(
                    header.tran_state_table_offset, header.tran_state_table_offset))
        known = RequestCode(code) if code in RequestCode._value2member_map_ else code
        return Command(known, header, request_body(command, self._clock()), version=command.version,
                       language=command.language or "OTHER")

    def _learn(self, frame: Frame, ours: Command | None) -> None:
        """Where what was sent lies in both logs."""
        recorded = self.scenario.answer(frame)
        fields = None if recorded is None else recorded.command.ext_fields
        content = CONTENTS.get(frame.command.code)
        shows = content is not None and content.answer_body == RECORDS
        if shows and recorded is not None and ours is not None and ours.body:
            for one, other in zip(decodes(ByteBuffer(recorded.command.body or b"")), decodes(ByteBuffer(ours.body)),
                                  strict=False):
                self._physical[one.commit_log_offset] = other.commit_log_offset
        if frame.command.code not in SENDS or fields is None or ours is None or ours.header is None:
            return
        theirs, mine = fields.get("msgId"), ours.header.msg_id
        if theirs and mine:
            for their_id, my_id in zip(theirs.split(","), mine.split(","), strict=False):
                self._physical[decode_message_id(their_id)[1]] = decode_message_id(my_id)[1]
            self._half[int(fields.get("queueOffset") or 0)] = ours.header.queue_offset


def _shut(client: Any) -> Any:
    """Close all connections of a client; it opens new ones when it is used again."""

    async def shut() -> None:
        for wrapper in list(client.channel_tables.values()):
            if wrapper.channel is not None:
                wrapper.channel.close()
        client.channel_tables.clear()

    return shut
