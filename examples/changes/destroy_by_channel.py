"""The end of a channel removes an address only if its entry still has that channel: a parameter more."""

from impl.namesrv.route_info_manager import RouteInfoManager
from impl.variants.change import patch
from impl.variants.variant import Variant


@patch(RouteInfoManager)
class Changed:
    async def on_channel_destroy(self, remote_addr, channel, threads):
        broker_addr = None if channel is None else self.find_broker_addr(channel)
        await threads.interleave("onChannelDestroy: between the read lock and the write lock")
        if broker_addr is not None:
            self.remove_broker_addr(broker_addr, channel)
        elif remote_addr:
            self.remove_broker_addr(remote_addr)

    def remove_broker_addr(self, broker_addr, channel=None):
        live_info = self.broker_live_table.get(broker_addr)
        if channel is not None and live_info is not None and live_info.channel is not channel:
            return
        self.broker_live_table.remove(broker_addr)
        self.filter_server_table.remove(broker_addr)
        broker_name, is_empty = self._remove_first_id(broker_addr)
        if is_empty:
            if broker_name is not None:
                self._remove_from_first_cluster(broker_name)
            self._remove_topic_by_broker_name(broker_name)


VARIANT = Variant("destroy-by-channel", "change", "A channel takes away its own entry only.", replacements=Changed)
