"""The model that follows the lock of one queue, and the clocks that its ages are taken from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from invariants.finding import Finding
from invariants.refinement.coverage import Visited, Watched, lock_form, watching
from invariants.refinement.maps import placed
from invariants.refinement.monitor import Step
from invariants.rules.facts import queue_text
from model.language import Property
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, Writes
from model.order_lock import Locking

NAME = "refines_order_lock"
CLIENT_LIVE_MS, BROKER_LIVE_MS, UNBOUNDED_MS = 30_000, 60_000, 1 << 62
CONSTANTS = {"client_live": CLIENT_LIVE_MS, "broker_live": BROKER_LIVE_MS, "rpc_max": UNBOUNDED_MS,
             "batch_max": UNBOUNDED_MS}
Clock = Callable[[], int]


class QueueLock:
    """The lock of one queue.

    broker -- the machine that granted it last. clock -- that broker's. stamped_ms -- the entry's time by it.
    leased_ms -- of each client: the broker's clock at the last grant. believed_ms -- its own clock, and its time at the
    last answer that it believed. answers -- how many may be on their way to it. taken_ms -- when it took the queue by
    an answer, if none was given since. had -- clients that the entry was given to. gave_up -- those that have dropped
    the queue. holders -- those that hold it now. working -- those whose listeners work on it.
    """

    def __init__(self, mq: MessageQueue, properties: Iterable[Property], watched: Visited | None) -> None:
        """Nobody has it."""
        self.mq, self.broker = mq, ""
        self.clock: Clock = lambda: 0
        self.monitor = watching(watched, lambda cells, _: lock_form(cells, utf16_key),
                                OpenReading(Locking.concept, CONSTANTS), properties, NAME,
                                visible=("held", "holder", "locked"), unmarked=("age", "since", "lease_age"),
                                kept=("Client",))
        self.noted([])
        self.stamped_ms = 0
        self.leased_ms: dict[str, int] = {}
        self.believed_ms: dict[str, tuple[Clock, int]] = {}
        self.answers: dict[str, int] = {}
        self.taken_ms: dict[str, int] = {}
        self.had: set[str] = set()
        self.gave_up: set[str] = set()
        self.holders: set[str] = set()
        self.working: set[str] = set()
        self.value = self.monitor.value

    def step(self, event: Any, *steps: Step, entering: str = "") -> list[Finding]:
        """Let time pass, and take these steps; entering -- a client whose `since` counts before it believes."""
        value, now_ms = self.value, self.clock()
        ages: Writes = {("age",): age(now_ms, self.stamped_ms) if value("held") else 0}
        for client, (clock, then_ms) in self.believed_ms.items():
            believes = value("locked", client) or client == entering
            ages["since", client] = age(clock(), then_ms) if believes else 0
        for client, then_ms in self.leased_ms.items():
            ages["lease_age", client] = age(now_ms, then_ms) if value("lease", client) else 0
        self.monitor.write(ages)
        return self.noted(self.monitor.take(event, *steps))

    def compare(self, seen: Writes, looked: Sequence[Cell]) -> list[Finding]:
        """See Monitor."""
        return self.noted(self.monitor.compare(seen, looked))

    def noted(self, found: list[Finding]) -> list[Finding]:
        """With the queue, and in what was visited."""
        if isinstance(self.monitor, Watched):
            self.monitor.note(found)
        return placed(found, queue_text(self.mq), mq=self.mq)


def age(now_ms: int, then_ms: int) -> int:
    """Milliseconds by one clock, which may have been set back in between."""
    return max(0, now_ms - then_ms)
