"""Seeded bugs: dropped guards, wrong comparisons, forgotten resets and the like, where nobody has reported one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.rebalance_lock_manager import LockEntry, RebalanceLockManager
from impl.client.mq_client_instance import MQClientInstance
from impl.client.offset_store import RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import RebalanceImpl
from impl.client.rebalance_push import RebalancePushImpl
from impl.client.route_tables import RouteTables
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.java_errors import not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import TopicRouteData
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import ConcurrentHashMap
from impl.namesrv.route_info_manager import BrokerAddrs, BrokerRegistration, RegisterBrokerResult, RouteInfoManager
from impl.ports.remoting import Channel
from impl.ports.threads import Interleave, Threads
from impl.variants.variant import Variant, around, replace

# Name server ----------------------------------------------------------------------------------------------------------


@around(RouteInfoManager, "_enter_address")
def _keep_the_old_id(
    original: Callable[[RouteInfoManager, BrokerRegistration], tuple[BrokerAddrs, bool]],
) -> Callable[..., tuple[BrokerAddrs, bool]]:
    def _enter_address(self: RouteInfoManager, registration: BrokerRegistration) -> tuple[BrokerAddrs, bool]:
        data = self.broker_addr_table.get(registration.broker_name)
        before = () if data is None else data.broker_addrs.entries()
        broker_data, first = original(self, registration)
        for broker_id, addr in before:
            if addr == registration.broker_addr:
                broker_data.broker_addrs.put(broker_id, addr)
        return broker_data, first

    return _enter_address


@around(RouteInfoManager, "register_broker")
def _stamp_changes_only(
    original: Callable[[RouteInfoManager, BrokerRegistration], RegisterBrokerResult],
) -> Callable[..., RegisterBrokerResult]:
    def register_broker(self: RouteInfoManager, registration: BrokerRegistration) -> RegisterBrokerResult:
        before, wrapper = self.broker_live_table.get(registration.broker_addr), registration.topic_config_wrapper
        stamp = None if before is None else before.last_update_timestamp
        result = original(self, registration)
        after = self.broker_live_table.get(registration.broker_addr)
        if before is not None and stamp is not None and after is not None and wrapper is not None \
                and before.data_version == wrapper.data_version:
            after.last_update_timestamp = stamp
        return result

    return register_broker


@replace(RouteInfoManager, "_remove_topic_by_broker_name")
def _leave_topics(self: RouteInfoManager, broker_name: str | None) -> None:
    del self, broker_name


# Broker ---------------------------------------------------------------------------------------------------------------


@around(ConsumerGroupInfo, "update_channel")
def _stamp_the_new_one(
    original: Callable[[ConsumerGroupInfo, ClientChannelInfo, ConsumerData], bool],
) -> Callable[..., bool]:
    def update_channel(self: ConsumerGroupInfo, info_new: ClientChannelInfo, consumer_data: ConsumerData) -> bool:
        old = self.channel_info_table.get(info_new.channel)
        stamp = None if old is None else old.last_update_timestamp
        updated = original(self, info_new, consumer_data)
        if old is not None and stamp is not None:
            old.last_update_timestamp = stamp
        return updated

    return update_channel


@replace(ConsumerManager, "do_channel_close_event")
async def _close_in_one_group(self: ConsumerManager, channel: Channel, threads: Interleave) -> None:
    for group, info in self.consumer_table.traverse():
        if info.do_channel_close_event(channel):
            await self.drop_empty_group("doChannelCloseEvent", group, info, threads)
            await self.listener.change(group, info.get_all_channel(), threads)
            return


@around(ConsumerGroupInfo, "get_all_client_id")
def _all_but_one(original: Callable[[ConsumerGroupInfo], list[str | None]]) -> Callable[..., list[str | None]]:
    def get_all_client_id(self: ConsumerGroupInfo) -> list[str | None]:
        ids = original(self)
        return ids[:-1] if len(ids) > 2 else ids  # noqa: PLR2004  # from three on

    return get_all_client_id


@replace(ConsumerGroupInfo, "add_subscriptions")
async def _take_any_version(self: ConsumerGroupInfo, sub_list: Sequence[SubscriptionData], threads: Interleave) -> bool:
    updated = False
    for sub in sub_list:
        topic = not_null(sub.topic)
        old = self.subscription_table.get(topic)
        await threads.interleave("updateSubscription: the topic has been looked up")
        if old is None:
            updated |= self.subscription_table.put_if_absent(topic, sub) is None
        elif sub.sub_version != old.sub_version:
            self.subscription_table.put(topic, sub)
    return updated


@around(ConsumerManager, "unregister_consumer")
def _tell_nobody(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def unregister_consumer(
        self: ConsumerManager, group: str, client_channel_info: ClientChannelInfo, *, notify: bool, threads: Interleave,
    ) -> None:
        del notify
        await original(self, group, client_channel_info, notify=False, threads=threads)

    return unregister_consumer


# Locks ----------------------------------------------------------------------------------------------------------------


@replace(RebalanceLockManager, "_grant")
def _grant_to_anyone(
    self: RebalanceLockManager, group_value: ConcurrentHashMap[MessageQueue, LockEntry], mq: MessageQueue,
    client_id: str,
) -> bool:
    group_value.put(mq, LockEntry(client_id, self.now_ms()))
    return True


@replace(RebalanceLockManager, "unlock_batch")
def _unlock_for_anyone(self: RebalanceLockManager, group: str, mqs: Sequence[MessageQueue], client_id: str) -> None:
    del client_id
    group_value = self.mq_lock_table.get(group)
    for mq in mqs if group_value is not None else ():
        not_null(group_value).remove(mq)


@replace(ProcessQueue, "is_lock_expired")
def _believe_for_ever(self: ProcessQueue) -> bool:
    del self
    return False


@replace(RebalancePushImpl, "_mark_unlocked")
def _keep_believing(self: RebalancePushImpl, mqs: Collection[MessageQueue]) -> None:
    del self, mqs


# Client ---------------------------------------------------------------------------------------------------------------


@around(MQClientInstance, "find_consumer_id_list")
def _ask_once(
    original: Callable[[MQClientInstance, str, str], Awaitable[Sequence[str] | None]],
) -> Callable[..., Awaitable[Sequence[str] | None]]:
    async def find_consumer_id_list(self: MQClientInstance, topic: str, group: str) -> Sequence[str] | None:
        lists: dict[tuple[str, str], Sequence[str]] = vars(self).setdefault("lists", {})
        answer = await original(self, topic, group)
        if answer is not None:
            lists.setdefault((topic, group), answer)
        return lists.get((topic, group))

    return find_consumer_id_list


@around(RouteTables, "_take_over_if_changed")
def _keep_the_first_route(
    original: Callable[[RouteTables, str, TopicRouteData, Threads], Awaitable[bool]],
) -> Callable[..., Awaitable[bool]]:
    async def _take_over_if_changed(self: RouteTables, topic: str, route: TopicRouteData, threads: Threads) -> bool:
        known = self.topic_route_table.get(topic)
        same = known is not None and len(known.broker_datas) == len(route.broker_datas)
        return False if same else await original(self, topic, route, threads)

    return _take_over_if_changed


@around(RebalanceImpl, "_give_up")
def _give_up_all_but_one(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def _give_up(
        self: RebalanceImpl, topic: str, mq_set: Collection[MessageQueue], threads: Threads,
    ) -> bool:
        mine = [mq for mq in self.process_queue_table.key_set() if mq.topic == topic]
        return await original(self, topic, [*mq_set, *mine[-1:]], threads)

    return _give_up


# Offsets --------------------------------------------------------------------------------------------------------------


@around(RemoteBrokerOffsetStore, "update_offset")
def _lower_too(original: Callable[..., None]) -> Callable[..., None]:
    def update_offset(
        self: RemoteBrokerOffsetStore, mq: MessageQueue | None, offset: int, *, increase_only: bool,
    ) -> None:
        del increase_only
        original(self, mq, offset, increase_only=False)

    return update_offset


BUGS = (
    Variant(
        "seeded-promoted-keeps-old-id", "bug", "An address that registers under another id keeps the old one as well.",
        "seeded: a forgotten removal", replacements=(_keep_the_old_id,),
    ),
    Variant(
        "seeded-unchanged-is-no-sign-of-life", "bug", "A registration with a known version does not renew the entry.",
        "seeded: an assignment in the wrong branch", replacements=(_stamp_changes_only,),
    ),
    Variant(
        "seeded-topics-outlive-their-broker", "bug", "The last address of a name goes, and its topics stay.",
        "seeded: a dropped call", replacements=(_leave_topics,),
    ),
    Variant(
        "seeded-heartbeat-is-not-stamped", "bug", "The heartbeat of a known connection does not renew its entry.",
        "seeded: the time goes to the discarded object", replacements=(_stamp_the_new_one,),
    ),
    Variant(
        "seeded-close-in-one-group", "bug", "A connection that ends is taken out of one of its groups only.",
        "seeded: a return in a loop", replacements=(_close_in_one_group,),
        over=("group_goes_with_its_last_member",),
    ),
    Variant(
        "seeded-all-but-one", "bug", "From three members on, the last one is missing in the id list.",
        "seeded: off by one", replacements=(_all_but_one,),
    ),
    Variant(
        "seeded-any-other-version", "bug", "An older subscription replaces a newer one.",
        "seeded: a wrong comparison", replacements=(_take_any_version,),
    ),
    Variant(
        "seeded-nobody-is-told", "bug", "The members are not told that one of them has left.",
        "seeded: a missing notification", replacements=(_tell_nobody,),
    ),
    Variant(
        "seeded-lock-for-anyone", "bug", "A lock is granted whoever has it.",
        "seeded: a dropped guard", replacements=(_grant_to_anyone,),
    ),
    Variant(
        "seeded-unlock-for-anyone", "bug", "Whoever asks frees the lock of whoever has it.",
        "seeded: a dropped guard", replacements=(_unlock_for_anyone,),
    ),
    Variant(
        "seeded-belief-never-expires", "bug", "A client believes in its lock until the broker refuses it.",
        "seeded: a dropped comparison", replacements=(_believe_for_ever,),
    ),
    Variant(
        "seeded-refusal-is-ignored", "bug", "A client whose lock is refused goes on believing in it.",
        "seeded: a forgotten reset", replacements=(_keep_believing,),
    ),
    Variant(
        "seeded-first-list-for-ever", "bug", "A client rebalances with the first id list that it got.",
        "seeded: a stale cache", replacements=(_ask_once,),
    ),
    Variant(
        "seeded-first-route-for-ever", "bug", "A route with as many brokers as before is not taken over.",
        "seeded: a comparison that is too coarse", replacements=(_keep_the_first_route,),
    ),
    Variant(
        "seeded-all-but-one-given-up", "bug", "A rebalance keeps the last queue that the consumer has.",
        "seeded: off by one", replacements=(_give_up_all_but_one,),
    ),
    Variant(
        "seeded-offset-goes-back", "bug", "A smaller offset replaces a greater one in memory.",
        "seeded: an argument that is ignored", replacements=(_lower_too,),
    ),
)
