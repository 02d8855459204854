"""The end of a channel removes an address only if its entry still has that channel."""

from impl.namesrv.route_info_manager import RouteInfoManager
from impl.variants.change import new, patch
from impl.variants.variant import Variant


@patch(RouteInfoManager)
class Changed:
    @new
    def has_channel(self, broker_addr, channel=None):
        live_info = self.broker_live_table.get(broker_addr)
        return channel is None or live_info is None or live_info.channel is channel

    async def on_channel_destroy(self, remote_addr, channel, threads):
        broker_addr = None if channel is None else self.find_broker_addr(channel)
        await threads.interleave("onChannelDestroy: between the read lock and the write lock")
        if broker_addr is None:
            channel, broker_addr = None, remote_addr
        if broker_addr and self.has_channel(broker_addr, channel):
            self.remove_broker_addr(broker_addr)


VARIANT = Variant("destroy-by-channel", "change", "A channel takes away its own entry only.", replacements=Changed)
