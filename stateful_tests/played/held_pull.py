"""Traces of `LongPolling`, done with PullRequestHoldService and a pool that runs nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from impl.broker.pull_request_hold_service import PullRequest, PullRequestHoldService
from impl.common.headers import PullMessageRequestHeader
from impl.common.request_code import RequestCode
from impl.ports.pools import RejectedExecutionError
from impl.ports.remoting import Command
from impl.ports.threads import run_now
from impl.store.dispatch_request import DispatchRequest
from stateful_tests.played.trace import PlayedTrace

_TOPIC, _QUEUE, _WANTED = "T", 0, 0
_ENDS = {"execute", "refuse", "time_out"}


class PlayedPull(PlayedTrace):
    """now_ms -- the time of the broker. end -- of the queue. woken -- the pulls that the pool has taken."""

    parts = "impl.broker.pull_request_hold_service"

    def begin(self) -> None:
        """Nothing is asked; a pull wants what comes at the end of the queue."""
        self.now_ms = self.end = self.asked_ms = 0
        self.there = self.longer = False
        self.woken: list[PullRequest] = []
        self.pull: PullRequest | None = None
        node = SimpleNamespace(name="broker-a", trace=lambda _: None, now_ms=lambda: self.now_ms, sleep=self._one_round)
        reads = SimpleNamespace(get_max_offset_in_queue=lambda *_: self.end)
        self.service = PullRequestHoldService(cast("Any", node), cast("Any", reads), self._execute)

    async def _one_round(self, _: int) -> None:
        self.service.stopped = True

    def _execute(self, pull: PullRequest) -> None:
        """The pool of pulls; it is full if the trace says so next."""
        if pull is self.pull and self._is_refused:
            raise RejectedExecutionError
        self.woken.append(pull)

    @property
    def _is_refused(self) -> bool:
        """Whether the pull that is woken comes to this end."""
        ends = (step["action"] for step in self.steps[self.number:] if step["action"] in _ENDS)
        return next(ends, "") == "refuse"

    def look(self) -> str:
        """See the model."""
        self.wanted, self.asked_ms, self.pull = self.end, self.now_ms, None
        self.there = self.longer = False
        return f"nothing is at {self.end}"

    def put_away(self) -> str:
        """See the model."""
        hold_ms = self.constants["hold_max"]
        header = PullMessageRequestHeader("G", _TOPIC, _QUEUE, self.wanted, 32, 0, 0, hold_ms, 0, "*")
        matches = SimpleNamespace(is_matched_by_consume_queue=lambda tags_code, _: tags_code in {None, _WANTED})
        self.pull = PullRequest(
            cast("Any", None), Command(RequestCode.PULL_MESSAGE, header), cast("Any", matches), self.asked_ms,
            hold_ms)
        self.service.suspend_pull_request(_TOPIC, _QUEUE, self.pull)
        return "suspendPullRequest"

    def arrive(self) -> str:
        """See the model."""
        self.there = True
        return self._arrive(_WANTED)

    def arrive_beside(self) -> str:
        """See the model."""
        self.longer = True
        return self._arrive(_WANTED + 1)

    def _arrive(self, tags_code: int) -> str:
        self.end += 1
        self.service.message_arriving(DispatchRequest(
            _TOPIC, _QUEUE, 0, 1, tags_code, self.now_ms, self.end - 1, None, None, 0, 0, None), None)
        return f"arriving: {len(self.woken)} woken"

    def scan(self) -> str:
        """See the model."""
        self.service.stopped = False
        run_now(self.service.run())
        return f"checkHoldRequest: {len(self.woken)} woken"

    def execute(self) -> str:
        """See the model."""
        assert self.pull in self.woken
        self.pull = None
        return "it is answered"

    def refuse(self) -> str:
        """See the model."""
        return "the pool has refused it, and the service has not kept it"

    def time_out(self) -> str:
        """See the model: whoever holds the pull holds it still, and answers nobody."""
        self.pull = None
        return "the client waits no more"

    def elapse(self, ms: str) -> str:
        """See the model."""
        self.now_ms += int(ms)
        return f"it is {self.now_ms} ms"

    @property
    def held(self) -> bool:
        """Whether the pull is held."""
        return self.pull in (self.service.pull_request_table.get((_TOPIC, _QUEUE)) or ())

    def seen(self) -> Iterator[tuple[str, int | bool | str]]:
        """See PlayedTrace: where a pull is that the client waits for and the broker has."""
        wanted = self.cells["phase"]
        if wanted in {"HELD", "WOKEN", "LOST"} and not (wanted == "WOKEN" and self._is_refused):
            yield "phase", "HELD" if self.held else "WOKEN" if self.pull in self.woken else "LOST"
            yield "there", self.there
            yield "longer", self.longer
