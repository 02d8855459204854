"""WokenPull: a pull that was held, in the queue of the pool in which it runs again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from impl.broker.pull_request_hold_service import PullRequest
from impl.decisions.java_errors import JavaError
from impl.ports.remoting import Command, Connection, RemotingServer


class ProcessPull(Protocol):
    """PullMessageProcessor#processRequest."""

    def __call__(
        self, channel: Connection, request: Command, *, broker_allow_suspend: bool,
    ) -> Awaitable[Command | None]:
        """None: there is no answer to write."""
        ...


class WokenPull:
    """The RequestTask of PullMessageProcessor#executeRequestWhenWakeup; see RequestTask in `impl.ports.remoting`.

    It is answered as any request that waits too long, also when the pull was sent one way.
    """

    def __init__(
        self, process: ProcessPull, remoting_server: RemotingServer, pull_request: PullRequest, now_ms: int,
        report: Callable[[PullRequest], None],
    ) -> None:
        """Queued now; report -- is told when it has been answered."""
        self._process, self._remoting_server, self._pull_request = process, remoting_server, pull_request
        self._report = report
        self.create_timestamp, self.stop_run = now_ms, False

    async def __call__(self) -> None:
        """Run; what is raised stays in the FutureTask, and the client gets no answer."""
        if self.stop_run:
            return
        held = self._pull_request
        try:
            response = await self._process(held.channel, held.request, broker_allow_suspend=False)
        except JavaError:
            return
        if response is not None:
            self._remoting_server.respond(held.channel, held.request, response)
        self._report(held)

    def return_response(self, code: int, remark: str) -> None:
        """RequestTask#returnResponse."""
        held = self._pull_request
        self._remoting_server.respond(held.channel, held.request, Command(code, remark=remark))
        self._report(held)
