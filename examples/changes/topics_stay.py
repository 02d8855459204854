"""A heartbeat adds topics and removes none: meant as a repair of B-2, and wrong, for nobody unsubscribes any more."""

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.variant import Variant, replace


@replace(ConsumerGroupInfo, "update_subscription")
async def add_only(self, sub_list, threads):
    updated = await self.add_subscriptions(sub_list, threads)
    self.last_update_timestamp = self.now_ms()
    return updated


VARIANT = Variant("topics-stay", "change", "A heartbeat removes no topic.", replacements=(add_only,))
