"""Repairs of a group's subscription table: what one member does to another's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.client_manage_processor import ClientManageProcessor
from impl.broker.consumer_filter_manager import compile_expression
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.reported_tables import ReportedConsumerManager, connection_of
from impl.common.heartbeat_data import ConsumerData
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import JavaError
from impl.decisions.subscription import SubscriptionData, is_tag_type
from impl.events import HeartbeatRefused
from impl.ports.remoting import Channel, Command, Connection
from impl.ports.threads import UNINTERRUPTED, Interleave
from impl.variants.held import Held
from impl.variants.variant import Replacement, Variant, around

Objects = Callable[[ConsumerManager, ClientChannelInfo, ConsumerData], bool]


@around(ConsumerGroupInfo, "update_subscription")
def _update_in_one_step(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def update_subscription(
        self: ConsumerGroupInfo, sub_list: Sequence[SubscriptionData], threads: Interleave,
    ) -> bool:
        """Both loops under one lock."""
        del threads
        return await original(self, sub_list, UNINTERRUPTED)

    return update_subscription


@around(ConsumerGroupInfo, "update_subscription")
def _put_in_one_step(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def update_subscription(
        self: ConsumerGroupInfo, sub_list: Sequence[SubscriptionData], threads: Interleave,
    ) -> bool:
        """Nobody puts a topic between this thread's look at it and its put."""
        return await original(self, sub_list, Held(threads, "updateSubscription: the topic has been looked up"))

    return update_subscription


@around(ConsumerManager, "register_consumer")
def _topics_with_their_connection(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def register_consumer(
        self: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *, notify: bool,
        threads: Interleave,
    ) -> bool:
        """No later heartbeat of the client comes between the put of its connection and that of its topics."""
        held = Held(threads, "registerConsumer: before updateSubscription")
        return await original(self, client_channel_info, consumer_data, notify=notify, threads=held)

    return register_consumer


# Heartbeats that are refused ------------------------------------------------------------------------------------------


def refusing(objects: Objects) -> Replacement:
    """A heartbeat leaves no trace in a group for which the broker objects to it."""

    @around(ConsumerManager, "register_consumer")
    def refuse(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
        async def register_consumer(
            self: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *,
            notify: bool, threads: Interleave,
        ) -> bool:
            refused: dict[tuple[Channel, str], None] = vars(self).setdefault("refused", {})
            key = (client_channel_info.channel, consumer_data.group_name)
            if objects(self, client_channel_info, consumer_data):
                refused[key] = None
                _tell_refusal(self, consumer_data.group_name, client_channel_info)
                return False
            refused.pop(key, None)
            return await original(self, client_channel_info, consumer_data, notify=notify, threads=threads)

        return register_consumer

    return refuse


def _tell_refusal(manager: ConsumerManager, group: str, info: ClientChannelInfo) -> None:
    if isinstance(manager, ReportedConsumerManager):
        connection = connection_of(info.channel)
        manager.node.trace(HeartbeatRefused(manager.node.name, group, info.client_id, connection))


@around(ClientManageProcessor, "heart_beat")
def _answer_refusals(original: Callable[..., Awaitable[Command]]) -> Callable[..., Awaitable[Command]]:
    async def heart_beat(self: ClientManageProcessor, channel: Connection, request: Command) -> Command:
        """An error is the answer to a heartbeat that was refused for one of its groups; the others are entered."""
        response = await original(self, channel, request)
        refused = vars(self.consumer_manager).get("refused", {})
        groups = [data.group_name for data in request.body.consumer_data_set if (channel, data.group_name) in refused]
        for key in [key for key in refused if not key[0].is_active()]:
            del refused[key]
        if groups:
            remark = f"the subscription of the consumer group {', '.join(groups)} is refused"
            return Command(ResponseCode.SYSTEM_ERROR, remark=remark)
        return response

    return heart_beat


def _topics(consumer_data: ConsumerData) -> frozenset[str | None]:
    return frozenset(sub.topic for sub in consumer_data.subscription_data_set)


Heard = dict[str, tuple[Channel, frozenset[str | None]]]
"""By client id the connection and the topics of its last heartbeat, whether that was refused or not."""


def _heard(manager: ConsumerManager, group: str) -> Heard:
    """What is heard of a group: of its members, and of others on connections that stand."""
    groups: dict[str, Heard] = vars(manager).setdefault("heard", {})
    heard = groups.setdefault(group, {})
    info = manager.get_consumer_group_info(group)
    listed = [] if info is None else info.get_all_client_id()
    for who in [who for who, said in heard.items() if not said[0].is_active() and who not in listed]:
        del heard[who]
    return heard


def _of_group(heard: Heard) -> frozenset[str | None] | None:
    """The topics of the smallest client id: all brokers choose the same, whom they heard of first or not."""
    return heard[min(heard)][1] if heard else None


async def _put_out(manager: ConsumerManager, info: ConsumerGroupInfo, heard: Heard) -> None:
    """Remove members whose topics are not those of the group any more, as if their connections had ended."""
    topics, group = _of_group(heard), info.group_name
    for channel, member in info.channel_info_table.entries():
        said = heard.get(member.client_id or "")
        if said is not None and said[1] != topics:
            _tell_refusal(manager, group, member)
            info.do_channel_close_event(channel)
            await manager.drop_empty_group("registerConsumer", group, info, UNINTERRUPTED)
            await manager.listener.change(group, info.get_all_channel(), UNINTERRUPTED)


@around(ConsumerManager, "register_consumer")
def _hear_topics(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def register_consumer(
        self: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData, *, notify: bool,
        threads: Interleave,
    ) -> bool:
        """Members whose topics are not those of the group any more are put out, in one step with who comes in."""
        group, heard = consumer_data.group_name, _heard(self, consumer_data.group_name)
        if client_channel_info.channel.is_active():  # what arrives late on a connection that has ended is old
            heard[client_channel_info.client_id or ""] = client_channel_info.channel, _topics(consumer_data)
        if (info := self.get_consumer_group_info(group)) is not None:
            await _put_out(self, info, heard)
        held = Held(threads, "registerConsumer: before updateChannel")
        return await original(self, client_channel_info, consumer_data, notify=notify, threads=held)

    return register_consumer


@around(ConsumerManager, "unregister_consumer")
def _forget_topics(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def unregister_consumer(
        self: ConsumerManager, group: str, client_channel_info: ClientChannelInfo, *, notify: bool,
        threads: Interleave,
    ) -> None:
        """Who says goodbye has no say in the topics of the group."""
        heard, client_id = _heard(self, group), client_channel_info.client_id or ""
        if client_id in heard and heard[client_id][0] == client_channel_info.channel:
            del heard[client_id]
        await original(self, group, client_channel_info, notify=notify, threads=threads)

    return unregister_consumer


def _differs(manager: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData) -> bool:
    """Whether the topics of the group are others."""
    del client_channel_info
    return _of_group(_heard(manager, consumer_data.group_name)) not in (None, _topics(consumer_data))


def _consumes_otherwise(
    manager: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData,
) -> bool:
    """Whether the group, in which there are other clients, is one of another message model."""
    info = manager.get_consumer_group_info(consumer_data.group_name)
    return info is not None and info.message_model != consumer_data.message_model and any(
        client_id != client_channel_info.client_id for client_id in info.get_all_client_id()
    )


def _does_not_compile(
    manager: ConsumerManager, client_channel_info: ClientChannelInfo, consumer_data: ConsumerData,
) -> bool:
    """Whether there is an expression that ConsumerFilterManager could not compile."""
    del manager, client_channel_info
    for sub in consumer_data.subscription_data_set:
        if not is_tag_type(sub.expression_type):
            try:
                compile_expression(sub.sub_string, sub.expression_type)
            except JavaError:
                return True
    return False


@around(ConsumerManager, "drop_empty_group")
def _kill_filters_at_once(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def drop_empty_group(
        self: ConsumerManager, caller: str, group: str, info: ConsumerGroupInfo, threads: Interleave,
    ) -> None:
        """The filters of a group die in one step with it, so that they are not those of the next one."""
        places = f"{caller}: before the group is removed", f"{caller}: before UNREGISTER"
        await original(self, caller, group, info, Held(threads, *places))

    return drop_empty_group


REPAIRS = (
    Variant(
        "update_in_one_step", "repair", "A heartbeat puts and removes topics in one step.",
        "the idea: synchronized ConsumerGroupInfo#updateSubscription", ("B-2", "B-29"), (_update_in_one_step,),
        opens=("B-33",),
    ),
    Variant(
        "put_in_one_step", "repair", "A heartbeat looks a topic up and puts it in one step.",
        "the idea: ConcurrentHashMap#compute in ConsumerGroupInfo#updateSubscription", ("B-29",), (_put_in_one_step,),
    ),
    Variant(
        "topics_with_their_connection", "repair", "A heartbeat enters its connection and its topics in one step.",
        "the idea: one lock around ConsumerGroupInfo#updateChannel and #updateSubscription", ("B-31", "B-33"),
        (_topics_with_their_connection,),
    ),
    Variant(
        "one_set_of_topics", "repair",
        "A broker refuses members whose topics are not those of the member with the smallest client id.",
        "alibaba/rocketmq #46, apache/rocketmq #2073: subscriptions of a group must be the same; here it is said",
        ("B-1", "B-27", "U4"), (refusing(_differs), _hear_topics, _forget_topics, _answer_refusals),
    ),
    Variant(
        "one_message_model", "repair",
        "A broker refuses the heartbeat of a member that broadcasts in a clustering group, or the other way round.",
        "the idea: as one_set_of_topics", ("B-16",), (refusing(_consumes_otherwise), _answer_refusals),
    ),
    Variant(
        "expressions_compile", "repair", "A broker refuses a heartbeat with an expression that does not compile.",
        "the idea: what CHECK_CLIENT_CONFIG tests at the start, tested at each heartbeat", ("B-26",),
        (refusing(_does_not_compile), _answer_refusals),
    ),
    Variant(
        "filters_die_with_their_group", "repair", "The filters of a group die in the step in which it is removed.",
        "the idea: the UNREGISTER event under the lock of consumerTable", ("B-26",), (_kill_filters_at_once,),
    ),
)
