"""Repairs of connections and client ids: who is told apart from whom, and who is taken for gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as with_fields

from impl.client.client_config import ClientConfig
from impl.client.mq_client_instance import MQClientInstance, _logging
from impl.client.mq_client_manager import MQClientManager
from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.remoting_client import RemotingClient
from impl.ports.remoting import Command, RemotingSendRequestError, RemotingTimeoutError
from impl.variants.variant import Variant, around, replace


@replace(RemotingClient, "invoke_sync")
async def _leave_it_open(self: RemotingClient, addr: str | None, request: Command, timeout_ms: int) -> Command:
    """A time-out: the next call makes another connection, this one is left to be idle.

    So a slow server does not take its caller for gone, and a dead connection is not used again.
    """
    opaque, channel = self.next_opaque(), self._channel_at_hand(addr)
    if channel is None:
        begin_ms = self.process.now_ms()
        channel = await self._open_channel(addr)
        timeout_ms -= self.process.now_ms() - begin_ms
    try:
        if timeout_ms < 0:
            raise RemotingTimeoutError(f"invokeSync call the addr[{addr}] timeout")  # noqa: TRY301  # handled as any
        return await self.invoke_sync_on(channel, request, opaque, timeout_ms)
    except RemotingTimeoutError:
        wrapper = self.channel_tables.get(channel.remote_address)
        if wrapper is not None and wrapper.channel is channel:
            del self.channel_tables[channel.remote_address]
            left: list[Channel] = [one for one in vars(self).get("left", ()) if one.active]
            vars(self)["left"] = [*left, channel]
        raise
    except RemotingSendRequestError:
        self._close_channel(addr, channel)
        raise


@around(RemotingClient, "broken")
def _close_what_breaks(original: Callable[[RemotingClient, Channel], None]) -> Callable[..., None]:
    def broken(self: RemotingClient, channel: Channel) -> None:
        """Who still waits on a connection that was left open is told at once that it has broken."""
        if channel in vars(self).get("left", ()):
            self._close_channel(channel.remote_address, channel)
        original(self, channel)

    return broken


@around(RemotingClient, "shutdown")
def _close_what_was_left(original: Callable[[RemotingClient], None]) -> Callable[..., None]:
    def shutdown(self: RemotingClient) -> None:
        """Close the connections that were left open too."""
        original(self)
        for channel in vars(self).get("left", ()):
            if channel.active:
                channel.close()

    return shutdown


@around(MQClientManager, "change_instance_name_to_pid")
def _name_the_process(original: Callable[[MQClientManager, ClientConfig], ClientConfig]) -> Callable[..., ClientConfig]:
    def change_instance_name_to_pid(self: MQClientManager, config: ClientConfig) -> ClientConfig:
        """Whatever the instance is called, machine and start of the process are part of the client id."""
        named = original(self, config)
        started_ms = vars(self).setdefault("started_ms", self.node.now_ms())
        return with_fields(named, instance_name=f"{named.instance_name}#{self.node.name}#{started_ms}")

    return change_instance_name_to_pid


@replace(MQClientInstance, "send_heartbeat_to_all_broker_with_lock")
async def _beat_again(self: MQClientInstance) -> None:
    """Who finds a heartbeat under way has its sender send another one afterwards."""
    wanted: dict[str, bool] = vars(self).setdefault("heartbeat_wanted", {})
    wanted["again"] = True
    while wanted["again"] and await self.node.try_lock(self.lock_heartbeat, 0):
        wanted["again"] = False
        await _logging(self._send_heartbeat_to_all_broker)()
        self.node.unlock(self.lock_heartbeat)


@around(MQClientInstance, "unregister_client")
def _let_heartbeats_end(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def unregister_client(
        self: MQClientInstance, producer_group: str | None, consumer_group: str | None,
    ) -> None:
        """The group is out of the client's table: a heartbeat that begins from now on does not know it."""
        await self.node.lock(self.lock_heartbeat)
        self.node.unlock(self.lock_heartbeat)
        await original(self, producer_group, consumer_group)

    return unregister_client


REPAIRS = (
    Variant(
        "time_out_closes_nothing", "repair", "A call that times out leaves its connection open, and uses it no more.",
        "NettyClientConfig.clientCloseSocketIfTimeout = false, and a new connection for the next call",
        ("B-17", "B-24", "D5", "N-21"), (_leave_it_open, _close_what_breaks, _close_what_was_left),
    ),
    Variant(
        "client_id_names_the_process", "repair", "Two processes never have one client id, whatever they are called.",
        "apache/rocketmq #3480 and others: pid and nanoseconds in the id, always and with the host", ("D6", "U3"),
        (_name_the_process,),
    ),
    Variant(
        "goodbye_waits_for_heartbeats", "repair",
        "A goodbye is sent when no heartbeat is under way that knows the group.",
        "the idea: lockHeartbeat in MQClientInstance#unregisterConsumer", ("B-30",), (_let_heartbeats_end,),
    ),
    Variant(
        "heartbeat_is_not_skipped", "repair", "A heartbeat that finds another one under way follows it.",
        "the idea: remember the wish where tryLock fails", ("U12",), (_beat_again,),
    ),
)
