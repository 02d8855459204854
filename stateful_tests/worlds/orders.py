"""Orders of operators about what nobody else uses, and what they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import Any

from impl.common import headers
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.flags import FLAG_UNIT, PERM_READ, PERM_WRITE
from impl.events import OrderDone, OrderGiven
from impl.namesrv.kv_config_manager import NAMESPACE_ORDER_TOPIC_CONFIG
from impl.ports.remoting import Command
from stateful_tests.worlds.deeds import (
    BROKERS,
    OLD_TOPIC,
    OPERATOR,
    OTHER_TOPIC,
    TOPIC,
    Done,
    done_later,
    each_of,
    masters,
    one_of,
    uncaught,
)
from stateful_tests.worlds.world import World

ORDERED_TOPICS = ("refunds-2023", "payments-2023")
"""Nobody uses them."""
SHRUNK_TOPIC = "returns-2023"
"""It has more queues to read than to write."""
TOPIC_CONFIGS = ((4, 4, PERM_READ | PERM_WRITE, 0), (8, 2, PERM_READ, 0), (2, 2, PERM_READ | PERM_WRITE, 1))
"""Queues to read and to write, permission, system flags."""
ORDERED_GROUPS = ("audit", "second-audit")
GROUP_CONFIGS = (
    SubscriptionGroupConfig("", retry_queue_nums=3, retry_max_times=5),
    SubscriptionGroupConfig("", consume_enable=False, broker_id=1, which_broker_when_consume_slowly=2),
)
MORE_GROUP_CONFIGS = tuple(
    SubscriptionGroupConfig("", retry_queue_nums=3, **{one: False}) for one in (
        "consume_enable", "consume_from_min_enable", "consume_broadcast_enable", "notify_consumer_ids_changed_enable"))
"""Each differs from the others by a switch."""
SWITCHED_OFF = SubscriptionGroupConfig(
    "", retry_queue_nums=3, consume_enable=False, consume_from_min_enable=False, consume_broadcast_enable=False,
    notify_consumer_ids_changed_enable=False)
ORDERED_KEYS = (("notes", "owner"), ("notes", "phone"), ("limits", "owner"))
"""Of each the namespace and the key."""
KEY_VALUES = ("1", "2", None)
ORDERED_OFFSETS = tuple((topic, queue_id) for topic in (TOPIC, OTHER_TOPIC) for queue_id in (0, 1))
"""Of which topics and queues the groups are given offsets."""
OFFSET_MS = 5_000
"""So long after one offset the next one is committed."""
CLOSED_MS = 100_000
"""For so long a topic is closed that is sent to: clients ask for their routes every 30 s."""
ILLEGAL_TOPICS = ("TBW102", "SELF_TEST_TOPIC", "a b", "x" * 128, None)
"""Topics that RocketMQ needs for itself, names that none may have; None: a key value without a key."""
ORDERS_AT_A_TIME = 8
Order = tuple[Any, ...]
"""An address, a request, and what is to be so when it has been answered: one OrderGiven or several."""


def administer(world: World) -> Done:
    """An operator gives several orders, one after another; none is about what others use."""
    return _give(world, [one_of(world, "what an operator orders", _ORDERS)(world) for _ in range(ORDERS_AT_A_TIME)])


def administer_groups(world: World) -> Done:
    """The same of topics that have messages, of groups and their offsets, of ordered topics, and of reserved ones."""
    return _give(world, [order for _ in range(ORDERS_AT_A_TIME)
                         for order in one_of(world, "what an operator orders", _MORE_ORDERS)(world)])


def close_or_open(world: World) -> Done:
    """An operator says which groups may consume, and which topics may be read, of those that nobody else uses."""
    return _give(world, [order for _ in range(ORDERS_AT_A_TIME) for order in one_of(
        world, "what an operator orders", (_guarded_topic, _guarded_group))(world)])


def close_for_a_while(world: World) -> Done:
    """An operator closes a topic that is sent to, at one broker, for so long that all producers hear of it."""
    broker = one_of(world, "where", masters(world))

    done_later(world, CLOSED_MS, lambda: _give(world, [_permit(world, broker, TOPIC, PERM_READ | PERM_WRITE)]))
    return _give(world, [_permit(world, broker, TOPIC, PERM_READ)])


def _permit(world: World, broker: str, topic: str, perm: int, queues: int = 4, flags: int = 0) -> Order:
    """A broker is told how a topic may be used, that has as many queues to read as to write."""
    header = headers.CreateTopicRequestHeader(topic, queues, queues, perm, topic_sys_flag=flags)
    return (world.brokers[broker].broker_addr, Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header),
            OrderGiven(broker, "topic", topic, (queues, queues, perm, flags)))


def _give(world: World, orders: Sequence[Order]) -> Done:
    """An operator gives these orders, one after another."""
    node = world.simulation.nodes[OPERATOR]

    async def give(address: str, request: Command, *parts: OrderGiven) -> None:
        if any(part.kind == "route" and part.name in _topics(world) for part in parts):
            return
        for part in parts:
            node.trace(part)
        answer = await world.testers[OPERATOR].invoke_sync(address, request, 5_000)
        if answer.code == ResponseCode.SUCCESS:
            for part in parts:
                node.trace(OrderDone(*part))

    async def give_all() -> None:
        for order in orders:
            await uncaught(partial(give, *order))()

    world.call(OPERATOR, give_all)
    return OPERATOR, "; ".join(f"tells {part.server} how the {part.kind} {part.name} is to be: {part.wanted}"
                               for _, _, *parts in orders for part in parts)


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


def _group_order(
    world: World, configs: Sequence[SubscriptionGroupConfig | None] = (*GROUP_CONFIGS, None),
) -> tuple[str, Command, OrderGiven]:
    """Configure or delete a group at one broker."""
    broker, group, config = each_of(world, ("where", masters(world)), ("which group", ORDERED_GROUPS),
                                     ("how it is to be", configs))
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


def _another_topic(world: World) -> list[Order]:
    """A topic is made, changed or deleted."""
    return [_topic_order(world)]


def _switched_group(world: World) -> list[Order]:
    """A group is configured otherwise by a switch."""
    return [_group_order(world, MORE_GROUP_CONFIGS)]


def _closed_topic(world: World) -> list[Order]:
    """A topic that others use may be read no more, or written no more, or both again."""
    broker, topic, perm = each_of(
        world, ("where", masters(world)), ("which topic", (TOPIC, OTHER_TOPIC)),
        ("the permission", (PERM_WRITE, PERM_READ, PERM_READ | PERM_WRITE, PERM_READ | PERM_WRITE)))
    return [_permit(world, broker, topic, perm, 4 if topic == TOPIC else 2)]


def _guarded_topic(world: World) -> list[Order]:
    """A topic that nobody else uses may be read, or written, or both."""
    broker, topic, perm, flags = each_of(
        world, ("where", masters(world)), ("which topic", ORDERED_TOPICS),
        ("the permission", (PERM_WRITE, PERM_READ, PERM_READ | PERM_WRITE)), ("its flags", (FLAG_UNIT, 0)))
    return [_permit(world, broker, topic, perm, 2, flags)]


def _guarded_group(world: World) -> list[Order]:
    """A group without members may consume, or has all switches off."""
    return [_group_order(world, (GROUP_CONFIGS[0], SWITCHED_OFF))]


def _offset_order(world: World) -> list[Order]:
    """An operator commits an offset for a group without members, which grows with the time."""
    broker, group, (topic, queue_id) = each_of(
        world, ("where", masters(world)), ("whose", ORDERED_GROUPS), ("of which queue", ORDERED_OFFSETS))
    offset = world.now_ms // OFFSET_MS
    header = headers.ConsumerOffsetRequestHeader(group, topic, queue_id, offset)
    request = Command(RequestCode.UPDATE_CONSUMER_OFFSET, header)
    return [(world.brokers[broker].broker_addr, request,
             OrderGiven(broker, "offset", f"{group} {topic} {queue_id}", (offset,)))]


def _group_deletion(world: World) -> list[Order]:
    """A group is deleted, with its offsets or without."""
    broker, group, remove_offset = each_of(
        world, ("where", masters(world)), ("which group", ORDERED_GROUPS), ("whether its offsets go", (False, True)))
    header = headers.DeleteSubscriptionGroupRequestHeader(group, remove_offset)
    gone = [OrderGiven(broker, "offset", f"{group} {topic} {queue_id}", None)
            for topic, queue_id in (ORDERED_OFFSETS if remove_offset else ())]
    return [(world.brokers[broker].broker_addr, Command(RequestCode.DELETE_SUBSCRIPTIONGROUP, header),
             OrderGiven(broker, "group", group, None), *gone)]


def _illegal_order(world: World) -> list[Order]:
    """An operator tries what no server may do."""
    broker, namesrv, topic = each_of(
        world, ("where", masters(world)), ("which name server", [*world.namesrvs]), ("which topic", ILLEGAL_TOPICS))
    if topic is None:
        keyless = headers.KVConfigRequestHeader("notes", None, "1")
        return [(f"{namesrv}:9876", Command(RequestCode.PUT_KV_CONFIG, keyless),
                 OrderGiven(namesrv, "illegal", "a key value without a key", ("1",)))]
    read, write, perm, flags = TOPIC_CONFIGS[1]
    header = headers.CreateTopicRequestHeader(topic, read, write, perm, topic_sys_flag=flags)
    return [(world.brokers[broker].broker_addr, Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header),
             OrderGiven(broker, "illegal", topic, TOPIC_CONFIGS[1]))]


def _order_of_topic(world: World) -> list[Order]:
    """All name servers are told in which order the queues of a topic are, or that they have none."""
    topic, is_ordered = each_of(
        world, ("which topic", (OTHER_TOPIC, SHRUNK_TOPIC)), ("whether it is ordered", (True, False)))
    code = RequestCode.PUT_KV_CONFIG if is_ordered else RequestCode.DELETE_KV_CONFIG
    value = f"{BROKERS[0]}:2" if is_ordered else None
    header = headers.KVConfigRequestHeader(NAMESPACE_ORDER_TOPIC_CONFIG, topic, value)
    return [(f"{namesrv}:9876", Command(code, header), OrderGiven(
        namesrv, "key value", f"{NAMESPACE_ORDER_TOPIC_CONFIG} {topic}", None if value is None else (value,)))
        for namesrv in world.namesrvs]


def _topics(world: World) -> set[str]:
    """The topics of all brokers."""
    tables = (broker.topic_config_manager.topic_config_table for broker in world.brokers.values())
    return {topic for table in tables for topic in table.key_set()}


_ORDERS = (_topic_order, _group_order, _key_value_order, _topic_order, _group_order, _key_value_order,
           _permission_order, _route_order)
_MORE_ORDERS = (_another_topic, _switched_group, _offset_order, _offset_order, _group_deletion, _group_deletion,
                _order_of_topic, _illegal_order, _closed_topic)
