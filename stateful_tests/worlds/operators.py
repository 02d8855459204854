"""What operators ask and change: topics, groups, offsets, permissions; and what their monitors look at."""

from __future__ import annotations

from functools import partial

from impl.broker.broker2client import TO_THE_END
from impl.common import headers
from impl.common.byte_buffer import ByteBuffer
from impl.common.message_decoder import decodes
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.events import ClusterInfoFetched, InquiryMade, KeyAnswered, KeyAsked, OffsetsReset
from impl.hosts.simulation.clock import EPOCH_MS
from impl.ports.remoting import Command
from invariants.rules.resets import OFFSET_OF_TIME
from stateful_tests.worlds.deeds import (
    BROKERS,
    GROUP,
    OPERATOR,
    PAST_MS,
    TOPIC,
    Done,
    NothingToDoError,
    each_of,
    living_brokers,
    masters,
    one_of,
    uncaught,
)
from stateful_tests.worlds.inspections import asking
from stateful_tests.worlds.producers import KEYS
from stateful_tests.worlds.world import World

CLUSTERS_MS = 60_000
"""How long a monitor waits for an answer: a name server may stand still while it writes it."""
LOOKS, LOOK_MS = 200, 100
KEPT_IN_MIND, AROUND_MS, MOST_FOUND = 64, 3_000, 32
"""How many messages an operator knows of, for how long before and behind one of them it asks, and how many it wants."""
TIME_SHIFT_MS, AGAIN_MS = 400, 1_000
FULL_PERCENT = 80
"""Of a disk from which a broker deletes what is older than three days."""


def delete_old_messages(world: World) -> Done:
    """Files of others fill the disks of brokers, which delete what is old; offsets of it are illegal from now on."""
    brokers = [name for name in world.brokers if not world.simulation.disks[name].others_bytes]
    if not brokers:
        raise NothingToDoError
    for broker in brokers:
        world.simulation.fill_disk(broker, FULL_PERCENT)
    return "brokers", f"have disks that are filled to {FULL_PERCENT} %: they delete what is older than three days"


def reset_offsets(world: World) -> Done:
    """An operator sends the group back in the queues of a broker."""
    times_ms = (EPOCH_MS - PAST_MS[2], EPOCH_MS - PAST_MS[1], EPOCH_MS - PAST_MS[1] + 1)
    broker, to_ms = each_of(world, ("where", list(world.brokers)), ("to what time", times_ms))
    return _reset(world, broker, to_ms)


def reset_by_force(world: World) -> Done:
    """An operator sends the group to the end of the queues of a broker, or to a time, also if that sends it on."""
    broker, before_ms, is_force = each_of(
        world, ("where", list(world.brokers)), ("how long ago", (TO_THE_END, 1_000, 30_000)),
        ("whether by force", (False, True)))
    now_ms = world.simulation.nodes[broker].now_ms()
    return _reset(world, broker, TO_THE_END if before_ms == TO_THE_END else now_ms - before_ms, is_force=is_force)


def _reset(world: World, broker: str, to_ms: int, *, is_force: bool = False) -> Done:
    """An operator sends the group to a time in the queues of a broker."""
    header = headers.ResetOffsetRequestHeader(TOPIC, GROUP, to_ms, is_force)
    request = Command(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, header=header)
    client, address = world.testers[OPERATOR], world.brokers[broker].broker_addr

    async def ask() -> None:
        answer = await client.invoke_sync(address, request, 5_000)
        if answer.code == ResponseCode.SUCCESS:
            offsets = tuple(sorted((mq.queue_id, offset) for mq, offset in answer.body.offset_table.items()))
            world.simulation.nodes[OPERATOR].trace(OffsetsReset(broker, GROUP, TOPIC, to_ms, offsets, is_force))

    world.call(OPERATOR, uncaught(ask))
    where = "the end" if to_ms == TO_THE_END else to_ms
    return broker, f"is told to send {GROUP} {'by force' if is_force else 'back'} to {where}"


def ask_for_a_key(world: World) -> Done:
    """An operator asks for messages that a broker has, by their keys, and the time at which one of them was stored."""
    broker = one_of(world, "where", living_brokers(world))
    keys = sorted({record.key for record in world.views.log_records(broker) if record.key and record.topic == TOPIC})
    return _ask_for(world, broker, one_of(world, "by which key", (*KEYS, *keys[-KEPT_IN_MIND:])))


def ask_for_shared_keys(world: World, broker: str) -> None:
    """An operator asks a broker for messages by the keys that many have, near the time of one of them."""
    for key in KEYS:
        if world.views.keyed(broker, TOPIC, key):
            _ask_for(world, broker, key)


def _ask_for(world: World, broker: str, key: str) -> Done:
    stored = [ms for _, ms in world.views.keyed(broker, TOPIC, key)]
    at_ms = one_of(world, "when", stored[-KEPT_IN_MIND:])
    window_ms = at_ms - AROUND_MS, at_ms + AROUND_MS
    header = headers.QueryMessageRequestHeader(
        TOPIC, key, MOST_FOUND, *window_ms, unique_key=key not in KEYS)
    request = Command(RequestCode.QUERY_MESSAGE, header=header)
    client, address, node = world.testers[OPERATOR], world.brokers[broker].broker_addr, world.simulation.nodes[OPERATOR]

    async def ask() -> None:
        node.trace(KeyAsked(broker, TOPIC, key, *window_ms))
        answer = await client.invoke_sync(address, request, CLUSTERS_MS)
        offsets = tuple(one.commit_log_offset for one in decodes(ByteBuffer(answer.body or b"")))
        node.trace(KeyAnswered(broker, TOPIC, key, *window_ms, offsets, MOST_FOUND))

    world.call(OPERATOR, uncaught(ask))
    return broker, f"is asked for messages with the key {key}"


def ask_for_a_time(world: World) -> Done:
    """An operator asks where in a queue the messages of a time begin: one at which a message was stored, or near it."""
    broker, queue_id, shift_ms = each_of(world, ("where", living_brokers(world)), ("in which queue", range(4)),
                                         ("how near", (0, -1, 1, -TIME_SHIFT_MS, TIME_SHIFT_MS)))
    begin, end = world.views.queue_units(broker).get((TOPIC, queue_id), (0, 0))
    index = one_of(world, "which message", range(max(begin, end - KEPT_IN_MIND), end))
    time_ms = (world.views.stored_ms(broker, TOPIC, queue_id, index) or EPOCH_MS) + shift_ms
    header = headers.QueueOffsetRequestHeader(TOPIC, queue_id, time_ms)
    request = Command(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header=header)
    inquiry = InquiryMade(broker, OFFSET_OF_TIME, f"{TOPIC} {queue_id} {time_ms}", world.now_ms)
    world.call(OPERATOR, asking(world, inquiry, world.brokers[broker].broker_addr, request,
                                lambda answer: (answer.header.offset,), CLUSTERS_MS))
    return broker, f"is asked where the messages of {time_ms} begin in queue {queue_id}"


def create_topic(world: World) -> Done:
    """An operator creates a topic, or changes the number of its queues."""
    broker, queues = each_of(world, ("where", masters(world)), ("how many queues", (4, 6, 8)))
    make_topic(world, broker, TOPIC, queues)
    return broker, f"is told that {TOPIC} has {queues} queues"


def create_in_vain(world: World) -> Done:
    """An operator changes a topic at a broker whose machine loses its power soon after, and starts again at once.

    What the broker has written lately may be lost, and with it the topic as it was ordered.
    """
    broker, queues, later_ms = each_of(
        world, ("where", masters(world)), ("how many queues", (4, 6, 8)), ("how much later", (200, 1_500)))
    make_topic(world, broker, TOPIC, queues)
    world.calm = False

    def lose_power(_: object) -> None:
        if world.alive(broker):
            world.simulation.kill(broker, power_loss=True)
            world.simulation.restart_after(broker, AGAIN_MS)

    world.simulation.kernel.at(world.now_ms + later_ms, lose_power, None)
    return broker, f"is told that {TOPIC} has {queues} queues, and loses its power {later_ms} ms later"


def make_topic(world: World, broker: str, topic: str, queues: int) -> None:
    """An operator tells a broker to have a topic, and does not wait for the answer."""
    header = headers.CreateTopicRequestHeader(topic, queues, queues, PERM_READ | PERM_WRITE)
    order(world, world.brokers[broker].broker_addr, RequestCode.UPDATE_AND_CREATE_TOPIC, header)


def resize_topic(world: World) -> Done:
    """An operator gives a topic other queues to write to; all that it ever had can be read."""
    broker, queues = each_of(world, ("where", masters(world)), ("how many queues", (2, 4, 6)))
    config = world.brokers[broker].topic_config_manager.select_topic_config(TOPIC)
    readable = max(queues, 4 if config is None else config.read_queue_nums)
    header = headers.CreateTopicRequestHeader(TOPIC, readable, queues, PERM_READ | PERM_WRITE)
    order(world, world.brokers[broker].broker_addr, RequestCode.UPDATE_AND_CREATE_TOPIC, header)
    return broker, f"is told that {TOPIC} has {queues} queues to write to and {readable} to read"


def delete_group(world: World) -> Done:
    """An operator deletes the group at a broker, with its offsets; its members go on."""
    broker = one_of(world, "where", masters(world))
    header = headers.DeleteSubscriptionGroupRequestHeader(GROUP, remove_offset=True)
    order(world, world.brokers[broker].broker_addr, RequestCode.DELETE_SUBSCRIPTIONGROUP, header)
    return broker, f"is told to delete {GROUP} and its offsets"


def ask_who_consumes(world: World) -> Done:
    """An operator asks a broker which groups consume a topic."""
    broker = one_of(world, "which broker", list(world.brokers))
    address, header = world.brokers[broker].broker_addr, headers.TopicRequestHeader(TOPIC)
    order(world, address, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, header)
    return broker, f"is asked who consumes {TOPIC}"


def wipe_write_permission(world: World) -> Done:
    """An operator tells a name server that nobody is to write to a broker."""
    namesrv, broker_name = each_of(world, ("where", list(world.namesrvs)), ("whose", BROKERS))
    header = headers.BrokerNameRequestHeader(broker_name)
    order(world, f"{namesrv}:9876", RequestCode.WIPE_WRITE_PERM_OF_BROKER, header)
    return namesrv, f"is told that nobody writes to {broker_name}"


def ask_for_clusters(world: World) -> Done:
    """An operator's monitor looks which brokers there are, several times a second for a while."""
    namesrv = one_of(world, "which name server", list(world.namesrvs))
    node, ask = world.simulation.nodes[OPERATOR], partial(fetch_cluster_info, world, namesrv)

    async def watch() -> None:
        for _ in range(LOOKS):
            node.spawn("operator", uncaught(ask)())
            await node.sleep(LOOK_MS)

    world.call(OPERATOR, watch)
    return namesrv, "is asked which brokers there are"


async def fetch_cluster_info(world: World, namesrv: str) -> ClusterInfoFetched:
    """The operator asks a name server, and reports what it answers."""
    request = Command(RequestCode.GET_BROKER_CLUSTER_INFO)
    answer = await world.testers[OPERATOR].invoke_sync(f"{namesrv}:9876", request, CLUSTERS_MS)
    brokers, clusters = answer.body
    named = frozenset(name for names in clusters.values() for name in names)
    fetched = ClusterInfoFetched(namesrv, frozenset(brokers), named)
    world.simulation.nodes[OPERATOR].trace(fetched)
    return fetched


def order(world: World, address: str, code: int, header: object) -> None:
    """The operator sends a request."""
    invoke = world.testers[OPERATOR].invoke_sync
    world.call(OPERATOR, uncaught(partial(invoke, address, Command(code, header=header), 5_000)))
