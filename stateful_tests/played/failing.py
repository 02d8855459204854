"""Traces of `Delivery`, done with a broker and with the client whose listener fails."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import replace
from typing import Any

from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.byte_buffer import ByteBuffer
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CONSUME_START_TIMESTAMP
from impl.common.message_decoder import decode
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.ports.remoting import Command, RemotingTimeoutError
from stateful_tests.played.trace import PlayedTrace
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.world import World

_BROKER, _CLIENT, _GROUP, _TOPIC, _RETRY, _DEAD = "broker-a", "c1", "G", "T", "%RETRY%G", "%DLQ%G"
_LEVEL, _DELAY_MS, _MINUTES = 1, 2_000, 15
_SENDING = {RequestCode.CONSUMER_SEND_MSG_BACK, RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2}
_LEVELS = " ".join(["1s"] * 18)


class PlayedDelivery(PlayedTrace):
    """records -- the message as it was pulled each time that it was stored. open -- those that the group has before it.

    tried -- how often a listener was given it. succeeded -- whether one has worked. dead -- whether %DLQ% has it. What
    is open, tried and succeeded is counted here; reconsumeTimes, the copies and the dead letter are the broker's.
    """

    parts = "impl.broker.send_message_back, impl.client.send_message_back and impl.client.send_kernel"

    def begin(self) -> None:
        """A message is stored. The client has another group, so that it pulls nothing of this one by itself."""
        self._opened = ExitStack()
        self.world = world = self._opened.enter_context(World())
        world.store_config = replace(STORE, message_delay_level=_LEVELS)
        world.add_namesrv()
        topics = [TopicConfig(topic, 1, 1) for topic in (_TOPIC, _RETRY, "other")]
        world.add_broker(_BROKER, _BROKER, topics=topics)
        world.add_consumer(_CLIENT, PushConsumerConfig("other", {"other": "*"}))
        world.add_tester("tester")
        world.run(1_000)
        world.send("tester", MessageQueue(_TOPIC, _BROKER, 0))
        world.run(_DELAY_MS)
        self.records = self._stored(_TOPIC)
        self.open, self.tried = {0}, 0
        self.succeeded = self.dead = False

    def leave(self) -> None:
        """The world ends."""
        self._opened.close()

    # What the broker has ----------------------------------------------------------------------------------------------

    def _stored(self, topic: str) -> list[MessageExt]:
        """All messages of a topic."""
        store, found = self.world.brokers[_BROKER].data_plane.store, list[MessageExt]()
        while (result := store.get_message(topic, 0, len(found), 1)) is not None and result.records:
            message = decode(ByteBuffer(result.records[0]))
            assert message is not None
            found.append(message)
        return found

    def _settled(self, record: int) -> int:
        """The group has this record before it no more, but what was stored meanwhile; returns how much that is."""
        self.world.run(_DELAY_MS)
        self.open.discard(record)
        known = len(self.records)
        self.records += self._stored(_RETRY)[known - 1:]
        self.open |= {*range(known, len(self.records))}
        return len(self.records) - known

    # What a listener does ---------------------------------------------------------------------------------------------

    def _given(self, record: str) -> MessageExt:
        self.tried += 1
        return self.records[int(record)]

    def _run(self, job: Coroutine[Any, Any, None]) -> None:
        """In a thread of the client, to its end."""
        ended: list[bool] = []

        async def work() -> None:
            await job
            ended.append(True)

        self.world.call(_CLIENT, work)
        self.world.run_until(lambda: bool(ended), 10_000)

    def _send_back(self, message: MessageExt) -> None:
        """DefaultMQPushConsumerImpl#sendMessageBack; what fails is left to a later attempt."""
        consumer = copy(self.world.consumers[_CLIENT][0])
        consumer.group = _GROUP
        consumer.config = PushConsumerConfig(_GROUP, {}, max_reconsume_times=self.constants["most"])

        async def send_back() -> None:
            with suppress(JavaError):
                await consumer.send_message_back(message, _LEVEL, _BROKER)

        self._run(send_back())

    @contextmanager
    def _failing(self, *unanswered: bool) -> Iterator[None]:
        """Of the first requests of the block none is answered; each says whether it arrives."""
        client = self.world.consumers[_CLIENT][0].instance.remoting_client
        left = [*unanswered]

        async def invoke(addr: str | None, request: Command, timeout_ms: int) -> Command:
            if not left or request.code not in _SENDING:
                return await invoke_sync(addr, request, timeout_ms)
            if left.pop(0):
                await invoke_sync(addr, request, timeout_ms)
            raise RemotingTimeoutError("lost")

        invoke_sync, client.invoke_sync = client.invoke_sync, invoke  # type: ignore[method-assign]
        yield
        client.invoke_sync = invoke_sync  # type: ignore[method-assign]

    def succeed(self, record: str) -> str:
        """See the model."""
        self._given(record)
        self.succeeded = True
        self._settled(int(record))
        return "CONSUME_SUCCESS"

    def send_back(self, record: str) -> str:
        """See the model."""
        self._send_back(self._given(record))
        return f"{self._settled(int(record))} stored"

    def bury(self, record: str) -> str:
        """See the model."""
        self.send_back(record)
        return f"{len(self._stored(_DEAD))} dead letter"

    def swallow(self, record: str) -> str:
        """See the model."""
        groups = self.world.brokers[_BROKER].subscription_group_manager
        config = groups.find_subscription_group_config(_GROUP)
        assert config is not None
        config.retry_queue_nums = 0
        said = self.send_back(record)
        config.retry_queue_nums = 1
        return said

    def send_back_twice(self, record: str) -> str:
        """See the model."""
        with self._failing(True):
            return f"the answer is lost; {self.send_back(record)}"

    def bury_copy(self, record: str) -> str:
        """See the model."""
        return self.send_back_twice(record)

    def bury_early(self, record: str) -> str:
        """See the model."""
        with self._failing(False):
            return f"the request is lost; {self.send_back(record)}"

    def begin_anew(self, record: str) -> str:
        """See the model."""
        with self._failing(False, False):
            return f"the request is lost, and the first attempt of the copy; {self.send_back(record)}"

    def deliver_again(self, record: str) -> str:
        """See the model: nothing is committed, so that a pull begins at the first message."""
        offsets = self.world.brokers[_BROKER].consumer_offset_manager
        assert offsets.query_offset(_GROUP, _TOPIC, 0) == offsets.query_offset(_GROUP, _RETRY, 0) == -1
        self.open.add(int(record))
        return "it is pulled again"

    def send_back_at_work(self, record: str) -> str:
        """See the model: the look of ProcessQueue#cleanExpiredMsg, and what it does then."""
        now_ms = self.world.simulation.nodes[_CLIENT].now_ms
        queue, message = ProcessQueue(lambda: now_ms() + (_MINUTES + 1) * 60_000), self._given(record)
        message.put_property(PROPERTY_CONSUME_START_TIMESTAMP, str(now_ms()))
        queue.put_message([message])
        expired = queue.first_expired_msg(_MINUTES)
        assert expired is not None
        self._send_back(expired)
        assert queue.remove_if_first(expired)
        self.succeeded = True
        return f"it has expired; {self._settled(int(record))} stored; then CONSUME_SUCCESS"

    def seen(self) -> Iterator[tuple[str, int | bool | str]]:
        """See PlayedTrace."""
        yield "next", len(self.records)
        yield "tried", self.tried
        yield "done", self.succeeded
        self.dead = bool(self._stored(_DEAD))
        yield "dead", self.dead
        for number, record in enumerate(self.records):
            yield f"reconsumed[{number}]", record.reconsume_times
            yield f"open[{number}]", number in self.open
