"""ClientChannelInfo: one client on one connection."""

from __future__ import annotations

from dataclasses import dataclass

from impl.ports.remoting import Channel

CHANNEL_EXPIRED_TIMEOUT_MS = 1000 * 120  # ConsumerManager.CHANNEL_EXPIRED_TIMEOUT, and the same in ProducerManager


@dataclass(slots=True, eq=False)
class ClientChannelInfo:
    """`broker.client.ClientChannelInfo`. One heartbeat makes ONE, which all tables that are new to it share.

    client_id -- None if the client sent none.
    last_update_timestamp -- milliseconds since 1970 by the broker's clock, at first of the construction; volatile.
    """

    channel: Channel
    client_id: str | None
    language: str
    version: int
    last_update_timestamp: int
