"""The loop of 4.9.3, copied out: a change that changes nothing."""

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.variant import Variant, replace


@replace(ConsumerGroupInfo, "add_subscriptions")
async def shipped(self, sub_list, threads):
    updated = False
    for sub in sub_list:
        old = self.subscription_table.get(sub.topic)
        await threads.interleave("updateSubscription: the topic has been looked up")
        if old is None:
            updated |= self.subscription_table.put_if_absent(sub.topic, sub) is None
        elif sub.sub_version > old.sub_version:
            self.subscription_table.put(sub.topic, sub)
    return updated


VARIANT = Variant("shipped-loop", "change", "What 4.9.3 does.", replacements=(shipped,))
