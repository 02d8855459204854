"""PullMessageService: the one thread of a client that takes pull requests, and the timer that puts them back later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from impl.client.rebalance import PullRequest
from impl.ports.node import Node
from impl.ports.pools import Job


class PullingConsumer(Protocol):
    """What the service asks of DefaultMQPushConsumerImpl."""

    async def pull_message(self, pull_request: PullRequest) -> None:
        """DefaultMQPushConsumerImpl#pullMessage."""
        ...


class PullMessageService:
    """`client.impl.consumer.PullMessageService`.

    select_consumer -- MQClientInstance#selectConsumer: the consumer of a group.

    pool -- the thread, with the queue of requests. scheduler -- the timer. stopped -- nothing is put back any more.
    """

    def __init__(self, node: Node, select_consumer: Callable[[str], PullingConsumer | None]) -> None:
        """Wait for requests."""
        self.select_consumer = select_consumer
        self.pool = node.pool("PullMessageService", 1)
        self.scheduler = node.scheduler("PullMessageServiceScheduledThread")
        self.stopped = False

    def execute_pull_request_immediately(self, pull_request: PullRequest) -> None:
        """PullMessageService#executePullRequestImmediately."""
        if not self.stopped:
            self.pool.execute(lambda: self.pull_message(pull_request))

    def execute_pull_request_later(self, pull_request: PullRequest, delay_ms: int) -> None:
        """PullMessageService#executePullRequestLater."""
        self.execute_task_later(lambda: self.execute_pull_request_immediately(pull_request), delay_ms)

    def execute_task_later(self, task: Job, delay_ms: int) -> None:
        """PullMessageService#executeTaskLater."""
        if not self.stopped:
            self.scheduler.schedule(task, delay_ms)

    async def pull_message(self, pull_request: PullRequest) -> None:
        """PullMessageService#pullMessage: without a consumer of the group the chain of pulls ends."""
        consumer = self.select_consumer(pull_request.consumer_group)
        if consumer is not None:
            await consumer.pull_message(pull_request)

    def shutdown(self) -> None:
        """PullMessageService#shutdown."""
        self.stopped = True
        self.pool.shutdown()
        self.scheduler.shutdown()
