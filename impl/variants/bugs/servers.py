"""Bugs of servers, and of what clients make of their answers, as RocketMQ and its ports have had them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from impl.broker import admin_broker_processor
from impl.broker.broker_outer_api import UNREGISTER_BROKER_TIMEOUT_MS, BrokerOuterAPI, RegisterResult
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.controller import BrokerController
from impl.broker.examination_processor import ExaminationProcessor
from impl.broker.registration import Registration
from impl.broker.slave_synchronize import SlaveSynchronize
from impl.broker.topic_config_manager import TopicConfigManager
from impl.client import topic_publish_info
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.common.headers import RegisterBrokerBody, RegisterBrokerRequestHeader
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.flags import PERM_INHERIT, PERM_WRITE
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID
from impl.decisions.route_queues import PublishQueues, TopicRouteData
from impl.events import RegistrationEncoded, RegistrationFailed
from impl.namesrv.route_info_manager import PickedUpRoute, RouteInfoManager
from impl.ports.remoting import Command
from impl.store.store_tables import StoreTables
from impl.variants.variant import Variant, around, replace

_FEW = 100  # messages


@replace(ExaminationProcessor, "_may_consume")
def _is_there(self: ExaminationProcessor, group: str, topic: str) -> bool:
    """Who is away has no subscription, and so nothing to catch up."""
    return self.tables.consumer_manager.find_subscription_data(group, topic) is not None


@replace(admin_broker_processor, "is_system_topic")
def _nothing_is_reserved(topic: str | None) -> bool:
    del topic
    return False


@replace(StoreTables, "clean_unused_topic")
def _leave_all_queues(self: StoreTables, topics: Collection[str]) -> None:
    """The queues of topics that are no more stay where they are."""
    del self, topics


@around(StoreTables, "clean_unused_topic")
def _few_messages_are_none(original: Callable[[StoreTables, Collection[str]], None]) -> Callable[..., None]:
    def clean_unused_topic(self: StoreTables, topics: Collection[str]) -> None:
        """What has few messages counts as unused."""
        counts = {topic: sum(queue.get_max_offset_in_queue() for queue in by_id.values())
                  for topic, by_id in self.consume_queue_table.entries()}
        original(self, [topic for topic in topics if counts.get(topic, 0) >= _FEW])

    return clean_unused_topic


@replace(Registration, "register_increment_broker_data")
async def _wait_for_the_timer(self: Registration, topic_config: TopicConfig) -> None:
    """Name servers hear of the topic with the next registration."""
    del self, topic_config


@around(TopicConfigManager, "update_order_topic_config")
def _add_only(original: Callable[..., None]) -> Callable[..., None]:
    def update_order_topic_config(self: TopicConfigManager, order_topics: Collection[str] | None) -> None:
        """Whatever was ordered once is ordered."""
        ordered = [topic for topic, config in self.topic_config_table.entries() if config.order]
        original(self, None if order_topics is None else {*order_topics, *ordered})

    return update_order_topic_config


@around(topic_publish_info, "topic_publish_queues")
def _write_everywhere(original: Callable[[str, TopicRouteData], PublishQueues]) -> Callable[..., PublishQueues]:
    def topic_publish_queues(topic: str, route: TopicRouteData) -> PublishQueues:
        """The permission is not looked at."""
        open_datas = tuple(data._replace(perm=data.perm | PERM_WRITE) for data in route.queue_datas)
        return original(topic, route._replace(queue_datas=open_datas))

    return topic_publish_queues


@replace(TopicConfigManager, "_next_version_and_persist")
def _persist_first(self: TopicConfigManager) -> None:
    """The file has the version of before."""
    self.persist()
    self.data_version.next_version(self.now_ms())


@replace(BrokerOuterAPI, "unregister_broker_all")
async def _stop_at_an_error(self: BrokerOuterAPI, header: RegisterBrokerRequestHeader) -> None:
    """Behind a name server that is away no other one hears of it."""
    for addr in self.remoting_client.get_name_server_address_list() or []:
        request = Command(RequestCode.UNREGISTER_BROKER, header=header)
        try:
            await self.remoting_client.invoke_sync(addr, request, UNREGISTER_BROKER_TIMEOUT_MS)
        except JavaError as error:
            self.node.trace(RegistrationFailed(self.node.name, addr, error.java_class))
            return


@replace(BrokerOuterAPI, "register_broker_all")
async def _register_up_to_an_error(
    self: BrokerOuterAPI, header: RegisterBrokerRequestHeader, wrapper: TopicConfigSerializeWrapper, timeout_ms: int, *,
    oneway: bool, increment: bool,
) -> list[RegisterResult]:
    """Behind a name server that is away no other one hears of it."""
    encoded = await self._encoded(wrapper)
    version, topics = encoded.data_version, frozenset(encoded.topic_config_table or ())
    self.node.trace(RegistrationEncoded(self.node.name, (version.timestamp, version.counter), topics, increment))
    body, results = RegisterBrokerBody(encoded, []), []
    for addr in self.remoting_client.get_name_server_address_list() or []:
        try:
            results.append(await self._register_broker(addr, header, body, timeout_ms, oneway=oneway))
        except JavaError as error:
            self.node.trace(RegistrationFailed(self.node.name, addr, error.java_class))
            break
    return [one for one in results if one is not None]


@around(BrokerController, "shutdown")
def _leave_the_timer(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def shutdown(self: BrokerController) -> None:
        """It goes once more while the broker says goodbye."""
        say_goodbye = self.broker_outer_api.unregister_broker_all

        async def unregister_broker_all(header: RegisterBrokerRequestHeader) -> None:
            await say_goodbye(header)
            await self.registration.register_broker_all(check_order_config=True, oneway=False, force_register=True)

        vars(self.broker_outer_api)["unregister_broker_all"] = unregister_broker_all
        await original(self)

    return shutdown


@around(RouteInfoManager, "pickup_topic_route_data")
def _no_route_without_master(
    original: Callable[[RouteInfoManager, str], PickedUpRoute | None],
) -> Callable[..., PickedUpRoute | None]:
    def pickup_topic_route_data(self: RouteInfoManager, topic: str) -> PickedUpRoute | None:
        """A topic whose brokers have lost their masters is not there."""
        route = original(self, topic)
        has_master = route is not None and any(MASTER_ID in data.broker_addrs for data in route.broker_datas)
        return route if has_master else None

    return pickup_topic_route_data


@replace(DefaultMQPushConsumerImpl, "do_rebalance")
async def _always_rebalance(self: DefaultMQPushConsumerImpl) -> None:
    """Also if it is suspended."""
    await self.rebalance_impl.do_rebalance(self.config.orderly, self.node)


@around(TopicConfigManager, "_inherited")
def _inherit_the_flag(original: Callable[..., TopicConfig | None]) -> Callable[..., TopicConfig | None]:
    def inherited(
        self: TopicConfigManager, topic: str, default_topic: str, queue_nums: int, topic_sys_flag: int,
    ) -> TopicConfig | None:
        """The permission to be inherited from is not cleared."""
        made = original(self, topic, default_topic, queue_nums, topic_sys_flag)
        if made is not None:
            made.perm |= PERM_INHERIT
        return made

    return inherited


@replace(ConsumerOffsetManager, "remove_offset")
def _remove_by_suffix(self: ConsumerOffsetManager, group: str) -> None:
    """Also of groups whose names end alike."""
    for key in self.offset_table.key_set():
        if key.endswith(group):
            self.offset_table.remove(key)


@around(SlaveSynchronize, "sync_topic_config")
def _count_itself(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def sync_topic_config(self: SlaveSynchronize, master_addr: str) -> None:
        """A slave gives the table that it has copied a version of its own."""
        manager = self.tables.topic_config_manager
        before = manager.data_version.copy()
        await original(self, master_addr)
        if manager.data_version != before:
            manager.data_version.next_version(self.node.now_ms())

    return sync_topic_config



BUGS = (
    Variant(
        "seeded-who-is-away-has-no-lag", "bug", "What a group without members has not consumed is not shown.",
        "seeded: a condition that was dropped", replacements=(_is_there,),
    ),
    Variant(
        "seeded-nothing-is-reserved", "bug", "An operator can change the topics that RocketMQ needs for itself.",
        "seeded: a check that was dropped", replacements=(_nothing_is_reserved,),
    ),
    Variant(
        "seeded-deleted-messages-stay", "bug", "A topic that is made after one of its name has its messages.",
        "seeded: a call that was dropped", replacements=(_leave_all_queues,),
    ),
    Variant(
        "seeded-small-topics-go-along", "bug", "With a topic that is deleted go those that have few messages.",
        "seeded: a wrong guess", replacements=(_few_messages_are_none,),
    ),
    Variant(
        "seeded-made-topic-waits", "bug", "A topic that an operator makes is routed up to 30 s later.",
        "seeded: a call that was dropped", replacements=(_wait_for_the_timer,), over=("register_whole_table",),
    ),
    Variant(
        "seeded-order-is-for-ever", "bug", "A topic stays ordered whose order no name server has any more.",
        "seeded: a table that is only added to", replacements=(_add_only,),
    ),
    Variant(
        "seeded-closed-topic-is-written", "bug", "A producer sends to queues that nobody may write.",
        "apache/rocketmq #7713, apache/rocketmq-clients #1345", replacements=(_write_everywhere,),
    ),
    Variant(
        "seeded-version-is-written-late", "bug", "A broker that starts again registers a version that it had before.",
        "seeded: two lines the other way round", replacements=(_persist_first,),
    ),
    Variant(
        "seeded-goodbye-ends-at-an-error", "bug", "A broker says goodbye to no name server behind one that is away.",
        "seeded: a loop that ends at an error", replacements=(_stop_at_an_error,),
    ),
    Variant(
        "seeded-gone-broker-registers", "bug", "A broker registers once more when it has said goodbye.",
        "mxsm/rocketmq-rust #2232", replacements=(_leave_the_timer,),
    ),
    Variant(
        "seeded-no-route-without-master", "bug", "A topic is denied while its brokers have nothing but slaves.",
        "seeded: a condition too many", replacements=(_no_route_without_master,),
    ),
    Variant(
        "seeded-suspended-rebalance", "bug", "A consumer that is suspended takes queues, and pulls nothing of them.",
        "apache/rocketmq-client-go #852", replacements=(_always_rebalance,),
    ),
    Variant(
        "seeded-made-topic-is-a-pattern", "bug", "Topics can be made after any that was made for a message.",
        "seeded: a flag that is not cleared", replacements=(_inherit_the_flag,),
    ),
    Variant(
        "seeded-offsets-go-by-suffix", "bug", "Who deletes the offsets of a group deletes those of others.",
        "seeded: the end of a text for the text", replacements=(_remove_by_suffix,),
    ),
    Variant(
        "seeded-slave-counts-itself", "bug", "A slave has another version of its topics than its master.",
        "apache/rocketmq #9777", replacements=(_count_itself,),
    ),
    Variant(
        "seeded-registration-ends-at-an-error", "bug", "A broker registers at no name server behind one that is away.",
        "mxsm/rocketmq-rust #805", replacements=(_register_up_to_an_error,),
    ),
)
