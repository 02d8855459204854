"""A broker enters the producers of a heartbeat before its consumers, and gives each group an info of its own."""

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.client_manage_processor import ClientManageProcessor
from impl.common.request_code import ResponseCode
from impl.ports.remoting import Command
from impl.variants.change import patch
from impl.variants.variant import Variant


@patch(ClientManageProcessor)
class Changed:
    async def heart_beat(self, channel, request):
        heartbeat = request.body

        def info():
            return ClientChannelInfo(
                channel, heartbeat.client_id, request.language, request.version, self.node.now_ms())

        for producer in heartbeat.producer_data_set:
            self.producer_manager.register_producer(producer.group_name, info())
        for data in heartbeat.consumer_data_set:
            notify = await self._prepare_group(data)
            await self.node.interleave("heartBeat: before registerConsumer")
            await self.consumer_manager.register_consumer(info(), data, notify=notify, threads=self.node)
        return Command(ResponseCode.SUCCESS)


VARIANT = Variant("producers-first", "change", "Each group of a heartbeat has its own info.", replacements=Changed)
