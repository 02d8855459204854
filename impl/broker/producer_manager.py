"""ProducerManager: which producers are registered at a broker, by group."""

from __future__ import annotations

from collections.abc import Callable

from impl.broker.client_channel_info import CHANNEL_EXPIRED_TIMEOUT_MS, ClientChannelInfo
from impl.decisions.java_arithmetic import INT_MAX, wrap32
from impl.decisions.java_errors import not_null
from impl.hash_map import ConcurrentHashMap
from impl.ports.remoting import Channel
from impl.ports.threads import Interleave

GET_AVAILABLE_CHANNEL_RETRY_COUNT = 3


class ProducerManager:
    """`broker.client.ProducerManager`: the plain methods that write are `synchronized` on the object in Java.

    now_ms -- the clock of the broker.

    group_channel_table -- group to its connections. client_channel_table -- client id to the connection that replies
    are pushed on, one for all groups of the client. positive_atomic_counter -- the round robin of transaction checks.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        """Start empty."""
        self.now_ms = now_ms
        self.group_channel_table: ConcurrentHashMap[str, ConcurrentHashMap[Channel, ClientChannelInfo]] = (
            ConcurrentHashMap()
        )
        self.client_channel_table: ConcurrentHashMap[str, Channel] = ConcurrentHashMap()
        self.positive_atomic_counter = 0

    def register_producer(self, group: str, client_channel_info: ClientChannelInfo) -> None:
        """ProducerManager#registerProducer: a known connection only gets the time; client_channel_table stays as it is.

        Raises NullPointerError for a client without an id, after its connection has been entered.
        """
        channel_table = self.group_channel_table.get(group)
        if channel_table is None:
            channel_table = ConcurrentHashMap()
            self.group_channel_table.put(group, channel_table)
        found = channel_table.get(client_channel_info.channel)
        if found is None:
            channel_table.put(client_channel_info.channel, client_channel_info)
            self._set_reply_channel(client_channel_info)
        else:
            found.last_update_timestamp = self.now_ms()

    def unregister_producer(self, group: str, client_channel_info: ClientChannelInfo) -> None:
        """ProducerManager#unregisterProducer: the reply channel goes even if other groups, or a newer one, use it."""
        channel_table = self.group_channel_table.get(group)
        if channel_table is None or channel_table.is_empty():
            return
        channel_table.remove(client_channel_info.channel)
        self._remove_reply_channel(client_channel_info)
        if channel_table.is_empty():
            self.group_channel_table.remove(group)

    def do_channel_close_event(self, channel: Channel | None) -> None:
        """ProducerManager#doChannelCloseEvent: out of every group; a group without connections stays, empty."""
        if channel is None:
            return
        for channel_table in self.group_channel_table.values():
            client_channel_info = channel_table.remove(channel)
            if client_channel_info is not None:
                self._remove_reply_channel(client_channel_info)

    async def scan_not_active_channel(self, threads: Interleave) -> None:
        """ProducerManager#scanNotActiveChannel, not synchronized: remove and close what has been silent for 120 s."""
        for _, channel_table in self.group_channel_table.traverse():
            for channel, client_channel_info in channel_table.traverse():
                if self.now_ms() - client_channel_info.last_update_timestamp > CHANNEL_EXPIRED_TIMEOUT_MS:
                    await threads.interleave("scanNotActiveChannel: before a producer is removed")
                    channel_table.remove(channel)
                    await threads.interleave("scanNotActiveChannel: before the reply channel is removed")
                    self._remove_reply_channel(client_channel_info)
                    client_channel_info.channel.close()
            await threads.interleave("scanNotActiveChannel: before the next group")

    def get_available_channel(self, group_id: str | None) -> Channel | None:
        """ProducerManager#getAvailableChannel, without a lock: a connection for a transaction check.

        Round robin; the next ones if it is not active and writable, three looks in all, then the last active one seen.
        """
        channel_table = None if group_id is None else self.group_channel_table.get(group_id)
        if channel_table is None or channel_table.is_empty():
            return None
        channels = channel_table.key_set()
        self.positive_atomic_counter = wrap32(self.positive_atomic_counter + 1)
        index = (self.positive_atomic_counter & INT_MAX) % len(channels)
        last_active: Channel | None = None
        for _ in range(GET_AVAILABLE_CHANNEL_RETRY_COUNT):
            channel = channels[index]
            if channel.is_active():
                if channel.is_writable():
                    return channel
                last_active = channel
            index = (index + 1) % len(channels)
        return last_active

    def find_channel(self, client_id: str) -> Channel | None:
        """ProducerManager#findChannel."""
        return self.client_channel_table.get(client_id)

    def _set_reply_channel(self, client_channel_info: ClientChannelInfo) -> None:
        self.client_channel_table.put(not_null(client_channel_info.client_id), client_channel_info.channel)

    def _remove_reply_channel(self, client_channel_info: ClientChannelInfo) -> None:
        self.client_channel_table.remove(not_null(client_channel_info.client_id))
