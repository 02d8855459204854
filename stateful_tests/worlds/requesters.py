"""Applications that ask over messages and wait for replies, and those that reply."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.message_listener import ConsumeContext, ConsumeStatus
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.request_reply import create_reply_message, request, request_async
from impl.client.send_result import SendStatus
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_CORRELATION_ID,
    PROPERTY_MESSAGE_TTL,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
)
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError
from impl.events import RequestAsked, RequestGiven, RequestReplied, RequestTold
from impl.ports.node import Node
from invariants.histories.operations import UNKNOWN
from stateful_tests.worlds.contents import content_of
from stateful_tests.worlds.listeners import Listener
from stateful_tests.worlds.notes import Notes
from stateful_tests.worlds.producers import Producer, Way

REQUEST_MS, LATE_MS = 3_000, 5_000
"""How long a request is waited for, and when a reply comes that is too late."""
LOOK_MS = 1_000
"""How often an application looks whether all its requests are over."""
ASK, ASK_LATER = "request", "request async"
NO_REPLY, LATE, TWICE = range(3)
"""What a replier makes of some requests: of ONE_IN one each."""
ONE_IN = 8
LONG_ONE_IN, LONG_BYTES, FLAGS = 5, 5_000, 7
"""One reply of so many is so long, which is compressed on its way; and replies have so many flags."""


class Requester(Producer):
    """A process that asks, alternately in a thread of its own and by a callback.

    rests -- it asks nothing, until it has another producer.
    """

    def __init__(self, *settings: Any) -> None:
        """Wait for nothing."""
        super().__init__(*settings)
        self.rests, self._open = False, set[str]()

    async def go_on_with_another(self) -> None:
        """Wait until all requests are over, stop the producer, and go on with another one; once at a time."""
        if self.rests:
            return
        self.rests = True
        while self._open:
            await self.node.sleep(LOOK_MS)
        await self.producer.shutdown()
        self.producer = self.transactional = self._made()
        await self.producer.start()
        self.rests = False

    def _ways(self) -> dict[str, Way]:
        return {**super()._ways(), ASK: self._request, ASK_LATER: self._request_async}

    async def _request(self, _: int) -> None:
        if self.rests:
            return
        message = self._message()
        key = self._begin(message.uniq_id or "")
        try:
            self._end(key, await request(self.producer, message, REQUEST_MS))
        except JavaError as error:
            self._fail(key, error)

    async def _request_async(self, _: int) -> None:
        if self.rests:
            return
        message = self._message()
        key = self._begin(message.uniq_id or "")
        try:
            await request_async(self.producer, message, Reply(self, key), REQUEST_MS)
        except JavaError as error:
            self._fail(key, error)

    def _begin(self, key: str) -> str:
        self._open.add(key)
        self._notes.note(UNKNOWN, self.node.name, key)
        self.node.trace(RequestAsked(self._group, key, self.sending.full_topic, REQUEST_MS))
        return key

    def _end(self, key: str, reply: MessageExt | None) -> None:
        if reply is None:
            self._fail(key, None)
        else:
            self._open.discard(key)
            replied_to = (reply.body or b"").decode(errors="replace").rstrip()
            self.node.trace(RequestTold(self._group, key, replied_to, content_of(reply), ""))

    def _fail(self, key: str, error: JavaError | None) -> None:
        self._open.discard(key)
        name = "" if error is None else error.java_class.rpartition(".")[2]
        self.node.trace(RequestTold(self._group, key, exception=name))


class Reply:
    """The RequestCallback of a request."""

    def __init__(self, requester: Requester, key: str) -> None:
        """Say what becomes of this one."""
        self._requester, self._key = requester, key

    def on_success(self, message: MessageExt | None) -> None:
        """See RequestCallback."""
        self._requester._end(self._key, message)  # noqa: SLF001  # its callback

    def on_exception(self, error: JavaError | None) -> None:
        """See RequestCallback."""
        self._requester._fail(self._key, error)  # noqa: SLF001  # its callback


class Replier(Listener):
    """A listener that replies to requests: to most at once, to some too late, twice, or not at all."""

    def __init__(self, node: Node, notes: Notes, config: PushConsumerConfig, producer: DefaultMQProducer) -> None:
        """Reply by this producer."""
        super().__init__(node, notes, config)
        self._producer = producer

    async def consume_message(self, msgs: Sequence[MessageExt], context: ConsumeContext) -> ConsumeStatus | None:
        """See MessageListener."""
        for msg in msgs:
            key = msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)
            if key and msg.get_property(PROPERTY_CORRELATION_ID) and msg.reconsume_times == 0:
                waits_ms = int(msg.get_property(PROPERTY_MESSAGE_TTL) or -1)
                self.node.trace(RequestGiven(self._group, key, waits_ms))
                self.node.start_thread("replier", self._reply(msg, key))
        return await super().consume_message(msgs, context)

    async def _reply(self, msg: MessageExt, key: str) -> None:
        what = zlib.crc32(key.encode()) % ONE_IN
        if what == LATE:
            await self.node.sleep(LATE_MS)
        for _ in range({NO_REPLY: 0, TWICE: 2}.get(what, 1)):
            with suppress(JavaError):
                reply = _reply_to(msg, key)
                content = content_of(reply)
                result = await self._producer.send(reply)
                if result.send_status is SendStatus.SEND_OK:
                    self.node.trace(RequestReplied(self._group, key, content))


def _reply_to(msg: MessageExt, key: str) -> Message:
    """Its body names the request; it has a flag and a property of the application, and some are long."""
    number = zlib.crc32(key.encode())
    reply = create_reply_message(msg, key.ljust(LONG_BYTES if number % LONG_ONE_IN == 0 else 0).encode())
    reply.flag = number % FLAGS + 1
    reply.put_property("answers", key)
    return reply
