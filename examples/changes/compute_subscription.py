"""A heartbeat looks a topic up and puts it in one step, as ConcurrentHashMap#compute does (B-29)."""

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.change import patch
from impl.variants.variant import Variant


@patch(ConsumerGroupInfo)
class Changed:
    async def add_subscriptions(self, sub_list, threads):
        updated = False
        for sub in sub_list:
            await threads.interleave("updateSubscription: before compute")
            old = self.subscription_table.get(sub.topic)
            if old is None or sub.sub_version > old.sub_version:
                self.subscription_table.put(sub.topic, sub)
            updated |= old is None
        return updated


VARIANT = Variant("compute-subscription", "change", "A topic is looked up and put in one step.", replacements=Changed)
