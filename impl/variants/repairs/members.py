"""Repairs of a broker's lists of members."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from impl.broker.client_channel_info import CHANNEL_EXPIRED_TIMEOUT_MS, ClientChannelInfo
from impl.broker.client_manage_processor import ClientManageProcessor
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.reported_tables import connection_of
from impl.common.headers import UnregisterClientRequestHeader
from impl.common.heartbeat_data import ConsumerData, HeartbeatData
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import not_null
from impl.ports.remoting import Channel, Command, Connection
from impl.ports.threads import Interleave
from impl.variants.held import Held
from impl.variants.variant import Variant, around, replace

BEFORE_UPDATE_CHANNEL = "registerConsumer: before updateChannel"

# A group and its object (B-7, B-8) ------------------------------------------------------------------------------------


@around(ConsumerManager, "register_consumer")
def _enter_in_one_step(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def register_consumer(
        self: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *, notify: bool,
        threads: Interleave,
    ) -> bool:
        """Nobody comes between the look for the group and the put of the connection."""
        held = Held(threads, BEFORE_UPDATE_CHANNEL)
        return await original(self, client_channel_info, consumer_data, notify=notify, threads=held)

    return register_consumer


@replace(ConsumerManager, "drop_empty_group")
async def _drop_if_still_empty(
    self: ConsumerManager, caller: str, group: str, info: ConsumerGroupInfo, threads: Interleave,
) -> None:
    """Look and remove in one step, and only this object."""
    if info.channel_info_table.is_empty() and self.consumer_table.get(group) is info:
        self.consumer_table.remove(group)
        await threads.interleave(f"{caller}: before UNREGISTER")
        await self.listener.unregister(group, threads)
    await threads.interleave(f"{caller}: before CHANGE")


@around(ConsumerManager, "unregister_consumer")
def _leave_in_one_step(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def unregister_consumer(
        self: ConsumerManager, group: str, client_channel_info: ClientChannelInfo, *, notify: bool, threads: Interleave,
    ) -> None:
        """The group goes in the same step as its last connection."""
        held = Held(threads, "unregisterConsumer: before unregisterChannel", "unregisterConsumer: before isEmpty")
        await original(self, group, client_channel_info, notify=notify, threads=held)

    return unregister_consumer


@around(ConsumerManager, "do_channel_close_event")
def _close_in_one_step(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def do_channel_close_event(self: ConsumerManager, channel: Channel, threads: Interleave) -> None:
        """The group goes in the same step as its last connection."""
        await original(self, channel, Held(threads, "doChannelCloseEvent: before isEmpty"))

    return do_channel_close_event


@around(ConsumerManager, "scan_not_active_channel")
def _expire_in_one_step(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def scan_not_active_channel(self: ConsumerManager, threads: Interleave) -> None:
        """The group goes in the same step as its last connection."""
        await original(self, Held(
            threads, "scanNotActiveChannel: before a channel is closed",
            "scanNotActiveChannel: before a channel is removed", "scanNotActiveChannel: before the group is removed",
        ))

    return scan_not_active_channel


# Heartbeats that come too late (B-9) ----------------------------------------------------------------------------------


class _Goodbye(NamedTuple):
    """A goodbye to a group.

    channel -- the connection on which it came. opaque -- the number of its request. place -- its place among all that
    have come.
    """

    channel: Channel
    opaque: int
    place: int

    def counts(self, channel: Channel, opaque: int, place: int) -> bool:
        """Whether a heartbeat that came as the place-th was sent before it.

        A client speaks on its newest connection, and numbers its requests. Of another machine the one that came earlier
        was sent earlier.
        """
        if channel is self.channel:
            return opaque < self.opaque
        return _is_newer(self.channel, channel) if _is_of_one_machine(channel, self.channel) else place < self.place


def _is_of_one_machine(channel: Channel, other: Channel) -> bool:
    return _machine_and_port(channel)[0] == _machine_and_port(other)[0]


def _is_newer(channel: Channel, other: Channel) -> bool:
    """Whether a connection was made after another one from the same machine.

    Netty's DefaultChannelId counts connections as they are accepted; here it is the ports that are counted up.
    """
    (machine, port), (other_machine, other_port) = map(_machine_and_port, (channel, other))
    return machine == other_machine and port > other_port


def _machine_and_port(channel: Channel) -> tuple[str, int]:
    machine, _, port = connection_of(channel).rpartition(":")
    return machine, int(port)


def _next_place(self: ClientManageProcessor) -> int:
    vars(self)["came"] = place = int(vars(self).get("came", 0)) + 1
    return place


@around(ClientManageProcessor, "unregister_client")
def _remember_who_left(original: Callable[..., Awaitable[Command]]) -> Callable[..., Awaitable[Command]]:
    async def unregister_client(self: ClientManageProcessor, channel: Connection, request: Command) -> Command:
        """Which request of the client was the goodbye to the group; its last one to it counts."""
        header: UnregisterClientRequestHeader = request.header
        if header.consumer_group is not None:
            left: dict[tuple[str | None, str], _Goodbye] = vars(self).setdefault("left", {})
            left[header.client_id, header.consumer_group] = _Goodbye(channel, request.opaque, _next_place(self))
        return await original(self, channel, request)

    return unregister_client


@replace(ClientManageProcessor, "heart_beat")
async def _ignore_what_is_older(self: ClientManageProcessor, channel: Connection, request: Command) -> Command:
    """A heartbeat that its client sent before its goodbye to a group, or whose connection is over, says nothing."""
    heartbeat_data: HeartbeatData = not_null(request.body)
    left: dict[tuple[str | None, str], _Goodbye] = vars(self).setdefault("left", {})
    place = _next_place(self)
    info = ClientChannelInfo(
        channel, heartbeat_data.client_id, request.language, request.version, self.node.now_ms(),
    )
    held = Held(self.node, BEFORE_UPDATE_CHANNEL)
    for data in heartbeat_data.consumer_data_set:
        notify = await self._prepare_group(data)
        await self.node.interleave("heartBeat: before registerConsumer")
        goodbye = left.get((heartbeat_data.client_id, data.group_name))
        older = goodbye is not None and goodbye.counts(channel, request.opaque, place)
        if not older and channel.is_active():
            await self.consumer_manager.register_consumer(info, data, notify=notify, threads=held)
        await self.node.interleave("heartBeat: before the next group")
    for producer in heartbeat_data.producer_data_set if channel.is_active() else ():
        self.producer_manager.register_producer(producer.group_name, info)
    return Command(ResponseCode.SUCCESS)


# What an entry is, and how it ends (B-5, B-6, B-10, B-11, B-12) -----------------------------------------------------


def _other_connections(
    info: ConsumerGroupInfo, client_channel_info: ClientChannelInfo,
) -> list[tuple[Channel, ClientChannelInfo]]:
    """The other entries of the same client."""
    return [
        (channel, client) for channel, client in info.channel_info_table.entries()
        if client.client_id == client_channel_info.client_id and channel is not client_channel_info.channel
    ]


@around(ConsumerGroupInfo, "unregister_channel")
def _whoever_it_is(
    original: Callable[[ConsumerGroupInfo, ClientChannelInfo], None],
) -> Callable[..., None]:
    def unregister_channel(self: ConsumerGroupInfo, client_channel_info: ClientChannelInfo) -> None:
        """The client leaves with all its connections but newer ones: a goodbye that is late means none of them."""
        original(self, client_channel_info)
        for channel, _ in _other_connections(self, client_channel_info):
            if not _is_newer(channel, client_channel_info.channel):
                self.channel_info_table.remove(channel)

    return unregister_channel


def _arrivals(consumer_manager: ConsumerManager) -> dict[Channel, int]:
    """The place of the last heartbeat on each connection among all that have come: clocks may be set back."""
    arrivals: dict[Channel, int] = vars(consumer_manager).setdefault("arrivals", {})
    return arrivals


@around(ClientManageProcessor, "heart_beat")
def _note_arrival(original: Callable[..., Awaitable[Command]]) -> Callable[..., Awaitable[Command]]:
    async def heart_beat(self: ClientManageProcessor, channel: Connection, request: Command) -> Command:
        """Remember on which connections heartbeats have come, one after another."""
        arrivals = _arrivals(self.consumer_manager)
        for over in [one for one in arrivals if not one.is_active()]:
            del arrivals[over]
        arrivals[channel] = 1 + max(arrivals.values(), default=0)
        return await original(self, channel, request)

    return heart_beat


@around(ConsumerManager, "register_consumer")
def _ignore_older_connections(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def register_consumer(
        self: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *, notify: bool,
        threads: Interleave,
    ) -> bool:
        """A heartbeat that came before one of the same client on another connection says nothing any more."""
        info, arrivals = self.get_consumer_group_info(consumer_data.group_name), _arrivals(self)
        others = [] if info is None else _other_connections(info, client_channel_info)
        if any(arrivals.get(other, 0) > arrivals.get(client_channel_info.channel, 0) for other, _ in others):
            return False
        held = Held(threads, BEFORE_UPDATE_CHANNEL)
        return await original(self, client_channel_info, consumer_data, notify=notify, threads=held)

    return register_consumer


@around(ConsumerGroupInfo, "update_channel")
def _newest_connection_only(
    original: Callable[[ConsumerGroupInfo, ClientChannelInfo, ConsumerData], bool],
) -> Callable[..., bool]:
    def update_channel(self: ConsumerGroupInfo, info_new: ClientChannelInfo, consumer_data: ConsumerData) -> bool:
        """The connection on which a client speaks now takes the place of the one on which it spoke before."""
        updated = original(self, info_new, consumer_data)
        for channel, _ in _other_connections(self, info_new):
            self.channel_info_table.remove(channel)
        return updated

    return update_channel


@around(ConsumerGroupInfo, "update_channel")
def _own_info(
    original: Callable[[ConsumerGroupInfo, ClientChannelInfo, ConsumerData], bool],
) -> Callable[..., bool]:
    def update_channel(self: ConsumerGroupInfo, info_new: ClientChannelInfo, consumer_data: ConsumerData) -> bool:
        """Every group has a ClientChannelInfo of its own."""
        own = ClientChannelInfo(
            info_new.channel, info_new.client_id, info_new.language, info_new.version, info_new.last_update_timestamp,
        )
        return original(self, own, consumer_data)

    return update_channel


@replace(ConsumerManager, "scan_not_active_channel")
async def _close_what_nobody_uses(self: ConsumerManager, threads: Interleave) -> None:
    """An entry expires for itself, in one step; its connection is closed if it serves no other group."""
    for group, info in self.consumer_table.traverse():
        for channel, client in info.channel_info_table.traverse():
            if self.now_ms() - client.last_update_timestamp > CHANNEL_EXPIRED_TIMEOUT_MS:
                info.channel_info_table.remove(channel)
                others = self.consumer_table.values()
                if not any(other.channel_info_table.contains_key(channel) for other in others):
                    channel.close()
        if info.channel_info_table.is_empty() and self.consumer_table.get(group) is info:
            self.consumer_table.remove(group)
        await threads.interleave("scanNotActiveChannel: before the next group")


class _Evicting:
    """The threads port of a scan: it knows which groups the scan itself has taken members from.

    evicted_from -- these groups, by name. What others take out while the scan stands still they announce themselves.
    """

    def __init__(self, threads: Interleave, consumer_manager: ConsumerManager) -> None:
        """The scan begins."""
        self.evicted_from: dict[str, ConsumerGroupInfo] = {}
        self._threads, self._consumer_manager = threads, consumer_manager
        self._goes_on()

    async def interleave(self, where: str) -> None:
        """See `impl.ports.threads`."""
        self.look()
        await self._threads.interleave(where)
        self._goes_on()

    def look(self) -> None:
        """Compare the members with those that were there when the scan went on."""
        for group, info, channels in self._members:
            staying = info.get_all_channel()
            if any(channel not in staying for channel in channels):
                self.evicted_from[group] = info

    def _goes_on(self) -> None:
        self._members = [
            (group, info, info.get_all_channel()) for group, info in self._consumer_manager.consumer_table.entries()]


@around(ConsumerManager, "scan_not_active_channel")
def _announce_the_expired(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def scan_not_active_channel(self: ConsumerManager, threads: Interleave) -> None:
        """The members of a group that has lost one are told, as when a connection ends."""
        evicting = _Evicting(threads, self)
        await original(self, evicting)
        evicting.look()
        for group, info in evicting.evicted_from.items():
            if self.consumer_table.get(group) is None:
                await self.listener.unregister(group, threads)
            await self.listener.change(group, info.get_all_channel(), threads)

    return scan_not_active_channel


REPAIRS = (
    Variant(
        "expiry_ends_the_entry_only", "repair", "The expiry of an entry closes no connection that other groups use.",
        "the idea: a connection belongs to all groups on it", ("B-11",), (_close_what_nobody_uses,),
    ),
    Variant(
        "group_goes_with_its_last_member", "repair",
        "A group leaves the table in one step with its last connection, and nobody enters it in between.",
        "the idea: one lock for consumerTable and its groups", ("B-7", "B-8"),
        (_enter_in_one_step, _drop_if_still_empty, _leave_in_one_step, _close_in_one_step, _expire_in_one_step),
    ),
    Variant(
        "expiry_is_announced", "repair", "The members of a group are told of one that the scan has evicted.",
        "the idea: as ConsumerManager#doChannelCloseEvent does", ("B-12",), (_announce_the_expired,),
    ),
    Variant(
        "goodbye_counts", "repair",
        "A heartbeat that was sent before the goodbye to a group, or whose connection is over, does not enter it.",
        "the idea: RemotingCommand.opaque orders the requests of a connection, and a client speaks on its newest one",
        ("B-9",), (_remember_who_left, _ignore_what_is_older),
    ),
    Variant(
        "goodbye_on_any_connection", "repair", "UNREGISTER_CLIENT removes the client, whatever connection it comes on.",
        "the idea: ConsumerGroupInfo#unregisterChannel by client id", ("B-6",), (_whoever_it_is,),
    ),
    Variant(
        "own_info_for_each_group", "repair", "Every group has a ClientChannelInfo of its own.",
        "the idea: a new object for each entry", ("B-10",), (_own_info,),
    ),
    Variant(
        "newest_connection_counts", "repair", "A client that comes back on another connection leaves the old place.",
        "the idea: one entry for each client id", ("B-5",),
        (_note_arrival, _ignore_older_connections, _newest_connection_only),
    ),
)
