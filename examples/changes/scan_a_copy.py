"""The scan of a name server walks over a copy of its table, and looks at the time again before it closes anything."""

from impl.namesrv.route_info_manager import BROKER_CHANNEL_EXPIRED_TIME_MS, RouteInfoManager
from impl.variants.change import new, patch
from impl.variants.variant import Variant


@patch(RouteInfoManager)
class Changed:
    @new
    @staticmethod
    def is_expired(live_info, now_ms):
        return live_info.last_update_timestamp + BROKER_CHANNEL_EXPIRED_TIME_MS < now_ms

    async def scan_not_active_broker(self, threads):
        for addr, live_info in self.broker_live_table.entries():
            await threads.interleave("scanNotActiveBroker: the timestamp has been read")
            if self.is_expired(live_info, self.now_ms()):
                live_info.channel.close()
                await threads.interleave("scanNotActiveBroker: before onChannelDestroy")
                await self.on_channel_destroy(addr, live_info.channel, threads)


VARIANT = Variant("scan-a-copy", "change", "The scan walks over a copy of the live table.", replacements=Changed)
