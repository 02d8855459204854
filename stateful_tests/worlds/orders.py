"""Orders of operators about what nobody else uses, and what they are answered."""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import partial

from impl.common import headers
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.events import OrderDone, OrderGiven
from impl.ports.remoting import Command
from stateful_tests.worlds.deeds import BROKERS, OLD_TOPIC, OPERATOR, Done, each_of, masters, one_of, uncaught
from stateful_tests.worlds.world import World

ORDERED_TOPICS = ("refunds-2023", "payments-2023")
"""Nobody uses them."""
TOPIC_CONFIGS = ((4, 4, PERM_READ | PERM_WRITE, 0), (8, 2, PERM_READ, 0), (2, 2, PERM_READ | PERM_WRITE, 1))
"""Queues to read and to write, permission, system flags."""
ORDERED_GROUPS = ("audit", "second-audit")
GROUP_CONFIGS = (
    SubscriptionGroupConfig("", retry_queue_nums=3, retry_max_times=5),
    SubscriptionGroupConfig("", consume_enable=False, broker_id=1, which_broker_when_consume_slowly=2),
)
ORDERED_KEYS = (("notes", "owner"), ("notes", "phone"), ("limits", "owner"))
"""Of each the namespace and the key."""
KEY_VALUES = ("1", "2", None)
ORDERS_AT_A_TIME = 8
ILLEGAL_NAMES = ("a b", "x" * 128, "a/b", "")
"""No topic may be called so."""


def administer(world: World) -> Done:
    """An operator gives several orders, one after another; none is about what others use."""
    orders = [one_of(world, "what an operator orders", _ORDERS)(world) for _ in range(ORDERS_AT_A_TIME)]
    node = world.simulation.nodes[OPERATOR]

    async def give(address: str, request: Command, order: OrderGiven) -> None:
        if order.kind == "route" and order.name in _topics(world):
            return
        node.trace(order)
        answer = await world.testers[OPERATOR].invoke_sync(address, request, 5_000)
        if answer.code == ResponseCode.SUCCESS:
            node.trace(OrderDone(*order))

    async def give_all() -> None:
        for order in orders:
            await uncaught(partial(give, *order))()

    world.call(OPERATOR, give_all)
    return OPERATOR, "; ".join(f"tells {order.server} how the {order.kind} {order.name} is to be: {order.wanted}"
                               for *_, order in orders)


def order_what_is_illegal(world: World) -> Done:
    """Somebody whose program looks at nothing sends to a topic that must not be, or orders it."""
    broker, topic, sends = each_of(world, ("where", masters(world)), ("which topic", ILLEGAL_NAMES),
                                   ("whether a message goes there", (False, True)))
    request = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, headers.CreateTopicRequestHeader(topic, 1, 1, PERM_READ))
    if sends:
        header = headers.SendMessageRequestHeader("P", topic, 0, world.simulation.nodes[OPERATOR].now_ms())
        request = Command(RequestCode.SEND_MESSAGE_V2, header, b"to nobody")
    client, address = world.testers[OPERATOR], world.brokers[broker].broker_addr
    world.call(OPERATOR, uncaught(partial(client.invoke_sync, address, request, 5_000)))
    return broker, f"is {'sent a message for' if sends else 'to have'} the topic '{topic}'"


def _topic_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Create, change or delete a topic at one broker."""
    broker, topic, wanted = each_of(world, ("where", masters(world)), ("which topic", (*ORDERED_TOPICS, OLD_TOPIC)),
                                     ("how it is to be", (*TOPIC_CONFIGS, None)))
    wanted = None if topic == OLD_TOPIC else wanted
    request = Command(RequestCode.DELETE_TOPIC_IN_BROKER, headers.TopicRequestHeader(topic))
    if wanted is not None:
        read, write, perm, flags = wanted
        header = headers.CreateTopicRequestHeader(topic, read, write, perm, topic_sys_flag=flags)
        request = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header)
    return world.brokers[broker].broker_addr, request, OrderGiven(broker, "topic", topic, wanted)


def _group_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Configure or delete a group at one broker."""
    broker, group, config = each_of(world, ("where", masters(world)), ("which group", ORDERED_GROUPS),
                                     ("how it is to be", (*GROUP_CONFIGS, None)))
    request = Command(RequestCode.DELETE_SUBSCRIPTIONGROUP, headers.DeleteSubscriptionGroupRequestHeader(group))
    wanted = None
    if config is not None:
        request = Command(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=replace(config, group_name=group))
        wanted = astuple(config)[1:]
    return world.brokers[broker].broker_addr, request, OrderGiven(broker, "group", group, wanted)


def _key_value_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Put or delete a key at a name server."""
    namesrv, (namespace, key), value = each_of(
        world, ("where", [*world.namesrvs]), ("which key", ORDERED_KEYS), ("what value", KEY_VALUES))
    code = RequestCode.DELETE_KV_CONFIG if value is None else RequestCode.PUT_KV_CONFIG
    wanted = None if value is None else (value,)
    return (f"{namesrv}:9876", Command(code, headers.KVConfigRequestHeader(namespace, key, value)),
            OrderGiven(namesrv, "key value", f"{namespace} {key}", wanted))


def _permission_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Tell a name server that a broker may be written, or not."""
    namesrv, broker_name, writable = each_of(
        world, ("where", [*world.namesrvs]), ("whose", BROKERS), ("whether it may be written", (False, True)))
    code = RequestCode.ADD_WRITE_PERM_OF_BROKER if writable else RequestCode.WIPE_WRITE_PERM_OF_BROKER
    return (f"{namesrv}:9876", Command(code, headers.BrokerNameRequestHeader(broker_name)),
            OrderGiven(namesrv, "permission", broker_name, (writable,)))


def _route_order(world: World) -> tuple[str, Command, OrderGiven]:
    """Let a name server forget the old topic, when no broker has it any more: the admin tool deletes it there first."""
    namesrv = one_of(world, "where", [*world.namesrvs])
    return (f"{namesrv}:9876", Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, headers.TopicRequestHeader(OLD_TOPIC)),
            OrderGiven(namesrv, "route", OLD_TOPIC, None))


def _topics(world: World) -> set[str]:
    """The topics of all brokers."""
    tables = (broker.topic_config_manager.topic_config_table for broker in world.brokers.values())
    return {topic for table in tables for topic in table.key_set()}


_ORDERS = (_topic_order, _group_order, _key_value_order, _topic_order, _group_order, _key_value_order,
           _permission_order, _route_order)
