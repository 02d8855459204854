"""A rebalance asks for the members before it reads the route."""

from impl.client.rebalance import RebalanceImpl
from impl.common.heartbeat_data import BROADCASTING
from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import utf16_key
from impl.variants.change import patch
from impl.variants.variant import Variant


@patch(RebalanceImpl)
class Changed:
    async def rebalance_by_topic(self, topic, is_order, threads):
        broadcasting = self.message_model == BROADCASTING
        cid_all = None if broadcasting else await self.rpc.find_consumer_id_list(topic, self.consumer_group)
        mq_set = self.topic_subscribe_info_table.get(topic)
        if mq_set is None or (cid_all is None and not broadcasting):
            return
        try:
            mine = mq_set if broadcasting else self.strategy.allocate(
                self.consumer_group, self.rpc.client_id, sorted(mq_set), sorted(cid_all, key=utf16_key))
        except JavaError:
            return
        mine = list(dict.fromkeys(mine or []))
        if await self.update_process_queue_table(topic, mine, is_order, threads):
            await self.message_queue_changed(topic, mq_set, mine, threads)


VARIANT = Variant("members-first", "change", "Members are asked for before the route is read.", replacements=Changed)
