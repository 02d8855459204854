"""A small world for stories and tests: name servers, brokers and consumers under simulation, and what their tables say.

Machines are called as the caller likes; "nameserver1" is the first name server unless told otherwise.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any, Self, TypeVar

from impl.common.headers import CreateTopicRequestHeader, SendMessageRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.ports.remoting import Command
from invariants.views import Views
from stateful_tests.worlds.course import STEP_MS
from stateful_tests.worlds.machines import Machines

E = TypeVar("E")
BODY, SEND_TIMEOUT_MS = b"a message" * 6, 3_000


class World(Machines):
    """Use it as a context manager. views -- what the tables of its machines say."""

    def __init__(self, *course: Any, **settings: Any) -> None:
        """Begin empty; see Course."""
        super().__init__(*course, **settings)
        self.views = Views(self)

    def __enter__(self) -> Self:
        """Let its kernel be used."""
        self.simulation.kernel.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.simulation.kernel.close()

    def events(self, kind: type[E], since_ms: int = 0) -> list[tuple[int, E]]:
        """What was reported, with its time."""
        return [(ms, event) for ms, _, event in self.simulation.kernel.records if isinstance(event, kind)
                and ms >= since_ms]

    def create_topic(self, broker: str, topic: str, queues: int = 4) -> None:
        """Let an operator create a topic at a broker, and wait for the answer."""
        header = CreateTopicRequestHeader(topic, queues, queues, PERM_READ | PERM_WRITE)
        request = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header=header)
        assert self.ask(self.brokers[broker].broker_addr, request, timeout_ms=20_000).code == ResponseCode.SUCCESS

    def send(self, tester: str, mq: MessageQueue, count: int = 1) -> None:
        """Let a tester send so many messages to a queue, at once, to the machine whose broker has its name.

        Nobody looks at the answers.
        """
        self._meet(tester)
        masters = [one.broker_addr for one in self.brokers.values()
                   if (one.config.broker_name, one.config.broker_id) == (mq.broker_name, MASTER_ID)]
        for address in masters[:1] * count:
            header = SendMessageRequestHeader("P", mq.topic, mq.queue_id, self.simulation.nodes[tester].now_ms(), "")
            request = Command(RequestCode.SEND_MESSAGE_V2, header, BODY)
            self.call(tester, partial(self._sent, tester, address, request))

    async def _sent(self, tester: str, address: str, request: Command) -> None:
        with suppress(JavaError):
            await self.testers[tester].invoke_sync(address, request, SEND_TIMEOUT_MS)

    def ask(self, addr: str, request: Command, *, timeout_ms: int = 3_000, tester: str = "tester") -> Command:
        """Send a request from a machine that is no part of the story; the same machine has always one connection."""
        self._meet(tester)
        answers: list[Command] = []

        async def call() -> None:
            answers.append(await self.testers[tester].invoke_sync(addr, request, timeout_ms))

        self.call(tester, call)
        self.run_until(lambda: bool(answers), timeout_ms + STEP_MS)
        return answers[0]

    def _meet(self, tester: str) -> None:
        if tester not in self.testers:
            self.add_tester(tester)
