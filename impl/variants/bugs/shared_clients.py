"""Planted bugs of processes that consume and send by one client, and stop one of the two."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from impl.broker.client_manage_processor import ClientManageProcessor
from impl.client.mq_client_instance import MQClientInstance
from impl.common.headers import UnregisterClientRequestHeader
from impl.ports.remoting import Command, Connection
from impl.variants.variant import around, seeded

_bug = partial(seeded, "an idea: a port whose processes have either consumers or producers")


@around(MQClientInstance, "shutdown")
def _end_with_the_last_consumer(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def shutdown(self: MQClientInstance) -> None:
        """Nobody looks whether anybody sends."""
        kept = self.producer_table.entries()
        for group, _ in kept[1:] if self.consumer_table.is_empty() else ():
            self.producer_table.remove(group)
        await original(self)

    return shutdown


@around(MQClientInstance, "_send_heartbeat_to_all_broker")
def _beat_for_consumers_only(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _send_heartbeat_to_all_broker(self: MQClientInstance) -> None:
        """Who does not consume says nothing."""
        if not self.consumer_table.is_empty():
            await original(self)

    return _send_heartbeat_to_all_broker


@around(ClientManageProcessor, "unregister_client")
def _let_the_client_go(original: Callable[..., Awaitable[Command]]) -> Callable[..., Awaitable[Command]]:
    async def unregister_client(self: ClientManageProcessor, channel: Connection, request: Command) -> Command:
        """Whose consumer says goodbye has no producer any more."""
        header: UnregisterClientRequestHeader = request.header
        answer = await original(self, channel, request)
        if header.consumer_group is not None:
            self.producer_manager.do_channel_close_event(channel)
        return answer

    return unregister_client


BUGS = (
    _bug("last-consumer-ends-its-client", "When the last consumer of a process stops its client ends, also if somebody "
         "sends by it.",
         _end_with_the_last_consumer),
    _bug("producers-are-silent", "A client without consumers sends no heartbeats.", _beat_for_consumers_only),
    _bug("goodbye-is-of-the-client", "A consumer's goodbye takes out the producers of its client.", _let_the_client_go),
)
