"""RebalanceService: the one thread of an instance that rebalances all its consumers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.ports.node import Node
from impl.ports.threads import Signal, Thread

WAIT_INTERVAL_MS = 20_000  # property rocketmq.client.rebalance.waitInterval
JOIN_TIME_MS = 90_000  # ServiceThread.JOIN_TIME


class RebalanceService:
    """`client.impl.consumer.RebalanceService`, a ServiceThread: any number of wake-ups in a run make one more run."""

    def __init__(self, node: Node, do_rebalance: Callable[[], Awaitable[None]]) -> None:
        """Not started; do_rebalance -- MQClientInstance#doRebalance."""
        self.node, self.do_rebalance = node, do_rebalance
        self.signal = Signal("RebalanceService")
        self.stopped = False
        self.thread: Thread | None = None

    def start(self) -> None:
        """ServiceThread#start."""
        self.thread = self.node.start_thread("RebalanceService", self.run())

    async def run(self) -> None:
        """RebalanceService#run: the wait begins when the last run has ended; one more run follows the stop."""
        while not self.stopped:
            await self.node.wait(self.signal, WAIT_INTERVAL_MS)
            await self.do_rebalance()

    def wakeup(self) -> None:
        """ServiceThread#wakeup."""
        self.node.wake(self.signal)

    async def shutdown(self) -> None:
        """ServiceThread#shutdown: wake it, and wait up to 90 s for its end."""
        self.stopped = True
        self.wakeup()
        if self.thread is not None:
            await self.thread.join(JOIN_TIME_MS)
