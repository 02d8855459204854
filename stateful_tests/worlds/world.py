"""A small world for stories and tests: name servers, brokers and consumers under simulation, and what their tables say.

Machines are called as the caller likes; "nameserver1" is the first name server unless told otherwise.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.common.headers import CreateTopicRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.ports.remoting import Command
from invariants.views import Views
from stateful_tests.worlds.course import STEP_MS
from stateful_tests.worlds.listeners import Listener
from stateful_tests.worlds.machines import Machines

E = TypeVar("E")


class World(Machines):
    """Use it as a context manager. views -- what the tables of its machines say."""

    def __init__(self, *course: Any, **settings: Any) -> None:
        """Begin empty; see Course."""
        super().__init__(*course, **settings)
        self.views = Views(self)

    def __enter__(self) -> Self:
        """Nothing to prepare."""
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

    async def arrive(
        self, consumer: DefaultMQPushConsumerImpl, pull_request: PullRequest, work_ms: int | None = None,
    ) -> None:
        """Let messages arrive for a pull, if a broker holds it; one that is switched off for good holds none.

        Nobody sends any here: the broker looks at the pull again, as it does when it has stored something, and finds
        as many as one pull may. work_ms -- how long the listener works from now on, on each batch; None: as before.
        """
        if work_ms is not None and isinstance(consumer.message_listener, Listener):
            consumer.message_listener.work_ms = work_ms
        name = pull_request.message_queue.broker_name
        machine = next((machine for machine, one in self.brokers.items() if one.config.broker_name == name), None)
        if machine is not None:
            consumer.pull_api_wrapper.execute_request_when_wakeup(pull_request, self.message_stores[machine])

    def ask(self, addr: str, request: Command, *, timeout_ms: int = 3_000, tester: str = "tester") -> Command:
        """Send a request from a machine that is no part of the story; the same machine has always one connection."""
        if tester not in self.testers:
            self.add_tester(tester)
        answers: list[Command] = []

        async def call() -> None:
            answers.append(await self.testers[tester].invoke_sync(addr, request, timeout_ms))

        self.call(tester, call)
        self.run_until(lambda: bool(answers), timeout_ms + STEP_MS)
        return answers[0]
