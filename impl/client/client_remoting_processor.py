"""ClientRemotingProcessor: what brokers ask of a client. It runs in the pool of the callbacks."""

from __future__ import annotations

from collections.abc import Callable

from impl.node_ports import Command, Connection


class ClientRemotingProcessor:
    """`client.impl.ClientRemotingProcessor`; rebalance_immediately -- of the instance."""

    def __init__(self, rebalance_immediately: Callable[[], None]) -> None:
        """Serve one instance."""
        self.rebalance_immediately = rebalance_immediately

    def notify_consumer_ids_changed(self, channel: Connection, request: Command) -> None:  # noqa: ARG002  # a Handler
        """ClientRemotingProcessor#notifyConsumerIdsChanged: whatever the group is, the whole instance rebalances."""
        self.rebalance_immediately()
